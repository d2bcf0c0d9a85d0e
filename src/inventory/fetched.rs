//! What is fetched of an archive on a server: which members, which of them together, and what is said of it.

use std::ops::Range;
use std::sync::Arc;

use super::by_name::is_left_out;
use super::plan::{Job, Place, What};
use crate::archive::ZipMember;

/// A member that is larger than this, packed, is read as it arrives, and by itself.
const ALONE: u64 = 1 << 20;
/// Members that are fetched together have at most so many bytes, packed: each thread holds that much.
const TOGETHER: u64 = 4 << 20;
/// Bytes between two members that are fetched rather than asking twice: about what a request costs in time.
const GAP: u64 = 64 << 10;

/// The local header of a member that is left out is compared where more bytes than this are left out with it: a library
/// that an installer finds by another name there is rarely smaller.
const COMPARED: u64 = 64 << 10;
/// So many members that are left out are compared all, whatever their size.
const FEW: usize = 8;

/// What of an input was fetched from a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// Bytes of the file.
    pub size: u64,
    /// Bytes that were received and of use: the same in every run, however often a connection broke.
    pub received: u64,
    /// The hash that is stated for it, `sha256:…`.
    pub hash: Option<String>,
    /// Whether that is its hash.
    pub verified: HashCheck,
    /// Why all of it was fetched, where the server gives no ranges.
    pub whole: Option<String>,
}

/// Whether the hash of a file is the one that is stated for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HashCheck {
    /// None is stated.
    NotStated,
    /// Not all of the file was read.
    NotRead,
    /// It is of an algorithm that is not taken here.
    NotTaken,
    /// It is.
    Yes,
    /// It is not, and a problem of the whole input says so.
    No,
}

impl HashCheck {
    /// Every value.
    pub const ALL: &[Self] = &[
        Self::NotStated,
        Self::NotRead,
        Self::NotTaken,
        Self::Yes,
        Self::No,
    ];

    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::NotStated => "not-stated",
            Self::NotRead => "not-read",
            Self::NotTaken => "not-taken",
            Self::Yes => "yes",
            Self::No => "no",
        }
    }
}

/// Members that are fetched together.
struct Group {
    wanted: Vec<usize>,
    /// Between them, and left out by their names.
    left_out: Vec<usize>,
    range: Range<u64>,
}

/// Jobs for the members that are fetched, and how many are left out by their names.
pub(super) fn jobs(place: &Arc<Place>) -> (Vec<(u64, Job)>, u64) {
    let members = place.zip.members();
    let (left_out, mut wanted): (Vec<usize>, Vec<usize>) = place
        .readable()
        .partition(|index| members.get(*index).is_some_and(is_left_out));
    let range = |index: usize| members.get(index).and_then(ZipMember::range);
    wanted.sort_by_key(|index| range(*index).map(|range| range.start));
    let mut groups: Vec<Group> = Vec::new();
    for index in wanted {
        let Some(range) = range(index) else {
            continue;
        };
        let alone = range.end - range.start > ALONE;
        match groups.last_mut() {
            Some(group)
                if !alone
                    && range.start.saturating_sub(group.range.end) <= GAP
                    && range.end.saturating_sub(group.range.start) <= TOGETHER =>
            {
                group.wanted.push(index);
                group.range.end = range.end;
            }
            _ => groups.push(Group {
                wanted: vec![index],
                left_out: Vec::new(),
                range,
            }),
        }
    }
    // what lies in a piece that is fetched costs nothing
    let mut others = Vec::new();
    for index in &left_out {
        let Some(range) = range(*index) else {
            continue;
        };
        let after = groups.partition_point(|group| group.range.start <= range.start);
        let around = after.checked_sub(1).and_then(|at| groups.get_mut(at));
        match around.filter(|group| range.end <= group.range.end) {
            Some(group) => group.left_out.push(*index),
            None => others.push((*index, range.end - range.start)),
        }
    }
    let all = others.len() <= FEW;
    others.retain(|(_, len)| all || *len > COMPARED);
    let headers = others.into_iter().map(|(index, _)| {
        let job = Job {
            artifact: place.artifact,
            package: place.package.clone(),
            what: What::Header(Arc::clone(place), index),
        };
        (COMPARED, job)
    });
    let jobs = groups.into_iter().map(|group| {
        let sizes = group.wanted.iter().filter_map(|index| members.get(*index));
        let weight = sizes.fold(0_u64, |sum, member| sum.saturating_add(member.size));
        let job = Job {
            artifact: place.artifact,
            package: place.package.clone(),
            what: What::Members(Arc::clone(place), group.wanted, group.left_out),
        };
        (weight, job)
    });
    (jobs.chain(headers).collect(), left_out.len() as u64)
}

#[cfg(feature = "registry")]
mod remote {
    use super::{Fetched, HashCheck};
    use crate::source::remote::{RemoteFile, Verified};

    impl From<&RemoteFile> for Fetched {
        fn from(file: &RemoteFile) -> Self {
            Self {
                size: file.bytes.len(),
                received: file.received(),
                hash: file.hash().map(ToString::to_string),
                verified: match file.verified() {
                    Verified::NotStated => HashCheck::NotStated,
                    Verified::NotRead => HashCheck::NotRead,
                    Verified::NotTaken => HashCheck::NotTaken,
                    Verified::Yes => HashCheck::Yes,
                    Verified::Differs(_) => HashCheck::No,
                },
                whole: file.whole.clone(),
            }
        }
    }
}

#[cfg(test)]
#[cfg(feature = "registry")]
mod tests;
