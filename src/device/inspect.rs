//! From a payload to an image: what is looked at, and what it says against its header.
//!
//! Decompression is bounded: the head of a PTX text, the ELF header of a cubin, the whole of a cubin
//! only where it is small or where its suffix can be seen nowhere else.

use std::collections::BTreeSet;

use crate::cuda::{SmTarget, Suffix, ToolkitVersion};
use crate::problem::ProblemKind;

use super::cubin::{
    Cubin, CubinHead, FIRST_ARCH_SPECIFIC, HEAD_LEN, NOTE_NAME, compat_is_arch_specific,
    tool_at_beginning,
};
use super::fatbin::Entry;
use super::image::{HeaderClaim, ImageKey, ImageKind};
use super::kernels::{NAMED_MAX, NamedImage, table_of_large};
use super::owner::{Owner, Recogniser};
use super::payload::{Coding, Peek, Piece};
use super::ptx;

/// A cubin up to this size is looked at whole: code without kernels is never larger (a few KiB seen).
const SMALL_CUBIN: u64 = 16 << 10;
/// Up to this size a cubin is unpacked whole to find its suffix or the first toolkit of a library.
const WHOLE_CUBIN_MAX: u64 = 8 << 20;
/// What is unpacked at most of a concatenated entry, or for the names of kernels.
const UNPACKED_MAX: u64 = 1 << 30;
/// Beginning of a cubin in a zstd frame that is kept (the note was seen up to 3.2 MB into a cubin).
const FRAME_HEAD: u64 = 4 << 20;
/// What is unpacked at most of a zstd frame outside fatbins, to reach the section table at its end.
pub(super) const FRAME_MAX: u64 = 256 << 20;
const UNSEEN_SUFFIX: &str =
    "whether the cubin is architecture-specific lies beyond what is looked at of it";

/// One image, resolved.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) key: ImageKey,
    /// Bytes as stored.
    pub(super) bytes: u64,
}

/// What was seen beside the image itself.
#[derive(Debug, Default)]
pub(super) struct Notes<'r> {
    pub(super) toolkits: BTreeSet<ToolkitVersion>,
    pub(super) problems: Vec<(ProblemKind, String)>,
    /// Whose the kernels are.
    pub(super) owner: Owner,
    /// The names of the kernels, where they are asked for.
    pub(super) kernels: Option<Vec<String>>,
    recogniser: Recogniser<'r>,
}

impl<'r> Notes<'r> {
    pub(super) fn new(recogniser: Recogniser<'r>) -> Self {
        Self {
            recogniser,
            ..Self::default()
        }
    }

    /// Takes note of the names of kernels too.
    pub(super) fn naming_kernels(mut self, asked: bool) -> Self {
        self.kernels = asked.then(Vec::new);
        self
    }

