//! Foreign text on its way to a terminal or a log: member names, metadata, messages of others.
//!
//! Control characters could move the cursor or colour a verdict, bidirectional and zero-width characters
//! could show a name as another; CI logs interpret them as terminals do, so all output is escaped alike.

use std::borrow::Cow;

/// `text` with everything that a terminal could obey made visible.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|c| match c {
        c if is_dangerous(c) => c.escape_unicode().to_string(),
        c => c.to_string(),
    });
    Cow::Owned(escaped.collect())
}

fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
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
}
