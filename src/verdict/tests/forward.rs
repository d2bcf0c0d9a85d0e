//! Whether GPUs of the next generation could compile a package.

use super::build::{Input, Lib, lib, so, wheel};
use super::{check, found, on, only, outcome};
use crate::rule::Code;

fn of(lib: Lib) -> Input {
    wheel("pkg", "1.0").with(lib)
}

// RULES.md 2.1 and 2.2: PTX is compiled for newer capabilities, with a suffix for its own or its family only.
#[test]
fn only_ptx_without_a_suffix_is_for_gpus_to_come() {
    for (lib, raised) in [
        (so().fatbin("sm_80 sm_90", 3), true),
        (so().fatbin("sm_80 sm_90 compute_90a@8.0", 3), true),
        (so().fatbin("sm_80 sm_90 compute_100f@8.8", 3), true),
        (so().fatbin("sm_80 sm_90 lto_90", 3), true),
        (so().fatbin("sm_80 sm_90 compute_90@8.0", 3), false),
        (so().fatbin("sm_80 sm_90 compute_50@6.0", 3), false),
        // half of the general fatbins is enough, as for a target of today
        (
            so().fatbin("sm_80 sm_90 compute_90@8.0", 2)
                .fatbin("sm_80 sm_90", 2),
            false,
        ),
        (
            so().fatbin("sm_80 sm_90 compute_90@8.0", 1)
                .fatbin("sm_80 sm_90", 2),
            true,
        ),
        // single-target kernels beside general code are extras
        (
            so().fatbin("sm_80 sm_90 compute_90@8.0", 2)
                .fatbin("sm_90a", 9),
            false,
        ),
        // no general code at all
        (so().fatbin("sm_90", 3), true),
        (so().fatbin("compute_90@8.0", 3), false),
        // what dispatches by itself is no measure
        (so().fatbin("sm_80 sm_90", 3).dispatches(), false),
    ] {
        let evaluation = check(&of(lib), &on("H100", "R580"));
        let findings = found(&evaluation, Code::NoForwardPtx);
        assert_eq!(!findings.is_empty(), raised, "{:#?}", evaluation.findings);
    }
}

#[test]
fn it_is_said_once_of_the_main_library_and_only_where_that_runs() {
    let input = of(lib("pkg/a.so").fatbin("sm_80 sm_90 compute_90@8.0", 2))
        .with(lib("pkg/b.so").fatbin("sm_80 sm_90", 9));
    let two = on("H100, A100", "R580") + "  - {name: u, gpu: L4, driver: R580}\n";
    let evaluation = check(&input, &two);
    assert_eq!(outcome(&evaluation), "pass", "it is allowed by default");
    let finding = only(&evaluation, Code::NoForwardPtx);
    assert_eq!(finding.library.as_deref(), Some("pkg/b.so"));
    assert_eq!((&finding.target, &finding.gpu), (&None, &None));
    assert_eq!(
        finding.message,
        "0 of 9 fatbins hold PTX that GPUs of the next generation could compile; this is the package's main library"
    );
    assert!(finding.next_step.contains("`9.0+PTX`"), "{finding:?}");
    // where it does not run today, that is the finding
    let evaluation = check(&of(so().fatbin("sm_80 sm_90", 3)), &on("T4", "R580"));
    assert!(found(&evaluation, Code::NoForwardPtx).is_empty());
    let denied = on("H100", "R580") + "levels: {no-forward-ptx: deny}\n";
    assert_eq!(outcome(&check(&input, &denied)), "fail no-forward-ptx");
    let other = on("H100", "R580").replace("amd64", "arm64");
    let evaluation = check(&input, &other);
    assert!(
        found(&evaluation, Code::NoForwardPtx).is_empty(),
        "the wrong file"
    );
}

// RULES.md 2.12: code that the driver links again at load time needs PTX of every object.
#[test]
fn objects_count_by_what_they_could_be_linked_from() {
    let linked = |objects: &str| {
        let lib = so().linked("sm_80").linked("sm_90");
        check(&of(lib.objects(objects, 3)), &on("H100", "R580"))
    };
    let raised = |objects| found(&linked(objects), Code::NoForwardPtx).len();
    assert_eq!(raised("rel_sm_80 rel_sm_90 rel_compute_90@8.0"), 0);
    assert_eq!(raised("rel_sm_80 rel_sm_90"), 1);
}

// one is one, one of many too, and so is none of one
#[test]
fn the_verb_agrees_with_what_is_counted() {
    let said = |lib: Lib, gpu: &str, code: Code| {
        let finding = only(&check(&of(lib), &on(gpu, "R580")), code).clone();
        [vec![finding.message], finding.evidence]
            .concat()
            .join("\n")
    };
    let one = said(so().fatbin("sm_80 sm_90", 1), "A100", Code::NoForwardPtx);
    assert!(one.starts_with("0 of 1 fatbin holds PTX"), "{one}");
    let beside = |singles: u64| {
        let lib = so().fatbin("sm_80 sm_86", 9).fatbin("sm_120a", singles);
        said(lib, "H100", Code::NoKernelImage)
    };
    let one = beside(1);
    assert!(
        one.contains("\nbeside them 0 of 1 single-target fatbin fits\n"),
        "{one}"
    );
    let two = beside(2);
    assert!(
        two.contains("\nbeside them 0 of 2 single-target fatbins fit\n"),
        "{two}"
    );
    let partial = |gaps: u64| {
        let lib = so().fatbin("sm_80 sm_90", 9).fatbin("sm_80 sm_86", gaps);
        said(lib, "H100", Code::PartialCoverage)
    };
    let one = partial(1);
    assert!(
        one.starts_with("1 of 10 general fatbins has no code for H100 (9.0); kernels in it fail"),
        "{one}"
    );
    let two = partial(2);
    assert!(
        two.starts_with(
            "2 of 11 general fatbins have no code for H100 (9.0); kernels in them fail"
        ),
        "{two}"
    );
    let unsure = said(
        so().fatbin("sm_87 sm_90", 8).fatbin("sm_80 sm_86", 1),
        "8.7",
        Code::TegraCompatibilityUnsure,
    );
    assert!(
        unsure.starts_with("1 of 9 fatbins is for desktop"),
        "{unsure}"
    );
}
