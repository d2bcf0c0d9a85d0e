//! Layers of images, as changes to a file system: files, links of both kinds, whiteouts.

use super::Random;
use super::image::{Entry, tar};

/// A layer under construction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    members: Vec<(String, Entry)>,
}

impl Layer {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn add(mut self, name: impl Into<String>, entry: Entry) -> Self {
        self.members.push((name.into(), entry));
        self
    }

    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.add(name, Entry::File(content.as_ref().to_vec()))
    }

    pub(crate) fn dir(self, name: &str) -> Self {
        self.add(format!("{name}/"), Entry::Dir)
    }

    pub(crate) fn symlink(self, name: &str, target: &str) -> Self {
        self.add(name, Entry::Symlink(target.to_owned()))
    }

    pub(crate) fn hard_link(self, name: &str, target: &str) -> Self {
        self.add(name, Entry::HardLink(target.to_owned()))
    }

    /// Takes a file or a directory of lower layers away.
    pub(crate) fn whiteout(self, name: &str) -> Self {
        let (dir, file) = name.rsplit_once('/').unwrap_or(("", name));
        let dir = if dir.is_empty() {
            String::new()
        } else {
            format!("{dir}/")
        };
        self.add(format!("{dir}.wh.{file}"), Entry::File(Vec::new()))
    }

    /// Takes everything away that lower layers have in a directory.
    pub(crate) fn opaque(self, dir: &str) -> Self {
        self.add(format!("{dir}/.wh..wh..opq"), Entry::File(Vec::new()))
    }

    /// A Python package with its files, installed at `site`.
    pub(crate) fn installed(
        mut self,
        site: &str,
        (name, version): (&str, &str),
        files: &[(&str, Vec<u8>)],
    ) -> Self {
        let dist_info = format!("{name}-{version}.dist-info");
        let mut record = format!("{dist_info}/METADATA,,\n{dist_info}/RECORD,,\n");
        for (path, content) in files {
            record.extend([*path, ",,\n"]);
            self = self.file(&format!("{site}/{path}"), content);
        }
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        self.file(&format!("{site}/{dist_info}/METADATA"), metadata)
            .file(&format!("{site}/{dist_info}/RECORD"), record)
    }

    /// The same members in another order.
    pub(crate) fn shuffled(mut self, seed: u64) -> Self {
        let mut random = Random::new(seed);
        for index in (1..self.members.len()).rev() {
            self.members.swap(index, random.below(index + 1));
        }
        self
    }

    /// The archive.
    pub(crate) fn tar(&self) -> Vec<u8> {
        tar(&self.members)
    }
}

/// A layer of one file whose name stands in a PAX record.
pub(crate) fn pax(name: &str, content: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    builder
        .append_pax_extensions([("path", name.as_bytes())])
        .unwrap();
    let mut header = tar::Header::new_ustar();
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_path("short").unwrap();
    header.set_cksum();
    builder.append(&header, content).unwrap();
    builder.into_inner().unwrap()
}
