//! The HTML report as a browser reads it, and that nothing in it can be run or loaded.

use std::collections::BTreeMap;

use html5gum::{DefaultEmitter, Token, Tokenizer};
use sha2::{Digest, Sha256};

/// An element: its name, its attributes, and the text in it, that of its children too.
#[derive(Debug, Default, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: BTreeMap<String, String>,
    pub(crate) text: String,
    /// Its ancestors, outermost first.
    within: Vec<usize>,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    pub(crate) fn has_class(&self, class: &str) -> bool {
        let classes = self.attribute("class");
        classes.split(' ').any(|one| one == class)
    }
}

/// A page as a browser reads it: every element, in the order of the file.
pub(crate) struct Document(pub(crate) Vec<Element>);

/// Elements without an end.
const VOID: &[&str] = &["meta", "input", "br"];

impl Document {
    pub(crate) fn parse(html: &str) -> Self {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut all: Vec<Element> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            match token.unwrap() {
                Token::StartTag(tag) => {
                    let name = text(&tag.name);
                    let attributes = tag.attributes.iter();
                    let attributes = attributes.map(|(name, value)| (text(name), text(value)));
                    all.push(Element {
                        name: name.clone(),
                        attributes: attributes.collect(),
                        text: String::new(),
                        within: open.clone(),
                    });
                    if !VOID.contains(&name.as_str()) {
                        open.push(all.len() - 1);
                    }
                }
                Token::EndTag(tag) => {
                    let last = open.pop().unwrap();
                    assert_eq!(all[last].name, text(&tag.name), "tags are nested");
                }
                Token::String(string) => {
                    for at in &open {
                        all[*at].text.push_str(&text(&string));
                    }
                }
                Token::Error(error) => panic!("no HTML: {error:?}"),
                Token::Comment(_) => panic!("a comment"),
                Token::Doctype(_) => {}
            }
        }
        assert!(open.is_empty(), "not closed: {open:?}");
        Self(all)
    }

    pub(crate) fn all<'d>(&'d self, name: &str) -> Vec<&'d Element> {
        self.0.iter().filter(|one| one.name == name).collect()
    }

    /// The elements with that name in another.
    pub(crate) fn inside<'d>(&'d self, element: &Element, name: &str) -> Vec<&'d Element> {
        let at = self.0.iter().position(|one| std::ptr::eq(one, element));
        let inside = |one: &&Element| one.name == name && one.within.contains(&at.unwrap());
        self.0.iter().filter(inside).collect()
    }

    /// The elements with that name and class in another.
    pub(crate) fn classed<'d>(
        &'d self,
        element: &Element,
        name: &str,
        class: &str,
    ) -> Vec<&'d Element> {
        let mut found = self.inside(element, name);
        found.retain(|one| one.has_class(class));
        found
    }

    pub(crate) fn main(&self) -> &Element {
        self.all("main")[0]
    }

    pub(crate) fn id(&self, id: &str) -> Option<&Element> {
        self.0.iter().find(|one| one.attribute("id") == id)
    }

    /// All that the page says.
    pub(crate) fn text(&self) -> &str {
        &self.main().text
    }
}

/// What the page may be made of.
const ELEMENTS: &[&str] = &[
    "html", "head", "meta", "title", "style", "body", "a", "main", "script", "header", "p", "h1",
    "h2", "h3", "span", "b", "ul", "li", "dl", "div", "dt", "dd", "nav", "section", "details",
    "summary", "code", "label", "input", "table", "caption", "thead", "tbody", "tr", "th", "td",
    "button", "svg", "rect", "path", "circle", "text",
];
const ATTRIBUTES: &[&str] = &[
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "href",
    "id",
    "aria-hidden",
    "aria-label",
    "aria-labelledby",
    "open",
    "hidden",
    "type",
    "autocomplete",
    "role",
    "tabindex",
    "scope",
    "colspan",
    "data-name",
    "data-verdict",
    "viewbox",
    "preserveaspectratio",
    "width",
    "height",
    "x",
    "y",
    "d",
    "cx",
    "cy",
    "r",
    "rx",
];

/// That nothing on the page can run or load anything, but its own script.
pub(crate) fn assert_harmless(html: &str) -> Document {
    let page = Document::parse(html);
    for element in &page.0 {
        assert!(ELEMENTS.contains(&element.name.as_str()), "{element:?}");
        for (name, value) in &element.attributes {
            assert!(ATTRIBUTES.contains(&name.as_str()), "{name} of {element:?}");
            if name == "href" {
                let id = value
                    .strip_prefix('#')
                    .unwrap_or_else(|| panic!("leads away: {value}"));
                assert!(page.id(id).is_some(), "leads nowhere: {value}");
            }
        }
    }
    let policies: Vec<&Element> = page
        .all("meta")
        .into_iter()
        .filter(|one| one.attribute("http-equiv") == "Content-Security-Policy")
        .collect();
    assert_eq!(policies.len(), 1);
    let hash = |name: &str| {
        let parts = page.all(name);
        assert_eq!(parts.len(), 1, "{name}");
        let digest = Sha256::digest(&parts[0].text);
        format!("'sha256-{}'", base64(&digest))
    };
    assert_eq!(
        policies[0].attribute("content"),
        format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash("style"),
            hash("script")
        )
    );
    let style = &page.all("style")[0].text;
    assert!(!style.contains("url(") && !style.contains("@import") && !style.contains('\r'));
    let obeyed = |c: char| {
        c != '\n' && c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    assert!(!html.chars().any(obeyed), "{html}");
    page
}

/// Base64 as RFC 4648 has it, of bytes whose number is no multiple of three.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = three
            .iter()
            .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        let number = number << (8 * (3 - three.len()));
        for digit in 0..4 {
            let at = (number >> (18 - 6 * digit)) & 63;
            text.push(if digit <= three.len() {
                DIGITS[at as usize].into()
            } else {
                '='
            });
        }
    }
    text
}
