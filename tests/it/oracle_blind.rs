//! Where NVIDIA's own tool is blind or wrong, and what the reader must say there.
//!
//! One test a blind spot (FORMAT.md §10). Each first holds that the tool still fails in the way that the
//! test is about; the expected values are what `recipe/gen.sh` and `recipe/build.py` put into the file.

use smgate::device::{DeviceReport, HostFormat, ImageKind, Place};

use crate::support::oracle_text::OracleText;
use crate::support::{Images, expect, fixture, images, problem_kinds, scan, toolkits};

/// Every fixture whose oracle text is not the truth.
pub(crate) const BLIND: [&str; 27] = [
    "bad_container_size_huge.fatbin",
    "bad_entry_header_zero.fatbin",
    "bad_entry_size_huge.fatbin",
    "bad_truncated.fatbin",
    "bad_unknown_compression.fatbin",
    "cubin_118_sm_35.cubin",
    "cubin_120_sm_90.cubin",
    "cubin_120_sm_90a.cubin",
    "data_zstd_cubin.so",
    "n135_no_section_headers.so",
    "nvf124_sm35.fatbin",
    "nvf129_header_lies.fatbin",
    "nvrtc_118_compute_90.ptx",
    "nvrtc_120_lto_90a.ltoir",
    "nvrtc_124_compute_90a.ptx",
    "nvrtc_124_lto_90a.ltoir",
    "nvrtc_128_lto_90a.ltoir",
    "nvrtc_129_compute_100f.ptx",
    "nvrtc_129_lto_90a.ltoir",
    "nvrtc_135_compute_100f.ptx",
    "nvrtc_135_lto_90a.ltoir",
    "rodata_fatbin_and_cubin.so",
    "rodata_unaligned_fatbin_and_ptx.so",
    "win_mingw.dll",
    "win_mingw.lib",
    "win_mingw.obj",
    "win_mingw.pyd",
];

/// The report of a fixture of which the tool says `complaint`.
fn read_where_oracle_says(complaint: &str, name: &str) -> DeviceReport {
    assert!(BLIND.contains(&name), "{name}");
    let text = OracleText::of(name);
    let said = text
        .complaint()
        .unwrap_or_else(|| panic!("the oracle reads {name}"));
    assert!(said.contains(complaint), "{name}: {said}");
    scan(&fixture(name))
}

const NO_CODE: &str = "does not contain device code";

/// The nine images of `nvf135_default.fatbin`, of which the damaged fixtures were made.
fn nvf135_default() -> Images {
    expect([
        "cubin sm_90a",
        "cubin sm_100a",
        "cubin sm_100f",
        "ptx compute_90a 9.5 compressed",
        "ptx compute_100a 9.5 compressed",
        "ptx compute_100f 9.5 compressed",
        "lto-ir sm_90a compressed",
        "lto-ir sm_100a compressed",
        "lto-ir sm_100f compressed",
    ])
}

/// The fatbin that nvcc 13.5 makes for the three targets of `G3` in `gen.sh`.
fn n135_mode_default() -> Images {
    expect([
        "cubin sm_80",
        "cubin sm_90a",
        "cubin sm_100f",
        "ptx compute_80 9.5 compressed",
        "ptx compute_90a 9.5 compressed",
        "ptx compute_100f 9.5 compressed",
    ])
}

fn twice(images: &Images) -> Images {
    images
        .iter()
        .map(|(line, count)| (line.clone(), count * 2))
        .collect()
}

fn with(mut images: Images, more: &str) -> Images {
    *images.entry(more.to_owned()).or_default() += 1;
    images
}

#[test]
fn sm_35_is_read_where_the_oracle_gives_up_the_file() {
    let removed = "Support for 'sm_35' has been removed";
    let report = read_where_oracle_says(removed, "cubin_118_sm_35.cubin");
    assert_eq!(images(&report), expect(["cubin sm_35"]));
    let report = read_where_oracle_says(removed, "nvf124_sm35.fatbin");
    assert_eq!(images(&report), expect(["cubin sm_35", "cubin sm_50"]));
    assert_eq!(toolkits(&report), ["11.8"]);
    assert_eq!(report.problems, []);
}

#[test]
fn sm_90_cubins_of_cuda_12_0_are_read_where_the_oracle_sees_no_device_code() {
    for (name, image) in [
        ("cubin_120_sm_90.cubin", "cubin sm_90"),
        ("cubin_120_sm_90a.cubin", "cubin sm_90a"),
    ] {
        let report = read_where_oracle_says(NO_CODE, name);
        assert_eq!(images(&report), expect([image]), "{name}");
        assert_eq!(toolkits(&report), ["12.0"], "{name}");
        assert_eq!(report.problems, [], "{name}");
    }
}

