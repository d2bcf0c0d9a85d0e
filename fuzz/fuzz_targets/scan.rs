//! Any bytes through the device reader; however they are cut, the report is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&chunk, bytes)) = input.split_first() else {
        return;
    };
    smgate_fuzz::assert_chunks_agree(bytes, usize::from(chunk) + 1);
});
