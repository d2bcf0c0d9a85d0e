//! Several indexes as one: who is asked for which package, and what comes of the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Index;
use super::config::{IndexConfig, IndexKind, Merge};
use super::error::{IndexError, IndexErrorKind};
use super::fetch::Fetcher;
use super::file::{Project, in_order};
use super::flat::Flat;
use crate::source::credentials::Credentials;
use crate::source::http::{Address, Http, Login};
use crate::source::wheel::normal_name;
use crate::{Error, ErrorKind};

/// The indexes of a run. Threads share them; what one was told is not asked again.
#[derive(Debug)]
pub struct Indexes {
    members: Vec<Member>,
    merge: Merge,
    fetcher: Arc<Fetcher>,
    /// Indexes that packages are pinned to and that are not configured, by their address.
    pinned: Mutex<BTreeMap<Address, Arc<Place>>>,
}

/// What one index has of a project.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OfIndex {
    /// The address of the index, without what may be secret in it.
    pub index: String,
    /// What names it: `--extra-index-url` in backticks where that option does, `/etc/pip.conf`.
    pub named_by: String,
    /// Whether it is the main one.
    pub is_main: bool,
    /// Whether it is a flat page or directory (`--find-links`).
    pub is_flat: bool,
    /// The files.
    pub project: Arc<Project>,
}

#[derive(Debug)]
struct Member {
    name: Option<String>,
    address: Address,
    named_by: String,
    is_main: bool,
    only_pinned: bool,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Simple(Simple),
    Flat(Flat),
}

type Answer = Arc<OnceLock<Result<Arc<Project>, IndexError>>>;

/// An index, and what it said so far.
#[derive(Debug)]
struct Simple {
    index: Index,
    answers: Mutex<BTreeMap<String, Answer>>,
}

impl Place {
    fn new(kind: IndexKind, address: &Address, eager: bool, fetcher: &Arc<Fetcher>) -> Self {
        match kind {
            IndexKind::Flat => Self::Flat(Flat::new(address, eager, fetcher)),
            IndexKind::Simple => Self::Simple(Simple {
                index: Index::new(address, eager, fetcher),
                answers: Mutex::default(),
            }),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Simple(simple) => simple.index.shown(),
            Self::Flat(flat) => flat.shown(),
        }
    }

    /// What it has of a project by its normalised name; nothing where it has no such project.
    fn project(&self, name: &str) -> Result<Arc<Project>, IndexError> {
        match self {
            Self::Flat(flat) => {
                let project = flat.project(name)?;
                if project.files.is_empty() {
                    return Err(IndexError::new(
                        IndexErrorKind::NoProject,
                        format!("`{}` has no file of `{name}`", flat.shown()),
                        "name the index that has the package with `--index-url URL` or `--extra-index-url URL`",
                    ));
                }
                Ok(Arc::new(project))
            }
            Self::Simple(simple) => {
                let answer = {
                    let mut answers = simple
                        .answers
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    Arc::clone(answers.entry(name.to_owned()).or_default())
                };
                // a second thread waits for the answer to the first
                answer
                    .get_or_init(|| simple.index.project(name).map(Arc::new))
                    .clone()
            }
        }
    }
}

impl Indexes {
    /// The indexes of `config`, asked by `http` with what `credentials` has for them
    /// ([`IndexCredentials`](super::IndexCredentials) of the same configuration).
    ///
    /// # Errors
    ///
    /// An address of the configuration that is none.
    pub fn new(
        config: &IndexConfig,
        http: Arc<Http>,
        credentials: Arc<dyn Credentials>,
    ) -> Result<Self, Error> {
        let fetcher = Arc::new(Fetcher {
            http,
            credentials,
            offline: config.offline,
            with_login: Mutex::default(),
        });
        let mut members: Vec<Member> = Vec::new();
        let asked = config.indexes.iter().map(|spec| (spec, spec.only_pinned));
        let known = config.also_known.iter().map(|spec| (spec, true));
        for (spec, only_pinned) in asked.chain(known) {
            let (address, login) = address_of(spec.address.expose(), spec.kind, &spec.named_by)?;
            if members
                .iter()
                .any(|known| is_same(&known.address, &address) && known.only_pinned == only_pinned)
            {
                continue;
            }
            members.push(Member {
                name: spec.name.clone(),
                named_by: spec.named_by.clone(),
                is_main: spec.is_main,
                only_pinned,
                place: Place::new(spec.kind, &address, login.is_some(), &fetcher),
                address,
            });
        }
        Ok(Self {
            members,
            merge: config.merge,
            fetcher,
            pinned: Mutex::default(),
        })
    }

    /// The indexes that are asked, in their order, without what may be secret in their addresses.
    pub fn shown(&self) -> Vec<String> {
        self.members
            .iter()
            .map(|member| member.place.shown())
            .collect()
    }

