//! What a container image declares, held against targets: requirements, driver capabilities, left-overs, claims.
//!
//! Pure functions of facts; who walks images calls them for each artifact, or for each target and GPU. What is
//! enforced at all, and by whom, is in [`crate::compat::ENFORCED`].

use std::collections::BTreeSet;

use crate::compat::{
    Accepted, Answer, ENFORCED, Forward, Host, Package, Unmet, Unsure, accepted, requirements_met,
};
use crate::cuda::SmTarget;
use crate::image::{DriverFile, HostKind, ImageEnv, Requirements, driver_file};
use crate::inventory::ImageFacts;
use crate::platform::Os;
use crate::policy::{FleetTarget, TargetGpu};
use crate::rule::Code;
use crate::tables::{GpuLookup, GpuRow, Tables};

use super::finding::Finding;
use super::floor::{Floor, Mechanism};
use super::words::Subject;

/// What the requirements of an image mean for one GPU of a target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Required {
    /// The oldest driver that they accept for the GPU; newer ones may not be accepted (`finding` knows).
    pub floor: Option<Floor>,
    /// What is wrong: the driver is not accepted, or the tool refuses the requirements.
    pub finding: Option<Finding>,
    /// Remarks: why it is not known.
    pub notes: Vec<String>,
}

/// Judges the requirements of an image (`NVIDIA_REQUIRE_*`) for a GPU of a target.
pub fn requirements(
    env: &ImageEnv,
    target: &FleetTarget,
    gpu: &TargetGpu,
    tables: &Tables,
) -> Required {
    let driver = target.known_driver(Os::Linux, tables);
    let host = Host {
        driver: &driver,
        cc: gpu.cc,
        brands: row(gpu, tables).map_or(&[], |row| tables.brands_of(row)),
    };
    let all = &env.requirements;
    let subject = Subject {
        package: None,
        target,
        gpu,
        os: driver.os(),
        tables,
    };
    let mut required = Required::default();
    let drivers = match requirements_met(all, &host, tables) {
        Answer::Refused {
            variable,
            factor,
            why,
        } => {
            required.finding = Some(refused(subject, &variable, &factor, why));
            return required;
        }
        Answer::Unmet(unmet) => {
            required.finding = Some(not_met(subject, &unmet));
            unmet.accepted
        }
        Answer::Unknown(why) => {
            required.notes.extend(unsure(why));
            accepted(all, &host, tables)
        }
        Answer::Met => accepted(all, &host, tables),
    };
    required.floor = declared(all, &drivers);
    required
}

/// What an image declares in its environment and labels.
pub fn env(facts: &ImageFacts, tables: &Tables) -> ImageEnv {
    let env = facts.env.iter().map(String::as_str);
    let labels = facts.labels.iter();
    let labels = labels.map(|(name, value)| (name.as_str(), value.as_str()));
    ImageEnv::parse(env, labels, tables)
}

/// The forward compatibility package that programs in an image load, where it holds one.
pub fn forward_package<'a>(
    facts: &'a ImageFacts,
    env: &ImageEnv,
    tables: &Tables,
) -> Option<Package<'a>> {
    let forced = !env.compat_folders.is_empty() || !facts.compat_configs.is_empty();
    let packages = facts.compat.iter().filter_map(|driver| {
        let version = match driver_file(&driver.path) {
            Some(DriverFile::Compat(version)) => version,
            _ => None,
        };
        let note = driver.note.as_ref().and_then(|note| note.as_ref().ok());
        // a link by another name says nothing
        (version.is_some() || note.is_some()).then(|| Package {
            driver: version.or_else(|| env.built_with_driver.clone()),
            cuda: env.compat_package,
            note,
            forced,
        })
    });
    // of several, the newest is the one that `/usr/local/cuda` leads to
    packages.max_by_key(|package| package.gives(tables))
}

/// The row of a target's GPU, where it has a name.
pub(super) fn row<'t>(gpu: &TargetGpu, tables: &'t Tables) -> Option<&'t GpuRow> {
    match tables.gpu(&gpu.name) {
        GpuLookup::Found(row) => Some(row),
        GpuLookup::Ambiguous { .. } | GpuLookup::Unknown { .. } => None,
    }
}

fn declared(all: &Requirements, drivers: &Accepted) -> Option<Floor> {
    let names: Vec<&str> = all.checked().iter().map(|r| r.variable.as_str()).collect();
    (!names.is_empty()).then_some(())?;
    Some(Floor {
        driver: drivers.lowest()?.clone(),
        mechanism: Mechanism::Declared(names.join(", ")),
        culprit: None,
    })
}