#[test]
fn pe_and_coff_hold_what_the_oracle_reads_of_their_section_alone() {
    let section = scan(&fixture("win_mingw_section.fatbin"));
    assert_eq!(images(&section).values().sum::<u64>(), 6);
    for (name, format) in [
        ("win_mingw.dll", HostFormat::Pe),
        ("win_mingw.pyd", HostFormat::Pe),
        ("win_mingw.obj", HostFormat::Coff),
        ("win_mingw.lib", HostFormat::Ar),
    ] {
        let report = read_where_oracle_says(NO_CODE, name);
        assert_eq!(report.host.format, format, "{name}");
        assert_eq!(images(&report), images(&section), "{name}");
        assert_eq!(report.problems, [], "{name}");
        for class in &report.classes {
            let (place, relocatable) = match format {
                HostFormat::Ar => (Place::File, true),
                _ => (Place::Section(".nv_fatb".to_owned()), false),
            };
            assert_eq!(
                (&class.place, class.relocatable),
                (&place, relocatable),
                "{name}"
            );
        }
    }
}

#[test]
fn code_in_rodata_is_found() {
    let report = read_where_oracle_says(NO_CODE, "rodata_fatbin_and_cubin.so");
    assert_eq!(images(&report), with(n135_mode_default(), "cubin sm_90a"));
    let bare: Vec<bool> = report.classes.iter().map(|class| class.bare).collect();
    assert_eq!(bare, [true, false]);

    let report = read_where_oracle_says(NO_CODE, "rodata_unaligned_fatbin_and_ptx.so");
    let uncompressed: Images = n135_mode_default()
        .into_iter()
        .map(|(line, count)| (line.replace(" compressed", ""), count))
        .collect();
    assert_eq!(images(&report), with(uncompressed, "ptx compute_100f 9.5"));
    assert_eq!(report.classes[0].first % 8, 1, "the fatbin is not aligned");
    for class in &report.classes {
        assert_eq!(class.place, Place::Section(".rodata".to_owned()));
    }
    assert_eq!(report.problems, []);
}

#[test]
fn a_cubin_in_a_zstd_frame_is_found_with_its_suffix() {
    let report = read_where_oracle_says(NO_CODE, "data_zstd_cubin.so");
    assert_eq!(images(&report), expect(["cubin sm_90a"]));
    assert_eq!(toolkits(&report), ["13.5"]);
    assert_eq!(report.classes[0].place, Place::Section(".data".to_owned()));
    assert_eq!(report.problems, []);
}

#[test]
fn a_library_without_section_headers_holds_what_it_held_with_them() {
    let report = read_where_oracle_says(NO_CODE, "n135_no_section_headers.so");
    assert_eq!(images(&report), twice(&n135_mode_default()));
    assert_eq!(report.classes[0].place, Place::NoSection);
    let with_headers = scan(&fixture("n135_two_objs_stripped.so"));
    assert_eq!(report.host.needed, with_headers.host.needed);
    assert_eq!(report.problems, []);
}

#[test]
fn loose_ptx_is_read() {
    for (name, image) in [
        ("nvrtc_118_compute_90.ptx", "ptx compute_90 7.8"),
        ("nvrtc_124_compute_90a.ptx", "ptx compute_90a 8.4"),
        ("nvrtc_129_compute_100f.ptx", "ptx compute_100f 8.8"),
        ("nvrtc_135_compute_100f.ptx", "ptx compute_100f 9.5"),
    ] {
        let report = read_where_oracle_says(NO_CODE, name);
        assert_eq!(images(&report), expect([image]), "{name}");
        assert!(
            !report.classes[0].images[0].key.empty,
            "{name} has a kernel"
        );
        assert_eq!(report.problems, [], "{name}");
    }
}

#[test]
fn loose_lto_ir_is_known_but_not_for_what_it_was_built() {
    for toolkit in ["120", "124", "128", "129", "135"] {
        let name = format!("nvrtc_{toolkit}_lto_90a.ltoir");
        let report = read_where_oracle_says(NO_CODE, &name);
        assert_eq!(images(&report), expect(["lto-ir"]), "{name}");
        assert_eq!(report.problems, [], "{name}");
    }
}

