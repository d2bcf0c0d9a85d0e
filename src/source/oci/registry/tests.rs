//! Registries that ask, refuse, lie and mislead.

use std::sync::Arc;

use super::*;
use crate::source::http::stub::{Reply, Seen, Stub, TestClock, options};

const MANIFEST: &str = "{\"schemaVersion\": 2}";
// echo -n '{"schemaVersion": 2}' | sha256sum
const DIGEST: &str = "sha256:c5d902c53b4afcf32ad746fd9d696431650d3fbe8f7b10ca10519543fefd772c";
const TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

/// Access with a file of logins, which must live as long.
pub(in crate::source::oci) fn access(logins: &str) -> (Access, Arc<TestClock>, tempfile::TempDir) {
    let (mut http, clock) = options();
    http.plain_http = true;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.json");
    std::fs::write(&file, logins).unwrap();
    let access = Access::new(http, CredentialOptions::new(vec![file]));
    (access, clock, dir)
}

fn login(host: &str) -> String {
    // base64 of `ci:s3cret`
    format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"Y2k6czNjcmV0\"}}}}}}")
}

fn manifest() -> Reply {
    Reply::new(200).header("content-type", TYPE).body(MANIFEST)
}

fn pull(stub: &Stub, logins: &str, name: &str) -> Result<Fetched, Error> {
    let (access, _, _dir) = access(logins);
    let reference: Reference = format!("{}/{name}", stub.host()).parse()?;
    Registry::open(&reference, &access)?.manifest(&reference)
}

/// Error and hint in one text.
fn text(error: &Error) -> String {
    format!("{error} | {}", error.hint().unwrap_or_default())
}

fn bearer(seen: &Seen, token: &str) -> bool {
    seen.header("authorization") == Some(&format!("Bearer {token}"))
}

#[test]
fn asks_for_all_types_of_manifests_and_computes_the_digest() {
    let stub = Stub::start(|_, _| manifest());
    let fetched = pull(&stub, "{}", "lab/a:1").unwrap();
    assert_eq!(fetched.bytes, MANIFEST.as_bytes());
    assert_eq!(fetched.media_type, TYPE);
    assert_eq!(fetched.digest.as_ref(), DIGEST);
    assert_eq!(stub.paths(), ["GET /v2/lab/a/manifests/1"]);
    let accept = stub.seen()[0].header("accept").unwrap().to_owned();
    let types: Vec<&str> = accept.split(", ").collect();
    assert_eq!(
        types,
        [
            "application/vnd.oci.image.index.v1+json",
            "application/vnd.oci.image.manifest.v1+json",
            "application/vnd.docker.distribution.manifest.list.v2+json",
            "application/vnd.docker.distribution.manifest.v2+json",
        ]
    );
    assert_eq!(stub.seen()[0].header("authorization"), None);
}

#[test]
fn a_manifest_is_what_its_digest_says() {
    let stub = Stub::start(|seen, _| match seen.path.as_str() {
        path if path.ends_with("/lie") => manifest().header("docker-content-digest", "sha256:x"),
        _ => manifest().header("docker-content-digest", DIGEST),
    });
    let fetched = pull(&stub, "{}", &format!("a:1@{DIGEST}")).unwrap();
    assert_eq!(fetched.digest.as_ref(), DIGEST);
    assert_eq!(stub.paths(), [format!("GET /v2/a/manifests/{DIGEST}")]);
    let other = DIGEST.replace("sha256:c", "sha256:d");
    let error = pull(&stub, "{}", &format!("a@{other}")).unwrap_err();
    let host = stub.host();
    assert_eq!(
        error.to_string(),
        format!("`{host}/a@{other}` could not be pulled: what came has the digest `{DIGEST}`")
    );
    let error = pull(&stub, "{}", "a:lie").unwrap_err();
    assert!(
        text(&error).contains("says that its digest is `sha256:x`"),
        "{error}"
    );
}

#[test]
fn a_manifest_of_another_repository_is_not_asked_for() {
    let stub = Stub::start(|_, _| manifest());
    let (access, _, _dir) = access("{}");
    let reference: Reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    let other: Reference = format!("{}/b", stub.host()).parse().unwrap();
    assert_eq!(
        registry.manifest(&other).unwrap_err().kind(),
        crate::ErrorKind::Usage
    );
    assert!(stub.seen().is_empty());
}

