//! Images out of a real registry: Debian's `docker-registry`, open, with passwords, with tokens, with a store behind
//! it.

use std::path::Path;

use serde_json::{Value, json};
use smgate::Error;
use smgate::limits::read_capped;
use smgate::source::oci::{Access, Reference, Registry};

use crate::support::registry::{
    DockerRegistry, Issuer, LOGIN, access, digest, store, with_passwords, with_store,
};

const OCI: &str = "application/vnd.oci.image.manifest.v1+json";
const DOCKER: &str = "application/vnd.docker.distribution.manifest.v2+json";
const LAYER_LEN: usize = 3_000_000;

/// Bytes of which no part is like another.
fn layer() -> Vec<u8> {
    let words = (0_u32..).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes());
    words.take(LAYER_LEN).collect()
}

/// A manifest with one layer, in the words of OCI or of Docker.
fn manifest(kind: &str) -> Vec<u8> {
    let (config, layer_type) = match kind {
        OCI => (
            "application/vnd.oci.image.config.v1+json",
            "application/vnd.oci.image.layer.v1.tar",
        ),
        _ => (
            "application/vnd.docker.container.image.v1+json",
            "application/vnd.docker.image.rootfs.diff.tar",
        ),
    };
    let manifest = json!({
        "schemaVersion": 2, "mediaType": kind,
        "config": {"mediaType": config, "digest": digest(b"{}"), "size": 2},
        "layers": [{"mediaType": layer_type, "digest": digest(&layer()), "size": LAYER_LEN}],
    });
    manifest.to_string().into_bytes()
}

/// Pushes the image into `repository`, as `oci` and `docker`.
fn push(storage: &Path, repository: &str) -> Option<DockerRegistry> {
    let open = DockerRegistry::start(storage, "")?;
    open.push_blob(repository, b"{}");
    open.push_blob(repository, &layer());
    open.push_manifest(repository, "oci", OCI, &manifest(OCI));
    open.push_manifest(repository, "docker", DOCKER, &manifest(DOCKER));
    Some(open)
}

/// Pulls everything of an image, and compares it with what was pushed.
fn pull(host: &str, name: &str, access: &Access) -> Result<(), Error> {
    let reference: Reference = format!("{host}/{name}").parse()?;
    let registry = Registry::open(&reference, access)?;
    let fetched = registry.manifest(&reference)?;
    let kind = if name.ends_with(":oci") { OCI } else { DOCKER };
    assert_eq!(fetched.media_type, kind);
    assert_eq!(fetched.bytes, manifest(kind));
    assert_eq!(fetched.digest.to_string(), digest(&manifest(kind)));
    let again = registry.manifest(&reference.with_digest(fetched.digest.clone()))?;
    assert_eq!(again, fetched);
    let read: oci_spec::image::ImageManifest = serde_json::from_slice(&fetched.bytes).unwrap();
    assert_eq!(registry.small_blob(read.config(), 100).unwrap(), b"{}");
    let blob = registry.blob(&read.layers()[0]).unwrap();
    let (bytes, more) = read_capped(blob, 10 << 20).unwrap();
    assert!(!more);
    assert_eq!(bytes, layer());
    Ok(())
}

fn refused(host: &str, name: &str, access: &Access) -> String {
    let error = pull(host, name, access).unwrap_err();
    format!("{error} | {}", error.hint().unwrap_or_default())
}

fn login(host: &str) -> Value {
    json!({"auths": {host: {"auth": LOGIN}}})
}

#[test]
fn pulls_from_an_open_registry_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let Some(open) = push(dir.path(), "lab/cuda") else {
        return;
    };
    let access = access(dir.path(), &json!({}));
    pull(&open.host, "lab/cuda:oci", &access).unwrap();
    pull(&open.host, "lab/cuda:docker", &access).unwrap();
    let text = refused(&open.host, "lab/cuda:absent", &access);
    assert!(
        text.contains("answered 404 (MANIFEST_UNKNOWN: manifest unknown) | check the tag"),
        "{text}"
    );
    let text = refused(&open.host, "absent/cuda:oci", &access);
    assert!(
        text.contains("answered 404 (MANIFEST_UNKNOWN") || text.contains("(NAME_UNKNOWN"),
        "{text}"
    );
    let absent = digest(b"absent");
    let text = refused(&open.host, &format!("lab/cuda@{absent}"), &access);
    assert!(text.contains("answered 404"), "{text}");
}

