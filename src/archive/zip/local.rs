//! Local headers, each compared with its record of the central directory.
//!
//! Installers that stream an archive obey local headers and data descriptors, the others the
//! central directory: where they disagree, one file is scanned and another is installed.
//!
//! Format: APPNOTE 4.3.7 (local header), 4.3.9 (data descriptor).

use rawzip::{CompressionMethod, ZipLocalFileHeader};

use super::ZipMember;
use super::directory::{Listed, READING_FLAGS, report_other_name};
use super::end::{End, u32_at, u64_at};
use super::name::short;
use super::report::Report;
use super::window::Window;
use crate::archive::Fault;
use crate::{Extent, ProblemKind};

/// The flag of members behind whose data a descriptor stands.
pub(super) const HAS_DESCRIPTOR: u16 = 1 << 3;
/// The longest descriptor.
pub(super) const DESCRIPTOR: usize = 24;

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
    let disagreement = disagreement(
        &listed.member,
        listed.flags,
        listed.method,
        &Local::from(&header),
    );
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
    if let Some(detail) = disagreement {
        mismatch(detail, report);
    }
    if listed.flags & HAS_DESCRIPTOR != 0 {
        let bytes = window
            .up_to::<DESCRIPTOR>(data_end)
            .map_err(|error| Fault::of(&error))?;
        match descriptor_len(&listed.member, &bytes) {
            Some(len) => member_end += len,
            None => mismatch(NO_DESCRIPTOR.to_owned(), report),
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
        rawzip::ErrorKind::IO(error) if Fault::is_of_source(error) => Fault::of(error),
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

/// What is wrong where a descriptor should stand.
pub(super) const NO_DESCRIPTOR: &str =
    "the descriptor after its data does not repeat the central directory";

/// What a local header says.
pub(super) struct Local<'h> {
    pub(super) name: &'h [u8],
    pub(super) method: CompressionMethod,
    pub(super) flags: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
}

impl<'h> From<&ZipLocalFileHeader<'h>> for Local<'h> {
    fn from(header: &ZipLocalFileHeader<'h>) -> Self {
        Self {
            name: header.file_path().as_bytes(),
            method: header.compression_method(),
            flags: header.flags().bits(),
            crc: header.crc32(),
            packed: header.compressed_size_hint(),
            size: header.uncompressed_size_hint(),
        }
    }
}

/// What a local header says otherwise than the central directory, whose flags and method are given.
pub(super) fn disagreement(
    member: &ZipMember,
    central_flags: u16,
    central_method: CompressionMethod,
    local: &Local<'_>,
) -> Option<String> {
    let mut found = Vec::new();
    if local.name != member.name.as_bytes() {
        found.push(format!("the name (`{}`)", short(local.name)));
    }
    if local.method != central_method {
        found.push("the method".to_owned());
    }
    let flags = local.flags;
    if (flags ^ central_flags) & READING_FLAGS != 0 {
        found.push(format!("the flags ({flags:#06x}, {central_flags:#06x})"));
    }
    // With a descriptor after the data, a local header may leave these at zero.
    let deferred = flags & central_flags & HAS_DESCRIPTOR != 0;
    let central = member.crc;
    if local.crc != central && !(deferred && local.crc == 0) {
        found.push(format!("the CRC-32 ({:08x}, {central:08x})", local.crc));
    }
    let facts = [
        ("the packed size", local.packed, member.packed),
        ("the size", local.size, member.size),
    ];
    for (what, local, central) in facts {
        if local != central && !(deferred && local == 0) {
            found.push(format!("{what} ({local}, {central})"));
        }
    }
    (!found.is_empty()).then(|| {
        format!(
            "local header and central directory disagree on {}",
            found.join(", ")
        )
    })
}

/// The length of the descriptor that `bytes` begin with, if it repeats the central directory. Its signature is
/// optional, and its sizes have 4 or 8 bytes, which nothing says reliably.
pub(super) fn descriptor_len(member: &ZipMember, bytes: &[u8]) -> Option<u64> {
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
    signed.map(|len| len + 4).or_else(|| fits(bytes))
}
