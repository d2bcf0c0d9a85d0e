//! A saved inventory gives the same verdict as what it was made of.

use serde_json::Value;

use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support_cli::{Place, library, simple, wheel};
use crate::support_zip::Zip;

/// Inputs of every kind, with problems, nested archives, hashed runtimes and headers that lie.
fn inputs(place: &Place) -> Vec<String> {
    let linked = Elf::new()
        .needed("libcudart-5a077122.so.12.0.107")
        .section(
            ".nv_fatbin",
            fatbin(&[
                Entry::plain_cubin("sm_90a", (12, 8)).filed_under("sm_90"),
                Entry::ptx("compute_90", "8.4").zstd(),
                Entry::lto_ir("sm_80"),
            ]),
        )
        .section(
            "__nv_relfatbin",
            fatbin(&[Entry::ptx("compute_80", "8.0").lz4()]),
        )
        .build();
    let mut damaged = library(&[("sm_80 sm_86", 1)]);
    let at = damaged
        .windows(4)
        .position(|four| four == [0x50, 0xed, 0x55, 0xba]);
    damaged[at.unwrap() + 8..][..8].fill(0xff);
    let nested = Zip::new()
        .deflated("deep/x.so", &library(&[("sm_70 sm_80", 3)]))
        .build();
    let mixed = wheel("mixed", "1.0+cu128")
        .member("mixed/_C.so", linked)
        .member("mixed/_D.so", damaged)
        .member("mixed/gr\u{fc}n \u{202e}.so", library(&[("sm_90", 2)]))
        .member(
            "mixed/k.cubin",
            crate::support::cubin::Cubin::new("sm_90", (12, 8)).build(),
        )
        .member("mixed/data.bin", nested)
        .write(place);
    let jit = simple("jit", &[("sm_75 compute_75@8.7", 2), ("sm_80", 1)]).write(place);
    place.write("site/a/_C.so", library(&[("sm_80 sm_90", 2)]));
    place.write("site/a-1.0.dist-info/METADATA", "Name: a\nVersion: 1.0\n");
    place.write("site/a-1.0.dist-info/RECORD", "a/_C.so,,\n");
    place.write("site/stray.so", library(&[("sm_100a", 2)]));
    place.write("one.so", library(&[("sm_90a", 2)]));
    place.write(
        "cut.fatbin",
        &fatbin(&[Entry::ptx("compute_90", "8.4")])[..100],
    );
    place.write("broken-1.0-py3-none-any.whl", "no wheel");
    let fixed = [
        "site",
        "one.so",
        "cut.fatbin",
        "broken-1.0-py3-none-any.whl",
    ];
    [mixed, jit]
        .into_iter()
        .chain(fixed.map(str::to_owned))
        .collect()
}

const POLICY: &str = "\
version: 1
targets:
  - {name: h100, gpu: [H100, H200], driver: R535, platform: linux/amd64}
  - {name: t4, gpu: T4, platform: linux/amd64}
  - {name: b200, gpu: B200, driver: 580.65.06, platform: linux/arm64}
