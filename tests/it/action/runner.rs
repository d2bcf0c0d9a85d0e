//! A runner as far as the script sees one: files, variables, and the tools that every runner has.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::log::obeyed;
use super::{action, root, variable};
use crate::support::text;
use crate::support_cli::Place;

/// The programs that the script may call. Nothing else is on its path.
const TOOLS: &[&str] = &[
    "bash",
    "cat",
    "chmod",
    "curl",
    "dirname",
    "grep",
    "gzip",
    "mkdir",
    "mktemp",
    "od",
    "rm",
    "sed",
    "sha256sum",
    "shasum",
    "tar",
    "tr",
    "wc",
];

/// The beginning of a program in place of smgate: it answers `--version`, has the files of the reports as `json`,
/// `markdown` and `github`, and writes a report with the verdict that is given to `report`.
pub(super) fn stand_in(version: &str) -> String {
    format!(
        r#"#!/usr/bin/env bash
if [ "$1" = --version ]; then echo 'smgate {version}'; exit; fi
for word; do case $word in --output=*=*) name=${{word#--output=}}; declare "${{name%%=*}}=${{name#*=}}" ;; esac; done
report() {{
  printf '{{\n  "schema": "smgate/check/1",\n  "verdict": "%s",\n  "counts": {{\n' "$1" >"$json"
  printf '    "denied": 4,\n    "warnings": 5,\n    "problems": 6\n  }}\n}}\n' >>"$json"
}}
"#
    )
}

pub(super) struct Runner {
    pub(super) place: Place,
    inputs: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

/// How the step ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: i32,
    pub(super) log: String,
    pub(super) outputs: BTreeMap<String, String>,
    pub(super) summary: String,
    pub(super) path: String,
}

impl Ended {
    /// An output; empty where it was not written, as workflows see it.
    pub(super) fn output(&self, name: &str) -> &str {
        self.outputs.get(name).map_or("", String::as_str)
    }

    pub(super) fn verdict(&self) -> (i32, &str, &str) {
        (
            self.status,
            self.output("verdict"),
            self.output("exit-code"),
        )
    }

    /// What the runner does of what is printed.
    pub(super) fn commands(&self) -> Vec<String> {
        obeyed(&self.log)
    }

    /// That the step ended before anything was judged, for this reason.
    pub(super) fn refused(&self, reason: &str) {
        assert_eq!(self.verdict(), (2, "error", "2"), "{self:?}");
        assert_eq!(self.outputs.len(), 2, "{self:?}");
        let [command] = &self.commands()[..] else {
            panic!("{self:?}");
        };
        assert!(command.starts_with("::error title=smgate::"), "{self:?}");
        assert!(command.contains(reason), "{reason}: {self:?}");
    }
}

impl Runner {
    /// Linux on x86-64, with the program that is tested, and an empty workspace.
    pub(super) fn new() -> Self {
        let runner = Self::bare();
        runner.with("binary", env!("CARGO_BIN_EXE_smgate"))
    }

    /// The same without a program.
    pub(super) fn bare() -> Self {
        let place = Place::new();
        let tools = place.path().join("tools");
        for directory in ["tools", "workspace", "temp"] {
            std::fs::create_dir(place.path().join(directory)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap();
        for tool in TOOLS {
            let found = std::env::split_paths(&path).map(|dir| dir.join(tool));
            if let Some(found) = found.into_iter().find(|found| found.is_file()) {
                symlink(found, tools.join(tool)).unwrap();
            }
        }
        for file in ["output", "summary", "env", "path"] {
            place.write(file, "");
        }
        let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let variables = [
            ("PATH", at("tools")),
            ("HOME", at("home")),
            ("GITHUB_OUTPUT", at("output")),
            ("GITHUB_STEP_SUMMARY", at("summary")),
            ("GITHUB_ENV", at("env")),
            ("GITHUB_PATH", at("path")),
            ("GITHUB_WORKSPACE", at("workspace")),
            ("GITHUB_ACTION_PATH", root().to_str().unwrap().to_owned()),
            ("RUNNER_TEMP", at("temp")),
            ("RUNNER_OS", "Linux".to_owned()),
            ("RUNNER_ARCH", "X64".to_owned()),
            ("SMGATE_CACHE_DIR", at("cache")),
        ];
        let defaults = action().inputs.into_iter().filter_map(|(name, input)| {
            let default = input.default?;
            let default = default.replace("${{ github.token }}", "t0ken");
            Some((name, default))
        });
        Self {
            inputs: defaults.collect(),
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            place,
        }
    }

    /// An input of the action.
    pub(super) fn with(mut self, input: &str, value: &str) -> Self {
        self.inputs.insert(input.to_owned(), value.to_owned());
        self
    }

    /// A variable of the runner.
    pub(super) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A file in the workspace.
    pub(super) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.place.write(&format!("workspace/{name}"), content);
        self
    }

    /// A program on the path, of shell.
    pub(super) fn tool(self, name: &str, shell: &str) -> Self {
        // never through the link to the real one
        let _none = std::fs::remove_file(self.place.path().join("tools").join(name));
        let path = self.place.write(
            &format!("tools/{name}"),
            format!("#!/usr/bin/env bash\n{shell}\n"),
        );
        executable(&path);
        self
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.place.path().join("workspace")
    }

    pub(super) fn run(&self) -> Ended {
        for file in ["output", "summary", "env", "path"] {
            self.place.write(file, "");
        }
        let inputs = self.inputs.iter();
        let inputs = inputs.map(|(name, value)| (variable(name), value.clone()));
        let output = Command::new("bash")
            .arg(Path::new(&self.variables["GITHUB_ACTION_PATH"]).join("action.sh"))
            .current_dir(self.place.path())
            .env_clear()
            .envs(&self.variables)
            .envs(inputs)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let file = |name: &str| text(&self.place.path().join(name));
        assert_eq!(
            file("env"),
            "",
            "the environment of other steps is not touched"
        );
        let mut log = String::from_utf8(output.stdout).unwrap();
        log += &String::from_utf8(output.stderr).unwrap();
        Ended {
            status: output.status.code().unwrap(),
            log,
            outputs: outputs(&file("output")),
            summary: file("summary"),
            path: file("path"),
        }
    }
}

/// Lets a file be run.
pub(super) fn executable(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The outputs in a file, as a runner reads them: `NAME<<WORD`, lines, `WORD`.
fn outputs(text: &str) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (name, word) = line.split_once("<<").unwrap();
        let value: Vec<&str> = lines.by_ref().take_while(|line| *line != word).collect();
        let before = outputs.insert(name.to_owned(), value.join("\n"));
        assert_eq!(before, None, "`{name}` is written twice");
    }
    outputs
}
