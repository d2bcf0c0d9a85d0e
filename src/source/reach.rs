//! Files at addresses and the package indexes of the user, by HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::fetch::Fetch;
use super::index::{IndexFile, Indexes};
use super::lock::{Candidate, Lock, PickedFile};
use super::remote::{Expected, Fetcher};
use super::{Said, Source, open_remote_as};
use crate::limits::Limits;
use crate::{Error, ErrorKind, Locator};

/// Reaches servers. Which indexes there are is found out when the first is needed: it can mean to ask pip.
pub struct Servers {
    fetcher: Fetcher,
    configure: Configure,
    /// By the lock file that they are for.
    indexes: Mutex<BTreeMap<Option<Locator>, Found>>,
}

/// Finds out which indexes there are, for a lock file.
type Configure = Box<dyn Fn(Option<&Lock>) -> Result<Indexes, Error> + Send + Sync>;

/// Indexes, or why there are none: what is wrong and what to do.
type Found = Result<Arc<Indexes>, (String, Option<String>)>;

impl Servers {
    /// Reaches files by `fetcher`, and the indexes that `configure` finds.
    pub fn new(
        fetcher: Fetcher,
        configure: impl Fn(Option<&Lock>) -> Result<Indexes, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            fetcher,
            configure: Box::new(configure),
            indexes: Mutex::default(),
        }
    }

    /// The indexes that are configured, and those that `lock` names.
    ///
    /// # Errors
    ///
    /// A configuration that cannot be understood; the same error each time.
    pub fn indexes(&self, lock: Option<&Lock>) -> Result<Arc<Indexes>, Error> {
        let found = {
            let mut known = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
            let found = known.entry(lock.map(|lock| lock.at.clone()));
            let find = || {
                (self.configure)(lock).map(Arc::new).map_err(|error| {
                    let hint = error.hint().map(str::to_owned);
                    (error.to_string(), hint)
                })
            };
            found.or_insert_with(find).clone()
        };
        found.map_err(|(message, hint)| {
            let error = Error::new(ErrorKind::Usage, message);
            match hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            }
        })
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").finish_non_exhaustive()
    }
}

impl Fetch for Servers {
    fn open(
        &self,
        file: &PickedFile,
        said: Said,
        at: Locator,
        limits: &Limits,
    ) -> Result<Source, Error> {
        let address = file.url.as_deref().unwrap_or_default();
        let expected = Expected::new(file.hash.clone(), file.size);
        let opened = self.fetcher.open(address, &expected, limits)?;
        // where nothing else is said, the address says more than the name of a requirement
        let name = match said {
            Said::Nothing => opened.name.clone(),
            Said::Wheel | Said::Conda => file.name.clone(),
        };
        open_remote_as(said, opened, at, &name, limits)
    }

    fn candidates(
        &self,
        name: &str,
        index: Option<&str>,
        lock: &Lock,
    ) -> Result<Vec<Candidate>, Error> {
        let files = self.indexes(Some(lock))?.files(name, index);
        let files = files
            .map_err(|error| Error::new(ErrorKind::Input, error.message).with_hint(error.hint))?;
        Ok(files.into_iter().map(Candidate::from).collect())
    }
}

impl From<IndexFile> for Candidate {
    fn from(file: IndexFile) -> Self {
        let mut candidate = Self::new(file.name);
        candidate.url = Some(file.url);
        candidate.hash = file.hash;
        candidate.requires_python = file.requires_python;
        candidate.yanked = file.yanked.is_some();
        candidate.size = file.size;
        candidate
    }
}
