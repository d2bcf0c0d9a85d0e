//! Whether what the libraries of an environment or an image need of NVIDIA's libraries is in it, and of one CUDA.
//!
//! A process shares the libraries that it has loaded by their names (`DT_SONAME`), whoever loaded them: PyTorch loads
//! those of `nvidia/*/lib` before its extensions need them, and `CuPy` looks for them itself. So a name counts as
//! provided where any file of the closure has it; where a loader would look is evidence, and decides nothing. The
//! driver's own libraries come from the host, and libraries that no table knows are not judged.
//!
//! A library that is only loaded on demand may lack what it needs and nobody notices (`TensorRT` beside onnxruntime,
//! cuTENSOR beside `CuPy`), so that it matters what lacks something:
//!
//! - what carries the device code of its package, and what that needs in turn, fails;
//! - another library with device code is a warning;
//! - the extension modules of a package without device code fail together, and not one by one;
//! - of the rest a remark is made.

mod mixed;
mod place;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::device::HostFormat;
use crate::inventory::{Artifact, ArtifactKind, Library, Package, Provided};
use crate::problem::{Extent, ProblemKind};
use crate::tables::{Tables, library_key as key};

use super::finding::{Finding, PackageName};
use super::siblings;
use super::units::own_fatbins;
use place::{file_name, is_in_site, is_loaded_by_name};

/// Of the fatbins of a package, the part from which on a library carries it: one of four.
const SHARE: u64 = 4;

/// What an artifact lacks, and what in it is of several CUDA versions.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) findings: Vec<Finding>,
    /// Remarks by package, an index into [`Artifact::packages`].
    pub(super) notes: BTreeMap<Option<usize>, String>,
}

/// Judges `artifact`, where it is a closure that could be read.
pub(super) fn judge(artifact: &Artifact, tables: &Tables) -> Closed {
    let Some(closure) = Closure::of(artifact, tables) else {
        return Closed::default();
    };
    let mut closed = Closed::default();
    for lack in closure.lacks() {
        if lack.grade == Grade::OnDemand {
            let note = words::on_demand(&closure, &lack);
            closed.notes.insert(lack.package, note);
        } else {
            closed.findings.push(words::missing(&closure, &lack));
        }
    }
    closed.findings.extend(mixed::mixed(&closure));
    closed
}

/// How much depends on a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    /// It is not known whether anything loads it.
    OnDemand,
    /// It holds a part of what its package does.
    Part,
    /// Without it, nothing of its package works.
    Whole,
}

/// Libraries of a package that need what nothing provides.
struct Lack<'a> {
    package: Option<usize>,
    grade: Grade,
    /// The names, sorted.
    names: BTreeSet<&'a str>,
    /// Those that need them, the one with most device code first.
    libraries: Vec<&'a Library>,
}

/// An artifact that holds what its programs load.
struct Closure<'a> {
    artifact: &'a Artifact,
    tables: &'a Tables,
    /// What provides each name.
    provided: BTreeMap<String, Vec<&'a Provided>>,
    /// Names of files that could not be read: what they are is not known.
    unread: BTreeSet<String>,
    /// Libraries that are loaded here, if something asks for them.
    libraries: Vec<&'a Library>,
    /// Of each name, those of them that have it: indices.
    named: BTreeMap<String, Vec<usize>>,
}

