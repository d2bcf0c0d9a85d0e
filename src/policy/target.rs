//! Fleet targets: the GPUs, drivers and platforms that code is going to.
//!
//! Resolves names of GPUs through the tables and judges nothing.

use super::diag::Mistake;
use super::fields::{Check, Field, Fields, Keys};
use super::gpu::{GpuKey, TargetGpu};
use super::pattern::PackagePattern;
use super::place::Place;
use super::values;
use super::yaml::{Node, Span};
use crate::compat::Driver;
use crate::cuda::DriverSpec;
use crate::platform::{CpuArch, Os, Platform};
use crate::tables::Tables;

/// One kind of machine, or one pool of them, that code must run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetTarget {
    /// What reports and waivers call it; unique in a policy.
    pub name: String,
    /// The GPUs of the pool, at least one; none where the target is the machine that checks, and nobody looked
    /// at it yet.
    pub gpus: Vec<TargetGpu>,
    /// The oldest driver of the pool. Where the platform is Windows, its number is one of Windows
    /// drivers.
    pub driver: Option<DriverSpec>,
    /// Operating system and CPU.
    pub platform: Option<Platform>,
    /// Linux under Windows: the driver is that of Windows, and its number may be too.
    pub wsl: bool,
    /// How code is taken of which NVIDIA does not promise that it runs on a Tegra GPU.
    pub tegra: Tegra,
    /// The packages that may be compiled by the driver at first use here, without `jit-only`.
    pub allow_jit: Vec<PackagePattern>,
    /// The Python version, `3.12`, by which lock files choose wheels.
    pub python: Option<String>,
    /// The glibc version, `2.28`: wheels whose tags ask for a newer one do not install.
    pub glibc: Option<String>,
    /// Where it is written; none where it was given on the command line.
    pub place: Option<Place>,
    /// Where its driver is written.
    pub(super) driver_place: Option<Place>,
    /// Where it says that it is the machine that checks.
    pub(super) host_place: Option<Place>,
}

/// How code is taken of which NVIDIA does not promise that it runs on a Tegra GPU: desktop cubins on Orin, say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tegra {
    /// It counts as code for the GPU, and `tegra-compatibility-unsure` says so.
    #[default]
    Lenient,
    /// It does not count.
    Strict,
}

impl Tegra {
    /// Every value.
    pub const ALL: [Self; 2] = [Self::Lenient, Self::Strict];

    /// The name in policies.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Lenient => "lenient",
            Self::Strict => "strict",
        }
    }
}

impl FleetTarget {
    /// Whether it is the machine that checks, whatever that has.
    pub fn is_host(&self) -> bool {
        self.host_place.is_some()
    }

    /// The driver as the rules see it. Its numbers are those of the platform, of `os` where the target names
    /// none, and under WSL those of Windows where they have the form of Windows numbers.
    pub fn known_driver<'t>(&self, os: Os, tables: &'t Tables) -> Driver<'t> {
        let os = self.platform.map_or(os, |platform| platform.os);
        let wsl = self.wsl && self.driver.as_ref().is_some_and(is_windows_number);
        let os = if wsl { Os::Windows } else { os };
        Driver::new(self.driver.clone(), os, tables)
    }
}

/// Whether a driver has the form of Windows numbers: Linux versions have three parts since R390, Windows
/// versions two.
pub(super) fn is_windows_number(spec: &DriverSpec) -> bool {
    match spec {
        DriverSpec::Exact(version) => version.to_string().matches('.').count() == 1,
        DriverSpec::Branch(_) => false,
    }
}

/// Where the Windows Subsystem for Linux has CUDA.
const WSL_PLATFORM: Platform = Platform::new(Os::Linux, CpuArch::Amd64);

const KEYS: Keys = Keys {
    of: "a target",
    valid: &[
        "name",
        "gpu",
        "cc",
        "pci",
        "instance",
        "host",
        "driver",
        "platform",
        "wsl",
        "tegra",
        "allow-jit",
        "python",
        "glibc",
    ],
    required: &["name"],
};

/// A target, and the name that it has even where something else about it is wrong.
pub(super) struct Checked<'n> {
    pub(super) name: Option<(String, &'n Span)>,
    pub(super) target: Option<FleetTarget>,
}

