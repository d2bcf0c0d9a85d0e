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
use crate::source::lock::Environment;
use crate::source::oci::Blob;
use crate::source::{self, Fetch, SourceSpec};
use crate::tables::Tables;

use super::cache::Cache;
use super::draft::{Draft, Found};
use super::image;
use super::layer::{self, LayerScan, Stored};
use super::leaf::{self, CHUNK, Leaf, Means};
use super::locks::{self, FileRead, Outcome, Reach, Wanted};
use super::nested;
use super::own;
use super::plan::{File, Job, Place, Planned, Shared, What, plan};
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
    /// Whether inputs on other machines are refused.
    pub offline: bool,
    /// How registries and servers of files are reached; such inputs are refused without it.
    #[cfg(feature = "registry")]
    pub access: Option<source::oci::Access>,
    /// Where daemons listen whose images are inputs.
    pub daemons: source::Daemons,
    /// Where the packages of lock files would be installed: an artifact of each.
    pub environments: Vec<Environment>,
    /// How files of servers are reached; none is asked without it.
    pub fetch: Option<Arc<dyn Fetch>>,
    /// Where what is in files is kept between runs.
    pub cache: Option<Cache>,
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
            offline: false,
            #[cfg(feature = "registry")]
            access: None,
            daemons: source::Daemons::default(),
            environments: Vec::new(),
            fetch: None,
            cache: None,
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
    let mut shared = Shared {
        environments: &options.environments,
        ..Shared::default()
    };
    let problems = Problems::new();
    let mut opening = source::OpenOptions::new(options.limits.clone());
    opening.platform.clone_from(&options.platform);
    opening.stdin = stdin;
    opening.offline = options.offline;
    opening.daemons.clone_from(&options.daemons);
    #[cfg(feature = "registry")]
    opening.access.clone_from(&options.access);
    for (index, spec) in specs.iter().enumerate() {
        let source = source::open(spec, index, &mut opening)?;
        inputs.push(source.at().clone());
        let (mut input, mut more) = plan(source, index, &mut shared)?;
        if let Planned::One(draft) = &mut input {
            problems.add(index, std::mem::take(&mut draft.artifact.problems));
        }
        planned.push(input);
        jobs.append(&mut more);
    }
    let mut means = Means::new(options.limits.clone(), tables, options.kernels);
    means.progress.clone_from(&options.progress);
    let Shared { layers, files, .. } = shared;
    let wanted = files.into_list();
    let first_file = specs.len();
    for (number, file) in wanted.iter().enumerate() {
        inputs.push(file.at().clone());
        let job = Job {
            artifact: first_file + number,
            package: None,
            what: What::Locked(number),
        };
        jobs.push((file.weight(), job));
    }
    let mut files: Vec<(Option<Outcome>, Box<Draft>)> = Vec::new();
    files.extend(wanted.iter().map(|file| (None, Box::new(file.draft()))));
    let run = Run {
        means,
        problems,
        wanted,
        reach: Reach {
            fetch: options.fetch.as_deref(),
            cache: options.cache.as_ref(),
        },
    };
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
    let mut gathered = gathered;
    // drafts come before what was found of them, whichever thread found it
    for (number, outcome, draft) in gathered.iter_mut().flat_map(|each| each.files.drain(..)) {
        if let Some(file) = files.get_mut(number) {
            file.0 = Some(outcome);
            if let Some(mut draft) = draft {
                let problems = std::mem::take(&mut draft.artifact.problems);
                run.problems.add(first_file + number, problems);
                file.1 = draft;
            }
        }
    }
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
            let draft = match planned.get_mut(index) {
                Some(Planned::One(draft)) => Some(draft),
                Some(_) => None,
                None => files.get_mut(index - first_file).map(|file| &mut file.1),
            };
            if let Some(draft) = draft {
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
    let files = files
        .into_iter()
        .enumerate()
        .map(|(number, (outcome, draft))| {
            let problems = problems.remove(&(first_file + number)).unwrap_or_default();
            let at = inputs.get(first_file + number)?;
            Some(FileRead::new(outcome?, draft.finish(problems), at))
        });
    let files: Vec<Option<FileRead>> = files.collect();
    for file in files.iter().flatten() {
        file.keep(run.reach, options.kernels, tables);
    }
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
            Planned::Locks(locks) => {
                artifacts.extend(locks.into_iter().map(|lock| locks::assemble(lock, &files)));
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
    /// Files of lock files, by number.
    files: Vec<(usize, Outcome, Option<Box<Draft>>)>,
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
            files: Vec::new(),
            streams: Vec::new(),
        }
    }
}

struct Run<'t> {
    means: Means<'t>,
    problems: Problems,
    /// The files of lock files.
    wanted: Vec<Wanted>,
    reach: Reach<'t>,
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
            What::Locked(number) => {
                self.locked(number, artifact, gathered, adder);
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
            What::Members(place, indices) => {
                self.together(&place, &indices, gathered, adder);
                return;
            }
        };
        self.read(artifact, package, file, gathered, adder);
    }

    /// Reads members that lie side by side in an archive that is fetched, of which several come in one piece.
    fn together(
        &self,
        place: &Place,
        indices: &[usize],
        gathered: &mut Gathered,
        adder: &Adder<'_, Job>,
    ) {
        let range = |index: &usize| place.zip.members().get(*index)?.range();
        let ends = [indices.first(), indices.last()].map(|index| index.and_then(range));
        let _held = match ends {
            // where they cannot be had together, each says why
            [Some(first), Some(last)] if indices.len() > 1 => {
                place.zip.hold(first.start..last.end).ok().flatten()
            }
            _ => None,
        };
        for index in indices {
            if let Some(file) = place.file(*index) {
                self.read(place.artifact, place.package.clone(), file, gathered, adder);
            }
        }
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
            What::Member(place, index) => progress.expect(place.size(*index)),
            What::Members(place, indices) => {
                progress.expect(indices.iter().map(|index| place.size(*index)).sum());
            }
            What::Digest(_) | What::Stream(_) | What::Locked(_) => {}
        }
    }

    /// Opens a file of a lock file, and adds what there is to read of it.
    fn locked(
        &self,
        number: usize,
        artifact: usize,
        gathered: &mut Gathered,
        adder: &Adder<'_, Job>,
    ) {
        let Some(wanted) = self.wanted.get(number) else {
            return;
        };
        let (outcome, source, problems) = locks::open(wanted, self.reach, &self.means);
        self.problems.add(artifact, problems);
        let mut draft = None;
        if let Some(source) = source {
            // no lock file lies behind an address of one
            if let Ok((Planned::One(one), jobs)) = plan(source, artifact, &mut Shared::default()) {
                draft = Some(one);
                for (weight, job) in jobs {
                    self.expect(&job);
                    adder.add(weight, job);
                }
            }
        }
        gathered.files.push((number, outcome, draft));
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
                self.open_nested(place, bytes, &path, seen, &mut gathered.found, adder);
            }
            Leaf::Scanned(report) => {
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

    /// Opens an archive that lies in another or in a directory.
    fn open_nested(
        &self,
        mut place: Place,
        bytes: SharedBytes,
        path: &str,
        seen: &mut Seen,
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
                let (jobs, left_out) = place.members();
                seen.left_out += left_out;
                for (weight, job) in jobs {
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
