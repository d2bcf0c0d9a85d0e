//! What a file full of mistakes looks like: all of them in one run.

use super::*;

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
       = help: there is no such day in the calendar: that month ends on `2027-02-28`
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
      |
      = help: write `true` or `false`

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

    error: a target has `gpu` or `cc`, not both
      --> smgate.yaml:13:5
       |
    12 |     gpu: H100
       |     --- `gpu` is here
    13 |     cc: 9.0
       |     ^^
       |
       = help: both take a list where a pool is mixed

    error: a target needs `gpu`, `cc`, `pci`, `instance` or `host`
      --> smgate.yaml:14:5
       |
    14 |   - name: neither
       |     ^^^^
       |
       = help: write `gpu: H100`, `cc: 9.0`, `pci: 10de:2330`, `instance: aws:p5.48xlarge`, or `host: true` for the machine that checks

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

    error: `waiver-unused` is about the policy itself and cannot be waived
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
       = help: the keys of a policy are `version`, `include`, `targets`, `levels`, `thresholds`, `expect-gpu`, `indexes`, `allow-jit`, `scopes` and `waivers`
    "#);
}

#[test]
fn every_wrong_word_gets_the_nearest_valid_one() {
    for (text, help) in [
        (
            with_target("gpu: T4\nplatform: linux/amd46"),
            "did you mean `linux/amd64`?",
        ),
        (
            with_target("gpu: T4\nplatform: linx/arm64"),
            "did you mean `linux/arm64`?",
        ),
        (
            with_target("gpu: T4\nplatform: linux/x64"),
            "write `linux/amd64`, `linux/arm64` or `windows/amd64`",
        ),
        (
            with_target("gpu: T4\ntegra: strickt"),
            "did you mean `strict`?",
        ),
        (
            with_target("gpu: T4\ntegra: no"),
            "write `lenient` or `strict`",
        ),
        (with_target("gpu: T4\nwsl: ture"), "did you mean `true`?"),
        (with_target("host: yes"), "write `true` or `false`"),
        (with_top("levels: {jit-only: dney}"), "did you mean `deny`?"),
        (
            with_top("levels: {jit-only: warning}"),
            "write `allow`, `warn` or `deny`",
        ),
        (with_top("levels: {jit-only: Warn}"), "did you mean `warn`?"),
        (
            with_top("allow-jit: torch==2.1"),
            "remove the version; a scope or a waiver has a key `version` for it",
        ),
    ] {
        let shown = rendered(&text);
        assert!(
            shown.contains(&format!("= help: {help}\n")),
            "{text}{shown}"
        );
        assert_eq!(shown.matches("error:").count(), 1, "{shown}");
    }
}
