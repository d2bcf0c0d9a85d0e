//! Two inventories compared. Bytes are those of `build::IMAGE_BYTES` for each image of each fatbin.

mod pairs;

use crate::device::CodeForm;
use crate::inventory::Inventory;
use crate::policy::Policy;
use crate::problem::{Extent, ProblemKind};
use crate::rule::{Code, Level};
use crate::tables::Tables;
use crate::verdict::compare::{CodeKey, Comparison, FindingChange, Pair};
use crate::verdict::{EvaluateOptions, Evaluation, evaluate};

use super::build::{Input, Lib, lib, so, wheel};
use super::{judge, on};

/// Compares two inputs on one GPU.
fn compared(before: &Input, after: &Input, gpu: &str, driver: &str) -> Comparison {
    let (before, after) = (before.clone().inventory(), after.clone().inventory());
    let policy = on(gpu, driver);
    let evaluations = (judge(&before, &policy), judge(&after, &policy));
    Comparison::of(&before, &after, Some((&evaluations.0, &evaluations.1)))
}

/// The only pair.
fn pair(comparison: &Comparison) -> &Pair {
    assert_eq!(comparison.pairs.len(), 1);
    &comparison.pairs[0]
}

fn pkg(version: &str, lib: Lib) -> Input {
    wheel("pkg", version).with(lib)
}

/// `PASS525.60.13 -> FAILR580` of the only outcome.
fn outcome(comparison: &Comparison) -> String {
    let outcomes = &pair(comparison).outcomes;
    assert_eq!(outcomes.len(), 1);
    let sides = [&outcomes[0].before, &outcomes[0].after].map(|side| {
        side.as_ref().map_or("-".to_owned(), |side| {
            let floor = side.minimum_driver.as_ref();
            let floor = floor.map_or("any".to_owned(), |floor| floor.driver.to_string());
            format!("{} {floor}", side.verdict.id())
        })
    });
    sides.join(" -> ")
}

fn findings(comparison: &Comparison, code: Code) -> &FindingChange {
    let mut found = pair(comparison).findings.iter().filter(|f| f.code == code);
    let one = found.next().unwrap_or_else(|| panic!("no {code}"));
    assert!(found.next().is_none(), "{code} twice");
    one
}

// RULES.md 1.9: the CUDA 12 runtime starts on 525.60.13, the CUDA 13 runtime on R580. A GTX 1060 is 6.1.
#[test]
fn a_verdict_is_worse_where_it_fails_and_did_not() {
    let old = pkg(
        "1.0",
        so().fatbin("sm_61 sm_80", 3).needs("libcudart.so.12"),
    );
    let new = pkg(
        "2.0",
        so().fatbin("sm_80 sm_90", 3).needs("libcudart.so.13"),
    );
    for (before, after, gpu, driver, expected, worse) in [
        (
            &old,
            &new,
            "GTX 1060",
            "R580",
            "pass 525.60.13 -> fail R580",
            true,
        ),
        (
            &new,
            &old,
            "GTX 1060",
            "R580",
            "fail R580 -> pass 525.60.13",
            false,
        ),
        (
            &old,
            &new,
            "A100",
            "R580",
            "pass 525.60.13 -> pass R580",
            false,
        ),
        (
            &old,
            &new,
            "A100",
            "R550",
            "pass 525.60.13 -> fail R580",
            true,
        ),
        (
            &old,
            &new,
            "H100",
            "R580",
            "fail 525.60.13 -> pass R580",
            false,
        ),
        (
            &old,
            &old,
            "H100",
            "R580",
            "fail 525.60.13 -> fail 525.60.13",
            false,
        ),
        (
            &old,
            &old,
            "A100",
            "R580",
            "pass 525.60.13 -> pass 525.60.13",
            false,
        ),
    ] {
        let comparison = compared(before, after, gpu, driver);
        assert_eq!(outcome(&comparison), expected, "{gpu} {driver}");
        assert_eq!(comparison.is_worse(), worse, "{gpu} {driver}");
        assert!(!comparison.incomplete);
    }
}

#[test]
fn targets_bytes_toolkits_and_needed_libraries_are_compared() {
    let old = pkg(
        "1.0",
        so().fatbin("sm_61 sm_80 compute_80@8.0", 3)
            .toolkit("12.8")
            .needs("libcudart.so.12"),
    );
    let new = pkg(
        "2.0",
        so().fatbin("sm_80 sm_90a compute_90@8.0", 4)
            .toolkit("13.0")
            .needs("libcudart.so.13"),
    );
    let comparison = Comparison::of(&old.inventory(), &new.inventory(), None);
    let pair = pair(&comparison);
    assert_eq!((pair.unchanged, pair.packages.len()), (0, 1));
    let change = &pair.packages[0];
    let (before, after) = (
        change.before.as_ref().unwrap(),
        change.after.as_ref().unwrap(),
    );
    assert_eq!(
        (before.version.as_deref(), after.version.as_deref()),
        (Some("1.0"), Some("2.0"))
    );
    // 3 images in each of 3 fatbins, 3 in each of 4
    assert_eq!(
        (before.code_bytes(false), after.code_bytes(false)),
        (9_000, 12_000)
    );
    let names = |targets: Vec<&CodeKey>| -> Vec<String> {
        targets.into_iter().map(|key| key.name.clone()).collect()
    };
    let (lost, gained) = change.targets();
    assert_eq!(names(lost), ["sm_61", "compute_80"]);
    assert_eq!(names(gained), ["sm_90a", "compute_90"]);
    let kept = after
        .code
        .iter()
        .find(|(key, _)| key.name == "sm_80")
        .unwrap();
    assert_eq!((kept.0.form, *kept.1), (CodeForm::MachineCode, 4_000));
    let toolkits = [before, after].map(|side| {
        side.toolkits
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    });
    assert_eq!(toolkits, [["12.8"], ["13.0"]]);
    assert!(before.needs.contains("libcudart.so.12") && after.needs.contains("libcudart.so.13"));
    assert!(!comparison.is_worse() && comparison.policy.is_none());
}

