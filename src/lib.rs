//! smgate: will the CUDA code in this package run on the GPUs and drivers it is going to?

pub mod archive;
pub mod cli;
pub mod cuda;
pub mod device;
mod error;
pub mod inventory;
pub mod limits;
mod locator;
pub mod platform;
pub mod policy;
mod problem;
pub mod report;
pub mod rule;
pub mod source;
pub mod tables;
pub mod verdict;

pub use error::{Error, ErrorKind};
pub use locator::{Locator, MemberName, Step};
pub use problem::{Extent, Problem, ProblemKind};
