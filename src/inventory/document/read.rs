//! From the JSON form back to an inventory.

use std::sync::Arc;

use crate::cuda::SmTarget;
use crate::device::{
    Coding, FatbinClass, HeaderClaim, HostFormat, ImageKey, ImageKind, ImageTally, Place,
};
use crate::inventory::{
    Artifact, ArtifactKind, Code, Fetched, HashCheck, LayerFacts, Library, Manager, Package,
    Provided, Seen,
};
use crate::locator::Locator;
use crate::platform::Platform;
use crate::problem::{Extent, Problem, ProblemKind};

use super::conda::CondaForm;
use super::consistent;
use super::{
    ArtifactForm, ClassForm, ClassImage, FetchedForm, LibraryForm, PackageForm, ProblemForm,
};

impl ArtifactForm {
    pub(super) fn into_artifact(self, index: usize) -> Result<Artifact, String> {
        let kind = find(
            ArtifactKind::ALL,
            ArtifactKind::id,
            &self.kind,
            "an artifact kind",
        )?;
        let packages: Vec<Package> = self
            .packages
            .into_iter()
            .map(PackageForm::into_package)
            .collect::<Result<_, _>>()?;
        let at = Locator::root(index, self.input.clone());
        let image = match kind {
            ArtifactKind::Image => Some(Box::new(self.image.into_facts()?)),
            _ => None,
        };
        let conda = match kind {
            ArtifactKind::Conda => self.conda.map(CondaForm::into_facts).transpose(),
            _ => Ok(None),
        };
        let conda =
            conda.map_err(|what| format!("`conda` of artifact `{}`: {what}", self.input))?;
        let layers = image.as_ref().map(|image| image.layers.as_slice());
        let layers = layers.unwrap_or_default();
        let libraries = self
            .libraries
            .into_iter()
            .map(|form| form.into_library(&packages, layers));
        let libraries: Vec<Library> = libraries.collect::<Result<_, _>>()?;
        let provided = self.provided.map(|forms| {
            let provided = forms.into_iter().map(|form| {
                let package = index_of(form.package, &packages, &form.path)?;
                Ok::<_, String>(Provided::new(form.path, form.soname, package))
            });
            provided.collect::<Result<Vec<_>, _>>()
        });
        let provided = provided.transpose()?;
        let seen = Seen {
            files: self.files.seen,
            with_device_code: self.files.with_device_code,
            unopened: self.files.unopened,
            left_out: self.files.left_out,
        };
        let hidden = image.as_ref().map_or(0, |image| image.hidden.len());
        consistent::seen(seen, &libraries, hidden)
            .map_err(|what| format!("`files` of artifact `{}`: {what}", self.input))?;
        let of_image = kind == ArtifactKind::Image;
        let problems = self.problems.into_iter();
        let problems = problems.map(|form| form.into_problem(&at, of_image));
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
            platform_tags: self.platform_tags,
            python_tags: self.python_tags,
            platforms: platforms.filter_map(Result::ok).collect(),
            libraries,
            provided,
            problems: problems.collect::<Result<_, _>>()?,
            seen,
            fetched: self.fetched.map(FetchedForm::into_fetched).transpose()?,
            conda: conda.map(Box::new),
            image,
            lock: None,
            packages,
            input: self.input,
        })
    }
}

impl FetchedForm {
    fn into_fetched(self) -> Result<Fetched, String> {
        let verified = find(
            HashCheck::ALL,
            HashCheck::id,
            &self.verified,
            "a state of a hash",
        )?;
        Ok(Fetched {
            size: self.size,
            received: self.received,
            hash: self.hash,
            verified,
            whole: self.whole,
        })
    }
}

/// Which of `packages` the file at `path` belongs to.
fn index_of(
    package: Option<PackageForm>,
    packages: &[Package],
    path: &str,
) -> Result<Option<usize>, String> {
    let Some(package) = package.map(PackageForm::into_package).transpose()? else {
        return Ok(None);
    };
    let index = packages.iter().position(|known| *known == package);
    let index =
        index.ok_or_else(|| format!("package `{}` of `{path}` is not listed", package.name));
    index.map(Some)
}

impl PackageForm {
    fn into_package(self) -> Result<Package, String> {
        let manager = self.manager.as_deref();
        let manager = manager.map(|id| find(Manager::ALL, Manager::id, id, "a package manager"));
        Ok(Package {
            manager: manager.transpose()?,
            ..Package::new(self.name, self.version)
        })
    }
}

impl LibraryForm {
    fn into_library(self, packages: &[Package], layers: &[LayerFacts]) -> Result<Library, String> {
        let format = find(
            HostFormat::ALL,
            HostFormat::id,
            &self.format,
            "a file format",
        )?;
        let package = index_of(self.package, packages, &self.path)?;
        let layer = self.layer.as_ref().map(|digest| {
            let known = |layer: &LayerFacts| layer.digest.as_ref() == Some(digest);
            layers
                .iter()
                .position(known)
                .ok_or_else(|| format!("layer `{digest}` of `{}` is not listed", self.path))
        });
        let layer = layer.transpose()?;
        let library = Library {
            path: self.path,
            also: self.also,
            package,
            layer,
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
            compilers: self.compilers,
            writes_ptx: self.writes_ptx,
            dispatches: self.dispatches,
            toolkits: self.toolkits,
            code: self
                .classes
                .into_iter()
                .map(ClassForm::into_code)
                .collect::<Result<_, _>>()?,
        };
        consistent::library(&library, self.fatbins, &self.images)
            .map_err(|(at, what)| format!("`{at}` of library `{}`: {what}", library.path))?;
        Ok(library)
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
                kernels: self.kernels.map(ascending),
            },
        })
    }
}

/// Names as a scan gives them, whatever order a saved inventory has them in.
fn ascending(mut names: Vec<Arc<str>>) -> Vec<Arc<str>> {
    names.sort_unstable();
    names.dedup();
    names
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
    fn into_problem(self, artifact: &Locator, of_image: bool) -> Result<Problem, String> {
        let kind = find(
            ProblemKind::ALL,
            ProblemKind::id,
            &self.kind,
            "a problem kind",
        )?;
        let extent = find(Extent::ALL, Extent::id, &self.extent, "an extent")?;
        Ok(Problem::new(
            kind,
            if of_image {
                artifact.reported_in_image(&self.at)
            } else {
                artifact.reported(&self.at)
            },
            extent,
            self.detail,
        ))
    }
}

fn parse_target(text: Option<String>) -> Result<Option<SmTarget>, String> {
    text.map(|text| text.parse::<SmTarget>().map_err(|error| error.to_string()))
        .transpose()
}

pub(super) fn find<T: Copy>(
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
