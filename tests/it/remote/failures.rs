//! Registries that fail: what can be helped is, and what cannot passes nothing.

use serde_json::{Value, json};

use super::{blob, check, image, run, two_platforms};
use crate::support::image::{Files, INDEX, MANIFEST, digest};
use crate::support::registry::stub::{Reply, Seen, Stub};
use crate::support_cli::{Place, Run};

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
                (1, Some("Bearer t0")) => Some(Reply::new(200).body(bytes).cut(50)),
                (_, None | Some("Bearer t0")) => asks(),
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
