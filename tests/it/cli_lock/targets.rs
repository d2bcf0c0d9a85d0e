//! Several kinds of machines: each gets what an installer would put there.

use serde_json::{Value, json};

use super::{findings, run, small};
use crate::support::elf::Elf;
use crate::support::registry::digest;
use crate::support::servers::{UvPackage, by_ranges, served, uv_lock};
use crate::support_cli::{Place, Run, fatbin_of, wheel};

/// A wheel with code for these GPUs and this tag.
fn tagged(tag: &str, code: &str) -> (String, Vec<u8>) {
    // EM_AARCH64 and EM_X86_64
    let machine = if tag.ends_with("aarch64") { 183 } else { 62 };
    let library = Elf::new()
        .machine(machine)
        .section(".nv_fatbin", fatbin_of(code))
        .build();
    let file = wheel("pkg", "1.0").tag(tag).member("pkg/_C.so", library);
    (file.file_name(), file.build())
}

/// A package with these wheels at `base`.
fn package(base: &str, wheels: &[(String, Vec<u8>)]) -> UvPackage {
    let wheels = wheels
        .iter()
        .map(|(name, bytes)| (format!("{base}/{name}"), digest(bytes), bytes.len()));
    ("pkg".to_owned(), "1.0".to_owned(), wheels.collect())
}

fn judge(place: &Place, targets: &str, input: &[&str]) -> Run {
    place.write("smgate.yaml", format!("version: 1\ntargets:\n{targets}"));
    run(place, &[&["check", "--format", "json"], input].concat())
}

#[test]
fn each_target_is_judged_by_the_wheel_that_it_gets() {
    let wheels = [
        tagged("cp312-cp312-manylinux_2_28_x86_64", "sm_90"),
        tagged("cp313-cp313-manylinux_2_28_x86_64", "sm_80"),
        tagged("cp312-cp312-manylinux_2_28_aarch64", "sm_80"),
    ];
    let server = by_ranges(
        wheels
            .iter()
            .map(|(name, bytes)| served(name, bytes))
            .collect(),
    );
    let place = Place::new();
    place.write("uv.lock", uv_lock(&[package(&server.url(""), &wheels)]));
    let targets = "
  - {name: fits, gpu: H100, driver: R580, platform: linux/amd64, python: '3.12', glibc: '2.28'}
  - {name: newer-python, gpu: H100, driver: R580, platform: linux/amd64, python: '3.13', glibc: '2.28'}
  - {name: arm, gpu: H100, driver: R580, platform: linux/arm64, python: '3.12', glibc: '2.28'}
  - {name: old-glibc, gpu: H100, driver: R580, platform: linux/amd64, python: '3.12', glibc: '2.17'}
  - {name: windows, gpu: H100, driver: '581.15', platform: windows/amd64, python: '3.12'}
";
    let run = judge(&place, targets, &["uv.lock"]);
    assert_eq!(run.status, 1, "{run:?}");
    let mut found: Vec<String> = findings(&run)
        .iter()
        .map(|row| {
            format!(
                "{} {} {}",
                row[3].as_str().unwrap(),
                row[0].as_str().unwrap(),
                row[2]
            )
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "arm no-kernel-image 10",
            "newer-python no-kernel-image 10",
            "old-glibc no-file-for-target 10",
            "windows no-file-for-target 10",
        ]
    );
    let asked = server.paths();
    assert_eq!(asked.len(), 3, "{asked:?}");
}

#[test]
fn a_wheel_for_several_targets_is_fetched_once() {
    let wheels = [tagged("py3-none-manylinux_2_28_x86_64", "sm_90")];
    let server = by_ranges(
        wheels
            .iter()
            .map(|(name, bytes)| served(name, bytes))
            .collect(),
    );
    let place = Place::new();
    place.write("uv.lock", uv_lock(&[package(&server.url(""), &wheels)]));
    let targets = "
  - {name: a, gpu: H100, driver: R580, platform: linux/amd64, python: '3.12', glibc: '2.28'}
  - {name: b, gpu: H200, driver: R580, platform: linux/amd64, python: '3.13', glibc: '2.34'}
";
    let run = judge(&place, targets, &["uv.lock", "--no-cache"]);
    assert_eq!(
        (run.status, findings(&run)),
        (0, Vec::<Value>::new()),
        "{run:?}"
    );
    assert_eq!(server.paths().len(), 1);
}

