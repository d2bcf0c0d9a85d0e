//! Logins in addresses work, and are printed and kept nowhere.

use std::fs;
use std::path::Path;

use super::{check, run, small};
use crate::support::read;
use crate::support::servers::{served, uv_lock, uv_package, with_login};
use crate::support_cli::Place;

/// Whether a file below a directory holds the password.
fn is_kept(dir: &Path) -> bool {
    fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_kept(&path);
        }
        String::from_utf8_lossy(&read(&path)).contains("s3cret")
    })
}

/// Every report of the lock file; none holds the password, nor does what is kept.
fn is_secret(place: &Place, name: &str, more: &[&str]) {
    for command in ["check", "inspect"] {
        for format in ["human", "json"] {
            let mut args = vec![command, name, "--format", format, "--verbose"];
            if command == "check" {
                args.extend(["--target", "H100", "--driver", "R580"]);
            }
            let run = run(place, &[&args, more].concat());
            for text in [&run.stdout, &run.stderr] {
                assert!(!text.contains("s3cret"), "{args:?}: {run:?}");
            }
        }
    }
    fs::remove_file(place.path().join(name)).unwrap();
    assert!(!is_kept(place.path()));
}

#[test]
fn a_login_in_an_address_of_a_lock_file_is_used_and_not_shown() {
    let (name, bytes) = small("pkg", "sm_90");
    let server = with_login(vec![served(&name, &bytes)]);
    let place = Place::new();
    let base = format!("http://me:s3cret@{}", server.host());
    place.write("uv.lock", uv_lock(&[uv_package(&base, &name, &bytes)]));
    let checked = check(&place, &["uv.lock"]);
    assert_eq!(
        (checked.status, checked.problems()),
        (0, Vec::new()),
        "{checked:?}"
    );
    is_secret(&place, "uv.lock", &[]);
}

#[test]
fn a_login_in_an_address_that_fails_is_not_shown() {
    let (name, bytes) = small("pkg", "sm_90");
    let server = with_login(Vec::new());
    for login in ["me:s3cret", "s3cret", "you:s3cret%21"] {
        let place = Place::new();
        let base = format!("http://{login}@{}", server.host());
        place.write("uv.lock", uv_lock(&[uv_package(&base, &name, &bytes)]));
        assert_eq!(check(&place, &["uv.lock"]).status, 3);
        is_secret(&place, "uv.lock", &[]);
    }
}

#[test]
fn a_login_of_an_index_is_not_shown() {
    let server = with_login(Vec::new());
    let base = format!("http://me:s3cret@{}", server.host());
    for option in ["--index-url", "--extra-index-url", "--find-links"] {
        let place = Place::new();
        let url = format!("{base}/simple");
        place.write("requirements.txt", "pkg==1.0\n");
        is_secret(&place, "requirements.txt", &[option, &url]);
    }
    let place = Place::new();
    place.write(
        "requirements.txt",
        format!("--index-url {base}/simple\npkg==1.0\n"),
    );
    is_secret(&place, "requirements.txt", &[]);
    assert!(
        server
            .paths()
            .iter()
            .any(|path| path.contains("/simple/pkg/"))
    );
}
