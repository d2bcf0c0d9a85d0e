//! smgate: will the CUDA code in this package run on the GPUs and drivers it is going to?

pub mod archive;
pub mod cuda;
mod error;
pub mod limits;
mod locator;
pub mod platform;
mod problem;
pub mod rule;
pub mod source;

pub use error::{Error, ErrorKind};
pub use locator::{Locator, MemberName, Step};
pub use problem::{Extent, Problem, ProblemKind};
