//! `docker save` of every generation, podman, skopeo, and OCI archives; whole and as a stream.

use serde_json::json;

use super::super::fixture::{Entry, gzip, named};
use super::*;

/// What both ways of reading an archive say, which must be the same.
fn both(files: &Files, choice: &Choice) -> Result<Vec<Image>, Error> {
    let whole = open_tar(files, choice);
    let stream = open_stream(&files.tar(), choice);
    match (&whole, &stream) {
        (Ok(whole), Ok(stream)) => {
            assert_eq!(seen(whole), seen(stream));
            for (one, other) in whole.iter().zip(stream) {
                assert_eq!(one.problems, other.problems);
                assert_eq!(one.notes, other.notes);
                for (one, other) in one.layers.iter().zip(&other.layers) {
                    assert_eq!((&one.digest, one.size), (&other.digest, other.size));
                }
            }
        }
        (Err(whole), Err(stream)) => assert_eq!(whole.to_string(), stream.to_string()),
        _ => panic!("{whole:?} {stream:?}"),
    }
    whole
}

/// The full name of an image of Docker Hub.
fn on_hub(name: &str) -> String {
    format!("{}/{name}", docker_hub::NAME)
}

#[test]
fn reads_docker_save_up_to_24() {
    let image = Built::of(&["a", "b"]);
    let mut files = Files::default();
    let saved = files.docker_24(&image, &["lab/x:1", "lab/x:2"]);
    let files = files.docker(&[saved]);
    let images = both(&files, &everything()).unwrap();
    assert_eq!(
        seen(&images),
        [expected(&["lab/x:1", "lab/x:2"], "linux/amd64", &image)]
    );
    let image_id = digest(image.config().to_string().as_bytes());
    assert_eq!(
        (&images[0].digest, images[0].image_id.as_ref()),
        (&None, Some(&image_id))
    );
    assert_eq!(images[0].config.env, ["PATH=/bin"]);
    assert_eq!(images[0].config.labels["maintainer"], "lab");
    assert_eq!(bytes_of(&images[0].layers[1]), image.layers[1]);
    assert_eq!(images[0].layers[1].created_by.as_deref(), Some("COPY 1 /"));
    assert_eq!(images[0].layers[1].size, Some(image.layers[1].len() as u64));
    assert_eq!(images[0].problems, []);
}

#[test]
fn an_index_and_a_list_of_saved_images_that_agree_are_one_image() {
    for image in [Built::of(&["a", "b"]), Built::of(&["a", "b"]).packed()] {
        let mut files = Files::default();
        let mut manifest = named(files.image(&image), "25");
        manifest["annotations"]["io.containerd.image.name"] = json!(on_hub("lab/x:25"));
        let files = files.layout(&[manifest.clone()]);
        let files = files.docker(&[Files::docker_25(&image, &["lab/x:25"])]);
        let images = both(&files, &everything()).unwrap();
        assert_eq!(
            seen(&images),
            [expected(&["lab/x:25"], "linux/amd64", &image)]
        );
        assert_eq!(images[0].digest.as_deref(), manifest["digest"].as_str());
        let stored = &image.stored()[1].0;
        assert_eq!(images[0].layers[1].digest, Some(digest(stored)));
        assert_eq!(bytes_of(&images[0].layers[1]), *stored);
    }
}

#[test]
fn an_index_and_a_list_of_saved_images_that_differ_are_two_images() {
    let (one, other) = (Built::of(&["a"]), Built::of(&["b"]));
    let mut files = Files::default();
    let manifest = named(files.image(&one), "x");
    let saved = files.docker_24(&other, &["x"]);
    let files = files.layout(&[manifest]).docker(&[saved]);
    let images = both(&files, &everything()).unwrap();
    let both_of = [
        expected(&["x"], "linux/amd64", &one),
        expected(&["x"], "linux/amd64", &other),
    ];
    assert_eq!(seen(&images), both_of);
    assert_eq!(seen(&both(&files, &called("x")).unwrap()), both_of);
}

#[test]
fn layers_may_be_links_in_the_archive() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let mut saved = files.skopeo(&image, &[&on_hub("library/x:1")]);
    let target = saved["Layers"][0].as_str().unwrap().to_owned();
    files.link("v1/layer.tar", &format!("../{target}"));
    files.members.push((
        "hard.tar".to_owned(),
        Entry::HardLink("v1/layer.tar".to_owned()),
    ));
    saved["Layers"] = json!(["hard.tar"]);
    let images = both(&files.docker(&[saved]), &everything()).unwrap();
    assert_eq!(seen(&images), [expected(&["x:1"], "linux/amd64", &image)]);
    assert_eq!(bytes_of(&images[0].layers[0]), image.layers[0]);
}

