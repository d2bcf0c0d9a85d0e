//! Which kind of lock file a text is.

use super::*;

const UV: &str =
    "version = 1\nrevision = 3\nrequires-python = \">=3.12\"\n\n[[package]]\nname = \"a\"\n";
const PYLOCK: &str =
    "# made\nlock-version = \"1.0\"\ncreated-by = \"x\"\n[[packages]]\nname = \"a\"\n";
const POETRY: &str = "[[package]]\nname = \"a\"\n\n[metadata]\nlock-version = \"2.1\"\n";
const PDM: &str = "[metadata]\nlock_version = \"4.5.0\"\n\n[[package]]\nname = \"a\"\n";
const PIPENV: &str = "{\"_meta\": {\"pipfile-spec\": 6}, \"default\": {}}";

#[test]
fn the_kind_is_told_by_content_under_any_name() {
    for (text, kind) in [
        (UV, LockKind::Uv),
        (PYLOCK, LockKind::Pylock),
        (POETRY, LockKind::Poetry),
        (PDM, LockKind::Pdm),
        (PIPENV, LockKind::Pipenv),
    ] {
        for name in ["x.uv.lock", "locked", "a.toml", kind.title()] {
            assert_eq!(detect(text.as_bytes(), name).unwrap(), Some(kind), "{name}");
            let crlf = format!("\u{feff}{}", text.replace('\n', "\r\n"));
            assert_eq!(detect(crlf.as_bytes(), name).unwrap(), Some(kind), "{name}");
        }
    }
}

#[test]
fn other_files_are_no_lock_files() {
    let cargo =
        "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n";
    let project = "[project]\nname = \"a\"\nversion = \"1\"\nrequires-python = \">=3\"\n";
    let readme = format!("# How to\nWrite a file:\n\n{PYLOCK}");
    for text in [
        cargo,
        project,
        &readme,
        "",
        "{}",
        "{\"name\": \"package-lock\", \"lockfileVersion\": 3}",
        "[1, 2]",
        "\u{7f}ELF",
        "hello = world",
    ] {
        assert_eq!(
            detect(text.as_bytes(), "some.lock").unwrap(),
            None,
            "{text}"
        );
    }
    assert_eq!(detect(b"PK\x03\x04\xff\xfe\xfd", "a.whl").unwrap(), None);
}

#[test]
fn a_name_that_lies_is_an_error() {
    let error = detect(POETRY.as_bytes(), "uv.lock").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`uv.lock` is a lock file of poetry, not a lock file of uv"
    );
    assert_eq!(
        error.hint(),
        Some("rename it, `poetry.lock` for one, or write a uv.lock anew")
    );

    let error = detect(PDM.as_bytes(), "pylock.gpu.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`pylock.gpu.toml` is a lock file of pdm, not a lock file of PEP 751"
    );
    // which is no name of PEP 751
    assert_eq!(
        detect(PDM.as_bytes(), "pylock.a.b.toml").unwrap(),
        Some(LockKind::Pdm)
    );
}

#[test]
fn a_file_that_is_named_as_a_lock_and_is_valid_otherwise_lacks_something() {
    for (name, text, lacks) in [
        (
            "uv.lock",
            "version = 4\n[[package]]\nname = \"a\"\n",
            "`requires-python`",
        ),
        ("pylock.toml", "[tool]\na = 1\n", "`lock-version`"),
        (
            "poetry.lock",
            "[[package]]\nname = \"a\"\n",
            "`lock-version` in `[metadata]`",
        ),
        ("pdm.lock", "", "`lock_version` in `[metadata]`"),
        (
            "Pipfile.lock",
            "{\"default\": {}}",
            "`_meta` with `pipfile-spec`",
        ),
    ] {
        let error = detect(text.as_bytes(), name).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("`{name}` is no {name}: it lacks ")),
            "{error}"
        );
        assert!(error.to_string().contains(lacks), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn text_in_another_encoding_is_an_error_where_the_name_says_lock() {
    let utf16: Vec<u8> = "\u{feff}version = 1"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let error = detect(&utf16, "uv.lock").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`uv.lock` is UTF-16 text, and UTF-8 is read"
    );
    let error = detect(b"version = 1\n# \xe9\n", "uv.lock").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`uv.lock`, line 2: this is no UTF-8 text"
    );
    assert_eq!(detect(&utf16, "notes").unwrap(), None);
}

#[test]
fn only_text_may_be_a_lock_file() {
    assert!(may_be_lock(UV.as_bytes()));
    assert!(may_be_lock("\u{feff}version".as_bytes()));
    // a character that the head cuts
    let cut: Vec<u8> = std::iter::repeat_n("\u{20ac}", 2000)
        .collect::<String>()
        .into();
    assert!(may_be_lock(&cut));
    for head in [
        &b""[..],
        b"PK\x03\x04\x14\0",
        b"\x7fELF\x02",
        b"\x1f\x8b\x08",
        b"ab\0cd",
        b"\xd0\xcf\x11\xe0",
    ] {
        assert_eq!(may_be_lock(head), head == b"\x7fELF\x02", "{head:?}");
    }
}
