//! Tests of what is chosen.
