//! The HTML report: all that was found is in it, foreign text is text, and nothing can be run or loaded.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::support_cli::{Place, Run, library, simple, wheel};
use crate::support_html::{Document, assert_harmless};

const POLICY: &str = "\
version: 1
targets:
  - {name: t4, gpu: T4, driver: R535}
  - {name: hopper, gpu: [H100, H200], driver: '570.86.15'}
  - {name: b200, gpu: B200, driver: R580}
waivers:
  - {rule: partial-coverage, package: holes, targets: [t4], reason: not called there, until: 2027-03-01}
";

/// A place with a policy and four inputs, of which one is cut.
fn several() -> (Place, Vec<String>) {
    let place = Place::new();
    place.write("smgate.yaml", POLICY);
    let whole = simple("whole", &[("sm_75 sm_90 sm_100", 4)]).write(&place);
    let holes = wheel("holes", "2.0")
        .member(
            "holes/a.so",
            library(&[("sm_75 sm_80 sm_90", 6), ("sm_80 sm_90", 1)]),
        )
        .member("holes/b.so", library(&[("sm_90 compute_90@8.4", 3)]))
        .write(&place);
    let pure = wheel("pure", "3.0")
        .member("pure/__init__.py", "")
        .write(&place);
    let cut = simple("cut", &[("sm_75 sm_80", 40)]).build();
    place.write("cut-1.0-py3-none-any.whl", &cut[..cut.len() / 2]);
    (
        place,
        vec![whole, holes, pure, "cut-1.0-py3-none-any.whl".to_owned()],
    )
}

fn check(place: &Place, inputs: &[String], format: &str) -> Run {
    let mut args = vec!["check", "--today", "2027-01-15", "--format", format];
    args.extend(inputs.iter().map(String::as_str));
    let run = place.run(&args);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    run
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
}

#[test]
fn the_heat_map_says_of_every_package_and_target_what_the_matrix_says() {
    let (place, inputs) = several();
    let json = check(&place, &inputs, "json").json();
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    let rows = page.inside(page.id("map").unwrap(), "tr");
    let heads = page.inside(rows[0], "b");
    let heads: Vec<String> = heads.iter().map(|one| one.text.clone()).collect();
    assert_eq!(heads, ["t4", "hopper", "b200"]);
    let mut cells = BTreeMap::new();
    for row in &rows[1..] {
        let name = &page.inside(row, "a")[0].text;
        for (target, cell) in heads.iter().zip(page.inside(row, "td")) {
            let class = cell.attribute("class").to_owned();
            cells.insert((name.clone(), target.clone()), (class, cell.text.clone()));
        }
    }
    let matrix = json["matrix"].as_array().unwrap();
    let mut seen = BTreeSet::new();
    for row in matrix {
        let package = row["package"].as_str().unwrap_or("files of no package");
        let name = match row["version"].as_str() {
            Some(version) => format!("{package} {version}"),
            None => package.to_owned(),
        };
        let target = row["target"].as_str().unwrap().to_owned();
        if package == "pure" {
            let folded = page.classed(page.main(), "details", "folded")[0];
            assert!(folded.text.contains("1 package without device code"));
            assert!(folded.text.contains("pure 3.0"));
            continue;
        }
        let (class, text) = &cells[&(name, target)];
        let runs = match (row["runs"].as_str(), package) {
            (Some(runs), _) => runs,
            (None, "cut") => "not-read",
            (None, other) => panic!("{other} has code"),
        };
        seen.insert(runs);
        let verdict = row["verdict"].as_str().unwrap();
        assert_eq!(class, &format!("gets {runs} {verdict}"), "{row}");
        assert!(text.ends_with(verdict), "a word beside the sign: {text}");
        if let Some(driver) = row["minimum_driver"].as_str() {
            assert!(text.contains(&format!("≥ {driver}")), "{text}");
        }
    }
    assert_eq!(matrix.len(), 12);
    assert_eq!(cells.len(), 9);
    assert!(
        seen.is_superset(&BTreeSet::from(["native", "partial", "none", "not-read"])),
        "{seen:?}"
    );
}

