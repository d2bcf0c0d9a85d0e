//! Whether a wheel is for the C library of a target, by its platform tags.
//!
//! Format: PEP 600 (`manylinux_2_28`: glibc 2.28 or newer; `manylinux1`, `2010` and `2014` are 2.5, 2.12 and 2.17),
//! PEP 656 (`musllinux`: musl, which no glibc system has). `linux_x86_64` and `any` claim nothing.

use crate::inventory::Artifact;
use crate::platform::{CpuArch, Os};
use crate::policy::FleetTarget;
use crate::rule::Code;

use super::artifact::{PlatformMismatch, cpu};
use super::finding::Finding;

/// Tags that a finding names.
const NAMED: usize = 8;

/// Major and minor number of a glibc.
type Version = (u32, u32);

/// What a platform tag claims of the C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Glibc(Version),
    Musl,
}

/// The wheel needs a newer glibc than the target's, or musl.
pub(super) fn mismatch(artifact: &Artifact, target: &FleetTarget) -> Option<PlatformMismatch> {
    let wanted = target.glibc.as_deref()?;
    let has = version(wanted, '.')?;
    if target
        .platform
        .is_some_and(|platform| platform.os != Os::Linux)
    {
        return None;
    }
    let arch = target.platform.map(|platform| platform.arch);
    let mut claims: Vec<(Claim, &str)> = Vec::new();
    for tag in &artifact.platform_tags {
        match claim(tag) {
            // of another CPU: not the file's claim here
            Some((_, of)) if arch.is_some() && of != arch => {}
            Some((Claim::Glibc(needs), _)) if needs <= has => return None,
            Some((claim, _)) => claims.push((claim, tag)),
            // one tag that claims nothing of a C library is enough
            None => return None,
        }
    }
    // the least that is asked for
    claims.sort_unstable();
    let (least, _) = claims.first()?;
    let (built_for, instead) = match least {
        Claim::Glibc((major, minor)) => {
            let needs = format!("glibc {major}.{minor}");
            let instead = format!(", or a system with {needs} or newer");
            (format!("{needs} or newer"), instead)
        }
        Claim::Musl => ("musl".to_owned(), String::new()),
    };
    let (major, minor) = has;
    let message = format!("built for another C library than glibc {wanted}: {built_for}");
    let next_step = format!("choose a file for `manylinux_{major}_{minor}` or older{instead}");
    let mut names: Vec<&str> = claims.iter().take(NAMED).map(|(_, tag)| *tag).collect();
    if claims.len() > NAMED {
        names.push("…");
    }
    let finding = Finding::new(Code::PlatformMismatch, message, next_step)
        .evidence(format!("its tags name {}", names.join(", ")));
    Some(PlatformMismatch { built_for, finding })
}

/// What a tag claims, and for which CPU; nothing where it claims nothing of a C library.
fn claim(tag: &str) -> Option<(Claim, Option<CpuArch>)> {
    let legacy = [
        ("manylinux1_", (2, 5)),
        ("manylinux2010_", (2, 12)),
        ("manylinux2014_", (2, 17)),
    ];
    for (prefix, needs) in legacy {
        if let Some(arch) = tag.strip_prefix(prefix) {
            return Some((Claim::Glibc(needs), cpu(arch)));
        }
    }
    let numbered = |prefix: &str| {
        let mut parts = tag.strip_prefix(prefix)?.splitn(3, '_');
        let needs = (number(parts.next()?)?, number(parts.next()?)?);
        Some((needs, cpu(parts.next()?)))
    };
    if let Some((needs, arch)) = numbered("manylinux_") {
        return Some((Claim::Glibc(needs), arch));
    }
    numbered("musllinux_").map(|(_, arch)| (Claim::Musl, arch))
}

/// A number of a tag. One that is larger than any can be is still a claim: that of the largest.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

fn version(text: &str, between: char) -> Option<Version> {
    let (major, minor) = text.split_once(between)?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: PEP 600 (its table of legacy tags), PEP 656
    #[test]
    fn tags_claim_what_their_peps_say() {
        let amd64 = Some(CpuArch::Amd64);
        for (tag, expected) in [
            (
                "manylinux_2_28_x86_64",
                Some((Claim::Glibc((2, 28)), amd64)),
            ),
            ("manylinux_2_5_x86_64", Some((Claim::Glibc((2, 5)), amd64))),
            (
                "manylinux_2_999999999999_x86_64",
                Some((Claim::Glibc((2, u32::MAX)), amd64)),
            ),
            ("manylinux1_x86_64", Some((Claim::Glibc((2, 5)), amd64))),
            ("manylinux2010_x86_64", Some((Claim::Glibc((2, 12)), amd64))),
            (
                "manylinux2014_aarch64",
                Some((Claim::Glibc((2, 17)), Some(CpuArch::Arm64))),
            ),
            (
                "manylinux_2_39_riscv64",
                Some((Claim::Glibc((2, 39)), None)),
            ),
            ("musllinux_1_2_x86_64", Some((Claim::Musl, amd64))),
            ("linux_x86_64", None),
            ("any", None),
            ("win_amd64", None),
            ("manylinux_2_x86_64", None),
            ("manylinux_", None),
            (
                "manylinux_99999999999_1_x86_64",
                Some((Claim::Glibc((u32::MAX, 1)), amd64)),
            ),
        ] {
            assert_eq!(claim(tag), expected, "{tag}");
        }
    }
}
