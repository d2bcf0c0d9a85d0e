//! What reaches a terminal: streams, colours, readers that leave, and names that want to deceive.

use std::process::Stdio;

use smgate::limits::read_capped;

use crate::support_cli::{Place, finish, library, simple, wheel};
use crate::support_zip::Zip;

const ESCAPE: char = '\u{1b}';

#[test]
fn reports_go_to_standard_output_and_errors_to_standard_error() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_86", 1)]).write(&place);
    for args in [
        &["check", &input, "--target", "A100"][..],
        &["check", &input, "--target", "H100"],
        &["check", &input, "--target", "H100", "--format", "json"],
        &["inspect", &input],
        &["explain"],
    ] {
        let run = place.run(args);
        assert!(
            !run.stdout.is_empty() && run.stderr.is_empty(),
            "{args:?}: {run:?}"
        );
        assert!(run.stdout.ends_with('\n'));
    }
    for args in [
        &["check", &input, "--target", "X"][..],
        &["check", "missing", "--target", "H100"],
        &["inspect", "missing"],
        &["explain", "x"],
        &["policy", "lint", "missing"],
    ] {
        let run = place.run(args);
        assert!(
            run.stdout.is_empty() && run.stderr.starts_with("error"),
            "{args:?}: {run:?}"
        );
        assert_eq!(run.status, 2);
    }
}

#[test]
fn colours_are_for_terminals_or_those_who_ask() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_86", 1)]).write(&place);
    let check = ["check", &input, "--target", "H100"];
    let coloured = |args: &[&str], env: &[(&str, &str)]| {
        let mut args: Vec<&str> = args.to_vec();
        args.splice(0..0, check);
        let mut command = place.command(&args);
        command.envs(env.iter().copied());
        let run = finish(command);
        assert_eq!(run.status, 1);
        run.stdout.contains(ESCAPE)
    };
    assert!(!coloured(&[], &[]), "a pipe is no terminal");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(
        coloured(&["--color", "always"], &[("NO_COLOR", "1")]),
        "the option is explicit"
    );
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(
        &[],
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    ));
    assert!(
        !coloured(&["--color", "always", "--format", "json"], &[]),
        "JSON has no colours"
    );
    // without colours the words still say it
    let run = place.run(&check);
    assert!(run.stdout.contains("FAIL") && run.stdout.contains("deny"));
    // diagnostics of a policy too
    place.write("x.yaml", "version: 1\n");
    let run = place.run(&["policy", "lint", "x.yaml", "--color", "always"]);
    assert!(run.stderr.contains(ESCAPE), "{run:?}");
    let run = place.run(&["policy", "lint", "x.yaml"]);
    assert!(!run.stderr.contains(ESCAPE), "{run:?}");
}

#[test]
fn a_reader_that_leaves_early_changes_no_status() {
    let place = Place::new();
    let good = simple("good", &[("sm_80 sm_90", 1)]).write(&place);
    let bad = simple("bad", &[("sm_80 sm_86", 1)]).write(&place);
    place.write("bad.yaml", "version: 1\n");
    place.write("good.yaml", "version: 1\ntargets: [{name: t, gpu: H100}]\n");
    for (args, status) in [
        (&["check", &good, "--target", "H100"][..], 0),
        (&["check", &bad, "--target", "H100"], 1),
        (&["check", &bad, "--target", "H100", "--format", "json"], 1),
        (&["inspect", &bad], 0),
        (&["policy", "lint", "good.yaml", "bad.yaml"], 2),
        (&["explain"], 0),
    ] {
        let mut command = place.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // closed before the first byte is written
        drop(child.stdout.take());
        let (errors, _) = read_capped(child.stderr.take().unwrap(), 10_000).unwrap();
        let errors = String::from_utf8(errors).unwrap();
        assert_eq!(
            child.wait().unwrap().code(),
            Some(status),
            "{args:?}: {errors}"
        );
        assert!(
            !errors.contains("panicked") && !errors.contains("Broken pipe"),
            "{errors}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    let input = simple("good", &[("sm_80 sm_90", 1)]).write(&place);
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = place.command(&["check", &input, "--target", "H100"]);
    command.stdout(full);
    let output = command
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.starts_with("error: the output could not be written"),
        "{errors}"
    );
}

/// Whether a terminal, or a log that behaves like one, would obey any of it.
fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| {
        c == '\n'
            || !c.is_control()
                && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    })
}

