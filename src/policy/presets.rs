//! The policies that come with the program, and the one that a new project starts from.
//!
//! Presets are files in `policies/`, so that people can read and copy them there.

/// A policy that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// What to write after `preset:`.
    pub name: &'static str,
    /// The policy file.
    pub text: &'static str,
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

presets! { "hopper-dc" "blackwell-dc" "ada-l4" "mixed-fleet" }
