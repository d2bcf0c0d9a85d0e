//! The JSON form of what only lock files have: the list `locks` beside `artifacts`.

use serde::{Deserialize, Serialize};

use super::read::find;
use crate::inventory::{Artifact, Content, LockFacts, LockedPackage};
use crate::source::lock::{
    Environment, Hash, Libc, LockKind, PickStatus, PickedFile, PythonVersion, Unlocked,
};

/// What a lock file puts on one kind of machine.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LockForm {
    input: String,
    kind: String,
    /// Which of `artifacts` it is, from 0 on.
    artifact: usize,
    environment: EnvironmentForm,
    /// The Python version by which wheels were chosen.
    python: Option<PythonVersion>,
    packages: Vec<PackageForm>,
    /// Whether there are packages, and none of them for this environment.
    #[serde(default)]
    for_others: bool,
    /// Whether all that is installed is listed.
    whole: bool,
    not_locked: Vec<UnlockedForm>,
    /// Bytes asked of servers.
    fetched: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct EnvironmentForm {
    platform: String,
    python: Option<PythonVersion>,
    libc: String,
    #[serde(default)]
    extras: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    named: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PackageForm {
    name: String,
    version: Option<String>,
    /// The name of the file.
    file: Option<String>,
    hash: Option<String>,
    line: u32,
    status: String,
    #[serde(default)]
    file_line: Option<u32>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    size: Option<u64>,
    #[serde(default)]
    content: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct UnlockedForm {
    text: String,
    line: u32,
}

impl LockForm {
    /// The forms of all artifacts that are lock files.
    pub(super) fn of(artifacts: &[Artifact]) -> Vec<Self> {
        let locks = artifacts.iter().enumerate();
        locks
            .filter_map(|(index, artifact)| {
                let lock = artifact.lock.as_deref()?;
                Some(Self::new(index, &artifact.input, lock))
            })
            .collect()
    }

    fn new(artifact: usize, input: &str, lock: &LockFacts) -> Self {
        let environment = &lock.environment;
        Self {
            input: input.to_owned(),
            kind: lock.kind.id().to_owned(),
            artifact,
            environment: EnvironmentForm {
                platform: environment.platform.to_string(),
                python: environment.python,
                libc: environment.libc.to_string(),
                extras: environment.extras.clone(),
                groups: environment.groups.clone(),
                named: environment.named.clone(),
            },
            python: lock.python,
            packages: lock.packages.iter().map(PackageForm::from).collect(),
            for_others: lock.is_for_others,
            whole: lock.is_whole,
            not_locked: lock.unlocked.iter().map(UnlockedForm::from).collect(),
            fetched: lock.fetched,
        }
    }

    /// Gives the artifact that it is about its facts.
    pub(super) fn attach(self, artifacts: &mut [Artifact]) -> Result<(), String> {
        let number = self.artifact;
        let artifact = artifacts
            .get_mut(number)
            .filter(|artifact| artifact.input == self.input && artifact.lock.is_none())
            .ok_or_else(|| format!("lock `{}` is of no artifact {number}", self.input))?;
        artifact.lock = Some(Box::new(self.into_facts()?));
        Ok(())
    }

    fn into_facts(self) -> Result<LockFacts, String> {
        let kind = find(LockKind::ALL, LockKind::id, &self.kind, "a lock kind")?;
        let form = self.environment;
        let platform = form.platform.parse();
        let mut environment = Environment::new(
            platform.map_err(|_unknown| format!("`{}` is no platform", form.platform))?,
        );
        environment.python = form.python;
        environment.libc = form
            .libc
            .parse::<Libc>()
            .map_err(|error| error.to_string())?;
        environment.extras = form.extras;
        environment.groups = form.groups;
        environment.named = form.named;
        let mut facts = LockFacts::new(kind, environment);
        facts.python = self.python;
        facts.fetched = self.fetched;
        facts.is_for_others = self.for_others;
        facts.is_whole = self.whole;
        let packages = self.packages.into_iter().map(PackageForm::into_package);
        facts.packages = packages.collect::<Result<_, _>>()?;
        let unlocked = self.not_locked.into_iter();
        facts.unlocked = unlocked
            .map(|form| Unlocked::new(form.text, form.line))
            .collect();
        Ok(facts)
    }
}

impl From<&LockedPackage> for PackageForm {
    fn from(package: &LockedPackage) -> Self {
        let file = package.file.as_ref();
        let hash = file.and_then(|file| file.hash.as_ref());
        Self {
            name: package.name.clone(),
            version: package.version.clone(),
            file: file.map(|file| file.name.clone()),
            hash: hash.map(ToString::to_string),
            line: package.line,
            status: package.status.id().to_owned(),
            file_line: file.map(|file| file.line),
            url: file.and_then(|file| file.url.clone()),
            size: file.and_then(|file| file.size),
            content: Some(package.content.id().to_owned()),
        }
    }
}

impl PackageForm {
    fn into_package(self) -> Result<LockedPackage, String> {
        let hash = self
            .hash
            .map(|text| Hash::parse(&text).ok_or_else(|| format!("`{text}` is no hash")));
        let hash = hash.transpose()?;
        let file = self.file.map(|name| {
            let mut file = PickedFile::new(name, self.file_line.unwrap_or(self.line));
            file.url = self.url;
            file.hash = hash;
            file.size = self.size;
            file
        });
        let content = self.content.as_deref().unwrap_or(Content::None.id());
        Ok(LockedPackage {
            status: find(PickStatus::ALL, PickStatus::id, &self.status, "a status")?,
            content: find(Content::ALL, Content::id, content, "a content")?,
            name: self.name,
            version: self.version,
            line: self.line,
            file,
        })
    }
}

impl From<&Unlocked> for UnlockedForm {
    fn from(unlocked: &Unlocked) -> Self {
        Self {
            text: unlocked.text.clone(),
            line: unlocked.line,
        }
    }
}
