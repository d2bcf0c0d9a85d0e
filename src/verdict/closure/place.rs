//! Places of libraries: where a loader is told to look, what Python imports, which environment a path is in.

use std::collections::BTreeSet;

use crate::inventory::Library;

/// The directories in which Python finds packages.
const SITES: [&str; 2] = ["site-packages", "dist-packages"];

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a path leads through a directory in which Python finds packages.
pub(super) fn is_in_site(path: &str) -> bool {
    path.split('/').any(|part| SITES.contains(&part))
}

/// Whether something loads this file by its own name: Python, as an extension module, or a user, as a program.
pub(super) fn is_loaded_by_name(path: &str) -> bool {
    let name = file_name(path);
    let ends = |suffix: &str| {
        let lower = name.to_ascii_lowercase();
        lower
            .strip_suffix(suffix)
            .is_some_and(|stem| !stem.is_empty())
    };
    if ends(".pyd") || ends(".exe") {
        return true;
    }
    if let Some(stem) = name.strip_suffix(".so") {
        return is_in_site(path) && (!stem.starts_with("lib") || stem.contains(".cpython-"));
    }
    !name.contains(".so.") && !ends(".dll")
}

/// The directory of an environment by the path of a file that Python finds in it; nothing where it finds none there.
/// Those of the system have the empty name.
pub(super) fn environment(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let site = parts.iter().position(|part| SITES.contains(part))?;
    let mut above = parts.get(..site)?;
    if let [rest @ .., python] = above
        && python.starts_with("python")
    {
        above = rest;
    }
    if let [rest @ .., lib] = above
        && matches!(lib.to_ascii_lowercase().as_str(), "lib" | "lib64")
    {
        above = rest;
    }
    Some(match above {
        ["usr"] | ["usr", "local"] => String::new(),
        _ => above.join("/"),
    })
}

/// The innermost of `environments` that the file at `path` is in.
pub(super) fn innermost<'e>(path: &str, environments: &'e BTreeSet<String>) -> Option<&'e str> {
    let is_in = |environment: &&String| {
        let below = path.strip_prefix(environment.as_str());
        environment.is_empty() || below.is_some_and(|below| below.starts_with('/'))
    };
    let found = environments.iter().filter(is_in);
    found.max_by_key(|name| name.len()).map(String::as_str)
}

/// The directories that the headers of a library tell a loader to look in, each once: paths in the artifact, and those
/// that are written from the root on.
pub(super) fn rpath(library: &Library) -> Vec<String> {
    let here = library.path.strip_suffix(file_name(&library.path));
    let here = here.unwrap_or_default();
    let written = library.runpath.as_deref().or(library.rpath.as_deref());
    let mut found: Vec<String> = Vec::new();
    for part in written.unwrap_or_default().split(':') {
        let full = match part
            .strip_prefix("$ORIGIN")
            .or_else(|| part.strip_prefix("${ORIGIN}"))
        {
            Some(rest) => format!("{here}/{rest}"),
            None if part.starts_with('/') => part.to_owned(),
            None => continue,
        };
        let mut clean: Vec<&str> = Vec::new();
        for part in full.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    clean.pop();
                }
                part => clean.push(part),
            }
        }
        let root = if part.starts_with('/') { "/" } else { "" };
        let clean = format!("{root}{}", clean.join("/"));
        if !clean.is_empty() && !found.contains(&clean) {
            found.push(clean);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_imports_modules_and_not_libraries() {
        let site = "lib/python3.12/site-packages";
        for (path, expected) in [
            ("x/_C.so", true),
            ("x/lib/libx.so", false),
            ("x/libx.cpython-312-x86_64-linux-gnu.so", true),
            ("x/_C.abi3.so", true),
            ("x/_C.pyd", true),
            ("x/x.dll", false),
            ("x/bin/tool", true),
            ("x/libx.so.3", false),
        ] {
            let path = format!("{site}/{path}");
            assert_eq!(is_loaded_by_name(&path), expected, "{path}");
        }
        assert!(is_loaded_by_name("app/server") && is_loaded_by_name("app/server.exe"));
        assert!(
            !is_loaded_by_name("app/plugin.so"),
            "who loads it is not known"
        );
    }

    #[test]
    fn environments_are_told_apart_by_their_directories() {
        for (path, expected) in [
            ("lib/python3.12/site-packages/a.so", Some("")),
            ("site-packages/a.so", Some("")),
            (
                "opt/venv/lib/python3.12/site-packages/a/b.so",
                Some("opt/venv"),
            ),
            (
                "opt/venv/lib64/python3.12/site-packages/a.so",
                Some("opt/venv"),
            ),
            ("env/Lib/site-packages/a.pyd", Some("env")),
            ("usr/local/lib/python3.12/dist-packages/a.so", Some("")),
            ("usr/lib/python3/dist-packages/a.so", Some("")),
            ("opt/conda/lib/libtorch.so", None),
        ] {
            assert_eq!(environment(path).as_deref(), expected, "{path}");
        }
        let known = BTreeSet::from(["opt/conda".to_owned(), "opt/conda/envs/a".to_owned()]);
        let of = |path| innermost(path, &known);
        assert_eq!(of("opt/conda/lib/libtorch.so"), Some("opt/conda"));
        assert_eq!(of("opt/conda/envs/a/lib/x.so"), Some("opt/conda/envs/a"));
        assert_eq!(of("opt/condax/lib/x.so"), None);
    }
}
