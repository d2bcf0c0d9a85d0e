//! Layouts on disk: indexes in indexes, platforms, what is absent, what is no image.

use serde_json::{Value, json};

use super::super::fixture::{self, CONFIG, Entry, LAYER, hex, named, on as for_platform};
use super::*;

fn unknown() -> Value {
    json!({"os": "unknown", "architecture": "unknown"})
}

/// An image for two platforms with attestations, as BuildKit writes it; with the paths of the manifests.
fn two_platforms() -> (Files, Built, Built, [String; 2]) {
    let amd = Built::of(&["a"]);
    let mut arm = Built::of(&["a", "b"]).arch("arm64");
    arm.variant = Some("v8".to_owned());
    let mut files = Files::default();
    let manifests = [&amd, &arm].map(|image| {
        let manifest = files.image(image);
        for_platform(manifest, &image.platform())
    });
    let paths = manifests.clone().map(|manifest| {
        let digest = manifest["digest"].as_str().unwrap().to_owned();
        digest.replace("sha256:", "blobs/sha256/")
    });
    let config = files.json(&json!({"os": "unknown", "architecture": "unknown"}), CONFIG);
    let statement = files.json(
        &json!({"_type": "statement"}),
        "application/vnd.in-toto+json",
    );
    let mut attestation = for_platform(files.manifest(&config, &[statement]), &unknown());
    attestation["annotations"] = json!({"vnd.docker.reference.type": "attestation-manifest"});
    let [first, second] = manifests;
    let index = files.index(&[first, second, attestation]);
    let files = files.layout(&[named(index, "1.0")]);
    (files, amd, arm, paths)
}

fn open(files: &Files, choice: &Choice) -> Result<Vec<Image>, Error> {
    let dir = tempfile::tempdir().unwrap();
    files.write_to(dir.path());
    assert!(is_layout(dir.path()));
    open_dir(dir.path(), choice)
}

#[test]
fn every_platform_is_there_where_none_is_chosen() {
    let (files, amd, arm, _) = two_platforms();
    let images = open(&files, &everything()).unwrap();
    let [amd, arm] = [
        expected(&["1.0"], "linux/amd64", &amd),
        expected(&["1.0"], "linux/arm64/v8", &arm),
    ];
    assert_eq!(seen(&images), [amd.clone(), arm.clone()]);
    for image in &images {
        assert_eq!(image.problems, []);
        assert!(image.notes[0].contains("in-toto"), "{:?}", image.notes);
    }
    for (platform, one) in [
        ("linux/amd64", &amd),
        ("linux/arm64", &arm),
        ("linux/arm64/v8", &arm),
        ("linux/aarch64", &arm),
    ] {
        let images = open(&files, &on(platform)).unwrap();
        assert_eq!(seen(&images), std::slice::from_ref(one), "{platform}");
        assert!(
            images[0]
                .notes
                .iter()
                .any(|note| note.contains("left out `1.0` for"))
        );
    }
    let error = open(&files, &on("linux/ppc64le")).unwrap_err();
    assert!(error.hint().unwrap().contains("`1.0` for linux/arm64/v8"));
}

#[test]
fn a_platform_that_was_never_pulled_is_noted_and_an_error_where_it_is_chosen() {
    let (mut files, amd, _, [_, arm_manifest]) = two_platforms();
    files.remove(&arm_manifest);
    let images = open(&files, &everything()).unwrap();
    assert_eq!(seen(&images), [expected(&["1.0"], "linux/amd64", &amd)]);
    assert_eq!(images[0].problems, []);
    assert!(
        images[0]
            .notes
            .iter()
            .any(|note| note.starts_with("linux/arm64/v8 is in the index"))
    );
    let error = open(&files, &on("linux/arm64")).unwrap_err();
    assert!(error.to_string().contains("does not hold it"), "{error}");
    assert_eq!(
        error.hint(),
        Some("pull and save the image with `--platform linux/arm64`")
    );
}

#[test]
fn an_image_of_which_nothing_is_there_is_a_problem() {
    let (mut files, _, _, manifests) = two_platforms();
    for manifest in manifests {
        files.remove(&manifest);
    }
    let images = open(&files, &everything()).unwrap();
    assert_eq!(images.len(), 2);
    for image in &images {
        assert_eq!(kinds(image), [ProblemKind::MissingBlob]);
        assert_eq!(image.problems[0].extent, crate::Extent::Artifact);
    }
}

#[test]
fn what_is_called_an_attestation_and_is_an_image_is_read() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let mut manifest = for_platform(files.image(&image), &unknown());
    manifest["annotations"] = json!({"vnd.docker.reference.type": "attestation-manifest"});
    let images = open(&files.layout(&[manifest]), &everything()).unwrap();
    assert_eq!(seen(&images), [expected(&[], "linux/amd64", &image)]);
}

