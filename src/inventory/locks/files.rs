//! The files of a run that lock files name: one that several environments or lock files get is read once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::facts::{Content, LockFacts, LockedPackage};
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

/// What makes two packages of lock files one thing to read.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Files of one hash and name.
    Hash(String, String),
    /// A file by its address or path, below the directory of the lock file.
    Address(PathBuf, String),
    /// What an index has for an environment.
    Asked(
        String,
        Option<String>,
        Option<String>,
        Vec<String>,
        String,
        [bool; 2],
    ),
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
        let key = key_of(&pick, dir, environment)?;
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

fn key_of(pick: &Pick, dir: &Arc<PathBuf>, environment: &Environment) -> Option<Key> {
    let asked = || {
        let hashes = pick.hashes.iter().map(Hash::to_string).collect();
        let environment = format!("{environment:?}");
        let (version, index) = (pick.version.clone(), pick.index.clone());
        let forms = [pick.no_binary, pick.only_binary];
        Key::Asked(
            pick.name.clone(),
            version,
            index,
            hashes,
            environment,
            forms,
        )
    };
    match (pick.status, &pick.file) {
        (PickStatus::AskIndex, _) => Some(asked()),
        (
            PickStatus::Wheel | PickStatus::Conda | PickStatus::Url | PickStatus::File,
            Some(file),
        ) => Some(match (&file.hash, &file.url) {
            (Some(hash), _) => Key::Hash(hash.to_string(), file.name.clone()),
            (None, Some(url)) => Key::Address(dir.to_path_buf(), url.clone()),
            (None, None) => asked(),
        }),
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