expect-gpu: [\"*\"]
waivers:
  - {rule: unreadable, library: \"**/_D.so\", reason: known, until: 2027-03-01}
  - {rule: no-kernel-image, package: mixed, reason: known, until: 2027-03-01}
  - {rule: no-kernel-image, library: one.so, reason: known, until: 2027-03-01}
";

#[test]
fn a_saved_inventory_gives_the_same_result() {
    let place = Place::new();
    place.write("smgate.yaml", POLICY);
    let inputs = inputs(&place);
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let mut inspect = vec!["inspect", "--format", "json"];
    inspect.extend(&inputs);
    let saved = place.run(&inspect);
    assert_eq!(saved.status, 3, "{}", saved.stderr);
    place.write("inventory.json", &saved.stdout);
    for format in ["json", "human"] {
        let options = ["--format", format, "--today", "2027-01-15", "--verbose"];
        let mut check = vec!["check"];
        check.extend(&inputs);
        check.extend(options);
        let direct = place.run(&check);
        assert_eq!(direct.status, 1, "{direct:?}");
        let mut check = vec!["check", "--inventory", "inventory.json"];
        check.extend(options);
        assert_eq!(place.run(&check), direct, "{format}");
    }
    // one by one: also where nothing could be read
    for input in &inputs {
        let saved = place.run(&["inspect", "--format", "json", input]);
        place.write("one.json", &saved.stdout);
        let options = ["--format", "json", "--today", "2027-01-15"];
        let mut direct = vec!["check", input];
        direct.extend(options);
        let mut from_file = vec!["check", "--inventory", "one.json"];
        from_file.extend(options);
        assert_eq!(place.run(&from_file), place.run(&direct), "{input}");
    }
}

#[test]
fn the_contract_of_inspect_holds() {
    let place = Place::new();
    let inputs = inputs(&place);
    let run = place.run(&["inspect", "--format", "json", &inputs[0]]);
    let report = run.json();
    assert_eq!(report["schema"], "smgate/inspect/1");
    let artifact = &report["artifacts"][0];
    assert_eq!(
        (&artifact["kind"], &artifact["name"]),
        (&"wheel".into(), &"mixed".into())
    );
    assert_eq!(artifact["version"], "1.0+cu128");
    assert_eq!(artifact["sha256"].as_str().unwrap().len(), 64);
    let library = artifact["libraries"]
        .as_array()
        .unwrap()
        .iter()
        .find(|library| library["path"] == "mixed/_C.so")
        .unwrap();
    assert_eq!(library["fatbins"], 2);
    assert_eq!(
        library["needed"],
        serde_json::json!(["libcudart-5a077122.so.12.0.107"])
    );
    let image = |kind: &str, target: &str, isa: Value, relocatable: bool| {
        library["images"].as_array().unwrap().iter().any(|image| {
            image["kind"] == kind
                && image["target"] == target
                && image["isa"] == isa
                && image["relocatable"] == relocatable
                && image["count"] == 1
                && image["own"] == true
        })
    };
    assert!(image("cubin", "sm_90a", Value::Null, false), "{library:#}");
    assert!(
        image("ptx", "compute_90", "8.4".into(), false),
        "{library:#}"
    );
    assert!(image("lto-ir", "sm_80", Value::Null, false), "{library:#}");
    assert!(
        image("ptx", "compute_80", "8.0".into(), true),
        "{library:#}"
    );
}

#[test]
fn numbers_that_nothing_has_are_taken_as_they_are() {
    let place = Place::new();
    let inputs = inputs(&place);
    let mut inspect = vec!["inspect", "--format", "json"];
    inspect.extend(inputs.iter().map(String::as_str));
    let saved = place.run(&inspect).stdout;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // these must agree with lists, which stay as they are
    let counted = |key: &str, value: &str| {
        key.ends_with("\"with_device_code\"") || (key.ends_with("\"fatbins\"") && value == "0")
    };
    let most: Vec<String> = saved
        .lines()
        .map(|line| match line.rsplit_once(": ") {
            Some((key, value))
                if is_number(value.trim_end_matches(','))
                    && !counted(key, value.trim_end_matches(',')) =>
            {
                let comma = if value.ends_with(',') { "," } else { "" };
                format!("{key}: {}{comma}", u64::MAX)
            }
            _ => line.to_owned(),
        })
        .collect();
    place.write("x.json", most.join("\n"));
    for format in ["json", "human"] {
        let run = place.run(&[
            "check",
            "--inventory",
            "x.json",
            "--target",
            "H100",
            "--driver",
            "R535",
            "--format",
            format,
        ]);
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run:?}");
    }
}

#[test]
fn what_is_no_inventory_is_refused() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_90", 1)]).write(&place);
    let saved = place.run(&["inspect", "--format", "json", &input]).stdout;
    let with = |from: &str, to: &str| {
        assert!(saved.contains(from), "{from}: {saved}");
        saved.replace(from, to)
    };
    let middle = saved.len() / 2;
    for (what, text) in [
        ("empty", String::new()),
        (
            "another schema",
            with("smgate/inspect/1", "smgate/inspect/9"),
        ),
        (
            "a report of check",
            with("smgate/inspect/1", "smgate/check/1"),
        ),
        ("cut", saved[..middle].to_owned()),
        ("another target", with("\"sm_90\"", "\"sm_9000\"")),
        ("another kind", with("\"cubin\"", "\"cubinn\"")),
        ("another coding", with("\"none\"", "\"lzma\"")),
        ("a negative count", with("\"count\": 1", "\"count\": -1")),
        ("deep", "[".repeat(100_000)),
    ] {
        place.write("x.json", &text);
        let run = place.run(&["check", "--inventory", "x.json", "--target", "H100"]);
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, ""),
            "{what}: {run:?}"
        );
        assert!(
            run.stderr.contains("`x.json` is not an inventory"),
            "{what}: {run:?}"
        );
        assert!(run.stderr.contains("  next: "), "{what}: {run:?}");
    }
    place.write("x.json", b"\xff\xfe");
    let run = place.run(&["check", "--inventory", "x.json", "--target", "H100"]);
    assert_eq!(run.status, 2, "{run:?}");
    let run = place.run(&["check", "--inventory", "none.json", "--target", "H100"]);
    assert_eq!(run.status, 2, "{run:?}");
    let run = place.run(&["check", &input, "--inventory", "x.json", "--target", "H100"]);
    assert_eq!(run.status, 2, "inputs or an inventory, not both: {run:?}");
}

