//! What indexes have of a package for one environment: builds in series, newest first.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;

use pep440_rs::{Version, VersionSpecifiers};

use crate::source::lock::{Candidate, Environment, Pick, PickStatus, choose_of_index};
use crate::verdict::is_without_cuda;
use crate::{Error, ErrorKind};

/// Which builds of which package are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// As it was written: `torch>=2.5,<2.9`.
    pub text: String,
    /// The name, as written.
    pub name: String,
    /// `[opt]`, or nothing.
    pub extras: String,
    versions: VersionSpecifiers,
    pre_releases: bool,
}

impl Wanted {
    /// Reads a name with optional extras and versions (PEP 508, PEP 440). Pre-releases count where the user asks for
    /// them, or where the versions name one.
    ///
    /// # Errors
    ///
    /// What is none.
    pub fn parse(text: &str, pre_releases: bool) -> Result<Self, Error> {
        let wrong = |why: String| {
            Error::new(
                ErrorKind::Usage,
                format!("`{text}` is no requirement: {why}"),
            )
            .with_hint("write a name, with versions if you like: `torch`, `torch>=2.5,<2.9`")
        };
        let bare = text.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = bare.find(|c| !is_name(c)).unwrap_or(bare.len());
        let (name, rest) = bare.split_at_checked(end).unwrap_or((bare, ""));
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(wrong("it begins with no name of a package".to_owned()));
        }
        let rest = rest.trim_start();
        let (extras, rest) = match rest.strip_prefix('[') {
            Some(inner) => {
                let (extras, rest) = inner
                    .split_once(']')
                    .ok_or_else(|| wrong("its extras have no end".to_owned()))?;
                let is_extra = |c: char| is_name(c) || matches!(c, ',' | ' ');
                if !extras.chars().all(is_extra) {
                    return Err(wrong("its extras are no names".to_owned()));
                }
                (format!("[{extras}]").replace(' ', ""), rest)
            }
            None => (String::new(), rest),
        };
        let versions = VersionSpecifiers::from_str(rest.trim())
            .map_err(|error| wrong(error.to_string().replace('\n', " ")))?;
        let names_one = versions
            .iter()
            .any(|specifier| specifier.version().any_prerelease());
        Ok(Self {
            text: bare.to_owned(),
            name: name.to_owned(),
            extras,
            versions,
            pre_releases: pre_releases || names_one,
        })
    }
}

/// How installers are told of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// Not at all: it is the main one of the configuration.
    Configured,
    /// As the main one, by `--index-url`.
    Main,
    /// As a further one.
    Extra,
    /// As a page or a directory of files.
    FindLinks,
}

impl How {
    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Main => "index-url",
            Self::Extra => "extra-index-url",
            Self::FindLinks => "find-links",
        }
    }
}

/// What one index has of the package.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The address of the index, without secrets.
    pub index: String,
    /// How installers are told of it.
    pub how: How,
    /// Its files.
    pub files: Vec<Candidate>,
}

/// What was passed over for an environment without being looked at, in versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Passed {
    /// Taken back by their publisher.
    pub yanked: u64,
    /// Pre-releases.
    pub pre_releases: u64,
    /// Builds whose label says that they are without CUDA: `+cpu`.
    pub without_cuda: u64,
    /// With a source distribution, and no wheel that fits.
    pub source_only: u64,
    /// Without any file that fits.
    pub no_file: u64,
}

/// A build: one version of one index, with the file that the environment gets.
#[derive(Debug, Clone)]
pub(super) struct Build {
    pub(super) version: Version,
    pub(super) pick: Pick,
    yanked: bool,
}

impl Build {
    /// What makes it the same file as another.
    pub(super) fn key(&self) -> (String, String) {
        let file = self.pick.file.as_ref();
        let hash = file.and_then(|file| Some(file.hash.as_ref()?.to_string()));
        let url = || file.and_then(|file| file.url.clone());
        let name = file.map_or_else(String::new, |file| file.name.clone());
        (name, hash.or_else(url).unwrap_or_default())
    }
}

