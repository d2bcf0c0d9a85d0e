//! `smgate export`: what content needs, in forms for others.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use smgate::compat::{Answer, Driver, Host, requirements_met};
use smgate::image::{Requirement, Requirements};
use smgate::platform::Os;
use smgate::tables::Tables;

use crate::host_note::OF_590;
use crate::schema::assert_valid;
use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support::image::Image;
use crate::support::layer::Layer;
use crate::support::text;
use crate::support_cli::{Place, Run, library, simple, wheel};
use crate::support_image::{SITE, of_layer, with_compat, write_layout};

/// A library that needs the runtime of a CUDA major version.
fn with_runtime(major: u32, entries: &[Entry]) -> Vec<u8> {
    Elf::new()
        .needed(&format!("libcudart.so.{major}"))
        .section(".nv_fatbin", fatbin(entries))
        .build()
}

fn image_with(library: Vec<u8>) -> Image {
    of_layer(&Layer::new().file("opt/a.so", library).file(
        "opt/libcudart.so.12",
        Elf::new().soname("libcudart.so.12").build(),
    ))
}

fn export(image: &Image, arguments: &[&str]) -> Run {
    let place = Place::new();
    let input = write_layout(&place, "image", image);
    place.run(&[&["export"], arguments, &[input.as_str()]].concat())
}

fn value(image: &Image) -> String {
    let run = export(image, &["require-cuda", "--value"]);
    assert_eq!(run.status, 0, "{run:?}");
    let mut lines = run.stdout.lines();
    let value = lines.next().unwrap().to_owned();
    assert_eq!(lines.next(), None);
    value
}

/// Whether container tools start a container with this line on such a host.
fn starts(line: &str, cc: &str, brand: &str, driver: &str) -> bool {
    let tables = Tables::builtin();
    let requirements = Requirements {
        all: vec![Requirement::parse("NVIDIA_REQUIRE_CUDA", line)],
        ..Requirements::default()
    };
    let driver = Driver::new(Some(driver.parse().unwrap()), Os::Linux, tables);
    let host = Host {
        driver: &driver,
        cc: cc.parse().unwrap(),
        brands: &[brand.to_owned()],
    };
    match requirements_met(&requirements, &host, tables) {
        Answer::Met => true,
        Answer::Unmet(_) => false,
        other => panic!("{line} on {cc}: {other:?}"),
    }
}

/// PTX 8.7 for 8.0 beside machine code for it: newer GPUs compile it.
fn jit() -> Image {
    image_with(with_runtime(
        12,
        &[
            Entry::plain_cubin("sm_80", (12, 8)),
            Entry::ptx("compute_80", "8.7"),
        ],
    ))
}

// RULES.md 4.5: CUDA 12 starts on 525.60.13 (CUDA 12.0). PTX 8.7 is that of CUDA 12.8, whose first driver is 570.26.
#[test]
fn a_requirement_asks_for_newer_drivers_only_where_code_is_compiled() {
    assert_eq!(
        value(&jit()),
        "cuda>=12.0,driver>=525.60.13,arch>=8.0,arch<9.0 cuda>=12.8,driver>=570.26,arch>=9.0"
    );
}

#[test]
fn a_requirement_is_right_on_both_sides_of_its_floors() {
    let line = value(&jit());
    for (cc, driver, runs) in [
        ("7.5", "580.65.06", false),
        ("8.0", "525.60.12", false),
        ("8.0", "525.60.13", true),
        ("8.6", "520.61.05", false),
        ("8.9", "535.104.05", true),
        ("9.0", "565.57.01", false),
        ("9.0", "570.25", false),
        ("9.0", "570.26", true),
        ("12.1", "580.95.05", true),
        ("13.0", "620.70.06", true),
    ] {
        assert_eq!(starts(&line, cc, "geforce", driver), runs, "{cc} {driver}");
    }
}

// facts/RULES.md 2.13: code that is compressed with zstd needs 550.54.14 (CUDA 12.4).
#[test]
fn compression_is_a_floor_and_gpus_without_code_are_left_out() {
    let entries = ["sm_80", "sm_90"].map(|target| Entry::plain_cubin(target, (12, 8)).zstd());
    let line = value(&image_with(with_runtime(12, &entries)));
    assert_eq!(line, "cuda>=12.4,driver>=550.54.14,arch>=8.0,arch<10.0");
    for (cc, driver, runs) in [
        ("8.0", "545.29.06", false),
        ("9.0", "550.54.13", false),
        ("9.0", "550.54.14", true),
        ("10.0", "580.65.06", false),
        ("7.5", "580.65.06", false),
    ] {
        assert_eq!(starts(&line, cc, "tesla", driver), runs, "{cc} {driver}");
    }
}

