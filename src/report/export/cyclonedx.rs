//! A bill of materials in the JSON form of `CycloneDX` 1.6 (ECMA-424), <https://cyclonedx.org/docs/1.6/json/>.
//!
//! Packages and the libraries that matter to a gate, with what was read out of them as properties under `smgate:`.
//! There is no serial number and no time in it, which the form leaves open, so that equal inputs give equal bytes.

use serde::Serialize;
use std::collections::BTreeSet;

use crate::device::ImageKind;
use crate::escape::in_json;
use crate::export::{Needs, OnCapability, Runs};
use crate::inventory::{Artifact, ArtifactKind, Inventory, Library, Manager, Package};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Bom {
    #[serde(rename = "bomFormat")]
    form: &'static str,
    spec_version: &'static str,
    version: u32,
    metadata: Metadata,
    components: Vec<Component>,
}

#[derive(Debug, Serialize)]
struct Metadata {
    tools: Tools,
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<Component>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    properties: Vec<Property>,
}

#[derive(Debug, Serialize)]
struct Tools {
    components: Vec<Component>,
}

#[derive(Debug, Default, Serialize)]
struct Component {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<Hash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    components: Vec<Self>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    properties: Vec<Property>,
}

#[derive(Debug, Serialize)]
struct Hash {
    alg: &'static str,
    content: String,
}

#[derive(Debug, Serialize)]
struct Evidence {
    occurrences: Vec<Occurrence>,
}

#[derive(Debug, Serialize)]
struct Occurrence {
    location: String,
}

#[derive(Debug, Serialize)]
struct Property {
    name: String,
    value: String,
}

/// The document.
pub(super) fn to_json(inventory: &Inventory, needs: &[Needs]) -> serde_json::Result<String> {
    let artifacts = inventory.artifacts.iter().zip(needs).enumerate();
    let mut components: Vec<Component> = artifacts
        .map(|(index, (artifact, needs))| of_artifact(index + 1, artifact, needs))
        .collect();
    let component = (components.len() == 1).then(|| components.pop()).flatten();
    let component = component.map(|mut subject| {
        components = std::mem::take(&mut subject.components);
        subject
    });
    let tool = Component {
        kind: "application",
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Component::default()
    };
    let tables = inventory.tables.iter();
    let document = Bom {
        form: "CycloneDX",
        spec_version: "1.6",
        version: 1,
        metadata: Metadata {
            tools: Tools {
                components: vec![tool],
            },
            component,
            properties: tables
                .map(|tables| property("tables", tables.to_string()))
                .collect(),
        },
        components,
    };
    Ok(in_json(serde_json::to_string_pretty(&document)?))
}

fn property(name: &str, value: impl Into<String>) -> Property {
    Property {
        name: format!("smgate:{name}"),
        value: value.into(),
    }
}

fn of_artifact(number: usize, artifact: &Artifact, needs: &Needs) -> Component {
    let reference = format!("artifact-{number}");
    let name = artifact.name.clone().unwrap_or_else(|| needs.title.clone());
    let hash = artifact.sha256.iter();
    let of_image = artifact.image.as_deref();
    let mut properties = Vec::new();
    if artifact.name.is_some() {
        properties.push(property("input", artifact.input.clone()));
    }
    if let Some(image) = of_image {
        properties.extend(image.platform.iter().map(|text| property("platform", text)));
        properties.extend(image.digest.iter().map(|text| property("digest", text)));
    }
    if needs.problems > 0 {
        properties.push(property("problems", needs.problems.to_string()));
    }
    properties.extend(of_needs(
        &needs.covered().collect::<Vec<_>>(),
        needs.is_of_cuda(),
    ));
    // a package that is the file itself is said once
    let own = (artifact.packages.len() == 1
        && matches!(artifact.kind, ArtifactKind::Wheel | ArtifactKind::Conda))
    .then_some(0);
    let mut components: Vec<Component> = Vec::new();
    for (index, package) in artifact.packages.iter().enumerate() {
        if own != Some(index) {
            components.push(of_package(&reference, index, package, artifact, needs));
        }
    }
    let libraries = artifact.libraries.iter().enumerate();
    let alone =
        libraries.filter(|(_, library)| library.package.is_none() || library.package == own);
    components.extend(alone.map(|(index, library)| of_library(&reference, index, library)));
    Component {
        kind: match artifact.kind {
            ArtifactKind::Image => "container",
            ArtifactKind::Wheel | ArtifactKind::Conda | ArtifactKind::Sdist => "library",
            ArtifactKind::File => "file",
            ArtifactKind::Directory | ArtifactKind::LockFile => "application",
        },
        name,
        version: artifact.version.clone(),
        hashes: hash
            .map(|sha256| Hash {
                alg: "SHA-256",
                content: sha256.clone(),
            })
            .collect(),
        purl: own_purl(artifact),
        reference: Some(reference),
        components,
        properties,
        ..Component::default()
    }
}

