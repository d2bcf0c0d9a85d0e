//! Files whose names read as options: hooks append the names of changed files to their own arguments.

use crate::support_cli::{Place, simple};

/// A policy that the wheel passes.
const LOOSE: &str = "version: 1\ntargets:\n  - {name: loose, gpu: H100, driver: R580}\n";
/// One that it fails.
const STRICT: &str = "version: 1\ntargets:\n  - {name: strict, gpu: A100, driver: R580}\n";

/// A place with the strict policy and a wheel of code for an H100 alone, and the name of the wheel.
fn place() -> (Place, String) {
    let place = Place::new();
    place.write("smgate.yaml", STRICT);
    let wheel = simple("ours", &[("sm_90", 1)]).write(&place);
    (place, wheel)
}

#[test]
fn a_file_that_is_called_like_an_option_never_chooses_the_policy() {
    let (place, wheel) = place();
    place.write("--policy=d/p.whl", LOOSE);
    place.write("d/p.whl", LOOSE);
    for args in [
        &["check", &wheel, "--policy=d/p.whl"][..],
        &["check", "--policy=d/p.whl", &wheel],
        &["check", "--offline", "--policy=d/p.whl", "--", &wheel],
    ] {
        let run = place.run(args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        assert_eq!(
            run.stderr,
            "error: the argument `--policy=d/p.whl` reads as an option, and is also the name of something in this \
             directory\n  next: put `--` before file names, or rename the file\n"
        );
    }
    // by another path it is an option, and behind `--` a file
    let option = place.run(&["check", &wheel, "--policy=./d/p.whl"]);
    assert_eq!(option.status, 0, "{option:?}");
    let file = place.run(&["check", "--", &wheel, "--policy=d/p.whl"]);
    assert_ne!(file.status, 0, "{file:?}");
    assert!(!file.stderr.contains("reads as an option"), "{file:?}");
    assert!(file.shown().contains("--policy=d/p.whl"), "{file:?}");
}

#[test]
fn whatever_reads_as_an_option_is_refused_where_a_file_or_directory_has_that_name() {
    for name in ["--help", "-V", "-q", "--no-such-option.whl", "-é.whl"] {
        let (place, wheel) = place();
        let before = place.run(&["check", &wheel, name]);
        assert!(!before.stderr.contains("reads as an option"), "{before:?}");
        place.write(name, "");
        let run = place.run(&["check", &wheel, name]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains(&format!("`{name}`")), "{run:?}");
        let elsewhere = place.run(&["check", &wheel]);
        assert_eq!(
            elsewhere.status, 1,
            "a file that is not named: {elsewhere:?}"
        );
        place.write("below/file", "");
        let below = place.run_in("below", &["check", name]);
        assert!(!below.stderr.contains("reads as an option"), "{below:?}");
    }
    let (place, wheel) = place();
    std::fs::create_dir(place.path().join("--verbose")).unwrap();
    assert_eq!(place.run(&["check", &wheel, "--verbose"]).status, 2);
}

#[test]
fn a_dash_alone_is_standard_input_whatever_the_directory_holds() {
    let (place, _) = place();
    place.write("-", "");
    let run = place.run(&["explain", "-"]);
    assert!(!run.stderr.contains("reads as an option"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_a_name_too_and_is_shown_and_never_obeyed() {
    let (place, wheel) = place();
    let name = "--policy=\u{1b}[31m\u{202e}x";
    std::os::unix::fs::symlink("nowhere", place.path().join(name)).unwrap();
    let run = place.run(&["check", &wheel, name]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("the argument `--policy=\\u{1b}[31m\\u{202e}x` reads as an option"),
        "{run:?}"
    );
}
