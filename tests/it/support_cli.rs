//! The real binary in a directory of its own: what it prints, on which stream, and how it ends.

// Several modules use a part each.
#![allow(dead_code, reason = "helpers of several modules")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support_zip::Zip;

/// The forms of a report of `check`; that in HTML has tests of its own.
pub(crate) const FORMATS: &[&str] = &[
    "github", "gitlab", "human", "json", "junit", "markdown", "ndjson", "sarif",
];

/// A directory that is removed at the end, in which the binary runs.
pub(crate) struct Place {
    dir: TempDir,
}

/// How a run ended and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Status, standard output and error, as snapshots show them.
    pub(crate) fn shown(&self) -> String {
        let part = |name: &str, text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                let text = without_digest(text);
                format!("--- {name}\n{text}")
            }
        };
        format!(
            "exit {}\n{}{}",
            self.status,
            part("stdout", &self.stdout),
            part("stderr", &self.stderr)
        )
    }

    /// The codes of the findings of a JSON report that count, each once.
    pub(crate) fn codes(&self) -> Vec<String> {
        let report = self.json();
        let findings = report["findings"].as_array().unwrap();
        let codes = findings
            .iter()
            .filter(|finding| finding["level"] != "allow" && finding["waived"].is_null());
        let mut codes: Vec<String> = codes
            .map(|finding| finding["code"].as_str().unwrap().to_owned())
            .collect();
        codes.sort();
        codes.dedup();
        codes
    }

    /// The kinds of the problems of a JSON report, each once.
    pub(crate) fn problems(&self) -> Vec<String> {
        let report = self.json();
        let all: Vec<Value> = match &report["problems"] {
            Value::Array(problems) => problems.clone(),
            _ => report["artifacts"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|artifact| artifact["problems"].as_array().unwrap().clone())
                .collect(),
        };
        let mut kinds: Vec<String> = all
            .iter()
            .map(|problem| problem["kind"].as_str().unwrap().to_owned())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }
}

/// A report with a word in the place of the digest of the tables: a new fact is no new report.
pub(crate) fn without_digest(report: &str) -> String {
    let lines = report.split_inclusive('\n');
    let lines = lines.map(|line| match line.split_once("; sha256 ") {
        Some((of, _)) if of.starts_with("Tables of ") => "Tables of DAY; sha256 DIGEST\n",
        _ => line,
    });
    lines.collect()
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file and the directories above it; returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The binary in this directory or one below it, with nothing in its environment that matters.
    pub(crate) fn command_in(&self, dir: &str, args: &[&str]) -> Command {
        let mut command = quiet(self.path());
        command
            .args(args)
            .current_dir(self.path().join(dir))
            .stdin(Stdio::null())
            .env("TERM", "xterm-256color")
            .env("COLUMNS", "100");
        command
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_in("", args)
    }

    /// Runs the binary in this directory.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args))
    }

    /// Runs the binary in a directory below.
    pub(crate) fn run_in(&self, dir: &str, args: &[&str]) -> Run {
        finish(self.command_in(dir, args))
    }

    /// `check` of `input` for one H100 with a driver that starts everything, as JSON.
    pub(crate) fn check_h100(&self, input: &str) -> Run {
        self.run(&[
            "check", input, "--target", "H100", "--driver", "R580", "--format", "json",
        ])
    }
}

/// Where a run keeps results, in its directory.
pub(crate) const CACHE: &str = ".smgate-cache";

