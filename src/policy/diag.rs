//! Mistakes in a policy file: where each is, what is wrong, and what to write instead.
//!
//! Knows texts and places, and nothing of what a policy means. Prints nothing; the caller shows
//! what [`Diagnostics::render`] returns.

use std::fmt;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use super::yaml::Span;
use crate::escape::{is_dangerous, visible};
use crate::{Error, ErrorKind};

/// Mistakes that are kept; a file with more is no policy with typing errors.
pub(super) const MOST: usize = 100;
/// Bytes of lines that are shown for one mistake; laying out a long line a hundred times is
/// slow.
pub(super) const SHOWN: usize = 8 << 10;
/// Characters of foreign text that a message repeats.
const QUOTED: usize = 60;

/// What is wrong with a value, wherever it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn at(self, span: &Span) -> Mistake {
        Mistake {
            file: 0,
            span: span.clone(),
            message: self.message,
            hint: self.hint,
            also: None,
        }
    }

    /// The same as an error of the command line.
    pub(super) fn into_usage_error(self) -> Error {
        self.into_error(ErrorKind::Usage)
    }

    /// The same as an error without a place.
    pub(super) fn into_error(self, kind: ErrorKind) -> Error {
        let error = Error::new(kind, self.message);
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// Something wrong at a place of the file.
#[derive(Debug, Clone)]
pub(super) struct Mistake {
    /// The file: an index into the files that were read.
    pub(super) file: usize,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// Another place that belongs to it, and what it is.
    pub(super) also: Option<(Span, &'static str)>,
}

impl Mistake {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Fault::new(message).at(&span)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn in_file(mut self, file: usize) -> Self {
        self.file = file;
        self
    }

    pub(super) fn also(mut self, span: &Span, label: &'static str) -> Self {
        self.also = Some((span.clone(), label));
        self
    }
}

/// Foreign text in a message: in backticks, on one line, without control characters, not too long.
pub(super) fn quote(text: &str) -> String {
    let mut shown = String::from("`");
    for (index, c) in text.chars().enumerate() {
        if index == QUOTED {
            shown.push('…');
            break;
        }
        if is_dangerous(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown.push('`');
    shown
}

/// Text of the file with a stand-in for each character that a terminal could obey: an escape would shift the columns.
fn one_by_one(text: &str) -> String {
    // the renderer has stand-ins for those of ASCII: `␛`
    let shown = |c: char| !c.is_ascii() && is_dangerous(c);
    text.replace(shown, "\u{fffd}")
}

/// Text about the file with what a terminal could obey made visible. Its lines stay lines.
fn in_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_dangerous(c) && !matches!(c, '\t' | '\n' | '\r') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// One mistake in a policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The name of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub hint: Option<String>,
    #[serde(skip)]
    index: usize,
    #[serde(skip)]
    span: Span,
    #[serde(skip)]
    also: Option<(Span, &'static str)>,
}

/// A file of a policy.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// Its name in messages.
    pub(super) origin: String,
    pub(super) source: Source,
}

/// The mistakes of one policy and of the files that it includes, in the order of the files.
///
/// All of them, or the first hundred; a file with more is no policy with typing errors.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    files: Vec<File>,
    items: Vec<Diagnostic>,
    more: bool,
    warnings: bool,
}

impl Diagnostics {
    pub(super) fn new(files: Vec<File>, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by(|a, b| {
            let key = |m: &Mistake| (m.file, m.span.start, m.span.end);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        // An alias repeats the mistakes of its value.
        mistakes.dedup_by(|a, b| (a.file, &a.span, &a.message) == (b.file, &b.span, &b.message));
        let more = mistakes.len() > MOST;
        mistakes.truncate(MOST);
        let items = mistakes
            .into_iter()
            .filter_map(|mistake| {
                let File { origin, source } = files.get(mistake.file)?;
                let span = source.first_line(&mistake.span);
                let (line, column) = source.position(span.start);
                Some(Diagnostic {
                    file: origin.clone(),
                    index: mistake.file,
                    line,
                    column,
                    message: mistake.message,
                    hint: mistake.hint,
                    span,
                    also: mistake.also,
                })
            })
            .collect();
        Self {
            files,
            items,
            more,
            warnings: false,
        }
    }

    /// The same as warnings: the policy is valid, and something in it is doubtful.
    pub(super) fn into_warnings(mut self) -> Self {
        self.warnings = true;
        self
    }

    /// The name of the policy file, as the caller gave it; the files that it includes have others.
    pub fn origin(&self) -> &str {
        self.files.first().map_or("", |file| &file.origin)
    }

    /// How many mistakes there are, at most a hundred.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none; not the case in an error that [`super::Policy::parse`] returns.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the file has more mistakes than are kept.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// The mistakes one by one.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// The mistakes for people: each with its line, the text underlined, and what to write instead.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut shown = String::new();
        for item in &self.items {
            if !shown.is_empty() {
                shown.push('\n');
            }
            shown.push_str(&self.render_one(&renderer, item));
            shown.push('\n');
        }
        if self.more {
            shown.push_str("\nthere are more mistakes; these are the first hundred\n");
        }
        shown
    }

    fn render_one(&self, renderer: &Renderer, item: &Diagnostic) -> String {
        let Some(File { origin, source }) = self.files.get(item.index) else {
            return item.message.clone();
        };
        let span = &item.span;
        let mut lines = source.lines(span);
        let mut also = None;
        if let Some((other, label)) = &item.also {
            let other = source.first_line(other);
            let both = source.lines(&(span.start.min(other.start)..span.end.max(other.end)));
            if both.len() <= SHOWN {
                lines = both;
                also = Some((other, *label));
            }
        }
        let level = if self.warnings {
            Level::WARNING
        } else {
            Level::ERROR
        };
        let message = in_lines(&item.message);
        let hint = item.hint.as_deref().map(in_lines);
        let (origin, text) = (visible(origin), source.text(&lines));
        let title = level.primary_title(message.as_str());
        let mut group = if lines.len() <= SHOWN {
            // a stand-in may have another length in bytes
            let offset = |at: usize| {
                let before = text.get(..at.saturating_sub(lines.start));
                one_by_one(before.unwrap_or(text)).len()
            };
            let place = |span: &Span| offset(span.start)..offset(span.end);
            let also =
                also.map(|(other, label)| AnnotationKind::Context.span(place(&other)).label(label));
            title.element(
                Snippet::source(one_by_one(text))
                    .path(origin.as_ref())
                    .line_start(source.position(lines.start).0)
                    .annotation(AnnotationKind::Primary.span(place(span)))
                    .annotations(also),
            )
        } else {
            let place = Origin::path(origin.as_ref());
            title.element(place.line(item.line).char_column(item.column))
        };
        if let Some(hint) = &hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    /// One line per mistake, without the text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let Diagnostic {
                file,
                line,
                column,
                message,
                ..
            } = item;
            let (file, message) = (visible(file), in_lines(message));
            write!(f, "{file}:{line}:{column}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The text of a file and where its lines begin.
#[derive(Debug, Clone)]
pub(super) struct Source {
    text: String,
    /// Offsets of the first character of every line.
    starts: Vec<usize>,
}

impl Source {
    /// The text without a byte order mark, and with lone carriage returns as line feeds, which YAML
    /// takes them for.
    pub(super) fn new(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut kept = String::with_capacity(text.len());
        let mut starts = vec![0];
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let breaks = c == '\n' || (c == '\r' && chars.peek() != Some(&'\n'));
            kept.push(if breaks { '\n' } else { c });
            if breaks {
                starts.push(kept.len());
            }
        }
        Self { text: kept, starts }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Line and column of an offset, both counted from 1.
    pub(super) fn position(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        (line, self.text(&(start..at)).chars().count() + 1)
    }

    fn text(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The whole lines that `span` is in, without the last line break.
    fn lines(&self, span: &Span) -> Span {
        let start = |line: usize| self.starts.get(line - 1).copied();
        let from = start(self.position(span.start).0).unwrap_or_default();
        let next = start(self.position(span.end).0 + 1).unwrap_or(self.text.len());
        let whole = self.text(&(from..next));
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        from..from + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// The part of `span` on its first line, without white space at its end.
    fn first_line(&self, span: &Span) -> Span {
        let start = span.start.min(self.text.len());
        let end = span.end.min(self.lines(&(start..start)).end);
        start..start + self.text(&(start..end)).trim_end().len()
    }
}

#[cfg(test)]
mod tests;
