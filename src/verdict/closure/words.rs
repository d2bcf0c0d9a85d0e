//! The sentences of what is missing and of what is mixed.

use std::collections::BTreeSet;

use crate::inventory::{ArtifactKind, Library, Provided};
use crate::rule::{Code, Level};
use crate::tables::SonameRow;

use super::super::finding::{Finding, PackageName};
use super::mixed::{Majors, Need};
use super::place::{file_name, rpath};
use super::{Closure, Grade, Lack};

/// Lines of one kind in the evidence.
const LINES_MAX: usize = 6;

/// What nothing provides, where something depends on it.
pub(super) fn missing(closure: &Closure<'_>, lack: &Lack<'_>) -> Finding {
    let names = list(lack.names.iter().copied());
    let where_to = whereabouts(closure);
    let message = format!("needs {names}, which nothing in the {where_to} provides");
    let others = others(closure, lack);
    let package = closure.package(lack.package);
    let other_build = match (&package, others.first()) {
        (Some(package), Some((_, Some(cuda)))) => {
            let what = &package.name;
            format!(", or a build of `{what}` for CUDA {cuda}, which is there")
        }
        _ => String::new(),
    };
    let kind = closure.artifact.kind;
    let outside = match kind {
        ArtifactKind::Directory | ArtifactKind::LockFile => {
            "; where machines have it outside of the environment, accept this with a waiver"
        }
        _ => "",
    };
    let sources = sources(closure, lack);
    let next_step = format!("install {sources}{other_build}{outside}");
    let mut finding = Finding::new(Code::RuntimeLibraryMissing, message, next_step);
    finding.package = package;
    if lack.grade == Grade::Part {
        finding.level = Level::Warn;
        finding = finding.evidence("other libraries hold most of the package's device code");
    }
    if kind == ArtifactKind::LockFile && others.is_empty() {
        // of another version, what is needed could come from the machine: images of CUDA have it
        finding.level = Level::Warn;
        finding = finding.evidence("no version of it is locked: the machine may bring it");
    }
    if let Some(first) = lack.libraries.first() {
        finding = finding.library(&first.path);
    }
    for library in lack.libraries.iter().take(LINES_MAX) {
        let needs = closure
            .lacking(library)
            .filter(|name| lack.names.contains(name));
        finding = finding.evidence(format!("`{}` needs {}", library.path, list(needs)));
    }
    if lack.libraries.len() > LINES_MAX {
        let more = lack.libraries.len() - LINES_MAX;
        finding = finding.evidence(format!("{more} more libraries of the package need it"));
    }
    let first = lack.libraries.first();
    for user in first.into_iter().flat_map(|first| users(closure, first)) {
        finding = finding.evidence(user);
    }
    for (other, cuda) in others.iter().take(LINES_MAX) {
        let of = cuda.map_or_else(String::new, |cuda| format!(", of CUDA {cuda}"));
        finding = finding.evidence(format!("`{}` is there{of}", other.path));
    }
    let count = closure.artifact.provided.as_ref().map_or(0, Vec::len);
    let looked = match count {
        0 => format!("no library of NVIDIA's is in the {where_to}"),
        1 => format!("looked for by name, and one library of NVIDIA's is in the {where_to}"),
        _ => format!("looked for by name among {count} libraries of NVIDIA's in the {where_to}"),
    };
    let told = first.map(|library| rpath(library)).unwrap_or_default();
    if told.is_empty() {
        return finding.evidence(looked);
    }
    let (told, more) = some(told.iter().map(String::as_str), LINES_MAX);
    finding.evidence(format!("{looked}; its RPATH leads to {told}{more}"))
}

/// What nothing provides, where it is not known whether anything loads what needs it.
pub(super) fn on_demand(closure: &Closure<'_>, lack: &Lack<'_>) -> String {
    let who = lack.libraries.iter();
    let (who, more) = some(who.map(|library| file_name(&library.path)), 2);
    let names = list(lack.names.iter().copied());
    let place = whereabouts(closure);
    format!("{who}{more}, loaded on demand, cannot be: nothing in the {place} provides {names}")
}

