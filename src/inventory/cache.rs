//! What was found in files, kept between runs by the hash of each file.
//!
//! An entry is an inventory of one artifact in its JSON form, beside what it is of. Its name holds the hash of the file,
//! and a hash of what else the result depends on: the name of the file, this version of smgate and its tables. An entry
//! that cannot be read, or is of something else than is asked for, is none.
//!
//! A lock file states a hash; whether the file has it is known only where all of it was read. What was found in such a
//! file is so wherever it lies. What was found in parts of a file is said of its address alone: else a file with a false
//! hash would speak for the one that has it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::run::hex;
use super::{Artifact, Inventory, from_json, to_json};
use crate::source::lock::{Hash, without_secrets};
use crate::source::read_named;
use crate::tables::Tables;
use crate::{Error, ErrorKind};

/// The largest entry that is read or kept, in bytes.
const ENTRY_MAX: u64 = 64 << 20;

/// A file as a lock file states it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stated<'f> {
    pub(super) hash: &'f Hash,
    pub(super) name: &'f str,
    /// Where it is, if that is known.
    pub(super) address: Option<&'f str>,
    /// Bytes, if that is known.
    pub(super) size: Option<u64>,
}

/// What an entry is of.
#[derive(Debug, Serialize, Deserialize)]
struct EntryOf {
    hash: String,
    name: String,
    /// The digest of the address, where the entry is of that alone.
    address: Option<String>,
    size: Option<u64>,
    /// Whether all of the file was read and has the hash.
    verified: bool,
}

impl EntryOf {
    /// None for parts of a file that is nowhere.
    fn new(file: Stated<'_>, verified: bool) -> Option<Self> {
        let address = match file.address {
            _ if verified => None,
            Some(address) => Some(digest_of(address)),
            None => return None,
        };
        Some(Self {
            hash: file.hash.to_string(),
            name: file.name.to_owned(),
            address,
            size: file.size,
            verified,
        })
    }

    /// Whether it is of what is asked for; a size that nobody states can be any.
    fn answers(&self, asked: &Self) -> bool {
        let of = |of: &Self| {
            let Self {
                hash,
                name,
                address,
                verified,
                ..
            } = of;
            (hash.clone(), name.clone(), address.clone(), *verified)
        };
        of(self) == of(asked) && (asked.size.is_none() || asked.size == self.size)
    }
}

/// The digest of an address without its user: what stands behind `?` can say which file it is.
fn digest_of(address: &str) -> String {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let mut sum = Sha256::new();
    sum.update(without_secrets(address));
    sum.update([0]);
    sum.update(query);
    hex(&sum.finalize())
}

/// An entry as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    of: EntryOf,
    /// An inventory in its JSON form.
    inventory: String,
}

/// A directory of kept results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// Results that are kept in `dir`, which is made when the first is.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where results are kept.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What was found in a file, and whether all of it was read and has its hash.
    pub(super) fn load(
        &self,
        file: Stated<'_>,
        kernels: bool,
        tables: &Tables,
    ) -> Option<(Artifact, bool)> {
        let mut of = [true, false]
            .into_iter()
            .filter_map(|verified| EntryOf::new(file, verified));
        of.find_map(|of| Some((self.entry(&of, kernels, tables)?, of.verified)))
    }

    fn entry(&self, of: &EntryOf, kernels: bool, tables: &Tables) -> Option<Artifact> {
        let bytes =
            read_named(&self.path(of, kernels, tables)?, ENTRY_MAX, ErrorKind::Data).ok()?;
        let entry: Entry = serde_json::from_slice(&bytes).ok()?;
        if !entry.of.answers(of) {
            return None;
        }
        let mut artifacts = from_json("the cache", &entry.inventory).ok()?.artifacts;
        artifacts.pop().filter(|_| artifacts.is_empty())
    }

    /// Keeps what was found in a file, all of which was read where its hash is `verified`. That it cannot be kept is
    /// no failure.
    pub(super) fn store(
        &self,
        file: Stated<'_>,
        verified: bool,
        kernels: bool,
        tables: &Tables,
        artifact: Artifact,
    ) {
        let Some(of) = EntryOf::new(file, verified) else {
            return;
        };
        let Some(path) = self.path(&of, kernels, tables) else {
            return;
        };
        let inventory = Inventory {
            artifacts: vec![artifact],
            tables: Some(tables.origin()),
        };
        let entry = to_json(&inventory).ok().and_then(|inventory| {
            let entry = Entry { of, inventory };
            serde_json::to_vec(&entry).ok()
        });
        if let Some(json) = entry.filter(|json| json.len() as u64 <= ENTRY_MAX) {
            let _only_slower = self.write(&path, &json);
        }
    }

    /// Writes beside the place and moves there, so that another run never reads half of it.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// The entry of a file; none for hashes that can be forged.
    fn path(&self, of: &EntryOf, kernels: bool, tables: &Tables) -> Option<PathBuf> {
        let (algorithm, hex_of_file) = of.hash.split_once(':')?;
        if !matches!(algorithm, "sha256" | "sha384" | "sha512") {
            return None;
        }
        let mut rest = Sha256::new();
        let address = of.address.as_deref().unwrap_or_default();
        let depends = [
            env!("CARGO_PKG_VERSION"),
            super::SCHEMA,
            tables.digest(),
            &of.name,
            address,
        ];
        for part in depends {
            rest.update(part.as_bytes());
            rest.update([0]);
        }
        rest.update([u8::from(kernels)]);
        let rest = hex(&rest.finalize());
        let rest = rest.get(..16)?;
        Some(self.dir.join(format!("{hex_of_file}-{rest}.json")))
    }

    /// How many results are kept, and how many bytes they take.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read; one that is not there holds nothing.
    pub fn size(&self) -> Result<(u64, u64), Error> {
        let mut sum = (0, 0);
        for (_, bytes) in self.entries()? {
            sum = (sum.0 + 1, sum.1 + bytes);
        }
        Ok(sum)
    }

    /// Removes every result. Other files in the directory stay.
    ///
    /// # Errors
    ///
    /// A result that cannot be removed.
    pub fn clear(&self) -> Result<(u64, u64), Error> {
        let mut sum = (0, 0);
        for (path, bytes) in self.entries()? {
            fs::remove_file(&path).map_err(|error| self.cannot("be cleared", error))?;
            sum = (sum.0 + 1, sum.1 + bytes);
        }
        Ok(sum)
    }

    fn entries(&self) -> Result<Vec<(PathBuf, u64)>, Error> {
        let listed = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.map_err(|error| self.cannot("be read", error))?,
        };
        let entries = listed.filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let (hash, rest) = name.strip_suffix(".json")?.split_once('-')?;
            let hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
            (hash.len() >= 64 && rest.len() == 16 && hex(hash) && hex(rest)).then_some(())?;
            Some((entry.path(), entry.metadata().ok()?.len()))
        });
        Ok(entries.collect())
    }

    fn cannot(&self, what: &str, error: io::Error) -> Error {
        let message = format!("the cache `{}` could not {what}", self.dir.display());
        Error::new(ErrorKind::Input, message)
            .with_hint("check who may read and write it, or run with `--no-cache`")
            .with_source(error)
    }
}
