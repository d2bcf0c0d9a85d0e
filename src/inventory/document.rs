//! The JSON form of an inventory: what `inspect --format json` prints and `check --inventory` reads.
//!
//! The form is a contract (`smgate/inspect/1`): fields may be added, none removed or changed. `images` and
//! `fatbins` are sums for readers; `classes` holds what a verdict needs and is what is read back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cuda::{PtxIsa, SmTarget, ToolkitVersion};
use crate::device::{
    Coding, FatbinClass, HeaderClaim, HostFormat, ImageKey, ImageKind, ImageTally, Place,
};
use crate::error::{Error, ErrorKind};
use crate::locator::Locator;
use crate::platform::Platform;
use crate::problem::{Extent, Problem, ProblemKind};

use super::{Artifact, ArtifactKind, Code, Inventory, Library, Package, Seen};

/// The name of the form.
pub const SCHEMA: &str = "smgate/inspect/1";

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    schema: String,
    artifacts: Vec<ArtifactForm>,
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
    packages: Vec<PackageForm>,
    files: SeenForm,
    libraries: Vec<LibraryForm>,
    problems: Vec<ProblemForm>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PackageForm {
    name: String,
    version: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SeenForm {
    seen: u64,
    with_device_code: u64,
    unopened: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct LibraryForm {
    path: String,
    package: Option<PackageForm>,
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
    dispatches: bool,
    toolkits: Vec<ToolkitVersion>,
    fatbins: u64,
    images: Vec<ImageSum>,
    classes: Vec<ClassForm>,
}

/// Equal images over the whole library.
#[derive(Debug, Serialize, Deserialize)]
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
        artifacts: inventory.artifacts.iter().map(ArtifactForm::from).collect(),
    };
    serde_json::to_string_pretty(&document)
}

/// Reads what [`to_json`] wrote. `origin` names the text in errors.
///
/// # Errors
///
/// [`ErrorKind::Data`] where the text is not such a form, or of a newer version.
pub fn from_json(origin: &str, text: &str) -> Result<Inventory, Error> {
    let invalid = |detail: String| {
        Error::new(
            ErrorKind::Data,
            format!("`{origin}` is not an inventory: {detail}"),
        )
        .with_hint("write one with `smgate inspect --format json INPUT... > FILE`")
    };
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
    let artifacts = document.artifacts.into_iter().enumerate();
    let artifacts = artifacts
        .map(|(index, form)| form.into_artifact(index).map_err(invalid))
        .collect::<Result<_, _>>()?;
    Ok(Inventory { artifacts })
}

impl From<&Artifact> for ArtifactForm {
    fn from(artifact: &Artifact) -> Self {
        Self {
            input: artifact.input.clone(),
            kind: artifact.kind.id().to_owned(),
            name: artifact.name.clone(),
            version: artifact.version.clone(),
            sha256: artifact.sha256.clone(),
            platforms: artifact.platforms.iter().map(ToString::to_string).collect(),
            other_platforms: artifact.other_platforms.clone(),
            packages: artifact.packages.iter().map(PackageForm::from).collect(),
            files: SeenForm {
                seen: artifact.seen.files,
                with_device_code: artifact.seen.with_device_code,
                unopened: artifact.seen.unopened,
            },
            libraries: artifact
                .libraries
                .iter()
                .map(|library| LibraryForm::new(library, &artifact.packages))
                .collect(),
            problems: artifact.problems.iter().map(ProblemForm::from).collect(),
        }
    }
}

impl From<&Package> for PackageForm {
    fn from(package: &Package) -> Self {
        Self {
            name: package.name.clone(),
            version: package.version.clone(),
        }
    }
}

impl From<&Problem> for ProblemForm {
    fn from(problem: &Problem) -> Self {
        Self {
            kind: problem.kind.id().to_owned(),
            at: problem.at.to_string(),
            detail: problem.detail.clone(),
            extent: problem.extent.id().to_owned(),
            hint: problem.kind.hint().to_owned(),
        }
    }
}

