//! Every preset judges packages made by hand. Expected values: RULES.md, and what the comments of the presets say.

use super::build::{Input, lib, wheel};
use super::{Evaluation, judge};
use crate::policy::Policy;
use crate::rule::Code;
use crate::verdict::Verdict;

/// One library with these images, for x86-64 or Arm.
fn of(images: &str, arm: bool) -> Input {
    let lib = lib("pkg/_C.so").fatbin(images, 10);
    if arm {
        wheel("pkg", "1.0")
            .tags("linux/arm64")
            .with(lib.machine("aarch64"))
    } else {
        wheel("pkg", "1.0").with(lib)
    }
}

fn on_preset(name: &str, input: &Input) -> Evaluation {
    let presets = Policy::presets();
    let preset = presets.iter().find(|preset| preset.name == name).unwrap();
    judge(&input.clone().inventory(), preset.text)
}

/// The targets that fail.
fn failing(evaluation: &Evaluation) -> String {
    let rows = evaluation.matrix.iter();
    let failing = rows.filter(|row| row.verdict == Verdict::Fail);
    failing
        .map(|row| row.target.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

const AMD64: bool = false;
const ARM64: bool = true;

#[test]
fn presets_fail_where_they_should_and_nowhere_else() {
    let wide = "sm_61 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120@8.7";
    for (preset, images, arm, fails) in [
        // jit-only is denied; GH200 has an Arm CPU
        ("hopper-dc", "sm_80 sm_90", AMD64, "gh200"),
        ("hopper-dc", "sm_80 sm_90", ARM64, "h100"),
        ("hopper-dc", "sm_80 compute_80@8.0", AMD64, "h100 gh200"),
        // 10.3 runs sm_100, and not sm_100a
        ("blackwell-dc", "sm_90 sm_100", AMD64, "gb200"),
        ("blackwell-dc", "sm_90 sm_100a", AMD64, "gb200 b300"),
        ("blackwell-dc", "sm_80 sm_90", AMD64, "b200 gb200 b300"),
        ("blackwell-dc", "sm_90 sm_100", ARM64, "b200 b300"),
        // 8.9 runs sm_80 and sm_86; R535 compiles PTX up to 8.2
        ("ada-l4", "sm_80 sm_86", AMD64, ""),
        ("ada-l4", "sm_90 sm_100", AMD64, "l4"),
        ("ada-l4", "sm_75 compute_75@8.2", AMD64, ""),
        ("ada-l4", "sm_75 compute_75@8.3", AMD64, "l4"),
        ("ada-l4", "sm_80+zstd sm_90+zstd", AMD64, "l4"),
        ("cloud-mixed", "sm_75 sm_80 sm_86 sm_90", AMD64, "arm"),
        ("cloud-mixed", "sm_80 sm_86 sm_90", AMD64, "t4 arm"),
        ("cloud-mixed", "sm_75 sm_80 sm_86", AMD64, "training arm"),
        ("cloud-mixed", "sm_75 sm_80", ARM64, "t4 inference training"),
        // CUDA 12 and CUDA 13 builds
        ("teaching-lab", "sm_61 sm_75 sm_80 sm_86", AMD64, ""),
        ("teaching-lab", "sm_75 sm_80 sm_86 sm_90", AMD64, "pascal"),
        ("teaching-lab", "sm_50 compute_50@8.0", AMD64, ""),
        (
            "teaching-lab",
            "sm_61 sm_75",
            ARM64,
            "pascal turing ampere ada",
        ),
        // server wheels have no code for Tegra
        ("jetson", "sm_80 sm_90 sm_100", ARM64, "orin thor"),
        ("jetson", "sm_80 sm_87 sm_90", ARM64, "thor"),
        ("jetson", "sm_87 sm_110", ARM64, ""),
        ("jetson", "sm_87 sm_101", ARM64, "thor"),
        ("jetson", "sm_80 compute_80@8.0", ARM64, ""),
        ("jetson", "sm_87 sm_110", AMD64, "orin thor"),
        // 12.1 runs sm_120, not sm_120a and not sm_100
        ("gb10", "sm_90 sm_120", ARM64, ""),
        ("gb10", "sm_90 sm_121", ARM64, ""),
        ("gb10", "sm_90 sm_120a", ARM64, "gb10"),
        ("gb10", "sm_90 sm_100", ARM64, "gb10"),
        ("gb10", "sm_90 sm_120", AMD64, "gb10"),
        ("mixed-fleet", wide, AMD64, "desktop"),
        (
            "mixed-fleet",
            "sm_80 sm_90 sm_120",
            AMD64,
            "t4-pool b200-pool desktop",
        ),
    ] {
        let evaluation = on_preset(preset, &of(images, arm));
        assert_eq!(
            failing(&evaluation),
            fails,
            "{preset}: {images}, Arm {arm}: {:#?}",
            evaluation.findings
        );
    }
}

#[test]
fn presets_say_nothing_about_a_package_that_has_everything() {
    for (preset, images, arm) in [
        ("ada-l4", "sm_80 sm_89", AMD64),
        ("teaching-lab", "sm_61 sm_75 sm_86 sm_89", AMD64),
        ("jetson", "sm_87 sm_110", ARM64),
        ("gb10", "sm_120 sm_121", ARM64),
    ] {
        let evaluation = on_preset(preset, &of(images, arm));
        let said: Vec<Code> = evaluation
            .findings
            .iter()
            .filter(|finding| finding.level > crate::rule::Level::Allow)
            .map(|finding| finding.code)
            .collect();
        assert!(said.is_empty(), "{preset}: {said:?}");
    }
}

#[test]
fn every_preset_is_judged_here() {
    let source = include_str!("presets.rs");
    for preset in Policy::presets() {
        assert!(
            source.contains(&format!("(\"{}\"", preset.name)),
            "{}",
            preset.name
        );
    }
}