#[test]
fn code_for_one_gpu_only_names_it() {
    let entries = [Entry::plain_cubin("sm_90a", (12, 8))];
    let line = value(&image_with(with_runtime(12, &entries)));
    assert_eq!(line, "cuda>=12.0,driver>=525.60.13,arch=9.0");
    assert!(starts(&line, "9.0", "tesla", "550.54.15"));
    assert!(!starts(&line, "10.0", "tesla", "580.65.06"));
}

// The note of the package lists R535, R550, R570 and R575 below CUDA 13's R580, and brands 2 (tesla), 13 (nvidiartx) and
// 14 (nvidia) of those that GPUs of 8.9 and 9.0 have, and not 5 (geforce).
#[test]
fn a_forward_compatibility_package_lets_data_centre_hosts_with_older_drivers_in() {
    let line = value(&with_compat(OF_590));
    let mut expected = vec!["cuda>=13.0,driver>=580,arch>=8.9,arch<10.0".to_owned()];
    for branch in [535, 550, 570, 575] {
        for brand in ["tesla", "nvidiartx", "nvidia"] {
            let next = branch + 1;
            expected.push(format!(
                "brand={brand},driver>={branch},driver<{next},arch>=8.9,arch<10.0"
            ));
        }
    }
    assert_eq!(line, expected.join(" "));
    for (brand, driver, runs) in [
        ("tesla", "535.216.03", true),
        ("geforce", "535.216.03", false),
        ("nvidia", "545.29.06", false),
        ("geforce", "580.65.06", true),
    ] {
        assert_eq!(
            starts(&line, "8.9", brand, driver),
            runs,
            "{brand} {driver}"
        );
    }
}

#[test]
fn the_line_for_a_dockerfile_says_why_and_how_today_differs() {
    let image = jit().env(&["NVIDIA_REQUIRE_CUDA=cuda>=12.8 brand=tesla,driver>=535,driver<536"]);
    let run = export(&image, &["require-cuda"]);
    insta::assert_snapshot!(run.shown());
    // a comment or an instruction, so that it can be pasted
    for line in run.stdout.lines() {
        assert!(line.starts_with("# ") || line.starts_with("ENV "), "{line}");
        assert!(line.starts_with("ENV ") || line.len() <= 100, "{line}");
    }
}

