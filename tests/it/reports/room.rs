//! The report in markdown has room for what weighs, whatever the length of names and the number of targets.

use super::{check, denied};
use crate::support_cli::{Place, library, wheel};

/// The size that a comment on GitHub can have, with the rest of the page's promise.
const BYTES_MAX: usize = 65_000;

#[test]
fn a_name_as_long_as_a_report_takes_no_room_of_other_findings() {
    let place = Place::new();
    let long = "x".repeat(63_000);
    let file = wheel("hide", "1.0")
        .member(&format!("a/{long}.so"), library(&[("sm_70", 1)]))
        .member("hide/_D.so", library(&[("sm_75", 2)]))
        .member("hide/_E.so", library(&[("sm_60", 3)]));
    let input = file.write(&place);
    let more = ["--target", "H100", "--driver", "R580"];
    let text = check(&place, "markdown", &[&input], &more).stdout;
    let whole = check(&place, "json", &[&input], &more).json();
    assert_eq!(denied(&whole).len(), 3);
    assert_eq!(text.matches("<details><summary>❌").count(), 3, "{text}");
    for name in ["hide/_D.so", "hide/_E.so"] {
        assert!(text.contains(name), "{text}");
    }
    // the beginning and the end of it
    assert!(text.contains("a/xxx") && text.contains("xxx.so"), "{text}");
    assert!(!text.contains(&"x".repeat(200)), "{text}");
    assert!(text.contains("Long names and sentences are cut, at `…`"));
    let short = check(&place, "markdown", &[&input], &["--target", "V100"]);
    assert!(short.stdout.len() < BYTES_MAX);
}

#[test]
fn a_long_name_hides_no_other_of_which_the_same_is_true() {
    let place = Place::new();
    let copies = |wheel: crate::support_cli::WheelFile, name: &str| {
        wheel.member(&format!("{name}.so"), library(&[("sm_70", 1)]))
    };
    let long = |letter: &str| format!("a/{}", letter.repeat(20_000));
    let names = [long("a b"), long("c d"), long("e f"), "z/last".to_owned()];
    let file = names
        .iter()
        .fold(wheel("hide", "1.0"), |wheel, name| copies(wheel, name));
    let input = file.write(&place);
    let text = check(&place, "markdown", &[&input], &["--target", "H100"]).stdout;
    assert!(text.contains("\n- the same in a/c d"), "{text}");
    assert!(text.contains(" and z/last.so\n"), "{text}");
}

#[test]
fn a_report_of_short_names_does_not_say_that_it_cuts() {
    let place = Place::new();
    let input = wheel("a", "1.0")
        .member("a/_C.so", library(&[("sm_80", 1)]))
        .write(&place);
    let text = check(&place, "markdown", &[&input], &["--target", "H100"]).stdout;
    assert!(
        text.contains("a/_C.so") && !text.contains("are cut"),
        "{text}"
    );
}

fn targets(count: usize, name: &str) -> String {
    let targets = (0..count).map(|index| {
        let gpu = ["H100", "T4", "T4"][index % 3];
        format!("  - {{name: \"t{index:04}{name}\", gpu: {gpu}, driver: R580}}\n")
    });
    format!("version: 1\ntargets:\n{}", targets.collect::<String>())
}

#[test]
fn many_targets_are_counted_for_each_package_and_the_report_keeps_its_limit() {
    let place = Place::new();
    let file = wheel("many", "1.0").member("many/_C.so", library(&[("sm_75", 1)]));
    let input = file.write(&place);
    place.write("smgate.yaml", targets(300, &"|".repeat(70)));
    let text = check(&place, "markdown", &[&input], &[]).stdout;
    assert!(text.len() <= BYTES_MAX, "{}", text.len());
    assert!(
        text.contains(
            "\nHow each package ends on 300 targets:\n\n\
             | Package | ❌ fail | ❓ incomplete | ✅ pass |\n| --- | --- | --- | --- |\n\
             | `many 1.0` | 100 | 0 | 200 |\n"
        ),
        "{text}"
    );
}

#[test]
fn few_targets_with_names_too_long_for_columns_are_counted_too() {
    let place = Place::new();
    let file = wheel("many", "1.0").member("many/_C.so", library(&[("sm_75", 1)]));
    let input = file.write(&place);
    place.write("smgate.yaml", targets(30, ""));
    let text = check(&place, "markdown", &[&input], &[]).stdout;
    assert!(text.contains("| `t0000` | `t0001` |"), "{text}");
    place.write("smgate.yaml", targets(30, &"|".repeat(70)));
    let text = check(&place, "markdown", &[&input], &[]).stdout;
    assert!(text.contains("| `many 1.0` | 10 | 0 | 20 |"), "{text}");
    assert!(text.len() <= BYTES_MAX, "{}", text.len());
}

#[test]
fn the_name_of_the_input_and_many_long_names_keep_the_limit() {
    let place = Place::new();
    // each with code for other GPUs, so that none is a copy of another
    let codes = [60, 61, 70, 72, 75, 80, 86, 89].map(|target| format!("sm_{target}"));
    let many = (1..=200_usize).fold(wheel("wide", "1.0"), |wheel, mask| {
        let code = codes.iter().enumerate();
        let code = code.filter(|(bit, _)| mask >> bit & 1 == 1);
        let code: Vec<&str> = code.map(|(_, target)| target.as_str()).collect();
        let name = format!("wide/{}{mask}.so", "\u{1b}'|`".repeat(400));
        wheel.member(&name, library(&[(&code.join(" "), 1)]))
    });
    let input = many.write(&place);
    place.write("smgate.yaml", targets(30, &"'".repeat(70)));
    let text = check(&place, "markdown", &[&input], &[]).stdout;
    assert!(text.len() <= BYTES_MAX, "{}", text.len());
    assert!(text.contains("Not shown, as there is no room: "), "{text}");
}
