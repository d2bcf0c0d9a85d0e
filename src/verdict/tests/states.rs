//! The state of one fatbin on one GPU and driver.

use super::build::images;
use crate::platform::Os;
use crate::policy::Policy;
use crate::tables::Tables;
use crate::verdict::state::{On, State, judge};
use crate::verdict::target;

use State::{CodingBlocked, Jit, JitBlocked, LinkOnly, Native, None, Unsure};

/// Images of a fatbin, compute capability, driver (none where empty), platform, state.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    State,
);

const LINUX: &str = "linux/amd64";
const WINDOWS: &str = "windows/amd64";

fn assert_states(rows: &[Row]) {
    let tables = Tables::builtin();
    for (images, cc, driver, platform, expected) in rows {
        let driver = Some(*driver).filter(|driver| !driver.is_empty());
        let policy = Policy::for_targets(&[cc], driver, Some(*platform), tables).unwrap();
        let target = &policy.targets[0];
        let driver = &target::driver(target, Os::Linux, tables);
        let cc = target.gpus[0].cc;
        let judged = judge(self::images(images), On { cc, driver, tables });
        let driver = driver.spec().map(ToString::to_string);
        assert_eq!(
            judged.state, *expected,
            "[{images}] on {cc} with {driver:?}, {platform}"
        );
    }
}

// RULES.md 1.1 to 1.3, 1.6, 1.7.
#[test]
fn a_fitting_cubin_is_native() {
    assert_states(&[
        ("sm_80", "8.0", "", LINUX, Native),
        ("sm_80", "8.6", "", LINUX, Native),
        ("sm_80", "8.9", "", LINUX, Native),
        ("sm_86", "8.9", "", LINUX, Native),
        ("sm_89", "8.9", "", LINUX, Native),
        ("sm_50", "5.2", "", LINUX, Native),
        ("sm_60", "6.1", "", LINUX, Native),
        ("sm_70", "7.5", "", LINUX, Native),
        ("sm_90", "9.0", "", LINUX, Native),
        ("sm_100", "10.3", "", LINUX, Native),
        ("sm_120", "12.1", "", LINUX, Native),
        ("sm_90a", "9.0", "", LINUX, Native),
        ("sm_100a", "10.0", "", LINUX, Native),
        ("sm_120a", "12.0", "", LINUX, Native),
        ("sm_100f", "10.0", "", LINUX, Native),
        ("sm_100f", "10.3", "", LINUX, Native),
        ("sm_100f", "10.7", "", LINUX, Native),
        ("sm_103f", "10.7", "", LINUX, Native),
        ("sm_120f", "12.1", "", LINUX, Native),
        ("sm_110", "11.0", "", LINUX, Native),
        ("sm_87", "8.7", "", LINUX, Native),
    ]);
}

// The same rules, and: no cubin crosses a major version, not even the family of its own name.
#[test]
fn no_cubin_runs_on_an_older_minor_another_major_or_beside_its_suffix() {
    assert_states(&[
        ("sm_86", "8.0", "", LINUX, None),
        ("sm_89", "8.6", "", LINUX, None),
        ("sm_61", "6.0", "", LINUX, None),
        ("sm_75", "7.0", "", LINUX, None),
        ("sm_121", "12.0", "", LINUX, None),
        ("sm_103", "10.0", "", LINUX, None),
        ("sm_80", "9.0", "", LINUX, None),
        ("sm_89", "9.0", "", LINUX, None),
        ("sm_90", "10.0", "", LINUX, None),
        ("sm_100", "12.0", "", LINUX, None),
        ("sm_60 sm_70 sm_80", "9.0", "", LINUX, None),
        ("sm_90", "8.9", "", LINUX, None),
        ("sm_90a", "10.0", "", LINUX, None),
        ("sm_100a", "10.3", "", LINUX, None),
        ("sm_120a", "12.1", "", LINUX, None),
        ("sm_103a", "10.0", "", LINUX, None),
        ("sm_103f", "10.0", "", LINUX, None),
        ("sm_121f", "12.0", "", LINUX, None),
        ("sm_100f", "11.0", "", LINUX, None),
        ("sm_100f", "12.0", "", LINUX, None),
        ("sm_107f", "10.3", "", LINUX, None),
    ]);
}