impl<'a> Closure<'a> {
    fn of(artifact: &'a Artifact, tables: &'a Tables) -> Option<Self> {
        let list = artifact.provided.as_ref()?;
        // what is missing may lie in what was not read
        let parts_unread = artifact.problems.iter().any(|problem| {
            matches!(problem.extent, Extent::Artifact | Extent::RestOfArchive)
                && problem.kind != ProblemKind::PackagesUnread
        });
        if !artifact.is_closure() || parts_unread {
            return None;
        }
        let mut provided: BTreeMap<String, Vec<&Provided>> = BTreeMap::new();
        for one in list {
            let names = [Some(one.file_name()), one.soname.as_deref()];
            for name in names.into_iter().flatten() {
                provided.entry(key(name)).or_default().push(one);
            }
        }
        let unread = artifact.problems.iter();
        let unread = unread.filter_map(|problem| Some(key(file_name(&problem.at.path()?))));
        let format = format_of(artifact)?;
        let libraries = artifact.libraries.iter();
        let libraries: Vec<&Library> = libraries
            .filter(|library| library.format == format && is_installed(library, artifact))
            .collect();
        let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, library) in libraries.iter().enumerate() {
            let paths = std::iter::once(&library.path).chain(&library.also);
            let names = paths.map(|path| file_name(path));
            let names: BTreeSet<String> = names.chain(library.soname.as_deref()).map(key).collect();
            for name in names {
                named.entry(name).or_default().push(index);
            }
        }
        Some(Self {
            artifact,
            tables,
            provided,
            unread: unread.collect(),
            libraries,
            named,
        })
    }

    /// The names that a library needs of NVIDIA's libraries and that nothing here provides.
    fn lacking(&self, library: &'a Library) -> impl Iterator<Item = &'a str> {
        let needed = library.needed_cuda.iter().map(String::as_str);
        needed.filter(|name| {
            let key = key(name);
            let of_host = self.tables.vendor(name).is_some_and(|vendor| vendor.host);
            let unseen = self.unread.contains(&key) || self.is_of_unbuilt(name);
            !of_host && !self.provided.contains_key(&key) && !unseen
        })
    }

    /// Whether a package of a lock file that brings the library is built, or fetches it, at install.
    fn is_of_unbuilt(&self, name: &str) -> bool {
        let Some((lock, row)) = self.artifact.lock.as_ref().zip(self.tables.soname(name)) else {
            return false;
        };
        let mut unbuilt = lock
            .packages
            .iter()
            .filter(|locked| !locked.content.is_known());
        unbuilt.any(|locked| row.is_brought_by(&locked.name))
    }

    /// Libraries that a library needs and that are here.
    fn needed(&self, library: &Library) -> impl Iterator<Item = usize> {
        let found = library
            .needed
            .iter()
            .filter_map(|name| self.named.get(&key(name)));
        found.flatten().copied()
    }

    /// Whether a library, or one that it needs, lacks something, by index.
    fn broken(&self) -> Vec<bool> {
        let lacks = |library: &&'a Library| self.lacking(library).next().is_some();
        let mut broken: Vec<bool> = self.libraries.iter().map(lacks).collect();
        loop {
            let mut more = Vec::new();
            for (index, library) in self.libraries.iter().enumerate() {
                let is_broken = |index: usize| broken.get(index).copied().unwrap_or_default();
                if !is_broken(index) && self.needed(library).any(is_broken) {
                    more.push(index);
                }
            }
            if more.is_empty() {
                return broken;
            }
            for index in more {
                if let Some(broken) = broken.get_mut(index) {
                    *broken = true;
                }
            }
        }
    }

    /// How much depends on each library that something may load, by index.
    fn grades(&self) -> BTreeMap<usize, Grade> {
        let broken = self.broken();
        let is_broken = |index: &usize| broken.get(*index).copied().unwrap_or_default();
        let mut packages: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (index, library) in self.libraries.iter().enumerate() {
            // NVIDIA's are loaded by those who need them
            if library.component.is_none() {
                packages.entry(library.package).or_default().push(index);
            }
        }
        let mut pending: Vec<(usize, Grade)> = Vec::new();
        for (package, members) in packages {
            let members = self.without_idle(package, members, is_broken);
            pending.extend(self.first_grades(package, &members, is_broken));
        }
        let mut grades: BTreeMap<usize, Grade> = BTreeMap::new();
        while let Some((index, grade)) = pending.pop() {
            if grades.get(&index).is_some_and(|known| *known >= grade) {
                continue;
            }
            grades.insert(index, grade);
            if let Some(library) = self.libraries.get(index) {
                pending.extend(self.needed(library).map(|needed| (needed, grade)));
            }
        }
        grades
    }

    /// Libraries of a package without siblings that are not loaded, of which another is.
    fn without_idle(
        &self,
        package: Option<usize>,
        members: Vec<usize>,
        is_broken: impl Fn(&usize) -> bool,
    ) -> Vec<usize> {
        let Some(name) = self.package(package) else {
            return members;
        };
        let of = |index: &usize| self.libraries.get(*index).copied();
        let libraries: Vec<&Library> = members.iter().filter_map(of).collect();
        // what it needs may lack something in turn
        let lacks = |library: &'a Library| {
            let mut members = members.iter();
            let is_it = |index: &&usize| of(index).is_some_and(|one| std::ptr::eq(one, library));
            let in_turn = members.find(is_it).is_some_and(&is_broken);
            self.lacking(library).count().max(usize::from(in_turn))
        };
        let idle = siblings::idle(&libraries, &name.name, self.artifact, self.tables, lacks);
        let is_idle = |index: &usize| {
            of(index).is_some_and(|one| idle.iter().any(|other| std::ptr::eq(*other, one)))
        };
        members
            .iter()
            .filter(|index| !is_idle(index))
            .copied()
            .collect()
    }

    /// How much depends on the libraries of a package by themselves.
    fn first_grades(
        &self,
        package: Option<usize>,
        members: &[usize],
        is_broken: impl Fn(&usize) -> bool,
    ) -> Vec<(usize, Grade)> {
        let name = self.package(package);
        let library = |index: &usize| self.libraries.get(*index).copied();
        let is_optional = |library: &Library| {
            let role = name
                .as_ref()
                .and_then(|name| self.tables.role(&name.name, &library.path));
            role.is_some_and(|row| row.role.is_optional())
        };
        let judged: Vec<(usize, &Library)> = members
            .iter()
            .filter_map(|index| Some((*index, library(index)?)))
            .filter(|(_, library)| !is_optional(library))
            .collect();
        let fatbins = || judged.iter().map(|(_, library)| own_fatbins(library));
        let total = fatbins().fold(0, u64::saturating_add);
        let most = fatbins().max().unwrap_or(0);
        let modules: Vec<usize> = judged
            .iter()
            .filter(|(_, library)| is_loaded_by_name(&library.path) && own_fatbins(library) == 0)
            .filter(|(_, library)| self.needs_cuda(library))
            .map(|(index, _)| *index)
            .collect();
        let together = match (modules.iter().all(&is_broken), total) {
            (true, 0) => Grade::Whole,
            (true, _) => Grade::Part,
            (false, _) => Grade::OnDemand,
        };
        let optional = members
            .iter()
            .filter(|index| library(index).is_some_and(is_optional));
        let optional = optional.map(|index| (*index, Grade::OnDemand));
        let judged = judged.iter().map(|(index, library)| {
            let own = own_fatbins(library);
            let is_program = !is_in_site(&library.path) && is_loaded_by_name(&library.path);
            let carries = own == most || own.saturating_mul(SHARE) >= total;
            let grade = match own {
                // what no package owns has nothing that it could be a part of
                1.. if package.is_none() || carries => Grade::Whole,
                1.. => Grade::Part,
                0 if package.is_none() && is_program => Grade::Whole,
                0 if modules.contains(index) => together,
                0 => Grade::OnDemand,
            };
            (*index, grade)
        });
        optional.chain(judged).collect()
    }

    /// Whether a library needs any of NVIDIA's that the host does not bring.
    fn needs_cuda(&self, library: &Library) -> bool {
        let vendors = library.needed_cuda.iter();
        let mut vendors = vendors.filter_map(|name| self.tables.vendor(name));
        vendors.any(|vendor| !vendor.host)
    }

    /// What is missing, by package and by how much depends on it. What is said of a library on which more depends is
    /// not said again.
    fn lacks(&self) -> Vec<Lack<'a>> {
        let mut graded: Vec<(&'a Library, Grade)> = self
            .grades()
            .into_iter()
            .filter_map(|(index, grade)| Some((*self.libraries.get(index)?, grade)))
            .collect();
        graded.sort_by_key(|(library, grade)| {
            (
                std::cmp::Reverse(*grade),
                std::cmp::Reverse(own_fatbins(library)),
            )
        });
        let mut said: BTreeMap<(Option<usize>, &str), Grade> = BTreeMap::new();
        let mut lacks: BTreeMap<(Option<usize>, Grade), Lack<'a>> = BTreeMap::new();
        for (library, grade) in graded {
            for name in self.lacking(library) {
                let package = library.package;
                if *said.entry((package, name)).or_insert(grade) > grade {
                    continue;
                }
                let lack = lacks.entry((package, grade)).or_insert_with(|| Lack {
                    package,
                    grade,
                    names: BTreeSet::new(),
                    libraries: Vec::new(),
                });
                lack.names.insert(name);
                if !lack.libraries.iter().any(|one| std::ptr::eq(*one, library)) {
                    lack.libraries.push(library);
                }
            }
        }
        lacks.into_values().collect()
    }

    /// What would bring `name` to a package, as a requirement; several for which it is not known which one fits.
    fn source(&self, name: &str, package: Option<usize>) -> Option<String> {
        let row = self.tables.soname(name)?;
        if let Some(requirement) = row.requirement(self.cuda_of(package)) {
            return Some(requirement);
        }
        (!row.packages.is_empty()).then(|| row.packages.join("` or `"))
    }

    /// The major version of CUDA that the libraries of a package need, where it is one.
    fn cuda_of(&self, package: Option<usize>) -> Option<u32> {
        let package = package?;
        let of = self
            .libraries
            .iter()
            .filter(|one| one.package == Some(package));
        let names = of.flat_map(|library| &library.needed_cuda);
        let majors: BTreeSet<u32> = names
            .filter_map(|name| self.tables.soname(name)?.only_cuda())
            .collect();
        majors.first().copied().filter(|_| majors.len() == 1)
    }

    fn package(&self, index: Option<usize>) -> Option<PackageName> {
        let package = self.artifact.packages.get(index?)?;
        Some(PackageName {
            name: package.name.clone(),
            version: package.version.clone(),
        })
    }
}

/// The format of the libraries of the system that an artifact is for. A package may bring libraries for others.
fn format_of(artifact: &Artifact) -> Option<HostFormat> {
    let count = |format: HostFormat| {
        let all = artifact.libraries.iter();
        all.filter(|library| library.format == format).count()
    };
    let (elf, pe) = (count(HostFormat::Elf), count(HostFormat::Pe));
    match (elf, pe) {
        (0, 0) => None,
        _ if pe > elf => Some(HostFormat::Pe),
        _ => Some(HostFormat::Elf),
    }
}

/// Whether a library lies where it is loaded from. In a directory, what no package owns may be a build tree beside an
/// environment.
fn is_installed(library: &Library, artifact: &Artifact) -> bool {
    let packed = library.path.contains(" › ");
    let package = library
        .package
        .and_then(|index| artifact.packages.get(index));
    let owned = package.is_some_and(Package::is_installed);
    !packed && (artifact.kind != ArtifactKind::Directory || owned || is_in_site(&library.path))
}
