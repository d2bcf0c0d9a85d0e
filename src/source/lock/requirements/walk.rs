//! The files of `-r` and `-c`, in the order in which pip reads them.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::super::link::has_scheme;
use super::super::located::{Mistakes, quoted};
use super::super::{Beside, Lock, LockKind, Neighbor, within, without_secrets};
use super::lines::{Line, logical};
use super::options::{self, Opt, Parts};
use super::pins::{Found, settle};
use super::{decode, entry, hashes};
use crate::source::wheel::normal_name;
use crate::{Error, Locator};

/// Files in each other.
const DEPTH: usize = 16;
/// Lines of one file of `-r` or `-c` that are told one by one.
const TOLD: usize = 5;
/// Files of one run of `-r` and `-c`.
const MOST_FILES: usize = 256;

/// A file that is being read.
struct File {
    /// As the top file would name it; empty for the top file.
    path: String,
    /// Whether its requirements only say versions.
    is_constraint: bool,
    /// The line of the top file by which it is read.
    line: Option<u32>,
    /// Whether no text of it is shown.
    is_outside: bool,
    /// Lines of it that are told.
    told: Cell<usize>,
}

/// What was read so far.
pub(super) struct Walk<'b> {
    beside: &'b Beside<'b>,
    lock: Lock,
    pub(super) mistakes: Mistakes,
    /// Lines that are requirements or options.
    pub(super) understood: usize,
    found: Vec<Found>,
    constraints: Vec<Found>,
    /// Files that are being read, each in the one before it.
    open: Vec<String>,
    /// Files with whether they were read for their versions alone.
    read: BTreeSet<(String, bool)>,
}

impl<'b> Walk<'b> {
    pub(super) fn new(at: &Locator, beside: &'b Beside<'b>) -> Self {
        Self {
            beside,
            lock: Lock::new(at.clone(), LockKind::Requirements),
            mistakes: Mistakes::default(),
            understood: 0,
            found: Vec::new(),
            constraints: Vec::new(),
            open: Vec::new(),
            read: BTreeSet::new(),
        }
    }

    /// Reads the file that the user named, and all that it names.
    pub(super) fn top(&mut self, text: &str) {
        self.file(
            text,
            &File {
                path: String::new(),
                is_constraint: false,
                line: None,
                is_outside: false,
                told: Cell::new(0),
            },
        );
    }

    /// That no more was read than a lock file may have.
    pub(super) fn is_within(&self) -> Result<(), Error> {
        within(self.found.len() + self.constraints.len(), &self.lock.at)
    }

    pub(super) fn finish(mut self) -> Lock {
        settle(&mut self.lock, self.found, &self.constraints);
        self.mistakes.into_lock(&mut self.lock);
        self.lock
    }

    fn file(&mut self, text: &str, file: &File) {
        for line in logical(text.strip_prefix('\u{feff}').unwrap_or(text)) {
            // what is too many already is refused by `read`
            if self.is_within().is_err() {
                return;
            }
            let read = options::parse(&line.text).and_then(|parts| self.line(&parts, &line, file));
            match read {
                Ok(()) => self.understood += 1,
                Err(what) => self.mistake(&what, line.number, file),
            }
        }
    }

    fn mistake(&mut self, what: &str, number: u32, file: &File) {
        match file.line {
            None => self.mistakes.add(number, what),
            Some(line) => {
                let place = quoted(&file.path);
                let told = file.told.get();
                file.told.set(told + 1);
                let what = match told {
                    0..TOLD if file.is_outside => "it is not understood",
                    0..TOLD => what,
                    TOLD => "it and lines behind it are not understood",
                    _ => return,
                };
                self.mistakes
                    .add(line, format!("{place}, line {number}: {what}"));
            }
        }
    }

    fn line(&mut self, parts: &Parts, line: &Line, file: &File) -> Result<(), String> {
        let top = file.line.unwrap_or(line.number);
        let editable = parts.first(Opt::Editable);
        let requirement = match (parts.requirement.as_str(), editable) {
            ("", None) => return self.options(parts, top, line.number, file),
            ("", Some(editable)) => editable,
            (requirement, _) => requirement,
        };
        let bare = without_secrets(requirement);
        if let Some(name) = variable(&bare) {
            return Err(format!(
                "{} holds the variable {name} of the environment, which is not put in: write its value",
                quoted(&bare)
            ));
        }
        let mut entry = entry::parse(requirement, hashes(parts)?, top)?;
        if let (Some(package), Some(from)) = (&mut entry.pinned, &line.from) {
            package.index = Some(without_secrets(from));
        }
        let found = Found { entry, line: top };
        if file.is_constraint {
            self.constraints.push(found);
        } else {
            self.found.push(found);
        }
        Ok(())
    }

