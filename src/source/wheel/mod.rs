//! Wheels: a zip archive, its file name, and the metadata inside.
//!
//! Responsible for what an installer would make of a wheel: name, version, platforms, and whether
//! file name, metadata and members agree. Members are read by whoever scans them.
//!
//! Format: the binary distribution format of the Python packaging guide (PEP 427).

mod filename;
mod installed;
pub(super) mod metadata;
pub(super) mod record;
mod tags;
#[cfg(test)]
mod tests;
pub(super) mod version;

use std::collections::BTreeSet;

pub use filename::{ParseWheelFilenameError, WheelFilename};
pub use installed::{Installed, Scheme};
pub use metadata::Headers;
pub use record::Record;
pub use tags::Platforms;
pub use version::normal_name;

pub(crate) use self::version::{same_name, same_version};
use super::bounded::read_metadata;
use crate::archive::{Fault, MemberKind, SharedBytes, Zip, ZipMember};
use crate::limits::{Budget, Limits};
use crate::platform::Platform;
use crate::{Extent, Locator, MemberName, Problem, ProblemKind};

/// A wheel whose metadata was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Wheel {
    /// Where it is.
    pub at: Locator,
    /// The file.
    pub bytes: SharedBytes,
    /// Its members; none where it is no archive, and then `problems` says so.
    pub zip: Zip,
    /// The package, from `METADATA`, else from the file name.
    pub name: Option<String>,
    /// Its version, from `METADATA`, else from the file name.
    pub version: Option<String>,
    /// The file name, where it is one of a wheel.
    pub filename: Option<WheelFilename>,
    /// The platforms of its tags, in the file name, else in `WHEEL`. Empty for `any`, and for a
    /// wheel without tags.
    pub platforms: Vec<Platform>,
    /// Platform tags that name no [`Platform`]: a wheel that has only such runs on no target.
    pub other_platforms: Vec<String>,
    /// All its platform tags as written, sorted, from where the platforms are.
    pub platform_tags: Vec<String>,
    /// Its Python tags with their ABI tags, `cp312-abi3`, from where the platforms are. Empty for a wheel
    /// without tags.
    pub python_tags: Vec<String>,
    /// Requirements, as written in `METADATA`.
    pub requires: Vec<String>,
    /// Whether `WHEEL` says that it holds no libraries of one platform.
    pub pure: Option<bool>,
    /// Members that `RECORD` does not list; of a wheel that is fetched, `RECORD` is not read.
    pub unrecorded: u64,
    /// Files that `RECORD` lists and the archive lacks.
    pub absent: u64,
    /// What is wrong with the archive and its metadata, sorted.
    pub problems: Vec<Problem>,
}

impl Wheel {
    /// Reads a wheel called `file_name`, which may lie in a directory or in another archive.
    pub fn from_bytes(bytes: SharedBytes, at: Locator, file_name: &str, limits: &Limits) -> Self {
        let (zip, problems, opened) = match Zip::open(bytes.clone(), &at, limits) {
            Ok(opened) => (opened.zip, opened.problems, true),
            Err(problem) => (Zip::unreadable(bytes.clone()), vec![problem], false),
        };
        let mut wheel = Self {
            at,
            bytes,
            zip,
            name: None,
            version: None,
            filename: None,
            platforms: Vec::new(),
            other_platforms: Vec::new(),
            platform_tags: Vec::new(),
            python_tags: Vec::new(),
            requires: Vec::new(),
            pure: None,
            unrecorded: 0,
            absent: 0,
            problems,
        };
        wheel.read_file_name(file_name);
        if opened {
            wheel.read_dist_info(limits);
            wheel.find_collisions();
        }
        if let Some(filename) = &wheel.filename {
            wheel.name.get_or_insert_with(|| filename.name.clone());
            wheel
                .version
                .get_or_insert_with(|| filename.version.clone());
        }
        wheel.problems.sort();
        wheel
    }

    /// A wheel may be called otherwise, in the cache of some tool or by whoever saved it: then its metadata
    /// alone says what it is. (pip installs a file by its name only, but that is no doubt about the content.)
    fn read_file_name(&mut self, file_name: &str) {
        if let Ok(filename) = file_name.parse::<WheelFilename>() {
            self.take_platforms(filename.platforms());
            self.python_tags = filename.python_tags();
            self.filename = Some(filename);
        }
    }

    fn take_platforms(&mut self, platforms: Platforms) {
        self.platforms = platforms.named;
        self.platform_tags = platforms.tags;
        self.other_platforms = if platforms.any {
            Vec::new()
        } else {
            platforms.other
        };
    }

