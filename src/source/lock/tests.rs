//! What lock files of every kind have in common, and what tests of them share.

use super::*;

/// The lock that a text is, without a file beside it.
pub(super) fn lock(name: &str, text: &str) -> Lock {
    lock_beside(name, text, None)
}

/// The lock that a text is, beside this `pyproject.toml`.
pub(super) fn lock_beside(name: &str, text: &str, project: Option<&str>) -> Lock {
    let beside = |path: &str| {
        let project = project.filter(|_| path == "pyproject.toml")?;
        Some(project.as_bytes().to_vec().into())
    };
    read(text.as_bytes(), name, &Locator::root(0, name), &beside).unwrap()
}

/// Why a file is no lock, and what to do.
pub(super) fn failure(name: &str, bytes: &[u8]) -> (String, String) {
    let error = read(bytes, name, &Locator::root(0, name), &|_| None).unwrap_err();
    (error.to_string(), error.hint().unwrap().to_owned())
}

/// The problems of a lock, in words.
pub(super) fn problems(lock: &Lock) -> Vec<&str> {
    lock.problems
        .iter()
        .map(|problem| problem.detail.as_str())
        .collect()
}

/// `name version`, and `name` where there is no version.
pub(super) fn packages(lock: &Lock) -> Vec<String> {
    let shown = |package: &Locked| match &package.version {
        Some(version) => format!("{} {version}", package.name),
        None => package.name.clone(),
    };
    lock.packages.iter().map(shown).collect()
}

/// An edge as one text: `torch==2.9.1 from URL [extras] ; marker under extra gpu`.
pub(super) fn edge(edge: &Dependency) -> String {
    let part = |before: &str, part: &Option<String>| {
        part.as_ref()
            .map_or_else(String::new, |part| format!("{before}{part}"))
    };
    let extras = (!edge.extras.is_empty()).then(|| format!("[{}]", edge.extras.join(",")));
    let under = edge.under.as_ref().map(|under| match under {
        Under::Extra(extra) => format!("extra {extra}"),
        Under::Group(group) => format!("group {group}"),
    });
    [
        edge.name.clone(),
        part("==", &edge.version),
        part(" from ", &edge.source),
        part(" ", &extras),
        part(" ; ", &edge.marker),
        part(" under ", &under),
    ]
    .concat()
}

pub(super) fn edges(edges: &[Dependency]) -> Vec<String> {
    edges.iter().map(edge).collect()
}

const UV: &str = "version = 1
requires-python = \">=3.12\"

