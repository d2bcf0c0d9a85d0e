//! One artifact judged: package by package, target by target, GPU by GPU.

use std::collections::BTreeMap;

use crate::compat::Meets;
use crate::inventory::{Artifact, ArtifactKind, Library, LockFacts};
use crate::platform::Os;
use crate::policy::{FleetTarget, Policy, WaiverSubject};
use crate::problem::{Extent, Problem, ProblemKind};
use crate::rule::{Code, Level};
use crate::tables::Tables;

use super::finding::{Finding, FromLayer, PackageName};
use super::kernels::MissingKernels;
use super::of_image::OfImage;
use super::runs::OnGpu;
use super::words::Subject;
use super::{
    Row, Verdict, artifact, closure, compilers, conda, drivers, floor, glibc, lock, package, python,
};

/// One artifact on its way to rows and findings.
pub(super) struct Judge<'a> {
    pub(super) index: usize,
    pub(super) artifact: &'a Artifact,
    pub(super) policy: &'a Policy,
    pub(super) tables: &'a Tables,
    /// The images of an input that holds several, this one among them.
    pub(super) of_same_input: &'a [Artifact],
    /// The wheels of the same name and version, where it is one; it is among them.
    pub(super) of_same_name: &'a [&'a Artifact],
}

/// A package on one target.
struct OnTarget {
    row: Row,
    findings: Vec<Finding>,
    /// That GPUs of the next generation would have nothing of it to compile, where it runs here.
    no_forward_ptx: Option<Finding>,
}

