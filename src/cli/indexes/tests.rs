//! What counts first, on machines that are made up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;

use super::surroundings::System;
use super::*;
use crate::Locator;
use crate::source::index::IndexKind;

/// A machine.
#[derive(Default)]
struct Machine {
    variables: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    /// What `pip` says.
    pip: Option<String>,
    windows: bool,
    mac: bool,
    asked: RefCell<Vec<String>>,
}

impl Machine {
    /// With the home directory `/h`.
    fn new() -> Self {
        Self::default().set("HOME", "/h")
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    fn pip(mut self, says: &str) -> Self {
        self.pip = Some(says.to_owned());
        self
    }

    fn resolve(
        &self,
        options: &IndexOptions,
        lock: Option<&Lock>,
        policy: Option<&[String]>,
    ) -> Result<IndexConfig, Error> {
        let slashed = |path: &Path| path.to_str().unwrap().replace('\\', "/");
        let variable = |name: &str| self.variables.get(name).map(OsString::from);
        let read = |path: &Path| Ok(self.files.get(&slashed(path)).cloned());
        let is_file = |path: &Path| self.files.contains_key(&slashed(path));
        let run = |program: &str, arguments: &[&str]| {
            let line = format!("{program} {}", arguments.join(" "));
            self.asked.borrow_mut().push(line);
            self.pip.clone().filter(|_| program == "python3")
        };
        let around = Surroundings {
            variable: &variable,
            read: &read,
            is_file: &is_file,
            run: &run,
            system: match (self.windows, self.mac) {
                (true, _) => System::Windows,
                (_, true) => System::MacOs,
                _ => System::Linux,
            },
            here: "/w/project/sub".into(),
        };
        resolve(options, lock, policy, &around)
    }

    fn config(&self) -> IndexConfig {
        self.resolve(&IndexOptions::default(), None, None).unwrap()
    }

    fn said(&self) -> Vec<String> {
        said(&self.config())
    }
}

/// The indexes in short: `*` before a flat page, `!` before one for pinned packages, `NAME=`, the address.
fn said(config: &IndexConfig) -> Vec<String> {
    let one = |spec: &IndexSpec| {
        let kind = if spec.kind == IndexKind::Flat {
            "*"
        } else {
            ""
        };
        let pinned = if spec.only_pinned { "!" } else { "" };
        let name = spec.name.as_ref().map(|name| format!("{name}="));
        let address = spec.address.expose().replace('\\', "/");
        format!("{kind}{pinned}{}{address}", name.unwrap_or_default())
    };
    config.indexes.iter().map(one).collect()
}

fn options(main: Option<&str>, extra: &[&str], pages: &[&str]) -> IndexOptions {
    let all = |texts: &[&str]| texts.iter().copied().map(Secret::new).collect();
    IndexOptions {
        index_url: main.map(Secret::new),
        extra_index_url: all(extra),
        find_links: all(pages),
        ..IndexOptions::default()
    }
}

fn lock(kind: LockKind, indexes: &[&str], has_main: bool) -> Lock {
    let mut lock = Lock::new(Locator::file("requirements.txt"), kind);
    lock.indexes = indexes.iter().map(|&address| address.to_owned()).collect();
    lock.has_main_index = has_main;
    lock
}

const HELP: &str = "  -i, --index-url <url>       Base URL of the Python Package Index (default\n                              \
                    https://u:****@default.example/sim\n                              ple). This should point to a\n  \
                    --extra-index-url <url>  Extra (default no).";

/// Everything that can name a main index, the first one first.
fn crowded() -> Vec<(&'static str, fn(Machine) -> Machine)> {
    vec![
        ("https://uvdefault.example", |m| {
            m.set("UV_DEFAULT_INDEX", "https://uvdefault.example")
        }),
        ("https://uvindex.example", |m| {
            m.set("UV_INDEX_URL", "https://uvindex.example")
        }),
        ("https://pipenv.example", |m| {
            m.set("PIP_INDEX_URL", "https://pipenv.example")
        }),
        ("https://uvtoml.example", |m| {
            m.file("/w/uv.toml", "index-url = 'https://uvtoml.example'")
        }),
        ("https://uvuser.example", |m| {
            m.file(
                "/h/.config/uv/uv.toml",
                "[[index]]\nurl = 'https://uvuser.example'\ndefault = true",
            )
        }),
        ("https://uvetc.example", |m| {
            m.file("/etc/uv/uv.toml", "index-url = 'https://uvetc.example'")
        }),
        ("https://named.example", |m| {
            m.set("PIP_CONFIG_FILE", "/n")
                .file("/n", "[global]\nindex-url=https://named.example")
        }),
        ("https://venv.example", |m| {
            m.set("VIRTUAL_ENV", "/v")
                .file("/v/pip.conf", "[global]\nindex-url: https://venv.example")
        }),
        ("https://etc.example", |m| {
            m.file("/etc/pip.conf", "[global]\nindex_url = https://etc.example")
        }),
        ("https://xdg.example", |m| {
            m.file(
                "/etc/xdg/pip/pip.conf",
                "[global]\nindex-url = https://xdg.example",
            )
        }),
        ("https://default.example/simple", |m| m.pip(HELP)),
    ]
}

#[test]
fn each_place_counts_before_those_behind_it() {
    let places = crowded();
    for first in 0..places.len() {
        let machine = places[first..]
            .iter()
            .fold(Machine::new(), |machine, (_, add)| add(machine));
        assert_eq!(machine.said(), [places[first].0]);
    }
    assert_eq!(Machine::new().said(), Vec::<String>::new());
}

#[test]
fn the_lock_file_and_the_options_count_before_the_machine() {
    let machine = crowded()
        .into_iter()
        .fold(Machine::new(), |machine, (_, add)| add(machine));
    let given = options(
        Some("https://option.example"),
        &["https://more.example"],
        &[],
    );
    let named = lock(
        LockKind::Requirements,
        &["https://lock.example", "https://lock2.example"],
        true,
    );
    let of =
        |lock, policy: Option<&[String]>| said(&machine.resolve(&given, lock, policy).unwrap());
    assert_eq!(
        of(Some(&named), None),
        [
            "https://lock.example",
            "https://lock2.example",
            "https://more.example"
        ]
    );
    // `--extra-index-url` of a lock file leaves the main index to others
    let more = lock(LockKind::Requirements, &["https://lock.example"], false);
    assert_eq!(
        of(Some(&more), None),
        [
            "https://option.example",
            "https://lock.example",
            "https://more.example"
        ]
    );
    assert_eq!(
        of(None, None),
        ["https://option.example", "https://more.example"]
    );
    assert_eq!(machine.asked.borrow().len(), 0);
}

#[test]
fn a_policy_ends_the_search() {
    let machine = Machine::new()
        .set("PIP_INDEX_URL", "https://pip.example")
        .set("PIP_EXTRA_INDEX_URL", "https://pip2.example")
        .pip(HELP);
    let policy = [
        "https://p1.example".to_owned(),
        "https://p2.example".to_owned(),
    ];
    let none = IndexOptions::default();
    let of = |policy: &[String]| said(&machine.resolve(&none, None, Some(policy)).unwrap());
    assert_eq!(of(&policy), ["https://p1.example", "https://p2.example"]);
    assert_eq!(of(&[]), Vec::<String>::new());
}

#[test]
fn variables_of_pip_hide_the_same_keys_of_its_files_alone() {
    let conf = "[global]\nindex-url = https://f.example\nextra-index-url =\n    https://f1.example\n    https://f2.example\n\
                find-links = /f3 ~/f4 f5\n[install]\nindex-url = https://i.example\n";
    let machine = || Machine::new().file("/h/.config/pip/pip.conf", conf);
    let pages = ["*/f3", "*/h/f4", "*/w/project/sub/f5"];
    let with = |rest: &[&str]| [&pages, rest].concat();
    assert_eq!(
        machine().said(),
        with(&[
            "https://i.example",
            "https://f1.example",
            "https://f2.example"
        ])
    );
    let machine = machine().set(
        "PIP_EXTRA_INDEX_URL",
        "https://e1.example https://e2.example",
    );
    assert_eq!(
        machine.said(),
        with(&[
            "https://i.example",
            "https://e1.example",
            "https://e2.example"
        ])
    );
    assert_eq!(machine.config().merge, Merge::Union);
    let machine = machine
        .set("PIP_FIND_LINKS", "https://e3.example/page.html")
        .set("PIP_INDEX_URL", "");
    assert_eq!(machine.said()[0], "*https://e3.example/page.html");
    assert_eq!(machine.said().len(), 4);
}

#[test]
fn files_of_pip_are_where_pip_looks_for_them() {
    let says = |name: &str| format!("[global]\nindex-url = https://{name}.example");
    let linux = |path: &str| Machine::new().file(path, &says("x"));
    for path in [
        "/etc/xdg/pip/pip.conf",
        "/etc/pip.conf",
        "/h/.pip/pip.conf",
        "/h/.config/pip/pip.conf",
    ] {
        assert_eq!(linux(path).said(), ["https://x.example"], "{path}");
    }
    let moved = linux("/c/pip/pip.conf").set("XDG_CONFIG_HOME", "/c");
    assert_eq!(moved.said(), ["https://x.example"]);
    let all = linux("/etc/pip.conf").file("/h/.pip/pip.conf", &says("old"));
    assert_eq!(all.said(), ["https://old.example"]);
    let all = all.file("/h/.config/pip/pip.conf", &says("user"));
    assert_eq!(all.said(), ["https://user.example"]);
    // it stands for the file of the user
    let named = all
        .set("PIP_CONFIG_FILE", "/n")
        .file("/n", "[global]\ntimeout = 1");
    assert_eq!(named.said(), ["https://x.example"]);
    assert_eq!(
        named.set("PIP_CONFIG_FILE", "/dev/null").said(),
        Vec::<String>::new()
    );

    for path in [
        "/Library/Application Support/pip/pip.conf",
        "/h/Library/Application Support/pip/pip.conf",
        "/h/.config/pip/pip.conf",
    ] {
        let mut machine = linux(path);
        machine.mac = true;
        assert_eq!(machine.said(), ["https://x.example"], "{path}");
    }
    for path in [
        "/pd/pip/pip.ini",
        "/ad/pip/pip.ini",
        "/up/pip/pip.ini",
        "/v/pip.ini",
    ] {
        let mut machine = linux(path).set("PROGRAMDATA", "/pd").set("APPDATA", "/ad");
        machine = machine.set("USERPROFILE", "/up").set("VIRTUAL_ENV", "/v");
        machine.windows = true;
        assert_eq!(machine.said(), ["https://x.example"], "{path}");
    }
}

#[test]
fn uv_asks_its_default_index_last_and_takes_the_first_answer() {
    let machine = Machine::new()
        .set("UV_INDEX", "cuda=https://c.example/?a=b https://d.example")
        .set("UV_EXTRA_INDEX_URL", "https://e.example")
        .set("UV_DEFAULT_INDEX", "main=https://m.example")
        .set("UV_FIND_LINKS", "/p,https://q.example/f.html");
    assert_eq!(
        machine.said(),
        [
            "*/p",
            "*https://q.example/f.html",
            "cuda=https://c.example/?a=b",
            "https://d.example",
            "https://e.example",
            "main=https://m.example",
        ]
    );
    assert_eq!(machine.config().merge, Merge::FirstIndex);
    let machine = machine.set("UV_INDEX_STRATEGY", "unsafe-best-match");
    assert_eq!(machine.config().merge, Merge::Union);
    // indexes of pip are asked as pip asks them
    assert_eq!(
        Machine::new()
            .set("PIP_INDEX_URL", "https://p.example")
            .config()
            .merge,
        Merge::Union
    );
    let of_uv = lock(LockKind::Uv, &["https://l.example"], true);
    let config = Machine::new()
        .resolve(&IndexOptions::default(), Some(&of_uv), None)
        .unwrap();
    assert_eq!(config.merge, Merge::FirstIndex);
}

#[test]
fn tables_of_uv_are_read_from_the_nearest_project() {
    let project = "[project]\nname = 'x'\n[tool.uv]\nfind-links = ['./wheels']\n\
        [[tool.uv.index]]\nname = 'cu-128'\nurl = 'https://cuda.example'\nexplicit = true\n\
        [[tool.uv.index]]\nurl = 'flat.html'\nformat = 'flat'\n\
        [[tool.uv.index]]\nname = 'main'\nurl = 'https://main.example'\ndefault = true\n";
    let machine = Machine::new()
        .file(
            "/w/project/sub/pyproject.toml",
            "[project]\nname = 'no settings of uv'",
        )
        .file("/w/project/pyproject.toml", project)
        .file("/w/uv.toml", "index-url = 'https://far.example'")
        .set("UV_INDEX_CU_128_USERNAME", "u")
        .set("UV_INDEX_CU_128_PASSWORD", "p");
    let expected = [
        "*/w/project/wheels",
        "!cu-128=https://cuda.example",
        "*/w/project/flat.html",
        "main=https://main.example",
    ];
    assert_eq!(machine.said(), expected);
    let logins: Vec<Option<IndexLogin>> = machine
        .config()
        .indexes
        .into_iter()
        .map(|spec| spec.login)
        .collect();
    let login = IndexLogin {
        user: "u".to_owned(),
        password: Some(Secret::new("p")),
    };
    assert_eq!(logins, [None, Some(login), None, None]);
    // a file of its own counts before the table
    let machine = machine.file("/w/project/uv.toml", "");
    assert_eq!(machine.said(), Vec::<String>::new());
    let machine = machine.set("UV_CONFIG_FILE", "/w/uv.toml");
    assert_eq!(machine.said(), ["https://far.example"]);
    assert_eq!(
        machine.set("UV_NO_CONFIG", "1").said(),
        Vec::<String>::new()
    );
    let mut windows = Machine::new()
        .set("APPDATA", "/ad")
        .set("PROGRAMDATA", "/pd");
    windows.windows = true;
    let windows = windows
        .file("/ad/uv/uv.toml", "extra-index-url = ['https://ad.example']")
        .file("/pd/uv/uv.toml", "index-url = 'https://pd.example'");
    assert_eq!(windows.said(), ["https://ad.example", "https://pd.example"]);
}

#[test]
fn without_an_index_only_flat_pages_are_left() {
    for name in ["PIP_NO_INDEX", "UV_NO_INDEX"] {
        let machine = Machine::new()
            .set(name, "true")
            .set("PIP_INDEX_URL", "https://p.example")
            .set("PIP_EXTRA_INDEX_URL", "https://e.example")
            .set("PIP_FIND_LINKS", "/p")
            .pip(HELP);
        assert_eq!(machine.said(), ["*/p"], "{name}");
        assert_eq!(machine.asked.borrow().len(), 0);
        // but what is asked for now is
        let given = options(Some("https://o.example"), &[], &[]);
        let config = machine.resolve(&given, None, None).unwrap();
        assert_eq!(said(&config)[..2], ["*/p", "https://o.example"], "{name}");
    }
    let conf = Machine::new()
        .file(
            "/etc/pip.conf",
            "[install]\nno-index = yes\nfind-links = /p",
        )
        .pip(HELP);
    assert_eq!(conf.said(), ["*/p"]);
}

#[test]
fn pip_is_asked_last_and_not_for_nothing() {
    let machine = Machine::new().set("PIP_FIND_LINKS", "/p").pip(HELP);
    assert_eq!(machine.said(), ["*/p", "https://default.example/simple"]);
    assert_eq!(
        *machine.asked.borrow(),
        [
            "pip install --help",
            "pip3 install --help",
            "python3 -I -m pip install --help"
        ]
    );
    for says in [
        "",
        "usage: pip",
        "--index-url <url> (default None)",
        "--index-url <url> (default file:///x)",
        "--index-url <url> (default",
    ] {
        assert_eq!(
            Machine::new().pip(says).said(),
            Vec::<String>::new(),
            "{says}"
        );
    }
    let machine = Machine::new().pip(HELP);
    let mut offline = IndexOptions::default();
    offline.offline = true;
    let config = machine.resolve(&offline, None, None).unwrap();
    assert!(config.offline && config.indexes.is_empty() && machine.asked.borrow().is_empty());
}

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
                --keyring-provider subprocess --offline";
    let parsed = Line::try_parse_from(line.split_whitespace())
        .unwrap()
        .indexes;
    assert_eq!(parsed.index_url, Some(Secret::new("https://a.example")));
    assert_eq!(parsed.extra_index_url, [Secret::new("b"), Secret::new("c")]);
    assert_eq!(parsed.find_links, [Secret::new("d")]);
    assert_eq!(parsed.keyring_provider, Some(KeyringProvider::Subprocess));
    assert!(parsed.offline);
    assert!(!format!("{parsed:?}").contains("a.example"));
}
