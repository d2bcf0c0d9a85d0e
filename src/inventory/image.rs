//! An image as an artifact: its layers put on each other, and what is left of them judged as one file system.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::archive::Fault;
use crate::device::DeviceReport;
use crate::image::{DriverFile, driver_file, is_compat_config, is_relevant};
use crate::limits::Limits;
use crate::locator::{Locator, MemberName};
use crate::problem::{Extent, Problem, ProblemKind};
use crate::source::oci;
use crate::source::packages::{self, Assigned, Tree};
use crate::tables::Tables;

use super::draft::{Draft, Found};
use super::layer::{LayerFile, LayerScan, compare};
use super::own;
use super::squash::{FileId, Squashed, squash};
use super::{
    Artifact, ArtifactKind, CompatDriver, Hidden, ImageFacts, LayerFacts, Package, Provided,
};

/// Places of a tree that are made for each file that an archive may have: directories, links, what is replaced.
const NODES_PER_MEMBER: u64 = 4;

/// The artifact that an image with these layers is, the lowest first. `of_all` are problems of the whole input.
pub(super) fn assemble(
    image: oci::Image,
    scans: &[Arc<LayerScan>],
    of_all: &[Problem],
    tables: &Tables,
    limits: &Limits,
) -> Artifact {
    let nodes_max = limits.members.saturating_mul(NODES_PER_MEMBER);
    let squashed = squash(
        scans.iter().map(|scan| scan.entries.as_slice()),
        usize::try_from(nodes_max).unwrap_or(usize::MAX),
    );
    let merged = Merged::new(&image.at, scans, squashed, limits);
    let mut draft = Draft::new(ArtifactKind::Image, &image.at);
    let mut problems = image.problems;
    problems.extend_from_slice(of_all);
    problems.extend(merged.problems());
    for (number, (layer, scan)) in image.layers.iter().zip(scans).enumerate() {
        let at = merged.layer_at(number);
        let wrong = compare(layer, scan).into_iter();
        problems.extend(wrong.map(|fault| fault.at(at.clone(), Extent::Artifact)));
    }
    let mut hidden = Vec::new();
    let mut compat = Vec::new();
    let packages: Vec<Arc<Package>> = merged
        .assigned
        .packages
        .iter()
        .map(|package| Arc::new(Package::from(package.clone())))
        .collect();
    for package in &packages {
        draft.take(Found::Package(Arc::clone(package)));
    }
    for (layer, scan) in scans.iter().enumerate() {
        draft.take(Found::Seen(scan.seen));
        for (entry, package) in &scan.packages {
            let id = FileId {
                layer,
                entry: *entry,
            };
            if merged.place(id).is_some() {
                draft.take(Found::Package(Arc::clone(package)));
            }
        }
        for file in &scan.files {
            let id = FileId {
                layer,
                entry: file.entry,
            };
            let Some(place) = merged.place(id) else {
                hidden.extend(merged.hidden(id, file));
                continue;
            };
            let owner = place.owner.and_then(|owner| packages.get(owner)).cloned();
            let package = file.package.clone().or(owner);
            let shown = |path: &[u8]| format!("{}{}", MemberName::from_bytes(path), file.inner);
            let path = shown(&place.path);
            let report = file.report.clone();
            if file.inner.is_empty() {
                compat.extend(compat_driver(&path, &report));
            }
            for path in place
                .also
                .iter()
                .map(|path| shown(path))
                .chain([path.clone()])
            {
                let provided = own::provided(&path, &report, tables);
                if let Some(provided) = provided {
                    draft.take(Found::Provided(provided, package.clone()));
                }
            }
            let library = own::library(path, file.size, package.as_deref(), report, tables);
            if let Some(mut library) = library {
                library.layer = Some(layer);
                library.also = place.also.iter().map(|path| shown(path)).collect();
                draft.take(Found::Library(Box::new(library), package));
            }
        }
    }
    for link in merged.links(tables) {
        draft.take(Found::Provided(link, None));
    }
    compat.sort_by(|a, b| a.path.cmp(&b.path));
    let platform = image.platform.as_deref();
    match platform.map(|platform| oci::without_variant(platform).parse()) {
        Some(Ok(platform)) => draft.artifact.platforms.push(platform),
        Some(Err(_)) => draft
            .artifact
            .other_platforms
            .extend(image.platform.clone()),
        None => {}
    }
    hidden.sort_by(|a, b| (a.layer, &a.path).cmp(&(b.layer, &b.path)));
    let layers = image.layers.into_iter().zip(scans);
    draft.artifact.image = Some(Box::new(ImageFacts {
        names: image.names,
        digest: image.digest,
        image_id: image.image_id,
        platform: image.platform,
        env: relevant(image.config.env),
        labels: image
            .config
            .labels
            .into_iter()
            .filter(|(name, _)| is_relevant(name))
            .collect(),
        compat,
        compat_configs: merged.compat_configs(),
        layers: layers
            .map(|(layer, scan)| {
                let sums = scan.sums.as_ref();
                LayerFacts {
                    digest: layer
                        .digest
                        .or_else(|| sums.map(|sums| format!("sha256:{}", sums.packed))),
                    diff_id: layer
                        .diff_id
                        .or_else(|| sums.map(|sums| format!("sha256:{}", sums.plain))),
                    size: sums.map(|sums| sums.packed_len).or(layer.size),
                    unpacked: sums.map(|sums| sums.plain_len),
                    created_by: layer.created_by,
                }
            })
            .collect(),
        hidden,
    }));
    draft.finish(problems)
}

