//! `smgate check`: every way to end, every kind of input, what people and programs read.

use serde::Deserialize;

use crate::support_cli::{Place, library, simple};

/// Runs on an A100 and not on an H100.
fn ampere() -> crate::support_cli::WheelFile {
    simple("ampere", &[("sm_80 sm_86", 3)])
}

#[test]
fn every_exit_status_is_met() {
    let place = Place::new();
    let input = ampere().write(&place);
    let mut cut = ampere()
        .member("ampere/_D.so", library(&[("sm_80 sm_90", 1)]))
        .build();
    place.write("cut-1.0-py3-none-any.whl", &cut);
    let middle = cut.len() / 3;
    cut.truncate(middle);
    place.write("short-1.0-py3-none-any.whl", &cut);
    for (args, status) in [
        (["check", &input, "--target", "A100", "--driver", "R580"], 0),
        (["check", &input, "--target", "H100", "--driver", "R580"], 1),
        (
            ["check", &input, "--target", "H1000", "--driver", "R580"],
            2,
        ),
        (
            [
                "check",
                "nothing.whl",
                "--target",
                "A100",
                "--driver",
                "R580",
            ],
            2,
        ),
        (
            [
                "check",
                "short-1.0-py3-none-any.whl",
                "--target",
                "A100",
                "--driver",
                "R580",
            ],
            2,
        ),
        (["inspect", &input, "--format", "json", "--threads", "1"], 0),
        (
            [
                "inspect",
                "short-1.0-py3-none-any.whl",
                "--format",
                "json",
                "--threads",
                "1",
            ],
            2,
        ),
    ] {
        let run = place.run(&args);
        assert_eq!(run.status, status, "{args:?}: {run:?}");
    }
    // something of it could be read, and nothing else failed
    let mut damaged = library(&[("sm_80 sm_86", 1)]);
    let at = damaged
        .windows(4)
        .position(|four| four == [0x50, 0xed, 0x55, 0xba]);
    damaged[at.unwrap() + 8..][..8].fill(0xff);
    let input = ampere().member("ampere/_D.so", damaged).write(&place);
    for command in [
        &["check", &input, "--target", "A100", "--driver", "R580"][..],
        &["inspect", &input][..],
    ] {
        let run = place.run(command);
        assert_eq!(run.status, 3, "{command:?}: {run:?}");
        assert!(run.stdout.contains("ampere/_D.so @0x"), "{}", run.stdout);
    }
    let run = place.run(&["check", &input, "--target", "H100", "--driver", "R580"]);
    assert_eq!(run.status, 1, "a failure is a failure: {run:?}");
    assert!(
        run.stdout.contains("unreadable"),
        "and the problem is listed"
    );
}

