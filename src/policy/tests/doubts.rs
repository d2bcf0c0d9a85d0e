//! What `lint` says of valid policies.

use super::*;

fn doubts(text: &str) -> Vec<String> {
    let lint = valid(text).lint(Tables::builtin(), "2027-01-15".parse().unwrap());
    let shown = |d: &Diagnostic| {
        let hint = d.hint.as_deref().unwrap_or_default();
        format!("{}:{}: {}; {hint}", d.line, d.column, d.message)
    };
    lint.iter().map(shown).collect()
}

fn with_driver(lines: &str) -> String {
    doubts(&with_target(lines)).join("\n")
}

// Expected values: tables of driver branches; RULES.md 3 (first and last branches of a GPU)
#[test]
fn drivers_that_cannot_drive_the_gpu_are_told() {
    for (lines, expected) in [
        ("gpu: H100\ndriver: R550", ""),
        ("gpu: H100\ndriver: 550.54.15", ""),
        ("gpu: H100\ndriver: R520", ""),
        (
            "gpu: B200\ndriver: R550",
            "5:13: driver R550 does not know B200 (10.0) yet; the first driver that does is 570.86.15",
        ),
        (
            "gpu: [H100, B300]\ndriver: 575.57.08",
            "5:13: driver 575.57.08 does not know B300 (10.3) yet; the first driver that does is 580.82.07",
        ),
        (
            "gpu: GTX 1060\ndriver: R590",
            "5:13: driver R590 no longer drives GeForce GTX 1060 (6.1); the last branch that does is R580",
        ),
        ("cc: 6.1\ndriver: R580", ""),
        (
            "cc: 3.5\ndriver: R495",
            "5:13: driver R495 no longer drives compute capability 3.5; the last branch that does is R470",
        ),
        ("gpu: H100", ""),
        // newer than every branch that is known, so that nobody knows what it dropped
        (
            "gpu: H100\ndriver: 999.10.01",
            "5:13: driver 999.10.01 is of no branch that is known: whether it drives H100 (9.0) is not known; correct the number, or describe its branch in a file for `--tables`",
        ),
        // between two branches that both drive it
        ("gpu: H100\ndriver: 600.10.01", ""),
        // 551.61 is R550 on Windows, which does not know a B200
        ("gpu: H100\nplatform: windows/amd64\ndriver: 551.61", ""),
        (
            "gpu: RTX 5090\nplatform: windows/amd64\ndriver: 551.61",
            "6:13: driver 551.61 does not know GeForce RTX 5090 (12.0) yet; the first driver that does is R570",
        ),
    ] {
        assert_eq!(with_driver(lines), expected, "{lines}");
    }
}

#[test]
fn numbers_of_the_other_system_are_told_with_their_branch() {
    for (lines, expected) in [
        (
            "gpu: H100\nplatform: windows/amd64\ndriver: 550.54.15",
            "6:13: 550.54.15 has the form of a Linux driver, and the platform is Windows; that is R550: write the branch, or the number that `nvidia-smi` shows on Windows",
        ),
        (
            "gpu: H100\nplatform: linux/amd64\ndriver: 551.61",
            "6:13: 551.61 is the number of a Windows driver, and the platform is Linux; that is R550: write the branch, or the Linux version",
        ),
        // WSL takes both
        ("gpu: H100\nwsl: true\ndriver: 551.61", ""),
        ("gpu: H100\nwsl: true\ndriver: 550.54.15", ""),
    ] {
        assert_eq!(with_driver(lines), expected, "{lines}");
    }
}

#[test]
fn waivers_that_are_over_are_told_at_their_date() {
    let text = with_top(
        "waivers:\n  - {rule: jit-only, reason: x, until: 2027-01-14}\n  - {rule: jit-only, reason: x, until: 2027-01-15}",
    );
    assert_eq!(
        doubts(&text),
        [
            "4:40: the waiver of `jit-only` ended on 2027-01-14; look at it again: set a new date with a reason, or remove the waiver"
        ]
    );
}

#[test]
fn doubts_are_shown_as_warnings() {
    let policy = valid(&with_target("gpu: B200\ndriver: R550"));
    let lint = policy.lint(Tables::builtin(), "2027-01-15".parse().unwrap());
    insta::assert_snapshot!(lint.render(false), @r"
    warning: driver R550 does not know B200 (10.0) yet
     --> smgate.yaml:5:13
      |
    5 |     driver: R550
      |             ^^^^
      |
      = help: the first driver that does is 570.86.15
    ");
}
