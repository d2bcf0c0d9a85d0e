//! Tests of `values`.

use super::*;

fn hint<T: std::fmt::Debug>(result: Result<T, Fault>) -> String {
    result.unwrap_err().hint.unwrap_or_default()
}

#[test]
fn drivers_are_versions_or_branches() {
    for text in [
        "550",
        "R550",
        "r550",
        "550.54",
        "550.54.15",
        "580.65.06",
        "999.1",
    ] {
        assert!(driver(text).is_ok(), "{text}");
    }
    for text in [
        "",
        "latest",
        "55",
        ">=550",
        "550.x",
        "550.54.15-server",
        "CUDA 12.4",
    ] {
        assert!(driver(text).is_err(), "{text}");
    }
}

#[test]
fn only_unreadable_can_be_incomplete() {
    assert_eq!(level(Code::Unreadable, "incomplete"), Ok(Level::Incomplete));
    assert!(level(Code::Unreadable, "allow").is_err());
    for text in ["allow", "warn", "deny"] {
        assert_eq!(level(Code::JitOnly, text).unwrap().id(), text);
    }
    for text in ["incomplete", "error", "", "true"] {
        assert_eq!(
            hint(level(Code::JitOnly, text)),
            "write `allow`, `warn` or `deny`",
            "{text}"
        );
    }
}

#[test]
fn shares_lie_between_zero_and_one() {
    for (text, value) in [
        ("0", 0.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1", 1.0),
        ("1.0", 1.0),
    ] {
        assert!(
            (share(text).unwrap() - value).abs() < f64::EPSILON,
            "{text}"
        );
    }
    for text in [
        "", "-0.1", "1.1", "2", "nan", "inf", ".inf", "1e-1", "0,5", "half", "50%", "%", "0.5.1",
    ] {
        assert!(share(text).is_err(), "{text}");
    }
    assert_eq!(hint(share("50%")), "for 50 percent, write `0.5`");
    assert_eq!(hint(share("90")), "for 90 percent, write `0.9`");
}

#[test]
fn python_and_glibc_have_two_parts() {
    for text in ["3.9", "3.10", "3.12", "3.14t"] {
        assert_eq!(python(text).unwrap(), text);
    }
    for text in ["", "3", "3.12.4", "cp312", "3.x", ">=3.9", "3.", "t"] {
        assert!(python(text).is_err(), "{text}");
    }
    assert!(glibc("2.28").is_ok());
    for text in ["2", "2.28.1", "2_28", "manylinux_2_28", "2.28t"] {
        assert!(glibc(text).is_err(), "{text}");
    }
}

#[test]
fn the_nearest_spelling_is_near() {
    let keys = ["name", "gpu", "cc", "driver", "expect-gpu"];
    for (text, expected) in [
        ("gpus", Some("gpu")),
        ("GPU", Some("gpu")),
        ("expect_gpu", Some("expect-gpu")),
        ("dirver", Some("driver")),
        ("colour", None),
        ("", None),
    ] {
        assert_eq!(nearest(text, keys), expected, "{text}");
    }
    assert_eq!(nearest(&"x".repeat(1_000_000), keys), None);
}
