//! How the script comes by the program: from a server on this machine, in place of a repository's releases.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::root;
use super::runner::{Runner, executable, stand_in};
use crate::support::registry::digest;
use crate::support::registry::stub::{Reply, Stub};
use crate::support::servers::{Files, whole};

const TARGET: &str = "x86_64-unknown-linux-musl";

/// The archive of a release, with a program that passes.
fn archive(version: &str) -> Vec<u8> {
    let program = format!("{}report pass\n", stand_in(version));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for (name, content) in [("README.md", "read me"), ("smgate", program.as_str())] {
        let mut header = tar::Header::new_ustar();
        let path = format!("smgate-{version}-{TARGET}/{name}");
        header.set_path(path).unwrap();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        packed.write_all(header.as_bytes()).unwrap();
        packed.write_all(content.as_bytes()).unwrap();
        packed
            .write_all(&vec![
                0;
                content.len().next_multiple_of(512) - content.len()
            ])
            .unwrap();
    }
    packed.write_all(&[0; 1024]).unwrap();
    packed.finish().unwrap()
}

fn name(version: &str) -> String {
    format!("smgate-{version}-{TARGET}.tar.gz")
}

/// The line of an archive in `SHA256SUMS`.
fn sum(version: &str) -> String {
    let hash = digest(&archive(version)).replace("sha256:", "");
    format!("{hash}  {}\n", name(version))
}

/// A release below `prefix`, with these checksums.
fn release(prefix: &str, version: &str, sums: &str) -> Files {
    let base = format!("{prefix}/download/v{version}");
    vec![
        (format!("{base}/SHA256SUMS"), sums.as_bytes().to_vec()),
        (format!("{base}/{}", name(version)), archive(version)),
    ]
}

/// The version of this commit.
fn own() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn runner(server: &Stub) -> Runner {
    Runner::bare()
        .with("inputs", "a.whl")
        .with("download-url", &server.url("/mirror"))
}

#[test]
fn the_release_of_the_commit_is_installed_and_put_on_the_path() {
    let server = whole(release(
        "/mirror",
        own(),
        &format!("{}  other.zip\n{}", "0".repeat(64), sum(own())),
    ));
    let runner = runner(&server);
    let ended = runner.run();
    assert_eq!(ended.verdict(), (0, "pass", "0"), "{ended:?}");
    assert!(
        ended.log.contains(&format!("smgate {}", own())),
        "{ended:?}"
    );
    let installed = PathBuf::from(ended.path.trim_end());
    assert!(installed.starts_with(runner.place.path().join("temp")));
    assert!(installed.join("smgate").is_file());
    assert!(
        !installed.join("README.md").exists(),
        "nothing else is unpacked"
    );
}

#[test]
fn a_program_that_is_already_there_is_never_taken_for_the_release() {
    let server = whole(release("/mirror", own(), &sum(own())));
    let runner = runner(&server);
    let planted = format!("{}echo planted; report pass\n", stand_in("planted"));
    let folder = format!("temp/smgate-action/smgate-{}-{TARGET}/smgate", own());
    executable(&runner.place.write(&folder, &planted));
    let first = runner.run();
    assert_eq!(first.verdict(), (0, "pass", "0"), "{first:?}");
    // nor one that an earlier step of the job installed and a later one changed
    let changed = Path::new(first.path.trim_end()).join("smgate");
    executable(&runner.place.write(changed.to_str().unwrap(), &planted));
    let second = runner.run();
    assert_eq!(second.verdict(), (0, "pass", "0"), "{second:?}");
    assert_ne!(first.path, second.path);
    for ended in [&first, &second] {
        assert!(!ended.log.contains("planted"), "{ended:?}");
    }
    assert_eq!(server.paths().len(), 4, "each step fetches and compares");
    let unchecked = runner
        .with("verify-attestation", "true")
        .variable("GITHUB_ACTION_REPOSITORY", "acme/smgate")
        .tool("gh", "exit 1");
    unchecked
        .run()
        .refused("no attestation of acme/smgate is about");
}

#[test]
fn a_version_is_taken_with_or_without_v_and_latest_is_looked_up() {
    let mut files = release("/mirror", "1.2.3", &sum("1.2.3"));
    let sums = format!(
        "{}{}  smgate-9.9.9-aarch64-apple-darwin.tar.gz\n",
        sum("1.2.3"),
        "0".repeat(64)
    );
    files.push((
        "/mirror/latest/download/SHA256SUMS".to_owned(),
        sums.into_bytes(),
    ));
    let server = whole(files);
    for version in ["1.2.3", "v1.2.3", "latest"] {
        let ended = runner(&server).with("version", version).run();
        assert_eq!(ended.verdict(), (0, "pass", "0"), "{version}: {ended:?}");
        assert!(ended.log.contains("smgate 1.2.3\n"), "{version}: {ended:?}");
    }
    let ended = runner(&server)
        .with("version", "latest")
        .variable("RUNNER_ARCH", "ARM64")
        .run();
    ended.refused("the latest release has no build for this runner (aarch64-unknown-linux-musl)");
}

