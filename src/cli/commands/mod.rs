//! The commands, one file each, and what several of them do.

pub(super) mod cache;
pub(super) mod check;
pub(super) mod diff;
pub(super) mod explain;
pub(super) mod export;
pub(super) mod facts;
pub(super) mod find;
mod fleet;
pub(super) mod host;
pub(super) mod inspect;
mod pasted;
pub(super) mod policy;
pub(super) mod shell;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::escape::visible;
use crate::inventory::{Artifact, ArtifactKind, Inventory, ScanOptions, scan_with};
use crate::policy::{Date, IncludedFile, Policy};
use crate::problem::ProblemKind;
use crate::source::{SourceSpec, read_named};
use crate::tables::{Overlay, Tables};
use crate::{Error, ErrorKind};

use super::args::Network;
use super::progress::Line;
use super::reach::reach;
use super::{Exit, Failure, Output, unless_closed};

/// The name of the policy file that is found without being named.
const POLICY_FILE: &str = "smgate.yaml";

/// Rows of an overlay that are named on standard error.
const ROWS_NAMED: usize = 20;

/// The tables with the rows of the user's file, which is said on standard error.
pub(super) fn tables(path: Option<&Path>, output: &Output) -> Result<Option<Tables>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let bytes = read_named(path, TABLES_MAX, ErrorKind::Data)?;
    let origin = path.display().to_string();
    let text = std::str::from_utf8(&bytes).map_err(|source| {
        Error::new(ErrorKind::Data, format!("tables `{origin}`: not UTF-8")).with_source(source)
    })?;
    let tables = Tables::with_overlay(&origin, text)?;
    let rows = tables.overlay().into_iter().flat_map(Overlay::rows);
    let mut rows: Vec<String> = rows
        .map(|(table, key)| format!("{} `{key}`", table.id()))
        .collect();
    let more = rows.len().saturating_sub(ROWS_NAMED);
    rows.truncate(ROWS_NAMED);
    if more > 0 {
        rows.push(format!("and {more} more"));
    }
    let line = writeln!(
        output.stderr(),
        "note: from {}: {}",
        visible(&origin),
        visible(&rows.join(", "))
    );
    unless_closed(line)?;
    Ok(Some(tables))
}

/// The largest file of additional tables that is read, in bytes.
const TABLES_MAX: u64 = 4 << 20;

/// The largest policy file that is read. One that is larger than a policy may be is refused as such.
const POLICY_MAX: u64 = 4 << 20;

/// The largest saved inventory or baseline that is read, in bytes.
const DATA_MAX: u64 = 256 << 20;

/// The name and content of a data file.
fn read_text(path: &Path) -> Result<(String, String), Error> {
    let origin = path.display().to_string();
    let bytes = read_named(path, DATA_MAX, ErrorKind::Data)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Data, format!("`{origin}` is not UTF-8 text")).with_source(error)
    })?;
    Ok((origin, text))
}

/// Scans what the arguments name, with what the environment says of daemons and registries.
fn scan_inputs(
    inputs: &[OsString],
    mut options: ScanOptions,
    network: &Network,
    policy: Option<&Policy>,
    tables: &Tables,
) -> Result<Inventory, Failure> {
    let mut specs = Vec::new();
    for input in inputs {
        specs.extend(SourceSpec::parse(input)?.expand()?);
    }
    let indexes = policy.map(|policy| policy.indexes.as_slice());
    reach(&mut options, network, indexes.unwrap_or_default())?;
    let line = Line::start();
    options.progress = line.as_ref().map(Line::counters);
    let stdin = Box::new(std::io::stdin());
    Ok(scan_with(&specs, &options, Some(stdin), tables)?)
}

