//! A resumable decoder of one raw LZ4 block, which may stop early and never needs the whole block.
//!
//! Fatbin entries of CUDA 11.8 to 12.9 are one raw block without frame or size prefix. The crates for
//! LZ4 want a complete block and a buffer for all of its output; a gate needs the first few hundred
//! bytes of a payload of which it has seen the first few kilobytes. Format: the LZ4 block description
//! of the LZ4 project.

use std::ops::ControlFlow;

/// The block is not LZ4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Corrupt;

/// How far a match may reach back.
const WINDOW: usize = 64 << 10;

#[derive(Debug, Clone, Copy)]
enum Expect {
    Token,
    LiteralLength,
    Literals,
    OffsetLow,
    OffsetHigh,
    MatchLength,
    Match,
}

/// Decoder state between two pieces of input.
#[derive(Debug)]
pub(super) struct Lz4 {
    /// Output not yet forgotten: at least the window, handed out up to `delivered`.
    history: Vec<u8>,
    delivered: usize,
    expect: Expect,
    literals: usize,
    offset: usize,
    match_length: usize,
}

impl Lz4 {
    pub(super) fn new() -> Self {
        Self {
            history: Vec::new(),
            delivered: 0,
            expect: Expect::Token,
            literals: 0,
            offset: 0,
            match_length: 0,
        }
    }

