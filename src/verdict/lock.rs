//! What only lock files have: packages without a file, without a version, or not built yet.

use crate::inventory::{
    Content, Environment, Libc, LockFacts, LockedByName, LockedPackage, NotRead, PickStatus,
};
use crate::platform::{CpuArch, Os, Platform};
use crate::policy::FleetTarget;
use crate::rule::Code;

use super::finding::{Finding, PackageName};

/// Where a target's packages are installed. A target without a platform is a Linux machine on x86-64.
///
/// What a target does not say stays open: any glibc, and the Python that the lock file asks for.
pub fn environment(target: &FleetTarget) -> Environment {
    const USUAL: Platform = Platform::new(Os::Linux, CpuArch::Amd64);
    let mut environment = Environment::new(target.platform.unwrap_or(USUAL));
    environment.python = target.python.as_deref().and_then(|text| text.parse().ok());
    if environment.platform.os == Os::Linux {
        environment.libc = Libc::Glibc(target.glibc.as_deref().and_then(version));
    }
    environment
}

fn version(text: &str) -> Option<(u16, u16)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether what `lock` puts on a machine is what `target` gets.
pub(super) fn serves(lock: &LockFacts, target: &FleetTarget) -> bool {
    let wanted = environment(target);
    let has = &lock.environment;
    (has.platform, has.python, has.libc) == (wanted.platform, wanted.python, wanted.libc)
}

/// What is found of each package of the lock file by what the file says, without reading any package. That there is no
/// file is found for each of `targets`, which are those that `lock` serves.
pub(super) fn findings(
    lock: &LockFacts,
    targets: &[&FleetTarget],
) -> Vec<(Finding, Option<PackageName>)> {
    let of_packages = lock.packages.iter().filter_map(|package| {
        let finding = of_package(package, lock)?;
        Some((finding, Some(name_of(package))))
    });
    let unlocked = lock.unlocked.iter().map(|unlocked| {
        let message = "a requirement without an exact version: what is installed is decided at install";
        let next_step = "lock it (`uv lock`, `uv pip compile`, `poetry lock`, `conda-lock`, `pixi lock`) and check the lock file";
        let mut finding = Finding::new(Code::NotLocked, message, next_step);
        finding.line = Some(unlocked.line);
        (finding.evidence(format!("`{}`", unlocked.text)), None)
    });
    let for_others = lock.is_for_others.then(|| {
        let message = "the lock file has packages, and none of them for this target";
        let next_step = "lock for the target's platform too, or correct the target's `platform`";
        let finding = Finding::new(Code::NoFileForTarget, message, next_step);
        (
            finding.evidence(format!("looked for {}", lock.title())),
            None,
        )
    });
    of_packages
        .chain(unlocked)
        .chain(for_others)
        .flat_map(|(finding, package)| {
            let found = for_each(finding, targets).into_iter();
            found.map(move |finding| (finding, package.clone()))
        })
        .collect()
}

/// A finding about targets, for each of them.
fn for_each(finding: Finding, targets: &[&FleetTarget]) -> Vec<Finding> {
    if finding.code != Code::NoFileForTarget || targets.is_empty() {
        return vec![finding];
    }
    let on = targets.iter().map(|target| Finding {
        target: Some(target.name.clone()),
        ..finding.clone()
    });
    on.collect()
}

fn of_package(package: &LockedPackage, lock: &LockFacts) -> Option<Finding> {
    let finding = match package.status {
        PickStatus::NoFile => {
            let message = "the lock file has no file of it that installs on this target";
            let next_step = "choose a version that has a file for the target, or give the requirement a marker if it is not needed there";
            Finding::new(Code::NoFileForTarget, message, next_step)
                .evidence(format!("looked for {}", lock.title()))
        }
        _ if is_built(package) => {
            let message = "no wheel fits: it is built at install, and what GPUs its code runs on is decided there";
            let next_step = "build its wheel for your targets (`TORCH_CUDA_ARCH_LIST` or `CMAKE_CUDA_ARCHITECTURES` set), and check and install that";
            Finding::new(Code::BuiltAtInstall, message, next_step).evidence(built_from(package))
        }
        PickStatus::AskIndex if package.content == Content::NotRead(NotRead::Offline) => {
            let message = "only an index says which file is installed, and none was asked";
            let next_step = "run it without `--offline` once, or use a lock file that names files (`uv lock`, `pylock.toml`)";
            Finding::new(Code::Unreadable, message, next_step)
                .evidence("not seen: the package".to_owned())
        }
        _ if package.content == Content::NotRead(NotRead::Offline) => {
            let message = "its file was not read: nothing may be asked of a server, and no earlier run kept what is in it";
            let next_step =
                "run it without `--offline` once: what is in a file is kept by its hash";
            let name = package.file.as_ref().map(|file| file.name.as_str());
            Finding::new(Code::Unreadable, message, next_step)
                .evidence(format!("not seen: {}", name.unwrap_or("the file")))
        }
        _ => return None,
    };
    Some(finding)
}

/// Whether an installer builds it.
fn is_built(package: &LockedPackage) -> bool {
    let file = package.file.as_ref();
    match package.status {
        PickStatus::Sdist | PickStatus::Vcs | PickStatus::Directory => true,
        PickStatus::Url | PickStatus::File => file.is_some_and(|file| {
            let end = file.name.rsplit('.').next().unwrap_or_default();
            !["whl", "conda"]
                .iter()
                .any(|built| end.eq_ignore_ascii_case(built))
        }),
        _ => false,
    }
}

fn built_from(package: &LockedPackage) -> String {
    let name = package.file.as_ref().map(|file| file.name.as_str());
    match (package.status, name) {
        (PickStatus::Vcs, _) => "from a repository of source code".to_owned(),
        (PickStatus::Directory, _) => "from a directory".to_owned(),
        (_, Some(name)) => format!("from `{name}`"),
        (_, None) => "from a source distribution".to_owned(),
    }
}

/// The line of the lock file that a package stands in.
pub(super) fn line(
    locked: Option<&LockedByName<'_>>,
    package: Option<&PackageName>,
) -> Option<u32> {
    let package = package?;
    let found = locked?.get(&package.name, package.version.as_deref())?;
    Some(found.line)
}

fn name_of(package: &LockedPackage) -> PackageName {
    PackageName {
        name: package.name.clone(),
        version: package.version.clone(),
    }
}
