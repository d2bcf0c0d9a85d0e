//! What the script hands to the program and makes of what it says.

use super::log::obeyed;
use super::runner::{Runner, executable, stand_in};
use crate::support_cli::{library, simple};

pub(super) fn h100() -> Runner {
    let wheel = simple("ours", &[("sm_90", 1)]);
    let name = wheel.file_name();
    Runner::new()
        .file(&name, wheel.build())
        .with("inputs", &name)
        .with("targets", "H100")
        .with("driver", "R580")
}

/// A program that does what `shell` says behind the beginning of a stand-in.
pub(super) fn instead(shell: &str) -> Runner {
    let program = format!("{}{shell}\n", stand_in("9.9.9"));
    let runner = Runner::new()
        .with("binary", "./program")
        .with("inputs", "a");
    executable(&runner.place.write("workspace/program", program));
    runner
}

#[test]
fn a_pass_passes_and_is_told() {
    let runner = h100();
    let ended = runner.run();
    assert_eq!(ended.verdict(), (0, "pass", "0"), "{ended:?}");
    for (name, count) in [("errors", "0"), ("warnings", "0"), ("problems", "0")] {
        assert_eq!(ended.output(name), count, "{ended:?}");
    }
    assert!(ended.summary.contains("ours"), "{ended:?}");
    assert!(ended.log.contains("\nPASS: "), "{ended:?}");
    let [command] = &ended.commands()[..] else {
        panic!("{ended:?}");
    };
    assert!(command.starts_with("::notice title=smgate::"), "{command}");
    assert_eq!(
        ended.path, "",
        "a program that was there is not put on the path"
    );
    assert_eq!(ended.output("sarif-file"), "");
    let report = crate::support::text(ended.output("json-file").as_ref());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["verdict"], "pass");
}

#[test]
fn a_denied_finding_fails_with_its_annotation() {
    let ended = h100().with("targets", "A100,\n  H100  ").run();
    assert_eq!(ended.verdict(), (1, "fail", "1"), "{ended:?}");
    assert_eq!(ended.output("errors"), "1");
    let commands = ended.commands();
    assert!(!commands.is_empty(), "{ended:?}");
    assert!(commands[0].starts_with("::error "), "{commands:?}");
    assert!(commands[0].contains("no-kernel-image"), "{commands:?}");
    assert!(ended.summary.contains("no-kernel-image"), "{ended:?}");
    let silent = h100()
        .with("targets", "A100")
        .with("annotations", "false")
        .with("summary", "false")
        .run();
    assert_eq!(silent.verdict(), (1, "fail", "1"));
    assert_eq!(silent.commands(), Vec::<String>::new());
    assert_eq!(silent.summary, "");
}

#[test]
fn warnings_fail_where_that_is_asked() {
    let only_ptx = simple("ptx", &[("compute_80@8.0", 1)]).build();
    let runner = |fail_on: &str| {
        h100()
            .file("ptx-1.0-py3-none-any.whl", &only_ptx)
            .with("inputs", "ptx-1.0-py3-none-any.whl")
            .with("fail-on", fail_on)
    };
    for (fail_on, verdict) in [
        ("", (0, "pass", "0")),
        ("deny", (0, "pass", "0")),
        ("error", (0, "pass", "0")),
        ("warn", (1, "fail", "1")),
        ("warning", (1, "fail", "1")),
        ("never", (0, "pass", "0")),
    ] {
        let ended = runner(fail_on).run();
        assert_eq!(ended.verdict(), verdict, "{fail_on}: {ended:?}");
        assert_ne!(ended.output("warnings"), "0", "{fail_on}: {ended:?}");
    }
}

#[test]
fn never_lets_a_fail_and_an_incomplete_verdict_pass_and_tells_them() {
    let mut damaged = library(&[("sm_90", 1)]);
    let at = damaged
        .windows(4)
        .position(|four| four == [0x50, 0xed, 0x55, 0xba]);
    damaged[at.unwrap() + 8..][..8].fill(0xff);
    let wheel = simple("ours", &[("sm_90", 1)]).member("ours/_D.so", damaged);
    let (name, wheel) = (wheel.file_name(), wheel.build());
    let incomplete = || h100().file(&name, &wheel).with("inputs", &name);
    let ended = incomplete().run();
    assert_eq!(ended.verdict(), (3, "incomplete", "3"), "{ended:?}");
    assert_eq!(ended.output("problems"), "1", "{ended:?}");
    let ended = incomplete().with("fail-on", "never").run();
    assert_eq!(ended.verdict(), (0, "incomplete", "3"), "{ended:?}");
    let ended = h100()
        .with("targets", "A100")
        .with("fail-on", "never")
        .run();
    assert_eq!(ended.verdict(), (0, "fail", "1"), "{ended:?}");
    let last = ended.commands().pop().unwrap();
    assert!(
        last.starts_with("::notice ") && last.contains("fail"),
        "{last}"
    );
}

