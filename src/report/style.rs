//! Colours, and the few words that carry them.

use std::fmt::{self, Display};

use anstyle::{AnsiColor, Style};

use crate::rule::Level;
use crate::verdict::Verdict;

/// Colours or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Styles {
    colour: bool,
}

/// A text in a style.
pub(super) struct Styled<T> {
    text: T,
    style: Option<Style>,
}

impl<T: Display> Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            None => self.text.fmt(f),
            Some(style) => {
                write!(f, "{style}")?;
                self.text.fmt(f)?;
                write!(f, "{style:#}")
            }
        }
    }
}

impl Styles {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn styled<T>(self, text: T, style: Style) -> Styled<T> {
        Styled {
            text,
            style: self.colour.then_some(style),
        }
    }

    pub(super) fn bold<T>(self, text: T) -> Styled<T> {
        self.styled(text, Style::new().bold())
    }

    pub(super) fn dim<T>(self, text: T) -> Styled<T> {
        self.styled(text, Style::new().dimmed())
    }

    pub(super) fn verdict(self, verdict: Verdict) -> Styled<&'static str> {
        let (text, colour) = match verdict {
            Verdict::Pass => ("PASS", AnsiColor::Green),
            Verdict::Incomplete => ("INCOMPLETE", AnsiColor::Magenta),
            Verdict::Fail => ("FAIL", AnsiColor::Red),
        };
        self.styled(text, colour.on_default().bold())
    }

    pub(super) fn level(self, level: Level) -> Styled<&'static str> {
        let (text, colour) = match level {
            Level::Deny => ("deny", AnsiColor::Red),
            Level::Incomplete => ("incomplete", AnsiColor::Magenta),
            Level::Warn => ("warn", AnsiColor::Yellow),
            Level::Allow => ("allow", AnsiColor::Cyan),
        };
        self.styled(text, colour.on_default().bold())
    }
}
