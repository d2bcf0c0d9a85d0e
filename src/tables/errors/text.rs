//! Comparing pasted texts with the fragments of the table.
//!
//! Case and runs of blanks do not count. A fragment is literal but for its placeholders: `{n}` digits, `{v}`
//! digits and dots, `{w}` anything without blanks, `{*}` anything.

use std::borrow::Cow;

/// Bytes of a pasted text that are looked at in one piece; whole logs are pasted.
const PASTED_MAX: usize = 1 << 20;

/// Characters that one `{*}` may stand for.
const ANYTHING_MAX: usize = 200;

/// Bytes by which windows overlap: more than any fragment is long.
const OVERLAP: usize = 4 << 10;

/// A long text in parts that are looked at one by one.
pub(super) fn windows(text: &str) -> impl Iterator<Item = &str> {
    let boundary = |at: usize| {
        let mut ends = (0..=at.min(text.len())).rev();
        ends.find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    };
    let step = PASTED_MAX - OVERLAP;
    let starts = std::iter::successors(Some(0), move |start| {
        (start + PASTED_MAX < text.len()).then_some(start + step)
    });
    starts.filter_map(move |start| text.get(boundary(start)..boundary(start + PASTED_MAX)))
}

/// What a person has pasted.
#[derive(Debug)]
pub(super) struct Pasted {
    /// In lower case, with one blank for each run of them.
    plain: String,
    /// The same in its own case, byte for byte beside `plain`.
    shown: String,
}

impl Pasted {
    pub(super) fn new(text: &str) -> Self {
        let end = (0..=PASTED_MAX.min(text.len())).rev();
        let end = end.into_iter().find(|&at| text.is_char_boundary(at));
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
        let plain = plain(text);
        let shown = words(&without_escapes(text)).join(" ");
        // a few letters are longer in one case than in the other
        let beside = |c: char| c.to_lowercase().map(char::len_utf8).sum::<usize>() == c.len_utf8();
        let shown = if shown.chars().all(beside) {
            shown
        } else {
            plain.clone()
        };
        Self { plain, shown }
    }

    /// Whether the whole text is `name`.
    pub(super) fn is(&self, name: &str) -> bool {
        self.plain == name.to_lowercase()
    }

    /// Whether `name` stands in the text as a word.
    pub(super) fn has_word(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.plain.match_indices(&name).any(|(at, _)| {
            let before = self
                .plain
                .get(..at)
                .and_then(|text| text.chars().next_back());
            let behind = self.plain.get(at + name.len()..);
            let behind = behind.and_then(|text| text.chars().next());
            !before.is_some_and(part) && !behind.is_some_and(part)
        })
    }
}

/// The text without the escape sequences of terminals (ECMA-48), which logs keep, and without other control characters.
fn without_escapes(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && !c.is_whitespace();
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            shown.extend(Some(c).filter(|c| !obeyed(*c)));
            continue;
        }
        let is_final = match rest.next() {
            Some('[') => |c: char| matches!(c, '\u{40}'..='\u{7e}'),
            Some(' '..='/') => |c: char| matches!(c, '\u{30}'..='\u{7e}'),
            Some(']') => |c: char| matches!(c, '\u{7}' | '\\'),
            _ => continue,
        };
        // one that does not end on its line is none
        let _sequence = rest.find(|c| is_final(*c) || *c == '\n');
    }
    Cow::Owned(shown)
}

fn plain(text: &str) -> String {
    words(&without_escapes(text)).join(" ").to_lowercase()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Numbers that the text calls errors: all of it, or what stands behind `error`, `code` and the like.
pub(super) fn numbers_of(pasted: &Pasted) -> Vec<u16> {
    const CALLED: [&str; 7] = [
        "error",
        "code",
        "failure",
        "status",
        "result",
        "returned",
        "cudaerror",
    ];
    let mut numbers = Vec::new();
    let mut called = true;
    let separator = |c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_';
    for word in pasted
        .plain
        .split(separator)
        .filter(|word| !word.is_empty())
    {
        if let (true, Ok(number)) = (called, word.parse())
            && !numbers.contains(&number)
        {
            numbers.push(number);
        }
        called = CALLED.contains(&word);
    }
    numbers
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Digits,
    Version,
    Word,
    Anything,
}

impl Part {
    /// How many bytes of `text` it may take at most.
    fn longest(&self, text: &str) -> usize {
        let taken: fn(char) -> bool = match self {
            Self::Literal(literal) => return literal.len(),
            Self::Digits => |c| c.is_ascii_digit(),
            Self::Version => |c| c.is_ascii_digit() || c == '.',
            Self::Word => |c| c != ' ',
            Self::Anything => |_| true,
        };
        let longest = text.chars().take_while(|c| taken(*c)).take(ANYTHING_MAX);
        longest.map(char::len_utf8).sum()
    }
}

/// A fragment of the table.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tables) struct Pattern {
    parts: Vec<Part>,
}