#[test]
fn code_of_nvidias_libraries_is_no_target_of_the_package() {
    let own = so().fatbin("sm_80", 1);
    let old = pkg("1.0", own.clone()).with(
        lib("pkg/libcublas.so.12")
            .fatbin("sm_70 sm_90", 2)
            .carried("cublas"),
    );
    let comparison = Comparison::of(&old.inventory(), &pkg("2.0", own).inventory(), None);
    let change = &pair(&comparison).packages[0];
    let before = change.before.as_ref().unwrap();
    assert_eq!(
        (before.code_bytes(false), before.code_bytes(true)),
        (1_000, 4_000)
    );
    assert_eq!(change.targets(), (Vec::new(), Vec::new()));
}

#[test]
fn findings_that_are_new_and_gone_are_told_by_library_rule_and_gpu() {
    let old = pkg("1.0", lib("pkg/a.so").fatbin("sm_75 sm_80", 2))
        .with(lib("pkg/b.so").fatbin("sm_80", 2));
    let new = pkg("2.0", lib("pkg/a.so").fatbin("sm_80 sm_90", 2))
        .with(lib("pkg/b.so").fatbin("sm_80 sm_75", 2));
    let comparison = compared(&old, &new, "T4", "R580");
    let change = findings(&comparison, Code::NoKernelImage);
    assert_eq!((change.before, change.after), (1, 1));
    assert_eq!(change.new, ["pkg/a.so"]);
    assert_eq!(change.gone, ["pkg/b.so"]);
    assert_eq!(
        (change.target.as_deref(), change.package.as_deref()),
        (Some("t"), Some("pkg"))
    );
    // it failed before, and no more is denied
    assert!(!comparison.is_worse());
    let both = pkg("2.0", lib("pkg/a.so").fatbin("sm_80 sm_90", 2))
        .with(lib("pkg/b.so").fatbin("sm_80", 2));
    let comparison = compared(&old, &both, "T4", "R580");
    let change = findings(&comparison, Code::NoKernelImage);
    assert_eq!((change.before, change.after, change.gone.len()), (1, 2, 0));
    assert_eq!(change.new, ["pkg/a.so"]);
    assert!(comparison.is_worse(), "more is denied than before");
}

#[test]
fn a_library_whose_name_has_another_version_or_tag_is_the_same_library() {
    for (old, new) in [
        (
            "pkg/_C.cpython-311-x86_64-linux-gnu.so",
            "pkg/_C.cpython-312-x86_64-linux-gnu.so",
        ),
        ("pkg/libk.so.1", "pkg/libk.so.2"),
    ] {
        let version = |version, path| pkg(version, lib(path).fatbin("sm_80", 2));
        let comparison = compared(&version("1", old), &version("2", new), "T4", "R580");
        assert_eq!(pair(&comparison).findings, [], "{old}");
    }
}

#[test]
fn more_warnings_are_worse_where_warnings_fail() {
    let old = pkg("1.0", so().fatbin("sm_80 sm_90", 4));
    let new = pkg(
        "2.0",
        so().fatbin("sm_80 sm_90", 4).fatbin("sm_80 sm_86", 1),
    );
    let policy = Policy::parse("p", &on("H100", "R580"), Tables::builtin()).unwrap();
    for (fail_on_warn, worse) in [(false, false), (true, true)] {
        let options = EvaluateOptions {
            today: "2027-01-15".parse().unwrap(),
            fail_on_warn,
        };
        let judge =
            |inventory: &Inventory| evaluate(inventory, &policy, Tables::builtin(), options);
        let (before, after) = (old.clone().inventory(), new.clone().inventory());
        let (a, b): (Evaluation, Evaluation) = (judge(&before), judge(&after));
        let comparison = Comparison::of(&before, &after, Some((&a, &b)));
        assert_eq!(comparison.is_worse(), worse, "{fail_on_warn}");
        let change = findings(&comparison, Code::PartialCoverage);
        assert_eq!(
            (change.level, change.before, change.after),
            (Level::Warn, 0, 1)
        );
    }
}

#[test]
fn what_could_not_be_read_on_either_side_makes_it_incomplete_and_never_better() {
    let whole = pkg("1.0", so().fatbin("sm_80", 2));
    let cut = whole
        .clone()
        .problem(ProblemKind::Truncated, "pkg/x.so", None, Extent::Member);
    for (before, after, incomplete) in [
        (&whole, &whole, false),
        (&cut, &whole, true),
        (&whole, &cut, true),
    ] {
        let comparison = compared(before, after, "A100", "R580");
        assert_eq!(
            (comparison.incomplete, comparison.is_worse()),
            (incomplete, false)
        );
        let contents = Comparison::of(
            &before.clone().inventory(),
            &after.clone().inventory(),
            None,
        );
        assert_eq!(contents.incomplete, incomplete);
    }
}
