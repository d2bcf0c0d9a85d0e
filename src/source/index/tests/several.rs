//! Several indexes as one.

use std::thread;

use super::*;
use crate::source::http::stub::Stub;

/// A server with these projects: each with one file, whose hash is `hash`.
fn server(projects: &'static [&'static str], hash: &'static str) -> Stub {
    Stub::start(move |seen, _| {
        let project = projects
            .iter()
            .find(|name| seen.path.ends_with(&format!("/{name}/")));
        project.map_or(Reply::new(404), |name| {
            let shared = json_file(&format!("{name}-1.tar.gz"), "00");
            json(&format!(
                "{shared},{}",
                json_file(&format!("{name}-2-py3-none-any.whl"), hash)
            ))
        })
    })
}

fn of(merge: Merge, stubs: &[&Stub]) -> Indexes {
    let specs = stubs
        .iter()
        .map(|stub| IndexSpec::simple(stub.url("/simple"), "the test"));
    let mut config = IndexConfig::new(specs.collect());
    config.merge = merge;
    open(&config)
}

fn found(indexes: &Indexes, name: &str) -> Vec<(String, String)> {
    let files = indexes.files(name, None).unwrap();
    let all = files.into_iter();
    all.map(|file| (file.name, file.hash.unwrap().hex))
        .collect()
}

fn pair(name: &str, hash: &str) -> (String, String) {
    (name.to_owned(), hash.to_owned())
}

#[test]
fn pip_takes_the_files_of_all_indexes() {
    let (one, two) = (server(&["a", "b"], "01"), server(&["a", "c"], "02"));
    let indexes = of(Merge::Union, &[&one, &two]);
    // one file is both servers', of one name with two hashes there are two
    assert_eq!(
        found(&indexes, "a"),
        [
            pair("a-1.tar.gz", "00"),
            pair("a-2-py3-none-any.whl", "01"),
            pair("a-2-py3-none-any.whl", "02")
        ]
    );
    assert_eq!(indexes.project("a", None).unwrap().versions, ["1", "2"]);
    assert_eq!(found(&indexes, "b").len(), 2);
    assert_eq!(found(&indexes, "c").len(), 2);
}

#[test]
fn uv_takes_the_files_of_the_first_index_that_has_the_project() {
    let (one, two) = (server(&["a"], "01"), server(&["a", "c"], "02"));
    let indexes = of(Merge::FirstIndex, &[&one, &two]);
    assert_eq!(
        found(&indexes, "a"),
        [pair("a-1.tar.gz", "00"), pair("a-2-py3-none-any.whl", "01")]
    );
    assert_eq!(two.paths(), Vec::<String>::new());
    assert_eq!(found(&indexes, "c").len(), 2);
}

#[test]
fn flat_pages_count_beside_the_first_index() {
    let flat = Stub::start(|_, _| html("<a href='a-3-py3-none-any.whl#sha256=03'>a</a>"));
    let one = server(&["a"], "01");
    let mut config = IndexConfig::new(vec![
        IndexSpec::flat(flat.url("/page.html"), "the test"),
        IndexSpec::simple(one.url("/simple"), "the test"),
    ]);
    config.merge = Merge::FirstIndex;
    let indexes = open(&config);
    let files = found(&indexes, "a");
    assert_eq!(files.len(), 3);
    assert_eq!(files[0], pair("a-3-py3-none-any.whl", "03"));
    indexes.files("b", None).unwrap_err();
    assert_eq!(flat.paths(), ["GET /page.html"]);
}

#[test]
fn what_no_index_has_is_told_with_each_of_them() {
    let one = server(&[], "01");
    let two = Stub::start(|_, _| Reply::new(403));
    let error = of(Merge::Union, &[&one, &two])
        .files("a", None)
        .unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::NoProject);
    let says = format!(
        "no index has `a`: `{}` answers 404, `{}` answers 403, as some do for what they do not have",
        one.url("/simple/a/"),
        two.url("/simple/a/")
    );
    assert_eq!(error.message, says);
}