    fn read_dist_info(&mut self, limits: &Limits) {
        let Some(dist_info) = self.choose_dist_info() else {
            return;
        };
        let headers = |bytes: &[u8]| Headers::parse(bytes);
        if let Some(headers) = self.parsed(&dist_info, "METADATA", limits, headers) {
            self.read_metadata(&dist_info, &headers);
        }
        if let Some(headers) = self.parsed(&dist_info, "WHEEL", limits, headers) {
            self.read_wheel(&dist_info, &headers);
        }
        // what it tells is not worth a request
        if self.bytes.is_fetched() {
            return;
        }
        let record = |bytes: &[u8]| Record::parse(bytes, limits);
        if let Some(record) = self.parsed(&dist_info, "RECORD", limits, record) {
            self.count_recorded(&dist_info, &record);
        }
    }

    /// A file in the `.dist-info` directory, parsed; where it cannot be, a problem.
    fn parsed<T>(
        &mut self,
        dist_info: &str,
        file: &str,
        limits: &Limits,
        parse: impl FnOnce(&[u8]) -> Result<T, Fault>,
    ) -> Option<T> {
        let bytes = self.metadata_file(dist_info, file, limits)?;
        match parse(&bytes) {
            Ok(parsed) => Some(parsed),
            Err(fault) => {
                let at = self.at.member(&file_of(dist_info, file));
                self.problems.push(fault.at(at, Extent::Part));
                None
            }
        }
    }

    /// The `.dist-info` directory: pip refuses a wheel that has none or several.
    fn choose_dist_info(&mut self) -> Option<String> {
        let tops = self.zip.members().iter().filter_map(|member| {
            let top = member.name.as_str().split('/').next()?;
            top.ends_with(".dist-info").then_some(top)
        });
        let found: BTreeSet<_> = tops.map(str::to_owned).collect();
        // what was not listed may hold it, and that problem is told already
        if found.is_empty() && self.is_cut() {
            return None;
        }
        if found.len() != 1 {
            let names: Vec<_> = found.iter().map(|name| format!("`{name}`")).collect();
            let detail = match names.len() {
                0 => "the wheel has no `.dist-info` directory".to_owned(),
                1..=5 => format!(
                    "the wheel has several `.dist-info` directories: {}",
                    names.join(", ")
                ),
                n => format!("the wheel has {n} `.dist-info` directories"),
            };
            self.malformed(None, detail);
        }
        let stated = self
            .filename
            .as_ref()
            .map(|filename| filename.name.as_str());
        let fits = |dist_info: &&String| {
            let (name, _) = split_dist_info(dist_info);
            stated.is_some_and(|stated| same_name(name, stated))
        };
        found.iter().find(fits).or_else(|| found.first()).cloned()
    }

    /// Whether members are missing from the list, for a problem that is told.
    fn is_cut(&self) -> bool {
        let mut extents = self.problems.iter().map(|problem| problem.extent);
        extents.any(|extent| extent == Extent::RestOfArchive)
    }

    /// The whole of a file in the `.dist-info` directory; where it cannot be had, a problem.
    fn metadata_file(&mut self, dist_info: &str, file: &str, limits: &Limits) -> Option<Vec<u8>> {
        let name = file_of(dist_info, file);
        let members = self.zip.members().iter().enumerate();
        let found = members.rev().find(|(_, member)| member.name == name);
        let Some((index, member)) = found else {
            if !self.is_cut() {
                self.malformed(Some(&name), format!("the wheel has no `{file}`"));
            }
            return None;
        };
        if !member.is_readable() {
            return None;
        }
        let budget = Budget::new(limits.clone());
        let read = self
            .zip
            .reader(index, &budget)
            .and_then(|reader| read_metadata(reader, limits));
        match read {
            Ok(bytes) => Some(bytes),
            Err(fault) => {
                let at = self.at.member(&name);
                self.problems.push(fault.at(at, Extent::Member));
                None
            }
        }
    }

    fn read_metadata(&mut self, dist_info: &str, headers: &Headers) {
        let at = file_of(dist_info, "METADATA");
        self.requires = headers.all("requires-dist").map(str::to_owned).collect();
        self.name = headers.first("name").map(str::to_owned);
        self.version = headers.first("version").map(str::to_owned);
        let (dir_name, dir_version) = split_dist_info(dist_info);
        let mut details = Vec::new();
        for (what, stated, in_dir, in_file_name, same) in [
            (
                "name",
                &self.name,
                dir_name,
                self.filename.as_ref().map(|filename| &filename.name),
                same_name as fn(&str, &str) -> bool,
            ),
            (
                "version",
                &self.version,
                dir_version,
                self.filename.as_ref().map(|filename| &filename.version),
                same_version,
            ),
        ] {
            let Some(stated) = stated else {
                details.push(format!("`METADATA` states no {what}"));
                continue;
            };
            if let Some(other) = in_file_name.filter(|other| !same(stated, other)) {
                details.push(format!(
                    "`METADATA` states the {what} `{stated}`, the file name `{other}`"
                ));
            } else if !same(stated, in_dir) {
                details.push(format!(
                    "`METADATA` states the {what} `{stated}`, its directory `{in_dir}`"
                ));
            }
        }
        for detail in details {
            self.malformed(Some(&at), detail);
        }
    }

