//! Which lock file a text is that is no TOML and no JSON.
//!
//! By what it says: explicit lists by their mark, YAML by its keys. Requirements have no mark; they are known by the
//! usual names, and elsewhere where every line of a text is one.

use super::{LockKind, explicit, requirements};

/// Endings of names under which requirements are kept. (`pylock.toml` was one, for a time, of `uv export`.)
const PLAIN: &[&str] = &["txt", "in", "lock", "toml"];
/// The longest text without a usual name that is looked through for requirements, in bytes.
const SEARCHED: usize = 16 << 20;

/// The kind of a text with this file name; nothing where it is none of these kinds.
pub(super) fn detect(text: &str, file_name: &str) -> Option<LockKind> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let name = file_name.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    if explicit::is_explicit(text) {
        return Some(LockKind::Explicit);
    }
    if let Some(kind) = by_keys(text) {
        return Some(kind);
    }
    let is_plain = ending.is_some_and(|ending| PLAIN.contains(&ending));
    let is_usual = matches!(ending, Some("txt" | "in"))
        && (name.contains("requirements") || name.starts_with("constraints"));
    let is_one =
        is_usual || (is_plain && text.len() <= SEARCHED && requirements::is_plausible(text));
    is_one.then_some(LockKind::Requirements)
}

/// The kind of a YAML text, by the keys in its first column.
fn by_keys(text: &str) -> Option<LockKind> {
    let mut keys = Keys::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let plain = value.trim().is_empty() || value.starts_with(' ');
        if !plain
            || key.is_empty()
            || key.contains(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)))
        {
            continue;
        }
        match key {
            "version" => keys.version = true,
            "metadata" => keys.metadata = true,
            "package" => keys.package = true,
            "packages" => keys.packages = true,
            "environments" => keys.environments = true,
            "channels" => keys.channels = true,
            "name" | "prefix" => keys.name = true,
            "dependencies" => {
                let first = lines
                    .by_ref()
                    .map(str::trim)
                    .find(|line| !line.is_empty() && !line.starts_with('#'));
                keys.specs =
                    first.is_some_and(is_spec) || (value.trim().starts_with('[') && keys.channels);
            }
            _ => {}
        }
    }
    if keys.version && keys.package && keys.metadata {
        Some(LockKind::CondaLock)
    } else if keys.version && keys.environments && keys.packages {
        Some(LockKind::Pixi)
    } else if keys.specs && (keys.channels || keys.name) {
        Some(LockKind::CondaEnvironment)
    } else {
        None
    }
}

#[derive(Default)]
struct Keys {
    version: bool,
    metadata: bool,
    package: bool,
    packages: bool,
    environments: bool,
    channels: bool,
    name: bool,
    /// A list `dependencies` of texts.
    specs: bool,
}

/// Whether an item of a list is a text (`- numpy=2`), or the list of pip. Charts of Helm have maps there.
fn is_spec(item: &str) -> bool {
    let Some(item) = item.strip_prefix('-') else {
        return false;
    };
    let item = item.split(" #").next().unwrap_or_default().trim();
    item == "pip:" || !(item.is_empty() || item.ends_with(':') || item.contains(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_content() {
        use LockKind::*;
        for (name, text, kind) in [
            (
                "conda-linux-64.lock",
                "# platform: linux-64\n@EXPLICIT\n",
                Some(Explicit),
            ),
            (
                "x.yml",
                "version: 1\nmetadata:\n  a: b\npackage:\n- name: a\n",
                Some(CondaLock),
            ),
            (
                "y.lock",
                "version: 6\nenvironments:\n  default:\npackages: []\n",
                Some(Pixi),
            ),
            (
                "e.yaml",
                "name: x\ndependencies:\n  # c\n  - python=3\n",
                Some(CondaEnvironment),
            ),
            (
                "e.yml",
                "channels: [a]\r\ndependencies:\r\n- pip:\r\n  - b\r\n",
                Some(CondaEnvironment),
            ),
            (
                "Chart.yaml",
                "name: x\nversion: 1\ndependencies:\n- name: y\n  version: 2\n",
                None,
            ),
            (
                "pubspec.yaml",
                "name: x\ndependencies:\n  flutter:\n    sdk: flutter\n",
                None,
            ),
            ("requirements-dev.txt", "pytest\n", Some(Requirements)),
            ("constraints.txt", "a<2\n", Some(Requirements)),
            ("all.lock", "a==1 --hash=sha256:00\n", Some(Requirements)),
            (
                "pylock.toml",
                "# made by uv\na==1 ; os_name == 'nt'\n",
                Some(Requirements),
            ),
            ("deps.txt", "-r base.txt\n", Some(Requirements)),
            (
                "pylock.toml",
                "lock-version = '1.0'\n[[packages]]\nname = 'a'\n",
                None,
            ),
            ("readme.txt", "hello\n", None),
            ("list.txt", "apples\npears\n", None),
            ("notes.txt", "see a==1 for more\n", None),
            ("log.txt", "a==1\nError: b\n", None),
            ("yarn.lock", "# yarn\n\"a@^1\":\n  version \"1\"\n", None),
            ("empty.txt", "", None),
            ("a.md", "a==1\n", None),
        ] {
            assert_eq!(detect(text, name), kind, "{name}: {text}");
        }
    }
}
