//! Any bytes as a zip archive: opened, and every readable member read to its end within small limits.
#![no_main]

use std::io::{copy, sink};

use libfuzzer_sys::fuzz_target;
use smgate::Locator;
use smgate::archive::Zip;
use smgate::limits::{Budget, Limits};

fuzz_target!(|input: &[u8]| {
    let mut limits = Limits::default();
    limits.unpacked_bytes = 1 << 24;
    limits.members = 1000;
    let at = Locator::root(0, "fuzz.whl");
    let Ok(opened) = Zip::open(input.to_vec().into(), &at, &limits) else {
        return;
    };
    let budget = Budget::new(limits);
    for (index, member) in opened.zip.members().iter().enumerate() {
        let reader = opened.zip.reader(index, &budget);
        assert_eq!(reader.is_ok(), member.is_readable());
        if let Ok(mut reader) = reader {
            let read = copy(&mut reader, &mut sink());
            // the end is only told after size and checksum proved right
            assert!(read.is_err() || reader.unpacked() == member.size);
        }
    }
});
