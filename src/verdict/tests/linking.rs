//! Code without kernels, which says nothing, and code that is linked before it is loaded.

use super::build::{so, wheel};
use super::{assert_libraries, check, minimum, on, only, outcome};
use crate::device::HostFormat;
use crate::rule::Code;

// SEMANTICS.md: "Empty device code says nothing"; libnppc.so.12 holds one sm_52 cubin without kernels.
#[test]
fn code_without_kernels_says_nothing() {
    assert_libraries(vec![
        (so().fatbin("sm_52+empty", 1), "H100", "R550", "pass"),
        (
            so().fatbin("sm_52+empty compute_52@7.0+empty", 1),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_52+empty", 1).fatbin("sm_80 sm_90", 1),
            "H100",
            "R550",
            "pass",
        ),
        // it is no gap, and no cover: 1 of 1 with kernels, not 1 of 4
        (
            so().fatbin("sm_52+empty sm_60+empty", 3)
                .fatbin("sm_80 sm_90", 1),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().fatbin("sm_80+empty sm_90+empty", 3)
                .fatbin("sm_70 sm_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // kernels in one of its images are kernels
        (
            so().fatbin("sm_52+empty sm_80", 3),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
    ]);
    let evaluation = check(
        &wheel("pkg", "1.0").with(so().fatbin("sm_52+empty", 1)),
        &on("H100", ""),
    );
    assert!(!evaluation.matrix[0].has_device_code);
    assert_eq!(outcome(&evaluation), "pass", "nothing needs a driver");
}

#[test]
fn code_without_kernels_changes_no_floor_and_no_threshold() {
    // an empty zstd fatbin, an empty sm_80 cubin for Orin, empty PTX of a newer toolkit
    for (library, gpu, driver, expected, floor) in [
        (
            so().fatbin("sm_80 sm_90", 9).fatbin("sm_80+empty+zstd", 1),
            "H100",
            "R535",
            "pass",
            "520.56.06",
        ),
        (
            so().fatbin("sm_80 sm_87", 9).fatbin("sm_80+empty", 1),
            "8.7",
            "R535",
            "pass",
            "-",
        ),
        (
            so().fatbin("compute_80@8.0", 9)
                .fatbin("compute_80@9.0+empty", 1),
            "H100",
            "R535",
            "pass jit-only",
            "525.60.13",
        ),
    ] {
        let evaluation = check(&wheel("pkg", "1.0").with(library), &on(gpu, driver));
        assert_eq!(outcome(&evaluation), expected, "{:#?}", evaluation.findings);
        assert_eq!(minimum(&evaluation), floor);
    }
    // 19 of 20 with kernels; 24 of 30 with the empty ones
    let library = so()
        .fatbin("sm_80 sm_90", 19)
        .fatbin("sm_80 sm_86", 1)
        .fatbin("sm_80+empty sm_90+empty", 5)
        .fatbin("sm_52+empty sm_60+empty", 5);
    let policy = on("H100", "R550") + "thresholds: {partial-coverage: 0.9}\n";
    let evaluation = check(&wheel("pkg", "1.0").with(library), &policy);
    assert_eq!(outcome(&evaluation), "pass partial-coverage");
}

// Fatbins without kernels are shown where they change no answer: other tools count them.
#[test]
fn figures_count_every_fatbin_where_no_answer_differs() {
    let library = so()
        .fatbin("sm_70 sm_80", 180)
        .fatbin("sm_70+empty sm_80+empty", 2);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("H100", "R550"));
    let finding = only(&evaluation, Code::NoKernelImage);
    assert_eq!(
        finding.message,
        "no code for H100 (9.0): 0 of 182 fatbins can run"
    );
}

// RULES.md 2.12.
#[test]
fn relocatable_code_is_linked_again_only_if_every_object_fits() {
    let linked_for_80 = || {
        so().objects("rel_sm_80 rel_compute_80@8.0", 4)
            .linked("sm_80")
    };
    assert_libraries(vec![
        (linked_for_80(), "A100", "R550", "pass"),
        (linked_for_80(), "H100", "R550", "pass jit-only"),
        (linked_for_80(), "T4", "R550", "fail no-kernel-image"),
        // a cubin for the target in an object is as good
        (
            linked_for_80().objects("rel_sm_90", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
        // one object has neither
        (
            linked_for_80().objects("rel_sm_80", 1),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // LTO-IR is not taken by the implicit link
        (
            so().objects("lto_80", 4).linked("sm_80"),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        // the PTX of an object is too new for the driver
        (
            so().objects("rel_sm_80 rel_compute_80@8.7", 4)
                .linked("sm_80"),
            "H100",
            "R535",
            "fail ptx-too-new",
        ),
        // a library whose objects no device link made loadable: the driver would have to
        (
            so().objects("rel_sm_80", 4),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().objects("rel_sm_80 rel_compute_80@8.0", 4),
            "H100",
            "R550",
            "pass jit-only",
        ),
        (
            so().objects("rel_sm_80 rel_compute_80@8.7", 4),
            "H100",
            "R535",
            "fail ptx-too-new",
        ),
        // what is still to be linked by somebody cannot be judged
        (
            so().format(HostFormat::Ar).objects("rel_sm_80", 4),
            "H100",
            "R550",
            "pass",
        ),
        (
            so().format(HostFormat::ElfObject).objects("rel_sm_80", 4),
            "H100",
            "R550",
            "pass",
        ),
    ]);
}

#[test]
fn an_object_of_device_functions_alone_is_part_of_the_link() {
    let library = so()
        .objects("rel_compute_70@7.0", 1)
        .objects("rel_compute_80@7.0+empty", 1)
        .linked("sm_70");
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("P100", "R550"));
    assert_eq!(outcome(&evaluation), "fail no-kernel-image");
    let library = so()
        .objects("rel_compute_70@7.0", 1)
        .objects("rel_compute_80@7.0+empty", 1)
        .fatbin("sm_60", 1);
    let evaluation = check(&wheel("pkg", "1.0").with(library), &on("T4", "R550"));
    assert_eq!(outcome(&evaluation), "fail no-kernel-image");
}

// Where control records cannot be read, cubins-only fatbins beside objects are taken as linked.
#[test]
fn without_control_records_the_fatbins_of_cubins_alone_are_linked() {
    let objects = || so().objects("rel_sm_80 rel_compute_80@8.0", 4);
    assert_libraries(vec![
        (
            objects().fatbin("sm_80", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
        // PTX beside it says that nvcc made it whole: not linked, so nothing to link again
        (
            objects().fatbin("sm_80 compute_90a@8.0", 1),
            "B200",
            "R580",
            "fail no-kernel-image",
        ),
        // records that name another fatbin
        (
            objects().linked("sm_80").fatbin("sm_70 sm_80", 9),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
    ]);
}

// SEMANTICS.md: images to be linked that lie outside fatbins are picked one by one; libiket_cubin_info.so of
// nvidia-cutlass-dsl-libs-base 4.8.0 holds one for each GPU, and nothing else.
#[test]
fn of_bare_images_to_be_linked_the_one_that_fits_is_enough() {
    let each = || {
        so().bare("rel_sm_90", 1)
            .bare("rel_sm_100", 1)
            .bare("rel_sm_120", 1)
    };
    assert_libraries(vec![
        (each(), "H100", "R550", "pass"),
        (each(), "B200", "R580", "pass"),
        (each(), "RTX 5090", "R580", "pass"),
        (each(), "A100", "R550", "fail no-kernel-image"),
        // functions that others call are no kernels, and code all the same
        (
            so().bare("rel_sm_90+empty", 1),
            "A100",
            "R550",
            "fail no-kernel-image",
        ),
        (so().bare("rel_lto_90", 2), "H100", "R550", "pass link-only"),
        (
            so().bare("rel_compute_80@8.0", 1).bare("rel_sm_100", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
        // what is still to be linked by somebody cannot be judged
        (
            so().format(HostFormat::Ar).bare("rel_sm_80", 1),
            "H100",
            "R550",
            "pass",
        ),
    ]);
    let evaluation = check(&wheel("pkg", "1.0").with(each()), &on("A100", "R550"));
    assert_eq!(
        only(&evaluation, Code::NoKernelImage).message,
        "no code for A100 (8.0): 0 of 3 device images can run"
    );
}

// They decide only where there is nothing else, and the driver's own link (rule 2.12) knows nothing of them.
#[test]
fn bare_images_to_be_linked_neither_cure_nor_break_a_library_with_other_code() {
    assert_libraries(vec![
        (
            so().fatbin("sm_80 sm_86", 1).bare("rel_sm_90", 5),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().bare("sm_80", 1).bare("rel_sm_90", 5),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().objects("rel_sm_80", 4).bare("rel_sm_90", 5),
            "H100",
            "R550",
            "fail no-kernel-image",
        ),
        (
            so().objects("rel_sm_90", 4).bare("rel_sm_100", 5),
            "H100",
            "R550",
            "pass jit-only",
        ),
        (
            so().objects("rel_sm_80 rel_compute_80@8.0", 4)
                .linked("sm_80")
                .bare("rel_sm_100", 1),
            "H100",
            "R550",
            "pass jit-only",
        ),
    ]);
}
