//! The files of a run that lock files name: one that several environments or lock files get is read once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::facts::{Content, LockFacts, LockedPackage};
use super::read::local;
use crate::inventory::ArtifactKind;
use crate::inventory::draft::Draft;
use crate::locator::Locator;
use crate::problem::Problem;
use crate::source::lock::{self, Environment, Hash, Lock, Pick, PickStatus};
use crate::{Error, ErrorKind};

/// A package whose file is to be found and read.
#[derive(Debug)]
pub(in crate::inventory) struct Wanted {
    pub(super) pick: Pick,
    /// The address of the package in the lock file.
    pub(super) at: Locator,
    /// The directory of the lock file.
    pub(super) dir: Arc<PathBuf>,
    pub(super) environment: Arc<Environment>,
    pub(super) lock: Arc<Lock>,
}

/// What makes two packages of lock files one thing to read: what is said of a file that one states can be false of the
/// file that another does.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A file by what it is said to be, its name, the hashes that it may have, its size, and where it is.
    File(PickStatus, String, Vec<String>, Option<u64>, Place),
    /// What an index has for an environment.
    Asked(
        String,
        Option<String>,
        Vec<String>,
        Place,
        String,
        [bool; 2],
    ),
}

/// Where a file is.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Place {
    /// On this machine.
    Path(PathBuf),
    /// On a server.
    Address(String),
    /// At an index, if one is named for the package, and with what the lock file says of indexes.
    Index(Option<String>, String),
}

/// The files of a run.
#[derive(Debug, Default)]
pub(in crate::inventory) struct Files {
    numbers: HashMap<Key, usize>,
    list: Vec<Wanted>,
}

/// A lock file for one environment, on its way to an artifact.
#[derive(Debug)]
pub(in crate::inventory) struct PlannedLock {
    pub(super) at: Locator,
    pub(super) facts: LockFacts,
    /// The number of each package's file among those of the run.
    pub(super) numbers: Vec<Option<usize>>,
    pub(super) problems: Vec<Problem>,
}

impl Files {
    /// Those that are to be read, by number.
    pub(in crate::inventory) fn into_list(self) -> Vec<Wanted> {
        self.list
    }

    /// What each of `environments` gets of `lock`, which lies in `dir`.
    pub(in crate::inventory) fn plan(
        &mut self,
        lock: Lock,
        dir: PathBuf,
        environments: &[Environment],
    ) -> Result<Vec<PlannedLock>, Error> {
        if environments.is_empty() {
            let message = format!(
                "`{}` says what is installed on a platform, and that one is not known",
                lock.at
            );
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give `--platform linux/amd64`, `linux/arm64` or `windows/amd64`"));
        }
        let (lock, dir) = (Arc::new(lock), Arc::new(dir));
        let mut planned = Vec::new();
        for environment in environments {
            let chosen = lock::choose(&lock, environment);
            let environment = Arc::new(environment.clone());
            let mut facts = LockFacts::new(lock.kind, (*environment).clone());
            facts.python = chosen.python.map(|chosen| chosen.version);
            facts.unlocked = chosen.unlocked;
            facts.is_whole = lock.is_whole();
            facts.is_for_others = chosen.picks.is_empty() && lock.has_packages();
            let mut numbers = Vec::new();
            for pick in chosen.picks {
                facts.packages.push(LockedPackage {
                    name: pick.name.clone(),
                    version: pick.version.clone(),
                    line: pick.line,
                    status: pick.status,
                    file: pick.file.clone(),
                    content: Content::None,
                });
                numbers.push(self.number(pick, &lock, &dir, &environment));
            }
            planned.push(PlannedLock {
                at: lock.at.clone(),
                facts,
                numbers,
                problems: lock
                    .problems
                    .iter()
                    .cloned()
                    .chain(chosen.problems)
                    .collect(),
            });
        }
        Ok(planned)
    }

    /// The number of what a package needs read; none where there is nothing that could be.
    fn number(
        &mut self,
        pick: Pick,
        lock: &Arc<Lock>,
        dir: &Arc<PathBuf>,
        environment: &Arc<Environment>,
    ) -> Option<usize> {
        let key = key_of(&pick, lock, dir, environment)?;
        let next = self.list.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            let name = pick.file.as_ref().map_or(&pick.name, |file| &file.name);
            self.list.push(Wanted {
                at: lock.at.member(&name.as_str().into()),
                pick,
                dir: Arc::clone(dir),
                environment: Arc::clone(environment),
                lock: Arc::clone(lock),
            });
        }
        Some(number)
    }
}

fn key_of(pick: &Pick, lock: &Lock, dir: &Path, environment: &Environment) -> Option<Key> {
    let index = || {
        let said = format!(
            "{:?} {} {:?}",
            lock.indexes, lock.has_main_index, lock.options
        );
        Place::Index(pick.index.clone(), said)
    };
    let hashes = pick.hashes.iter().map(Hash::to_string);
    match (pick.status, &pick.file) {
        (PickStatus::AskIndex, _) => {
            let environment = format!("{environment:?}");
            let version = pick.version.clone();
            let hashes = hashes.collect();
            Some(Key::Asked(
                pick.name.clone(),
                version,
                hashes,
                index(),
                environment,
                [pick.no_binary, pick.only_binary],
            ))
        }
        (
            PickStatus::Wheel | PickStatus::Conda | PickStatus::Url | PickStatus::File,
            Some(file),
        ) => {
            let place = match &file.url {
                None => index(),
                Some(url) => match local(url, dir) {
                    Some(path) => Place::Path(path),
                    None => Place::Address(url.clone()),
                },
            };
            let hashes = hashes.chain(file.hash.iter().map(Hash::to_string));
            Some(Key::File(
                pick.status,
                file.name.clone(),
                hashes.collect(),
                file.size,
                place,
            ))
        }
        _ => None,
    }
}

impl Wanted {
    /// What will be known of it.
    pub(in crate::inventory) fn draft(&self) -> Draft {
        Draft::new(ArtifactKind::File, &self.at)
    }

    /// How long it is likely to take, in bytes.
    pub(in crate::inventory) fn weight(&self) -> u64 {
        let file = self.pick.file.as_ref();
        // what is not known could be large
        file.and_then(|file| file.size).unwrap_or(1 << 30)
    }

    /// What it is called in problems.
    pub(in crate::inventory) fn at(&self) -> &Locator {
        &self.at
    }
}
