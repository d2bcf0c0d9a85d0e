//! Archives in archives: opened where they lie, and all of them read.
//!
//! Zip archives are read from their end, so that they are held for it; tar archives, packed or not, are read forward
//! as they pass (`forward`). Both end in the same pass over files (`leaf`).

mod forward;
mod package;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::sync::Arc;

use crate::archive::{Kind, SharedBytes, Zip};
use crate::device::DeviceReport;
use crate::limits::{LimitHit, Limits};
use crate::locator::Locator;
use crate::problem::{Extent, Problem};
use crate::source::conda::CondaFilename;
use crate::source::{self, Conda, Wheel};

use super::leaf::{self, Leaf, Means};
use super::own;
use super::plan::{File, Place, file_name};
use super::{Package, Seen};

pub(super) use forward::Passing;
pub(super) use package::{Described, read_bzip2, read_conda};

/// The most archives inside each other, whatever the limits of the run: each is read in the one around it.
const DEPTH_MAX: u32 = 64;

/// An archive that was opened.
pub(super) enum Opened {
    Zip {
        zip: Zip,
        /// The package, where it is a wheel.
        package: Option<Arc<Package>>,
        problems: Vec<Problem>,
    },
    Conda(Box<Conda>),
}

/// Opens the zip archive called `path`, with `depth` archives around its members.
pub(super) fn open(
    bytes: SharedBytes,
    path: &str,
    at: &Locator,
    depth: u32,
    limits: &Limits,
) -> Result<Opened, Problem> {
    require_depth(depth, at, limits)?;
    let name = file_name(path);
    if source::is_named_wheel(path) {
        let wheel = Wheel::from_bytes(bytes, at.clone(), &name, limits);
        let package = wheel
            .name
            .map(|name| Arc::new(Package::new(name, wheel.version)));
        return Ok(Opened::Zip {
            zip: wheel.zip,
            package,
            problems: wheel.problems,
        });
    }
    if CondaFilename::is_suffixed(&name) {
        let conda = Conda::open(bytes, at.clone(), &name, limits);
        return Ok(Opened::Conda(Box::new(conda)));
    }
    // A file that only begins like an archive is data.
    let opened = Zip::open(bytes.clone(), at, limits)?;
    if Conda::is_zip_of_one(&opened.zip) {
        let (zip, problems) = (opened.zip, opened.problems);
        let conda = Conda::of_zip(zip, problems, bytes, at.clone(), &name, limits);
        return Ok(Opened::Conda(Box::new(conda)));
    }
    Ok(Opened::Zip {
        zip: opened.zip,
        package: None,
        problems: opened.problems,
    })
}

fn require_depth(depth: u32, at: &Locator, limits: &Limits) -> Result<(), Problem> {
    let most = limits.depth.min(DEPTH_MAX);
    if depth > most {
        let fault = crate::archive::Fault::from(LimitHit::Depth(most));
        return Err(fault.at(at.clone(), Extent::Member));
    }
    Ok(())
}

/// What an archive and the archives in it hold.
#[derive(Debug, Default)]
pub(super) struct Nested {
    pub(super) files: Vec<NestedFile>,
    pub(super) packages: Vec<Arc<Package>>,
    pub(super) problems: Vec<Problem>,
    pub(super) seen: Seen,
    /// What the archive itself says that it is, where it is a conda package.
    pub(super) conda: Option<Box<Described>>,
}

/// A file of an archive that was scanned.
#[derive(Debug)]
pub(super) struct NestedFile {
    /// The path in the outermost archive.
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) package: Option<Arc<Package>>,
    pub(super) report: DeviceReport,
}

/// Reads the zip archive called `path`, with `depth` archives around its members, and those in it.
pub(super) fn read_all(
    bytes: SharedBytes,
    path: &str,
    at: &Locator,
    depth: u32,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> Nested {
    let mut reading = Reading::new(means, buffer);
    reading.zip(bytes, path, at, depth);
    reading.found
}

/// Reads a tar archive, or a stream that may hold one, as it passes. `packed` begins with the first byte of `file`.
/// Nothing where it holds none.
pub(super) fn read_forward(
    file: &Passing,
    kind: Kind,
    packed: &mut (dyn Read + Send),
    means: &Means<'_>,
    buffer: &mut [u8],
) -> Option<Nested> {
    let mut reading = Reading::new(means, buffer);
    let opened = reading.forward(file, kind, packed);
    opened.then_some(reading.found)
}

/// Archives on the way.
struct Reading<'a, 't> {
    means: &'a Means<'t>,
    buffer: &'a mut [u8],
    found: Nested,
}

impl<'a, 't> Reading<'a, 't> {
    fn new(means: &'a Means<'t>, buffer: &'a mut [u8]) -> Self {
        Self {
            means,
            buffer,
            found: Nested::default(),
        }
    }

    fn zip(&mut self, bytes: SharedBytes, path: &str, at: &Locator, depth: u32) {
        match open(bytes, path, at, depth, self.means.budget.limits()) {
            Ok(Opened::Zip {
                zip,
                package,
                problems,
            }) => {
                self.found.problems.extend(problems);
                self.found.packages.extend(package.clone());
                let place = Place {
                    artifact: 0,
                    package,
                    prefix: String::new(),
                    at: at.clone(),
                    depth,
                    zip: Arc::new(zip),
                };
                let first = self.found.files.len();
                for index in place.readable() {
                    if let Some(file) = place.file(index) {
                        self.file(file);
                    }
                }
                self.own_from(first, place.package.as_ref());
            }
            Ok(Opened::Conda(conda)) => self.conda(*conda, depth),
            Err(problem) => self.found.problems.push(problem),
        }
    }

    /// Reads a file that can be opened as often as needed.
    fn file(&mut self, file: File) {
        let (leaf, problems) = leaf::read(&file, self.means, self.buffer);
        self.found.seen.files += 1;
        self.found.problems.extend(problems);
        self.leaf(file, leaf);
    }

    fn leaf(&mut self, file: File, leaf: Leaf) {
        let found = &mut self.found;
        match leaf {
            Leaf::Other => {}
            Leaf::Unopened => found.seen.unopened += 1,
            Leaf::Zip(bytes) => {
                let inner = read_all(
                    bytes,
                    &file.path,
                    &file.at,
                    file.depth + 1,
                    self.means,
                    self.buffer,
                );
                found.take(&file.path, inner);
            }
            Leaf::Nested(inner) => found.take(&file.path, *inner),
            Leaf::Scanned(report) => {
                found.seen.with_device_code += u64::from(report.has_device_code());
                if own::matters(&file.path, &report, self.means.tables) {
                    found.files.push(NestedFile {
                        path: file.path,
                        size: file.size,
                        package: None,
                        report: *report,
                    });
                }
            }
        }
    }

    /// Gives files, from the index `first` on, that no package in it has to the package of their archive.
    fn own_from(&mut self, first: usize, package: Option<&Arc<Package>>) {
        let files = self.found.files.iter_mut().skip(first);
        for file in files.filter(|file| file.package.is_none()) {
            file.package = package.cloned();
        }
    }
}

impl Nested {
    /// Adds what an archive in it holds, which is called `path`.
    fn take(&mut self, path: &str, inner: Self) {
        let files = inner.files.into_iter().map(|file| NestedFile {
            path: format!("{path} › {}", file.path),
            ..file
        });
        self.files.extend(files);
        self.packages.extend(inner.packages);
        self.problems.extend(inner.problems);
        self.seen.add(inner.seen);
    }
}