impl Judge<'_> {
    /// Adds the findings, rows and missing kernels of the artifact.
    pub(super) fn artifact(
        &self,
        findings: &mut Vec<Finding>,
        matrix: &mut Vec<Row>,
        missing: &mut Vec<MissingKernels>,
    ) {
        let artifact = self.artifact;
        let locked = artifact.lock.as_deref().map(LockFacts::by_name);
        let locked = locked.as_ref();
        let mut add = |mut found: Finding, package: Option<&PackageName>| {
            found.artifact = Some(self.index);
            if found.package.is_none() {
                found.package = package.cloned();
            }
            found.layer = found
                .library
                .as_deref()
                .and_then(|path| from_layer(artifact, path));
            let line = || lock::line(locked, found.package.as_ref());
            found.line = found.line.or_else(line);
            // a threshold may have raised it, and a milder case has a milder level
            let (own, default) = (found.level, found.code.default_level());
            if own <= default {
                let level = self.policy.level_for(found.code, &found.subject());
                found.level = if own < default { level.min(own) } else { level };
            }
            findings.push(found);
        };
        let own_package = artifact.name.clone().map(|name| PackageName {
            name,
            version: artifact.version.clone(),
        });
        // what lies in a wheel without others inside is that package's
        let alone = matches!(artifact.kind, ArtifactKind::Wheel | ArtifactKind::Conda)
            && artifact.packages.len() <= 1;
        for problem in &artifact.problems {
            add(
                unreadable(problem, artifact),
                own_package.as_ref().filter(|_| alone),
            );
        }
        if let Some(found) = artifact::built_at_install(artifact) {
            add(found, own_package.as_ref());
        }
        if let Some(found) = artifact::unopened(artifact) {
            add(found, None);
        }
        for found in conda::claims(artifact, self.tables) {
            add(found, own_package.as_ref());
        }
        let targets: Vec<&FleetTarget> = self.targets().collect();
        if let Some(lock) = &artifact.lock {
            for (found, package) in lock::findings(lock, &targets) {
                add(found, package.as_ref());
            }
        }
        let image = OfImage::of(artifact, self.tables);
        if let Some(image) = &image {
            for found in image.findings(artifact) {
                add(found, None);
            }
            for target in &targets {
                for found in target
                    .gpus
                    .iter()
                    .flat_map(|gpu| image.required(target, gpu).findings)
                {
                    add(found, None);
                }
            }
        }
        let mut closed = closure::judge(artifact, self.tables);
        for found in closed.findings {
            add(found, None);
        }
        for (package, libraries) in self.groups() {
            let name = package.as_ref();
            let index = libraries.first().map(|library| library.package);
            let remark = index.and_then(|index| closed.notes.remove(&index));
            for found in artifact::header_mismatches(&libraries) {
                add(found, name);
            }
            if let Some(found) =
                artifact::unused_architectures(&libraries, self.policy, self.tables)
            {
                add(found, name);
            }
            let mut has_code = false;
            let mut no_forward_ptx = None;
            for target in &targets {
                let mut on = self.target(name, &libraries, target, image.as_ref(), missing);
                on.row.notes.extend(remark.clone());
                has_code |= on.row.has_device_code;
                for found in on.findings {
                    add(found, name);
                }
                no_forward_ptx = no_forward_ptx.or(on.no_forward_ptx);
                matrix.push(on.row);
            }
            // what it lacks is the same for every target that it runs on
            if let Some(found) = no_forward_ptx {
                add(found, name);
            }
            if !has_code
                && let Some(package) = name
                && let Some(found) =
                    artifact::cpu_only(package, artifact, locked, self.policy, self.tables)
            {
                add(found, name);
            }
        }
    }

    /// The targets that this artifact is for. Of an image for several platforms, each is for its own, and a
    /// target for which there is none gets the word of all of them.
    fn targets(&self) -> impl Iterator<Item = &FleetTarget> {
        self.policy.targets.iter().filter(|target| {
            if let Some(lock) = &self.artifact.lock {
                return lock::serves(lock, target);
            }
            if self.is_for_another(target) {
                return false;
            }
            let Some(platform) = target.platform else {
                return true;
            };
            let fits = |artifact: &Artifact| artifact.platforms.contains(&platform);
            fits(self.artifact) || !self.of_same_input.iter().any(fits)
        })
    }

    /// Whether the target would install another of the wheels beside this one: one of the same name and version, whose
    /// tags fit it as those of this one do not.
    fn is_for_another(&self, target: &FleetTarget) -> bool {
        let one = self.artifact;
        if one.kind != ArtifactKind::Wheel || installs(one, target) {
            return false;
        }
        self.of_same_name
            .iter()
            .any(|other| installs(other, target))
    }

    /// The packages that get a row, each with its libraries.
    fn groups(&self) -> Vec<(Option<PackageName>, Vec<&Library>)> {
        let artifact = self.artifact;
        let mut groups: BTreeMap<Option<usize>, Vec<&Library>> = BTreeMap::new();
        for library in &artifact.libraries {
            groups.entry(library.package).or_default().push(library);
        }
        for (index, package) in artifact.packages.iter().enumerate() {
            if artifact::expects_gpu(&package.name, artifact, self.policy, self.tables)
                || artifact.packages.len() == 1
            {
                groups.entry(Some(index)).or_default();
            }
        }
        if groups.is_empty() {
            groups.insert(None, Vec::new());
        }
        // what no package owns comes last
        let unowned = groups.remove(&None).map(|libraries| (None, libraries));
        let named = groups.into_iter().map(|(index, libraries)| {
            let package = index.and_then(|index| artifact.packages.get(index));
            (
                package.map(|package| PackageName {
                    name: package.name.clone(),
                    version: package.version.clone(),
                }),
                libraries,
            )
        });
        named.chain(unowned).collect()
    }

    /// One package on one target, GPU by GPU.
    fn target(
        &self,
        package: Option<&PackageName>,
        libraries: &[&Library],
        target: &FleetTarget,
        image: Option<&OfImage<'_>>,
        missing: &mut Vec<MissingKernels>,
    ) -> OnTarget {
        let missing_before = missing.len();
        let loaded = artifact::for_platform(libraries, target);
        let os = artifact::os_of(self.artifact, libraries);
        let driver = target.known_driver(os.unwrap_or(Os::Linux), self.tables);
        let mut findings = Vec::new();
        let mut floors = Vec::new();
        let mut has_code = false;
        let mut notes = Vec::new();
        let mut no_forward_ptx = None;
        let mut gpus = Vec::new();
        let declared = conda::declared(self.artifact, self.tables);
        notes.extend(declared.note);
        for gpu in &target.gpus {
            let subject = Subject {
                package,
                target,
                gpu,
                os: driver.os(),
                tables: self.tables,
            };
            let (seen, note) = match image {
                Some(image) => image.driver(&driver, gpu, self.tables),
                None => (driver.clone(), None),
            };
            notes.extend(note.filter(|note| !notes.contains(note)));
            let mut on_gpu = package::judge(&loaded, subject, &seen, self.policy, self.artifact);
            has_code |= on_gpu.has_code;
            notes.extend(on_gpu.siblings.take().filter(|note| !notes.contains(note)));
            let mut of_gpu = std::mem::take(&mut on_gpu.findings);
            no_forward_ptx = no_forward_ptx.or(on_gpu.no_forward_ptx.take());
            let lacking = std::mem::take(&mut on_gpu.missing).into_iter();
            missing.extend(lacking.map(|(library, missing)| MissingKernels {
                artifact: self.index,
                package: package.cloned(),
                library: library.path.clone(),
                target: target.name.clone(),
                gpu: gpu.name.clone(),
                missing,
            }));
            on_gpu.floors.extend(declared.floor.clone());
            if on_gpu.has_code || !on_gpu.floors.is_empty() {
                // what the driver that the image brings is enough for asks nothing of the host's
                let own = seen.spec() == driver.spec();
                on_gpu
                    .floors
                    .retain(|floor| own || seen.meets(&floor.driver) == Meets::No);
                on_gpu
                    .floors
                    .extend(floor::of_gpu(gpu.cc, driver.os(), self.tables));
                of_gpu.extend(drivers::findings(subject, &driver, &loaded, &on_gpu.floors));
                if let Some(image) = image {
                    let required = image.required(target, gpu);
                    on_gpu.floors.extend(required.floors);
                    let new = required.notes.into_iter();
                    let new: Vec<String> = new.filter(|note| !notes.contains(note)).collect();
                    notes.extend(new);
                }
            }
            floors.append(&mut on_gpu.floors);
            gpus.push(OnGpu::new(gpu, on_gpu.libraries, &of_gpu));
            findings.append(&mut of_gpu);
            findings.extend(compilers::mismatch(&loaded, subject, &driver));
        }
        let mismatch = artifact::platform_mismatch(self.artifact, libraries, target)
            .or_else(|| python::mismatch(self.artifact, target))
            .or_else(|| glibc::mismatch(self.artifact, target));
        let subject = package::subject(package, None, target);
        if mismatch.is_some() && self.mismatch_denies(&subject) {
            // what the wrong file needs is no advice
            findings.clear();
            floors.clear();
            no_forward_ptx = None;
            missing.truncate(missing_before);
        }
        if let Some(mismatch) = mismatch {
            gpus.iter_mut().for_each(OnGpu::block);
            notes.insert(0, format!("built for {}", mismatch.built_for));
            findings.push(mismatch.finding);
        }
        let uses_driver = !floors.is_empty();
        if uses_driver && driver.spec().is_none() {
            findings.push(drivers::not_given(target));
        }
        for finding in &mut findings {
            finding.target.get_or_insert_with(|| target.name.clone());
        }
        let minimum_driver = floor::highest(&floors, &driver).cloned();
        if let (Some(floor), Some(branch)) = (&minimum_driver, driver.spec())
            && driver.meets(&floor.driver) == Meets::FromVersion
            // a driver is no advice where code is missing
            && findings.iter().all(|finding| finding.code != Code::NoKernelImage)
        {
            notes.push(format!("{branch} is enough from {} on", floor.driver));
        }
        if uses_driver && target.platform.is_none() && driver.os() == Os::Windows {
            notes.push("driver numbers are those of Windows, which it is built for".to_owned());
        }
        let driver_below = minimum_driver
            .as_ref()
            .filter(|floor| driver.meets(&floor.driver) == Meets::No)
            .and_then(|_| driver.spec().cloned());
        let compiles = compilers::note(libraries, package, self.tables);
        let own_code = libraries
            .iter()
            .any(|library| library.code.iter().any(|code| code.own));
        let row = Row {
            artifact: self.index,
            package: package.cloned(),
            target: target.name.clone(),
            verdict: Verdict::Pass,
            gpus,
            minimum_driver,
            driver_below,
            has_device_code: has_code,
            has_unloadable_code: own_code && !has_code,
            has_foreign_code: libraries
                .iter()
                .any(|library| library.code.iter().any(|code| !code.own)),
            compiles: compiles.is_some(),
            notes: compiles.into_iter().chain(notes).collect(),
        };
        OnTarget {
            row,
            findings,
            no_forward_ptx,
        }
    }

    /// Whether a package for another platform fails, whatever else is wrong with it.
    fn mismatch_denies(&self, subject: &WaiverSubject<'_>) -> bool {
        let waivers = &self.policy.waivers;
        self.policy.level_for(Code::PlatformMismatch, subject) == Level::Deny
            && !waivers
                .iter()
                .any(|waiver| waiver.rule == Code::PlatformMismatch)
    }
}

