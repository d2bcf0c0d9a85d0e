//! The central directory: one record a member.
//!
//! Format: APPNOTE 4.3.12; the Unicode path field 4.6.9.

use rawzip::extra_fields::{ExtraFieldId, ExtraFields};
use rawzip::{
    CompressionMethod, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipArchiveEntryWayfinder,
    ZipFileHeaderRecord,
};

use super::end::{End, u32_at};
use super::report::Report;
use super::{MemberKind, Method, ZipMember};
use crate::archive::Fault;
use crate::limits::{LimitHit, Limits};
use crate::{Extent, MemberName, ProblemKind};

/// A member with what only the comparison needs.
pub(super) struct Listed {
    pub(super) member: ZipMember,
    pub(super) place: ZipArchiveEntryWayfinder,
    pub(super) local_offset: u64,
    pub(super) flags: u16,
    pub(super) method: CompressionMethod,
    /// Where the member ends, descriptor included, once its local header was read.
    pub(super) end: Option<u64>,
}

/// What the central directory lists.
pub(super) struct Listing {
    pub(super) members: Vec<Listed>,
    /// Whether it was read to its end.
    pub(super) complete: bool,
}

/// Flags that say how a member is to be read: encryption, descriptor, patch, strong encryption,
/// UTF-8, masked headers. The others are notes of the compressor.
pub(super) const READING_FLAGS: u16 = 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 13;

/// Bytes of a record without its name.
const RECORD: u64 = 46;

/// Reads every record.
pub(super) fn read(end: &End<'_>, limits: &Limits, report: &mut Report<'_>) -> Listing {
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let mut records = end.archive.entries(&mut buffer);
    // As many as are stated and have room, so that a list of a million is made once.
    let room = end.directory.end.saturating_sub(end.directory.start) / RECORD;
    let most = end.archive.entries_hint().min(room).min(limits.members);
    let mut members = Vec::with_capacity(usize::try_from(most).unwrap_or(0));
    let mut complete = true;
    loop {
        match records.next_entry() {
            Ok(None) => break,
            Ok(Some(_)) if members.len() as u64 >= limits.members => {
                let fault = Fault::from(LimitHit::Members(limits.members));
                report.archive(fault.kind, Extent::RestOfArchive, fault.detail);
                complete = false;
                break;
            }
            Ok(Some(record)) => members.push(list(&record, report)),
            Err(error) => {
                let fault = match error.kind() {
                    rawzip::ErrorKind::IO(error) if Fault::is_of_source(error) => Fault::of(error),
                    _ => Fault::new(
                        ProblemKind::MalformedArchive,
                        format!(
                            "the central directory is damaged after {} members: {error}",
                            members.len()
                        ),
                    ),
                };
                report.archive(fault.kind, Extent::RestOfArchive, fault.detail);
                complete = false;
                break;
            }
        }
    }
    let stated = end.archive.entries_hint();
    if complete && stated != members.len() as u64 {
        let detail = format!(
            "the archive states {stated} members and lists {}",
            members.len()
        );
        report.archive(ProblemKind::MalformedArchive, Extent::Artifact, detail);
    }
    Listing { members, complete }
}

fn list(record: &ZipFileHeaderRecord<'_>, report: &mut Report<'_>) -> Listed {
    let path = record.file_path();
    let raw = path.as_bytes();
    let name = MemberName::from_bytes(raw);
    check_encoding(record, &name, report);
    let kind = kind(raw, record.external_attributes());
    let (method, fault) = method(record);
    if let Some(fault) = &fault {
        report.member(fault.kind, Extent::Member, &name, fault.detail.as_str());
    }
    let size = record.uncompressed_size_hint();
    if kind == MemberKind::Dir && size > 0 {
        let detail = format!("a directory by its name, and yet it holds {size} bytes");
        report.member(ProblemKind::MalformedArchive, Extent::Member, &name, detail);
    }
    Listed {
        member: ZipMember {
            name,
            size,
            packed: record.compressed_size_hint(),
            crc: record.crc32(),
            kind,
            shadowed: false,
            method,
            data: fault.map_or(Ok(0..0), |fault| Err(Box::new(fault))),
            unseen: None,
        },
        place: record.wayfinder(),
        local_offset: record.local_header_offset(),
        flags: record.flags().bits(),
        method: record.compression_method(),
        end: None,
    }
}

/// `zipfile` and pip know directories by the slash alone.
fn kind(name: &[u8], external_attributes: u32) -> MemberKind {
    const FILE_TYPE: u32 = 0o170_000;
    const SYMLINK: u32 = 0o120_000;
    if name.ends_with(b"/") {
        MemberKind::Dir
    } else if (external_attributes >> 16) & FILE_TYPE == SYMLINK {
        MemberKind::Symlink
    } else {
        MemberKind::File
    }
}

fn method(record: &ZipFileHeaderRecord<'_>) -> (Method, Option<Fault>) {
    let flags = record.flags();
    if flags.is_encrypted() || flags.has_strong_encryption() || flags.is_masked() {
        let fault = Fault::new(ProblemKind::Encrypted, "the member is encrypted");
        return (Method::Stored, Some(fault));
    }
    match record.compression_method() {
        CompressionMethod::STORE => (Method::Stored, None),
        // Some tools leave out the one byte that nothing deflates to.
        CompressionMethod::DEFLATE if record.compressed_size_hint() == 0 => (Method::Stored, None),
        CompressionMethod::DEFLATE => (Method::Deflated, None),
        other => {
            let detail = format!("packed with method {other}");
            let fault = Fault::new(ProblemKind::UnsupportedCompression, detail);
            (Method::Stored, Some(fault))
        }
    }
}

/// Names that programs decode differently.
fn check_encoding(record: &ZipFileHeaderRecord<'_>, name: &MemberName, report: &mut Report<'_>) {
    let raw = name.as_bytes();
    if record.flags().is_utf8() && std::str::from_utf8(raw).is_err() {
        let detail = "the name is said to be UTF-8 and is not";
        report.member(ProblemKind::MalformedArchive, Extent::Part, name, detail);
    }
    report_other_name(record.extra_fields(), name, report);
}

/// Reports a Unicode path field that gives the member another name.
pub(super) fn report_other_name(
    fields: ExtraFields<'_>,
    name: &MemberName,
    report: &mut Report<'_>,
) {
    for detail in other_names(fields, name) {
        report.member(ProblemKind::HeaderMismatch, Extent::Member, name, detail);
    }
}

/// What Unicode path fields call the member that has another name.
pub(super) fn other_names(
    fields: ExtraFields<'_>,
    name: &MemberName,
) -> impl Iterator<Item = String> {
    let raw = name.as_bytes();
    fields.filter_map(move |(id, field)| {
        // Version, CRC-32 of the name that it replaces, and the name in UTF-8.
        let other = field
            .get(5..)
            .filter(|_| id == ExtraFieldId::INFO_ZIP_UNICODE_PATH)?;
        let differs = u32_at(field, 1) == Some(crc32fast::hash(raw)) && other != raw;
        differs.then(|| {
            format!(
                "some programs name it `{}`, by its Unicode path field",
                super::name::short(other)
            )
        })
    })
}
