//! `docs/policy.md` has every key of a policy; its examples are valid, and its mistakes are mistakes.

use std::collections::BTreeSet;

use smgate::policy::Policy;
use smgate::tables::Tables;

use super::{Page, blocks, page, pages, table};

/// A map of a policy: the heading of its keys, and a policy in which `{}` stands for keys of it.
struct Map {
    heading: &'static str,
    /// What messages call it.
    of: &'static str,
    around: &'static str,
    /// Keys that it cannot do without.
    needs: &'static [(&'static str, &'static str)],
    /// Keys of which one is enough, and that need not be beside another.
    one_of: &'static [&'static str],
}

const GPU: &[&str] = &["gpu", "cc", "pci", "instance", "host"];

const MAPS: [Map; 5] = [
    Map {
        heading: "## Keys of a policy",
        of: "a policy",
        around: "{}\n",
        needs: &[
            ("version", "version: 1"),
            ("targets", "targets: [{name: prod, gpu: H100}]"),
        ],
        one_of: &[],
    },
    Map {
        heading: "## Keys of a target",
        of: "a target",
        around: "version: 1\ntargets: [{{}}]\n",
        needs: &[("name", "name: prod"), ("gpu", "gpu: H100")],
        one_of: GPU,
    },
    Map {
        heading: "## Keys of `thresholds`",
        of: "`thresholds`",
        around: "version: 1\ntargets: [{name: prod, gpu: H100}]\nthresholds: {{}}\n",
        needs: &[],
        one_of: &[],
    },
    Map {
        heading: "## Keys of a scope",
        of: "a scope",
        around: "version: 1\ntargets: [{name: prod, gpu: H100}]\nscopes: [{{}}]\n",
        needs: &[
            ("package", "package: torch"),
            ("levels", "levels: {jit-only: deny}"),
        ],
        one_of: &[],
    },
    Map {
        heading: "## Keys of a waiver",
        of: "a waiver",
        around: "version: 1\ntargets: [{name: prod, gpu: H100}]\nwaivers: [{{}}]\n",
        needs: &[
            ("rule", "rule: jit-only"),
            ("package", "package: torch"),
            ("reason", "reason: short jobs"),
            ("until", "until: 2027-03-01"),
        ],
        one_of: &[],
    },
];

impl Map {
    /// A policy with this key in this map, and all that it needs.
    fn with(&self, key: &str, field: &str) -> String {
        let instead = self.one_of.contains(&key);
        let needed = self
            .needs
            .iter()
            .filter(|(name, _)| *name != key && !(instead && self.one_of.contains(name)));
        let mut fields: Vec<&str> = needed.map(|(_, field)| *field).collect();
        fields.push(field);
        let separator = if self.around.starts_with('{') {
            "\n"
        } else {
            ", "
        };
        self.around.replacen("{}", &fields.join(separator), 1)
    }

    /// The keys that the program takes here, as it lists them where it sees another.
    fn keys(&self) -> Vec<String> {
        let message = mistakes(&self.with("qqqqqqqqqqqq", "qqqqqqqqqqqq: 1")).unwrap();
        let begin = format!("the keys of {} are ", self.of);
        let (_, list) = message
            .split_once(&begin)
            .unwrap_or_else(|| panic!("{message}"));
        let list = list.lines().next().unwrap();
        let keys = list.split('`').skip(1).step_by(2);
        keys.map(str::to_owned).collect()
    }
}

/// What is wrong with a policy.
fn mistakes(text: &str) -> Option<String> {
    let parsed = Policy::parse("smgate.yaml", text, Tables::builtin());
    parsed.err().map(|mistakes| mistakes.render(false))
}

/// What stands in backticks first in a cell, and the rest of it.
fn quoted(cell: &str) -> (&str, &str) {
    let (_, rest) = cell.split_once('`').unwrap_or_else(|| panic!("{cell}"));
    rest.split_once('`').unwrap()
}

#[test]
fn every_key_of_a_policy_is_described() {
    let page = page("docs/policy.md");
    for map in MAPS {
        let rows = table(&page, map.heading);
        let described: Vec<&str> = rows.iter().map(|row| quoted(&row[0]).0).collect();
        assert_eq!(
            described,
            map.keys(),
            "docs/policy.md: the rows below `{}` are not the keys of {}",
            map.heading,
            map.of
        );
    }
}

#[test]
fn the_example_of_every_key_is_valid_and_its_mistake_is_reported_as_described() {
    let page = page("docs/policy.md");
    for map in MAPS {
        for row in table(&page, map.heading) {
            let key = quoted(&row[0]).0;
            let example = map.with(key, quoted(&row[3]).0);
            if let Some(mistakes) = mistakes(&example) {
                panic!("{key} of {}: {mistakes}", map.of);
            }
            let (wrong, told) = quoted(&row[4]);
            let told = told.strip_prefix(": ").unwrap_or_else(|| panic!("{row:?}"));
            let mistakes = mistakes(&map.with(key, wrong));
            let mistakes = mistakes.unwrap_or_else(|| panic!("`{wrong}` is valid"));
            assert!(mistakes.contains(told), "`{wrong}`: {mistakes}");
        }
    }
}

/// Policies in a page, with what is commented out in them.
fn policies(page: &Page) -> Vec<&str> {
    let blocks = blocks(page, "yaml");
    let is_policy = |block: &&str| block.starts_with("version: 1\n");
    blocks.into_iter().filter(is_policy).collect()
}

#[test]
fn policies_in_pages_are_valid() {
    let mut waivers = BTreeSet::new();
    for page in pages() {
        for policy in policies(&page) {
            // what is commented out must be valid too
            let whole = policy.replace("\n# ", "\n");
            for text in [policy, &whole] {
                if let Some(mistakes) = mistakes(text) {
                    panic!("{}: {mistakes}", page.path);
                }
            }
            let whole = Policy::parse("smgate.yaml", &whole, Tables::builtin()).unwrap();
            waivers.extend(whole.waivers.iter().map(|waiver| waiver.reason.clone()));
        }
    }
    assert!(!waivers.is_empty(), "the example with a waiver is gone");
}
