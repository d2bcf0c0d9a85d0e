//! Images through the real binary: one image in all its forms, several platforms, several names.

use serde_json::{Value, json};

use crate::support::image::{Files, INDEX, Image, MANIFEST, digest, named, on};
use crate::support::layer::Layer;
use crate::support_cli::{Place, Run, library};
use crate::support_image::{
    SITE, each, forms, hidden, inspect, layout, of_layer, paths, run_with, stack, write_layout,
};

/// What does not depend on how an image is stored.
fn facts(artifact: &Value) -> Value {
    let mut facts = artifact.clone();
    for own in ["input", "digest", "names", "sha256"] {
        facts[own] = Value::Null;
    }
    for list in ["layers", "libraries"] {
        for item in facts[list].as_array_mut().unwrap() {
            for of_storage in ["digest", "size", "layer"] {
                if list == "layers" || of_storage == "layer" {
                    item[of_storage] = Value::Null;
                }
            }
        }
    }
    facts
}

/// Codes with what they are about, and the verdict.
fn judged(run: &Run) -> (i32, String, Vec<String>) {
    let report = run.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.map(|finding| {
        format!(
            "{} {} {} {} {}",
            finding["level"],
            finding["code"],
            finding["library"],
            finding["target"],
            finding["layer"]["created_by"]
        )
    });
    (
        run.status,
        report["verdict"].as_str().unwrap().to_owned(),
        findings.collect(),
    )
}

#[test]
fn one_image_is_the_same_in_every_encoding_and_archive() {
    let place = Place::new();
    let image = stack();
    let forms = forms(&place, &image);
    assert_eq!(forms.len(), 8 + 2 * 7);
    let first = inspect(&place, &forms[0].0);
    assert_eq!(first["kind"], "image");
    assert_eq!(first["platform"], "linux/amd64");
    let of_package = format!("{SITE}/demo/_C.so");
    assert_eq!(paths(&first), ["opt/tool.so".to_owned(), of_package]);
    assert_eq!(each(&first["libraries"], "fatbins"), ["1", "3"]);
    let removed = format!("{SITE}/demo/old.so");
    assert_eq!(hidden(&first), [(removed, 2, 3)]);
    assert_eq!(first["problems"], json!([]));
    for ((layer, bytes), step) in first["layers"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&image.layers)
        .zip(&image.steps)
    {
        assert_eq!(layer["created_by"], **step);
        assert_eq!(layer["diff_id"], digest(bytes));
        assert_eq!(layer["unpacked"], bytes.len());
    }
    let inspect_args = ["inspect", "--format", "json"];
    let check_args = [
        "check", "--format", "json", "--target", "T4", "--driver", "R580",
    ];
    let expected = judged(&place.run(&[&check_args[..], &[forms[0].0.as_str()]].concat()));
    assert_eq!((expected.0, expected.1.as_str()), (1, "fail"));
    for (input, bytes) in &forms {
        let run = place.run(&[&inspect_args[..], &[input]].concat());
        assert_eq!(run.status, 0, "{input}");
        let report = run.json();
        assert_eq!(report["artifacts"].as_array().unwrap().len(), 1, "{input}");
        assert_eq!(facts(&report["artifacts"][0]), facts(&first), "{input}");
        let run = place.run(&[&check_args[..], &[input]].concat());
        assert_eq!(judged(&run), expected, "{input}");
        let Some(bytes) = bytes else { continue };
        let piped = run_with(&place, &[&inspect_args[..], &["-"]].concat(), bytes);
        assert_eq!(piped.status, 0, "{input}: {piped:?}");
        let of_stream = &piped.json()["artifacts"][0];
        assert_eq!(facts(of_stream), facts(&first), "{input}");
        let piped = run_with(&place, &[&check_args[..], &["-"]].concat(), bytes);
        assert_eq!(judged(&piped), expected, "{input}");
    }
}