#[test]
fn every_image_of_an_archive_is_there_and_one_can_be_named() {
    let (one, two) = (Built::of(&["a"]), Built::of(&["a", "b"]));
    let mut files = Files::default();
    let saved = [
        files.skopeo(&one, &[&on_hub("lab/one:latest")]),
        files.skopeo(&two, &["localhost:5000/lab/two:2"]),
    ];
    let files = files.docker(&saved);
    let [first, second] = [
        expected(&["lab/one:latest"], "linux/amd64", &one),
        expected(&["localhost:5000/lab/two:2"], "linux/amd64", &two),
    ];
    assert_eq!(
        seen(&both(&files, &everything()).unwrap()),
        [first.clone(), second.clone()]
    );
    let id = digest(two.config().to_string().as_bytes());
    for (name, image) in [
        ("lab/one:latest", &first),
        (&on_hub("lab/one:latest"), &first),
        ("lab/one", &first),
        ("latest", &first),
        ("2", &second),
        ("localhost:5000/lab/two:2", &second),
        (id.as_str(), &second),
        (&format!("@{id}"), &second),
    ] {
        assert_eq!(
            seen(&both(&files, &called(name)).unwrap()),
            std::slice::from_ref(image),
            "{name}"
        );
    }
    for name in ["lab/two:2", "two", "1", "localhost:5000/lab/two", ""] {
        let error = both(&files, &called(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{name}");
        assert!(
            error
                .hint()
                .unwrap()
                .contains("`lab/one:latest` for linux/amd64")
        );
    }
}

#[test]
fn names_may_begin_with_a_dot_and_the_index_may_come_last() {
    let image = Built::of(&["a", "b"]).packed();
    let mut files = Files::default();
    let manifest = named(files.image(&image), "v1");
    let mut files = files.layout(&[manifest]);
    for (name, _) in &mut files.members {
        *name = format!("./{name}");
    }
    let images = both(&files, &called("v1")).unwrap();
    assert_eq!(seen(&images), [expected(&["v1"], "linux/amd64", &image)]);
    assert!(is_image_archive(&files.tar().into(), &Limits::default()));
}

#[test]
fn a_layer_that_is_twice_in_an_archive_is_read_where_both_are_the_same() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let saved = files.skopeo(&image, &["x:1"]);
    let layer = saved["Layers"][0].as_str().unwrap().to_owned();
    let mut files = files.docker(&[saved]);
    files
        .members
        .push((layer.clone(), Entry::File(image.layers[0].clone())));
    let images = open_tar(&files, &everything()).unwrap();
    assert_eq!(bytes_of(&images[0].layers[0]), image.layers[0]);
    files
        .members
        .push((layer, Entry::File(vec![0; image.layers[0].len()])));
    for images in [
        open_tar(&files, &everything()),
        open_stream(&files.tar(), &everything()),
    ] {
        let fault = images.unwrap()[0].layers[0].blob.open().err().unwrap();
        assert_eq!(fault.kind, ProblemKind::DuplicateMember);
    }
}

#[test]
fn archives_before_docker_1_10_are_refused_with_what_to_do() {
    let mut files = Files::default();
    let id = "0".repeat(64);
    files.add(format!("{id}/json"), "{}");
    files.add(format!("{id}/layer.tar"), "");
    files.add("repositories", json!({"lab/x": {"old": id}}).to_string());
    let error = both(&files, &everything()).unwrap_err();
    assert!(error.to_string().contains("before version 1.10"), "{error}");
    assert!(error.hint().unwrap().contains("docker load"));
    assert!(is_image_archive(&files.tar().into(), &Limits::default()));
}

#[test]
fn an_archive_that_is_cut_says_so() {
    let image = Built::of(&["a", "b"]);
    let mut files = Files::default();
    let manifest = files.image(&image);
    let bytes = files.layout(&[manifest]).tar();
    for cut in 0..bytes.len() - 1024 {
        let part = bytes[..cut].to_vec();
        let whole = open_archive(
            &part.clone().into(),
            &at(),
            &everything(),
            &Limits::default(),
        );
        for opened in [whole, open_stream(&part, &everything())] {
            match opened {
                Err(error) => assert_eq!(error.kind(), ErrorKind::Input),
                // between two members nothing shows, but then a file that is needed is not there
                Ok(images) => assert!(
                    !images[0].problems.is_empty() || cut.is_multiple_of(512),
                    "cut at {cut}"
                ),
            }
        }
    }
    // the lists are there, and something behind them is cut
    let cut = bytes.len() - 1024 - 512 - 1;
    let images = open_stream(&bytes[..cut], &everything()).unwrap();
    assert_eq!(kinds(&images[0]), [ProblemKind::Truncated]);
}

#[test]
fn tells_archives_of_images_from_others() {
    let image = Built::of(&["a"]);
    let mut files = Files::default();
    let saved = files.docker_24(&image, &["x:1"]);
    let docker = files.docker(&[saved]);
    let mut files = Files::default();
    let manifest = files.image(&image);
    let oci = files.layout(&[manifest]);
    let one_file = |name: &str, content: &str| {
        let mut files = Files::default();
        files.add(name, content);
        files.tar()
    };
    let limits = Limits::default();
    for (bytes, is_image) in [
        (docker.tar(), true),
        (oci.tar(), true),
        (oci.tar()[..2000].to_vec(), true),
        (
            one_file("manifest.json", r#"{"manifest_version": 3}"#),
            false,
        ),
        (one_file("manifest.json", r#"[{"name": "x"}]"#), false),
        (one_file("index.json", r#"{"manifests": []}"#), false),
        (one_file("lib/a.so", "x"), false),
        (gzip(&docker.tar()), false),
        (Vec::new(), false),
        (image.layers[0].clone(), false),
    ] {
        assert_eq!(is_image_archive(&bytes.into(), &limits), is_image);
    }
    let hex = "0".repeat(64);
    let layer = format!("{hex}/layer.tar");
    for (names, is_image) in [
        (
            &["blobs/", "blobs/sha256/", &format!("blobs/sha256/{hex}")][..],
            true,
        ),
        (&["manifest.json", &format!("{hex}.json")][..], true),
        (&[format!("sha256:{hex}").as_str()][..], true),
        (&[format!("{hex}.tar.gz").as_str()][..], true),
        (&[format!("{hex}/").as_str(), &layer][..], true),
        (&["./oci-layout"][..], true),
        (&["manifest.json"][..], false),
        (&["index.json", "style.css"][..], false),
        (&["blobs/", "blobs/x"][..], false),
        (&[format!("{hex}/bin/sh").as_str()][..], false),
        (&["../blobs/sha256/x"][..], false),
    ] {
        assert_eq!(looks_like_image(names), is_image, "{names:?}");
    }
}
