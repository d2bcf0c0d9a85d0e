//! conda packages, in files of their own and in archives: the tar archives in them, and the package that they are.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufReader, Read};
use std::sync::Arc;

use crate::archive::{Fault, Kind, Sniffed, decoder};
use crate::limits::{Limits, Metered};
use crate::locator::Locator;
use crate::platform::Platform;
use crate::problem::{Extent, ProblemKind};
use crate::source::Conda;
use crate::source::conda::{CondaFilename, CondaForm, INDEX, Index, Subdir};

use super::super::conda::{CondaFacts, word};
use super::super::leaf::{CHUNK, Means};
use super::super::plan::{Place, file_name};
use super::super::progress::Counted;
use super::super::{Manager, Package};
use super::forward::{Passing, Whole};
use super::{Nested, Reading};

/// What a conda package says that it is.
#[derive(Debug, Clone)]
pub(in crate::inventory) struct Described {
    pub(in crate::inventory) name: String,
    pub(in crate::inventory) version: String,
    pub(in crate::inventory) facts: CondaFacts,
    /// The platforms that it is for, or that its libraries are for where it is for any.
    pub(in crate::inventory) platforms: Vec<Platform>,
    /// A platform that no target can have.
    pub(in crate::inventory) other_platform: Option<String>,
}

/// What is looked for while the archives of a package pass.
#[derive(Debug)]
pub(super) struct Watch {
    /// The names of the parts in the outer archive.
    parts: Vec<String>,
    index: Option<Index>,
    /// Whether there was one, or one that could not be read.
    met: bool,
    names: HashSet<u64>,
    state: RandomState,
}

impl Watch {
    pub(super) fn new(parts: Vec<String>) -> Self {
        Self {
            parts,
            index: None,
            met: false,
            names: HashSet::new(),
            state: RandomState::new(),
        }
    }

    /// Whether no file before had this name. Names are told apart by a sum of 64 bits under a key of this process.
    pub(super) fn is_new(&mut self, path: &[u8]) -> bool {
        self.names.insert(self.state.hash_one(path))
    }

    /// Reads the metadata.
    pub(super) fn read(&mut self, body: impl Read, limits: &Limits) -> Result<(), Fault> {
        self.met = true;
        self.index = Some(Index::read(body, limits)?);
        Ok(())
    }
}

