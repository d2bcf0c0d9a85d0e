//! What a process can see that is about package indexes: variables, files, programs. Tests make it up.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::escape::visible;
use crate::limits::read_capped;
use crate::source::process::ask;
use crate::{Error, ErrorKind};

/// The largest file of settings that is read, in bytes.
const FILE_MAX: u64 = 4 << 20;
/// The longest wait for a program.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest answer of a program, in bytes; the help of pip has 20 KB.
const ANSWER_MAX: u64 = 1 << 20;

/// Families of operating systems, by where pip and uv keep their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    /// Linux, and what is like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// What a process can see.
pub(super) struct Surroundings<'s> {
    /// A variable of the environment.
    pub(super) variable: &'s dyn Fn(&str) -> Option<OsString>,
    /// The text of a file; nothing where there is none.
    pub(super) read: &'s dyn Fn(&Path) -> Result<Option<String>, Error>,
    /// Whether there is a file.
    pub(super) is_file: &'s dyn Fn(&Path) -> bool,
    /// What a program says on its standard output, if it ends well and in time.
    pub(super) run: &'s dyn Fn(&str, &[&str]) -> Option<String>,
    /// The operating system.
    pub(super) system: System,
    /// The working directory.
    pub(super) here: PathBuf,
}

impl Surroundings<'_> {
    /// A variable that is set and not empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = (self.variable)(name).filter(|value| !value.is_empty())?;
        Some(value.to_string_lossy().into_owned())
    }

    /// A variable that holds a path.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        let value = (self.variable)(name).filter(|value| !value.is_empty())?;
        Some(self.here.join(value))
    }

    /// Whether a variable says yes, as pip and uv read it.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| is_yes(&text))
    }

    /// The home directory of the user.
    pub(super) fn home(&self) -> Option<PathBuf> {
        let names = match self.system {
            System::Windows => ["USERPROFILE", "HOME"],
            _ => ["HOME", "USERPROFILE"],
        };
        names.iter().find_map(|name| self.path(name))
    }

    /// Where programs keep their settings (`XDG_CONFIG_HOME`, else `.config` in the home directory).
    pub(super) fn settings(&self) -> Option<PathBuf> {
        let below_home = || Some(self.home()?.join(".config"));
        self.path("XDG_CONFIG_HOME").or_else(below_home)
    }

    /// A place as pip and uv take it: an address as it is; else a path, made absolute from `base` or the working
    /// directory on.
    pub(super) fn place(&self, text: &str, base: Option<&Path>) -> String {
        let text = text.trim();
        if text.contains("://") || text.starts_with("file:") {
            return text.to_owned();
        }
        let in_home = text.strip_prefix("~/").or_else(|| text.strip_prefix("~\\"));
        let path = match in_home.zip(self.home()) {
            Some((rest, home)) => home.join(rest),
            None => base.unwrap_or(&self.here).join(text),
        };
        // without the parts that are `.`
        let path: PathBuf = path.components().collect();
        path.to_string_lossy().into_owned()
    }
}

/// Whether a text says yes, as pip reads it.
pub(super) fn is_yes(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    matches!(text.as_str(), "y" | "yes" | "t" | "true" | "on" | "1")
}

/// Calls `with` with what this process sees.
pub(super) fn of_this_process<T>(
    with: impl FnOnce(&Surroundings<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let here = env::current_dir().map_err(|error| {
        Error::new(ErrorKind::Input, "the working directory is gone").with_source(error)
    })?;
    with(&Surroundings {
        variable: &|name| env::var_os(name),
        read: &read,
        is_file: &Path::is_file,
        run: &run,
        system: if cfg!(windows) {
            System::Windows
        } else if cfg!(target_os = "macos") {
            System::MacOs
        } else {
            System::Linux
        },
        here,
    })
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    let is_absent = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unusable(path, "could not be opened").with_source(error)),
    };
    if path.is_dir() {
        return Ok(None);
    }
    let (bytes, more) = read_capped(file, FILE_MAX)
        .map_err(|error| unusable(path, "could not be read").with_source(error))?;
    if more {
        return Err(unusable(path, &format!("has more than {FILE_MAX} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_secret| unusable(path, "is not UTF-8"))?;
    Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
}

/// A file of settings that cannot be used.
pub(super) fn unusable(path: &Path, why: &str) -> Error {
    let path = path.to_string_lossy();
    let message = format!(
        "`{}`, which may name package indexes, {why}",
        visible(&path)
    );
    Error::new(ErrorKind::Input, message)
        .with_hint("correct it: pip and uv read it too, and would ask other indexes than smgate")
}

fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        // one line for each option
        .env("COLUMNS", "10000")
        .env("PYTHONIOENCODING", "utf-8")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    let said = ask(&mut command, None, ANSWER_MAX, PATIENCE).ok()?;
    let text = String::from_utf8_lossy(&said.output).into_owned();
    said.success.then_some(text)
}
