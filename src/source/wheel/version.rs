//! Whether two spellings are one name or one version.
//!
//! Format: PEP 503 (names), PEP 440 (versions; appendix B has the grammar).

/// Whether two spellings name one package.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    normal_name(one) == normal_name(other)
}

/// A package name in lower case, with a single dash for every run of `-`, `_` and `.`.
pub fn normal_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars().flat_map(char::to_lowercase) {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.push(c),
        }
    }
    normal
}

/// Whether two spellings are one version: `1.0` is `1.0.0`, and `1.0_cu118` is `1.0-cu118`.
pub(crate) fn same_version(one: &str, other: &str) -> bool {
    match (Version::parse(one), Version::parse(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one
            .replace('_', "-")
            .eq_ignore_ascii_case(&other.replace('_', "-")),
    }
}

/// A version, normalised. Numbers are digits without leading zeros, however many there are.
#[derive(Debug, PartialEq, Eq)]
struct Version<'v> {
    epoch: &'v str,
    release: Vec<&'v str>,
    pre: Option<(&'static str, &'v str)>,
    post: Option<&'v str>,
    dev: Option<&'v str>,
    local: Vec<String>,
}

impl<'v> Version<'v> {
    fn parse(text: &'v str) -> Option<Self> {
        let text = text.trim();
        let (public, local) = text.split_once('+').unwrap_or((text, ""));
        let mut rest = Rest(public);
        rest.word(&["v", "V"]);
        let mut first = rest.number()?;
        let mut epoch = "";
        if rest.word(&["!"]).is_some() {
            epoch = first;
            first = rest.number()?;
        }
        let mut release = vec![first];
        while let Some(next) = rest
            .after(&["."])
            .and_then(|mut after| Some((after.number()?, after)))
        {
            release.push(next.0);
            rest = next.1;
        }
        while release.last() == Some(&"") {
            release.pop();
        }
        let pre = rest.part(&[
            ("alpha", "a"),
            ("beta", "b"),
            ("preview", "rc"),
            ("pre", "rc"),
            ("rc", "rc"),
            ("a", "a"),
            ("b", "b"),
            ("c", "rc"),
        ]);
        let post = rest
            .part(&[("post", ""), ("rev", ""), ("r", "")])
            .map(|(_, number)| number);
        let post = post.or_else(|| {
            let mut after = rest.after(&["-", "_"])?;
            let number = after.number()?;
            rest = after;
            Some(number)
        });
        let dev = rest.part(&[("dev", "")]).map(|(_, number)| number);
        let separators = ['-', '_', '.'];
        let local = local.split(separators).map(|part| {
            let part = part.to_ascii_lowercase();
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if digits {
                part.trim_start_matches('0').to_owned()
            } else {
                part
            }
        });
        rest.0.is_empty().then(|| Self {
            epoch,
            release,
            pre,
            post,
            dev,
            local: local.collect(),
        })
    }
}

/// What of a version is not read yet.
#[derive(Clone, Copy)]
struct Rest<'v>(&'v str);

impl<'v> Rest<'v> {
    /// Takes the first of `words` that comes next, whatever its case.
    fn word(&mut self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| {
            let (Some(start), Some(rest)) = (self.0.get(..word.len()), self.0.get(word.len()..))
            else {
                return false;
            };
            let found = start.eq_ignore_ascii_case(word);
            if found {
                self.0 = rest;
            }
            found
        })
    }

    /// What follows one of `words`, where one comes next.
    fn after(mut self, words: &[&'static str]) -> Option<Self> {
        self.word(words).map(|_| self)
    }

    /// Takes digits, and gives them without leading zeros.
    fn number(&mut self) -> Option<&'v str> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at_checked(end)?;
        if digits.is_empty() {
            return None;
        }
        self.0 = rest;
        Some(digits.trim_start_matches('0'))
    }

    /// Takes one of `words` with the separators around it and the number after it; no number is 0.
    fn part(&mut self, words: &[(&'static str, &'static str)]) -> Option<(&'static str, &'v str)> {
        const SEPARATORS: [&str; 3] = [".", "-", "_"];
        let mut rest = *self;
        rest.word(&SEPARATORS);
        let normal = words
            .iter()
            .find_map(|(word, normal)| rest.word(&[word]).map(|_| *normal))?;
        let mut number = "";
        let mut after = rest;
        after.word(&SEPARATORS);
        if let Some(found) = after.number() {
            number = found;
            rest = after;
        }
        *self = rest;
        Some((normal, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_normalised() {
        assert!(same_name("Foo.Bar__baz", "foo-bar-baz"));
        assert!(same_name("nvidia_cublas_cu12", "nvidia-cublas-cu12"));
        assert!(!same_name("foobar", "foo-bar"));
    }

    /// The pairs hold by `packaging.version.Version` of Python.
    #[test]
    fn versions_are_compared_normalised() {
        for (one, other) in [
            ("1.0", "1.0.0"),
            ("2026.10.02", "2026.10.2"),
            ("v1.0", "1"),
            ("1.0-1", "1.0.post1"),
            ("1.0_1", "1.0.post1"),
            ("1.0alpha1", "1.0a1"),
            ("1.0.rc-1", "1.0c1"),
            ("1.0PRE", "1.0rc0"),
            ("1.0.dev", "1.0dev0"),
            ("1.0a1.post2.dev3", "1.0-alpha-1_rev2-dev03"),
            ("0!1", "1"),
            ("2.9.1+CU128", "2.9.1+cu128"),
            ("1+a-01.b", "1+a_1_b"),
            ("1.0r4", "1.0.post4"),
            ("not-a_version", "not_A-version"),
            ("0.0", "0"),
        ] {
            assert!(same_version(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("1.0", "1.1"),
            ("1.0", "1.0rc1"),
            ("1.0", "1.0.post0"),
            ("1.0", "1.0.dev0"),
            ("1.0", "1!1.0"),
            ("2.9.1", "2.9.1+cu128"),
            ("2.9.1+cu126", "2.9.1+cu128"),
            ("1.0a1", "1.0b1"),
            ("10", "1"),
            ("1.0", "1.0x"),
        ] {
            assert!(!same_version(one, other), "{one} {other}");
        }
    }
}
