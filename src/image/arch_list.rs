//! `TORCH_CUDA_ARCH_LIST`: what PyTorch and its extensions were asked to be built for.
//!
//! Read as `torch/utils/cpp_extension.py` (`_get_cuda_arch_flags`) does: blanks or semicolons between items, names
//! of generations for lists of capabilities (tables), `+PTX` for PTX beside the machine code. The variable is a
//! declaration, often left over from a base image or a build stage: what is there is in the libraries.

use std::collections::BTreeSet;

use crate::cuda::{ComputeCapability, SmTarget, Suffix};
use crate::tables::Tables;

const PTX: &str = "+PTX";

/// One item: machine code for a target, and PTX of it where asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArchRequest {
    /// The target of the machine code.
    pub target: SmTarget,
    /// Whether PTX is asked for too.
    pub ptx: bool,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchList {
    /// The items, in the order written; names are replaced by what they stand for.
    pub requests: Vec<ArchRequest>,
    /// Items that are neither a capability nor a known name, as written: `Common`, `All`, mistakes.
    pub unknown: Vec<String>,
}

impl ArchList {
    /// Reads the value of the variable.
    pub fn parse(text: &str, tables: &Tables) -> Self {
        let mut list = Self::default();
        for item in text.split([' ', ';']).filter(|item| !item.is_empty()) {
            if let Some(request) = request(item) {
                list.requests.push(request);
                continue;
            }
            // `Maxwell+Tegra` is a name, `Hopper+PTX` a name and what CMake builds take behind any
            let named = tables.arch_name(item).map(|row| (row, false));
            let plain = item.strip_suffix(PTX);
            let named = named.or_else(|| Some((tables.arch_name(plain?)?, true)));
            match named {
                Some((row, ptx)) => {
                    let stands_for = row.list.iter().filter_map(|item| request(item));
                    list.requests.extend(stands_for.map(|request| ArchRequest {
                        ptx: request.ptx || ptx,
                        ..request
                    }));
                }
                None => list.unknown.push(item.to_owned()),
            }
        }
        list
    }

    /// How what was asked for differs from what is there: targets of machine code and of PTX.
    ///
    /// Where items are unknown, nothing is called undeclared: they may stand for it.
    pub fn compare(&self, code: &BTreeSet<SmTarget>, ptx: &BTreeSet<SmTarget>) -> Difference {
        let asked: BTreeSet<SmTarget> = self.requests.iter().map(|item| item.target).collect();
        let with_ptx = self.requests.iter().filter(|item| item.ptx);
        let asked_ptx: BTreeSet<SmTarget> = with_ptx.map(|item| item.target).collect();
        let less = |all: &BTreeSet<SmTarget>, known: &BTreeSet<SmTarget>| {
            all.difference(known).copied().collect::<Vec<_>>()
        };
        let undeclared = |there, asked| {
            let silent = !self.unknown.is_empty();
            if silent {
                Vec::new()
            } else {
                less(there, asked)
            }
        };
        Difference {
            absent: less(&asked, code),
            absent_ptx: less(&asked_ptx, ptx),
            undeclared: undeclared(code, &asked),
            undeclared_ptx: undeclared(ptx, &asked_ptx),
        }
    }
}

/// `9.0`, `9.0a`, `10.0+PTX`.
fn request(item: &str) -> Option<ArchRequest> {
    let plain = item.strip_suffix(PTX);
    let name = plain.unwrap_or(item);
    let (number, suffix) = match name.as_bytes() {
        [.., b'a'] => (name.strip_suffix('a')?, Suffix::Arch),
        [.., b'f'] => (name.strip_suffix('f')?, Suffix::Family),
        _ => (name, Suffix::None),
    };
    let cc: ComputeCapability = number.parse().ok()?;
    Some(ArchRequest {
        target: SmTarget::new(cc, suffix),
        ptx: plain.is_some(),
    })
}