/// Whether a wheel installs on a target, by its tags.
fn installs(wheel: &Artifact, target: &FleetTarget) -> bool {
    artifact::platform_mismatch(wheel, &[], target).is_none()
        && python::mismatch(wheel, target).is_none()
        && glibc::mismatch(wheel, target).is_none()
}

/// The layer that brought the library at `path`.
fn from_layer(artifact: &Artifact, path: &str) -> Option<FromLayer> {
    let image = artifact.image.as_deref()?;
    let library = artifact
        .libraries
        .iter()
        .find(|library| library.path == path)?;
    let index = library.layer?;
    let layer = image.layers.get(index)?;
    Some(FromLayer {
        number: index + 1,
        of: image.layers.len(),
        digest: layer.digest.clone(),
        created_by: layer.created_by.clone(),
    })
}

fn unreadable(problem: &Problem, artifact: &Artifact) -> Finding {
    let inner = problem.at.inner();
    let place = if inner.is_empty() {
        problem.at.artifact()
    } else {
        &inner
    };
    let code = match problem.kind {
        // all files were read: what is missing is how they are grouped
        ProblemKind::PackagesUnread => Code::PackagesUnknown,
        _ => Code::Unreadable,
    };
    let mut finding = Finding::new(code, problem.detail.clone(), problem.kind.hint()).evidence(
        format!("{} at {place}; not seen: {}", problem.kind, extent(problem)),
    );
    finding.library = match problem.at.path() {
        // a single file is its own library
        None if artifact.kind == ArtifactKind::File => {
            artifact.input.rsplit('/').next().map(str::to_owned)
        }
        path => path,
    };
    finding
}

fn extent(problem: &Problem) -> &'static str {
    match problem.extent {
        Extent::Part => "part of the file",
        Extent::Member => "the file",
        Extent::RestOfArchive => "the rest of the archive",
        Extent::Artifact => "the artifact",
    }
}
