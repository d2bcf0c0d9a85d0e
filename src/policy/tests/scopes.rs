//! Levels and thresholds for a part of what is judged.

use super::*;

fn subject<'a>(package: &'a str, library: &'a str, target: &'a str) -> WaiverSubject<'a> {
    WaiverSubject {
        package: Some(package),
        version: Some("2.9.1"),
        library: Some(library),
        target: Some(target),
    }
}

#[test]
fn the_last_scope_that_sets_a_level_counts() {
    let policy = valid(&with_top(
        "\
levels: {jit-only: deny}
scopes:
  - {package: torch, levels: {jit-only: warn, link-only: deny}}
  - {package: \"torch*\", library: \"**/x.so\", levels: {jit-only: allow}}
  - {targets: a, package: vllm, version: 2.9.*, levels: {jit-only: warn}}",
    ));
    for (package, library, target, code, level) in [
        ("torch", "torch/y.so", "a", Code::JitOnly, Level::Warn),
        ("torch", "torch/x.so", "a", Code::JitOnly, Level::Allow),
        ("torch", "torch/x.so", "a", Code::LinkOnly, Level::Deny),
        ("vllm", "v.so", "a", Code::JitOnly, Level::Warn),
        ("vllm", "v.so", "b", Code::JitOnly, Level::Deny),
        ("other", "v.so", "a", Code::JitOnly, Level::Deny),
        ("other", "v.so", "a", Code::LinkOnly, Level::Warn),
    ] {
        let subject = subject(package, library, target);
        assert_eq!(
            policy.level_for(code, &subject),
            level,
            "{subject:?} {code}"
        );
    }
    // what the scope names, the subject must have
    let whole = WaiverSubject {
        package: Some("torchvision"),
        ..WaiverSubject::default()
    };
    assert_eq!(policy.level_for(Code::JitOnly, &whole), Level::Deny);
}

#[test]
fn thresholds_of_scopes_are_set_one_by_one() {
    let policy = valid(&with_top(
        "\
thresholds: {main-library: 0.75}
scopes:
  - {package: torch, thresholds: {partial-coverage: 0.9}}
  - {library: lib.so, thresholds: {main-library: 0.1}}",
    ));
    let found = |package, library| {
        let found = policy.thresholds_for(&subject(package, library, "a"));
        (found.main_library, found.partial_coverage)
    };
    assert_eq!(found("torch", "x.so"), (0.75, Some(0.9)));
    assert_eq!(found("torch", "lib.so"), (0.1, Some(0.9)));
    assert_eq!(found("other", "x.so"), (0.75, None));
}

#[test]
fn packages_may_be_allowed_to_be_compiled_everywhere_or_on_one_target() {
    let policy = valid(
        "\
version: 1
targets:
  - {name: a, gpu: H100, allow-jit: [\"my-*\"]}
  - {name: b, gpu: H100}
levels: {jit-only: deny}
allow-jit: torch
",
    );
    for (package, target, level) in [
        ("torch", "a", Level::Allow),
        ("torch", "b", Level::Allow),
        ("my_pkg", "a", Level::Allow),
        ("my_pkg", "b", Level::Deny),
        ("other", "a", Level::Deny),
    ] {
        let subject = subject(package, "x.so", target);
        assert_eq!(
            policy.level_for(Code::JitOnly, &subject),
            level,
            "{subject:?}"
        );
        assert_eq!(policy.level_for(Code::PtxTooNew, &subject), Level::Deny);
    }
}

#[test]
fn mistakes_in_scopes_are_located() {
    let text = with_top(
        "\
scopes:
  - levels: {jit-only: deny}
  - {package: torch}
  - {version: 2.9.*, targets: nobody, levels: {jit-onyl: deny}}
  - {package: a b, threshold: {main-library: 2}}",
    );
    assert_eq!(
        mistakes(&text),
        [
            "4:5: a scope needs `package`, `library` or `targets`",
            "5:6: a scope needs `levels` or `thresholds`",
            "6:6: `version` says nothing without `package`",
            "6:31: no target of this policy is called `nobody`",
            "6:48: `jit-onyl` is not a rule code",
            "7:15: `a b` is not a package name",
            "7:20: `threshold` is not a key of a scope",
        ]
    );
}

#[test]
fn tegra_is_lenient_unless_it_is_strict() {
    let tegra = |lines: &str| valid(&with_target(lines)).targets[0].tegra;
    assert_eq!(tegra("cc: 8.7"), Tegra::Lenient);
    assert_eq!(tegra("cc: 8.7\ntegra: strict"), Tegra::Strict);
    assert_eq!(
        mistakes(&with_target("cc: 8.7\ntegra: true")),
        ["5:12: `true` is not a way to take Tegra GPUs"]
    );
}
