//! What the program prints as JSON is what the schemas say, every field of it and no other.

mod diff;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{read, text};
use crate::support_cli::quiet;

/// Every kind of device image, damaged ones too, in one wheel; beside it a source distribution, a file that is
/// cut short, a directory, and an image.
fn inputs(root: &Path) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda");
    let mut members = vec![
        (
            "many-1.0.dist-info/WHEEL".to_owned(),
            b"Wheel-Version: 1.0\nTag: cp312-cp312-linux_x86_64\n".to_vec(),
        ),
        (
            "many-1.0.dist-info/METADATA".to_owned(),
            b"Metadata-Version: 2.1\nName: many\nVersion: 1.0\n".to_vec(),
        ),
        ("many-1.0.dist-info/RECORD".to_owned(), Vec::new()),
    ];
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file()
            && path
                .extension()
                .is_none_or(|suffix| suffix != "txt" && suffix != "md")
        {
            let name = path.file_name().unwrap().to_str().unwrap();
            members.push((format!("many/{name}"), read(&path)));
        }
    }
    assert!(members.len() > 100, "where are the fixtures?");
    std::fs::write(
        root.join("many-1.0-cp312-cp312-linux_x86_64.whl"),
        wheel(&members),
    )
    .unwrap();
    let plain = wheel(&[
        (
            "none-2.dist-info/WHEEL".to_owned(),
            b"Wheel-Version: 1.0\nTag: py3-none-any\n".to_vec(),
        ),
        (
            "none-2.dist-info/METADATA".to_owned(),
            b"Metadata-Version: 2.1\nName: none\nVersion: 2\n".to_vec(),
        ),
        ("none-2.dist-info/RECORD".to_owned(), Vec::new()),
    ]);
    std::fs::write(
        root.join("cut-2-py3-none-any.whl"),
        &plain[..plain.len() - 30],
    )
    .unwrap();
    std::fs::write(root.join("none-2-py3-none-any.whl"), plain).unwrap();
    let source = wheel(&[(
        "later-3/PKG-INFO".to_owned(),
        b"Name: later\nVersion: 3\n".to_vec(),
    )]);
    std::fs::write(root.join("later-3.zip"), source).unwrap();
    std::fs::create_dir(root.join("tree")).unwrap();
    std::fs::write(
        root.join("tree/loose.cubin"),
        &members
            .iter()
            .find(|(name, _)| name.ends_with("sm_90a.cubin"))
            .unwrap()
            .1,
    )
    .unwrap();
    let (name, conda) = crate::cli_conda::Conda::new("packed", "cuda129_0")
        .says("depends", serde_json::json!(["__cuda >=12.4"]))
        .says("constrains", serde_json::json!(["cudatoolkit <0"]))
        .file("lib/a.cubin", crate::support::fixture("n135_two_objs.so"))
        .conda();
    std::fs::write(root.join(name), conda).unwrap();
    crate::support_image::rare().write_to(&root.join("image"));
}

fn wheel(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, content) in members {
        let (mut entry, config) = archive
            .new_file(name)
            .compression_method(rawzip::CompressionMethod::STORE)
            .start()
            .unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap()
}

const POLICY: &str = r"
version: 1
targets:
  - {name: old, gpu: GTX 1080, driver: R590, platform: linux/amd64}
  - {name: new, gpu: [H100, B200], driver: 550.54.15, platform: linux/arm64}
  - {name: any, cc: 9.0}
expect-gpu: [none]
waivers:
  - {rule: no-kernel-image, package: many, reason: not called, until: 2026-12-31}
  - {rule: partial-coverage, package: many, reason: too late, until: 2026-01-31}
  - {rule: link-only, package: absent, reason: matches nothing, until: 2026-12-31}
";

/// The JSON that the program prints when it is run in `directory`.
fn printed(directory: &Path, arguments: &[&str]) -> Value {
    let output = quiet(directory)
        .current_dir(directory)
        .args(arguments)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {stderr}"))
}

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/schema")
}

pub(crate) fn schema(name: &str) -> Value {
    serde_json::from_str(&text(&schemas().join(name))).unwrap()
}