#[test]
fn foreign_text_is_shown_and_never_obeyed() {
    let place = Place::new();
    let evil = "x\u{1b}[2J\u{1b}[32mPASS\r\n\u{202e}os.C_\u{7}\u{9b}1m";
    let code = library(&[("sm_70 sm_80", 2)]);
    let metadata = format!(
        "Metadata-Version: 2.1\nName: evil\u{1b}[1A{}\nVersion: 1.0\u{202e}\u{1b}]0;pwn\u{7}\nRequires-Dist: \u{1b}[0m\n",
        "\u{200b}x"
    );
    let mut damaged = code.clone();
    let at = damaged
        .windows(4)
        .position(|four| four == [0x50, 0xed, 0x55, 0xba]);
    damaged[at.unwrap() + 8..][..8].fill(0xff);
    let nested = Zip::new().deflated(evil, &code).build();
    let input = wheel("evil", "1.0")
        .member(&format!("evil/{evil}.so"), &code)
        .member(&format!("evil/{evil}.dmg.so"), &damaged)
        .member("evil/n.bin", nested)
        .zip(|zip| {
            zip.stored("bytes", b"").last(|member| {
                member.both(|header| header.name = b"evil/\xff\x1b[31m\xfe.so".to_vec());
            })
        });
    let name = input.file_name();
    let dist_info = "evil\u{1b}[5m-1.0.dist-info";
    place.write(
        &name,
        input.into_zip_with(dist_info, metadata.as_bytes()).build(),
    );
    // an ELF whose section and needed names are no better
    let elf = crate::support::elf::Elf::new()
        .soname(evil)
        .needed(&format!("libcudart.so.12{evil}"))
        .needed("libcudart.so.12")
        .section(evil, crate::support_cli::fatbin_of("sm_70 sm_80"))
        .build();
    place.write("elf.so", elf);
    for args in [
        &["check", &name, "elf.so", "--target", "H100", "--verbose"][..],
        &["inspect", &name, "elf.so", "--verbose"],
        &["check", &format!("no{evil}.whl"), "--target", "H100"],
        &["check", &name, "--policy", &format!("no{evil}.yaml")],
        &["check", &name, "--target", evil],
        &["explain", evil],
    ] {
        let run = place.run(args);
        assert!(is_harmless(&run.stdout), "{args:?}: {:?}", run.stdout);
        assert!(is_harmless(&run.stderr), "{args:?}: {:?}", run.stderr);
        assert!(
            !run.stdout.lines().any(|line| line.starts_with("PASS")),
            "{args:?}"
        );
    }
    let run = place.run(&["check", &name, "--target", "H100", "--color", "always"]);
    assert!(!run.stdout.contains("\u{1b}[2J") && !run.stdout.contains('\u{202e}'));
    assert!(
        run.stdout.contains("\\u{1b}[2J"),
        "it is shown, escaped: {}",
        run.stdout
    );
    // JSON keeps the text, in the escapes of JSON
    let run = place.check_h100(&name);
    assert!(is_harmless(&run.stdout), "{:?}", run.stdout);
    let inspected = place.run(&["inspect", "--format", "json", &name, "elf.so"]);
    assert!(is_harmless(&inspected.stdout), "{:?}", inspected.stdout);
    assert!(
        inspected.json().to_string().contains('\u{9b}'),
        "the value is kept"
    );
    let libraries = run.json()["findings"].to_string();
    assert!(libraries.contains("\\u001b[2J"), "{libraries}");
}

#[test]
fn a_rule_is_explained_in_any_case() {
    let place = Place::new();
    let page = place.run(&["explain", "ptx-too-new"]);
    assert_eq!(page.status, 0);
    assert_eq!(place.run(&["explain", "PTX-Too-New"]), page);
    let misspelt = place.run(&["explain", "PTX-TO-NEW"]);
    assert_eq!(misspelt.status, 2);
    assert!(misspelt.stderr.contains("did you mean `ptx-too-new`?"));
}

