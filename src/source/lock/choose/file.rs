//! Which of the files of a package fits best.

use super::super::model::LockedFile;
use super::super::pick::PickedFile;
use super::tags::{Rank, Tags};
use crate::source::lock::without_secrets;
use crate::source::wheel::WheelFilename;

/// What a file is by its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    Wheel(Box<WheelFilename>),
    /// It ends in `.whl` and no installer takes it.
    BadWheel,
    Sdist,
    Other,
}

impl Form {
    pub(super) fn of(name: &str) -> Self {
        if has_suffix(name, ".whl") {
            return name
                .parse()
                .map_or(Self::BadWheel, |wheel| Self::Wheel(Box::new(wheel)));
        }
        if sdist_stem(name).is_some() {
            Self::Sdist
        } else {
            Self::Other
        }
    }
}

/// Whether a name ends in `suffix`, in whatever case.
fn has_suffix(name: &str, suffix: &str) -> bool {
    let start = name.len().checked_sub(suffix.len());
    let end = start.and_then(|start| name.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

/// The name of a source distribution without its suffix: those that pip and uv build from.
pub(super) fn sdist_stem(name: &str) -> Option<&str> {
    const SUFFIXES: [&str; 6] = [".tar.gz", ".zip", ".tgz", ".tar.bz2", ".tar.xz", ".tar"];
    let suffix = SUFFIXES.iter().find(|suffix| has_suffix(name, suffix))?;
    name.get(..name.len() - suffix.len())
}

/// Whether a file is named like a conda package.
pub(super) fn is_conda_file(name: &str) -> bool {
    has_suffix(name, ".conda") || has_suffix(name, ".tar.bz2")
}

/// How good a wheel is: the greater, the better. Of one rank, the highest build number is taken (PEP 427).
pub(super) type Goodness = (std::cmp::Reverse<Rank>, Option<Build>);

/// A build number as it is ordered: by its digits as a number, then by what follows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Build {
    /// How many digits it has without leading zeros: more of them are a greater number.
    length: usize,
    digits: String,
    rest: String,
}

impl Build {
    fn of(text: &str) -> Self {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let digits = digits.trim_start_matches('0');
        Self {
            length: digits.len(),
            digits: digits.to_owned(),
            rest: rest.to_owned(),
        }
    }
}

/// How good a wheel is on a machine; none where it does not fit.
pub(super) fn goodness(tags: &Tags, wheel: &WheelFilename) -> Option<Goodness> {
    let rank = tags.rank(wheel)?;
    Some((
        std::cmp::Reverse(rank),
        wheel.build.as_deref().map(Build::of),
    ))
}

/// What of the files of a package an installer takes.
#[derive(Debug)]
pub(super) enum Best<'f> {
    Wheel(&'f LockedFile),
    Sdist(&'f LockedFile),
    /// Nothing fits; with a file that is named like a wheel and is none, if there is one.
    Nothing(Option<&'f LockedFile>),
}

/// The best of `files`: the first of those that are equally good.
pub(super) fn best<'f>(tags: &Tags, files: &'f [LockedFile]) -> Best<'f> {
    let mut wheel: Option<(Goodness, &LockedFile)> = None;
    let mut sdist = None;
    let mut bad = None;
    for file in files {
        match Form::of(&file.name) {
            Form::Wheel(name) => {
                if let Some(good) = goodness(tags, &name)
                    && wheel.as_ref().is_none_or(|(best, _)| good > *best)
                {
                    wheel = Some((good, file));
                }
            }
            Form::BadWheel => bad = bad.or(Some(file)),
            Form::Sdist => sdist = sdist.or(Some(file)),
            Form::Other => {}
        }
    }
    let wheel = wheel.map(|(_, file)| Best::Wheel(file));
    wheel
        .or(sdist.map(Best::Sdist))
        .unwrap_or(Best::Nothing(bad))
}

impl From<&LockedFile> for PickedFile {
    fn from(file: &LockedFile) -> Self {
        Self {
            name: without_secrets(&file.name),
            url: file.url.clone(),
            hash: file.hash.clone(),
            size: file.size,
            line: file.line,
        }
    }
}