/// Who needs a library of NVIDIA's.
fn users(closure: &Closure<'_>, vendor: &Library) -> Vec<String> {
    if vendor.component.is_none() {
        return Vec::new();
    }
    let is_it = |index: usize| {
        let library = closure.libraries.get(index);
        library.is_some_and(|library| std::ptr::eq(*library, vendor))
    };
    let all = closure.libraries.iter();
    let users = all.filter(|one| one.component.is_none() && closure.needed(one).any(is_it));
    let name = file_name(&vendor.path);
    let lines = users.map(|user| format!("`{}` needs `{name}`", user.path));
    lines.take(2).collect()
}

/// What brings all that is missing.
fn sources(closure: &Closure<'_>, lack: &Lack<'_>) -> String {
    let mut known = BTreeSet::new();
    let mut unknown = Vec::new();
    for name in &lack.names {
        match closure.source(name, lack.package) {
            Some(source) => _ = known.insert(source),
            None => unknown.push(*name),
        }
    }
    let unknown = (!unknown.is_empty()).then(|| format!("what brings {}", list(unknown)));
    let known = (!known.is_empty()).then(|| list(known.iter().map(String::as_str)));
    let both: Vec<String> = known.into_iter().chain(unknown).collect();
    both.join(", and ")
}

/// A package that needs CUDA `major`, where most need `leading`.
pub(super) fn mixed(
    closure: &Closure<'_>,
    package: usize,
    need: &Need<'_>,
    (major, leading): (u32, u32),
    majors: &Majors<'_>,
) -> Finding {
    let named = |index: usize| {
        let PackageName { name, version } = closure.package(Some(index))?;
        Some(match version {
            Some(version) => format!("`{name}` {version}"),
            None => format!("`{name}`"),
        })
    };
    let of_major = |major: u32| majors.get(&major).into_iter().flatten();
    let others = of_major(leading).filter_map(|(index, _)| named(*index));
    let others: Vec<String> = others.collect();
    let message = format!(
        "needs libraries of CUDA {major}, where {} beside it {} those of CUDA {leading}",
        joined(others.get(..LINES_MAX).unwrap_or(&others)),
        if others.len() == 1 { "needs" } else { "need" },
    );
    let next_step = format!(
        "install a build of it for CUDA {leading}, or builds of all of them for one major version of CUDA; where they \
         are never used in one process, accept this with a waiver"
    );
    let mut finding = Finding::new(Code::MixedCudaMajors, message, next_step);
    finding.package = closure.package(Some(package));
    if let Some(library) = need.library {
        finding = finding.library(&library.path);
        finding = finding.evidence(line(library.path.as_str(), need));
    }
    let of_leading = of_major(leading).filter_map(|(index, need)| {
        let library = need.library?;
        Some(format!("{}: {}", named(*index)?, line(&library.path, need)))
    });
    of_leading.take(LINES_MAX).fold(finding, Finding::evidence)
}

fn line(path: &str, need: &Need<'_>) -> String {
    format!("`{path}` needs {}", list(need.names.iter().copied()))
}

/// Libraries of the same kind that are there under another number, each with its version of CUDA.
fn others<'a>(closure: &Closure<'a>, lack: &Lack<'_>) -> Vec<(&'a Provided, Option<u32>)> {
    let stems: BTreeSet<&str> = lack.names.iter().map(|name| stem(name)).collect();
    let all = closure.artifact.provided.iter().flatten();
    let same = all.filter_map(|provided| {
        let name = provided.soname.as_deref().unwrap_or(provided.file_name());
        let same = stems.contains(stem(name)) && !lack.names.contains(name);
        let row = same.then(|| closure.tables.soname(name))?;
        Some((provided, row.and_then(SonameRow::only_cuda)))
    });
    same.collect()
}

/// A name without its number: `libcudart`, `cudart64`.
fn stem(name: &str) -> &str {
    let unix = name.split_once(".so").map(|(stem, _)| stem);
    let windows = || name.rsplit_once('_').map(|(stem, _)| stem);
    unix.or_else(windows).unwrap_or(name)
}

fn whereabouts(closure: &Closure<'_>) -> &'static str {
    match closure.artifact.kind {
        ArtifactKind::Image => "image",
        ArtifactKind::LockFile => "lock file",
        _ => "environment",
    }
}

/// The first `most` of some names, and how many more there are.
fn some<'n>(names: impl ExactSizeIterator<Item = &'n str>, most: usize) -> (String, String) {
    let more = names.len().saturating_sub(most);
    let more = (more > 0).then(|| format!(" and {more} more"));
    (list(names.take(most)), more.unwrap_or_default())
}

/// `a`, `b` and `c`.
fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    joined(&names)
}

fn joined(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