/// Reads a conda package whose outer archive is a zip archive, with `depth` archives around its members.
pub(in crate::inventory) fn read_conda(
    conda: Conda,
    depth: u32,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> Nested {
    let mut reading = Reading::new(means, buffer);
    reading.conda(conda, depth);
    reading.found
}

/// Reads a bzip2 file that is a conda package, where that is `sure`, or may be one: nothing where it holds no archive
/// at all.
pub(in crate::inventory) fn read_bzip2(
    conda: &Conda,
    sure: bool,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> Option<Nested> {
    let mut reading = Reading::new(means, buffer);
    let name = file_name(conda.at.artifact());
    let (size, at) = (conda.bytes.len(), conda.at.clone());
    let place = if sure {
        Passing::tar(name, size, at, 0)
    } else {
        Passing::new(name, size, at, 0)
    };
    let mut packed = Counted::new(conda.bytes.cursor(), means.progress.as_ref());
    if !reading.forward(&place, Kind::Bzip2, &mut packed) {
        return None;
    }
    if sure && reading.found.conda.is_none() && reading.found.problems.is_empty() {
        reading.without_index(&conda.at);
    }
    Some(reading.found)
}

impl Reading<'_, '_> {
    /// Reads a package whose outer archive is a zip archive, with `depth` archives around its members.
    pub(super) fn conda(&mut self, mut conda: Conda, depth: u32) {
        self.found.problems.append(&mut conda.problems);
        let parts = conda.stems();
        let filename = conda.filename;
        let CondaForm::Zip { zip, tars, others } = conda.form else {
            return;
        };
        let complete = !zip.members().is_empty();
        let place = Place {
            artifact: 0,
            package: None,
            prefix: String::new(),
            at: conda.at.clone(),
            depth,
            zip: Arc::new(zip),
        };
        let first = self.found.files.len();
        let mut watch = Watch::new(parts);
        for index in tars {
            let Some(member) = place.zip.members().get(index) else {
                continue;
            };
            let at = conda.at.member(&member.name);
            let read = place.zip.reader(index, &self.means.budget);
            let read = read.and_then(|reader| {
                let size = member.size;
                // of an archive in another the bytes were counted on the way
                let progress = self.means.progress.as_ref();
                let reader = Counted::new(reader, progress.filter(|_| conda.at.path().is_none()));
                self.part(reader, size, &at, &conda.at, depth, &mut watch)
            });
            if let Err(fault) = read {
                self.found.problems.push(fault.at(at, Extent::Member));
            }
        }
        for index in others {
            if let Some(file) = place.file(index) {
                self.file(file);
            }
        }
        let sure = complete && self.found.problems.is_empty();
        self.described(watch, filename.as_ref(), &conda.at, first, sure);
    }

    /// Reads one of the tar archives of a package, which is at `at`; its members are members of the package.
    fn part(
        &mut self,
        reader: impl Read + Send,
        size: u64,
        at: &Locator,
        package: &Locator,
        depth: u32,
        watch: &mut Watch,
    ) -> Result<(), Fault> {
        let stored = Sniffed::new(reader).map_err(|error| Fault::of(&error))?;
        let kind = stored.kind();
        if kind != Some(Kind::Zstd) {
            let detail = crate::archive::describe(stored.head());
            let detail = format!("no zstd stream: {detail}");
            return Err(Fault::new(ProblemKind::NotAnArchive, detail));
        }
        let plain = decoder(Kind::Zstd, BufReader::with_capacity(CHUNK, stored))?;
        let plain = Metered::new(plain, &self.means.budget, size);
        let place = Passing::tar(String::new(), size, package.clone(), depth - 1);
        let told = self.found.problems.len();
        self.tar(plain, &place, Whole::Summed, Some(watch));
        // what is wrong with the whole of it is wrong with this part alone
        let whole = self.found.problems.iter_mut().skip(told);
        for problem in whole.filter(|problem| problem.at == *package) {
            problem.at = at.clone();
        }
        Ok(())
    }

    /// Makes the files from `first` on those of the package that was found, if one was.
    pub(super) fn described(
        &mut self,
        watch: Watch,
        filename: Option<&CondaFilename>,
        at: &Locator,
        first: usize,
        sure: bool,
    ) {
        let Some(index) = watch.index else {
            if sure && !watch.met {
                self.without_index(at);
            }
            return;
        };
        for detail in index.contradictions(filename, &watch.parts) {
            let fault = Fault::new(ProblemKind::MalformedMetadata, detail);
            let at = at.member(&String::from_utf8_lossy(INDEX).as_ref().into());
            self.found.problems.push(fault.at(at, Extent::Part));
        }
        let package = Arc::new(Package {
            name: word(&index.name),
            version: Some(word(&index.version)),
            manager: Some(Manager::Conda),
        });
        self.own_from(first, Some(&package));
        let facts = CondaFacts::of(&index);
        let files = self.found.files.iter().skip(first);
        let (platforms, other_platform) = match facts.platform() {
            Some(Ok(platform)) => (vec![platform], None),
            Some(Err(other)) => (Vec::new(), Some(other)),
            None => {
                let mut found: Vec<Platform> = files
                    .filter_map(|file| Subdir::of_targets(&file.path))
                    .collect();
                found.sort_unstable();
                found.dedup();
                (found, None)
            }
        };
        self.found.conda = Some(Box::new(Described {
            name: package.name.clone(),
            version: word(&index.version),
            facts,
            platforms,
            other_platform,
        }));
        self.found.packages.push(package);
    }

    fn without_index(&mut self, at: &Locator) {
        let detail = "the package has no `info/index.json`";
        let fault = Fault::new(ProblemKind::MalformedMetadata, detail);
        self.found.problems.push(fault.at(at.clone(), Extent::Part));
    }
}
