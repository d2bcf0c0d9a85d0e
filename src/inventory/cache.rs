//! What was found in files, kept between runs by the hash of each file.
//!
//! An entry is an inventory of one artifact in its JSON form. Its name holds the hash of the file, and a hash of what
//! else the result depends on: this version of smgate and its tables. An entry that cannot be read is none.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::run::hex;
use super::{Artifact, Inventory, from_json, to_json};
use crate::source::lock::Hash;
use crate::source::read_named;
use crate::tables::Tables;
use crate::{Error, ErrorKind};

/// The largest entry that is read or kept, in bytes.
const ENTRY_MAX: u64 = 64 << 20;

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

    /// What was found in the file with this hash.
    pub(super) fn load(&self, hash: &Hash, kernels: bool, tables: &Tables) -> Option<Artifact> {
        let path = self.path(hash, kernels, tables)?;
        let bytes = read_named(&path, ENTRY_MAX, ErrorKind::Data).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let inventory = from_json("the cache", &text).ok()?;
        let mut artifacts = inventory.artifacts;
        artifacts.pop().filter(|_| artifacts.is_empty())
    }

    /// Whether there is an entry for the file with this hash; it may turn out to be none.
    pub(super) fn holds(&self, hash: &Hash, kernels: bool, tables: &Tables) -> bool {
        let path = self.path(hash, kernels, tables);
        path.is_some_and(|path| path.is_file())
    }

    /// Keeps what was found in the file with this hash. That it cannot be kept is no failure.
    pub(super) fn store(&self, hash: &Hash, kernels: bool, tables: &Tables, artifact: Artifact) {
        let Some(path) = self.path(hash, kernels, tables) else {
            return;
        };
        let inventory = Inventory {
            artifacts: vec![artifact],
            tables: Some(tables.origin()),
        };
        if let Ok(json) = to_json(&inventory)
            && json.len() as u64 <= ENTRY_MAX
        {
            let _only_slower = self.write(&path, json.as_bytes());
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
    fn path(&self, hash: &Hash, kernels: bool, tables: &Tables) -> Option<PathBuf> {
        if !matches!(hash.algorithm.as_str(), "sha256" | "sha384" | "sha512") {
            return None;
        }
        let mut rest = Sha256::new();
        for part in [env!("CARGO_PKG_VERSION"), super::SCHEMA, tables.digest()] {
            rest.update(part.as_bytes());
            rest.update([0]);
        }
        rest.update([u8::from(kernels)]);
        let rest = hex(&rest.finalize());
        let rest = rest.get(..16)?;
        Some(self.dir.join(format!("{}-{rest}.json", hash.hex)))
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
