//! Policies that other files are part of, and what is said of them: includes, doubts of `lint`, baselines, `show`.

use crate::support_cli::{Place, simple};

const H100: &str =
    "version: 1\ntargets: [{name: h100, gpu: H100, driver: R550, platform: linux/amd64}]\n";

#[test]
fn a_shared_base_is_read_from_the_folder_of_the_file_that_includes_it() {
    let place = Place::new();
    place.write("fleet/base.yaml", H100);
    place.write(
        "app/smgate.yaml",
        "version: 1\ninclude: ../fleet/base.yaml\n",
    );
    let input = simple("pkg", &[("sm_80 sm_90", 1)]);
    let name = input.file_name();
    place.write(&format!("app/src/{name}"), input.build());
    let run = place.run_in("app/src", &["check", &name]);
    assert_eq!(run.status, 0, "{run:?}");
    // what the base gets wrong is told with its own name
    place.write("fleet/base.yaml", H100.replace("H100", "H10O"));
    let run = place.run_in("app/src", &["check", &name]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("base.yaml:2:29"), "{}", run.stderr);
    // by another name of the same file too
    place.write(
        "fleet/base.yaml",
        "version: 1\ninclude: ../app/../app/smgate.yaml\n",
    );
    let run = place.run_in("app", &["policy", "lint"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("includes itself"), "{}", run.stderr);
    place.write("app/smgate.yaml", "version: 1\ninclude: gone.yaml\n");
    let run = place.run_in("app", &["policy", "lint"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("smgate.yaml:2:10"), "{}", run.stderr);
}

#[test]
fn lint_warns_of_what_is_doubtful_and_stays_valid() {
    let place = Place::new();
    let waiver = "waivers: [{rule: jit-only, reason: x, until: 2027-01-14}]\n";
    place.write(
        "smgate.yaml",
        format!("{}{waiver}", H100.replace("H100", "B200")),
    );
    let lint = |day: &str| place.run(&["policy", "lint", "--today", day]);
    let run = lint("2027-01-15");
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stderr
            .contains("warning: driver R550 does not know B200"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("ended on 2027-01-14"), "{}", run.stderr);
    assert!(!lint("2027-01-14").stderr.contains("ended on"));
    assert_eq!(lint("tomorrow").status, 2);
}

#[test]
fn a_baseline_is_written_and_then_fails_on_what_is_new_only() {
    let place = Place::new();
    place.write(
        "smgate.yaml",
        H100.replace("H100", "B200").replace("R550", "R580"),
    );
    let old = simple("old", &[("sm_80 sm_90", 1)]).write(&place);
    let new = simple("new", &[("sm_80 sm_90", 1)]).write(&place);
    assert_eq!(place.run(&["check", &old]).status, 1);
    let written = place.run(&["check", &old, "--write-baseline", "known.json"]);
    assert_eq!(written.status, 0, "{written:?}");
    let run = place.run(&["check", &old, "--baseline", "known.json"]);
    assert_eq!(run.status, 0, "{run:?}");
    let run = place.run(&["check", &new, &old, "--baseline", "known.json"]);
    assert_eq!(run.status, 1, "{run:?}");
    let run = place.run(&[
        "check",
        &new,
        "--baseline",
        "known.json",
        "--format",
        "json",
    ]);
    assert!(
        run.codes().iter().any(|code| code == "baseline-unused"),
        "{run:?}"
    );
    // neither a missing file nor another one is an empty baseline
    for name in ["gone.json", "smgate.yaml"] {
        let run = place.run(&["check", &old, "--baseline", name]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}");
    }
    let both = [
        "check",
        &old,
        "--baseline",
        "known.json",
        "--write-baseline",
        "x.json",
    ];
    assert_eq!(place.run(&both).status, 2);
}

#[test]
fn show_says_what_a_policy_means_and_where_it_is_set() {
    let place = Place::new();
    place.write("base.yaml", "version: 1\ntargets: [{name: w, gpu: RTX 4090, platform: windows/amd64, driver: 551.61}]\nlevels: {jit-only: deny}\nthresholds: {partial-coverage: 0.9}\n");
    place.write(
        "smgate.yaml",
        "\
version: 1
include: base.yaml
targets:
  - {name: cloud, instance: aws:p5.48xlarge, driver: R550}
  - {name: odd, pci: 10de:2330, driver: 999.10.01, allow-jit: [mine]}
scopes:
  - {targets: cloud, levels: {jit-only: warn}}
  - {package: torch, thresholds: {main-library: 0.4}}
waivers: [{rule: link-only, package: torch, reason: linked at start, until: 2027-01-14}]
",
    );
    let run = place.run(&["policy", "show", "--today", "2027-01-15"]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 0
    --- stdout
    policy smgate.yaml
      includes base.yaml

    target `w`  (base.yaml, line 2)
      gpu         GeForce RTX 4090, compute capability 8.9  (`gpu: RTX 4090`)
      driver      551.61  (branch R550, CUDA 12.4, a Windows number)
      platform    windows/amd64
      deny        no-kernel-image, ptx-too-new, driver-too-old, driver-dropped-gpu, compression-needs-driver, runtime-library-missing, platform-mismatch, cpu-only-build, no-file-for-target, jit-only (base.yaml, line 3)
      incomplete  unreadable
      warn        arch-specific-only, library-for-newer-gpus, partial-coverage, jit-compiler-mismatch, link-only, mixed-cuda-majors, tegra-compatibility-unsure, claim-mismatch, ptx-header-mismatch, built-at-install, not-locked, driver-not-given, driver-unknown, driver-capability-missing, stale-compat-config, waiver-expired, waiver-unused, scope-unused, baseline-unused, packages-unknown
      allow       unused-architectures, no-forward-ptx
      threshold   main-library 0.5  (default)
      threshold   partial-coverage 0.9  (base.yaml, line 4)

    target `cloud`  (smgate.yaml, line 4)
      gpu         NVIDIA H100 80GB HBM3, compute capability 9.0  (`instance: aws:p5.48xlarge`, 1 or 8 GPUs)
      driver      R550  (branch R550, CUDA 12.4)
      platform    linux/amd64
      deny        no-kernel-image, ptx-too-new, driver-too-old, driver-dropped-gpu, compression-needs-driver, runtime-library-missing, platform-mismatch, cpu-only-build, no-file-for-target
      incomplete  unreadable
      warn        arch-specific-only, library-for-newer-gpus, partial-coverage, jit-only (smgate.yaml, line 7), jit-compiler-mismatch, link-only, mixed-cuda-majors, tegra-compatibility-unsure, claim-mismatch, ptx-header-mismatch, built-at-install, not-locked, driver-not-given, driver-unknown, driver-capability-missing, stale-compat-config, waiver-expired, waiver-unused, scope-unused, baseline-unused, packages-unknown
      allow       unused-architectures, no-forward-ptx
      threshold   main-library 0.5  (default)
      threshold   partial-coverage 0.9  (base.yaml, line 4)

    target `odd`  (smgate.yaml, line 5)
      gpu         NVIDIA H100 80GB HBM3, compute capability 9.0  (`pci: 10de:2330`)
      driver      999.10.01  (of no branch that is known)
      platform    not given
      allow-jit   mine
      deny        no-kernel-image, ptx-too-new, driver-too-old, driver-dropped-gpu, compression-needs-driver, runtime-library-missing, platform-mismatch, cpu-only-build, no-file-for-target, jit-only (base.yaml, line 3)
      incomplete  unreadable
      warn        arch-specific-only, library-for-newer-gpus, partial-coverage, jit-compiler-mismatch, link-only, mixed-cuda-majors, tegra-compatibility-unsure, claim-mismatch, ptx-header-mismatch, built-at-install, not-locked, driver-not-given, driver-unknown, driver-capability-missing, stale-compat-config, waiver-expired, waiver-unused, scope-unused, baseline-unused, packages-unknown
      allow       unused-architectures, no-forward-ptx
      threshold   main-library 0.5  (default)
      threshold   partial-coverage 0.9  (base.yaml, line 4)

    scope: on `cloud`  (smgate.yaml, line 7)
      warn jit-only

    scope: package `torch`  (smgate.yaml, line 8)
      main-library 0.4

    waiver of link-only: package `torch`  (smgate.yaml, line 9)
      until 2027-01-14, which is over: linked at start
    ");
    let run = place.run(&[
        "policy",
        "show",
        "smgate.yaml",
        "--format",
        "json",
        "--today",
        "2027-01-15",
    ]);
    let shown = run.json();
    assert_eq!(shown["schema"], "smgate/policy/1");
    let cloud = &shown["targets"][1];
    assert_eq!(cloud["name"], "cloud");
    assert_eq!(cloud["gpus"][0]["cc"], "9.0");
    assert_eq!(cloud["gpus"][0]["counts"], serde_json::json!([1, 8]));
    assert_eq!(cloud["platform"], "linux/amd64");
    let level = |target: &serde_json::Value, rule: &str| {
        let levels = target["levels"].as_array().unwrap();
        let found = levels.iter().find(|level| level["rule"] == rule).unwrap();
        format!(
            "{} {}",
            found["level"].as_str().unwrap(),
            found["from"].as_str().unwrap()
        )
    };
    assert_eq!(level(cloud, "jit-only"), "warn smgate.yaml, line 7");
    assert_eq!(
        level(&shown["targets"][0], "jit-only"),
        "deny base.yaml, line 3"
    );
    assert_eq!(level(cloud, "no-kernel-image"), "deny default");
    // 551.61 is R550 on Windows; what no table knows stays unknown
    assert_eq!(shown["targets"][0]["driver"]["branch"], "R550");
    assert!(shown["targets"][2]["driver"]["branch"].is_null());
    assert_eq!(shown["waivers"][0]["expired"], true);
    assert_eq!(place.run(&["policy", "show", "gone.yaml"]).status, 2);
}

#[test]
fn the_python_of_a_target_chooses_among_wheels() {
    let place = Place::new();
    place.write("smgate.yaml", H100.replace("R550", "R550, python: '3.12'"));
    let of = |tag: &str| simple("pkg", &[("sm_80 sm_90", 1)]).tag(tag).write(&place);
    let own = of("cp312-cp312-manylinux_2_28_x86_64");
    let other = of("cp311-cp311-manylinux_2_28_x86_64");
    assert_eq!(place.run(&["check", &own]).status, 0);
    let run = place.run(&["check", &other, "--format", "json"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(run.codes(), ["platform-mismatch"]);
    // what was saved says the same
    let saved = place.run(&["inspect", &other, "--format", "json"]);
    assert_eq!(
        saved.json()["artifacts"][0]["python_tags"],
        serde_json::json!(["cp311-cp311"])
    );
    place.write("saved.json", &saved.stdout);
    assert_eq!(place.run(&["check", "--inventory", "saved.json"]).status, 1);
}

#[test]
fn a_shown_policy_has_nothing_that_a_terminal_would_obey() {
    let place = Place::new();
    let policy =
        format!("{H100}scopes: [{{library: \"a\\u202e*\", levels: {{jit-only: deny}}}}]\n");
    place.write("smgate.yaml", policy);
    for format in ["human", "json"] {
        let run = place.run(&["policy", "show", "--format", format]);
        assert_eq!(run.status, 0, "{run:?}");
        assert!(run.stdout.contains("202e"), "{run:?}");
        assert!(!run.stdout.contains('\u{202e}'), "{run:?}");
    }
}
