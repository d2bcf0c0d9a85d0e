//! `smgate find` against package indexes on this machine: what it reads, what it finds, and how it ends.

mod answers;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::image::digest;
use crate::support::registry::stub::{Reply, Stub, part};
use crate::support_cli::{Place, Run, finish, library, wheel};

/// A file of an index.
struct Offered {
    name: String,
    bytes: Vec<u8>,
    yanked: bool,
}

/// A wheel of `pkg` with three fatbins of `images`; without any library where there are none.
fn build(version: &str, images: &str) -> Offered {
    let mut file = wheel("pkg", version);
    if images.is_empty() {
        file = file.member("pkg/__init__.py", "");
    } else {
        file = file.member("pkg/_C.so", library(&[(images, 3)]));
    }
    Offered {
        name: file.file_name(),
        bytes: file.build(),
        yanked: false,
    }
}

/// An index on this machine with the simple API as JSON.
struct Index {
    stub: Stub,
}

impl Index {
    fn new(files: Vec<Offered>) -> Self {
        let entries = files.iter().map(|file| {
            let hash = digest(&file.bytes).replacen("sha256:", "", 1);
            json!({
                "filename": file.name, "url": format!("/f/{}", file.name), "size": file.bytes.len(),
                "hashes": {"sha256": hash}, "yanked": file.yanked,
            })
        });
        let entries: Vec<Value> = entries.collect();
        let page = json!({"meta": {"api-version": "1.1"}, "name": "pkg", "files": entries});
        let page = page.to_string();
        let stub = Stub::start(move |seen, _| {
            if seen.path == "/simple/pkg/" {
                return Reply::new(200)
                    .header("content-type", "application/vnd.pypi.simple.v1+json")
                    .body(page.clone());
            }
            let wanted = seen.path.strip_prefix("/f/");
            match files.iter().find(|file| Some(file.name.as_str()) == wanted) {
                Some(file) => part(&file.bytes, seen),
                None => Reply::new(404),
            }
        });
        Self { stub }
    }

    fn url(&self) -> String {
        self.stub.url("/simple/")
    }

    /// The versions of which anything was asked for.
    fn read(&self) -> Vec<String> {
        let paths = self.stub.paths();
        let names = paths
            .iter()
            .filter_map(|path| path.strip_prefix("GET /f/pkg-"));
        let versions: BTreeSet<String> = names
            .map(|name| name.split('-').next().unwrap().to_owned())
            .collect();
        versions.into_iter().collect()
    }
}

/// `find` with an own configuration and cache, and no other.
fn find(place: &Place, args: &[&str]) -> Run {
    let mut command = place.command(&[&["find"], args].concat());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let prefixes = [
            "PIP_",
            "UV_",
            "HTTP",
            "http",
            "ALL_PROXY",
            "SSL_",
            "REQUESTS_",
        ];
        if prefixes.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    for name in [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_CACHE_HOME",
        "APPDATA",
        "LOCALAPPDATA",
    ] {
        command.env(name, place.path());
    }
    command.env_remove("SMGATE_CACHE_DIR");
    command.env("PIP_CONFIG_FILE", place.path().join("none"));
    finish(command)
}

const OLD_GPU: &[&str] = &["--target", "GTX 1060", "--driver", "R580"];

fn at(index: &Index) -> Vec<String> {
    vec!["--index-url".to_owned(), index.url()]
}

fn found(place: &Place, index: &Index, more: &[&str]) -> Run {
    let at = at(index);
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    find(place, &[&["pkg"], &at[..], more].concat())
}

/// Versions 0.0 to 0.`count`, of which those before `first_new` have code for a GTX 1060.
fn losing_pascal(count: u32, first_new: u32) -> Vec<Offered> {
    let versions = 0..count;
    versions
        .map(|minor| {
            let images = if minor < first_new {
                "sm_61 sm_80"
            } else {
                "sm_80 sm_90"
            };
            build(&format!("0.{minor}"), images)
        })
        .collect()
}

