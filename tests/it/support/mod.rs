//! What tests share: fixtures, scanning as the real callers do it, and builders of inputs.

// Several modules use a part each, and builders are written to be used by tests to come.
#![allow(dead_code, reason = "a library of builders")]

pub(crate) mod cubin;
pub(crate) mod elf;
pub(crate) mod fatbin;
pub(crate) mod image;
pub(crate) mod layer;
pub(crate) mod oracle_text;
#[cfg(feature = "registry")]
pub(crate) mod registry;
#[cfg(feature = "registry")]
pub(crate) mod servers;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use smgate::device::{Coding, DeviceReport, ImageKey, Scanner};
use smgate::limits::read_capped;

/// Bytes of a file of the repository or of this machine, 16 MiB at most.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (bytes, more) = read_capped(file, 16 << 20).unwrap();
    assert!(!more, "{} is larger than tests read", path.display());
    bytes
}

/// A text of the repository.
pub(crate) fn text(path: &Path) -> String {
    String::from_utf8(read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `testdata/cuda`.
pub(crate) fn cuda_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda")
}

/// One input of `testdata/cuda`.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    read(&cuda_dir().join(name))
}

/// Every input of `testdata/cuda`, by name.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<String> = std::fs::read_dir(cuda_dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".oracle.txt").map(str::to_owned))
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let bytes = fixture(&name);
            (name, bytes)
        })
        .collect()
}

/// What the reader says of `bytes`, fed in chunks of `chunk` bytes, with second looks as it asks for them.
pub(crate) fn scan_in(bytes: &[u8], chunk: usize, len_known: bool) -> DeviceReport {
    let mut scanner = Scanner::new(len_known.then_some(bytes.len() as u64));
    for piece in bytes.chunks(chunk) {
        scanner.feed(piece);
    }
    let mut scanned = scanner.finish();
    let mut looks = 0;
    loop {
        let missing = scanned.missing();
        if missing.is_empty() {
            break;
        }
        looks += 1;
        assert!(looks < 8, "asks again and again: {missing:?}");
        for range in missing {
            let [start, end] =
                [range.start, range.end].map(|at| usize::try_from(at).unwrap().min(bytes.len()));
            scanned.fill(range.start, &bytes[start..end]);
        }
    }
    scanned.report()
}

/// What the reader says of `bytes`.
pub(crate) fn scan(bytes: &[u8]) -> DeviceReport {
    scan_in(bytes, 256 << 10, true)
}

/// Device images by description, with how many there are of each.
pub(crate) type Images = BTreeMap<String, u64>;

/// Every device image of a report: `cubin sm_90a`, `ptx compute_90 8.4`, and ` compressed` after it.
pub(crate) fn images(report: &DeviceReport) -> Images {
    count_images(report, |_| true)
}

/// The images of a report whose key is wanted.
pub(crate) fn count_images(report: &DeviceReport, want: impl Fn(&ImageKey) -> bool) -> Images {
    let mut images = Images::new();
    for class in &report.classes {
        for image in class.images.iter().filter(|image| want(&image.key)) {
            *images.entry(describe(&image.key)).or_default() += image.per_fatbin * class.count;
        }
    }
    images
}

/// One image as a line: kind, target, PTX ISA, coding.
pub(crate) fn describe(key: &ImageKey) -> String {
    let mut words = vec![key.kind.to_string()];
    words.extend(key.target_name());
    words.extend(key.isa.map(|isa| isa.to_string()));
    if key.coding != Coding::None {
        words.push("compressed".to_owned());
    }
    words.join(" ")
}

/// Expected images, written as in [`describe`]; one that is there twice is written twice.
pub(crate) fn expect<const N: usize>(lines: [&str; N]) -> Images {
    let mut images = Images::new();
    for line in lines {
        *images.entry(line.to_owned()).or_default() += 1;
    }
    images
}

/// The toolkits of a report.
pub(crate) fn toolkits(report: &DeviceReport) -> Vec<String> {
    report.toolkits.iter().map(ToString::to_string).collect()
}

/// The kinds of the problems of a report, in order.
pub(crate) fn problem_kinds(report: &DeviceReport) -> Vec<&'static str> {
    report
        .problems
        .iter()
        .map(|problem| problem.kind.id())
        .collect()
}

/// Numbers that look random and are the same in every run (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    /// A sequence of its own for every seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add(0x1234_5678_9abc_def1)
                | 1,
        )
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let high = (u128::from(self.next()) * u128::from(bound as u64)) >> 64;
        usize::try_from(high).unwrap()
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len.div_ceil(8))
            .flat_map(|_| self.next().to_le_bytes())
            .collect();
        bytes.truncate(len);
        bytes
    }
}
