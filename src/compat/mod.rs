//! The rules of CUDA compatibility: what runs on which GPU, and what a driver accepts.
//!
//! Pure functions of facts (`tables`), in one place for those who judge (`verdict`) and those who only look
//! things up (`facts`). Nothing here knows artifacts, policies or the fatbins of a library.
//!
#![doc = include_str!("FOLKLORE.md")]

mod driver;
mod forward;
mod require;
mod runs;

/// Claims about CUDA compatibility that are often heard, and what is true of them.
pub const FOLKLORE: &str = include_str!("FOLKLORE.md");

pub use driver::{Driver, Drives, Meets, first_driver};
pub use forward::{Forward, ForwardFailure, ForwardUnsure, Package, forward, user_mode};
pub use require::{
    Accepted, Answer, ENFORCED, ENFORCED_SOURCE, Host, Unmet, Unsure, accepted, requirements_met,
};
pub use runs::{CUBIN_RULE, Fit, PTX_RULE, cubin_fit, ptx_fit};
