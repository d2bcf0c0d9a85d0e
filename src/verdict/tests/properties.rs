//! What must hold for every package, tried on random ones with fixed seeds.

use super::build::{Input, Lib, lib, wheel};
use super::{check, on};
use crate::compat::{Fit, cubin_fit, ptx_fit};
use crate::cuda::ComputeCapability;
use crate::device::ImageKind;
use crate::inventory::{Inventory, Library};
use crate::tables::Tables;
use crate::verdict::{Evaluation, Verdict};

/// Packages that each property is tried on; many more were tried when it was written.
const SEEDS: u64 = 100;

/// Numbers that look random and are the same in every run (xorshift64*).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(mixed).unwrap() % bound
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const CUBINS: &[&str] = &[
    "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100",
    "sm_100a", "sm_100f", "sm_120", "sm_120a",
];
const OTHERS: &[&str] = &[
    "compute_60@6.0",
    "compute_75@8.2",
    "compute_80@8.7",
    "compute_90@9.0",
    "compute_90a@8.0",
    "compute_100f@8.8",
    "lto_80",
    "lto_90",
    "tile_80",
    "kind10_90",
];
const SUFFIXES: &[&str] = &["", "", "", "+zstd", "+lz4", "+empty"];

fn images(random: &mut Random) -> String {
    let mut words = Vec::new();
    for _ in 0..=random.below(4) {
        let kind = if random.below(4) == 0 { OTHERS } else { CUBINS };
        words.push(format!("{}{}", random.pick(kind), random.pick(SUFFIXES)));
    }
    words.sort();
    words.dedup();
    words.join(" ")
}

/// What a library is made of, so that it can be put together in another order.
fn parts(random: &mut Random) -> Vec<(usize, String, u64)> {
    (0..=random.below(4))
        .map(|_| {
            let kind = random.below(8);
            let images = match kind {
                5 => random.pick(CUBINS).to_owned(),
                6 => format!("rel_{}", random.pick(CUBINS)),
                _ => images(random),
            };
            (kind, images, 1 + random.below(200) as u64)
        })
        .collect()
}

fn library(path: &str, parts: &[(usize, String, u64)]) -> Lib {
    parts
        .iter()
        .fold(lib(path), |lib, (kind, images, count)| match kind {
            5 => lib.bare(images, *count),
            6 => lib.objects(images, *count),
            7 => lib.linked(images),
            _ => lib.fatbin(images, *count),
        })
}

fn package(seed: u64, reversed: bool) -> Input {
    let mut random = Random::new(seed);
    let libraries: Vec<_> = (0..=random.below(3)).map(|_| parts(&mut random)).collect();
    let mut input = wheel("pkg", "1.0");
    for (index, parts) in libraries.into_iter().enumerate() {
        let mut parts = parts;
        if reversed {
            parts.reverse();
        }
        input = input.with(library(&format!("pkg/l{index}.so"), &parts));
    }
    input
}

const GPUS: &[&str] = &[
    "6.0", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1",
];

fn verdict_of(evaluation: &Evaluation) -> Verdict {
    assert_eq!(evaluation.matrix[0].verdict, evaluation.verdict);
    evaluation.verdict
}

/// Whether anything in a library could run on the capability with the newest driver, or be linked for it.
fn something_fits(library: &Library, cc: ComputeCapability) -> bool {
    let tables = Tables::builtin();
    library
        .code
        .iter()
        .flat_map(|code| &code.class.images)
        .any(|image| match (image.key.kind, image.key.target) {
            (ImageKind::Cubin, Some(target)) => cubin_fit(target, cc, tables) != Fit::No,
            (ImageKind::Ptx | ImageKind::RelocatablePtx | ImageKind::LtoIr, Some(target)) => {
                ptx_fit(target, cc, tables)
            }
            _ => false,
        })
}

#[test]
fn nothing_passes_where_nothing_fits() {
    for seed in 0..SEEDS {
        let input = package(seed, false);
        let inventory: Inventory = input.clone().inventory();
        for gpu in GPUS {
            let evaluation = check(&input, &on(gpu, "R620"));
            let cc = gpu.parse().unwrap();
            let row = &evaluation.matrix[0];
            let fits = inventory.artifacts[0]
                .libraries
                .iter()
                .any(|library| something_fits(library, cc));
            assert!(
                fits || !row.has_device_code || row.verdict == Verdict::Fail,
                "seed {seed} passes on {gpu}: {inventory:#?}"
            );
        }
    }
}

#[test]
fn a_newer_driver_is_never_worse() {
    // every one of them drives these GPUs
    let drivers = ["R580", "R590", "R595", "R610", "R615", "R620"];
    let older = ["R450", "R470", "R525", "R535", "R550", "R570"];
    for seed in 0..SEEDS {
        let input = package(seed, false);
        for gpu in ["7.5", "8.0", "8.7", "9.0", "12.0"] {
            let mut last = Verdict::Fail;
            for driver in older.iter().chain(&drivers) {
                let verdict = verdict_of(&check(&input, &on(gpu, driver)));
                assert!(verdict <= last, "seed {seed}, {gpu}: worse with {driver}");
                last = verdict;
            }
            let without = verdict_of(&check(&input, &on(gpu, "")));
            assert!(
                without <= last,
                "seed {seed}, {gpu}: worse without a driver"
            );
        }
    }
}

#[test]
fn the_order_of_fatbins_in_a_library_does_not_matter() {
    for seed in 0..SEEDS {
        let (one, other) = (package(seed, false), package(seed, true));
        for gpu in ["7.5", "8.9", "9.0", "10.3", "8.7"] {
            let policy = on(gpu, "R550");
            let (one, other) = (check(&one, &policy), check(&other, &policy));
            assert_eq!(one.verdict, other.verdict, "seed {seed} on {gpu}");
            assert_eq!(one.matrix, other.matrix, "seed {seed} on {gpu}");
            assert_eq!(
                super::outcome(&one),
                super::outcome(&other),
                "seed {seed} on {gpu}"
            );
        }
    }
}

#[test]
fn a_pool_is_never_better_than_one_of_its_gpus() {
    for seed in 0..SEEDS {
        let input = package(seed, false);
        let pool = verdict_of(&check(&input, &on("7.5, 9.0, 12.0", "R550")));
        let worst = ["7.5", "9.0", "12.0"]
            .map(|gpu| verdict_of(&check(&input, &on(gpu, "R550"))))
            .into_iter()
            .max()
            .unwrap();
        assert_eq!(pool, worst, "seed {seed}");
    }
}
