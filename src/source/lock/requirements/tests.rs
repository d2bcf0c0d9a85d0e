//! Requirement files as they are read.

mod secrets;

use std::collections::BTreeMap;

use super::super::Origin;
use super::*;

fn at() -> Locator {
    Locator::root(0, "requirements.txt")
}

fn read_with(text: &str, files: &[(&str, &str)]) -> Lock {
    let files: BTreeMap<_, _> = files.iter().copied().collect();
    read(text, &at(), &|path| {
        Some(files.get(path)?.as_bytes().to_vec().into())
    })
    .unwrap()
}

fn lock(text: &str) -> Lock {
    read_with(text, &[])
}

fn pins(lock: &Lock) -> Vec<(u32, &str, &str, Option<&str>)> {
    let packages = lock.packages.iter();
    packages
        .map(|p| {
            let version = p.version.as_deref().unwrap_or_default();
            (p.line, &*p.name, version, p.condition.marker.as_deref())
        })
        .collect()
}

fn unlocked(lock: &Lock) -> Vec<(u32, &str, Option<&str>)> {
    let unlocked = lock.unlocked.iter();
    unlocked
        .map(|u| (u.line, &*u.text, u.marker.as_deref()))
        .collect()
}

fn details(lock: &Lock) -> Vec<&str> {
    lock.problems.iter().map(|p| p.detail.as_str()).collect()
}

#[test]
fn exact_versions_are_pins_and_all_else_is_unlocked() {
    let lock = lock(
        "torch==2.8.0+cu128 # gpu\nA_b[x, y] == 1.0 ; sys_platform == 'linux'\nc===weird\nd(==1.0)\n\
         e==1.2.*\nf>=1\ng\nh==1,!=2\ni ~= 1.0 ; os_name == 'nt'\n",
    );
    assert_eq!(
        pins(&lock),
        [
            (1, "torch", "2.8.0+cu128", None),
            (2, "A_b", "1.0", Some("sys_platform == 'linux'")),
            (3, "c", "weird", None),
            (4, "d", "1.0", None),
            (8, "h", "1", None),
        ]
    );
    assert_eq!(
        unlocked(&lock),
        [
            (5, "e==1.2.*", None),
            (6, "f>=1", None),
            (7, "g", None),
            (9, "i ~= 1.0 ; os_name == 'nt'", Some("os_name == 'nt'")),
        ]
    );
    assert_eq!(details(&lock), [""; 0]);
}

#[test]
fn hashes_and_the_index_of_a_package_stand_behind_it() {
    let lock = lock(
        "a==1 ; os_name == 'posix' \\\n    --hash=sha256:0A \\\n    --hash=sha512:0b\n    # via\n    #   c\n    # from https://u:s3cret@i.example/cu128\nb==2\n",
    );
    assert_eq!(
        pins(&lock),
        [
            (1, "a", "1", Some("os_name == 'posix'")),
            (7, "b", "2", None)
        ]
    );
    let hashes: Vec<_> = lock.packages[0]
        .hashes
        .iter()
        .map(Hash::to_string)
        .collect();
    assert_eq!(hashes, ["sha256:0a", "sha512:0b"]);
    assert_eq!(
        lock.packages[0].index.as_deref(),
        Some("https://i.example/cu128")
    );
    assert_eq!(lock.packages[1].index, None);
}

#[test]
fn addresses_and_paths_say_where_a_package_is() {
    let sha = "00";
    let lock = lock(&format!(
        "flash-attn @ https://u:p@f.example/flash_attn-2.8.3%2Bcu12-cp312-cp312-linux_x86_64.whl#sha256={sha} ; os_name == 'posix'\n\
         https://f.example/six-1.0-py2.py3-none-any.whl; python_version > '3'\n\
         https://f.example/my-pkg-1.5.tar.gz\n\
         a @ git+https://u:p@g.example/o/a.git@v1#subdirectory=x\n\
         git+ssh://git@g.example/o/b.git@main#egg=b[extra]\n\
         git+https://g.example/o/c.git\n\
         ./wheels/ext-0.1-cp312-cp312-linux_x86_64.whl\n\
         -e .\n-e ./sub[dev]\nd @ file:///srv/d-1.0.zip\ne-1.0.tar.gz\n"
    ));
    assert_eq!(details(&lock), [""; 0]);
    let origins: Vec<_> = lock.packages.iter().map(|p| p.origin.clone()).collect();
    assert_eq!(
        origins,
        [
            Origin::Url,
            Origin::Url,
            Origin::Url,
            Origin::Vcs("git+https://g.example/o/a.git@v1".into()),
            Origin::Vcs("git+ssh://g.example/o/b.git@main".into()),
            Origin::Vcs("git+https://g.example/o/c.git".into()),
            Origin::File("./wheels/ext-0.1-cp312-cp312-linux_x86_64.whl".into()),
            Origin::Directory(".".into()),
            Origin::Directory("./sub".into()),
            Origin::File("/srv/d-1.0.zip".into()),
            Origin::File("e-1.0.tar.gz".into()),
        ]
    );
    let says: Vec<_> = pins(&lock)
        .into_iter()
        .map(|(_, name, version, _)| (name, version))
        .collect();
    assert_eq!(
        says,
        [
            ("flash-attn", "2.8.3+cu12"),
            ("six", "1.0"),
            ("my-pkg", "1.5"),
            ("a", ""),
            ("b", ""),
            ("c", ""),
            ("ext", "0.1"),
            (".", ""),
            ("sub", ""),
            ("d", "1.0"),
            ("e", "1.0"),
        ]
    );
    let file = &lock.packages[0].files[0];
    assert_eq!(
        file.name,
        "flash_attn-2.8.3+cu12-cp312-cp312-linux_x86_64.whl"
    );
    assert_eq!(file.hash.as_ref().unwrap().to_string(), "sha256:00");
    assert_eq!(
        lock.packages[1].condition.marker.as_deref(),
        Some("python_version > '3'")
    );
}

