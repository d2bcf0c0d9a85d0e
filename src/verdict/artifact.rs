//! Rules about a package as a whole, or about an artifact, whatever the GPU.

use std::collections::{BTreeMap, BTreeSet};

use crate::cuda::SmTarget;
use crate::device::{HostFormat, ImageKind};
use crate::inventory::{Artifact, ArtifactKind, Library, LockedByName, Seen};
use crate::platform::{CpuArch, Os, Platform};
use crate::policy::{FleetTarget, Policy};
use crate::rule::Code;
use crate::tables::Tables;

use super::conda;
use super::finding::{Finding, PackageName};
use super::weights::weights;

/// The package is built for another platform than the target's.
pub(super) struct PlatformMismatch {
    /// What it is built for, as far as its tags or else its libraries say: `linux/arm64`.
    pub(super) built_for: String,
    pub(super) finding: Finding,
}

/// Whether the package is built for another platform than the target's.
pub(super) fn platform_mismatch(
    artifact: &Artifact,
    libraries: &[&Library],
    target: &FleetTarget,
) -> Option<PlatformMismatch> {
    let wanted = target.platform?;
    let tagged = !artifact.platforms.is_empty() || !artifact.other_platforms.is_empty();
    let (built_for, evidence) = if tagged && !artifact.platforms.contains(&wanted) {
        let names = artifact.platforms.iter().map(ToString::to_string);
        let names: Vec<String> = names
            .chain(artifact.other_platforms.iter().cloned())
            .collect();
        let names = names.join(", ");
        let evidence = match &artifact.conda {
            Some(conda) => format!(
                "its `subdir` is {}",
                conda.subdir.as_deref().unwrap_or("noarch")
            ),
            None => format!("its tags name {names}"),
        };
        (names, evidence)
    } else {
        // tags are promises, and tags for any platform are none: its libraries tell
        let built_for = || {
            libraries
                .iter()
                .filter_map(|library| Some((platform_of(library)?, library)))
        };
        if built_for().any(|(platform, _)| platform == wanted) {
            return None;
        }
        let (platform, library) = built_for().next()?;
        let evidence = format!("`{}` is built for {platform}", library.path);
        (platform.to_string(), evidence)
    };
    let message = format!("built for another platform than {wanted}");
    let next_step = format!("choose the file for {wanted}");
    let finding = Finding::new(Code::PlatformMismatch, message, next_step).evidence(evidence);
    Some(PlatformMismatch { built_for, finding })
}

/// The libraries that the target's platform would load: a wheel for any platform may carry one for each.
pub(super) fn for_platform<'l>(
    libraries: &[&'l Library],
    target: &FleetTarget,
) -> Vec<&'l Library> {
    let Some(wanted) = target.platform else {
        return libraries.to_vec();
    };
    let fits = |library: &&&Library| platform_of(library).is_none_or(|platform| platform == wanted);
    if libraries
        .iter()
        .any(|library| platform_of(library) == Some(wanted))
    {
        libraries.iter().filter(fits).copied().collect()
    } else {
        libraries.to_vec()
    }
}

/// The operating system that an artifact is for, where its tags or its libraries name just one.
pub(super) fn os_of(artifact: &Artifact, libraries: &[&Library]) -> Option<Os> {
    let of_tags = artifact.platforms.iter().map(|platform| platform.os);
    let of_libraries = libraries
        .iter()
        .filter_map(|library| Some(platform_of(library)?.os));
    let systems: BTreeSet<Os> = if artifact.platforms.is_empty() {
        of_libraries.collect()
    } else {
        of_tags.collect()
    };
    systems.first().copied().filter(|_| systems.len() == 1)
}

/// The platform that a library's format and machine say.
fn platform_of(library: &Library) -> Option<Platform> {
    let os = match library.format {
        HostFormat::Elf | HostFormat::ElfObject => Os::Linux,
        HostFormat::Pe | HostFormat::Coff => Os::Windows,
        HostFormat::Ar | HostFormat::Raw => return None,
    };
    Some(Platform::new(os, cpu(library.machine.as_deref()?)?))
}

/// The CPU that a library's machine or a platform tag names.
pub(super) fn cpu(name: &str) -> Option<CpuArch> {
    match name {
        "x86_64" => Some(CpuArch::Amd64),
        "aarch64" => Some(CpuArch::Arm64),
        "i386" | "i686" => Some(CpuArch::I386),
        "ppc64le" => Some(CpuArch::Ppc64le),
        _ => None,
    }
}

