//! Images that are damaged or made to mislead: every one is an error or a located problem.

use serde_json::json;

use super::super::fixture::{CONFIG, Entry, INDEX, LAYER, MANIFEST, hex, named};
use super::*;

/// A layout with one image, and the paths of its manifest and its configuration.
fn layout() -> (Files, String, String) {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let manifest = files.image(&image);
    let path = manifest["digest"]
        .as_str()
        .unwrap()
        .replace("sha256:", "blobs/sha256/");
    let config = format!(
        "blobs/sha256/{}",
        hex(image.config().to_string().as_bytes())
    );
    (files.layout(&[named(manifest, "v1")]), path, config)
}

#[test]
fn what_is_not_what_its_digest_says_is_a_located_problem() {
    let (files, manifest, config) = layout();
    for (path, layers) in [(&manifest, 0), (&config, 1)] {
        let mut changed = files.clone();
        let bytes = changed.get(path);
        let last = bytes.len() - 1;
        bytes[last] = b' ';
        let image = &open_tar(&changed, &everything()).unwrap()[0];
        assert_eq!(kinds(image)[0], ProblemKind::ChecksumMismatch);
        assert_eq!(image.problems[0].at.to_string(), format!("x › {path}"));
        assert_eq!(
            (image.layers.len(), image.names.clone()),
            (layers, vec!["v1".to_owned()])
        );
        changed.get(path).push(b' ');
        let image = &open_tar(&changed, &everything()).unwrap()[0];
        assert_eq!(kinds(image)[0], ProblemKind::SizeMismatch);
        changed.remove(path);
        let image = &open_tar(&changed, &everything()).unwrap()[0];
        assert_eq!(kinds(image)[0], ProblemKind::MissingBlob);
    }
}

#[test]
fn a_saved_configuration_must_be_what_it_is_called() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let saved = files.docker_24(&image, &["x:1"]);
    let config = saved["Config"].as_str().unwrap().to_owned();
    let mut files = files.docker(&[saved]);
    files.get(&config).push(b' ');
    let image = &open_tar(&files, &everything()).unwrap()[0];
    assert_eq!(kinds(image), [ProblemKind::ChecksumMismatch]);
    assert_eq!(image.layers.len(), 1);
}

