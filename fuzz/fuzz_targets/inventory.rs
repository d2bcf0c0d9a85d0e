//! Any text as a saved inventory: what is read back writes the same text again, and is judged without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smgate::inventory::{from_json, to_json};
use smgate::policy::Policy;
use smgate::tables::Tables;
use smgate::verdict::{EvaluateOptions, evaluate};

fuzz_target!(|input: &str| {
    let Ok(inventory) = from_json("saved.json", input) else {
        return;
    };
    let written = to_json(&inventory).expect("an inventory can be written");
    let again = from_json("saved.json", &written).expect("what was written can be read");
    assert_eq!(inventory, again);
    let policy = Policy::preset("mixed-fleet", Tables::builtin())
        .expect("the preset is there")
        .expect("the preset is valid");
    let options = EvaluateOptions {
        today: "2026-11-30".parse().expect("a day"),
        fail_on_warn: false,
    };
    let _evaluation = evaluate(&inventory, &policy, Tables::builtin(), options);
});
