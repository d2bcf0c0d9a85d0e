//! Files at addresses and the package indexes of the user, by HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::fetch::Fetch;
use super::index::{IndexFile, Indexes};
use super::lock::{Candidate, Lock, PickedFile};
use super::remote::{Expected, Fetcher};
use super::{Said, Source, open_remote_as};
use crate::limits::Limits;
use crate::{Error, ErrorKind, Locator};

/// Reaches servers. Nothing is set up before it is needed: which indexes there are can mean to ask pip, and a run on
/// files of this machine has nothing to do with the network.
pub struct Servers {
    connect: Connect,
    fetcher: OnceLock<Result<Fetcher, Refusal>>,
    configure: Configure,
    /// By the lock file that they are for.
    indexes: Mutex<BTreeMap<Option<Locator>, Found>>,
}

/// Sets up what fetches files.
type Connect = Box<dyn Fn() -> Result<Fetcher, Error> + Send + Sync>;

/// Finds out which indexes there are, for a lock file.
type Configure = Box<dyn Fn(Option<&Lock>) -> Result<Indexes, Error> + Send + Sync>;

/// Indexes, or why there are none.
type Found = Result<Arc<Indexes>, Refusal>;

/// An error that is told more than once: what is wrong and what to do.
#[derive(Debug, Clone)]
struct Refusal(String, Option<String>);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error.to_string(), error.hint().map(str::to_owned))
    }
}

impl From<Refusal> for Error {
    fn from(Refusal(message, hint): Refusal) -> Self {
        let error = Self::new(ErrorKind::Usage, message);
        match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

impl Servers {
    /// Reaches files by what `connect` sets up where the first is needed, and the indexes that `configure` finds.
    pub fn new(
        connect: impl Fn() -> Result<Fetcher, Error> + Send + Sync + 'static,
        configure: impl Fn(Option<&Lock>) -> Result<Indexes, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            connect: Box::new(connect),
            fetcher: OnceLock::new(),
            configure: Box::new(configure),
            indexes: Mutex::default(),
        }
    }

    fn fetcher(&self) -> Result<&Fetcher, Error> {
        let fetcher = self
            .fetcher
            .get_or_init(|| (self.connect)().map_err(Refusal::from));
        fetcher.as_ref().map_err(|refusal| refusal.clone().into())
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
                let found = (self.configure)(lock).map(Arc::new);
                found.map_err(Refusal::from)
            };
            found.or_insert_with(find).clone()
        };
        found.map_err(Error::from)
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
        let opened = self.fetcher()?.open(address, &expected, limits)?;
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
