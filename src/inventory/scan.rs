//! From what the user named to an inventory: opens sources, reads every file on threads, merges.
//!
//! The result does not depend on the number of threads: everything gathered is sorted at the merge.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

use crate::archive::{Fault, SharedBytes, Zip};
use crate::error::Error;
use crate::limits::{Budget, LimitHit, Limits};
use crate::problem::Extent;
use crate::source::{self, SourceSpec, Wheel};
use crate::tables::Tables;

use super::draft::{Draft, Found};
use super::leaf::{self, CHUNK, Leaf, Means};
use super::own;
use super::plan::{File, Job, Place, What, file_name, plan};
use super::problems::Problems;
use super::work::{self, Adder};
use super::{Inventory, Package, Seen};

/// How to scan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScanOptions {
    /// Threads, at least one.
    pub threads: usize,
    /// Upper bounds of the run.
    pub limits: Limits,
    /// Whether to read the names of kernels, for which every image is unpacked.
    pub kernels: bool,
}

/// More threads than this only wait for memory.
const THREADS_MAX: usize = 8;

impl Default for ScanOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads: cores.min(THREADS_MAX),
            limits: Limits::default(),
            kernels: false,
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
    let mut inputs = Vec::new();
    let problems = Problems::new();
    for (index, spec) in specs.iter().enumerate() {
        let source = source::open(spec, index, &options.limits)?;
        inputs.push(source.at().clone());
        let (mut artifact, mut more) = plan(source, index);
        problems.add(index, std::mem::take(&mut artifact.artifact.problems));
        artifacts.push(artifact);
        jobs.append(&mut more);
    }
    let run = Run {
        means: Means {
            budget: Budget::new(options.limits.clone()),
            tables,
            kernels: options.kernels,
        },
        problems,
        names: AtomicU64::new(0),
    };
    let start = || Gathered {
        buffer: vec![0; CHUNK],
        found: Vec::new(),
        seen: BTreeMap::new(),
    };
    let gathered = work::run(
        options.threads.max(1),
        jobs,
        start,
        |gathered, job, adder| {
            run.work(job, gathered, adder);
        },
    );
    let found = gathered.into_iter().flat_map(|gathered| {
        let Gathered { found, seen, .. } = gathered;
        let seen = seen.into_iter();
        seen.map(|(index, seen)| (index, Found::Seen(seen)))
            .chain(found)
    });
    for (index, found) in found {
        if let Some(artifact) = artifacts.get_mut(index) {
            artifact.take(found);
        }
    }
    // All or none, so that which are there does not depend on who came first.
    let forget = run.are_too_many_names(0);
    for (index, artifact) in artifacts.iter_mut().enumerate().filter(|_| forget) {
        artifact.forget_kernels();
        let limit = options.limits.kernel_name_bytes;
        let fault = Fault::from(LimitHit::KernelNames(limit));
        if let Some(at) = inputs.get(index) {
            let problem = fault.at(at.clone(), Extent::Part);
            run.problems.add(index, vec![problem]);
        }
    }
    let mut problems = run.problems.finish(&inputs);
    let artifacts = artifacts.into_iter().enumerate().map(|(index, artifact)| {
        let problems = problems.remove(&index).unwrap_or_default();
        Draft::finish(artifact, problems)
    });
    Ok(Inventory {
        artifacts: artifacts.collect(),
        tables: Some(tables.origin()),
    })
}

/// What a thread has found.
struct Gathered {
    buffer: Vec<u8>,
    found: Vec<(usize, Found)>,
    /// What each input has added to how much was looked at.
    seen: BTreeMap<usize, Seen>,
}

struct Run<'t> {
    means: Means<'t>,
    problems: Problems,
    /// Bytes that the names of kernels take in all files so far.
    names: AtomicU64,
}

impl Run<'_> {
    fn work(&self, job: Job, gathered: &mut Gathered, adder: &Adder<'_, Job>) {
        let Job {
            artifact,
            package,
            what,
        } = job;
        let file = match what {
            What::Digest(bytes) => {
                // Whoever reads the same bytes as members reports where they cannot be read.
                if let Ok(hex) = digest(&bytes, &mut gathered.buffer) {
                    gathered.found.push((artifact, Found::Digest(hex)));
                }
                return;
            }
            What::File(file) => *file,
            What::Member(place, index) => match place.file(index) {
                Some(file) => file,
                None => return,
            },
        };
        self.read(artifact, package, file, gathered, adder);
    }

    fn read(
        &self,
        artifact: usize,
        package: Option<Arc<Package>>,
        file: File,
        gathered: &mut Gathered,
        adder: &Adder<'_, Job>,
    ) {
        let (leaf, problems) = leaf::read(&file, &self.means, &mut gathered.buffer);
        let File {
            path,
            size,
            at,
            depth,
            ..
        } = file;
        let seen = gathered.seen.entry(artifact).or_default();
        seen.files += 1;
        match leaf {
            Leaf::Other => {}
            Leaf::Unopened => seen.unopened += 1,
            Leaf::Zip(bytes) => {
                let place = Place {
                    artifact,
                    package,
                    prefix: format!("{path} › "),
                    at,
                    depth: depth + 1,
                    zip: Arc::new(Zip::unreadable(bytes.clone())),
                };
                self.open_nested(place, bytes, &path, &mut gathered.found, adder);
            }
            Leaf::Scanned(mut report) => {
                if self.are_too_many_names(report.kernel_name_bytes) {
                    report.forget_kernels();
                }
                seen.with_device_code += u64::from(report.has_device_code());
                let library =
                    own::library(path, size, package.as_deref(), *report, self.means.tables);
                if let Some(library) = library {
                    let library = Found::Library(Box::new(library), package);
                    gathered.found.push((artifact, library));
                }
            }
        }
        self.problems.add(artifact, problems);
    }

    /// Counts `more` bytes of names of kernels, and says whether the run has more than it may.
    fn are_too_many_names(&self, more: u64) -> bool {
        let before = self.names.fetch_add(more, Ordering::Relaxed);
        before.saturating_add(more) > self.means.budget.limits().kernel_name_bytes
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
        let limits = self.means.budget.limits();
        let artifact = place.artifact;
        if place.depth > limits.depth {
            let fault = Fault::from(LimitHit::Depth(limits.depth));
            let problem = fault.at(place.at.clone(), Extent::Member);
            self.problems.add(artifact, vec![problem]);
            return;
        }
        let (zip, problems) = if source::is_named_wheel(path) {
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
                Err(problem) => {
                    self.problems.add(artifact, vec![problem]);
                    return;
                }
            }
        };
        self.problems.add(artifact, problems);
        place.zip = Arc::new(zip);
        for (weight, job) in place.members() {
            adder.add(weight, job);
        }
    }
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
