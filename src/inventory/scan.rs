//! From what the user named to an inventory: opens sources, reads every file on threads, merges.
//!
//! The result does not depend on the number of threads: everything gathered is sorted at the merge.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::archive::{Fault, MemberKind, SharedBytes, Zip};
use crate::error::Error;
use crate::limits::{Budget, LimitHit, Limits};
use crate::locator::Locator;
use crate::problem::{Extent, Problem};
use crate::source::{self, Dir, Source, SourceSpec, Wheel};
use crate::tables::Tables;

use super::leaf::{self, CHUNK, Input, Leaf};
use super::own;
use super::work::{self, Adder};
use super::{Artifact, ArtifactKind, Inventory, Library, Package, Seen};

/// How to scan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScanOptions {
    /// Threads, at least one.
    pub threads: usize,
    /// Upper bounds of the run.
    pub limits: Limits,
}

/// More threads than this only wait for memory.
const THREADS_MAX: usize = 8;

impl Default for ScanOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads: cores.min(THREADS_MAX),
            limits: Limits::default(),
        }
    }
}

/// Reads everything that `specs` name. What could not be read is in the problems of each artifact.
///
/// # Errors
///
/// An input that does not exist or cannot be opened at all.
pub fn scan(
    specs: &[SourceSpec],
    options: &ScanOptions,
    tables: &Tables,
) -> Result<Inventory, Error> {
    let mut artifacts = Vec::new();
    let mut jobs = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let source = source::open(spec, index, &options.limits)?;
        let (artifact, mut more) = plan(source, index);
        artifacts.push(artifact);
        jobs.append(&mut more);
    }
    let run = Run {
        budget: Budget::new(options.limits.clone()),
        tables,
    };
    let start = || Gathered {
        buffer: vec![0; CHUNK],
        found: Vec::new(),
    };
    let gathered = work::run(
        options.threads.max(1),
        jobs,
        start,
        |gathered, job, adder| {
            run.work(job, gathered, adder);
        },
    );
    for (index, found) in gathered.into_iter().flat_map(|gathered| gathered.found) {
        if let Some(artifact) = artifacts.get_mut(index) {
            artifact.take(found);
        }
    }
    Ok(Inventory {
        artifacts: artifacts.into_iter().map(Draft::finish).collect(),
    })
}

/// An artifact on the way.
struct Draft {
    artifact: Artifact,
    packages: BTreeSet<Package>,
    libraries: Vec<(Library, Option<Package>)>,
}

/// Something to read.
struct Job {
    artifact: usize,
    /// The package that owns it.
    package: Option<Arc<Package>>,
    what: What,
}

enum What {
    File {
        input: Input,
        /// The path that a report shows.
        path: String,
        size: u64,
        at: Locator,
        /// Archives around it.
        depth: u32,
    },
    Digest(SharedBytes),
}

/// What a thread has found.
struct Gathered {
    buffer: Vec<u8>,
    found: Vec<(usize, Found)>,
}

enum Found {
    Library(Box<Library>, Option<Arc<Package>>),
    Problems(Vec<Problem>),
    Package(Arc<Package>),
    Digest(String),
    Seen(Seen),
}

fn plan(source: Source, index: usize) -> (Draft, Vec<(u64, Job)>) {
    match source {
        Source::Wheel(wheel) => plan_wheel(wheel, index),
        Source::Dir(dir) => plan_dir(dir, index),
        Source::Sdist(sdist) => {
            let mut draft = Draft::new(ArtifactKind::Sdist, &sdist.at);
            draft.artifact.name = Some(sdist.name.clone());
            draft.artifact.version = Some(sdist.version.clone());
            draft
                .packages
                .insert(Package::new(sdist.name, Some(sdist.version)));
            (draft, vec![digest_job(index, sdist.bytes)])
        }
        Source::File(file) => {
            let draft = Draft::new(ArtifactKind::File, &file.at);
            let path = file_name(file.at.artifact());
            let size = file.bytes.len();
            let input = Input::Bytes(file.bytes.clone());
            let what = What::File {
                input,
                path,
                size,
                at: file.at,
                depth: 0,
            };
            let job = Job {
                artifact: index,
                package: None,
                what,
            };
            (draft, vec![(size, job), digest_job(index, file.bytes)])
        }
    }
}

