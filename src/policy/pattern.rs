//! The patterns of policies: package names, package versions, and library paths.
//!
//! Knows how people name packages and files, and nothing of what is matched or why. Package names
//! compare as the packaging specifications normalise them: case and the kind of separator do not
//! matter.

use std::fmt;

use globset::{GlobBuilder, GlobSet};
use serde::{Serialize, Serializer};

use super::diag::{Fault, quote};

/// Longest pattern, in bytes; a longer one is no pattern that a person wrote.
const MAX_LEN: usize = 256;

macro_rules! shown_as_written {
    ($name:ident) => {
        impl $name {
            /// The pattern as it was written.
            pub fn as_str(&self) -> &str {
                &self.text
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.text == other.text
            }
        }

        impl Eq for $name {}

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }
    };
}

/// A package name in which `*` and `?` stand for other characters: `torch`, `mypkg-*`.
#[derive(Debug, Clone)]
pub struct PackagePattern {
    text: String,
    glob: GlobSet,
}

shown_as_written!(PackagePattern);

impl PackagePattern {
    pub(super) fn new(text: &str) -> Result<Self, Fault> {
        let fault = |message: String| {
            Fault::new(message).hint("write a package name such as `torch` or `mypkg-*`")
        };
        if matches!(text, "true" | "false" | "yes" | "no") {
            return Err(fault(format!("{} is not a package name", quote(text)))
                .hint("name packages, or write \"*\" for all of them"));
        }
        if text.contains(['=', '<', '>', '~', '!']) {
            return Err(fault(format!(
                "{} holds a version; here stands the name alone",
                quote(text)
            ))
            .hint("remove the version; a scope or a waiver has a key `version` for it"));
        }
        if text.is_empty()
            || !text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.*?".contains(c))
        {
            return Err(fault(format!("{} is not a package name", quote(text))));
        }
        let glob = compile(text, &normal_package(text), false)?;
        Ok(Self {
            text: text.to_owned(),
            glob,
        })
    }

    /// Whether the pattern means this package, however its name is spelled.
    pub fn matches(&self, package: &str) -> bool {
        self.glob.is_match(normal_package(package))
    }
}

/// Lower case, with one dash for every run of `-`, `_` and `.`.
pub(crate) fn normal_package(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        if !matches!(c, '-' | '_' | '.') {
            normal.extend(c.to_lowercase());
        } else if !normal.ends_with('-') {
            normal.push('-');
        }
    }
    normal
}

/// A package version in which `*` and `?` stand for other characters: `2.15.0`, `2.15.*`.
///
/// `2.15.*` means every release of 2.15, `2.15` itself included. A pattern without `+` does not
/// look at what follows the `+` of a version: `2.9.1` means `2.9.1+cu126` too.
#[derive(Debug, Clone)]
pub struct VersionPattern {
    text: String,
    versions: Versions,
}

#[derive(Debug, Clone)]
enum Versions {
    /// What stands before the `.*` at the end, which is the only wildcard.
    Release(String),
    Glob(GlobSet),
}

shown_as_written!(VersionPattern);

impl VersionPattern {
    pub(super) fn new(text: &str) -> Result<Self, Fault> {
        let hint = "write one version such as `2.15.0`, or all of a release: \"2.15.*\"";
        if text.contains(['=', '<', '>', '~', ',']) {
            return Err(Fault::new(format!(
                "{} is a range, and a waiver takes a pattern",
                quote(text)
            ))
            .hint(hint));
        }
        if text.is_empty()
            || !text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ".+-_!*?".contains(c))
        {
            return Err(Fault::new(format!("{} is not a version pattern", quote(text))).hint(hint));
        }
        let lower = text.to_ascii_lowercase();
        let versions = match lower.strip_suffix(".*") {
            Some(release) if !release.contains(['*', '?']) => Versions::Release(release.to_owned()),
            _ => Versions::Glob(compile(text, &lower, false)?),
        };
        Ok(Self {
            text: text.to_owned(),
            versions,
        })
    }

    /// Whether the pattern means this version.
    pub fn matches(&self, version: &str) -> bool {
        let version = version.to_ascii_lowercase();
        match &self.versions {
            Versions::Release(release) => version
                .strip_prefix(release.as_str())
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())),
            Versions::Glob(glob) => {
                let public = version.split('+').next().unwrap_or_default();
                glob.is_match(&version) || (!self.text.contains('+') && glob.is_match(public))
            }
        }
    }
}

/// A path inside an archive: `**/libtorch_cuda_linalg.so`, `torch/lib/*.so`.
///
/// `*` stays within a folder and `**` does not. Without a `/`, the pattern means a file of that
/// name in any folder.
#[derive(Debug, Clone)]
pub struct LibraryGlob {
    text: String,
    glob: GlobSet,
}

shown_as_written!(LibraryGlob);

