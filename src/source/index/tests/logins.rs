//! Who is told which login.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use super::*;
use crate::source::http::stub::{Seen, Stub};
use crate::source::{Credentials as _, Secret};

fn basic(pair: &str) -> String {
    format!("Basic {}", STANDARD.encode(pair))
}

/// A server that wants the login `pair`.
fn private(pair: &str) -> Stub {
    let wanted = basic(pair);
    Stub::start(move |seen, _| {
        if seen.header("authorization") == Some(&wanted) {
            json(&json_file("a-1.tar.gz", "ab"))
        } else {
            Reply::new(401).header("www-authenticate", "Basic realm=\"x\"")
        }
    })
}

fn sent(stub: &Stub) -> Vec<Option<String>> {
    let login = |seen: &Seen| seen.header("authorization").map(str::to_owned);
    stub.seen().iter().map(login).collect()
}

fn netrc(text: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("netrc");
    fs::write(&path, text).unwrap();
    (dir, path)
}

#[test]
fn a_login_of_netrc_is_sent_after_the_server_has_asked_and_then_at_once() {
    let stub = private("u:p w");
    let (_dir, path) = netrc("machine 127.0.0.1 login u password \"p w\"\n");
    let indexes = index(&stub.url("/simple"), Some(path));
    assert_eq!(names(&indexes.files("a", None).unwrap()), ["a-1.tar.gz"]);
    indexes.files("b", None).unwrap();
    let login = Some(basic("u:p w"));
    assert_eq!(sent(&stub), [None, login.clone(), login]);
}

#[test]
fn a_login_of_the_address_is_sent_at_once_and_shown_nowhere() {
    let stub = private("us@er:s3cret");
    let address = format!("http://us%40er:s3cret@{}/simple", stub.host());
    let indexes = index(&address, None);
    indexes.files("a", None).unwrap();
    assert_eq!(sent(&stub), [Some(basic("us@er:s3cret"))]);
    let shown = format!("{indexes:?}");
    assert!(
        !shown.contains("s3cret") && !shown.contains("us%40er"),
        "{shown}"
    );
}

#[test]
fn a_login_that_is_not_taken_is_told_without_it() {
    let stub = private("u:right");
    let address = format!("http://u:wr0ng@{}/simple", stub.host());
    let error = index(&address, None).files("a", None).unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::Refused);
    assert!(error.message.contains("does not take the login"), "{error}");
    assert!(!format!("{error:?}").contains("wr0ng"));
    // no guessing: asked once
    assert_eq!(stub.seen().len(), 1);
}

