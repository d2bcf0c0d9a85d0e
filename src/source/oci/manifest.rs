//! A manifest with its configuration: an image with its layers, or something that is no image.

use std::fmt::Write as _;

use oci_spec::image::{Descriptor, ImageManifest, MediaType};

use super::blob::Blob;
use super::config::{Read, UNKNOWN};
use super::json::{Reader, blob_path, parse};
use super::merge::Candidate;
use super::{Image, ImageConfig, ImageLayer};
use crate::archive::Fault;
use crate::{Extent, Locator, MemberName, Problem, ProblemKind};

/// Layers of one image that are looked at. Docker makes 127 at most.
pub(super) const LAYERS_MAX: usize = 4096;

/// What a manifest is.
#[derive(Debug)]
pub(super) enum Outcome {
    Image(Image),
    /// Something else, and what.
    Other(String),
    /// An image of which only the manifest is there.
    Bare(Image),
}

/// Configurations of images; the last is what registries of 2016 called everything.
const IMAGE_CONFIGS: [&str; 3] = [
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
    "application/octet-stream",
];

/// The image that a manifest describes.
pub(super) fn read(
    bytes: &[u8],
    reader: &Reader<'_>,
    at: &Locator,
    platform: Option<String>,
    digest: &str,
) -> Result<Outcome, Fault> {
    let manifest: ImageManifest = parse(bytes, "image manifest")?;
    let config_type = manifest.config().media_type().as_ref();
    if !IMAGE_CONFIGS.contains(&config_type) {
        let kind = manifest
            .artifact_type()
            .as_ref()
            .map_or(config_type, AsRef::as_ref);
        return Ok(Outcome::Other(format!("an artifact of type `{kind}`")));
    }
    let layers = manifest.layers();
    // attestations of BuildKit and signatures of cosign have the configuration of an image and nothing to unpack
    if let Some(first) = layers.first()
        && layers
            .iter()
            .all(|layer| layer.media_type().as_ref().ends_with("json"))
    {
        return Ok(Outcome::Other(format!(
            "`{}`, no file system",
            first.media_type()
        )));
    }
    if layers.len() > LAYERS_MAX {
        let detail = format!("{} layers, where {LAYERS_MAX} are looked at", layers.len());
        return Err(Fault::new(ProblemKind::LimitExceeded, detail));
    }
    let mut image = unknown(at, platform, digest);
    image.image_id = Some(manifest.config().digest().to_string());
    let config = read_config(reader, manifest.config());
    let config_absent =
        matches!(&config, Err((fault, _)) if fault.kind == ProblemKind::MissingBlob);
    let config = config.unwrap_or_else(|(fault, path)| {
        image
            .problems
            .push(fault.at(at.member(&path), Extent::Member));
        Read::default()
    });
    let stated = layers.iter().map(|layer| Stated {
        digest: Some(layer.digest().to_string()),
        size: Some(layer.size()),
        media_type: Some(layer.media_type().to_string()),
        blob: find_layer(reader, layer),
    });
    image.take(config, stated.collect());
    let absent = |layer: &ImageLayer| matches!(layer.blob, Blob::Absent(_));
    Ok(if config_absent && image.layers.iter().all(absent) {
        Outcome::Bare(image)
    } else {
        Outcome::Image(image)
    })
}

fn read_config(reader: &Reader<'_>, descriptor: &Descriptor) -> Result<Read, (Fault, MemberName)> {
    let path = blob_path(reader.places, descriptor.digest());
    let path = path.unwrap_or_else(|_| descriptor.digest().to_string());
    let read = reader.config(descriptor).and_then(|bytes| {
        let bytes = bytes.ok_or_else(|| {
            let detail = "the configuration of the image is not there";
            Fault::new(ProblemKind::MissingBlob, detail)
        })?;
        Read::from_json(&bytes)
    });
    read.map_err(|fault| (fault, path.as_str().into()))
}