impl LibraryForm {
    fn new(library: &Library, packages: &[Package]) -> Self {
        Self {
            path: library.path.clone(),
            package: library
                .package
                .and_then(|index| packages.get(index))
                .map(PackageForm::from),
            size: library.size,
            format: library.format.id().to_owned(),
            machine: library.machine.clone(),
            soname: library.soname.clone(),
            needed: library.needed.clone(),
            needed_cuda: library.needed_cuda.clone(),
            rpath: library.rpath.clone(),
            runpath: library.runpath.clone(),
            component: library.component.clone(),
            compiler: library.compiler,
            dispatches: library.dispatches,
            toolkits: library.toolkits.clone(),
            fatbins: library.fatbins(),
            images: sum_images(library),
            classes: library.code.iter().map(ClassForm::from).collect(),
        }
    }
}

/// The flat sum over a library: all entries, fatbins and bare images alike.
fn sum_images(library: &Library) -> Vec<ImageSum> {
    type Key = (ImageKind, Option<SmTarget>, Option<PtxIsa>, bool, bool);
    let mut sums: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
    for code in &library.code {
        for image in &code.class.images {
            let key = image.key;
            let relocatable = code.class.relocatable || key.relocatable;
            let sum = sums
                .entry((key.kind, key.target, key.isa, code.own, relocatable))
                .or_default();
            sum.0 += image.per_fatbin * code.class.count;
            sum.1 = sum.1.saturating_add(image.bytes);
        }
    }
    sums.into_iter()
        .map(
            |((kind, target, isa, own, relocatable), (count, bytes))| ImageSum {
                kind: kind.to_string(),
                target: target.map(|target| target_name(kind, target)),
                isa,
                count,
                bytes,
                own,
                relocatable,
            },
        )
        .collect()
}

fn target_name(kind: ImageKind, target: SmTarget) -> String {
    if kind.is_ptx() {
        target.compute().to_string()
    } else {
        target.to_string()
    }
}

impl From<&Code> for ClassForm {
    fn from(code: &Code) -> Self {
        let class = &code.class;
        Self {
            place: class.place.name().map(str::to_owned),
            bare: class.bare,
            relocatable: class.relocatable,
            device_linked: class.device_linked,
            damaged: class.damaged,
            own: code.own,
            component: code.component.clone(),
            count: class.count,
            bytes: class.bytes,
            first: class.first,
            names: class.names.clone(),
            images: class.images.iter().map(ClassImage::from).collect(),
        }
    }
}

impl From<&ImageTally> for ClassImage {
    fn from(image: &ImageTally) -> Self {
        let key = image.key;
        Self {
            kind: key.kind.to_string(),
            target: key.target_name(),
            isa: key.isa,
            coding: key.coding.id().to_owned(),
            per_fatbin: image.per_fatbin,
            bytes: image.bytes,
            relocatable: key.relocatable,
            empty: key.empty,
            header: key.header.map(|claim| HeaderForm {
                target: claim.target.map(|target| target_name(key.kind, target)),
                isa: claim.isa,
            }),
        }
    }
}

// Reading back

impl ArtifactForm {
    fn into_artifact(self, index: usize) -> Result<Artifact, String> {
        let kind = find(
            ArtifactKind::ALL,
            ArtifactKind::id,
            &self.kind,
            "an artifact kind",
        )?;
        let packages: Vec<Package> = self
            .packages
            .into_iter()
            .map(|form| Package::new(form.name, form.version))
            .collect();
        let at = Locator::root(index, self.input.clone());
        let libraries = self
            .libraries
            .into_iter()
            .map(|form| form.into_library(&packages));
        let problems = self.problems.into_iter().map(|form| form.into_problem(&at));
        let platforms = self.platforms.iter().map(|text| text.parse::<Platform>());
        Ok(Artifact {
            kind,
            name: self.name,
            version: self.version,
            sha256: self.sha256,
            // a platform that no target can name stays what it is
            other_platforms: self
                .platforms
                .iter()
                .filter(|text| text.parse::<Platform>().is_err())
                .cloned()
                .chain(self.other_platforms)
                .collect(),
            platforms: platforms.filter_map(Result::ok).collect(),
            libraries: libraries.collect::<Result<_, _>>()?,
            problems: problems.collect::<Result<_, _>>()?,
            seen: Seen {
                files: self.files.seen,
                with_device_code: self.files.with_device_code,
                unopened: self.files.unopened,
            },
            packages,
            input: self.input,
        })
    }
}