    fn options(&mut self, parts: &Parts, top: u32, number: u32, file: &File) -> Result<(), String> {
        let nested = parts.first(Opt::Requirement).map(|path| (path, false));
        let nested = nested.or_else(|| parts.first(Opt::Constraint).map(|path| (path, true)));
        if let Some((path, is_constraint)) = nested {
            return self.nested(path, is_constraint, top, file);
        }
        let addresses = [Opt::Index, Opt::ExtraIndex, Opt::FindLinks];
        for value in addresses.iter().flat_map(|opt| parts.all(*opt)) {
            let value = without_secrets(value);
            if let Some(name) = variable(&value) {
                let what = format!(
                    "{} holds the variable {name} of the environment, which is not put in: packages of it are not found",
                    quoted(&value)
                );
                self.mistake(&what, number, file);
            }
        }
        let lock = &mut self.lock;
        if parts.first(Opt::NoIndex).is_some() {
            lock.options.no_index = true;
            lock.has_main_index = false;
            lock.indexes.clear();
        }
        if !lock.options.no_index {
            // the last of several, and it takes the place of all before it: so does pip
            if let Some(url) = parts.all(Opt::Index).last() {
                lock.indexes = vec![without_secrets(url)];
                lock.has_main_index = true;
                lock.options.keep_login(url);
            }
            for url in parts.all(Opt::ExtraIndex) {
                lock.indexes.push(without_secrets(url));
                lock.options.keep_login(url);
            }
        }
        // pip takes the first of several in one line
        if let Some(url) = parts.first(Opt::FindLinks) {
            lock.options.find_links.push(without_secrets(url));
            lock.options.keep_login(url);
        }
        let binary = &mut lock.options;
        for names in parts.all(Opt::NoBinary) {
            exclude(names, &mut binary.no_binary, &mut binary.only_binary);
        }
        for names in parts.all(Opt::OnlyBinary) {
            exclude(names, &mut binary.only_binary, &mut binary.no_binary);
        }
        Ok(())
    }

    fn nested(
        &mut self,
        path: &str,
        is_constraint: bool,
        top: u32,
        file: &File,
    ) -> Result<(), String> {
        let bare = without_secrets(path);
        let named = quoted(&bare);
        if let Some(name) = variable(&bare) {
            return Err(format!(
                "{named} holds the variable {name} of the environment, which is not put in, so the file is not read"
            ));
        }
        if has_scheme(path) {
            return Err(format!(
                "{named} is not read: copy it beside this file and name it by its path"
            ));
        }
        let path = joined(&file.path, path);
        if path == file.path || self.open.contains(&path) {
            return Err(format!("{named} is a file that it is read from itself"));
        }
        if self.open.len() >= DEPTH || self.read.len() >= MOST_FILES {
            return Err(format!(
                "{named} is not read: {DEPTH} files in each other, or {MOST_FILES} in all, are enough"
            ));
        }
        if !self.read.insert((path.clone(), is_constraint)) {
            return Ok(());
        }
        let Neighbor { bytes, is_outside } = (self.beside)(&path).ok_or_else(|| {
            format!("there is no file {named}: put it beside this one, or leave the line out")
        })?;
        let text = decode(&bytes).map_err(|what| format!("{named} is not read: {what}"))?;
        self.open.push(path.clone());
        self.file(
            &text,
            &File {
                path,
                is_constraint,
                line: Some(top),
                is_outside: is_outside || file.is_outside,
                told: Cell::new(0),
            },
        );
        self.open.pop();
        Ok(())
    }
}

/// A path in the file `from`, as the top file would name it.
fn joined(from: &str, path: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
    let from = if is_absolute { "" } else { from };
    let dir = from.rfind(['/', '\\']).and_then(|at| from.get(..=at));
    let whole = format!("{}{path}", dir.unwrap_or_default());
    let mut parts: Vec<&str> = Vec::new();
    for (at, part) in whole.split(['/', '\\']).enumerate() {
        match part {
            "" if at > 0 => {}
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The first variable of the environment of a text, as pip writes them.
fn variable(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once("${") {
        rest = behind;
        let end = behind.find('}')?;
        let name = behind.get(..end).unwrap_or_default();
        let word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if !name.is_empty() && name.chars().all(word) {
            return Some(name);
        }
    }
    None
}

/// What `--no-binary` says of `target` and takes back of `other`, or the other way round, as pip's `FormatControl`.
fn exclude(names: &str, target: &mut BTreeSet<String>, other: &mut BTreeSet<String>) {
    let mut names: Vec<&str> = names.split(',').map(str::trim).collect();
    if let Some(all) = names.iter().rposition(|name| *name == ":all:") {
        other.clear();
        *target = BTreeSet::from([":all:".to_owned()]);
        names.drain(..=all);
        if !names.contains(&":none:") {
            return;
        }
    }
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        if name == ":none:" {
            target.clear();
            continue;
        }
        let name = normal_name(name);
        other.remove(&name);
        target.insert(name);
    }
}
