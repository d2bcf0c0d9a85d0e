//! What `find` says where there is little to say, and to programs.

use super::*;

#[test]
fn what_cannot_be_looked_for_says_why() {
    let place = Place::new();
    let index = Index::new(vec![build("1.0", "sm_61")]);
    let url = index.url();
    let with_login = url.replace("http://", "http://user:s3cret@");
    for (args, said) in [
        (
            vec!["pkg>=2", "--index-url", &url],
            "no index has a wheel of `pkg>=2` for linux/amd64",
        ),
        (
            vec!["other", "--index-url", &with_login],
            "no index has `other`",
        ),
        (
            vec!["pkg=1", "--index-url", &url],
            "`pkg=1` is no requirement",
        ),
    ] {
        let run = find(&place, &[&args, OLD_GPU].concat());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
        assert!(run.stderr.contains("  next: "), "{run:?}");
        assert!(!run.stderr.contains("s3cret"), "{run:?}");
    }
    // a login stays out of the commands
    let run = find(
        &place,
        &[&["pkg", "--index-url", &with_login], OLD_GPU].concat(),
    );
    assert_eq!(run.status, 0, "{run:?}");
    assert!(!run.stdout.contains("s3cret"), "{run:?}");
}

#[test]
fn the_json_is_of_its_schema() {
    let place = Place::new();
    let index = Index::new(vec![
        build("3.0", "sm_80 sm_90"),
        build("2.0", "sm_80 compute_60@8.4"),
        build("1.0", "sm_61 sm_80"),
    ]);
    let run = found(&place, &index, &[OLD_GPU, &["--format", "json"]].concat());
    let report = run.json();
    let schema = crate::schema::schema("find-1.json");
    crate::schema::assert_valid(&schema, &report);
    let series = &report["targets"][0]["series"][0];
    for field in ["native", "jit", "newest"] {
        assert!(series[field].is_object(), "{field}: {series}");
    }
}

// A target that allows the compilation hears that it is one.
#[test]
fn what_a_policy_allows_to_be_compiled_is_still_said_to_be() {
    let place = Place::new();
    let index = Index::new(vec![build("1.0", "sm_80 compute_60@8.4")]);
    let target = "{name: pool, gpu: GTX 1060, driver: R580}";
    place.write(
        "smgate.yaml",
        format!(
            "version: 1\ntargets:\n  - {target}\nallow-jit: [pkg]\nlevels: {{jit-only: deny}}\n"
        ),
    );
    let run = found(&place, &index, &[]);
    assert_eq!(run.status, 0, "{run:?}");
    let out = &run.stdout;
    assert!(
        out.starts_with("pool: GeForce GTX 1060 (6.1), driver R580\n  by JIT    pkg 1.0 ("),
        "{out}"
    );
    let denies = format!("version: 1\ntargets:\n  - {target}\nlevels: {{jit-only: deny}}\n");
    place.write("smgate.yaml", denies);
    let run = found(&place, &index, &[]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout.contains("pkg 1.0 (the newest): jit-only: "),
        "{run:?}"
    );
}

#[test]
fn builds_without_device_code_neither_run_nor_stop_the_search() {
    let place = Place::new();
    let index = Index::new(vec![build("2.0", ""), build("1.0", "sm_61 sm_80")]);
    let run = found(&place, &index, OLD_GPU);
    assert_eq!(run.status, 0, "{run:?}");
    let out = &run.stdout;
    assert!(out.contains("natively  pkg 1.0 ("), "{out}");
    assert!(
        out.contains("pkg 2.0 (the newest): no CUDA device code of its own\n"),
        "{out}"
    );
}
