//! Where a finding is shown: a line of a lock file or a policy, or a file that was checked.
//!
//! What is in an image or at an address is in no file of a repository; then it is the line of the target in the
//! policy. Where no file says the policy it is the archive or the layout of the image, if that is here, and of what is
//! about no input the first file: a code host refuses results without a place. No path is made up.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path};

use crate::escape::in_uri_path;
use crate::inventory::{Artifact, ArtifactKind, PickedFile};
use crate::policy::Place;
use crate::problem::Problem;
use crate::report::Checked;
use crate::verdict::Finding;

/// A file, and perhaps a line of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilePlace {
    /// As the user named it, with `/` between its parts.
    pub(super) path: String,
    pub(super) line: Option<u32>,
}

/// The places of findings.
#[derive(Debug)]
pub(super) struct Places<'c> {
    checked: Checked<'c>,
    targets: BTreeMap<&'c str, &'c Place>,
}

impl<'c> Places<'c> {
    pub(super) fn new(checked: Checked<'c>) -> Self {
        let targets = checked.policy.targets.iter();
        let targets =
            targets.filter_map(|target| Some((target.name.as_str(), target.place.as_ref()?)));
        Self {
            checked,
            targets: targets.collect(),
        }
    }

    /// Where `finding` is shown, the best place first: none where it is about no file, and no file says the policy.
    pub(super) fn of(&self, finding: &Finding) -> Vec<FilePlace> {
        let place = finding.place.as_ref().and_then(of_policy);
        let input = || {
            let place = self.of_input(finding.artifact?, finding.library.as_deref())?;
            let line = finding.line.or(place.line);
            Some(FilePlace { line, ..place })
        };
        let target = || {
            let place = self.targets.get(finding.target.as_deref()?)?;
            of_policy(place)
        };
        let mut places: Vec<FilePlace> = Vec::new();
        for found in [place.or_else(input), target()] {
            places.extend(found.filter(|place| !places.contains(place)));
        }
        if places.is_empty() {
            let place = self.of_the_policy();
            places.extend(place.or_else(|| self.of_some_input(finding.artifact)));
        }
        places
    }

    /// Where a problem of the artifact at `index` is shown.
    pub(super) fn of_problem(&self, index: usize, problem: &Problem) -> Option<FilePlace> {
        let inner = problem.at.path();
        self.of_input(index, inner.as_deref())
            .or_else(|| self.of_the_policy())
            .or_else(|| self.of_some_input(Some(index)))
    }

    /// The file of the artifact at `index`, of an image too; of the first one that has one where there is no index.
    pub(super) fn of_some_input(&self, index: Option<usize>) -> Option<FilePlace> {
        let artifacts = &self.checked.inventory.artifacts;
        let of_image = |artifact: &Artifact| {
            let is_image = artifact.image.is_some() || artifact.kind == ArtifactKind::Image;
            let path = path_of_image(&artifact.input).filter(|_| is_image)?;
            Some(FilePlace {
                path: slashes(path),
                line: None,
            })
        };
        let wanted = artifacts.iter().enumerate();
        let mut wanted = wanted.filter(|(at, _)| index.is_none_or(|index| index == *at));
        wanted.find_map(|(at, artifact)| self.of_input(at, None).or_else(|| of_image(artifact)))
    }

    /// The file of an artifact, or of what is at `inner` in it; of a lock file the line of the entry with that file.
    pub(super) fn of_input(&self, index: usize, inner: Option<&str>) -> Option<FilePlace> {
        let artifact = self.checked.inventory.artifacts.get(index)?;
        let path = slashes(&artifact.file()?);
        // what is in an archive is in no other file
        let member = inner.and_then(|inner| inner.split(" › ").next());
        let line = artifact.lock.as_ref().and_then(|lock| {
            let is_its = |file: &PickedFile| Some(file.name.as_str()) == member;
            let mut packages = lock.packages.iter();
            let entry = packages.find(|one| one.file.as_ref().is_some_and(is_its))?;
            Some(entry.line)
        });
        let member = member.filter(|_| artifact.kind == ArtifactKind::Directory);
        let path = match member {
            None => path,
            Some(member) if path == "." => member.to_owned(),
            Some(member) => format!("{}/{member}", path.trim_end_matches('/')),
        };
        Some(FilePlace { path, line })
    }