// 20 builds, 0.19 the newest; 0.12 is the newest for sm_61, which is number 7 from the newest on. Read are 0 (0.19),
// 1 (0.18), 3 (0.16), 7 (0.12), then 5 (0.14) and 6 (0.13).
#[test]
fn of_many_builds_a_few_are_read_until_the_newest_that_runs_is_known() {
    let place = Place::new();
    let index = Index::new(losing_pascal(20, 13));
    let run = found(&place, &index, OLD_GPU);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(
        index.read(),
        ["0.12", "0.13", "0.14", "0.16", "0.18", "0.19"]
    );
    let out = &run.stdout;
    let url = index.url();
    for line in [
        "  natively  pkg 0.12 (pkg-0.12-py3-none-manylinux_2_28_x86_64.whl, 0.0 MB)\n".to_owned(),
        format!("            pip install 'pkg==0.12' --index-url {url}\n"),
        format!("            uv pip install 'pkg==0.12' --default-index {url}\n"),
        "  not       pkg 0.19 (the newest): no-kernel-image: ".to_owned(),
        "Read 6 of 20 builds".to_owned(),
    ] {
        assert!(out.contains(&line), "{line}\n{out}");
    }
    // what was read is kept: a second run asks for the page alone
    let before = index.stub.paths().len();
    let again = found(&place, &index, OLD_GPU);
    assert_eq!(again.status, 0, "{again:?}");
    assert_eq!(index.stub.paths().split_off(before), ["GET /simple/pkg/"]);
}

