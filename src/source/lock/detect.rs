//! Which kind of lock file a text is: by what it holds. A name only says what somebody meant it to be.

use std::borrow::Cow;

use super::model::LockKind;
use super::{detect_text, requirements};
use crate::{Error, ErrorKind};

/// Bytes of the beginning of a file that [`may_be_lock`] looks at.
const HEAD: usize = 4096;

/// Whether a file may be a lock file, by its first bytes: whether they are text. Wheels, libraries and images are
/// not, and need not be read for [`detect`].
pub fn may_be_lock(head: &[u8]) -> bool {
    let head = head.get(..HEAD).unwrap_or(head);
    if is_utf16(head) {
        return true;
    }
    // the last character may be cut
    let is_text = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    !head.is_empty() && is_text && !head.contains(&0)
}

/// The kind of lock file that a file is, by its content.
///
/// # Errors
///
/// A file that is called as a lock file is, and holds something else.
pub fn detect(bytes: &[u8], file_name: &str) -> Result<Option<LockKind>, Error> {
    let named = by_name(file_name);
    let text = match text_of(bytes, named.unwrap_or(LockKind::Requirements)) {
        Ok(text) => text,
        Err(valid) => {
            return match named {
                Some(_) => Err(not_text(bytes, file_name, valid)),
                None => Ok(None),
            };
        }
    };
    let text = text.as_ref();
    let found = by_content(text, file_name);
    match (named, found) {
        // of these names only the shape is usual
        (Some(LockKind::Requirements), Some(found)) => Ok(Some(found)),
        (Some(named), Some(found)) if named != found => {
            let message = format!(
                "`{file_name}` is {}, not {}",
                in_words(found),
                in_words(named)
            );
            let hint = format!(
                "rename it, `{}` for one, or write a {} anew",
                usual_name(found),
                named.title()
            );
            Err(Error::new(ErrorKind::Input, message).with_hint(hint))
        }
        (Some(named), None) if !is_readable_as(named, text) => Err(not_such(file_name, named)),
        (Some(named), None) => Ok(Some(named)),
        (_, found) => Ok(found),
    }
}

/// The kind that a file is called.
fn by_name(file_name: &str) -> Option<LockKind> {
    Some(match file_name {
        "uv.lock" => LockKind::Uv,
        "poetry.lock" => LockKind::Poetry,
        "pdm.lock" => LockKind::Pdm,
        "Pipfile.lock" => LockKind::Pipenv,
        "pylock.toml" => LockKind::Pylock,
        "pixi.lock" => LockKind::Pixi,
        "environment.yml" | "environment.yaml" => LockKind::CondaEnvironment,
        _ if is_conda_lock(file_name) => LockKind::CondaLock,
        _ if is_requirements(file_name) => LockKind::Requirements,
        _ => {
            // `pylock.NAME.toml`, of which the name has no dot
            let middle = file_name.strip_prefix("pylock.")?.strip_suffix(".toml")?;
            let is_name = !middle.is_empty() && !middle.contains('.');
            return is_name.then_some(LockKind::Pylock);
        }
    })
}

/// `conda-lock.yml`, `gpu.conda-lock.yaml`.
fn is_conda_lock(file_name: &str) -> bool {
    let stem = file_name
        .strip_suffix(".yml")
        .or_else(|| file_name.strip_suffix(".yaml"));
    stem.is_some_and(|stem| stem == "conda-lock" || stem.ends_with(".conda-lock"))
}

/// `requirements.txt`, `dev-requirements.in`, `constraints.txt`.
fn is_requirements(file_name: &str) -> bool {
    let name = file_name.to_ascii_lowercase();
    let stem = name
        .strip_suffix(".txt")
        .or_else(|| name.strip_suffix(".in"));
    stem.is_some_and(|stem| stem.contains("requirements") || stem.starts_with("constraints"))
}

/// Whether a file is called as lock files are.
pub(crate) fn is_named(file_name: &str) -> bool {
    by_name(file_name).is_some()
}

/// The text of a lock file of `kind`: UTF-8, and of requirements UTF-16 too, which PowerShell writes. Otherwise how many
/// bytes of it are text.
pub(super) fn text_of(bytes: &[u8], kind: LockKind) -> Result<Cow<'_, str>, usize> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) if kind == LockKind::Requirements && is_utf16(bytes) => {
            return match requirements::decode(bytes) {
                Ok(text) => Ok(text.into()),
                Err(_) => Err(0),
            };
        }
        Err(error) => return Err(error.valid_up_to()),
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).into())
}

fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

