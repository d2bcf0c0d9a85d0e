//! What servers answer, and what it is taken for.

use super::*;
use crate::source::http::stub::Stub;

/// What comes of an index that answers everything with `reply`.
fn of(reply: Reply) -> Result<Vec<IndexFile>, IndexError> {
    let stub = Stub::start(move |_, _| reply.clone());
    index(&stub.url("/simple"), None).files("torch", None)
}

fn kind(reply: Reply) -> IndexErrorKind {
    of(reply).unwrap_err().kind
}

#[test]
fn json_is_asked_for_before_html_by_the_normal_name() {
    let stub = Stub::start(|_, _| json(&json_file("flash_attn-2.8.3.tar.gz", "ab")));
    for slash in ["", "/"] {
        let indexes = index(&stub.url(&format!("/simple{slash}")), None);
        let project = indexes.project("Flash__Attn", None).unwrap();
        assert_eq!(project.name, "flash-attn");
        assert_eq!(project.versions, ["2.8.3"]);
        assert_eq!(project.files[0].url, stub.url("/f/flash_attn-2.8.3.tar.gz"));
    }
    assert_eq!(stub.paths(), ["GET /simple/flash-attn/"; 2]);
    assert_eq!(
        stub.seen()[0].header("accept").unwrap(),
        "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01"
    );
}

#[test]
fn html_is_read_by_either_of_its_types() {
    let page = "<a href='/whl/torch-2.8.0%2Bcu128-cp312-cp312-linux_x86_64.whl#sha256=ab'>t</a>";
    for media_type in [
        "text/html",
        "Application/vnd.pypi.simple.v1+HTML; charset=utf-8",
    ] {
        let reply = Reply::new(200)
            .header("content-type", media_type)
            .body(page);
        let files = of(reply).unwrap();
        assert_eq!(
            names(&files),
            ["torch-2.8.0+cu128-cp312-cp312-linux_x86_64.whl"]
        );
    }
}

#[test]
fn a_project_that_is_missing_is_told_apart_from_a_failure() {
    for status in [403, 404, 410] {
        assert_eq!(
            kind(Reply::new(status)),
            IndexErrorKind::NoProject,
            "{status}"
        );
    }
    assert_eq!(kind(Reply::new(401)), IndexErrorKind::Refused);
    let asks = Reply::new(403).header("www-authenticate", "Basic realm=\"x\"");
    assert_eq!(kind(asks), IndexErrorKind::Refused);
    for status in [204, 400, 451, 500, 503] {
        assert_eq!(
            kind(Reply::new(status)),
            IndexErrorKind::Network,
            "{status}"
        );
    }
}

#[test]
fn links_are_relative_to_the_page_that_answers() {
    for status in [301, 302, 307, 308] {
        let there = Stub::start(|_, _| html("<a href='../f/a-1-py3-none-any.whl?x=y'>a</a>"));
        let to = there.url("/deep/simple/a/");
        let stub = Stub::start(move |_, _| Reply::new(status).header("location", to.clone()));
        let files = index(&stub.url("/simple"), None).files("a", None).unwrap();
        assert_eq!(
            files[0].url,
            there.url("/deep/simple/f/a-1-py3-none-any.whl?x=y")
        );
        assert_eq!(files[0].name, "a-1-py3-none-any.whl");
    }
}