impl Pattern {
    pub(in crate::tables) fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let literal = |parts: &mut Vec<Part>, text: &str| {
            if !text.is_empty() {
                parts.push(Part::Literal(text.to_owned()));
            }
        };
        let text = plain(text);
        let mut rest = text.as_str();
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((name, behind)) = behind.split_once('}') else {
                break;
            };
            literal(&mut parts, before);
            parts.push(match name {
                "n" => Part::Digits,
                "v" => Part::Version,
                "w" => Part::Word,
                _ => Part::Anything,
            });
            rest = behind;
        }
        literal(&mut parts, rest);
        Self { parts }
    }

    /// How many bytes of it are literal.
    pub(in crate::tables) fn literal(&self) -> usize {
        let literals = self.parts.iter().map(|part| match part {
            Part::Literal(text) => text.len(),
            _ => 0,
        });
        literals.sum()
    }

    /// The first place of the text that it fits, in the case of the text.
    pub(super) fn find(&self, pasted: &Pasted) -> Option<String> {
        let Some((Part::Literal(first), rest)) = self.parts.split_first() else {
            return None;
        };
        let text = pasted.plain.as_str();
        text.match_indices(first.as_str()).find_map(|(at, _)| {
            let behind = text.get(at + first.len()..)?;
            let taken = fits(rest, behind)?;
            let place = at..at + first.len() + taken;
            pasted.shown.get(place).map(str::to_owned)
        })
    }
}

/// How many bytes of `text` the parts take from its beginning on. Each placeholder takes at least one
/// character, and as many as the rest allows.
fn fits(parts: &[Part], text: &str) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(0);
    };
    if let Part::Literal(literal) = part {
        let behind = text.strip_prefix(literal.as_str())?;
        return Some(literal.len() + fits(rest, behind)?);
    }
    // our own patterns have few placeholders: this does not grow
    let longest = part.longest(text);
    (1..=longest).rev().find_map(|taken| {
        let behind = text.get(taken..)?;
        Some(taken + fits(rest, behind)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<String> {
        Pattern::new(pattern).find(&Pasted::new(text))
    }

    #[test]
    fn case_and_blanks_do_not_count() {
        let text = "PTXAS fatal   :\n  Value 'sm_120a' is NOT defined";
        assert_eq!(
            found("fatal : value 'sm_{w}' is not", text).as_deref(),
            Some("fatal : Value 'sm_120a' is NOT")
        );
        assert_eq!(found("fatal: value", text), None);
    }

    #[test]
    fn colours_and_other_sequences_of_terminals_do_not_count() {
        let image = "no kernel image is available";
        for text in [
            "no kernel \u{1b}[1mimage\u{1b}[0m is available",
            "\u{1b}[38;5;196mno ker\u{1b}[0Knel image\u{1b}(B is available",
            "no \u{1b}]8;;https://a.example\u{7}kernel\u{1b}]8;;\u{1b}\\ image is available",
            "no\0 kernel\u{8} image is available",
            "\u{1b}[31\nno kernel image is available\u{1b}",
        ] {
            assert_eq!(found(image, text).as_deref(), Some(image), "{text:?}");
        }
        assert_eq!(found(image, "no kernel \u{1b}[1mimages are"), None);
    }

    #[test]
    fn placeholders_take_what_they_say() {
        for (pattern, text, expected) in [
            (
                "so.{v}: cannot",
                "libcudart.so.11.0: cannot open",
                Some("so.11.0: cannot"),
            ),
            ("so.{v}: cannot", "libcudart.so.x: cannot open", None),
            ("sm_{n} is", "sm_121 is", Some("sm_121 is")),
            ("sm_{n} is", "sm_90a is", None),
            ("sm_{w} is", "sm_90a is", Some("sm_90a is")),
            (
                "cuda>={v}, or {*} container",
                "cuda>=12.8, or an earlier cuda container: x",
                Some("cuda>=12.8, or an earlier cuda container"),
            ),
            ("x{w}", "x", None),
            ("x", "yz", None),
            ("für {n}", "FÜR 12 ü", Some("FÜR 12")),
            // `İ` is two letters in lower case
            ("für {n}", "İ FÜR 12 ü", Some("für 12")),
        ] {
            assert_eq!(found(pattern, text).as_deref(), expected, "{pattern}");
        }
        assert_eq!(
            found("{n} errors", "3 errors"),
            None,
            "a pattern begins with a literal"
        );
        assert_eq!(Pattern::new("a {n} b{v}").literal(), 4);
    }

    #[test]
    fn numbers_are_what_the_text_calls_errors() {
        let numbers = |text| numbers_of(&Pasted::new(text));
        for (text, expected) in [
            ("209", &[209][..]),
            (" 35 ", &[35]),
            ("error 222", &[222]),
            ("CUDA error: 209", &[209]),
            (
                "cuda runtime error (48) : no kernel image at x.cu:48",
                &[48],
            ),
            ("cudaError=804 at line 12", &[804]),
            ("[222] Call to cuLinkAddData results in", &[222]),
            ("CUDA failure 100: no CUDA-capable device", &[100]),
            ("failed with error code 803", &[803]),
            ("line 209 of 300", &[]),
            ("torch 2.9.1 on sm_90", &[]),
            ("99999999999", &[]),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_looked_at_from_their_beginning() {
        let long = format!("{}ä no kernel image", "x".repeat(PASTED_MAX - 1));
        assert_eq!(found("no kernel image", &long), None);
        let pasted = Pasted::new("x cudaErrorNoDevice, cudaErrorNoDevices");
        assert!(pasted.has_word("cudaErrorNoDevice") && !pasted.has_word("cudaErrorNo"));
    }
}
