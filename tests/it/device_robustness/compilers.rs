//! Compilers in host files: found wherever they lie, and never in what they have made.

use smgate::device::DeviceReport;

use crate::support::cubin::Cubin;
use crate::support::elf::{Elf, put};
use crate::support::fatbin::{Entry, fatbin, ptx_text};
use crate::support::{scan, scan_in};

const TEXT: &[u8] = b"\0Cuda compilation tools, release 12.9, V12.9.86\0\0Build cuda_12.9.r12.9\0";

fn compilers(report: &DeviceReport) -> Vec<String> {
    report.compilers.iter().map(ToString::to_string).collect()
}

/// A library with the text of a compiler `before` bytes into its read-only data, and device code.
fn compiler(before: usize) -> Vec<u8> {
    let data = [&vec![b'.'; before], TEXT, b"other text"].concat();
    Elf::with_fatbin(fatbin(&[Entry::plain_cubin("sm_80", (12, 8))]))
        .section(".rodata", data)
        .build()
}

#[test]
fn a_compiler_names_its_release_also_where_it_is_linked_statically() {
    let report = scan(&compiler(100));
    assert_eq!(compilers(&report), ["12.9"]);
    assert!(report.has_device_code());
    let alone = Elf::new().section(".rodata", TEXT).build();
    assert_eq!(compilers(&scan(&alone)), ["12.9"]);
    assert!(!scan(&alone).has_device_code());
}

#[test]
fn a_compiler_is_found_at_the_border_of_any_chunks() {
    let bytes = compiler(5);
    for chunk in 1..300 {
        let report = scan_in(&bytes, chunk, true);
        assert_eq!(compilers(&report), ["12.9"], "in chunks of {chunk}");
    }
    // the first chunk ends at every byte of the text
    for before in 4096 - 120..4096 {
        let bytes = compiler(before);
        let whole = scan_in(&bytes, usize::MAX, true);
        assert_eq!(scan_in(&bytes, 4096, true), whole, "{before} bytes before");
        assert_eq!(compilers(&whole), ["12.9"], "{before} bytes before");
    }
}

#[test]
fn several_compilers_in_one_library_are_all_named() {
    let other = b"\0Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4\0";
    let bytes = Elf::new()
        .section(".rodata", [TEXT, other].concat())
        .build();
    assert_eq!(compilers(&scan(&bytes)), ["12.9", "13.4"]);
}

#[test]
fn text_in_a_device_payload_is_no_compiler() {
    let mut code = Cubin::new("sm_90", (12, 0)).code_len(1000).build();
    let at = code.len() - 500;
    put(&mut code, at, TEXT);
    let noted = Cubin::new("sm_100a", (12, 9));
    let mut ptx = ptx_text("compute_80", "8.0").into_bytes();
    ptx.extend(b"// Cuda compilation tools, release 12.9, V12.9.86\n");
    let entry = Entry::cubin("sm_100a", &noted);
    let padded = fatbin(&[entry.identifier([TEXT, TEXT].concat())]);
    for (what, data) in [
        ("a cubin", code),
        ("the note of a cubin", noted.build()),
        ("PTX", ptx),
        ("a fatbin", padded),
    ] {
        let bytes = Elf::new().section(".rodata", data).build();
        for chunk in [usize::MAX, 1, 100] {
            let report = scan_in(&bytes, chunk, true);
            assert!(report.has_device_code(), "{what}");
            assert_eq!(compilers(&report), [""; 0], "{what} in chunks of {chunk}");
        }
    }
}

#[test]
fn text_in_what_is_no_program_and_no_library_is_no_compiler() {
    let mut object = Elf::new().section(".rodata", TEXT).build();
    assert_eq!(compilers(&scan(&object)), ["12.9"]);
    // ET_REL
    put(&mut object, 16, &[1, 0]);
    let archive = [b"!<arch>\n", TEXT].concat();
    for bytes in [&object[..], &archive, TEXT] {
        assert_eq!(compilers(&scan(bytes)), [""; 0]);
    }
}

#[test]
fn a_file_that_names_releases_without_end_has_a_few() {
    let text = |n: u32| format!("\0Cuda compilation tools, release {n}.0, V{n}.0.1\0");
    let many: String = (10..10_000).map(text).collect();
    let report = scan(&Elf::new().section(".rodata", many.into_bytes()).build());
    assert_eq!(report.compilers.len(), 16);
}