    /// What there is of the project `name`, in any spelling. With `pin`, the address or the name of an index, only
    /// that index is asked, configured or not.
    ///
    /// # Errors
    ///
    /// [`IndexErrorKind::NoProject`] where no index has it, [`IndexErrorKind::NoIndex`] where none is known. An index
    /// that fails fails the whole: it may be the one that has the file.
    pub fn project(&self, name: &str, pin: Option<&str>) -> Result<Arc<Project>, IndexError> {
        let name = normal_name(name);
        if let Some(pin) = pin {
            return self.pinned(pin, &name);
        }
        let mut found: Vec<Arc<Project>> = Vec::new();
        let mut missing: Vec<String> = Vec::new();
        let mut from_index = false;
        for member in self.members.iter().filter(|member| !member.only_pinned) {
            let is_index = matches!(member.place, Place::Simple(_));
            if is_index && from_index && self.merge == Merge::FirstIndex {
                continue;
            }
            match member.place.project(&name) {
                Ok(project) => {
                    from_index |= is_index;
                    found.push(project);
                }
                Err(error) if error.kind == IndexErrorKind::NoProject => {
                    missing.push(error.message);
                }
                Err(error) => return Err(error),
            }
        }
        match found.as_slice() {
            [] => Err(nowhere(&name, &missing)),
            [one] => Ok(Arc::clone(one)),
            several => Ok(Arc::new(united(name, several))),
        }
    }

    /// What each index that is asked has of the project `name`, in any spelling, by itself and in their order. Those
    /// that have nothing of it are passed over.
    ///
    /// # Errors
    ///
    /// Those of [`Indexes::project`].
    pub fn of_each(&self, name: &str) -> Result<Vec<OfIndex>, IndexError> {
        let name = normal_name(name);
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for member in self.members.iter().filter(|member| !member.only_pinned) {
            match member.place.project(&name) {
                Ok(project) => found.push(OfIndex {
                    index: member.place.shown(),
                    named_by: member.named_by.clone(),
                    is_main: member.is_main,
                    is_flat: matches!(member.place, Place::Flat(_)),
                    project,
                }),
                Err(error) if error.kind == IndexErrorKind::NoProject => {
                    missing.push(error.message);
                }
                Err(error) => return Err(error),
            }
        }
        if found.is_empty() {
            return Err(nowhere(&name, &missing));
        }
        Ok(found)
    }

    /// The files of [`Indexes::project`].
    ///
    /// # Errors
    ///
    /// Those of [`Indexes::project`].
    pub fn files(
        &self,
        name: &str,
        pin: Option<&str>,
    ) -> Result<Vec<super::IndexFile>, IndexError> {
        Ok(self.project(name, pin)?.files.clone())
    }

    fn pinned(&self, pin: &str, name: &str) -> Result<Arc<Project>, IndexError> {
        let by_name = |member: &&Member| member.name.as_deref() == Some(pin);
        if let Some(member) = self.members.iter().find(by_name) {
            return member.place.project(name);
        }
        let wrong = |error: Error| {
            IndexError::wrong_page(&format!("the index of `{name}`"), &error.to_string())
        };
        let (address, _login) =
            address_of(pin, IndexKind::Simple, "the lock file").map_err(wrong)?;
        if let Some(member) = self
            .members
            .iter()
            .find(|member| is_same(&member.address, &address))
        {
            return member.place.project(name);
        }
        let place = {
            let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
            let place = pinned.entry(address.clone()).or_insert_with(|| {
                Arc::new(Place::new(
                    IndexKind::Simple,
                    &address,
                    false,
                    &self.fetcher,
                ))
            });
            Arc::clone(place)
        };
        place.project(name)
    }
}

/// Reads the address of an index: an address, or an absolute path.
pub(super) fn address_of(
    text: &str,
    kind: IndexKind,
    named_by: &str,
) -> Result<(Address, Option<Login>), Error> {
    let path = Path::new(text);
    if path.is_absolute() {
        let is_directory = kind == IndexKind::Simple || path.is_dir();
        if let Some(address) = Address::of_path(path, is_directory) {
            return Ok((address, None));
        }
    }
    Address::parse(text).map_err(|why| {
        Error::new(
            ErrorKind::Usage,
            format!("{named_by} names an index by an address that cannot be used: {why}"),
        )
        .with_hint("write it as `https://HOST/PATH/simple`")
    })
}

/// Whether two addresses are of one index: a slash at the end makes no difference.
fn is_same(one: &Address, other: &Address) -> bool {
    one.as_directory() == other.as_directory()
}

/// That no index has a project; `missing` says of each that was asked that it has it not.
fn nowhere(name: &str, missing: &[String]) -> IndexError {
    if missing.is_empty() {
        return no_index(name);
    }
    IndexError::new(
        IndexErrorKind::NoProject,
        format!("no index has `{name}`: {}", missing.join(", ")),
        "name the index that has it with `--index-url URL` or `--extra-index-url URL`",
    )
}

fn no_index(name: &str) -> IndexError {
    IndexError::new(
        IndexErrorKind::NoIndex,
        format!("no package index is known that could be asked for `{name}`"),
        "pass one with `--index-url URL`, or set it where pip or uv read it: `PIP_INDEX_URL`, `UV_DEFAULT_INDEX`, \
         `pip.conf` or `uv.toml`",
    )
}

/// All files, each once, in the order of the indexes. A file of one name with two hashes is two files: a lock file may
/// allow either.
fn united(name: String, projects: &[Arc<Project>]) -> Project {
    let mut seen = BTreeSet::new();
    let files = projects.iter().flat_map(|project| &project.files);
    let files = files.filter(|file| seen.insert((&file.name, &file.hash)));
    let files = files.cloned().collect();
    let versions = projects.iter().flat_map(|project| &project.versions);
    Project {
        name,
        versions: in_order(versions.cloned().collect()),
        files,
    }
}
