//! The GPU of a target, by the four ways to say it: name, compute capability, PCI id, cloud instance type.
//!
//! Resolves through the tables and guesses nothing: a name of several chips asks for the id of the one meant.
//! The policy file and the command line read the same values.

use std::fmt;

use serde::{Serialize, Serializer};

use super::diag::{Fault, quote};
use super::values::{either, list};
use crate::cuda::{ComputeCapability, SmTarget};
use crate::platform::Platform;
use crate::tables::{GpuLookup, InstanceLookup, InstanceRow, PciId, Tables};

/// A GPU of a fleet target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetGpu {
    /// What reports call it: the name in the tables, or `compute capability 9.0` where the policy names none.
    pub name: String,
    /// What it has.
    pub cc: ComputeCapability,
    /// How the policy says it.
    pub given: Given,
}

impl fmt::Display for TargetGpu {
    /// `H100 (9.0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.ends_with(&self.cc.to_string()) {
            f.write_str(&self.name)
        } else {
            write!(f, "{} ({})", self.name, self.cc)
        }
    }
}

/// How a policy says which GPU it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The key.
    pub key: GpuKey,
    /// The value, as it was written.
    pub text: String,
    /// How many GPUs such a machine may have, rising; empty where that is not said or not known.
    pub counts: Vec<u32>,
    /// Operating system and CPU of such a machine, where the value says so.
    pub platform: Option<Platform>,
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.text)
    }
}

/// A key of a target that says which GPUs it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GpuKey {
    /// A name.
    Gpu,
    /// A compute capability.
    Cc,
    /// A PCI device id.
    Pci,
    /// A cloud instance type.
    Instance,
}

impl GpuKey {
    /// Every key.
    pub const ALL: [Self; 4] = [Self::Gpu, Self::Cc, Self::Pci, Self::Instance];

    /// The key as policies write it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Cc => "cc",
            Self::Pci => "pci",
            Self::Instance => "instance",
        }
    }

    /// The GPU that the value of this key means.
    pub(super) fn read(self, text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
        match self {
            Self::Gpu => gpu(text, tables),
            Self::Cc => capability(text, tables),
            Self::Pci => pci(text, tables),
            Self::Instance => instance(text, tables),
        }
    }

    /// The key that a text without one is meant for, as on the command line.
    pub(super) fn guess(text: &str, tables: &Tables) -> Self {
        if text.parse::<ComputeCapability>().is_ok() {
            return Self::Cc;
        }
        let is_named = !matches!(tables.gpu(text), GpuLookup::Unknown { .. });
        let has_mark = text.contains(':') || text.starts_with("0x");
        if has_mark && text.parse::<PciId>().is_ok() {
            return Self::Pci;
        }
        let is_instance = || !matches!(tables.instance(text), InstanceLookup::Unknown { .. });
        if !is_named && text.len() <= MAX_LEN && (text.contains(':') || is_instance()) {
            return Self::Instance;
        }
        Self::Gpu
    }
}

impl fmt::Display for GpuKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for GpuKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// The longest name that is looked up; looking for the nearest spelling takes time.
const MAX_LEN: usize = 100;

fn target_gpu(name: String, cc: ComputeCapability, key: GpuKey, text: &str) -> TargetGpu {
    let given = Given {
        key,
        text: text.to_owned(),
        counts: Vec::new(),
        platform: None,
    };
    TargetGpu { name, cc, given }
}

const SHOW_ID: &str =
    "`nvidia-smi --query-gpu=name,pci.device_id --format=csv` shows what a machine has";
const SHOW_CAPABILITY: &str =
    "`nvidia-smi --query-gpu=name,compute_cap --format=csv` shows what a machine has";

/// A GPU by its name.
fn gpu(text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
    let unknown = || Fault::new(format!("no GPU is known by the name {}", quote(text)));
    if text.len() > MAX_LEN {
        return Err(unknown());
    }
    match tables.gpu(text) {
        GpuLookup::Found(row) => one_capability(text, &row.name, &row.cc, tables),
        GpuLookup::Ambiguous { name, capabilities } => {
            one_capability(text, &name, &capabilities, tables)
        }
        GpuLookup::Unknown { nearest } => Err(unknown().hint(gpu_hint(text, &nearest, tables))),
    }
}