#[test]
fn a_403_is_answered_with_a_login_too() {
    let stub = Stub::start(|seen, _| match seen.header("authorization") {
        Some(_) => json(&json_file("a-1.tar.gz", "ab")),
        None => Reply::new(403),
    });
    let (_dir, path) = netrc("default login u password p");
    assert_eq!(
        index(&stub.url("/s"), Some(path))
            .files("a", None)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_server_that_has_taken_the_login_answers_403_for_what_it_does_not_have() {
    let stub =
        Stub::start(
            |seen, _| match (seen.header("authorization"), seen.path.ends_with("/a/")) {
                (Some(_), true) => json(&json_file("a-1.tar.gz", "ab")),
                _ => Reply::new(403),
            },
        );
    let address = format!("http://u:p@{}/simple", stub.host());
    let indexes = index(&address, None);
    let kind = |name| indexes.files(name, None).unwrap_err().kind;
    assert_eq!(kind("b"), IndexErrorKind::Refused);
    indexes.files("a", None).unwrap();
    assert_eq!(kind("c"), IndexErrorKind::NoProject);
}

#[test]
fn another_server_gets_no_login() {
    let other = Stub::start(|_, _| Reply::new(401));
    let to = other.url("/simple/a/");
    let stub = Stub::start(move |_, _| Reply::new(302).header("location", to.clone()));
    let address = format!("http://u:p@{}/simple", stub.host());
    let error = index(&address, None).files("a", None).unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::Refused);
    assert_eq!(sent(&stub), [Some(basic("u:p"))]);
    assert_eq!(sent(&other), [None]);
    // and where the login is only known, not of the address: the answer of the other server is no question of ours
    let to = other.url("/simple/a/");
    let stub = Stub::start(move |_, _| Reply::new(302).header("location", to.clone()));
    let (_dir, path) = netrc("machine 127.0.0.1 login u password p");
    index(&stub.url("/simple"), Some(path))
        .files("a", None)
        .unwrap_err();
    assert_eq!(sent(&stub), [None]);
    assert_eq!(sent(&other), [None, None]);
}

#[test]
fn netrc_that_is_not_understood_is_named_where_a_login_is_missing() {
    let (_dir, path) = netrc("machine 127.0.0.1 login u password s3cret x");
    let stub = private("u:s3cret");
    let error = index(&stub.url("/simple"), Some(path))
        .files("a", None)
        .unwrap_err();
    assert_eq!(error.kind, IndexErrorKind::Refused);
    assert!(
        error.message.contains("is not understood at line 1"),
        "{error}"
    );
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
}

/// The login of a configuration for an address, as `user:password`.
fn login(config: &IndexConfig, url: &str) -> Option<String> {
    let value = IndexCredentials::new(config).unwrap().for_url(url)?;
    let pair = STANDARD
        .decode(value.expose().strip_prefix("Basic ").unwrap())
        .unwrap();
    Some(String::from_utf8(pair).unwrap())
}

fn given(user: &str, password: &str) -> IndexLogin {
    IndexLogin {
        user: user.to_owned(),
        password: Some(Secret::new(password)),
    }
}

#[test]
fn the_address_counts_before_netrc_and_netrc_before_the_environment() {
    let (_dir, path) =
        netrc("machine b.example login n password n\nmachine B.EXAMPLE login n password last");
    let simple = |address: &str| {
        let mut spec = IndexSpec::simple(address, "the test");
        spec.login = Some(given("e", "e"));
        spec
    };
    let mut config = IndexConfig::new(vec![
        simple("https://a:a@b.example/simple"),
        simple("https://b.example:8443/simple"),
        simple("https://c.example/simple"),
        simple("https://user@b.example:9443/simple"),
        simple("https://token@d.example/simple"),
    ]);
    config.credentials.netrc.push(path);
    let of = |url| login(&config, url);
    assert_eq!(of("https://b.example/files/a.whl").as_deref(), Some("a:a"));
    assert_eq!(of("https://b.example:8443/x").as_deref(), Some("n:last"));
    assert_eq!(of("https://c.example/x").as_deref(), Some("e:e"));
    // of another user than the one of the address
    assert_eq!(of("https://b.example:9443/x").as_deref(), Some("e:e"));
    assert_eq!(of("https://d.example/x").as_deref(), Some("e:e"));
    assert_eq!(of("https://e.example/x"), None);
    // another scheme and another port are another server
    assert_eq!(of("http://c.example/x"), None);
    assert_eq!(of("https://c.example:444/x"), None);
    for spec in &mut config.indexes {
        spec.login = None;
    }
    assert_eq!(
        login(&config, "https://d.example/x").as_deref(),
        Some("token:")
    );
}

#[test]
fn of_two_indexes_on_one_server_the_nearer_one_counts() {
    let config = IndexConfig::new(vec![
        IndexSpec::simple("https://a:1@i.example/one/simple", "the test"),
        IndexSpec::simple("https://b:2@i.example/two/simple/", "the test"),
    ]);
    for (path, pair) in [
        ("one/simple/x/", "a:1"),
        ("two/simple/x/", "b:2"),
        ("files/x.whl", "a:1"),
        ("two/simpleton/", "a:1"),
    ] {
        assert_eq!(
            login(&config, &format!("https://i.example/{path}")).as_deref(),
            Some(pair),
            "{path}"
        );
    }
}

/// The program `keyring` as a shell script; `.exe` is what Windows would want.
#[cfg(unix)]
mod keyring {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::time::Duration;

    use super::*;

    fn config(body: &str, address: &str) -> (TempDir, IndexConfig) {
        let dir = tempfile::tempdir().unwrap();
        let mut file = fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o755)
            .open(dir.path().join("keyring"))
            .unwrap();
        let asked = dir.path().join("asked");
        let script = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\necho \"$*\" >> '{}'\n{body}\n",
            asked.display()
        );
        file.write_all(script.as_bytes()).unwrap();
        drop(file);
        let mut config = IndexConfig::new(vec![IndexSpec::simple(address, "the test")]);
        config.credentials.keyring = true;
        config.credentials.path = Some(dir.path().into());
        (dir, config)
    }

    fn asked(dir: &TempDir) -> String {
        let path = dir.path().join("asked");
        let file = fs::File::open(path).ok();
        let bytes = file.map(|file| crate::limits::read_capped(file, 4096).unwrap().0);
        String::from_utf8(bytes.unwrap_or_default()).unwrap()
    }

    #[test]
    fn is_asked_for_the_index_and_then_for_its_host_once() {
        let (dir, config) = config(
            "test \"$2\" = i.example || exit 1\necho s3cret",
            "https://u@i.example/simple/",
        );
        let credentials = IndexCredentials::new(&config).unwrap();
        let url = "https://i.example/simple/a/";
        let first = credentials.for_url(url).unwrap();
        assert_eq!(first.expose(), basic("u:s3cret"));
        assert_eq!(credentials.for_url(url), Some(first));
        assert_eq!(
            asked(&dir),
            "get https://i.example/simple u\nget i.example u\n"
        );
    }

    #[test]
    fn is_not_asked_unless_that_is_wanted() {
        let (dir, mut config) = config("echo s3cret", "https://u@i.example/simple/");
        config.credentials.keyring = false;
        assert_eq!(login(&config, "https://i.example/").as_deref(), Some("u:"));
        assert_eq!(asked(&dir), "");
    }

    #[test]
    fn takes_no_user_for_an_option() {
        let (dir, config) = config("echo s3cret", "https://-x@i.example/simple/");
        assert_eq!(login(&config, "https://i.example/").as_deref(), Some("-x:"));
        assert_eq!(asked(&dir), "");
    }

    #[test]
    fn that_hangs_is_ended_and_told() {
        let (_dir, mut config) = config("exec sleep 60", "https://i.example/simple/");
        config.indexes[0].login = Some(IndexLogin {
            user: "u".to_owned(),
            password: None,
        });
        config.credentials.keyring_timeout = Duration::from_millis(200);
        let credentials = IndexCredentials::new(&config).unwrap();
        assert_eq!(credentials.for_url("https://i.example/"), None);
        let remark = credentials.remark("https://i.example/");
        assert_eq!(
            remark.as_deref(),
            Some("the program `keyring` gave no answer in time")
        );
    }
}
