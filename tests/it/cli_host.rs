//! `smgate host` and `--target host`, with an `nvidia-smi` that a script stands in for.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::text;
use crate::support_cli::{Place, Run, finish, simple, wheel};

/// A machine with one RTX 5090: `nvidia-smi` as R580 prints it.
const RTX_5090: &str = "#!/bin/sh\n\
    case \"$1\" in\n\
    --query-gpu=pci.device_id,compute_cap,name) echo '0x2B8510DE, 12.0, NVIDIA GeForce RTX 5090' ;;\n\
    '') echo '| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0 |' ;;\n\
    *) exit 6 ;;\n\
    esac\n";

/// Runs with this script as the only `nvidia-smi`.
fn on(place: &Place, script: &str, args: &[&str]) -> Run {
    let path = place.write("bin/nvidia-smi", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(args);
    // `sh` is where the script's first line says
    command.env("PATH", place.path().join("bin"));
    finish(command)
}

#[test]
fn shows_this_machine_and_a_target_to_paste() {
    let place = Place::new();
    let run = on(&place, RTX_5090, &["host", "--format", "json"]);
    assert_eq!(run.status, 0, "{run:?}");
    let shown = run.json();
    let schema = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/schema/host-1.json"));
    let schema = serde_json::from_str(&schema).unwrap();
    jsonschema::validate(&schema, &shown).unwrap();
    assert_eq!(shown["gpus"][0]["name"], "NVIDIA GeForce RTX 5090");
    assert_eq!(shown["gpus"][0]["pci"], "10de:2b85");
    assert_eq!(shown["gpus"][0]["cc"], "12.0");
    assert!(
        shown["target"]
            .as_str()
            .unwrap()
            .contains("gpu: \"NVIDIA GeForce RTX 5090\"")
    );
    // what is printed for people can be pasted below `targets:`
    let run = on(&place, RTX_5090, &["host"]);
    let (_, target) = run.stdout.split_once(":\n\n").unwrap();
    place.write("smgate.yaml", format!("version: 1\ntargets:\n{target}"));
    let lint = place.run(&["policy", "lint"]);
    assert_eq!(lint.status, 0, "{lint:?}");
}

#[test]
fn judges_for_this_machine() {
    let place = Place::new();
    simple("old", &[("sm_80 sm_90", 3)]).write(&place);
    simple("new", &[("sm_90 sm_120", 3)]).write(&place);
    for (name, status) in [("old", 1), ("new", 0)] {
        let file = format!("{name}-1.0-py3-none-manylinux_2_28_x86_64.whl");
        let args = [
            "check", &file, "--target", "host", "--driver", "R580", "--format", "json",
        ];
        let run = on(&place, RTX_5090, &args);
        // the wheel is for x86-64; elsewhere the platform denies
        if cfg!(target_arch = "x86_64") {
            assert_eq!(run.status, status, "{run:?}");
        }
        assert_eq!(run.json()["matrix"][0]["target"], "this-machine");
    }
    let file = "new-1.0-py3-none-manylinux_2_28_x86_64.whl";
    let run = on(
        &place,
        RTX_5090,
        &[
            "check", file, "--target", "host", "--target", "H100", "--driver", "R580", "--format",
            "json",
        ],
    );
    assert_eq!(run.json()["matrix"].as_array().unwrap().len(), 2);
    let run = on(
        &place,
        RTX_5090,
        &[
            "check",
            file,
            "--target",
            "host",
            "--platform",
            "linux/amd64",
        ],
    );
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("does not go with `--target host`"),
        "{run:?}"
    );
}

#[test]
fn a_machine_without_a_gpu_cannot_be_a_target() {
    if Path::new("/proc/driver/nvidia").exists() || Path::new("/proc/device-tree/model").exists() {
        return; // this one has one
    }
    let place = Place::new();
    let none = "#!/bin/sh\necho 'No devices were found'\nexit 6\n";
    let run = on(&place, none, &["host"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stdout.starts_with("No NVIDIA GPU found"), "{run:?}");
    place.write("old-1.0-py3-none-any.whl", wheel("old", "1.0").build());
    let run = on(
        &place,
        none,
        &["check", "old-1.0-py3-none-any.whl", "--target", "host"],
    );
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("no NVIDIA GPU was found"), "{run:?}");
    // in a policy the place is told; what needs no machine goes on
    let policy = "version: 1\ntargets:\n  - name: here\n    host: true\n";
    place.write("smgate.yaml", policy);
    let run = on(&place, none, &["check", "old-1.0-py3-none-any.whl"]);
    assert_eq!(run.status, 2, "{run:?}");
    for part in [
        "no NVIDIA GPU was found",
        "--> smgate.yaml:4:5",
        "help: `smgate host` shows where it looked; name a GPU: `gpu: H100`",
    ] {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    let run = on(&place, none, &["policy", "lint"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(
        run.stdout
            .contains("`host: true` is looked at when `check` runs"),
        "{run:?}"
    );
    let run = on(&place, none, &["policy", "show"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout.contains("that of the machine that checks"),
        "{run:?}"
    );
}

#[test]
fn a_gpu_of_which_nothing_is_known_is_not_left_out() {
    let place = Place::new();
    simple("new", &[("sm_90 sm_120", 3)]).write(&place);
    let file = "new-1.0-py3-none-manylinux_2_28_x86_64.whl";
    let two = RTX_5090.replace(
        "RTX 5090'",
        "RTX 5090'; echo '0xFFFE10DE, [N/A], NVIDIA\u{202e} X'",
    );
    let run = on(&place, &two, &["check", file, "--target", "host"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    let why = "the compute capability of this machine's NVIDIA\\u{202e} X is unknown";
    assert!(run.stderr.contains(why), "{run:?}");
    place.write(
        "smgate.yaml",
        "version: 1\ntargets: [{name: here, host: true}]\n",
    );
    let run = on(&place, &two, &["check", file]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("--> smgate.yaml:2:24"), "{run:?}");
    // the name as JSON, without what a terminal would obey
    let run = on(&place, &two, &["host", "--format", "json"]);
    assert_eq!(run.json()["gpus"][1]["name"], "NVIDIA\u{202e} X");
    assert!(!run.stdout.contains('\u{202e}'), "{run:?}");
}

#[test]
fn judges_a_policy_for_this_machine() {
    let place = Place::new();
    simple("old", &[("sm_80 sm_90", 3)]).write(&place);
    simple("new", &[("sm_90 sm_120", 3)]).write(&place);
    let policy = "version: 1\ntargets:\n  - {name: here, host: true}\n  - {name: dc, gpu: H100, driver: R580}\n";
    place.write("smgate.yaml", policy);
    for (name, verdict) in [("old", "fail"), ("new", "pass")] {
        let file = format!("{name}-1.0-py3-none-manylinux_2_28_x86_64.whl");
        let run = on(&place, RTX_5090, &["check", &file, "--format", "json"]);
        let row = &run.json()["matrix"][0];
        assert_eq!(row["target"], "here");
        // the wheel is for x86-64; elsewhere the platform denies
        if cfg!(target_arch = "x86_64") {
            assert_eq!(row["verdict"], verdict, "{run:?}");
        }
    }
}
