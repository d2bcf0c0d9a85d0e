//! `environment.yml`, which pins nothing: what it asks for, with its lines.
//!
//! Format: conda's documentation of environment files. Match specs say versions and no files, and packages of `pip:`
//! come with whatever else they need: all of it is unlocked.

use super::located::{Mistakes, not_yaml, refused};
use super::without_secrets;
use super::yaml::{self, Node};
use super::{Lock, LockKind, Unlocked};
use crate::{Error, Locator};

/// Reads `environment.yml`.
///
/// # Errors
///
/// A text that is no YAML, or has no list `dependencies`.
pub(super) fn read(text: &str, at: &Locator) -> Result<Lock, Error> {
    let root = yaml::parse(text, &["variables"]).map_err(|fault| not_yaml(at, &fault))?;
    let hint = "an environment.yml has a list `dependencies`";
    let Some(dependencies) = root.get("dependencies") else {
        return Err(refused(
            at,
            root.line,
            "there is no list `dependencies`",
            hint,
        ));
    };
    if dependencies.kind() != "a list" {
        let what = format!("`dependencies` is {}, not a list", dependencies.kind());
        return Err(refused(at, dependencies.line, what, hint));
    }
    let mut lock = Lock::new(at.clone(), LockKind::CondaEnvironment);
    let mut mistakes = Mistakes::default();
    for entry in dependencies.items() {
        if let Some(spec) = entry.text() {
            add(&mut lock, spec, entry.line);
            continue;
        }
        match entry.get("pip").filter(|_| entry.entries().len() == 1) {
            Some(pip) => add_pip(&mut lock, pip, &mut mistakes),
            None => mistakes.add(entry.line, format!("a dependency that is {}", entry.kind())),
        }
    }
    mistakes.into_lock(&mut lock);
    Ok(lock)
}

fn add(lock: &mut Lock, text: &str, line: u32) {
    lock.unlocked.push(Unlocked {
        text: without_secrets(text.trim()),
        line,
        marker: None,
    });
}

fn add_pip(lock: &mut Lock, pip: &Node<'_>, mistakes: &mut Mistakes) {
    for entry in pip.items() {
        match entry.text() {
            Some(text) => add(lock, text, entry.line),
            None => mistakes.add(
                entry.line,
                format!("a requirement that is {}", entry.kind()),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> Locator {
        Locator::root(0, "environment.yml")
    }

    #[test]
    fn all_of_it_is_unlocked() {
        let text = "name: x\nchannels: [forge]\ndependencies:\n  - pytorch::pytorch-cuda=11.8 # [linux]\n  - pip\n  - pip:\n    - torch==2.3.0\n    - a @ https://u:s3cret@f.example/a-1.zip\n    # - no\n    - b[c]\n";
        let lock = read(text, &at()).unwrap();
        let seen: Vec<_> = lock
            .unlocked
            .iter()
            .map(|u| (u.line, u.text.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (4, "pytorch::pytorch-cuda=11.8"),
                (5, "pip"),
                (7, "torch==2.3.0"),
                (8, "a @ https://f.example/a-1.zip"),
                (10, "b[c]"),
            ]
        );
        assert!(lock.packages.is_empty() && lock.problems.is_empty());
    }

    #[test]
    fn what_is_no_dependency_is_located() {
        let lock = read("dependencies:\n- a: 1\n- pip:\n  - [x]\n- [y]\n", &at()).unwrap();
        let details: Vec<_> = lock.problems.iter().map(|p| p.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                "line 2: a dependency that is a map of keys",
                "line 4: a requirement that is a list",
                "line 5: a dependency that is a list",
            ]
        );
        assert!(read("name: x\n", &at()).is_err() && read("dependencies: {}\n", &at()).is_err());
    }
}
