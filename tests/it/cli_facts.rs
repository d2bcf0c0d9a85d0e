//! `smgate facts`, and rows of the user's over the tables.

use serde_json::Value;

use crate::support::text;
use crate::support_cli::{Place, simple};

fn schema() -> Value {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&text(&root.join("src/report/schema/facts-1.json"))).unwrap()
}

/// A GPU of a known capability under a name of our own.
const OVERLAY: &str = "\
sources: {lab: a card of our lab}
gpus:
- {name: Lab Card, cc: '9.0', class: datacenter, sources: lab}
";

#[test]
fn every_kind_answers_in_the_form_of_its_schema() {
    let place = Place::new();
    place.write("own.yaml", OVERLAY);
    let schema = schema();
    for (args, status) in [
        (&["gpu", "RTX", "4090"][..], "found"),
        (&["gpu", "RTX 6000"], "ambiguous"),
        (&["gpu", "RTX 5900"], "unknown"),
        (&["gpu", "lab card", "--tables", "own.yaml"], "found"),
        (&["pci", "10de:2330"], "found"),
        (&["pci", "10de:3200"], "found"),
        (&["arch", "sm_100f"], "found"),
        (&["arch", "ampere"], "ambiguous"),
        (&["toolkit", "12.4"], "found"),
        (&["toolkit", "12.10"], "unknown"),
        (&["driver", "R580"], "found"),
        (&["ptx", "8.7"], "found"),
        (&["instance", "p5.48xlarge"], "found"),
        (&["instance", "n1-standard-8"], "ambiguous"),
        (&["error", "209"], "found"),
        (&["error", "no such thing"], "unknown"),
    ] {
        let run = place.run(&[&["facts", "--format", "json"], args].concat());
        let answer = run.json();
        assert!(
            jsonschema::draft202012::is_valid(&schema, &answer),
            "{args:?}: {answer}"
        );
        assert_eq!(answer["status"], status, "{args:?}");
        assert_eq!(
            run.status,
            if status == "found" { 0 } else { 2 },
            "{args:?}"
        );
    }
}

#[test]
fn an_answer_names_its_sources_and_how_it_is_known() {
    let place = Place::new();
    let run = place.run(&["facts", "ptx", "8.7"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let (facts, sources) = run.stdout.split_once("Sources\n").unwrap();
    assert!(
        facts.contains("first driver linux        570.26 (measured [1][2])\n"),
        "{facts}"
    );
    assert!(
        sources.contains("  [2] https://docs.nvidia.com/cuda/parallel-thread-execution/"),
        "{sources}"
    );
    let run = place.run(&["facts", "ptx", "8.6"]);
    assert!(
        run.stdout.contains("first driver windows      unknown"),
        "{run:?}"
    );
}

#[test]
fn unknown_names_get_the_nearest_and_ambiguous_ones_the_candidates() {
    let place = Place::new();
    let run = place.run(&["facts", "gpu", "RTX", "5900"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr
            .starts_with("error: no GPU `RTX 5900` is known\n  next: did you mean ")
    );
    assert!(run.stderr.contains("`GeForce RTX 5090`"), "{run:?}");
    let run = place.run(&["facts", "gpu", "RTX 6000"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stdout
            .contains("\n  10de:26b1  8.9   RTX 6000 Ada Generation  AD102\n"),
        "{run:?}"
    );
    assert!(run.stdout.contains("smgate facts pci"), "{run:?}");
}

#[test]
fn rows_of_the_overlay_are_marked() {
    let place = Place::new();
    place.write("own.yaml", OVERLAY);
    let run = place.run(&["--tables", "own.yaml", "facts", "gpu", "Lab Card"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "note: from own.yaml: gpus `Lab Card`\n")
    );
    assert!(
        run.stdout
            .contains("compute capability        9.0 (docs [1], from the overlay)"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains(", with rows of own.yaml; sha256 "),
        "{run:?}"
    );
    let embedded = place.run(&["facts", "gpu", "H100"]);
    assert!(!embedded.stdout.contains("overlay"), "{embedded:?}");
}

#[test]
fn the_gate_judges_by_the_overlay_and_says_so() {
    let place = Place::new();
    place.write("own.yaml", OVERLAY);
    let policy = "version: 1\ntargets:\n- {name: lab, gpu: Lab Card, driver: R580}\n";
    place.write("smgate.yaml", policy);
    let hopper = simple("pkg", &[("sm_90 sm_100", 1)]).write(&place);
    let run = place.run(&["check", &hopper, "--tables", "own.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.stderr, "note: from own.yaml: gpus `Lab Card`\n");
    assert!(
        run.stdout.contains(", with rows of own.yaml; sha256 "),
        "{run:?}"
    );
    let tables =
        |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).json()["tables"].clone();
    let answer = tables(&["facts", "gpu", "Lab Card", "--tables", "own.yaml"]);
    assert_eq!(answer["overlay"], "own.yaml");
    // whatever the report is, the digest is that of the tables
    assert_eq!(tables(&["check", &hopper, "--tables", "own.yaml"]), answer);
    assert_eq!(
        tables(&["inspect", &hopper, "--tables", "own.yaml"]),
        answer
    );
    let embedded = tables(&["inspect", &hopper]);
    assert_eq!(embedded["overlay"], Value::Null);
    assert_eq!(embedded, tables(&["facts", "gpu", "H100"]));
    assert_ne!(embedded["sha256"], answer["sha256"]);
    assert_eq!(
        place
            .run(&["policy", "lint", "--tables", "own.yaml"])
            .status,
        0
    );
    let without = place.run(&["check", &hopper]);
    assert_eq!(without.status, 2, "{without:?}");
    let ampere = simple("old", &[("sm_80 sm_86", 1)]).write(&place);
    let run = place.run(&[
        "check", &ampere, "--tables", "own.yaml", "--target", "Lab Card",
    ]);
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn a_wrong_overlay_is_refused_with_its_place() {
    let place = Place::new();
    for (content, expected) in [
        (
            "gpus:\n- {name: X, cc: '9.0', class: other, colour: red, sources: a b}\n",
            "line 2",
        ),
        (
            "sources: {own: x y}\n\ngpus:\n- {name: X, cc: '6.6', class: other, sources: own}\n",
            "line 4, column 3: GPU `X` has an unknown capability",
        ),
    ] {
        place.write("bad.yaml", content);
        for args in [
            &["facts", "gpu", "H100"][..],
            &["check", "x.whl", "--target", "H100"],
        ] {
            let run = place.run(&[&["--tables", "bad.yaml"], args].concat());
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
            assert!(
                run.stderr.starts_with("error: tables `bad.yaml`: "),
                "{run:?}"
            );
            assert!(run.stderr.contains(expected), "{run:?}");
        }
    }
    let run = place.run(&["--tables", "missing.yaml", "facts", "gpu", "H100"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("`missing.yaml` could not be read"),
        "{run:?}"
    );
}

#[test]
fn a_name_that_a_terminal_would_obey_or_that_has_no_end_is_unknown_as_any_other() {
    let place = Place::new();
    let odd = "H100\u{1b}[31m\u{202e}\u{9b}";
    let run = place.run(&["facts", "gpu", odd, "--format", "json"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert_eq!(run.json()["asked"], odd);
    let is_obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!run.stdout.contains(is_obeyed), "{run:?}");
    let long = "x".repeat(100_000);
    let run = place.run(&["facts", "gpu", &long, "--format", "json"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.json()["nearest"], serde_json::json!([]));
}
