//! The reports of `check` for machines and code hosts: one evaluation with everything in it, in every form.

mod failing;
mod keys;
mod nasty;
mod rendered;
mod room;
mod sarif;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::image::hex;
use crate::support_cli::{FORMATS, Place, Run, library, simple, wheel};

const POLICY: &str = "\
version: 1
targets:
  - {name: t4-pool, gpu: T4, driver: R580, platform: linux/amd64, python: '3.12', glibc: '2.28'}
  - {name: h100, gpu: H100, driver: R580, platform: linux/amd64, python: '3.12', glibc: '2.28'}
  - {name: grace, gpu: GH200, platform: linux/arm64, python: '3.12', glibc: '2.28'}
waivers:
  - {rule: no-kernel-image, package: waived, reason: \"not called, see [notes]\", until: 2027-03-01}
  - {rule: jit-only, reason: too late, until: 2026-01-31}
  - {rule: link-only, package: absent, reason: matches nothing, until: 2027-03-01}
";

/// The inputs of [`golden`].
const INPUTS: &[&str] = &[
    "dist/bad-1.0-py3-none-manylinux_2_28_x86_64.whl",
    "dist/good-1.0-py3-none-manylinux_2_28_x86_64.whl",
    "dist/waived-1.0-py3-none-manylinux_2_28_x86_64.whl",
    "dist/cut-1.0-py3-none-manylinux_2_28_x86_64.whl",
    "./gr\u{fc}n tree",
    "oci-dir:multi",
    "sub/pylock.toml",
];

/// Wheels good, bad, accepted and cut short, a directory, an image of two platforms, and a lock file for two
/// environments.
fn golden() -> Place {
    let place = Place::new();
    place.write("smgate.yaml", POLICY);
    let put = |file: crate::support_cli::WheelFile| {
        let name = file.file_name();
        let bytes = file.build();
        place.write(&format!("dist/{name}"), &bytes);
        (name, bytes)
    };
    let (bad, bytes) = put(simple("bad", &[("sm_80 sm_86", 3)]));
    put(wheel("good", "1.0").member("good/_C.so", library(&[("sm_75 sm_90", 2)])));
    put(simple("waived", &[("sm_90", 3)]));
    let (cut, whole) = put(simple("cut", &[("sm_90", 3)]));
    place.write(&format!("dist/{cut}"), &whole[..whole.len() / 2]);
    place.write("gr\u{fc}n tree/lib/a b.so", library(&[("sm_70", 2)]));
    crate::cli_image::multi(&place);
    place.write(&format!("sub/wheels/{bad}"), &bytes);
    let absent = "absent-2.0-py3-none-any.whl";
    place.write(
        "sub/pylock.toml",
        format!(
            "lock-version = \"1.0\"\ncreated-by = \"tests\"\n\n[[packages]]\nname = \"bad\"\nversion = \"1.0\"\n\
             wheels = [{{ path = \"wheels/{bad}\", hashes = {{ sha256 = \"{}\" }} }}]\n\n\
             [[packages]]\nname = \"absent\"\nversion = \"2.0\"\n\
             wheels = [{{ path = \"wheels/{absent}\", hashes = {{ sha256 = \"{}\" }} }}]\n",
            hex(&bytes),
            hex(b"absent")
        ),
    );
    place
}

fn check(place: &Place, format: &str, inputs: &[&str], more: &[&str]) -> Run {
    let fixed = [
        "check",
        "--offline",
        "--today",
        "2026-11-30",
        "--format",
        format,
    ];
    place.run(&[&fixed, inputs, more].concat())
}

/// A report of the golden inputs.
fn report(place: &Place, format: &str) -> String {
    let run = check(place, format, INPUTS, &[]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{format}");
    run.stdout
}

/// The form `json`, which holds everything.
fn everything(place: &Place) -> Value {
    serde_json::from_str(&report(place, "json")).unwrap()
}

fn denied(report: &Value) -> Vec<&Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    let denied =
        findings.filter(|finding| finding["level"] == "deny" && finding["waived"].is_null());
    denied.collect()
}

/// Text without the escapes of a form, as far as the golden inputs have any.
fn plain(format: &str, text: &str) -> String {
    match format {
        "github" => text
            .replace("%0A", "\n")
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%25", "%"),
        "junit" => text
            .replace("&gt;", ">")
            .replace("&lt;", "<")
            .replace("&amp;", "&"),
        "markdown" => text
            .replace("&gt;", ">")
            .replace("&lt;", "<")
            .replace("&amp;", "&")
            .replace("<code>", "`")
            .replace("</code>", "`")
            .replace('\\', ""),
        "human" => text.to_owned(),
        // escapes of JSON
        _ => text.replace("\\n", "\n").replace("\\\"", "\""),
    }
}

#[test]
fn every_denied_finding_and_every_problem_is_in_every_form() {
    let place = golden();
    let whole = everything(&place);
    let denied = denied(&whole);
    assert!(denied.len() >= 6, "{denied:#?}");
    let mut kinds = BTreeSet::new();
    for format in FORMATS {
        // a step of GitHub has no room for all of them, but for those of each input
        let texts: Vec<String> = match *format {
            "github" => INPUTS
                .iter()
                .map(|input| check(&place, format, &[input], &[]).stdout)
                .collect(),
            _ => vec![report(&place, format)],
        };
        let text = plain(format, &texts.concat());
        for finding in &denied {
            // findings that say the same are gathered by their targets and GPUs in the forms for people
            let words = finding["message"].as_str().unwrap();
            let alike = words.split(" for ").next().unwrap();
            for said in [alike, finding["code"].as_str().unwrap()] {
                assert!(text.contains(said), "{format} lacks `{said}`:\n{text}");
            }
            for name in ["package", "library", "target"] {
                if let Some(name) = finding[name].as_str() {
                    assert!(text.contains(name), "{format} lacks `{name}`:\n{text}");
                }
            }
        }
        for problem in whole["problems"].as_array().unwrap() {
            let detail = problem["detail"].as_str().unwrap();
            assert!(text.contains(detail), "{format} lacks `{detail}`:\n{text}");
            kinds.insert(problem["kind"].as_str().unwrap());
        }
    }
    assert!(kinds.len() >= 2, "{kinds:?}");
}

#[test]
fn a_report_in_a_file_is_the_one_on_standard_output() {
    let place = golden();
    for format in FORMATS {
        let output = format!("{format}=out.{format}");
        let run = check(&place, "human", INPUTS, &["--output", &output]);
        assert_eq!(run.status, 1);
        let written = crate::support::text(&place.path().join(format!("out.{format}")));
        assert_eq!(written, report(&place, format), "{format}");
    }
}

#[test]
fn targets_by_hand_and_a_saved_inventory_have_all_forms() {
    let place = golden();
    let run = place.run(&[&["inspect", "--format", "json", "--offline"], INPUTS].concat());
    place.write("saved.json", &run.stdout);
    for format in FORMATS {
        let run = check(&place, format, INPUTS, &["--target", "H100"]);
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{format}");
        assert!(run.stdout.ends_with('\n'), "{format}");
        // no file says the policy
        assert!(!run.stdout.contains("smgate.yaml"), "{format}");
        let run = check(
            &place,
            format,
            &["--inventory", "saved.json"],
            &["--target", "H100"],
        );
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{format}");
        assert!(run.stdout.ends_with('\n'), "{format}");
        let good = check(&place, format, &INPUTS[1..2], &["--target", "H100"]);
        assert_eq!((good.status, good.stderr.as_str()), (0, ""), "{format}");
        let cut = check(&place, format, &INPUTS[3..4], &["--target", "H100"]);
        assert_eq!((cut.status, cut.stderr.as_str()), (2, ""), "{format}");
    }
}

/// The messages of commands of a kind.
fn commands<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    let lines = text.lines();
    lines
        .filter_map(|line| line.strip_prefix(&format!("::{kind} ")))
        .collect()
}

