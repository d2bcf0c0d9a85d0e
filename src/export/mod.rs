//! What content asks of the machines that it goes to, whatever a policy says: the ground of artifacts for others.
//!
//! The verdict is asked about every compute capability that the tables know, and about numbers that stand for GPUs
//! that nobody knows yet ([`Needs`]). From the answers follow a requirement for container tools ([`RequireCuda`]) and
//! what the image claims today beside it ([`Claim`]). Formats are in `report`. Pure functions of facts: no I/O, no
//! clock.

mod claim;
mod compat;
mod needs;
mod require;

pub use claim::{Claim, Difference};
pub use compat::{HostBrand, forward_hosts};
pub use needs::{Needs, OnCapability, PackageNeeds, Runs, needs};
pub use require::{Bound, Part, RequireCuda};
