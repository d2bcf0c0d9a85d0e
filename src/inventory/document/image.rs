//! The JSON form of what only images have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cuda::ToolkitVersion;
use crate::device::ForwardNote;
use crate::inventory::{CompatDriver, Hidden, ImageFacts, LayerFacts};

/// What an artifact that is an image has besides; it stands among the artifact's own fields.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ImageForm {
    #[serde(default)]
    digest: Option<String>,
    #[serde(default)]
    platform: Option<String>,
    #[serde(default)]
    image_id: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    config: Option<ConfigForm>,
    #[serde(default)]
    layers: Vec<LayerForm>,
    #[serde(default)]
    hidden: Vec<HiddenForm>,
}

/// What the configuration says that bears on GPUs.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ConfigForm {
    env: Vec<String>,
    labels: BTreeMap<String, String>,
    compat: Vec<CompatForm>,
    compat_configs: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CompatForm {
    path: String,
    note: Option<NoteForm>,
    /// Why the note could not be read.
    broken: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NoteForm {
    cuda: ToolkitVersion,
    drivers: Option<Vec<u32>>,
    devices: Option<Vec<u32>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LayerForm {
    digest: Option<String>,
    diff_id: Option<String>,
    size: Option<u64>,
    unpacked: Option<u64>,
    created_by: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HiddenForm {
    path: String,
    bytes: u64,
    /// Counted from 1, as addresses do.
    layer: usize,
    removed_by: Option<usize>,
}

impl ImageForm {
    pub(super) fn new(image: Option<&ImageFacts>) -> Self {
        let Some(image) = image else {
            return Self::default();
        };
        Self {
            digest: image.digest.clone(),
            platform: image.platform.clone(),
            image_id: image.image_id.clone(),
            names: image.names.clone(),
            config: Some(ConfigForm {
                env: image.env.clone(),
                labels: image.labels.clone(),
                compat: image.compat.iter().map(CompatForm::from).collect(),
                compat_configs: image.compat_configs.clone(),
            }),
            layers: image.layers.iter().map(LayerForm::from).collect(),
            hidden: image.hidden.iter().map(HiddenForm::from).collect(),
        }
    }

    pub(super) fn into_facts(self) -> Result<ImageFacts, String> {
        let count = self.layers.len();
        let config = self.config.unwrap_or_default();
        let hidden = self.hidden.into_iter();
        Ok(ImageFacts {
            names: self.names,
            digest: self.digest,
            image_id: self.image_id,
            platform: self.platform,
            env: config.env,
            labels: config.labels,
            compat: config.compat.into_iter().map(CompatDriver::from).collect(),
            compat_configs: config.compat_configs,
            layers: self.layers.into_iter().map(LayerFacts::from).collect(),
            hidden: hidden
                .map(|form| form.into_hidden(count))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl From<&CompatDriver> for CompatForm {
    fn from(driver: &CompatDriver) -> Self {
        let note = driver.note.as_ref();
        let read = note.and_then(|note| note.as_ref().ok());
        Self {
            path: driver.path.clone(),
            note: read.map(|note| NoteForm {
                cuda: note.cuda,
                drivers: note.drivers.clone(),
                devices: note.devices.clone(),
            }),
            broken: note.and_then(|note| note.as_ref().err()).cloned(),
        }
    }
}

impl From<CompatForm> for CompatDriver {
    fn from(form: CompatForm) -> Self {
        let note = form
            .note
            .map(|note| ForwardNote::new(note.cuda, note.drivers, note.devices));
        Self {
            path: form.path,
            note: note.map(Ok).or(form.broken.map(Err)),
        }
    }
}

impl From<&LayerFacts> for LayerForm {
    fn from(layer: &LayerFacts) -> Self {
        Self {
            digest: layer.digest.clone(),
            diff_id: layer.diff_id.clone(),
            size: layer.size,
            unpacked: layer.unpacked,
            created_by: layer.created_by.clone(),
        }
    }
}

impl From<LayerForm> for LayerFacts {
    fn from(form: LayerForm) -> Self {
        Self {
            digest: form.digest,
            diff_id: form.diff_id,
            size: form.size,
            unpacked: form.unpacked,
            created_by: form.created_by,
        }
    }
}

impl From<&Hidden> for HiddenForm {
    fn from(hidden: &Hidden) -> Self {
        Self {
            path: hidden.path.clone(),
            bytes: hidden.size,
            layer: hidden.layer + 1,
            removed_by: hidden.by.map(|layer| layer + 1),
        }
    }
}

impl HiddenForm {
    fn into_hidden(self, layers: usize) -> Result<Hidden, String> {
        let index = |number: usize| {
            let index = number.checked_sub(1).filter(|index| *index < layers);
            index.ok_or_else(|| format!("`{}` is in layer {number} of {layers}", self.path))
        };
        Ok(Hidden {
            layer: index(self.layer)?,
            by: self.removed_by.map(index).transpose()?,
            size: self.bytes,
            path: self.path.clone(),
        })
    }
}
