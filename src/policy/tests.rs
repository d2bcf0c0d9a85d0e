//! Whole policy files: what parses, and what every mistake looks like.

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
    parse(text).map(|_| ()).unwrap_err().render(false)
}

/// A policy with one target that has these extra lines.
fn with_target(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    format!("version: 1\ntargets:\n  - name: a\n{lines}")
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
    assert_eq!(waiver.line, 24);
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

#[test]
fn ten_mistakes_are_shown_in_one_run() {
    let text = "\
version: 1
targets:
  - name: prod
    gpus: H100
    driver: 550.x
  - name: prod
    gpu: H10O
    driver: R550
    driver: R570
  - name: old
    gpu: GT 730
levels:
  jit-onyl: deny
  partial-coverage: error
thresholds:
  main-library: 50
waivers:
  - rule: partial-coverage
    targets: [prd]
    until: 2027-02-30
";
    insta::assert_snapshot!(rendered(text), @r#"
    error: `gpus` is not a key of a target
     --> smgate.yaml:4:5
      |
    4 |     gpus: H100
      |     ^^^^
      |
      = help: did you mean `gpu`?

    error: `550.x` is not a driver
     --> smgate.yaml:5:13
      |
    5 |     driver: 550.x
      |             ^^^^^
      |
      = help: write a version such as `550.54.15` or a branch such as `R550`

    error: two targets are called `prod`
     --> smgate.yaml:6:11
      |
    3 |   - name: prod
      |           ---- first used here
    ...
    6 |   - name: prod
      |           ^^^^
      |
      = help: reports and waivers tell targets apart by their names

    error: no GPU is known by the name `H10O`
     --> smgate.yaml:7:10
      |
    7 |     gpu: H10O
      |          ^^^^
      |
      = help: did you mean `H100`?

    error: `driver` is given twice
     --> smgate.yaml:9:5
      |
    8 |     driver: R550
      |     ------ first given here
    9 |     driver: R570
      |     ^^^^^^
      |
      = help: remove one of them

    error: `GT 730` is the name of GPUs with different compute capabilities: 2.1, 3.0 and 3.5
      --> smgate.yaml:11:10
       |
    11 |     gpu: GT 730
       |          ^^^^^^
       |
       = help: say which one, such as `cc: 2.1`; `nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has

    error: `jit-onyl` is not a rule code
      --> smgate.yaml:13:3
       |
    13 |   jit-onyl: deny
       |   ^^^^^^^^
       |
       = help: did you mean `jit-only`?

    error: `error` is not a level of `partial-coverage`
      --> smgate.yaml:14:21
       |
    14 |   partial-coverage: error
       |                     ^^^^^
       |
       = help: write `allow`, `warn` or `deny`

    error: `50` is not a share between 0 and 1
      --> smgate.yaml:16:17
       |
    16 |   main-library: 50
       |                 ^^
       |
       = help: for 50 percent, write `0.5`

    error: a waiver needs `reason`
      --> smgate.yaml:18:5
       |
    18 |   - rule: partial-coverage
       |     ^^^^
       |
       = help: say what is accepted, why, and when to look at it again: `rule: jit-only`, `reason: "short jobs only"`, `until: 2027-03-01`

    error: no target of this policy is called `prd`
      --> smgate.yaml:19:15
       |
    19 |     targets: [prd]
       |               ^^^
       |
       = help: did you mean `prod`?

    error: `2027-02-30` is not a date
      --> smgate.yaml:20:12
       |
    20 |     until: 2027-02-30
       |            ^^^^^^^^^^
       |
       = help: there is no such day in the calendar
    "#);
}

#[test]
fn the_rest_of_the_mistakes_is_as_clear() {
    let text = "\
targets:
  - name: edge
    gpu: [H100, 9.0]
    pci: 10de:2330
    platform: linux/riscv64
    wsl: yes
    python: 3
    glibc: manylinux_2_28
  - cc: [90, 9.7]
    instance: aws:p5.48xlarge
  - name: both
    gpu: H100
    cc: 9.0
  - name: neither
    wsl: true
    platform: windows/amd64
  - H100
levels: [jit-only]
expect-gpu: true
waivers:
  - rule: waiver-unused
    version: '>=2'
    library: 'lib[.so'
    reason: ''
    until: next week
  - {}
expected: 1
";
    insta::assert_snapshot!(rendered(text), @r#"
    error: a policy needs `version`
     --> smgate.yaml:1:1
      |
    1 | targets:
      | ^^^^^^^
      |
      = help: write `version: 1`

    error: no GPU is known by the name `9.0`
     --> smgate.yaml:3:17
      |
    3 |     gpu: [H100, 9.0]
      |                 ^^^
      |
      = help: a compute capability goes into `cc`: `cc: 9.0`

    error: `pci` is not supported yet; it is planned for the next release
     --> smgate.yaml:4:5
      |
    4 |     pci: 10de:2330
      |     ^^^
      |
      = help: name the GPU with `gpu`, or give its compute capability with `cc`

    error: `linux/riscv64` is not a platform of a target
     --> smgate.yaml:5:15
      |
    5 |     platform: linux/riscv64
      |               ^^^^^^^^^^^^^
      |
      = help: write `linux/amd64`, `linux/arm64` or `windows/amd64`

    error: `yes` is neither `true` nor `false`
     --> smgate.yaml:6:10
      |
    6 |     wsl: yes
      |          ^^^

    error: `3` is not a Python version
     --> smgate.yaml:7:13
      |
    7 |     python: 3
      |             ^
      |
      = help: write major and minor, such as `3.12`

    error: `manylinux_2_28` is not a glibc version
     --> smgate.yaml:8:12
      |
    8 |     glibc: manylinux_2_28
      |            ^^^^^^^^^^^^^^
      |
      = help: write major and minor, such as `2.28`

    error: a target needs `name`
     --> smgate.yaml:9:5
      |
    9 |   - cc: [90, 9.7]
      |     ^^
      |
      = help: reports and waivers call it so: `name: prod-h100`

    error: `90` is not a compute capability
     --> smgate.yaml:9:10
      |
    9 |   - cc: [90, 9.7]
      |          ^^
      |
      = help: did you mean `9.0`? A compute capability is what a GPU has

    error: no GPU is known with compute capability `9.7`
     --> smgate.yaml:9:14
      |
    9 |   - cc: [90, 9.7]
      |              ^^^
      |
      = help: `nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has

    error: `instance` is not supported yet; it is planned for the next release
      --> smgate.yaml:10:5
       |
    10 |     instance: aws:p5.48xlarge
       |     ^^^^^^^^
       |
       = help: name the GPU with `gpu`, or give its compute capability with `cc`

    error: a target has `gpu` or `cc`, not both
      --> smgate.yaml:13:5
       |
    12 |     gpu: H100
       |     --- `gpu` is here
    13 |     cc: 9.0
       |     ^^
       |
       = help: both take a list where a pool is mixed

    error: a target needs `gpu` or `cc`
      --> smgate.yaml:14:5
       |
    14 |   - name: neither
       |     ^^^^
       |
       = help: write `gpu: H100`, or `cc: 9.0`

    error: `wsl` goes with `linux/amd64`, not with `windows/amd64`
      --> smgate.yaml:15:5
       |
    15 |     wsl: true
       |     ^^^
       |
       = help: write `platform: linux/amd64`, or remove `wsl`

    error: a target is written as keys with values, and here is a single value
      --> smgate.yaml:17:5
       |
    17 |   - H100
       |     ^^^^
       |
       = help: write `key: value`

    error: `levels` is written as keys with values, and here is a list
      --> smgate.yaml:18:9
       |
    18 | levels: [jit-only]
       |         ^^^^^^^^^^
       |
       = help: write `key: value`

    error: `true` is not a package name
      --> smgate.yaml:19:13
       |
    19 | expect-gpu: true
       |             ^^^^
       |
       = help: name packages, or write "*" for all of them

    error: `waiver-unused` is about waivers and cannot be waived
      --> smgate.yaml:21:11
       |
    21 |   - rule: waiver-unused
       |           ^^^^^^^^^^^^^
       |
       = help: set its level instead: `levels: {waiver-unused: allow}`

    error: `version` says nothing without `package`
      --> smgate.yaml:22:5
       |
    22 |     version: '>=2'
       |     ^^^^^^^
       |
       = help: add `package`, or remove `version`

    error: `>=2` is a range, and a waiver takes a pattern
      --> smgate.yaml:22:14
       |
    22 |     version: '>=2'
       |              ^^^^^
       |
       = help: write one version such as `2.15.0`, or all of a release: "2.15.*"

    error: `lib[.so` is not a pattern: unclosed character class; missing ']'
      --> smgate.yaml:23:14
       |
    23 |     library: 'lib[.so'
       |              ^^^^^^^^^
       |
       = help: use `*`, `**`, `?`, `[abc]` and `{this,that}`

    error: `reason` is empty
      --> smgate.yaml:24:13
       |
    24 |     reason: ''
       |             ^^
       |
       = help: say why the finding is accepted

    error: `next week` is not a date
      --> smgate.yaml:25:12
       |
    25 |     until: next week
       |            ^^^^^^^^^
       |
       = help: a date is written as year, month and day: `2027-03-01`

    error: a waiver needs `rule`, `reason` and `until`
      --> smgate.yaml:26:5
       |
    26 |   - {}
       |     ^^
       |
       = help: say what is accepted, why, and when to look at it again: `rule: jit-only`, `reason: "short jobs only"`, `until: 2027-03-01`

    error: `expected` is not a key of a policy
      --> smgate.yaml:27:1
       |
    27 | expected: 1
       | ^^^^^^^^
       |
       = help: the keys of a policy are `version`, `targets`, `levels`, `thresholds`, `expect-gpu` and `waivers`
    "#);
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(
        mistakes("{}"),
        [
            "1:1: a policy needs `targets`",
            "1:1: a policy needs `version`"
        ]
    );
    assert_eq!(mistakes("version: 1\n"), ["1:1: a policy needs `targets`"]);
    assert_eq!(
        mistakes("version: 1\ntargets:\n"),
        ["2:1: `targets` is empty, so nothing would be judged"]
    );
    assert_eq!(
        mistakes("version: 1\ntargets: []\n"),
        ["2:1: `targets` is empty, so nothing would be judged"]
    );
    assert_eq!(
        mistakes("version: 1\ntargets:\n  - {}\n"),
        [
            "3:5: a target needs `gpu` or `cc`",
            "3:5: a target needs `name`"
        ]
    );
    assert_eq!(mistakes(&with_target("gpu:")), ["4:5: `gpu` has no value"]);
    assert_eq!(
        mistakes(&with_target("gpu: []")),
        ["4:10: the list of `gpu` is empty"]
    );
    assert_eq!(
        mistakes(&with_top("waivers: [{rule: jit-only}]")),
        ["3:12: a waiver needs `reason` and `until`"]
    );
}

#[test]
fn wrong_shapes_are_named() {
    for (text, expected) in [
        (
            "- a\n",
            "1:1: a policy is written as keys with values, and here is a list",
        ),
        (
            "version\n",
            "1:1: a policy is written as keys with values, and here is a single value",
        ),
        (
            "version: [1]\ntargets: [{name: a, gpu: H100}]\n",
            "1:10: `version` takes a single value here, not a list",
        ),
        (
            "version: 1\ntargets: {prod: {gpu: H100}}\n",
            "2:10: `targets` is a list, and here is a map of keys",
        ),
        (
            "version: 1\ntargets: H100\n",
            "2:10: `targets` is a list, and here is a single value",
        ),
        (
            "version: 1\n[a]: b\ntargets: [{name: a, gpu: H100}]\n",
            "2:1: a key must be a word",
        ),
    ] {
        assert_eq!(mistakes(text), [expected], "{text}");
    }
    assert_eq!(
        mistakes(&with_target("gpu: {name: H100}")),
        ["4:10: `gpu` takes a single value here, not a map of keys"]
    );
    assert_eq!(
        mistakes(&with_target("gpu: [[H100]]")),
        ["4:11: `gpu` takes a single value here, not a list"]
    );
}

#[test]
fn another_version_is_refused_without_judging_its_keys() {
    insta::assert_snapshot!(rendered("version: 2\nfleet: []\n"), @r"
    error: this is a policy of version 2, and this smgate reads version 1
     --> smgate.yaml:1:10
      |
    1 | version: 2
      |          ^
      |
      = help: use a newer smgate, or write `version: 1` and only its keys
    ");
    assert_eq!(
        mistakes("version: one\ntargets: [{name: a, gpu: H100}]\n"),
        ["1:10: `one` is not a version of policies"]
    );
    assert!(parse("version: '1'\ntargets: [{name: a, gpu: H100}]\n").is_ok());
}

#[test]
fn broken_yaml_is_shown_where_it_breaks() {
    insta::assert_snapshot!(rendered("version: 1\ntargets:\n  - name: \"a\n    gpu: H100\n"), @r#"
    error: not valid YAML: unclosed quote
     --> smgate.yaml:3:11
      |
    3 |   - name: "a
      |           ^
      |
      = help: a quote is opened and never closed
    "#);
    insta::assert_snapshot!(rendered("version: 1\ntargets:\n\t- name: a\n"), @r"
    error: not valid YAML: tabs disallowed within this context (block indentation)
     --> smgate.yaml:3:2
      |
    3 |     - name: a
      |     ^
      |
      = help: indent with spaces, never with tabs
    ");
    insta::assert_snapshot!(rendered("version: 1\nreason: a: b\n"), @r"
    error: not valid YAML: mapping values are not allowed in this context
     --> smgate.yaml:2:10
      |
    2 | reason: a: b
      |          ^
      |
      = help: a text with `: ` in it needs quotes; or a line above lacks its `:`, or is indented otherwise
    ");
    insta::assert_snapshot!(rendered(&with_top("waivers: [{library: **/lib.so}]")), @r#"
    error: a waiver needs `rule`, `reason` and `until`
     --> smgate.yaml:3:12
      |
    3 | waivers: [{library: **/lib.so}]
      |            ^^^^^^^
      |
      = help: say what is accepted, why, and when to look at it again: `rule: jit-only`, `reason: "short jobs only"`, `until: 2027-03-01`

    error: an unquoted `*` begins an alias, and no anchor has this name
     --> smgate.yaml:3:21
      |
    3 | waivers: [{library: **/lib.so}]
      |                     ^^^^^^^^^
      |
      = help: put the pattern in quotes: "**/lib*.so"
    "#);
}

#[test]
fn windows_line_breaks_and_a_byte_order_mark_change_nothing() {
    let unix = with_target("gpu: [H100, L4]\ndriver: R550 # é\nplatform: linux/amd64");
    let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
    let old = unix.replace('\n', "\r");
    for text in [&windows, &old] {
        assert_eq!(valid(text).targets, valid(&unix).targets);
    }
    let wrong = unix.replace("R550", "\"é\" # ");
    assert_eq!(mistakes(&wrong), ["5:13: `é` is not a driver"]);
    assert_eq!(mistakes(&wrong.replace('\n', "\r\n")), mistakes(&wrong));
    assert_eq!(
        mistakes(&format!("\u{feff}{}", wrong.replace('\n', "\r"))),
        mistakes(&wrong)
    );
}

#[test]
fn columns_behind_other_alphabets_count_characters() {
    insta::assert_snapshot!(rendered("version: 1\ntargets: [{name: 'größe 漢字', gpu: H10O}]\n"), @r"
    error: no GPU is known by the name `H10O`
     --> smgate.yaml:2:35
      |
    2 | targets: [{name: 'größe 漢字', gpu: H10O}]
      |                                     ^^^^
      |
      = help: did you mean `H100`?
    ");
}

#[test]
fn aliases_are_read_and_their_mistakes_shown_once() {
    let policy = valid(
        "version: 1\ntargets:\n  - {name: a, gpu: &g [H100], driver: &d R550}\n  - {name: b, gpu: *g, driver: *d}\n",
    );
    assert_eq!(policy.targets[0].gpus, policy.targets[1].gpus);
    assert_eq!(
        mistakes("version: 1\ntargets:\n  - {name: a, gpu: &g [H10O]}\n  - {name: b, gpu: *g}\n"),
        ["3:24: no GPU is known by the name `H10O`"]
    );
    assert_eq!(
        mistakes("version: 1\ntargets:\n  - &t {name: a, gpu: H100}\n  - <<: *t\n    name: b\n")
            .len(),
        2
    );
}

#[test]
fn oversized_and_undecodable_files_are_refused() {
    let large = format!("version: 1 # {}\n", "x".repeat(Policy::MAX_BYTES));
    assert_eq!(
        mistakes(&large),
        ["1:1: the file is larger than 1048576 bytes"]
    );
    let bytes = b"version: 1\n# \xff\n";
    let diagnostics = Policy::parse_bytes("p.yaml", bytes, Tables::builtin())
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        diagnostics.to_string(),
        "p.yaml:2:3: the file is not UTF-8 from here on"
    );
    let utf16: Vec<u8> = "version: 1"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert!(Policy::parse_bytes("p.yaml", &utf16, Tables::builtin()).is_err());
    assert!(
        Policy::parse_bytes(
            "p.yaml",
            with_target("gpu: H100").as_bytes(),
            Tables::builtin()
        )
        .is_ok()
    );
}

#[test]
fn hostile_files_are_answered_quickly() {
    let started = std::time::Instant::now();
    let half = Policy::MAX_BYTES / 2;
    for text in [
        "[".repeat(Policy::MAX_BYTES),
        "? ".repeat(half),
        "a: [".repeat(Policy::MAX_BYTES / 4),
        "&a ".repeat(Policy::MAX_BYTES / 3),
        "- \n".repeat(Policy::MAX_BYTES / 3),
        with_top(&format!("levels: {{{}}}", "x: y, ".repeat(half / 6))),
        with_top(
            &(0..half / 16)
                .map(|i| format!("k{i}: 1\n"))
                .collect::<String>(),
        ),
        with_target(&format!("gpu: [{}]", "x, ".repeat(half / 3))),
        with_target(&format!("gpu: {}", "x".repeat(half))),
        with_top(&format!("waivers: [{}]", "{},".repeat(half / 3))),
        "\u{1}".repeat(half),
        "'".repeat(half),
        "\r".repeat(half),
    ] {
        let diagnostics = parse(&text).map(|_| ()).unwrap_err();
        assert!(!diagnostics.render(false).is_empty());
        println!("{:?} {:?}", started.elapsed(), text.get(..40).unwrap());
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn truncated_files_never_parse_as_something_else_and_never_panic() {
    let text = include_str!("../../policies/mixed-fleet.yaml");
    for end in 0..text.len() {
        if let Some(part) = text.get(..end) {
            let _shown = parse(part).map_err(|diagnostics| diagnostics.render(false));
        }
    }
}

#[test]
fn mistakes_are_readable_by_machines() {
    let diagnostics = parse("version: 1\ntargets: []\n").map(|_| ()).unwrap_err();
    let json = serde_json::to_value(diagnostics.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(
        json,
        serde_json::json!([{
            "line": 2,
            "column": 1,
            "message": "`targets` is empty, so nothing would be judged",
            "hint": "say what the code must run on: `- name: prod-h100` and `gpu: H100`",
        }])
    );
}

#[test]
fn every_preset_parses() {
    let tables = Tables::builtin();
    for preset in Policy::presets() {
        let policy = Policy::preset(preset.name, tables).unwrap();
        let policy = policy.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
        assert_eq!(policy.origin(), format!("preset:{}", preset.name));
        assert!(
            policy.targets.iter().all(|target| target.driver.is_some()),
            "{}",
            preset.name
        );
    }
    assert!(Policy::preset("hopper", tables).is_none());
}

#[test]
fn every_preset_file_is_shipped_and_described() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/policies");
    let readme = include_str!("../../policies/README.md");
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
    let text = include_str!("../../policies/mixed-fleet.yaml");
    let text = text
        .replace("# waivers:", "waivers:")
        .replace("\n#   ", "\n  ");
    let start = text.find("version: 1").unwrap();
    assert_eq!(valid(&text[start..]).waivers.len(), 1);
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
    insta::assert_snapshot!(error("H10O", None, None), @r"
    no GPU is known by the name `H10O`; did you mean `H100`?
    ");
    insta::assert_snapshot!(error("sm_90", None, None), @r"
    no GPU is known by the name `sm_90`; that is what code is built for; say what the GPU has: `9.0`
    ");
    insta::assert_snapshot!(error("9.7", None, None), @r"
    no GPU is known with compute capability `9.7`; `nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has
    ");
    insta::assert_snapshot!(error("GT 730", None, None), @r"
    `GT 730` is the name of GPUs with different compute capabilities: 2.1, 3.0 and 3.5; say which one, such as `cc: 2.1`; `nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has
    ");
    insta::assert_snapshot!(error("host", None, None), @r"
    no GPU is known by the name `host`; PCI ids, cloud instances and `host` are not supported yet: name the GPU, or give `cc`
    ");
    insta::assert_snapshot!(error("h100", Some("12.4.x"), None), @r"
    `12.4.x` is not a driver; write a version such as `550.54.15` or a branch such as `R550`
    ");
    insta::assert_snapshot!(error("h100", None, Some("linux")), @r"
    `linux` is not a platform of a target; write `linux/amd64`, `linux/arm64` or `windows/amd64`
    ");
    let none: [&str; 0] = [];
    assert!(Policy::for_targets(&none, None, None, tables).is_err());
}
