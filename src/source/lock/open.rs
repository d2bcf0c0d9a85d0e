//! Lock files on this machine, and requirements on the command line.

use std::path::{Path, PathBuf};

use super::{
    Lock, LockKind, Locked, LockedFile, MOST_BYTES, Neighbor, Pick, detect, is_named, may_be_lock,
    read, without_secrets,
};
use crate::archive::SharedBytes;
use crate::limits::read_capped;
use crate::source::{cannot_open, read_named};
use crate::{Error, ErrorKind, Locator};

/// A lock file, with the directory that paths in it are relative to.
#[derive(Debug)]
#[non_exhaustive]
pub struct LockFile {
    /// What it says.
    pub lock: Lock,
    /// The directory.
    pub dir: PathBuf,
}

impl LockFile {
    /// Reads the file at `path`, which is said to be one.
    pub(in crate::source) fn open(
        path: &Path,
        bytes: &SharedBytes,
        at: &Locator,
    ) -> Result<Self, Error> {
        let dir = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let content = content(path, bytes)?;
        let lock = read(&content, &name, at, &beside(&dir))?;
        Ok(Self { lock, dir })
    }

    /// Reads the file at `path`, if it is one.
    pub(in crate::source) fn recognise(
        path: &Path,
        bytes: &SharedBytes,
        at: &Locator,
    ) -> Result<Option<Self>, Error> {
        let mut head = [0; 4096];
        let len = bytes
            .read_at(&mut head, 0)
            .map_err(|error| cannot_open(path, error))?;
        let head = head.get(..len).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_named(&name) {
            return Self::open(path, bytes, at).map(Some);
        }
        if bytes.len() > MOST_BYTES as u64 || !may_be_lock(head) {
            return Ok(None);
        }
        let text = content(path, bytes)?;
        match detect(&text, &name)? {
            Some(_) => Self::open(path, bytes, at).map(Some),
            None if is_plain(&name) && !is_ptx(&text) => Err(no_lock(at)),
            None => Ok(None),
        }
    }

    /// The file of `pick` by itself: the package that it is of needs more than is listed. Problems call it `at`.
    pub fn of_pick(pick: &Pick, at: Locator) -> Self {
        let mut package = Locked::new(pick.name.clone(), pick.version.clone(), pick.line);
        package.index.clone_from(&pick.index);
        package.files.extend(pick.file.as_ref().map(|file| {
            let mut locked = LockedFile::new(file.name.clone(), file.line);
            locked.url.clone_from(&file.url);
            locked.hash.clone_from(&file.hash);
            locked.size = file.size;
            locked
        }));
        let mut lock = Lock::new(at, LockKind::Requirements);
        lock.alone = true;
        lock.packages.push(package);
        let dir = PathBuf::new();
        Self { lock, dir }
    }

    /// The package that `text` asks for, `torch==2.9.1`.
    pub(in crate::source) fn of_requirement(text: &str, at: &Locator) -> Result<Self, Error> {
        let lock = read(text.as_bytes(), "requirements.txt", at, &|_| None)?;
        if let Some(unlocked) = lock.unlocked.first() {
            let name = unlocked.text.split(|c: char| !is_of_name(c)).next();
            let name = name.unwrap_or_default();
            let message = format!("`{}` names no exact version", unlocked.text);
            return Err(Error::new(ErrorKind::Usage, message).with_hint(format!(
                "write `{name}==VERSION`, or ask which versions run on a GPU: `smgate find {name} --target GPU`"
            )));
        }
        if lock.packages.is_empty() {
            let message = format!("`{}` is no requirement", without_secrets(text));
            return Err(
                Error::new(ErrorKind::Usage, message).with_hint("write it as `torch==2.9.1`")
            );
        }
        let dir = PathBuf::new();
        Ok(Self { lock, dir })
    }
}

/// Whether a file that is text is called as lists and settings are. No loader looks for device code in it.
fn is_plain(file_name: &str) -> bool {
    const ENDS: [&str; 7] = ["txt", "in", "lock", "toml", "yml", "yaml", "json"];
    let end = file_name.rsplit('.').next().unwrap_or_default();
    ENDS.iter().any(|known| end.eq_ignore_ascii_case(known))
}

fn is_ptx(text: &[u8]) -> bool {
    memchr::memmem::find(text, b".version").is_some()
        && memchr::memmem::find(text, b".target").is_some()
}