[[package]]
name = \"app\"
version = \"1.0\"
source = { virtual = \".\" }
";

#[test]
fn a_byte_order_mark_and_carriage_returns_are_no_part_of_a_lock() {
    let text = format!("\u{feff}{}", UV.replace('\n', "\r\n"));
    let lock = lock("uv.lock", &text);
    assert_eq!(packages(&lock), ["app 1.0"]);
    assert_eq!(lock.packages[0].line, 4);
    assert_eq!(problems(&lock), [""; 0]);
}

#[test]
fn what_is_no_lock_is_said_with_what_would_be_one() {
    let (message, hint) = failure("notes.txt", b"hello");
    assert_eq!(
        message,
        "`notes.txt` is no lock file of a kind that is read"
    );
    assert!(hint.contains("uv.lock, pylock.toml, poetry.lock"), "{hint}");
}

#[test]
fn what_is_too_large_is_not_read() {
    let large = vec![b'#'; MOST_BYTES + 1];
    let (message, _) = failure("uv.lock", &large);
    assert_eq!(message, "`uv.lock` has more than 64 MiB");
}

#[test]
fn text_that_breaks_the_format_is_an_error_with_its_line() {
    for (name, text, wanted) in [
        (
            "uv.lock",
            "version = 1\nrequires-python = \n",
            "uv.lock, line 2: no valid TOML: ",
        ),
        ("uv.lock", "<html>", "uv.lock, line 1: no valid TOML: "),
        (
            "pylock.toml",
            "lock-version = \"1.0\"\na = 1\na = 2\n",
            "pylock.toml, line 3: no valid TOML: duplicate key",
        ),
        (
            "poetry.lock",
            "[metadata]\nlock-version = \"2.1\"\n[x\n",
            "poetry.lock, line 3: no valid TOML: ",
        ),
        (
            "pdm.lock",
            "[metadata]\nlock_version = \"4.5\0\"\n",
            "pdm.lock, line 2: no valid TOML: ",
        ),
        (
            "Pipfile.lock",
            "{\n \"_meta\": {\n",
            "Pipfile.lock, line 3: no valid JSON: EOF while parsing",
        ),
    ] {
        let (message, hint) = failure(name, text.as_bytes());
        assert!(message.starts_with(wanted), "{name}: {message}");
        assert!(hint.starts_with("write it"), "{hint}");
    }
}

#[test]
fn nesting_without_end_is_an_error() {
    let deep = |open: &str| open.repeat(100_000);
    let toml = format!("{UV}x = {}", deep("["));
    assert!(
        failure("uv.lock", toml.as_bytes())
            .0
            .contains("no valid TOML")
    );
    let keys = format!("{UV}x{} = 1", deep(".a"));
    assert!(
        failure("uv.lock", keys.as_bytes())
            .0
            .contains("no valid TOML")
    );
    let json = format!(
        "{{\"_meta\": {{\"pipfile-spec\": 6}}, \"default\": {}",
        deep("{\"a\":")
    );
    assert!(
        failure("Pipfile.lock", json.as_bytes())
            .0
            .contains("no valid JSON")
    );
}

#[test]
fn entries_that_cannot_be_read_are_problems_with_their_lines_and_the_others_stay() {
    let text = format!(
        "{UV}
[[package]]
name = \"b\"
version = 2

[[package]]
version = \"3\"
source = {{ registry = \"https://i.example\" }}

[[package]]
name = \"c\"
source = {{ somewhere = \"x\" }}

[[package]]
name = \"d\"
version = \"1\"
source = {{ registry = \"https://i.example\" }}
wheels = [
    {{ hash = \"sha256:00\" }},
    {{ url = \"https://i.example/d-1-py3-none-any.whl\", hash = \"nothing\" }},
]
"
    );
    let lock = lock("uv.lock", &text);
    assert_eq!(packages(&lock), ["app 1.0", "d 1"]);
    assert_eq!(
        problems(&lock),
        [
            "line 11: this entry of `package` can't be read: invalid type: integer `2`, expected a string",
            "line 13: this entry of `package` can't be read: missing field `name`",
            "line 17: the source of `c` is of no kind that is known",
            "line 26: a file of `d` has neither a name nor an address",
            "line 27: a file of `d` has a hash that is none",
        ]
    );
    assert!(lock.packages[1].files.is_empty());
}

#[test]
fn problems_without_end_are_counted() {
    let text = format!("{UV}{}", "[[package]]\nname = 1\n".repeat(1000));
    let lock = lock("uv.lock", &text);
    assert_eq!(lock.problems.len(), 101);
    assert_eq!(lock.problems[100].detail, "900 more entries can't be read");
}

#[test]
fn secrets_never_stand_in_a_lock_that_is_shown_nor_in_its_mistakes() {
    let text = format!(
        "{UV}
[[package]]
name = \"a\"
version = \"1\"
source = {{ registry = \"https://me:s3cret@i.example/simple\" }}
wheels = [{{ url = \"https://me:s3cret@i.example/a-1-py3-none-any.whl\" }}]

[[package]]
name = \"b\"
source = {{ git = \"https://s3cret@g.example/b?rev=main#c0ffee\" }}

[[package]]
name = \"c\"
source = {{ url = \"https://me:s3cret@i.example/c-1.tar.gz\" }}
dependencies = [{{ name = \"b\", source = {{ git = \"https://s3cret@g.example/b?rev=main#c0ffee\" }} }}]

[[package]]
name = \"d\"
source = \"https://me:s3cret@i.example/\"
"
    );
    let lock = lock("uv.lock", &text);
    let shown = format!("{lock:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    let url = lock.packages[1].files[0].url.as_deref();
    assert_eq!(
        url,
        Some("https://me:s3cret@i.example/a-1-py3-none-any.whl")
    );
    assert_eq!(
        lock.packages[1].index.as_deref(),
        Some("https://i.example/simple")
    );
    let b = lock.packages[2].source();
    assert_eq!(b.as_deref(), Some("https://g.example/b?rev=main#c0ffee"));
    assert_eq!(lock.packages[3].dependencies[0].source, b);
    assert_eq!(lock.problems.len(), 1);

    let (message, _) = failure(
        "pylock.toml",
        b"lock-version = \"1.0\"\nextras = \"https://me:s3cret@i.example\"\n",
    );
    assert!(
        message.contains("i.example") && !message.contains("s3cret"),
        "{message}"
    );
}

#[test]
fn long_values_do_not_make_long_messages() {
    let text = format!(
        "lock-version = \"1.0\"\nextras = \"{}\"\n",
        "\u{e9}".repeat(100_000)
    );
    let (message, _) = failure("pylock.toml", text.as_bytes());
    assert!(message.len() < 400 && message.ends_with('…'), "{message}");
}

/// A requirements file with `count` pins.
fn pins(count: usize) -> String {
    let pin = |number| format!("p{number}==1\n");
    (0..count).map(pin).collect()
}

/// A list of the kind of `uv.lock` with `count` packages.
fn uv_packages(count: usize) -> String {
    let package = |number| {
        format!(
            "[[package]]\nname = \"p{number}\"\nversion = \"1\"\nsource = {{ registry = \"x\" }}\n"
        )
    };
    let packages: String = (0..count).map(package).collect();
    format!("version = 1\nrequires-python = \">=3.12\"\n{packages}")
}

#[test]
fn more_packages_than_any_lock_has_are_refused_with_the_limit_and_as_many_are_read() {
    assert_eq!(MOST_PACKAGES, 100_000);
    assert_eq!(
        lock("requirements.txt", &pins(100_000)).packages.len(),
        100_000
    );
    let explicit = |count| {
        let line = |number| format!("https://conda.example/main/linux-64/p{number}-1-0.conda\n");
        let lines: String = (0..count).map(line).collect();
        format!("@EXPLICIT\n{lines}")
    };
    for (name, text) in [
        ("requirements.txt", pins(100_001)),
        ("explicit.txt", explicit(100_001)),
        ("uv.lock", uv_packages(100_001)),
    ] {
        let (what, hint) = failure(name, text.as_bytes());
        assert_eq!(what, format!("`{name}` has more than 100000 packages"));
        assert!(hint.contains("check that this is one"), "{hint}");
    }
}

#[test]
fn packages_of_files_that_requirements_name_count_too() {
    let beside = |path: &str| (path == "more.txt").then(|| pins(100_000).into_bytes().into());
    let of = |text: &str| {
        let at = Locator::root(0, "requirements.txt");
        read(text.as_bytes(), "requirements.txt", &at, &beside)
    };
    assert_eq!(of("-r more.txt\n").unwrap().packages.len(), 100_000);
    let error = of("-r more.txt\none-more==1\n").unwrap_err();
    assert!(
        error.to_string().ends_with("more than 100000 packages"),
        "{error}"
    );
}

#[test]
fn a_text_of_more_values_than_any_lock_has_is_refused_before_it_is_parsed() {
    let text = format!("{}x = [{}]\n", uv_packages(1), "1,".repeat(3_000_000));
    let (what, _) = failure("uv.lock", text.as_bytes());
    assert_eq!(what, "`uv.lock` has more than 3000000 values");
}