fn plan_wheel(wheel: Wheel, index: usize) -> (Draft, Vec<(u64, Job)>) {
    let mut draft = Draft::new(ArtifactKind::Wheel, &wheel.at);
    draft.artifact.name.clone_from(&wheel.name);
    draft.artifact.version.clone_from(&wheel.version);
    draft.artifact.platforms.clone_from(&wheel.platforms);
    draft
        .artifact
        .other_platforms
        .clone_from(&wheel.other_platforms);
    draft.artifact.problems = wheel.problems;
    let package = wheel
        .name
        .clone()
        .map(|name| Arc::new(Package::new(name, wheel.version.clone())));
    draft.packages.extend(package.as_deref().cloned());
    let place = Place {
        artifact: index,
        package,
        prefix: String::new(),
        at: wheel.at,
        depth: 1,
    };
    let mut jobs = vec![digest_job(index, wheel.bytes)];
    jobs.extend(place.members(&Arc::new(wheel.zip)));
    (draft, jobs)
}

fn plan_dir(dir: Dir, index: usize) -> (Draft, Vec<(u64, Job)>) {
    let mut draft = Draft::new(ArtifactKind::Directory, &dir.at);
    draft.artifact.problems = dir.problems;
    let packages: Vec<Arc<Package>> = dir
        .packages
        .into_iter()
        .map(|package| Arc::new(Package::new(package.name, package.version)))
        .collect();
    draft
        .packages
        .extend(packages.iter().map(|package| Package::clone(package)));
    let jobs = dir.files.into_iter().map(|file| {
        let what = What::File {
            input: Input::Path(file.path),
            at: dir.at.member(&file.name),
            path: file.name.to_string(),
            size: file.size,
            depth: 0,
        };
        let package = file.package.and_then(|index| packages.get(index)).cloned();
        (
            file.size,
            Job {
                artifact: index,
                package,
                what,
            },
        )
    });
    (draft, jobs.collect())
}

fn digest_job(artifact: usize, bytes: SharedBytes) -> (u64, Job) {
    // hashing costs about a fifth of what inflating does
    (
        bytes.len() / 5,
        Job {
            artifact,
            package: None,
            what: What::Digest(bytes),
        },
    )
}

fn file_name(path: &str) -> String {
    path.rsplit(['/', std::path::MAIN_SEPARATOR])
        .next()
        .unwrap_or(path)
        .to_owned()
}

/// An opened archive in an artifact.
struct Place {
    artifact: usize,
    package: Option<Arc<Package>>,
    /// What stands before the names of members in paths.
    prefix: String,
    at: Locator,
    /// Archives around its members, itself included.
    depth: u32,
}

impl Place {
    fn members(&self, zip: &Arc<Zip>) -> Vec<(u64, Job)> {
        let members = zip.members().iter().enumerate();
        // pip writes the data of a member that is marked as a link into a file, library or not
        members
            .filter(|(_, member)| member.is_readable() && member.kind != MemberKind::Dir)
            .map(|(index, member)| {
                let what = What::File {
                    input: Input::Member(Arc::clone(zip), index),
                    path: format!("{}{}", self.prefix, member.name),
                    size: member.size,
                    at: self.at.member(&member.name),
                    depth: self.depth,
                };
                let package = self.package.clone();
                (
                    member.size,
                    Job {
                        artifact: self.artifact,
                        package,
                        what,
                    },
                )
            })
            .collect()
    }
}

struct Run<'t> {
    budget: Budget,
    tables: &'t Tables,
}

