//! Tests of `diag`.

use super::*;

fn file(text: &str) -> Vec<File> {
    vec![File {
        origin: "p.yaml".to_owned(),
        source: Source::new(text),
    }]
}

fn one(text: &str, span: Span) -> Diagnostics {
    Diagnostics::new(
        file(text),
        vec![Mistake::new(span, "wrong").hint("do this")],
    )
}

#[test]
fn columns_count_characters() {
    let diagnostics = one("ä: ü ß\n", 6..8);
    let only = diagnostics.iter().next().unwrap();
    assert_eq!((only.line, only.column), (1, 5));
    insta::assert_snapshot!(diagnostics.render(false), @r"
        error: wrong
         --> p.yaml:1:5
          |
        1 | ä: ü ß
          |     ^
          |
          = help: do this
        ");
}

#[test]
fn line_breaks_of_windows_do_not_shift_anything() {
    let text = "a: 1\r\nb: 2\r\nc: 3\r\n";
    let diagnostics = one(text, 9..10);
    let only = diagnostics.iter().next().unwrap();
    assert_eq!((only.line, only.column), (2, 4));
    insta::assert_snapshot!(diagnostics.render(false), @r"
        error: wrong
         --> p.yaml:2:4
          |
        2 | b: 2
          |    ^
          |
          = help: do this
        ");
}

#[test]
fn only_the_first_line_of_a_long_place_is_underlined() {
    let diagnostics = one("a:\n  b: 1  \r\n  c: 2\n", 5..20);
    insta::assert_snapshot!(diagnostics.render(false), @r"
        error: wrong
         --> p.yaml:2:3
          |
        2 |   b: 1  
          |   ^^^^
          |
          = help: do this
        ");
}

#[test]
fn both_places_of_a_duplicate_are_shown() {
    let mistakes = vec![Mistake::new(12..13, "given twice").also(&(0..1), "first here")];
    let diagnostics = Diagnostics::new(file("a: 1\nb:\tx\r\n\ta: 2\n"), mistakes);
    insta::assert_snapshot!(diagnostics.render(false), @r"
        error: given twice
         --> p.yaml:3:2
          |
        1 | a: 1
          | - first here
        2 | b:    x
        3 |     a: 2
          |     ^
        ");
}

#[test]
fn colour_is_only_there_when_asked_for() {
    let diagnostics = one("a: 1\n", 0..1);
    assert!(!diagnostics.render(false).contains('\u{1b}'));
    assert!(diagnostics.render(true).contains('\u{1b}'));
}

#[test]
fn repeated_text_is_harmless() {
    assert_eq!(
        quote("a\u{1b}[31m\nb\u{202e}c"),
        "`a\\u{1b}[31m\\u{a}b\\u{202e}c`"
    );
    assert_eq!(quote(&"x".repeat(100)).chars().count(), QUOTED + 3);
}

#[test]
fn a_flood_of_mistakes_is_cut_and_says_so() {
    let text = "x\n".repeat(500);
    let mistakes = |n: usize| {
        (0..n)
            .map(|i| Mistake::new(i * 2..i * 2 + 1, "wrong"))
            .collect()
    };
    let all = Diagnostics::new(file(&text), mistakes(MOST));
    assert_eq!((all.len(), all.has_more()), (MOST, false));
    let cut = Diagnostics::new(file(&text), mistakes(MOST + 1));
    assert_eq!((cut.len(), cut.has_more()), (MOST, true));
    assert!(
        cut.render(false)
            .ends_with("\nthere are more mistakes; these are the first hundred\n")
    );
}

#[test]
fn a_line_too_long_to_show_is_named() {
    let text = format!("a: 1\nb: [{}]\n", "é, ".repeat(SHOWN));
    insta::assert_snapshot!(one(&text, 16..18).render(false), @r"
        error: wrong
        --> p.yaml:2:10
         = help: do this
        ");
}

#[test]
fn places_outside_the_text_do_no_harm() {
    for span in [0..0, 3..3, 4..4, 5..9, 100..200] {
        assert!(one("a: 1", span).render(false).contains("wrong"));
    }
    assert!(one("", 0..0).render(false).contains("wrong"));
}

#[test]
fn control_characters_of_the_file_are_escaped_and_the_columns_stay_those_of_the_file() {
    let text = "a: \u{9b}1m\u{202e}x\tb\n";
    let at = text.find('x').unwrap();
    let diagnostics = one(text, at..at + 1);
    let only = diagnostics.iter().next().unwrap();
    assert_eq!((only.line, only.column), (1, 8));
    insta::assert_snapshot!(diagnostics.render(false), @r"
        error: wrong
         --> p.yaml:1:8
          |
        1 | a: �1m�x    b
          |        ^
          |
          = help: do this
        ");
}
