//! Environment markers: whether one holds on a machine.
//!
//! Format: PEP 508 (dependency specifiers), and the `extras` and `dependency_groups` of PEP 751.
//!
//! Comparisons of the environment are judged by `pep508_rs`; `and`, `or` and parentheses here, so that the cost is
//! linear in the length (the crate keeps decision diagrams, which a hostile marker could blow up, and does not know
//! PEP 751). What depends on a fact that is not known, such as `platform_release`, is [`Truth::Unknown`].

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::Version;
use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder, MarkerExpression, MarkerTree};

use super::super::environment::{Environment, PythonVersion};
use crate::platform::{CpuArch, Os};
use crate::source::wheel::normal_name;

/// Whether a marker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Holds,
    Fails,
    /// It depends on what is not known.
    Unknown,
}

impl Truth {
    fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
            (Self::Holds, Self::Holds) => Self::Holds,
            _ => Self::Unknown,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Holds, _) | (_, Self::Holds) => Self::Holds,
            (Self::Fails, Self::Fails) => Self::Fails,
            _ => Self::Unknown,
        }
    }
}

/// Why a marker could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum MarkerError {
    /// It is longer than any that tools write.
    #[error("it is longer than {MOST_BYTES} bytes")]
    Long,
    /// It has more parentheses in each other than any that tools write.
    #[error("it has more than {MOST_NESTED} parentheses in each other")]
    Deep,
    /// The lock asks more than any that tools write.
    #[error(
        "the markers of the lock have more than {MOST_JUDGED} different comparisons or {MOST_COMPARED} in all"
    )]
    Many,
    /// It is not of the grammar.
    #[error("it is no environment marker")]
    Malformed,
}

/// Markers that uv writes for packages with many forks have some kilobytes.
const MOST_BYTES: usize = 1 << 16;
const MOST_NESTED: u32 = 64;
/// Different comparisons that are judged for one machine: the crate that judges them keeps each for good. Locks that
/// tools write have some hundreds.
const MOST_JUDGED: usize = 10_000;
/// Comparisons that are looked at for one machine, those that are known included.
const MOST_COMPARED: u32 = 2_000_000;

/// What the user asked for; names are normal.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// Extras: plain names, and those that uv encodes in conflict markers.
    pub(super) extras: BTreeSet<String>,
    /// Dependency groups.
    pub(super) groups: BTreeSet<String>,
}

/// Markers of one machine.
#[derive(Debug)]
pub(super) struct Markers {
    environment: MarkerEnvironment,
    /// Whether the Python is known.
    has_python: bool,
    /// Comparisons that were judged: a lock repeats a few of them thousands of times.
    known: RefCell<BTreeMap<String, Option<bool>>>,
    /// How many were looked at.
    compared: Cell<u32>,
}

impl Markers {
    /// Those of `environment` with a Python and its full version; none where the Python is not known.
    pub(super) fn new(
        environment: &Environment,
        python: Option<(PythonVersion, Version)>,
    ) -> Option<Self> {
        let has_python = python.is_some();
        let (short, full) = python.map_or_else(
            || ("3".to_owned(), "3".to_owned()),
            |(python, full)| {
                let short = format!("{}.{}", python.major, python.minor);
                (short, full.to_string())
            },
        );
        let arch = environment.platform.arch;
        let (sys_platform, platform_system, os_name, platform_machine) =
            match environment.platform.os {
                Os::Linux => ("linux", "Linux", "posix", linux_machine(arch)),
                Os::Windows => ("win32", "Windows", "nt", windows_machine(arch)),
                Os::MacOs => ("darwin", "Darwin", "posix", macos_machine(arch)),
            };
        let environment = MarkerEnvironmentBuilder {
            implementation_name: "cpython",
            implementation_version: &full,
            os_name,
            platform_machine,
            platform_python_implementation: "CPython",
            platform_release: "",
            platform_system,
            platform_version: "",
            python_full_version: &full,
            python_version: &short,
            sys_platform,
        };
        Some(Self {
            environment: environment.try_into().ok()?,
            has_python,
            known: RefCell::default(),
            compared: Cell::new(0),
        })
    }

