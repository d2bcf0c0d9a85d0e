//! Inputs: wheels, conda packages, files, directories, and what is in them.

use super::Lib;
use crate::inventory::{Artifact, ArtifactKind, CondaFacts, Inventory, Package, Seen};
use crate::locator::Locator;
use crate::problem::{Extent, Problem, ProblemKind};

/// An artifact.
#[derive(Clone)]
pub(in crate::verdict::tests) struct Input(pub(super) Artifact);

pub(super) fn artifact(kind: ArtifactKind, input: &str) -> Input {
    Input(Artifact {
        input: input.to_owned(),
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
        provided: Some(Vec::new()),
        problems: Vec::new(),
        fetched: None,
        conda: None,
        image: None,
        lock: None,
        seen: Seen {
            files: 10,
            ..Seen::default()
        },
    })
}

/// A wheel for Linux on x86-64.
pub(in crate::verdict::tests) fn wheel(name: &str, version: &str) -> Input {
    package(ArtifactKind::Wheel, name, version).tags("linux/amd64")
}

/// A source distribution.
pub(in crate::verdict::tests) fn sdist(name: &str, version: &str) -> Input {
    package(ArtifactKind::Sdist, name, version)
}

fn package(kind: ArtifactKind, name: &str, version: &str) -> Input {
    let mut input = artifact(kind, &format!("{name}-{version}"));
    input.0.name = Some(name.to_owned());
    input.0.version = Some(version.to_owned());
    input.0.packages = vec![Package::new(name, Some(version.to_owned()))];
    input
}

/// A conda package for Linux on x86-64 with this build string.
pub(in crate::verdict::tests) fn conda(name: &str, version: &str, build: &str) -> Input {
    let mut input = package(ArtifactKind::Conda, name, version).tags("linux/amd64");
    input.0.conda = Some(Box::new(CondaFacts {
        subdir: Some("linux-64".to_owned()),
        build: Some(build.to_owned()),
        ..CondaFacts::default()
    }));
    input
}

/// A single file.
pub(in crate::verdict::tests) fn file(name: &str) -> Input {
    artifact(ArtifactKind::File, name)
}

/// A directory.
pub(in crate::verdict::tests) fn dir(name: &str) -> Input {
    artifact(ArtifactKind::Directory, name)
}

impl Input {
    /// Nothing of it could be read.
    pub(in crate::verdict::tests) fn unread(mut self) -> Self {
        self.0.seen.files = 0;
        self
    }

    /// The platforms of its tags, blanks between them; none for `any`.
    pub(in crate::verdict::tests) fn tags(mut self, platforms: &str) -> Self {
        self.0.platforms.clear();
        self.0.other_platforms.clear();
        for text in platforms.split_whitespace() {
            match text.parse() {
                Ok(platform) => self.0.platforms.push(platform),
                Err(_) => self.0.other_platforms.push(text.to_owned()),
            }
        }
        self
    }

    /// What the conda package says of itself, changed.
    pub(in crate::verdict::tests) fn says(mut self, change: impl FnOnce(&mut CondaFacts)) -> Self {
        change(self.0.conda.as_mut().unwrap());
        self
    }

    /// With these platform tags as written, blanks between them.
    pub(in crate::verdict::tests) fn written(mut self, tags: &str) -> Self {
        self.0.platform_tags = tags.split_whitespace().map(str::to_owned).collect();
        self
    }

    /// With these Python tags, `cp312-abi3`.
    pub(in crate::verdict::tests) fn python(mut self, tags: &str) -> Self {
        self.0.python_tags = tags.split_whitespace().map(str::to_owned).collect();
        self
    }

    /// A library of the first package, or of none where there is no package.
    pub(in crate::verdict::tests) fn with(self, lib: Lib) -> Self {
        let owner = (!self.0.packages.is_empty()).then_some(0);
        self.put(lib, owner)
    }

    /// A library that no package owns.
    pub(in crate::verdict::tests) fn stray(self, lib: Lib) -> Self {
        self.put(lib, None)
    }

    /// A library of the package `name`, which is added where it is new.
    pub(in crate::verdict::tests) fn of(mut self, name: &str, lib: Lib) -> Self {
        let package = Package::new(name, Some("1.0".to_owned()));
        let at = self.0.packages.iter().position(|known| *known == package);
        let at = at.unwrap_or_else(|| {
            self.0.packages.push(package);
            self.0.packages.len() - 1
        });
        self.put(lib, Some(at))
    }

    fn put(mut self, Lib(mut library): Lib, owner: Option<usize>) -> Self {
        library.package = owner;
        self.0.seen.with_device_code += u64::from(!library.code.is_empty());
        self.0.libraries.push(library);
        self.0.libraries.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }

    /// A package without any library.
    pub(in crate::verdict::tests) fn package(self, name: &str) -> Self {
        self.package_of(name, "1.0")
    }

    /// A package of a version, without any library.
    pub(in crate::verdict::tests) fn package_of(mut self, name: &str, version: &str) -> Self {
        self.0
            .packages
            .push(Package::new(name, Some(version.to_owned())));
        self
    }

    /// Something that could not be read: a member and perhaps an offset in it, or all of it.
    pub(in crate::verdict::tests) fn problem(
        mut self,
        kind: ProblemKind,
        member: &str,
        offset: Option<u64>,
        extent: Extent,
    ) -> Self {
        let mut at = Locator::root(0, self.0.input.clone());
        if !member.is_empty() {
            at = at.member(&member.into());
        }
        if let Some(offset) = offset {
            at = at.offset(offset);
        }
        self.0
            .problems
            .push(Problem::new(kind, at, extent, "it is cut"));
        self
    }

    /// Compressed files that were not opened.
    pub(in crate::verdict::tests) fn unopened(mut self, count: u64) -> Self {
        self.0.seen.unopened = count;
        self
    }

    /// The inventory of a run with this input alone.
    pub(in crate::verdict::tests) fn inventory(self) -> Inventory {
        Inventory {
            artifacts: vec![self.0],
            tables: None,
        }
    }

    /// The inventory of a run with these inputs.
    pub(in crate::verdict::tests) fn inventory_of(
        inputs: impl IntoIterator<Item = Self>,
    ) -> Inventory {
        Inventory {
            artifacts: inputs.into_iter().map(|input| input.0).collect(),
            tables: None,
        }
    }
}
