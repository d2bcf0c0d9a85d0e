//! The words, classes and signs of the page.

use maud::{Markup, html};

use crate::rule::Level;
use crate::verdict::{Runs, State, Verdict};

use super::grid::Gets;

/// The word for a verdict.
pub(super) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "Pass",
        Verdict::Incomplete => "Incomplete",
        Verdict::Fail => "Fail",
    }
}

/// The sign of a verdict, for eyes only: a word says the same.
pub(super) fn sign(verdict: Verdict) -> Markup {
    let sign = match verdict {
        Verdict::Pass => "✓",
        Verdict::Incomplete => "?",
        Verdict::Fail => "✗",
    };
    html! { span.sign.(verdict.id()) aria-hidden="true" { (sign) } }
}

/// A verdict as sign and word.
pub(super) fn marked(of: Verdict) -> Markup {
    html! { span.verdict.(of.id()) { (sign(of)) " " (verdict(of).to_lowercase()) } }
}

/// What a reader is told of a level.
pub(super) const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "denied",
        Level::Incomplete => "incomplete",
        Level::Warn => "warning",
        Level::Allow => "remark",
    }
}

impl Gets {
    /// Every value, in the order of the legend, with what it means.
    pub(super) const LEGEND: &[(Self, &'static str)] = &[
        (Self::Runs(Runs::Native), "machine code for the GPU"),
        (
            Self::Runs(Runs::Jit),
            "PTX that the driver compiles at first use",
        ),
        (
            Self::Runs(Runs::Unsure),
            "code of which nobody promises that it runs",
        ),
        (
            Self::Runs(Runs::Partial),
            "some of the code is not for the GPU",
        ),
        (Self::Runs(Runs::LinkOnly), "must be linked at run time"),
        (
            Self::Runs(Runs::Blocked),
            "code that the driver or the platform keeps from it",
        ),
        (Self::Runs(Runs::None), "no code for the GPU"),
        (
            Self::NoCode,
            "no device code of its own that a GPU could load",
        ),
        (Self::NotRead, "the file was not read"),
    ];

    /// The class, which brings colour and sign.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Runs(runs) => runs.id(),
            Self::NoCode => "no-code",
            Self::NotRead => "not-read",
        }
    }

    /// The word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Runs(Runs::Native) => "native",
            Self::Runs(Runs::Jit) => "JIT",
            Self::Runs(Runs::Unsure) => "unsure",
            Self::Runs(Runs::Partial) => "partial",
            Self::Runs(Runs::LinkOnly) => "link only",
            Self::Runs(Runs::Blocked) => "blocked",
            Self::Runs(Runs::None) => "none",
            Self::NoCode => "no code",
            Self::NotRead => "not read",
        }
    }
}

/// The class and the word of a fatbin's state.
pub(super) const fn state(state: State) -> (&'static str, &'static str) {
    match state {
        State::Native => ("native", "native"),
        State::Jit => ("jit", "JIT"),
        State::Unsure => ("unsure", "unsure"),
        State::JitBlocked => ("blocked", "PTX too new"),
        State::CodingBlocked => ("blocked", "not unpacked"),
        State::LinkOnly => ("link-only", "link only"),
        State::None => ("none", "none"),
    }
}

/// Whether code is kept on one line, which could otherwise be broken after a space or a hyphen.
fn is_short(code: &str) -> bool {
    const SHORT: usize = 40;
    code.contains([' ', '-']) && code.chars().count() <= SHORT
}

/// A sentence, with what stands between backticks as code.
pub(super) fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // an odd one is no pair
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.into_iter().enumerate() {
            @if at % 2 == 0 { (part) } @else if is_short(part) { code.short { (part) } } @else { code { (part) } }
        }
    }
}