    /// Whether `marker` holds with what was asked.
    pub(super) fn evaluate(&self, marker: &str, asked: &Asked) -> Result<Truth, MarkerError> {
        if marker.len() > MOST_BYTES {
            return Err(MarkerError::Long);
        }
        let mut reader = Reader {
            rest: marker,
            nested: 0,
            markers: self,
            asked,
        };
        let truth = reader.either()?;
        match reader.next()? {
            None => Ok(truth),
            Some(_) => Err(MarkerError::Malformed),
        }
    }

    fn compare(
        &self,
        left: Token<'_>,
        operator: &str,
        right: Token<'_>,
    ) -> Result<Truth, MarkerError> {
        let (variable, _) = operands(left, right)?;
        let needs_python = matches!(
            variable,
            "python_version" | "python_full_version" | "implementation_version"
        );
        let unknown = matches!(
            variable,
            "platform_release" | "platform_version" | "platform.version"
        );
        let holds = self.judged(format!("{left} {operator} {right}"))?;
        let holds = holds.ok_or(MarkerError::Malformed)?;
        Ok(if unknown || needs_python && !self.has_python {
            Truth::Unknown
        } else {
            Truth::of(holds)
        })
    }

    /// Whether a comparison holds; nothing where it is none.
    fn judged(&self, expression: String) -> Result<Option<bool>, MarkerError> {
        let compared = self.compared.get();
        if compared == MOST_COMPARED {
            return Err(MarkerError::Many);
        }
        self.compared.set(compared + 1);
        let mut known = self.known.borrow_mut();
        if let Some(holds) = known.get(&expression) {
            return Ok(*holds);
        }
        if known.len() == MOST_JUDGED {
            return Err(MarkerError::Many);
        }
        let parsed = MarkerExpression::from_str(&expression).ok().flatten();
        let holds = parsed.map(|p| MarkerTree::expression(p).evaluate(&self.environment, &[]));
        known.insert(expression, holds);
        Ok(holds)
    }
}

fn linux_machine(arch: CpuArch) -> &'static str {
    match arch {
        CpuArch::Amd64 => "x86_64",
        CpuArch::Arm64 => "aarch64",
        CpuArch::I386 => "i686",
        CpuArch::Ppc64le => "ppc64le",
    }
}

fn windows_machine(arch: CpuArch) -> &'static str {
    match arch {
        CpuArch::Amd64 => "AMD64",
        CpuArch::Arm64 => "ARM64",
        CpuArch::I386 => "x86",
        CpuArch::Ppc64le => "ppc64le",
    }
}

fn macos_machine(arch: CpuArch) -> &'static str {
    match arch {
        CpuArch::Arm64 => "arm64",
        other => linux_machine(other),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'m> {
    Open,
    Close,
    /// A variable, `and`, `or`, `not` or `in`.
    Word(&'m str),
    /// A text with its quotes.
    Quoted(&'m str),
    /// `<=` and its like.
    Operator(&'m str),
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open => "(",
            Self::Close => ")",
            Self::Word(text) | Self::Quoted(text) | Self::Operator(text) => text,
        })
    }
}

/// Reads and judges in one go.
struct Reader<'m> {
    rest: &'m str,
    nested: u32,
    markers: &'m Markers,
    asked: &'m Asked,
}