    /// Takes note of the kernels of an image, where they are asked for.
    pub(super) fn name_kernels(&mut self, image: &NamedImage<'_>) {
        let Some(names) = &mut self.kernels else {
            return;
        };
        match image.kernels() {
            Ok(kernels) => names.extend(kernels),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Takes note of the functions of a cubin, where they can be seen.
    fn see_functions(&mut self, functions: Option<&[&[u8]]>) {
        let owner = match functions {
            // one of somebody else's is enough, whatever follows
            Some(functions) => functions
                .iter()
                .map(|name| self.recogniser.owner(name))
                .try_fold(Owner::Unseen, |all, one| match all.and(one) {
                    Owner::Other => None,
                    owner => Some(owner),
                })
                .unwrap_or(Owner::Other),
            None => Owner::Other,
        };
        self.owner = self.owner.and(owner);
    }
}

/// The inspection of one entry while its payload passes.
#[derive(Debug)]
pub(super) struct Inspection {
    entry: Entry,
    peek: Peek,
    /// Of each image of which something is collected, how many bytes say what it is. What is collected beyond
    /// that is there for the names of its kernels only, so that asking for them changes no verdict.
    heads: Vec<usize>,
    /// Stored bytes before the padding, which is not part of a compressed payload.
    left: u64,
}

impl Inspection {
    /// Decides what of the payload of `entry` to look at; `toolkit_known` saves unpacking a cubin for it.
    /// At most `limit` bytes of a compressed payload are unpacked. `names` asks for those of kernels.
    pub(super) fn new(entry: Entry, toolkit_known: bool, names: bool, limit: u64) -> Self {
        // All parts of a concatenated entry are held at once, and share what one entry may take.
        let mut left = WHOLE_CUBIN_MAX;
        let mut left_named = if names { NAMED_MAX } else { 0 };
        let mut toolkit_known = toolkit_known;
        let mut pieces = Vec::new();
        let mut heads = Vec::new();
        let single = entry.parts.is_empty().then_some((0, &entry));
        for (offset, image) in entry
            .parts
            .iter()
            .map(|(offset, part)| (*offset, part))
            .chain(single)
        {
            let Some((head, len)) = head_len(image, toolkit_known, left) else {
                continue;
            };
            toolkit_known |= image.kind == ImageKind::Cubin && len == image.unpacked_len;
            left -= len.min(left);
            let named = image.unpacked_len.min(left_named);
            left_named -= named;
            let named = usize::try_from(named).unwrap_or_default();
            pieces.push(Piece::new(offset, head.max(named)));
            heads.push(head);
        }
        let most = if entry.parts.is_empty() && !names {
            WHOLE_CUBIN_MAX
        } else {
            UNPACKED_MAX
        };
        let limit = if entry.coding == Coding::None {
            u64::MAX
        } else {
            limit.min(most)
        };
        let large = entry.parts.is_empty() && entry.unpacked_len > NAMED_MAX;
        let mut peek = Peek::new(entry.coding, pieces, limit);
        if names && large && entry.kind == ImageKind::Cubin {
            peek = peek.followed_by(table_of_large);
        }
        Self {
            peek,
            heads,
            left: entry.stored_len,
            entry,
        }
    }

    /// Bytes that were unpacked so far.
    pub(super) fn unpacked(&self) -> u64 {
        if self.entry.coding == Coding::None {
            0
        } else {
            self.peek.unpacked()
        }
    }

    pub(super) fn push(&mut self, stored: &[u8]) {
        if self.peek.is_hungry() {
            let take = usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .min(stored.len());
            self.peek.push(stored.get(..take).unwrap_or_default());
            self.left -= take as u64;
        }
    }

    /// The images of the entry. `truncated` says that the payload did not pass whole.
    pub(super) fn finish(self, truncated: bool, notes: &mut Notes<'_>) -> Vec<Resolved> {
        let Self {
            entry, peek, heads, ..
        } = self;
        let (pieces, error) = peek.finish();
        if let Some(error) = error {
            notes
                .problems
                .push((ProblemKind::UnreadablePayload, error.detail().to_owned()));
        }
        // behind those of the images
        let table = pieces.get(heads.len()).cloned();
        let mut pieces = pieces.into_iter().zip(heads);
        let readable = error.is_none() && !truncated;
        let mut resolve_next = |image: &Entry, bytes: u64| {
            let next = if wants_payload(image.kind) {
                pieces.next()
            } else {
                None
            };
            let (payload, head) = next.unwrap_or_default();
            let key = resolve(
                image,
                payload.get(..head).unwrap_or(&payload),
                readable,
                notes,
            );
            // what is not of its kind is said already
            if readable && key.is_code() && notes.kernels.is_some() && notes.problems.is_empty() {
                notes.name_kernels(&NamedImage {
                    kind: key.kind,
                    beginning: &payload,
                    table: table.as_deref(),
                    len: image.unpacked_len,
                });
            }
            Resolved { key, bytes }
        };
        if entry.parts.is_empty() {
            return vec![resolve_next(&entry, entry.stored_len)];
        }
        let unpacked: u64 = entry.parts.iter().map(|(_, part)| part.unpacked_len).sum();
        entry
            .parts
            .iter()
            .map(|(_, part)| {
                resolve_next(part, share(entry.stored_len, part.unpacked_len, unpacked))
            })
            .collect()
    }
}

/// The part of `stored` bytes that `part` of `whole` unpacked bytes stands for.
fn share(stored: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(stored) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

const fn wants_payload(kind: ImageKind) -> bool {
    matches!(
        kind,
        ImageKind::Cubin | ImageKind::Ptx | ImageKind::RelocatablePtx
    )
}

/// How many bytes of an image say what it is, as a length in memory too; of a cubin whole, `most` at most.
fn head_len(entry: &Entry, toolkit_known: bool, most: u64) -> Option<(usize, u64)> {
    let len = entry.unpacked_len;
    let want = match entry.kind {
        ImageKind::Ptx | ImageKind::RelocatablePtx => ptx::HEAD_MAX as u64,
        ImageKind::Cubin if len <= SMALL_CUBIN => len,
        ImageKind::Cubin if needs_whole(entry, toolkit_known) && len <= most => len,
        ImageKind::Cubin => HEAD_LEN as u64,
        _ => return None,
    };
    let want = want.min(len);
    Some((usize::try_from(want).ok()?, want))
}

/// Whether only the cubin's sections can tell what is wanted of it.
fn needs_whole(entry: &Entry, toolkit_known: bool) -> bool {
    let abi_8 = entry.version.1 >= 8;
    let hidden_suffix = entry.compat.is_none()
        && entry.claimed_target.is_some_and(|target| {
            target.suffix == Suffix::None && target.cc.number() >= FIRST_ARCH_SPECIFIC
        });
    abi_8 && (hidden_suffix || !toolkit_known)
}

fn resolve(entry: &Entry, payload: &[u8], readable: bool, notes: &mut Notes<'_>) -> ImageKey {
    let mut key = ImageKey {
        kind: entry.kind,
        target: entry.claimed_target,
        isa: entry.claimed_isa(),
        coding: entry.coding,
        header: None,
        relocatable: entry.kind == ImageKind::RelocatablePtx,
        empty: false,
    };
    match entry.kind {
        ImageKind::Ptx | ImageKind::RelocatablePtx => {
            resolve_ptx(&mut key, entry, payload, readable, notes);
        }
        ImageKind::Cubin => resolve_cubin(&mut key, entry, payload, readable, notes),
        _ => {}
    }
    key
}

fn resolve_ptx(
    key: &mut ImageKey,
    entry: &Entry,
    payload: &[u8],
    readable: bool,
    notes: &mut Notes<'_>,
) {
    let text_end = memchr::memchr(0, payload);
    let text = text_end
        .and_then(|end| payload.get(..end))
        .unwrap_or(payload);
    let Ok(head) = ptx::parse_head(text) else {
        if readable {
            let detail = "no `.version` and `.target` at the beginning of a PTX entry";
            notes
                .problems
                .push((ProblemKind::UnreadablePayload, detail.to_owned()));
        }
        return;
    };
    let claim = HeaderClaim {
        target: entry.claimed_target,
        isa: entry.claimed_isa(),
    };
    if claim.target != Some(head.target) || claim.isa != Some(head.isa) {
        key.header = Some(claim);
    }
    key.target = Some(head.target);
    key.isa = Some(head.isa);
    key.empty = text_end.is_some() && ptx::has_no_kernel(text);
}

fn resolve_cubin(
    key: &mut ImageKey,
    entry: &Entry,
    payload: &[u8],
    readable: bool,
    notes: &mut Notes<'_>,
) {
    let Some(head) = CubinHead::parse(payload) else {
        if readable {
            let detail = "a cubin entry does not begin with the ELF header of a cubin";
            notes
                .problems
                .push((ProblemKind::UnreadablePayload, detail.to_owned()));
        }
        return;
    };
    key.relocatable = head.relocatable;
    notes.toolkits.extend(head.toolkit);
    let whole = Cubin::whole(payload);
    notes
        .toolkits
        .extend(whole.and_then(|cubin| cubin.toolkit()));
    let functions = whole.and_then(|cubin| cubin.functions());
    notes.see_functions(functions.as_deref());
    key.empty = !head.relocatable && functions.is_some_and(|functions| functions.is_empty());
    let Some(target) = head.target else { return };
    let specific = entry.compat.as_deref().and_then(compat_is_arch_specific);
    let specific = specific.or_else(|| whole.and_then(|cubin| cubin.is_arch_specific()));
    key.target = Some(with_suffix(target, specific, entry.claimed_target));
    if key.target != entry.claimed_target {
        key.header = Some(HeaderClaim {
            target: entry.claimed_target,
            isa: None,
        });
    }
}

/// The target of a cubin: `a` from the cubin where it can be seen, else from the entry header, which is
/// also the only place that has `f`.
fn with_suffix(cubin: SmTarget, specific: Option<bool>, claimed: Option<SmTarget>) -> SmTarget {
    let claimed_suffix = claimed.map_or(Suffix::None, |claimed| claimed.suffix);
    let suffix = match (cubin.suffix, specific) {
        (Suffix::Arch, _) | (_, Some(true)) => Suffix::Arch,
        (_, Some(false)) if claimed_suffix == Suffix::Arch => Suffix::None,
        _ => claimed_suffix,
    };
    SmTarget::new(cubin.cc, suffix)
}

/// A cubin outside any fatbin, of which the beginning and perhaps the section table are known.
pub(super) fn resolve_bare_cubin(
    bytes: &[u8],
    table: Option<&[u8]>,
    notes: &mut Notes<'_>,
) -> Option<ImageKey> {
    let head = CubinHead::parse(bytes)?;
    notes.toolkits.extend(head.toolkit);
    let cubin = Cubin::whole(bytes).or_else(|| Cubin::split(bytes, table?));
    notes
        .toolkits
        .extend(cubin.and_then(|cubin| cubin.toolkit()));
    let specific = cubin.and_then(|cubin| cubin.is_arch_specific());
    if specific.is_none() && table.is_some() && head.hides_suffix() && notes.problems.is_empty() {
        notes
            .problems
            .push((ProblemKind::UnreadablePayload, UNSEEN_SUFFIX.to_owned()));
    }
    let functions = cubin.and_then(|cubin| cubin.functions());
    notes.see_functions(functions.as_deref());
    Some(ImageKey {
        kind: ImageKind::Cubin,
        target: head
            .target
            .map(|target| with_suffix(target, specific, None)),
        isa: None,
        coding: Coding::None,
        header: None,
        relocatable: head.relocatable,
        empty: !head.relocatable && functions.is_some_and(|functions| functions.is_empty()),
    })
}

/// What is wanted of a cubin in a zstd frame that unpacks to `len` bytes: all of a small one; where the
/// header does not tell enough, its beginning as far as the note of the tool that made it, or where there is
/// none, its section table too.
pub(super) fn frame_pieces(head: &CubinHead, len: u64, toolkit_known: bool) -> Vec<Piece> {
    let want = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
    if len <= SMALL_CUBIN {
        return vec![Piece::new(0, want(len))];
    }
    let enough = !head.hides_suffix() && (toolkit_known || head.toolkit.is_some());
    match head.section_table().filter(|_| !enough) {
        Some((table, table_len)) => vec![
            Piece::new(0, want(len.min(FRAME_HEAD))).until(NOTE_NAME),
            Piece::new(table, want(table_len.min(FRAME_HEAD))),
        ],
        None => vec![Piece::new(0, HEAD_LEN)],
    }
}

/// A cubin in a zstd frame, of which [`frame_pieces`] are known.
pub(super) fn resolve_framed_cubin(pieces: &[Vec<u8>], notes: &mut Notes<'_>) -> Option<ImageKey> {
    let bytes = pieces.first()?;
    // The note repeats the target that the assembler was called for.
    let Some((toolkit, Some(target))) = tool_at_beginning(bytes) else {
        return resolve_bare_cubin(bytes, pieces.get(1).map(Vec::as_slice), notes);
    };
    let mut key = resolve_bare_cubin(bytes, None, notes)?;
    notes.toolkits.insert(toolkit);
    let specific = Some(target.suffix == Suffix::Arch);
    key.target = key.target.map(|cubin| with_suffix(cubin, specific, None));
    Some(key)
}
