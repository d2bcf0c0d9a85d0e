//! `--kernels`: which kernels a GPU finds no code for.

use serde_json::{Value, json};

use crate::support::cubin::Cubin;
use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support_cli::{Place, wheel};

/// A fatbin with these kernels for every one of `targets`.
fn source_file(targets: &[&str], kernels: &[&str]) -> Vec<u8> {
    let entries = targets
        .iter()
        .map(|target| Entry::cubin(target, &Cubin::new(target, (12, 8)).named(kernels)).zstd());
    fatbin(&entries.collect::<Vec<_>>())
}

/// A package whose library has six kernels; `_Z1aIiEvv`, `copy` and `_Z1hv` run on 7.5.
fn package(place: &Place) -> String {
    let code = [
        source_file(&["sm_75", "sm_90"], &["_Z1aIiEvv", "copy"]),
        source_file(&["sm_75", "sm_80", "sm_90"], &["_Z1hv"]),
        source_file(&["sm_80", "sm_90"], &["_Z1aIfEvv", "_Z1aIdEvv", "copy"]),
        // picked by the library itself, and no gap
        source_file(&["sm_90a"], &["hopper_only"]),
        source_file(&["sm_80", "sm_86"], &["\u{1b}[31mred"]),
    ];
    wheel("app", "1.0")
        .member(
            "app/_C.so",
            Elf::new().section(".nv_fatbin", code.concat()).build(),
        )
        .write(place)
}

const MISSING: [&str; 3] = ["\u{1b}[31mred", "_Z1aIdEvv", "_Z1aIfEvv"];

#[test]
fn lists_the_kernels_of_uncovered_fatbins_that_no_covered_one_has() {
    let place = Place::new();
    let input = package(&place);
    let check = [
        "check",
        &input,
        "--target",
        "T4",
        "--target",
        "H100",
        "--driver",
        "580.65.06",
    ];
    let run = place.run(&[&check[..], &["--kernels", "--format", "json"]].concat());
    let report = run.json();
    let fatbins = |target: &str, uncovered: u64, elsewhere: u64, kernels: &[&str]| {
        json!({
            "artifact": input, "package": "app", "version": "1.0", "library": "app/_C.so",
            "target": target, "gpu": target, "fatbins": 4, "uncovered": uncovered, "unnamed": 0,
            "elsewhere": elsewhere, "kernels": kernels,
        })
    };
    assert_eq!(
        report["missing_kernels"],
        json!([
            fatbins("T4", 2, 1, &MISSING),
            fatbins("H100", 1, 0, &MISSING[..1])
        ])
    );
    // without the option the same verdict, and no list
    let plain = place.run(&[&check[..], &["--format", "json"]].concat());
    let mut without = report.clone();
    without["missing_kernels"] = Value::Null;
    assert_eq!((plain.status, plain.json()), (run.status, without));
}

#[test]
fn people_see_demangled_names_with_instantiations_folded() {
    let place = Place::new();
    let input = package(&place);
    let run = place.run(&["check", &input, "--target", "T4", "--kernels"]);
    let expected = "\
kernels without code  T4
  app/_C.so
  3 kernels, of the 2 of 4 fatbins with kernels that cannot run; 1 more kernel of theirs in fatbins that can
  - \\u{1b}[31mred
  - a<...> (2 instantiations)
";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let covered = place.run(&["check", &input, "--target", "RTX 3090", "--kernels"]);
    assert!(
        !covered.stdout.contains("hopper_only"),
        "{}",
        covered.stdout
    );
    let inspect = place.run(&["inspect", &input, "--kernels"]);
    let expected = "    kernels       7\n      \\u{1b}[31mred\n      a<...> (3 instantiations)\n      copy\n      h\n      hopper_only\n";
    assert!(inspect.stdout.contains(expected), "{}", inspect.stdout);
}

#[test]
fn where_nothing_is_missing_that_is_said() {
    let place = Place::new();
    let code = source_file(&["sm_75", "sm_90"], &["k"]);
    let elf = Elf::new().section(".nv_fatbin", code).build();
    let input = wheel("app", "1.0").member("app/_C.so", elf).write(&place);
    let run = place.run(&["check", &input, "--target", "T4", "--kernels"]);
    assert!(
        run.stdout.contains("No kernel is missing"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_saved_inventory_keeps_the_names() {
    let place = Place::new();
    let input = package(&place);
    let direct = place.run(&[
        "check",
        &input,
        "--target",
        "T4",
        "--kernels",
        "--format",
        "json",
    ]);
    for kernels in [true, false] {
        let mut inspect = vec!["inspect", &input, "--format", "json"];
        inspect.extend(kernels.then_some("--kernels"));
        place.write("saved.json", place.run(&inspect).stdout);
        let check = [
            "check",
            "--inventory",
            "saved.json",
            "--target",
            "T4",
            "--format",
            "json",
        ];
        let asked = place.run(&[&check[..], &["--kernels"]].concat());
        let not_asked = place.run(&check);
        assert_eq!(not_asked.json()["missing_kernels"], Value::Null);
        if kernels {
            assert_eq!(asked, direct);
        } else {
            assert_eq!(asked.status, 2);
            assert!(
                asked.stderr.contains("inspect --kernels"),
                "{}",
                asked.stderr
            );
        }
    }
}

#[test]
fn more_names_than_the_limit_are_said_and_none_is_listed_whatever_the_threads() {
    let place = Place::new();
    let input = package(&place);
    for threads in ["1", "4"] {
        let run = place.run(&[
            "check",
            &input,
            "--target",
            "T4",
            "--kernels",
            "--format",
            "json",
            "--max-kernel-names",
            "100",
            "--threads",
            threads,
        ]);
        let report = run.json();
        assert_eq!(report["missing_kernels"], Value::Null);
        let details = report["problems"].as_array().unwrap().iter();
        let details: Vec<&str> = details
            .map(|problem| problem["detail"].as_str().unwrap())
            .collect();
        assert!(
            details
                .contains(&"the names of kernels take more than 100 bytes (`--max-kernel-names`)"),
            "{details:?}"
        );
    }
}