#[test]
fn an_answer_that_is_no_page_is_told() {
    let typed = |media_type: &str, body: &str| {
        let reply = Reply::new(200).header("content-type", media_type);
        of(reply.body(body)).unwrap_err()
    };
    let v1 = "application/vnd.pypi.simple.v1+json";
    for (media_type, body, says) in [
        (
            v1,
            "{\"meta\":",
            "sent JSON that is no page of an index: line 1 column 8",
        ),
        (v1, "<html>", "sent JSON that is no page of an index"),
        (
            "application/xml",
            "<Error/>",
            "answers with `application/xml`, which is no page of an index",
        ),
        (
            "application/vnd.pypi.simple.v2+json",
            "{}",
            "answers with `application/vnd.pypi.simple.v2+json`",
        ),
        ("", "", "answers with ``"),
    ] {
        let error = typed(media_type, body);
        assert_eq!(error.kind, IndexErrorKind::WrongPage, "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(error.message.contains("/simple/torch/`"), "{error}");
    }
}

#[test]
fn a_page_without_end_is_left() {
    let reply = Reply::new(200)
        .header("content-type", "text/html")
        .body(vec![b' '; 1 << 20])
        .endless_body();
    let error = of(reply).unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::TooLarge);
    assert!(
        error.message.contains("has more than 67108864 bytes"),
        "{error}"
    );
}

#[test]
fn a_page_that_breaks_off_is_asked_for_again() {
    let stub = Stub::start(|_, before| match before {
        0 => json("").cut(3),
        _ => json(&json_file("a-1.tar.gz", "ab")),
    });
    let files = index(&stub.url("/simple"), None).files("a", None).unwrap();
    assert_eq!(names(&files), ["a-1.tar.gz"]);
    let stub = Stub::start(|_, _| json("").cut(3));
    let error = index(&stub.url("/simple"), None)
        .files("a", None)
        .unwrap_err();
    assert_eq!(
        (error.kind, stub.seen().len()),
        (IndexErrorKind::Network, 3)
    );
}

#[test]
fn nothing_is_asked_offline() {
    let stub = Stub::start(|_, _| json(""));
    let flat = IndexSpec::flat(stub.url("/flat.html"), "the test");
    for spec in [IndexSpec::simple(stub.url("/simple"), "the test"), flat] {
        let mut config = IndexConfig::new(vec![spec]);
        config.offline = true;
        let error = open(&config).files("a", None).unwrap_err();
        assert_eq!(error.kind, IndexErrorKind::Offline);
        assert!(error.hint.contains("`--offline`"));
    }
    assert_eq!(stub.paths(), Vec::<String>::new());
}

#[test]
fn a_server_without_encryption_elsewhere_is_not_asked() {
    let error = index("http://index.example/simple", None)
        .files("a", None)
        .unwrap_err();
    assert_eq!(
        error.message,
        "`http://index.example/simple/a/` is not `https:`"
    );
    assert!(error.hint.contains("`--plain-http`"), "{}", error.hint);
}

#[test]
fn what_is_no_name_is_not_asked_for() {
    let stub = Stub::start(|_, _| json(""));
    let indexes = index(&stub.url("/simple"), None);
    for name in ["", "..", "a/b", "a?b", "-", "\u{fc}", "%2e"] {
        let error = indexes.files(name, None).unwrap_err();
        assert_eq!(error.kind, IndexErrorKind::NoProject, "{name}");
    }
    assert_eq!(stub.paths(), Vec::<String>::new());
}

#[test]
fn files_of_this_machine_are_an_index_too() {
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str, content: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    put("wheels/a-1-py3-none-any.whl", "12345");
    put("wheels/A-2.tar.gz", "");
    put("wheels/b-1-py3-none-any.whl", "");
    put("wheels/a.txt", "");
    put(
        "page.html",
        "<a href='wheels/a-3-py3-none-any.whl#sha256=ab'>a</a>",
    );
    put(
        "simple/a/index.html",
        "<a href='../../wheels/a-1-py3-none-any.whl'>a</a>",
    );
    put("simple/c/c-1.zip", "");
    let at = |path: &str| dir.path().join(path).to_str().unwrap().to_owned();
    let flat = |path: &str| {
        open(&IndexConfig::new(vec![IndexSpec::flat(
            at(path),
            "the test",
        )]))
    };

    let files = flat("wheels").files("a", None).unwrap();
    assert_eq!(names(&files), ["a-1-py3-none-any.whl", "A-2.tar.gz"]);
    assert_eq!(files[0].size, Some(5));
    assert!(
        files[0].url.starts_with("file:///")
            && files[0].url.ends_with("/wheels/a-1-py3-none-any.whl")
    );
    let files = flat("page.html").files("a", None).unwrap();
    assert!(
        files[0].url.ends_with("/wheels/a-3-py3-none-any.whl"),
        "{files:?}"
    );
    assert_eq!(
        flat("wheels").files("d", None).unwrap_err().kind,
        IndexErrorKind::NoProject
    );
    assert_eq!(
        flat("no").files("a", None).unwrap_err().kind,
        IndexErrorKind::Unreadable
    );

    let simple = index(&at("simple"), None);
    assert!(
        simple.files("a", None).unwrap()[0]
            .url
            .ends_with("/wheels/a-1-py3-none-any.whl")
    );
    assert_eq!(names(&simple.files("c", None).unwrap()), ["c-1.zip"]);
    assert_eq!(
        simple.files("d", None).unwrap_err().kind,
        IndexErrorKind::NoProject
    );
}
