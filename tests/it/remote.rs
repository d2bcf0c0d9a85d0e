//! Images of registries through the real binary: the same answer as for the same image in a layout, and what becomes
//! of it when the registry fails.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::image::{
    CONFIG, Entry, Files, INDEX, Image, MANIFEST, digest, layer, named, on,
};
use crate::support::registry::stub::{Reply, Seen, Stub};
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
    for name in [
        "REGISTRY_AUTH_FILE",
        "XDG_RUNTIME_DIR",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
    ] {
        command.env_remove(name);
    }
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

/// The parts of a test that a registry fails in.
struct Failing {
    place: Place,
    files: Files,
    /// Digest of the manifest, which is `1`.
    manifest: String,
    /// Digest of the layer with the library.
    layer: String,
}

impl Failing {
    fn new() -> Self {
        let mut files = Files::default();
        let image = image("sm_90", "amd64");
        let manifest = files.image(&image);
        Self {
            place: Place::new(),
            layer: digest(&image.stored()[1].0),
            manifest: manifest["digest"].as_str().unwrap().to_owned(),
            files,
        }
    }

    /// A registry that answers requests for the layer, of which it is told how many came before, by `answer`.
    fn serve(
        &self,
        mut answer: impl FnMut(&Seen, usize, &[u8]) -> Option<Reply> + Send + 'static,
    ) -> Stub {
        let (files, manifest, layer) = (
            self.files.clone(),
            self.manifest.clone(),
            self.layer.clone(),
        );
        let mut asked = 0;
        Stub::start(move |seen, _| {
            let last = seen.path.rsplit('/').next().unwrap();
            let wanted = if last == "1" { manifest.as_str() } else { last };
            let Some(bytes) = blob(&files, wanted) else {
                return Reply::new(404);
            };
            if wanted == layer {
                asked += 1;
                if let Some(reply) = answer(seen, asked - 1, bytes) {
                    return reply;
                }
            }
            let reply = if seen.path.contains("/manifests/") {
                Reply::new(200).header("content-type", MANIFEST)
            } else {
                Reply::new(200)
            };
            match first(seen) {
                Some(first) => Reply::new(206)
                    .header(
                        "content-range",
                        format!("bytes {first}-{}/{}", bytes.len() - 1, bytes.len()),
                    )
                    .body(&bytes[first..]),
                None => reply.body(bytes),
            }
        })
    }

    fn check(&self, stub: &Stub) -> Run {
        let input = format!("registry:{}/lab/cuda:1", stub.host());
        check(&self.place, &input, &["--plain-http"], &json!({}))
    }

    /// The layer is named where it could not be read, and nothing passes.
    fn is_incomplete(&self, run: &Run, kind: &str) {
        assert_eq!(run.status, 3, "{run:?}");
        assert_eq!(run.problems(), [kind], "{run:?}");
        let problems = run.json()["problems"].to_string();
        assert!(problems.contains(&self.layer), "{problems}");
    }
}

/// Where the wanted range begins.
fn first(seen: &Seen) -> Option<usize> {
    let range = seen.header("range")?;
    range
        .strip_prefix("bytes=")?
        .strip_suffix('-')?
        .parse()
        .ok()
}

#[test]
fn a_layer_goes_on_where_the_connection_was_cut() {
    let test = Failing::new();
    let stub = test.serve(|seen, before, bytes| {
        assert_eq!(first(seen), (before > 0).then(|| 100 * before));
        let rest = &bytes[100 * before..];
        let reply = match before {
            0 => Reply::new(200),
            _ => Reply::new(206).header(
                "content-range",
                format!("bytes {}-{}/{}", 100 * before, bytes.len() - 1, bytes.len()),
            ),
        };
        (before < 3).then(|| reply.body(rest).cut(100))
    });
    let run = test.check(&stub);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.problems(), Vec::<String>::new());
    let asked = stub.paths();
    let layer = asked
        .iter()
        .filter(|path| path.ends_with(&test.layer))
        .count();
    assert_eq!(layer, 4, "{asked:?}");
}

#[test]
fn a_layer_goes_on_after_the_registry_failed_for_a_moment() {
    let test = Failing::new();
    let stub = test.serve(|_, before, bytes| match before {
        0 => Some(Reply::new(200).body(bytes).cut(50)),
        1 | 2 => Some(Reply::new(500)),
        _ => None,
    });
    let run = test.check(&stub);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.problems(), Vec::<String>::new());
}