impl LibraryForm {
    fn into_library(self, packages: &[Package]) -> Result<Library, String> {
        let format = find(
            HostFormat::ALL,
            HostFormat::id,
            &self.format,
            "a file format",
        )?;
        let package = self
            .package
            .map(|form| Package::new(form.name, form.version));
        let package = match package {
            None => None,
            Some(package) => Some(
                packages
                    .iter()
                    .position(|known| *known == package)
                    .ok_or_else(|| {
                        format!(
                            "package `{}` of `{}` is not listed",
                            package.name, self.path
                        )
                    })?,
            ),
        };
        Ok(Library {
            path: self.path,
            package,
            size: self.size,
            format,
            machine: self.machine,
            soname: self.soname,
            needed: self.needed,
            needed_cuda: self.needed_cuda,
            rpath: self.rpath,
            runpath: self.runpath,
            component: self.component,
            compiler: self.compiler,
            dispatches: self.dispatches,
            toolkits: self.toolkits,
            code: self
                .classes
                .into_iter()
                .map(ClassForm::into_code)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl ClassForm {
    fn into_code(self) -> Result<Code, String> {
        let place = match self.place {
            None => Place::NoSection,
            Some(name) if name == "file" => Place::File,
            Some(name) => Place::Section(name),
        };
        Ok(Code {
            own: self.own,
            component: self.component,
            class: FatbinClass {
                bare: self.bare,
                place,
                relocatable: self.relocatable,
                device_linked: self.device_linked,
                damaged: self.damaged,
                // what it said is in `own` and `component`
                owner: None,
                images: self
                    .images
                    .into_iter()
                    .map(ClassImage::into_tally)
                    .collect::<Result<_, _>>()?,
                count: self.count,
                bytes: self.bytes,
                first: self.first,
                names: self.names,
            },
        })
    }
}

impl ClassImage {
    fn into_tally(self) -> Result<ImageTally, String> {
        let kind: ImageKind = self
            .kind
            .parse()
            .map_err(|()| format!("`{}` is no image kind", self.kind))?;
        let header = match self.header {
            None => None,
            Some(form) => Some(HeaderClaim {
                target: parse_target(form.target)?,
                isa: form.isa,
            }),
        };
        Ok(ImageTally {
            key: ImageKey {
                kind,
                target: parse_target(self.target)?,
                isa: self.isa,
                coding: find(Coding::ALL, Coding::id, &self.coding, "a coding")?,
                header,
                relocatable: self.relocatable,
                empty: self.empty,
            },
            per_fatbin: self.per_fatbin,
            bytes: self.bytes,
        })
    }
}

impl ProblemForm {
    fn into_problem(self, artifact: &Locator) -> Result<Problem, String> {
        let kind = find(
            ProblemKind::ALL,
            ProblemKind::id,
            &self.kind,
            "a problem kind",
        )?;
        let extent = find(Extent::ALL, Extent::id, &self.extent, "an extent")?;
        Ok(Problem::new(
            kind,
            artifact.reported(&self.at),
            extent,
            self.detail,
        ))
    }
}

fn parse_target(text: Option<String>) -> Result<Option<SmTarget>, String> {
    text.map(|text| text.parse::<SmTarget>().map_err(|error| error.to_string()))
        .transpose()
}

fn find<T: Copy>(
    all: &[T],
    id: impl Fn(T) -> &'static str,
    text: &str,
    what: &str,
) -> Result<T, String> {
    all.iter()
        .copied()
        .find(|value| id(*value) == text)
        .ok_or_else(|| format!("`{text}` is not {what}"))
}