#[test]
fn the_layer_and_the_build_step_of_a_library_are_named() {
    let place = Place::new();
    let image = stack().packed();
    let input = write_layout(&place, "image", &image);
    let artifact = inspect(&place, &input);
    let stored = image.stored();
    let digests = |index: usize| digest(&stored[index].0);
    assert_eq!(
        each(&artifact["libraries"], "layer"),
        [digests(2), digests(1)]
    );
    let demo = json!({"name": "demo", "version": "1.0", "manager": "pip"});
    assert_eq!(artifact["libraries"][0]["package"], Value::Null);
    assert_eq!(artifact["libraries"][1]["package"], demo);
    let args = ["check", &input, "--target", "T4", "--driver", "R580"];
    let report = place
        .run(&[&args[..], &["--format", "json"]].concat())
        .json();
    let findings = report["findings"].as_array().unwrap();
    let of_demo = findings
        .iter()
        .find(|finding| finding["package"] == "demo" && finding["code"] == "no-kernel-image")
        .unwrap();
    assert_eq!(
        of_demo["layer"],
        json!({"number": 2, "digest": digests(1), "created_by": "RUN pip install demo"})
    );
    let human = place.run(&args).stdout;
    for line in [
        "brought by layer 2 of 3: `RUN pip install demo`",
        "brought by layer 3 of 3: `RUN make tool`",
    ] {
        assert!(human.contains(line), "{human}");
    }
}

#[test]
fn what_is_shipped_and_never_used_is_said_and_listed_where_asked() {
    let place = Place::new();
    let input = write_layout(&place, "image", &stack());
    for command in [
        &["inspect", &input][..],
        &["check", &input, "--target", "H100", "--driver", "R580"][..],
    ] {
        let short = place.run(command).stdout;
        assert!(short.contains("1 file with device code"), "{short}");
        assert!(short.contains("`--wasted`"), "{short}");
        assert!(!short.contains("old.so"), "{short}");
        let long = place.run(&[command, &["--wasted"]].concat()).stdout;
        assert!(long.contains("old.so"), "{long}");
        assert!(long.contains("taken away by layer 3"), "{long}");
    }
}

/// An image for AMD64 with code for the H100 and one for ARM64 with code for the B200 alone.
fn two_platforms(files: &mut Files) -> [Value; 2] {
    let of = |images: &str, machine: u16| {
        let elf = crate::support::elf::Elf::new()
            .machine(machine)
            .section(".nv_fatbin", crate::support_cli::fatbin_of(images));
        of_layer(&Layer::new().file("opt/a.so", elf.build()))
    };
    let amd64 = of("sm_80 sm_90", 62);
    let mut arm64 = of("sm_80 sm_100", 183).arch("arm64");
    arm64.variant = Some("v8".to_owned());
    [&amd64, &arm64].map(|image| on(files.image(image), &image.platform()))
}

/// A layout with an index for both platforms, and an attestation of each.
pub(crate) fn multi(place: &Place) {
    let mut files = Files::default();
    let [amd64, arm64] = two_platforms(&mut files);
    let statement = files.blob(b"{}", "application/vnd.in-toto+json");
    let attestations: Vec<Value> = [&amd64, &arm64]
        .into_iter()
        .map(|of| {
            let config = json!({"of": of["digest"]});
            let config = files.json(&config, crate::support::image::CONFIG);
            let manifest = files.manifest(&config, std::slice::from_ref(&statement));
            let unknown = json!({"os": "unknown", "architecture": "unknown"});
            let mut manifest = on(manifest, &unknown);
            manifest["annotations"] = json!({
                "vnd.docker.reference.type": "attestation-manifest",
                "vnd.docker.reference.digest": of["digest"],
            });
            manifest
        })
        .collect();
    let all = [&[amd64, arm64][..], &attestations].concat();
    let index = named(files.index(&all), "1.0");
    files.layout(&[index]).write_to(&place.path().join("multi"));
}

fn platforms(run: &Run) -> Vec<String> {
    each(&run.json()["artifacts"], "platform")
}

#[test]
fn of_several_platforms_all_are_read_or_the_one_that_is_asked_for() {
    let place = Place::new();
    multi(&place);
    let inspect = |more: &[&str]| {
        place.run(&[&["inspect", "--format", "json", "oci-dir:multi"], more].concat())
    };
    let all = inspect(&[]);
    assert_eq!(platforms(&all), ["linux/amd64", "linux/arm64/v8"]);
    assert_eq!(all.status, 0);
    for (wanted, found) in [
        ("linux/amd64", "linux/amd64"),
        ("linux/arm64", "linux/arm64/v8"),
        ("linux/arm64/v8", "linux/arm64/v8"),
    ] {
        assert_eq!(platforms(&inspect(&["--platform", wanted])), [found]);
    }
    let absent = inspect(&["--platform", "windows/amd64"]);
    assert_eq!(absent.status, 2);
    for part in ["holds no image for windows/amd64", "linux/arm64/v8"] {
        assert!(absent.stderr.contains(part), "{}", absent.stderr);
    }
    let human = place.run(&["inspect", "oci-dir:multi"]).stdout;
    for title in ["› 1.0 linux/amd64", "› 1.0 linux/arm64/v8"] {
        assert!(human.contains(title), "{human}");
    }
}

