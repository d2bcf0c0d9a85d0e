//! The policies that come with the program, and the one that a new project starts from.
//!
//! Presets are files in `policies/`, so that people can read and copy them there.

use super::diag::{Fault, quote};
use super::values;

/// A policy that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// What to write after `preset:`.
    pub name: &'static str,
    /// The policy file.
    pub text: &'static str,
}

/// What is said of a name that no preset has.
pub(super) fn unknown(name: &str) -> Fault {
    let names = ALL.iter().map(|preset| format!("`preset:{}`", preset.name));
    Fault::new(format!("there is no preset {}", quote(name)))
        .hint(format!("use one of {}", values::list(names)))
}

macro_rules! presets {
    ($($name:literal)*) => {
        pub(super) const ALL: &[Preset] = &[$(
            Preset {
                name: $name,
                text: include_str!(concat!("../../policies/", $name, ".yaml")),
            },
        )*];
    };
}

presets! {
    "hopper-dc" "blackwell-dc" "ada-l4" "cloud-mixed" "teaching-lab" "jetson" "gb10" "mixed-fleet"
}
