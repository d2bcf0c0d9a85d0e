//! The integration tests: one binary, one module a subject.

mod device_robustness;
mod docs;
mod host_readelf;
mod layers;
mod oracle;
mod oracle_blind;
mod schema;
mod support;
