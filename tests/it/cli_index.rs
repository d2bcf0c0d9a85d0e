//! Package indexes through the real binary: which is asked, and what comes of its answer.

use serde_json::json;

use crate::cli_lock::{check, findings, inspect, run, small};
use crate::support::registry::digest;
use crate::support::registry::stub::{Reply, Stub};
use crate::support::servers::{Page, index};
use crate::support_cli::{Place, finish, wheel};

/// An index with `pkg` 1.0 in a wheel with code for these GPUs, and one of the next version.
fn of_pkg(code: &str, page: Page) -> Stub {
    let next = wheel("pkg", "1.1");
    let next = (next.file_name(), next.build());
    index("pkg", vec![small("pkg", code), next], page)
}

#[test]
fn a_requirement_is_judged_by_what_the_index_has() {
    for page in [Page::Json, Page::Html] {
        let place = Place::new();
        for (code, status, found) in [
            ("sm_90", 0, vec![]),
            (
                "sm_80",
                1,
                vec![json!(["no-kernel-image", "pkg", 1, "H100"])],
            ),
        ] {
            let server = of_pkg(code, page);
            let url = server.url("/simple");
            let run = check(&place, &["pkg==1.0", "--index-url", &url]);
            assert_eq!(
                (run.status, findings(&run)),
                (status, found),
                "{page:?} {run:?}"
            );
            let (name, _) = small("pkg", code);
            let asked = server.paths();
            assert_eq!(
                asked[..2],
                ["GET /simple/pkg/".to_owned(), format!("GET /files/{name}")],
                "{page:?}"
            );
        }
    }
}

#[test]
fn a_further_index_is_asked_for_what_the_first_does_not_have() {
    let empty = index("other", Vec::new(), Page::Json);
    let server = of_pkg("sm_90", Page::Json);
    let place = Place::new();
    let (first, further) = (empty.url("/simple"), server.url("/simple"));
    let args = [
        "pkg==1.0",
        "--index-url",
        &first,
        "--extra-index-url",
        &further,
    ];
    let run = check(&place, &args);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(empty.paths(), ["GET /simple/pkg/"]);
}

#[test]
fn an_index_of_the_policy_is_asked_where_no_option_names_one() {
    let of_policy = of_pkg("sm_90", Page::Json);
    let of_option = of_pkg("sm_80", Page::Json);
    let place = Place::new();
    let policy = format!(
        "version: 1\nindexes: [\"{}\"]\ntargets: [{{name: t, gpu: H100, driver: R580}}]\n",
        of_policy.url("/simple")
    );
    place.write("smgate.yaml", policy);
    let by_policy = run(&place, &["check", "pkg==1.0", "--no-cache"]);
    assert_eq!(by_policy.status, 0, "{by_policy:?}");
    let url = of_option.url("/simple");
    let args = ["check", "pkg==1.0", "--no-cache", "--index-url", &url];
    let by_option = run(&place, &args);
    assert_eq!(by_option.status, 1, "{by_option:?}");
}

#[test]
fn a_run_on_files_of_this_machine_asks_nothing_of_the_network_settings() {
    let place = Place::new();
    let (name, bytes) = small("pkg", "sm_90");
    place.write(&name, bytes);
    place.write("authorities.pem", "no certificate");
    let args = ["check", &name, "--target", "H100", "--driver", "R580"];
    let mut command = place.command(&args);
    command
        .env("PIP_CERT", place.path().join("authorities.pem"))
        .env("HTTPS_PROXY", "ftp://proxy.example");
    assert_eq!(finish(command), place.run(&args));
}

