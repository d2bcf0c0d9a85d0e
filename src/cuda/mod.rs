//! Vocabulary types of CUDA compatibility: compute capabilities, sm targets and versions.
//!
//! These are values only. What runs where is a rule (`verdict`), which GPU has which capability is a
//! fact (`tables`). Nothing here does I/O or knows a file format.

mod arch;
mod version;

pub use arch::{ComputeCapability, ParseTargetError, SmTarget, Suffix};
pub use version::{
    DriverBranch, DriverSpec, DriverVersion, ParseVersionError, PtxIsa, ToolkitVersion,
};