// RULES.md 1.4 to 1.7.
#[test]
fn desktop_against_tegra_and_renamed_targets_are_unsure() {
    assert_states(&[
        ("sm_80", "8.7", "", LINUX, Unsure),
        ("sm_86", "8.7", "", LINUX, Unsure),
        ("sm_87", "8.9", "", LINUX, Unsure),
        ("sm_88", "8.9", "", LINUX, Unsure),
        ("sm_70", "7.2", "", LINUX, Unsure),
        ("sm_72", "7.5", "", LINUX, Unsure),
        ("sm_60", "6.2", "", LINUX, Unsure),
        ("sm_101", "11.0", "", LINUX, Unsure),
        ("sm_101a", "11.0", "", LINUX, Unsure),
        ("sm_101f", "11.0", "", LINUX, Unsure),
        // what cannot run on the desktop of that number cannot on Tegra either
        ("sm_89", "8.7", "", LINUX, None),
        ("sm_87", "8.6", "", LINUX, None),
        ("sm_90", "11.0", "", LINUX, None),
        ("sm_90a", "8.7", "", LINUX, None),
        // certain code beside uncertain code
        ("sm_80 sm_87", "8.7", "", LINUX, Native),
        ("sm_80 compute_80@8.0", "8.7", "", LINUX, Jit),
        ("sm_80 compute_80@9.5", "8.7", "R535", LINUX, Unsure),
        ("sm_101 sm_110", "11.0", "", LINUX, Native),
    ]);
}

// RULES.md 2.1, 2.2, 2.6, 1.7.
#[test]
fn ptx_is_compiled_for_newer_capabilities_unless_its_suffix_forbids() {
    assert_states(&[
        ("compute_50@4.0", "12.0", "", LINUX, Jit),
        ("compute_50@4.0", "7.5", "R590", LINUX, Jit),
        ("compute_80@7.0", "8.0", "", LINUX, Jit),
        ("compute_80@7.0", "9.0", "", LINUX, Jit),
        ("compute_80@7.0", "8.7", "", LINUX, Jit),
        ("compute_90@8.0", "8.9", "", LINUX, None),
        ("compute_90@8.0", "12.1", "", LINUX, Jit),
        ("compute_100@8.6", "11.0", "", LINUX, Jit),
        ("compute_103@8.8", "12.0", "", LINUX, Jit),
        ("compute_121@8.8", "12.0", "", LINUX, None),
        ("compute_90a@8.0", "9.0", "", LINUX, Jit),
        ("compute_90a@8.0", "10.0", "", LINUX, None),
        ("compute_90a@8.0", "12.0", "", LINUX, None),
        ("compute_100f@8.8", "10.3", "", LINUX, Jit),
        ("compute_100f@8.8", "12.0", "", LINUX, None),
        ("compute_103f@8.8", "10.0", "", LINUX, None),
        ("compute_120f@8.8", "12.1", "", LINUX, Jit),
        ("compute_101@8.6", "11.0", "", LINUX, Jit),
        ("compute_101a@8.6", "11.0", "", LINUX, Jit),
        ("compute_101f@8.8", "11.0", "", LINUX, Jit),
        // no suffix of an older architecture reaches further
        ("sm_80 compute_90a@8.0", "10.0", "", LINUX, None),
    ]);
}

// RULES.md 2.3, 2.4, 2.5, with NVIDIA's table of PTX ISA and driver.
#[test]
fn ptx_is_compiled_up_to_the_isa_of_the_driver() {
    assert_states(&[
        ("compute_80@8.2", "9.0", "535.104.05", LINUX, Jit),
        ("compute_80@8.3", "9.0", "535.104.05", LINUX, JitBlocked),
        ("compute_80@8.7", "9.0", "535.104.05", LINUX, JitBlocked),
        ("compute_80@8.7", "9.0", "570.86.15", LINUX, Jit),
        ("compute_80@8.8", "9.0", "570.86.15", LINUX, JitBlocked),
        ("compute_80@8.4", "9.0", "R550", LINUX, Jit),
        ("compute_80@8.5", "9.0", "R550", LINUX, JitBlocked),
        // 12.6 has no ISA of its own, and 8.6 came with R565
        ("compute_80@8.5", "9.0", "R560", LINUX, Jit),
        ("compute_80@8.6", "9.0", "R560", LINUX, JitBlocked),
        ("compute_80@8.6", "9.0", "R565", LINUX, Jit),
        ("compute_75@9.0", "9.0", "580.65.06", LINUX, Jit),
        ("compute_75@9.1", "9.0", "580.65.06", LINUX, JitBlocked),
        ("compute_70@7.8", "8.9", "520.61.05", LINUX, Jit),
        ("compute_70@8.0", "8.9", "520.61.05", LINUX, JitBlocked),
        ("compute_52@6.5", "7.5", "440.33", LINUX, Jit),
        ("compute_52@6.5", "7.5", "418.39", LINUX, JitBlocked),
        // Windows numbers are of other branches: 551.61 is R550, 576.57 is R575, 536.25 is R535
        ("compute_80@8.4", "9.0", "551.61", WINDOWS, Jit),
        ("compute_80@8.5", "9.0", "551.61", WINDOWS, JitBlocked),
        ("compute_80@8.8", "9.0", "576.57", WINDOWS, Jit),
        ("compute_80@9.0", "9.0", "576.57", WINDOWS, JitBlocked),
        ("compute_80@8.2", "9.0", "536.25", WINDOWS, Jit),
        ("compute_80@8.3", "9.0", "536.25", WINDOWS, JitBlocked),
        // a branch that no table knows accepts what the one below it does; without a driver, JIT is assumed
        ("compute_80@9.5", "9.0", "R999", LINUX, Jit),
        ("compute_80@99.0", "9.0", "R999", LINUX, JitBlocked),
        ("compute_80@9.5", "9.0", "", LINUX, Jit),
        // a cubin that fits wins over PTX that is too new (2.10)
        ("sm_90 compute_90@9.5", "9.0", "R535", LINUX, Native),
        ("sm_80 compute_80@9.5", "9.0", "R535", LINUX, JitBlocked),
    ]);
}

