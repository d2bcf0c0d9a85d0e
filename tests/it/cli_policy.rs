//! Policies on the command line: where they are found, what is said of mistakes, `policy` and `explain`.

use smgate::policy::Policy;
use smgate::rule::Code;
use smgate::tables::Tables;

use crate::support_cli::{Place, simple};

const H100: &str =
    "version: 1\ntargets: [{name: h100, gpu: H100, driver: R550, platform: linux/amd64}]\n";

#[test]
fn the_default_policy_is_found_upwards() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_90", 1)]);
    let name = input.file_name();
    place.write(&format!("a/b/{name}"), input.build());
    place.write("smgate.yaml", H100);
    let run = place.run_in("a/b", &["check", &name]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout.contains("(policy ../../smgate.yaml)"),
        "{}",
        run.stdout
    );
    // the nearest one
    place.write("a/smgate.yaml", H100.replace("H100", "B200"));
    let run = place.run_in("a/b", &["check", &name]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout.contains("(policy ../smgate.yaml)"),
        "{}",
        run.stdout
    );
    // a target by hand stands in its place, a named policy too
    let run = place.run_in(
        "a/b",
        &["check", &name, "--target", "A100", "--driver", "R550"],
    );
    assert_eq!(run.status, 0, "{run:?}");
    let run = place.run_in("a/b", &["check", &name, "--policy", "../../smgate.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    let both = ["check", &name, "--policy", "x.yaml", "--target", "A100"];
    let run = place.run_in("a/b", &both);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
}

#[test]
fn without_any_policy_nothing_is_judged() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_90", 1)]).write(&place);
    let run = place.run(&["check", &input]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 2
    --- stderr
    error: no policy: there is no `smgate.yaml` here or above
      next: name one with `--policy FILE`, try one GPU with `--target H100`, or write one with `smgate policy init`
    ");
}

#[test]
fn presets_judge_and_an_unknown_one_is_told_the_others() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_90", 1)]).write(&place);
    for preset in Policy::presets() {
        let name = format!("preset:{}", preset.name);
        let run = place.run(&["check", &input, "--policy", &name, "--format", "json"]);
        assert!(matches!(run.status, 0 | 1), "{name}: {run:?}");
        assert_eq!(run.json()["policy"], name);
        assert_eq!(place.run(&["policy", "lint", &name]).status, 0);
    }
    let run = place.run(&["check", &input, "--policy", "preset:hoper-dc"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("`preset:hopper-dc`"), "{}", run.stderr);
}

#[test]
fn wrong_spellings_are_told_the_nearest_right_one() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_90", 1)]).write(&place);
    for (args, expected) in [
        (
            vec!["check", &input, "--target", "H10O"],
            "did you mean `H100`",
        ),
        (vec!["check", &input, "--target", "9"], "9.0"),
        (vec!["check", &input, "--target", "sm_90"], "`9.0`"),
        (vec!["check", &input, "--target", "9.9"], "no GPU is known"),
        (vec!["check", &input, "--target", "10.1"], "11.0"),
        (
            vec!["check", &input, "--target", "H100", "--driver", "latest"],
            "a branch such as `R550`",
        ),
        (
            vec!["check", &input, "--target", "H100", "--platform", "linux"],
            "`linux/amd64`",
        ),
        (
            vec!["explain", "no-kernel-images"],
            "did you mean `no-kernel-image`",
        ),
        (
            vec!["explain", "NoKernelImage"],
            "`smgate explain` lists all codes",
        ),
        (vec!["chekc", &input], "check"),
        (vec!["check", &input, "--targe", "H100"], "--target"),
    ] {
        let run = place.run(&args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(expected), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn ten_mistakes_are_told_at_once_with_their_places() {
    let place = Place::new();
    let text = "\
version: 1
targets:
  - name: a
    gpu: H10O
  - name: a
    cc: \"9\"
    driver: newest
  - gpu: A100
    platform: linux
levels:
  jit-onyl: deny
  ptx-too-new: forbid
thresholds:
  main-library: 50
waivers:
  - rule: partial-coverage
    until: 2027-02-30
expected-gpu: [torch]
";
    place.write("smgate.yaml", text);
    let input = simple("pkg", &[("sm_80 sm_90", 1)]).write(&place);
    for args in [
        vec!["check", &input],
        vec!["policy", "lint"],
        vec!["policy", "lint", "smgate.yaml"],
    ] {
        let run = place.run(&args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args:?}");
        for (line, column, part) in [
            (4, 10, "H10O"),
            (5, 11, "`a`"),
            (6, 9, "`9.0`"),
            (7, 13, "newest"),
            (8, 5, "name"),
            (9, 15, "linux/amd64"),
            (11, 3, "`jit-only`"),
            (12, 16, "forbid"),
            (14, 17, "50"),
            (16, 5, "`reason`"),
            (17, 12, "2027-02-30"),
            (18, 1, "`expect-gpu`"),
        ] {
            let place = format!("smgate.yaml:{line}:{column}");
            assert!(run.stderr.contains(&place), "{place}: {}", run.stderr);
            assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        }
    }
}

#[test]
fn lint_checks_every_file_and_says_which_are_valid() {
    let place = Place::new();
    place.write("good.yaml", H100);
    place.write("bad.yaml", "version: 1\n");
    let run = place.run(&["policy", "lint", "good.yaml"]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 0
    --- stdout
    good.yaml: valid, 1 target: h100
    ");
    let run = place.run(&["policy", "lint", "bad.yaml", "missing.yaml", "good.yaml"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.stdout, "good.yaml: valid, 1 target: h100\n");
    assert!(run.stderr.contains("bad.yaml:1:1"), "{}", run.stderr);
    assert!(
        run.stderr.contains("`missing.yaml` could not be read"),
        "{}",
        run.stderr
    );
    place.write("not-utf8.yaml", b"version: 1\n# gr\xfcn\n");
    let run = place.run(&["policy", "lint", "not-utf8.yaml"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("UTF-8"), "{}", run.stderr);
}

#[test]
fn init_writes_a_policy_that_lints_and_judges() {
    let place = Place::new();
    let run = place.run(&[
        "policy",
        "init",
        "--target",
        "H100",
        "--target",
        "8.9",
        "--driver",
        "R550",
        "--output",
        "smgate.yaml",
    ]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_eq!(place.run(&["policy", "lint"]).status, 0);
    let input = simple("pkg", &[("sm_80 sm_90", 1)]).write(&place);
    assert_eq!(place.run(&["check", &input]).status, 0);
    // what is there is not written over
    let again = place.run(&["policy", "init", "--target", "A100", "-o", "smgate.yaml"]);
    assert_eq!((again.status, again.stdout.as_str()), (2, ""));
    assert!(
        again.stderr.contains("it exists already"),
        "{}",
        again.stderr
    );
    let printed = place.run(&["policy", "init", "--target", "A100", "--output", "-"]);
    assert_eq!(printed.status, 0);
    // as in `smgate policy init > smgate.yaml`
    let redirected = place.run(&["policy", "init", "--target", "A100"]);
    assert_eq!(redirected.stdout, printed.stdout);
    let policy = Policy::parse("-", &printed.stdout, Tables::builtin()).unwrap();
    assert_eq!(policy.targets[0].gpus[0].name, "A100");
    let other = place.run(&["policy", "init", "--target", "nothing", "-o", "x.yaml"]);
    assert_eq!(other.status, 2);
    assert!(!place.path().join("x.yaml").exists());
}

#[test]
fn every_code_is_listed_and_explained() {
    let place = Place::new();
    let list = place.run(&["explain"]);
    assert_eq!((list.status, list.stderr.as_str()), (0, ""));
    assert_eq!(list.stdout.lines().count(), Code::ALL.len());
    for (code, line) in Code::ALL.iter().zip(list.stdout.lines()) {
        assert!(line.starts_with(code.id()), "{line}");
        let page = place.run(&["explain", code.id()]);
        assert_eq!(page.status, 0);
        assert!(page.stdout.starts_with(&format!("# {code}\n")));
        let level = format!("\nDefault level: {}\n", code.default_level());
        assert!(page.stdout.ends_with(&level), "{code}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    let place = Place::new();
    for args in [
        &["--help"][..],
        &["--version"],
        &["check", "--help"],
        &["policy", "init", "-h"],
    ] {
        let run = place.run(args);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!run.stdout.is_empty());
    }
    let run = place.run(&["check", "--help"]);
    assert!(run.stdout.contains("Exit status: 0 pass"), "{}", run.stdout);
    for args in [
        &[][..],
        &["check"],
        &["policy"],
        &["check", "--target", "H100"],
    ] {
        let run = place.run(args);
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, ""),
            "{args:?}: {run:?}"
        );
    }
}

#[test]
fn what_is_no_regular_file_is_refused_at_once_as_policy_and_as_inventory() {
    let place = Place::new();
    place.write("dir/x", "");
    let mut named = vec![("dir", "`dir` is a directory")];
    #[cfg(unix)]
    {
        let fifo = std::process::Command::new("mkfifo")
            .arg(place.path().join("fifo"))
            .status()
            .unwrap();
        assert!(fifo.success());
        let what = "is neither a regular file nor a directory";
        named.extend([("fifo", what), ("/dev/zero", what)]);
    }
    for (name, said) in named {
        for args in [
            &["policy", "lint", name][..],
            &["check", "dir", "--policy", name],
            &["check", "--target", "H100", "--inventory", name],
        ] {
            let run = place.run(args);
            assert_eq!(
                (run.status, run.stdout.as_str()),
                (2, ""),
                "{args:?}: {run:?}"
            );
            assert!(run.stderr.contains(said), "{args:?}: {run:?}");
        }
    }
}

#[test]
fn a_policy_of_more_than_four_mebibytes_is_refused_by_its_size() {
    let place = Place::new();
    place.write("large.yaml", vec![b'#'; (4 << 20) + 1]);
    let run = place.run(&["policy", "lint", "large.yaml"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("`large.yaml` is larger than 4194304 bytes"),
        "{run:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_policy_may_come_from_the_standard_input() {
    use std::io::Write as _;
    let place = Place::new();
    let mut command = place.command(&["policy", "lint", "/dev/stdin"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let policy = b"version: 1\ntargets: [{name: t, gpu: H100}]\n";
    child.stdin.take().unwrap().write_all(policy).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "/dev/stdin: valid, 1 target: t\n"
    );
}