#[test]
fn every_finding_and_problem_is_on_the_page() {
    let (place, inputs) = several();
    let json = check(&place, &inputs, "json").json();
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    let text = page.text();
    let findings = json["findings"].as_array().unwrap();
    // what stands between backticks is in an element of its own
    let plain = |text: &str| text.replace('`', "");
    for finding in findings {
        assert!(
            text.contains(&plain(finding["next_step"].as_str().unwrap())),
            "{finding}"
        );
        assert!(
            text.contains(finding["code"].as_str().unwrap()),
            "{finding}"
        );
        let message = plain(finding["message"].as_str().unwrap());
        let gpu = finding["gpu"].as_str().unwrap_or("-");
        // of those that say the same of other GPUs, the names
        let gathered = text.lines().any(|_| text.contains("the same for")) && text.contains(gpu);
        assert!(text.contains(&message) || gathered, "{finding}");
        for line in texts(&finding["evidence"]) {
            assert!(text.contains(&plain(line)), "{finding}");
        }
    }
    let level = |level: &str, waived: bool| {
        let wanted = |one: &&Value| one["level"] == level && one["waived"].is_null() != waived;
        findings.iter().filter(wanted).count()
    };
    for (id, count) in [
        ("first", level("deny", false)),
        ("incomplete", level("incomplete", false)),
        ("warnings", level("warn", false)),
        ("waived", level("warn", true)),
        ("remarks", level("allow", false)),
    ] {
        let section = page.id(id).unwrap_or_else(|| panic!("no section {id}"));
        let head = page.inside(section, "h2")[0];
        let cards = page.classed(section, "details", "finding").len();
        let said = match cards {
            1 if count > 1 => format!(" {count} findings in 1 group"),
            cards if cards < count => format!(" {count} findings in {cards} groups"),
            _ => format!(" {count}"),
        };
        assert!(
            (1..=count).contains(&cards) && head.text.ends_with(&said),
            "{id}: {}",
            head.text
        );
    }
    assert!(text.contains("Waived until 2027-03-01: not called there"));
    let problems = json["problems"].as_array().unwrap();
    assert!(!problems.is_empty());
    let listed = &page.id("problems").unwrap().text;
    for problem in problems {
        for key in ["at", "kind", "detail", "extent", "hint"] {
            assert!(
                listed.contains(&plain(problem[key].as_str().unwrap())),
                "{problem}"
            );
        }
    }
}

#[test]
fn every_library_is_listed_on_every_gpu_with_its_fatbins() {
    let (place, inputs) = several();
    let json = check(&place, &inputs, "json").json();
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    let mut figures = 0;
    for row in json["matrix"].as_array().unwrap() {
        for gpu in row["gpus"].as_array().unwrap() {
            for one in gpu["libraries"].as_array().unwrap() {
                let path = one["library"].as_str().unwrap();
                let lines = page.all("tr").into_iter();
                let mut lines = lines.filter(|line| line.text.starts_with(path));
                let said = format!("{} of {}", one["covered"], one["fatbins"]);
                assert!(
                    lines.any(|line| line.text.contains(&said)),
                    "{path}: {said}"
                );
                let details = page.all("summary").into_iter();
                assert!(details.filter(|one| one.text.starts_with(path)).count() >= 1);
                figures += 1;
            }
        }
    }
    assert_eq!(figures, 3 * 4, "three libraries, four GPUs");
    // by hand: of the fatbins of b.so, `sm_90` runs on Hopper and its PTX on B200, and T4 gets nothing
    let of_b = page.classed(page.main(), "details", "library");
    let of_b = of_b
        .into_iter()
        .find(|one| one.text.starts_with("holes/b.so"))
        .unwrap();
    let row = page.inside(of_b, "tr")[1];
    let cells = page.inside(row, "td");
    let cells: Vec<&str> = cells.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(
        page.inside(row, "th")[0].text,
        "sm_90 · PTX 8.4 for compute_90 single-target"
    );
    assert_eq!(cells[0], "3");
    assert_eq!(cells[2..], ["none", "native", "native", "JIT"]);
}

