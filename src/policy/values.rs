//! Single values of a policy, from their text: GPUs, capabilities, drivers, platforms, levels.
//!
//! The policy file and the command line read the same values, so nothing here knows where a text
//! came from.

use super::diag::{Fault, quote};
use super::target::TargetGpu;
use crate::cuda::{ComputeCapability, DriverSpec, SmTarget};
use crate::platform::Platform;
use crate::rule::{Code, Level};
use crate::tables::{GpuLookup, Tables};

const SHOW_CAPABILITY: &str =
    "`nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has";

/// A GPU by its name.
pub(super) fn gpu(text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
    let unknown = || Fault::new(format!("no GPU is known by the name {}", quote(text)));
    if text.len() > 100 {
        return Err(unknown());
    }
    match tables.gpu(text) {
        GpuLookup::Found(row) => one_capability(text, &row.name, &row.cc),
        GpuLookup::Ambiguous { name, capabilities } => one_capability(text, &name, &capabilities),
        GpuLookup::Unknown { nearest } => Err(unknown().hint(gpu_hint(text, &nearest))),
    }
}

fn one_capability(
    text: &str,
    name: &str,
    capabilities: &[ComputeCapability],
) -> Result<TargetGpu, Fault> {
    let first = match capabilities {
        [cc] => {
            return Ok(TargetGpu {
                name: name.to_owned(),
                cc: *cc,
            });
        }
        [first, ..] => first,
        [] => {
            return Err(Fault::new(format!(
                "the compute capability of {} is not known",
                quote(text)
            ))
            .hint("give it instead of the name, such as `cc: 9.0`"));
        }
    };
    let all = list(capabilities.iter().map(ToString::to_string));
    Err(Fault::new(format!(
        "{} is the name of GPUs with different compute capabilities: {all}",
        quote(text)
    ))
    .hint(format!(
        "say which one, such as `cc: {first}`; {SHOW_CAPABILITY}"
    )))
}

fn gpu_hint(text: &str, nearest: &[String]) -> String {
    if let Ok(cc) = text.parse::<ComputeCapability>() {
        return format!("a compute capability goes into `cc`: `cc: {cc}`");
    }
    if text.starts_with("sm_") || text.starts_with("compute_") {
        let cc = spelled_otherwise(text).map_or_else(|| "9.0".to_owned(), |cc| cc.to_string());
        return format!("that is what code is built for; say what the GPU has: `{cc}`");
    }
    if text.parse::<u16>().is_ok()
        && let Some(cc) = spelled_otherwise(text)
    {
        return format!("did you mean the compute capability `{cc}`?");
    }
    if text == "host" || text.contains(':') {
        return "PCI ids, cloud instances and `host` are not supported yet: name the GPU, or give `cc`".to_owned();
    }
    if nearest.is_empty() {
        format!("give its compute capability, such as `cc: 9.0`; {SHOW_CAPABILITY}")
    } else {
        let names = nearest.iter().map(|name| format!("`{name}`"));
        format!("did you mean {}?", either(names))
    }
}

/// A compute capability that some GPU has.
pub(super) fn capability(text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
    let cc = text.parse::<ComputeCapability>().map_err(|_error| {
        let fault = Fault::new(format!("{} is not a compute capability", quote(text)));
        match spelled_otherwise(text) {
            Some(cc) => fault.hint(format!(
                "did you mean `{cc}`? A compute capability is what a GPU has"
            )),
            None => fault.hint("write it with a dot, such as `9.0`; a GPU's name goes into `gpu`"),
        }
    })?;
    let Some(row) = tables.capability(cc) else {
        let message = format!("no GPU is known with compute capability `{cc}`");
        return Err(Fault::new(message).hint(SHOW_CAPABILITY));
    };
    if let Some(renamed) = row.renamed_to {
        let message = format!("compute capability `{cc}` has another number today");
        return Err(Fault::new(message).hint(format!("write `cc: {renamed}`")));
    }
    Ok(TargetGpu {
        name: format!("compute capability {cc}"),
        cc,
    })
}

/// `90`, `sm_90` and `compute_90a` for 9.0; a number below 20 is the major version alone.
fn spelled_otherwise(text: &str) -> Option<ComputeCapability> {
    match text.parse::<u16>() {
        Ok(0..20) => format!("{text}.0").parse().ok(),
        _ => text.parse::<SmTarget>().ok().map(|target| target.cc),
    }
}

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
        let names = Platform::TARGETS
            .iter()
            .map(|platform| format!("`{platform}`"));
        Fault::new(format!("{} is not a platform of a target", quote(text)))
            .hint(format!("write {}", either(names)))
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
            let names = choices.iter().map(|level| format!("`{level}`"));
            Fault::new(format!("{} is not a level of `{code}`", quote(text)))
                .hint(format!("write {}", either(names)))
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

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Result<bool, Fault> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Fault::new(format!(
            "{} is neither `true` nor `false`",
            quote(text)
        ))),
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