#[test]
fn takes_no_manifest_without_end() {
    let stub = Stub::start(|_, _| manifest().body(vec![b' '; 1 << 20]).endless_body());
    let error = pull(&stub, "{}", "a").unwrap_err();
    assert!(
        error.to_string().contains("sent more than 8388608 bytes"),
        "{error}"
    );
}

#[test]
fn gives_a_password_to_a_registry_that_asks_for_one() {
    let stub = Stub::start(|seen, _| match seen.header("authorization") {
        None => Reply::new(401).header("www-authenticate", "Basic realm=\"lab\""),
        Some("Basic Y2k6czNjcmV0") => manifest(),
        Some(_) => Reply::new(500),
    });
    pull(&stub, &login(&stub.host()), "a").unwrap();
    assert_eq!(stub.seen().len(), 2);
    let host = stub.host();
    let error = pull(&stub, "{}", "a").unwrap_err();
    assert_eq!(
        text(&error),
        format!(
            "`{host}` does not let this user in: it asks for a user and a password | log in with `docker login {host}` or `podman login {host}`"
        )
    );
}

#[test]
fn a_wrong_password_is_sent_once_for_each_thing() {
    let stub =
        Stub::start(|_, _| Reply::new(401).header("www-authenticate", "Basic realm=\"lab\""));
    let (access, _, _dir) = access(&login(&stub.host()));
    let reference: Reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    let error = registry.manifest(&reference).unwrap_err();
    assert!(
        text(&error).contains("answered 401 | log in with"),
        "{}",
        text(&error)
    );
    assert_eq!(stub.seen().len(), 2);
    let error = registry.manifest(&reference).unwrap_err();
    assert!(
        error.to_string().contains("does not take the login"),
        "{error}"
    );
    assert_eq!(stub.seen().len(), 3);
}

/// A registry with an issuer of tokens beside it: each token is good for so many requests.
fn with_tokens(uses: usize, answer: fn(usize) -> Reply) -> (Stub, Stub) {
    let issuer = Stub::start(move |_, before| answer(before));
    let realm = issuer.url("/token?already=there");
    let mut used = 0;
    let stub = Stub::start(move |seen, _| {
        let token = format!("t{}", used / uses.max(1));
        if uses > 0 && bearer(seen, &token) {
            used += 1;
            return manifest();
        }
        Reply::new(401).header(
            "www-authenticate",
            format!(
                "Bearer realm=\"{realm}\",service=\"lab, inc\",scope=\"repository:other:push\""
            ),
        )
    });
    (stub, issuer)
}

fn token(before: usize) -> Reply {
    Reply::new(200).body(format!("{{\"token\": \"t{before}\"}}"))
}

#[test]
fn gets_a_token_for_reading_its_own_repository_whatever_the_registry_proposes() {
    let (stub, issuer) = with_tokens(9, token);
    pull(&stub, "{}", "lab/a").unwrap();
    assert_eq!(
        issuer.paths(),
        ["GET /token?already=there&scope=repository%3Alab%2Fa%3Apull&service=lab%2C+inc"]
    );
    assert_eq!(issuer.seen()[0].header("authorization"), None);
    let (stub, issuer) = with_tokens(9, token);
    pull(&stub, &login(&stub.host()), "lab/a").unwrap();
    assert_eq!(
        issuer.seen()[0].header("authorization"),
        Some("Basic Y2k6czNjcmV0")
    );
    assert!(!stub.seen().iter().any(|seen| {
        seen.header("authorization")
            .is_some_and(|sent| sent.contains("Basic"))
    }));
}

#[test]
fn takes_access_token_for_token() {
    let (stub, _issuer) = with_tokens(9, |before| {
        Reply::new(200).body(format!(
            "{{\"access_token\": \"t{before}\", \"token\": \"\", \"expires_in\": 300, \"x\": []}}"
        ))
    });
    pull(&stub, "{}", "a").unwrap();
}

