//! Time and memory of input made to be expensive.
//!
//! Memory is measured in a process of its own: this test binary starts itself again for one case.

use std::fs::File;
use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

use smgate::device::Scanner;

use super::within;
use crate::support::cubin::Cubin;
use crate::support::fatbin::{Entry, fatbin, fatbin_of};
use crate::support::{read, scan};

/// What a scan may need beyond its input, whatever that is.
const MEMORY: u64 = 32 << 20;

/// A zstd frame of `len` zeros, four bytes for every 128 KiB of them.
fn zeros(len: u64) -> Vec<u8> {
    // a content size of 8 bytes, a window of 128 KiB
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x38];
    frame.extend(len.to_le_bytes());
    let blocks = len >> 17;
    for block in 1..=blocks {
        let head = (128_u32 << 10) << 3 | 2 | u32::from(block == blocks);
        frame.extend(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn the_bombs_of_these_tests_are_zstd() {
    let plain = zstd::bulk::decompress(&zeros(1 << 20), 1 << 20).unwrap();
    assert_eq!(plain, vec![0; 1 << 20]);
}

/// A concatenated entry whose parts are all the same bytes.
fn overlapping_parts() -> Vec<u8> {
    let part = Entry::plain_cubin("sm_90", (13, 0));
    let len: u64 = 8 << 20;
    let sub: Vec<u8> = (0..64).flat_map(|_| part.sub_header(0, len)).collect();
    let mut entry = Entry::concat_of(64, &sub, &[0; 8]);
    entry.payload = zeros(len);
    entry.unpacked = len;
    fatbin(&[entry])
}

/// A concatenated entry of parts that lie behind each other and are all wanted whole.
fn many_large_parts() -> Vec<u8> {
    let part = Entry::plain_cubin("sm_90", (13, 0));
    let len: u32 = 8 << 20;
    let sub: Vec<u8> = (0..100)
        .flat_map(|index| part.sub_header(index * len, len.into()))
        .collect();
    let mut entry = Entry::concat_of(100, &sub, &[0; 8]);
    entry.unpacked = u64::from(len) * 100;
    entry.payload = zeros(entry.unpacked);
    fatbin(&[entry])
}

/// A concatenated entry of which one image lies behind three gigabytes of zeros.
fn bomb() -> Vec<u8> {
    let part = Entry::plain_cubin("sm_90", (13, 0));
    let far = 3 << 30;
    let sub = [part.sub_header(0, 64), part.sub_header(far, 64)].concat();
    let mut entry = Entry::concat_of(2, &sub, &[0; 8]);
    entry.unpacked = u64::from(far) + (1 << 20);
    entry.payload = zeros(entry.unpacked);
    fatbin(&[entry])
}

/// Many of them, each of which alone is allowed.
fn bombs() -> Vec<u8> {
    bomb().repeat(30)
}

/// Entries with names of megabytes, which are shown by their beginnings.
fn large_names() -> Vec<u8> {
    let entry = Entry::lto_ir("sm_80")
        .identifier(vec![b'x'; 3 << 20])
        .build();
    fatbin_of(&entry.repeat(20))
}

/// One fatbin of very many entries.
fn many_entries() -> Vec<u8> {
    fatbin_of(&Entry::lto_ir("sm_80").build().repeat(700_000))
}

/// Fatbins of which none is like another.
fn many_classes() -> Vec<u8> {
    let fatbin_number = |number: u32| {
        let mut entry = Entry::lto_ir("sm_80");
        entry.kind = u16::try_from(number % 60_000).unwrap() + 0x200;
        entry.arch = 10 + number / 60_000;
        fatbin(&[entry])
    };
    (0..100_000).flat_map(fatbin_number).collect()
}

/// An LZ4 block that asks for much by few bytes.
fn lz4_bomb() -> Vec<u8> {
    let mut entry = Entry::plain_cubin("sm_90", (13, 0)).lz4();
    entry.payload = [&[0x1f, 0x7f, 1, 0][..], &vec![255; 2 << 20], &[0]].concat();
    entry.unpacked = 8 << 20;
    fatbin(&[entry])
}

/// Frames whose windows are as large as the format allows.
fn large_windows() -> Vec<u8> {
    // descriptor with a content size of 8 bytes, window 2^41, content 2^31, one raw block
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0xf8];
    frame.extend((1_u64 << 31).to_le_bytes());
    frame.extend([0x01, 0x04, 0]);
    frame.extend(&Cubin::new("sm_90", (13, 0)).build()[..128]);
    frame.repeat(2000)
}

/// A name and what builds it.
type Case = (&'static str, fn() -> Vec<u8>);

const CASES: [Case; 9] = [
    ("overlapping_parts", overlapping_parts),
    ("many_large_parts", many_large_parts),
    ("bomb", bomb),
    ("bombs", bombs),
    ("large_names", large_names),
    ("many_entries", many_entries),
    ("many_classes", many_classes),
    ("lz4_bomb", lz4_bomb),
    ("large_windows", large_windows),
];

/// Name of the variable that tells the process of its own which file it is for.
const FILE: &str = "SMGATE_TEST_FILE";

/// The largest resident size that this process has had, in bytes.
fn peak() -> u64 {
    let status = String::from_utf8(read("/proc/self/status".as_ref())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
#[ignore = "`memory_stays_bounded_whatever_the_file_asks_for` starts it in a process of its own"]
fn one_file_in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(FILE) else {
        println!("SKIPPED: no file was named");
        return;
    };
    let mut file = File::open(path).unwrap();
    let mut scanner = Scanner::new(Some(file.metadata().unwrap().len()));
    let mut buffer = vec![0; 256 << 10];
    let before = peak();
    loop {
        let len = file.read(&mut buffer).unwrap();
        if len == 0 {
            break;
        }
        scanner.feed(&buffer[..len]);
    }
    let report = scanner.finish().report();
    println!(
        "peak {} problems {}",
        peak() - before,
        report.problems.len()
    );
}

#[test]
#[cfg(target_os = "linux")]
fn memory_stays_bounded_whatever_the_file_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    for (case, build) in CASES {
        let path = folder.path().join(case);
        std::fs::write(&path, build()).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args([
                "--exact",
                "device_robustness::cost::one_file_in_a_process_of_its_own",
            ])
            .args(["--include-ignored", "--nocapture"])
            .env(FILE, &path);
        let output = within(Duration::from_secs(60), || child.output().unwrap());
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{case}: {said}{complaint}");
        let (_, peak) = said
            .split_once("peak ")
            .unwrap_or_else(|| panic!("{case}: {said}"));
        let peak: u64 = peak.split(' ').next().unwrap().parse().unwrap();
        assert!(peak < MEMORY, "{case} needs {} MiB", peak >> 20);
        println!("{case}: {} KiB", peak >> 10);
    }
}

#[test]
fn text_full_of_beginnings_of_ptx_takes_no_longer_for_it() {
    for piece in [
        ".version ",
        ".version /*",
        ".version 8.0 .target ",
        ".version 8.0\n.target sm_80\n",
    ] {
        let text = piece.repeat((256 << 10) / piece.len());
        within(Duration::from_secs(20), || scan(text.as_bytes()));
    }
}

#[test]
fn data_full_of_beginnings_of_frames_takes_no_longer_for_it() {
    // a block of 128 KiB of one byte, in four bytes
    let repeated = [0x28, 0xb5, 0x2f, 0xfd, 0x60, 0, 1, 0x02, 0, 0x10, 0x7f];
    // a stored block of 128 KiB, most of which are the next frames
    let stored = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 2, 0, 0x00, 0, 0x10];
    for frame in [&repeated[..], &stored[..]] {
        let bytes = frame.repeat((256 << 10) / frame.len());
        within(Duration::from_secs(20), || scan(&bytes));
    }
}

#[test]
fn a_bomb_in_a_concatenated_entry_is_a_problem() {
    let report = within(Duration::from_secs(30), || scan(&bomb()));
    let [problem] = &report.problems[..] else {
        panic!("{report:?}")
    };
    assert!(problem.detail.contains("unpacks to more"), "{problem:?}");
}

#[test]
fn many_bombs_cost_no_more_than_a_few() {
    let report = within(Duration::from_secs(60), || scan(&bombs()));
    assert_eq!(report.problems.len(), 30);
}