/// Variables by which a machine says how output looks, which servers are asked, and with which logins.
const OUTSIDE: &[&str] = &[
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "NETRC",
    "REGISTRY_AUTH_FILE",
    "XDG_RUNTIME_DIR",
    "DOCKER_CONFIG",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// The binary without what this machine's user has set up: the home, settings and caches are in `home`, and no variable
/// of pip, uv, conda, proxies or logins is handed on.
pub(crate) fn quiet(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_smgate"));
    for (name, _) in std::env::vars_os() {
        let upper = name.to_string_lossy().to_ascii_uppercase();
        let of_tool = ["PIP_", "UV_", "CONDA_", "PIXI_", "SMGATE_"];
        if of_tool.iter().any(|tool| upper.starts_with(tool)) || OUTSIDE.contains(&upper.as_str()) {
            command.env_remove(&name);
        }
    }
    for name in [
        "HOME",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "PROGRAMDATA",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_DIRS",
    ] {
        command.env(name, home.join(".home"));
    }
    command.env("SMGATE_CACHE_DIR", home.join(CACHE));
    command
}

/// Waits for a command and takes what it printed.
pub(crate) fn finish(mut command: Command) -> Run {
    let output = command.output().unwrap();
    Run {
        status: output
            .status
            .code()
            .unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// One fatbin, made by CUDA 12.8, with images as the other builders name them: `sm_80 compute_90@8.4`.
pub(crate) fn fatbin_of(images: &str) -> Vec<u8> {
    let entries: Vec<Entry> = images
        .split_whitespace()
        .map(|image| match image.split_once('@') {
            Some((target, isa)) => Entry::ptx(target, isa),
            None => Entry::plain_cubin(image, (12, 8)),
        })
        .collect();
    fatbin(&entries)
}

/// A library with fatbins of these images, `count` of each.
pub(crate) fn library(fatbins: &[(&str, usize)]) -> Vec<u8> {
    let mut section = Vec::new();
    for (images, count) in fatbins {
        for _ in 0..*count {
            section.extend(fatbin_of(images));
        }
    }
    Elf::new()
        .soname("lib.so")
        .needed("libc.so.6")
        .section(".nv_fatbin", section)
        .build()
}

/// A wheel for Linux on x86-64, under construction.
pub(crate) struct WheelFile {
    name: String,
    version: String,
    tag: String,
    zip: Zip,
    members: Vec<String>,
}

/// A wheel `NAME-VERSION-py3-none-manylinux_2_28_x86_64.whl`.
pub(crate) fn wheel(name: &str, version: &str) -> WheelFile {
    WheelFile {
        name: name.to_owned(),
        version: version.to_owned(),
        tag: "py3-none-manylinux_2_28_x86_64".to_owned(),
        zip: Zip::new(),
        members: Vec::new(),
    }
}

impl WheelFile {
    pub(crate) fn tag(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.tag);
        self
    }

    /// A deflated member.
    pub(crate) fn member(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.members.push(name.to_owned());
        self.zip = self.zip.deflated(name, content.as_ref());
        self
    }

    /// Changes the archive as built so far.
    pub(crate) fn zip(mut self, change: impl FnOnce(Zip) -> Zip) -> Self {
        self.zip = change(self.zip);
        self
    }

    /// The file name.
    pub(crate) fn file_name(&self) -> String {
        format!("{}-{}-{}.whl", self.name, self.version, self.tag)
    }

    fn dist_info(&self) -> String {
        format!("{}-{}.dist-info", self.name, self.version)
    }

    /// The archive with its metadata, not written yet.
    pub(crate) fn into_zip(self) -> Zip {
        let dist_info = self.dist_info();
        let metadata = format!(
            "Metadata-Version: 2.1\nName: {}\nVersion: {}\n",
            self.name, self.version
        );
        self.into_zip_with(&dist_info, metadata.as_bytes())
    }

    /// The same with another `METADATA`.
    pub(crate) fn into_zip_with(self, dist_info: &str, metadata: &[u8]) -> Zip {
        let wheel = format!(
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {}\n",
            self.tag
        );
        let metadata_files =
            ["METADATA", "WHEEL", "RECORD"].map(|file| format!("{dist_info}/{file}"));
        let listed = self.members.iter().chain(&metadata_files);
        let record: String = listed.flat_map(|name| [name.as_str(), ",,\n"]).collect();
        self.zip
            .deflated(&format!("{dist_info}/METADATA"), metadata)
            .deflated(&format!("{dist_info}/WHEEL"), wheel.as_bytes())
            .deflated(&format!("{dist_info}/RECORD"), record.as_bytes())
    }

    /// The bytes of the wheel.
    pub(crate) fn build(self) -> Vec<u8> {
        self.into_zip().build()
    }

    /// Writes it into `place`; returns its file name.
    pub(crate) fn write(self, place: &Place) -> String {
        let name = self.file_name();
        place.write(&name, self.build());
        name
    }
}

/// A wheel with one library.
pub(crate) fn simple(name: &str, fatbins: &[(&str, usize)]) -> WheelFile {
    wheel(name, "1.0").member(&format!("{name}/_C.so"), library(fatbins))
}