#[test]
fn a_constraint_pins_what_is_asked_for_and_installs_nothing() {
    let lock = read_with(
        "-c sub/c.txt\nTorch>=2\nnumpy\n",
        &[(
            "sub/c.txt",
            "torch==2.8.0 --hash=sha256:0a\nunused==1\nnumpy<3\n",
        )],
    );
    assert_eq!(pins(&lock), [(2, "torch", "2.8.0", None)]);
    assert_eq!(lock.packages[0].hashes.len(), 1);
    assert_eq!(unlocked(&lock), [(3, "numpy", None)]);
}

#[test]
fn where_a_constraint_does_not_hold_the_requirement_stays_unlocked() {
    let lock = read_with(
        "-c c.txt\ntorch>=2 ; sys_platform != 'darwin'\n",
        &[("c.txt", "torch==2.8 ; sys_platform == 'linux'\n")],
    );
    let marker = "(sys_platform != 'darwin') and (sys_platform == 'linux')";
    assert_eq!(pins(&lock), [(2, "torch", "2.8", Some(marker))]);
    let left = "sys_platform != 'darwin' and sys_platform != 'linux'";
    assert_eq!(
        unlocked(&lock),
        [(2, "torch>=2 ; sys_platform != 'darwin'", Some(left))]
    );
}

#[test]
fn a_range_is_pinned_by_another_line_of_the_same_package() {
    let lock = lock("torch>=2\ntorch==2.8 ; os_name == 'nt'\ntorch==2.7 ; os_name != 'nt'\n");
    assert_eq!(lock.packages.len(), 2);
    assert_eq!(unlocked(&lock), []);
}

#[test]
fn included_files_have_the_line_of_the_option() {
    let lock = read_with(
        "a==1\n-r sub/base.txt\nb==1\n",
        &[
            ("sub/base.txt", "c==1\n-r ../other.txt\nd==\n"),
            ("other.txt", "\n\ne==1 ; bad ==\n--frob\n"),
        ],
    );
    let lines: Vec<_> = pins(&lock)
        .into_iter()
        .map(|(line, name, ..)| (line, name))
        .collect();
    assert_eq!(lines, [(1, "a"), (2, "c"), (2, "e"), (3, "b")]);
    assert_eq!(
        details(&lock),
        [
            "line 2: `other.txt`, line 4: pip knows no option `--frob`",
            "line 2: `sub/base.txt`, line 3: `d==` is no requirement: `==` is no range of versions",
        ]
    );
}

#[test]
fn files_that_cannot_be_read_are_located() {
    let lock = read_with(
        "a==1\n-r missing.txt\n-c a.txt\n-r https://u:s3cret@h.example/r.txt\n-r ${DIR}/r.txt\n",
        &[("a.txt", "-c b.txt\n"), ("b.txt", "-c ./a.txt\n")],
    );
    assert_eq!(
        details(&lock),
        [
            "line 2: there is no file `missing.txt`: put it beside this one, or leave the line out",
            "line 3: `b.txt`, line 1: `./a.txt` is a file that it is read from itself",
            "line 4: `https://h.example/r.txt` is not read: copy it beside this file and name it by its path",
            "line 5: `${DIR}/r.txt` holds the variable DIR of the environment, which is not put in, so the file is not read",
        ]
    );
}

#[test]
fn files_in_each_other_are_bounded() {
    let lock = read("-r 0.txt\n", &at(), &|path| {
        let number: u32 = path.trim_end_matches(".txt").parse().unwrap();
        Some(
            format!("-r {}.txt\n-r {}.txt\n", number * 2 + 1, number * 2 + 2)
                .into_bytes()
                .into(),
        )
    })
    .unwrap();
    assert!(details(&lock)[0].contains("16 files in each other, or 256 in all, are enough"));
    assert_eq!(lock.problems.len(), 101);
}

