//! Completions and pages of the manual, read by the shells and by groff.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::text;
use crate::support_cli::{Place, Run};

/// The forms of the report of `check`.
const FORMATS: &str = "github gitlab html human json junit markdown ndjson sarif";

const SHELLS: &[&str] = &["bash", "elvish", "fish", "powershell", "zsh"];

const COMMANDS: &[&str] = &[
    "check",
    "diff",
    "find",
    "inspect",
    "export",
    "explain",
    "facts",
    "policy",
    "host",
    "cache",
    "completions",
    "man",
];

fn completions(shell: &str) -> String {
    let run = Place::new().run(&["completions", shell]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{shell}");
    run.stdout
}

/// Runs another program with this on its standard input; `None` where it is not installed, which is a failure where
/// the tools were to be installed (`.ci/test`).
fn fed(program: &str, args: &[&str], input: &str) -> Option<Run> {
    let place = Place::new();
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(place.path())
        .env("HOME", place.path())
        .env("XDG_CONFIG_HOME", place.path())
        .env("LC_ALL", "C.UTF-8");
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            let needed = std::env::var_os("SMGATE_TESTS_NEED_TOOLS").is_some();
            assert!(!needed, "{program}: {error}");
            println!("SKIPPED: `{program}` is not installed, nothing was compared");
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Some(Run {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    })
}

#[test]
fn completions_of_every_shell_have_every_command_and_option() {
    for shell in SHELLS {
        let script = completions(shell);
        for word in COMMANDS.iter().chain(&["lint", "fail-on", "max-unpacked"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn a_shell_without_completions_is_a_usage_error() {
    let run = Place::new().run(&["completions", "tcsh"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert_eq!(run.stdout, "");
    for shell in SHELLS {
        assert!(run.stderr.contains(shell), "{run:?}");
    }
}

#[test]
fn bash_completes_commands_options_and_values() {
    // what bash does when the key is pressed: the words so far, and which one is completed
    let asked = r#"
ask() {
    COMP_WORDS=("$@" "") COMP_CWORD=$# COMPREPLY=()
    _smgate smgate "" "${@: -1}"
    echo "${COMPREPLY[@]}"
}
ask smgate facts
ask smgate check --format
ask smgate check --fail-on
ask smgate check --color
ask smgate completions
COMP_WORDS=(smgate inspect --wast) COMP_CWORD=2 COMPREPLY=()
_smgate smgate --wast inspect
echo "${COMPREPLY[@]}"
"#;
    let script = completions("bash") + asked;
    let Some(run) = fed("bash", &["--norc", "--noprofile"], &script) else {
        return;
    };
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let answers: Vec<&str> = run.stdout.lines().collect();
    let [kinds, formats, levels, whens, shells, options] = answers[..] else {
        panic!("{answers:?}")
    };
    for kind in [
        "gpu", "pci", "arch", "toolkit", "driver", "ptx", "instance", "error",
    ] {
        assert!(kinds.split(' ').any(|word| word == kind), "{kind}: {kinds}");
    }
    assert_eq!(formats, FORMATS);
    assert_eq!(levels, "deny warn");
    assert_eq!(whens, "auto always never");
    let shells: BTreeSet<&str> = shells
        .split(' ')
        .filter(|word| !word.starts_with('-'))
        .collect();
    assert_eq!(shells, SHELLS.iter().copied().collect());
    assert_eq!(options, "--wasted");
}

#[test]
fn fish_completes_commands_options_and_values() {
    let asked = r#"
for line in "smgate check --format " "smgate facts " "smgate policy " "smgate inspect --wast"
    echo (complete --do-complete $line | string split --fields 1 \t)
end
"#;
    let script = completions("fish") + asked;
    let Some(run) = fed("fish", &["--no-config"], &script) else {
        return;
    };
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let answers: Vec<&str> = run.stdout.lines().collect();
    let [formats, kinds, policy, options] = answers[..] else {
        panic!("{answers:?}")
    };
    assert_eq!(formats, FORMATS);
    assert_eq!(kinds, "arch driver error gpu instance pci ptx toolkit");
    assert_eq!(policy, "help init lint show");
    assert_eq!(options, "--wasted");
}

#[test]
fn zsh_reads_its_completions() {
    let Some(run) = fed("zsh", &["-f", "-n", "/dev/stdin"], &completions("zsh")) else {
        return;
    };
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    // and it does so: a script with a mistake is refused
    let broken = completions("zsh") + "\nif (\n";
    let run = fed("zsh", &["-f", "-n", "/dev/stdin"], &broken).unwrap();
    assert_ne!(run.status, 0);
}

/// The pages that `man --dir` writes, with the names that it prints.
fn pages(place: &Place) -> Vec<String> {
    let run = place.run(&["man", "--dir", "deep/pages"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    run.stdout.lines().map(str::to_owned).collect()
}

fn page(place: &Place, name: &str) -> String {
    text(&place.path().join("deep/pages").join(name))
}

#[test]
fn every_command_has_a_page_with_its_options_and_statuses() {
    let place = Place::new();
    let pages = pages(&place);
    for command in COMMANDS {
        assert!(
            pages.contains(&format!("smgate-{command}.1")),
            "{command}: {pages:?}"
        );
    }
    for name in ["smgate.1", "smgate-policy-init.1", "smgate-cache-clear.1"] {
        assert!(pages.contains(&name.to_owned()), "{name}: {pages:?}");
    }
    assert!(pages.iter().all(|name| !name.contains("help")), "{pages:?}");
    for name in &pages {
        // an option is a line of its own, and what it means follows
        let page = page(&place, name);
        for part in page.split("\n.TP\n").skip(1) {
            let (option, text) = part.split_once('\n').unwrap();
            assert!(!text.trim().is_empty(), "{name}: {option}");
        }
    }
    let check = page(&place, "smgate-check.1");
    for part in [
        "fail\\-on",
        "Exit status: 0 pass",
        "smgate check",
        "[default: 1T]",
    ] {
        assert!(check.contains(part), "{part}: {check}");
    }
}

#[test]
fn a_page_that_is_printed_is_the_page_that_is_written() {
    let place = Place::new();
    pages(&place);
    for (words, name) in [
        (&["man"][..], "smgate.1"),
        (&["man", "check"], "smgate-check.1"),
        (&["man", "policy", "lint"], "smgate-policy-lint.1"),
    ] {
        let run = place.run(words);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        assert_eq!(run.stdout, page(&place, name));
    }
}

#[test]
fn a_page_of_no_command_and_a_directory_that_is_a_file_are_errors() {
    let place = Place::new();
    let run = place.run(&["man", "policy", "lnit"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert_eq!(
        run.stderr,
        "error: `smgate policy` has no command `lnit`\n  next: it has `init`, `lint`, `show`\n"
    );
    place.write("file", "");
    let run = place.run(&["man", "--dir", "file"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr
            .starts_with("error: `file` could not be written: "),
        "{run:?}"
    );
    let run = place.run(&["man", "check", "--dir", "pages"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(!place.path().join("pages").exists());
}

#[test]
fn groff_has_nothing_to_say_against_the_pages() {
    let place = Place::new();
    for name in pages(&place) {
        let source = page(&place, &name);
        let args = ["-Kutf8", "-man", "-Tutf8", "-ww", "-P-cbou"];
        let Some(run) = fed("groff", &args, &source) else {
            return;
        };
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
        assert!(run.stdout.contains("NAME"), "{name}: {}", run.stdout);
    }
    // and it would: an unknown request is a warning
    let run = fed("groff", &["-man", "-Tutf8", "-ww"], ".TH x 1\n.nosuch\n").unwrap();
    assert!(run.stderr.contains("nosuch"), "{run:?}");
}
