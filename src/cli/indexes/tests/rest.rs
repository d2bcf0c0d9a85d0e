//! Logins, certificates, mistakes, and the options themselves.

use super::*;

#[test]
fn logins_of_indexes_that_are_not_asked_are_known() {
    let machine = Machine::new().set("PIP_INDEX_URL", "https://u:p@i.example/simple");
    let named = lock(LockKind::Requirements, &["https://i.example/simple"], true);
    let config = machine
        .resolve(&IndexOptions::default(), Some(&named), None)
        .unwrap();
    assert_eq!(said(&config), ["https://i.example/simple"]);
    let login = IndexCredentials::new(&config)
        .unwrap()
        .for_url("https://i.example/simple/a/");
    // u:p
    assert_eq!(login, Some(Secret::new("Basic dTpw")));
}

#[test]
fn netrc_is_one_file() {
    let netrc = |machine: Machine| machine.config().credentials.netrc;
    let with = || Machine::new().file("/h/.netrc", "").file("/h/_netrc", "");
    assert_eq!(netrc(with()), [PathBuf::from("/h/.netrc")]);
    assert_eq!(
        netrc(Machine::new().file("/h/_netrc", "")),
        [PathBuf::from("/h/_netrc")]
    );
    assert_eq!(netrc(with().set("NETRC", "/n")), [PathBuf::from("/n")]);
    assert_eq!(netrc(Machine::new()), Vec::<PathBuf>::new());
}

#[test]
fn keyring_is_asked_only_where_that_is_said() {
    let keyring = |machine: &Machine, provider| {
        let given = IndexOptions {
            keyring_provider: provider,
            ..IndexOptions::default()
        };
        machine
            .resolve(&given, None, None)
            .unwrap()
            .credentials
            .keyring
    };
    let plain = Machine::new().file("/w/project/sub/uv.toml", "keyring-provider = 'subprocess'");
    assert!(!keyring(&plain, None));
    assert!(keyring(&plain, Some(KeyringProvider::Subprocess)));
    for name in ["UV_KEYRING_PROVIDER", "PIP_KEYRING_PROVIDER"] {
        let machine = Machine::new().set(name, "subprocess");
        assert!(keyring(&machine, None));
        assert!(!keyring(&machine, Some(KeyringProvider::Disabled)));
        assert!(!keyring(&Machine::new().set(name, "auto"), None));
    }
}

#[test]
fn certificate_authorities_are_those_of_pip() {
    let ca = |machine: &Machine| {
        machine
            .config()
            .ca_file
            .map(|path| path.to_str().unwrap().to_owned())
    };
    let mut machine = Machine::new();
    assert_eq!(ca(&machine), None);
    for (name, path) in [
        ("SSL_CERT_FILE", "/ssl"),
        ("REQUESTS_CA_BUNDLE", "/requests"),
    ] {
        machine = machine.set(name, path);
        // one that is not there is passed over
        assert_ne!(ca(&machine).as_deref(), Some(path));
        machine = machine.file(path, "");
        assert_eq!(ca(&machine).as_deref(), Some(path));
    }
    machine = machine
        .file("/conf", "")
        .file("/etc/pip.conf", "[global]\ncert = /conf");
    assert_eq!(ca(&machine).as_deref(), Some("/conf"));
    machine = machine.set("PIP_CERT", "/cert").file("/cert", "");
    assert_eq!(ca(&machine).as_deref(), Some("/cert"));
}

#[test]
fn a_file_that_is_not_understood_is_named_without_its_text() {
    for (path, text, says) in [
        (
            "/etc/pip.conf",
            "[global\nindex-url = https://u:s3cret@i.example",
            "is not understood: line 1",
        ),
        (
            "/etc/uv/uv.toml",
            "\nindex-url = https://u:s3cret@i.example",
            "is not understood at line 2",
        ),
        (
            "/w/project/pyproject.toml",
            "[tool.uv]\nindex-url = ['s3cret']",
            "is not understood at line 2",
        ),
    ] {
        let machine = Machine::new().file(path, text);
        let error = machine
            .resolve(&IndexOptions::default(), None, None)
            .unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("`{path}`, which may name package indexes, {says}")),
            "{message}"
        );
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn options_are_options_of_a_command_line() {
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        indexes: IndexOptions,
    }

    let line = "x --index-url https://a.example --extra-index-url b --extra-index-url c --find-links d \
                --keyring-provider subprocess";
    let parsed = Line::try_parse_from(line.split_whitespace())
        .unwrap()
        .indexes;
    assert_eq!(parsed.index_url, Some(Secret::new("https://a.example")));
    assert_eq!(parsed.extra_index_url, [Secret::new("b"), Secret::new("c")]);
    assert_eq!(parsed.find_links, [Secret::new("d")]);
    assert_eq!(parsed.keyring_provider, Some(KeyringProvider::Subprocess));
    assert!(!format!("{parsed:?}").contains("a.example"));
}