#[test]
fn where_the_gpu_is_newer_than_all_code_one_build_is_read() {
    let place = Place::new();
    let index = Index::new(losing_pascal(20, 13));
    let run = found(&place, &index, &["--target", "B200", "--driver", "R580"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(index.read(), ["0.19"]);
    let said = "older builds were not looked at: B200";
    assert!(run.stdout.contains(said), "{run:?}");
}

#[test]
fn every_target_is_judged_by_one_reading_of_a_build() {
    let place = Place::new();
    let index = Index::new(losing_pascal(4, 2));
    let run = found(
        &place,
        &index,
        &[
            "--target", "GTX 1060", "--target", "H100", "--driver", "R580", "--format", "json",
        ],
    );
    assert_eq!(run.status, 0, "{run:?}");
    let report = run.json();
    let native = |at: usize| report["targets"][at]["series"][0]["native"]["version"].clone();
    assert_eq!((native(0), native(1)), (json!("0.1"), json!("0.3")));
    // 0 (0.3), 1 (0.2), 3 (0.0), 2 (0.1)
    assert_eq!(report["read"], 4);
}

#[test]
fn each_label_of_each_index_is_a_series_of_its_own() {
    let place = Place::new();
    let main = Index::new(vec![
        build("2.0", "sm_80 sm_90"),
        build("1.0", "sm_61 sm_80"),
    ]);
    let extra = Index::new(vec![
        build("2.0+cu126", "sm_61 sm_80"),
        build("2.0+cpu", ""),
        build("1.9+cu118", "sm_61 sm_80"),
    ]);
    let url = extra.url();
    let more = [&["--extra-index-url", &url, "--format", "json"], OLD_GPU].concat();
    let run = found(&place, &main, &more);
    assert_eq!(run.status, 0, "{run:?}");
    let report = run.json();
    let series = report["targets"][0]["series"].as_array().unwrap();
    let shown: Vec<_> = series
        .iter()
        .map(|of| {
            (
                of["index"].clone(),
                of["label"].clone(),
                of["native"]["version"].clone(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (json!(1), json!("cu126"), json!("2.0+cu126")),
            (json!(0), Value::Null, json!("1.0")),
            (json!(1), json!("cu118"), json!("1.9+cu118")),
        ]
    );
    assert_eq!(
        series[0]["native"]["uv"],
        format!("uv pip install 'pkg==2.0+cu126' --index {url}")
    );
    assert_eq!(report["environments"][0]["without_cuda"], 1);
    assert!(
        !extra.read().contains(&"2.0+cpu".to_owned()),
        "it is known by its label"
    );
}

// PTX of compute_60 is compiled for a GTX 1060.
#[test]
fn what_the_driver_compiles_counts_and_an_older_native_build_is_named_too() {
    let place = Place::new();
    let index = Index::new(vec![
        build("3.0", "sm_80 compute_60@8.4"),
        build("2.0", "sm_80 compute_60@8.4"),
        build("1.0", "sm_61 sm_80"),
    ]);
    let run = found(&place, &index, OLD_GPU);
    assert_eq!(run.status, 0, "{run:?}");
    let out = &run.stdout;
    assert!(out.contains("natively  pkg 1.0 ("), "{out}");
    assert!(out.contains("by JIT    pkg 3.0 ("), "{out}");
    assert!(
        out.contains(": the driver compiles it at first use"),
        "{out}"
    );
}

// CUDA 12.8 made the code, whose runtime needs R525; R470 is older.
#[test]
fn a_driver_that_is_too_old_is_the_reason_and_nothing_runs() {
    let place = Place::new();
    let index = Index::new(vec![build("1.0", "sm_61 sm_80")]);
    let run = found(
        &place,
        &index,
        &["--target", "GTX 1060", "--driver", "R470"],
    );
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout
            .contains("not       pkg 1.0 (the newest): driver-too-old: "),
        "{run:?}"
    );
}

#[test]
fn the_limit_stops_the_search_and_says_what_was_not_looked_at() {
    let place = Place::new();
    let index = Index::new(losing_pascal(20, 2));
    let run = found(&place, &index, &[OLD_GPU, &["--most", "2"]].concat());
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(index.read(), ["0.18", "0.19"]);
    let said = format!(
        "18 builds of pkg at {} not looked at: `--most 2` were read",
        index.url()
    );
    assert!(run.stdout.contains(&said), "{}", run.stdout);
}

#[test]
fn yanked_builds_and_pre_releases_are_passed_over_and_counted() {
    let place = Place::new();
    let mut yanked = build("2.0", "sm_61");
    yanked.yanked = true;
    let index = Index::new(vec![
        build("3.0rc1", "sm_61"),
        yanked,
        build("1.0", "sm_61"),
    ]);
    let run = found(&place, &index, OLD_GPU);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(index.read(), ["1.0"]);
    assert!(
        run.stdout.contains("1 pre-release (`--pre`), 1 yanked"),
        "{}",
        run.stdout
    );
    let run = found(&place, &index, &[OLD_GPU, &["--pre"]].concat());
    assert!(
        run.stdout.contains("natively  pkg 3.0rc1 ("),
        "{}",
        run.stdout
    );
}

#[test]
fn a_build_that_cannot_be_read_is_no_build_that_runs() {
    let place = Place::new();
    let mut damaged = build("2.0", "sm_61");
    damaged.bytes.truncate(damaged.bytes.len() - 30);
    let alone = Index::new(vec![damaged]);
    let run = found(&place, &alone, OLD_GPU);
    assert_eq!(run.status, 3, "{run:?}");
    assert!(
        run.stdout
            .contains("  not read  pkg 2.0 (the newest): unreadable: "),
        "{run:?}"
    );
    let mut damaged = build("2.0", "sm_61");
    damaged.bytes.truncate(damaged.bytes.len() - 30);
    let both = Index::new(vec![damaged, build("1.0", "sm_61")]);
    let run = found(&place, &both, OLD_GPU);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("natively  pkg 1.0 ("), "{run:?}");
}

#[test]
fn without_a_network_only_indexes_of_this_machine_are_asked() {
    let place = Place::new();
    let index = Index::new(vec![build("1.0", "sm_61")]);
    let run = found(&place, &index, &[OLD_GPU, &["--offline"]].concat());
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("is not asked, because this run is offline"),
        "{run:?}"
    );
    assert_eq!(index.stub.paths(), Vec::<String>::new());
    let file = build("1.0", "sm_61");
    place.write(&format!("wheels/{}", file.name), &file.bytes);
    let args = [&["pkg", "--find-links", "wheels", "--offline"], OLD_GPU].concat();
    let run = find(&place, &args);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout
            .contains("pip install 'pkg==1.0' --find-links file://"),
        "{run:?}"
    );
}