#[test]
fn a_digest_or_a_path_leads_nowhere_else() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    let dir = outside.path().join("a/layout");
    std::fs::create_dir_all(&dir).unwrap();
    for digest in [
        "sha256:../../../secret",
        "sha256:secret",
        "md5:0123456789abcdef",
        "../../secret:0",
        "",
    ] {
        let mut files = Files::default();
        let image = Built::of(&["a"]);
        let config = files.json(&image.config(), CONFIG);
        let layer = json!({"mediaType": LAYER, "digest": digest, "size": 1});
        let manifest = files.manifest(&config, std::slice::from_ref(&layer));
        files.clone().layout(&[manifest]).write_to(&dir);
        let image = &open_dir(&dir, &everything()).unwrap()[0];
        let fault = image
            .layers
            .first()
            .map(|layer| layer.blob.open().err().unwrap().kind);
        let kinds: Vec<_> = fault.into_iter().chain(kinds(image)).collect();
        assert_eq!(kinds, [ProblemKind::MalformedMetadata], "{digest}");
        files.layout(&[layer]).write_to(&dir);
        match open_dir(&dir, &everything()) {
            Ok(images) => assert_eq!(super::kinds(&images[0]), [ProblemKind::MalformedMetadata]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Input),
        }
    }
    for path in [
        "../secret",
        "/../x",
        "a/../../x",
        "",
        ".",
        r"..\secret",
        "\u{0}",
    ] {
        let image = Built::of(&["a"]);
        let mut files = Files::default();
        let mut saved = files.docker_24(&image, &["x:1"]);
        saved["Layers"] = json!([path]);
        let files = files.docker(&[saved]);
        let image = &open_tar(&files, &everything()).unwrap()[0];
        let fault = image.layers[0].blob.open().err().unwrap();
        assert_eq!(fault.kind, ProblemKind::MalformedMetadata, "{path:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_blob_that_is_a_link_out_of_the_layout_is_not_followed() {
    let (files, _, _) = layout();
    let outside = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    files.write_to(dir.path());
    let layer = Built::of(&["a"]).layers[0].clone();
    let blob = dir.path().join(format!("blobs/sha256/{}", hex(&layer)));
    for (place, followed) in [
        (outside.path().join("l"), false),
        (dir.path().join("l"), true),
    ] {
        std::fs::write(&place, &layer).unwrap();
        std::fs::remove_file(&blob).unwrap();
        std::os::unix::fs::symlink(&place, &blob).unwrap();
        let image = &open_dir(dir.path(), &everything()).unwrap()[0];
        match image.layers[0].blob.open() {
            Ok(_) => assert!(followed),
            Err(fault) => assert_eq!((fault.kind, followed), (ProblemKind::NotFollowed, false)),
        }
    }
}

#[test]
fn links_in_a_circle_or_out_of_the_archive_end() {
    for target in ["b.tar", "../../etc/passwd", "/etc/passwd", "nowhere.tar"] {
        let image = Built::of(&["a"]);
        let mut files = Files::default();
        let mut saved = files.docker_24(&image, &["x:1"]);
        files.link("b.tar", "c.tar");
        files.link("c.tar", target);
        saved["Layers"] = json!(["b.tar"]);
        let files = files.docker(&[saved]);
        let image = &open_tar(&files, &everything()).unwrap()[0];
        let kind = image.layers[0].blob.open().err().unwrap().kind;
        let nothing = target == "nowhere.tar";
        let expected = if nothing {
            ProblemKind::MissingBlob
        } else {
            ProblemKind::NotFollowed
        };
        assert_eq!(kind, expected, "{target}");
    }
}

#[test]
fn indexes_in_each_other_end() {
    let mut files = Files::default();
    let mut index = files.image(&Built::of(&["a"]));
    for depth in 1..=6 {
        // each names the one before twice: all paths together are 2^depth
        index = files.index(&[index.clone(), index]);
        let files = files.clone().layout(&[index.clone()]);
        let images = open_tar(&files, &everything()).unwrap();
        assert_eq!(images.len(), 1);
        let expected: &[ProblemKind] = if depth <= 4 {
            &[]
        } else {
            &[ProblemKind::LimitExceeded]
        };
        assert_eq!(kinds(&images[0]), expected, "{depth}");
    }
}

#[test]
fn numbers_of_manifests_and_layers_are_bounded() {
    let mut files = Files::default();
    let manifest = files.image(&Built::of(&["a"]));
    let many: Vec<_> = (0..5000)
        .map(|tag| named(manifest.clone(), &tag.to_string()))
        .collect();
    let error = open_tar(&files.clone().layout(&many), &everything()).unwrap_err();
    assert!(
        error.to_string().contains("more than 4096 manifests"),
        "{error}"
    );

    let layer = json!({"mediaType": LAYER, "digest": digest(b""), "size": 0});
    let config = files.json(&Built::of(&[]).config(), CONFIG);
    let manifest = files.manifest(&config, &vec![layer; 5000]);
    let image = &open_tar(&files.layout(&[manifest]), &everything()).unwrap()[0];
    assert_eq!(kinds(image), [ProblemKind::LimitExceeded]);
}

#[test]
fn json_files_are_bounded() {
    let (files, manifest, _) = layout();
    for path in ["index.json", "oci-layout"] {
        let mut large = files.clone();
        large.get(path).resize(5 << 20, b' ');
        let error = open_tar(&large, &everything()).unwrap_err();
        assert!(error.to_string().contains("bytes, the most"), "{error}");
    }
    let mut files = Files::default();
    let padded = files.blob(&vec![b' '; 5 << 20], MANIFEST);
    let image = &open_tar(&files.layout(&[padded]), &everything()).unwrap()[0];
    assert_eq!(kinds(image), [ProblemKind::LimitExceeded]);
    assert_ne!(image.problems[0].at.to_string(), format!("x › {manifest}"));
}

#[test]
fn a_document_that_two_tools_read_differently_is_refused() {
    let mut files = Files::default();
    let image = Built::of(&["a"]);
    let config = files.json(&image.config(), CONFIG);
    let layer = files.blob(&image.layers[0], LAYER);
    let manifest = json!({"schemaVersion": 2, "config": config, "layers": [layer]});
    let mut both = manifest.clone();
    both["manifests"] = json!([]);
    let mut called = manifest.clone();
    called["mediaType"] = json!(INDEX);
    for (document, media_type) in [
        (&both, MANIFEST),
        (&both, INDEX),
        (&manifest, INDEX),
        (&called, MANIFEST),
    ] {
        let mut files = files.clone();
        let descriptor = files.json(document, media_type);
        let image = &open_tar(&files.layout(&[descriptor]), &everything()).unwrap()[0];
        assert_eq!(
            kinds(image),
            [ProblemKind::MalformedMetadata],
            "{document} {media_type}"
        );
    }
    let schema_1 = json!({"schemaVersion": 1, "fsLayers": [], "history": []});
    let old = files.json(
        &schema_1,
        "application/vnd.docker.distribution.manifest.v1+json",
    );
    let image = &open_tar(&files.layout(&[old]), &everything()).unwrap()[0];
    assert!(image.problems[0].detail.contains("schema 1"));
}

#[test]
fn a_configuration_for_other_layers_is_a_problem() {
    let mut files = Files::default();
    let image = Built::of(&["a", "b"]);
    let config = files.json(&Built::of(&["a"]).config(), CONFIG);
    let layers: Vec<_> = image
        .layers
        .iter()
        .map(|layer| files.blob(layer, LAYER))
        .collect();
    let manifest = files.manifest(&config, &layers);
    let image = &open_tar(&files.layout(&[manifest]), &everything()).unwrap()[0];
    assert_eq!(kinds(image), [ProblemKind::MalformedMetadata]);
    assert!(image.layers.iter().all(|layer| layer.diff_id.is_none()));
}

#[test]
fn damage_at_any_place_of_the_json_neither_panics_nor_passes_unseen() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let manifest = named(files.image(&image), "v1");
    let saved = files.docker_24(&image, &["x:1"]);
    let files = files.layout(&[manifest]).docker(&[saved]);
    for (name, entry) in &files.members {
        let Entry::File(bytes) = entry else { continue };
        if bytes.first() != Some(&b'{') && bytes.first() != Some(&b'[') {
            continue;
        }
        for at in 0..bytes.len() {
            for byte in [b'0', b'"', 0xff] {
                let mut changed = files.clone();
                changed.get(name)[at] = byte;
                // whatever it is now: an image, a problem or an error, but no panic
                let whole = open_tar(&changed, &everything()).is_ok();
                assert_eq!(
                    open_stream(&changed.tar(), &everything()).is_ok(),
                    whole,
                    "{name} {at}"
                );
            }
        }
    }
}
