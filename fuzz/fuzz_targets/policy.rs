//! Any bytes as a policy: mistakes are rendered, a valid policy has a target.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smgate::policy::Policy;
use smgate::tables::Tables;

fuzz_target!(|input: &[u8]| {
    match Policy::parse_bytes("smgate.yaml", input, Tables::builtin()) {
        Ok(policy) => assert!(!policy.targets.is_empty()),
        Err(mistakes) => assert!(!mistakes.render(false).is_empty()),
    }
});
