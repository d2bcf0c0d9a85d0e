//! Who is asked with which credentials, and what is said where they do not help.

use super::*;

#[derive(Debug)]
struct Known;

impl Credentials for Known {
    fn for_url(&self, url: &str) -> Option<Secret> {
        assert!(url.contains("/d/a%2Bb.whl"), "{url}");
        Some(Secret::basic("ci", &Secret::new("s3cret")))
    }
}

fn private(seen: &Seen) -> Reply {
    match seen.header("authorization") {
        Some("Basic Y2k6czNjcmV0") => part(&file(), seen),
        Some(_) => Reply::new(403),
        None => Reply::new(401).header("www-authenticate", "Basic realm=\"x\""),
    }
}

#[test]
fn credentials_are_sent_where_they_are_asked_for_and_from_then_on() {
    let stub = serve(|seen, _| private(seen));
    let (http, _) = options();
    let mut access = Access::new(http, CredentialOptions::new(Vec::new()));
    access.files = Some(Arc::new(Known));
    let fetcher = Fetcher::new(&access).unwrap();
    let url = stub.url("/d/a%2Bb.whl");
    let found = fetcher
        .open(&url, &Expected::default(), &Limits::default())
        .unwrap();
    assert_eq!(read(&found).unwrap(), file());
    let sent: Vec<bool> = stub
        .seen()
        .iter()
        .map(|seen| seen.header("authorization").is_some())
        .collect();
    assert_eq!(sent, [false, true, true]);
}

#[test]
fn a_user_in_the_address_is_sent_at_once_and_shown_nowhere() {
    let stub = serve(|seen, _| private(seen));
    let fetcher = fetcher();
    let url = |login: &str| format!("http://{login}@{}/d/a%2Bb.whl?sig=abc", stub.host());
    let open = |login: &str| fetcher.open(&url(login), &Expected::default(), &Limits::default());
    let found = open("ci:s3cret").unwrap();
    assert_eq!(read(&found).unwrap(), file());
    assert!(
        stub.seen()
            .iter()
            .all(|seen| seen.header("authorization").is_some())
    );
    let shown = format!("{found:?} {} {}", found.shown, found.name);
    let error = open("ci:wr0ng").unwrap_err();
    let said = format!("{shown} {} {error:?}", message(&error));
    assert!(said.contains("does not take the credentials"), "{said}");
    for secret in ["s3cret", "wr0ng", "sig=abc", "Y2k6"] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[test]
fn what_a_server_does_not_give_is_an_error_with_the_address_and_a_next_step() {
    for (status, said) in [
        (401, "wants credentials: status 401 | give them as"),
        (
            403,
            "does not give the file: status 403 | check the address; a signed one",
        ),
        (404, "has no such file: status 404 | check the address"),
        (
            500,
            "does not give the file now: status 500 | run again later",
        ),
    ] {
        let stub = serve(move |_, _| Reply::new(status));
        let error = open(&stub, &Expected::default()).unwrap_err();
        let text = message(&error);
        assert!(text.contains(said), "{text}");
        assert!(text.contains(&stub.url("/d/a%2Bb.whl")), "{text}");
    }
}

#[test]
fn another_host_gets_no_credentials() {
    let store = serve(|seen, _| match seen.header("authorization") {
        // as stores do that are sent two kinds of credentials
        Some(_) => Reply::new(400),
        None => part(&file(), seen),
    });
    let to = store.url("/store?sig=abc");
    let index = serve(move |seen, _| match seen.header("authorization") {
        Some(_) => Reply::new(302).header("location", to.clone()),
        None => Reply::new(401),
    });
    let fetcher = fetcher();
    let url = format!("http://ci:s3cret@{}/a.whl", index.host());
    let found = fetcher
        .open(&url, &Expected::default(), &Limits::default())
        .unwrap();
    assert_eq!(found.whole, None);
    assert_eq!(read(&found).unwrap(), file());
    assert!(
        store
            .seen()
            .iter()
            .all(|seen| seen.header("authorization").is_none())
    );
}
