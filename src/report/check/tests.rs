//! What holds for every form whatever the names and the words: of a real evaluation, with other text in it.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::escape::is_dangerous;
use crate::inventory::{Inventory, ScanOptions, scan};
use crate::policy::Policy;
use crate::report::{CheckFormat, Checked, HumanOptions, write_check};
use crate::rule::Level;
use crate::tables::Tables;
use crate::verdict::{EvaluateOptions, Evaluation, PackageName, WaivedBy, evaluate};

const FORMATS: &[CheckFormat] = &[
    CheckFormat::Github,
    CheckFormat::Gitlab,
    CheckFormat::Html,
    CheckFormat::Human,
    CheckFormat::Json,
    CheckFormat::Junit,
    CheckFormat::Markdown,
    CheckFormat::Ndjson,
    CheckFormat::Sarif,
];

/// What was found, in what and by what.
pub(super) struct Case {
    inventory: Inventory,
    policy: Policy,
    pub(super) evaluation: Evaluation,
}

impl Case {
    /// A library with code that a GTX 1080 does not run, and one that is cut.
    pub(super) fn new() -> Self {
        let tables = Tables::builtin();
        let inputs = ["n130_multi.so", "bad_truncated.fatbin"];
        let inputs = inputs.map(|name| format!("testdata/cuda/{name}").parse().unwrap());
        let inventory = scan(&inputs, &ScanOptions::default(), tables).unwrap();
        let policy = "version: 1\ntargets:\n  - {name: old, gpu: GTX 1080, driver: R550}\n";
        let policy = Policy::parse("smgate.yaml", policy, tables)
            .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let options = EvaluateOptions {
            today: "2027-01-15".parse().unwrap(),
            fail_on_warn: false,
        };
        let evaluation = evaluate(&inventory, &policy, tables, options);
        Self {
            inventory,
            policy,
            evaluation,
        }
    }

    pub(super) fn checked(&self) -> Checked<'_> {
        Checked {
            evaluation: &self.evaluation,
            inventory: &self.inventory,
            policy: &self.policy,
            tables: Tables::builtin(),
        }
    }

    fn written(&self, format: CheckFormat) -> String {
        let mut out = Vec::new();
        write_check(self.checked(), format, HumanOptions::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The same with other text, where text is foreign.
    fn with(mut self, texts: &[String]) -> Self {
        let mut texts = texts.iter().cycle();
        let mut next = || texts.next().unwrap().clone();
        let target = next();
        self.policy.targets[0].name.clone_from(&target);
        for artifact in &mut self.evaluation.artifacts {
            artifact.input = next();
        }
        for row in &mut self.evaluation.matrix {
            row.target.clone_from(&target);
        }
        for (index, finding) in self.evaluation.findings.iter_mut().enumerate() {
            finding.package = Some(PackageName {
                name: next(),
                version: Some(next()),
            });
            finding.target = Some(target.clone());
            finding.library = Some(next());
            finding.message = next();
            finding.evidence = vec![next(), next()];
            finding.next_step = next();
            if index % 2 == 1 {
                finding.waived = Some(WaivedBy {
                    reason: next(),
                    until: None,
                });
            }
        }
        self
    }
}

/// What would be something in one of the forms.
const PIECES: &[&str] = &[
    "a",
    "b.so",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{7f}",
    "\u{9b}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{200b}",
    "\u{61c}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "::",
    "::error ::",
    "::stop-commands::x",
    "##[error]",
    "%0A",
    "%",
    ",",
    "=",
    "|",
    "\\",
    "\\|",
    "`",
    "``",
    "```",
    "~~~",
    "*",
    "**",
    "_",
    "__",
    "~~",
    "$",
    "$$",
    "#",
    "# ",
    "#1",
    "- ",
    "+ ",
    "* ",
    "1. ",
    "2) ",
    "> ",
    "---",
    "===",
    "[",
    "]",
    "](",
    "[x](y)",
    "![x](y)",
    "[^1]",
    "[ ] ",
    ":x:",
    "<",
    ">",
    "<b>",
    "</code>",
    "</details>",
    "<!--",
    "-->",
    "<?",
    "]]>",
    "<![CDATA[",
    "&",
    "&lt;",
    "&#0;",
    "\"",
    "'",
    "@",
    "@me",
    "a@b.example",
    "http://",
    "https://x.example",
    "www.x.example",
    "{0}",
    "\u{fc}",
    "\u{1f600}",
    " \u{203a} ",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..7);
    pieces.prop_map(|pieces| pieces.concat())
}

