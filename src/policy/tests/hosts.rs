//! `host: true`: the machine that checks as a target.

use super::*;
use crate::ErrorKind;
use crate::cuda::DriverSpec;

const FILE: &str =
    "version: 1\ntargets:\n  - name: here\n    host: true\n  - {name: prod, gpu: T4}\n";

fn machine() -> Policy {
    let text = "version: 1\ntargets:\n  - name: this-machine\n    gpu: H100\n    driver: \"550.54.15\"\n    \
                platform: linux/arm64\n";
    Policy::parse(Policy::BY_HAND, text, Tables::builtin()).unwrap()
}

#[test]
fn a_host_target_takes_what_the_machine_has() {
    let policy = valid(FILE);
    assert!(policy.asks_for_host());
    assert!(policy.targets[0].gpus.is_empty());
    let policy = policy.with_host(Ok(&machine())).unwrap();
    let [here, prod] = &policy.targets[..] else {
        panic!("{policy:?}")
    };
    assert_eq!(here.name, "here");
    assert_eq!(here.gpus[0].cc, ComputeCapability::new(9, 0));
    assert_eq!(here.driver, Some("550.54.15".parse().unwrap()));
    assert_eq!(here.platform, Some("linux/arm64".parse().unwrap()));
    // the other one is as written
    assert_eq!(
        (prod.gpus[0].name.as_str(), prod.driver.as_ref()),
        ("T4", None)
    );
}

#[test]
fn a_driver_beside_host_counts_in_place_of_the_installed_one() {
    let policy = valid(&FILE.replace("host: true\n", "host: true\n    driver: R570\n"));
    let policy = policy.with_host(Ok(&machine())).unwrap();
    let r570: DriverSpec = "R570".parse().unwrap();
    assert_eq!(policy.targets[0].driver, Some(r570));
}

#[test]
fn a_machine_without_a_gpu_is_a_mistake_where_it_is_asked_for() {
    let error = Error::new(ErrorKind::Usage, "no NVIDIA GPU was found").with_hint("name a GPU");
    let mistakes = valid(FILE).with_host(Err(&error)).unwrap_err();
    insta::assert_snapshot!(mistakes.render(false), @r"
    error: no NVIDIA GPU was found
     --> smgate.yaml:4:5
      |
    4 |     host: true
      |     ^^^^
      |
      = help: name a GPU
    ");
}

#[test]
fn what_the_machine_tells_is_not_written_beside_host() {
    for (line, expected) in [
        ("gpu: H100", "5:5: `gpu` does not go with `host`"),
        ("cc: 9.0", "5:5: `cc` does not go with `host`"),
        ("pci: 10de:2330", "5:5: `pci` does not go with `host`"),
        (
            "instance: aws:p5.48xlarge",
            "5:5: `instance` does not go with `host`",
        ),
        (
            "platform: linux/amd64",
            "5:5: `platform` does not go with `host`",
        ),
        ("wsl: true", "5:5: `wsl` does not go with `host`"),
    ] {
        let text = with_target(&format!("host: true\n{line}"));
        assert_eq!(mistakes(&text), [expected]);
    }
    assert_eq!(
        mistakes(&with_target("gpu: H100\nhost: false")),
        ["5:11: `host` is `true` or not there"]
    );
    assert_eq!(
        mistakes(&with_target("host: maybe")).len(),
        1,
        "only that it is no switch"
    );
    assert!(rendered(&with_target("gpu: host")).contains("`host: true`, without `gpu`"));
}

#[test]
fn a_host_target_is_linted_and_shown_without_a_machine() {
    let today = "2027-01-15".parse().unwrap();
    // a number of Windows drivers: the machine may run Windows
    let policy = valid(&with_target("host: true\ndriver: 551.61"));
    assert!(policy.lint(Tables::builtin(), today).is_empty());
    let shown = policy.resolved(Tables::builtin(), today).to_string();
    let shown: Vec<&str> = shown.lines().skip(3).take(3).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
      gpu         that of the machine that checks  (`host: true`)
      driver      551.61  (of no branch that is known)
      platform    that of the machine that checks
    ");
}