    /// Decodes `input` and hands the output to `sink` until it breaks.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Corrupt> {
        let end = self.decode(input, sink);
        if end == Ok(ControlFlow::Break(())) {
            return end;
        }
        // What came before an error is delivered, however the input was cut.
        if self.deliver(sink).is_break() {
            Ok(ControlFlow::Break(()))
        } else {
            end
        }
    }

    fn decode(
        &mut self,
        mut input: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Corrupt> {
        loop {
            if let Expect::Literals = self.expect {
                let n = self.literals.min(input.len());
                let (now, rest) = input.split_at(n);
                self.history.extend_from_slice(now);
                self.literals -= n;
                input = rest;
                if self.literals == 0 {
                    self.expect = Expect::OffsetLow;
                }
            }
            if let Expect::Match = self.expect {
                self.copy_match();
            }
            if self.history.len() - self.delivered >= WINDOW && self.deliver(sink).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if let Expect::Match = self.expect {
                continue;
            }
            let Some((&byte, rest)) = input.split_first() else {
                break;
            };
            input = rest;
            self.step(byte)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn step(&mut self, byte: u8) -> Result<(), Corrupt> {
        let value = usize::from(byte);
        match self.expect {
            Expect::Token => {
                self.literals = value >> 4;
                self.match_length = (value & 15) + 4;
                self.expect = match self.literals {
                    15 => Expect::LiteralLength,
                    0 => Expect::OffsetLow,
                    _ => Expect::Literals,
                };
            }
            Expect::LiteralLength => {
                self.literals = self.literals.checked_add(value).ok_or(Corrupt)?;
                if byte != 255 {
                    self.expect = Expect::Literals;
                }
            }
            // Consumed by `decode` before any single byte is looked at.
            Expect::Literals | Expect::Match => return Err(Corrupt),
            Expect::OffsetLow => {
                self.offset = value;
                self.expect = Expect::OffsetHigh;
            }
            Expect::OffsetHigh => {
                self.offset |= value << 8;
                if self.offset == 0 || self.offset > self.history.len() {
                    return Err(Corrupt);
                }
                self.expect = if self.match_length == 19 {
                    Expect::MatchLength
                } else {
                    Expect::Match
                };
            }
            Expect::MatchLength => {
                self.match_length = self.match_length.checked_add(value).ok_or(Corrupt)?;
                if byte != 255 {
                    self.expect = Expect::Match;
                }
            }
        }
        Ok(())
    }

    /// Copies a window of the match at most: its length is a claim, and nobody may want it all.
    fn copy_match(&mut self) {
        let mut left = self.match_length.min(WINDOW);
        self.match_length -= left;
        while left > 0 {
            let start = self.history.len() - self.offset;
            let n = left.min(self.offset);
            self.history.extend_from_within(start..start + n);
            left -= n;
        }
        if self.match_length == 0 {
            self.expect = Expect::Token;
        }
    }

    fn deliver(&mut self, sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
        if let Some(fresh) = self
            .history
            .get(self.delivered..)
            .filter(|fresh| !fresh.is_empty())
        {
            sink(fresh)?;
        }
        if self.history.len() > 4 * WINDOW {
            self.history.drain(..self.history.len() - WINDOW);
        }
        self.delivered = self.history.len();
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<u8>, Corrupt> {
        let mut out = Vec::new();
        let mut lz4 = Lz4::new();
        for piece in pieces {
            let _ = lz4.push(piece, &mut |bytes| {
                out.extend_from_slice(bytes);
                ControlFlow::Continue(())
            })?;
        }
        Ok(out)
    }

    // Blocks by hand from the block description: token, literals, offset, extra length.
    #[test]
    fn decodes_literals_and_overlapping_matches() {
        // "ab", then a match of 4+3 at distance 2, then the final literals "!".
        let block = [0x23, b'a', b'b', 2, 0, 0x10, b'!'];
        assert_eq!(decode(&[&block]).unwrap(), b"ababababa!");
        let pieces: Vec<&[u8]> = block.chunks(1).collect();
        assert_eq!(decode(&pieces).unwrap(), b"ababababa!");
    }

    #[test]
    fn decodes_long_lengths() {
        let mut block = vec![0xf0, 255, 30];
        block.extend_from_slice(&[b'x'; 300]);
        assert_eq!(decode(&[&block]).unwrap(), [b'x'; 300]);
        // one literal, match length 15+4 +255+1 at distance 1
        let block = [0x1f, b'y', 1, 0, 255, 1];
        assert_eq!(decode(&[&block]).unwrap(), [b'y'; 1 + 19 + 256]);
    }

    #[test]
    fn refuses_a_match_before_the_beginning() {
        assert_eq!(decode(&[&[0x10, b'a', 2, 0]]), Err(Corrupt));
        assert_eq!(decode(&[&[0x10, b'a', 0, 0]]), Err(Corrupt));
    }

    #[test]
    fn stops_when_the_sink_has_enough() {
        let mut lz4 = Lz4::new();
        let flow = lz4.push(&[0x20, b'a', b'b'], &mut |_| ControlFlow::Break(()));
        assert_eq!(flow, Ok(ControlFlow::Break(())));
    }

    #[test]
    fn delivers_what_came_before_an_error() {
        let block = [0x23, b'a', b'b', 2, 0, 0x10, b'!', 0, 0];
        for step in 1..=block.len() {
            let (mut out, mut failed) = (Vec::new(), false);
            let mut lz4 = Lz4::new();
            for piece in block.chunks(step) {
                let flow = lz4.push(piece, &mut |bytes| {
                    out.extend_from_slice(bytes);
                    ControlFlow::Continue(())
                });
                failed |= flow.is_err();
            }
            assert!(failed);
            assert_eq!(out, b"ababababa!", "in pieces of {step}");
        }
    }

    #[test]
    fn forgets_all_but_the_window() {
        let mut lz4 = Lz4::new();
        let mut total = 0;
        let mut block = vec![0x1f, b'z', 1, 0];
        block.extend_from_slice(&[255; 8000]);
        block.push(0);
        for _ in 0..4 {
            let _ = lz4.push(&block, &mut |bytes| {
                total += bytes.len();
                ControlFlow::Continue(())
            });
        }
        assert_eq!(total, 4 * (1 + 19 + 8000 * 255));
        assert!(lz4.history.len() <= 4 * WINDOW);
    }
}
