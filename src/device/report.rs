//! What a scan gave: host facts, classes of fatbins, toolkits and problems.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::cuda::ToolkitVersion;
use crate::problem::ProblemKind;

use super::host::{HostFacts, HostFormat};
use super::image::{FatbinClass, Place};
use super::scan::Found;

/// Problems of one file that are listed one by one.
const PROBLEMS_MAX: usize = 100;
/// Bytes of a device-code section that may belong to no fatbin: gaps of up to 248 bytes were seen.
const GAP_MAX: u64 = 4096;
/// The sections in which fatbins lie back to back, by ELF name and by the name that PE cuts.
const FATBIN_SECTIONS: [&str; 4] = [".nv_fatbin", "__nv_relfatbin", ".nv_fatb", "__nv_rel"];

/// Something in a file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceProblem {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Why it could not be read.
    pub kind: ProblemKind,
    /// The particulars, in words.
    pub detail: String,
}

/// A bounded list of problems.
#[derive(Debug, Default)]
pub(super) struct Problems {
    listed: Vec<DeviceProblem>,
    more: u64,
}

impl Problems {
    pub(super) fn push(&mut self, offset: u64, kind: ProblemKind, detail: impl Into<String>) {
        if self.listed.len() < PROBLEMS_MAX {
            self.listed.push(DeviceProblem {
                offset,
                kind,
                detail: detail.into(),
            });
        } else {
            self.more += 1;
        }
    }

    /// The same for what would be said again and again.
    pub(super) fn push_once(&mut self, offset: u64, kind: ProblemKind, detail: &str) {
        if !self
            .listed
            .iter()
            .any(|problem| problem.kind == kind && problem.detail == detail)
        {
            self.push(offset, kind, detail);
        }
    }
}

/// Everything that one file says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceReport {
    /// The host file.
    pub host: HostFacts,
    /// What it holds, by first offset.
    pub classes: Vec<FatbinClass>,
    /// Toolkits that made its code, as far as they were cheap to see.
    pub toolkits: BTreeSet<ToolkitVersion>,
    /// Releases that a program or a library names where it is, or holds, a compiler or another tool of CUDA's.
    pub compilers: BTreeSet<ToolkitVersion>,
    /// Whether messages of NVRTC's are in it: beside a release, NVRTC is linked into it.
    pub nvrtc: bool,
    /// What could not be read, by offset.
    pub problems: Vec<DeviceProblem>,
    /// Bytes that the names of kernels take; more than the scanner was given where not all are held.
    pub kernel_name_bytes: u64,
}

impl DeviceReport {
    /// Whether there is any device code.
    pub fn has_device_code(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Drops the names of kernels.
    pub fn forget_kernels(&mut self) {
        for class in &mut self.classes {
            class.kernels = None;
        }
    }
}

/// A file that has passed the scanner whole.
#[derive(Debug)]
pub struct Scanned {
    found: Found,
    len: u64,
}

impl Scanned {
    pub(super) fn new(found: Found, len: u64) -> Self {
        Self { found, len }
    }

    /// Ranges of the file that its headers need and that were not kept. To have complete host facts, feed
    /// them to [`Scanned::fill`] and ask again, until there are none.
    pub fn missing(&self) -> Vec<Range<u64>> {
        let _facts = self.found.host.facts(self.has_device_code());
        self.found.host.missing()
    }

    /// Takes bytes of the file, in any order; only what is missing is kept.
    pub fn fill(&mut self, offset: u64, bytes: &[u8]) {
        self.found.host.fill(offset, bytes);
    }

    /// Bytes of the file that are held for its headers.
    pub fn held_bytes(&self) -> u64 {
        self.found.host.held_bytes()
    }

    /// Whether any device code was found.
    pub fn has_device_code(&self) -> bool {
        !self.found.tally.is_empty()
    }

    /// The report.
    pub fn report(self) -> DeviceReport {
        let Self { mut found, len } = self;
        let (host, error) = found.host.facts(!found.tally.is_empty());
        let incomplete = found
            .host
            .is_incomplete()
            .then_some("its headers name places that could not be read");
        if let Some(detail) = error.or(incomplete) {
            found
                .problems
                .push(0, ProblemKind::MalformedLibrary, detail);
        }
        check_sections(&mut found, &host, len);
        if found.named_ptx && found.tally.is_empty() {
            let detail =
                "the file is named as PTX, and no `.version` and `.target` were found in it";
            found
                .problems
                .push(0, ProblemKind::UnreadablePayload, detail);
        }
        let raw = matches!(host.format, HostFormat::Raw | HostFormat::Ar);
        let place = |offset| match host.section_at(offset) {
            Some(section) => Place::Section(section.name.clone()),
            None if raw => Place::File,
            None => Place::NoSection,
        };
        let linked: BTreeSet<u64> = found
            .links
            .iter()
            .filter_map(|address| host.offset_of(*address))
            .collect();
        let mut classes = found
            .tally
            .classes(&found.kernels, place, |offset| linked.contains(&offset));
        if !host.format.is_linked() {
            // text by itself, or input of a linker
            found.compilers.clear();
        }
        if host.format == HostFormat::Ar {
            // Whatever a static library holds is linked before it is loaded.
            for class in &mut classes {
                class.relocatable = true;
            }
        }
        let Problems { mut listed, more } = found.problems;
        listed.sort_by_key(|problem| problem.offset);
        if more > 0 {
            let detail = format!("{more} more problems in this file are not listed");
            listed.push(DeviceProblem {
                offset: len,
                kind: ProblemKind::LimitExceeded,
                detail,
            });
        }
        DeviceReport {
            host,
            classes,
            toolkits: found.toolkits,
            compilers: found.compilers,
            nvrtc: found.nvrtc,
            problems: listed,
            kernel_name_bytes: found.kernels.taken(),
        }
    }
}

/// Reports what lies in the sections of fatbins and is none.
fn check_sections(found: &mut Found, host: &HostFacts, len: u64) {
    let mut units: Vec<(u64, u64)> = found.tally.ranges().collect();
    units.sort_unstable();
    let mut checked = 0;
    // ascending; of those that overlap, which no linker makes, every byte is looked at once
    for section in &host.sections {
        let (start, end) = (section.range.start.max(checked), section.range.end.min(len));
        if !FATBIN_SECTIONS.contains(&section.name.as_str()) || start >= end {
            continue;
        }
        checked = end;
        // ascending too
        let first = found.suspects.partition_point(|at| *at < start);
        let suspects = found.suspects.get(first..).unwrap_or_default();
        for at in suspects.iter().take_while(|at| **at < end) {
            let detail = "the header of a fatbin is followed by none";
            found
                .problems
                .push(*at, ProblemKind::MalformedFatbin, detail);
        }
        let first = units.partition_point(|(unit, _)| *unit < start);
        let mut covered = start;
        let inside = units.get(first..).unwrap_or_default().iter().copied();
        for (unit, unit_end) in inside
            .take_while(|(unit, _)| *unit < end)
            .chain([(end, end)])
        {
            let gap = unit.saturating_sub(covered);
            if gap > GAP_MAX {
                let detail = format!(
                    "{gap} bytes of section `{}` hold no fatbin that can be read",
                    section.name
                );
                found
                    .problems
                    .push(covered, ProblemKind::MalformedFatbin, detail);
            }
            covered = covered.max(unit_end);
        }
    }
}
