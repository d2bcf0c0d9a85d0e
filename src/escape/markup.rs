//! Foreign text in markdown and HTML: it is shown as it is, and makes no markup, link, mention or cell of a table.

use std::fmt::Write as _;

use super::visible;

/// After this character, which is not seen, no renderer takes what follows for a name, a number or an address.
const APART: &str = "&#8203;";

/// Text between tags, or in an attribute.
fn in_html(text: &str) -> String {
    visible(text).chars().map(html).collect()
}

fn html(c: char) -> String {
    match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c => c.to_string(),
    }
}

/// A sentence in markdown; what stands between backticks in it is code.
///
/// It can stand at the beginning of a line, where a sign or a number would make a list or a heading of it.
pub(crate) fn in_markdown(text: &str) -> String {
    // blanks there make code of a line, or nothing
    let text = sentence(text.trim_start(), code_span, |text| inert(text, markdown));
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = text.split_at(text.len() - number);
    let is_sign = match number {
        "" => rest.starts_with(['#', '+', '-', '=', ':']),
        _ => rest.starts_with(['.', ')']),
    };
    if is_sign {
        format!("{number}\\{rest}")
    } else {
        text
    }
}

/// A sentence in the HTML that begins a foldable part of a markdown text.
pub(crate) fn summary_line(text: &str) -> String {
    let code = |text: &str| format!("<code>{}</code>", in_html(text));
    sentence(text, code, |text| inert(text, html))
}

fn sentence(text: &str, code: impl Fn(&str) -> String, plain: impl Fn(&str) -> String) -> String {
    let text = visible(text);
    let parts: Vec<&str> = text.split('`').collect();
    // a backtick without another is one
    if parts.len().is_multiple_of(2) || parts.iter().skip(1).step_by(2).any(|part| part.is_empty())
    {
        return plain(&text);
    }
    let parts = parts.iter().enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => plain(part),
        _ => code(part),
    });
    parts.collect()
}

/// `text` in which nothing is found that renderers make links of without any markup: mentions, numbers of issues,
/// addresses.
fn inert(text: &str, escaped: impl Fn(char) -> String) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let (before, rest) = text.split_at(at);
        let next = rest.chars().nth(1);
        let last = before.as_bytes().last_chunk::<3>();
        if c == '.' && last.is_some_and(|last| last.eq_ignore_ascii_case(b"www")) {
            shown.push_str(APART);
        }
        shown.push_str(&escaped(c));
        let begins = match c {
            '@' | '#' => next.is_some_and(|next| !next.is_whitespace()),
            ':' => rest.starts_with("://"),
            _ => false,
        };
        if begins {
            shown.push_str(APART);
        }
    }
    shown
}

fn markdown(c: char) -> String {
    match c {
        '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => format!("\\{c}"),
        '&' | '<' | '>' => html(c),
        c => c.to_string(),
    }
}

/// A name in markdown, as code: in it nothing is markup.
pub(crate) fn code_span(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default() + 1);
    let needs_pad = |c: char| c == '`' || c == ' ';
    let pad = if text.is_empty() || text.starts_with(needs_pad) || text.ends_with(needs_pad) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The same in a cell of a table.
pub(crate) fn code_cell(text: &str) -> String {
    if !text.contains('|') {
        return code_span(text);
    }
    // a backslash before it ends no cell, but one before that would
    let mut cell = "<code>".to_owned();
    for c in visible(text).chars() {
        if c.is_ascii_punctuation() {
            let _infallible = write!(cell, "&#{};", u32::from(c));
        } else {
            cell.push(c);
        }
    }
    cell + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_their_code_and_make_no_markup() {
        assert_eq!(
            in_markdown("see `a_b`, *x* <b> [y](z)"),
            "see `a_b`, \\*x\\* &lt;b&gt; \\[y\\](z)"
        );
        assert_eq!(
            in_markdown("by @me of me@x.example, #12, https://x.example, WWW.x.example"),
            "by @&#8203;me of me@&#8203;x.example, #&#8203;12, https:&#8203;//x.example, WWW&#8203;.x.example"
        );
        assert_eq!(in_markdown("1 ` of 2"), "1 \\` of 2");
        assert_eq!(in_markdown("a `` b"), "a \\`\\` b");
        assert_eq!(in_markdown("- a\n# b"), "\\- a\\\\u{a}# b");
        assert_eq!(in_markdown("# a"), "\\# a");
        assert_eq!(in_markdown("     1. a"), "1\\. a");
        assert_eq!(in_markdown("12. a-b"), "12\\. a-b");
        assert_eq!(in_markdown("12 of 13.4"), "12 of 13.4");
    }

    // With work for each character that grows with what is before it, this would not end.
    #[test]
    fn the_work_for_a_long_name_grows_with_its_length_only() {
        let dots = ".".repeat(2_000_000);
        assert_eq!(in_markdown(&dots), dots);
        assert_eq!(summary_line(&dots), dots);
    }

    #[test]
    fn code_ends_only_where_it_ends() {
        assert_eq!(code_span("a_b"), "`a_b`");
        assert_eq!(code_span("a``b`"), "``` a``b` ```");
        assert_eq!(code_span("`</details>"), "`` `</details> ``");
        assert_eq!(code_span(""), "`  `");
        assert_eq!(code_cell("a_b"), "`a_b`");
        assert_eq!(code_cell("a\\|b"), "<code>a&#92;&#124;b</code>");
    }

    #[test]
    fn html_has_no_tag_of_foreign_text() {
        assert_eq!(
            summary_line("`<b>` & \"x\" @me </details>"),
            "<code>&lt;b&gt;</code> &amp; &quot;x&quot; @&#8203;me &lt;/details&gt;"
        );
    }
}
