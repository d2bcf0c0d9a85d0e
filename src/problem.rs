//! What could not be read, and where: problems are collected, never fatal and never silent.
//!
//! A problem makes the verdict `incomplete` for what it covers. It is not a judgement (that is a
//! finding) and not a fatal error (that is [`crate::Error`]).

use serde::Serialize;

use crate::locator::Locator;

/// Why something could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The operating system refused to read it.
    Io,
    /// The server that has it could not be reached, or did not give it.
    Network,
    /// It ends before its own headers say so.
    Truncated,
    /// It is named like an archive and is none.
    NotAnArchive,
    /// The archive contradicts itself.
    MalformedArchive,
    /// Two readers would see different members: central directory and local header disagree.
    HeaderMismatch,
    /// Several members have one name, so what an installer writes depends on the installer.
    DuplicateMember,
    /// Members share bytes of the archive.
    OverlappingMembers,
    /// The member is encrypted.
    Encrypted,
    /// The compression method is not one that wheels use.
    UnsupportedCompression,
    /// The compressed data is damaged.
    CorruptData,
    /// The checksum of the unpacked bytes is not the one that the archive states.
    ChecksumMismatch,
    /// The number of unpacked bytes is not the one that the archive states.
    SizeMismatch,
    /// A limit of this run was reached; what lies beyond was not read.
    LimitExceeded,
    /// A fatbin or an entry of it contradicts itself.
    MalformedFatbin,
    /// A cubin contradicts itself.
    MalformedCubin,
    /// A device payload could not be unpacked far enough to read its target.
    UnreadablePayload,
    /// The host library's headers could not be read.
    MalformedLibrary,
    /// The package's metadata could not be read.
    MalformedMetadata,
    /// An entry of a lock file contradicts its format.
    MalformedLock,
    /// A link that leads out of the tree, or a file that is neither a regular file nor a directory.
    NotFollowed,
    /// A part of an image that its manifest names is not there.
    MissingBlob,
    /// A layer that is not distributed with the image, and so is not there.
    ForeignLayer,
    /// A package database could not be read: which package owns which file is not known, and nothing else.
    PackagesUnread,
}

impl ProblemKind {
    /// Every kind, for tables in tests and documents.
    pub const ALL: &[Self] = &[
        Self::Io,
        Self::Network,
        Self::Truncated,
        Self::NotAnArchive,
        Self::MalformedArchive,
        Self::HeaderMismatch,
        Self::DuplicateMember,
        Self::OverlappingMembers,
        Self::Encrypted,
        Self::UnsupportedCompression,
        Self::CorruptData,
        Self::ChecksumMismatch,
        Self::SizeMismatch,
        Self::LimitExceeded,
        Self::MalformedFatbin,
        Self::MalformedCubin,
        Self::UnreadablePayload,
        Self::MalformedLibrary,
        Self::MalformedMetadata,
        Self::MalformedLock,
        Self::NotFollowed,
        Self::MissingBlob,
        Self::ForeignLayer,
        Self::PackagesUnread,
    ];

    /// The stable name, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Network => "network",
            Self::Truncated => "truncated",
            Self::NotAnArchive => "not-an-archive",
            Self::MalformedArchive => "malformed-archive",
            Self::HeaderMismatch => "header-mismatch",
            Self::DuplicateMember => "duplicate-member",
            Self::OverlappingMembers => "overlapping-members",
            Self::Encrypted => "encrypted",
            Self::UnsupportedCompression => "unsupported-compression",
            Self::CorruptData => "corrupt-data",
            Self::ChecksumMismatch => "checksum-mismatch",
            Self::SizeMismatch => "size-mismatch",
            Self::LimitExceeded => "limit-exceeded",
            Self::MalformedFatbin => "malformed-fatbin",
            Self::MalformedCubin => "malformed-cubin",
            Self::UnreadablePayload => "unreadable-payload",
            Self::MalformedLibrary => "malformed-library",
            Self::MalformedMetadata => "malformed-metadata",
            Self::MalformedLock => "malformed-lock",
            Self::NotFollowed => "not-followed",
            Self::MissingBlob => "missing-blob",
            Self::ForeignLayer => "foreign-layer",
            Self::PackagesUnread => "packages-unread",
        }
    }

    /// One concrete next step for the user.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Io => "check that the file exists and may be read, then run again",
            Self::Network => "check the network, the proxy and the login, then run again",
            Self::Truncated => {
                "the download or the build was cut short: fetch or build the file again"
            }
            Self::NotAnArchive => "check what the file really is (`file NAME`) and fetch it again",
            Self::MalformedArchive => {
                "the file is damaged or made to mislead: do not install it, and fetch or build it again"
            }
            Self::CorruptData | Self::ChecksumMismatch | Self::SizeMismatch => {
                "the file is damaged: fetch or build it again and compare its SHA-256 with the index"
            }
            Self::HeaderMismatch | Self::DuplicateMember | Self::OverlappingMembers => {
                "do not install this archive: rebuild it with a current build tool, or ask its publisher"
            }
            Self::Encrypted => {
                "no installer opens an encrypted member: rebuild the archive without a password"
            }
            Self::UnsupportedCompression => {
                "repack the member with deflate or store, the methods that installers read"
            }
            Self::LimitExceeded => "raise the limit named above if you trust the file",
            Self::MalformedFatbin | Self::MalformedCubin | Self::UnreadablePayload => {
                "rebuild or fetch the library again; if `cuobjdump -all` reads it, please report this as a bug"
            }
            Self::MalformedLibrary => {
                "rebuild or fetch the library again; if `readelf -a` reads it, please report this as a bug"
            }
            Self::MalformedMetadata => "rebuild the package with a current build tool",
            Self::MalformedLock => {
                "correct what is named, in the lock file or in what is asked of it; a lock file is best written again with the tool that made it"
            }
            Self::NotFollowed => "name the file or directory itself as an input",
            Self::MissingBlob => "copy or save the whole image again, with all of its layers",
            Self::ForeignLayer => {
                "save the image from where it was pulled to, with its foreign layers, or check the base image by itself"
            }
            Self::PackagesUnread => {
                "check the packages by themselves, or a system whose database is in a form that is read"
            }
        }
    }
}

impl std::fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

/// How much was *not seen* because of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Part of one member or file.
    Part,
    /// The whole member or file.
    Member,
    /// The rest of the archive after that place.
    RestOfArchive,
    /// The whole artifact.
    Artifact,
}

impl Extent {
    /// Every extent.
    pub const ALL: &[Self] = &[
        Self::Part,
        Self::Member,
        Self::RestOfArchive,
        Self::Artifact,
    ];

    /// The stable name, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::Member => "member",
            Self::RestOfArchive => "rest-of-archive",
            Self::Artifact => "artifact",
        }
    }
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// Where it is.
    pub at: Locator,
    /// Why it could not be read.
    pub kind: ProblemKind,
    /// The particulars, in words.
    pub detail: String,
    /// What was not seen because of it.
    pub extent: Extent,
}

impl Problem {
    /// A problem of `kind` at `at`.
    pub fn new(kind: ProblemKind, at: Locator, extent: Extent, detail: impl Into<String>) -> Self {
        Self {
            at,
            kind,
            detail: detail.into(),
            extent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_equal_their_json_form() {
        let mut seen = std::collections::BTreeSet::new();
        for kind in ProblemKind::ALL {
            assert!(seen.insert(kind.id()), "{kind} twice");
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.id());
            assert!(!kind.hint().is_empty());
        }
    }
}
