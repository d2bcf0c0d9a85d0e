//! Which place counts before which.

use super::*;

/// The main index that a place names, and how a machine gets it.
type Place = (&'static str, fn(Machine) -> Machine);

/// Everything that can name a main index, the first one first.
fn crowded() -> Vec<Place> {
    vec![
        ("https://uvdefault.example", |m| {
            m.set("UV_DEFAULT_INDEX", "https://uvdefault.example")
        }),
        ("https://uvindex.example", |m| {
            m.set("UV_INDEX_URL", "https://uvindex.example")
        }),
        ("https://pipenv.example", |m| {
            m.set("PIP_INDEX_URL", "https://pipenv.example")
        }),
        ("https://uvtoml.example", |m| {
            m.file("/w/uv.toml", "index-url = 'https://uvtoml.example'")
        }),
        ("https://uvuser.example", |m| {
            m.file(
                "/h/.config/uv/uv.toml",
                "[[index]]\nurl = 'https://uvuser.example'\ndefault = true",
            )
        }),
        ("https://uvetc.example", |m| {
            m.file("/etc/uv/uv.toml", "index-url = 'https://uvetc.example'")
        }),
        ("https://named.example", |m| {
            m.set("PIP_CONFIG_FILE", "/n")
                .file("/n", "[global]\nindex-url=https://named.example")
        }),
        ("https://venv.example", |m| {
            m.set("VIRTUAL_ENV", "/v")
                .file("/v/pip.conf", "[global]\nindex-url: https://venv.example")
        }),
        ("https://etc.example", |m| {
            m.file("/etc/pip.conf", "[global]\nindex_url = https://etc.example")
        }),
        ("https://xdg.example", |m| {
            m.file(
                "/etc/xdg/pip/pip.conf",
                "[global]\nindex-url = https://xdg.example",
            )
        }),
        ("https://default.example/simple", |m| m.pip(HELP)),
    ]
}

#[test]
fn each_place_counts_before_those_behind_it() {
    let places = crowded();
    for first in 0..places.len() {
        let machine = places[first..]
            .iter()
            .fold(Machine::new(), |machine, (_, add)| add(machine));
        assert_eq!(machine.said(), [places[first].0]);
    }
    assert_eq!(Machine::new().said(), Vec::<String>::new());
}

#[test]
fn the_lock_file_and_the_options_count_before_the_machine() {
    let machine = crowded()
        .into_iter()
        .fold(Machine::new(), |machine, (_, add)| add(machine));
    let given = options(
        Some("https://option.example"),
        &["https://more.example"],
        &[],
    );
    let named = lock(
        LockKind::Requirements,
        &["https://lock.example", "https://lock2.example"],
        true,
    );
    let of =
        |lock, policy: Option<&[String]>| said(&machine.resolve(&given, lock, policy).unwrap());
    assert_eq!(
        of(Some(&named), None),
        [
            "https://lock.example",
            "https://lock2.example",
            "https://more.example"
        ]
    );
    // `--extra-index-url` of a lock file leaves the main index to others
    let more = lock(LockKind::Requirements, &["https://lock.example"], false);
    assert_eq!(
        of(Some(&more), None),
        [
            "https://option.example",
            "https://lock.example",
            "https://more.example"
        ]
    );
    assert_eq!(
        of(None, None),
        ["https://option.example", "https://more.example"]
    );
    assert_eq!(machine.asked.borrow().len(), 0);
}

#[test]
fn a_policy_ends_the_search() {
    let machine = Machine::new()
        .set("PIP_INDEX_URL", "https://pip.example")
        .set("PIP_EXTRA_INDEX_URL", "https://pip2.example")
        .pip(HELP);
    let policy = [
        "https://p1.example".to_owned(),
        "https://p2.example".to_owned(),
    ];
    let none = IndexOptions::default();
    let of = |policy: &[String]| said(&machine.resolve(&none, None, Some(policy)).unwrap());
    assert_eq!(of(&policy), ["https://p1.example", "https://p2.example"]);
    assert_eq!(of(&[]), Vec::<String>::new());
}

#[test]
fn without_an_index_only_flat_pages_are_left() {
    for name in ["PIP_NO_INDEX", "UV_NO_INDEX"] {
        let machine = Machine::new()
            .set(name, "true")
            .set("PIP_INDEX_URL", "https://p.example")
            .set("PIP_EXTRA_INDEX_URL", "https://e.example")
            .set("PIP_FIND_LINKS", "/p")
            .pip(HELP);
        assert_eq!(machine.said(), ["*/p"], "{name}");
        assert_eq!(machine.asked.borrow().len(), 0);
        // but what is asked for now is
        let given = options(Some("https://o.example"), &[], &[]);
        let config = machine.resolve(&given, None, None).unwrap();
        assert_eq!(said(&config)[..2], ["*/p", "https://o.example"], "{name}");
    }
    let conf = Machine::new()
        .file(
            "/etc/pip.conf",
            "[install]\nno-index = yes\nfind-links = /p",
        )
        .pip(HELP);
    assert_eq!(conf.said(), ["*/p"]);
}