    fn read_wheel(&mut self, dist_info: &str, headers: &Headers) {
        let stated = headers.first("wheel-version").unwrap_or("none");
        if stated.split('.').next() != Some("1") {
            let detail = format!("the version of its format is not 1 but `{stated}`");
            self.malformed(Some(&file_of(dist_info, "WHEEL")), detail);
        }
        let is_true = |value: &str| value.eq_ignore_ascii_case("true");
        self.pure = headers.first("root-is-purelib").map(is_true);
        if self.filename.is_none() {
            match headers.platform_tags() {
                Ok(tags) => self.take_platforms(Platforms::of(tags)),
                Err(fault) => {
                    self.malformed(Some(&file_of(dist_info, "WHEEL")), fault.detail);
                    return;
                }
            }
            let tags = headers.all("tag").filter_map(|tag| {
                let mut parts = tag.splitn(3, '-');
                Some(filename::python_tags(parts.next()?, parts.next()?))
            });
            self.python_tags = tags.flatten().take(filename::MOST_TAGS).collect();
            self.python_tags.sort();
            self.python_tags.dedup();
        }
    }

    fn count_recorded(&mut self, dist_info: &str, record: &Record) {
        let signatures =
            ["RECORD", "RECORD.jws", "RECORD.p7s"].map(|name| file_of(dist_info, name));
        let files = self
            .zip
            .members()
            .iter()
            .filter(|member| member.kind != MemberKind::Dir);
        let names: BTreeSet<_> = files.map(|member| member.name.as_bytes()).collect();
        let unrecorded = names.iter().filter(|name| {
            let signature = signatures
                .iter()
                .any(|signature| signature.as_bytes() == **name);
            !signature && !record.contains(name)
        });
        self.unrecorded = unrecorded.count() as u64;
        self.absent = record.paths().filter(|path| !names.contains(path)).count() as u64;
    }

    /// Members of different names that are installed as one file.
    fn find_collisions(&mut self) {
        /// As many as are listed one by one.
        const LISTED: usize = 100;
        let files = || {
            let members = self.zip.members().iter();
            members.filter(|member| member.kind != MemberKind::Dir && !member.shadowed)
        };
        let moved = |member: &&ZipMember| {
            let name = member.name.as_bytes();
            Installed::of(name).path.len() < name.len()
        };
        if !files().any(|member| moved(&member)) {
            return;
        }
        let mut targets: Vec<_> = files()
            .map(|member| (Installed::of(member.name.as_bytes()), &member.name))
            .collect();
        targets.sort();
        let pairs = targets.windows(2).filter_map(|pair| match pair {
            [(one, first), (other, second)] if one == other => Some((*first, *second)),
            _ => None,
        });
        let found: Vec<_> = pairs.collect();
        let listed = found.iter().take(LISTED).map(|(first, second)| {
            let detail = format!("it is installed at the place of `{first}`");
            (self.at.member(second), Extent::Member, detail)
        });
        let left_out = found.len().saturating_sub(LISTED);
        let rest = (left_out > 0).then(|| {
            let detail = format!("{left_out} more members are installed at the place of others");
            (self.at.clone(), Extent::Artifact, detail)
        });
        let problems = listed.chain(rest).map(|(at, extent, detail)| {
            Problem::new(ProblemKind::DuplicateMember, at, extent, detail)
        });
        self.problems.extend(problems);
    }

    fn malformed(&mut self, member: Option<&MemberName>, detail: String) {
        let at = member.map_or_else(|| self.at.clone(), |name| self.at.member(name));
        let fault = Fault::new(ProblemKind::MalformedMetadata, detail);
        self.problems.push(fault.at(at, Extent::Part));
    }
}

fn file_of(dist_info: &str, file: &str) -> MemberName {
    format!("{dist_info}/{file}").as_str().into()
}

/// Name and version of a directory `NAME-VERSION.dist-info`.
pub(super) fn split_dist_info(dir: &str) -> (&str, &str) {
    let stem = dir.strip_suffix(".dist-info").unwrap_or(dir);
    stem.split_once('-').unwrap_or((stem, ""))
}
