//! Which package of a tree owns which file: Python distributions, conda, Debian and RPM packages.
//!
//! Works on any tree: a directory, or the file system that the layers of a container image make.
//!
//! Where several managers claim a file, the most specific name is its owner, in this order:
//!
//! 1. a Python distribution that lists it: policies and tables know packages by these names, and the same `torch`
//!    is `pytorch` in conda, `python3-torch-cuda` in Debian. Of distributions inside each other, the outer one.
//! 2. a conda package, whose prefix lies inside a system;
//! 3. a Debian package, then an RPM package.
//!
//! A Python distribution without a list of its files (Debian and Fedora remove `RECORD`) whose metadata belongs to a
//! package of another manager is that package, and not one more.

mod conda;
mod dpkg;
mod header;
mod paths;
mod python;
mod rpm;
mod sqlite;
#[cfg(test)]
mod tests;

use crate::archive::Fault;
use crate::limits::{LimitHit, Limits};
use crate::{Extent, Locator, MemberName, Problem, ProblemKind};

pub(super) use paths::join;

/// Files of a tree, and the content of those that hold package metadata.
pub trait Tree {
    /// How many files there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a file below the root, without a leading slash. Names ascend with the index, byte by byte.
    fn name(&self, index: usize) -> &[u8];

    /// The whole of a file that [`is_metadata`] names, read within the limits of the run.
    fn read(&self, index: usize) -> Result<Vec<u8>, Fault>;

    /// A path after links of directories are followed: `usr/lib/x` of `lib/x` where `lib` leads to `usr/lib`. Nothing
    /// where it leads out of the tree.
    fn canonical(&self, path: &[u8]) -> Option<Vec<u8>> {
        Some(path.to_owned())
    }
}

/// What installed a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Manager {
    /// A Python distribution, whichever tool installed it.
    Pip,
    /// conda, mamba or pixi.
    Conda,
    /// Debian's dpkg.
    Dpkg,
    /// RPM.
    Rpm,
}

impl Manager {
    /// Every manager, the most specific first.
    pub const ALL: &[Self] = &[Self::Pip, Self::Conda, Self::Dpkg, Self::Rpm];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Pip => "pip",
            Self::Conda => "conda",
            Self::Dpkg => "dpkg",
            Self::Rpm => "rpm",
        }
    }
}

/// An installed package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version, as its manager writes it; of RPM with the release, without the epoch.
    pub version: Option<String>,
    /// What installed it.
    pub manager: Manager,
    /// Requirements of a Python distribution, as written in its metadata.
    pub requires: Vec<String>,
    /// The file that says so: `…/NAME-VERSION.dist-info/METADATA`, `var/lib/dpkg/status`.
    pub metadata: MemberName,
}

/// The packages of a tree.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Assigned {
    /// By the names of their metadata, then by name and version.
    pub packages: Vec<Package>,
    /// Of each file of the tree: the package that owns it, an index into `packages`.
    pub owner: Vec<Option<usize>>,
    /// What could not be read. [`ProblemKind::PackagesUnread`] where only names of owners are missing.
    pub problems: Vec<Problem>,
}

/// Whether [`assign`] reads the file of this name in a tree. Its content must be kept where a tree is read once.
pub fn is_metadata(name: &[u8]) -> bool {
    python::is_metadata(name)
        || conda::is_metadata(name)
        || dpkg::is_metadata(name)
        || rpm::is_metadata(name)
}

/// Finds the packages of `tree` and gives each file to the one that owns it. `at` is the address of the tree.
pub fn assign(tree: &dyn Tree, at: &Locator, limits: &Limits) -> Assigned {
    if tree.is_empty() {
        return Assigned::default();
    }
    let mut owners = Owners {
        tree,
        at,
        limits,
        packages: Vec::new(),
        owner: vec![None; tree.len()],
        problems: Vec::new(),
    };
    // the most specific first: who comes later gets what is left
    python::assign(&mut owners);
    conda::assign(&mut owners);
    dpkg::assign(&mut owners);
    rpm::assign(&mut owners);
    owners.finish()
}

/// More than any system has. A status file of 64 MiB could name millions.
const PACKAGES_MOST: usize = 100_000;

/// A package on the way.
struct Draft {
    package: Package,
    /// The index of its metadata, of a package without a list of its files.
    listless: Option<usize>,
}

/// Owners on the way.
struct Owners<'t> {
    tree: &'t dyn Tree,
    at: &'t Locator,
    limits: &'t Limits,
    packages: Vec<Draft>,
    owner: Vec<Option<usize>>,
    problems: Vec<Problem>,
}