#[test]
fn an_identity_token_goes_to_the_issuer_in_a_form() {
    let (stub, issuer) = with_tokens(9, token);
    let logins = format!(
        "{{\"auths\": {{\"{}\": {{\"identitytoken\": \"id-1\"}}}}}}",
        stub.host()
    );
    pull(&stub, &logins, "lab/a").unwrap();
    let seen = &issuer.seen()[0];
    assert_eq!(seen.method, "POST");
    assert_eq!(
        seen.body,
        "scope=repository%3Alab%2Fa%3Apull&service=lab%2C+inc&grant_type=refresh_token&client_id=smgate&refresh_token=id-1"
    );
}

#[test]
fn a_registry_token_is_sent_as_it_is() {
    let (stub, issuer) = with_tokens(9, token);
    let logins = format!(
        "{{\"auths\": {{\"{}\": {{\"registrytoken\": \"t0\"}}}}}}",
        stub.host()
    );
    pull(&stub, &logins, "a").unwrap();
    assert!(issuer.seen().is_empty());
}

#[test]
fn gets_another_token_when_one_is_used_up_or_old() {
    let (stub, issuer) = with_tokens(2, token);
    let (access, clock, _dir) = access("{}");
    let reference: Reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    for _ in 0..4 {
        registry.manifest(&reference).unwrap();
    }
    // the second token was asked for after a 401
    assert_eq!((stub.seen().len(), issuer.seen().len()), (6, 2));
    // a third before one, at the end of the minute that tokens live
    crate::source::http::Clock::sleep(&*clock, std::time::Duration::from_secs(56));
    registry.manifest(&reference).unwrap();
    assert_eq!((stub.seen().len(), issuer.seen().len()), (7, 3));
}

#[test]
fn a_token_that_does_not_help_is_not_asked_for_again_and_again() {
    let (stub, issuer) = with_tokens(0, token);
    let error = pull(&stub, "{}", "a").unwrap_err();
    assert!(
        text(&error).contains("answered 401 | log in with"),
        "{}",
        text(&error)
    );
    assert_eq!((stub.seen().len(), issuer.seen().len()), (2, 1));
}

