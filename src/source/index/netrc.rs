//! Files in the form of `.netrc`: logins by host.
//!
//! The form is that of ftp(1) and of Python's `netrc` module, which pip reads it with: words between white space or in
//! quotes, `#` begins a comment where an entry could begin, `macdef` ends at an empty line. Our own, because the crates
//! for it either pass over what they do not understand or repeat it in their errors, where it may be a password.

use crate::source::Secret;

/// A login of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The host; nothing for `default`.
    pub(super) host: Option<String>,
    /// The user.
    pub(super) user: String,
    /// The password.
    pub(super) password: Secret,
}

/// Reads the logins of `text`.
///
/// # Errors
///
/// The line, from 1 on, of the first word that means nothing.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, usize> {
    let mut words = Words {
        rest: text,
        line: 1,
    };
    let mut entries = Vec::new();
    let mut next = words.next()?;
    while let Some(word) = next {
        next = match word.as_str() {
            "machine" => {
                let host = words.value()?;
                let (entry, after) = entry(&mut words, Some(host))?;
                entries.push(entry);
                after
            }
            "default" => {
                let (entry, after) = entry(&mut words, None)?;
                entries.push(entry);
                after
            }
            "macdef" => {
                words.skip_macro();
                words.next()?
            }
            _ if word.starts_with('#') => {
                words.skip_line();
                words.next()?
            }
            _ => return Err(words.line),
        };
    }
    Ok(entries)
}

/// The entry for `host`, and the word behind it.
fn entry(words: &mut Words<'_>, host: Option<String>) -> Result<(Entry, Option<String>), usize> {
    let mut user = String::new();
    let mut password = String::new();
    loop {
        let word = words.next()?;
        match word.as_deref() {
            Some("login" | "user") => user = words.value()?,
            Some("password") => password = words.value()?,
            Some("account") => drop(words.value()?),
            Some(comment) if comment.starts_with('#') => words.skip_line(),
            _ => {
                let entry = Entry {
                    host,
                    user,
                    password: Secret::new(password),
                };
                return Ok((entry, word));
            }
        }
    }
}

struct Words<'t> {
    rest: &'t str,
    line: usize,
}

impl Words<'_> {
    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// The next word; an error for a quote without its end.
    fn next(&mut self) -> Result<Option<String>, usize> {
        while self.rest.starts_with(char::is_whitespace) {
            self.bump();
        }
        let line = self.line;
        let quoted = self.rest.starts_with('"');
        if quoted {
            self.bump();
        }
        let mut word = String::new();
        // a white space ends a word, and is left: it may end a comment too
        while quoted || !self.rest.starts_with(char::is_whitespace) {
            match self.bump() {
                Some('"') if quoted => return Ok(Some(word)),
                Some('\\') => word.extend(self.bump()),
                Some(c) => word.push(c),
                None if quoted => return Err(line),
                None => break,
            }
        }
        Ok(Some(word).filter(|word| !word.is_empty()))
    }

    fn value(&mut self) -> Result<String, usize> {
        let line = self.line;
        self.next()?.ok_or(line)
    }

    fn skip_line(&mut self) {
        while !self.rest.is_empty() && !self.rest.starts_with('\n') {
            self.bump();
        }
    }

    /// Passes over a macro: up to an empty line.
    fn skip_macro(&mut self) {
        self.skip_line();
        while self.bump().is_some() {
            let line = self.rest.split('\n').next().unwrap_or_default();
            if line.trim().is_empty() {
                return;
            }
            self.skip_line();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logins(text: &str) -> Vec<(Option<String>, String, String)> {
        let entries = parse(text).unwrap();
        let all = entries.into_iter();
        all.map(|entry| (entry.host, entry.user, entry.password.expose().to_owned()))
            .collect()
    }

    fn login(host: &str, user: &str, password: &str) -> (Option<String>, String, String) {
        let host = Some(host.to_owned()).filter(|host| !host.is_empty());
        (host, user.to_owned(), password.to_owned())
    }

    #[test]
    fn entries_are_read_as_python_reads_them() {
        let text = "# all\nmachine a.example login u password p#w\n\nmachine b.example\r\n\tlogin \"u v\"\r\n\
                    \tpassword \"a\\\"b\" # ours\nmacdef init\ncd /pub\nmachine no\n\nmachine c.example account x\n\
                    password \\# user z default login d password e";
        assert_eq!(
            logins(text),
            [
                login("a.example", "u", "p#w"),
                login("b.example", "u v", "a\"b"),
                login("c.example", "z", "#"),
                login("", "d", "e"),
            ]
        );
        assert_eq!(logins(""), []);
        assert_eq!(logins("macdef init\nnever ended"), []);
    }

    #[test]
    fn what_means_nothing_is_told_by_its_line_alone() {
        assert_eq!(parse("machine a.example login u password a b\n"), Err(1));
        assert_eq!(parse("\nmachine a.example\nlogin"), Err(3));
        assert_eq!(parse("machine"), Err(1));
        assert_eq!(parse("machine a password \"x\n\n"), Err(1));
    }
}