/// Whether a package should have GPU code: the policy says so, or it stands in a lock file and is known to be
/// published with and without it under one name.
pub(super) fn expects_gpu(
    package: &str,
    artifact: &Artifact,
    policy: &Policy,
    tables: &Tables,
) -> bool {
    let locked = artifact.kind == ArtifactKind::LockFile;
    policy.expects_gpu(package) || (locked && tables.gpu_build(package).is_some())
}

/// Whether the local part of a version says that the build is for something else than CUDA: `cpu`, `rocm6.4`, `xpu`.
pub fn is_without_cuda(local: &str) -> bool {
    ["cpu", "rocm", "xpu"]
        .iter()
        .any(|kind| local.starts_with(kind))
}

/// A build without GPU code where some is expected.
pub(super) fn cpu_only(
    package: &PackageName,
    artifact: &Artifact,
    locked: Option<&LockedByName<'_>>,
    policy: &Policy,
    tables: &Tables,
) -> Option<Finding> {
    if !expects_gpu(&package.name, artifact, policy, tables) || artifact.kind == ArtifactKind::Sdist
    {
        return None;
    }
    let locked = locked.and_then(|all| all.get(&package.name, package.version.as_deref()));
    let local = package
        .version
        .as_deref()
        .and_then(|version| version.split_once('+'))
        .map(|(_, local)| local);
    let conda = artifact.conda.as_deref();
    let says_so = local.is_some_and(is_without_cuda);
    // what was not read may hold anything, unless its version says what it is
    if locked.is_some_and(|locked| !locked.content.is_known()) && !says_so {
        return None;
    }
    let what = match local {
        _ if conda.is_some_and(|facts| conda::cpu_claim(facts).is_some()) => "a conda CPU build",
        Some(local) if local.starts_with("rocm") => "a ROCm build, for AMD GPUs",
        Some(local) if local.starts_with("xpu") => "an XPU build, for Intel GPUs",
        Some(local) if local.starts_with("cpu") => "a CPU build",
        _ if !artifact.problems.is_empty() => {
            "without CUDA device code in what could be read of it"
        }
        _ => "a build without CUDA device code",
    };
    let by = if policy.expects_gpu(&package.name) {
        "the policy expects GPU code"
    } else {
        "the target is a GPU machine"
    };
    let message = format!("`{}` is {what}, and {by}", package.name);
    let next_step = match conda {
        Some(_) => format!(
            "install a CUDA build of `{0}`: most build strings name the toolkit, as `{0}=*=cuda*` asks for",
            package.name
        ),
        None => format!(
            "install a CUDA build of `{}`: its file name or local version names the toolkit, as in `+cu126`",
            package.name
        ),
    };
    let finding = Finding::new(Code::CpuOnlyBuild, message, next_step);
    let file = locked.and_then(|locked| locked.file.as_ref());
    let files = match (file, artifact.seen.files) {
        (Some(file), _) => format!("`{}`", file.name),
        (None, 1) => "1 file".to_owned(),
        (None, n) => format!("{n} files"),
    };
    let none = format!("no device code of its own in {files}");
    let finding = match conda.and_then(conda::cpu_claim) {
        Some(claim) => finding.evidence(format!("{claim} says so")),
        None => finding,
    };
    Some(finding.evidence(match &package.version {
        Some(version) => format!("version {version}, {none}"),
        None => none,
    }))
}

/// A source distribution says nothing before it is built.
pub(super) fn built_at_install(artifact: &Artifact) -> Option<Finding> {
    (artifact.kind == ArtifactKind::Sdist).then(|| {
        let name = artifact.name.as_deref().unwrap_or("it");
        let message = "a source distribution: what GPUs its code runs on is decided where it is built";
        let next_step = format!("build the wheel of `{name}` for your targets (`TORCH_CUDA_ARCH_LIST` or `CMAKE_CUDA_ARCHITECTURES` set), then check that");
        Finding::new(Code::BuiltAtInstall, message, next_step)
    })
}

