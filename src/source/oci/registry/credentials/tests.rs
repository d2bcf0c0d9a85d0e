//! Files of logins as Docker and podman write them, and others.

use super::*;

fn found(logins: &str, registry: &str, repository: &str) -> Result<Credential, Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.json");
    std::fs::write(&file, logins).unwrap();
    credential_for(
        registry,
        repository,
        &CredentialOptions::new(vec![dir.path().join("absent.json"), file]),
    )
}

fn user(logins: &str, registry: &str, repository: &str) -> Option<String> {
    match found(logins, registry, repository).unwrap() {
        Credential::None => None,
        Credential::Password { user, secret } => Some(format!("{user}:{}", secret.expose())),
        Credential::Identity(secret) => Some(format!("identity {}", secret.expose())),
        Credential::Bearer(secret) => Some(format!("bearer {}", secret.expose())),
    }
}

fn auths(entries: &[(&str, &str)]) -> String {
    let entries: Vec<String> = entries
        .iter()
        .map(|(key, login)| {
            let auth = STANDARD.encode(login);
            format!("\"{key}\": {{\"auth\": \"{auth}\"}}")
        })
        .collect();
    format!("{{\"auths\": {{{}}}}}", entries.join(","))
}

#[test]
fn reads_logins_in_all_their_forms() {
    let logins = r#"{"auths": {
        "a.example": {"auth": "Y2k6czNjOnJldA=="},
        "b.example": {"username": "ci", "password": "s3cret"},
        "c.example": {"auth": "Y2k6", "identitytoken": "id"},
        "d.example": {"registrytoken": "t"},
        "e.example": {},
        "f.example": {"auth": "Y2k6czNjcmV0AAA="},
        "g.example:5000": {"auth": "Y2k6czNjcmV0", "email": "x"}
    }, "HttpHeaders": {"x": "y"}}"#;
    let expected = [
        ("a.example", Some("ci:s3c:ret")),
        ("b.example", Some("ci:s3cret")),
        ("c.example", Some("identity id")),
        ("d.example", Some("bearer t")),
        ("e.example", None),
        ("f.example", Some("ci:s3cret")),
        ("g.example:5000", Some("ci:s3cret")),
        ("g.example", None),
        ("x.a.example", None),
    ];
    for (registry, login) in expected {
        assert_eq!(user(logins, registry, "x").as_deref(), login, "{registry}");
    }
}

#[test]
fn keys_may_be_addresses() {
    for key in [
        "https://a.example",
        "http://a.example/",
        "https://a.example/v1/",
        "https://a.example/v2/",
        "a.example/v2/",
        "A.example",
    ] {
        assert_eq!(
            user(&auths(&[(key, "u:p")]), "a.example", "x/y").as_deref(),
            Some("u:p"),
            "{key}"
        );
        assert_eq!(
            user(&auths(&[(key, "u:p")]), "b.example", "x/y"),
            None,
            "{key}"
        );
    }
}

#[test]
fn the_longest_key_that_names_the_repository_counts() {
    let logins = auths(&[
        ("a.example", "all:p"),
        ("a.example/ns", "ns:p"),
        ("a.example/ns/repo", "repo:p"),
        ("a.example/other", "other:p"),
    ]);
    let expected = [
        ("ns/repo", "repo:p"),
        ("ns/repo/deeper", "repo:p"),
        ("ns/repository", "ns:p"),
        ("ns", "ns:p"),
        ("nsx", "all:p"),
        ("x", "all:p"),
    ];
    for (repository, login) in expected {
        assert_eq!(
            user(&logins, "a.example", repository).as_deref(),
            Some(login),
            "{repository}"
        );
    }
    let only_part = auths(&[("a.example/ns", "ns:p")]);
    assert_eq!(user(&only_part, "a.example", "x"), None);
}

#[test]
fn docker_hub_has_several_names() {
    let names = [
        docker_hub::CREDENTIAL_KEY,
        docker_hub::NAME,
        docker_hub::api_host(docker_hub::NAME),
    ];
    for key in names {
        assert_eq!(
            user(&auths(&[(key, "u:p")]), docker_hub::NAME, "library/x").as_deref(),
            Some("u:p"),
            "{key}"
        );
    }
}

#[test]
fn the_first_file_with_a_login_counts() {
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = [
        ("1.json", auths(&[("other.example", "u:0")])),
        ("2.json", auths(&[("a.example", "u:1")])),
        ("3.json", auths(&[("a.example", "u:2")])),
    ]
    .into_iter()
    .map(|(name, text)| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    })
    .collect();
    let found = credential_for("a.example", "x", &CredentialOptions::new(files)).unwrap();
    let expected = Credential::Password {
        user: "u".to_owned(),
        secret: Secret::new("1"),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_damaged_file_is_named_and_its_secrets_are_not() {
    for logins in [
        "",
        "null",
        "{\"auths\": {\"a.example\": {\"auth\": [\"s3cret\"]}}}",
        "{\"auths\": \"s3cret\"}",
        "{\"auths\": {\"a.example\": {\"auth\": \"s3cret!\"}}}",
        "{\"auths\": {\"a.example\": {\"auth\": \"czNjcmV0\"}}}",
    ] {
        let error = found(logins, "a.example", "x").unwrap_err();
        let shown = format!("{error:?}");
        assert!(shown.contains("config.json"), "{shown}");
        assert!(
            !shown.contains("s3cret") && !shown.contains("czNjcmV0"),
            "{shown}"
        );
        assert!(error.hint().is_some());
    }
    // what is of no use for this registry does not stand in the way
    let other = "{\"auths\": {\"b.example\": {\"auth\": \"!\"}}}";
    assert_eq!(found(other, "a.example", "x").unwrap(), Credential::None);
}

#[test]
fn helpers_come_before_the_file_and_the_one_for_the_registry_before_the_store() {
    let logins = |helper: &str, store: &str| {
        format!(
            "{{\"auths\": {{\"a.example\": {{\"auth\": \"dTpw\"}}}}, \"credHelpers\": {{\"a.example\": \"{helper}\"}}, \"credsStore\": \"{store}\"}}"
        )
    };
    for (helper, store, named) in [("one/", "two/", "one/"), ("", "two/", "two/")] {
        let error = found(&logins(helper, store), "a.example", "x").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("`{named}` is no name")),
            "{error}"
        );
    }
    assert_eq!(
        user(&logins("", ""), "a.example", "x").as_deref(),
        Some("u:p")
    );
    // the helper of another registry is none of ours
    let error = found(&logins("one/", "two/"), "b.example", "x").unwrap_err();
    assert!(
        error.to_string().starts_with("`two/` is no name"),
        "{error}"
    );
}
