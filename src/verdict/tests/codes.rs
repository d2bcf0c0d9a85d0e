//! Every rule code: the plainest case that raises it, and its neighbour that must not.

use std::collections::BTreeSet;

use super::build::{Input, Lib, lib, sdist, so, wheel};
use super::{check, found, on};
use crate::problem::{Extent, ProblemKind};
use crate::rule::Code;

/// What raises a code, and what is as close to it as can be and does not.
struct Case {
    code: Code,
    raises: (Input, String),
    keeps_quiet: (Input, String),
}

fn of(lib: Lib) -> Input {
    wheel("pkg", "1.0").with(lib)
}

/// One library on one target: two GPUs or drivers.
fn by_target(code: Code, lib: Lib, raises: (&str, &str), quiet: (&str, &str)) -> Case {
    Case {
        code,
        raises: (of(lib.clone()), on(raises.0, raises.1)),
        keeps_quiet: (of(lib), on(quiet.0, quiet.1)),
    }
}

/// One target: two inputs.
fn by_input(code: Code, policy: &str, raises: Input, quiet: Input) -> Case {
    Case {
        code,
        raises: (raises, policy.to_owned()),
        keeps_quiet: (quiet, policy.to_owned()),
    }
}

fn coverage_cases() -> Vec<Case> {
    let flash = |main: &str| {
        of(lib("pkg/_C.so").fatbin(main, 90)).with(lib("pkg/fa3.so").fatbin("sm_90a", 9))
    };
    let newer = |main: &str| {
        of(lib("pkg/_C.so").fatbin(main, 90)).with(lib("pkg/fa2.so").fatbin("sm_80 sm_90", 9))
    };
    vec![
        by_target(
            Code::NoKernelImage,
            so().fatbin("sm_80 sm_90", 3),
            ("B200", "R580"),
            ("H100", "R580"),
        ),
        by_target(
            Code::PtxTooNew,
            so().fatbin("sm_70 compute_70@8.7", 3),
            ("H100", "R565"),
            ("H100", "R570"),
        ),
        by_target(
            Code::CompressionNeedsDriver,
            so().fatbin("sm_80+zstd sm_90+zstd", 3),
            ("H100", "550.54.13"),
            ("H100", "550.54.14"),
        ),
        by_input(
            Code::ArchSpecificOnly,
            &on("A100", "R580"),
            flash("sm_80 sm_90"),
            // nothing carries an A100: a failure, and no excuse
            flash("sm_70 sm_90"),
        ),
        by_input(
            Code::LibraryForNewerGpus,
            &on("T4", "R580"),
            newer("sm_75 sm_80"),
            newer("sm_70 sm_75").with(lib("pkg/x.so").fatbin("sm_80 sm_90", 90)),
        ),
        by_target(
            Code::JitCompilerMismatch,
            lib("pkg/bin/ptxas").compiles_with("12.4").carried("ptxas"),
            ("RTX 5090", "R580"),
            ("H100", "R580"),
        ),
        by_input(
            Code::PartialCoverage,
            &on("H100", "R580"),
            of(so().fatbin("sm_80 sm_90", 9).fatbin("sm_80 sm_86", 1)),
            // single-target fatbins for other chips are no gap
            of(so().fatbin("sm_80 sm_90", 9).fatbin("sm_86", 1)),
        ),
        by_input(
            Code::JitOnly,
            &on("H100", "R580"),
            of(so().fatbin("sm_80 compute_80@8.0", 3)),
            of(so().fatbin("sm_90 compute_80@8.0", 3)),
        ),
        by_input(
            Code::LinkOnly,
            &on("H100", "R580"),
            of(so().fatbin("sm_80 lto_80", 3)),
            of(so().fatbin("sm_80 lto_80 sm_90", 3)),
        ),
        by_target(
            Code::TegraCompatibilityUnsure,
            so().fatbin("sm_80 sm_90", 3),
            ("8.7", "R580"),
            ("8.6", "R580"),
        ),
    ]
}

fn driver_cases() -> Vec<Case> {
    vec![
        by_target(
            Code::DriverTooOld,
            so().fatbin("sm_80 sm_90", 3).needs("libcudart.so.12"),
            ("A100", "525.60.12"),
            ("A100", "525.60.13"),
        ),
        by_target(
            Code::DriverDroppedGpu,
            so().fatbin("sm_61", 3),
            ("GTX 1080", "R590"),
            ("GTX 1080", "R580"),
        ),
        by_target(
            Code::DriverNotGiven,
            so().fatbin("sm_80 sm_90", 3),
            ("H100", ""),
            ("H100", "R580"),
        ),
        by_target(
            Code::DriverUnknown,
            so().fatbin("sm_80 sm_90", 3),
            ("H100", "621.10.01"),
            ("H100", "620.70.06"),
        ),
    ]
}

