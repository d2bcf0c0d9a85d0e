//! `manifest.json` of `docker save`, podman, skopeo and build tools: images without manifests.

use std::collections::BTreeMap;

use oci_spec::image::Descriptor;
use serde::Deserialize;

use super::blob::Blob;
use super::config::Read;
use super::files::inside;
use super::json::{CONFIG_MAX, Reader, is_sha256_hex, parse, sha256};
use super::manifest::{LAYERS_MAX, Stated};
use super::merge::Found;
use super::{Image, ImageConfig};
use crate::archive::Fault;
use crate::{Extent, Locator, ProblemKind};

/// Images of one archive that are looked at.
const IMAGES_MAX: usize = 4096;

/// An entry of `manifest.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Saved {
    config: String,
    repo_tags: Option<Vec<String>>,
    layers: Option<Vec<String>>,
    /// Since Docker 25, by DiffID.
    #[serde(default)]
    layer_sources: Option<BTreeMap<String, serde_json::Value>>,
}

/// The images of a `manifest.json`.
pub(super) fn read(bytes: &[u8], reader: &Reader<'_>, at: &Locator) -> Result<Found, Fault> {
    let saved: Vec<Saved> = parse(bytes, "list of saved images")?;
    if saved.len() > IMAGES_MAX {
        let detail = format!("more than {IMAGES_MAX} images, the most that are looked at");
        return Err(Fault::new(ProblemKind::LimitExceeded, detail));
    }
    let mut found = Found::default();
    for (group, saved) in saved.into_iter().enumerate() {
        found.add(group, image(saved, reader, at)?.into());
    }
    Ok(found)
}

fn image(saved: Saved, reader: &Reader<'_>, at: &Locator) -> Result<Image, Fault> {
    let names = saved.repo_tags.unwrap_or_default();
    let mut image = Image {
        at: at.clone(),
        names: names.into_iter().filter(|name| !name.is_empty()).collect(),
        digest: None,
        image_id: None,
        platform: None,
        config: ImageConfig::default(),
        layers: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
    };
    let config = match read_config(&saved.config, reader) {
        Ok((config, id)) => {
            image.image_id = Some(id);
            config
        }
        Err(fault) => {
            let at = at.member(&saved.config.as_str().into());
            image.problems.push(fault.at(at, Extent::Member));
            Read::default()
        }
    };
    let layers = saved.layers.unwrap_or_default();
    if layers.len() > LAYERS_MAX {
        let detail = format!("{} layers, where {LAYERS_MAX} are looked at", layers.len());
        return Err(Fault::new(ProblemKind::LimitExceeded, detail));
    }
    let sources = saved.layer_sources.unwrap_or_default();
    let stated = layers.iter().enumerate().map(|(index, path)| {
        let source = config.diff_ids.get(index).and_then(|id| sources.get(id));
        let source: Option<Descriptor> =
            source.and_then(|source| serde_json::from_value(source.clone()).ok());
        Stated {
            digest: digest_in(path),
            size: inside(path.as_bytes()).and_then(|path| reader.files.size(&path)),
            media_type: source.map(|source| source.media_type().to_string()),
            blob: find(path, reader),
        }
    });
    let stated = stated.collect();
    image.take(config, stated);
    Ok(image)
}

/// The configuration, and the digest of it that Docker calls the image's ID.
fn read_config(path: &str, reader: &Reader<'_>) -> Result<(Read, String), Fault> {
    let bytes = match inside(path.as_bytes()) {
        Some(inside) => reader.file(&inside, CONFIG_MAX)?,
        None => return Err(leads_out(path)),
    };
    let Some(bytes) = bytes else {
        let detail = "the configuration of the image is not there";
        return Err(Fault::new(ProblemKind::MissingBlob, detail));
    };
    let id = sha256(&bytes);
    let stem = path.strip_suffix(".json").unwrap_or(path);
    let stem = stem.rsplit(['/', ':']).next().unwrap_or(stem);
    if is_sha256_hex(stem) && id.strip_prefix("sha256:") != Some(stem) {
        let detail = format!("its digest is {id}, and not what it is called");
        return Err(Fault::new(ProblemKind::ChecksumMismatch, detail));
    }
    Ok((Read::from_json(&bytes)?, id))
}

fn find(path: &str, reader: &Reader<'_>) -> Blob {
    let Some(inside) = inside(path.as_bytes()) else {
        return Blob::Absent(leads_out(path));
    };
    reader.files.blob(&inside).unwrap_or_else(|| {
        let detail = format!("`{inside}` is not there");
        Blob::Absent(Fault::new(ProblemKind::MissingBlob, detail))
    })
}

/// The digest in the path of a blob. Other names hold the DiffID, or the ID of a layer in an old format.
fn digest_in(path: &str) -> Option<String> {
    let path = inside(path.as_bytes())?;
    let hex = path.strip_prefix("blobs/sha256/")?;
    is_sha256_hex(hex).then(|| format!("sha256:{hex}"))
}

fn leads_out(path: &str) -> Fault {
    let shown: String = path.chars().take(200).collect();
    let detail = format!("`{shown}` leads out of the archive");
    Fault::new(ProblemKind::MalformedMetadata, detail)
}
