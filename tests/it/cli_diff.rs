//! `smgate diff`: what it says first, how it ends, and what it can be given.

use crate::support::read;
use crate::support_cli::{Place, Run, library, wheel};

/// A wheel `pkg` of a version, with one library.
fn pkg(place: &Place, version: &str, images: &str) -> String {
    wheel("pkg", version)
        .member("pkg/_C.so", library(&[(images, 3)]))
        .write(place)
}

fn diff(place: &Place, before: &str, after: &str, more: &[&str]) -> Run {
    place.run(&[&["diff", before, after], more].concat())
}

const FLEET: &[&str] = &[
    "--target", "GTX 1060", "--target", "A100", "--target", "H100", "--driver", "R580",
];

fn first_line(run: &Run) -> &str {
    run.stdout.lines().next().unwrap_or_default()
}

// Three fatbins of two cubins each: sm_61 is lost, sm_90 gained. A GTX 1060 is 6.1, an A100 8.0, an H100 9.0.
#[test]
fn the_first_line_says_what_changes_and_a_line_what_it_does_to_each_target() {
    let place = Place::new();
    let old = pkg(&place, "1.0", "sm_61 sm_80");
    let new = pkg(&place, "2.0", "sm_80 sm_90");
    let run = diff(&place, &old, &new, FLEET);
    let out = &run.stdout;
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        first_line(&run).starts_with("pkg 1.0 -> 2.0: loses sm_61, gains sm_90"),
        "{out}"
    );
    let lines: Vec<&str> = out.lines().skip(1).take(3).map(str::trim).collect();
    assert!(
        lines[0].starts_with("PASS -> FAIL  GTX 1060  no-kernel-image in _C.so"),
        "{out}"
    );
    assert!(
        lines[1].starts_with("FAIL -> PASS  H100      no longer no-kernel-image in _C.so"),
        "{out}"
    );
    assert_eq!(lines[2], "1 target unchanged: PASS A100", "{out}");
    assert!(
        out.contains("WORSE for GTX 1060 (targets of the command line)"),
        "{out}"
    );
    assert!(
        !out.contains('\u{1b}'),
        "no colour where there is no terminal"
    );
}

#[test]
fn the_exit_status_says_whether_something_got_worse() {
    let place = Place::new();
    let old = pkg(&place, "1.0", "sm_61 sm_80");
    let new = pkg(&place, "2.0", "sm_80 sm_90");
    // half of the fatbins of this one are for the A100 alone
    let gap = wheel("pkg", "3.0")
        .member(
            "pkg/_C.so",
            library(&[("sm_80 sm_90", 3), ("sm_80 sm_86", 1)]),
        )
        .write(&place);
    let whole = read(&place.path().join(&new));
    place.write("cut-2.0-py3-none-any.whl", &whole[..whole.len() - 30]);
    let target = |gpu| ["--target", gpu, "--driver", "R580"];
    for (before, after, more, status) in [
        (&old, &old, &target("H100")[..], 0),
        (&old, &new, &target("A100"), 0),
        (&old, &new, &target("H100"), 0),
        (&old, &new, &target("GTX 1060"), 1),
        (&new, &old, &target("GTX 1060"), 0),
        (&new, &old, &target("H100"), 1),
        (&new, &gap, &target("H100"), 0),
        (
            &new,
            &gap,
            &[&target("H100")[..], &["--fail-on", "warn"]].concat(),
            1,
        ),
        (
            &gap,
            &new,
            &[&target("H100")[..], &["--fail-on", "warn"]].concat(),
            0,
        ),
        (&old, &new, &[], 0),
        (&"absent.whl".to_owned(), &new, &[], 2),
        (&old, &"absent.whl".to_owned(), &target("H100"), 2),
        (&old, &new, &["--policy", "absent.yaml"], 2),
        (&old, &new, &["--target", "no such GPU"], 2),
        (&"-".to_owned(), &"-".to_owned(), &[], 2),
    ] {
        let run = diff(&place, before, after, more);
        assert_eq!(run.status, status, "{before} {after} {more:?}: {run:?}");
    }
    let run = diff(&place, &old, "cut-2.0-py3-none-any.whl", &target("H100"));
    assert!(run.status == 2 || run.status == 3, "never a pass: {run:?}");
}