/// That a report in markdown has our markup only.
fn assert_markdown(text: &str, columns: usize, rows: usize) -> Result<(), TestCaseError> {
    let (mut html, mut plain, mut cells, mut lines) = (String::new(), String::new(), 0, 0);
    let mut in_code = 0_i32;
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Start(tag) => match tag {
                Tag::Heading { .. }
                | Tag::Paragraph
                | Tag::List(None)
                | Tag::Item
                | Tag::Table(_)
                | Tag::TableHead
                | Tag::Strong
                | Tag::HtmlBlock => {}
                Tag::TableRow => lines += 1,
                Tag::TableCell => cells += 1,
                other => prop_assert!(false, "{other:?} of\n{text}"),
            },
            Event::Html(part) | Event::InlineHtml(part) => {
                in_code += i32::try_from(part.matches("<code>").count()).unwrap();
                in_code -= i32::try_from(part.matches("</code>").count()).unwrap();
                html.push_str(&part);
            }
            Event::Text(part) if in_code == 0 => plain.push_str(&part),
            // what is in two paragraphs is not beside each other
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => plain.push('\n'),
            Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::End(_) => {}
            other => prop_assert!(false, "{other:?} of\n{text}"),
        }
    }
    prop_assert_eq!((lines, cells), (rows, columns * (rows + 1)), "{}", text);
    // nobody is called by code
    let mut parts = html.split("<code>");
    let first = parts.next().unwrap().to_owned();
    let rest = parts.map(|part| part.split_once("</code>").map_or(part, |(_, rest)| rest));
    let outside = rest.fold(first, |all, part| all + part);
    let ours = ["details", "summary", "code"];
    for tag in ours
        .map(|name| [format!("<{name}>"), format!("</{name}>")])
        .concat()
    {
        html = html.replace(&tag, "");
    }
    prop_assert!(!html.contains('<'), "{}", html);
    let apart = outside.replace("&#8203;", "\u{200b}");
    for part in [plain, apart] {
        for wrong in ["@m", "@b", "#1", "://", "www."] {
            prop_assert!(!part.contains(wrong), "{} in {}", wrong, text);
        }
    }
    Ok(())
}

/// That the `JUnit` form is XML, with our elements only.
fn assert_junit(text: &str) -> Result<(), TestCaseError> {
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => return Ok(()),
            quick_xml::events::Event::Start(element) | quick_xml::events::Event::Empty(element) => {
                let ours: [&[u8]; 6] = [
                    b"testsuites",
                    b"testsuite",
                    b"testcase",
                    b"failure",
                    b"error",
                    b"system-out",
                ];
                prop_assert!(ours.contains(&element.name().as_ref()), "{:?}", element);
                // `junit-10.xsd` of Jenkins' xunit plugin gives the root these
                if element.name().as_ref() == b"testsuites" {
                    let known = ["name", "time", "tests", "failures", "disabled", "errors"];
                    for attribute in element.attributes() {
                        let name = attribute.unwrap().key.as_ref().to_vec();
                        let name = String::from_utf8(name).unwrap();
                        prop_assert!(known.contains(&name.as_str()), "{}", name);
                    }
                }
            }
            quick_xml::events::Event::CData(_) | quick_xml::events::Event::Comment(_) => {
                prop_assert!(false, "{}", text);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn foreign_text_stays_text(texts in prop::collection::vec(text(), 1..40)) {
        let case = Case::new().with(&texts);
        for format in FORMATS {
            let written = case.written(*format);
            let wrong = |c: char| c != '\n' && is_dangerous(c);
            prop_assert!(!written.contains(wrong), "{:?}: {:?}", format, written);
            match format {
                CheckFormat::Github => {
                    for line in written.lines() {
                        let ours = ["::error ", "::warning ", "::notice "];
                        prop_assert!(ours.iter().any(|one| line.starts_with(one)), "{}", line);
                        let properties = line.get(2..).unwrap().split_once("::").unwrap().0;
                        let (_, properties) = properties.split_once(' ').unwrap();
                        for property in properties.split(',') {
                            let name = property.split_once('=').unwrap().0;
                            prop_assert!(["file", "line", "title"].contains(&name), "{}", line);
                        }
                    }
                }
                CheckFormat::Gitlab | CheckFormat::Json | CheckFormat::Sarif => {
                    let value: serde_json::Value = serde_json::from_str(&written).unwrap();
                    prop_assert!(!value.is_null());
                }
                CheckFormat::Ndjson => {
                    let lines: Vec<serde_json::Value> = written
                        .lines()
                        .map(|line| serde_json::from_str(line).unwrap())
                        .collect();
                    prop_assert_eq!(lines.len(), 3);
                }
                CheckFormat::Junit => assert_junit(&written)?,
                CheckFormat::Markdown => assert_markdown(&written, 3, 2)?,
                CheckFormat::Html => {
                    for piece in ["<!--", "<?", "<![CDATA["] {
                        prop_assert!(!written.contains(piece), "{}", written);
                    }
                    let tags = |tag: &str| written.matches(tag).count();
                    prop_assert_eq!(tags("<code"), tags("</code>"));
                    prop_assert_eq!(tags("<details"), tags("</details>"));
                }
                CheckFormat::Human => {}
            }
        }
    }
}

#[test]
fn the_case_has_denied_findings_and_problems() {
    let case = Case::new();
    let findings = &case.evaluation.findings;
    for level in [Level::Deny, Level::Incomplete] {
        assert!(findings.iter().any(|one| one.level == level), "{level}");
    }
    for format in FORMATS {
        let written = case.written(*format);
        for finding in findings
            .iter()
            .filter(|finding| finding.level > Level::Warn)
        {
            assert!(written.contains(finding.code.id()), "{format:?}: {written}");
        }
    }
}
