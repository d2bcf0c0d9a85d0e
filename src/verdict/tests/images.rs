//! What images declare, held against targets. Expected drivers are worked out from the strings of `testdata/env`.

use std::collections::BTreeSet;

use super::on;
use crate::compat::{Forward, ForwardFailure, ForwardUnsure};
use crate::cuda::{DriverBranch, SmTarget, ToolkitVersion};
use crate::image::ImageEnv;
use crate::policy::Policy;
use crate::rule::Code;
use crate::tables::Tables;
use crate::verdict::finding::Finding;
use crate::verdict::image::{
    Required, capabilities, claims, forward_note, host_kind, requirements, stale_config,
};

/// The codes that only images raise; each has a test here, with a neighbour that is quiet.
pub(super) const CODES: [Code; 3] = [
    Code::ClaimMismatch,
    Code::DriverCapabilityMissing,
    Code::StaleCompatConfig,
];

fn env(variables: &[&str]) -> ImageEnv {
    ImageEnv::parse(variables.iter().copied(), [], Tables::builtin())
}

fn required(variables: &[&str], gpu: &str, driver: &str) -> Required {
    let policy = Policy::parse("p", &on(gpu, driver), Tables::builtin()).unwrap();
    let target = &policy.targets[0];
    requirements(&env(variables), target, &target.gpus[0], Tables::builtin())
}

fn of_image(gpu: &str, driver: &str) -> Required {
    let value = include_str!("../../../testdata/env/12.8.txt").trim_end();
    required(&[&format!("NVIDIA_REQUIRE_CUDA={value}")], gpu, driver)
}

fn code(finding: Option<&Finding>) -> Option<Code> {
    finding.map(|finding| finding.code)
}

fn targets(text: &str) -> BTreeSet<SmTarget> {
    text.split_whitespace()
        .map(|item| item.parse().unwrap())
        .collect()
}

#[test]
fn a_driver_that_the_image_does_not_accept_is_too_old() {
    let required = of_image("RTX 4090", "565.57.01");
    let finding = required.finding.unwrap();
    assert_eq!(finding.code, Code::DriverTooOld);
    assert!(
        finding
            .message
            .contains("`NVIDIA_REQUIRE_CUDA` asks for `cuda>=12.8`")
    );
    assert!(
        finding.next_step.contains("R570 or newer"),
        "{}",
        finding.next_step
    );
    assert_eq!(
        finding.evidence[0],
        "accepted for GeForce RTX 4090 (8.9): R570 and newer"
    );
    let floor = required.floor.unwrap();
    assert_eq!(floor.driver.to_string(), "R570");
    assert_eq!(
        floor.mechanism.to_string(),
        "the image's NVIDIA_REQUIRE_CUDA"
    );
    // data centre GPUs have the branches of the list
    let accepted = of_image("H100", "565.57.01");
    assert_eq!(accepted.finding, None);
    assert_eq!(accepted.floor.unwrap().driver.to_string(), "R470");
    // between two of them
    let between = of_image("H100", "555.42.02").finding.unwrap();
    assert!(
        between.next_step.contains("R560 or newer"),
        "{}",
        between.next_step
    );
}

#[test]
fn what_is_not_known_is_a_note_and_no_finding() {
    let by_capability = of_image("9.0", "550.54.15");
    assert_eq!(by_capability.finding, None);
    assert!(by_capability.notes[0].contains("the brand"));
    let any = of_image("H100", "");
    assert_eq!((any.finding, any.notes), (None, vec![]));
    assert_eq!(any.floor.unwrap().driver.to_string(), "R470");
    assert_eq!(required(&[], "H100", "R470"), Required::default());
}

#[test]
fn requirements_that_a_tool_refuses_are_a_claim_that_does_not_fit() {
    let refused = required(&["NVIDIA_REQUIRE_CUDA=cuda==12.8"], "H100", "R580");
    assert_eq!(code(refused.finding.as_ref()), Some(Code::ClaimMismatch));
    let fine = required(&["NVIDIA_REQUIRE_CUDA=cuda>=12.8"], "H100", "R580");
    assert_eq!(fine.finding, None);
}

#[test]
fn a_gpu_that_no_driver_helps_is_a_claim_that_does_not_fit() {
    let arch = ["NVIDIA_REQUIRE_ARCH=arch>=10.0"];
    let h100 = required(&arch, "H100", "R580");
    assert_eq!(code(h100.finding.as_ref()), Some(Code::ClaimMismatch));
    assert_eq!(h100.floor, None);
    assert_eq!(required(&arch, "B200", "R580").finding, None);
}