pub(crate) fn assert_valid(schema: &Value, document: &Value) {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// The same for the schemas of others, formats of texts too.
#[cfg(feature = "registry")]
pub(crate) fn assert_of_draft_7(schema: &Value, document: &Value) {
    let mut schema = schema.clone();
    // in that of SARIF, of fields that we do not write, it is no regular expression
    let definitions = schema.get_mut("definitions").and_then(Value::as_object_mut);
    for definition in definitions.into_iter().flatten() {
        if let Some(language) = definition.1.pointer_mut("/properties/language") {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    let validator = jsonschema::draft7::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}

const ALL: &[&str] = &[
    "many-1.0-cp312-cp312-linux_x86_64.whl",
    "none-2-py3-none-any.whl",
    "cut-2-py3-none-any.whl",
    "later-3.zip",
    "packed-1.0-cuda129_0.conda",
    "tree",
    "file:tree/loose.cubin",
    "oci-dir:image",
];

fn strings<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    list.as_array()
        .unwrap()
        .iter()
        .filter_map(|item| item[field].as_str())
        .collect()
}

#[test]
fn the_inventory_of_everything_is_of_its_schema() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    let inventory = printed(
        root.path(),
        &[&["inspect", "--format", "json"], ALL].concat(),
    );
    assert_valid(&schema("inspect-1.json"), &inventory);
    // the inputs are worth validating: they hold what is rare
    let artifacts = &inventory["artifacts"];
    assert_eq!(
        strings(artifacts, "kind"),
        [
            "wheel",
            "wheel",
            "wheel",
            "sdist",
            "conda",
            "directory",
            "file",
            "image"
        ]
    );
    let libraries = artifacts[0]["libraries"].as_array().unwrap();
    let images: Vec<&Value> = libraries
        .iter()
        .flat_map(|library| library["images"].as_array().unwrap())
        .collect();
    for kind in ["cubin", "ptx", "relocatable-ptx", "lto-ir", "tile-ir"] {
        assert!(
            images.iter().any(|image| image["kind"] == kind),
            "no {kind}"
        );
    }
    assert!(
        images
            .iter()
            .any(|image| image["kind"].as_str().unwrap().starts_with("unknown-"))
    );
    assert!(!artifacts[0]["problems"].as_array().unwrap().is_empty());
    assert_eq!(artifacts[4]["conda"]["driver_cuda"], "12.4");
    let image = &artifacts[7];
    let config = &image["config"];
    for list in [
        &image["names"],
        &image["hidden"],
        &image["layers"],
        &config["env"],
        &config["compat_configs"],
    ] {
        assert!(!list.as_array().unwrap().is_empty(), "{image}");
    }
    assert!(config["compat"][0]["note"].is_object(), "{config}");
    assert!(config["compat"][1]["broken"].is_string(), "{config}");
    let libraries = image["libraries"].as_array().unwrap();
    assert!(
        libraries
            .iter()
            .any(|library| library["also"][0].is_string())
    );
    assert!(libraries.iter().all(|library| library["layer"].is_string()));
    assert_eq!(strings(&image["problems"], "kind"), ["foreign-layer"]);
}

#[test]
fn the_verdict_on_everything_is_of_its_schema() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    std::fs::write(root.path().join("smgate.yaml"), POLICY).unwrap();
    let check = ["check", "--format", "json", "--today", "2026-11-30"];
    let report = printed(root.path(), &[&check, ALL].concat());
    assert_valid(&schema("check-1.json"), &report);
    let findings = &report["findings"];
    let codes = strings(findings, "code");
    for code in [
        "no-kernel-image",
        "driver-dropped-gpu",
        "platform-mismatch",
        "cpu-only-build",
        "built-at-install",
        "driver-not-given",
        "waiver-expired",
        "waiver-unused",
        "unreadable",
        "stale-compat-config",
    ] {
        assert!(codes.contains(&code), "no {code} in {codes:?}");
    }
    let waived = findings
        .as_array()
        .unwrap()
        .iter()
        .any(|finding| finding["waived"].is_object());
    assert!(waived, "nothing is waived");
    let from_layer = findings
        .as_array()
        .unwrap()
        .iter()
        .any(|finding| finding["layer"].is_object());
    assert!(from_layer, "no layer is named");
    assert_eq!(report["verdict"], "fail");
}