impl<'t> Owners<'t> {
    fn names(&self) -> impl Iterator<Item = (usize, &'t [u8])> + use<'t> {
        let tree = self.tree;
        (0..tree.len()).map(move |index| (index, tree.name(index)))
    }

    fn member_name(&self, file: usize) -> MemberName {
        MemberName::from_bytes(self.tree.name(file))
    }

    fn read(&self, file: usize) -> Result<Vec<u8>, Fault> {
        let bytes = self.tree.read(file)?;
        if bytes.len() as u64 > self.limits.metadata_bytes {
            return Err(LimitHit::Metadata(self.limits.metadata_bytes).into());
        }
        Ok(bytes)
    }

    /// The file of exactly this name.
    fn file(&self, name: &[u8]) -> Option<usize> {
        let at = self.first_from(name);
        (at < self.tree.len() && self.tree.name(at) == name).then_some(at)
    }

    /// The first file whose name is not before `name`.
    fn first_from(&self, name: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.tree.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.tree.name(middle) < name {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The file that a listed path leads to, links of directories followed.
    fn lookup(&self, path: &[u8]) -> Option<usize> {
        if let Some(file) = self.file(path) {
            return Some(file);
        }
        let canonical = self.tree.canonical(path)?;
        (canonical != path).then(|| self.file(&canonical)).flatten()
    }

    fn add(&mut self, package: Package) -> usize {
        self.packages.push(Draft {
            package,
            listless: None,
        });
        self.packages.len() - 1
    }

    /// Gives a file to a package, unless a more specific one has it.
    fn claim(&mut self, file: usize, package: usize) {
        let Some(owner) = self.owner.get_mut(file) else {
            return;
        };
        let held = owner.and_then(|owner| self.packages.get(owner));
        let manager = |draft: &Draft| draft.package.manager;
        let gives_way = held.is_some_and(|held| {
            held.listless.is_some()
                && self.packages.get(package).map(manager) != Some(manager(held))
        });
        if held.is_none() || gives_way {
            *owner = Some(package);
        }
    }

    /// Gives the file of a listed path to a package.
    fn claim_path(&mut self, base: &[u8], path: &[u8], package: usize) {
        let name = paths::resolve(base, path, paths::Style::Plain);
        if let Some(file) = name.and_then(|name| self.lookup(&name)) {
            self.claim(file, package);
        }
    }

    fn problem(&mut self, file: usize, fault: Fault, extent: Extent) {
        let at = self.at.member(&self.member_name(file));
        self.problems.push(fault.at(at, extent));
    }

    /// Says that files whose owners a database holds count as owned by nobody.
    fn unread(&mut self, file: usize, detail: impl Into<String>) {
        let fault = Fault::new(ProblemKind::PackagesUnread, detail);
        self.problem(file, fault, Extent::Member);
    }

    /// Whether one more path of a list is within the limits; says so, once, where it is not.
    fn may_list(&mut self, list: usize, listed: &mut u64) -> bool {
        *listed += 1;
        if *listed == self.limits.members.saturating_add(1) {
            let fault = Fault::from(LimitHit::Members(self.limits.members));
            self.problem(list, fault, Extent::Part);
        }
        *listed <= self.limits.members
    }

    /// Whether one more package of a database is within what any system has; says so where it is not.
    fn may_add(&mut self, database: usize) -> bool {
        if self.packages.len() < PACKAGES_MOST {
            return true;
        }
        let detail = format!("more than {PACKAGES_MOST} packages, which no system has");
        let fault = Fault::new(ProblemKind::MalformedMetadata, detail);
        self.problem(database, fault, Extent::Part);
        false
    }

    /// Drops what turned out to be no package of its own, and sorts the others.
    fn finish(self) -> Assigned {
        let Self {
            packages,
            mut owner,
            mut problems,
            ..
        } = self;
        let mut places = vec![None; packages.len()];
        let kept = packages.into_iter().enumerate().filter(|(index, draft)| {
            let metadata = draft.listless.and_then(|file| owner.get(file));
            metadata.is_none_or(|owner| *owner == Some(*index))
        });
        let mut order: Vec<(usize, Package)> =
            kept.map(|(index, draft)| (index, draft.package)).collect();
        order.sort_by(|(_, a), (_, b)| {
            let key = |package: &'_ Package| (package.name.clone(), package.version.clone());
            a.metadata
                .cmp(&b.metadata)
                .then_with(|| key(a).cmp(&key(b)))
        });
        for (place, (index, _)) in order.iter().enumerate() {
            if let Some(slot) = places.get_mut(*index) {
                *slot = Some(place);
            }
        }
        for owner in &mut owner {
            *owner = owner.and_then(|index| places.get(index).copied().flatten());
        }
        problems.sort();
        Assigned {
            packages: order.into_iter().map(|(_, package)| package).collect(),
            owner,
            problems,
        }
    }
}
