//! The parts of the page by themselves; the page is tested as a whole in `tests/it/cli_html.rs`.

use super::{hash, trimmed};
use crate::report::html::grid::file_name;
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

#[test]
fn short_code_is_kept_on_one_line_where_it_could_be_broken() {
    let shown = |text: &str| prose(text).into_string();
    assert_eq!(
        shown("or `-gencode arch=compute_61,code=sm_61`"),
        "or <code class=\"short\">-gencode arch=compute_61,code=sm_61</code>"
    );
    let long = "-x".repeat(21);
    assert_eq!(shown(&format!("`{long}`")), format!("<code>{long}</code>"));
}

#[test]
fn the_file_name_is_what_follows_the_last_separator() {
    for (input, name) in [
        ("a-1-py3-none-any.whl", "a-1-py3-none-any.whl"),
        ("/w/a.whl", "a.whl"),
        ("C:\\w\\a.whl", "a.whl"),
        ("dir/image/", "image"),
        ("/", ""),
    ] {
        assert_eq!(file_name(input), name);
    }
}
