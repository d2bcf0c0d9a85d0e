//! Tests of `yaml`.

use std::fmt::Write as _;

use super::*;

fn tree(text: &str) -> Node {
    let mut mistakes = Vec::new();
    let node = parse(text, &mut mistakes);
    assert!(mistakes.is_empty(), "{mistakes:?}");
    node.unwrap()
}

fn messages(text: &str) -> Vec<String> {
    let mut mistakes = Vec::new();
    parse(text, &mut mistakes);
    mistakes.into_iter().map(|m| m.message).collect()
}

fn show(text: &str, node: &Node, out: &mut String) {
    match &node.value {
        Value::Null => out.push('~'),
        Value::Broken => out.push('!'),
        Value::Text(value) => {
            out.push_str(value);
            out.push('@');
            out.push_str(text.get(node.span.clone()).unwrap());
        }
        Value::List(items) => {
            out.push('[');
            for item in items {
                show(text, item, out);
                out.push(' ');
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                show(text, key, out);
                out.push('=');
                show(text, value, out);
                out.push(' ');
            }
            out.push('}');
        }
    }
}

fn shown(text: &str) -> String {
    let mut out = String::new();
    show(text, &tree(text), &mut out);
    out
}

#[test]
fn scalars_keep_their_spelling_and_place() {
    assert_eq!(
        shown("a: 9.0\nb: [10.0, \"x\\ty\", 'é']\nc:\nd: ~\n"),
        "{a@a=9.0@9.0 b@b=[10.0@10.0 x\ty@\"x\\ty\" é@'é' ] c@c=~ d@d=~ }"
    );
}

#[test]
fn quoted_nulls_are_text() {
    assert_eq!(shown("['~', \"null\", '']"), "[~@'~' null@\"null\" @'' ]");
}

#[test]
fn places_of_collections_begin_at_their_first_character() {
    let text = "a:\n  - é: 1\n    c: 2\n";
    let Value::Map(entries) = tree(text).value else {
        panic!()
    };
    assert_eq!(
        text.get(entries[0].1.span.start..).unwrap().chars().next(),
        Some('-')
    );
    let Value::List(items) = &entries[0].1.value else {
        panic!()
    };
    assert_eq!(
        text.get(items[0].span.start..).unwrap().chars().next(),
        Some('é')
    );
}

#[test]
fn aliases_repeat_their_value() {
    assert_eq!(shown("[&a x, *a, &l [y], *l]"), "[x@x x@x [y@y ] [y@y ] ]");
}

#[test]
fn an_alias_bomb_is_stopped_early() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let refs = vec![format!("*a{}", i - 1); 10].join(", ");
        let _ = writeln!(bomb, "a{i}: &a{i} [{refs}]");
    }
    assert_eq!(
        messages(&bomb),
        ["the file holds too many values, or its aliases multiply to too many"]
    );
}

#[test]
fn a_long_text_cannot_be_multiplied() {
    let text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(400_000),
        "*a, ".repeat(1000)
    );
    assert_eq!(messages(&text).len(), 1);
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        "[".repeat(100_000),
        "- ".repeat(100_000),
        "{a: ".repeat(50_000),
    ] {
        assert_eq!(
            messages(&text),
            ["not valid YAML: nested deeper than 32 levels"]
        );
    }
}

#[test]
fn what_policies_do_not_need_is_refused() {
    assert_eq!(messages("a: !!str 1\n").len(), 1);
    assert_eq!(messages("a: 1\n---\nb: 2\n").len(), 1);
    assert_eq!(messages("a: &x [*x]\n").len(), 1);
    assert_eq!(messages(""), ["the policy is empty"]);
    assert_eq!(messages("# only a comment\n"), ["the policy is empty"]);
}

#[test]
fn an_unquoted_star_is_reported_and_reading_goes_on() {
    let text = "library: **/x.so\nb: 1\n";
    let mut mistakes = Vec::new();
    let node = parse(text, &mut mistakes).unwrap();
    assert_eq!(mistakes.len(), 1);
    assert_eq!(text.get(mistakes[0].span.clone()), Some("**/x.so"));
    let mut out = String::new();
    show(text, &node, &mut out);
    assert_eq!(out, "{library@library=! b@b=1@1 }");
}

#[test]
fn a_lone_star_is_explained() {
    let mut mistakes = Vec::new();
    assert!(parse("package: *\n", &mut mistakes).is_none());
    let hint = mistakes[0].hint.as_deref();
    assert_eq!(
        hint,
        Some("a text that starts with a special character needs quotes")
    );
}
