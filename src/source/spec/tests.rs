//! Tests of what inputs may be called.

use super::*;

fn spec(text: &str) -> (SpecKind, String) {
    let spec: SourceSpec = text.parse().unwrap();
    (spec.kind, spec.path.to_str().unwrap().to_owned())
}

#[test]
fn knows_schemes_and_windows_drives() {
    for (text, kind, path) in [
        ("a.whl", SpecKind::Bare, "a.whl"),
        ("wheel:a.zip", SpecKind::Wheel, "a.zip"),
        ("conda:a.conda", SpecKind::Conda, "a.conda"),
        ("Dir:.", SpecKind::Dir, "."),
        ("file:a:b", SpecKind::File, "a:b"),
        (r"C:\x\a.whl", SpecKind::Bare, r"C:\x\a.whl"),
        ("c:/x", SpecKind::Bare, "c:/x"),
        ("./a:b", SpecKind::Bare, "./a:b"),
        ("d/a:b", SpecKind::Bare, "d/a:b"),
        ("oci-dir:x:1", SpecKind::OciDir, "x:1"),
        ("oci-archive:x", SpecKind::OciArchive, "x"),
        ("docker-archive:x", SpecKind::DockerArchive, "x"),
        ("docker:a:1", SpecKind::Docker, "a:1"),
        ("podman:a", SpecKind::Podman, "a"),
        #[cfg(feature = "registry")]
        (
            "registry:a.example:5000/b:1",
            SpecKind::Registry,
            "a.example:5000/b:1",
        ),
        ("-", SpecKind::Stdin, "-"),
        ("./-", SpecKind::Bare, "./-"),
    ] {
        assert_eq!(spec(text), (kind, path.to_owned()), "{text}");
    }
}

#[test]
fn refuses_what_it_cannot_read_and_says_what_it_can() {
    for text in [
        "conda:",
        "oci:x",
        "docker-daemon:a",
        "docker://a",
        "docker:",
        #[cfg(not(feature = "registry"))]
        "https://example.org/a.whl",
        "gopher:x",
        "wheel:",
        "",
    ] {
        let error = text.parse::<SourceSpec>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{text}");
        assert!(error.hint().is_some(), "{text}");
    }
    let error = "ubuntu:22.04".parse::<SourceSpec>().unwrap_err();
    assert_eq!(error.to_string(), "`ubuntu:` is no kind of input");
    assert!(error.hint().unwrap().contains("`wheel:PATH`"));
    assert!(error.hint().unwrap().contains("`./ubuntu:22.04`"));
}

#[test]
fn an_image_may_be_named_behind_its_path() {
    let hex = "0".repeat(64);
    let digest = format!("sha256:{hex}");
    for (text, path, name) in [
        ("oci-dir:d", "d", None),
        ("oci-dir:d:v1", "d", Some("v1")),
        ("docker-archive:d/a.tar:lab/x:1", "d/a.tar", Some("lab/x:1")),
        (
            "docker-archive:a.tar:localhost:5000/x:1",
            "a.tar",
            Some("localhost:5000/x:1"),
        ),
        (r"oci-archive:C:\x\a.tar", r"C:\x\a.tar", None),
        (r"oci-archive:C:\x\a.tar:v1", r"C:\x\a.tar", Some("v1")),
        ("oci-archive:c:/a.tar:v1", "c:/a.tar", Some("v1")),
        ("oci-archive:c:v1", "c", Some("v1")),
        (&format!("oci-dir:d@{digest}"), "d", Some(digest.as_str())),
        (
            &format!("oci-dir:d@x:1@{digest}"),
            "d@x:1",
            Some(digest.as_str()),
        ),
        ("oci-dir:d@x", "d@x", None),
        ("dir:d:v1", "d:v1", None),
    ] {
        let spec: SourceSpec = text.parse().unwrap();
        assert_eq!(spec.image(), (Path::new(path), name), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_path_with_a_colon_that_is_there_is_a_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a:b");
    fs::write(&path, "").unwrap();
    for (behind, name) in [("", None), (":v1", Some("v1")), (":x/y:1", Some("x/y:1"))] {
        let text = format!("oci-archive:{}{behind}", path.display());
        let spec: SourceSpec = text.parse().unwrap();
        assert_eq!(spec.image(), (path.as_path(), name));
    }
}

#[test]
fn matches_as_a_shell_does() {
    for (pattern, name, expected) in [
        ("*.whl", "a.whl", true),
        ("*.whl", ".whl", false),
        (".*", ".whl", true),
        ("*.whl", "a.whl.asc", false),
        ("torch-?.*-cp3*.whl", "torch-2.9.1-cp312-x.whl", true),
        ("?", "é", true),
        ("?", "", false),
        ("*", "", true),
        ("**a*", "bba", true),
        ("a*b*c", "abxbxc", true),
        ("a*b*c", "abxbx", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
    // Where a careless matcher takes forever.
    assert!(!matches(&"*a".repeat(50), &"a".repeat(49)));
    assert!(!matches(
        &format!("{}b", "*a".repeat(30)),
        &"a".repeat(3000)
    ));
}

#[test]
fn expands_wildcards_that_the_shell_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["b.whl", "a.whl", "a.txt", ".c.whl"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    let expand = |last: &str| {
        let path = dir.path().join(last);
        SourceSpec::parse(path.as_os_str()).unwrap().expand()
    };
    let names: Vec<_> = expand("*.whl")
        .unwrap()
        .iter()
        .map(|spec| spec.path.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["a.whl", "b.whl"]);
    assert_eq!(expand("missing.whl").unwrap().len(), 1, "found out later");
    let error = expand("*.conda").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("*.conda"));
    assert!(error.hint().is_some());
}

#[cfg(unix)]
#[test]
fn a_file_whose_name_has_a_star_is_taken_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("*.whl");
    for name in ["*.whl", "a.whl"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    let specs = SourceSpec::parse(path.as_os_str())
        .unwrap()
        .expand()
        .unwrap();
    assert_eq!(
        specs.iter().map(SourceSpec::path).collect::<Vec<_>>(),
        [path]
    );
}
