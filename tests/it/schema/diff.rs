//! What `diff` prints is of its schema.

use serde_json::Value;

use super::{ALL, POLICY, assert_valid, inputs, printed, schema};

#[test]
fn the_comparison_of_everything_is_of_its_schema() {
    let root = tempfile::tempdir().unwrap();
    inputs(root.path());
    std::fs::write(root.path().join("smgate.yaml"), POLICY).unwrap();
    let schema = schema("diff-1.json");
    let diff = ["diff", "--format", "json", "--today", "2026-11-30"];
    let mut kinds = Vec::new();
    for before in ALL {
        for after in [ALL[0], ALL[5], ALL[6]] {
            let report = printed(root.path(), &[&diff[..], &[before, after]].concat());
            assert_valid(&schema, &report);
            let text = report.to_string();
            kinds.extend(
                ["machine-code", "ptx", "to-be-linked", "lto-ir", "other"]
                    .into_iter()
                    .filter(|form| text.contains(&format!("\"form\":\"{form}\""))),
            );
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    std::fs::remove_file(root.path().join("smgate.yaml")).unwrap();
    let report = printed(root.path(), &["diff", "--format", "json", ALL[0], ALL[1]]);
    assert_valid(&schema, &report);
    assert_eq!(report["policy"], Value::Null);
}
