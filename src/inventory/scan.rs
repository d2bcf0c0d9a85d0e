//! From what the user named to an inventory: opens sources, reads every file on threads, merges.
//!
//! The result does not depend on the number of threads: everything gathered is sorted at the merge.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};

use crate::archive::{Fault, SharedBytes, Zip};
use crate::error::{Error, ErrorKind};
use crate::limits::{LimitHit, Limits};
use crate::locator::Locator;
use crate::problem::{Extent, ProblemKind};
use crate::source::oci::Blob;
use crate::source::{self, SourceSpec};
use crate::tables::Tables;

use super::draft::Found;
use super::image;
use super::layer::{self, LayerScan, Stored};
use super::leaf::{self, CHUNK, Leaf, Means};
use super::nested;
use super::own;
use super::plan::{File, Job, Layers, Place, Planned, What, plan};
use super::problems::Problems;
use super::progress::{Counted, Progress};
use super::stream::{self, Streamed};
use super::work::{self, Adder};
use super::{Artifact, Inventory, Package, Seen};

/// How to scan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScanOptions {
    /// Threads, at least one.
    pub threads: usize,
    /// Upper bounds of the run.
    pub limits: Limits,
    /// The platform that images are taken for, where they are there for several: `linux/arm64`. All of them where
    /// none is given.
    pub platform: Option<String>,
    /// Whether to read the names of kernels, for which every image is unpacked.
    pub kernels: bool,
    /// How registries are reached; inputs of registries are refused without it.
    #[cfg(feature = "registry")]
    pub access: Option<source::oci::Access>,
    /// Where daemons listen whose images are inputs.
    pub daemons: source::Daemons,
    /// Counters of this run for another thread to look at.
    pub progress: Option<Arc<Progress>>,
}

/// More threads than this only wait for memory.
const THREADS_MAX: usize = 8;

impl Default for ScanOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads: cores.min(THREADS_MAX),
            limits: Limits::default(),
            platform: None,
            kernels: false,
            #[cfg(feature = "registry")]
            access: None,
            daemons: source::Daemons::default(),
            progress: None,
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
    scan_with(specs, options, None, tables)
}

/// As [`scan`], with what the input `-` is.
///
/// # Errors
///
/// An input that does not exist or cannot be opened at all.
pub fn scan_with(
    specs: &[SourceSpec],
    options: &ScanOptions,
    stdin: Option<Box<dyn std::io::Read + Send>>,
    tables: &Tables,
) -> Result<Inventory, Error> {
    let mut planned = Vec::new();
    let mut jobs = Vec::new();
    let mut inputs = Vec::new();
    let mut layers = Layers::default();
    let problems = Problems::new();
    let mut opening = source::OpenOptions::new(options.limits.clone());
    opening.platform.clone_from(&options.platform);
    opening.stdin = stdin;
    opening.daemons.clone_from(&options.daemons);
    #[cfg(feature = "registry")]
    opening.access.clone_from(&options.access);
    for (index, spec) in specs.iter().enumerate() {
        let source = source::open(spec, index, &mut opening)?;
        inputs.push(source.at().clone());
        let (mut input, mut more) = plan(source, index, &mut layers, tables);
        if let Planned::One(draft) = &mut input {
            problems.add(index, std::mem::take(&mut draft.artifact.problems));
        }
        planned.push(input);
        jobs.append(&mut more);
    }
    let mut means = Means::new(options.limits.clone(), tables, options.kernels);
    means.progress.clone_from(&options.progress);
    let run = Run { means, problems };
    for (_, job) in &jobs {
        run.expect(job);
    }
    let gathered = work::run(
        options.threads.max(1),
        jobs,
        Gathered::new,
        |gathered, job, adder| {
            run.work(job, gathered, adder);
        },
    );
    let mut scans: Vec<Option<Arc<LayerScan>>> = vec![None; layers.len()];
    let mut streamed = BTreeMap::new();
    for Gathered {
        found,
        seen,
        layers,
        streams,
        ..
    } in gathered
    {
        let seen = seen.into_iter();
        let seen = seen.map(|(index, seen)| (index, Found::Seen(seen)));
        for (index, found) in seen.chain(found) {
            if let Some(Planned::One(draft)) = planned.get_mut(index) {
                draft.take(found);
            }
        }
        for (number, scan) in layers {
            if let Some(slot) = scans.get_mut(number) {
                *slot = Some(Arc::new(scan));
            }
        }
        streamed.extend(streams);
    }
    let limits = &options.limits;
    let mut problems = run.problems.finish(&inputs);
    let mut artifacts = Vec::new();
    for (index, input) in planned.into_iter().enumerate() {
        let problems = problems.remove(&index).unwrap_or_default();
        match input {
            Planned::One(draft) => artifacts.push(draft.finish(problems)),
            Planned::Images(images) => {
                for (image, numbers) in images {
                    let scans = numbers.iter().map(|number| {
                        let unread = || Fault::new(ProblemKind::Io, "the layer was not read");
                        let scan = scans.get(*number).and_then(Clone::clone);
                        scan.unwrap_or_else(|| Arc::new(layer::absent(unread(), &run.means)))
                    });
                    let scans: Vec<_> = scans.collect();
                    artifacts.push(image::assemble(image, &scans, &problems, tables, limits));
                }
            }
            Planned::Stream => {
                let unread = || Error::new(ErrorKind::Input, "an archive of images was not read");
                for (image, scans) in streamed.remove(&index).ok_or_else(unread)?? {
                    artifacts.push(image::assemble(image, &scans, &[], tables, limits));
                }
            }
        }
    }
    // All or none, so that which are there does not depend on who came first.
    if run.means.are_too_many_names(0) {
        for (number, artifact) in artifacts.iter_mut().enumerate() {
            let at = Locator::root(number, artifact.input.clone());
            forget_kernels(artifact, at, limits.kernel_name_bytes);
        }
    }
    Ok(Inventory {
        artifacts,
        tables: Some(tables.origin()),
    })
}