/// How a declaration differs from what is there; each list rises.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// Machine code that was asked for and is not there.
    pub absent: Vec<SmTarget>,
    /// PTX that was asked for and is not there.
    pub absent_ptx: Vec<SmTarget>,
    /// Machine code that is there and was not asked for.
    pub undeclared: Vec<SmTarget>,
    /// PTX that is there and was not asked for.
    pub undeclared_ptx: Vec<SmTarget>,
}

impl Difference {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Vec<String>) {
        let list = ArchList::parse(text, Tables::builtin());
        let items = list.requests.iter().map(|item| {
            let ptx = if item.ptx { "+PTX" } else { "" };
            format!("{}{ptx}", item.target)
        });
        (items.collect::<Vec<_>>().join(" "), list.unknown)
    }

    fn targets(text: &str) -> BTreeSet<SmTarget> {
        text.split_whitespace()
            .map(|item| item.parse().unwrap())
            .collect()
    }

    // values of NGC, pytorch/pytorch, vllm and DGX Spark images; expansions as in cpp_extension.py
    #[test]
    fn lists_are_read_as_the_extension_builder_reads_them() {
        for (text, items) in [
            (
                "5.2 6.0 6.1 7.0 7.2 7.5 8.0 8.6 8.7 9.0+PTX",
                "sm_52 sm_60 sm_61 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_90+PTX",
            ),
            (
                "7.0 7.5 8.0 8.9 9.0 9.0a",
                "sm_70 sm_75 sm_80 sm_89 sm_90 sm_90a",
            ),
            (
                "8.7;8.9;9.0;10.0+PTX;12.0",
                "sm_87 sm_89 sm_90 sm_100+PTX sm_120",
            ),
            ("12.1a", "sm_121a"),
            ("10.0f", "sm_100f"),
            ("8.0;;9.0 ", "sm_80 sm_90"),
            ("Ampere", "sm_80 sm_86+PTX"),
            ("Hopper;Ada", "sm_90+PTX sm_89+PTX"),
            ("Maxwell+Tegra", "sm_53"),
            ("Ampere+Tegra 9.0", "sm_87 sm_90"),
            ("Turing+PTX", "sm_75+PTX"),
            ("", ""),
        ] {
            assert_eq!(parsed(text), (items.to_owned(), Vec::new()), "{text}");
        }
    }

    #[test]
    fn what_is_no_capability_is_kept_as_written() {
        for text in ["Common", "ampere", "90", "9.0+ptx", "9.0x", "9", "+PTX"] {
            let (items, unknown) = parsed(&format!("8.0 {text}"));
            assert_eq!(items, "sm_80", "{text}");
            assert_eq!(unknown, [text]);
        }
    }

    #[test]
    fn a_declaration_is_compared_with_what_is_there() {
        let list = ArchList::parse("8.0 9.0+PTX 12.0", Tables::builtin());
        let difference = list.compare(&targets("sm_75 sm_80 sm_90"), &targets("sm_80"));
        let texts = |targets: &[SmTarget]| {
            let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
            names.join(" ")
        };
        assert_eq!(texts(&difference.absent), "sm_120");
        assert_eq!(texts(&difference.absent_ptx), "sm_90");
        assert_eq!(texts(&difference.undeclared), "sm_75");
        assert_eq!(texts(&difference.undeclared_ptx), "sm_80");
        let same = list.compare(&targets("sm_80 sm_90 sm_120"), &targets("sm_90"));
        assert!(same.is_empty());
    }

    #[test]
    fn an_architecture_specific_target_is_another_than_the_plain_one() {
        let list = ArchList::parse("9.0", Tables::builtin());
        let difference = list.compare(&targets("sm_90a"), &BTreeSet::new());
        assert_eq!(difference.absent, ["sm_90".parse().unwrap()]);
        assert_eq!(difference.undeclared, ["sm_90a".parse().unwrap()]);
    }

    #[test]
    fn unknown_items_may_stand_for_what_is_there() {
        let list = ArchList::parse("Common 9.0", Tables::builtin());
        let difference = list.compare(&targets("sm_80"), &BTreeSet::new());
        assert!(difference.undeclared.is_empty());
        assert_eq!(difference.absent, ["sm_90".parse().unwrap()]);
    }
}