#[test]
fn a_step_of_github_gets_ten_annotations_of_a_kind_and_the_rest_is_counted() {
    let place = Place::new();
    // of other sizes, so that none is a copy of another
    let many = (1..=14).fold(wheel("many", "1.0"), |wheel, count| {
        wheel
            .member(
                &format!("many/denied{count:02}.so"),
                library(&[("sm_80", count)]),
            )
            .member(
                &format!("many/warned{count:02}.so"),
                library(&[("sm_80 compute_80@8.0", count)]),
            )
    });
    let input = many.write(&place);
    let run = place.run(&[
        "check", &input, "--target", "H100", "--driver", "R580", "--format", "github",
    ]);
    let text = &run.stdout;
    assert_eq!(commands(text, "error").len(), 10, "{text}");
    assert_eq!(commands(text, "warning").len(), 10, "{text}");
    let notice = commands(text, "notice");
    assert_eq!(notice.len(), 1, "{text}");
    assert!(
        notice[0].contains("14 denied findings, 14 warnings")
            && notice[0].contains("4 more errors and 4 more warnings without an annotation"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 21, "{text}");
    // under `--fail-on warn` warnings are errors, and those that fail anyway come first
    let run = place.run(&[
        "check",
        &input,
        "--target",
        "H100",
        "--driver",
        "R580",
        "--format",
        "github",
        "--fail-on",
        "warn",
    ]);
    let errors = commands(&run.stdout, "error");
    assert_eq!(errors.len(), 10);
    assert!(errors.iter().all(|error| error.contains("no-kernel-image")));
    assert!(run.stdout.contains("18 more errors without an annotation"));
}

#[test]
fn a_report_for_a_comment_stays_below_what_a_comment_holds_and_says_what_it_leaves_out() {
    let place = Place::new();
    // each with code for other GPUs, so that none is a copy of another
    let targets = [72, 75, 80, 86, 87, 89, 90, 100, 120].map(|target| format!("sm_{target}"));
    let many = (1..=500_usize).fold(wheel("many", "1.0"), |wheel, mask| {
        let code = targets.iter().enumerate();
        let code = code.filter(|(bit, _)| mask >> bit & 1 == 1);
        let code: Vec<&str> = code.map(|(_, target)| target.as_str()).collect();
        let name = format!("many/{}{mask}.so", "long-name-".repeat(8));
        wheel.member(&name, library(&[(&code.join(" "), 1)]))
    });
    let input = many.write(&place);
    place.write("smgate.yaml", "version: 1\ntargets: [{name: old, gpu: V100, driver: R535}]\nwaivers:\n  - {rule: jit-only, reason: r, until: 2027-01-01}\n");
    let run = check(&place, "markdown", &[&input], &[]);
    let text = &run.stdout;
    assert!(text.len() < 65_536, "{}", text.len());
    assert!(
        text.contains("In short, as there is no room for more:"),
        "no lines"
    );
    let whole = check(&place, "json", &[&input], &[]).json();
    let groups = text.matches("<details><summary>❌").count();
    let lines = text.matches("\n- ❌").count();
    let left = text
        .split("\nNot shown, as there is no room: ")
        .nth(1)
        .unwrap();
    let left: usize = left.split(' ').next().unwrap().parse().unwrap();
    assert!(groups > 3 && lines > 3, "{groups} and {lines}");
    assert_eq!(groups + lines + left, denied(&whole).len());
    assert!(text.find("no-kernel-image").unwrap() < text.find("In short").unwrap());
}

#[test]
fn fingerprints_stay_where_the_version_the_order_or_the_words_change() {
    let prints = |place: &Place, inputs: &[&str]| -> BTreeMap<String, String> {
        let run = check(
            place,
            "gitlab",
            inputs,
            &["--target", "H100", "--target", "T4"],
        );
        let issues: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        let prints = issues.iter().map(|issue| {
            let print = issue["fingerprint"].as_str().unwrap().to_owned();
            let what = format!("{} {}", issue["check_name"], issue["description"]);
            (print, what)
        });
        let prints: BTreeMap<String, String> = prints.collect();
        assert_eq!(prints.len(), issues.len(), "one is used twice");
        prints
    };
    let place = Place::new();
    let old = simple("pkg", &[("sm_80 sm_86", 3)]).write(&place);
    let other = simple("other", &[("sm_86", 2)]).write(&place);
    let new = wheel("pkg", "2.0")
        .member("pkg/_C.so", library(&[("sm_80 sm_86", 5)]))
        .write(&place);
    let of = |inputs: &[&str]| prints(&place, inputs).into_keys().collect::<Vec<_>>();
    let first = of(&[&old, &other]);
    assert!(first.len() >= 4);
    assert_eq!(of(&[&other, &old]), first, "the order of inputs");
    assert_eq!(
        of(&[&new, &other]),
        first,
        "another version and other figures"
    );
    assert!(of(&[&other]).iter().all(|print| first.contains(print)));
}