#[test]
fn architectures_that_are_declared_and_absent_are_a_claim_that_does_not_fit() {
    let env = env(&["TORCH_CUDA_ARCH_LIST=8.0 9.0+PTX"]);
    let finding = claims(&env, &targets("sm_75 sm_80"), &targets("")).unwrap();
    assert_eq!(finding.code, Code::ClaimMismatch);
    assert!(
        finding.message.contains("names sm_90, compute_90,"),
        "{}",
        finding.message
    );
    assert_eq!(finding.evidence, ["machine code not in the list: sm_75"]);
    // more than declared is no broken promise, and an image without device code has no code to compare
    assert_eq!(
        claims(&env, &targets("sm_80 sm_86 sm_90"), &targets("sm_90")),
        None
    );
    assert_eq!(claims(&env, &targets(""), &targets("")), None);
}

#[test]
fn device_code_without_the_compute_capability_is_a_warning() {
    let without = env(&["NVIDIA_DRIVER_CAPABILITIES=utility,graphics"]);
    let finding = capabilities(&without, true);
    assert_eq!(code(finding.as_ref()), Some(Code::DriverCapabilityMissing));
    assert_eq!(finding.unwrap().evidence, ["it gets: graphics, utility"]);
    assert_eq!(capabilities(&without, false), None);
    for fine in [
        "NVIDIA_DRIVER_CAPABILITIES=compute",
        "NVIDIA_DRIVER_CAPABILITIES=all",
        "X=y",
    ] {
        assert_eq!(capabilities(&env(&[fine]), true), None, "{fine}");
    }
    let strange = capabilities(&env(&["NVIDIA_DRIVER_CAPABILITIES=compute,cuda"]), false);
    assert_eq!(code(strange.as_ref()), Some(Code::DriverCapabilityMissing));
}

#[test]
fn configuration_left_by_a_running_container_is_a_warning() {
    let path = "etc/ld.so.conf.d/00-compat-1.conf";
    let finding = stale_config([path, "etc/ld.so.conf.d/00-compat-2.conf"]).unwrap();
    assert_eq!(finding.code, Code::StaleCompatConfig);
    assert_eq!(finding.library.as_deref(), Some(path));
    assert_eq!(finding.evidence.len(), 1);
    assert_eq!(stale_config([]), None);
}

#[test]
fn forward_compatibility_is_said_where_it_does_something() {
    let applies = Forward::Applies {
        cuda: ToolkitVersion::new(12, 4),
        branch: DriverBranch(550),
        once: false,
    };
    let note = |forward: &Forward| forward_note(forward).unwrap_or_default();
    assert_eq!(
        note(&applies),
        "the image brings the user-mode driver of R550 (CUDA 12.4)"
    );
    assert!(note(&Forward::Fails(ForwardFailure::Gpu)).contains("(error 804)"));
    assert!(note(&Forward::Unknown(ForwardUnsure::Gpu)).contains("not counted"));
    assert_eq!(note(&Forward::NotNeeded), "");
}

#[test]
fn images_for_servers_and_for_jetson_are_told_apart() {
    let on_host = |variables: &[&str], gpu: &str| {
        let policy = Policy::parse("p", &on(gpu, "R580"), Tables::builtin()).unwrap();
        let target = &policy.targets[0];
        let found = host_kind(&env(variables), target, &target.gpus[0], Tables::builtin());
        found.map(|finding| finding.code)
    };
    let unsure = Some(Code::TegraCompatibilityUnsure);
    let sbsa: &[&str] = &["NVARCH=sbsa"];
    let jetson: &[&str] = &["NVARCH=aarch64", "NVIDIA_REQUIRE_JETPACK=csv-mounts=all"];
    // Orin has the drivers of L4T; Thor runs what servers run (JetPack 7 is SBSA)
    for (variables, gpu, expected) in [
        (sbsa, "Jetson AGX Orin", unsure),
        (sbsa, "Jetson AGX Thor", None),
        (sbsa, "GH200", None),
        (jetson, "Jetson AGX Orin", None),
        (jetson, "GH200", unsure),
        (&[], "Jetson AGX Orin", None),
    ] {
        assert_eq!(on_host(variables, gpu), expected, "{variables:?} {gpu}");
    }
}
