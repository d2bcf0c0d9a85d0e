//! Wheels built in memory, right ones and wrong ones.

use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::*;
use crate::archive::zip::fixture::Builder;

const METADATA: &str = "Metadata-Version: 2.1\nName: my-pkg\nVersion: 1.0\nRequires-Dist: numpy\n";
const WHEEL: &str = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-win_amd64\n";
const RECORD: &str = "my_pkg/a.so,,\nmy_pkg-1.0.dist-info/METADATA,,\n\
                      my_pkg-1.0.dist-info/WHEEL,,\nmy_pkg-1.0.dist-info/RECORD,,\n";
const NAME: &str = "my_pkg-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";

/// A wheel with these files in its `.dist-info`.
fn with(files: &[(&str, &str)]) -> Builder {
    let start = Builder::new().deflated("my_pkg/a.so", b"code");
    files.iter().fold(start, |builder, (name, content)| {
        builder.deflated(&format!("my_pkg-1.0.dist-info/{name}"), content.as_bytes())
    })
}

fn whole() -> Builder {
    with(&[("METADATA", METADATA), ("WHEEL", WHEEL), ("RECORD", RECORD)])
}

fn open(builder: &Builder, file_name: &str) -> Wheel {
    let at = Locator::root(0, file_name);
    Wheel::from_bytes(builder.shared(), at, file_name, &Limits::default())
}

fn details(wheel: &Wheel) -> Vec<&str> {
    wheel
        .problems
        .iter()
        .map(|problem| problem.detail.as_str())
        .collect()
}

#[test]
fn reads_what_a_wheel_says_of_itself() {
    let wheel = open(&whole(), NAME);
    assert_eq!(details(&wheel), [""; 0]);
    assert_eq!(wheel.name.as_deref(), Some("my-pkg"));
    assert_eq!(wheel.version.as_deref(), Some("1.0"));
    assert_eq!(wheel.requires, ["numpy"]);
    assert_eq!(wheel.pure, Some(false));
    assert_eq!(wheel.platforms.len(), 1);
    assert_eq!(
        wheel.platforms[0].to_string(),
        "linux/amd64",
        "the file name counts"
    );
    assert_eq!((wheel.unrecorded, wheel.absent), (0, 0));
}

#[test]
fn a_wheel_under_another_name_has_the_tags_of_its_metadata() {
    let wheel = open(&whole(), "0f3a.body");
    assert_eq!(details(&wheel), [""; 0]);
    assert_eq!(wheel.filename, None);
    assert_eq!(wheel.platforms[0].to_string(), "windows/amd64");
}

#[test]
fn platforms_without_a_name_are_kept_apart() {
    let wheel = open(&whole(), "my_pkg-1.0-py3-none-linux_riscv64.whl");
    assert_eq!(
        (wheel.platforms.len(), &*wheel.other_platforms[0]),
        (0, "linux_riscv64")
    );
    let wheel = open(&whole(), "my_pkg-1.0-py3-none-any.whl");
    assert!(wheel.platforms.is_empty() && wheel.other_platforms.is_empty());
}

#[test]
fn says_where_names_and_versions_disagree() {
    let said = |metadata: &str, file_name: &str| {
        let builder = with(&[("METADATA", metadata), ("WHEEL", WHEEL), ("RECORD", RECORD)]);
        let wheel = open(&builder, file_name);
        for problem in &wheel.problems {
            assert_eq!(problem.kind, ProblemKind::MalformedMetadata);
            assert_eq!(problem.extent, Extent::Part);
        }
        details(&wheel).join("; ")
    };
    assert_eq!(said("Name: My.Pkg\nVersion: 1.0.0\n", NAME), "");
    assert_eq!(
        said("Name: other\nVersion: 1.0\n", NAME),
        "`METADATA` states the name `other`, the file name `my_pkg`"
    );
    assert_eq!(
        said("Name: my-pkg\nVersion: 2\n", NAME),
        "`METADATA` states the version `2`, the file name `1.0`"
    );
    assert_eq!(
        said("Name: my-pkg\nVersion: 2\n", "x"),
        "`METADATA` states the version `2`, its directory `1.0`"
    );
    assert_eq!(
        said("\nName: my-pkg\n", NAME),
        "`METADATA` states no name; `METADATA` states no version"
    );
    assert_eq!(said(METADATA, "saved-as.whl"), "");
}

#[test]
fn says_which_metadata_is_missing() {
    let wheel = open(&with(&[("WHEEL", WHEEL)]), NAME);
    assert_eq!(
        details(&wheel),
        ["the wheel has no `METADATA`", "the wheel has no `RECORD`"]
    );
    assert_eq!(
        wheel.problems[0].at.inner(),
        "my_pkg-1.0.dist-info/METADATA"
    );
    assert_eq!(wheel.name.as_deref(), Some("my_pkg"), "by the file name");

    let wheel = open(&Builder::new().stored("a.py", b""), NAME);
    assert_eq!(details(&wheel), ["the wheel has no `.dist-info` directory"]);

    let wheel = open(&whole().stored("other-2.dist-info/METADATA", b""), NAME);
    assert_eq!(
        details(&wheel),
        [
            "the wheel has several `.dist-info` directories: `my_pkg-1.0.dist-info`, `other-2.dist-info`"
        ]
    );
    assert_eq!(
        wheel.name.as_deref(),
        Some("my-pkg"),
        "the one that fits the file name"
    );

    let wheel = open(
        &with(&[("METADATA", METADATA), ("WHEEL", ""), ("RECORD", RECORD)]),
        NAME,
    );
    assert_eq!(
        details(&wheel),
        ["the version of its format is not 1 but `none`"]
    );
}

