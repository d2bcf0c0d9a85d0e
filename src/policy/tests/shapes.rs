//! Files of the wrong shape: missing parts, wrong kinds of values, broken YAML.

use super::*;

#[test]
fn what_is_missing_is_named() {
    assert_eq!(
        mistakes("{}"),
        [
            "1:1: a policy needs `targets`",
            "1:1: a policy needs `version`"
        ]
    );
    assert_eq!(
        mistakes("verison: 1\ntarget: []\n"),
        [
            "1:1: `verison` is not a key of a policy",
            "2:1: `target` is not a key of a policy"
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
            "3:5: a target needs `gpu`, `cc`, `pci`, `instance` or `host`",
            "3:5: a target needs `name`"
        ]
    );
    assert_eq!(mistakes(&with_target("gpu:")), ["4:5: `gpu` has no value"]);
    // a key that has to be there is not to be removed
    let said = rendered(&with_top(
        "waivers: [{rule: jit-only, reason: , until: 2027-03-01}]",
    ));
    assert!(
        said.contains("give it one: a waiver needs `reason`"),
        "{said}"
    );
    assert!(!said.contains("remove the key"), "{said}");
    let said = rendered(&with_target("gpu: H100\ndriver:"));
    assert!(said.contains("give it one, or remove the key"), "{said}");
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
fn mistakes_are_readable_by_machines() {
    let diagnostics = parse("version: 1\ntargets: []\n").map(|_| ()).unwrap_err();
    let json = serde_json::to_value(diagnostics.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(
        json,
        serde_json::json!([{
            "file": "smgate.yaml",
            "line": 2,
            "column": 1,
            "message": "`targets` is empty, so nothing would be judged",
            "hint": "say what the code must run on: `- name: prod-h100` and `gpu: H100`",
        }])
    );
}

#[test]
fn a_pool_may_be_named_in_several_ways_at_once() {
    let policy = valid(&with_target(
        "gpu: [H100, L4]\npci: [10de:20b0, 0x2330]\ninstance: [aws:g6.xlarge, p4d.24xlarge]",
    ));
    let target = &policy.targets[0];
    let found: Vec<String> = target
        .gpus
        .iter()
        .map(|gpu| format!("{} {}", gpu.given.key, gpu.cc))
        .collect();
    // H100 by name and by id are two names of the tables, and both are judged
    assert_eq!(
        found,
        [
            "gpu 9.0",
            "gpu 8.9",
            "pci 8.0",
            "pci 9.0",
            "instance 8.9",
            "instance 8.0"
        ]
    );
    assert_eq!(target.platform, "linux/amd64".parse().ok());
}

#[test]
fn the_host_of_an_instance_type_is_the_platform() {
    let arm = valid(&with_target("instance: aws:g5g.xlarge"));
    assert_eq!(arm.targets[0].platform, "linux/arm64".parse().ok());
    // Windows on the same machine is a choice of the user
    let windows = valid(&with_target(
        "instance: aws:g6.xlarge\nplatform: windows/amd64",
    ));
    assert_eq!(windows.targets[0].platform, "windows/amd64".parse().ok());
    assert_eq!(
        mistakes(&with_target(
            "instance: aws:g5g.xlarge\nplatform: linux/amd64"
        )),
        ["5:15: `platform` is linux/amd64, and the instance type is linux/arm64"]
    );
    assert_eq!(
        mistakes(&with_target("instance: [aws:g5g.xlarge, aws:g6.xlarge]")),
        ["4:5: these instance types are linux/arm64 and linux/amd64"]
    );
}
