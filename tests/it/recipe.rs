//! What the oracle does not print and the recipe says: codings, fatbins by section, device links.
//!
//! Expected values come from the commands in `recipe/gen.sh` and `recipe/build.py` and from the defaults of
//! the toolkits in FORMAT.md §4.2.

use smgate::device::{Coding, FatbinClass, ImageKind, Place};

use crate::support::{fixture, scan};

/// The coding of all images of one kind in a fixture, which must be one.
fn coding(name: &str, kind: ImageKind) -> Coding {
    let mut codings: Vec<Coding> = scan(&fixture(name))
        .classes
        .iter()
        .flat_map(|class| &class.images)
        .filter(|image| image.key.kind == kind)
        .map(|image| image.key.coding)
        .collect();
    codings.dedup();
    let [coding] = codings[..] else {
        panic!("{name}: {codings:?}")
    };
    coding
}

#[test]
fn every_compression_mode_has_its_coding() {
    use Coding::{Lz4, None, Zstd};
    // name, coding of PTX and of cubins; -mode=size compresses cubins too
    for (name, ptx, cubin) in [
        ("nvf124_default", Lz4, None),
        ("nvf124_nocompress", None, None),
        ("nvf124_all", Lz4, Lz4),
        ("nvf126_default", Lz4, None),
        ("nvf126_mode_size", Zstd, Zstd),
        ("nvf126_mode_balance", Zstd, None),
        ("nvf126_mode_speed", Lz4, None),
        ("nvf126_mode_none", None, None),
        ("nvf128_all", Lz4, Lz4),
        ("nvf129_default", Lz4, None),
        ("nvf129_mode_size", Zstd, Zstd),
        ("nvf130_default", Zstd, None),
        ("nvf130_mode_speed", Lz4, None),
        ("nvf135_all", Zstd, Zstd),
        ("n135_mode_default", Zstd, None),
        ("n135_mode_size", Zstd, Zstd),
        ("n135_mode_speed", Lz4, None),
        ("n135_mode_balance", Zstd, None),
        ("n135_mode_none", None, None),
        ("n135_no_compress", None, None),
        ("n135_compress_all", Zstd, Zstd),
    ] {
        let name = format!("{name}.fatbin");
        assert_eq!(coding(&name, ImageKind::Ptx), ptx, "PTX of {name}");
        assert_eq!(coding(&name, ImageKind::Cubin), cubin, "cubins of {name}");
    }
}

/// Section, whether relocatable, whether device-linked, how many fatbins: by place in the file.
fn classes(name: &str) -> Vec<(String, bool, bool, u64)> {
    let row = |class: FatbinClass| {
        let section = class.place.name().unwrap_or("none").to_owned();
        (section, class.relocatable, class.device_linked, class.count)
    };
    scan(&fixture(name)).classes.into_iter().map(row).collect()
}

#[test]
fn fatbins_of_a_library_are_told_apart_by_section_and_device_link() {
    let relocatable = |count| ("__nv_relfatbin".to_owned(), true, false, count);
    let loadable = |linked, count| (".nv_fatbin".to_owned(), false, linked, count);
    for (name, expected) in [
        ("n135_single.so", vec![loadable(false, 1)]),
        ("n135_two_objs.so", vec![loadable(false, 2)]),
        ("n135_two_objs_stripped.so", vec![loadable(false, 2)]),
        ("n130_multi.so", vec![loadable(false, 1)]),
        ("n135_rdc.o", vec![relocatable(1)]),
        ("n135_dlto.o", vec![relocatable(1)]),
        // rdc.cu calls what rdc2.cu has, which has no kernel; k.cu is not relocatable
        (
            "n135_rdc_not_device_linked.so",
            vec![relocatable(1), relocatable(1), loadable(false, 1)],
        ),
        (
            "n135_rdc_device_linked.so",
            vec![
                relocatable(1),
                relocatable(1),
                loadable(false, 1),
                loadable(true, 1),
            ],
        ),
        (
            "n135_dlto_device_linked.so",
            vec![relocatable(2), loadable(true, 1)],
        ),
    ] {
        assert_eq!(classes(name), expected, "{name}");
    }
}

#[test]
fn cubins_and_ptx_of_relocatable_code_say_so_themselves() {
    for (name, kind) in [
        ("n135_concat_rdc_lto.fatbin", ImageKind::Cubin),
        ("nvf135_reloc.fatbin", ImageKind::RelocatablePtx),
    ] {
        let report = scan(&fixture(name));
        let [class] = &report.classes[..] else {
            panic!("{name}: {report:?}")
        };
        assert!(class.relocatable && class.place == Place::File, "{name}");
        let images = class.images.iter().filter(|image| image.key.kind == kind);
        assert!(
            images.clone().count() == 3 && images.clone().all(|image| image.key.relocatable),
            "{name}"
        );
    }
}

#[test]
fn hosts_are_known_by_their_format_and_machine() {
    for (name, format, machine) in [
        ("n130_multi.so", "elf", Some("x86_64")),
        ("aarch64.so", "elf", Some("aarch64")),
        ("i386.so", "elf", Some("i386")),
        ("win_mingw.dll", "pe", Some("x86_64")),
        ("win_mingw.obj", "coff", Some("x86_64")),
        ("win_mingw.lib", "ar", None),
        ("n135_static.a", "ar", None),
        ("cubin_135_sm_80.cubin", "raw", None),
        ("n135_sass_only.fatbin", "raw", None),
    ] {
        let host = scan(&fixture(name)).host;
        assert_eq!(
            (host.format.id(), host.machine),
            (format, machine),
            "{name}"
        );
    }
}

#[test]
fn kernels_are_seen_in_every_fixture_that_has_them() {
    // `empty` takes an image out of the verdict: only the helper of rdc2.cu has no kernel
    for (name, bytes) in crate::support::fixtures() {
        for class in scan(&bytes).classes {
            for image in class.images.iter().filter(|image| image.key.empty) {
                let helper = class.relocatable && image.key.kind == ImageKind::Ptx;
                assert!(helper, "{name}: {:?}", image.key);
            }
        }
    }
}