#[test]
fn what_could_not_be_read_ends_with_3_where_nothing_got_worse() {
    let place = Place::new();
    let good = library(&[("sm_80", 2)]);
    let mut damaged = good.clone();
    // the length of the last fatbin says more than there is
    let at = damaged
        .windows(4)
        .rposition(|four| four == [0x50, 0xed, 0x55, 0xba])
        .unwrap();
    damaged[at + 8..][..8].fill(0xff);
    let wheel = |version, second: &[u8]| {
        wheel("pkg", version)
            .member("pkg/a.so", &good)
            .member("pkg/b.so", second)
            .write(&place)
    };
    let (whole, broken) = (wheel("1.0", &good), wheel("2.0", &damaged));
    for (before, after) in [(&whole, &broken), (&broken, &whole)] {
        for targets in [&["--target", "A100", "--driver", "R580"][..], &[]] {
            let run = diff(&place, before, after, targets);
            assert_eq!(run.status, 3, "{run:?}");
            assert!(
                run.stdout.contains("Not everything could be read"),
                "{run:?}"
            );
        }
    }
    let run = diff(
        &place,
        &whole,
        &broken,
        &["--target", "H100", "--driver", "R580"],
    );
    assert_eq!(run.status, 3, "it failed before: {run:?}");
}

#[test]
fn without_targets_contents_are_compared_and_a_line_says_how_to_name_some() {
    let place = Place::new();
    let old = pkg(&place, "1.0", "sm_61 sm_80");
    let new = pkg(&place, "2.0", "sm_80 sm_90");
    let run = diff(&place, &old, &new, &[]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout
            .contains("No targets: only what is inside was compared"),
        "{run:?}"
    );
    assert!(run.stdout.contains("--target T4 --driver R550"), "{run:?}");
    assert!(!run.stdout.contains("PASS"), "{run:?}");
    // a policy that is found is taken
    place.write(
        "smgate.yaml",
        "version: 1\ntargets:\n  - {name: old, gpu: GTX 1060, driver: R580}\n",
    );
    let run = diff(&place, &old, &new, &[]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout.contains("WORSE for old (policy smgate.yaml)"),
        "{run:?}"
    );
}

#[test]
fn saved_inventories_are_compared_like_the_inputs() {
    let place = Place::new();
    let old = pkg(&place, "1.0", "sm_61 sm_80");
    let new = pkg(&place, "2.0", "sm_80 sm_90");
    for (input, name) in [(&old, "old.json"), (&new, "new.json")] {
        let saved = place.run(&["inspect", "--format", "json", input]);
        // as editors of Windows begin a file
        place.write(name, format!("\u{feff}{}", saved.stdout));
    }
    for more in [FLEET, &[]] {
        for format in ["human", "json"] {
            let more = [more, &["--format", format]].concat();
            let direct = diff(&place, &old, &new, &more);
            for (before, after) in [
                ("old.json", "new.json"),
                (&old, "new.json"),
                ("old.json", &new),
            ] {
                assert_eq!(
                    diff(&place, before, after, &more),
                    direct,
                    "{before} {after}"
                );
            }
        }
    }
    place.write("later.json", "{\n  \"schema\": \"smgate/inspect/9\"\n}");
    let run = diff(&place, "later.json", &new, &[]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("smgate/inspect/9"), "{run:?}");
}

#[test]
fn the_same_inputs_give_the_same_bytes_whatever_the_threads() {
    let place = Place::new();
    for (dir, images) in [
        ("a", ["sm_61 sm_80", "sm_80 sm_90"]),
        ("b", ["sm_80 sm_90", "sm_75 sm_80"]),
    ] {
        for index in 0..12 {
            let content = library(&[(images[index % 2], 1 + index)]);
            place.write(&format!("{dir}/pkg{index}/_C.so"), content);
        }
    }
    for format in ["human", "json"] {
        let run = |threads| {
            let more = [
                FLEET,
                &["--format", format, "--threads", threads, "--verbose"],
            ]
            .concat();
            diff(&place, "a", "b", &more)
        };
        let one = run("1");
        assert_eq!(one.status, 1, "{one:?}");
        for threads in ["2", "7"] {
            assert_eq!(run(threads), one, "{threads} threads, {format}");
        }
    }
}

#[test]
fn names_of_others_reach_no_terminal_as_commands() {
    let place = Place::new();
    let with = |version, images| {
        wheel("pkg", version)
            .member("pkg/\u{1b}[31mred.so", library(&[(images, 1)]))
            .write(&place)
    };
    let (old, new) = (with("1.0", "sm_61"), with("2.0", "sm_90"));
    for format in ["human", "json"] {
        let more = [FLEET, &["--verbose", "--format", format]].concat();
        let run = diff(&place, &old, &new, &more);
        assert!(run.stdout.contains("red.so"), "{run:?}");
        assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    }
}
