//! What each job of a run does: reads a file, a layer, a package or a stream, and keeps what was found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};

use crate::archive::{Fault, SharedBytes, Zip};
use crate::device::DeviceReport;
use crate::error::Error;
use crate::problem::Extent;
use crate::source::Conda;
use crate::source::conda::CondaForm;
use crate::source::oci::Blob;

use super::draft::{Draft, Found};
use super::layer::{self, LayerScan, Stored};
use super::leaf::{self, CHUNK, Leaf, Means};
use super::locks::{self, Outcome, Reach, Wanted};
use super::nested::{self, Nested, Opened};
use super::own;
use super::plan::{File, Job, Place, Planned, Shared, What, file_name, plan};
use super::problems::Problems;
use super::progress::Counted;
use super::stream::{self, Streamed};
use super::work::Adder;
use super::{Package, Seen};

/// What a thread has found.
pub(super) struct Gathered {
    buffer: Vec<u8>,
    pub(super) found: Vec<(usize, Found)>,
    /// What each input has added to how much was looked at.
    pub(super) seen: BTreeMap<usize, Seen>,
    /// Layers that were read, by number.
    pub(super) layers: Vec<(usize, LayerScan)>,
    /// Files of lock files, by number.
    pub(super) files: Vec<(usize, Outcome, Option<Box<Draft>>)>,
    /// Streams that have passed, by input.
    pub(super) streams: Vec<(usize, Result<Streamed, Error>)>,
}