/// Builds of one index with one label, newest first.
#[derive(Debug)]
pub(super) struct Series {
    /// The index: a number of an [`Offer`].
    pub(super) offer: usize,
    /// `cu126`.
    pub(super) label: Option<String>,
    pub(super) builds: Vec<Build>,
}

/// What there is for an environment. The series with the newest build comes first.
#[derive(Debug, Default)]
pub(super) struct Stock {
    pub(super) series: Vec<Series>,
    pub(super) passed: Passed,
}

impl Stock {
    pub(super) fn of(offers: &[Offer], wanted: &Wanted, environment: &Environment) -> Self {
        let mut stock = Self::default();
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for (number, offer) in offers.iter().enumerate() {
            for (version, files) in by_version(&offer.files, wanted) {
                let label = label_of(&version);
                if label.as_deref().is_some_and(is_without_cuda) {
                    stock.passed.without_cuda += 1;
                    continue;
                }
                let pick = choose_of_index(&asked(wanted, &version), &files, environment);
                match pick.status {
                    PickStatus::Wheel => {}
                    PickStatus::Sdist => {
                        stock.passed.source_only += 1;
                        continue;
                    }
                    _ => {
                        stock.passed.no_file += 1;
                        continue;
                    }
                }
                let name = pick.file.as_ref().map(|file| &file.name);
                let chosen = files.iter().find(|file| Some(&file.name) == name);
                let yanked = chosen.is_some_and(|file| file.yanked);
                let build = Build {
                    version,
                    pick,
                    yanked,
                };
                // the same file in two indexes is one build
                if seen.insert(build.key()) {
                    found.push((number, label, build));
                }
            }
        }
        stock.arrange(found, wanted)
    }

    /// Passes over what an installer takes only where there is nothing else, and makes series of the rest.
    fn arrange(mut self, found: Vec<(usize, Option<String>, Build)>, wanted: &Wanted) -> Self {
        let is_pre = |build: &Build| !wanted.pre_releases && build.version.any_prerelease();
        let any = |fits: &dyn Fn(&Build) -> bool| found.iter().any(|(_, _, build)| fits(build));
        let has_release = any(&|build| !is_pre(build) && !build.yanked);
        let has_kept = any(&|build| !build.yanked);
        let mut series: BTreeMap<(usize, Option<String>), Vec<Build>> = BTreeMap::new();
        for (offer, label, build) in found {
            if build.yanked && has_kept {
                self.passed.yanked += 1;
            } else if is_pre(&build) && has_release {
                self.passed.pre_releases += 1;
            } else {
                series.entry((offer, label)).or_default().push(build);
            }
        }
        for ((offer, label), mut builds) in series {
            builds.sort_by(|one, other| other.version.cmp(&one.version));
            self.series.push(Series {
                offer,
                label,
                builds,
            });
        }
        let newest = |series: &Series| series.builds.first().map(|build| build.version.clone());
        self.series
            .sort_by_key(|series| std::cmp::Reverse(newest(series)));
        self
    }
}

/// The files of a package by their versions, those that are asked for.
fn by_version(files: &[Candidate], wanted: &Wanted) -> BTreeMap<Version, Vec<Candidate>> {
    let mut found: BTreeMap<Version, Vec<Candidate>> = BTreeMap::new();
    for file in files {
        if let Some(version) = file.version_of(&wanted.name)
            && wanted.versions.contains(&version)
        {
            found.entry(version).or_default().push(file.clone());
        }
    }
    found
}

fn asked(wanted: &Wanted, version: &Version) -> Pick {
    Pick::ask(wanted.name.clone(), Some(version.to_string()))
}