#[test]
fn counts_what_the_record_lacks_and_has_too_much() {
    let wheel = open(
        &with(&[
            ("METADATA", METADATA),
            ("WHEEL", WHEEL),
            ("RECORD", "my_pkg/a.so,,\ngone.py,,\n"),
        ]),
        NAME,
    );
    assert_eq!(details(&wheel), [""; 0]);
    assert_eq!((wheel.unrecorded, wheel.absent), (2, 1));
}

#[test]
fn reports_members_that_are_installed_as_one_file() {
    let wheel = open(
        &whole()
            .stored("my_pkg-1.0.data/platlib/my_pkg/a.so", b"other code")
            .stored("my_pkg-1.0.data/scripts/my_pkg/a.so", b"no clash"),
        NAME,
    );
    assert_eq!(wheel.problems.len(), 1);
    assert_eq!(wheel.problems[0].kind, ProblemKind::DuplicateMember);
    assert!(
        wheel.problems[0]
            .detail
            .contains("is installed at the place of")
    );
}

#[test]
fn what_is_no_archive_is_a_problem_and_keeps_its_name() {
    let at = Locator::root(0, NAME);
    let bytes = b"<html>".to_vec().into();
    let wheel = Wheel::from_bytes(bytes, at.clone(), NAME, &Limits::default());
    assert_eq!(wheel.problems.len(), 1);
    assert_eq!(wheel.problems[0].kind, ProblemKind::NotAnArchive);
    assert_eq!(wheel.problems[0].at, at);
    assert_eq!(wheel.version.as_deref(), Some("1.0"));
    assert!(wheel.zip.members().is_empty());
}

#[test]
fn damaged_and_huge_metadata_is_a_problem_of_that_member() {
    let damaged = whole().odd("x", b"", |_| {});
    let mut damaged = damaged;
    damaged.entries[1].both(|header| header.crc ^= 1);
    let wheel = open(&damaged, NAME);
    assert_eq!(wheel.problems[0].kind, ProblemKind::ChecksumMismatch);
    assert_eq!(
        wheel.problems[0].at.inner(),
        "my_pkg-1.0.dist-info/METADATA"
    );

    let limits = Limits {
        metadata_bytes: 10,
        ..Limits::default()
    };
    let wheel = Wheel::from_bytes(whole().shared(), Locator::root(0, NAME), NAME, &limits);
    assert_eq!(wheel.problems.len(), 3);
    assert!(
        wheel
            .problems
            .iter()
            .all(|problem| problem.kind == ProblemKind::LimitExceeded)
    );
}

#[test]
fn metadata_beyond_the_limit_of_members_is_not_called_missing() {
    for members in 0..4 {
        let limits = Limits {
            members,
            ..Limits::default()
        };
        let wheel = Wheel::from_bytes(whole().shared(), Locator::root(0, NAME), NAME, &limits);
        let kinds: Vec<_> = wheel.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::LimitExceeded], "{members}");
    }
}

/// Of duplicates pip leaves the last, so that one is read.
#[test]
fn reads_the_metadata_that_pip_would_read() {
    let wheel = open(
        &whole().stored(
            "my_pkg-1.0.dist-info/METADATA",
            b"Name: evil\nVersion: 1.0\n",
        ),
        NAME,
    );
    assert_eq!(wheel.name.as_deref(), Some("evil"));
    assert_eq!(wheel.problems.len(), 2, "{:?}", wheel.problems);
}

/// The same texts in every run.
fn fixed() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest::proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn no_text_is_too_odd_to_be_looked_at(text: String, other: String) {
        let _verdict = same_version(&text, &other);
        proptest::prop_assert!(same_version(&text, &text));
        let _headers = Headers::parse(text.as_bytes());
        let _record = Record::parse(text.as_bytes(), &Limits::default());
        let _platforms = Platforms::of([text.as_str()]);
        let _installed = Installed::of(text.as_bytes());
    }

    #[test]
    fn file_names_survive_parsing(text in "[a-z._+!0-9]{0,4}(-[0-9][a-z._+0-9]{0,3}){3,6}[.]whl") {
        if let Ok(filename) = text.parse::<WheelFilename>() {
            proptest::prop_assert_eq!(filename.to_string(), text);
        }
    }

    #[test]
    fn versions_are_the_same_with_zeros_in_front_and_behind(
        release in proptest::collection::vec(0_u32..30, 1..4),
        rest in "((a|b|rc)[0-9])?([.]post[0-9])?([.]dev[0-9])?([+]cu1[0-9]{2})?",
    ) {
        let joined = |width: usize| {
            let parts: Vec<_> = release.iter().map(|part| format!("{part:0width$}")).collect();
            parts.join(".")
        };
        let (plain, padded) = (format!("{}{rest}", joined(1)), format!("v{}.0{rest}", joined(3)));
        proptest::prop_assert!(same_version(&plain, &padded), "{} {}", plain, padded);
    }
}
