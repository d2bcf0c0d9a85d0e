//! Images that are damaged or made to harm, through the real binary: a clear error or a located problem each, and
//! never a pass.

use serde_json::{Value, json};

use crate::support::image::{
    CONFIG, DOCKER_CONFIG, Entry, Files, Image, LAYER, LAYER_GZIP, gzip, hex,
};
use crate::support::layer::Layer;
use crate::support_cli::{Place, Run, library};
use crate::support_image::{layout, of_layer, of_layers, run_with};

/// Two layers, the upper with a library that runs on an H100.
fn good() -> Image {
    of_layers(&[
        Layer::new().file("etc/os-release", "ID=debian\n"),
        Layer::new().file("opt/a.so", library(&[("sm_90", 40)])),
    ])
    .packed()
}

/// The path of the blob of a stored layer.
fn blob(image: &Image, layer: usize) -> String {
    format!("blobs/sha256/{}", hex(&image.stored()[layer].0))
}

/// `check` of a layout, of the same as an archive, and of that through a pipe: all must say the same.
fn check(files: &Files, more: &[&str]) -> Run {
    let place = Place::new();
    files.write_to(&place.path().join("image"));
    place.write("image.tar", files.tar());
    let args = ["--target", "H100", "--driver", "R580", "--format", "json"];
    let args = [&args[..], more].concat();
    let run = |input: &str| place.run(&[&["check", input], &args[..]].concat());
    let of_dir = run("oci-dir:image");
    let of_tar = run("oci-archive:image.tar");
    let piped = run_with(&place, &[&["check", "-"], &args[..]].concat(), &files.tar());
    for other in [of_tar, piped] {
        assert_eq!(other.status, of_dir.status, "{other:?}\n{of_dir:?}");
        if of_dir.status != 2 || !of_dir.stdout.is_empty() {
            assert_eq!(unreadable(&other), unreadable(&of_dir));
        }
    }
    of_dir
}

/// What could not be read: why, and at which place, as the evidence has it.
fn unreadable(run: &Run) -> Vec<(String, String)> {
    let report = run.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let unreadable = findings.filter(|finding| finding["code"] == "unreadable");
    let mut all: Vec<(String, String)> = unreadable
        .map(|finding| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&finding["evidence"][0]), text(&finding["message"]))
        })
        .collect();
    all.sort();
    all
}

/// Asserts that a check is incomplete by exactly this kind of problem in a layer, of which the message tells.
fn incomplete(run: &Run, layer: usize, kind: &str, message: &str) {
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(run.json()["verdict"], "incomplete");
    let all = unreadable(run);
    let start = format!("{kind} at layer {layer}");
    assert!(
        all.iter()
            .any(|(evidence, text)| evidence.starts_with(&start) && text.contains(message)),
        "{all:?}"
    );
}

#[test]
fn the_image_that_the_others_are_made_of_passes() {
    let run = check(&layout(&good()), &[]);
    assert_eq!((run.status, unreadable(&run)), (0, vec![]));
}

#[test]
fn a_layer_that_is_changed_cut_or_absent_is_incomplete_by_its_own_problem() {
    let image = good();
    let path = blob(&image, 1);
    // a byte of the gzip header that says when it was packed, and changes nothing that unpacks
    let mut files = layout(&image);
    files.get(&path)[4] ^= 0xff;
    let run = check(&files, &[]);
    incomplete(
        &run,
        2,
        "checksum-mismatch",
        "the digest of the stored bytes is sha256:",
    );
    // a byte of the packed data
    let mut files = layout(&image);
    let bytes = files.get(&path);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    let run = check(&files, &[]);
    assert_eq!(run.status, 3, "{run:?}");
    let mut files = layout(&image);
    let bytes = files.get(&path);
    let third = bytes.len() / 3;
    bytes.truncate(third);
    let run = check(&files, &[]);
    incomplete(&run, 2, "truncated", "");
    let mut files = layout(&image);
    files.remove(&path);
    incomplete(&check(&files, &[]), 2, "missing-blob", "is not there");
}

#[test]
fn a_cut_of_each_packing_is_truncated() {
    use crate::support::image::Packing;
    for packing in Packing::ALL {
        let image = good().packing(packing);
        let mut files = layout(&image);
        let bytes = files.get(&blob(&image, 1));
        bytes.truncate(bytes.len() / 2);
        let run = check(&files, &[]);
        incomplete(&run, 2, "truncated", "");
    }
}

/// A layout of two layers whose configuration or second descriptor is changed.
fn changed(config: impl FnOnce(&mut Value), layer: impl FnOnce(&mut Value)) -> Files {
    let image = good();
    let mut files = Files::default();
    let mut configuration = image.config();
    config(&mut configuration);
    let configuration = files.json(&configuration, CONFIG);
    let mut layers: Vec<Value> = image
        .stored()
        .iter()
        .map(|(bytes, media_type)| files.blob(bytes, media_type))
        .collect();
    layer(&mut layers[1]);
    let manifest = files.manifest(&configuration, &layers);
    files.layout(&[manifest])
}