#[test]
fn the_payload_is_believed_and_not_the_header_that_the_oracle_repeats() {
    let name = "nvf129_header_lies.fatbin";
    let listed = OracleText::of(name).listing();
    let listed: Vec<_> = listed
        .iter()
        .filter_map(|image| image.arch.as_deref())
        .collect();
    assert_eq!(listed, ["sm_90", "sm_90", "sm_90", "sm_80"]);

    let report = scan(&fixture(name));
    assert_eq!(
        images(&report),
        expect([
            "ptx compute_90a 8.8 compressed",
            "cubin sm_90a",
            "cubin sm_90a",
            "ptx compute_90 8.8 compressed",
        ])
    );
    assert_eq!(toolkits(&report), ["12.9", "13.5"]);
    let claimed: Vec<_> = report.classes[0]
        .images
        .iter()
        .map(|image| {
            let claim = image.key.header.unwrap();
            (
                image.key.kind,
                image.key.target.unwrap().to_string(),
                claim.target.unwrap().to_string(),
            )
        })
        .collect();
    let expected = [
        (ImageKind::Cubin, "sm_90a", "sm_90"),
        (ImageKind::Ptx, "sm_90", "sm_80"),
        (ImageKind::Ptx, "sm_90a", "sm_90"),
    ];
    assert_eq!(
        claimed,
        expected.map(|(kind, is, says)| (kind, is.to_owned(), says.to_owned()))
    );
}

#[test]
fn headers_that_tell_the_truth_are_not_reported() {
    for name in [
        "nvf129_default.fatbin",
        "n135_all_f.fatbin",
        "nvf135_concat.fatbin",
    ] {
        for class in scan(&fixture(name)).classes {
            for image in class.images {
                assert_eq!(image.key.header, None, "{name}: {:?}", image.key);
            }
        }
    }
}

#[test]
fn lelf_drops_the_family_suffix_and_the_reader_keeps_it() {
    let named = OracleText::of("n135_all_f.fatbin").named("-lelf");
    assert!(
        named.contains_key("sm_100") && !named.contains_key("sm_100f"),
        "{named:?}"
    );
    assert!(images(&scan(&fixture("n135_all_f.fatbin"))).contains_key("cubin sm_100f compressed"));
}

#[test]
fn images_of_a_concatenated_entry_count_like_any_other() {
    let name = "nvf135_concat.fatbin";
    let nested = OracleText::of(name)
        .listing()
        .iter()
        .filter(|image| image.nested)
        .count();
    assert_eq!(nested, 8);
    let report = scan(&fixture(name));
    assert_eq!(images(&report).values().sum::<u64>(), 12);
    let stored: u64 = report.classes[0]
        .images
        .iter()
        .map(|image| image.bytes)
        .sum();
    assert!(
        stored < fixture(name).len() as u64,
        "images share the bytes of their entry"
    );
}

#[test]
fn a_cut_fatbin_keeps_what_was_before_the_cut() {
    let report = read_where_oracle_says("Invalid fatbin header", "bad_truncated.fatbin");
    let mut whole = nvf135_default();
    whole.remove("lto-ir sm_100f compressed");
    assert_eq!(images(&report), whole);
    assert_eq!(problem_kinds(&report), ["malformed-fatbin"]);
    assert!(report.classes[0].damaged);
}

#[test]
fn a_fatbin_that_claims_too_much_keeps_its_entries() {
    let report = read_where_oracle_says("Invalid fatbin header", "bad_container_size_huge.fatbin");
    assert_eq!(images(&report), nvf135_default());
    assert_eq!(problem_kinds(&report), ["malformed-fatbin"]);
    assert!(report.classes[0].damaged);
}

#[test]
fn behind_an_entry_without_an_end_the_cubins_are_still_found() {
    for (name, complaint) in [
        ("bad_entry_size_huge.fatbin", "Invalid fatbin header"),
        ("bad_entry_header_zero.fatbin", "Invalid ELF"),
    ] {
        let report = read_where_oracle_says(complaint, name);
        // nothing but the header of its entry has the `f` of a cubin
        assert_eq!(
            images(&report),
            expect(["cubin sm_90a", "cubin sm_100a", "cubin sm_100"]),
            "{name}"
        );
        assert_eq!(problem_kinds(&report), ["malformed-fatbin"], "{name}");
        assert_eq!(report.problems[0].offset, 16, "{name}");
        assert!(
            report.classes[0].damaged && report.classes[0].images.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn a_payload_of_unknown_compression_is_counted_by_its_header() {
    let report = read_where_oracle_says("Invalid fatbin header", "bad_unknown_compression.fatbin");
    let mut expected = nvf135_default();
    expected.remove("cubin sm_90a");
    assert_eq!(images(&report), with(expected, "cubin sm_90a compressed"));
    assert_eq!(problem_kinds(&report), ["unreadable-payload"]);
    assert!(report.classes[0].damaged);
}

#[test]
fn an_unknown_kind_is_listed_and_damages_nothing() {
    let report = scan(&fixture("bad_unknown_kind.fatbin"));
    let mut expected = nvf135_default();
    expected.remove("cubin sm_90a");
    assert_eq!(images(&report), with(expected, "unknown-0x200 sm_90a"));
    assert_eq!(report.problems, []);
}