#[test]
fn an_inventory_that_contradicts_itself_is_refused_and_the_place_is_named() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80 sm_86", 3)]).write(&place);
    let saved = place.run(&["inspect", "--format", "json", &input]).json();
    let judge = |inventory: &Value| {
        place.write("x.json", inventory.to_string());
        place.run(&["check", "--inventory", "x.json", "--target", "A100"])
    };
    assert_eq!(judge(&saved).status, 0, "as it is, it passes");
    let library = "/artifacts/0/libraries/0";
    let class = format!("{library}/classes/0");
    for (pointer, value, said) in [
        (
            format!("{class}/images"),
            serde_json::json!([]),
            "`images` of library `pkg/_C.so`",
        ),
        (
            format!("{class}/images/0/target"),
            "sm_90".into(),
            "`images` of library `pkg/_C.so`",
        ),
        (
            format!("{class}/images/1/per_fatbin"),
            0.into(),
            "`classes[0].images[1].per_fatbin`",
        ),
        (
            format!("{class}/count"),
            0.into(),
            "`classes[0].count` of library `pkg/_C.so`",
        ),
        (
            format!("{class}/count"),
            2.into(),
            "`fatbins` of library `pkg/_C.so`",
        ),
        (
            format!("{class}/own"),
            false.into(),
            "`classes[0].own` of library `pkg/_C.so`",
        ),
        (
            format!("{class}/component"),
            "cublas".into(),
            "`classes[0].own`",
        ),
        (
            format!("{library}/fatbins"),
            4.into(),
            "`fatbins` of library `pkg/_C.so`",
        ),
        (
            format!("{library}/images/0/count"),
            4.into(),
            "`images` of library `pkg/_C.so`",
        ),
        (
            format!("{library}/images"),
            serde_json::json!([]),
            "`images` of library `pkg/_C.so`",
        ),
        (
            format!("{library}/classes"),
            serde_json::json!([]),
            "`fatbins` of library `pkg/_C.so`",
        ),
        (
            "/artifacts/0/libraries".to_owned(),
            serde_json::json!([]),
            "`files` of artifact `pkg-1.0-",
        ),
        (
            "/artifacts/0/files/with_device_code".to_owned(),
            0.into(),
            "`files` of artifact `pkg-1.0-",
        ),
        (
            "/artifacts/0/files/unopened".to_owned(),
            99.into(),
            "`files` of artifact `pkg-1.0-",
        ),
        (
            "/artifacts/0/files/seen".to_owned(),
            0.into(),
            "`files` of artifact `pkg-1.0-",
        ),
    ] {
        let mut changed = saved.clone();
        *changed.pointer_mut(&pointer).unwrap() = value;
        let run = judge(&changed);
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, ""),
            "{pointer}: {run:?}"
        );
        assert!(
            run.stderr.contains("`x.json` is not an inventory: "),
            "{pointer}: {run:?}"
        );
        assert!(run.stderr.contains(said), "{pointer}: {run:?}");
    }
}

#[test]
fn a_saved_inventory_may_begin_with_a_byte_order_mark() {
    let place = Place::new();
    let input = simple("pkg", &[("sm_80", 1)]).write(&place);
    let saved = place.run(&["inspect", "--format", "json", &input]).stdout;
    place.write("x.json", format!("\u{feff}{saved}"));
    let run = place.run(&["check", "--inventory", "x.json", "--target", "H100"]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run:?}");
}
