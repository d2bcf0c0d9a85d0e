//! Container images built in code: layers, configurations, manifests, indexes, and the archives that hold them.
//!
//! The unit tests of `src/source/oci` use this file too, so that it names nothing of the crate.

// Several modules use a part each, and builders are written to be used by tests to come.
#![allow(dead_code, reason = "a library of builders")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
pub(crate) const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
pub(crate) const LAYER_GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
pub(crate) const LAYER_ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";
pub(crate) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
pub(crate) const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
pub(crate) const DOCKER_LAYER: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";

/// `sha256:…` of bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(bytes))
}

/// The digest without its algorithm.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Four pieces, each packed by itself, as pigz, bgzip and zstd:chunked write them.
fn in_pieces(bytes: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let pieces = bytes.chunks(bytes.len().div_ceil(4).max(1));
    pieces.flat_map(pack).collect()
}

/// How layers are stored, where the form allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    /// A gzip stream of several members.
    GzipMembers,
    Zstd,
    /// Several zstd frames, and one to skip between them.
    ZstdFrames,
    /// zstd that is said to be gzip.
    Lying,
}

impl Packing {
    pub(crate) const ALL: [Self; 6] = [
        Self::Plain,
        Self::Gzip,
        Self::GzipMembers,
        Self::Zstd,
        Self::ZstdFrames,
        Self::Lying,
    ];

    /// The bytes as stored, with their media type.
    pub(crate) fn store(self, bytes: &[u8]) -> (Vec<u8>, &'static str) {
        // the magic number of a frame to skip, the length of its content, the content
        const SKIPPED: &[u8] = b"\x50\x2a\x4d\x18\x04\0\0\0skip";
        match self {
            Self::Plain => (bytes.to_vec(), LAYER),
            Self::Gzip => (gzip(bytes), LAYER_GZIP),
            Self::GzipMembers => (in_pieces(bytes, gzip), LAYER_GZIP),
            Self::Zstd => (zstd(bytes), LAYER_ZSTD),
            Self::ZstdFrames => {
                let frames = in_pieces(bytes, |piece| [&zstd(piece), SKIPPED].concat());
                (frames, LAYER_ZSTD)
            }
            Self::Lying => (zstd(bytes), LAYER_GZIP),
        }
    }
}

/// A member of a tar archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    File(Vec<u8>),
    Dir,
    Symlink(String),
    HardLink(String),
}

/// A tar archive of these members in this order.
pub(crate) fn tar(members: &[(String, Entry)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, entry) in members {
        let mut header = tar::Header::new_gnu();
        header.set_mode(if *entry == Entry::Dir { 0o755 } else { 0o644 });
        let (kind, body, target) = match entry {
            Entry::File(bytes) => (tar::EntryType::Regular, bytes.as_slice(), None),
            Entry::Dir => (tar::EntryType::Directory, &[][..], None),
            Entry::Symlink(target) => (tar::EntryType::Symlink, &[][..], Some(target)),
            Entry::HardLink(target) => (tar::EntryType::Link, &[][..], Some(target)),
        };
        header.set_entry_type(kind);
        header.set_size(body.len() as u64);
        if let Some(target) = target {
            header.set_link_name_literal(target).unwrap();
        }
        // the builder would refuse or rewrite some names
        if name.len() <= 100 {
            let field = header.as_mut_bytes();
            field[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, body).unwrap();
        } else {
            builder.append_data(&mut header, name, body).unwrap();
        }
    }
    builder.into_inner().unwrap()
}

/// A layer of files.
pub(crate) fn layer(files: &[(&str, &[u8])]) -> Vec<u8> {
    let members = files
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), Entry::File(bytes.to_vec())));
    tar(&members.collect::<Vec<_>>())
}

/// An image before it is written in some form.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) os: String,
    pub(crate) arch: String,
    pub(crate) variant: Option<String>,
    pub(crate) env: Vec<String>,
    /// Tar archives, the lowest first.
    pub(crate) layers: Vec<Vec<u8>>,
    /// The build steps that made them; `COPY 0 /` where there is none.
    pub(crate) steps: Vec<String>,
    pub(crate) packing: Packing,
    /// Whether the media types are Docker's.
    pub(crate) docker: bool,
}

