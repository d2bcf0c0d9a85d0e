//! Compilers that a package carries. What toolkits compile for: `ptxas --help` of each, as in `toolkits.yaml`.

use super::build::{Lib, lib, wheel};
use super::{check, found, on, only, outcome};
use crate::rule::Code;
use crate::tables::Tables;

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

fn nvrtc(versions: &str) -> Lib {
    lib("pkg/libnvrtc.so.12")
        .compiles_with(versions)
        .writes_ptx()
        .carried("nvrtc")
}

/// What NVRTC writes was measured: 7.8 by 11.8, 8.4 by 12.4, 8.7 by 12.8, 9.5 by 13.5. What drivers take is that of the
/// toolkit that they came with: R525 of 12.0, R570 of 12.8.
#[test]
fn ptx_of_a_compiler_that_the_driver_does_not_take_is_a_warning() {
    for (versions, driver, mismatch) in [
        ("12.8", "525.60.13", true),
        ("12.8", "565.57.01", true),
        ("12.8", "570.26", false),
        ("12.8", "R570", false),
        ("12.8", "R580", false),
        ("12.4", "R535", true),
        ("12.4", "R550", false),
        ("11.8", "525.60.13", false),
        // R560 of 12.6 takes no more than R555 of 12.5
        ("12.6", "R555", false),
        // one of two is enough
        ("11.8 12.8", "525.60.13", false),
        ("12.4 12.8", "525.60.13", true),
        // not known
        ("", "525.60.13", false),
        ("99.0", "525.60.13", false),
    ] {
        let input = wheel("pkg", "1.0").with(nvrtc(versions));
        let expected = if mismatch {
            "pass jit-compiler-mismatch"
        } else {
            "pass"
        };
        let evaluation = check(&input, &on("A100", driver));
        assert_eq!(outcome(&evaluation), expected, "{versions} on {driver}");
    }
}

#[test]
fn it_says_which_ptx_is_too_new_and_for_whom() {
    let input = wheel("pkg", "1.0").with(nvrtc("12.8"));
    let evaluation = check(&input, &on("A100", "525.60.13"));
    let finding = only(&evaluation, Code::JitCompilerMismatch);
    assert_eq!(
        finding.message,
        "compiles device code at run time with CUDA 12.8, which writes PTX 8.7; driver 525.60.13 compiles PTX up to 8.0"
    );
    assert_eq!(
        finding.evidence,
        [
            "`pkg/libnvrtc.so.12` is of CUDA 12.8",
            "only callers that hand PTX to the driver are affected: machine code of this compiler, and PTX that ptxas or nvJitLink assembles, load",
        ]
    );
    assert!(
        finding
            .next_step
            .contains("`--gpu-architecture=sm_80` and `nvrtcGetCUBIN`")
    );
    assert!(finding.next_step.contains("to 570.26 or newer"));
}

#[test]
fn a_gpu_that_the_compiler_does_not_know_is_said_first() {
    let input = wheel("pkg", "1.0").with(nvrtc("12.4"));
    let evaluation = check(&input, &on("RTX 5090", "R535"));
    let finding = only(&evaluation, Code::JitCompilerMismatch);
    assert!(
        finding
            .message
            .ends_with("does not compile for GeForce RTX 5090 (12.0)")
    );
}

#[test]
fn machine_code_asks_nothing_of_the_driver() {
    let old = on("A100", "525.60.13");
    let ptxas = wheel("pkg", "1.0").with(ptxas("12.8"));
    assert_eq!(outcome(&check(&ptxas, &old)), "pass");
    // libNVVM beside what assembles its PTX
    let nvvm = lib("pkg/libnvvm.so").compiles_with("12.8").writes_ptx();
    let both = wheel("pkg", "1.0").with(nvvm.carried("nvvm")).with(
        lib("pkg/libnvJitLink.so.12")
            .compiles_with("12.8")
            .carried("nvjitlink"),
    );
    assert_eq!(outcome(&check(&both, &old)), "pass");
    // a package that asks NVRTC for machine code
    let torch = wheel("torch", "2.0").with(nvrtc("12.8"));
    assert_eq!(outcome(&check(&torch, &old)), "pass");
}

#[test]
fn without_a_driver_no_ptx_is_too_new() {
    let input = wheel("pkg", "1.0").with(nvrtc("13.5"));
    let evaluation = check(&input, &on("A100", ""));
    assert!(found(&evaluation, Code::JitCompilerMismatch).is_empty());
}

#[test]
fn a_row_says_with_what_the_package_compiles() {
    let note = |input: &super::build::Input| {
        let row = &check(input, &on("A100", "R580")).matrix[0];
        assert_eq!(row.compiles, !row.notes.is_empty());
        row.notes.first().cloned()
    };
    let with = |what: &str| {
        Some(format!(
            "compiles on your machine with {what}; what it compiles there is not judged"
        ))
    };
    let two = wheel("pkg", "1.0").with(ptxas("12.9 13.4"));
    assert_eq!(
        note(&two),
        with("ptxas 12.9, ptxas 13.4 (knows sm_50 to sm_121)")
    );
    let linked = wheel("pkg", "1.0").with(lib("pkg/_C.so").compiles_with("11.8"));
    assert_eq!(note(&linked), with("CUDA 11.8 (knows sm_35 to sm_90)"));
    let cudnn = lib("pkg/libcudnn_graph.so.9").compiles_with("99.0");
    let cudnn = wheel("pkg", "1.0").with(cudnn.carried("cudnn"));
    assert_eq!(note(&cudnn), with("CUDA 99.0"));
    assert_eq!(
        note(&wheel("pkg", "1.0").with(nvrtc(""))),
        with("a compiler that does not name its release")
    );
    let others = Tables::builtin().run_time("numba-cuda").unwrap();
    assert_eq!(
        note(&wheel("numba_cuda", "0.30")),
        with(others.with.as_deref().unwrap())
    );
    assert_eq!(note(&wheel("pkg", "1.0")), None);
    // every build of it carries its compiler
    assert_eq!(note(&wheel("triton", "1.0")), None);
}
