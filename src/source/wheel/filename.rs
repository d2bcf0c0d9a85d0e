//! Wheel file names: `NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl`.
//!
//! Format: the binary distribution format of the Python packaging guide (PEP 427), and PEP 425 for
//! sets of tags compressed with dots.

use std::fmt;
use std::str::FromStr;

use super::tags::Platforms;

/// The parts of a wheel's file name, as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct WheelFilename {
    /// The package, with `_` where its name has `-`.
    pub name: String,
    /// The version.
    pub version: String,
    /// The build number, with what follows it.
    pub build: Option<String>,
    /// Python tags, compressed: `cp312`, `py2.py3`.
    pub python: String,
    /// ABI tags, compressed: `cp312`, `abi3`, `none`.
    pub abi: String,
    /// Platform tags, compressed: `any`, `manylinux_2_28_x86_64`.
    pub platform: String,
}

impl WheelFilename {
    /// Every Python tag with every ABI tag: `cp312-cp312`, `py3-none`.
    pub fn python_tags(&self) -> Vec<String> {
        python_tags(&self.python, &self.abi)
    }

    /// The platforms that the platform tags name.
    pub fn platforms(&self) -> Platforms {
        Platforms::of(self.platform.split('.'))
    }
}

/// Every combination of two compressed sets of tags, sorted.
pub(super) fn python_tags(python: &str, abi: &str) -> Vec<String> {
    let mut tags: Vec<String> = python
        .split('.')
        .flat_map(|python| abi.split('.').map(move |abi| format!("{python}-{abi}")))
        .take(MOST_TAGS)
        .collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Combinations that are kept; wheels have a handful.
pub(super) const MOST_TAGS: usize = 256;

/// Why a text is no wheel file name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseWheelFilenameError {
    /// Another suffix.
    #[error("it does not end in `.whl`")]
    Suffix,
    /// Too few or too many parts.
    #[error("it has {0} parts between dashes, not 5 or, with a build number, 6")]
    Parts(usize),
    /// The name.
    #[error("`{0}` is no package name")]
    Name(String),
    /// The version.
    #[error("`{0}` is no version")]
    Version(String),
    /// The build number.
    #[error("`{0}` is no build number, which begins with a digit")]
    Build(String),
    /// The Python tag.
    #[error("`{0}` is no Python tag")]
    Python(String),
    /// The ABI tag.
    #[error("`{0}` is no ABI tag")]
    Abi(String),
    /// The platform tag.
    #[error("`{0}` is no platform tag")]
    Platform(String),
}

impl FromStr for WheelFilename {
    type Err = ParseWheelFilenameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        use ParseWheelFilenameError as Error;
        let stem = text.strip_suffix(".whl").ok_or(Error::Suffix)?;
        let parts: Vec<_> = stem.split('-').collect();
        let (name, version, build, python, abi, platform) = match *parts {
            [name, version, python, abi, platform] => (name, version, None, python, abi, platform),
            [name, version, build, python, abi, platform] => {
                (name, version, Some(build), python, abi, platform)
            }
            _ => return Err(Error::Parts(parts.len())),
        };
        let checked = |part: &str, good: bool, error: fn(String) -> Error| {
            if good {
                Ok(part.to_owned())
            } else {
                Err(error(part.to_owned()))
            }
        };
        Ok(Self {
            name: checked(name, is_name(name), Error::Name)?,
            version: checked(version, is_version(version), Error::Version)?,
            build: build
                .map(|build| checked(build, is_version(build), Error::Build))
                .transpose()?,
            python: checked(python, is_tag_set(python), Error::Python)?,
            abi: checked(abi, is_tag_set(abi), Error::Abi)?,
            platform: checked(platform, is_tag_set(platform), Error::Platform)?,
        })
    }
}

impl fmt::Display for WheelFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-", self.name, self.version)?;
        if let Some(build) = &self.build {
            write!(f, "{build}-")?;
        }
        write!(f, "{}-{}-{}.whl", self.python, self.abi, self.platform)
    }
}

fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    text.starts_with(char::is_alphanumeric) && text.chars().all(word)
}

/// A version or a build number: both begin with a digit.
fn is_version(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '!');
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(part)
}

fn is_tag_set(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split('.')
        .all(|tag| !tag.is_empty() && tag.chars().all(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints_what_is_in_use() {
        for text in [
            "torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl",
            "torch-2.9.1+cu128-cp312-cp312-win_amd64.whl",
            "six-1.17.0-py2.py3-none-any.whl",
            "ctranslate2-4.8.5-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            "faiss_gpu_cu12-1.14.1.post1-1_x-cp312-abi3-linux_aarch64.whl",
            "jaraco.text-1!2.0.dev3-py3-none-any.whl",
            "3to2-1.1.1-py3-none-any.whl",
        ] {
            let parsed: WheelFilename = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
        let parsed: WheelFilename = "a_b-1.0-2build-py3-none-any.whl".parse().unwrap();
        assert_eq!((&*parsed.name, &*parsed.version), ("a_b", "1.0"));
        assert_eq!(parsed.build.as_deref(), Some("2build"));
        assert_eq!((&*parsed.python, &*parsed.platform), ("py3", "any"));
    }

    #[test]
    fn names_the_part_that_is_broken() {
        let table = [
            ("a-1-py3-none-any.zip", "it does not end in `.whl`"),
            ("a-1-py3-none-any.WHL", "it does not end in `.whl`"),
            (
                "a-1-none-any.whl",
                "it has 4 parts between dashes, not 5 or, with a build number, 6",
            ),
            (
                "a-1-2-3-py3-none-any.whl",
                "it has 7 parts between dashes, not 5 or, with a build number, 6",
            ),
            ("-1-py3-none-any.whl", "`` is no package name"),
            ("a/b-1-py3-none-any.whl", "`a/b` is no package name"),
            ("a-x-py3-none-any.whl", "`x` is no version"),
            ("a-2.9%2Bcu-py3-none-any.whl", "`2.9%2Bcu` is no version"),
            (
                "a-1-b2-py3-none-any.whl",
                "`b2` is no build number, which begins with a digit",
            ),
            ("a-1-py3..py2-none-any.whl", "`py3..py2` is no Python tag"),
            ("a-1-py3-no ne-any.whl", "`no ne` is no ABI tag"),
            ("a-1-py3-none-.whl", "`` is no platform tag"),
            ("a-1-py3-none-../x.whl", "`../x` is no platform tag"),
        ];
        for (text, message) in table {
            assert_eq!(
                text.parse::<WheelFilename>().unwrap_err().to_string(),
                message,
                "{text}"
            );
        }
    }
}