fn no_lock(at: &Locator) -> Error {
    let message = format!("`{at}` is text, and no lock file of a kind that is read");
    Error::new(ErrorKind::Input, message).with_hint(
        "`lock:PATH` says what is wrong with it as a lock file, `file:PATH` judges it as any file; a saved inventory is given with `--inventory FILE`",
    )
}

/// Whether what does not exist as a path asks for a package: `torch==2.9.1`, `torch[x]>=2`.
pub(in crate::source) fn is_requirement(text: &str) -> bool {
    let name = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(name).unwrap_or((text, ""));
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let sign = ["==", ">=", "<=", "~=", "!=", ">", "<"];
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && sign.iter().any(|sign| rest.trim_start().starts_with(sign))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn content(path: &Path, bytes: &SharedBytes) -> Result<Vec<u8>, Error> {
    // one more, so that what is too long is told
    let most = MOST_BYTES as u64 + 1;
    let content = read_capped(bytes.cursor(), most).map_err(|error| cannot_open(path, error))?;
    Ok(content.0)
}

/// Opens files beside a lock file.
fn beside(dir: &Path) -> impl Fn(&str) -> Option<Neighbor> {
    move |name| {
        // the parts of the name, because on Windows it is divided otherwise
        let path = if name.starts_with('/') || name.get(1..3) == Some(":/") {
            dir.join(name)
        } else {
            name.split('/')
                .fold(dir.to_path_buf(), |path, part| path.join(part))
        };
        let bytes = read_named(&path, MOST_BYTES as u64, ErrorKind::Input).ok()?;
        let here = if dir == Path::new("") {
            Path::new(".")
        } else {
            dir
        };
        let real = path.canonicalize().ok().zip(here.canonicalize().ok());
        let is_outside = real.is_none_or(|(path, dir)| !path.starts_with(dir));
        Some(Neighbor { bytes, is_outside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lock::{Hash, PickedFile};

    #[test]
    fn requirements_are_told_from_names_of_files() {
        for text in [
            "torch==2.9.1",
            "torch[x,y] >= 2",
            "jax_cuda12~=1",
            "a.b!=1",
            "a<3",
        ] {
            assert!(is_requirement(text), "{text}");
        }
        for text in [
            "torch",
            "a/b==1",
            "==1",
            "./a",
            "torch-2.9.whl",
            "a[b",
            "-r==1",
        ] {
            assert!(!is_requirement(text), "{text}");
        }
    }

    #[test]
    fn files_elsewhere_are_read_and_said_to_be_outside() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(dir.path().join("a.txt"), "a==1").unwrap();
        std::fs::write(inner.join("b.txt"), "b==1").unwrap();
        let absolute = dir
            .path()
            .join("a.txt")
            .to_string_lossy()
            .replace('\\', "/");
        let open = beside(&inner);
        let outside = |name: &str| open(name).map(|file| file.is_outside);
        assert_eq!(outside("b.txt"), Some(false));
        assert_eq!(outside("../inner/b.txt"), Some(false));
        assert_eq!(outside("../a.txt"), Some(true));
        assert_eq!(outside(&absolute), Some(true));
        assert_eq!(outside("a.txt"), None);
    }

    #[test]
    fn a_file_by_itself_is_no_closure() {
        let mut pick = Pick::ask("torch", Some("2.7.1+cu126".to_owned()));
        pick.file = Some(PickedFile::new(
            "torch-2.7.1+cu126-cp312-cp312-linux_x86_64.whl",
            1,
        ));
        let at = Locator::root(0, "torch==2.7.1+cu126");
        let mut lock = LockFile::of_pick(&pick, at).lock;
        assert_eq!(lock.packages[0].files[0].name, pick.file.unwrap().name);
        // a hash would make it whole
        lock.packages[0].files[0].hash = Hash::parse("sha256:00ff");
        assert!(!lock.is_whole());
        lock.alone = false;
        assert!(lock.is_whole());
    }

    #[test]
    fn a_requirement_without_an_exact_version_says_what_to_write() {
        let at = Locator::root(0, "torch>=2");
        let error = LockFile::of_requirement("torch>=2", &at).unwrap_err();
        assert_eq!(error.to_string(), "`torch>=2` names no exact version");
        assert!(error.hint().unwrap().starts_with("write `torch==VERSION`"));
    }
}