#[test]
fn a_wrong_diff_id_or_size_is_incomplete() {
    let zeros = format!("sha256:{}", "0".repeat(64));
    let files = changed(
        |config| config["rootfs"]["diff_ids"][1] = json!(zeros),
        |_| {},
    );
    let run = check(&files, &[]);
    incomplete(
        &run,
        2,
        "checksum-mismatch",
        "the digest of the unpacked bytes is sha256:",
    );
    let files = changed(|_| {}, |layer| layer["size"] = json!(10));
    incomplete(&check(&files, &[]), 2, "size-mismatch", "10 are stated");
}

#[test]
fn a_history_that_does_not_fit_the_layers_is_no_matter() {
    let files = changed(
        |config| config["history"] = json!([{"created_by": "one"}]),
        |_| {},
    );
    assert_eq!(check(&files, &[]).status, 0);
}

#[test]
fn a_foreign_layer_is_incomplete() {
    let image = good();
    let mut files = changed(
        |_| {},
        |layer| {
            layer["mediaType"] = json!("application/vnd.docker.image.rootfs.foreign.diff.tar.gzip");
            layer["urls"] = json!(["https://layers.example/1"]);
        },
    );
    files.remove(&blob(&image, 1));
    incomplete(&check(&files, &[]), 2, "foreign-layer", "");
}

#[test]
fn a_configuration_or_manifest_that_is_not_what_its_digest_says_is_no_pass() {
    let image = good();
    let config = format!(
        "blobs/sha256/{}",
        hex(image.config().to_string().as_bytes())
    );
    let mut files = layout(&image);
    let last = files.get(&config).len() - 1;
    files.get(&config)[last] = b' ';
    let run = check(&files, &[]);
    assert_eq!(run.status, 3);
    let all = unreadable(&run);
    assert!(
        all[0]
            .0
            .starts_with(&format!("checksum-mismatch at {config}")),
        "{all:?}"
    );
    let mut files = Files::default();
    let manifest = files.image(&image);
    let path = manifest["digest"]
        .as_str()
        .unwrap()
        .replace("sha256:", "blobs/sha256/");
    let mut files = files.layout(&[manifest]);
    let last = files.get(&path).len() - 1;
    files.get(&path)[last] = b' ';
    let run = check(&files, &[]);
    assert!(matches!(run.status, 2 | 3), "{run:?}");
    assert!(run.stdout.contains("checksum-mismatch"), "{run:?}");
}

/// A layout of an image whose second layer is these bytes, all of whose digests are true.
fn with_layer(bytes: &[u8], media_type: &str) -> Files {
    let mut image = good();
    let lower = image.stored()[0].0.clone();
    image.layers[1] = bytes.to_vec();
    let mut files = Files::default();
    let config = files.json(&image.config(), CONFIG);
    let layers = [
        files.blob(&lower, LAYER_GZIP),
        files.blob(bytes, media_type),
    ];
    let manifest = files.manifest(&config, &layers);
    files.layout(&[manifest])
}

#[test]
fn a_layer_that_is_no_archive_of_a_known_kind_is_incomplete() {
    // the magic number of xz, and what may follow
    let xz = [b"\xfd7zXZ\0\0\x04".as_slice(), &[0x11; 2000]].concat();
    let run = check_places(&with_layer(&xz, LAYER));
    incomplete(&run, 2, "unsupported-compression", "xz");
    let json = r#"{"errors": [{"code": "DENIED", "message": "requested access is denied"}]}"#;
    let run = check_places(&with_layer(json.as_bytes(), LAYER));
    assert_eq!(run.status, 3, "{run:?}");
    // nothing at all is an archive without members, where its digests say so
    let empty = check_places(&with_layer(b"", LAYER));
    assert_eq!(empty.status, 0, "{empty:?}");
    let run = check_places(&with_layer(&gzip(b"<html>no</html>"), LAYER_GZIP));
    assert_eq!(run.status, 3, "{run:?}");
}

/// As [`check`], where a stream knows less of why.
fn check_places(files: &Files) -> Run {
    let place = Place::new();
    files.write_to(&place.path().join("image"));
    let run = place.check_h100("oci-dir:image");
    let args = [
        "check", "-", "--target", "H100", "--driver", "R580", "--format", "json",
    ];
    let piped = run_with(&place, &args, &files.tar());
    assert_eq!(piped.status, run.status, "{piped:?}\n{run:?}");
    run
}

