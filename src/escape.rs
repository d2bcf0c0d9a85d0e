//! Foreign text on its way to a terminal or a log: names of files and members, metadata, messages of others.
//!
//! Control characters could move the cursor or colour a verdict, bidirectional and zero-width characters
//! could show a name as another; CI logs interpret them as terminals do, so all output is escaped alike. The readers
//! of such logs also obey text: `::set-output …` that begins a line (blanks before it do not count) and `##[…]`
//! anywhere in one, in `ActionCommand.cs` of GitHub's runner; `##vso[…]` on Azure, `##teamcity[…]`.

mod markup;

use std::borrow::Cow;
use std::fmt::Write as _;

pub(crate) use markup::{code_cell, code_span, in_markdown, summary_line};

/// `text` with everything that a terminal, or the reader of a log, could obey made visible.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let begins = text.trim_start().starts_with("::");
    if !begins && !text.contains("##") && !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let first = begins.then(|| text.len() - text.trim_start().len());
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if is_dangerous(c) || first == Some(at) || begins_command(text, at) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Whether the byte at `at` is the second `#` of `##[`, `##vso[` or the like.
fn begins_command(text: &str, at: usize) -> bool {
    let is_second = |before: &str| before.ends_with('#');
    let is_command = |rest: &str| {
        let name = rest.strip_prefix('#');
        name.is_some_and(|name| {
            name.trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .starts_with('[')
        })
    };
    text.get(..at).is_some_and(is_second) && text.get(at..).is_some_and(is_command)
}

/// JSON with the same characters as escapes of JSON. They can only stand in its strings, and mean the same there;
/// line feeds are its layout.
pub(crate) fn in_json(json: String) -> String {
    if !json.contains("##") && !json.chars().any(|c| c != '\n' && is_dangerous(c)) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for (at, c) in json.char_indices() {
        if c == '\n' || !(is_dangerous(c) || begins_command(&json, at)) {
            escaped.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _infallible = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// The message of a workflow command of GitHub: one line, in which nothing begins another command.
pub(crate) fn in_command(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D");
    text.replace('\n', "%0A")
}

/// A property of such a command, of which `,` and `::` end it.
pub(crate) fn in_command_property(text: &str) -> String {
    in_command(text).replace(':', "%3A").replace(',', "%2C")
}

/// A path with `/` between its parts as the path of a URI.
pub(crate) fn in_uri_path(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _infallible = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// Whether a terminal could obey a character, or show others in another order because of it.
pub(crate) fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            // of these, XML has none
            | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_visible_what_a_terminal_would_obey() {
        assert_eq!(visible("lib/a.so"), "lib/a.so");
        assert_eq!(visible("gr\u{fc}n › x"), "gr\u{fc}n › x");
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("a\nPASS"), "a\\u{a}PASS");
        assert_eq!(visible("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
    }

    #[test]
    fn makes_visible_what_the_reader_of_a_log_would_obey() {
        assert_eq!(visible("::add-mask::x"), "\\u{3a}:add-mask::x");
        assert_eq!(visible("  ::error ::x"), "  \\u{3a}:error ::x");
        assert_eq!(visible("std::sort, a ::b"), "std::sort, a ::b");
        assert_eq!(visible("x ##[error]y"), "x #\\u{23}[error]y");
        assert_eq!(visible("###[group]"), "##\\u{23}[group]");
        assert_eq!(visible("##vso[task.x]"), "#\\u{23}vso[task.x]");
        assert_eq!(visible("## a title [1]"), "## a title [1]");
        let json = in_json("[\"##[error]\"]".to_owned());
        assert_eq!(json, "[\"#\\u0023[error]\"]");
    }

    #[test]
    fn a_workflow_command_stays_one_command() {
        let evil = "50%\r\n::set-output name=a::b,c";
        assert_eq!(in_command(evil), "50%25%0D%0A::set-output name=a::b,c");
        assert_eq!(
            in_command_property(evil),
            "50%25%0D%0A%3A%3Aset-output name=a%3A%3Ab%2Cc"
        );
    }

    #[test]
    fn paths_of_uris_are_ascii_and_have_no_query_and_no_fragment() {
        assert_eq!(in_uri_path("a b/gr\u{fc}n.whl"), "a%20b/gr%C3%BCn.whl");
        assert_eq!(in_uri_path("x?y#z%41:[1]"), "x%3Fy%23z%2541%3A%5B1%5D");
        assert_eq!(in_uri_path("../A-b_c.~"), "../A-b_c.~");
    }

    #[test]
    fn json_keeps_its_value_and_its_layout() {
        let value =
            serde_json::json!({"a\u{9b}\u{202e}": ["\u{7f}\n\\", "gr\u{fc}n \u{1f600} \u{feff}"]});
        let json = serde_json::to_string_pretty(&value).unwrap();
        let escaped = in_json(json.clone());
        assert!(escaped.contains("\"a\\u009b\\u202e\"") && escaped.contains("\\u007f\\n"));
        assert!(escaped.contains("gr\u{fc}n \u{1f600} \\ufeff"), "{escaped}");
        assert_eq!(escaped.lines().count(), json.lines().count());
        assert!(!escaped.chars().any(|c| c != '\n' && is_dangerous(c)));
        let read: serde_json::Value = serde_json::from_str(&escaped).unwrap();
        assert_eq!(read, value);
    }
}