/// Refuses to judge where there is nothing: a gate that passes on an empty directory, or on an inventory
/// that some filter emptied, is open.
fn require_something(inventory: &Inventory, origin: Option<&Path>) -> Result<(), Error> {
    if let (true, Some(path)) = (inventory.artifacts.is_empty(), origin) {
        let message = format!("the inventory `{}` holds no artifact", path.display());
        return Err(Error::new(ErrorKind::Data, message)
            .with_hint("write one with `smgate inspect --format json INPUT... > FILE`"));
    }
    let empty = |artifact: &&Artifact| {
        artifact.kind == ArtifactKind::Directory
            && artifact.seen.files == 0
            && artifact.problems.is_empty()
    };
    match inventory.artifacts.iter().find(empty) {
        None => Ok(()),
        Some(artifact) => {
            let message = format!("there is no file in `{}`", artifact.input);
            let hint = "name the directory that holds the packages, such as `site-packages`";
            Err(Error::new(ErrorKind::Input, message).with_hint(hint))
        }
    }
}

/// How a command ends that judges nothing: by whether everything was read.
fn by_what_was_read(inventory: &Inventory) -> Exit {
    let mut problems = inventory
        .artifacts
        .iter()
        .flat_map(|artifact| &artifact.problems);
    if inventory.is_unread() {
        Exit::CannotJudge
    // whose a file is says nothing of what is in it
    } else if problems.any(|problem| problem.kind != ProblemKind::PackagesUnread) {
        Exit::Incomplete
    } else {
        Exit::Pass
    }
}

/// Reads a policy by the name that the user gave, or the one found upwards from here.
fn load_policy(name: Option<&str>, tables: &Tables) -> Result<Policy, Failure> {
    if let Some(preset) = name.and_then(|name| name.strip_prefix("preset:")) {
        let found = Policy::preset(preset, tables).ok_or_else(|| Policy::unknown_preset(preset))?;
        return found.map_err(Failure::Policy);
    }
    let path = match name {
        Some(name) => PathBuf::from(name),
        None => find_policy()?.ok_or_else(no_policy)?,
    };
    let origin = path.display().to_string();
    let bytes = read_named(&path, POLICY_MAX, ErrorKind::Policy)?;
    Policy::parse_with(&origin, &bytes, tables, &mut read_include).map_err(Failure::Policy)
}

/// Reads a file that a policy includes, from the folder of the file that names it on.
fn read_include(from: &str, name: &str) -> Result<IncludedFile, String> {
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    // the parts of the name, because on Windows it is divided otherwise
    let path = name
        .split('/')
        .fold(folder.to_path_buf(), |path, part| path.join(part));
    let cannot = |error: std::io::Error| format!("`{}`: {error}", path.display());
    let id = path.canonicalize().map_err(cannot)?;
    let bytes =
        read_named(&path, POLICY_MAX, ErrorKind::Policy).map_err(|error| error.to_string())?;
    Ok(IncludedFile {
        origin: path.display().to_string(),
        id: id.display().to_string(),
        bytes,
    })
}

/// The policy that is found upwards from here, if there is one.
fn find_policy() -> Result<Option<PathBuf>, Error> {
    let here = std::env::current_dir().map_err(|error| {
        Error::new(ErrorKind::Policy, "the working directory is gone").with_source(error)
    })?;
    // named as short as possible: reports show it
    let mut shown = PathBuf::new();
    for directory in here.ancestors() {
        if directory.join(POLICY_FILE).is_file() {
            return Ok(Some(shown.join(POLICY_FILE)));
        }
        shown.push("..");
    }
    Ok(None)
}

fn no_policy() -> Error {
    Error::new(ErrorKind::Policy, format!("no policy: there is no `{POLICY_FILE}` here or above"))
        .with_hint("name one with `--policy FILE`, try one GPU with `--target H100`, or write one with `smgate policy init`")
}

/// The day on which waivers are judged: the one that the user gave, or today.
fn today(given: Option<&str>) -> Result<Date, Error> {
    if let Some(text) = given {
        return text
            .parse()
            .map_err(|error: crate::policy::ParseDateError| {
                Error::new(ErrorKind::Usage, format!("`--today`: {error}"))
                    .with_hint("write it as `2027-03-01`")
            });
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map(|elapsed| elapsed.as_secs());
    now.ok().and_then(Date::from_unix_seconds).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "the clock of this machine is not set")
            .with_hint("give the day with `--today 2027-03-01`")
    })
}