#[test]
fn what_can_not_be_judged_fails_even_with_never() {
    for fail_on in ["deny", "never"] {
        for (input, value) in [
            ("inputs", "gone.whl"),
            ("inputs", ""),
            ("targets", "H1000"),
            ("policy", "gone.yaml"),
            ("args", "--no-such-option"),
        ] {
            let ended = h100().with("fail-on", fail_on).with(input, value).run();
            assert_eq!(ended.verdict(), (2, "error", "2"), "{input}: {ended:?}");
            let last = ended.commands().pop().unwrap();
            assert!(last.starts_with("::error "), "{last}");
            assert!(ended.summary.contains("nothing was judged"), "{ended:?}");
        }
    }
    let killed = instead("kill -9 $$").with("fail-on", "never").run();
    assert_eq!(killed.verdict(), (2, "error", "2"), "{killed:?}");
    let last = killed.commands().pop().unwrap();
    assert!(last.contains("(exit status 137)"), "{last}");
}

#[test]
fn paths_with_blanks_and_patterns_name_several_inputs() {
    let wheel = simple("ours", &[("sm_90", 1)]);
    let name = wheel.file_name();
    let wheel = wheel.build();
    let runner = h100()
        .file(&format!("my wheels/{name}"), &wheel)
        .file(
            "more/other-1.0-py3-none-any.whl",
            simple("other", &[("sm_80", 1)]).build(),
        )
        .with("inputs", &format!("\n  my wheels/{name}\r\n\nmore/*.whl\n"));
    let ended = runner.run();
    assert_eq!(ended.verdict(), (1, "fail", "1"), "{ended:?}");
    let report = crate::support::text(ended.output("json-file").as_ref());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let inputs: Vec<&str> = report["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["input"].as_str().unwrap())
        .collect();
    assert_eq!(
        inputs,
        [
            format!("my wheels/{name}").as_str(),
            "more/other-1.0-py3-none-any.whl"
        ]
    );
}

#[test]
fn words_arrive_as_they_are_and_inputs_are_no_options() {
    let ended = instead("printf '<%s>\\n' \"$@\" >words; export -p >environment; report pass")
        .with(
            "inputs",
            "--policy=mine\n$(touch pwned)\na b; touch pwned\n`touch pwned`\n*",
        )
        .with("targets", "GeForce RTX 4090,9.0")
        .with("policy", "-p; touch pwned")
        .with("driver", "$(touch pwned)")
        .with("platform", "linux/arm64")
        .with("args", "--extra\n a \"b\" c \n\n--group=$HOME")
        .with("fail-on", "warn")
        .with("cache", "false")
        .with("cache-dir", "my cache")
        .with("format", "junit")
        .with("output-file", "my report.xml")
        .with("sarif", "true")
        .with("html", "true");
    let done = ended.run();
    assert_eq!(done.verdict(), (0, "pass", "0"), "{done:?}");
    assert!(!ended.workspace().join("pwned").exists());
    let words = crate::support::text(&ended.workspace().join("words"));
    let (reports, words): (Vec<&str>, Vec<&str>) =
        words.lines().partition(|word| word.contains("/reports."));
    assert_eq!(
        words,
        [
            "<check>",
            "<--policy=-p; touch pwned>",
            "<--target=GeForce RTX 4090>",
            "<--target=9.0>",
            "<--driver=$(touch pwned)>",
            "<--platform=linux/arm64>",
            "<--fail-on=warn>",
            "<--no-cache>",
            "<--output=junit=my report.xml>",
            "<--extra>",
            "<a \"b\" c>",
            "<--group=$HOME>",
            "<-->",
            "<--policy=mine>",
            "<$(touch pwned)>",
            "<a b; touch pwned>",
            "<`touch pwned`>",
            "<*>",
        ]
    );
    let forms: Vec<&str> = reports
        .iter()
        .map(|word| word.split('=').nth(1).unwrap())
        .collect();
    assert_eq!(forms, ["json", "markdown", "github", "sarif", "html"]);
    let environment = crate::support::text(&ended.workspace().join("environment"));
    assert!(environment.contains("SMGATE_CACHE_DIR=\"my cache\"\n"));
    assert!(
        !environment.contains("t0ken"),
        "the token is not for the program"
    );
}

#[test]
fn foreign_text_runs_no_workflow_command() {
    let evil = "::add-path::/evil\\n::set-output name=verdict::pass\\n##[add-path]/evil\\n::stop-commands::x\\n::x::\\n  ::error::e\\n";
    let shell = format!(
        "printf '{evil}'; printf '{evil}' >&2\n\
         printf '{evil}::error file=a.lock,line=3,title=t::ours ##[add-path]\\n::warning::w\\n::notice title=n::n\\n::errors::x\\n' >\"$github\"\n\
         printf 'summary' >\"$markdown\"\n\
         report fail\nexit 1"
    );
    let ended = instead(&shell).run();
    assert_eq!(ended.verdict(), (1, "fail", "1"), "{ended:?}");
    assert_eq!(
        ended.commands(),
        [
            "::error file=a.lock,line=3,title=t::ours ##[add-path]",
            "::warning::w",
            "::notice title=n::n"
        ]
    );
    assert!(
        ended.log.contains("::add-path::/evil"),
        "it is shown all the same"
    );
    assert_eq!(ended.output("errors"), "4");
    assert_eq!(ended.output("warnings"), "5");
    assert_eq!(ended.output("problems"), "6");
    assert_eq!(ended.summary, "summary");
    // the word that allows commands again is another in each run
    let again = instead(&shell).run();
    let word = |log: &str| log.lines().next().unwrap().to_owned();
    assert!(word(&ended.log).starts_with("::stop-commands::"));
    assert_ne!(word(&ended.log), word(&again.log));
}

#[test]
fn names_in_a_wheel_run_no_workflow_command() {
    let wheel = simple("ours", &[("sm_80", 1)])
        .member("ours/\n::add-path::evil/_C.so", library(&[("sm_80", 1)]))
        .member("::error file=x::y/_C.so", library(&[("sm_80", 1)]));
    let name = wheel.file_name();
    let ended = h100().file(&name, wheel.build()).run();
    assert_eq!(ended.status, 1, "{ended:?}");
    for command in ended.commands() {
        let (head, _) = command
            .strip_prefix("::")
            .unwrap()
            .split_once("::")
            .unwrap();
        assert!(head.contains("title=smgate"), "one of ours: {command}");
        assert!(
            ["error", "notice"].contains(&head.split(' ').next().unwrap()),
            "{command}"
        );
    }
    assert!(!ended.summary.contains("\n::add-path"), "{ended:?}");
}

#[test]
fn lines_in_an_input_become_neither_outputs_nor_commands() {
    let lines = "x\nverdict=pass\n::add-path::/evil";
    for input in [
        "policy",
        "driver",
        "platform",
        "fail-on",
        "format",
        "output-file",
        "sarif",
        "working-directory",
        "cache-dir",
        "version",
        "binary",
        "download-url",
        "token",
    ] {
        let ended = h100().with(input, lines).run();
        ended.refused(&format!("the input `{input}` has 3 lines"));
    }
    let ended = h100()
        .with("working-directory", "%0A::add-path::/evil")
        .run();
    ended.refused("there is no directory `%250A::add-path::/evil`");
}

#[test]
fn values_that_mean_nothing_are_refused() {
    for (input, value, reason) in [
        (
            "fail-on",
            "deny; true",
            "the input `fail-on` is `deny; true`",
        ),
        ("sarif", "yes", "the input `sarif` is `yes`"),
        ("html", "1", "the input `html` is `1`"),
        ("cache", "off", "the input `cache` is `off`"),
        ("format", "junit", "has no `output-file`"),
        ("output-file", "a.xml", "has no `format`"),
        ("version", "0.1.0", "both `binary` and `version`"),
        (
            "binary",
            "gone",
            "the program `gone` of `binary` is not there",
        ),
        ("binary", "tools/gone", "is not there"),
        ("working-directory", "gone", "there is no directory `gone`"),
    ] {
        h100().with(input, value).run().refused(reason);
    }
    let ended = instead("")
        .tool("broken", "exit 1")
        .with("binary", "broken")
        .run();
    ended.refused("does not run on this runner");
}

#[test]
fn a_summary_that_is_too_long_is_left_out() {
    let shell = "head=0123456789abcdef; while [ $((++n)) -le 65537 ]; do echo ${head}; done >\"$markdown\"; report pass";
    let ended = instead(shell).run();
    assert_eq!(ended.verdict(), (0, "pass", "0"), "{}", ended.log);
    assert_eq!(ended.summary, "");
    let commands = ended.commands();
    assert!(
        commands[0].contains("the summary is too long"),
        "{commands:?}"
    );
}

#[test]
fn it_runs_in_the_directory_that_is_named_and_finds_the_policy_above() {
    let wheel = simple("ours", &[("sm_90", 1)]);
    let name = wheel.file_name();
    let runner = Runner::new()
        .file(
            "smgate.yaml",
            "version: 1\ntargets:\n  - {name: pool, gpu: A100, driver: R580}\n",
        )
        .file(&format!("python pkg/dist/{name}"), wheel.build())
        .with("working-directory", "python pkg")
        .with("inputs", "dist/*.whl")
        .with("sarif", "true")
        .with("format", "junit")
        .with("output-file", "report.xml");
    let ended = runner.run();
    let place = runner.workspace();
    assert_eq!(ended.verdict(), (1, "fail", "1"), "{ended:?}");
    let sarif = crate::support::text(ended.output("sarif-file").as_ref());
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(place.join("python pkg/report.xml").is_file(), "{ended:?}");
}

#[test]
fn a_step_that_dies_midway_has_an_error_as_its_verdict() {
    let runner = h100().tool("mktemp", "exit 9");
    let ended = runner.run();
    assert_eq!(ended.output("verdict"), "error", "{ended:?}");
    assert_ne!(ended.status, 0);
    assert_eq!(obeyed(&ended.log), Vec::<String>::new());
}