fn unsure(why: Unsure) -> Option<String> {
    let text = match why {
        Unsure::NoDriver => return None,
        Unsure::DriverUnknown => "the tables do not know the driver's branch or its number",
        Unsure::VersionInBranch => {
            "they accept some versions of the driver's branch: give the exact one"
        }
        Unsure::Brand => {
            "it depends on the brand that the driver reports for the GPU: give `gpu` by name"
        }
    };
    Some(format!(
        "whether the requirements of the image are met is not known: {text}"
    ))
}

fn not_met(subject: Subject<'_>, unmet: &Unmet) -> Finding {
    let Unmet {
        variable,
        term,
        accepted,
    } = unmet;
    let (target, gpu) = (&subject.target.name, subject.gpu_name());
    let Some(lowest) = accepted.lowest() else {
        let message = format!("`{variable}` asks for `{term}`, which {gpu} meets with no driver");
        let next_step =
            format!("take an image that is made for {gpu}, or set `{variable}` to what it needs");
        return subject
            .finding(Code::ClaimMismatch, message, next_step)
            .evidence(ENFORCED);
    };
    let have = subject.target.driver.as_ref();
    let have = have.map(ToString::to_string).unwrap_or_default();
    let message = format!(
        "`{variable}` asks for `{term}` or a driver that it lists, and `{target}` has {have}"
    );
    let next_step = match &accepted.from {
        Some(from) => format!(
            "upgrade the driver of `{target}` to {from} or newer, or take an image of an older CUDA"
        ),
        None => format!("put `{target}` on driver {lowest}, or take an image of another CUDA"),
    };
    subject
        .finding(Code::DriverTooOld, message, next_step)
        .evidence(format!("accepted for {gpu}: {accepted}"))
        .evidence(ENFORCED)
}

fn refused(subject: Subject<'_>, variable: &str, factor: &str, why: &str) -> Finding {
    let message = format!("nvidia-container-cli refuses `{variable}`: `{factor}`, {why}");
    let next_step = format!(
        "correct `{variable}`: terms of `cuda`, `driver`, `arch` or `brand`, blanks for OR and commas for AND; \
         `NVIDIA_DISABLE_REQUIRE=1` switches the check off"
    );
    subject
        .finding(Code::ClaimMismatch, message, next_step)
        .evidence(ENFORCED)
}

/// Whether an image with device code gets the driver that loads it.
pub fn capabilities(env: &ImageEnv, has_device_code: bool) -> Option<Finding> {
    let capabilities = &env.capabilities;
    let declared = capabilities.declared.as_deref().unwrap_or_default();
    let message = if !capabilities.unknown.is_empty() {
        format!(
            "`NVIDIA_DRIVER_CAPABILITIES={declared}` names `{}`, with which `docker run --gpus` does not start it",
            capabilities.unknown.join("`, `")
        )
    } else if has_device_code && !capabilities.has_compute() {
        format!(
            "it holds device code, and `NVIDIA_DRIVER_CAPABILITIES={declared}` leaves out `compute`: there is no `libcuda.so.1` in the container"
        )
    } else {
        return None;
    };
    let next_step = "set `NVIDIA_DRIVER_CAPABILITIES=compute,utility`, and what else the image needs, in the image or where it is started";
    let granted: Vec<&str> = capabilities.granted.iter().map(String::as_str).collect();
    let finding = Finding::new(Code::DriverCapabilityMissing, message, next_step);
    Some(finding.evidence(format!("it gets: {}", granted.join(", "))))
}

/// Configuration that a container toolkit left in an image that was committed from a running container. `paths`:
/// the files for which [`crate::image::is_compat_config`] holds.
pub fn stale_config<'p>(paths: impl IntoIterator<Item = &'p str>) -> Option<Finding> {
    let mut paths = paths.into_iter();
    let first = paths.next()?;
    let message = "it was saved from a running container: its linker configuration puts forward compatibility libraries before the driver of every host";
    let next_step =
        format!("delete `{first}` and run `ldconfig`, or build the image from a Dockerfile");
    let mut finding = Finding::new(Code::StaleCompatConfig, message, next_step).library(first);
    for path in paths.take(8) {
        finding = finding.evidence(format!("`{path}` too"));
    }
    Some(finding)
}

