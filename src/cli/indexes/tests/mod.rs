//! What counts first, on machines that are made up.

mod order;
mod rest;
mod tools;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;

use super::surroundings::System;
use super::*;
use crate::Locator;
use crate::source::index::IndexKind;

/// A machine.
#[derive(Default)]
struct Machine {
    variables: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    /// What `pip` says.
    pip: Option<String>,
    windows: bool,
    mac: bool,
    asked: RefCell<Vec<String>>,
}

impl Machine {
    /// With the home directory `/h`.
    fn new() -> Self {
        Self::default().set("HOME", "/h")
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    fn pip(mut self, says: &str) -> Self {
        self.pip = Some(says.to_owned());
        self
    }

    fn resolve(
        &self,
        options: &IndexOptions,
        lock: Option<&Lock>,
        policy: Option<&[String]>,
    ) -> Result<IndexConfig, Error> {
        let slashed = |path: &Path| path.to_str().unwrap().replace('\\', "/");
        let variable = |name: &str| self.variables.get(name).map(OsString::from);
        let read = |path: &Path| Ok(self.files.get(&slashed(path)).cloned());
        let is_file = |path: &Path| self.files.contains_key(&slashed(path));
        let run = |program: &str, arguments: &[&str]| {
            let line = format!("{program} {}", arguments.join(" "));
            self.asked.borrow_mut().push(line);
            self.pip.clone().filter(|_| program == "python3")
        };
        let around = Surroundings {
            variable: &variable,
            read: &read,
            is_file: &is_file,
            run: &run,
            system: match (self.windows, self.mac) {
                (true, _) => System::Windows,
                (_, true) => System::MacOs,
                _ => System::Linux,
            },
            here: "/w/project/sub".into(),
        };
        resolve(options, lock, policy, &around)
    }

    fn config(&self) -> IndexConfig {
        self.resolve(&IndexOptions::default(), None, None).unwrap()
    }

    fn said(&self) -> Vec<String> {
        said(&self.config())
    }
}

/// The indexes in short: `*` before a flat page, `!` before one for pinned packages, `NAME=`, the address.
fn said(config: &IndexConfig) -> Vec<String> {
    let one = |spec: &IndexSpec| {
        let kind = if spec.kind == IndexKind::Flat {
            "*"
        } else {
            ""
        };
        let pinned = if spec.only_pinned { "!" } else { "" };
        let name = spec.name.as_ref().map(|name| format!("{name}="));
        let address = spec.address.expose().replace('\\', "/");
        format!("{kind}{pinned}{}{address}", name.unwrap_or_default())
    };
    config.indexes.iter().map(one).collect()
}

fn options(main: Option<&str>, extra: &[&str], pages: &[&str]) -> IndexOptions {
    let all = |texts: &[&str]| texts.iter().copied().map(Secret::new).collect();
    IndexOptions {
        index_url: main.map(Secret::new),
        extra_index_url: all(extra),
        find_links: all(pages),
        ..IndexOptions::default()
    }
}

fn lock(kind: LockKind, indexes: &[&str], has_main: bool) -> Lock {
    let mut lock = Lock::new(Locator::root(0, "requirements.txt"), kind);
    lock.indexes = indexes.iter().map(|&address| address.to_owned()).collect();
    lock.has_main_index = has_main;
    lock
}

const HELP: &str = "  -i, --index-url <url>       Base URL of the Python Package Index (default\n                              \
                    https://u:****@default.example/sim\n                              ple). This should point to a\n  \
                    --extra-index-url <url>  Extra (default no).";
