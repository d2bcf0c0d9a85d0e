//! What a container image says of the GPUs and drivers that it is for, outside of its code.
//!
//! Reads environment variables, labels and paths, and judges nothing: what a requirement means for a GPU and a
//! driver is a rule of `compat`. What is declared is never taken for what is there; a value that is not
//! understood is kept as such. Formats follow the NVIDIA Container Toolkit and libnvidia-container.

mod arch_list;
mod env;
mod path;
mod require;

pub use arch_list::{ArchList, ArchRequest, Difference};
pub use env::{DriverCapabilities, EnvProblem, HostKind, ImageEnv, VisibleDevices, is_relevant};
pub use path::{DriverFile, driver_file, is_compat_config};
pub use require::{
    Compare, Factor, Numbers, Property, Requirement, Requirements, Term, Test, Tool,
};