/// An input of which nothing was seen, because it is an archive of a kind that is not opened, or holds only
/// such. Beside other files in a wheel or a directory such data is common and only counted.
pub(super) fn unopened(artifact: &Artifact) -> Option<Finding> {
    let Seen {
        files, unopened, ..
    } = artifact.seen;
    let nothing_seen = match artifact.kind {
        ArtifactKind::File => unopened > 0,
        ArtifactKind::Directory => unopened > 0 && unopened == files,
        ArtifactKind::Wheel
        | ArtifactKind::Conda
        | ArtifactKind::Sdist
        | ArtifactKind::Image
        | ArtifactKind::LockFile => false,
    };
    nothing_seen.then(|| {
        let message = "it is or holds a compressed archive of a kind that is not opened: what is in it was not judged";
        let next_step = "unpack it and name the directory, or the wheel that it holds";
        let finding = Finding::new(Code::Unreadable, message, next_step)
            .evidence(match files {
                1 => "it was not opened".to_owned(),
                _ => format!("{unopened} of {files} files not opened"),
            });
        let name = artifact.input.rsplit('/').next().unwrap_or_default();
        match artifact.kind {
            ArtifactKind::File => finding.library(name),
            _ => finding,
        }
    })
}

/// Headers that say something else than the code behind them.
pub(super) fn header_mismatches(libraries: &[&Library]) -> Vec<Finding> {
    libraries
        .iter()
        .filter_map(|library| header_mismatch(library))
        .collect()
}

fn header_mismatch(library: &Library) -> Option<Finding> {
    // by kind, what the header says and what the payload says
    let mut found: BTreeMap<(ImageKind, String, String), u64> = BTreeMap::new();
    for code in library.code.iter().filter(|code| code.own) {
        for image in &code.class.images {
            let Some(claim) = image.key.header else {
                continue;
            };
            let claimed = name(
                image.key.kind,
                claim.target,
                claim.isa.map(|isa| isa.to_string()),
            );
            let real = name(
                image.key.kind,
                image.key.target,
                image.key.isa.map(|isa| isa.to_string()),
            );
            let images = image.per_fatbin.saturating_mul(code.class.count);
            let sum = found.entry((image.key.kind, claimed, real)).or_default();
            *sum = sum.saturating_add(images);
        }
    }
    let total = found
        .values()
        .fold(0_u64, |sum, count| sum.saturating_add(*count));
    if total == 0 {
        return None;
    }
    let message = if total == 1 {
        "1 device image is not built for what its fatbin header says; judged by what it is"
            .to_owned()
    } else {
        format!(
            "{total} device images are not built for what their fatbin headers say; judged by what they are"
        )
    };
    let next_step = "tools that read headers only will mislead you here; report it to the publisher: the build passes wrong `-gencode` or `sm=` values".to_owned();
    let mut finding =
        Finding::new(Code::PtxHeaderMismatch, message, next_step).library(&library.path);
    for ((kind, claimed, real), count) in found.iter().take(8) {
        finding = finding.evidence(format!(
            "{count} {kind}: header says {claimed}, the code is {real}"
        ));
    }
    Some(finding)
}

fn name(kind: ImageKind, target: Option<SmTarget>, isa: Option<String>) -> String {
    let target = match target {
        Some(target) if kind.is_ptx() => target.compute().to_string(),
        Some(target) => target.to_string(),
        None => "no target".to_owned(),
    };
    isa.map_or(target.clone(), |isa| format!("{target} with PTX {isa}"))
}

/// Machine code that no target of the policy can use.
pub(super) fn unused_architectures(
    libraries: &[&Library],
    policy: &Policy,
    tables: &Tables,
) -> Option<Finding> {
    let weights = weights(libraries.iter().copied(), true, policy, tables);
    let cubins = weights
        .iter()
        .filter(|weight| weight.kind == ImageKind::Cubin);
    let total = cubins
        .clone()
        .fold(0_u64, |sum, weight| sum.saturating_add(weight.bytes));
    let unused: BTreeMap<SmTarget, u64> = cubins
        .filter(|weight| weight.unused && weight.bytes > 0)
        .filter_map(|weight| Some((weight.target?, weight.bytes)))
        .collect();
    let bytes = unused
        .values()
        .fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    if bytes == 0 {
        return None;
    }
    let message = format!(
        "{} of {} of machine code is for GPUs that no target has",
        megabytes(bytes),
        megabytes(total)
    );
    let next_step =
        "to save the space, build with the architectures of your targets only".to_owned();
    let mut finding = Finding::new(Code::UnusedArchitectures, message, next_step);
    for (target, bytes) in unused {
        finding = finding.evidence(format!("{target}: {}", megabytes(bytes)));
    }
    Some(finding)
}

/// `12.3 MB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = bytes as f64 / 1e6;
    format!("{megabytes:.1} MB")
}