#[test]
fn the_chart_tells_what_no_target_uses_and_the_scale_names_every_driver() {
    let (place, inputs) = several();
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    let sizes = page.id("sizes").unwrap();
    let row = |name: &str| {
        let rows = page.inside(sizes, "tr").into_iter();
        let mut rows = rows.filter(|row| row.text.starts_with(name));
        rows.next()
            .unwrap_or_else(|| panic!("no {name}"))
            .text
            .clone()
    };
    // no GPU of the policy runs code for 8.0
    assert!(row("sm_80").ends_with("no target"), "{}", row("sm_80"));
    for used in ["sm_75", "sm_90", "sm_100"] {
        assert!(row(used).ends_with("a target"), "{}", row(used));
    }
    let drivers = &page.id("drivers").unwrap().text;
    for said in [
        "R535",
        "570.86.15",
        "R580",
        "525.60.13",
        "met by t4, hopper",
    ] {
        assert!(drivers.contains(said), "{said}: {drivers}");
    }
}

#[test]
fn packages_that_are_called_the_same_are_told_apart_by_their_files() {
    let place = Place::new();
    place.write("smgate.yaml", POLICY);
    let mut inputs = vec![simple("other", &[("sm_75 sm_90 sm_100", 4)]).write(&place)];
    let twin = simple("twin", &[("sm_75 sm_80", 4)]).build();
    for file in ["twin-1.0-1-py3-none-any.whl", "twin-1.0-2-py3-none-any.whl"] {
        place.write(file, &twin);
        inputs.push(file.to_owned());
    }
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    for id in ["map", "sizes"] {
        let files = page.classed(page.id(id).unwrap(), "span", "file");
        let files: Vec<&str> = files.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(files, inputs[1..], "{id}");
    }
    let mut cards = page.classed(page.main(), "details", "finding");
    cards.retain(|one| one.text.contains("twin/"));
    assert!(!cards.is_empty());
    assert!(cards.iter().all(|card| card.text.contains("in twin-1.0-")));
}

#[test]
fn a_card_says_its_step_in_full_and_the_lead_what_was_not_judged() {
    let (place, inputs) = several();
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    assert!(!page.text().contains("as above"));
    // `cut` is half a file, and no other input is
    assert_eq!(
        page.classed(page.main(), "p", "lead")[0].text,
        "1 of 4 packages fails, on 1 of 3 targets. Not judged in full: 1 package."
    );
}

#[test]
fn the_drivers_of_a_package_are_sorted_by_number() {
    let place = Place::new();
    let gpus = ["RTX 3090", "L4", "H100", "B200", "RTX 5090"];
    let targets = gpus.map(|gpu| format!("  - {{name: {gpu}, gpu: {gpu}, driver: R580}}\n"));
    place.write(
        "smgate.yaml",
        format!("version: 1\ntargets:\n{}", targets.concat()),
    );
    let code = "sm_86 sm_89 sm_90 sm_100 sm_120";
    let input = simple("many", &[(code, 4)]).write(&place);
    let page = Document::parse(&check(&place, &[input], "html").stdout);
    let rows = page.inside(page.id("drivers").unwrap(), "tr").into_iter();
    let rows = rows.filter(|row| row.attribute("data-name") == "many 1.0");
    let drivers: Vec<u32> = rows
        .map(|row| {
            let driver = &page.inside(row, "td")[0].text;
            let branch = driver.trim_start_matches('R').split('.').next();
            branch.unwrap().parse().unwrap()
        })
        .collect();
    assert!(drivers.len() > 2, "{drivers:?}");
    assert!(drivers.is_sorted(), "{drivers:?}");
}

#[test]
fn the_page_allows_no_request_and_no_script_but_its_own() {
    let (place, inputs) = several();
    let run = check(&place, &inputs, "html");
    assert_harmless(&run.stdout);
    assert!(!run.stdout.contains("http:") && !run.stdout.contains("https:"));
}

