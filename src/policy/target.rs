//! Fleet targets: the GPUs, drivers and platforms that code is going to.
//!
//! Resolves names of GPUs through the tables and judges nothing.

use super::diag::Mistake;
use super::fields::{Check, Fields, Keys};
use super::values;
use super::yaml::{Node, Span, Value};
use crate::cuda::{ComputeCapability, DriverSpec};
use crate::platform::{CpuArch, Os, Platform};

/// One kind of machine, or one pool of them, that code must run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetTarget {
    /// What reports and waivers call it; unique in a policy.
    pub name: String,
    /// The GPUs of the pool, at least one.
    pub gpus: Vec<TargetGpu>,
    /// The oldest driver of the pool. Where the platform is Windows, its number is one of Windows
    /// drivers.
    pub driver: Option<DriverSpec>,
    /// Operating system and CPU.
    pub platform: Option<Platform>,
    /// Linux under Windows: the driver is that of Windows, and its number may be too.
    pub wsl: bool,
    /// The Python version, `3.12`, by which lock files choose wheels.
    pub python: Option<String>,
    /// The glibc version, `2.28`, by which lock files choose wheels.
    pub glibc: Option<String>,
}

/// A GPU of a fleet target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetGpu {
    /// What reports call it: the name in the tables, or `compute capability 9.0` where the policy
    /// names none.
    pub name: String,
    /// What it has.
    pub cc: ComputeCapability,
}

/// Where the Windows Subsystem for Linux has CUDA.
const WSL_PLATFORM: Platform = Platform::new(Os::Linux, CpuArch::Amd64);

const KEYS: Keys = Keys {
    of: "a target",
    valid: &[
        "name", "gpu", "cc", "driver", "platform", "wsl", "python", "glibc",
    ],
    planned: &["pci", "instance", "host"],
};

/// A target, and the name that it has even where something else about it is wrong.
pub(super) struct Checked<'n> {
    pub(super) name: Option<(String, &'n Span)>,
    pub(super) target: Option<FleetTarget>,
}

impl Check<'_> {
    pub(super) fn target<'n>(&mut self, node: &'n Node) -> Checked<'n> {
        let planned = is_planned(node);
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
        let gpus = self.gpus(&fields, planned);
        let driver = self.value(fields.get("driver"), values::driver);
        let platform = self.value(fields.get("platform"), values::platform);
        let wsl = self
            .value(fields.get("wsl"), values::switch)
            .unwrap_or(false);
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
            python,
            glibc,
        });
        Checked { name, target }
    }

    fn gpus(&mut self, fields: &Fields<'_>, planned: bool) -> Vec<TargetGpu> {
        let tables = self.tables;
        let mut gpus = Vec::new();
        let (gpu, cc) = (fields.get("gpu"), fields.get("cc"));
        if let Some(field) = gpu {
            for (text, span) in self.texts(field) {
                gpus.extend(self.accept(span, || values::gpu(text, tables)));
            }
        }
        if let Some(field) = cc {
            for (text, span) in self.texts(field) {
                gpus.extend(self.accept(span, || values::capability(text, tables)));
            }
        }
        if let (Some(gpu), Some(cc)) = (gpu, cc) {
            let mistake = Mistake::new(cc.key_span.clone(), "a target has `gpu` or `cc`, not both");
            self.report(
                mistake
                    .also(gpu.key_span, "`gpu` is here")
                    .hint("both take a list where a pool is mixed"),
            );
        }
        if !planned && !fields.has("gpu") && !fields.has("cc") {
            let hint = "write `gpu: H100`, or `cc: 9.0`";
            self.missing(fields, "a target", "`gpu` or `cc`", hint);
        }
        dedup(&mut gpus);
        gpus
    }
}

/// Whether the target names its GPU in a way that is reported as not supported yet.
fn is_planned(node: &Node) -> bool {
    let Value::Map(entries) = &node.value else {
        return false;
    };
    let planned =
        |key: &Node| matches!(&key.value, Value::Text(key) if KEYS.planned.contains(&key.as_str()));
    entries.iter().any(|(key, _)| planned(key))
}

/// Drops repeated GPUs: two spellings of one GPU are one.
fn dedup(gpus: &mut Vec<TargetGpu>) {
    let mut kept: Vec<TargetGpu> = Vec::with_capacity(gpus.len());
    for gpu in gpus.drain(..) {
        if !kept.contains(&gpu) {
            kept.push(gpu);
        }
    }
    *gpus = kept;
}
