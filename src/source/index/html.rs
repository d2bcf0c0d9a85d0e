//! Pages of links as HTML: PEP 503 with the attributes of PEP 592, 629 and 658, and the flat pages of `--find-links`.
//!
//! A page is read by the tokenizer of the HTML standard, so that entities and quotes mean what they mean to a browser.

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};

use super::error::IndexError;
use super::file::{IndexFile, best_hash, stem};
use super::{FILES_MAX, Page};
use crate::source::http::{Address, bounded};

/// The name of the `meta` element that says the version of the API.
const VERSION: &str = "pypi:repository-version";

/// A link, as written.
struct Anchor {
    href: String,
    requires_python: Option<String>,
    yanked: Option<String>,
}

/// Reads the page `bytes`, which came from `at`. Links to what no installer would take are passed over.
///
/// # Errors
///
/// A page of a version of the API that is not known, and one with too many links.
pub(super) fn parse(bytes: &[u8], at: &Address) -> Result<Page, IndexError> {
    let mut emitter = DefaultEmitter::default();
    // what looks like a tag in a script is none
    emitter.naively_switch_states(true);
    let mut base: Option<Address> = None;
    let mut anchors = Vec::new();
    for token in Tokenizer::new_with_emitter(bytes, emitter) {
        let Ok(Token::StartTag(tag)) = token else {
            continue;
        };
        match tag.name.as_slice() {
            b"a" => {
                let Some(href) = attribute(&tag, "href") else {
                    continue;
                };
                if anchors.len() == FILES_MAX {
                    return Err(IndexError::too_large(
                        &at.shown(),
                        &format!("{FILES_MAX} links"),
                    ));
                }
                anchors.push(Anchor {
                    href,
                    requires_python: attribute(&tag, "data-requires-python"),
                    yanked: attribute(&tag, "data-yanked"),
                });
            }
            // the first one counts, for all links of the page
            b"base" if base.is_none() => {
                base = attribute(&tag, "href").and_then(|href| at.join(&href));
            }
            b"meta" => check_version(&tag, at)?,
            _ => {}
        }
    }
    let base = base.as_ref().unwrap_or(at);
    Ok(Page {
        files: anchors
            .into_iter()
            .filter_map(|anchor| file(anchor, base))
            .collect(),
        versions: None,
    })
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let key = HtmlString(name.as_bytes().to_vec());
    let value = tag.attributes.get(&key)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn check_version(tag: &StartTag<()>, at: &Address) -> Result<(), IndexError> {
    if attribute(tag, "name").as_deref() != Some(VERSION) {
        return Ok(());
    }
    let version = attribute(tag, "content").unwrap_or_default();
    if version.split('.').next() == Some("1") {
        return Ok(());
    }
    let version = bounded(&version, 40);
    let why = format!("has version `{version}` of the simple API, and 1 is known");
    Err(IndexError::wrong_page(&at.shown(), &why))
}

fn file(anchor: Anchor, base: &Address) -> Option<IndexFile> {
    let mut url = base.join(&anchor.href)?;
    let fragment = url.take_fragment().unwrap_or_default();
    let name = url.file_name();
    stem(&name)?;
    let pairs = fragment.split('&').filter_map(|pair| pair.split_once('='));
    Some(IndexFile {
        hash: best_hash(pairs),
        requires_python: anchor
            .requires_python
            .filter(|text| !text.trim().is_empty()),
        yanked: anchor.yanked,
        ..IndexFile::new(name, &url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(html: &str) -> Result<Page, IndexError> {
        let at = Address::parse("https://index.example/whl/cu128/torch/")
            .unwrap()
            .0;
        parse(html.as_bytes(), &at)
    }

    fn one(anchor: &str) -> IndexFile {
        let page = parsed(&format!(
            "<!DOCTYPE html><html><body>{anchor}</body></html>"
        ))
        .unwrap();
        let [file] = page.files.as_slice() else {
            panic!("{page:?}")
        };
        file.clone()
    }

    #[test]
    fn links_are_those_that_a_browser_would_follow() {
        for (href, url) in [
            (
                "/whl/cu128/torch-2.8.0%2Bcu128-cp312-none-any.whl",
                "https://index.example/whl/cu128/torch-2.8.0%2Bcu128-cp312-none-any.whl",
            ),
            (
                "torch-1.whl?sig=a&amp;b=c",
                "https://index.example/whl/cu128/torch/torch-1.whl?sig=a&b=c",
            ),
            ("../../torch-1.whl", "https://index.example/whl/torch-1.whl"),
            (
                "https://files.example/x/torch-1.whl",
                "https://files.example/x/torch-1.whl",
            ),
            (
                "//files.example/torch-1.whl",
                "https://files.example/torch-1.whl",
            ),
        ] {
            assert_eq!(one(&format!("<a href=\"{href}\">t</a>")).url, url);
        }
        assert_eq!(
            one("<a href='/w/torch-2.8.0%2Bcu128-cp312-none-any.whl'>").name,
            "torch-2.8.0+cu128-cp312-none-any.whl"
        );
    }

    #[test]
    fn the_hash_is_in_the_fragment() {
        let hash = |fragment: &str| {
            let file = one(&format!("<a href='torch-1.whl{fragment}'>t</a>"));
            assert!(file.url.ends_with("torch-1.whl"), "{}", file.url);
            file.hash.map(|hash| hash.to_string())
        };
        assert_eq!(hash("#sha256=ABCDEF01"), Some("sha256:abcdef01".to_owned()));
        assert_eq!(hash("#md5=00&amp;sha256=01"), Some("sha256:01".to_owned()));
        assert_eq!(hash("#egg=torch"), None);
        assert_eq!(hash(""), None);
    }

    #[test]
    fn attributes_are_read_with_their_entities() {
        let file = one(
            "<A HREF=t-1.whl data-requires-python=\"&gt;=3.8, &lt;4\" DATA-YANKED=\"broken &amp; bad\" >t</A>",
        );
        assert_eq!(file.requires_python.as_deref(), Some(">=3.8, <4"));
        assert_eq!(file.yanked.as_deref(), Some("broken & bad"));
        let file = one("<a href=t-1.whl data-requires-python='' data-yanked>t</a>");
        assert_eq!(
            (file.requires_python, file.yanked.as_deref()),
            (None, Some(""))
        );
        assert_eq!(one("<a href=t-1.whl>").yanked, None);
    }

    #[test]
    fn the_base_element_counts_for_every_link() {
        let page = parsed("<a href=a-1.whl></a><base target=x><base href=/files/><base href=/no/><a href=b-1.whl></a>").unwrap();
        let urls: Vec<&str> = page.files.iter().map(|file| file.url.as_str()).collect();
        assert_eq!(
            urls,
            [
                "https://index.example/files/a-1.whl",
                "https://index.example/files/b-1.whl"
            ]
        );
    }

    #[test]
    fn links_in_comments_and_scripts_and_to_other_things_are_none() {
        let page = parsed(
            "<!-- <a href=a-1.whl> --><script>\"<a href=b-1.whl>\"</script><a href=../>up</a><a name=c-1.whl>\
             <a href='mailto:a-1.whl'><a href='file:///tmp/a-1.whl'><a href='c-1.whl.metadata'><a href='?C=N'>",
        );
        assert_eq!(page.unwrap().files, []);
    }

    #[test]
    fn a_page_of_a_later_version_is_refused() {
        let page = |version| {
            parsed(&format!(
                "<meta name='pypi:repository-version' content='{version}'><a href=a-1.whl>"
            ))
        };
        assert_eq!(page("1.9").unwrap().files.len(), 1);
        assert!(
            page("2.0")
                .unwrap_err()
                .message
                .contains("has version `2.0`")
        );
    }
}
