//! From what the user named to an inventory: opens sources, reads every file on threads, merges.
//!
//! The result does not depend on the number of threads: everything gathered is sorted at the merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::archive::Fault;
use crate::error::{Error, ErrorKind};
use crate::limits::{LimitHit, Limits};
use crate::locator::Locator;
use crate::problem::{Extent, ProblemKind};
use crate::source::lock::Environment;
use crate::source::{self, Fetch, Source, SourceSpec};
use crate::tables::Tables;

use super::cache::Cache;
use super::draft::{Draft, Found};
use super::image;
use super::layer::{self, LayerScan};
use super::leaf::Means;
use super::locks::{self, FileRead, Outcome, Reach};
use super::plan::{Job, Planned, Shared, What, plan};
use super::problems::Problems;
use super::progress::Progress;
use super::run::{Gathered, Run};
use super::work;
use super::{Artifact, Inventory};

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
    let mut opening = source::OpenOptions::new(options.limits.clone());
    opening.platform.clone_from(&options.platform);
    opening.stdin = stdin;
    opening.offline = options.offline;
    opening.daemons.clone_from(&options.daemons);
    #[cfg(feature = "registry")]
    {
        opening.access.clone_from(&options.access);
        opening.fetch.clone_from(&options.fetch);
    }
    let sources = specs.iter().enumerate();
    let sources = sources.map(|(index, spec)| source::open(spec, index, &mut opening));
    scan_all(sources, options, tables)
}

/// As [`scan`], of what is open already, whose locators count from 0.
///
/// # Errors
///
/// A lock file where [`ScanOptions::environments`] is empty.
pub fn scan_sources(
    sources: Vec<Source>,
    options: &ScanOptions,
    tables: &Tables,
) -> Result<Inventory, Error> {
    scan_all(sources.into_iter().map(Ok), options, tables)
}

fn scan_all(
    sources: impl Iterator<Item = Result<Source, Error>>,
    options: &ScanOptions,
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
    for (index, source) in sources.enumerate() {
        let source = source?;
        inputs.push(source.at().clone());
        let (mut input, mut more) = plan(source, index, &mut shared, tables)?;
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
    let first_file = planned.len();
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
