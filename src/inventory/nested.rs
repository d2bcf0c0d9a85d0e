//! Archives in archives: opened where they lie, and all of them read.

use std::sync::Arc;

use crate::archive::{Fault, SharedBytes, Zip};
use crate::device::DeviceReport;
use crate::limits::{LimitHit, Limits};
use crate::locator::Locator;
use crate::problem::{Extent, Problem};
use crate::source::{self, Wheel};

use super::leaf::{self, Leaf, Means};
use super::own;
use super::plan::{Place, file_name};
use super::{Package, Seen};

/// An archive that was opened.
pub(super) struct Opened {
    pub(super) zip: Zip,
    /// The package, where it is a wheel.
    pub(super) package: Option<Arc<Package>>,
    pub(super) problems: Vec<Problem>,
}

/// Opens the archive called `path`, with `depth` archives around its members.
pub(super) fn open(
    bytes: SharedBytes,
    path: &str,
    at: &Locator,
    depth: u32,
    limits: &Limits,
) -> Result<Opened, Problem> {
    if depth > limits.depth {
        let fault = Fault::from(LimitHit::Depth(limits.depth));
        return Err(fault.at(at.clone(), Extent::Member));
    }
    if source::is_named_wheel(path) {
        let wheel = Wheel::from_bytes(bytes, at.clone(), &file_name(path), limits);
        let package = wheel
            .name
            .map(|name| Arc::new(Package::new(name, wheel.version)));
        return Ok(Opened {
            zip: wheel.zip,
            package,
            problems: wheel.problems,
        });
    }
    // A file that only begins like an archive is data.
    let opened = Zip::open(bytes, at, limits)?;
    Ok(Opened {
        zip: opened.zip,
        package: None,
        problems: opened.problems,
    })
}

/// What an archive and the archives in it hold.
#[derive(Default)]
pub(super) struct Nested {
    pub(super) files: Vec<NestedFile>,
    pub(super) packages: Vec<Arc<Package>>,
    pub(super) problems: Vec<Problem>,
    pub(super) seen: Seen,
}

/// A file of an archive that was scanned.
pub(super) struct NestedFile {
    /// The path in the outermost archive.
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) package: Option<Arc<Package>>,
    pub(super) report: DeviceReport,
}

/// Reads the archive called `path` and those in it, one after the other.
pub(super) fn read_all(
    bytes: SharedBytes,
    path: &str,
    at: Locator,
    means: &Means<'_>,
    buffer: &mut [u8],
) -> Nested {
    let mut found = Nested::default();
    let mut pending = vec![(bytes, path.to_owned(), String::new(), at, 1, None)];
    while let Some((bytes, name, prefix, at, depth, outer)) = pending.pop() {
        let opened = match open(bytes, &name, &at, depth, means.budget.limits()) {
            Ok(opened) => opened,
            Err(problem) => {
                found.problems.push(problem);
                continue;
            }
        };
        found.problems.extend(opened.problems);
        found.packages.extend(opened.package.clone());
        let place = Place {
            artifact: 0,
            package: opened.package.or(outer),
            prefix,
            at,
            depth,
            zip: Arc::new(opened.zip),
        };
        for index in place.readable() {
            let Some(file) = place.file(index) else {
                continue;
            };
            found.seen.files += 1;
            let (leaf, problems) = leaf::read(&file, means, buffer);
            found.problems.extend(problems);
            match leaf {
                Leaf::Other => {}
                Leaf::Unopened => found.seen.unopened += 1,
                Leaf::Zip(bytes) => {
                    let prefix = format!("{} › ", file.path);
                    let package = place.package.clone();
                    pending.push((bytes, file.path, prefix, file.at, depth + 1, package));
                }
                Leaf::Scanned(report) => {
                    found.seen.with_device_code += u64::from(report.has_device_code());
                    if own::matters(&file.path, &report, means.tables) {
                        found.files.push(NestedFile {
                            path: file.path,
                            size: file.size,
                            package: place.package.clone(),
                            report: *report,
                        });
                    }
                }
            }
        }
    }
    found
}
