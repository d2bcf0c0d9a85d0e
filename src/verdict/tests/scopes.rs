//! Levels, thresholds and tolerance that hold for a part of what is judged.

use super::build::{Input, lib, wheel};
use super::{check, on, only, outcome};
use crate::rule::{Code, Level};
use crate::verdict::Verdict;

/// Two libraries: the second is covered in 5 of 10 general fatbins.
fn half() -> Input {
    wheel("pkg", "1.0")
        .with(lib("pkg/main.so").fatbin("sm_80 sm_90", 100))
        .with(
            lib("pkg/side.so")
                .fatbin("sm_80 sm_90", 5)
                .fatbin("sm_80 sm_86", 5),
        )
}

#[test]
fn levels_of_a_scope_are_for_what_it_names() {
    for (scope, expected) in [
        ("package: pkg", "fail partial-coverage"),
        ("library: side.so", "fail partial-coverage"),
        ("targets: t", "fail partial-coverage"),
        (
            "package: pkg, version: 1.*, library: pkg/side.so, targets: t",
            "fail partial-coverage",
        ),
        ("package: other", "pass partial-coverage scope-unused"),
        ("library: main.so", "pass partial-coverage"),
        (
            "package: pkg, version: 2.*",
            "pass partial-coverage scope-unused",
        ),
    ] {
        let text = on("H100", "R580")
            + &format!("scopes: [{{{scope}, levels: {{partial-coverage: deny}}}}]\n");
        assert_eq!(outcome(&check(&half(), &text)), expected, "{scope}");
    }
}

#[test]
fn thresholds_of_a_scope_are_for_its_libraries() {
    let scope = |library: &str, thresholds: &str| {
        on("H100", "R580")
            + &format!("scopes: [{{library: {library}, thresholds: {{{thresholds}}}}}]\n")
    };
    for (library, thresholds, expected) in [
        ("side.so", "partial-coverage: 0.5", "pass partial-coverage"),
        ("side.so", "partial-coverage: 0.51", "fail partial-coverage"),
        ("main.so", "partial-coverage: 0.51", "pass partial-coverage"),
        // a share of the main library does not matter to another one
        ("side.so", "main-library: 0.9", "pass partial-coverage"),
    ] {
        let text = scope(library, thresholds);
        assert_eq!(
            outcome(&check(&half(), &text)),
            expected,
            "{library} {thresholds}"
        );
    }
    // 8 of 10: the only library is the main one
    let input = wheel("pkg", "1.0").with(
        lib("pkg/main.so")
            .fatbin("sm_80 sm_90", 8)
            .fatbin("sm_80 sm_86", 2),
    );
    for (share, expected) in [
        ("0.8", "pass partial-coverage"),
        ("0.81", "fail no-kernel-image"),
    ] {
        let text = scope("main.so", &format!("main-library: {share}"));
        assert_eq!(outcome(&check(&input, &text)), expected, "{share}");
    }
}

#[test]
fn packages_that_may_be_compiled_are_listed_and_do_not_fail() {
    let input = wheel("pkg", "1.0").with(lib("pkg/_C.so").fatbin("sm_80 compute_80@8.0", 3));
    let policy = |more: &str| on("H100", "R580") + "levels: {jit-only: deny}\n" + more;
    assert_eq!(outcome(&check(&input, &policy(""))), "fail jit-only");
    assert_eq!(
        outcome(&check(&input, &policy("allow-jit: other\n"))),
        "fail jit-only"
    );
    let allowed = check(&input, &policy("allow-jit: [other, pkg]\n"));
    assert_eq!(allowed.verdict, Verdict::Pass);
    assert_eq!(only(&allowed, Code::JitOnly).level, Level::Allow);
    let here = policy("").replace("levels", "    allow-jit: pkg\nlevels");
    assert_eq!(check(&input, &here).verdict, Verdict::Pass);
    // PTX that the driver does not take is no matter of permission
    let old = policy("allow-jit: pkg\n").replace("R580", "R550");
    let new = wheel("pkg", "1.0").with(lib("pkg/_C.so").fatbin("sm_80 compute_80@8.8", 3));
    assert_eq!(outcome(&check(&new, &old)), "fail ptx-too-new");
}

// RULES.md 1.4 and 1.5: nothing is promised from desktop cubins to Tegra, and some are seen to run
#[test]
fn a_strict_target_takes_no_code_that_nobody_promises_to_run() {
    let strict = |cc: &str| on(cc, "R580") + "    tegra: strict\n";
    for (images, cc, lenient, taken) in [
        (
            "sm_80 sm_90",
            "8.7",
            "pass tegra-compatibility-unsure",
            "fail no-kernel-image",
        ),
        (
            "sm_86",
            "8.7",
            "pass tegra-compatibility-unsure",
            "fail no-kernel-image",
        ),
        ("sm_80 sm_87", "8.7", "pass", "pass"),
        (
            "sm_80 compute_80@8.0",
            "8.7",
            "pass jit-only",
            "pass jit-only",
        ),
        // the old number of Thor
        (
            "sm_101a",
            "11.0",
            "pass tegra-compatibility-unsure",
            "fail no-kernel-image",
        ),
        // no Tegra in it
        ("sm_80 sm_90", "8.6", "pass", "pass"),
    ] {
        let input = wheel("pkg", "1.0").with(lib("pkg/_C.so").fatbin(images, 3));
        assert_eq!(
            outcome(&check(&input, &on(cc, "R580"))),
            lenient,
            "{images} on {cc}"
        );
        assert_eq!(
            outcome(&check(&input, &strict(cc))),
            taken,
            "{images} on {cc}, strict"
        );
    }
}

#[test]
fn a_mismatch_that_a_scope_allows_does_not_hide_what_else_is_wrong() {
    let input = wheel("pkg", "1.0").with(lib("pkg/_C.so").fatbin("sm_80", 3));
    let text = on("H100", "R580").replace("linux/amd64", "linux/arm64");
    assert_eq!(outcome(&check(&input, &text)), "fail platform-mismatch");
    let scoped = text + "scopes: [{package: pkg, levels: {platform-mismatch: warn}}]\n";
    assert_eq!(
        outcome(&check(&input, &scoped)),
        "fail no-kernel-image platform-mismatch"
    );
}

#[test]
fn a_scope_about_nothing_is_told_with_its_place() {
    for (scope, used) in [
        ("package: pkg", true),
        ("package: PKG, version: 1.*", true),
        ("library: pkg/*.so", true),
        ("package: pkg, library: side.so, targets: t", true),
        ("targets: t", true),
        ("package: pgk", false),
        ("package: pkg, version: 2.*", false),
        ("library: side.dll", false),
        ("package: other, library: side.so", false),
    ] {
        let text = on("H100", "R580")
            + &format!(
                "levels: {{partial-coverage: allow}}\nscopes:\n- {{{scope}, levels: {{jit-only: deny}}}}\n"
            );
        let evaluation = check(&half(), &text);
        let expected = if used { "pass" } else { "pass scope-unused" };
        assert_eq!(outcome(&evaluation), expected, "{scope}");
        if !used {
            let finding = only(&evaluation, Code::ScopeUnused);
            assert_eq!(finding.evidence, ["smgate.yaml, line 9"]);
        }
    }
}

#[test]
fn a_scope_about_an_installed_package_without_libraries_is_used() {
    let input = half().package("numpy");
    let text = on("H100", "R580")
        + "levels: {partial-coverage: allow}\nscopes: [{package: numpy, levels: {jit-only: deny}}]\n";
    assert_eq!(outcome(&check(&input, &text)), "pass");
}