/// Drops the names of kernels, of which the run has more than it may.
fn forget_kernels(artifact: &mut Artifact, at: Locator, limit: u64) {
    let codes = artifact
        .libraries
        .iter_mut()
        .flat_map(|library| &mut library.code);
    for code in codes {
        code.class.kernels = None;
    }
    let fault = Fault::from(LimitHit::KernelNames(limit));
    let problem = fault.at(at, Extent::Part);
    artifact.problems.push(problem);
    artifact.problems.sort();
}

/// What a thread has found.
struct Gathered {
    buffer: Vec<u8>,
    found: Vec<(usize, Found)>,
    /// What each input has added to how much was looked at.
    seen: BTreeMap<usize, Seen>,
    /// Layers that were read, by number.
    layers: Vec<(usize, LayerScan)>,
    /// Streams that have passed, by input.
    streams: Vec<(usize, Result<Streamed, Error>)>,
}

impl Gathered {
    fn new() -> Self {
        Self {
            buffer: vec![0; CHUNK],
            found: Vec::new(),
            seen: BTreeMap::new(),
            layers: Vec::new(),
            streams: Vec::new(),
        }
    }
}

struct Run<'t> {
    means: Means<'t>,
    problems: Problems,
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
            What::Layer(number, blob, size) => {
                let scan = self.layer(&blob, size);
                gathered.layers.push((number, scan));
                return;
            }
            What::Stream(stream) => {
                let read = stream::read(*stream, &self.means);
                gathered.streams.push((artifact, read));
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

    /// Counts what a job is going to read.
    fn expect(&self, job: &Job) {
        let Some(progress) = &self.means.progress else {
            return;
        };
        match &job.what {
            What::Layer(_, _, size) => {
                progress.expect_layer();
                progress.expect(size.unwrap_or(0));
            }
            What::File(file) => progress.expect(file.size),
            What::Member(place, index) => {
                progress.expect(
                    place
                        .zip
                        .members()
                        .get(*index)
                        .map_or(0, |member| member.size),
                );
            }
            What::Digest(_) | What::Stream(_) => {}
        }
    }

    fn layer(&self, blob: &Blob, size: Option<u64>) -> LayerScan {
        let progress = self.means.progress.as_ref();
        // what is unpacked again has been counted
        let first = AtomicBool::new(true);
        let open = || -> Result<Box<dyn BufRead + Send>, Fault> {
            let counting = progress.filter(|_| first.swap(false, Ordering::Relaxed));
            Ok(Box::new(Counted::new(blob.open()?, counting)))
        };
        let scan = if blob.is_remote() {
            // libraries of which more than the beginning matters are held meanwhile: nothing is pulled twice
            match open() {
                Ok(reader) => layer::scan(Stored::Once(reader), size, &self.means),
                Err(fault) => layer::absent(fault, &self.means),
            }
        } else {
            layer::scan(Stored::Again(&open), size, &self.means)
        };
        if let Some(progress) = progress {
            progress.layer_done();
        }
        scan
    }

    fn read(
        &self,
        artifact: usize,
        package: Option<Arc<Package>>,
        file: File,
        gathered: &mut Gathered,
        adder: &Adder<'_, Job>,
    ) {
        let progress = self.means.progress.as_ref();
        let (leaf, problems) =
            leaf::read_counted(&file, &self.means, progress, &mut gathered.buffer);
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
            Leaf::Scanned(report) => {
                seen.with_device_code += u64::from(report.has_device_code());
                let tables = self.means.tables;
                if let Some(provided) = own::provided(&path, &report, tables) {
                    let provided = Found::Provided(provided, package.clone());
                    gathered.found.push((artifact, provided));
                }
                let library = own::library(path, size, package.as_deref(), *report, tables);
                if let Some(library) = library {
                    let library = Found::Library(Box::new(library), package);
                    gathered.found.push((artifact, library));
                }
            }
        }
        self.problems.add(artifact, problems);
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
        let artifact = place.artifact;
        let limits = self.means.budget.limits();
        match nested::open(bytes, path, &place.at, place.depth, limits) {
            Ok(opened) => {
                if let Some(package) = opened.package {
                    found.push((artifact, Found::Package(Arc::clone(&package))));
                    place.package = Some(package);
                }
                self.problems.add(artifact, opened.problems);
                place.zip = Arc::new(opened.zip);
                for (weight, job) in place.members() {
                    self.expect(&job);
                    adder.add(weight, job);
                }
            }
            Err(problem) => self.problems.add(artifact, vec![problem]),
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
    Ok(hex(&hash.finalize()))
}

/// A digest in hexadecimal.
pub(super) fn hex(digest: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _infallible = write!(hex, "{byte:02x}");
    }
    hex
}
