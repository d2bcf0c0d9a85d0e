//! Versions as poetry asks for them: `^1.2`, `~1.2`, `1.2.*`, `>=1 <2`, `<1 || >=2`.
//!
//! Format: <https://python-poetry.org/docs/dependency-specification/>.

use std::str::FromStr;

use pep440_rs::{Version, VersionSpecifiers};

/// Alternatives in the form of PEP 440, `>=1.2,<2`; an empty one allows everything. None where the text is not
/// understood.
fn alternatives(text: &str) -> Option<Vec<String>> {
    text.replace("||", "|")
        .split('|')
        .map(conjunction)
        .collect()
}

fn conjunction(text: &str) -> Option<String> {
    let is_sign = |c: char| matches!(c, '<' | '>' | '=' | '!' | '~' | '^');
    let mut clauses = Vec::new();
    let mut sign = "";
    for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
        let version = word.trim_start_matches(is_sign);
        let own = word.strip_suffix(version).unwrap_or_default();
        if !own.is_empty() && !sign.is_empty() {
            return None;
        }
        sign = if own.is_empty() { sign } else { own };
        if !version.is_empty() {
            clauses.extend(clause(sign, version)?);
            sign = "";
        }
    }
    sign.is_empty().then(|| clauses.join(","))
}

fn clause(sign: &str, version: &str) -> Option<Vec<String>> {
    if version == "*" {
        return Some(Vec::new());
    }
    Some(match sign {
        "^" | "~" => {
            let lowest = Version::from_str(version).ok()?;
            let release = lowest.release();
            let kept = match sign {
                "^" => release
                    .iter()
                    .position(|n| *n != 0)
                    .unwrap_or(release.len().saturating_sub(1)),
                _ => usize::from(release.len() > 1),
            };
            let mut above: Vec<u64> = release.iter().take(kept + 1).copied().collect();
            let last = above.last_mut()?;
            *last = last.checked_add(1)?;
            let above: Vec<_> = above.iter().map(u64::to_string).collect();
            vec![format!(">={version}"), format!("<{}", above.join("."))]
        }
        "" | "=" => vec![format!("=={version}")],
        _ => vec![format!("{sign}{version}")],
    })
}

/// Whether a version answers a constraint. What is not understood excludes nothing.
pub(super) fn allows(constraint: &str, version: &str) -> bool {
    let (Some(alternatives), Ok(version)) = (alternatives(constraint), Version::from_str(version))
    else {
        return true;
    };
    alternatives.iter().any(|specifiers| {
        VersionSpecifiers::from_str(specifiers)
            .map_or(true, |specifiers| specifiers.contains(&version))
    })
}

/// The marker that holds where Python has such a version; none where any will do, or where it is not understood.
pub(super) fn python_marker(constraint: &str) -> Option<String> {
    let mut markers = Vec::new();
    for specifiers in alternatives(constraint)? {
        let specifiers = VersionSpecifiers::from_str(&specifiers).ok()?;
        let clauses = specifiers.iter().map(|specifier| {
            let text = specifier.to_string();
            let version = text.trim_start_matches(['<', '>', '=', '!', '~']);
            let sign = text.strip_suffix(version).unwrap_or_default();
            format!("python_full_version {sign} '{}'", version.trim())
        });
        let clauses: Vec<_> = clauses.collect();
        if clauses.is_empty() {
            return None;
        }
        markers.push(clauses.join(" and "));
    }
    Some(markers.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_allow_what_the_documentation_of_poetry_says() {
        for (constraint, form) in [
            ("^1.2.3", ">=1.2.3,<2"),
            ("^1.2", ">=1.2,<2"),
            ("^1", ">=1,<2"),
            ("^0.2.3", ">=0.2.3,<0.3"),
            ("^0.0.3", ">=0.0.3,<0.0.4"),
            ("^0.0", ">=0.0,<0.1"),
            ("^0", ">=0,<1"),
            ("~1.2.3", ">=1.2.3,<1.3"),
            ("~1.2", ">=1.2,<1.3"),
            ("~1", ">=1,<2"),
            ("*", ""),
            ("1.*", "==1.*"),
            ("1.2.3", "==1.2.3"),
            (">= 1.2, < 1.5", ">=1.2,<1.5"),
            (">=1.2 <1.5", ">=1.2,<1.5"),
            ("!=1.2.*", "!=1.2.*"),
        ] {
            assert_eq!(
                alternatives(constraint),
                Some(vec![form.to_owned()]),
                "{constraint}"
            );
        }
        assert_eq!(
            alternatives("<1 || >=2"),
            Some(vec!["<1".to_owned(), ">=2".to_owned()])
        );
        assert_eq!(alternatives(">= >1"), None);
    }

    #[test]
    fn a_local_version_answers_its_public_one() {
        assert!(allows("2.9.1", "2.9.1+cu130"));
        assert!(!allows("2.9.1+cpu", "2.9.1+cu130"));
        assert!(!allows("^2.0", "3.0"));
        assert!(allows("<1 || ^2.0", "2.5"));
        assert!(allows("branch main", "2.5"));
    }

    #[test]
    fn a_constraint_on_python_is_a_marker() {
        let marker = python_marker(">=3.8,<3.12 || 3.13.*");
        let wanted = "python_full_version >= '3.8' and python_full_version < '3.12' or python_full_version == '3.13.*'";
        assert_eq!(marker.as_deref(), Some(wanted));
        assert_eq!(python_marker("*"), None);
    }
}
