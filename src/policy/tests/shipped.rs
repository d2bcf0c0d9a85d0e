//! Presets, and targets of the command line.

use super::*;

#[test]
fn every_preset_parses_and_lints_clean() {
    let tables = Tables::builtin();
    for preset in Policy::presets() {
        let policy = Policy::preset(preset.name, tables).unwrap();
        let policy = policy.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
        assert_eq!(policy.origin(), format!("preset:{}", preset.name));
        // JetPack's drivers for Orin are in no table
        let without: Vec<&str> = policy
            .targets
            .iter()
            .filter(|target| target.driver.is_none())
            .map(|target| target.name.as_str())
            .collect();
        assert!(without.is_empty() || without == ["orin"], "{}", preset.name);
        let doubts = policy.lint(tables, "2027-01-15".parse().unwrap());
        assert!(doubts.is_empty(), "{}", doubts.render(false));
    }
    assert!(Policy::preset("hopper", tables).is_none());
}

#[test]
fn every_preset_file_is_shipped_and_described() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/policies");
    let readme = include_str!("../../../policies/README.md");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".yaml")
                .map(str::to_owned)
        })
        .collect();
    files.sort();
    let mut names: Vec<&str> = Policy::presets().iter().map(|preset| preset.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
    for name in names {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn waivers_in_comments_of_presets_parse_too() {
    let text = include_str!("../../../policies/mixed-fleet.yaml");
    let text = text
        .replace("# waivers:", "waivers:")
        .replace("\n#   ", "\n  ");
    let start = text.find("version: 1").unwrap();
    assert_eq!(valid(text.get(start..).unwrap()).waivers.len(), 1);
}

#[test]
fn targets_of_the_command_line_are_names_or_capabilities() {
    let tables = Tables::builtin();
    let policy = Policy::for_targets(
        &["h100", "12.0", "H100"],
        Some("550"),
        Some("linux/amd64"),
        tables,
    )
    .unwrap();
    let shown: Vec<String> = policy
        .targets
        .iter()
        .map(|t| format!("{} {}", t.name, t.gpus[0].cc))
        .collect();
    assert_eq!(shown, ["h100 9.0", "12.0 12.0"]);
    assert_eq!(policy.origin(), "--target");
    assert_eq!(
        policy.targets[0].driver.as_ref().unwrap().to_string(),
        "R550"
    );
}

#[test]
fn wrong_targets_of_the_command_line_get_the_nearest_spelling() {
    let tables = Tables::builtin();
    let error = |target: &str, driver: Option<&str>, platform: Option<&str>| {
        let error = Policy::for_targets(&[target], driver, platform, tables).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Usage);
        format!("{error}; {}", error.hint().unwrap_or_default())
    };
    insta::assert_snapshot!(error("H10O", None, None), @"no GPU is known by the name `H10O`; did you mean `H100`?");
    insta::assert_snapshot!(error("sm_90", None, None), @"no GPU is known by the name `sm_90`; that is what code is built for; say what the GPU has: `9.0`");
    insta::assert_snapshot!(error("9.7", None, None), @"no GPU is known with compute capability `9.7`; `nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has");
    insta::assert_snapshot!(error("GT 730", None, None), @"`GT 730` is the name of GPUs with different compute capabilities: 2.1, 3.0 and 3.5; say which one, such as `cc: 2.1`; `nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has");
    insta::assert_snapshot!(error("host", None, None), @"no GPU is known by the name `host`; in a policy, the machine that checks is `host: true`, without `gpu`");
    insta::assert_snapshot!(error("h100", Some("12.4.x"), None), @"`12.4.x` is not a driver; write a version such as `550.54.15` or a branch such as `R550`");
    for (driver, hint) in [
        (
            "12.4",
            "is it a CUDA version? `nvidia-smi` shows the driver beside it, such as `550.54.15`",
        ),
        ("R5500", "branches have three digits, such as `R550`"),
        // the Device Manager's 32.0.15.6094 is what NVIDIA calls 560.94, 31.0.15.5161 is 551.61
        (
            "32.0.15.6094",
            "that is how Windows counts: `nvidia-smi` shows the driver as `560.94`",
        ),
        (
            "31.0.15.5161",
            "that is how Windows counts: `nvidia-smi` shows the driver as `551.61`",
        ),
    ] {
        assert_eq!(
            error("h100", Some(driver), None),
            format!("`{driver}` is not a driver; {hint}")
        );
    }
    insta::assert_snapshot!(error("9", None, None), @"no GPU is known by the name `9`; did you mean the compute capability `9.0`?");
    insta::assert_snapshot!(error("h100", None, Some("linux")), @"`linux` is not a platform of a target; write `linux/amd64`, `linux/arm64` or `windows/amd64`");
    let none: [&str; 0] = [];
    assert!(Policy::for_targets(&none, None, None, tables).is_err());
}

#[test]
fn several_gpus_in_one_option_get_the_options_to_type() {
    let error =
        Policy::for_targets(&["H100, RTX 4090"], None, None, Tables::builtin()).unwrap_err();
    assert_eq!(error.to_string(), "`H100, RTX 4090` is more than one GPU");
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("`--target H100 --target \"RTX 4090\"`"),
        "{hint}"
    );
}
