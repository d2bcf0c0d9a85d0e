//! The parts of the page by themselves; the page is tested as a whole in `tests/it/cli_html.rs`.

use super::{hash, trimmed};
use crate::report::html::words::prose;

// FIPS 180-4: the SHA-256 of nothing and of `abc`, in base64.
#[test]
fn parts_of_the_page_are_hashed_as_policies_write_it() {
    assert_eq!(
        hash(""),
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    );
    assert_eq!(
        hash("abc"),
        "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    );
}

#[test]
fn parts_of_the_page_have_line_feeds_only() {
    assert_eq!(trimmed("a {\r\n  b: c;\r\n\r\n}\r\n"), "a {\nb: c;\n}");
}

#[test]
fn what_stands_between_backticks_is_code_and_escaped() {
    let shown = |text: &str| prose(text).into_string();
    assert_eq!(shown("plain <b>"), "plain &lt;b&gt;");
    assert_eq!(
        shown("add `6.1` to `A<B`"),
        "add <code>6.1</code> to <code>A&lt;B</code>"
    );
    assert_eq!(shown("one ` is no pair"), "one ` is no pair");
}
