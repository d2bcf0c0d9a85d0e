//! Images of registries through the real binary: the same answer as for the same image in a layout, and what becomes
//! of it when the registry fails.

mod failures;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::image::{CONFIG, Entry, Files, Image, layer, named, on};
use crate::support::registry::{DockerRegistry, Issuer, LOGIN, store, with_passwords, with_store};
use crate::support_cli::{Place, Run, finish, library};

/// An image with one library in its second layer.
fn image(code: &str, arch: &str) -> Image {
    let mut image = Image::of(&["etc/os-release"]).arch(arch).packed();
    let bytes = library(&[(code, 2)]);
    image.layers.push(layer(&[("opt/app/lib.so", &bytes)]));
    image
}

/// The files of two images and an attestation in an index, which is described.
fn two_platforms() -> (Files, Value) {
    let mut files = Files::default();
    let images = [image("sm_90", "amd64"), image("sm_80", "arm64")];
    let mut entries: Vec<Value> = images
        .iter()
        .map(|image| on(files.image(image), &image.platform()))
        .collect();
    let config = files.json(&json!({"architecture": "unknown", "os": "unknown"}), CONFIG);
    let statement = files.json(&json!({"predicate": {}}), "application/vnd.in-toto+json");
    let mut attestation = files.manifest(&config, &[statement]);
    attestation["annotations"]["vnd.docker.reference.type"] = json!("attestation-manifest");
    let unknown = json!({"os": "unknown", "architecture": "unknown"});
    entries.push(on(attestation, &unknown));
    let index = files.index(&entries);
    (files, index)
}

/// The bytes of a blob or manifest by its digest.
fn blob<'f>(files: &'f Files, digest: &str) -> Option<&'f [u8]> {
    let path = format!("blobs/{}", digest.replacen(':', "/", 1));
    let found = files.members.iter().find(|(name, _)| *name == path);
    match found {
        Some((_, Entry::File(bytes))) => Some(bytes),
        _ => None,
    }
}

/// Pushes what `top` describes, and everything below it, as `tag` of `repository`.
fn push(to: &DockerRegistry, repository: &str, tag: &str, files: &Files, top: &Value) {
    let digest = top["digest"].as_str().unwrap();
    let bytes = blob(files, digest).unwrap();
    let document: Value = serde_json::from_slice(bytes).unwrap();
    for child in document["manifests"].as_array().into_iter().flatten() {
        push(
            to,
            repository,
            child["digest"].as_str().unwrap(),
            files,
            child,
        );
    }
    let layers = document["layers"].as_array().into_iter().flatten();
    for part in layers.chain(document.get("config")) {
        to.push_blob(
            repository,
            blob(files, part["digest"].as_str().unwrap()).unwrap(),
        );
    }
    to.push_manifest(repository, tag, top["mediaType"].as_str().unwrap(), bytes);
}

/// Runs a command with the logins in `config` and no other.
fn run(place: &Place, args: &[&str], logins: &Value) -> Run {
    place.write("docker/config.json", logins.to_string());
    let mut command = place.command(args);
    command
        .env("HOME", place.path())
        .env("XDG_CONFIG_HOME", place.path())
        .env("DOCKER_CONFIG", place.path().join("docker"));
    finish(command)
}

fn check(place: &Place, input: &str, more: &[&str], logins: &Value) -> Run {
    let args = [
        "check", input, "--target", "H100", "--driver", "R580", "--format", "json",
    ];
    run(place, &[&args, more].concat(), logins)
}

/// What a report says of each artifact, without where it was found and what it is called there.
fn facts(run: &Run) -> Vec<Value> {
    let mut artifacts = run.json()["artifacts"].as_array().unwrap().clone();
    for artifact in &mut artifacts {
        for name in ["input", "names"] {
            artifact.as_object_mut().unwrap().remove(name);
        }
    }
    artifacts
}

