//! Whole policy files: what parses, and what every mistake looks like.

mod doubts;
mod hostile;
mod hosts;
mod includes;
mod mistakes;
mod scopes;
mod shapes;
mod shipped;

use super::*;
use crate::cuda::{ComputeCapability, DriverSpec};

fn parse(text: &str) -> Result<Policy, Diagnostics> {
    Policy::parse("smgate.yaml", text, Tables::builtin())
}

fn valid(text: &str) -> Policy {
    parse(text).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)))
}

/// The messages of all mistakes, with line and column.
fn mistakes(text: &str) -> Vec<String> {
    let diagnostics = parse(text).map(|_| ()).unwrap_err();
    let shown = |d: &Diagnostic| format!("{}:{}: {}", d.line, d.column, d.message);
    diagnostics.iter().map(shown).collect()
}

fn rendered(text: &str) -> String {
    let diagnostics = parse(text).map(|_| ()).unwrap_err();
    let shown = diagnostics.render(false);
    for Diagnostic { line, column, .. } in &diagnostics {
        let place = format!("--> smgate.yaml:{line}:{column}\n");
        assert!(shown.contains(&place), "{place}{shown}");
    }
    shown
}

/// A policy with one target that has these extra lines.
fn with_target(lines: &str) -> String {
    let lines = format!("\n{lines}").replace('\n', "\n    ");
    format!("version: 1\ntargets:\n  - name: a{lines}\n")
}

/// A policy with a good target and these lines at top level.
fn with_top(lines: &str) -> String {
    format!("version: 1\ntargets: [{{name: a, gpu: H100}}]\n{lines}\n")
}

#[test]
fn a_full_policy_is_read_as_written() {
    let policy = valid(
        r#"
version: 1
targets:
  - name: prod-h100
    gpu: H100
    driver: "550.54.15"
    platform: linux/amd64
    python: 3.10
    glibc: 2.28
  - name: t4-pool
    gpu: [T4, L4]
    driver: R535
  - name: by-capability
    cc: [9.0, 10.0]
    wsl: true
levels:
  jit-only: deny
  unreadable: warn
thresholds:
  main-library: 0.75
  partial-coverage: .9
expect-gpu: ["torch", "mypkg-*"]
waivers:
  - rule: partial-coverage
    package: torch
    version: "2.15.*"
    library: "**/libtorch_cuda_linalg.so"
    targets: [t4-pool]
    reason: "batched MAGMA kernels are not called"
    until: 2027-03-01
"#,
    );
    assert_eq!(policy.origin(), "smgate.yaml");
    let [prod, t4, cc] = policy.targets.as_slice() else {
        panic!("{:?}", policy.targets)
    };
    assert_eq!(prod.name, "prod-h100");
    assert_eq!(prod.gpus[0].cc, ComputeCapability::new(9, 0));
    assert_eq!(prod.driver, Some("550.54.15".parse().unwrap()));
    assert_eq!(prod.platform, Some("linux/amd64".parse().unwrap()));
    assert_eq!(prod.python.as_deref(), Some("3.10"));
    assert_eq!(prod.glibc.as_deref(), Some("2.28"));
    assert!(!prod.wsl);
    assert_eq!(t4.gpus.len(), 2);
    assert_eq!(t4.driver, Some("R535".parse().unwrap()));
    assert_eq!(t4.platform, None);
    let capabilities: Vec<String> = cc.gpus.iter().map(|gpu| gpu.cc.to_string()).collect();
    assert_eq!(capabilities, ["9.0", "10.0"]);
    assert!(cc.wsl);
    assert_eq!(cc.platform, Some("linux/amd64".parse().unwrap()));
    assert_eq!(policy.level(Code::JitOnly), Level::Deny);
    assert_eq!(policy.level(Code::Unreadable), Level::Warn);
    assert_eq!(policy.level(Code::NoKernelImage), Level::Deny);
    assert_eq!(
        policy.thresholds,
        Thresholds {
            main_library: 0.75,
            partial_coverage: Some(0.9)
        }
    );
    assert!(policy.expects_gpu("MyPkg_core"));
    assert!(!policy.expects_gpu("numpy"));
    let waiver = &policy.waivers[0];
    assert_eq!(waiver.rule, Code::PartialCoverage);
    assert_eq!(waiver.until.to_string(), "2027-03-01");
    assert_eq!(waiver.place.line, 24);
    assert_eq!(waiver.targets, ["t4-pool"]);
}

#[test]
fn the_smallest_policy_has_the_defaults() {
    let policy = valid("version: 1\ntargets:\n  - name: a\n    gpu: H100\n");
    for code in Code::ALL {
        assert_eq!(policy.level(*code), code.default_level(), "{code}");
    }
    assert_eq!(policy.thresholds, Thresholds::default());
    assert!(!policy.expects_gpu("torch"));
}

#[test]
fn sections_without_content_are_empty() {
    let policy = valid(&with_top(
        "levels:\nthresholds: ~\nexpect-gpu:\nwaivers:\n  # none yet",
    ));
    assert!(policy.waivers.is_empty());
}

#[test]
fn unquoted_numbers_keep_their_text() {
    for (line, cc) in [
        ("cc: 9.0", "9.0"),
        ("cc: 10.0", "10.0"),
        ("cc: \"10.0\"", "10.0"),
        ("cc: [12.0]", "12.0"),
        ("cc:\n  - 8.0", "8.0"),
    ] {
        let policy = valid(&with_target(line));
        assert_eq!(policy.targets[0].gpus[0].cc.to_string(), cc, "{line}");
    }
    for (line, driver) in [
        ("driver: 550", "R550"),
        ("driver: R550", "R550"),
        ("driver: 550.54", "550.54"),
        ("driver: 550.10", "550.10"),
        ("driver: 550.54.15", "550.54.15"),
        ("driver: '580.65.06'", "580.65.06"),
        ("driver: 999", "R999"),
    ] {
        let policy = valid(&with_target(&format!("gpu: H100\n{line}")));
        let read = policy.targets[0].driver.as_ref().map(DriverSpec::to_string);
        assert_eq!(read.as_deref(), Some(driver), "{line}");
    }
}

#[test]
fn windows_targets_take_numbers_of_windows_drivers() {
    let policy = valid(&with_target(
        "gpu: H100\nplatform: windows/amd64\ndriver: 551.78",
    ));
    assert_eq!(policy.targets[0].driver, Some("551.78".parse().unwrap()));
}

#[test]
fn two_spellings_of_one_gpu_are_one() {
    let policy = valid(&with_target("gpu: [H100, h100]"));
    assert_eq!(policy.targets[0].gpus.len(), 1);
}
