//! Requirements as packages write them: `torch[opt]>=2.9 ; sys_platform == 'linux'`.
//!
//! Format: PEP 508, split only: versions and markers are read where they matter. Older tools put versions into
//! parentheses.

/// The parts of a requirement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Requirement<'t> {
    pub(super) name: &'t str,
    pub(super) extras: Vec<String>,
    /// `>=2.9`, empty where every version will do; an address behind `@` is none.
    pub(super) versions: &'t str,
    pub(super) marker: Option<&'t str>,
}

impl<'t> Requirement<'t> {
    /// Splits a text; nothing where it does not begin with a name.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let text = text.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(end)?;
        if name.is_empty() {
            return None;
        }
        let rest = rest.trim_start();
        let (extras, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let extras = extras.split(',').map(str::trim);
        let extras = extras.filter(|extra| !extra.is_empty());
        let rest = rest.trim_start();
        // an address may hold a semicolon, so only one behind a space ends it
        let (versions, marker) = if rest.starts_with('@') {
            let (_, marker) = rest.split_once(" ;").unzip();
            ("", marker)
        } else {
            let (versions, marker) = rest.split_once(';').unzip();
            let versions = versions.unwrap_or(rest).trim();
            let inner = versions.strip_prefix('(').and_then(|v| v.strip_suffix(')'));
            (inner.unwrap_or(versions), marker)
        };
        let marker = marker.map(str::trim).filter(|marker| !marker.is_empty());
        Some(Self {
            name,
            extras: extras.map(str::to_owned).collect(),
            versions,
            marker,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_split_into_their_parts() {
        for (text, name, extras, versions, marker) in [
            ("torch", "torch", "", "", None),
            ("torch==2.9.1+cu130", "torch", "", "==2.9.1+cu130", None),
            ("anyio (>=4.0,<5.0)", "anyio", "", ">=4.0,<5.0", None),
            (
                "jax[cuda12, k8s]>=0.7;python_version<'3.12'",
                "jax",
                "cuda12,k8s",
                ">=0.7",
                Some("python_version<'3.12'"),
            ),
            (
                "a @ https://w.example/a;b.whl ; sys_platform == 'linux'",
                "a",
                "",
                "",
                Some("sys_platform == 'linux'"),
            ),
            ("contourpy[bokeh]", "contourpy", "bokeh", "", None),
        ] {
            let requirement = Requirement::parse(text).unwrap();
            assert_eq!(requirement.name, name, "{text}");
            assert_eq!(requirement.extras.join(","), extras, "{text}");
            assert_eq!(requirement.versions, versions, "{text}");
            assert_eq!(requirement.marker, marker, "{text}");
        }
        assert_eq!(Requirement::parse(" >=1"), None);
        assert_eq!(Requirement::parse("a[b"), None);
    }
}
