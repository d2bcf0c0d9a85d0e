//! Words and lines that both reports for people share.

use std::io::{self, Write};

use crate::escape::visible;
use crate::inventory::{ArtifactKind, Fetched, HashCheck, Seen};
use crate::tables::Origin;
use crate::verdict::megabytes;

use super::style::Styles;

/// Names listed in one sentence.
const NAMES_MAX: usize = 8;

/// How much of an artifact was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) kind: ArtifactKind,
    pub(super) seen: Seen,
    pub(super) fetched: Option<&'a Fetched>,
    pub(super) problems: usize,
}

impl Look<'_> {
    /// Why no device code is shown, where that is something else than that there is none.
    pub(super) fn why_none(self) -> Option<&'static str> {
        let Seen {
            files, unopened, ..
        } = self.seen;
        match self.kind {
            _ if files == 0 && self.problems > 0 => Some("nothing could be read"),
            ArtifactKind::Sdist => {
                Some("a source distribution: it holds no device code before it is built")
            }
            ArtifactKind::File if unopened > 0 => {
                Some("a compressed file of a kind that is not opened: nothing in it was looked at")
            }
            ArtifactKind::Directory if unopened > 0 && unopened == files => {
                Some("only compressed files of kinds that are not opened")
            }
            _ if self.problems > 0 => {
                Some("no device code in what could be read, and not all could")
            }
            _ => None,
        }
    }
}

/// The line that says how much was looked at.
pub(super) fn write_looked_at<'a>(
    looks: impl Iterator<Item = Look<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    // a saved inventory may say any number
    let (mut files, mut with_code, mut unopened, mut problems) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut left_out = 0_u64;
    let mut fetched = Vec::new();
    for look in looks {
        files = files.saturating_add(look.seen.files);
        with_code = with_code.saturating_add(look.seen.with_device_code);
        unopened = unopened.saturating_add(look.seen.unopened);
        problems = problems.saturating_add(look.problems as u64);
        left_out = left_out.saturating_add(look.seen.left_out);
        fetched.extend(look.fetched);
    }
    if files == 0 && left_out == 0 && problems == 0 {
        return writeln!(out, "Looked at no file");
    }
    write!(
        out,
        "Looked at {}: {with_code} with device code, ",
        plural(files, "file")
    )?;
    if unopened > 0 {
        write!(out, "{} not opened, ", plural(unopened, "compressed file"))?;
    }
    if left_out > 0 {
        write!(out, "{left_out} more left out by name, ")?;
    }
    match (problems, unopened) {
        (0, 0) => writeln!(out, "all readable")?,
        (0, _) => writeln!(out, "the rest readable")?,
        (n, _) => writeln!(out, "{} while reading", plural(n, "problem"))?,
    }
    write_fetched(&fetched, out)
}

/// The line that says how much was fetched, and which hashes are not verified.
fn write_fetched(fetched: &[&Fetched], out: &mut dyn Write) -> io::Result<()> {
    if fetched.is_empty() {
        return Ok(());
    }
    let sum = |of: fn(&Fetched) -> u64| {
        fetched
            .iter()
            .map(|one| of(one))
            .fold(0, u64::saturating_add)
    };
    let (received, size) = (sum(|one| one.received), sum(|one| one.size));
    write!(
        out,
        "Fetched {} of {}",
        megabytes(received),
        megabytes(size)
    )?;
    let count = |wanted: HashCheck| {
        let found = fetched.iter().filter(|one| one.verified == wanted);
        found.count() as u64
    };
    for (check, said) in [
        (HashCheck::Yes, "verified"),
        (
            HashCheck::NotRead,
            "not verified, since not all of the file was read",
        ),
        (
            HashCheck::NotTaken,
            "not verified, since such a hash is not taken here",
        ),
        (HashCheck::No, "wrong"),
    ] {
        match count(check) {
            0 => {}
            1 => write!(out, "; 1 hash {said}")?,
            n => write!(out, "; {n} hashes {said}")?,
        }
    }
    writeln!(out)
}

/// The line that says by which tables.
pub(super) fn write_tables(tables: &Origin, styles: Styles, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", styles.dim(visible(&tables.to_string())))
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: u64, what: &str) -> String {
    match what.strip_suffix("ry") {
        _ if count == 1 => format!("1 {what}"),
        Some(stem) => format!("{count} {stem}ries"),
        None => format!("{count} {what}s"),
    }
}

/// `a, b and c`, or the first few of many.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        _ if names.len() > NAMES_MAX => {
            let shown = names.get(..NAMES_MAX).unwrap_or(names).join(", ");
            format!("{shown} and {} more", names.len() - NAMES_MAX)
        }
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// `text` in lines of at most `width` characters, where there is one: the first begins in column `indent`,
/// and so do the others.
pub(super) fn wrapped(text: &str, indent: usize, width: Option<usize>) -> String {
    // below this, a column of words is worse than a long line
    const NARROW: usize = 30;
    let Some(room) = width
        .and_then(|width| width.checked_sub(indent))
        .filter(|room| *room >= NARROW)
    else {
        return text.to_owned();
    };
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_wrapped_at_the_width_of_the_terminal_and_keep_their_indent() {
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(
            wrapped(text, 4, Some(34)),
            "one two three four five six\n    seven eight nine ten"
        );
        assert_eq!(wrapped(text, 4, None), text, "no terminal, no width");
        assert_eq!(wrapped(text, 4, Some(20)), text, "too narrow to help");
        let path = "a/path/that/is/longer/than/the/whole/line/of/this/terminal";
        assert_eq!(wrapped(path, 4, Some(34)), path, "no word is broken");
    }

    #[test]
    fn names_are_listed_as_people_do_and_the_rest_is_counted() {
        let names = |count: usize| -> Vec<String> {
            (1..=count).map(|number| number.to_string()).collect()
        };
        assert_eq!(listed(&names(1)), "1");
        assert_eq!(listed(&names(2)), "1 and 2");
        assert_eq!(listed(&names(3)), "1, 2 and 3");
        assert_eq!(listed(&names(8)), "1, 2, 3, 4, 5, 6, 7 and 8");
        assert_eq!(listed(&names(10)), "1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
    }
}