impl Run<'_> {
    fn work(&self, job: Job, gathered: &mut Gathered, adder: &Adder<'_, Job>) {
        let Job {
            artifact,
            package,
            what,
        } = job;
        let found = &mut gathered.found;
        match what {
            What::Digest(bytes) => match digest(&bytes, &mut gathered.buffer) {
                Ok(hex) => found.push((artifact, Found::Digest(hex))),
                // Whoever reads the same bytes as members reports where they cannot be read.
                Err(_fault) => {}
            },
            What::File {
                input,
                path,
                size,
                at,
                depth,
            } => {
                let (leaf, problems) = leaf::read(
                    &input,
                    &path,
                    size,
                    &at,
                    &self.budget,
                    self.tables,
                    &mut gathered.buffer,
                );
                let mut seen = Seen {
                    files: 1,
                    ..Seen::default()
                };
                match leaf {
                    Leaf::Other => {}
                    Leaf::Unopened => seen.unopened = 1,
                    Leaf::Zip(bytes) => {
                        let place = Place {
                            artifact,
                            package,
                            prefix: format!("{path} › "),
                            at,
                            depth: depth + 1,
                        };
                        self.open_nested(place, bytes, &path, found, adder);
                    }
                    Leaf::Scanned(report) => {
                        seen.with_device_code = u64::from(report.has_device_code());
                        let library =
                            own::library(path, size, package.as_deref(), *report, self.tables);
                        if let Some(library) = library {
                            found.push((artifact, Found::Library(Box::new(library), package)));
                        }
                    }
                }
                found.push((artifact, Found::Seen(seen)));
                if !problems.is_empty() {
                    found.push((artifact, Found::Problems(problems)));
                }
            }
        }
    }

    /// Opens an archive that lies in another or in a directory.
    fn open_nested(
        &self,
        mut place: Place,
        bytes: SharedBytes,
        path: &str,
        found: &mut Vec<(usize, Found)>,
        adder: &Adder<'_, Job>,
    ) {
        let limits = self.budget.limits();
        let artifact = place.artifact;
        if place.depth > limits.depth {
            let fault = Fault::from(LimitHit::Depth(limits.depth));
            let problem = fault.at(place.at.clone(), Extent::Member);
            found.push((artifact, Found::Problems(vec![problem])));
            return;
        }
        let (zip, problems) = if is_wheel(path) {
            let wheel = Wheel::from_bytes(bytes, place.at.clone(), &file_name(path), limits);
            if let Some(name) = wheel.name {
                let package = Arc::new(Package::new(name, wheel.version));
                found.push((artifact, Found::Package(Arc::clone(&package))));
                place.package = Some(package);
            }
            (wheel.zip, wheel.problems)
        } else {
            match Zip::open(bytes, &place.at, limits) {
                Ok(opened) => (opened.zip, opened.problems),
                // A file that only begins like an archive is data.
                Err(problem) => (
                    Zip::unreadable(SharedBytes::from(Vec::new())),
                    vec![problem],
                ),
            }
        };
        if !problems.is_empty() {
            found.push((artifact, Found::Problems(problems)));
        }
        for (weight, job) in place.members(&Arc::new(zip)) {
            adder.add(weight, job);
        }
    }
}

fn is_wheel(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, suffix)| suffix.eq_ignore_ascii_case("whl"))
}

fn digest(bytes: &SharedBytes, buffer: &mut [u8]) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut cursor = bytes.cursor();
    loop {
        let n = cursor.read(buffer)?;
        if n == 0 {
            break;
        }
        hash.update(buffer.get(..n).unwrap_or_default());
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        let _infallible = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

impl Draft {
    fn new(kind: ArtifactKind, at: &Locator) -> Self {
        Self {
            artifact: Artifact {
                input: at.artifact().to_owned(),
                kind,
                name: None,
                version: None,
                sha256: None,
                platforms: Vec::new(),
                other_platforms: Vec::new(),
                packages: Vec::new(),
                libraries: Vec::new(),
                problems: Vec::new(),
                seen: Seen::default(),
            },
            packages: BTreeSet::new(),
            libraries: Vec::new(),
        }
    }

    fn take(&mut self, found: Found) {
        let artifact = &mut self.artifact;
        match found {
            Found::Library(library, package) => {
                self.libraries.push((*library, package.as_deref().cloned()));
            }
            Found::Problems(problems) => artifact.problems.extend(problems),
            Found::Package(package) => {
                self.packages.insert(Package::clone(&package));
            }
            Found::Digest(hex) => artifact.sha256 = Some(hex),
            Found::Seen(seen) => {
                artifact.seen.files += seen.files;
                artifact.seen.with_device_code += seen.with_device_code;
                artifact.seen.unopened += seen.unopened;
            }
        }
    }

    fn finish(mut self) -> Artifact {
        self.artifact.packages = self.packages.into_iter().collect();
        let packages = &self.artifact.packages;
        self.artifact.libraries = self
            .libraries
            .into_iter()
            .map(|(mut library, package)| {
                library.package = package.and_then(|package| packages.binary_search(&package).ok());
                library
            })
            .collect();
        self.artifact
            .libraries
            .sort_by(|a, b| a.path.cmp(&b.path).then(a.size.cmp(&b.size)));
        self.artifact.problems.sort();
        self.artifact
    }
}
