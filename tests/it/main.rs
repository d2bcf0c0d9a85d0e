//! The integration tests: one binary, one module a subject.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a failed expectation is a failed test; clippy.toml says so of test functions, this of their helpers"
)]

mod demo;
mod device_robustness;
mod docs;
mod host_readelf;
mod layers;
mod oracle;
mod oracle_blind;
mod recipe;
mod schema;
mod support;
