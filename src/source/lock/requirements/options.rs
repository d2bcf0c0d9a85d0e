//! A line to its requirement and its options, as pip's `break_args_options`, `shlex` and `optparse` take it apart.

/// Options that pip takes in a requirements file. (Those that it no longer takes are in old files.)
const OPTIONS: &[(&str, Kind)] = &[
    ("--index-url", Kind::Value(Opt::Index)),
    ("--pypi-url", Kind::Value(Opt::Index)),
    ("--extra-index-url", Kind::Value(Opt::ExtraIndex)),
    ("--no-index", Kind::Flag(Opt::NoIndex)),
    ("--constraint", Kind::Value(Opt::Constraint)),
    ("--requirement", Kind::Value(Opt::Requirement)),
    ("--editable", Kind::Value(Opt::Editable)),
    ("--find-links", Kind::Value(Opt::FindLinks)),
    ("--no-binary", Kind::Value(Opt::NoBinary)),
    ("--only-binary", Kind::Value(Opt::OnlyBinary)),
    ("--prefer-binary", Kind::Flag(Opt::Other)),
    ("--require-hashes", Kind::Flag(Opt::Other)),
    ("--pre", Kind::Flag(Opt::Other)),
    ("--all-releases", Kind::Value(Opt::Other)),
    ("--only-final", Kind::Value(Opt::Other)),
    ("--trusted-host", Kind::Value(Opt::Other)),
    ("--use-feature", Kind::Value(Opt::Other)),
    ("--global-option", Kind::Value(Opt::Other)),
    ("--install-option", Kind::Value(Opt::Other)),
    ("--config-settings", Kind::Value(Opt::Other)),
    ("--config-setting", Kind::Value(Opt::Other)),
    ("--hash", Kind::Value(Opt::Hash)),
];

/// Short ones.
const SHORT: &[(char, Opt)] = &[
    ('i', Opt::Index),
    ('c', Opt::Constraint),
    ('r', Opt::Requirement),
    ('e', Opt::Editable),
    ('f', Opt::FindLinks),
    ('C', Opt::Other),
];

/// What an option is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opt {
    Index,
    ExtraIndex,
    NoIndex,
    Constraint,
    Requirement,
    Editable,
    FindLinks,
    NoBinary,
    OnlyBinary,
    Hash,
    /// One that chooses no file.
    Other,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Flag(Opt),
    Value(Opt),
}

/// A line taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The requirement; empty where there is none.
    pub(super) requirement: String,
    /// Options with their values, in the order of the line.
    pub(super) options: Vec<(Opt, String)>,
}

impl Parts {
    /// The values of an option.
    pub(super) fn all(&self, wanted: Opt) -> impl Iterator<Item = &str> {
        let options = self.options.iter().filter(move |(opt, _)| *opt == wanted);
        options.map(|(_, value)| value.as_str())
    }

    /// The first value of an option.
    pub(super) fn first(&self, wanted: Opt) -> Option<&str> {
        self.all(wanted).next()
    }
}

/// Takes a line apart; what is wrong with it otherwise.
pub(super) fn parse(line: &str) -> Result<Parts, String> {
    // the first word with a dash begins the options; words are separated by spaces alone
    let mut at = 0;
    for word in line.split_inclusive(' ') {
        if word.starts_with('-') {
            break;
        }
        at += word.len();
    }
    let (requirement, options) = line.split_at(at);
    let mut parts = Parts {
        requirement: requirement.trim().to_owned(),
        options: Vec::new(),
    };
    let mut words = split(options)?.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let (kind, value) =
            if let Some(short) = word.strip_prefix('-').filter(|s| !s.starts_with('-')) {
                let mut chars = short.chars();
                // optparse passes over what is no option, and pip takes nothing from it
                let Some(letter) = chars.next() else { continue };
                let known = SHORT.iter().find(|(short, _)| *short == letter);
                let (_, opt) = known.ok_or_else(|| format!("pip knows no option `-{letter}`"))?;
                let rest = chars.as_str();
                (
                    Kind::Value(*opt),
                    (!rest.is_empty()).then(|| rest.to_owned()),
                )
            } else if word.starts_with("--") {
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (word.as_str(), None),
                };
                (long(name)?, value)
            } else {
                continue;
            };
        match (kind, value) {
            (Kind::Flag(opt), None) => parts.options.push((opt, String::new())),
            (Kind::Flag(_), Some(_)) => {
                return Err("an option with a value that it takes none of".to_owned());
            }
            (Kind::Value(opt), Some(value)) => parts.options.push((opt, value)),
            (Kind::Value(opt), None) => {
                let value = words.next().ok_or("an option without its value")?;
                parts.options.push((opt, value));
            }
        }
    }
    Ok(parts)
}

