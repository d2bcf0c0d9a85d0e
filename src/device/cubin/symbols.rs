//! The symbol table of a cubin: which kernels it holds.
//!
//! A kernel is a function that is defined here and marked as an entry point (FORMAT.md §7.4). Sections alone do
//! not tell: functions that kernels call have a `.text.` section of their own too.

use super::{Cubin, Section, c_str, u16_at, u32_at};

const SHT_SYMTAB: u32 = 2;
const STT_FUNC: u8 = 2;
/// The mark of an entry point in `st_other`.
const STO_CUDA_ENTRY: u8 = 0x10;

/// Why the kernels of a cubin cannot be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::device) struct NoNames(pub(in crate::device) &'static str);

impl<'a> Cubin<'a> {
    /// The names of its kernels, in the order of its symbol table.
    pub(in crate::device) fn kernels(&self) -> Result<Vec<&'a [u8]>, NoNames> {
        let sections: Vec<Section> = self.sections().collect();
        let Some(table) = sections.iter().find(|section| section.kind == SHT_SYMTAB) else {
            return match self.functions() {
                Some(functions) if functions.is_empty() => Ok(Vec::new()),
                _ => Err(NoNames(
                    "the cubin has no symbol table, so its kernels have no names",
                )),
            };
        };
        let strings = usize::try_from(table.link)
            .ok()
            .and_then(|index| sections.get(index));
        let names = strings.and_then(|strings| self.content(*strings));
        let (Some(symbols), Some(names)) = (self.content(*table), names) else {
            return Err(NoNames(
                "the symbol table of the cubin lies where nothing is",
            ));
        };
        let wide = self.head.wide;
        let mut kernels = Vec::new();
        // A toolkit writes every name once. Symbols that share bytes, millions of one long name, end here.
        let mut left = names.len();
        for symbol in symbols.chunks_exact(if wide { 24 } else { 16 }) {
            let (info, other, section) = if wide { (4, 5, 6) } else { (12, 13, 14) };
            let byte = |at| symbol.get(at).copied().unwrap_or_default();
            let is_kernel = byte(info) & 0xf == STT_FUNC && byte(other) & STO_CUDA_ENTRY != 0;
            if !is_kernel || u16_at(symbol, section).is_none_or(|section| section == 0) {
                continue;
            }
            let name = u32_at(symbol, 0)
                .and_then(|at| usize::try_from(at).ok())
                .and_then(|at| names.get(at..))
                .map(|rest| rest.get(..left).unwrap_or(rest))
                .filter(|rest| rest.contains(&0))
                .and_then(|rest| c_str(rest, 0))
                .filter(|name| !name.is_empty());
            let Some(name) = name else {
                return Err(NoNames(
                    "kernels in the symbol table of the cubin have no names, or names that do not end or overlap",
                ));
            };
            left -= name.len() + 1;
            kernels.push(name);
        }
        Ok(kernels)
    }
}