impl Image {
    /// An image for `linux/amd64` of layers with one file each.
    pub(crate) fn of(files: &[&str]) -> Self {
        Self {
            os: "linux".to_owned(),
            arch: "amd64".to_owned(),
            variant: None,
            env: vec!["PATH=/bin".to_owned()],
            layers: files
                .iter()
                .map(|name| layer(&[(name, name.as_bytes())]))
                .collect(),
            steps: Vec::new(),
            packing: Packing::Plain,
            docker: false,
        }
    }

    /// An image for `linux/amd64` of these steps, each with its layer.
    pub(crate) fn built(steps: &[(&str, Vec<u8>)]) -> Self {
        Self {
            layers: steps.iter().map(|(_, layer)| layer.clone()).collect(),
            steps: steps.iter().map(|(step, _)| (*step).to_owned()).collect(),
            ..Self::of(&[])
        }
    }

    pub(crate) fn arch(mut self, arch: &str) -> Self {
        arch.clone_into(&mut self.arch);
        self
    }

    pub(crate) fn packed(self) -> Self {
        self.packing(Packing::Gzip)
    }

    pub(crate) fn packing(mut self, packing: Packing) -> Self {
        self.packing = packing;
        self
    }

    /// With more variables, `NAME=VALUE`.
    pub(crate) fn env(mut self, variables: &[&str]) -> Self {
        self.env.extend(variables.iter().map(|&v| v.to_owned()));
        self
    }

    /// With Docker's media types, and gzip, as they have it.
    pub(crate) fn docker(mut self) -> Self {
        self.docker = true;
        self.packed()
    }

    /// The configuration, with a step without a layer before each step with one.
    pub(crate) fn config(&self) -> Value {
        let diff_ids: Vec<String> = self.layers.iter().map(|layer| digest(layer)).collect();
        let steps = (0..self.layers.len()).flat_map(|index| {
            [
                json!({"created_by": format!("ENV X={index}"), "empty_layer": true}),
                json!({"created_by": self.step(index)}),
            ]
        });
        let mut config = json!({
            "architecture": self.arch,
            "os": self.os,
            "config": {"Env": self.env, "Labels": {"maintainer": "lab"}},
            "rootfs": {"type": "layers", "diff_ids": diff_ids},
            "history": steps.collect::<Vec<_>>(),
        });
        if let Some(variant) = &self.variant {
            config["variant"] = json!(variant);
        }
        config
    }

    fn step(&self, index: usize) -> String {
        let step = self.steps.get(index).cloned();
        step.unwrap_or_else(|| format!("COPY {index} /"))
    }

    pub(crate) fn platform(&self) -> Value {
        match &self.variant {
            Some(variant) => json!({"os": self.os, "architecture": self.arch, "variant": variant}),
            None => json!({"os": self.os, "architecture": self.arch}),
        }
    }

    /// The layers as a layout stores them, with their media type.
    pub(crate) fn stored(&self) -> Vec<(Vec<u8>, &'static str)> {
        let stored = self.layers.iter().map(|layer| {
            let (bytes, media_type) = self.packing.store(layer);
            (
                bytes,
                if self.docker {
                    DOCKER_LAYER
                } else {
                    media_type
                },
            )
        });
        stored.collect()
    }
}

/// Files of an image layout or an archive, in the order in which an archive has them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    pub(crate) members: Vec<(String, Entry)>,
}