/// The variables that say something of GPUs.
fn relevant(mut env: Vec<String>) -> Vec<String> {
    env.retain(|variable| {
        let (name, _) = variable.split_once('=').unwrap_or((variable, ""));
        is_relevant(name)
    });
    env
}

fn compat_driver(path: &str, report: &DeviceReport) -> Option<CompatDriver> {
    let Some(DriverFile::Compat(_)) = driver_file(path) else {
        return None;
    };
    let note = report.host.forward_compatibility.clone();
    Some(CompatDriver {
        path: path.to_owned(),
        note: note.map(|note| note.map_err(|broken| broken.to_string())),
    })
}

/// Where a file is in the final file system.
struct FilePlace {
    path: Box<[u8]>,
    /// The package that owns it there.
    owner: Option<usize>,
    /// Other paths of it, sorted.
    also: Vec<Box<[u8]>>,
}

impl FilePlace {
    /// Takes another path of the file. It is judged once, under the first that a package lists.
    fn add(&mut self, mut other: Self) {
        if self.owner.is_none() && other.owner.is_some() {
            std::mem::swap(self, &mut other);
            self.also = std::mem::take(&mut other.also);
        }
        self.also.push(other.path);
        self.also.sort_unstable();
    }
}

/// The final file system, as far as it matters.
struct Merged<'s> {
    at: Locator,
    scans: &'s [Arc<LayerScan>],
    squashed: Squashed<'s>,
    /// Where each file of interest is.
    places: BTreeMap<FileId, FilePlace>,
    assigned: Assigned,
}

impl<'s> Merged<'s> {
    fn new(
        at: &Locator,
        scans: &'s [Arc<LayerScan>],
        squashed: Squashed<'s>,
        limits: &Limits,
    ) -> Self {
        let of_interest: HashSet<FileId> = scans
            .iter()
            .enumerate()
            .flat_map(|(layer, scan)| {
                let files = scan.files.iter().map(|file| file.entry);
                let packages = scan.packages.iter().map(|(entry, _)| *entry);
                let configs = scan.entries.iter().enumerate().filter(|(_, entry)| {
                    std::str::from_utf8(&entry.path).is_ok_and(is_compat_config)
                });
                files
                    .chain(packages)
                    .chain(configs.map(|(index, _)| index))
                    .chain(scan.kept.entries())
                    .chain(scan.problems.keys().copied())
                    .map(move |entry| FileId { layer, entry })
            })
            .collect();
        let visible = squashed.visible(|file| of_interest.contains(&file));
        let mut files: Vec<(&[u8], FileId)> = visible
            .iter()
            .flat_map(|(file, paths)| paths.iter().map(|path| (&path[..], *file)))
            .collect();
        files.sort_unstable();
        let tree = FinalTree {
            files: &files,
            scans,
            squashed: &squashed,
        };
        let assigned = packages::assign(&tree, at, limits);
        let mut places: BTreeMap<FileId, FilePlace> = BTreeMap::new();
        for (number, (path, file)) in files.iter().enumerate() {
            let owner = assigned.owner.get(number).copied().flatten();
            let place = FilePlace {
                path: (*path).into(),
                owner,
                also: Vec::new(),
            };
            match places.entry(*file) {
                Entry::Vacant(entry) => {
                    entry.insert(place);
                }
                Entry::Occupied(entry) => entry.into_mut().add(place),
            }
        }
        Self {
            at: at.clone(),
            scans,
            squashed,
            places,
            assigned,
        }
    }