#[test]
fn a_person_sees_the_verdict_the_reason_and_the_next_step() {
    let place = Place::new();
    let input = ampere().write(&place);
    let run = place.run(&[
        "check", &input, "--target", "A100", "--target", "H100", "--driver", "R550",
    ]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 1
    --- stdout
    ampere 1.0  ampere-1.0-py3-none-manylinux_2_28_x86_64.whl
      PASS        A100  driver 525.60.13 or newer (code made by CUDA 12)
      FAIL        H100  lacks code for H100 (9.0), whatever the driver

    deny no-kernel-image  H100
      ampere/_C.so
      no code for H100 (9.0): 0 of 3 fatbins can run
      - machine code for sm_80, sm_86; no PTX
      - its first device code is at offset 0x118, in `.nv_fatbin`
      next: look for another build or version of `ampere` with code for sm_90, made by CUDA 11.8 or newer; to build it yourself add `9.0` to `TORCH_CUDA_ARCH_LIST`, `90-real` to `CMAKE_CUDA_ARCHITECTURES`, or `-gencode arch=compute_90,code=sm_90`

    FAIL: 1 denied finding, 0 warnings, 2 remarks not shown (`--verbose`) (targets of the command line)
    Looked at 4 files: 1 with device code, all readable
    Tables of DAY; sha256 DIGEST
    `smgate explain no-kernel-image` says more
    ");
}

#[test]
fn remarks_and_waived_findings_are_shown_when_asked_for() {
    let place = Place::new();
    let input = simple("jit", &[("sm_75 compute_75@8.0", 2)]).write(&place);
    place.write(
        "smgate.yaml",
        "version: 1\ntargets: [{name: h100, gpu: H100, driver: R550}]\nwaivers:\n  - {rule: jit-only, reason: short jobs, until: 2027-03-01}\n",
    );
    let run = place.run(&["check", &input, "--today", "2027-01-15", "--verbose"]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 0
    --- stdout
    jit 1.0  jit-1.0-py3-none-manylinux_2_28_x86_64.whl
      PASS        h100  driver 525.60.13 or newer (code made by CUDA 12) (1 waived)

    warn jit-only  h100  waived until 2027-03-01: short jobs
      jit/_C.so
      JIT only on H100 (9.0): the driver compiles 2 of 2 fatbins at first use (PTX 8.0)
      - machine code for sm_75; PTX for compute_75
      - its first device code is at offset 0x118, in `.nv_fatbin`
      next: expect a slow first start, and a cache that must persist; to avoid it look for another build or version of `jit` with code for sm_90, made by CUDA 11.8 or newer; to build it yourself add `9.0` to `TORCH_CUDA_ARCH_LIST`, `90-real` to `CMAKE_CUDA_ARCHITECTURES`, or `-gencode arch=compute_90,code=sm_90`

    allow unused-architectures
      0.0 MB of 0.0 MB of machine code is for GPUs that no target has
      - sm_75: 0.0 MB
      next: to save the space, build with the architectures of your targets only

    jit/_C.so
      2 single-target fatbins: sm_75 · PTX 8.0 for compute_75
        compiled by the driver: h100

    PASS: 0 denied findings, 0 warnings, 1 waived (policy smgate.yaml)
    Looked at 4 files: 1 with device code, all readable
    Tables of DAY; sha256 DIGEST
    ");
    let run = place.run(&["check", &input, "--today", "2027-01-15"]);
    assert!(!run.stdout.contains("short jobs"), "{}", run.stdout);
    assert!(run.stdout.contains("1 waived"), "{}", run.stdout);
    let run = place.run(&[
        "check",
        &input,
        "--today",
        "2027-03-02",
        "--fail-on",
        "warn",
    ]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("waiver-expired"), "{}", run.stdout);
    let run = place.run(&["check", &input, "--today", "2027-02-30"]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 2
    --- stderr
    error: `--today`: there is no such day in the calendar: that month ends on `2027-02-28`
      next: write it as `2027-03-01`
    ");
}

/// The contract of `smgate/check/1`, with nothing else in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Report {
    schema: String,
    verdict: String,
    counts: Counts,
    policy: String,
    tables: Tables,
    artifacts: Vec<Artifact>,
    matrix: Vec<Row>,
    findings: Vec<Finding>,
    problems: Vec<Problem>,
    /// Of `--kernels`, which `cli_kernels` is about.
    missing_kernels: Option<serde_json::Value>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    denied: usize,
    warnings: usize,
    remarks: usize,
    waived: usize,
    problems: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Tables {
    as_of: String,
    sha256: String,
    overlay: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Artifact {
    input: String,
    name: Option<String>,
    version: Option<String>,
    files: u64,
    with_device_code: u64,
    unopened: u64,
    left_out: u64,
    fetched: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Row {
    artifact: String,
    package: Option<String>,
    version: Option<String>,
    target: String,
    verdict: String,
    device_code: bool,
    compiles_at_run_time: bool,
    minimum_driver: Option<String>,
    minimum_driver_reason: Option<String>,
    runs: Option<String>,
    gpus: Vec<OnGpu>,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct OnGpu {
    gpu: String,
    compute_capability: String,
    runs: Option<String>,
    libraries: Vec<LibraryOnGpu>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct LibraryOnGpu {
    library: String,
    runs: String,
    fatbins: u64,
    covered: u64,
    jit: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Finding {
    code: String,
    level: String,
    artifact: Option<String>,
    package: Option<String>,
    version: Option<String>,
    library: Option<String>,
    line: Option<u32>,
    target: Option<String>,
    gpu: Option<String>,
    message: String,
    evidence: Vec<String>,
    layer: Option<serde_json::Value>,
    next_step: String,
    waived: Option<Waived>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Waived {
    reason: String,
    until: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "that it deserialises is the test")]
struct Problem {
    artifact: String,
    kind: String,
    at: String,
    detail: String,
    extent: String,
    hint: String,
}

#[test]
fn a_program_reads_the_same_as_json() {
    let place = Place::new();
    let input = ampere().write(&place);
    let run = place.run(&["check", &input, "--target", "H100", "--format", "json"]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let report: Report = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report.schema, "smgate/check/1");
    assert_eq!(report.missing_kernels, None);
    let at = |level: &str| {
        let found = report.findings.iter();
        found
            .filter(|one| one.level == level && one.waived.is_none())
            .count()
    };
    let counts = Counts {
        denied: 1,
        warnings: at("warn"),
        remarks: at("allow"),
        waived: 0,
        problems: 0,
    };
    assert_eq!((&report.counts, at("deny")), (&counts, 1));
    assert_eq!(
        (report.verdict.as_str(), report.policy.as_str()),
        ("fail", "--target")
    );
    let [row] = &report.matrix[..] else {
        panic!("{report:?}")
    };
    assert_eq!(
        (row.artifact.as_str(), row.package.as_deref()),
        (input.as_str(), Some("ampere"))
    );
    assert!(row.device_code);
    let denied = report
        .findings
        .iter()
        .find(|finding| finding.level == "deny")
        .unwrap();
    assert_eq!(denied.code, "no-kernel-image");
    assert_eq!(denied.library.as_deref(), Some("ampere/_C.so"));
    assert_eq!(denied.gpu.as_deref(), Some("H100 (9.0)"));
    let artifact = &report.artifacts[0];
    assert_eq!((artifact.files, artifact.with_device_code), (4, 1));
}

#[test]
fn several_inputs_are_judged_each_and_one_bad_one_does_not_hide_the_others() {
    let place = Place::new();
    let good = simple("good", &[("sm_80 sm_90", 1)]).write(&place);
    let bad = ampere().write(&place);
    place.write("broken-1.0-py3-none-any.whl", "<!DOCTYPE html><p>not found");
    let run = place.run(&[
        "check",
        &good,
        "broken-1.0-py3-none-any.whl",
        &bad,
        "--target",
        "H100",
        "--driver",
        "R550",
        "--format",
        "json",
    ]);
    assert_eq!(run.status, 1);
    let report = run.json();
    let verdicts: Vec<(&str, &str)> = report["matrix"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["package"].as_str().unwrap(),
                row["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        verdicts,
        [
            ("good", "pass"),
            ("broken", "incomplete"),
            ("ampere", "fail")
        ]
    );
    assert!(
        report["problems"][0]["detail"]
            .as_str()
            .unwrap()
            .contains("web page")
    );
    let run = place.run(&[
        "check",
        &good,
        "broken-1.0-py3-none-any.whl",
        "--target",
        "H100",
    ]);
    assert_eq!(run.status, 3, "one was judged: {run:?}");
    let run = place.run(&["check", "broken-1.0-py3-none-any.whl", "--target", "H100"]);
    assert_eq!(run.status, 2, "nothing was: {run:?}");
    let run = place.run(&["check", &good, "missing.whl", "--target", "H100"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(
        run.stderr
            .starts_with("error: `missing.whl` does not exist"),
        "{run:?}"
    );
    assert!(run.stderr.contains("\n  next: "), "{run:?}");
}

#[test]
fn a_quiet_report_has_the_verdicts_and_no_findings_and_ends_as_ever() {
    let place = Place::new();
    let input = simple("ampere", &[("sm_80 sm_86", 3)]).write(&place);
    let run = place.run(&[
        "check", &input, "--target", "A100", "--target", "H100", "--driver", "R580", "--quiet",
    ]);
    assert_eq!(run.status, 1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{run:?}");
    assert!(lines[1].trim_start().starts_with("PASS"), "{run:?}");
    assert!(lines[2].trim_start().starts_with("FAIL"), "{run:?}");
    assert!(lines[3].starts_with("FAIL: 1 denied finding"), "{run:?}");
}