impl Files {
    pub(crate) fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let (name, entry) = (name.into(), Entry::File(bytes.into()));
        if !self.members.contains(&(name.clone(), entry.clone())) {
            self.members.push((name, entry));
        }
    }

    pub(crate) fn link(&mut self, name: &str, target: &str) {
        self.members
            .push((name.to_owned(), Entry::Symlink(target.to_owned())));
    }

    /// The bytes of a file, to change them.
    pub(crate) fn get(&mut self, name: &str) -> &mut Vec<u8> {
        let found = self.members.iter_mut().find(|(other, _)| other == name);
        match found {
            Some((_, Entry::File(bytes))) => bytes,
            _ => panic!("no file `{name}`"),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let before = self.members.len();
        self.members.retain(|(other, _)| other != name);
        assert!(self.members.len() < before, "no file `{name}`");
    }

    /// Adds a blob; gives its descriptor.
    pub(crate) fn blob(&mut self, bytes: &[u8], media_type: &str) -> Value {
        self.add(format!("blobs/sha256/{}", hex(bytes)), bytes);
        json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()})
    }

    /// Adds a JSON blob; gives its descriptor.
    pub(crate) fn json(&mut self, value: &Value, media_type: &str) -> Value {
        self.blob(value.to_string().as_bytes(), media_type)
    }

    /// Adds an image with its manifest; gives the manifest's descriptor.
    pub(crate) fn image(&mut self, image: &Image) -> Value {
        let (config_type, manifest_type) = if image.docker {
            (DOCKER_CONFIG, DOCKER_MANIFEST)
        } else {
            (CONFIG, MANIFEST)
        };
        let config = self.json(&image.config(), config_type);
        let layers: Vec<Value> = image
            .stored()
            .iter()
            .map(|(bytes, media_type)| self.blob(bytes, media_type))
            .collect();
        self.manifest_as(manifest_type, &config, &layers)
    }

    /// Adds a manifest of what was added before; gives its descriptor.
    pub(crate) fn manifest(&mut self, config: &Value, layers: &[Value]) -> Value {
        self.manifest_as(MANIFEST, config, layers)
    }

    fn manifest_as(&mut self, media_type: &str, config: &Value, layers: &[Value]) -> Value {
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": media_type,
            "config": config,
            "layers": layers,
        });
        self.json(&manifest, media_type)
    }

    /// Adds an index of manifests; gives its descriptor.
    pub(crate) fn index(&mut self, manifests: &[Value]) -> Value {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
        self.json(&index, INDEX)
    }

    /// Ends an OCI image layout.
    pub(crate) fn layout(mut self, manifests: &[Value]) -> Self {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
        self.add("index.json", index.to_string());
        self.add("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#);
        self
    }

    /// Ends an archive of `docker save`.
    pub(crate) fn docker(mut self, saved: &[Value]) -> Self {
        self.add("manifest.json", Value::from(saved).to_string());
        self
    }

    /// Adds an image as `docker save` up to version 24 does; gives its entry of `manifest.json`.
    pub(crate) fn docker_24(&mut self, image: &Image, names: &[&str]) -> Value {
        let layers: Vec<String> = image
            .layers
            .iter()
            .enumerate()
            .map(|(index, layer)| {
                let name = format!(
                    "{}/layer.tar",
                    hex(format!("{index}{}", hex(layer)).as_bytes())
                );
                self.add(name.as_str(), layer.as_slice());
                name
            })
            .collect();
        let config = image.config().to_string();
        let name = format!("{}.json", hex(config.as_bytes()));
        self.add(name.as_str(), config);
        json!({"Config": name, "RepoTags": names, "Layers": layers})
    }

    /// Adds an image as skopeo and podman do; gives its entry of `manifest.json`.
    pub(crate) fn skopeo(&mut self, image: &Image, names: &[&str]) -> Value {
        let layers: Vec<String> = image
            .layers
            .iter()
            .map(|layer| {
                let name = format!("{}.tar", hex(layer));
                self.add(name.as_str(), layer.as_slice());
                name
            })
            .collect();
        let config = image.config().to_string();
        let name = format!("{}.json", hex(config.as_bytes()));
        self.add(name.as_str(), config);
        json!({"Config": name, "RepoTags": names, "Layers": layers})
    }

    /// The entry of `manifest.json` that Docker 25 and later write beside a layout that holds the image.
    pub(crate) fn docker_25(image: &Image, names: &[&str]) -> Value {
        let path = |bytes: &[u8]| format!("blobs/sha256/{}", hex(bytes));
        let layers: Vec<String> = image
            .stored()
            .iter()
            .map(|(bytes, _)| path(bytes))
            .collect();
        let config = path(image.config().to_string().as_bytes());
        json!({"Config": config, "RepoTags": names, "Layers": layers})
    }

    pub(crate) fn tar(&self) -> Vec<u8> {
        tar(&self.members)
    }

    /// Writes the files below a directory.
    pub(crate) fn write_to(&self, dir: &Path) {
        for (name, entry) in &self.members {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match entry {
                Entry::File(bytes) => std::fs::write(path, bytes).unwrap(),
                other => panic!("{other:?} is only written to archives"),
            }
        }
    }
}

/// A descriptor with a name.
pub(crate) fn named(mut descriptor: Value, name: &str) -> Value {
    descriptor["annotations"]["org.opencontainers.image.ref.name"] = json!(name);
    descriptor
}

/// A descriptor for a platform.
pub(crate) fn on(mut descriptor: Value, platform: &Value) -> Value {
    descriptor["platform"] = platform.clone();
    descriptor
}
