//! The rules of CUDA compatibility: what runs on which GPU, and what a driver accepts.
//!
//! Pure functions of facts (`tables`), in one place for those who judge (`verdict`) and those who only look
//! things up (`facts`). Nothing here knows artifacts, policies or the fatbins of a library.

mod driver;
mod runs;

pub use driver::{Driver, Meets};
pub use runs::{Fit, cubin_fit, ptx_fit};
