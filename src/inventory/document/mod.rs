//! The JSON form of an inventory: what `inspect --format json` prints and `check --inventory` reads.
//!
//! The form is a contract (`smgate/inspect/1`): fields may be added, none removed or changed. `images` and
//! `fatbins` are sums for readers; `classes` holds what a verdict needs and is what is read back, if the sums
//! agree with it.

mod conda;
mod consistent;
mod image;
mod lock;
mod read;
mod write;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cuda::{PtxIsa, ToolkitVersion};
use crate::error::{Error, ErrorKind};
use crate::escape::in_json;
use crate::tables::Origin;

use super::{Artifact, ArtifactKind, Inventory};
use conda::CondaForm;
use image::ImageForm;
use lock::LockForm;

/// The name of the form.
pub const SCHEMA: &str = "smgate/inspect/1";

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    schema: String,
    tables: Option<Origin>,
    artifacts: Vec<ArtifactForm>,
    /// What each artifact that is a lock file puts on one kind of machine.
    #[serde(default)]
    locks: Vec<LockForm>,
}

/// What is read first, whatever the version.
#[derive(Debug, Deserialize)]
struct Version {
    schema: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct ArtifactForm {
    input: String,
    kind: String,
    name: Option<String>,
    version: Option<String>,
    sha256: Option<String>,
    platforms: Vec<String>,
    #[serde(default)]
    other_platforms: Vec<String>,
    #[serde(default)]
    platform_tags: Vec<String>,
    #[serde(default)]
    python_tags: Vec<String>,
    packages: Vec<PackageForm>,
    files: SeenForm,
    #[serde(default)]
    fetched: Option<FetchedForm>,
    #[serde(default)]
    conda: Option<CondaForm>,
    #[serde(flatten)]
    image: ImageForm,
    libraries: Vec<LibraryForm>,
    #[serde(default)]
    provided: Option<Vec<ProvidedForm>>,
    problems: Vec<ProblemForm>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PackageForm {
    name: String,
    version: Option<String>,
    #[serde(default)]
    manager: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SeenForm {
    seen: u64,
    with_device_code: u64,
    unopened: u64,
    #[serde(default)]
    left_out: u64,
}

/// What was fetched of a file at an address.
#[derive(Debug, Serialize, Deserialize)]
struct FetchedForm {
    size: u64,
    received: u64,
    hash: Option<String>,
    verified: String,
    whole: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LibraryForm {
    path: String,
    #[serde(default)]
    also: Vec<String>,
    package: Option<PackageForm>,
    /// The digest of the layer.
    #[serde(default)]
    layer: Option<String>,
    size: u64,
    format: String,
    machine: Option<String>,
    soname: Option<String>,
    needed: Vec<String>,
    #[serde(default)]
    needed_cuda: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
    component: Option<String>,
    compiler: bool,
    #[serde(default)]
    compilers: Vec<ToolkitVersion>,
    #[serde(default)]
    writes_ptx: bool,
    dispatches: bool,
    toolkits: Vec<ToolkitVersion>,
    fatbins: u64,
    images: Vec<ImageSum>,
    classes: Vec<ClassForm>,
}

/// A library of NVIDIA's that others can need by name.
#[derive(Debug, Serialize, Deserialize)]
struct ProvidedForm {
    path: String,
    /// Where it is not the name of the file.
    soname: Option<String>,
    package: Option<PackageForm>,
}

/// Equal images over the whole library.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ImageSum {
    kind: String,
    target: Option<String>,
    isa: Option<PtxIsa>,
    count: u64,
    bytes: u64,
    own: bool,
    relocatable: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct ClassForm {
    #[serde(rename = "where")]
    place: Option<String>,
    bare: bool,
    relocatable: bool,
    device_linked: bool,
    damaged: bool,
    own: bool,
    component: Option<String>,
    count: u64,
    bytes: u64,
    first: u64,
    names: Vec<String>,
    #[serde(default)]
    kernels: Option<Vec<Arc<str>>>,
    images: Vec<ClassImage>,
}

/// Equal images in every fatbin of a class.
#[derive(Debug, Serialize, Deserialize)]
struct ClassImage {
    kind: String,
    target: Option<String>,
    isa: Option<PtxIsa>,
    coding: String,
    per_fatbin: u64,
    bytes: u64,
    relocatable: bool,
    empty: bool,
    header: Option<HeaderForm>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HeaderForm {
    target: Option<String>,
    isa: Option<PtxIsa>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProblemForm {
    kind: String,
    at: String,
    detail: String,
    extent: String,
    hint: String,
}

/// The JSON form of `inventory`.
pub fn to_json(inventory: &Inventory) -> serde_json::Result<String> {
    let document = Document {
        schema: SCHEMA.to_owned(),
        tables: inventory.tables.clone(),
        artifacts: inventory.artifacts.iter().map(ArtifactForm::from).collect(),
        locks: LockForm::of(&inventory.artifacts),
    };
    Ok(in_json(serde_json::to_string_pretty(&document)?))
}

/// Reads what [`to_json`] wrote. `origin` names the text in errors.
///
/// # Errors
///
/// [`ErrorKind::Data`] where the text is not such a form, contradicts itself, or is of a newer version.
pub fn from_json(origin: &str, text: &str) -> Result<Inventory, Error> {
    let invalid = |detail: String| {
        Error::new(
            ErrorKind::Data,
            format!("`{origin}` is not an inventory: {detail}"),
        )
        .with_hint("write one with `smgate inspect --format json INPUT... > FILE`")
    };
    // editors and shells of Windows put it there
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let version: Version =
        serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    if version.schema != SCHEMA {
        return Err(invalid(format!(
            "it is of form `{}`, and this version reads `{SCHEMA}`",
            version.schema
        )));
    }
    let document: Document =
        serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    let tables = document.tables;
    let artifacts = document.artifacts.into_iter().enumerate();
    let artifacts = artifacts
        .map(|(index, form)| form.into_artifact(index).map_err(invalid))
        .collect::<Result<Vec<_>, _>>()?;
    let mut inventory = Inventory { artifacts, tables };
    for lock in document.locks {
        lock.attach(&mut inventory.artifacts).map_err(invalid)?;
    }
    let is_lock = |artifact: &Artifact| artifact.kind == ArtifactKind::LockFile;
    match inventory
        .artifacts
        .iter()
        .find(|artifact| is_lock(artifact) != artifact.lock.is_some())
    {
        Some(artifact) => Err(invalid(format!(
            "`locks` and the kind of `{}` disagree",
            artifact.input
        ))),
        None => Ok(inventory),
    }
}