impl<'m> Reader<'m> {
    /// Takes the next token.
    fn next(&mut self) -> Result<Option<Token<'m>>, MarkerError> {
        let (token, rest) = token(self.rest)?;
        self.rest = rest;
        Ok(token)
    }

    /// Takes the next token where it is `word`.
    fn takes(&mut self, word: &str) -> Result<bool, MarkerError> {
        let (token, rest) = token(self.rest)?;
        let is = token == Some(Token::Word(word));
        if is {
            self.rest = rest;
        }
        Ok(is)
    }

    fn either(&mut self) -> Result<Truth, MarkerError> {
        let mut truth = self.both()?;
        while self.takes("or")? {
            truth = truth.or(self.both()?);
        }
        Ok(truth)
    }

    fn both(&mut self) -> Result<Truth, MarkerError> {
        let mut truth = self.one()?;
        while self.takes("and")? {
            truth = truth.and(self.one()?);
        }
        Ok(truth)
    }

    fn one(&mut self) -> Result<Truth, MarkerError> {
        let left = self.next()?.ok_or(MarkerError::Malformed)?;
        if left == Token::Open {
            self.nested += 1;
            if self.nested > MOST_NESTED {
                return Err(MarkerError::Deep);
            }
            let truth = self.either()?;
            self.nested -= 1;
            let closed = self.next()? == Some(Token::Close);
            return if closed {
                Ok(truth)
            } else {
                Err(MarkerError::Malformed)
            };
        }
        let operator = match self.next()? {
            Some(Token::Operator(operator)) => operator,
            Some(Token::Word("in")) => "in",
            Some(Token::Word("not")) if self.takes("in")? => "not in",
            _ => return Err(MarkerError::Malformed),
        };
        let right = self.next()?.ok_or(MarkerError::Malformed)?;
        self.compare(left, operator, right)
    }

    fn compare(
        &self,
        left: Token<'m>,
        operator: &str,
        right: Token<'m>,
    ) -> Result<Truth, MarkerError> {
        let (variable, text) = operands(left, right)?;
        let name = normal_name(text.trim_matches(['"', '\'']));
        let among = |names: &BTreeSet<String>, yes: &str, no: &str| match operator {
            operator if operator == yes => Ok(Truth::of(names.contains(&name))),
            operator if operator == no => Ok(Truth::of(!names.contains(&name))),
            _ => Err(MarkerError::Malformed),
        };
        let is_first = matches!(left, Token::Quoted(_));
        match variable {
            "extra" => among(&self.asked.extras, "==", "!="),
            "extras" if is_first => among(&self.asked.extras, "in", "not in"),
            "dependency_groups" if is_first => among(&self.asked.groups, "in", "not in"),
            _ => self.markers.compare(left, operator, right),
        }
    }
}

/// The variable and the quoted text of a comparison, which has one of each.
fn operands<'m>(left: Token<'m>, right: Token<'m>) -> Result<(&'m str, &'m str), MarkerError> {
    match (left, right) {
        (Token::Word(word), Token::Quoted(text)) | (Token::Quoted(text), Token::Word(word)) => {
            Ok((word, text))
        }
        _ => Err(MarkerError::Malformed),
    }
}

/// The next token of `text`, if any, and what follows.
fn token<'m>(text: &'m str) -> Result<(Option<Token<'m>>, &'m str), MarkerError> {
    let text = text.trim_start();
    let Some(first) = text.chars().next() else {
        return Ok((None, text));
    };
    let end_of = |inside: fn(char) -> bool| text.find(|c| !inside(c)).unwrap_or(text.len());
    let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!' | '~');
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let (end, token): (usize, fn(&'m str) -> Token<'m>) = match first {
        '(' => (1, |_| Token::Open),
        ')' => (1, |_| Token::Close),
        '"' | '\'' => {
            let closing = text.get(1..).and_then(|inner| inner.find(first));
            (closing.ok_or(MarkerError::Malformed)? + 2, Token::Quoted)
        }
        c if is_operator(c) => (end_of(is_operator), Token::Operator),
        c if is_word(c) => (end_of(is_word), Token::Word),
        _ => return Err(MarkerError::Malformed),
    };
    let (taken, rest) = text.split_at_checked(end).ok_or(MarkerError::Malformed)?;
    Ok((Some(token(taken)), rest))
}