#[test]
fn says_what_is_wrong_with_an_issuer() {
    type Case = (fn(usize) -> Reply, &'static str);
    let cases: [Case; 6] = [
        (|_| Reply::new(401), "no token: `"),
        (|_| Reply::new(200), "answered without a token"),
        (|_| Reply::new(200).body("{}"), "answered without a token"),
        (
            |_| Reply::new(200).body("{\"token\": \"a\\nb\"}"),
            "answered without a token",
        ),
        (
            |_| Reply::new(200).body("{\"token\": [\"s3cret"),
            "answered without a token",
        ),
        (
            |_| Reply::new(200).body(vec![b' '; 10_000]).endless_body(),
            "sent more than 262144 bytes",
        ),
    ];
    for (answer, message) in cases {
        let (stub, _issuer) = with_tokens(1, answer);
        let error = pull(&stub, "{}", "a").unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(!format!("{error:?}").contains("s3cret"));
    }
}

#[test]
fn follows_no_challenge_to_a_place_that_is_none() {
    for challenge in [
        "Bearer",
        "Bearer realm=\"\"",
        "Bearer realm=\"/token\"",
        "Bearer realm=\"file:///etc/passwd\"",
        "Bearer realm=\"https://u:p@auth.example/\"",
        "Digest realm=\"x\", nonce=\"y\"",
        "",
    ] {
        let stub = Stub::start(move |_, _| Reply::new(401).header("www-authenticate", challenge));
        let error = pull(&stub, &login(&stub.host()), "a").unwrap_err();
        assert_eq!(stub.seen().len(), 1, "{challenge}: {error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_registry_with_tls_sends_nobody_out_of_it() {
    let issuer = Stub::start(|_, before| token(before));
    let realm = issuer.url("/token");
    let (stub, ca) = Stub::start_tls(move |_, _| {
        Reply::new(401).header("www-authenticate", format!("Bearer realm=\"{realm}\""))
    });
    let (mut access, _, _dir) = access(&login(&stub.host()));
    access.http.plain_http = false;
    access.http.ca_pem = Some(ca);
    let reference: Reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    let error = registry.manifest(&reference).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("which is not encrypted: no login is sent there"),
        "{error}"
    );
    assert!(issuer.seen().is_empty());
}

#[test]
fn a_registry_on_this_machine_is_asked_with_tls_first() {
    let (tls, ca) = Stub::start_tls(|_, _| manifest());
    let (mut access, _, _dir) = access("{}");
    access.http.plain_http = false;
    access.http.ca_pem = Some(ca);
    let reference: Reference = format!("{}/a", tls.host()).parse().unwrap();
    Registry::open(&reference, &access)
        .unwrap()
        .manifest(&reference)
        .unwrap();
    assert_eq!(tls.paths(), ["GET /v2/", "GET /v2/a/manifests/latest"]);
    let plain = Stub::start(|_, _| manifest());
    let reference: Reference = format!("{}/a", plain.host()).parse().unwrap();
    Registry::open(&reference, &access)
        .unwrap()
        .manifest(&reference)
        .unwrap();
    assert_eq!(plain.paths().last().unwrap(), "GET /v2/a/manifests/latest");
}

#[test]
fn a_host_that_a_redirect_led_to_gets_no_login() {
    let other = Stub::start(|_, _| Reply::new(401).header("www-authenticate", "Basic realm=\"x\""));
    let there = other.url("/a");
    let stub = Stub::start(move |_, _| Reply::new(307).header("location", there.clone()));
    let error = pull(&stub, &login(&stub.host()), "a").unwrap_err();
    assert!(error.to_string().contains("answered 401"), "{error}");
    assert_eq!(other.seen().len(), 1);
    assert_eq!(other.seen()[0].header("authorization"), None);
}

#[test]
fn says_what_to_do_about_each_refusal() {
    let cases = [
        (
            404,
            "NAME_UNKNOWN",
            "check the registry and the name of the repository",
        ),
        (404, "MANIFEST_UNKNOWN", "check the tag or the digest"),
        (404, "NOT_FOUND", "check the registry, the name and the tag"),
        (403, "DENIED", "ask for the right to pull it"),
        (
            429,
            "TOOMANYREQUESTS",
            "run again in 3600 seconds, or log in with",
        ),
        (500, "UNKNOWN", "the registry itself failed"),
        (418, "", "check that the name is that of a registry"),
    ];
    for (status, code, hint) in cases {
        let stub = Stub::start(move |_, _| {
            let body = format!(
                "{{\"errors\": [{{\"code\": \"{code}\", \"message\": \"no\\u001b[31m\", \"detail\": {{}}}}]}}"
            );
            Reply::new(status).header("retry-after", "3600").body(body)
        });
        let error = pull(&stub, "{}", "a").unwrap_err();
        let text = text(&error);
        assert!(text.contains(&format!("answered {status} (")), "{text}");
        assert!(
            text.contains(code) && text.contains("no\\u{1b}[31m)"),
            "{text}"
        );
        assert!(text.contains(hint), "{text}");
    }
}

#[test]
fn messages_of_a_registry_are_cut() {
    let stub = Stub::start(|_, _| {
        let one = format!("{{\"code\": \"{}\"}}", "X".repeat(1000));
        Reply::new(404).body(format!("{{\"errors\": [{}]}}", vec![one; 30].join(",")))
    });
    let error = pull(&stub, "{}", "a").unwrap_err();
    assert!(error.to_string().chars().count() < 800, "{error}");
    let stub = Stub::start(|_, _| Reply::new(404).body(vec![b'{'; 100_000]));
    let error = pull(&stub, "{}", "a").unwrap_err();
    assert!(error.to_string().ends_with("answered 404"), "{error}");
}

#[test]
fn no_secret_is_in_what_is_shown_of_a_registry() {
    let (stub, _issuer) = with_tokens(9, |_| {
        Reply::new(200).body("{\"token\": \"t0\", \"s3cret\": 1}")
    });
    let (access, _, _dir) = access(&login(&stub.host()));
    let reference: Reference = format!("{}/a", stub.host()).parse().unwrap();
    let registry = Registry::open(&reference, &access).unwrap();
    registry.manifest(&reference).unwrap();
    let shown = format!("{registry:?}");
    assert!(shown.contains("Secret(…)"), "{shown}");
    assert!(
        !shown.contains("s3cret") && !shown.contains("Bearer t0"),
        "{shown}"
    );
}