// RULES.md 2.13: zstd from 550.54.14 (CUDA 12.4) on; Windows pairs 551.61 with it.
#[test]
fn zstd_needs_a_driver_that_unpacks_it() {
    assert_states(&[
        ("sm_90+zstd", "9.0", "550.54.14", LINUX, Native),
        ("sm_90+zstd", "9.0", "550.40.07", LINUX, CodingBlocked),
        ("sm_90+zstd", "9.0", "545.23.06", LINUX, CodingBlocked),
        ("sm_90+zstd", "9.0", "R550", LINUX, Native),
        ("sm_90+zstd", "9.0", "R535", LINUX, CodingBlocked),
        ("sm_90+zstd", "9.0", "551.61", WINDOWS, Native),
        ("sm_90+zstd", "9.0", "546.12", WINDOWS, CodingBlocked),
        ("sm_90+zstd", "9.0", "", LINUX, Native),
        ("sm_90+lz4", "9.0", "525.60.13", LINUX, Native),
        ("sm_90+odd", "9.0", "R620", LINUX, CodingBlocked),
        ("sm_90+odd", "9.0", "", LINUX, CodingBlocked),
        ("compute_80@8.2+zstd", "9.0", "R535", LINUX, CodingBlocked),
        ("compute_80@8.2+zstd", "9.0", "R550", LINUX, Jit),
        // too new and not to be unpacked: both would have to change, and PTX asks for the newer driver
        ("compute_80@8.7+zstd", "9.0", "R535", LINUX, JitBlocked),
        // PTX beside it is not known to be tried: fail closed
        (
            "sm_90+zstd compute_90@8.0",
            "9.0",
            "R535",
            LINUX,
            CodingBlocked,
        ),
        ("sm_80+zstd compute_80@8.0", "9.0", "R535", LINUX, Jit),
        // an uncertain cubin that cannot be unpacked
        ("sm_80+zstd", "8.7", "R535", LINUX, CodingBlocked),
    ]);
}

// RULES.md 2.12 and 3: LTO-IR is linked by nvJitLink, never loaded.
#[test]
fn lto_ir_alone_is_to_be_linked() {
    assert_states(&[
        ("lto_80", "9.0", "R580", LINUX, LinkOnly),
        ("lto_90", "8.0", "R580", LINUX, None),
        ("lto_90a", "10.0", "R580", LINUX, None),
        ("sm_80 lto_80", "9.0", "R580", LINUX, LinkOnly),
        ("sm_90 lto_80", "9.0", "R580", LINUX, Native),
        ("compute_80@8.0 lto_80", "9.0", "R580", LINUX, Jit),
        ("compute_80@9.5 lto_80", "9.0", "R535", LINUX, JitBlocked),
    ]);
}

#[test]
fn what_no_rule_speaks_of_covers_nothing() {
    assert_states(&[
        ("tile_80", "9.0", "R620", LINUX, None),
        ("kind10_90", "9.0", "R620", LINUX, None),
        ("", "9.0", "R620", LINUX, None),
    ]);
}

#[test]
fn only_native_jit_and_unsure_cover() {
    for (state, covers) in [
        (Native, true),
        (Jit, true),
        (Unsure, true),
        (JitBlocked, false),
        (CodingBlocked, false),
        (LinkOnly, false),
        (None, false),
    ] {
        assert_eq!(state.covers(), covers, "{state:?}");
    }
}