fn find_layer(reader: &Reader<'_>, descriptor: &Descriptor) -> Blob {
    let path = match blob_path(reader.places, descriptor.digest()) {
        Ok(path) => path,
        Err(fault) => return Blob::Absent(fault),
    };
    if let Some(blob) = reader.files.layer(&path, descriptor) {
        return blob;
    }
    let urls = descriptor.urls().as_deref().unwrap_or_default();
    let media_type = descriptor.media_type();
    if urls.is_empty() && !is_foreign(media_type) {
        let detail = format!("`{path}` is not there");
        return Blob::Absent(Fault::new(ProblemKind::MissingBlob, detail));
    }
    let mut detail = format!(
        "the layer {} is not distributed with the image",
        descriptor.digest()
    );
    if let Some(url) = urls.first() {
        let shown: String = url.chars().take(200).collect();
        let _infallible = write!(detail, ", only from `{shown}`");
    }
    Blob::Absent(Fault::new(ProblemKind::ForeignLayer, detail))
}

pub(super) fn is_foreign(media_type: &MediaType) -> bool {
    let media_type = media_type.as_ref();
    media_type.contains(".foreign.") || media_type.contains(".nondistributable.")
}

/// What a manifest states of a layer.
pub(super) struct Stated {
    pub(super) digest: Option<String>,
    pub(super) size: Option<u64>,
    pub(super) media_type: Option<String>,
    pub(super) blob: Blob,
}

impl Image {
    /// Takes what the configuration says, and the layers with what it says of them.
    pub(super) fn take(&mut self, config: Read, stated: Vec<Stated>) {
        let layers = stated.len();
        let known = config.diff_ids.len() == layers;
        let was_read = config.config.os.is_some() || !config.diff_ids.is_empty();
        if !known && was_read {
            let detail = format!(
                "the configuration names {} layers, the manifest {layers}",
                config.diff_ids.len()
            );
            let kind = ProblemKind::MalformedMetadata;
            self.problems.push(Problem::new(
                kind,
                self.at.clone(),
                Extent::Artifact,
                detail,
            ));
        }
        let own = config.platform();
        match (&self.platform, &own) {
            (Some(stated), Some(own))
                if super::names::normal(stated) != super::names::normal(own) =>
            {
                self.notes.push(format!(
                    "the index says {stated}, the image's configuration {own}"
                ));
            }
            (None, _) => self.platform.clone_from(&own),
            _ => {}
        }
        let layers = stated
            .into_iter()
            .enumerate()
            .map(|(index, stated)| ImageLayer {
                diff_id: config.diff_ids.get(index).filter(|_| known).cloned(),
                created_by: config.created_by(index, layers),
                digest: stated.digest,
                size: stated.size,
                media_type: stated.media_type,
                blob: stated.blob,
            });
        self.layers = layers.collect();
        self.config = config.config;
    }
}

/// The platform that a descriptor states, where it is one.
pub(super) fn stated_platform(descriptor: &Descriptor) -> Option<String> {
    let stated = descriptor.platform().as_ref()?;
    let mut platform = format!("{}/{}", stated.os(), stated.architecture());
    if platform == UNKNOWN {
        return None;
    }
    if let Some(variant) = stated
        .variant()
        .as_deref()
        .filter(|variant| !variant.is_empty())
    {
        platform.push('/');
        platform.push_str(variant);
    }
    Some(platform)
}

/// An image of which nothing is known but its manifest's digest.
pub(super) fn unknown(at: &Locator, platform: Option<String>, digest: &str) -> Image {
    Image {
        at: at.clone(),
        names: Vec::new(),
        digest: Some(digest.to_owned()),
        image_id: None,
        platform,
        config: ImageConfig::default(),
        layers: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
    }
}

impl From<Image> for Candidate {
    fn from(image: Image) -> Self {
        Self {
            image,
            parents: Vec::new(),
        }
    }
}