#[test]
fn headings_tables_and_regions_can_be_told_apart_by_a_screen_reader() {
    let (place, inputs) = several();
    let page = Document::parse(&check(&place, &inputs, "html").stdout);
    assert_eq!(page.all("html")[0].attribute("lang"), "en");
    assert_eq!((page.all("main").len(), page.all("h1").len()), (1, 1));
    let ids: Vec<&str> = page
        .0
        .iter()
        .map(|one| one.attribute("id"))
        .filter(|id| !id.is_empty())
        .collect();
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "an id twice"
    );
    for section in page.all("section") {
        assert!(page.id(section.attribute("aria-labelledby")).is_some());
        assert_eq!(page.inside(section, "h2").len(), 1);
    }
    for table in page.all("table") {
        assert_eq!(page.inside(table, "caption").len(), 1);
    }
    for head in page.all("th") {
        assert!(
            ["col", "row", "rowgroup"].contains(&head.attribute("scope")),
            "{head:?}"
        );
    }
    for sign in page.0.iter().filter(|one| one.has_class("sign")) {
        // a word says the same
        assert_eq!(sign.attribute("aria-hidden"), "true");
    }
}

#[test]
fn a_report_in_a_file_is_that_of_standard_output() {
    let (place, inputs) = several();
    let shown = check(&place, &inputs, "html").stdout;
    let mut args = vec![
        "check",
        "--today",
        "2027-01-15",
        "--output",
        "html=report.html",
    ];
    args.extend(inputs.iter().map(String::as_str));
    assert_eq!(place.run(&args).status, 1);
    assert_eq!(
        crate::support::text(&place.path().join("report.html")),
        shown
    );
}

/// Text that wants to be something else, in places where an author of a package or a policy writes it.
fn nasty() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "<script>alert(1)</script>",
        "</td></table>",
        "\"",
        "'",
        "<img src=x onerror=alert(1)>",
        "&lt;",
        "&#60;",
        "javascript:alert(1)",
        "\u{202e}",
        "\u{200b}",
        "\u{7f}",
        "</style>",
        "<!--",
        "-->",
        "]]>",
        "`",
        "``",
        "${x}",
        "a",
        " ",
        "é",
        "\\u{202e}",
        "</title>",
        "</details>",
        "<svg/onload=x>",
        "=",
        ">",
        "https://x.example/",
    ]);
    prop::collection::vec(parts, 1..6).prop_map(|parts| parts.concat())
}

#[test]
fn names_of_members_packages_and_targets_stay_text() {
    let mut runner = TestRunner::deterministic();
    let strategy = (nasty(), nasty(), nasty());
    for _ in 0..24 {
        let (member, package, target) = strategy.new_tree(&mut runner).unwrap().current();
        let place = Place::new();
        let target = target.replace(char::is_control, "").trim().to_owned() + "t";
        let quoted = serde_json::to_string(&target).unwrap();
        place.write(
            "smgate.yaml",
            format!("version: 1\ntargets: [{{name: {quoted}, gpu: H100, driver: R580}}, {{name: t4, gpu: T4, driver: R535}}]\n"),
        );
        let code = library(&[("sm_75 sm_80", 2), ("sm_80 sm_86", 1)]);
        let input = wheel("evil", "1.0").member(&format!("evil/{member}.so"), code);
        let name = input.file_name();
        let metadata = format!("Metadata-Version: 2.1\nName: {package}\nVersion: {member}\n");
        place.write(
            &name,
            input
                .into_zip_with("evil-1.0.dist-info", metadata.as_bytes())
                .build(),
        );
        let run = check(&place, &[name], "html");
        let page = assert_harmless(&run.stdout);
        let visible = |text: &str| -> String {
            let dangerous = |c: char| c.is_control() || matches!(c, '\u{200b}' | '\u{202e}');
            let shown = text.chars().map(|c| match c {
                c if dangerous(c) => c.escape_unicode().to_string(),
                c => c.to_string(),
            });
            shown.collect()
        };
        assert!(
            page.text().contains(&visible(&format!("evil/{member}.so"))),
            "{member}"
        );
        assert!(page.text().contains(&visible(&target)), "{target}");
    }
}