    fn place(&self, file: FileId) -> Option<&FilePlace> {
        self.places.get(&file)
    }

    /// Links by which a loader finds libraries of NVIDIA's.
    fn links(&self, tables: &Tables) -> Vec<Provided> {
        let is_wanted = |path: &[u8]| own::provides(&String::from_utf8_lossy(path), tables);
        let links = self.squashed.links_to_files(is_wanted).into_iter();
        let links = links.map(|path| MemberName::from_bytes(&path).to_string());
        links.map(|path| Provided::new(path, None, None)).collect()
    }

    /// What the container toolkit wrote into a container that was saved as an image.
    fn compat_configs(&self) -> Vec<String> {
        let paths = self.places.values();
        let mut paths: Vec<String> = paths
            .filter_map(|place| std::str::from_utf8(&place.path).ok())
            .filter(|path| is_compat_config(path))
            .map(str::to_owned)
            .collect();
        paths.sort();
        paths
    }

    /// A file with device code that a layer took away.
    fn hidden(&self, id: FileId, file: &LayerFile) -> Option<Hidden> {
        if !file.report.has_device_code() {
            return None;
        }
        let entry = self.scans.get(id.layer)?.entries.get(id.entry)?;
        Some(Hidden {
            path: format!("{}{}", MemberName::from_bytes(&entry.path), file.inner),
            size: file.size,
            layer: id.layer,
            by: self.squashed.gone_by(id),
        })
    }

    /// What could not be read of the files that are there, and of layers.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.assigned.problems.clone();
        for (layer, scan) in self.scans.iter().enumerate() {
            let at = self.layer_at(layer);
            let of_files = scan
                .problems
                .iter()
                .filter(|(entry, _)| self.still_counts(layer, **entry))
                .flat_map(|(_, problems)| problems);
            for problem in of_files.chain(&scan.layer_problems) {
                let mut problem = problem.clone();
                problem.at = problem.at.below(&at);
                problems.push(problem);
            }
        }
        for (layer, scan) in self.scans.iter().enumerate() {
            let twice = scan.files.iter().filter(|file| {
                let id = FileId {
                    layer,
                    entry: file.entry,
                };
                self.squashed.gone_by(id) == Some(layer) && file.report.has_device_code()
            });
            for entry in twice.filter_map(|file| scan.entries.get(file.entry)) {
                let at = self
                    .layer_at(layer)
                    .member(&MemberName::from_bytes(&entry.path));
                let detail = "its layer holds something else at the same path; runtimes differ in which they take";
                let fault = Fault::new(ProblemKind::DuplicateMember, detail);
                problems.push(fault.at(at, Extent::Member));
            }
        }
        for stuck in &self.squashed.stuck {
            let scan = self.scans.get(stuck.file.layer);
            let entry = scan.and_then(|scan| scan.entries.get(stuck.file.entry));
            let path = entry.map(|entry| MemberName::from_bytes(&entry.path));
            let layer = self.layer_at(stuck.file.layer);
            let at = path.map_or(layer.clone(), |path| layer.member(&path));
            problems.push(Fault::new(ProblemKind::NotFollowed, stuck.why).at(at, Extent::Member));
        }
        problems
    }

    /// Whether what could not be read of an entry can be in the final file system: it is not a file, or one that
    /// no layer above took away.
    fn still_counts(&self, layer: usize, entry: usize) -> bool {
        let id = FileId { layer, entry };
        self.places.contains_key(&id) || self.squashed.gone_by(id).is_none()
    }

    fn layer_at(&self, layer: usize) -> Locator {
        self.at.layer(u32::try_from(layer + 1).unwrap_or(u32::MAX))
    }
}

/// Files of interest by their paths.
struct FinalTree<'s> {
    files: &'s [(&'s [u8], FileId)],
    scans: &'s [Arc<LayerScan>],
    squashed: &'s Squashed<'s>,
}

impl Tree for FinalTree<'_> {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn name(&self, index: usize) -> &[u8] {
        self.files.get(index).map_or(b"", |(path, _)| path)
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, Fault> {
        let kept = self.files.get(index).and_then(|(_, file)| {
            let scan = self.scans.get(file.layer)?;
            scan.kept.read(file.entry)
        });
        kept.ok_or_else(|| {
            Fault::new(
                ProblemKind::MalformedMetadata,
                "the metadata could not be read",
            )
        })
    }

    fn canonical(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.squashed.canonical(path)
    }
}