#[test]
fn indexes_follow_pip_and_hold_no_secret() {
    let lock = lock(
        "--extra-index-url https://old.example/s\n--index-url https://u:s3cret@i.example/simple\n\
         --extra-index-url=https://t0ken@x.example/cu128 --trusted-host x.example\n-f https://l.example/links.html\n\
         -i ${INDEX}\n-i https://${U}:${P}@i.example/simple\n--extra-index-url https://x.example/cu128\na==1\n",
    );
    assert_eq!(
        lock.indexes,
        ["https://i.example/simple", "https://x.example/cu128"]
    );
    assert!(lock.has_main_index);
    assert_eq!(lock.options.find_links, ["https://l.example/links.html"]);
    assert_eq!(details(&lock).len(), 1);
    assert!(details(&lock)[0].starts_with("line 5: `${INDEX}` holds the variable INDEX"));
    let logins: Vec<_> = lock
        .options
        .logins
        .iter()
        .map(super::super::Login::expose)
        .collect();
    assert!(logins.contains(&"https://u:s3cret@i.example/simple"));
    let shown = format!("{lock:?}");
    assert!(
        !shown.contains("s3cret") && !shown.contains("t0ken"),
        "{shown}"
    );
}

#[test]
fn without_a_main_index_the_configuration_has_it() {
    let lock = lock("--extra-index-url https://x.example/cu128\na==1\n");
    assert!(!lock.has_main_index);
    let lock =
        self::lock("-i https://i.example\n--no-index\n-i https://j.example\n-f ./wheels\na==1\n");
    assert!(lock.options.no_index && !lock.has_main_index && lock.indexes.is_empty());
}

#[test]
fn binaries_are_allowed_and_excluded_as_by_pip() {
    let options = |text: &str| {
        let options = lock(text).options;
        let joined = |names: std::collections::BTreeSet<String>| {
            names.into_iter().collect::<Vec<_>>().join(",")
        };
        (joined(options.no_binary), joined(options.only_binary))
    };
    let pair = |no: &str, only: &str| (no.to_owned(), only.to_owned());
    // expected values: `FormatControl` of pip 23.2.1
    for (text, expected) in [
        (
            "--no-binary :all:\n--only-binary Torch,a_b\n",
            pair(":all:", "a-b,torch"),
        ),
        (
            "--only-binary torch\n--no-binary torch\n",
            pair("torch", ""),
        ),
        (
            "--no-binary torch\n--no-binary :none:\na==1\n",
            pair("", ""),
        ),
        ("--no-binary a,:all:,b,:all:,c\n", pair(":all:", "")),
        ("--no-binary :all:,:none:,a\n", pair("a", "")),
        ("--only-binary a\n--no-binary :all:\n", pair(":all:", "")),
    ] {
        assert_eq!(options(text), expected, "{text}");
    }
}

#[test]
fn lines_that_pip_refuses_are_located_without_secrets() {
    let lock = lock(
        "a==1\n$$$\nb==1 --hash=md5:00\nc==1 --hash=zz\nd==x.y\ne==1,==2\nf @\ng @ https://u:s3cret@f.example/g.whl\nh==${V}\n!https://u:s3cret@x.example/ y\n",
    );
    assert_eq!(pins(&lock), [(1, "a", "1", None)]);
    let details = details(&lock);
    assert_eq!(details.len(), 9, "{details:#?}");
    for (line, detail) in (2..).zip(&details) {
        assert!(detail.starts_with(&format!("line {line}: ")), "{detail}");
        assert!(!detail.contains("s3cret"), "{detail}");
    }
}

#[test]
fn a_text_of_which_nothing_is_understood_is_refused() {
    let error = read("Dear all,\nhello!\n", &at(), &|_| None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "requirements.txt: line 1: `Dear all,` is no requirement: `all` is no range of versions"
    );
    assert!(read("", &at(), &|_| None).unwrap().packages.is_empty());
}

#[test]
fn no_text_is_a_panic() {
    for text in [
        "\\",
        "-",
        "--",
        "--hash",
        "[",
        "a[",
        "a[]",
        "@",
        "a@",
        ";",
        "a;;",
        "a ; ((((((((((",
        "-e",
        "-e git+",
        "\u{feff}a==1",
        "a @ ://",
        "=",
        "==",
        "a==",
        "a===",
        "é==1",
        "a==1 --hash=",
        "file:",
        "file://",
        "-r",
        "-c -c",
        "${",
        "${A",
        "..",
        "/",
        "a(",
        "https://",
        "a==1\\\n\\\n\\",
        "#",
        "a#",
        "\u{85}\u{2028}",
        "\"",
        "-f \"",
        ".whl",
        "a-.whl",
        "./.zip",
    ] {
        let _ = read(text, &at(), &|_| Some(text.as_bytes().to_vec().into()));
        let _ = is_plausible(text);
    }
    let deep = format!(
        "a ; {}os_name == 'nt'{}\n-c c\n",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    let _ = read(&deep, &at(), &|_| {
        Some(b"a==1 ; os_name == 'nt'".to_vec().into())
    });
}
