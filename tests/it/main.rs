//! The integration tests: one binary, one module a subject.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a failed expectation is a failed test; clippy.toml says so of test functions, this of their helpers"
)]

#[cfg(unix)]
mod action;
mod cli_check;
mod cli_conda;
mod cli_diff;
mod cli_explain;
mod cli_export;
mod cli_facts;
#[cfg(feature = "registry")]
mod cli_find;
mod cli_host;
mod cli_html;
mod cli_image;
mod cli_image_facts;
#[cfg(feature = "registry")]
mod cli_index;
mod cli_inputs;
mod cli_inventory;
mod cli_kernels;
#[cfg(feature = "registry")]
mod cli_lock;
mod cli_option_names;
mod cli_output;
mod cli_policy;
mod cli_policy_parts;
mod cli_report;
mod cli_shell;
#[cfg(unix)]
mod closure;
mod daemon;
mod demo;
mod determinism;
mod device_robustness;
#[cfg(feature = "registry")]
mod docs;
mod host_note;
mod host_readelf;
mod hostile_image;
mod hostile_memory;
mod hostile_wheel;
mod hostile_zip;
mod image_oracle;
mod image_zoo;
mod kernels;
mod layers;
mod oracle;
mod oracle_blind;
mod packaging;
mod recipe;
#[cfg(feature = "registry")]
mod registry;
#[cfg(feature = "registry")]
mod remote;
#[cfg(feature = "registry")]
mod reports;
mod schema;
mod support;
mod support_cli;
mod support_html;
mod support_image;
mod support_zip;