fn policy(targets: &[&str]) -> String {
    let targets = targets.iter().flat_map(|target| ["  - ", target, "\n"]);
    format!("version: 1\ntargets:\n{}", targets.collect::<String>())
}

const AMD64: &str = "{name: amd, gpu: H100, driver: R580, platform: linux/amd64}";
const ARM64: &str = "{name: arm, gpu: B200, driver: R580, platform: linux/arm64}";
const ARM64_H100: &str = "{name: gh, gpu: H100, driver: R580, platform: linux/arm64}";

#[test]
fn each_target_is_judged_on_the_image_of_its_platform() {
    let place = Place::new();
    multi(&place);
    let check = |targets: &[&str]| {
        place.write("smgate.yaml", policy(targets));
        place.run(&["check", "--format", "json", "oci-dir:multi"])
    };
    // the platform of all targets decides which image is read
    let one = check(&[AMD64]);
    assert_eq!(one.status, 0, "{one:?}");
    let rows = &one.json()["matrix"];
    assert_eq!(each(rows, "target"), ["amd"]);
    let both = check(&[AMD64, ARM64]);
    assert_eq!(both.status, 0, "{both:?}");
    assert!(!both.codes().contains(&"platform-mismatch".to_owned()));
    assert_eq!(each(&both.json()["matrix"], "target"), ["amd", "arm"]);
    // the image for ARM64 has nothing for the H100, whatever that for AMD64 has
    let fails = check(&[AMD64, ARM64_H100]);
    assert_eq!(
        (fails.status, fails.codes()),
        (1, vec!["no-kernel-image".to_owned()])
    );
    let report = fails.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let denied: Vec<&Value> = findings.filter(|f| f["level"] == "deny").collect();
    assert_eq!(denied.len(), 1);
    assert_eq!(denied[0]["target"], "gh");
}

#[test]
fn an_image_for_another_platform_than_its_target_is_denied() {
    let place = Place::new();
    let input = write_layout(&place, "image", &stack().arch("arm64"));
    place.write("smgate.yaml", policy(&[AMD64, ARM64]));
    let run = place.run(&["check", "--format", "json", &input]);
    assert_eq!(run.status, 1);
    assert!(
        run.codes().contains(&"platform-mismatch".to_owned()),
        "{run:?}"
    );
}

#[test]
fn several_names_are_all_judged_unless_one_is_chosen() {
    let place = Place::new();
    let mut files = Files::default();
    let of = |images: &str| of_layer(&Layer::new().file("opt/a.so", library(&[(images, 1)])));
    let good = named(files.image(&of("sm_80 sm_90")), "v1");
    let bad = named(files.image(&of("sm_70 sm_80")), "v2");
    let manifests = [good, bad];
    let files = files.layout(&manifests);
    files.write_to(&place.path().join("two"));
    place.write("two.tar", files.tar());
    for (input, status, count) in [
        ("oci-dir:two", 1, 2),
        ("two", 1, 2),
        ("two.tar", 1, 2),
        ("oci-dir:two:v1", 0, 1),
        ("oci-archive:two.tar:v1", 0, 1),
        ("oci-dir:two:v2", 1, 1),
        (
            &format!("oci-dir:two@{}", manifests[0]["digest"].as_str().unwrap()),
            0,
            1,
        ),
    ] {
        let run = place.check_h100(input);
        assert_eq!(run.status, status, "{input}: {run:?}");
        let report = run.json();
        assert_eq!(
            report["artifacts"].as_array().map_or(0, Vec::len),
            count,
            "{input}"
        );
    }
    let absent = place.check_h100("oci-dir:two:v3");
    assert_eq!(absent.status, 2);
    assert!(
        absent.stderr.contains("holds no image `v3`"),
        "{}",
        absent.stderr
    );
    assert!(absent.stderr.contains("`v1`") && absent.stderr.contains("`v2`"));
}

