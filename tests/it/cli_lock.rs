//! Lock files through the real binary.

mod broken;
mod cache;
mod hashes;
mod kinds;
mod local;
mod secrets;
mod servers;
mod targets;

use serde_json::Value;

use crate::support::Random;
use crate::support_cli::{Place, Run, finish, library, simple, wheel};

/// Runs the binary where no program is found: pip would name an index of this machine's user.
pub(crate) fn run(place: &Place, args: &[&str]) -> Run {
    let mut command = place.command(args);
    command.env("PATH", place.path().join(".no-programs"));
    finish(command)
}

const H100: &[&str] = &[
    "check",
    "--target",
    "H100",
    "--driver",
    "R580",
    "--platform",
    "linux/amd64",
    "--python",
    "3.12",
    "--format",
    "json",
];

/// `check` for one H100 with a driver that starts everything, on Linux with Python 3.12, as JSON.
pub(crate) fn check(place: &Place, more: &[&str]) -> Run {
    run(place, &[H100, more].concat())
}

/// `inspect` for the same machine, as JSON.
pub(crate) fn inspect(place: &Place, more: &[&str]) -> Run {
    let args = [
        "inspect",
        "--platform",
        "linux/amd64",
        "--python",
        "3.12",
        "--format",
        "json",
    ];
    run(place, &[&args, more].concat())
}

/// A small wheel with code for these GPUs: its file name and bytes.
pub(crate) fn small(name: &str, code: &str) -> (String, Vec<u8>) {
    let file = simple(name, &[(code, 2)]);
    (file.file_name(), file.build())
}

/// A wheel of more than 200 kB, of which what can hold device code is in the last 64 KiB.
fn large(name: &str, code: &str) -> (String, Vec<u8>) {
    let file = wheel(name, "1.0")
        .member(&format!("{name}/NOTES.txt"), Random::new(7).bytes(200_000))
        .member(&format!("{name}/_C.so"), library(&[(code, 2)]));
    (file.file_name(), file.build())
}

/// What findings that count say: code, package, line of the lock file, target.
pub(crate) fn findings(run: &Run) -> Vec<Value> {
    let report = run.json();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["level"] != "allow")
        .map(|finding| {
            serde_json::json!([
                finding["code"],
                finding["package"],
                finding["line"],
                finding["target"]
            ])
        })
        .collect()
}

/// One field of every package of the lock files of an inventory.
fn of_packages(run: &Run, field: &str) -> Vec<Value> {
    let report = run.json();
    let locks = report["locks"].as_array().unwrap().iter();
    let packages = locks.flat_map(|lock| lock["packages"].as_array().unwrap());
    packages.map(|package| package[field].clone()).collect()
}
