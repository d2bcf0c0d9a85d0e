//! The forms of the report of `check`, and the files that they go to.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;

use crate::report::CheckFormat;

/// The form of the report of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(in crate::cli) enum CheckFormatArg {
    /// Annotations of GitHub: workflow commands
    Github,
    /// A code quality report of GitLab
    Gitlab,
    /// For people: one HTML file with a heat map and every detail
    Html,
    /// For people
    #[default]
    Human,
    /// For programs; the schema is in the repository
    Json,
    /// A report of tests, which most CI servers show
    Junit,
    /// For the comment on a pull request or the summary of a step
    Markdown,
    /// One line of JSON for each artifact, and one for the whole; the schemas are in the repository
    Ndjson,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

impl From<CheckFormatArg> for CheckFormat {
    fn from(format: CheckFormatArg) -> Self {
        match format {
            CheckFormatArg::Github => Self::Github,
            CheckFormatArg::Gitlab => Self::Gitlab,
            CheckFormatArg::Html => Self::Html,
            CheckFormatArg::Human => Self::Human,
            CheckFormatArg::Json => Self::Json,
            CheckFormatArg::Junit => Self::Junit,
            CheckFormatArg::Markdown => Self::Markdown,
            CheckFormatArg::Ndjson => Self::Ndjson,
            CheckFormatArg::Sarif => Self::Sarif,
        }
    }
}

/// A report that goes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct OutputFile {
    pub(in crate::cli) format: CheckFormatArg,
    pub(in crate::cli) path: PathBuf,
}

impl FromStr for OutputFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let formats = || {
            let values = CheckFormatArg::value_variants().iter();
            let names = values.filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
            names.join(", ")
        };
        let Some((format, path)) = text.split_once('=') else {
            return Err(format!(
                "write FORMAT=FILE, where FORMAT is one of {}",
                formats()
            ));
        };
        let format = CheckFormatArg::from_str(format, false)
            .ok()
            .ok_or_else(|| format!("`{format}` is none of the formats {}", formats()))?;
        match path {
            "" => Err("a file is missing behind `=`".to_owned()),
            "-" => Err("for standard output use `--format`".to_owned()),
            path => Ok(Self {
                format,
                path: PathBuf::from(path),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_goes_to_the_file_behind_the_first_equals_sign() {
        let output: OutputFile = "json=a=b.json".parse().unwrap();
        assert_eq!(output.format, CheckFormatArg::Json);
        assert_eq!(output.path, PathBuf::from("a=b.json"));
    }

    #[test]
    fn refuses_what_names_no_format_or_no_file() {
        for (text, said) in [
            ("json", "write FORMAT=FILE"),
            (
                "jsn=a.json",
                "`jsn` is none of the formats github, gitlab, html, human, json, junit",
            ),
            ("json=", "a file is missing"),
            ("json=-", "use `--format`"),
        ] {
            let error = OutputFile::from_str(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
