//! Whether a wheel is for the Python of a target, by its tags.
//!
//! Format: PEP 425 (tags), PEP 384 (`abi3`), PEP 703 (`t`: free-threaded). Which tags a `CPython` accepts follows
//! the platform compatibility tags of the Python packaging guide.

use crate::inventory::Artifact;
use crate::policy::FleetTarget;
use crate::rule::Code;

use super::artifact::PlatformMismatch;
use super::finding::Finding;

/// Tags that a finding names.
const NAMED: usize = 8;

/// The wheel is for another Python than the target's.
pub(super) fn mismatch(artifact: &Artifact, target: &FleetTarget) -> Option<PlatformMismatch> {
    let wanted = target.python.as_deref()?;
    let tags = &artifact.python_tags;
    if tags.is_empty() || tags.iter().any(|tag| accepts(wanted, tag)) {
        return None;
    }
    let mut names: Vec<&str> = tags.iter().take(NAMED).map(String::as_str).collect();
    if tags.len() > NAMED {
        names.push("…");
    }
    let message = format!("built for another Python than {wanted}");
    let next_step = format!("choose the file for Python {wanted}");
    let finding = Finding::new(Code::PlatformMismatch, message, next_step);
    let built_for = names.join(", ");
    let finding = finding.evidence(format!("its tags name {built_for}"));
    Some(PlatformMismatch { built_for, finding })
}

/// Whether a `CPython` of version `python` (`3.12`, `3.14t`) installs a wheel with this Python and ABI tag.
fn accepts(python: &str, tag: &str) -> bool {
    let (version, threaded) = match python.strip_suffix('t') {
        Some(version) => (version, true),
        None => (python, false),
    };
    let Some((major, minor)) = version.split_once('.') else {
        return false;
    };
    let (Ok(major), Ok(minor)) = (major.parse::<u32>(), minor.parse::<u32>()) else {
        return false;
    };
    let Some((interpreter, abi)) = tag.split_once('-') else {
        return false;
    };
    if let Some(digits) = interpreter.strip_prefix("py") {
        return abi == "none"
            && match numbers(digits) {
                Some((of, None)) => of == major,
                Some((of, Some(from))) => of == major && from <= minor,
                None => false,
            };
    }
    let Some((of, Some(built))) = interpreter.strip_prefix("cp").and_then(numbers) else {
        return false;
    };
    if of != major {
        return false;
    }
    match abi {
        // the stable ABI goes on in newer versions, and free-threaded builds do not have it
        "abi3" => !threaded && built <= minor,
        "none" => built == minor,
        abi => {
            let flags = abi.strip_prefix(interpreter);
            built == minor
                && flags.is_some_and(|flags| {
                    // `m` and `mu` up to 3.7
                    (threaded && flags == "t") || (!threaded && matches!(flags, "" | "m" | "mu"))
                })
        }
    }
}

/// `3` is 3 alone, `38` is 3.8, `312` is 3.12.
fn numbers(digits: &str) -> Option<(u32, Option<u32>)> {
    let (major, minor) = digits.split_at_checked(1)?;
    let major = major.parse().ok()?;
    match minor {
        "" => Some((major, None)),
        minor => Some((major, Some(minor.parse().ok()?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: platform compatibility tags of the packaging guide, "Use" and "Compatible tags";
    // PEP 384; PEP 703 (free-threaded builds have no stable ABI)
    #[test]
    fn a_python_accepts_its_own_tags_and_older_generic_ones() {
        for (python, tag, expected) in [
            ("3.12", "cp312-cp312", true),
            ("3.12", "cp311-cp311", false),
            ("3.12", "cp313-cp313", false),
            ("3.12", "cp312-cp312t", false),
            ("3.14t", "cp314-cp314t", true),
            ("3.14t", "cp314-cp314", false),
            ("3.14t", "cp38-abi3", false),
            ("3.12", "cp38-abi3", true),
            ("3.12", "cp312-abi3", true),
            ("3.12", "cp313-abi3", false),
            ("3.12", "py3-none", true),
            ("3.14t", "py3-none", true),
            ("3.12", "py2-none", false),
            ("3.12", "py38-none", true),
            ("3.12", "py313-none", false),
            ("3.12", "cp312-none", true),
            ("3.12", "cp311-none", false),
            ("3.7", "cp37-cp37m", true),
            ("3.10", "cp310-cp310", true),
            ("3.1", "cp310-cp310", false),
            ("3.12", "pp310-pypy310_pp73", false),
            ("3.12", "cp312", false),
            ("3.12", "", false),
            ("3.12", "cpé-none", false),
        ] {
            assert_eq!(accepts(python, tag), expected, "{python} and {tag}");
        }
    }
}
