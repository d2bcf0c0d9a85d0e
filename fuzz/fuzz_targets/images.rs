//! Payloads inside a sound fatbin: PTX and cubins, plain and compressed, reach their parsers.
#![no_main]

use libfuzzer_sys::fuzz_target;

const FATBIN_MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
const FATBIN_HEADER: usize = 16;
const ENTRY_HEADER: usize = 64;
const KINDS: [u16; 6] = [0x01, 0x02, 0x08, 0x40, 0x80, 0x100];
const FLAGS: [u64; 5] = [0x11, 0x2011, 0x8011, 0x10_0011, 0x100_8011];

fuzz_target!(|input: &[u8]| {
    let [kind, flags, chunk, payload @ ..] = input else {
        return;
    };
    let kind = KINDS[usize::from(*kind) % KINDS.len()];
    let flags = FLAGS[usize::from(*flags) % FLAGS.len()];
    let packed = flags & 0xa000 != 0;
    let padded = payload.len().next_multiple_of(8);
    let mut file = Vec::with_capacity(FATBIN_HEADER + ENTRY_HEADER + padded);
    file.extend(FATBIN_MAGIC);
    file.extend(1_u16.to_le_bytes());
    file.extend((FATBIN_HEADER as u16).to_le_bytes());
    file.extend(((ENTRY_HEADER + padded) as u64).to_le_bytes());
    file.extend(kind.to_le_bytes());
    file.extend(0x101_u16.to_le_bytes());
    file.extend((ENTRY_HEADER as u32).to_le_bytes());
    file.extend((padded as u64).to_le_bytes());
    file.extend(if packed { payload.len() as u32 } else { 0 }.to_le_bytes());
    file.extend(0_u32.to_le_bytes());
    file.extend([7, 0, 8, 0]);
    file.extend(90_u32.to_le_bytes());
    file.extend([0; 8]);
    file.extend(flags.to_le_bytes());
    file.extend([0; 8]);
    file.extend(if packed { 4 * payload.len() as u64 } else { 0 }.to_le_bytes());
    file.extend_from_slice(payload);
    file.resize(FATBIN_HEADER + ENTRY_HEADER + padded, 0);
    smgate_fuzz::assert_chunks_agree(&file, usize::from(*chunk) + 1);
});