#[test]
fn checksums_with_line_ends_of_windows_are_read_alike() {
    let sums = sum("1.2.3").replace('\n', "\r\n");
    let mut files = release("/mirror", "1.2.3", &sums);
    files.push((
        "/mirror/latest/download/SHA256SUMS".to_owned(),
        sums.into_bytes(),
    ));
    let server = whole(files);
    for version in ["1.2.3", "latest"] {
        let ended = runner(&server).with("version", version).run();
        assert_eq!(ended.verdict(), (0, "pass", "0"), "{version}: {ended:?}");
    }
}

#[test]
fn brackets_in_an_address_are_no_pattern() {
    let server = whole(Files::new());
    let ended = Runner::bare()
        .with("inputs", "a.whl")
        .with("version", "1.2.3")
        .with("download-url", &server.url("/{a,b}[1-9]"))
        .run();
    ended.refused("could not be fetched (HTTP status 404)");
    let paths = server.paths();
    let [path] = &paths[..] else {
        panic!("one request: {paths:?}");
    };
    assert!(path.ends_with("/download/v1.2.3/SHA256SUMS"), "{path}");
}

#[test]
fn what_tools_print_runs_no_workflow_command() {
    const EVIL: &str = "printf '::add-path::/evil\\n::x::\\n ##[add-path]/evil\\n'; printf '\\r::add-path::/evil\\n' >&2";
    let server = whole(release("/mirror", own(), &sum(own())));
    let start = || {
        runner(&server)
            .with("verify-attestation", "true")
            .variable("GITHUB_ACTION_REPOSITORY", "acme/smgate")
    };
    let ended = start().tool("gh", EVIL).run();
    assert_eq!(ended.verdict(), (0, "pass", "0"), "{ended:?}");
    assert_eq!(ended.commands(), Vec::<String>::new());
    assert_eq!(ended.log.matches("::add-path::/evil").count(), 2);
    // each ends with our one command
    let failing = format!("{EVIL}; exit 1");
    let gh = start().tool("gh", &failing).run();
    gh.refused("no attestation of acme/smgate is about");
    let curl = start().tool("curl", &failing).run();
    curl.refused("could not be fetched");
    let cargo = Runner::bare()
        .with("inputs", "a")
        .with("version", "source")
        .tool("cargo", &failing)
        .run();
    cargo.refused("smgate could not be built here");
    for ended in [gh, curl, cargo] {
        assert!(ended.log.contains("\r::add-path::/evil"), "{ended:?}");
    }
}

#[test]
fn what_is_not_what_the_checksums_say_is_never_run() {
    let right = sum(own());
    let other = right.replace(
        &right[..4],
        if right.starts_with("0000") {
            "1111"
        } else {
            "0000"
        },
    );
    for (sums, reason) in [
        (other.clone(), "has the SHA-256"),
        (String::new(), "does not say one hash"),
        (right.replace("smgate-", "smgatf-"), "does not say one hash"),
        (format!("{right}{other}"), "does not say one hash"),
        (right.replacen(&right[..2], "", 1), "does not say one hash"),
        (right.to_uppercase(), "does not say one hash"),
    ] {
        let server = whole(release("/mirror", own(), &sums));
        let runner = runner(&server);
        let ended = runner.run();
        ended.refused(reason);
        assert_eq!(ended.path, "");
        assert!(
            !ended.log.contains(&format!("smgate {}\n", own())),
            "{ended:?}"
        );
    }
}

#[test]
fn a_release_that_is_not_there_is_refused_with_what_to_do() {
    let server = whole(Files::new());
    let ended = runner(&server).with("version", "7.7.7").run();
    ended.refused("could not be fetched (HTTP status 404)");
    ended.refused("`version: source` to build it");
    let half: Files = release("/mirror", "7.7.7", "")
        .into_iter()
        .take(1)
        .collect();
    let server = whole(half);
    runner(&server)
        .with("version", "7.7.7")
        .run()
        .refused("7.7.7-x86_64-unknown-linux-musl.tar.gz` could not be fetched");
}

#[test]
fn versions_and_addresses_of_other_forms_are_refused_before_anything_is_fetched() {
    let server = whole(Files::new());
    for version in [
        "1.2",
        "1.2.3.4",
        "1.2.3;id",
        "../../1.2.3",
        "1.2.3/../x",
        "main",
        "$(id)",
        "1.2.3-a/b",
    ] {
        let ended = runner(&server).with("version", version).run();
        ended.refused(&format!("`{version}` is no version"));
    }
    for url in [
        "http://mirror.example/x",
        "file:///etc",
        "ftp://127.0.0.1:1/x",
        "-o/tmp/x",
        "http://127.0.0.1.evil.example:1",
        "http://127.0.0.1:80@evil.example",
        "http://localhost:80@evil.example/x",
        "http://127.0.0.1:80\\@evil.example/x",
        "http://127.0.0.1:@evil.example/x",
        "http://127.0.0.1:80?@evil.example/x",
    ] {
        let ended = runner(&server).with("download-url", url).run();
        ended.refused("is no https address");
    }
    let secret = "ftp://me:p@hunter2@mirror.example/x@y";
    let ended = runner(&server).with("download-url", secret).run();
    ended.refused("`ftp://***@mirror.example/x@y/");
    assert!(!ended.log.contains("hunter2"), "{ended:?}");
    assert_eq!(server.paths(), Vec::<String>::new());
}