#[test]
fn an_index_of_a_policy_has_no_login_in_its_address() {
    let place = Place::new();
    let text = "version: 1\nindexes: [\"https://me:secret@a.example/simple\"]\ntargets: [{name: t, gpu: H100}]\n";
    place.write("smgate.yaml", text);
    let run = run(&place, &["policy", "lint"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr.contains("has no login in its address"),
        "{run:?}"
    );
}

#[test]
fn an_index_that_a_lock_file_names_is_asked_before_that_of_the_options() {
    let named = of_pkg("sm_90", Page::Json);
    let other = of_pkg("sm_80", Page::Json);
    let hash = digest(&small("pkg", "sm_90").1);
    let url = named.url("/simple");
    let pipenv = json!({
        "_meta": {
            "hash": {"sha256": "00"}, "pipfile-spec": 6, "requires": {"python_version": "3.12"},
            "sources": [{"name": "own", "url": url, "verify_ssl": true}],
        },
        "default": {"pkg": {"hashes": [hash], "index": "own", "version": "==1.0"}},
        "develop": {},
    });
    let requirements = format!("--index-url {url}\npkg==1.0 --hash={hash}\n");
    for (name, text) in [
        ("Pipfile.lock", pipenv.to_string()),
        ("requirements.txt", requirements),
    ] {
        let place = Place::new();
        place.write(name, text);
        let run = check(&place, &[name, "--index-url", &other.url("/simple")]);
        assert_eq!(run.status, 0, "{run:?}");
        let inspected = inspect(&place, &[name]);
        let package = &inspected.json()["locks"][0]["packages"][0];
        assert_eq!(
            (&package["hash"], &package["status"]),
            (&json!(hash), &json!("wheel"))
        );
    }
    assert_eq!(other.paths(), Vec::<String>::new());
}

#[test]
fn a_file_with_another_hash_than_the_requirement_says_is_not_taken() {
    let server = of_pkg("sm_90", Page::Html);
    let place = Place::new();
    place.write(
        "requirements.txt",
        format!("pkg==1.0 --hash={}\n", digest(b"another file")),
    );
    let run = check(
        &place,
        &["requirements.txt", "--index-url", &server.url("/simple")],
    );
    assert_ne!(run.status, 0, "{run:?}");
    assert_eq!(server.paths(), ["GET /simple/pkg/"]);
}

#[test]
fn a_poetry_lock_gets_the_addresses_of_its_files_from_the_index() {
    let server = of_pkg("sm_80", Page::Json);
    let (name, bytes) = small("pkg", "sm_80");
    let place = Place::new();
    let hash = digest(&bytes);
    place.write(
        "poetry.lock",
        format!(
            "[[package]]\nname = \"pkg\"\nversion = \"1.0\"\noptional = false\npython-versions = \">=3.10\"\n\
             groups = [\"main\"]\nfiles = [{{file = \"{name}\", hash = \"{hash}\"}}]\n\n\
             [metadata]\nlock-version = \"2.1\"\npython-versions = \">=3.12\"\ncontent-hash = \"00\"\n"
        ),
    );
    let url = server.url("/simple");
    let run = check(&place, &["poetry.lock", "--index-url", &url]);
    assert_eq!(
        (run.status, findings(&run)),
        (1, vec![json!(["no-kernel-image", "pkg", 1, "H100"])]),
        "{run:?}"
    );
    // what is kept by the hash needs no index
    let offline = check(&place, &["poetry.lock", "--offline"]);
    assert_eq!(offline.status, 1, "{offline:?}");
}

#[test]
fn a_project_that_no_index_has_is_said_with_what_was_asked() {
    let server = index("other", Vec::new(), Page::Json);
    let run = check(
        &Place::new(),
        &["pkg==1.0", "--index-url", &server.url("/simple")],
    );
    assert_eq!(run.status, 3, "{run:?}");
    let problems = run.json()["problems"].to_string();
    assert!(problems.contains("no index has `pkg`"), "{problems}");
    assert!(problems.contains(&server.host()), "{problems}");
}

#[test]
fn a_version_that_the_index_does_not_have_does_not_pass() {
    let server = of_pkg("sm_90", Page::Json);
    let run = check(
        &Place::new(),
        &["pkg==7.0", "--index-url", &server.url("/simple")],
    );
    assert_ne!(run.status, 0, "{run:?}");
}

#[test]
fn an_index_that_fails_does_not_pass() {
    let server = Stub::start(|_, _| Reply::new(403));
    let run = check(
        &Place::new(),
        &["pkg==1.0", "--index-url", &server.url("/simple")],
    );
    assert_eq!(run.status, 3, "{run:?}");
    assert!(
        run.json()["problems"].to_string().contains("403"),
        "{run:?}"
    );
}

#[test]
fn where_no_index_is_known_that_is_said_with_what_to_do() {
    let run = check(&Place::new(), &["pkg==1.0"]);
    assert_eq!(run.status, 3, "{run:?}");
    let problems = run.json()["problems"].to_string();
    assert!(
        problems.contains("no package index is known that could be asked for `pkg`"),
        "{problems}"
    );
    assert!(problems.contains("--index-url"), "{problems}");
}

#[test]
fn a_requirement_that_may_ask_nobody_is_unreadable() {
    let server = of_pkg("sm_90", Page::Json);
    let place = Place::new();
    let args = [
        "pkg==1.0",
        "--offline",
        "--index-url",
        &server.url("/simple"),
    ];
    let offline = check(&place, &args);
    assert_eq!(
        (offline.status, offline.codes()),
        (3, vec!["unreadable".to_owned()])
    );
    assert_eq!(server.paths(), Vec::<String>::new());
    // and a name alone is no requirement that can be judged
    let bare = run(&place, &["check", "pkg", "--target", "H100"]);
    assert_eq!(bare.status, 2, "{bare:?}");
    assert!(bare.stderr.contains("pkg==VERSION"), "{bare:?}");
}