#[test]
fn the_text_and_the_name_of_a_policy_are_shown_and_never_obeyed() {
    let place = Place::new();
    let evil = "\u{9b}31m\u{202e}\u{2066}\u{200b}";
    let misspelt =
        format!("version: 1\ntargets: [{{name: \"a{evil}b\", gpuu: H100}}]\n{evil}: 2\n");
    place.write(&format!("p{evil}.yaml"), &misspelt);
    place.write(
        &format!("good{evil}.yaml"),
        "version: 1\ntargets: [{name: \"a\u{2066}\", gpu: H100}]\n",
    );
    for (name, status) in [
        (format!("p{evil}.yaml"), 2),
        (format!("good{evil}.yaml"), 0),
    ] {
        let run = place.run(&["policy", "lint", &name]);
        assert_eq!(run.status, status, "{run:?}");
        assert!(
            is_harmless(&run.stdout) && is_harmless(&run.stderr),
            "{run:?}"
        );
        let shown = format!("{}{}", run.stdout, run.stderr);
        assert!(
            shown.contains("\\u{9b}31m\\u{202e}\\u{2066}\\u{200b}.yaml"),
            "{shown}"
        );
    }
    let run = place.run(&["check", ".", "--policy", &format!("p{evil}.yaml")]);
    assert!(is_harmless(&run.stderr), "{run:?}");
}

#[test]
fn arguments_in_errors_about_them_are_shown_and_never_obeyed() {
    let place = Place::new();
    let evil = "x\u{1b}[31m\u{9b}1m\u{202e}\nPASS";
    for args in [
        &["check", &format!("--{evil}")][..],
        &["check", "--format", evil],
        &["check", "--threads", evil],
        &["check", "--max-unpacked", evil, "x"],
        &[evil],
    ] {
        let run = place.run(args);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(is_harmless(&run.stderr), "{args:?}: {:?}", run.stderr);
        assert!(
            run.stderr.contains("\\u{9b}1m\\u{202e}\\u{a}PASS"),
            "{run:?}"
        );
    }
    let mut plain = vec!["check", "--format", "jsn"];
    assert!(place.run(&plain).stderr.contains("'jsn'"));
    plain.extend(["--color", "always"]);
    assert_eq!(place.run(&plain).status, 2);
}

#[test]
fn several_reports_are_written_in_one_run() {
    let place = Place::new();
    let input = simple("ampere", &[("sm_80", 1)]).write(&place);
    let target = ["--target", "H100", "--driver", "R580"];
    let outputs = ["--output", "json=a.json", "--output", "human=b.txt"];
    let run = place.run(&[&["check", &input], &target[..], &outputs[..]].concat());
    assert_eq!(run.status, 1);
    let json = place.run(&[&["check", &input, "--format", "json"], &target[..]].concat());
    let written = |name| crate::support::text(&place.path().join(name));
    assert_eq!(written("a.json"), json.stdout);
    assert_eq!(written("b.txt"), run.stdout);
}

#[test]
fn a_report_without_a_place_is_told_before_anything_is_read() {
    let place = Place::new();
    let target = ["--target", "H100", "--driver", "R580"];
    for (outputs, said) in [
        (
            &["--output", "json=no/a.json"][..],
            "its directory is not there",
        ),
        (&["--output", "json=."][..], "that is a directory"),
        (
            &["--output", "json=a", "--output", "human=a"][..],
            "two reports are to go to `a`",
        ),
        (
            &["--output", "json=a", "--output", "human=./a"][..],
            "two reports are to go to `./a`",
        ),
        (
            &["--output", "json=./absent.whl"][..],
            "this run reads or writes it for something else",
        ),
        (
            &["--output", "json=b", "--write-baseline", "./b"][..],
            "this run reads or writes it for something else",
        ),
    ] {
        let run = place.run(&[&["check", "absent.whl"], &target[..], outputs].concat());
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert!(!run.stderr.contains("does not exist"), "{}", run.stderr);
    }
}