/// Whether an image for one kind of Arm machine meets a GPU of the other: servers (SBSA) and Jetson have drivers,
/// and so user-mode libraries, of their own.
pub fn host_kind(
    env: &ImageEnv,
    target: &FleetTarget,
    gpu: &TargetGpu,
    tables: &Tables,
) -> Option<Finding> {
    let row = tables.capability(gpu.cc)?;
    let (made_for, runs_on, look_for) = match env.host_kind? {
        HostKind::Sbsa if row.tegra && !row.sbsa => (
            "Arm servers (SBSA)",
            "Jetson",
            "an L4T image of the JetPack that the device runs",
        ),
        HostKind::Jetson if !row.tegra => (
            "Jetson (L4T)",
            "no Jetson",
            "an image for Arm servers, whose `NVARCH` is `sbsa`",
        ),
        _ => return None,
    };
    let subject = Subject {
        package: None,
        target,
        gpu,
        os: Os::Linux,
        tables,
    };
    let message = format!(
        "it is made for {made_for}, and {} is {runs_on}: the driver libraries that it expects are not those of the host",
        subject.gpu_name()
    );
    let finding = subject.finding(
        Code::TegraCompatibilityUnsure,
        message,
        format!("take {look_for}"),
    );
    let marks = env
        .jetson_marks
        .iter()
        .take(4)
        .map(|mark| format!("`{mark}`"));
    let marks: Vec<String> = marks.collect();
    Some(if marks.is_empty() {
        finding.evidence("`NVARCH=sbsa`")
    } else {
        finding.evidence(marks.join(", "))
    })
}

/// Whether `TORCH_CUDA_ARCH_LIST` names machine code or PTX that is nowhere in the image. `code` and `ptx`: the
/// targets of all of its own device code.
pub fn claims(
    env: &ImageEnv,
    code: &BTreeSet<SmTarget>,
    ptx: &BTreeSet<SmTarget>,
) -> Option<Finding> {
    let list = env.torch_archs.as_ref()?;
    let difference = list.compare(code, ptx);
    let absent: Vec<String> = difference.absent.iter().map(ToString::to_string).collect();
    let absent_ptx = difference.absent_ptx.iter();
    let absent_ptx: Vec<String> = absent_ptx.map(|t| t.compute().to_string()).collect();
    let missing = [absent, absent_ptx].concat();
    if missing.is_empty() || (code.is_empty() && ptx.is_empty()) {
        return None;
    }
    let message = format!(
        "`TORCH_CUDA_ARCH_LIST` names {}, and no device code in the image is for it",
        missing.join(", ")
    );
    let next_step = "trust the device code: the variable is a build setting, often left over from a base image; unset it, or build with it";
    let mut finding = Finding::new(Code::ClaimMismatch, message, next_step);
    for (targets, what) in [
        (&difference.undeclared, "machine code"),
        (&difference.undeclared_ptx, "PTX"),
    ] {
        let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
        if !names.is_empty() {
            finding = finding.evidence(format!("{what} not in the list: {}", names.join(", ")));
        }
    }
    Some(finding)
}

/// What a forward compatibility package does for a target, in a sentence for its row; none where it does nothing.
pub fn forward_note(forward: &Forward) -> Option<String> {
    let text = match forward {
        Forward::NotNeeded => return None,
        Forward::Applies { cuda, branch, once } => {
            let ended = if *once {
                ", on a branch that has ended"
            } else {
                ""
            };
            format!("the image brings the user-mode driver of {branch} (CUDA {cuda}){ended}")
        }
        Forward::Fails(failure) => {
            use crate::compat::ForwardFailure as Why;
            let why = match failure {
                Why::Host => "does not work on this driver",
                Why::Gpu => "is not for this GPU",
                Why::DroppedGpu(_) => "no longer drives this GPU",
                Why::System => "is for Linux only",
            };
            let error = failure.error().map(|number| format!(" (error {number})"));
            format!(
                "the forward compatibility package of the image {why}{} and must not be loaded",
                error.unwrap_or_default()
            )
        }
        Forward::Unknown(why) => {
            use crate::compat::ForwardUnsure as Why;
            let why = match why {
                Why::NoDriver => return None,
                Why::Package => "nothing says which CUDA it gives",
                Why::Host => "no document names it with this driver",
                Why::Gpu => "NVIDIA supports it on some GPUs of this kind only",
            };
            format!("the image has a forward compatibility package that is not counted: {why}")
        }
    };
    Some(text)
}
