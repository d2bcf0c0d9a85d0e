//! Names and sentences as long as a reader takes in: a name of an archive can be longer than a report.

use std::borrow::Cow;
use std::cell::Cell;

use crate::escape::visible;

/// Characters of a name, and of a sentence in a list.
const NAME_MAX: usize = 200;
/// Of these, the last ones: paths differ there.
const NAME_END: usize = 50;
/// Characters of a sentence by itself.
const SENTENCE_MAX: usize = 1_000;

/// Cuts text, and knows whether it has cut any.
#[derive(Debug, Default)]
pub(super) struct Short {
    is_used: Cell<bool>,
}

impl Short {
    /// Whether something was cut.
    pub(super) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    /// A name, of which the middle is left out.
    pub(super) fn name<'t>(&self, name: &'t str) -> Cow<'t, str> {
        self.cut(name, NAME_MAX, NAME_END)
    }

    /// A sentence in a list, of which the end is left out.
    pub(super) fn line<'t>(&self, sentence: &'t str) -> Cow<'t, str> {
        self.cut(sentence, NAME_MAX, 0)
    }

    /// A sentence by itself, of which the end is left out.
    pub(super) fn sentence<'t>(&self, sentence: &'t str) -> Cow<'t, str> {
        self.cut(sentence, SENTENCE_MAX, 0)
    }

    /// `text` in at most `max` characters as they are shown, the last `end` among them.
    fn cut<'t>(&self, text: &'t str, max: usize, end: usize) -> Cow<'t, str> {
        let text = visible(text);
        let Some(over) = text.chars().count().checked_sub(max + 1) else {
            return text;
        };
        self.is_used.set(true);
        let start = max - end - 1;
        let first = text.chars().take(start);
        let last = text.chars().skip(start + over + 2);
        Cow::Owned(first.chain(['…']).chain(last).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_too_long_is_cut_and_of_names_the_middle() {
        let short = Short::default();
        let fits = "\u{fc}".repeat(200);
        assert_eq!(short.name(&fits), fits);
        assert!(!short.is_used());
        let long = format!("{}{}", "a".repeat(150), "b".repeat(51));
        let cut = format!("{}…{}", "a".repeat(149), "b".repeat(50));
        assert_eq!(short.name(&long), cut);
        assert!(short.is_used());
        let cut = format!("{}{}…", "a".repeat(150), "b".repeat(49));
        assert_eq!(short.line(&long), cut);
        assert_eq!(short.sentence(&long), long);
        // as shown, each of these is six characters
        assert_eq!(short.name(&"\n".repeat(9_000)).chars().count(), 200);
    }
}