fn by_content(text: &str, file_name: &str) -> Option<LockKind> {
    if text.trim_start().starts_with('{') {
        let is_pipenv = text.contains("\"_meta\"") && text.contains("\"pipfile-spec\"");
        return is_pipenv.then_some(LockKind::Pipenv);
    }
    toml_kind(text).or_else(|| detect_text::detect(text, file_name))
}

/// What of a TOML file tells its kind.
#[derive(Default)]
struct Signs {
    version: bool,
    requires_python: bool,
    lock_version: bool,
    packages: bool,
    package: bool,
    poetry: bool,
    pdm: bool,
}

/// The kind of a TOML file, by its keys; it may have mistakes.
fn toml_kind(text: &str) -> Option<LockKind> {
    let mut signs = Signs::default();
    let mut table = "";
    let mut is_first = true;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = line.split_once('=').map(|(key, _)| key.trim());
        if std::mem::take(&mut is_first) && !line.starts_with('[') && !key.is_some_and(is_key) {
            return None;
        }
        if line.starts_with('[') && line.ends_with(']') {
            table = line;
            signs.packages |= table == "[[packages]]";
            signs.package |= table == "[[package]]";
        } else {
            match (table, key) {
                ("", Some("version")) => signs.version = true,
                ("", Some("requires-python")) => signs.requires_python = true,
                ("", Some("lock-version")) => signs.lock_version = true,
                ("[metadata]", Some("lock-version")) => signs.poetry = true,
                ("[metadata]", Some("lock_version")) => signs.pdm = true,
                _ => {}
            }
        }
    }
    match signs {
        Signs { poetry: true, .. } => Some(LockKind::Poetry),
        Signs { pdm: true, .. } => Some(LockKind::Pdm),
        Signs {
            lock_version: true, ..
        } => Some(LockKind::Pylock),
        // Cargo.lock has versions and packages, too, and no `requires-python`
        Signs {
            version: true,
            requires_python: true,
            package: true,
            ..
        } => Some(LockKind::Uv),
        _ => None,
    }
}

fn is_key(text: &str) -> bool {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '"' | '\'');
    !text.is_empty() && text.chars().all(is_bare)
}

/// Whether the reader of a kind can say better what is wrong: where the text breaks the format below.
fn is_readable_as(kind: LockKind, text: &str) -> bool {
    match kind {
        LockKind::Pipenv => serde_json::from_str::<serde::de::IgnoredAny>(text).is_err(),
        LockKind::CondaLock | LockKind::Pixi | LockKind::CondaEnvironment => {
            !text.trim().is_empty()
        }
        LockKind::Requirements => !text.trim().is_empty(),
        _ => toml::de::DeTable::parse(text).is_err() || toml_kind(text) == Some(kind),
    }
}

fn in_words(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Uv => "a lock file of uv",
        LockKind::Pylock => "a lock file of PEP 751",
        LockKind::Poetry => "a lock file of poetry",
        LockKind::Pdm => "a lock file of pdm",
        LockKind::Pipenv => "a lock file of pipenv",
        LockKind::Requirements => "requirements text",
        LockKind::CondaLock => "a lock file of conda-lock",
        LockKind::Explicit => "a list of conda packages",
        LockKind::Pixi => "a lock file of pixi",
        LockKind::CondaEnvironment => "a conda environment",
    }
}

/// A name that tools give to a kind.
fn usual_name(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Explicit => "conda-linux-64.lock",
        kind => kind.title(),
    }
}

fn not_such(file_name: &str, kind: LockKind) -> Error {
    let lacks = match kind {
        LockKind::Uv => "it lacks `version`, `requires-python` or packages",
        LockKind::Pylock => "it lacks `lock-version`",
        LockKind::Poetry => "it lacks `lock-version` in `[metadata]`",
        LockKind::Pdm => "it lacks `lock_version` in `[metadata]`",
        LockKind::CondaLock
        | LockKind::Pixi
        | LockKind::CondaEnvironment
        | LockKind::Requirements => "it is empty",
        _ => "it lacks `_meta` with `pipfile-spec`",
    };
    let message = format!("`{file_name}` is no {}: {lacks}", kind.title());
    let hint = "write it anew with the tool that made it, or rename it if it is something else";
    Error::new(ErrorKind::Input, message).with_hint(hint)
}

/// That a file is no UTF-8 text.
pub(super) fn not_text(bytes: &[u8], shown: &str, valid: usize) -> Error {
    let message = if is_utf16(bytes) {
        format!("`{shown}` is UTF-16 text, and UTF-8 is read")
    } else {
        let before = bytes.get(..valid).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        format!("`{shown}`, line {line}: this is no UTF-8 text")
    };
    Error::new(ErrorKind::Input, message)
        .with_hint("save it as UTF-8, as the tools that write it do")
}

#[cfg(test)]
mod tests;