    /// The first target of the policy, for what has no place of its own.
    fn of_the_policy(&self) -> Option<FilePlace> {
        let mut targets = self.checked.policy.targets.iter();
        targets.find_map(|target| of_policy(target.place.as_ref()?))
    }
}

/// A line of a policy; a preset is in no file.
fn of_policy(place: &Place) -> Option<FilePlace> {
    let in_file = !place.origin.starts_with("preset:");
    in_file.then(|| FilePlace {
        path: slashes(&place.origin),
        line: u32::try_from(place.line).ok(),
    })
}

/// The path of an image, which a name of one of several images may follow; none where there is none here, as of an
/// image of a registry, of a daemon or from standard input.
fn path_of_image(input: &str) -> Option<&str> {
    let ends = input.match_indices([':', '@']).map(|(at, _)| at);
    let paths = [input.len()].into_iter().chain(ends);
    let mut paths = paths.filter_map(|end| input.get(..end));
    // standard input is of this name
    paths.find(|path| *path != "-" && Path::new(path).exists())
}

/// Whether a path begins at a drive or a share of Windows.
fn is_of_windows(path: &str) -> bool {
    let drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    drive || path.starts_with("\\\\")
}

/// A path with `/` between its parts, and nothing before it that says nothing.
fn slashes(path: &str) -> String {
    let path = if MAIN_SEPARATOR == '\\' || is_of_windows(path) {
        path.replace('\\', "/")
    } else if path.starts_with("//") {
        // two say a host of Windows, and nothing elsewhere
        format!("/{}", path.trim_start_matches('/'))
    } else {
        path.to_owned()
    };
    let mut rest = path.as_str();
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter.trim_start_matches('/');
    }
    match rest {
        "" => ".".to_owned(),
        rest => rest.to_owned(),
    }
}

impl FilePlace {
    /// Whether the path means the same in every directory.
    pub(super) fn is_absolute(&self) -> bool {
        self.path.starts_with('/') || is_of_windows(&self.path)
    }

    /// The path as a URI: relative, or of the scheme `file`.
    pub(super) fn uri(&self) -> String {
        let path = &self.path;
        if !self.is_absolute() {
            return in_uri_path(path);
        }
        if let Some(share) = path.strip_prefix("//") {
            return format!("file://{}", in_uri_path(share));
        }
        match path.split_once(":/") {
            Some((drive, rest)) if is_of_windows(path) => {
                format!("file:///{drive}:/{}", in_uri_path(rest))
            }
            _ => format!("file://{}", in_uri_path(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(path: &str) -> String {
        let place = FilePlace {
            path: slashes(path),
            line: None,
        };
        place.uri()
    }

    #[test]
    fn relative_paths_stay_relative_and_absolute_ones_say_so() {
        assert_eq!(uri("dist/a.whl"), "dist/a.whl");
        assert_eq!(uri("./dist/a.whl"), "dist/a.whl");
        assert_eq!(uri(".//./a b.whl"), "a%20b.whl");
        assert_eq!(uri("."), ".");
        assert_eq!(uri("./"), ".");
        assert_eq!(uri("../uv.lock"), "../uv.lock");
        assert_eq!(uri("/srv/gr\u{fc}n/a.whl"), "file:///srv/gr%C3%BCn/a.whl");
        // else a scheme
        assert_eq!(uri("mail:to"), "mail%3Ato");
    }

    #[test]
    fn windows_paths_become_uris_wherever_they_are_read() {
        assert_eq!(uri("C:\\ci\\a b.whl"), "file:///C:/ci/a%20b.whl");
        assert_eq!(uri("c:/ci/a.whl"), "file:///c:/ci/a.whl");
        assert_eq!(uri("\\\\nas\\share\\a.whl"), "file://nas/share/a.whl");
    }

    #[cfg(unix)]
    #[test]
    fn slashes_at_the_beginning_name_no_host_where_they_name_none() {
        assert_eq!(uri("//tmp/x.whl"), "file:///tmp/x.whl");
        assert_eq!(uri("///tmp/x.whl"), "file:///tmp/x.whl");
        assert_eq!(uri("//"), "file:///");
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_in_a_name_is_no_separator_where_it_is_none() {
        assert_eq!(uri("a\\b.whl"), "a%5Cb.whl");
    }
}
