//! From an inventory to its JSON form.

use std::collections::BTreeMap;

use crate::cuda::{PtxIsa, SmTarget};
use crate::device::{ImageKind, ImageTally};
use crate::inventory::{Artifact, Code, Fetched, Library, Package};
use crate::problem::Problem;

use super::conda::CondaForm;
use super::image::ImageForm;
use super::{
    ArtifactForm, ClassForm, ClassImage, FetchedForm, HeaderForm, ImageSum, LibraryForm,
    PackageForm, ProblemForm, ProvidedForm, SeenForm,
};

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
            platform_tags: artifact.platform_tags.clone(),
            python_tags: artifact.python_tags.clone(),
            packages: artifact.packages.iter().map(PackageForm::from).collect(),
            files: SeenForm {
                seen: artifact.seen.files,
                with_device_code: artifact.seen.with_device_code,
                unopened: artifact.seen.unopened,
                left_out: artifact.seen.left_out,
            },
            fetched: artifact.fetched.as_ref().map(FetchedForm::from),
            conda: artifact.conda.as_deref().map(CondaForm::from),
            image: ImageForm::new(artifact.image.as_deref()),
            libraries: artifact
                .libraries
                .iter()
                .map(|library| LibraryForm::new(library, artifact))
                .collect(),
            provided: artifact.provided.as_ref().map(|provided| {
                let forms = provided.iter();
                let forms = forms.map(|provided| ProvidedForm {
                    path: provided.path.clone(),
                    soname: provided.soname.clone(),
                    package: package_of(provided.package, artifact),
                });
                forms.collect()
            }),
            problems: artifact.problems.iter().map(ProblemForm::from).collect(),
        }
    }
}

impl From<&Fetched> for FetchedForm {
    fn from(fetched: &Fetched) -> Self {
        Self {
            size: fetched.size,
            received: fetched.received,
            hash: fetched.hash.clone(),
            verified: fetched.verified.id().to_owned(),
            whole: fetched.whole.clone(),
        }
    }
}

/// The package with this index in an artifact.
fn package_of(index: Option<usize>, artifact: &Artifact) -> Option<PackageForm> {
    let package = index.and_then(|index| artifact.packages.get(index));
    package.map(PackageForm::from)
}

impl From<&Package> for PackageForm {
    fn from(package: &Package) -> Self {
        Self {
            name: package.name.clone(),
            version: package.version.clone(),
            manager: package.manager.map(|manager| manager.id().to_owned()),
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
    fn new(library: &Library, artifact: &Artifact) -> Self {
        let layers = artifact.image.as_ref().map(|image| &image.layers);
        let layer = library
            .layer
            .and_then(|index| layers.and_then(|layers| layers.get(index)));
        Self {
            path: library.path.clone(),
            also: library.also.clone(),
            package: package_of(library.package, artifact),
            layer: layer.and_then(|layer| layer.digest.clone()),
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
            compilers: library.compilers.clone(),
            writes_ptx: library.writes_ptx,
            dispatches: library.dispatches,
            toolkits: library.toolkits.clone(),
            fatbins: library.fatbins(),
            images: sum_images(library),
            classes: library.code.iter().map(ClassForm::from).collect(),
        }
    }
}

/// The flat sum over a library: all entries, fatbins and bare images alike.
pub(super) fn sum_images(library: &Library) -> Vec<ImageSum> {
    type Key = (ImageKind, Option<SmTarget>, Option<PtxIsa>, bool, bool);
    let mut sums: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
    for code in &library.code {
        for image in &code.class.images {
            let key = image.key;
            let relocatable = code.class.relocatable || key.relocatable;
            let sum = sums
                .entry((key.kind, key.target, key.isa, code.own, relocatable))
                .or_default();
            let images = image.per_fatbin.saturating_mul(code.class.count);
            sum.0 = sum.0.saturating_add(images);
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
            kernels: class.kernels.clone(),
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
