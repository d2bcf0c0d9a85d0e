//! The host facts against `readelf`, on our fixtures, on libraries built here and on those of this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use smgate::device::{HostFacts, HostFormat};

use crate::support::elf::{Elf, Names};
use crate::support::{cuda_dir, fixtures, read, scan};

/// What a dynamic section says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Dynamic {
    soname: Option<String>,
    needed: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
}

impl From<HostFacts> for Dynamic {
    fn from(facts: HostFacts) -> Self {
        let HostFacts {
            soname,
            needed,
            rpath,
            runpath,
            ..
        } = facts;
        Self {
            soname,
            needed,
            rpath,
            runpath,
        }
    }
}

/// Whether there is a `readelf`; a test that cannot compare says so.
fn has_readelf() -> bool {
    let has = Command::new("readelf").arg("--version").output().is_ok();
    if !has {
        println!("SKIPPED: `readelf` is not installed (Debian: binutils), nothing was compared");
    }
    has
}

/// What `readelf` says of a file; `None` where it is no ELF file.
fn readelf(path: &Path) -> Option<Dynamic> {
    let output = Command::new("readelf")
        .args(["-d", "-W"])
        .arg(path)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| {
        let mut dynamic = Dynamic::default();
        for line in text.lines() {
            let value = || {
                line.split_once('[')
                    .and_then(|(_, rest)| rest.strip_suffix(']'))
                    .unwrap()
                    .to_owned()
            };
            if line.contains("(NEEDED)") {
                dynamic.needed.push(value());
            } else if line.contains("(SONAME)") {
                dynamic.soname = Some(value());
            } else if line.contains("(RPATH)") {
                dynamic.rpath = Some(value());
            } else if line.contains("(RUNPATH)") {
                dynamic.runpath = Some(value());
            }
        }
        dynamic
    })
}

#[test]
fn elf_fixtures_have_the_dynamic_section_of_readelf() {
    if !has_readelf() {
        return;
    }
    let mut compared = 0;
    for (name, bytes) in fixtures() {
        let facts = scan(&bytes).host;
        if facts.format == HostFormat::Elf {
            let expected = readelf(&cuda_dir().join(&name)).unwrap();
            assert_eq!(Dynamic::from(facts), expected, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 10, "only {compared}");
}

#[test]
fn built_libraries_are_for_readelf_what_was_put_into_them() {
    if !has_readelf() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (index, names) in [Names::Near, Names::Far(3 << 20), Names::Last]
        .into_iter()
        .enumerate()
    {
        let library = Elf::with_fatbin([0; 64])
            .soname("libx.so.1")
            .needed("liba.so")
            .needed("libb.so.2")
            .rpath("$ORIGIN/../lib")
            .runpath("/opt/x")
            .names(names)
            .build();
        let path = folder.path().join(format!("lib{index}.so"));
        std::fs::write(&path, &library).unwrap();
        let put_in = Dynamic {
            soname: Some("libx.so.1".to_owned()),
            needed: vec!["liba.so".to_owned(), "libb.so.2".to_owned()],
            rpath: Some("$ORIGIN/../lib".to_owned()),
            runpath: Some("/opt/x".to_owned()),
        };
        assert_eq!(readelf(&path).unwrap(), put_in);
        let report = scan(&library);
        assert_eq!(Dynamic::from(report.host), put_in);
        assert_eq!(report.problems, []);
    }
}

/// Up to `most` libraries of this machine, in the order of their names.
fn installed(most: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [
        "/usr/lib",
        "/usr/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ] {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let is_library = path
                .file_name()
                .and_then(OsStr::to_str)
                .is_some_and(|name| name.contains(".so"));
            let small = path
                .metadata()
                .is_ok_and(|meta| meta.is_file() && meta.len() < 3 << 20);
            if is_library && small && !path.is_symlink() {
                found.push(path);
            }
        }
    }
    found.sort();
    let step = found.len().div_ceil(most).max(1);
    found.into_iter().step_by(step).collect()
}

#[test]
fn libraries_of_this_machine_have_the_dynamic_section_of_readelf() {
    if !has_readelf() {
        return;
    }
    let libraries = installed(40);
    if libraries.is_empty() {
        println!("SKIPPED: there are no libraries below /usr/lib");
    }
    for path in libraries {
        let report = scan(&read(&path));
        if report.host.format == HostFormat::Elf {
            let shown = path.display();
            assert_eq!(
                Dynamic::from(report.host),
                readelf(&path).unwrap(),
                "{shown}"
            );
            assert_eq!(report.problems, [], "{shown}");
            assert_eq!(report.classes, [], "{shown}");
        }
    }
}
