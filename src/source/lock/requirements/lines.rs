//! Text to lines as pip joins them: line ends of Python, `\` at an end, comments.
//!
//! Format: `preprocess` of pip's `req_file.py`.

/// A line behind which comments are gone and to which its continuations are joined.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it begins, from 1 on, as editors count.
    pub(super) number: u32,
    pub(super) text: String,
    /// The address of a comment `# from URL` of it, with which uv says the index.
    pub(super) from: Option<String>,
}

/// The lines that are not empty.
pub(super) fn logical(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut joined: Option<Line> = None;
    for (number, line) in physical(text) {
        let note = comment(line);
        let from = note.and_then(index_of);
        let goes_on = note.is_none() && line.ends_with('\\');
        if note.is_some() && joined.is_none() {
            if let (Some(last), Some(from)) = (lines.last_mut(), from) {
                last.from = Some(from);
            }
            continue;
        }
        let open = joined.get_or_insert(Line {
            number,
            text: String::new(),
            from: None,
        });
        if goes_on {
            open.text.push_str(line.trim_matches('\\'));
            continue;
        }
        if note.is_some() {
            // so that the comment is seen behind what it is joined to
            open.text.push(' ');
        }
        open.text.push_str(line);
        open.from = from.or_else(|| index_behind(line));
        lines.extend(joined.take().and_then(finish));
    }
    lines.extend(joined.and_then(finish));
    lines
}

fn finish(line: Line) -> Option<Line> {
    let text = without_comment(&line.text)
        .trim_matches(is_space)
        .to_owned();
    (!text.is_empty()).then_some(Line { text, ..line })
}

/// What Python takes for the end of a line, with the number of the line in an editor.
fn physical(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut rest = Some(text);
    let mut number = 1_u32;
    std::iter::from_fn(move || {
        let text = rest.take().filter(|text| !text.is_empty())?;
        let this = number;
        let Some((at, end)) = text.char_indices().find(|(_, c)| ends_line(*c)) else {
            return Some((this, text));
        };
        let (line, behind) = text.split_at(at);
        let behind = match behind.strip_prefix("\r\n") {
            Some(behind) => Some(behind),
            None => behind.get(end.len_utf8()..),
        };
        rest = behind;
        if matches!(end, '\n' | '\r') {
            number = number.saturating_add(1);
        }
        Some((this, line))
    })
}

fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// What Python takes for space.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The comment that a line is.
fn comment(line: &str) -> Option<&str> {
    line.trim_start_matches(is_space).strip_prefix('#')
}

fn without_comment(text: &str) -> &str {
    let mut before = None;
    for (at, c) in text.char_indices() {
        if c == '#' && before.is_none_or(is_space) {
            return text.get(..at).unwrap_or_default();
        }
        before = Some(c);
    }
    text
}

/// The address of `# from URL`.
fn index_of(comment: &str) -> Option<String> {
    let url = comment.trim().strip_prefix("from ")?.trim();
    (url.contains("://") && !url.contains(char::is_whitespace)).then(|| url.to_owned())
}

fn index_behind(line: &str) -> Option<String> {
    let text = without_comment(line).len();
    index_of(
        line.get(text..)?
            .trim_start_matches(is_space)
            .strip_prefix('#')?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u32, String)> {
        let lines = logical(text).into_iter();
        lines.map(|line| (line.number, line.text)).collect()
    }

    // expected values: `list(preprocess(text))` of pip 23.2.1, but for numbers behind other line ends than \n
    #[test]
    fn lines_are_joined_as_pip_joins_them() {
        for (text, expected) in [
            ("a\\\nb\nc", vec![(1, "ab"), (3, "c")]),
            (
                "a \\\n  --hash=x \\\n  --hash=y\n",
                vec![(1, "a   --hash=x   --hash=y")],
            ),
            ("a \\\n# note\nb", vec![(1, "a"), (3, "b")]),
            ("# a \\\nb", vec![(2, "b")]),
            ("a\\", vec![(1, "a")]),
            ("a#b # c\n#d", vec![(1, "a#b")]),
            ("a\t#b", vec![(1, "a")]),
            (
                "a\r\nb\rc\u{b}d\u{2028}e",
                vec![(1, "a"), (2, "b"), (3, "c"), (3, "d"), (3, "e")],
            ),
            ("", vec![]),
            ("\n \n", vec![]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(n, t)| (n, t.to_owned()))
                .collect();
            assert_eq!(lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_index_is_in_a_comment_behind_the_package() {
        let text = "a==1 \\\n    --hash=x\n    # via b\n    # from https://i.example/s\nb==1 # from https://j.example\nc==1\n# from nowhere\n";
        let from: Vec<_> = logical(text).into_iter().map(|line| line.from).collect();
        assert_eq!(
            from,
            [
                Some("https://i.example/s".into()),
                Some("https://j.example".into()),
                None
            ]
        );
    }
}