#[test]
fn logs_in_where_a_password_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    if push(dir.path(), "lab/cuda").is_none() {
        return;
    }
    let closed = DockerRegistry::start(dir.path(), &with_passwords(dir.path())).unwrap();
    pull(
        &closed.host,
        "lab/cuda:oci",
        &access(dir.path(), &login(&closed.host)),
    )
    .unwrap();
    let text = refused(
        &closed.host,
        "lab/cuda:oci",
        &access(dir.path(), &json!({})),
    );
    assert!(
        text.contains("it asks for a user and a password | log in with `docker login"),
        "{text}"
    );
    let wrong = json!({"auths": {&closed.host: {"username": "ci", "password": "wrong"}}});
    let text = refused(&closed.host, "lab/cuda:oci", &access(dir.path(), &wrong));
    assert!(
        text.contains("answered 401 (UNAUTHORIZED: authentication required)"),
        "{text}"
    );
    // a login for a part of another registry's name is none
    let other = json!({"auths": {"127.0.0.1": {"auth": LOGIN}}});
    refused(&closed.host, "lab/cuda:oci", &access(dir.path(), &other));
}

#[test]
fn takes_tokens_from_an_issuer_that_the_registry_trusts() {
    let dir = tempfile::tempdir().unwrap();
    let Some(open) = push(dir.path(), "public/cuda") else {
        return;
    };
    drop(open);
    drop(push(dir.path(), "private/cuda"));
    let issuer = Issuer::start();
    let closed = DockerRegistry::start(dir.path(), &issuer.configuration(dir.path())).unwrap();
    let nobody = access(dir.path(), &json!({}));
    pull(&closed.host, "public/cuda:oci", &nobody).unwrap();
    assert_eq!(issuer.stub.seen().len(), 1, "one token for the whole image");
    let text = refused(&closed.host, "private/cuda:oci", &nobody);
    assert!(
        text.contains("answered 401 (UNAUTHORIZED") && text.contains("docker login"),
        "{text}"
    );
    let ci = access(dir.path(), &login(&closed.host));
    pull(&closed.host, "private/cuda:oci", &ci).unwrap();
    let part =
        json!({"auths": {format!("{}/private", closed.host): {"identitytoken": "id-of-ci"}}});
    pull(
        &closed.host,
        "private/cuda:docker",
        &access(dir.path(), &part),
    )
    .unwrap();
    assert_eq!(issuer.stub.seen().last().unwrap().method, "POST");
    let liar = json!({"auths": {&closed.host: {"username": "ci", "password": "wrong"}}});
    let text = refused(&closed.host, "private/cuda:oci", &access(dir.path(), &liar));
    assert!(
        text.contains("no token: ") && text.contains("answered 401"),
        "{text}"
    );
}

#[test]
fn follows_to_the_store_behind_a_registry_without_its_login() {
    let dir = tempfile::tempdir().unwrap();
    if push(dir.path(), "lab/cuda").is_none() {
        return;
    }
    let store = store(dir.path().to_owned(), 1);
    let configuration = format!("{}\n{}", with_passwords(dir.path()), with_store(&store));
    let closed = DockerRegistry::start(dir.path(), &configuration).unwrap();
    pull(
        &closed.host,
        "lab/cuda:oci",
        &access(dir.path(), &login(&closed.host)),
    )
    .unwrap();
    let seen = store.seen();
    assert!(
        seen.len() >= 3,
        "configuration, the rest of it, layer: {seen:?}"
    );
    assert!(
        seen.iter()
            .all(|seen| seen.header("authorization").is_none()),
        "{seen:?}"
    );
    assert!(
        seen.iter()
            .any(|seen| seen.header("range") == Some("bytes=1-")),
        "{seen:?}"
    );
}