fn of_package(
    parent: &str,
    index: usize,
    package: &Package,
    artifact: &Artifact,
    needs: &Needs,
) -> Component {
    let libraries = artifact.libraries.iter().enumerate();
    let own = libraries.filter(|(_, library)| library.package == Some(index));
    let found = needs.packages.iter().find(|one| {
        one.package
            .as_ref()
            .is_some_and(|name| name.name == package.name && name.version == package.version)
    });
    let mut properties: Vec<Property> = package
        .manager
        .iter()
        .map(|manager| property("package-manager", manager.id()))
        .collect();
    if let Some(found) = found {
        let covered: Vec<_> = found.on.iter().filter(|on| on.runs != Runs::No).collect();
        properties.extend(of_needs(&covered, true));
    }
    Component {
        kind: "library",
        reference: Some(format!("{parent}/package-{}", index + 1)),
        name: package.name.clone(),
        version: package.version.clone(),
        purl: package.manager.and_then(|manager| {
            let version = package.version.as_deref();
            match manager {
                Manager::Pip => Some(pypi(&package.name, version)),
                Manager::Conda => Some(purl("conda", &package.name, version)),
                // these need the name of the distribution, which is not known here
                Manager::Dpkg | Manager::Rpm => None,
            }
        }),
        components: own
            .map(|(index, library)| of_library(parent, index, library))
            .collect(),
        properties,
        ..Component::default()
    }
}

fn of_library(parent: &str, index: usize, library: &Library) -> Component {
    let file_name = library.path.rsplit('/').next().unwrap_or(&library.path);
    let own = library.code.iter().filter(|code| code.own);
    let mut cubins: BTreeSet<_> = BTreeSet::new();
    let mut ptx: BTreeSet<_> = BTreeSet::new();
    let mut codings: BTreeSet<&str> = BTreeSet::new();
    for image in own.flat_map(|code| &code.class.images) {
        let key = image.key;
        codings.insert(key.coding.id());
        match key.kind {
            ImageKind::Cubin => {
                cubins.extend(key.target);
            }
            kind if kind.is_ptx() => {
                ptx.extend(key.target.map(|target| (target, key.isa)));
            }
            _ => {}
        }
    }
    let words = |name: &str, words: Vec<String>| {
        (!words.is_empty()).then(|| property(name, words.join(" ")))
    };
    let ptx = ptx.into_iter().map(|(target, isa)| match isa {
        Some(isa) => format!("{}@{isa}", target.compute()),
        None => target.compute().to_string(),
    });
    let toolkits = library.toolkits.iter().map(ToString::to_string);
    let properties = [
        words(
            "sm-targets",
            cubins.iter().map(ToString::to_string).collect(),
        ),
        words("ptx-targets", ptx.collect()),
        words("codings", codings.into_iter().map(str::to_owned).collect()),
        words("cuda-toolkits", toolkits.collect()),
        words("needs-cuda-libraries", library.needed_cuda.clone()),
        library
            .component
            .as_ref()
            .map(|component| property("nvidia-component", component)),
        (library.fatbins() > 0).then(|| property("fatbins", library.fatbins().to_string())),
        library
            .machine
            .as_ref()
            .map(|machine| property("machine", machine)),
        Some(property("size", library.size.to_string())),
    ];
    let also = library.also.iter().chain([&library.path]);
    let mut paths: Vec<String> = also.cloned().collect();
    paths.sort();
    Component {
        kind: "file",
        reference: Some(format!("{parent}/file-{}", index + 1)),
        name: file_name.to_owned(),
        evidence: Some(Evidence {
            occurrences: paths
                .into_iter()
                .map(|location| Occurrence { location })
                .collect(),
        }),
        properties: properties.into_iter().flatten().collect(),
        ..Component::default()
    }
}

/// On which capabilities it runs, and from which driver on.
fn of_needs(covered: &[&OnCapability], is_of_cuda: bool) -> Vec<Property> {
    if !is_of_cuda {
        return Vec::new();
    }
    let names: Vec<String> = covered.iter().map(|on| on.cc.to_string()).collect();
    let mut properties = vec![property("compute-capabilities", names.join(" "))];
    properties.extend(covered.iter().filter_map(|on| {
        let driver = on.floor.as_ref()?.driver.to_string();
        Some(property(&format!("minimum-driver:{}", on.cc), driver))
    }));
    properties
}

/// The package URL of an artifact that is a package.
fn own_purl(artifact: &Artifact) -> Option<String> {
    let name = artifact.name.as_deref()?;
    let version = artifact.version.as_deref();
    match artifact.kind {
        ArtifactKind::Wheel | ArtifactKind::Sdist => Some(pypi(name, version)),
        ArtifactKind::Conda => {
            let mut text = purl("conda", name, version);
            let conda = artifact.conda.as_deref();
            let build = conda.and_then(|conda| conda.build.as_deref());
            let subdir = conda.and_then(|conda| conda.subdir.as_deref());
            let qualifiers = [("build", build), ("subdir", subdir)];
            let mut mark = '?';
            for (key, value) in qualifiers {
                if let Some(value) = value {
                    text.push(mark);
                    text.extend([key, "=", &encoded(value)]);
                    mark = '&';
                }
            }
            Some(text)
        }
        _ => None,
    }
}

/// Names of this type are in lower case, with `-` for `_` (purl specification, type `pypi`).
fn pypi(name: &str, version: Option<&str>) -> String {
    purl(
        "pypi",
        &name.to_ascii_lowercase().replace('_', "-"),
        version,
    )
}

fn purl(kind: &str, name: &str, version: Option<&str>) -> String {
    let version = version.map(|version| format!("@{}", encoded(version)));
    format!(
        "pkg:{kind}/{}{}",
        encoded(name),
        version.unwrap_or_default()
    )
}

/// With `%XX` for what a package URL does not take as it is.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_~:".contains(&byte);
    text.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