fn one_capability(
    text: &str,
    name: &str,
    capabilities: &[ComputeCapability],
    tables: &Tables,
) -> Result<TargetGpu, Fault> {
    match capabilities {
        [cc] => return Ok(target_gpu(name.to_owned(), *cc, GpuKey::Gpu, text)),
        [] => {
            return Err(Fault::new(format!(
                "the compute capability of {} is not known",
                quote(text)
            ))
            .hint("give it instead of the name, such as `cc: 9.0`"));
        }
        _ => {}
    }
    let all = list(capabilities.iter().map(ToString::to_string));
    let fault = Fault::new(format!(
        "{} is the name of GPUs with different compute capabilities: {all}",
        quote(text)
    ));
    let ids = capabilities
        .iter()
        .filter_map(|cc| Some(format!("`pci: {}` is {cc}", an_id(name, *cc, tables)?)));
    let ids: Vec<String> = ids.collect();
    Err(if ids.is_empty() {
        let first = capabilities.first().map(ToString::to_string);
        let first = first.unwrap_or_default();
        fault.hint(format!(
            "say which one, such as `cc: {first}`; {SHOW_CAPABILITY}"
        ))
    } else {
        fault.hint(format!(
            "say which one by its id, or give `cc`: {}; {SHOW_ID}",
            ids.join(", ")
        ))
    })
}

/// The id of a GPU whose name has all words of `name`, where the tables have one.
fn an_id<'t>(name: &str, cc: ComputeCapability, tables: &'t Tables) -> Option<&'t str> {
    let wanted = name.to_lowercase();
    let called = |name: &String| {
        let name = name.to_lowercase();
        wanted
            .split_whitespace()
            .all(|word| name.split_whitespace().any(|known| known == word))
    };
    let rows = tables
        .gpus()
        .iter()
        .filter(|row| row.cc == [cc] || (row.cc.contains(&cc) && row.pci.len() == 1));
    let mut ids = rows
        .filter(|row| std::iter::once(&row.name).chain(&row.aliases).any(called))
        .flat_map(|row| &row.pci);
    ids.find(|id| tables.pci(id).is_some_and(|row| row.cc == Some(cc)))
        .map(String::as_str)
}

fn gpu_hint(text: &str, nearest: &[String], tables: &Tables) -> String {
    if let Ok(cc) = text.parse::<ComputeCapability>() {
        return format!("a compute capability goes into `cc`: `cc: {cc}`");
    }
    if text.starts_with("sm_") || text.starts_with("compute_") {
        let cc = spelled_otherwise(text).map_or_else(|| "9.0".to_owned(), |cc| cc.to_string());
        return format!("that is what code is built for; say what the GPU has: `{cc}`");
    }
    if text.eq_ignore_ascii_case("host") {
        return "in a policy, the machine that checks is `host: true`, without `gpu`".to_owned();
    }
    if text.parse::<u16>().is_ok()
        && let Some(cc) = spelled_otherwise(text)
    {
        return format!("did you mean the compute capability `{cc}`?");
    }
    match GpuKey::guess(text, tables) {
        key @ (GpuKey::Pci | GpuKey::Instance) => return format!("write `{key}: {text}`"),
        GpuKey::Gpu | GpuKey::Cc => {}
    }
    if nearest.is_empty() {
        format!("give its compute capability, such as `cc: 9.0`; {SHOW_CAPABILITY}")
    } else {
        let names = nearest.iter().map(|name| format!("`{name}`"));
        format!("did you mean {}?", either(names))
    }
}

