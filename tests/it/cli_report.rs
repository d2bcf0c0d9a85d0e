//! What the reports for people say and leave out: what is gathered, why there is no device code, what decided.

use std::io::Write as _;

use crate::support_cli::{Place, library, simple, wheel};

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn findings_with_other_figures_are_not_gathered() {
    let place = Place::new();
    // T4 has code in 4 + 1 of 7 fatbins, H100 in 4 + 2
    let input = simple(
        "mixed",
        &[
            ("sm_75 sm_80 sm_90", 4),
            ("sm_75 sm_80", 1),
            ("sm_80 sm_90", 2),
        ],
    )
    .write(&place);
    let run = place.run(&[
        "check", &input, "--target", "T4", "--target", "H100", "--driver", "R580",
    ]);
    let out = &run.stdout;
    assert!(
        out.contains("2 of 7 general fatbins have no code for T4 (7.5)"),
        "{out}"
    );
    assert!(
        out.contains("1 of 7 general fatbins has no code for H100 (9.0); kernels in it fail"),
        "{out}"
    );
    assert!(!out.contains("the same for"), "{out}");
    assert_eq!(
        count(out, "General ones hold it for several GPUs"),
        1,
        "{out}"
    );
}

#[test]
fn equal_findings_are_gathered_and_every_next_step_is_shown() {
    let place = Place::new();
    let code = library(&[("sm_80 sm_86", 3)]);
    let input = wheel("ampere", "1.0")
        .member("ampere/a.so", &code)
        .member("ampere/a.so.1", &code)
        .write(&place);
    let run = place.run(&[
        "check", &input, "--target", "H100", "--target", "B200", "--driver", "R580",
    ]);
    let out = &run.stdout;
    assert_eq!(count(out, "deny no-kernel-image"), 1, "{out}");
    assert!(out.contains("- the same in ampere/a.so.1\n"), "{out}");
    assert!(out.contains("- the same for B200 (10.0)\n"), "{out}");
    assert!(out.contains("arch=compute_90,code=sm_90"), "{out}");
    let next = out
        .lines()
        .find(|line| line.contains("next for B200 (10.0): "));
    assert!(next.unwrap().contains("code=sm_100"), "{out}");
    assert!(!out.contains("General ones"), "no word to explain: {out}");
}

#[test]
fn a_next_step_is_said_in_full_once_and_then_referred_to() {
    let place = Place::new();
    // of other sizes, so that they are not copies of each other
    let input = wheel("ampere", "1.0")
        .member("ampere/a.so", library(&[("sm_80 sm_86", 3)]))
        .member("ampere/b.so", library(&[("sm_80 sm_86", 4)]))
        .member("ampere/c.so", library(&[("sm_80 sm_86", 5)]))
        .write(&place);
    let run = place.run(&[
        "check", &input, "--target", "H100", "--target", "B200", "--driver", "R580",
    ]);
    let out = &run.stdout;
    assert_eq!(count(out, "deny no-kernel-image"), 3, "{out}");
    assert_eq!(count(out, "arch=compute_90,code=sm_90"), 1, "{out}");
    assert_eq!(count(out, "arch=compute_100,code=sm_100"), 1, "{out}");
    assert_eq!(count(out, "\n  next: as above\n"), 2, "{out}");
    assert_eq!(
        count(out, "\n  next for B200 (10.0): as above\n"),
        2,
        "{out}"
    );
}

#[test]
fn a_step_that_was_not_said_just_above_is_referred_to_by_its_place() {
    let place = Place::new();
    // T4 has code in b.so, so that it is not gathered there
    let input = wheel("mixed", "1.0")
        .member("mixed/a.so", library(&[("sm_80 sm_86", 3)]))
        .member(
            "mixed/b.so",
            library(&[("sm_80 sm_86", 4), ("sm_75 sm_80", 2)]),
        )
        .write(&place);
    let run = place.run(&[
        "check", &input, "--target", "H100", "--target", "T4", "--driver", "R580",
    ]);
    let out = &run.stdout;
    assert_eq!(count(out, "arch=compute_90,code=sm_90"), 1, "{out}");
    assert_eq!(count(out, "arch=compute_75,code=sm_75"), 1, "{out}");
    assert_eq!(count(out, "\n  next: as above\n"), 1, "{out}");
    assert!(
        out.contains("\n  next: as above: no-kernel-image of T4 (7.5), mixed/a.so\n"),
        "{out}"
    );
    assert!(
        out.contains("\n  too little code for T4 (7.5): 2 of 6 fatbins can run;"),
        "{out}"
    );
}

