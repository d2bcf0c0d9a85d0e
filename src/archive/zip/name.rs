//! Names of members: which are unsafe, and which name the same file.

use std::borrow::Cow;

use super::report::Report;
use super::{MemberKind, ZipMember};
use crate::{Extent, MemberName, ProblemKind};

/// Reports unsafe names and duplicates, and marks the members that a later one replaces.
pub(super) fn check(members: &mut [ZipMember], report: &mut Report<'_>) {
    for member in &*members {
        if let Some(what) = unsafe_part(member.name.as_bytes()) {
            let detail = format!("the name {what}");
            report.member(
                ProblemKind::MalformedArchive,
                Extent::Part,
                &member.name,
                detail,
            );
        }
    }
    for shadowed in report_duplicates(members, report) {
        if let Some(member) = members.get_mut(shadowed) {
            member.shadowed = true;
        }
    }
}

/// The members that a later one of the same name replaces.
fn report_duplicates(members: &[ZipMember], report: &mut Report<'_>) -> Vec<usize> {
    // A directory listed twice is the same directory.
    let files = members
        .iter()
        .enumerate()
        .filter(|(_, member)| member.kind != MemberKind::Dir);
    let mut keys: Vec<_> = files
        .map(|(index, member)| (installed_key(member.name.as_bytes()), index))
        .collect();
    keys.sort_unstable();
    let mut shadowed = Vec::new();
    for group in keys.chunk_by(|one, other| one.0 == other.0) {
        let Some(((_, last), earlier)) = group.split_last() else {
            continue;
        };
        let Some(member) = members.get(*last).filter(|_| !earlier.is_empty()) else {
            continue;
        };
        let detail = format!("{} members have this name", group.len());
        report.member(
            ProblemKind::DuplicateMember,
            Extent::Member,
            &member.name,
            detail,
        );
        shadowed.extend(earlier.iter().map(|(_, index)| *index));
    }
    shadowed
}

/// What `zipfile` and the file system make of a name: it ends at a NUL, and `.` and empty
/// components are nothing.
fn installed_key(name: &[u8]) -> Cow<'_, [u8]> {
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let nothing = |part: &&[u8]| part.is_empty() || *part == b".";
    if !name.split(|byte| *byte == b'/').any(|part| nothing(&part)) {
        return Cow::Borrowed(name);
    }
    let parts: Vec<_> = name
        .split(|byte| *byte == b'/')
        .filter(|part| !nothing(part))
        .collect();
    Cow::Owned(parts.join(&b'/'))
}

/// What is unsafe about a name, as the end of a sentence.
fn unsafe_part(name: &[u8]) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty");
    }
    if name.contains(&0) {
        return Some("contains a NUL, at which some programs cut it");
    }
    if name.iter().any(u8::is_ascii_control) {
        return Some("contains control characters");
    }
    if name.contains(&b'\\') {
        return Some("contains a backslash, which Windows takes for a slash");
    }
    if name.starts_with(b"/") || has_drive(name) {
        return Some("is an absolute path");
    }
    if name.split(|byte| *byte == b'/').any(|part| part == b"..") {
        return Some(
            "has a part `..`, with which it could be written outside the directory that it is unpacked to",
        );
    }
    None
}

/// Whether a name begins with a Windows drive.
fn has_drive(name: &[u8]) -> bool {
    matches!(name, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// A name as shown in the particulars of a problem, where it could be 64 KiB long.
pub(super) fn short(name: &[u8]) -> String {
    const SHOWN: usize = 200;
    let shown = MemberName::from_bytes(name.get(..SHOWN).unwrap_or(name));
    let dots = if name.len() > SHOWN { "…" } else { "" };
    format!("{shown}{dots}")
}
