//! What runs where: device images and compute capabilities.
//!
//! Rules 1.x (cubins) and 2.1, 2.2 (PTX) of NVIDIA's compatibility documents: CUDA C++ Programming Guide,
//! "Binary Compatibility" and "PTX Compatibility"; the Ada compatibility guide; the help text of ptxas.
//! Drivers have no part in this; what a driver accepts is [`super::driver`].

use crate::cuda::{ComputeCapability, SmTarget, Suffix};
use crate::tables::Tables;

/// Where the rules of cubins are from.
pub const CUBIN_RULE: &str =
    "CUDA C++ Programming Guide, section \"Binary Compatibility\"; help text of ptxas 13.5";

/// Where the rules of PTX are from.
pub const PTX_RULE: &str =
    "CUDA C++ Programming Guide, section \"PTX Compatibility\"; help text of ptxas 13.5";

/// Whether an image fits a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not.
    No,
    /// The sources contradict each other: Tegra against desktop, a renamed target.
    Unsure,
    /// It does.
    Yes,
}

/// Whether a cubin for `target` loads on a GPU of capability `cc`.
pub fn cubin_fit(target: SmTarget, cc: ComputeCapability, tables: &Tables) -> Fit {
    // sm_101 became sm_110; whether an old cubin loads on the chip is not known (rule 1.7)
    let renamed = tables.capability(target.cc).and_then(|row| row.renamed_to);
    if renamed == Some(cc) {
        return Fit::Unsure;
    }
    if target.cc == cc {
        return Fit::Yes;
    }
    let same_major = target.cc.major == cc.major && target.cc.minor < cc.minor;
    let reaches = match target.suffix {
        // exactly its own capability (1.2)
        Suffix::Arch => false,
        // newer minor versions of one major (1.1)
        Suffix::None => same_major,
        // a family is a part of a major (1.3)
        Suffix::Family => same_major && in_family(target.cc, cc, tables),
    };
    match reaches {
        false => Fit::No,
        // no tolerance is promised from or to Tegra (1.4), and some is seen (1.5)
        true if is_tegra(target.cc, tables) || is_tegra(cc, tables) => Fit::Unsure,
        true => Fit::Yes,
    }
}

/// Whether PTX for `target` may be compiled for a GPU of capability `cc`.
pub fn ptx_fit(target: SmTarget, cc: ComputeCapability, tables: &Tables) -> bool {
    let renamed = tables.capability(target.cc).and_then(|row| row.renamed_to);
    match target.suffix {
        // numerically, across majors and Tegra (2.1)
        Suffix::None => target.cc <= cc,
        // compilers accept the old name for the new number (1.7)
        Suffix::Arch => target.cc == cc || renamed == Some(cc),
        Suffix::Family => {
            target.cc == cc
                || renamed == Some(cc)
                || in_family(target.cc, cc, tables)
                || renamed.is_some_and(|new| in_family(new, cc, tables))
        }
    }
}

fn in_family(of: ComputeCapability, cc: ComputeCapability, tables: &Tables) -> bool {
    tables
        .capability(of)
        .is_some_and(|row| row.family.contains(&cc))
}

fn is_tegra(cc: ComputeCapability, tables: &Tables) -> bool {
    tables.capability(cc).is_some_and(|row| row.tegra)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cc(text: &str) -> ComputeCapability {
        text.parse().unwrap()
    }

    fn sm(text: &str) -> SmTarget {
        text.parse().unwrap()
    }

    // Expected values: RULES.md 1.1 to 1.7, which quote NVIDIA's documents.
    #[test]
    fn cubins_run_within_their_major_and_never_across() {
        for (target, gpu, fit) in [
            ("sm_86", "8.9", Fit::Yes),
            ("sm_89", "8.6", Fit::No),
            ("sm_80", "8.0", Fit::Yes),
            ("sm_80", "9.0", Fit::No),
            ("sm_60", "6.1", Fit::Yes),
            ("sm_61", "6.0", Fit::No),
            ("sm_70", "7.5", Fit::Yes),
            ("sm_100", "10.3", Fit::Yes),
            ("sm_100", "12.0", Fit::No),
            ("sm_120", "12.1", Fit::Yes),
            ("sm_90", "9.0", Fit::Yes),
        ] {
            assert_eq!(
                cubin_fit(sm(target), cc(gpu), Tables::builtin()),
                fit,
                "{target} on {gpu}"
            );
        }
    }

    #[test]
    fn architecture_specific_cubins_run_on_their_own_capability_only() {
        for (target, gpu, fit) in [
            ("sm_90a", "9.0", Fit::Yes),
            ("sm_90a", "10.0", Fit::No),
            ("sm_100a", "10.0", Fit::Yes),
            ("sm_100a", "10.3", Fit::No),
            ("sm_120a", "12.0", Fit::Yes),
            ("sm_120a", "12.1", Fit::No),
            ("sm_120f", "12.1", Fit::Yes),
            ("sm_121f", "12.0", Fit::No),
            ("sm_100f", "10.3", Fit::Yes),
            ("sm_100f", "10.7", Fit::Yes),
            ("sm_103f", "10.0", Fit::No),
            ("sm_100f", "11.0", Fit::No),
        ] {
            assert_eq!(
                cubin_fit(sm(target), cc(gpu), Tables::builtin()),
                fit,
                "{target} on {gpu}"
            );
        }
    }

    #[test]
    fn tegra_and_renamed_targets_are_unsure_and_say_so() {
        for (target, gpu, fit) in [
            ("sm_80", "8.7", Fit::Unsure),
            ("sm_86", "8.7", Fit::Unsure),
            ("sm_87", "8.7", Fit::Yes),
            ("sm_87", "8.9", Fit::Unsure),
            ("sm_70", "7.2", Fit::Unsure),
            ("sm_72", "7.5", Fit::Unsure),
            ("sm_88", "8.9", Fit::Unsure),
            ("sm_101", "11.0", Fit::Unsure),
            ("sm_110", "11.0", Fit::Yes),
            ("sm_100", "11.0", Fit::No),
        ] {
            assert_eq!(
                cubin_fit(sm(target), cc(gpu), Tables::builtin()),
                fit,
                "{target} on {gpu}"
            );
        }
    }

    #[test]
    fn ptx_compiles_for_newer_capabilities_unless_its_suffix_forbids() {
        for (target, gpu, fits) in [
            ("compute_50", "12.0", true),
            ("compute_80", "8.7", true),
            ("compute_90", "8.9", false),
            ("compute_90a", "9.0", true),
            ("compute_90a", "10.0", false),
            ("compute_100f", "10.3", true),
            ("compute_100f", "12.0", false),
            ("compute_100", "11.0", true),
            ("compute_101a", "11.0", true),
            ("compute_101", "11.0", true),
            ("compute_120f", "12.1", true),
            ("compute_121", "12.0", false),
        ] {
            assert_eq!(
                ptx_fit(sm(target), cc(gpu), Tables::builtin()),
                fits,
                "{target} on {gpu}"
            );
        }
    }
}
