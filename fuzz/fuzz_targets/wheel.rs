//! Metadata of a wheel: METADATA, WHEEL and RECORD of any content, under a file name of any content.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use smgate::Locator;
use smgate::limits::Limits;
use smgate::source::Wheel;

fuzz_target!(|input: &[u8]| {
    // parts of the input, cut at the first bytes that no text has
    let mut parts = input.splitn(4, |byte| *byte == 0xff);
    let mut next = || parts.next().unwrap_or_default();
    let name = String::from_utf8_lossy(next()).into_owned();
    let members = [
        ("demo-1.0.dist-info/METADATA", next()),
        ("demo-1.0.dist-info/WHEEL", next()),
        ("demo-1.0.dist-info/RECORD", next()),
    ];
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for (member, content) in members {
        let (mut entry, config) = archive.new_file(member).start().expect("a sound name");
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content).expect("memory takes it");
        let (_, descriptor) = writer.finish().expect("memory takes it");
        entry.finish(descriptor).expect("memory takes it");
    }
    let bytes = archive.finish().expect("memory takes it");
    let wheel = Wheel::from_bytes(
        bytes.into(),
        Locator::root(0, "fuzz"),
        &name,
        &Limits::default(),
    );
    assert_eq!(wheel.zip.members().len(), 3);
});
