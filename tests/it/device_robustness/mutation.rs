//! Fixtures with bytes changed at random, from fixed seeds.

use std::time::Duration;

use smgate::device::DeviceReport;

use super::within;
use crate::support::elf::put;
use crate::support::{Random, fixtures, scan, scan_in};

/// What a hostile file writes into a field.
const VALUES: [u64; 12] = [
    0,
    1,
    7,
    8,
    63,
    64,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    1 << 60,
    u64::MAX,
];

/// A change of one to four places, most of them where headers are.
fn mutate(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let end = if random.below(3) == 0 {
            bytes.len()
        } else {
            bytes.len().min(512)
        };
        let at = random.below(end);
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            2 if at + 4 <= bytes.len() => {
                let value = random.pick(&VALUES).to_le_bytes();
                put(bytes, at & !3, &value[..4]);
            }
            3 if (at & !7) + 8 <= bytes.len() => {
                put(bytes, at & !7, &random.pick(&VALUES).to_le_bytes());
            }
            _ => {
                // somebody else's field
                let from = random.below(bytes.len());
                let len = random.below(16).min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + len, at);
            }
        }
    }
}

/// What holds of every report, whatever the file.
fn check(report: &DeviceReport, len: u64, what: &str) {
    for class in &report.classes {
        assert!(class.count > 0 && class.first < len, "{what}: {class:?}");
        assert!(class.bytes <= len, "{what}: {class:?}");
        assert!(class.names.len() <= 4, "{what}: {class:?}");
        assert!(
            class.images.is_sorted_by_key(|image| image.key),
            "{what}: {class:?}"
        );
    }
    assert!(report.problems.len() <= 101, "{what}");
    assert!(
        report.problems.iter().all(|problem| problem.offset <= len),
        "{what}: {:?}",
        report.problems
    );
    assert!(report.host.needed.len() <= 4096, "{what}");
}

#[test]
fn mutated_fixtures_neither_panic_nor_take_long() {
    let fixtures = fixtures();
    let mut random = Random::new(1);
    let mut changed = 0;
    for round in 0..60 {
        for (name, bytes) in &fixtures {
            let mut bytes = bytes.clone();
            let before = bytes.clone();
            mutate(&mut bytes, &mut random);
            changed += usize::from(bytes != before);
            let chunk = random.pick(&[usize::MAX, 4096, 100]);
            let what = format!("{name}, round {round}");
            let report = within(Duration::from_secs(5), || {
                scan_in(&bytes, chunk, round % 2 == 0)
            });
            check(&report, bytes.len() as u64, &what);
        }
    }
    assert!(changed > 8000, "{changed}");
}

#[test]
fn mutated_fixtures_read_the_same_in_chunks_of_any_size() {
    let fixtures = fixtures();
    let mut random = Random::new(2);
    for (name, bytes) in fixtures.iter().filter(|(_, bytes)| bytes.len() < 12_000) {
        for round in 0..6 {
            let mut bytes = bytes.clone();
            mutate(&mut bytes, &mut random);
            let whole = scan(&bytes);
            let chunk = random.pick(&[1, 5, 64, 1000]);
            assert_eq!(
                scan_in(&bytes, chunk, true),
                whole,
                "{name}, round {round}, chunks of {chunk}"
            );
        }
    }
}

#[test]
fn an_overwritten_field_of_a_header_never_hides_a_whole_file() {
    // every 8 bytes of the first headers, with every value: what is no device code any more is a problem
    for name in [
        "n135_sass_only.fatbin",
        "nvf124_nocompress.fatbin",
        "cubin_124_sm_90a.cubin",
    ] {
        let bytes = crate::support::fixture(name);
        for at in (8..128).step_by(8) {
            if name.starts_with("cubin") && at == 0x10 {
                continue; // a file for another machine is none of ours
            }
            for value in VALUES {
                let mut bytes = bytes.clone();
                put(&mut bytes, at, &value.to_le_bytes());
                let report = scan(&bytes);
                let seen = report.has_device_code() || !report.problems.is_empty();
                assert!(seen, "{name}: {value:#x} at {at:#x}");
            }
        }
    }
}
