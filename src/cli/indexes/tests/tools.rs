//! Files and variables of pip and of uv.

use super::*;

#[test]
fn variables_of_pip_hide_the_same_keys_of_its_files_alone() {
    let conf = "[global]\nindex-url = https://f.example\nextra-index-url =\n    https://f1.example\n    https://f2.example\n\
                find-links = /f3 ~/f4 f5\n[install]\nindex-url = https://i.example\n";
    let machine = || Machine::new().file("/h/.config/pip/pip.conf", conf);
    let pages = ["*/f3", "*/h/f4", "*/w/project/sub/f5"];
    let with = |rest: &[&'static str]| [&pages, rest].concat();
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
    let offline = IndexOptions {
        offline: true,
        ..IndexOptions::default()
    };
    let config = machine.resolve(&offline, None, None).unwrap();
    assert!(config.offline && config.indexes.is_empty() && machine.asked.borrow().is_empty());
}
