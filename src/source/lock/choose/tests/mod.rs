//! Tests of what is chosen.

mod candidates;
mod conditions;
mod markers;
mod walk;
mod wheels;

use super::{Chosen, choose};
use crate::Locator;
use crate::platform::{CpuArch, Os, Platform};
use crate::source::lock::{Environment, Libc, Lock, LockKind};

/// `linux/arm64 glibc 2.28`
fn environment(machine: &str) -> Environment {
    let (platform, libc) = machine.split_once(' ').unwrap_or((machine, ""));
    let (os, arch) = platform.split_once('/').unwrap();
    let os = [Os::Linux, Os::Windows, Os::MacOs]
        .into_iter()
        .find(|known| known.id() == os)
        .unwrap();
    let arch = [
        CpuArch::Amd64,
        CpuArch::Arm64,
        CpuArch::I386,
        CpuArch::Ppc64le,
    ]
    .into_iter()
    .find(|known| known.id() == arch)
    .unwrap();
    let mut environment = Environment::new(Platform::new(os, arch));
    if let Some((kind, version)) = libc.split_once(' ') {
        let (major, minor) = version.split_once('.').unwrap();
        let version = Some((major.parse().unwrap(), minor.parse().unwrap()));
        environment.libc = match kind {
            "glibc" => Libc::Glibc(version),
            _ => Libc::Musl(version),
        };
    }
    environment
}

/// `linux/amd64` with glibc 2.28 and Python 3.12.
fn linux() -> Environment {
    let mut environment = environment("linux/amd64 glibc 2.28");
    environment.python = Some("3.12".parse().unwrap());
    environment
}

fn lock(kind: LockKind) -> Lock {
    Lock::new(Locator::root(0, "lock"), kind)
}

/// One line for each pick: `2 torch 2.9.1 wheel FILE`.
fn shown(chosen: &Chosen) -> Vec<String> {
    let picks = chosen.picks.iter().map(|pick| {
        let version = pick.version.as_deref().unwrap_or("-");
        let file = pick.file.as_ref().map_or("-", |file| &file.name);
        format!(
            "{} {} {version} {} {file}",
            pick.line,
            pick.name,
            pick.status.id()
        )
    });
    picks.collect()
}

/// The names and versions that are picked, and the problems.
fn picked(lock: &Lock, environment: &Environment) -> (Vec<String>, Vec<String>) {
    let chosen = choose(lock, environment);
    let names = chosen.picks.iter().map(|pick| {
        let version = pick.version.as_deref().unwrap_or("-");
        format!("{} {version}", pick.name)
    });
    let problems = chosen.problems.iter().map(|problem| problem.detail.clone());
    (names.collect(), problems.collect())
}
