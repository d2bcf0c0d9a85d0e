//! The note of forward compatibility drivers, wherever in the file it lies.

use smgate::cuda::ToolkitVersion;
use smgate::device::ForwardNote;

use crate::support::elf::Elf;
use crate::support::{problem_kinds, scan, scan_in};

pub(crate) const SECTION: &str = ".note.cuda.fwd_compatibility";
/// What libcuda.so 590.44.01 says: the branches on which it works, and the brands, `geforce` (5) not among them.
pub(crate) const OF_590: &str = r#"{"format":1,"CUDA version":"13.1","driver":[535,550,570,575,580,590],"device":[1,2,7,8,9,10,11,12,13,14]}"#;

/// A note as the linker lays it out.
pub(crate) fn note(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [19, text.len(), 0] {
        bytes.extend(u32::try_from(number).unwrap().to_le_bytes());
    }
    bytes.extend(b"NVIDIA Corporation\0\0");
    bytes.extend(text.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn expected() -> ForwardNote {
    ForwardNote::new(
        ToolkitVersion::new(13, 1),
        Some(vec![535, 550, 570, 575, 580, 590]),
        Some(vec![1, 2, 7, 8, 9, 10, 11, 12, 13, 14]),
    )
}

#[test]
fn the_note_of_a_driver_is_a_host_fact() {
    let library = Elf::new()
        .soname("libcuda.so.1")
        .notes(SECTION, note(OF_590));
    let found = scan(&library.build()).host;
    assert_eq!(found.soname.as_deref(), Some("libcuda.so.1"));
    assert_eq!(found.forward_compatibility, Some(Ok(expected())));
}

#[test]
fn drivers_without_a_note_and_sections_of_its_name_that_are_no_notes_have_none() {
    for library in [
        Elf::new().soname("libcuda.so.1"),
        Elf::new().section(SECTION, note(OF_590)),
        Elf::new().notes(".note.gnu.build-id", note(OF_590)),
    ] {
        assert_eq!(scan(&library.build()).host.forward_compatibility, None);
    }
}

#[test]
fn a_broken_note_is_said_and_is_no_problem_of_the_file() {
    let library = Elf::new().notes(SECTION, note(r#"{"format":1,"CUDA version":"13.2",}"#));
    let report = scan(&library.build());
    assert!(report.host.forward_compatibility.unwrap().is_err());
    let huge = Elf::new().notes(SECTION, note(&" ".repeat(65 << 10)));
    assert!(
        scan(&huge.build())
            .host
            .forward_compatibility
            .unwrap()
            .is_err()
    );
}

/// Three megabytes lie before it and behind it: what is kept in passing ends before.
#[test]
fn a_note_far_inside_a_large_file_is_read_by_a_second_look() {
    let filler = vec![0xcc; 3 << 20];
    let library = Elf::new()
        .section(".text", filler.clone())
        .notes(SECTION, note(OF_590))
        .section(".rodata", filler)
        .build();
    for chunk in [1 << 20, 4099] {
        for len_known in [true, false] {
            let report = scan_in(&library, chunk, len_known);
            assert_eq!(problem_kinds(&report), Vec::<&str>::new());
            assert_eq!(report.host.forward_compatibility, Some(Ok(expected())));
        }
    }
}