/// The local part of a version.
pub(super) fn label_of(version: &Version) -> Option<String> {
    let text = version.to_string();
    text.split_once('+').map(|(_, local)| local.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{CpuArch, Os, Platform};

    fn file(name: &str) -> Candidate {
        let mut file = Candidate::new(name);
        file.url = Some(format!("https://w.example/{name}"));
        file
    }

    fn wheel(version: &str) -> Candidate {
        file(&format!(
            "pkg-{version}-cp312-cp312-manylinux_2_28_x86_64.whl"
        ))
    }

    fn offer(how: How, files: Vec<Candidate>) -> Offer {
        Offer {
            index: "https://w.example/simple/".to_owned(),
            how,
            files,
        }
    }

    fn stock(offers: &[Offer], text: &str, pre: bool) -> Stock {
        let platform = Platform::new(Os::Linux, CpuArch::Amd64);
        let wanted = Wanted::parse(text, pre).unwrap();
        Stock::of(offers, &wanted, &Environment::new(platform))
    }

    /// Each series with its label and versions.
    fn shown(stock: &Stock) -> Vec<String> {
        let series = stock.series.iter().map(|series| {
            let versions = series.builds.iter().map(|build| build.version.to_string());
            let versions: Vec<_> = versions.collect();
            format!("{}: {}", series.offer, versions.join(" "))
        });
        series.collect()
    }

    #[test]
    fn a_series_is_what_one_index_has_with_one_label_newest_first() {
        let main = offer(
            How::Configured,
            vec![wheel("2.9.1"), wheel("2.10.0"), wheel("2.0")],
        );
        let extra = offer(
            How::Extra,
            ["2.8.0+cu118", "2.9.1+cu126", "2.9.1+cu118", "2.9.1+cpu"]
                .map(wheel)
                .to_vec(),
        );
        let stock = stock(&[main, extra], "pkg", false);
        assert_eq!(
            shown(&stock),
            [
                "0: 2.10.0 2.9.1 2.0",
                "1: 2.9.1+cu126",
                "1: 2.9.1+cu118 2.8.0+cu118"
            ]
        );
        assert_eq!(stock.passed.without_cuda, 1);
    }

    #[test]
    fn versions_without_a_wheel_that_fits_are_counted() {
        let files = vec![
            wheel("1.0"),
            file("pkg-1.1.tar.gz"),
            file("pkg-1.2-cp312-cp312-win_amd64.whl"),
            file("other-9.9-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ];
        let stock = stock(&[offer(How::Main, files)], "pkg", false);
        assert_eq!(shown(&stock), ["0: 1.0"]);
        assert_eq!((stock.passed.source_only, stock.passed.no_file), (1, 1));
    }

    #[test]
    fn yanked_builds_and_pre_releases_count_only_where_asked_for_or_where_there_is_nothing_else() {
        let mut yanked = wheel("2.0");
        yanked.yanked = true;
        let all = [yanked.clone(), wheel("3.0rc1"), wheel("1.0")];
        let of = |files: &[Candidate], text: &str, pre: bool| {
            shown(&stock(&[offer(How::Main, files.to_vec())], text, pre))
        };
        assert_eq!(of(&all, "pkg", false), ["0: 1.0"]);
        assert_eq!(of(&all, "pkg", true), ["0: 3.0rc1 1.0"]);
        assert_eq!(of(&all, "pkg>=3.0rc1", false), ["0: 3.0rc1"]);
        assert_eq!(of(&all[..2], "pkg", false), ["0: 3.0rc1"]);
        assert_eq!(of(&all[..1], "pkg", false), ["0: 2.0"]);
    }

    #[test]
    fn the_same_file_in_two_indexes_is_one_build() {
        let mut file = wheel("1.0");
        file.hash = crate::source::lock::Hash::parse("sha256:00ff");
        let mut copy = file.clone();
        copy.url = Some("https://mirror.example/x.whl".to_owned());
        let offers = [offer(How::Main, vec![file]), offer(How::Extra, vec![copy])];
        assert_eq!(shown(&stock(&offers, "pkg", false)), ["0: 1.0"]);
    }

    #[test]
    fn requirements_are_read_as_installers_do() {
        let wanted = Wanted::parse(" Torch[opt, x] >=2.5,<2.9 ", false).unwrap();
        assert_eq!(
            (wanted.name.as_str(), wanted.extras.as_str()),
            ("Torch", "[opt,x]")
        );
        let contains = |version: &str| wanted.versions.contains(&version.parse().unwrap());
        assert!(contains("2.8.0+cu126") && !contains("2.9"));
        for text in [
            "",
            "==2",
            "torch=2",
            "torch[",
            "torch['x']",
            "torch @ https://x.example/a.whl",
        ] {
            let error = Wanted::parse(text, false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{text}");
        }
    }
}
