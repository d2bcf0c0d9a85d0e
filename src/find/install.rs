//! The commands that install a build.

use super::stock::{How, Wanted};

/// The commands that install a build, for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Install {
    /// With pip.
    pub pip: String,
    /// With uv.
    pub uv: String,
}

impl Install {
    /// Installs `version` of an index at `address`, which holds no secret.
    pub(super) fn of(wanted: &Wanted, version: &str, how: How, address: &str) -> Self {
        let what = format!("'{}{}=={version}'", wanted.name, wanted.extras);
        let (pip, uv) = match how {
            How::Configured => (None, None),
            How::Main => (Some("--index-url"), Some("--default-index")),
            How::Extra => (Some("--extra-index-url"), Some("--index")),
            How::FindLinks => (Some("--find-links"), Some("--find-links")),
        };
        let option = |name: Option<&str>| {
            name.map_or_else(String::new, |name| format!(" {name} {}", quoted(address)))
        };
        Self {
            pip: format!("pip install {what}{}", option(pip)),
            uv: format!("uv pip install {what}{}", option(uv)),
        }
    }
}

/// A word of a shell, in quotes where it needs them.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/:.-_+=@%,".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installers_are_told_of_an_index_unless_it_is_the_configured_one() {
        let wanted = Wanted::parse("torch[opt]>=2", false).unwrap();
        let of = |how| {
            let install = Install::of(&wanted, "2.7.1+cu126", how, "https://w.example/cu126/");
            (install.pip, install.uv)
        };
        for (how, pip, uv) in [
            (How::Configured, "", ""),
            (
                How::Main,
                " --index-url https://w.example/cu126/",
                " --default-index https://w.example/cu126/",
            ),
            (
                How::Extra,
                " --extra-index-url https://w.example/cu126/",
                " --index https://w.example/cu126/",
            ),
            (
                How::FindLinks,
                " --find-links https://w.example/cu126/",
                " --find-links https://w.example/cu126/",
            ),
        ] {
            let (has_pip, has_uv) = of(how);
            assert_eq!(
                has_pip,
                format!("pip install 'torch[opt]==2.7.1+cu126'{pip}")
            );
            assert_eq!(
                has_uv,
                format!("uv pip install 'torch[opt]==2.7.1+cu126'{uv}")
            );
        }
    }

    #[test]
    fn what_a_shell_would_take_for_more_than_a_word_is_quoted() {
        assert_eq!(
            quoted("https://w.example/a?b&c"),
            "'https://w.example/a?b&c'"
        );
        assert_eq!(quoted("file:///a b'c"), r"'file:///a b'\''c'");
    }
}