impl Gathered {
    pub(super) fn new() -> Self {
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

pub(super) struct Run<'t> {
    pub(super) means: Means<'t>,
    pub(super) problems: Problems,
    /// The files of lock files.
    pub(super) wanted: Vec<Wanted>,
    pub(super) reach: Reach<'t>,
}

impl Run<'_> {
    pub(super) fn work(&self, job: Job, gathered: &mut Gathered, adder: &Adder<'_, Job>) {
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
            What::Conda(conda, sure) => {
                self.conda(artifact, *conda, sure, gathered);
                return;
            }
            What::File(file) => *file,
            What::Member(place, index) => match place.file(index) {
                Some(file) => file,
                None => return,
            },
            What::Members(place, indices, left_out) => {
                self.together(&place, &indices, &left_out, gathered, adder);
                return;
            }
            What::Header(place, index) => {
                self.header(&place, index);
                return;
            }
        };
        self.read(artifact, package, file, gathered, adder);
    }

    /// Counts what a job is going to read.
    pub(super) fn expect(&self, job: &Job) {
        let Some(progress) = &self.means.progress else {
            return;
        };
        match &job.what {
            What::Layer(_, _, size) => {
                progress.expect_layer();
                progress.expect(size.unwrap_or(0));
            }
            What::File(file) => progress.expect(file.size),
            What::Conda(conda, _) => progress.expect(conda.bytes.len()),
            What::Member(place, index) => progress.expect(place.size(*index)),
            What::Members(place, indices, _) => {
                progress.expect(indices.iter().map(|index| place.size(*index)).sum());
            }
            What::Locked(_) => progress.expect_package(),
            What::Digest(_) | What::Stream(_) | What::Header(..) => {}
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
        if let Some(progress) = &self.means.progress {
            progress.package_done();
        }
        self.problems.add(artifact, problems);
        let mut draft = None;
        if let Some(source) = source {
            let tables = self.means.tables;
            // no lock file lies behind an address of one
            if let Ok((Planned::One(one), jobs)) =
                plan(source, artifact, &mut Shared::default(), tables)
            {
                draft = Some(one);
                for (weight, job) in jobs {
                    self.expect(&job);
                    adder.add(weight, job);
                }
            }
        }
        gathered.files.push((number, outcome, draft));
    }

    /// Reads members that lie side by side in an archive that is fetched, of which several come in one piece.
    fn together(
        &self,
        place: &Place,
        indices: &[usize],
        left_out: &[usize],
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
        for index in left_out {
            self.header(place, *index);
        }
    }

    /// Compares the local header of a member that is left out: an installer may go by the name that stands there.
    fn header(&self, place: &Place, index: usize) {
        if let Err(fault) = place.zip.compare_header(index)
            && let Some(member) = place.zip.members().get(index)
        {
            let at = place.at.member(&member.name);
            let problem = fault.at(at, Extent::Member);
            self.problems.add(place.artifact, vec![problem]);
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
                self.open_nested(place, bytes, &path, gathered, adder);
            }
            Leaf::Nested(nested) => {
                let prefix = format!("{path} › ");
                self.nested(artifact, package.as_ref(), &prefix, *nested, gathered);
            }
            Leaf::Scanned(report) => {
                seen.with_device_code += u64::from(report.has_device_code());
                self.keep(artifact, path, size, package, *report, gathered);
            }
        }
        self.problems.add(artifact, problems);
    }

    /// Keeps what matters of a scanned file.
    fn keep(
        &self,
        artifact: usize,
        path: String,
        size: u64,
        package: Option<Arc<Package>>,
        report: DeviceReport,
        gathered: &mut Gathered,
    ) {
        let tables = self.means.tables;
        if let Some(provided) = own::provided(&path, &report, tables) {
            let provided = Found::Provided(provided, package.clone());
            gathered.found.push((artifact, provided));
        }
        if let Some(library) = own::library(path, size, package.as_deref(), report, tables) {
            let library = Found::Library(Box::new(library), package);
            gathered.found.push((artifact, library));
        }
    }

    /// Opens an archive that lies in another or in a directory.
    fn open_nested(
        &self,
        mut place: Place,
        bytes: SharedBytes,
        path: &str,
        gathered: &mut Gathered,
        adder: &Adder<'_, Job>,
    ) {
        let artifact = place.artifact;
        let limits = self.means.budget.limits();
        match nested::open(bytes, path, &place.at, place.depth, limits) {
            Ok(Opened::Zip {
                zip,
                package,
                problems,
            }) => {
                if let Some(package) = package {
                    let found = Found::Package(Arc::clone(&package));
                    gathered.found.push((artifact, found));
                    place.package = Some(package);
                }
                self.problems.add(artifact, problems);
                place.zip = Arc::new(zip);
                let (jobs, left_out) = place.members();
                gathered.seen.entry(artifact).or_default().left_out += left_out;
                for (weight, job) in jobs {
                    self.expect(&job);
                    adder.add(weight, job);
                }
            }
            Ok(Opened::Conda(conda)) => {
                let (depth, buffer) = (place.depth, &mut gathered.buffer);
                let nested = nested::read_conda(*conda, depth, &self.means, buffer);
                self.nested(
                    artifact,
                    place.package.as_ref(),
                    &place.prefix,
                    nested,
                    gathered,
                );
            }
            Err(problem) => self.problems.add(artifact, vec![problem]),
        }
    }

    /// Reads an input that is a conda package or, where it is not `sure`, may turn out to be one.
    fn conda(&self, artifact: usize, conda: Conda, sure: bool, gathered: &mut Gathered) {
        let name = file_name(conda.at.artifact());
        let buffer = &mut gathered.buffer;
        let nested = match &conda.form {
            CondaForm::Tar => nested::read_bzip2(&conda, sure, &self.means, buffer),
            CondaForm::Zip { .. } => Some(nested::read_conda(conda, 1, &self.means, buffer)),
        };
        let seen = gathered.seen.entry(artifact).or_default();
        let Some(mut nested) = nested else {
            // a file as any other
            seen.files += 1;
            seen.unopened += 1;
            return;
        };
        let described = nested.conda.take();
        let prefix = if sure || described.is_some() {
            String::new()
        } else {
            seen.files += 1;
            format!("{name} › ")
        };
        let described = described.map(|described| (artifact, Found::Conda(described)));
        gathered.found.extend(described);
        self.nested(artifact, None, &prefix, nested, gathered);
    }

    /// Takes what an archive holds that is read by one thread, `prefix` before its paths. What no package in it has
    /// is `outer`'s.
    fn nested(
        &self,
        artifact: usize,
        outer: Option<&Arc<Package>>,
        prefix: &str,
        nested: Nested,
        gathered: &mut Gathered,
    ) {
        gathered.seen.entry(artifact).or_default().add(nested.seen);
        let packages = nested.packages.into_iter();
        let packages = packages.map(|package| (artifact, Found::Package(package)));
        gathered.found.extend(packages);
        for file in nested.files {
            let package = file.package.or_else(|| outer.cloned());
            let path = format!("{prefix}{}", file.path);
            self.keep(artifact, path, file.size, package, file.report, gathered);
        }
        self.problems.add(artifact, nested.problems);
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