#[test]
fn a_platform_that_is_named_and_not_there_is_no_pass() {
    let place = Place::new();
    let mut files = Files::default();
    let [amd64, arm64] = two_platforms(&mut files);
    let path = arm64["digest"].as_str().unwrap();
    files.remove(&path.replace("sha256:", "blobs/sha256/"));
    let index = named(files.index(&[amd64, arm64]), "1.0");
    assert_eq!(
        (index["mediaType"].as_str(), MANIFEST),
        (Some(INDEX), MANIFEST)
    );
    files.layout(&[index]).write_to(&place.path().join("part"));
    // what is there is what was saved
    let there = place.run(&["inspect", "--format", "json", "oci-dir:part"]);
    assert_eq!(platforms(&there), ["linux/amd64"]);
    let run = place.run(&["inspect", "oci-dir:part", "--platform", "linux/arm64"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("does not hold it"), "{}", run.stderr);
    place.write("smgate.yaml", policy(&[ARM64]));
    assert_eq!(place.run(&["check", "oci-dir:part"]).status, 2);
    // with a target of either, the word of the one that is there counts, and does not fit the other
    place.write("smgate.yaml", policy(&[AMD64, ARM64]));
    let run = place.run(&["check", "--format", "json", "oci-dir:part"]);
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn a_saved_inventory_of_an_image_is_judged_like_the_image() {
    let place = Place::new();
    multi(&place);
    let stacked = write_layout(
        &place,
        "stack",
        &stack().env(&["NVIDIA_REQUIRE_CUDA=cuda>=13.0"]),
    );
    let inputs = ["oci-dir:multi", stacked.as_str()];
    let saved = place.run(&[&["inspect", "--format", "json"], &inputs[..]].concat());
    place.write("saved.json", &saved.stdout);
    for targets in [&[AMD64, ARM64][..], &[AMD64, ARM64_H100]] {
        place.write("smgate.yaml", policy(targets));
        for format in ["json", "human"] {
            let check = ["check", "--format", format];
            let direct = place.run(&[&check[..], &inputs].concat());
            let later = place.run(&[&check[..], &["--inventory", "saved.json"]].concat());
            assert_eq!(direct, later);
        }
    }
}

#[test]
fn reports_of_images_depend_on_neither_threads_nor_the_order_in_a_layer() {
    let place = Place::new();
    let layer = |seed: Option<u64>| {
        let files: Vec<(String, Vec<u8>)> = (0..9)
            .map(|n| {
                (
                    format!("demo/l{n}.so"),
                    library(&[("sm_80 sm_90", n + 1), ("sm_70", 1)]),
                )
            })
            .collect();
        let files: Vec<(&str, Vec<u8>)> =
            files.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
        let upper = Layer::new()
            .whiteout(&format!("{SITE}/demo/l1.so"))
            .file(&format!("{SITE}/demo/l2.so"), "text")
            .opaque("opt/gone")
            .file("opt/gone/new.so", library(&[("sm_90a", 1)]))
            .file("opt/tool.so", library(&[("sm_90", 2)]));
        let lower = Layer::new()
            .installed(SITE, ("demo", "1.0"), &files)
            .file("opt/gone/old.so", library(&[("sm_80", 1)]));
        let [lower, upper] = [lower, upper].map(|layer| match seed {
            Some(seed) => layer.shuffled(seed),
            None => layer,
        });
        crate::support_image::of_layers(&[lower, upper])
    };
    let libraries = |image: &Image, threads: &str| {
        write_layout(&place, "image", image);
        let args = [
            "inspect",
            "--format",
            "json",
            "--threads",
            threads,
            "oci-dir:image",
        ];
        let run = place.run(&args);
        std::fs::remove_dir_all(place.path().join("image")).unwrap();
        let mut facts = facts(&run.json()["artifacts"][0]);
        facts["layers"] = Value::Null;
        facts["image_id"] = Value::Null;
        (run, facts)
    };
    let (one, expected) = libraries(&layer(None), "1");
    assert_eq!(libraries(&layer(None), "8").0, one);
    assert_eq!(expected["libraries"].as_array().unwrap().len(), 7 + 2);
    assert_eq!(expected["hidden"].as_array().unwrap().len(), 3);
    for seed in 1..6 {
        assert_eq!(
            libraries(&layer(Some(seed)), "8").1,
            expected,
            "seed {seed}"
        );
    }
    // an archive in another order, and the same as a stream
    let mut files = layout(&layer(None));
    let stream = |files: &Files, threads: &str| {
        let args = ["inspect", "--format", "json", "--threads", threads, "-"];
        run_with(&place, &args, &files.tar())
    };
    let forward = stream(&files, "1");
    assert_eq!(stream(&files, "8"), forward);
    files.members.reverse();
    assert_eq!(stream(&files, "8"), forward);
}
