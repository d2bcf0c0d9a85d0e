//! What a package holds, as far as two versions of it are compared by it.

use std::collections::{BTreeMap, BTreeSet};

use crate::cuda::{SmTarget, ToolkitVersion};
use crate::device::{CodeForm, ImageKind};
use crate::inventory::{Artifact, Library};
use crate::policy::normal_package;

/// A package by its name in normal spelling; none for what no package owns.
pub(super) type Key = Option<String>;

/// What a package of an artifact holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Content {
    /// Its name as written; none for what no package owns.
    pub name: Option<String>,
    /// Its version; several, with commas, where it is there several times.
    pub version: Option<String>,
    /// The file that a lock file chooses for it.
    pub file: Option<String>,
    /// Libraries with device code, by path.
    pub libraries: BTreeSet<String>,
    /// Bytes, unpacked, of all its libraries that an inventory lists.
    pub library_bytes: u64,
    /// Bytes of device images as stored, by what they are.
    pub code: BTreeMap<CodeKey, u64>,
    /// Toolkits that made its code.
    pub toolkits: BTreeSet<ToolkitVersion>,
    /// NVIDIA's libraries that it needs, as written.
    pub needs: BTreeSet<String>,
}

/// Device images that are compared as one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeKey {
    /// Whether it is code of a library of NVIDIA's that the package carries along.
    pub carried: bool,
    /// What can be done with it.
    pub form: CodeForm,
    /// What it is built for.
    pub target: Option<SmTarget>,
    /// The name of that, `sm_90a` or `compute_90`, or of its kind where it has no target.
    pub name: String,
}

impl Content {
    /// Bytes of device images: the package's own, or those of the libraries of NVIDIA's that it carries.
    pub fn code_bytes(&self, carried: bool) -> u64 {
        let of = self.code.iter().filter(|(key, _)| key.carried == carried);
        of.fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// What its own code that a driver takes is built for, by name: machine code, then PTX.
    pub fn targets(&self) -> impl Iterator<Item = &CodeKey> {
        self.code
            .keys()
            .filter(|key| !key.carried && matches!(key.form, CodeForm::MachineCode | CodeForm::Ptx))
    }

    fn add(&mut self, library: &Library) {
        self.library_bytes = self.library_bytes.saturating_add(library.size);
        if library.has_device_code() {
            self.libraries.insert(library.path.clone());
        }
        self.toolkits.extend(&library.toolkits);
        self.needs.extend(library.needed_cuda.iter().cloned());
        for code in &library.code {
            for image in &code.class.images {
                if image.key.kind == ImageKind::Index {
                    continue;
                }
                let kind = image.key.kind;
                let key = CodeKey {
                    carried: !code.own,
                    form: CodeForm::of(&code.class, kind),
                    target: image.key.target,
                    name: image.key.target_name().unwrap_or_else(|| kind.to_string()),
                };
                let bytes = self.code.entry(key).or_default();
                *bytes = bytes.saturating_add(image.bytes);
            }
        }
    }

    fn add_version(&mut self, name: &str, version: Option<&str>) {
        self.name.get_or_insert_with(|| name.to_owned());
        match (&mut self.version, version) {
            (_, None) => {}
            (Some(known), Some(more)) if known.split(", ").any(|one| one == more) => {}
            (Some(known), Some(more)) => {
                known.push_str(", ");
                known.push_str(more);
            }
            (none, Some(first)) => *none = Some(first.to_owned()),
        }
    }
}

/// What stays of the path of a library where its versions or the tags of its Python are others:
/// `pkg/_C` of `pkg/_C.cpython-312-x86_64-linux-gnu.so`, `lib/libx` of `lib/libx.so.12`.
pub(crate) fn library_stem(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    let dot = path.get(name..).and_then(|name| name.find('.'));
    let end = dot.filter(|dot| *dot > 0).map(|dot| name + dot);
    end.and_then(|end| path.get(..end)).unwrap_or(path)
}

/// The packages of an artifact, and what no package owns where there is any.
pub(super) fn of_artifact(artifact: &Artifact) -> BTreeMap<Key, Content> {
    let mut contents: BTreeMap<Key, Content> = BTreeMap::new();
    for package in &artifact.packages {
        let content = contents.entry(Some(normal_package(&package.name)));
        content
            .or_default()
            .add_version(&package.name, package.version.as_deref());
    }
    for package in artifact.lock.iter().flat_map(|lock| &lock.packages) {
        let content = contents.entry(Some(normal_package(&package.name)));
        let content = content.or_default();
        content.add_version(&package.name, package.version.as_deref());
        content.file = package.file.as_ref().map(|file| file.name.clone());
    }
    for library in &artifact.libraries {
        let package = library
            .package
            .and_then(|index| artifact.packages.get(index));
        let key = package.map(|package| normal_package(&package.name));
        contents.entry(key).or_default().add(library);
    }
    if contents.is_empty() {
        contents.insert(None, Content::default());
    }
    contents
}