#[test]
fn a_layer_goes_on_with_a_new_token_where_the_first_one_ended() {
    let test = Failing::new();
    let issuer =
        Stub::start(|_, before| Reply::new(200).body(format!(r#"{{"token":"t{before}"}}"#)));
    let realm = issuer.url("/token");
    let asks = move || {
        let challenge = format!(r#"Bearer realm="{realm}",service="lab""#);
        Some(Reply::new(401).header("www-authenticate", challenge))
    };
    let stub =
        test.serve(
            move |seen, before, bytes| match (before, seen.header("authorization")) {
                (_, None) => asks(),
                (_, Some("Bearer t0")) if before < 2 => Some(Reply::new(200).body(bytes).cut(50)),
                (_, Some("Bearer t0")) => asks(),
                (_, Some(other)) => {
                    assert_eq!((other, first(seen)), ("Bearer t1", Some(50)));
                    None
                }
            },
        );
    let run = test.check(&stub);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.problems(), Vec::<String>::new());
    assert_eq!(issuer.paths().len(), 2, "{:?}", issuer.paths());
}

#[test]
fn a_layer_that_is_another_one_passes_nothing() {
    let test = Failing::new();
    let stub = test.serve(|_, _, bytes| {
        // the time in the head of gzip: what is unpacked is the same
        let mut other = bytes.to_vec();
        other[4] ^= 1;
        Some(Reply::new(200).body(other))
    });
    let run = test.check(&stub);
    assert_eq!(run.status, 3, "{run:?}");
    let problems = run.json()["problems"].to_string();
    assert!(problems.contains("checksum-mismatch"), "{problems}");
    assert!(problems.contains(&test.layer), "{problems}");
}

#[test]
fn a_layer_that_is_absent_or_stays_broken_is_named() {
    let test = Failing::new();
    let absent = test.serve(|_, _, _| {
        let body = r#"{"errors":[{"code":"BLOB_UNKNOWN","message":"blob unknown to registry"}]}"#;
        Some(Reply::new(404).body(body))
    });
    let run = test.check(&absent);
    test.is_incomplete(&run, "network");
    assert!(run.stdout.contains("BLOB_UNKNOWN"), "{run:?}");
    let short = test.serve(|_, _, bytes| Some(Reply::new(200).body(&bytes[..40])));
    test.is_incomplete(&test.check(&short), "truncated");
}

#[test]
fn what_an_index_names_and_a_registry_lacks_passes_nothing() {
    let place = Place::new();
    let (files, top) = two_platforms();
    let document = blob(&files, top["digest"].as_str().unwrap())
        .unwrap()
        .to_vec();
    let index: Value = serde_json::from_slice(&document).unwrap();
    let arm = index["manifests"][1]["digest"].as_str().unwrap().to_owned();
    let lost = arm.clone();
    let stub = Stub::start(move |seen, _| {
        let last = seen.path.rsplit('/').next().unwrap();
        match blob(&files, last) {
            _ if last == "1" => Reply::new(200)
                .header("content-type", INDEX)
                .body(document.clone()),
            Some(_) if last == lost => Reply::new(404),
            Some(bytes) if seen.path.contains("/manifests/") => {
                Reply::new(200).header("content-type", MANIFEST).body(bytes)
            }
            Some(bytes) => Reply::new(200).body(bytes),
            None => Reply::new(404),
        }
    });
    let input = format!("registry:{}/lab/cuda:1", stub.host());
    let both = run(
        &place,
        &["inspect", &input, "--plain-http", "--format", "json"],
        &json!({}),
    );
    assert_eq!(
        (both.status, both.problems()),
        (3, vec!["network".to_owned()]),
        "{both:?}"
    );
    assert!(both.stdout.contains(&arm), "{both:?}");
    let before = stub.paths().len();
    // who wants the other one asks for nothing of this one, nor for the attestation
    let amd = check(
        &place,
        &input,
        &["--plain-http", "--platform", "linux/amd64"],
        &json!({}),
    );
    assert_eq!(amd.status, 0, "{amd:?}");
    let asked = stub.paths().split_off(before);
    let manifests = asked
        .iter()
        .filter(|path| path.contains("/manifests/"))
        .count();
    assert_eq!((manifests, asked.len()), (2, 5), "{asked:?}");
}

#[test]
fn what_is_no_image_of_today_is_said_to_be_none() {
    let place = Place::new();
    let old = r#"{"schemaVersion": 1, "name": "lab/cuda", "fsLayers": [], "history": []}"#;
    let chart = json!({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": digest(b"{}"), "size": 2},
        "layers": [],
    });
    let chart = chart.to_string();
    let signed = "application/vnd.docker.distribution.manifest.v1+prettyjws";
    for (kind, body, said) in [
        (signed, old, "Docker's schema 1"),
        (
            MANIFEST,
            chart.as_str(),
            "an artifact of type `application/vnd.cncf.helm.config.v1+json`",
        ),
        (
            "text/html",
            "<html>log in</html>",
            "what came is no manifest",
        ),
    ] {
        let body = body.to_owned();
        let stub = Stub::start(move |_, _| {
            Reply::new(200)
                .header("content-type", kind)
                .body(body.clone())
        });
        let run = check(
            &place,
            &format!("registry:{}/lab/cuda", stub.host()),
            &["--plain-http"],
            &json!({}),
        );
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
        assert!(run.stderr.contains("  next: "), "{run:?}");
    }
}

#[test]
fn certificate_authorities_of_ones_own_are_given_by_file() {
    let place = Place::new();
    let (stub, pem) = Stub::start_tls(|_, _| Reply::new(404));
    let port = stub.host().rsplit_once(':').unwrap().1.to_owned();
    place.write("ca.pem", pem);
    let input = format!("registry:localhost:{port}/lab/cuda");
    let trusted = check(&place, &input, &["--ca-file", "ca.pem"], &json!({}));
    assert_eq!(trusted.status, 2, "{trusted:?}");
    assert!(trusted.stderr.contains("answered 404"), "{trusted:?}");
    let lost = check(&place, &input, &["--ca-file", "none.pem"], &json!({}));
    assert_eq!(lost.status, 2, "{lost:?}");
    assert!(lost.stderr.contains("none.pem"), "{lost:?}");
}
