//! Compilers that a package carries. What toolkits compile for: `ptxas --help` of each, as in `toolkits.yaml`.

use super::build::{Lib, lib, wheel};
use super::{check, found, on, only, outcome};
use crate::rule::Code;

fn ptxas(versions: &str) -> Lib {
    lib("pkg/bin/ptxas")
        .compiles_with(versions)
        .carried("ptxas")
}

fn assert_compilers(rows: &[(&str, &str, bool)]) {
    for (versions, gpu, mismatch) in rows {
        let input = wheel("pkg", "1.0").with(ptxas(versions));
        let expected = if *mismatch {
            "pass jit-compiler-mismatch"
        } else {
            "pass"
        };
        let evaluation = check(&input, &on(gpu, "R580"));
        assert_eq!(outcome(&evaluation), expected, "{versions} on {gpu}");
    }
}

#[test]
fn a_compiler_that_does_not_compile_for_the_gpu_is_a_warning() {
    assert_compilers(&[
        ("12.4", "RTX 5090", true),
        ("12.8", "RTX 5090", false),
        ("11.7", "H100", true),
        ("11.8", "H100", false),
        ("12.9", "GTX 1080", false),
        ("12.9", "V100", false),
        ("13.0", "GTX 1080", true),
        ("13.0", "V100", true),
        ("13.0", "T4", false),
        ("12.8", "B300", true),
        ("12.9", "B300", false),
    ]);
}

#[test]
fn one_compiler_that_does_is_enough() {
    // triton 3.9.0 carries ptxas of 12.9 and ptxas-blackwell of 13.4
    assert_compilers(&[
        ("12.9 13.4", "GTX 1080", false),
        ("12.9 13.4", "RTX 5090", false),
        ("11.8 12.4", "RTX 5090", true),
        // one too new and one too old
        ("11.7 13.0", "V100", false),
    ]);
    let two = |first: &str, second: &str| {
        wheel("pkg", "1.0")
            .with(ptxas(first))
            .with(lib("pkg/_C.so").compiles_with(second))
    };
    let evaluation = check(&two("12.4", "12.8"), &on("RTX 5090", "R580"));
    assert_eq!(outcome(&evaluation), "pass");
    let evaluation = check(&two("12.4", "12.6"), &on("RTX 5090", "R580"));
    assert_eq!(outcome(&evaluation), "pass jit-compiler-mismatch");
}

#[test]
fn what_is_not_known_is_not_claimed() {
    assert_compilers(&[
        // its release is not named, there is no such toolkit, or none was released
        ("", "RTX 5090", false),
        ("99.0", "GTX 1080", false),
        ("12.7", "RTX 5090", false),
        ("12.4 99.0", "RTX 5090", false),
        // Thor was 10.1, which 12.8 knows, before it became 11.0
        ("12.8", "11.0", false),
        ("12.4", "11.0", true),
    ]);
    // another compiler, which may be of any toolkit
    let unnamed = lib("pkg/libnvJitLink.so.12")
        .compiles_with("")
        .carried("nvjitlink");
    let input = wheel("pkg", "1.0").with(ptxas("12.4")).with(unnamed);
    assert_eq!(outcome(&check(&input, &on("RTX 5090", "R580"))), "pass");
}

#[test]
fn a_part_of_the_same_compiler_may_name_its_release() {
    let part = |name: &str, versions: &str| lib(name).compiles_with(versions).carried("nvrtc");
    let input = wheel("pkg", "1.0")
        .with(part("pkg/libnvrtc.so.12", ""))
        .with(part("pkg/libnvrtc-builtins.so.12.4", "12.4"));
    let evaluation = check(&input, &on("RTX 5090", "R580"));
    assert_eq!(outcome(&evaluation), "pass jit-compiler-mismatch");
}

#[test]
fn it_says_which_compiler_and_which_toolkit_would_do() {
    let input = wheel("pkg", "1.0").with(ptxas("12.4"));
    let evaluation = check(&input, &on("RTX 5090", "R580"));
    let finding = only(&evaluation, Code::JitCompilerMismatch);
    assert_eq!(
        finding.message,
        "compiles device code at run time with CUDA 12.4, which does not compile for GeForce RTX 5090 (12.0)"
    );
    assert_eq!(
        finding.evidence,
        [
            "`pkg/bin/ptxas` is of CUDA 12.4",
            "CUDA 12.8 is the first that compiles for sm_120"
        ]
    );
    assert!(finding.next_step.contains("CUDA 12.8 or newer"));
    let input = wheel("pkg", "1.0").with(ptxas("13.0 13.4"));
    let evaluation = check(&input, &on("V100", "R580"));
    let finding = only(&evaluation, Code::JitCompilerMismatch);
    assert!(finding.message.contains("CUDA 13.0, 13.4, none of which"));
    assert_eq!(
        finding.evidence.last().unwrap(),
        "CUDA 12.9 is the last that compiles for sm_70"
    );
    assert!(finding.next_step.contains("CUDA 12.9 or older"));
}

#[test]
fn it_is_said_of_each_gpu_of_a_target() {
    let input = wheel("pkg", "1.0").with(ptxas("12.4"));
    let evaluation = check(&input, &on("H100, RTX 5090, B200", "R580"));
    assert_eq!(found(&evaluation, Code::JitCompilerMismatch).len(), 2);
}