#[test]
fn a_redirect_to_an_address_without_tls_elsewhere_is_not_followed_from_https() {
    let (server, authority) = Stub::start_tls(|seen, _| {
        assert!(seen.path.starts_with("/mirror/"));
        Reply::new(302).header("location", "http://127.0.0.1:9/SHA256SUMS")
    });
    let runner = Runner::bare()
        .with("inputs", "a")
        .with("download-url", &server.url("/mirror"));
    let authority = runner.place.write("ca.pem", authority);
    let ended = runner
        .variable("CURL_CA_BUNDLE", authority.to_str().unwrap())
        .run();
    ended.refused("could not be fetched");
    assert!(
        ended.log.contains("rotocol"),
        "curl refuses the protocol: {ended:?}"
    );
}

#[test]
fn other_runners_are_told_that_there_is_no_build() {
    let server = whole(Files::new());
    for (system, machine) in [
        ("Linux", "ARM"),
        ("Linux", "X86"),
        ("Windows", "ARM64"),
        ("", ""),
    ] {
        let ended = runner(&server)
            .variable("RUNNER_OS", system)
            .variable("RUNNER_ARCH", machine)
            .run();
        ended.refused("there is no build for this runner");
    }
    assert_eq!(server.paths(), Vec::<String>::new());
}

#[test]
fn the_repository_is_that_of_the_place_of_the_action() {
    let server = whole(release("/acme/smgate/releases", own(), &sum(own())));
    let start = || {
        let runner = Runner::bare()
            .with("inputs", "a")
            .variable("GITHUB_SERVER_URL", &server.url(""));
        let at = "_actions/acme/smgate/v1";
        for file in ["action.sh", "Cargo.toml"] {
            let content = crate::support::read(&root().join(file));
            runner.place.write(&format!("{at}/{file}"), content);
        }
        let at = runner.place.path().join(at);
        runner.variable("GITHUB_ACTION_PATH", at.to_str().unwrap())
    };
    // what runners say in composite actions: nothing, or another action
    for said in ["", "actions/checkout"] {
        let ended = start().variable("GITHUB_ACTION_REPOSITORY", said).run();
        assert_eq!(ended.verdict(), (0, "pass", "0"), "{said}: {ended:?}");
    }
    let elsewhere = Runner::bare()
        .with("inputs", "a")
        .variable("GITHUB_SERVER_URL", &server.url(""));
    elsewhere
        .run()
        .refused("which repository this action comes from is not known");
}

#[test]
fn attestations_are_checked_where_that_is_asked() {
    let server = whole(release("/mirror", own(), &sum(own())));
    let start = || {
        runner(&server)
            .with("verify-attestation", "true")
            .variable("GITHUB_ACTION_REPOSITORY", "acme/smgate")
    };
    start().run().refused("there is no `gh` on this runner");
    let runner = start().tool("gh", "printf '%s\\n' \"$GH_TOKEN\" \"$@\" >\"$HOME.gh\"");
    let ended = runner.run();
    assert_eq!(ended.verdict(), (0, "pass", "0"), "{ended:?}");
    let called = crate::support::text(&runner.place.path().join("home.gh"));
    let words: Vec<&str> = called.lines().collect();
    assert_eq!(words[..3], ["t0ken", "attestation", "verify"]);
    assert!(words[3].ends_with(&name(own())), "{words:?}");
    assert_eq!(words[4..], ["--repo", "acme/smgate"]);
    let refused = start().tool("gh", "exit 1").run();
    refused.refused("no attestation of acme/smgate is about");
    assert_eq!(refused.path, "");
}

#[test]
fn source_builds_the_commit_of_the_action_with_its_lock_file() {
    let runner = Runner::bare().with("inputs", "a").with("version", "source");
    runner.run().refused("there is no `cargo` on this runner");
    let runner = runner.tool(
        "cargo",
        "printf '%s\\n' \"$PWD\" \"$@\" >\"$HOME.cargo\"; root=${!#}; mkdir -p \"$root/bin\"\n\
         printf '%s' \"$PROGRAM\" >\"$root/bin/smgate\"; chmod +x \"$root/bin/smgate\"",
    );
    let program = format!("{}report pass\n", stand_in("built"));
    let runner = runner.variable("PROGRAM", &program);
    let ended = runner.run();
    assert_eq!(ended.verdict(), (0, "pass", "0"), "{ended:?}");
    assert!(ended.log.contains("smgate built\n"), "{ended:?}");
    let called = crate::support::text(&runner.place.path().join("home.cargo"));
    let words: Vec<&str> = called.lines().collect();
    assert_eq!(words[0], root().to_str().unwrap(), "not in the workspace");
    assert_eq!(
        words[1..6],
        ["install", "--locked", "--quiet", "--path", "."]
    );
    let failing = Runner::bare()
        .with("inputs", "a")
        .with("version", "source")
        .tool("cargo", "exit 101");
    failing.run().refused("smgate could not be built here");
}
