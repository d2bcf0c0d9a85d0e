//! The configuration of an image: platform, environment, labels, and what it says of the layers.

use std::collections::BTreeMap;

use oci_spec::image::ImageConfiguration;

use super::ImageConfig;
use super::json::parse;
use crate::archive::Fault;

/// What a configuration says.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) config: ImageConfig,
    pub(super) diff_ids: Vec<String>,
    /// The step that made each layer; empty where the history has not one step for each.
    created_by: Vec<String>,
}

impl Read {
    pub(super) fn from_json(bytes: &[u8]) -> Result<Self, Fault> {
        let read: ImageConfiguration = parse(bytes, "image configuration")?;
        let said = |text: String| (!text.is_empty()).then_some(text);
        let inner = read.config().as_ref();
        let labels = inner.and_then(|inner| inner.labels().as_ref());
        let labels: BTreeMap<String, String> = labels
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let history = read.history().iter().flatten();
        let created_by = history
            .filter(|step| step.empty_layer() != Some(true))
            .map(|step| step.created_by().clone().unwrap_or_default());
        Ok(Self {
            config: ImageConfig {
                os: said(read.os().to_string()),
                architecture: said(read.architecture().to_string()),
                variant: read.variant().clone().and_then(said),
                env: inner
                    .and_then(|inner| inner.env().clone())
                    .unwrap_or_default(),
                labels,
            },
            diff_ids: read.rootfs().diff_ids().clone(),
            created_by: created_by.collect(),
        })
    }

    /// The platform, `linux/amd64`, where it says one.
    pub(super) fn platform(&self) -> Option<String> {
        let ImageConfig {
            os,
            architecture,
            variant,
            ..
        } = &self.config;
        let mut platform = format!("{}/{}", os.as_ref()?, architecture.as_ref()?);
        if platform == UNKNOWN {
            return None;
        }
        if let Some(variant) = variant {
            platform.push('/');
            platform.push_str(variant);
        }
        Some(platform)
    }

    /// The step that made the layer with this index, out of `layers`.
    pub(super) fn created_by(&self, index: usize, layers: usize) -> Option<String> {
        // with another number of steps nobody knows which step made which layer
        let step = self
            .created_by
            .get(index)
            .filter(|_| self.created_by.len() == layers)?;
        (!step.is_empty()).then(|| step.clone())
    }
}

/// The platform of what is no image, as BuildKit writes it.
pub(super) const UNKNOWN: &str = "unknown/unknown";