/// A long option; an unambiguous beginning of one is enough.
fn long(name: &str) -> Result<Kind, String> {
    let exact = OPTIONS.iter().find(|(option, _)| *option == name);
    if let Some((_, kind)) = exact {
        return Ok(*kind);
    }
    let mut possible = OPTIONS
        .iter()
        .filter(|(option, _)| option.starts_with(name));
    match (possible.next(), possible.next()) {
        (Some((_, kind)), None) => Ok(*kind),
        (Some(_), Some(_)) => Err(format!("the option `{name}` begins several")),
        (None, _) => Err(format!("pip knows no option `{name}`")),
    }
}

/// Words as a POSIX shell splits them.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                quoted(&mut chars, '\'', word)?;
            }
            '"' => {
                let word = word.get_or_insert_default();
                quoted(&mut chars, '"', word)?;
            }
            '\\' => {
                let next = chars.next().ok_or("a `\\` with nothing behind it")?;
                word.get_or_insert_default().push(next);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(chars: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), String> {
    loop {
        match chars.next().ok_or("a quote is opened and never closed")? {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => {
                let next = chars.next().ok_or("a quote is opened and never closed")?;
                if !matches!(next, '"' | '\\') {
                    word.push('\\');
                }
                word.push(next);
            }
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> (String, Vec<(Opt, String)>) {
        let parts = parse(line).unwrap();
        (parts.requirement, parts.options)
    }

    #[test]
    fn a_line_is_a_requirement_and_options() {
        let owned = |opt, value: &str| (opt, value.to_owned());
        assert_eq!(parts("a==1 ; x"), ("a==1 ; x".into(), vec![]));
        assert_eq!(
            parts("a==1 --hash=sha256:0a --hash sha256:0b"),
            (
                "a==1".into(),
                vec![owned(Opt::Hash, "sha256:0a"), owned(Opt::Hash, "sha256:0b")]
            )
        );
        assert_eq!(
            parts("-i https://a"),
            (String::new(), vec![owned(Opt::Index, "https://a")])
        );
        assert_eq!(
            parts("-rbase.txt"),
            (String::new(), vec![owned(Opt::Requirement, "base.txt")])
        );
        assert_eq!(
            parts("--extra-index=u --pre"),
            (
                String::new(),
                vec![owned(Opt::ExtraIndex, "u"), owned(Opt::Other, "")]
            )
        );
        assert_eq!(
            parts(r#"-f "a \"b" -e 'c d'"#),
            (
                String::new(),
                vec![owned(Opt::FindLinks, "a \"b"), owned(Opt::Editable, "c d")]
            )
        );
        assert_eq!(parts("nvidia-cublas-cu12==1").0, "nvidia-cublas-cu12==1");
    }

    #[test]
    fn what_pip_refuses_is_refused() {
        for (line, message) in [
            ("--frob", "pip knows no option `--frob`"),
            ("-x", "pip knows no option `-x`"),
            ("--no", "the option `--no` begins several"),
            ("-r", "an option without its value"),
            ("--pre=1", "an option with a value that it takes none of"),
            ("-e 'a", "a quote is opened and never closed"),
            ("-e a\\", "a `\\` with nothing behind it"),
        ] {
            assert_eq!(parse(line).unwrap_err(), message);
        }
    }
}
