//! Equal inputs give equal bytes: whatever the number of threads, the run, the order of members in an
//! archive and of files in a directory, or the place in the file system.

use crate::support::Random;
use crate::support_cli::{FORMATS, Place, Run, library, simple, wheel};
use crate::support_zip::Zip;

const POLICY: &str = "\
version: 1
targets:
  - {name: z-pool, gpu: [H100, A100, H200], driver: R535}
  - {name: a-pool, gpu: [T4, B200]}
  - {name: orin, cc: 8.7, driver: R580}
expect-gpu: [\"*\"]
waivers:
  - {rule: partial-coverage, reason: r, until: 2027-03-01}
  - {rule: link-only, reason: r, until: 2027-03-01}
";

/// A wheel with libraries of every size, archives inside, equal libraries, and things that are damaged.
fn members() -> Vec<(String, Vec<u8>)> {
    let mut random = Random::new(7);
    let mut members = Vec::new();
    let images = [
        "sm_80 sm_90",
        "sm_70 compute_70@8.7",
        "sm_90a",
        "sm_75 sm_80",
    ];
    for index in 0..24 {
        let count = 1 + random.below(9);
        let fatbins = [(random.pick(&images), count), (random.pick(&images), 1)];
        let mut content = library(&fatbins);
        if index % 5 == 0 {
            let at = content
                .windows(4)
                .rposition(|four| four == [0x50, 0xed, 0x55, 0xba]);
            content[at.unwrap() + 8..][..8].fill(0xff);
        }
        members.push((format!("big/lib{index:02}.so"), content));
        members.push((format!("big/data{index}.txt"), random.bytes(300)));
    }
    for index in 0..3 {
        let nested = Zip::new()
            .deflated("x/y.so", &library(&[("sm_70 sm_80", 2)]))
            .deflated("x/z.so", &library(&[("sm_90", 2)]));
        members.push((format!("big/nested{index}.bin"), nested.build()));
    }
    let inner = simple("inner", &[("sm_80 sm_90", 2)]);
    members.push((format!("big/{}", inner.file_name()), inner.build()));
    members
}

fn build(members: &[(String, Vec<u8>)]) -> (String, Vec<u8>) {
    let wheel = members
        .iter()
        .fold(wheel("big", "1.0"), |wheel, (name, content)| {
            wheel.member(name, content)
        });
    let name = wheel.file_name();
    // metadata goes first, last or between, as the members do
    (name, wheel.build())
}

/// Every report of every command, in every format.
fn reports(place: &Place, inputs: &[&str], threads: &str) -> Vec<Run> {
    const CHECK: &[&str] = &["check", "--today", "2027-01-15"];
    let mut runs = Vec::new();
    let mut run = |command: &[&str], options: &[&str]| {
        let all = [command, inputs, options, &["--threads", threads]];
        runs.push(place.run(&all.concat()));
    };
    for format in FORMATS {
        run(CHECK, &["--format", format]);
    }
    run(CHECK, &["--format", "html"]);
    run(CHECK, &["--verbose"]);
    for format in ["json", "human"] {
        run(&["inspect"], &["--format", format]);
        run(&["inspect"], &["--format", format, "--verbose"]);
    }
    assert!(
        runs.iter()
            .all(|run| run.stderr.is_empty() && !run.stdout.is_empty())
    );
    runs
}

#[test]
fn threads_runs_and_places_change_no_byte() {
    let members = members();
    let (name, content) = build(&members);
    let fill = || {
        let place = Place::new();
        place.write("smgate.yaml", POLICY);
        place.write(&name, &content);
        place.write("cut-1.0-py3-none-any.whl", &content[..content.len() / 2]);
        for (name, content) in &members {
            place.write(&format!("tree/{name}"), content);
        }
        place
    };
    let place = fill();
    let inputs = [name.as_str(), "tree", "cut-1.0-py3-none-any.whl"];
    let first = reports(&place, &inputs, "1");
    assert_eq!(reports(&place, &inputs, "8"), first);
    assert_eq!(reports(&place, &inputs, "8"), first);
    assert_eq!(
        reports(&fill(), &inputs, "3"),
        first,
        "in another directory"
    );
}

#[test]
fn the_order_of_members_changes_nothing_but_the_digest() {
    let place = Place::new();
    place.write("smgate.yaml", POLICY);
    let mut members = members();
    let mut seen = Vec::new();
    let mut random = Random::new(11);
    for _ in 0..3 {
        let (name, content) = build(&members);
        place.write(&name, &content);
        let runs = reports(&place, &[&name], "4");
        let digest = crate::support::image::hex(&content);
        let without_digest = |text: &str| text.replace(&digest, "DIGEST");
        seen.push(
            runs.iter()
                .map(|run| (run.status, without_digest(&run.stdout)))
                .collect::<Vec<_>>(),
        );
        for at in (1..members.len()).rev() {
            members.swap(at, random.below(at + 1));
        }
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

// Reports carry no time, host name, absolute path or thread count.
#[test]
fn reports_name_nothing_of_the_machine() {
    let place = Place::new();
    place.write("smgate.yaml", POLICY);
    let (name, content) = build(&members());
    place.write(&name, content);
    let directory = place.path().to_string_lossy().into_owned();
    for run in reports(&place, &[&name], "2") {
        assert!(!run.stdout.contains(&directory));
        assert!(!run.stdout.contains("thread"));
    }
}