#[test]
fn artifacts_that_are_no_images_are_left_out_with_a_note() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let manifest = files.image(&image);
    let empty = files.json(&json!({}), "application/vnd.oci.empty.v1+json");
    let chart = files.blob(b"chart", LAYER);
    let artifact = json!({
        "schemaVersion": 2,
        "artifactType": "application/vnd.example.chart",
        "config": empty,
        "layers": [chart],
    });
    let artifact = files.json(&artifact, fixture::MANIFEST);
    let both = files.clone().layout(&[artifact.clone(), manifest]);
    let images = open(&both, &everything()).unwrap();
    assert_eq!(seen(&images), [expected(&[], "linux/amd64", &image)]);
    assert!(images[0].notes[0].contains("application/vnd.example.chart"));
    let error = open(&files.layout(&[artifact]), &everything()).unwrap_err();
    assert!(error.to_string().contains("there is no image"), "{error}");
}

#[test]
fn one_image_with_two_tags_is_there_once() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let manifest = files.image(&image);
    let files = files.layout(&[named(manifest.clone(), "v2"), named(manifest, "v1")]);
    let images = open(&files, &everything()).unwrap();
    assert_eq!(
        seen(&images),
        [expected(&["v1", "v2"], "linux/amd64", &image)]
    );
}

#[test]
fn a_layer_that_is_not_there_says_why() {
    let image = Built::of(&["a", "b"]);
    let mut files = Files::default();
    let config = files.json(&image.config(), CONFIG);
    let mut foreign = files.blob(
        &image.layers[0],
        "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
    );
    foreign["urls"] = json!(["https://base.example/layer"]);
    let absent = files.blob(&image.layers[1], LAYER);
    let manifest = files.manifest(&config, &[foreign, absent]);
    let mut files = files.layout(&[manifest]);
    let there = open_tar(&files, &everything()).unwrap();
    assert_eq!(bytes_of(&there[0].layers[0]), image.layers[0]);
    for layer in &image.layers {
        files.remove(&format!("blobs/sha256/{}", hex(layer)));
    }
    let images = open(&files, &everything()).unwrap();
    let faults = images[0]
        .layers
        .iter()
        .map(|layer| layer.blob.open().err().unwrap());
    let faults: Vec<_> = faults.collect();
    assert_eq!(faults[0].kind, ProblemKind::ForeignLayer);
    assert!(faults[0].detail.contains("https://base.example/layer"));
    assert_eq!(faults[1].kind, ProblemKind::MissingBlob);
    assert!(faults[1].detail.contains(&hex(&image.layers[1])));
}

#[test]
fn history_of_another_length_is_no_guess() {
    let image = Built::of(&["a", "b"]);
    let mut files = Files::default();
    let mut config = image.config();
    config["history"] = json!([{"created_by": "COPY"}]);
    let config = files.json(&config, CONFIG);
    let layers: Vec<Value> = image
        .layers
        .iter()
        .map(|layer| files.blob(layer, LAYER))
        .collect();
    let manifest = files.manifest(&config, &layers);
    let images = open(&files.layout(&[manifest]), &everything()).unwrap();
    assert_eq!(seen(&images), [expected(&[], "linux/amd64", &image)]);
    assert!(
        images[0]
            .layers
            .iter()
            .all(|layer| layer.created_by.is_none())
    );
    assert_eq!(images[0].problems, []);
}

#[test]
fn reads_what_skopeo_copies_to_a_directory() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let manifest = files.image(&image);
    let path = manifest["digest"]
        .as_str()
        .unwrap()
        .replace("sha256:", "blobs/sha256/");
    let mut bare = Files::default();
    bare.add("version", "Directory Transport Version: 1.1\n");
    for (name, entry) in files.members {
        let Entry::File(bytes) = entry else { continue };
        let name = if name == path {
            "manifest.json"
        } else {
            name.rsplit('/').next().unwrap()
        };
        bare.add(name, bytes);
    }
    let dir = tempfile::tempdir().unwrap();
    bare.write_to(dir.path());
    assert!(is_layout(dir.path()));
    let images = open_dir(dir.path(), &everything()).unwrap();
    assert_eq!(seen(&images), [expected(&[], "linux/amd64", &image)]);
    assert_eq!(images[0].digest.as_deref(), manifest["digest"].as_str());
    assert_eq!(bytes_of(&images[0].layers[0]), image.layers[0]);
}

#[test]
fn a_directory_that_only_has_files_of_these_names_is_no_layout() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!is_layout(dir.path()));
    for name in ["index.json", "manifest.json", "version"] {
        std::fs::write(dir.path().join(name), "{}").unwrap();
        assert!(!is_layout(dir.path()), "{name}");
    }
}