impl Check<'_> {
    pub(super) fn target<'n>(&mut self, node: &'n Node) -> Checked<'n> {
        let Some(fields) = self.known_fields(node, &KEYS) else {
            return Checked {
                name: None,
                target: None,
            };
        };
        let mut name = None;
        if let Some(field) = fields.get("name") {
            if let Some((text, span)) = self.text(field) {
                name = self
                    .accept(span, || values::name(text))
                    .map(|name| (name, span));
            }
        } else if !fields.has("name") {
            let hint = "reports and waivers call it so: `name: prod-h100`";
            self.missing(&fields, "a target", "`name`", hint);
        }
        let host_field = self.host(&fields);
        let gpus = self.gpus(&fields);
        let driver_field = fields.get("driver");
        let driver = self.value(driver_field, values::driver);
        let platform = self.platform(&fields, &gpus);
        let wsl = self
            .value(fields.get("wsl"), values::switch)
            .unwrap_or(false);
        let tegra = self.value(fields.get("tegra"), values::tegra);
        let allow_jit = self.packages(fields.get("allow-jit"));
        let python = self.value(fields.get("python"), values::python);
        let glibc = self.value(fields.get("glibc"), values::glibc);
        if let (true, Some(platform), Some(field)) = (wsl, platform, fields.get("wsl"))
            && platform != WSL_PLATFORM
        {
            let message = format!("`wsl` goes with `{WSL_PLATFORM}`, not with `{platform}`");
            self.report(
                Mistake::new(field.key_span.clone(), message)
                    .hint(format!("write `platform: {WSL_PLATFORM}`, or remove `wsl`")),
            );
        }
        let target = name.as_ref().map(|(name, _)| FleetTarget {
            name: name.clone(),
            gpus,
            driver,
            platform: platform.or(wsl.then_some(WSL_PLATFORM)),
            wsl,
            tegra: tegra.unwrap_or_default(),
            allow_jit,
            python,
            glibc,
            place: Some(self.place(&fields.start)),
            driver_place: driver_field.map(|field| self.place(&field.node.span)),
            host_place: host_field.map(|field| self.place(field.key_span)),
        });
        Checked { name, target }
    }

    /// The field that makes the machine that checks the target. Nothing else may say what that machine tells.
    fn host<'n>(&mut self, fields: &Fields<'n>) -> Option<Field<'n>> {
        let field = fields.get("host")?;
        if !self.value(Some(field), values::switch)? {
            let mistake = Mistake::new(field.node.span.clone(), "`host` is `true` or not there");
            self.report(mistake.hint("remove it, and name a GPU: `gpu: H100`"));
            return None;
        }
        let told = GpuKey::ALL.map(GpuKey::id).into_iter();
        for key in told.chain(["platform", "wsl"]) {
            if let Some(other) = fields.get(key) {
                let message = format!("`{key}` does not go with `host`");
                self.report(
                    Mistake::new(other.key_span.clone(), message)
                        .also(field.key_span, "`host` is here")
                        .hint("remove it: the machine that checks tells its own"),
                );
            }
        }
        Some(field)
    }

    fn gpus(&mut self, fields: &Fields<'_>) -> Vec<TargetGpu> {
        let tables = self.tables;
        let mut gpus = Vec::new();
        for key in GpuKey::ALL {
            if let Some(field) = fields.get(key.id()) {
                for (text, span) in self.texts(field) {
                    gpus.extend(self.accept(span, || key.read(text, tables)));
                }
            }
        }
        if let (Some(gpu), Some(cc)) = (fields.get("gpu"), fields.get("cc")) {
            let mistake = Mistake::new(cc.key_span.clone(), "a target has `gpu` or `cc`, not both");
            self.report(
                mistake
                    .also(gpu.key_span, "`gpu` is here")
                    .hint("both take a list where a pool is mixed"),
            );
        }
        if !fields.has("host") && !GpuKey::ALL.iter().any(|key| fields.has(key.id())) {
            let hint = "write `gpu: H100`, `cc: 9.0`, `pci: 10de:2330`, `instance: aws:p5.48xlarge`, or \
                 `host: true` for the machine that checks";
            let keys = "`gpu`, `cc`, `pci`, `instance` or `host`";
            self.missing(fields, "a target", keys, hint);
        }
        dedup(&mut gpus);
        gpus
    }

    /// The platform of a target: what it says, else what its instance types are.
    fn platform(&mut self, fields: &Fields<'_>, gpus: &[TargetGpu]) -> Option<Platform> {
        let given = self.value(fields.get("platform"), values::platform);
        let hosts: Vec<Platform> = gpus.iter().filter_map(|gpu| gpu.given.platform).collect();
        let Some(field) = fields.get("instance") else {
            return given;
        };
        let Some(host) = hosts.first().copied() else {
            return given;
        };
        if let Some(other) = hosts.iter().find(|other| other.arch != host.arch) {
            let message = format!("these instance types are {host} and {other}");
            self.report(
                Mistake::new(field.key_span.clone(), message)
                    .hint("make a target of each: one package does not run on both"),
            );
        } else if let (Some(given), Some(field)) = (given, fields.get("platform"))
            && given.arch != host.arch
        {
            let message = format!("`platform` is {given}, and the instance type is {host}");
            self.report(
                Mistake::new(field.node.span.clone(), message)
                    .hint("remove `platform`: the instance type says it"),
            );
        }
        given.or(Some(host))
    }
}

/// Drops repeated GPUs: two spellings of one GPU are one.
fn dedup(gpus: &mut Vec<TargetGpu>) {
    let mut kept: Vec<TargetGpu> = Vec::with_capacity(gpus.len());
    for gpu in gpus.drain(..) {
        let known = |other: &TargetGpu| (&other.name, other.cc) == (&gpu.name, gpu.cc);
        if !kept.iter().any(known) {
            kept.push(gpu);
        }
    }
    *gpus = kept;
}
