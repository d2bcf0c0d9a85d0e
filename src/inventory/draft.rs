//! An artifact on the way: what threads have found of it, merged and sorted at the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::locator::Locator;
use crate::problem::Problem;
#[cfg(feature = "registry")]
use crate::source::remote::RemoteFile;

use super::nested::Described;
use super::{Artifact, ArtifactKind, Library, Manager, Package, Provided, Seen};

/// An artifact on the way.
pub(super) struct Draft {
    pub(super) artifact: Artifact,
    pub(super) packages: BTreeSet<Package>,
    pub(super) libraries: Vec<(Library, Option<Package>)>,
    /// The file that it is, where it is at an address, and where that is told.
    #[cfg(feature = "registry")]
    pub(super) remote: Option<(RemoteFile, Locator)>,
    pub(super) provided: Vec<(Provided, Option<Package>)>,
}

/// Something that a thread has found.
pub(super) enum Found {
    Library(Box<Library>, Option<Arc<Package>>),
    Provided(Provided, Option<Arc<Package>>),
    Package(Arc<Package>),
    /// That the input is a conda package, and which.
    Conda(Box<Described>),
    Digest(String),
    Seen(Seen),
}

impl Draft {
    pub(super) fn new(kind: ArtifactKind, at: &Locator) -> Self {
        Self {
            artifact: Artifact {
                input: at.artifact().to_owned(),
                kind,
                name: None,
                version: None,
                sha256: None,
                platforms: Vec::new(),
                other_platforms: Vec::new(),
                platform_tags: Vec::new(),
                python_tags: Vec::new(),
                packages: Vec::new(),
                libraries: Vec::new(),
                provided: None,
                problems: Vec::new(),
                seen: Seen::default(),
                fetched: None,
                conda: None,
                image: None,
                lock: None,
            },
            packages: BTreeSet::new(),
            libraries: Vec::new(),
            #[cfg(feature = "registry")]
            remote: None,
            provided: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, found: Found) {
        let artifact = &mut self.artifact;
        match found {
            Found::Library(library, package) => {
                self.libraries.push((*library, package.as_deref().cloned()));
            }
            Found::Provided(provided, package) => {
                self.provided.push((provided, package.as_deref().cloned()));
            }
            Found::Package(package) => {
                self.packages.insert(Package::clone(&package));
            }
            Found::Conda(described) => {
                artifact.kind = ArtifactKind::Conda;
                artifact.name = Some(described.name);
                artifact.version = Some(described.version);
                artifact.platforms = described.platforms;
                artifact.other_platforms = described.other_platform.into_iter().collect();
                artifact.conda = Some(Box::new(described.facts));
            }
            Found::Digest(hex) => artifact.sha256 = Some(hex),
            Found::Seen(seen) => artifact.seen.add(seen),
        }
    }

    /// The artifact with all of its `problems`.
    pub(super) fn finish(mut self, problems: Vec<Problem>) -> Artifact {
        // a conda package that does not say what it is has at least a file name
        if let (ArtifactKind::Conda, None, Some(name)) = (
            self.artifact.kind,
            self.packages.first(),
            &self.artifact.name,
        ) {
            self.packages.insert(Package {
                manager: Some(Manager::Conda),
                ..Package::new(name, self.artifact.version.clone())
            });
        }
        self.artifact.packages = self.packages.into_iter().collect();
        let packages = &self.artifact.packages;
        let index = |package: Option<Package>| {
            package.and_then(|package| packages.binary_search(&package).ok())
        };
        let libraries = self.libraries.into_iter();
        let libraries = libraries.map(|(mut library, package)| {
            library.package = index(package);
            library
        });
        let provided = self.provided.into_iter();
        let provided = provided.map(|(mut provided, package)| {
            provided.package = index(package);
            provided
        });
        let (libraries, mut provided): (_, Vec<Provided>) =
            (libraries.collect(), provided.collect());
        provided.sort();
        provided.dedup();
        self.artifact.provided = Some(provided);
        self.artifact.libraries = libraries;
        self.artifact
            .libraries
            .sort_by(|a, b| a.path.cmp(&b.path).then(a.size.cmp(&b.size)));
        self.artifact.problems = problems;
        #[cfg(feature = "registry")]
        if let Some((file, at)) = &self.remote {
            self.artifact.fetched = Some(file.into());
            self.artifact.problems.extend(file.problem(at));
        }
        self.artifact.problems.sort();
        self.artifact
    }
}
