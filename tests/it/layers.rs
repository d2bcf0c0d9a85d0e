//! The layers hold: imports go down only, and what only one folder may do is done there alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::text;

/// What each folder, or file, of `src` may name of the crate. The order is that of the layers.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("cuda", &[]),
    ("platform", &[]),
    ("rule", &[]),
    ("error", BASE),
    ("escape", BASE),
    ("locator", BASE),
    ("problem", BASE),
    ("limits", BASE),
    ("tables", BASE),
    ("device", BASE),
    ("archive", BASE),
    ("image", &["tables"]),
    ("compat", &["tables", "device", "image"]),
    ("facts", &["tables", "compat"]),
    ("machine", &["tables"]),
    ("source", &["archive", "image"]),
    (
        "inventory",
        &["tables", "device", "image", "archive", "source"],
    ),
    ("policy", &["tables", "compat"]),
    (
        "verdict",
        &["tables", "device", "image", "compat", "inventory", "policy"],
    ),
    (
        "find",
        &[
            "tables",
            "device",
            "source",
            "inventory",
            "policy",
            "verdict",
        ],
    ),
    (
        "export",
        &[
            "tables",
            "compat",
            "image",
            "inventory",
            "policy",
            "verdict",
        ],
    ),
    (
        "report",
        &[
            "tables",
            "device",
            "image",
            "facts",
            "inventory",
            "policy",
            "verdict",
            "find",
            "export",
        ],
    ),
    (
        "cli",
        &[
            "tables",
            "compat",
            "facts",
            "machine",
            "source",
            "inventory",
            "policy",
            "verdict",
            "find",
            "export",
            "report",
        ],
    ),
];

/// The base: words that every layer uses.
const BASE: &[&str] = &[
    "cuda", "platform", "rule", "error", "escape", "locator", "problem", "limits",
];

/// Names that the crate's root hands on, and where they are from.
const HANDED_ON: &[(&str, &str)] = &[
    ("Error", "error"),
    ("ErrorKind", "error"),
    ("Locator", "locator"),
    ("MemberName", "locator"),
    ("Step", "locator"),
    ("Extent", "problem"),
    ("Problem", "problem"),
    ("ProblemKind", "problem"),
];

/// The longest file that a reader is asked to read in one piece.
const LINES_MAX: usize = 450;

struct Module {
    /// `verdict/rules/mod.rs`
    path: String,
    text: String,
}

impl Module {
    fn folder(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How many names its module path has; the root has none.
    fn depth(&self) -> usize {
        let names = self.path.matches('/').count() + 1;
        if self.path.ends_with("/mod.rs") {
            names - 1
        } else {
            names
        }
    }

    /// Lines of code: comments are left out.
    fn code(&self) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
    }

    /// Lines of code that are no tests.
    fn shipped(&self) -> impl Iterator<Item = &str> {
        let tests = self.path.contains("/tests/") || self.path.ends_with("/tests.rs");
        self.code()
            .take_while(move |line| !tests && *line != "#[cfg(test)]")
    }
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every module below the root of the crate.
fn modules() -> Vec<Module> {
    let mut modules = Vec::new();
    let mut left = vec![src()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                let relative = path.strip_prefix(src()).unwrap();
                modules.push(Module {
                    path: relative.to_str().unwrap().replace('\\', "/"),
                    text: text(&path),
                });
            }
        }
    }
    modules.retain(|module| !["lib.rs", "main.rs"].contains(&module.path.as_str()));
    modules.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(modules.len() > 50, "where is the source?");
    modules
}