/// A compute capability that some GPU has.
fn capability(text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
    let cc = text.parse::<ComputeCapability>().map_err(|_error| {
        let fault = Fault::new(format!("{} is not a compute capability", quote(text)));
        match spelled_otherwise(text) {
            Some(cc) => fault.hint(format!(
                "did you mean `{cc}`? A compute capability is what a GPU has"
            )),
            None => fault.hint("write it with a dot, such as `9.0`; a GPU's name goes into `gpu`"),
        }
    })?;
    let Some(row) = tables.capability(cc) else {
        let message = format!("no GPU is known with compute capability `{cc}`");
        return Err(Fault::new(message).hint(SHOW_CAPABILITY));
    };
    if let Some(renamed) = row.renamed_to {
        let message = format!("compute capability `{cc}` has another number today");
        return Err(Fault::new(message).hint(format!("write `cc: {renamed}`")));
    }
    let name = format!("compute capability {cc}");
    Ok(target_gpu(name, cc, GpuKey::Cc, text))
}

/// `90`, `sm_90` and `compute_90a` for 9.0; a number below 20 is the major version alone.
fn spelled_otherwise(text: &str) -> Option<ComputeCapability> {
    match text.parse::<u16>() {
        Ok(0..20) => format!("{text}.0").parse().ok(),
        _ => text.parse::<SmTarget>().ok().map(|target| target.cc),
    }
}

/// A PCI device, by the id that the machine itself reports.
fn pci(text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
    let id: PciId = text.parse().map_err(|_error| {
        Fault::new(format!("{} is not a PCI id of NVIDIA's", quote(text))).hint(format!(
            "write vendor and device, such as `10de:2330`; {SHOW_ID}"
        ))
    })?;
    let unknown = |what: &str| {
        Fault::new(format!("{what} `{id}`")).hint(format!(
            "give the compute capability, such as `cc: 9.0`; {SHOW_CAPABILITY}"
        ))
    };
    let row = tables
        .pci(&id.to_string())
        .ok_or_else(|| unknown("no device is known by the id"))?;
    if !row.gpu {
        return Err(unknown("no GPU, but another part of a chipset, is").hint(SHOW_ID));
    }
    let cc = row
        .cc
        .ok_or_else(|| unknown("nothing tells the compute capability of"))?;
    let name = row.names.first().or(row.pci_name.as_ref());
    let name = name.unwrap_or(&row.chip).clone();
    Ok(target_gpu(name, cc, GpuKey::Pci, text))
}

/// The GPUs of a cloud instance type.
fn instance(text: &str, tables: &Tables) -> Result<TargetGpu, Fault> {
    let unknown = || {
        Fault::new(format!(
            "no instance type is known by the name {}",
            quote(text)
        ))
    };
    if text.len() > MAX_LEN {
        return Err(unknown());
    }
    let row = match tables.instance(text) {
        InstanceLookup::Found(row) => row,
        InstanceLookup::Ambiguous(rows) => {
            let mut names: Vec<String> = rows.iter().map(|row| quote(&row.key())).collect();
            names.truncate(4);
            return Err(Fault::new(format!(
                "{} is the name of machines with different GPUs",
                quote(text)
            ))
            .hint(format!("say which one, such as {}", either(names))));
        }
        InstanceLookup::Unknown { nearest } => {
            let names = nearest.iter().map(|name| quote(name));
            return Err(unknown().hint(if nearest.is_empty() {
                "write provider and type, such as `aws:p5.48xlarge`, or name its GPU with `gpu`"
                    .to_owned()
            } else {
                format!("did you mean {}?", either(names))
            }));
        }
    };
    let InstanceRow {
        gpu, vendor, cc, ..
    } = row;
    let (Some(name), Some(cc)) = (gpu, cc) else {
        let other = vendor.as_deref().unwrap_or("none that is known");
        return Err(Fault::new(format!(
            "{} has no GPU of NVIDIA's: {other}",
            quote(text)
        )));
    };
    let mut gpu = target_gpu(name.clone(), *cc, GpuKey::Instance, text);
    gpu.given.counts.clone_from(&row.counts);
    gpu.given.platform = Some(row.platform);
    Ok(gpu)
}

#[cfg(test)]
mod tests;