#[test]
fn no_driver_is_named_beside_a_verdict_where_code_is_missing() {
    let place = Place::new();
    let input = simple("ampere", &[("sm_80 sm_86", 3)]).write(&place);
    let row = |args: &[&str]| {
        let run = place.run(&[&["check", input.as_str(), "--target", "H100"], args].concat());
        run.stdout.lines().nth(1).unwrap().trim_end().to_owned()
    };
    let lacks = "  FAIL        H100  lacks code for H100 (9.0), whatever the driver";
    assert_eq!(row(&["--driver", "R580"]), lacks);
    assert_eq!(row(&[]), lacks);
    // of the same branch as the floor: that a part of it is enough would be advice too
    assert_eq!(row(&["--driver", "R525"]), lacks);
    assert_eq!(
        row(&["--driver", "R470"]),
        format!(
            "{lacks}; needs driver 525.60.13 or newer as well, has R470 (code made by CUDA 12)"
        )
    );
    // where the lack is accepted, the rest may run, and the driver counts
    place.write(
        "smgate.yaml",
        "version: 1\ntargets: [{name: h100, gpu: H100, driver: R550}]\nlevels: {no-kernel-image: warn}\n",
    );
    let run = place.run(&["check", &input]);
    assert!(
        run.stdout
            .contains("PASS        h100  driver 525.60.13 or newer"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_target_without_a_driver_is_said_once_at_the_end() {
    let place = Place::new();
    let one = simple("one", &[("sm_75 compute_75@8.0", 2)]).write(&place);
    let two = simple("two", &[("sm_80 sm_90", 2)]).write(&place);
    let run = place.run(&[
        "check",
        &one,
        &two,
        "--target",
        "A100",
        "--target",
        "H100",
        "--fail-on",
        "warn",
    ]);
    let out = &run.stdout;
    assert_eq!(count(out, "warn driver-not-given"), 1, "{out}");
    assert!(out.contains("- the same for H100\n"), "{out}");
    assert!(out.find("two 1.0").unwrap() < out.find("driver-not-given").unwrap());
    assert!(
        out.contains("\n\ntwo 1.0  "),
        "a line between packages: {out}"
    );
    // two of `jit-only`, and of each target and package that it names no driver
    assert!(
        out.contains("FAIL: 0 denied findings, 6 warnings, which fail under `--fail-on warn`"),
        "{out}"
    );
    assert!(out.contains("`smgate explain jit-only` says more"), "{out}");
}

#[test]
fn a_driver_below_the_floor_is_said_beside_the_verdict() {
    let place = Place::new();
    let input = simple("new", &[("sm_80 sm_90", 2)]).write(&place);
    let run = place.run(&["check", &input, "--target", "H100", "--driver", "R470"]);
    let row = run.stdout.lines().nth(1).unwrap();
    assert!(
        row.contains("needs driver 525.60.13 or newer, has R470 (code made by CUDA 12)"),
        "{row}"
    );
}

#[test]
fn the_reasons_for_no_device_code_are_told_apart() {
    let place = Place::new();
    let pure = wheel("pure", "1.0")
        .member("pure/__init__.py", "")
        .write(&place);
    let damaged = wheel("part", "1.0")
        .member("part/__init__.py", "")
        .member("part/_C.so", "\x7fELF\x02\x01\x01")
        .write(&place);
    place.write("garbage-1.0-py3-none-any.whl", "no archive");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&[0; 2000]).unwrap();
    place.write("weights.gz", gzip.finish().unwrap());
    for (input, said) in [
        (&*pure, "nothing to judge (pure Python or a CPU build)"),
        (
            &damaged,
            "no device code in what could be read, and not all could",
        ),
        ("garbage-1.0-py3-none-any.whl", "nothing could be read"),
        ("weights.gz", "nothing in it was looked at"),
    ] {
        let run = place.run(&["check", input, "--target", "H100", "--driver", "R580"]);
        let row = run.stdout.lines().nth(1).unwrap();
        assert!(row.contains(said), "{input}: {run:?}");
        let run = place.run(&["inspect", input]);
        let line = run.stdout.lines().nth(1).unwrap();
        if input != pure {
            assert!(line.contains(said), "{input}: {run:?}");
        }
    }
}

#[test]
fn ptx_outside_fatbins_is_counted_as_what_it_is() {
    let place = Place::new();
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
    let input = wheel("bare", "1.0").member("bare/k.ptx", ptx).write(&place);
    let run = place.run(&["inspect", &input]);
    let out = &run.stdout;
    assert!(out.contains("1 device image, in no fatbin\n"), "{out}");
    assert!(!out.contains("0 fatbins"), "{out}");
}
