//! Policies of several files: what overrides what, and mistakes in included files.

use std::cell::RefCell;

use super::*;

/// Reads `smgate.yaml` with these other files, by path.
fn with_files(root: &str, files: &[(&str, &str)]) -> Result<Policy, Diagnostics> {
    let mut read = |from: &str, name: &str| {
        // paths are taken from the folder of the file that names them
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in name.split('/') {
            match part {
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        let found = files.iter().find(|(known, _)| *known == path);
        let (_, text) = found.ok_or_else(|| format!("there is no `{path}`"))?;
        Ok(IncludedFile {
            origin: path.clone(),
            id: path,
            bytes: text.as_bytes().to_owned(),
        })
    };
    Policy::parse_with("smgate.yaml", root.as_bytes(), Tables::builtin(), &mut read)
}

fn shown(result: Result<Policy, Diagnostics>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

const BASE: &str = "\
version: 1
targets:
  - {name: a, gpu: A100, driver: R550}
  - {name: h, gpu: H100, driver: R550}
levels: {jit-only: deny, partial-coverage: deny}
thresholds: {main-library: 0.75, partial-coverage: 0.9}
expect-gpu: torch
allow-jit: triton
scopes: [{package: torch, levels: {jit-only: allow}}]
waivers: [{rule: link-only, reason: known, until: 2027-03-01, targets: h}]
";

#[test]
fn what_includes_overrides_what_is_included() {
    let root = "\
version: 1
include: shared/base.yaml
targets:
  - {name: h, gpu: H200, driver: R570}
  - {name: b, gpu: B200, driver: R580}
levels: {jit-only: warn}
thresholds: {main-library: 0.6}
expect-gpu: vllm
scopes: [{package: torch, levels: {jit-only: deny}}]
waivers: [{rule: jit-only, reason: known, until: 2027-03-01, targets: a}]
";
    let policy = with_files(root, &[("shared/base.yaml", BASE)]).unwrap();
    let targets: Vec<String> = policy
        .targets
        .iter()
        .map(|t| format!("{} {}", t.name, t.gpus[0].name))
        .collect();
    // one of the same name takes the place of the other
    assert_eq!(targets, ["a A100", "h H200", "b B200"]);
    assert_eq!(policy.level(Code::JitOnly), Level::Warn);
    assert_eq!(policy.level(Code::PartialCoverage), Level::Deny);
    assert_eq!(
        policy.thresholds,
        Thresholds {
            main_library: 0.6,
            partial_coverage: Some(0.9)
        }
    );
    assert!(policy.expects_gpu("torch") && policy.expects_gpu("vllm"));
    let torch = WaiverSubject {
        package: Some("torch"),
        ..WaiverSubject::default()
    };
    assert_eq!(policy.level_for(Code::JitOnly, &torch), Level::Deny);
    let places: Vec<String> = policy
        .waivers
        .iter()
        .map(|waiver| waiver.place.to_string())
        .collect();
    assert_eq!(
        places,
        ["shared/base.yaml, line 10", "smgate.yaml, line 10"]
    );
    assert_eq!(policy.origin(), "smgate.yaml");
}

#[test]
fn included_files_include_from_their_own_folder_and_a_base_counts_once() {
    let left = "version: 1\ninclude: ../base.yaml\n";
    let policy = with_files(
        "version: 1\ninclude: [x/left.yaml, x/right.yaml]\n",
        &[
            ("x/left.yaml", left),
            ("x/right.yaml", left),
            ("base.yaml", BASE),
        ],
    );
    let policy = policy.unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!((policy.targets.len(), policy.waivers.len()), (2, 1));
}

#[test]
fn presets_can_be_included() {
    let text = "version: 1\ninclude: preset:hopper-dc\nlevels: {jit-only: warn}\n";
    let policy = valid(text);
    assert_eq!(policy.targets[0].name, "h100");
    assert_eq!(policy.level(Code::JitOnly), Level::Warn);
    assert!(rendered("version: 1\ninclude: preset:hoper\n").contains("`preset:hopper-dc`"));
}

#[test]
fn a_circle_is_told_where_it_closes() {
    let circle = [
        ("a.yaml", "version: 1\ninclude: b.yaml\n"),
        ("b.yaml", "version: 1\n\ninclude: a.yaml\n"),
    ];
    assert_eq!(
        shown(with_files("version: 1\ninclude: a.yaml\n", &circle)),
        "b.yaml:3:10: `a.yaml` includes itself"
    );
}

#[test]
fn depth_and_number_of_files_are_bounded() {
    let deep: Vec<(String, String)> = (0..20)
        .map(|n| {
            (
                format!("{n}.yaml"),
                format!("version: 1\ninclude: {}.yaml\n", n + 1),
            )
        })
        .collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let told = shown(with_files("version: 1\ninclude: 0.yaml\n", &deep));
    assert!(told.starts_with("7.yaml:2:10: more than 8 files"), "{told}");
    // each file asks for a hundred more
    let opened = RefCell::new(0_usize);
    let list: Vec<String> = (0..100).map(|n| format!("{n}.yaml")).collect();
    let text = format!("version: 1\ninclude: [{}]\n", list.join(", "));
    let mut read = |from: &str, name: &str| {
        *opened.borrow_mut() += 1;
        let id = format!("{from}/{name}");
        Ok(IncludedFile {
            origin: id.clone(),
            id,
            bytes: text.clone().into_bytes(),
        })
    };
    let result = Policy::parse_with("p", text.as_bytes(), Tables::builtin(), &mut read);
    assert!(result.is_err());
    assert!(*opened.borrow() <= 256, "{}", opened.borrow());
}

#[test]
fn what_cannot_be_included_is_told_at_its_place() {
    for (name, part) in [
        ("missing.yaml", "there is no `missing.yaml`"),
        ("/etc/base.yaml", "no relative path"),
        ("C:base.yaml", "no relative path"),
        ("a\\b.yaml", "no relative path"),
        ("\"\"", "no relative path"),
    ] {
        let told = shown(with_files(&format!("version: 1\ninclude: {name}\n"), &[]));
        assert!(
            told.starts_with("smgate.yaml:2:10: ") && told.contains(part),
            "{name}: {told}"
        );
    }
    // where nobody opens files, as in the library
    assert_eq!(
        mistakes("version: 1\ninclude: base.yaml\n"),
        ["2:10: `base.yaml` cannot be included: other files are not read here"]
    );
}

#[test]
fn the_mistakes_of_all_files_are_told_at_once() {
    let result = with_files(
        "version: 1\ninclude: [base.yaml, gone.yaml]\nlevels: {jit-onyl: deny}\nwaivers: [{rule: jit-only}]\n",
        &[(
            "base.yaml",
            "version: 1\ntargets:\n  - {name: a, gpu: H10O}\nlevel: {}\n",
        )],
    );
    let diagnostics = result.map(|_| ()).unwrap_err();
    let places: Vec<String> = diagnostics
        .iter()
        .map(|d| format!("{}:{}", d.file, d.line))
        .collect();
    assert_eq!(
        places,
        [
            "smgate.yaml:2",
            "smgate.yaml:3",
            "smgate.yaml:4",
            "base.yaml:3",
            "base.yaml:4"
        ]
    );
    let shown = diagnostics.render(false);
    assert!(shown.contains("--> base.yaml:3:20"), "{shown}");
    assert!(shown.contains("did you mean `H100`?"), "{shown}");
}

#[test]
fn targets_that_are_named_may_be_in_another_file() {
    let root =
        "version: 1\ninclude: base.yaml\nscopes: [{targets: [h, hh], levels: {jit-only: warn}}]\n";
    assert_eq!(
        shown(with_files(root, &[("base.yaml", BASE)])),
        "smgate.yaml:3:24: no target of this policy is called `hh`"
    );
    let nothing = [("base.yaml", "version: 1\nlevels: {jit-only: deny}\n")];
    assert_eq!(
        shown(with_files("version: 1\ninclude: base.yaml\n", &nothing)),
        "smgate.yaml:1:1: a policy needs `targets`"
    );
}