fn input_cases() -> Vec<Case> {
    let h100 = on("H100", "R580");
    let code = || so().fatbin("sm_80 sm_90", 3);
    let expecting = h100.clone() + "expect-gpu: [pkg]\n";
    let scoped = |package: &str| {
        let scope = format!("scopes: [{{package: {package}, levels: {{jit-only: deny}}}}]\n");
        h100.clone() + &scope
    };
    let waiving = |until: &str| {
        h100.clone() + "waivers: [{rule: jit-only, reason: r, until: " + until + "}]\n"
    };
    let jit = || of(so().fatbin("sm_80 compute_80@8.0", 3));
    vec![
        by_input(
            Code::PlatformMismatch,
            &h100,
            of(code()).tags("linux/arm64"),
            of(code()).tags("linux/amd64 linux/arm64"),
        ),
        by_input(
            Code::CpuOnlyBuild,
            &expecting,
            wheel("pkg", "1.0+cpu"),
            of(code()),
        ),
        by_input(
            Code::PtxHeaderMismatch,
            &h100,
            of(so().filed_under("compute_90@8.0", "compute_90a@8.0", 1)),
            of(so().fatbin("compute_90a@8.0", 1)),
        ),
        by_input(
            Code::BuiltAtInstall,
            &h100,
            sdist("pkg", "1.0"),
            wheel("pkg", "1.0"),
        ),
        by_input(
            Code::PackagesUnknown,
            &h100,
            of(code()).problem(
                ProblemKind::PackagesUnread,
                "Packages",
                None,
                Extent::Member,
            ),
            // damaged, it is more than a warning
            of(code()).problem(ProblemKind::MalformedMetadata, "x", None, Extent::Member),
        ),
        by_input(
            Code::Unreadable,
            &h100,
            of(code()).problem(ProblemKind::Io, "a.so", None, Extent::Member),
            of(code()),
        ),
        by_input(
            Code::UnusedArchitectures,
            &h100,
            of(code()),
            of(so().fatbin("sm_90", 3)),
        ),
        by_input(
            Code::NoForwardPtx,
            &h100,
            of(so().fatbin("sm_80 sm_90 compute_90a@8.0", 3)),
            of(so().fatbin("sm_80 sm_90 compute_80@8.0", 3)),
        ),
        Case {
            code: Code::WaiverExpired,
            raises: (jit(), waiving("2027-01-14")),
            keeps_quiet: (jit(), waiving("2027-01-15")),
        },
        Case {
            code: Code::WaiverUnused,
            raises: (of(so().fatbin("sm_90", 1)), waiving("2027-03-01")),
            keeps_quiet: (jit(), waiving("2027-03-01")),
        },
        Case {
            code: Code::ScopeUnused,
            raises: (of(code()), scoped("other")),
            keeps_quiet: (of(code()), scoped("pkg")),
        },
    ]
}

fn cases() -> Vec<Case> {
    let mut cases = coverage_cases();
    cases.extend(
        super::closure::cases()
            .map(|(code, raises, quiet)| by_input(code, &on("A100", "R580"), raises, quiet)),
    );
    cases.extend(
        super::locks::cases()
            .map(|(code, raises, quiet)| by_input(code, &on("A100", "R580"), raises, quiet)),
    );
    cases.extend(driver_cases());
    cases.extend(input_cases());
    cases
}

#[test]
fn every_code_is_raised_and_its_neighbour_is_quiet() {
    for case in cases() {
        let code = case.code;
        let (input, policy) = &case.raises;
        let evaluation = check(input, policy);
        let raised = found(&evaluation, code);
        assert!(
            !raised.is_empty(),
            "`{code}` is not raised: {:#?}",
            evaluation.findings
        );
        for finding in raised {
            assert_eq!(finding.level, code.default_level(), "{code}");
        }
        let (input, policy) = &case.keeps_quiet;
        let evaluation = check(input, policy);
        assert!(
            found(&evaluation, code).is_empty(),
            "`{code}` is raised: {:#?}",
            evaluation.findings
        );
    }
}

#[test]
fn every_code_has_a_case() {
    let mut met: BTreeSet<Code> = cases().iter().map(|case| case.code).collect();
    // it needs a baseline: `baselines`
    met.insert(Code::BaselineUnused);
    // they are of images: `images`
    met.extend(super::images::CODES);
    let all: BTreeSet<Code> = Code::ALL.iter().copied().collect();
    assert_eq!(
        met, all,
        "a code without a case here, or a case without a code"
    );
}