/// The first names behind `prefix` in a text, those of groups too: `a` and `b` of `crate::{a::x, b}`.
fn named<'t>(text: &'t str, prefix: &str) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices(prefix) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => names.extend(first_name(rest)),
            Some(group) => {
                let mut nesting = 0_usize;
                let mut start = true;
                for (at, c) in group.char_indices() {
                    match c {
                        '{' => nesting += 1,
                        '}' if nesting == 0 => break,
                        '}' => nesting -= 1,
                        ',' if nesting == 0 => start = true,
                        c if start && !c.is_whitespace() => {
                            names.extend(first_name(&group[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

fn first_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&text[..end.unwrap_or(text.len())]).filter(|name| !name.is_empty())
}

fn home(name: &str) -> &str {
    let handed_on = HANDED_ON.iter().find(|(known, _)| *known == name);
    handed_on.map_or(name, |(_, home)| home)
}

#[test]
fn imports_go_down_only() {
    let mut wrong = Vec::new();
    for module in modules() {
        let folder = module.folder();
        let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == folder) else {
            wrong.push(format!("{}: `{folder}` is in no layer", module.path));
            continue;
        };
        let base = MAY_NAME.iter().position(|(name, _)| *name == folder) > Some(BASE.len() - 1);
        let code: Vec<&str> = module.code().collect();
        for name in named(&code.join("\n"), "crate::") {
            let home = home(name);
            let may = home == folder
                || allowed.contains(&home)
                || (base && BASE.contains(&home))
                // a macro or the crate's name in a path of its own
                || home == "crate";
            if !may {
                wrong.push(format!("{} names `{name}`", module.path));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_folder_reaches_another_through_super() {
    let mut wrong = Vec::new();
    for module in modules() {
        // inline modules: the indentation of each one that is open
        let mut inline: Vec<usize> = Vec::new();
        for line in module.code() {
            let indent = line.len() - line.trim_start().len();
            let code = line.trim();
            if code == "}" && inline.last() == Some(&indent) {
                inline.pop();
            }
            let declared = code
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub ");
            if declared.starts_with("mod ") && declared.ends_with('{') {
                inline.push(indent);
            }
            let mut rest = code;
            while let Some(at) = rest.find("super::") {
                let chain = &rest[at..];
                let mut steps = 0;
                let mut tail = chain;
                while let Some(next) = tail.strip_prefix("super::") {
                    steps += 1;
                    tail = next;
                }
                if steps >= module.depth() + inline.len() {
                    wrong.push(format!("{}: {code}", module.path));
                }
                rest = tail;
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn only_the_command_line_prints_reads_the_environment_and_looks_at_the_clock() {
    let reserved = [
        "print!(",
        "println!(",
        "eprint!(",
        "eprintln!(",
        "dbg!(",
        "io::stdout",
        "io::stderr",
        "process::exit",
        "env::var",
        "env::args",
        "current_dir",
        "SystemTime",
        "Instant",
    ];
    let mut wrong = Vec::new();
    for module in modules() {
        if module.folder() == "cli" {
            continue;
        }
        for line in module.shipped() {
            for word in reserved {
                if line.contains(word) {
                    wrong.push(format!("{}: {}", module.path, line.trim()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn only_the_readers_of_policies_and_lock_files_and_the_tables_name_the_yaml_crate() {
    for module in modules() {
        let readers = ["policy/yaml.rs", "source/lock/yaml.rs"];
        let may = readers.contains(&module.path.as_str()) || module.folder() == "tables";
        let names = module.code().any(|line| line.contains("serde_saphyr"));
        assert!(may || !names, "{}", module.path);
    }
}

#[test]
fn only_the_http_client_names_the_crates_of_http_and_tls() {
    for module in modules() {
        let may = module.path == "source/http.rs" || module.path.starts_with("source/http/");
        let names = module
            .code()
            .any(|line| line.contains("reqwest") || line.contains("rustls"));
        assert!(may || !names, "{}", module.path);
    }
}

#[test]
fn only_one_file_names_the_hosts_of_docker_hub() {
    for module in modules() {
        let may = module.path == "source/oci/docker_hub.rs";
        assert!(may || !module.text.contains("docker.io"), "{}", module.path);
    }
}

#[test]
fn every_module_begins_by_saying_what_it_is_for() {
    for module in modules() {
        assert!(module.text.starts_with("//! "), "{}", module.path);
    }
}

#[test]
fn files_are_short_enough_to_be_read() {
    let long: Vec<String> = modules()
        .into_iter()
        .filter(|module| module.text.lines().count() > LINES_MAX)
        .map(|module| module.path)
        .collect();
    assert!(long.is_empty(), "over {LINES_MAX} lines: {long:?}");
}

#[test]
fn groups_of_imports_are_understood() {
    let text = "use crate::{a::{x, y}, b};\nlet _ = crate::c::d; use mycrate::e;";
    assert_eq!(named(text, "crate::"), BTreeSet::from(["a", "b", "c"]));
    let text = "use crate::{\n    Error,\n    rule::Code,\n};";
    assert_eq!(named(text, "crate::"), BTreeSet::from(["Error", "rule"]));
}
