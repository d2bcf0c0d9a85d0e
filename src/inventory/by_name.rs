//! Which members of an archive that is fetched are left out, by their names: what installers and interpreters take for
//! text, so that no loader looks for device code in it.
//!
//! Of a file on this machine everything is read, whatever its name. Of one elsewhere each byte is waited for, and torch
//! has twelve thousand headers and modules beside forty libraries. The list says what is left out, never what is read:
//! a name that nobody thought of is fetched. What was left out is counted, and reports say so.

use crate::archive::ZipMember;

/// Suffixes that are left out, in lower case.
const LEFT_OUT: &[&str] = &[
    // Python: sources, stubs and bytecode. They may hold device code as a literal only, which is no form that is
    // read of them on this machine either.
    "py", "pyi", "pyc", "pyo", "pyx", "pxd", "pxi", "ipynb", "typed",
    // Sources and headers of other languages, compiled by whoever uses them.
    "h", "hh", "hpp", "hxx", "cuh", "inl", "ipp", "tcc", "c", "cc", "cpp", "cxx", "cu", "f", "f90",
    "go", "js", "ts", "proto", "cmake", "sh", "bat", "ps1",
    // Documents and data that are text by definition.
    "txt", "md", "rst", "csv", "html", "htm", "css", "map", "json", "jsonl", "yaml", "yml", "toml",
    "ini", "cfg", "xml", "svg", "tex", "bib", "po", "pot",
    // Pictures, fonts and sound.
    "png", "jpg", "jpeg", "gif", "ico", "bmp", "webp", "woff", "woff2", "ttf", "otf", "eot", "wav",
    "mp3", "mp4",
];

/// Files of a `.dist-info` directory without a suffix. Those that say what the wheel is are read by the reader of
/// wheels.
const DIST_INFO: &[&str] = &[
    "METADATA",
    "WHEEL",
    "RECORD",
    "INSTALLER",
    "REQUESTED",
    "LICENSE",
    "LICENCE",
    "NOTICE",
    "COPYING",
    "AUTHORS",
];

/// Fewer bytes hold no device code: the header of a fatbin and its first entry take 80, that of a cubin 52, and a
/// module of PTX needs `.version` and `.target`.
const TOO_SMALL: u64 = 24;
/// What stands around the name and the data of such a member at most: its local header (30), a time and an owner in the
/// extra field, and a descriptor (24). More could hide a library behind a size that is not true.
const AROUND: u64 = 30 + 40 + 24;

/// Whether a member of an archive that is fetched is left out.
pub(super) fn is_left_out(member: &ZipMember) -> bool {
    is_too_small(member) || is_text_by_name(member.name.as_bytes())
}

/// Whether a member is too small for device code: by what it claims, and by the room that it has in the archive.
fn is_too_small(member: &ZipMember) -> bool {
    let room = member.range().map_or(0, |range| range.end - range.start);
    let around = AROUND.saturating_add(member.name.as_bytes().len() as u64);
    member.size.max(member.packed) < TOO_SMALL && room < around.saturating_add(TOO_SMALL)
}

fn is_text_by_name(name: &[u8]) -> bool {
    let mut parts = name.rsplit(|byte| *byte == b'/');
    let file = parts.next().unwrap_or_default();
    let in_dist_info = parts.any(|part| part.ends_with(b".dist-info"));
    if in_dist_info && DIST_INFO.iter().any(|known| known.as_bytes() == file) {
        return true;
    }
    let Some(dot) = memchr::memrchr(b'.', file).filter(|dot| *dot > 0) else {
        return false;
    };
    let suffix = file.get(dot + 1..).unwrap_or_default();
    LEFT_OUT
        .iter()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_say_text_are_left_out() {
        for name in [
            "torch/__init__.py",
            "torch/include/ATen/ATen.h",
            "a/B.PY",
            "torch-2.9.1.dist-info/METADATA",
            "torch-2.9.1.dist-info/licenses/LICENSE",
            "a/logo.png",
        ] {
            assert!(is_text_by_name(name.as_bytes()), "{name}");
        }
        for name in [
            "torch/lib/libtorch_cuda.so",
            "torch/lib/libnvrtc.so.12",
            "torch/bin/ptxas",
            "a/kernels.cubin",
            "a/kernels.fatbin",
            "a/kernels.ptx",
            "a/kernels.bin",
            "a/nested.zip",
            "a/_core.pyd",
            "a/_core.cpython-312-x86_64-linux-gnu.so",
            "a/model.h.so",
            "a/METADATA",
            "a/LICENSE",
            "a/.py",
            "a/libdevice.10.bc",
            "a/x.a",
            "a/x.o",
            "",
        ] {
            assert!(!is_text_by_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_list_is_in_lower_case_and_names_nothing_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for suffix in LEFT_OUT {
            assert_eq!(*suffix, suffix.to_lowercase());
            assert!(seen.insert(suffix), "{suffix}");
        }
    }
}
