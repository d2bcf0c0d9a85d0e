//! Reports of `check` for machines and code hosts, one file each.
//!
//! What they share is here: where a finding is shown (`place`), by what it is known again (`key`), in which words it
//! is said and in which order it comes (`words`). Foreign text is made harmless by `crate::escape` alone.

pub(super) mod github;
pub(super) mod gitlab;
pub(super) mod junit;
mod key;
pub(super) mod markdown;
pub(super) mod ndjson;
mod place;
pub(super) mod sarif;
#[cfg(test)]
mod tests;
mod words;