#[test]
fn each_line_of_everything_is_of_its_schema() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    std::fs::write(root.path().join("smgate.yaml"), POLICY).unwrap();
    let output = quiet(root.path())
        .current_dir(root.path())
        .args(["check", "--format", "ndjson", "--today", "2026-11-30"])
        .args(ALL)
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (summary, artifacts) = lines.split_last().unwrap();
    assert_valid(&schema("check-summary-1.json"), summary);
    let of_artifact = schema("check-artifact-1.json");
    for line in artifacts {
        assert_valid(&of_artifact, line);
    }
    // together they are the one document
    let check = ["check", "--format", "json", "--today", "2026-11-30"];
    let whole = printed(root.path(), &[&check, ALL].concat());
    for list in ["matrix", "findings", "problems"] {
        let mut of_lines: Vec<Value> = Vec::new();
        for line in lines.iter().filter(|line| line[list].is_array()) {
            of_lines.extend(line[list].as_array().unwrap().iter().cloned());
        }
        assert_eq!(Value::Array(of_lines), whole[list], "{list}");
    }
    let of_lines: Vec<&Value> = artifacts.iter().map(|line| &line["artifact"]).collect();
    assert_eq!(
        of_lines,
        whole["artifacts"]
            .as_array()
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(summary["artifacts"], artifacts.len());
    assert_eq!(summary["verdict"], whole["verdict"]);
}

#[test]
fn what_two_schemas_have_in_common_is_the_same_in_both() {
    let whole = schema("check-1.json");
    for name in ["check-artifact-1.json", "check-summary-1.json"] {
        let part = schema(name);
        for (definition, value) in part["$defs"].as_object().unwrap() {
            assert_eq!(value, &whole["$defs"][definition], "{name}: {definition}");
        }
        for property in ["policy", "tables", "matrix", "problems", "missing_kernels"] {
            if let Some(value) = part["properties"].get(property) {
                assert_eq!(value, &whole["properties"][property], "{name}: {property}");
            }
        }
        let items = &part["properties"]["findings"]["items"];
        assert_eq!(items, &whole["properties"]["findings"]["items"], "{name}");
    }
    let artifact = &schema("check-artifact-1.json")["properties"]["artifact"];
    let items = &whole["properties"]["artifacts"]["items"];
    assert_eq!(artifact["properties"], items["properties"]);
    assert_eq!(artifact["required"], items["required"]);
}

#[test]
fn a_saved_inventory_is_judged_like_the_inputs() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    std::fs::write(root.path().join("smgate.yaml"), POLICY).unwrap();
    let inventory = printed(
        root.path(),
        &[&["inspect", "--format", "json"], ALL].concat(),
    );
    std::fs::write(root.path().join("saved.json"), inventory.to_string()).unwrap();
    let check = ["check", "--format", "json", "--today", "2026-11-30"];
    let direct = printed(root.path(), &[&check, ALL].concat());
    let later = printed(
        root.path(),
        &[&check[..], &["--inventory", "saved.json"]].concat(),
    );
    assert_eq!(direct, later);
}

#[test]
fn a_field_that_no_schema_knows_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    let mut inventory = printed(root.path(), &["inspect", "--format", "json", "tree"]);
    let schema = schema("inspect-1.json");
    assert_valid(&schema, &inventory);
    inventory["artifacts"][0]["libraries"][0]["classes"][0]["new"] = Value::Null;
    assert!(!jsonschema::draft202012::is_valid(&schema, &inventory));
}