#[test]
fn archives_that_hold_no_image_that_is_read_say_so() {
    let place = Place::new();
    let mut old = Files::default();
    let id = "0".repeat(64);
    old.add(format!("{id}/json"), "{}");
    old.add(format!("{id}/layer.tar"), "");
    old.add("repositories", json!({"lab/x": {"old": id}}).to_string());
    place.write("old.tar", old.tar());
    let mut plain = Files::default();
    plain.add("lib/a.so", library(&[("sm_90", 1)]));
    place.write("plain.tar", plain.tar());
    place.write("text", "no archive at all\n");
    std::fs::create_dir(place.path().join("tree")).unwrap();
    for (input, text) in [
        ("old.tar", "before version 1.10"),
        ("docker-archive:old.tar", "before version 1.10"),
        ("oci-archive:plain.tar", ""),
        ("docker-archive:plain.tar", ""),
        ("oci-archive:text", "is no archive of images"),
        ("oci-dir:tree", ""),
        ("oci-dir:text", "write `oci-archive:PATH`"),
        ("oci-archive:tree", "write `oci-dir:PATH`"),
        ("oci-dir:absent", "absent"),
        ("oci-archive:absent.tar", "absent.tar"),
    ] {
        let run = place.check_h100(input);
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, ""),
            "{input}: {run:?}"
        );
        assert!(run.stderr.starts_with("error"), "{input}: {}", run.stderr);
        assert!(run.stderr.contains(text), "{input}: {}", run.stderr);
    }
    for bytes in [
        old.tar(),
        plain.tar(),
        b"no archive at all\n".to_vec(),
        Vec::new(),
    ] {
        let run = run_with(&place, &["check", "-", "--target", "H100"], &bytes);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(!run.stderr.is_empty());
    }
    // the other kind of archive is named by its scheme
    let mut files = Files::default();
    let saved = files.docker_24(&good(), &["x:1"]);
    place.write("docker.tar", files.docker(&[saved]).tar());
    let run = place.check_h100("oci-archive:docker.tar");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("docker-archive:"), "{}", run.stderr);
}

#[test]
fn limits_are_reported_and_never_a_pass() {
    let place = Place::new();
    layout(&good()).write_to(&place.path().join("image"));
    let args = [
        "check",
        "oci-dir:image",
        "--target",
        "H100",
        "--format",
        "json",
        "--threads",
        "1",
    ];
    // whichever layer is read first, there is no room for the other
    let most = good().layers[1].len() + 1000;
    let run = place.run(&[&args[..], &["--max-unpacked", &most.to_string()]].concat());
    assert_eq!(run.status, 3, "{run:?}");
    let all = unreadable(&run);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].0.starts_with("limit-exceeded at layer "), "{all:?}");
    assert!(all[0].1.contains("`--max-unpacked`"), "{all:?}");
    // of which nothing is read, nothing is judged
    let run = place.run(&[&args[..], &["--max-unpacked", "1K"]].concat());
    assert_eq!(run.status, 2, "{run:?}");
    assert_eq!(run.json()["verdict"], "incomplete");
    let many = (0..40).fold(Layer::new(), |layer, n| layer.file(&format!("f{n}"), "x"));
    let many = many.file("opt/a.so", library(&[("sm_70", 1)]));
    let run = check(&layout(&of_layer(&many)), &["--max-members", "20"]);
    incomplete(&run, 1, "limit-exceeded", "20");
    // what was not seen would have failed
    assert_eq!(check(&layout(&of_layer(&many)), &[]).status, 1);
}

#[test]
fn a_layer_that_unpacks_to_a_thousand_times_its_size_is_stopped() {
    let image = of_layer(
        &Layer::new()
            .file("zeros", vec![0; 80 << 20])
            .file("opt/a.so", library(&[("sm_70", 1)])),
    );
    for packing in [
        crate::support::image::Packing::Gzip,
        crate::support::image::Packing::Zstd,
    ] {
        let files = layout(&image.clone().packing(packing));
        let run = check(&files, &["--max-ratio", "10"]);
        incomplete(&run, 1, "limit-exceeded", "");
    }
}

#[test]
fn something_behind_the_end_of_a_layer_does_not_hide() {
    // a second archive behind the end of the first: a tar program stops, the digest goes on
    let image = of_layer(&Layer::new().file("opt/a.so", library(&[("sm_90", 1)])));
    let hidden = Layer::new()
        .file("opt/b.so", library(&[("sm_70", 1)]))
        .tar();
    let mut both = image.clone();
    both.layers[0].extend(&hidden);
    let run = check(&layout(&both), &[]);
    assert_eq!(run.status, 0, "{run:?}");
    // but a gzip member or a zstd frame behind the first is part of the stream
    let tar = image.layers[0].clone();
    let (head, tail) = tar.split_at(512);
    let packed = [gzip(head), gzip(tail)].concat();
    let mut files = Files::default();
    let config = files.json(&image.config(), DOCKER_CONFIG);
    let layer = files.blob(&packed, LAYER_GZIP);
    let manifest = files.manifest(&config, &[layer]);
    let run = check(&files.layout(&[manifest]), &[]);
    assert_eq!((run.status, unreadable(&run)), (0, vec![]));
}

#[test]
fn a_layer_that_links_out_of_its_archive_is_not_followed() {
    let place = Place::new();
    let image = good();
    let mut files = Files::default();
    let mut saved = files.skopeo(&image, &["x:1"]);
    files.members.push((
        "out.tar".to_owned(),
        Entry::Symlink("../../../../etc/passwd".to_owned()),
    ));
    saved["Layers"][1] = json!("out.tar");
    let bytes = files.docker(&[saved]).tar();
    place.write("image.tar", &bytes);
    let run = place.check_h100("image.tar");
    assert_eq!(run.status, 3, "{run:?}");
    assert!(!run.stdout.contains("root:"), "{run:?}");
}
