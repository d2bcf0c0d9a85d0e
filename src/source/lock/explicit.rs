//! Lists of addresses behind `@EXPLICIT`.
//!
//! Format: what `conda list --explicit` and `conda-lock render` write: an address or a path in each line, with
//! `#MD5`, `#sha256:HEX` or nothing; `# platform: SUBDIR`; and `# pip REQUIREMENT` of conda-lock, which conda itself
//! passes over and `conda-lock install` installs.

use super::link::split_fragment;
use super::located::{Mistakes, quoted, refused};
use super::{Hash, Lock, LockKind, Locked, conda, requirements, within};
use crate::{Error, Locator};

/// The line that begins the list.
const MARK: &str = "@EXPLICIT";

/// Whether a text is such a list: the mark stands before anything else but comments.
pub(super) fn is_explicit(text: &str) -> bool {
    let mut said = text.lines().map(str::trim).filter(|line| !is_note(line));
    said.next() == Some(MARK)
}

fn is_note(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// Reads an explicit list.
///
/// # Errors
///
/// A text without the mark.
pub(super) fn read(text: &str, at: &Locator) -> Result<Lock, Error> {
    if !is_explicit(text) {
        let what = format!("the list does not begin with `{MARK}`");
        return Err(refused(
            at,
            1,
            what,
            "write it again with `conda list --explicit`",
        ));
    }
    let mut lock = Lock::new(at.clone(), LockKind::Explicit);
    let mut mistakes = Mistakes::default();
    let mut platform = None;
    for (number, line) in (1_u32..).zip(text.lines()) {
        within(lock.packages.len(), at)?;
        let line = line.trim();
        if line.is_empty() || line == MARK {
            continue;
        }
        if let Some(note) = line.strip_prefix('#') {
            let note = note.trim_start();
            if let Some(subdir) = note.strip_prefix("platform:") {
                platform = Some(subdir.trim().to_owned());
            } else if let Some(requirement) = note.strip_prefix("pip ") {
                match pip(requirement, number) {
                    Ok(package) => lock.packages.push(package),
                    Err(what) => mistakes.add(number, what),
                }
            }
            continue;
        }
        match package(line, number) {
            Ok(package) => lock.packages.push(package),
            Err(what) => mistakes.add(number, what),
        }
    }
    for package in &mut lock.packages {
        let subdirs = &mut package.condition.subdirs;
        if subdirs.is_empty() {
            subdirs.extend(platform.clone());
        }
    }
    mistakes.into_lock(&mut lock);
    Ok(lock)
}

fn package(line: &str, number: u32) -> Result<Locked, String> {
    let (url, fragment) = split_fragment(line);
    let hash = fragment.filter(|hash| !hash.is_empty()).map(|hash| {
        hash_of(hash).ok_or_else(|| format!("{} is neither an MD5 nor a SHA-256", quoted(hash)))
    });
    let hash = hash.transpose()?;
    let mut package = conda::package(url, hash, number).ok_or_else(|| {
        let shown = quoted(url);
        format!(
            "{shown} is not the address of a conda package, which ends in NAME-VERSION-BUILD.conda"
        )
    })?;
    let subdir = conda::subdir(url).filter(|subdir| *subdir != "noarch");
    package.condition.subdirs.extend(subdir.map(str::to_owned));
    Ok(package)
}

/// The hash that conda takes behind `#`.
fn hash_of(text: &str) -> Option<Hash> {
    let hash = match text.len() {
        32 => Hash::parse(&format!("md5:{text}")),
        64 => Hash::parse(&format!("sha256:{text}")),
        _ => Hash::parse(text),
    }?;
    let digits = match hash.algorithm.as_str() {
        "md5" => 32,
        "sha256" => 64,
        _ => return None,
    };
    (hash.hex.len() == digits).then_some(hash)
}

fn pip(requirement: &str, number: u32) -> Result<Locked, String> {
    let entry = requirements::one(requirement, number)?;
    entry
        .pinned
        .ok_or_else(|| format!("{} pins no version", quoted(&entry.text)))
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;

    fn at() -> Locator {
        Locator::root(0, "linux.lock")
    }

    #[test]
    fn a_list_of_addresses_is_packages() {
        let md5 = "b6d5d7f1c171cbd228ea06b556cfa859";
        let sha = "a897315648a9eeafaff6ca43d928c93801abbee2c3542ec17934a21ff055c1a4";
        let text = format!(
            "# made\r\n# platform: linux-64\r\n@EXPLICIT\r\n\
             https://c.example/forge/noarch/cuda-version-12.9-h4_3.conda#{md5}\r\n\
             https://u:p@c.example/forge/linux-64/nccl-2.29.3.1-h4_0.conda#sha256:{sha}\r\n\
             /pkgs/linux-64/a-1-0.tar.bz2#{sha}\r\n\
             https://c.example/forge/linux-64/b-1-0.conda\r\n\
             # pip torch @ https://f.example/torch-2.9.1%2Bcu130-cp312-cp312-linux_x86_64.whl#sha256={sha}\r\n\
             # pip six === 1.16.0 --hash=sha256:{sha}\r\n"
        );
        let lock = read(&text, &at()).unwrap();
        assert_eq!(lock.problems, []);
        let seen: Vec<_> = lock
            .packages
            .iter()
            .map(|p| {
                (
                    p.line,
                    &*p.name,
                    p.version.as_deref().unwrap(),
                    p.condition.subdirs.join(","),
                )
            })
            .collect();
        let on = || "linux-64".to_owned();
        assert_eq!(
            seen,
            [
                (4, "cuda-version", "12.9", on()),
                (5, "nccl", "2.29.3.1", on()),
                (6, "a", "1", on()),
                (7, "b", "1", on()),
                (8, "torch", "2.9.1+cu130", on()),
                (9, "six", "1.16.0", on()),
            ]
        );
        let hash = |at: usize| {
            lock.packages[at].files[0]
                .hash
                .as_ref()
                .map(Hash::to_string)
        };
        assert_eq!(hash(0), Some(format!("md5:{md5}")));
        assert_eq!(hash(1), Some(format!("sha256:{sha}")));
        assert_eq!(hash(2), Some(format!("sha256:{sha}")));
        assert_eq!(hash(3), None);
        assert_eq!(hash(4), Some(format!("sha256:{sha}")));
        assert_eq!(
            lock.packages[5].hashes[0].to_string(),
            format!("sha256:{sha}")
        );
        assert_eq!(
            lock.packages[2].origin,
            Origin::File("/pkgs/linux-64/a-1-0.tar.bz2".into())
        );
        assert_eq!(lock.packages[4].origin, Origin::Url);
    }

    #[test]
    fn lines_that_are_no_package_are_located_without_secrets() {
        let text = "@EXPLICIT\nnumpy=1.2\nhttps://u:s3cret@c.example/x.zip\nhttps://c.example/noarch/a-1-0.conda#zz\n# pip a>=1\n";
        let lock = read(text, &at()).unwrap();
        assert_eq!(lock.packages, []);
        let lines: Vec<_> = lock
            .problems
            .iter()
            .map(|p| p.detail.split(':').next().unwrap())
            .collect();
        assert_eq!(lines, ["line 2", "line 3", "line 4", "line 5"]);
        assert!(!format!("{:?}", lock.problems).contains("s3cret"));
    }

    #[test]
    fn the_mark_comes_first() {
        assert!(is_explicit("# a\n\n@EXPLICIT\n"));
        assert!(
            !is_explicit("a\n@EXPLICIT\n") && !is_explicit("") && !is_explicit("# @EXPLICIT\n")
        );
        assert!(read("a\n", &at()).is_err());
    }
}