#[test]
fn a_package_without_a_file_for_one_target_can_be_accepted_for_that_target() {
    let wheels = [tagged("py3-none-manylinux_2_28_x86_64", "sm_90")];
    let server = by_ranges(
        wheels
            .iter()
            .map(|(name, bytes)| served(name, bytes))
            .collect(),
    );
    let place = Place::new();
    place.write("uv.lock", uv_lock(&[package(&server.url(""), &wheels)]));
    let targets = "
  - {name: linux, gpu: H100, driver: R580, platform: linux/amd64, python: '3.12'}
  - {name: windows, gpu: H100, driver: '581.15', platform: windows/amd64, python: '3.12'}
  - {name: arm, gpu: H100, driver: R580, platform: linux/arm64, python: '3.12'}
";
    let allowed = |targets_of: &str| {
        let scope = format!(
            "{targets}scopes:\n  - {{targets: {targets_of}, levels: {{no-file-for-target: allow}}}}\n"
        );
        let run = judge(&place, &scope, &["uv.lock"]);
        (run.status, findings(&run))
    };
    let none = |target: &str| json!(["no-file-for-target", "pkg", 10, target]);
    assert_eq!(allowed("linux"), (1, vec![none("windows"), none("arm")]));
    assert_eq!(allowed("[windows]"), (1, vec![none("arm")]));
    assert_eq!(allowed("[arm, windows]"), (0, Vec::new()));
}

const ONE: &str =
    "  - {name: one, gpu: H100, driver: R580, platform: linux/amd64, python: '3.12'}\n";

#[test]
fn a_requirement_without_a_version_is_remarked_and_fails_where_the_policy_denies_it() {
    let (name, bytes) = small("pkg", "sm_90");
    let place = Place::new();
    place.write(&name, &bytes);
    place.write("requirements.txt", format!("./{name}\ntorch>=2\n"));
    let warned = judge(&place, ONE, &["requirements.txt", "--offline"]);
    assert_eq!(
        (warned.status, findings(&warned)),
        (0, vec![json!(["not-locked", null, 2, null])]),
        "{warned:?}"
    );
    let denying = format!("{ONE}levels: {{not-locked: deny}}\n");
    let denied = judge(&place, &denying, &["requirements.txt", "--offline"]);
    assert_eq!(denied.status, 1, "{denied:?}");
}

#[test]
fn an_environment_file_is_not_locked() {
    let place = Place::new();
    place.write(
        "environment.yml",
        "name: gpu\nchannels: [forge]\ndependencies:\n- python=3.12\n- pytorch\n",
    );
    let run = judge(&place, ONE, &["environment.yml", "--offline"]);
    assert_eq!(
        findings(&run),
        [
            json!(["not-locked", null, 4, null]),
            json!(["not-locked", null, 5, null])
        ],
        "{run:?}"
    );
    assert_eq!(run.status, 2, "{run:?}");
}

#[test]
fn a_saved_inventory_of_a_lock_file_is_judged_like_the_lock_file() {
    let wheels = [tagged("py3-none-manylinux_2_28_x86_64", "sm_80")];
    let server = by_ranges(
        wheels
            .iter()
            .map(|(name, bytes)| served(name, bytes))
            .collect(),
    );
    let place = Place::new();
    let windows = (
        "pkg2".to_owned(),
        "1.0".to_owned(),
        vec![(
            format!("{}/pkg2-1.0-py3-none-win_amd64.whl", server.url("")),
            digest(b""),
            1,
        )],
    );
    place.write(
        "uv.lock",
        uv_lock(&[package(&server.url(""), &wheels), windows]),
    );
    let args = [
        "inspect",
        "uv.lock",
        "--platform",
        "linux/amd64",
        "--python",
        "3.12",
        "--format",
        "json",
    ];
    let saved = run(&place, &args);
    assert_eq!(saved.status, 0, "{saved:?}");
    place.write("saved.json", &saved.stdout);
    let direct = judge(&place, ONE, &["uv.lock"]);
    assert_eq!(direct.status, 1, "{direct:?}");
    assert_eq!(direct.codes(), ["no-file-for-target", "no-kernel-image"]);
    let later = judge(&place, ONE, &["--inventory", "saved.json"]);
    assert_eq!(later, direct);
    // what was not asked for is not known
    let other = ONE.replace("3.12", "3.13");
    let unknown = judge(&place, &other, &["--inventory", "saved.json"]);
    assert_ne!(unknown.status, 0, "{unknown:?}");
}
