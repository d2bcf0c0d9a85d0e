//! Single values of a policy, from their text: drivers, platforms, levels, versions. GPUs are in `gpu`.
//!
//! The policy file and the command line read the same values, so nothing here knows where a text
//! came from.

use super::diag::{Fault, quote};
use super::target::Tegra;
use crate::cuda::DriverSpec;
use crate::platform::Platform;
use crate::rule::{Code, Level};

/// A driver version or branch. Numbers that no table knows are fine: fleets run builds that nobody
/// lists.
pub(super) fn driver(text: &str) -> Result<DriverSpec, Fault> {
    let fault = || Fault::new(format!("{} is not a driver", quote(text)));
    let spec: DriverSpec = text.parse().map_err(|_error| {
        fault().hint("write a version such as `550.54.15` or a branch such as `R550`")
    })?;
    let number = match &spec {
        DriverSpec::Branch(branch) => branch.0,
        DriverSpec::Exact(version) => version.major(),
    };
    if DRIVER_NUMBERS.contains(&number) {
        return Ok(spec);
    }
    Err(match of_device_manager(text) {
        Some(version) => fault().hint(format!(
            "that is how Windows counts: `nvidia-smi` shows the driver as `{version}`"
        )),
        None if number < DRIVER_NUMBERS.start => fault().hint(
            "is it a CUDA version? `nvidia-smi` shows the driver beside it, such as `550.54.15`",
        ),
        None => fault().hint("branches have three digits, such as `R550`"),
    })
}

/// The first numbers that drivers have had since CUDA came.
const DRIVER_NUMBERS: std::ops::Range<u32> = 100..1000;

/// The driver version in what the Device Manager of Windows shows: the last five digits of `32.0.15.6094` are
/// 560.94.
fn of_device_manager(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let [_, _, third, fourth] = parts.as_slice() else {
        return None;
    };
    let digits = format!("{third}{fourth:0>4}");
    let (major, minor) = digits
        .get(digits.len().checked_sub(5)?..)?
        .split_at_checked(3)?;
    let is_driver = major
        .parse()
        .is_ok_and(|major| DRIVER_NUMBERS.contains(&major));
    is_driver.then(|| format!("{major}.{minor}"))
}

/// A platform that a target may have.
pub(super) fn platform(text: &str) -> Result<Platform, Fault> {
    text.parse().map_err(|_error| {
        let fault = Fault::new(format!("{} is not a platform of a target", quote(text)));
        let names = Platform::TARGETS.map(|platform| platform.to_string());
        // another CPU is no wrong spelling
        let one_typo = |name: &&String| {
            text.len() <= name.len() + 1 && strsim::damerau_levenshtein(text, name) == 1
        };
        match names.iter().find(one_typo) {
            Some(name) => fault.hint(format!("did you mean `{name}`?")),
            None => fault.hint(format!(
                "write {}",
                either(names.iter().map(|name| format!("`{name}`")))
            )),
        }
    })
}

/// A level that `code` may have.
pub(super) fn level(code: Code, text: &str) -> Result<Level, Fault> {
    let choices = Level::choices(code);
    choices
        .iter()
        .copied()
        .find(|level| level.id() == text)
        .ok_or_else(|| {
            Fault::new(format!("{} is not a level of `{code}`", quote(text)))
                .hint(one_of(text, choices.iter().map(|level| level.id())))
        })
}

/// A rule code.
pub(super) fn code(text: &str) -> Result<Code, Fault> {
    text.parse().map_err(|_error| {
        let fault = Fault::new(format!("{} is not a rule code", quote(text)));
        match nearest(text, Code::ALL.iter().map(|code| code.id())) {
            Some(code) => fault.hint(format!("did you mean `{code}`?")),
            None => fault.hint("`smgate explain` lists the codes"),
        }
    })
}

/// A share of a whole, 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, Fault> {
    let number = text
        .strip_suffix('%')
        .unwrap_or(text)
        .parse::<f64>()
        .ok()
        .filter(|_| {
            text.bytes()
                .all(|b| b.is_ascii_digit() || b == b'.' || b == b'%')
        });
    match number {
        Some(share) if (0.0..=1.0).contains(&share) && !text.ends_with('%') => Ok(share),
        Some(percent) if percent <= 100.0 => {
            Err(
                Fault::new(format!("{} is not a share between 0 and 1", quote(text))).hint(
                    format!("for {percent} percent, write `{}`", percent / 100.0),
                ),
            )
        }
        _ => Err(
            Fault::new(format!("{} is not a share between 0 and 1", quote(text)))
                .hint("write a number such as `0.5`, which is half"),
        ),
    }
}