impl LibraryGlob {
    pub(super) fn new(text: &str) -> Result<Self, Fault> {
        let hint = "write a path inside the package such as \"**/libfoo*.so\"";
        if text.is_empty() || text.starts_with('/') {
            let message = format!("{} names no file inside a package", quote(text));
            return Err(Fault::new(message).hint(hint));
        }
        if text.contains('\\') {
            let message = format!(
                "{} has a backslash, and members of archives are divided by `/`",
                quote(text)
            );
            return Err(Fault::new(message).hint(hint));
        }
        let glob = if text.contains('/') {
            text.to_owned()
        } else {
            format!("**/{text}")
        };
        let glob = compile(text, &glob, true)?;
        Ok(Self {
            text: text.to_owned(),
            glob,
        })
    }

    /// Whether the pattern means the member of this name.
    pub fn matches(&self, member: &str) -> bool {
        self.glob.is_match(member)
    }
}

/// Compiles a pattern that the user has written as `text`.
fn compile(text: &str, pattern: &str, folders: bool) -> Result<GlobSet, Fault> {
    if pattern.len() > MAX_LEN {
        let message = format!("the pattern is longer than {MAX_LEN} bytes");
        return Err(Fault::new(message));
    }
    let glob = GlobBuilder::new(pattern)
        .literal_separator(folders)
        .backslash_escape(false)
        .build();
    // Not `compile_matcher`, which panics where a pattern grows too large.
    glob.and_then(|glob| GlobSet::builder().add(glob).build())
        .map_err(|error| {
            let message = format!("{} is not a pattern: {}", quote(text), error.kind());
            Fault::new(message).hint("use `*`, `**`, `?`, `[abc]` and `{this,that}`")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_match_in_every_spelling() {
        for (pattern, name, expected) in [
            ("torch", "torch", true),
            ("torch", "Torch", true),
            ("torch", "torchvision", false),
            ("torch*", "torchvision", true),
            ("My_Pkg.*", "my-pkg-core", true),
            ("mypkg-*", "mypkg_core", true),
            ("mypkg-*", "mypkg", false),
            ("flash_attn", "flash-attn", true),
            ("flash--attn", "flash.attn", true),
            ("*", "anything", true),
            ("t?rch", "torch", true),
        ] {
            let pattern = PackagePattern::new(pattern).unwrap();
            assert_eq!(pattern.matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_no_package_name_is_refused() {
        for text in [
            "",
            "torch==2.9.1",
            "torch>=2",
            "torch[cuda]",
            "a b",
            "true",
            "{a,b}",
            "torch/lib",
            "törch",
        ] {
            assert!(PackagePattern::new(text).is_err(), "{text}");
        }
        assert!(PackagePattern::new(&"x".repeat(300)).is_err());
    }

    #[test]
    fn versions_match_by_release_or_exactly() {
        for (pattern, version, expected) in [
            ("2.15.0", "2.15.0", true),
            ("2.15.0", "2.15.0+cu132", true),
            ("2.15.0", "2.15.01", false),
            ("2.15.0+cu126", "2.15.0+cu132", false),
            ("2.15.0+cu1*", "2.15.0+cu132", true),
            ("2.15.*", "2.15.0", true),
            ("2.15.*", "2.15", true),
            ("2.15.*", "2.15.0+cu132", true),
            ("2.15.*", "2.15rc1", true),
            ("2.15.*", "2.150.0", false),
            ("2.1.*", "2.15.0", false),
            ("2.*.1", "2.15.1", true),
            ("*", "1.0", true),
            ("2.15.0RC1", "2.15.0rc1", true),
        ] {
            let pattern = VersionPattern::new(pattern).unwrap();
            assert_eq!(pattern.matches(version), expected, "{pattern} {version}");
        }
        for text in ["", ">=2.0", "==2.9.1", "~=2.1", "2.0,<3", "2 0", "[12].0"] {
            assert!(VersionPattern::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn library_patterns_know_folders() {
        for (pattern, member, expected) in [
            (
                "**/libtorch_cuda_linalg.so",
                "torch/lib/libtorch_cuda_linalg.so",
                true,
            ),
            (
                "**/libtorch_cuda_linalg.so",
                "libtorch_cuda_linalg.so",
                true,
            ),
            (
                "libtorch_cuda_linalg.so",
                "torch/lib/libtorch_cuda_linalg.so",
                true,
            ),
            ("libtorch_*.so", "torch/lib/libtorch_cuda_linalg.so", true),
            ("torch/*.so", "torch/lib/libtorch_cuda.so", false),
            ("torch/**", "torch/lib/libtorch_cuda.so", true),
            (
                "torch/lib/{libc10,libtorch}_cuda.so",
                "torch/lib/libc10_cuda.so",
                true,
            ),
            ("**/libtorch.so", "torch/lib/libtorch.so.1", false),
        ] {
            let pattern = LibraryGlob::new(pattern).unwrap();
            assert_eq!(pattern.matches(member), expected, "{pattern} {member}");
        }
        for text in [
            "",
            "/abs/lib.so",
            "a\\b.dll",
            "lib[.so",
            "{a",
            &"*".repeat(300),
        ] {
            assert!(LibraryGlob::new(text).is_err(), "{text}");
        }
    }
}
