//! Local headers, each compared with its record of the central directory.
//!
//! Installers that stream an archive obey local headers and data descriptors, the others the
//! central directory: where they disagree, one file is scanned and another is installed.
//!
//! Format: APPNOTE 4.3.7 (local header), 4.3.9 (data descriptor).

use std::io;

use rawzip::ZipLocalFileHeader;

use super::directory::{Listed, READING_FLAGS, report_other_name};
use super::end::{End, u32_at, u64_at};
use super::name::short;
use super::report::Report;
use super::window::Window;
use crate::archive::Fault;
use crate::{Extent, ProblemKind};

const HAS_DESCRIPTOR: u16 = 1 << 3;

/// Finds the data of every member and reports the headers that disagree.
pub(super) fn compare(
    end: &End<'_>,
    window: &Window<'_>,
    listed: &mut [Listed],
    report: &mut Report<'_>,
) {
    // Name and extra field, each with a 16-bit length.
    let mut buffer = vec![0; 2 * usize::from(u16::MAX)];
    let mut order: Vec<_> = listed.iter_mut().collect();
    order.sort_by_key(|listed| listed.local_offset);
    for listed in order {
        if let Err(fault) = compare_one(end, window, listed, &mut buffer, report) {
            let name = &listed.member.name;
            report.member(fault.kind, Extent::Member, name, fault.detail.as_str());
            listed.member.data = Err(Box::new(fault));
        }
    }
}

fn compare_one(
    end: &End<'_>,
    window: &Window<'_>,
    listed: &mut Listed,
    buffer: &mut [u8],
    report: &mut Report<'_>,
) -> Result<(), Fault> {
    let entry = end.archive.get_entry(listed.place).map_err(no_header)?;
    let header = entry.local_header(buffer).map_err(no_header)?;
    let differences = differences(listed, &header);
    let (start, data_end) = entry.compressed_data_range();
    let len = window.bytes().len();
    if data_end > len {
        let detail = format!("its data ends at {data_end}, beyond the archive's {len} bytes");
        return Err(Fault::new(ProblemKind::Truncated, detail));
    }
    let mut member_end = data_end;
    let name = &listed.member.name;
    report_other_name(header.extra_fields(), name, report);
    let mismatch = |detail: String, report: &mut Report<'_>| {
        report.member(ProblemKind::HeaderMismatch, Extent::Member, name, detail);
    };
    if !differences.is_empty() {
        let detail = format!(
            "local header and central directory disagree on {}",
            differences.join(", ")
        );
        mismatch(detail, report);
    }
    if listed.flags & HAS_DESCRIPTOR != 0 {
        match descriptor_len(listed, window, data_end).map_err(|error| Fault::of(&error))? {
            Some(len) => member_end += len,
            None => mismatch(
                "the descriptor after its data does not repeat the central directory".to_owned(),
                report,
            ),
        }
    }
    listed.end = Some(member_end);
    if let Ok(data) = &mut listed.member.data {
        *data = start..data_end;
    }
    Ok(())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that `map_err` wants"
)]
fn no_header(error: rawzip::Error) -> Fault {
    match error.kind() {
        rawzip::ErrorKind::IO(error) if error.raw_os_error().is_some() => Fault::of(error),
        rawzip::ErrorKind::IO(_) | rawzip::ErrorKind::Eof => Fault::new(
            ProblemKind::Truncated,
            "its local header lies beyond the end of the archive",
        ),
        _ => Fault::new(
            ProblemKind::MalformedArchive,
            "the central directory points at no local header",
        ),
    }
}

/// What a local header says otherwise than the central directory.
fn differences(listed: &Listed, header: &ZipLocalFileHeader<'_>) -> Vec<String> {
    let member = &listed.member;
    let local_name = header.file_path();
    let mut found = Vec::new();
    if local_name.as_bytes() != member.name.as_bytes() {
        found.push(format!("the name (`{}`)", short(local_name.as_bytes())));
    }
    if header.compression_method() != listed.method {
        found.push("the method".to_owned());
    }
    let flags = header.flags().bits();
    if (flags ^ listed.flags) & READING_FLAGS != 0 {
        found.push(format!("the flags ({flags:#06x}, {:#06x})", listed.flags));
    }
    // With a descriptor after the data, a local header may leave these at zero.
    let deferred = flags & listed.flags & HAS_DESCRIPTOR != 0;
    let (local, central) = (header.crc32(), member.crc);
    if local != central && !(deferred && local == 0) {
        found.push(format!("the CRC-32 ({local:08x}, {central:08x})"));
    }
    let facts = [
        (
            "the packed size",
            header.compressed_size_hint(),
            member.packed,
        ),
        ("the size", header.uncompressed_size_hint(), member.size),
    ];
    for (what, local, central) in facts {
        if local != central && !(deferred && local == 0) {
            found.push(format!("{what} ({local}, {central})"));
        }
    }
    found
}

/// The length of the descriptor at `at`, if it repeats the central directory. Its signature is
/// optional, and its sizes have 4 or 8 bytes, which nothing says reliably.
fn descriptor_len(listed: &Listed, window: &Window<'_>, at: u64) -> io::Result<Option<u64>> {
    let bytes = window.up_to::<24>(at)?;
    let member = &listed.member;
    let fits = |bytes: &[u8]| {
        if u32_at(bytes, 0) != Some(member.crc) {
            return None;
        }
        let short = [u32_at(bytes, 4), u32_at(bytes, 8)].map(|size| size.map(u64::from));
        let long = [u64_at(bytes, 4), u64_at(bytes, 12)];
        let stated = [Some(member.packed), Some(member.size)];
        [(short, 12), (long, 20)]
            .into_iter()
            .find_map(|(sizes, len)| (sizes == stated).then_some(len))
    };
    let signed = bytes.strip_prefix(b"PK\x07\x08").and_then(fits);
    Ok(signed.map(|len| len + 4).or_else(|| fits(&bytes)))
}