/// How code for other chips counts on Tegra.
pub(super) fn tegra(text: &str) -> Result<Tegra, Fault> {
    let found = Tegra::ALL.into_iter().find(|tegra| tegra.id() == text);
    found.ok_or_else(|| {
        Fault::new(format!("{} is not a way to take Tegra GPUs", quote(text)))
            .hint(one_of(text, Tegra::ALL.map(Tegra::id)))
    })
}

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Result<bool, Fault> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(
            Fault::new(format!("{} is neither `true` nor `false`", quote(text)))
                .hint(one_of(text, ["true", "false"])),
        ),
    }
}

/// A Python version of two parts, `3.12`, or `3.14t` for a free-threaded build.
pub(super) fn python(text: &str) -> Result<String, Fault> {
    two_numbers(
        text.strip_suffix('t').unwrap_or(text),
        "Python version",
        "3.12",
    )
    .map(|()| text.to_owned())
}

/// The address of a package index. A policy is read by many: it holds no login.
pub(super) fn index(text: &str) -> Result<String, Fault> {
    let host = ["https://", "http://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    let authority = host.and_then(|host| host.split(['/', '?', '#']).next());
    match authority {
        Some(authority) if authority.contains('@') => Err(Fault::new(
            "an index of a policy has no login in its address",
        )
        .hint("keep it in `.netrc`, `UV_INDEX_NAME_PASSWORD` or `keyring`")),
        Some(authority) if !authority.is_empty() && !text.contains(char::is_whitespace) => {
            Ok(text.to_owned())
        }
        _ => Err(
            Fault::new(format!("{} is not the address of an index", quote(text)))
                .hint("write it as `https://HOST/PATH/simple`"),
        ),
    }
}

/// A glibc version of two parts, `2.28`.
pub(super) fn glibc(text: &str) -> Result<String, Fault> {
    two_numbers(text, "glibc version", "2.28").map(|()| text.to_owned())
}

fn two_numbers(text: &str, what: &str, example: &str) -> Result<(), Fault> {
    let number =
        |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((major, minor)) if number(major) && number(minor) => Ok(()),
        _ => Err(Fault::new(format!("{} is not a {what}", quote(text)))
            .hint(format!("write major and minor, such as `{example}`"))),
    }
}

/// The name of a target: what reports and waivers call it.
pub(super) fn name(text: &str) -> Result<String, Fault> {
    if text.trim() != text
        || text.is_empty()
        || text.chars().count() > 80
        || text.chars().any(char::is_control)
    {
        return Err(
            Fault::new(format!("{} cannot be the name of a target", quote(text)))
                .hint("write up to 80 characters on one line, such as `prod-h100`"),
        );
    }
    Ok(text.to_owned())
}

/// The candidate that `text` was probably meant to be.
pub(super) fn nearest<'c>(
    text: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // Comparing is quadratic in the length, and no candidate is long.
    if text.len() > 64 {
        return None;
    }
    let spelled = text.trim().to_lowercase().replace(['_', ' '], "-");
    let allowed = (spelled.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&spelled, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Which of a few words to write: the one that `text` was probably meant to be, else all of them.
fn one_of<'c>(text: &str, words: impl IntoIterator<Item = &'c str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match nearest(text, words.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!(
            "write {}",
            either(words.iter().map(|word| format!("`{word}`")))
        ),
    }
}

/// `a, b and c`.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    joined(items, "and")
}

/// `a, b or c`.
pub(super) fn either(items: impl IntoIterator<Item = String>) -> String {
    joined(items, "or")
}

fn joined(items: impl IntoIterator<Item = String>, word: &str) -> String {
    let mut items: Vec<String> = items.into_iter().collect();
    match items.pop() {
        None => String::new(),
        Some(last) if items.is_empty() => last,
        Some(last) => format!("{} {word} {last}", items.join(", ")),
    }
}

#[cfg(test)]
mod tests;