/// Every object of a schema that lists its fields.
fn objects<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(fields) => {
            if value["properties"].is_object() {
                found.push(value);
            }
            fields.values().for_each(|field| objects(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        _ => {}
    }
}

#[test]
fn the_schemas_demand_every_field_and_allow_no_other() {
    let mut count = 0;
    for entry in std::fs::read_dir(schemas()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let schema = schema(&name);
        let mut found = Vec::new();
        objects(&schema, &mut found);
        assert!(found.len() > 1, "{name}");
        assert_eq!(
            format!("{}.json", schema["$id"].as_str().unwrap().replace('/', "-")),
            format!("smgate-{name}")
        );
        count += 1;
        for object in found {
            let listed: Vec<&str> = object["properties"]
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .collect();
            let mut required: Vec<&str> = object["required"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            required.sort_unstable();
            assert_eq!(required, listed, "{name}");
            assert_eq!(object["additionalProperties"], false, "{name}: {listed:?}");
        }
    }
    assert_eq!(count, 10, "the schemas that docs/json.md names");
}

/// Everything that a policy may hold, and a base that it includes.
const FULL_POLICY: &str = r#"
version: 1
include: [base.yaml, preset:ada-l4]
targets:
  - {name: pool, gpu: [H100, T4], driver: 550.54.15, platform: linux/amd64, python: "3.12", glibc: "2.28"}
  - {name: cloud, instance: "aws:g6.xlarge", driver: R570}
  - {name: windows, pci: "10de:2684", driver: "551.61", platform: windows/amd64}
  - {name: wsl, cc: [8.9, "12.0"], wsl: true, tegra: lenient}
  - {name: orin, gpu: Jetson AGX Orin, tegra: strict, allow-jit: [cupy-*]}
  - {name: here, host: true}
levels: {jit-only: deny, unreadable: warn}
thresholds: {main-library: 0.75, partial-coverage: 0.9}
expect-gpu: ["torch", "mypkg-*"]
allow-jit: warp-lang
scopes:
  - {package: torch, version: 2.15.*, library: "**/*.so", targets: [pool], levels: {link-only: allow}, thresholds: {main-library: 0}}
  - {targets: here, levels: {unused-architectures: warn}}
waivers:
  - {rule: partial-coverage, package: torch, version: 2.15.*, library: "*.so", targets: [pool], reason: not called, until: 2026-12-31}
  - {rule: no-kernel-image, reason: too late, until: 2026-01-31}
"#;

#[test]
fn a_policy_as_it_is_understood_is_of_its_schema() {
    let root = tempfile::tempdir().unwrap();
    let base = "version: 1\nlevels: {partial-coverage: deny}\n";
    std::fs::write(root.path().join("base.yaml"), base).unwrap();
    std::fs::write(root.path().join("smgate.yaml"), FULL_POLICY).unwrap();
    let show = [
        "policy",
        "show",
        "--format",
        "json",
        "--today",
        "2026-11-30",
    ];
    let shown = printed(root.path(), &show);
    let schema = schema("policy-1.json");
    assert_valid(&schema, &shown);
    // it holds what is rare
    let targets = &shown["targets"];
    assert!(strings(targets, "tegra").contains(&"strict"), "{targets}");
    let here = targets.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&here["host"], &here["driver"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(shown["waivers"][1]["expired"], true);
    for preset in smgate::policy::Policy::presets() {
        let name = format!("preset:{}", preset.name);
        assert_valid(
            &schema,
            &printed(root.path(), &[&show[..], &[&name]].concat()),
        );
    }
}

#[test]
fn a_written_baseline_is_of_its_schema() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    let policy = POLICY.split("waivers:").next().unwrap();
    std::fs::write(root.path().join("smgate.yaml"), policy).unwrap();
    let check = [
        "check",
        "--format",
        "json",
        "--today",
        "2026-11-30",
        "--write-baseline",
        "known.json",
    ];
    printed(root.path(), &[&check, ALL].concat());
    let baseline = serde_json::from_str(&text(&root.path().join("known.json"))).unwrap();
    assert_valid(&schema("baseline-1.json"), &baseline);
    let findings = &baseline["findings"];
    for field in ["package", "input", "library", "target", "gpu"] {
        assert!(
            !strings(findings, field).is_empty(),
            "no {field} in {baseline}"
        );
    }
    assert!(strings(findings, "level").contains(&"deny"));
    assert!(strings(findings, "level").contains(&"warn"));
}