#[test]
fn what_holds_no_cuda_requires_nothing() {
    let image = of_layer(&Layer::new().file("etc/os-release", "ID=debian\n"));
    let run = export(&image, &["require-cuda"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.contains("it requires nothing"), "{run:?}");
    assert!(!run.stdout.contains("ENV"), "{run:?}");
    assert_eq!(value(&image), "");
    let nfd = export(&image, &["nfd"]);
    assert!(nfd.stdout.ends_with("compatibilities: []\n"), "{nfd:?}");
}

#[test]
fn what_could_not_be_read_is_said_and_ends_with_3() {
    let mut cut = with_runtime(12, &[Entry::plain_cubin("sm_80", (12, 8))]);
    let end = cut.len() - 40;
    cut.truncate(end);
    let run = export(&image_with(cut), &["require-cuda"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stdout.contains("not known: "), "{run:?}");
    assert!(
        run.stderr.starts_with("warning: not all was read"),
        "{run:?}"
    );
}

#[test]
fn what_holds_no_cuda_in_what_could_be_read_says_what_could_not() {
    let place = Place::new();
    let good = wheel("plain", "1.0").member("plain/a.txt", "text");
    good.write(&place);
    let cut = simple("cut", &[("sm_80", 1)]).build();
    place.write("cut-1.0-py3-none-any.whl", &cut[..cut.len() / 2]);
    for format in ["require-cuda", "nfd"] {
        let run = place.run(&["export", format, "dir:."]);
        assert_eq!(run.status, 3, "{run:?}");
        for said in ["in what was read", "not known: 1 problem"] {
            assert!(run.stdout.contains(said), "{said}: {run:?}");
        }
        assert!(
            run.stderr.starts_with("warning: not all was read"),
            "{run:?}"
        );
    }
}

#[test]
fn of_what_could_not_be_read_at_all_no_document_says_that_it_needs_nothing() {
    let place = Place::new();
    let cut = simple("cut", &[("sm_80", 1)]).build();
    place.write("cut-1.0-py3-none-any.whl", &cut[..cut.len() / 2]);
    for format in ["require-cuda", "nfd", "cyclonedx"] {
        let run = place.run(&["export", format, "cut-1.0-py3-none-any.whl"]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("nothing could be read"), "{run:?}");
    }
}

#[test]
fn a_saved_inventory_gives_the_same() {
    let place = Place::new();
    let input = write_layout(&place, "image", &with_compat(OF_590));
    let saved = place.run(&["inspect", "--format", "json", &input]);
    place.write("saved.json", saved.stdout);
    for form in ["require-cuda", "nfd", "cyclonedx"] {
        let fresh = place.run(&["export", form, &input]);
        assert_eq!(fresh.status, 0, "{fresh:?}");
        assert_eq!(
            place.run(&["export", form, "--inventory", "saved.json"]),
            fresh
        );
        assert_eq!(place.run(&["export", form, &input]), fresh, "equal bytes");
    }
}

#[test]
fn the_value_alone_is_for_one_form_only() {
    let run = export(&jit(), &["nfd", "--value"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("`--value` is for `require-cuda` only"),
        "{run:?}"
    );
}

/// The YAML of one document as JSON.
fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

#[test]
fn a_specification_for_kubernetes_has_the_form_of_the_go_types_and_names_only_what_nfd_knows() {
    let entries = [Entry::plain_cubin("sm_90", (12, 8))];
    let run = export(&image_with(with_runtime(12, &entries)), &["nfd"]);
    assert_eq!(run.status, 0, "{run:?}");
    insta::assert_snapshot!(run.shown());
    let document = yaml(&run.stdout);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/schemas/nfd-image-compatibility-v1alpha1.json");
    let schema: Value = serde_json::from_str(&text(&schema)).unwrap();
    assert_valid(&schema, &document);
    let rules = document["compatibilities"][0]["rules"].as_array().unwrap();
    let devices = &rules[1]["matchFeatures"][0]["matchExpressions"]["device"]["value"];
    let devices: BTreeSet<&str> = devices
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // H100 PCIe is 10de:2331, A100 PCIe 10de:20f1, L4 10de:27b8
    assert!(devices.contains("2331"));
    assert!(!devices.contains("20f1") && !devices.contains("27b8"));
}

#[test]
fn the_schema_of_the_specification_refuses_what_the_go_types_do() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/schemas/nfd-image-compatibility-v1alpha1.json");
    let schema: Value = serde_json::from_str(&text(&schema)).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let of_rule = |rule: &str| {
        yaml(&format!(
            "version: v1alpha1\ncompatibilities:\n- rules:\n  - {rule}\n"
        ))
    };
    for (rule, valid) in [
        ("{name: a, matchFeatures: [{feature: pci.device}]}", true),
        ("{name: a, matchFeatures: [{feature: gpu.device}]}", false),
        ("{matchFeatures: [{feature: pci.device}]}", false),
        (
            "{name: a, matchFeatures: [{feature: pci.device, matchExpressions: {vendor: {op: In}}}]}",
            false,
        ),
        (
            "{name: a, matchFeatures: [{feature: pci.device, matchExpressions: {vendor: {op: Is, value: [a]}}}]}",
            false,
        ),
    ] {
        assert_eq!(validator.is_valid(&of_rule(rule)), valid, "{rule}");
    }
}

#[test]
fn a_bill_of_materials_names_packages_and_their_device_code() {
    let place = Place::new();
    let layer = Layer::new()
        .installed(
            SITE,
            ("Demo_Pkg", "1.0+cu128"),
            &[("demo/_C.so", library(&[("sm_80 compute_80@8.4", 2)]))],
        )
        .file("opt/tool.so", library(&[("sm_90", 1)]));
    let input = write_layout(&place, "image", &of_layer(&layer));
    let run = place.run(&["export", "cyclonedx", &input]);
    let text = without_unstable(&run.shown());
    insta::assert_snapshot!(text);
    let packed = wheel("demo", "2.0")
        .member("demo/_C.so", library(&[("sm_90", 1)]))
        .write(&place);
    let run = place.run(&["export", "cyclonedx", &input, &packed]);
    let document = run.json();
    let mut references = Vec::new();
    collect(&document, "bom-ref", &mut references);
    let unique: BTreeSet<&String> = references.iter().collect();
    assert_eq!(unique.len(), references.len(), "{references:?}");
    let mut urls = Vec::new();
    collect(&document, "purl", &mut urls);
    // upper case and `_` are spelled as the type `pypi` has it, and `+` as URLs do
    assert_eq!(urls, ["pkg:pypi/demo-pkg@1.0%2Bcu128", "pkg:pypi/demo@2.0"]);
}

/// What changes with the version of the program, the tables and the image's storage.
fn without_unstable(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let stable = !line.contains("Tables of") && !line.contains("sha256:");
        if stable && !line.contains(env!("CARGO_PKG_VERSION")) {
            format!("{line}\n")
        } else {
            format!("{}…\n", line.split(':').next().unwrap())
        }
    });
    lines.collect()
}

/// The texts of all fields of a name, in order.
fn collect(value: &Value, name: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == name => into.push(text.clone()),
                    _ => collect(value, name, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, into)),
        _ => {}
    }
}