#[test]
fn an_index_that_fails_fails_the_whole() {
    let (one, two) = (server(&["a"], "01"), Stub::start(|_, _| Reply::new(401)));
    for stubs in [[&one, &two], [&two, &one]] {
        let error = of(Merge::Union, &stubs).files("a", None).unwrap_err();
        assert_eq!(error.kind, IndexErrorKind::Refused);
    }
    // where the first one that has it is enough, the second is not asked
    assert!(
        of(Merge::FirstIndex, &[&one, &two])
            .files("a", None)
            .is_ok()
    );
}

#[test]
fn without_an_index_it_is_said_what_to_pass() {
    let error = open(&IndexConfig::new(Vec::new()))
        .files("Torch", None)
        .unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::NoIndex);
    assert_eq!(
        error.message,
        "no package index is known that could be asked for `torch`"
    );
    assert!(error.hint.contains("`--index-url URL`"));
}

#[test]
fn a_pinned_package_comes_from_its_index_alone() {
    let (main, cuda, other) = (
        server(&["a"], "01"),
        server(&["a"], "02"),
        server(&["a"], "03"),
    );
    let mut special = IndexSpec::simple(cuda.url("/simple"), "the test");
    special.name = Some("cuda".to_owned());
    special.only_pinned = true;
    let indexes = open(&IndexConfig::new(vec![
        IndexSpec::simple(main.url("/simple"), "the test"),
        special,
    ]));
    let hash = |pin: Option<&str>| {
        indexes.files("a", pin).unwrap()[1]
            .hash
            .clone()
            .unwrap()
            .hex
    };
    assert_eq!(hash(None), "01");
    assert_eq!(cuda.paths(), Vec::<String>::new());
    assert_eq!(hash(Some("cuda")), "02");
    assert_eq!(hash(Some(&cuda.url("/simple/"))), "02");
    assert_eq!(hash(Some(&other.url("/elsewhere"))), "03");
    assert_eq!(hash(Some(&other.url("/elsewhere"))), "03");
    assert_eq!(
        (main.seen().len(), cuda.seen().len(), other.seen().len()),
        (1, 1, 1)
    );
    let error = indexes.files("a", Some("no-such-name")).unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::WrongPage);
}

#[test]
fn threads_wait_for_one_answer() {
    let stub = server(&["a"], "01");
    let indexes = of(Merge::Union, &[&stub, &stub]);
    thread::scope(|scope| {
        for name in ["a", "A", "a", "b", "b"] {
            let indexes = &indexes;
            scope.spawn(move || indexes.files(name, None).is_ok());
        }
    });
    let mut paths = stub.paths();
    paths.sort();
    assert_eq!(paths, ["GET /simple/a/", "GET /simple/b/"]);
}

#[test]
fn an_address_that_is_none_is_told_by_where_it_stands() {
    let spec = IndexSpec::simple("ftp://u:s3cret@index.example/", "`PIP_INDEX_URL`");
    let error = IndexCredentials::new(&IndexConfig::new(vec![spec])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`PIP_INDEX_URL` names an index by an address that cannot be used: it begins with none of `https:`, `http:` \
         and `file:`"
    );
}

#[test]
fn each_index_is_asked_by_itself_and_says_who_named_it() {
    let (one, two, none) = (
        server(&["a"], "01"),
        server(&["a", "b"], "02"),
        server(&[], "03"),
    );
    let specs = [(&one, "`--index-url`"), (&two, "pip.conf"), (&none, "pip")];
    let mut specs = specs.map(|(stub, by)| IndexSpec::simple(stub.url("/simple"), by));
    specs[0].is_main = true;
    let mut config = IndexConfig::new(specs.to_vec());
    // what uv would not ask is asked too
    config.merge = Merge::FirstIndex;
    let indexes = open(&config);
    let each = indexes.of_each("A").unwrap();
    let shown: Vec<_> = each
        .iter()
        .map(|of| (of.index.clone(), of.named_by.as_str(), of.is_main))
        .collect();
    assert_eq!(
        shown,
        [
            (one.url("/simple/"), "`--index-url`", true),
            (two.url("/simple/"), "pip.conf", false)
        ]
    );
    assert!(
        each.iter()
            .all(|of| !of.is_flat && of.project.files.len() == 2)
    );
    let error = indexes.of_each("z").unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::NoProject);
    let nowhere = open(&IndexConfig::new(Vec::new()));
    let error = nowhere.of_each("a").unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::NoIndex);
}