/// Compares everything that is said of an image on a registry with what is said of the same image in a layout.
fn same_as_layout(place: &Place, name: &str, files: &Files, top: &Value, logins: &Value) {
    let layout = files.clone().layout(&[named(top.clone(), "1")]);
    layout.write_to(&place.path().join("layout"));
    let remote = format!("registry:{name}");
    let inspect = |input| run(place, &["inspect", input, "--format", "json"], logins);
    let (there, here) = (inspect(&remote), inspect("layout"));
    assert_eq!((there.status, here.status), (0, 0), "{there:?}");
    assert_eq!(facts(&there), facts(&here));
    for (platform, status) in [("linux/amd64", 0), ("linux/arm64", 1)] {
        let more = ["--platform", platform];
        let there = check(place, &remote, &more, logins);
        let here = check(place, "layout", &more, logins);
        assert_eq!((there.status, here.status), (status, status), "{there:?}");
        let verdicts = |run: &Run| {
            let report = run.json();
            (
                report["verdict"].clone(),
                run.codes(),
                report["findings"].as_array().unwrap().len(),
            )
        };
        assert_eq!(verdicts(&there), verdicts(&here));
        assert_eq!(there.problems(), Vec::<String>::new());
    }
}

fn login(host: &str) -> Value {
    json!({"auths": {host: {"auth": LOGIN}}})
}

/// An image in the storage of a registry that has ended.
fn stored(dir: &Path, repository: &str) -> Option<(Files, Value)> {
    let open = DockerRegistry::start(dir, "")?;
    let (files, top) = two_platforms();
    push(&open, repository, "1", &files, &top);
    Some((files, top))
}

#[test]
fn an_image_is_judged_on_a_registry_as_in_a_layout() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let Some((files, top)) = stored(dir.path(), "lab/cuda") else {
        return;
    };
    let none = json!({});
    let open = DockerRegistry::start(dir.path(), "").unwrap();
    let name = format!("{}/lab/cuda:1", open.host);
    same_as_layout(&place, &name, &files, &top, &none);
    let by_digest = format!("{}/lab/cuda@{}", open.host, top["digest"].as_str().unwrap());
    same_as_layout(&place, &by_digest, &files, &top, &none);

    let inspected = run(
        &place,
        &["inspect", &format!("registry:{name}"), "--format", "json"],
        &none,
    );
    let document = blob(&files, top["digest"].as_str().unwrap()).unwrap();
    let index: Value = serde_json::from_slice(document).unwrap();
    for (number, artifact) in inspected.json()["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        assert_eq!(artifact["input"], name.as_str());
        assert_eq!(artifact["names"], json!([name]));
        assert_eq!(artifact["digest"], index["manifests"][number]["digest"]);
    }

    let absent = check(
        &place,
        &format!("registry:{}/lab/cuda:2", open.host),
        &[],
        &none,
    );
    assert_eq!(absent.status, 2, "{absent:?}");
    assert!(absent.stderr.contains("MANIFEST_UNKNOWN"), "{absent:?}");
    assert!(
        absent.stderr.contains("  next: check the tag"),
        "{absent:?}"
    );
    let riscv = run(
        &place,
        &[
            "inspect",
            &format!("registry:{name}"),
            "--platform",
            "linux/riscv64",
        ],
        &none,
    );
    assert_eq!(riscv.status, 2, "{riscv:?}");
    assert!(
        riscv.stderr.contains("holds no image for linux/riscv64"),
        "{riscv:?}"
    );
    assert!(riscv.stderr.contains("for linux/amd64"), "{riscv:?}");
}

#[test]
fn passwords_tokens_and_stores_change_nothing_of_the_verdict() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let Some((files, top)) = stored(dir.path(), "private/cuda") else {
        return;
    };
    let closed = DockerRegistry::start(dir.path(), &with_passwords(dir.path())).unwrap();
    let name = format!("{}/private/cuda:1", closed.host);
    same_as_layout(&place, &name, &files, &top, &login(&closed.host));
    let wrong = json!({"auths": {&closed.host: {"username": "ci", "password": "wrong"}}});
    for logins in [json!({}), wrong] {
        let refused = check(&place, &format!("registry:{name}"), &[], &logins);
        assert_eq!(refused.status, 2, "{refused:?}");
        let hint = format!("log in with `docker login {}`", closed.host);
        assert!(refused.stderr.contains(&hint), "{refused:?}");
    }

    let issuer = Issuer::start();
    let tokens = DockerRegistry::start(dir.path(), &issuer.configuration(dir.path())).unwrap();
    let name = format!("{}/private/cuda:1", tokens.host);
    same_as_layout(&place, &name, &files, &top, &login(&tokens.host));

    let store = store(dir.path().to_owned(), 1);
    let behind = DockerRegistry::start(dir.path(), &with_store(&store)).unwrap();
    let name = format!("{}/private/cuda:1", behind.host);
    same_as_layout(&place, &name, &files, &top, &json!({}));
    assert!(store.seen().len() > 4, "{:?}", store.paths());
}
