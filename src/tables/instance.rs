//! Cloud instance types: which GPU and which host a rented machine has.
//!
//! Knows names only. Drivers are not part of this: images of clouds bring their own.

use serde::{Deserialize, Deserializer, Serialize};

use super::rows::Evidence;
use super::spelling;
use super::yaml::{self, Sources};
use crate::cuda::ComputeCapability;
use crate::error::Error;
use crate::platform::Platform;

const FILE: &str = "instances.yaml";

/// What stands between a machine type and an accelerator that is attached to it.
const ATTACHED: char = '+';

/// A family of instance types of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InstanceRow {
    /// Who rents it: `aws`.
    pub provider: String,
    /// Globs of the types' names; `n1-*+nvidia-tesla-t4` is a type with an attached accelerator.
    #[serde(rename = "match", deserialize_with = "yaml::words")]
    pub patterns: Vec<String>,
    /// The GPU, by a name of the table of GPUs; none where it is not NVIDIA's.
    pub gpu: Option<String>,
    /// The GPU where it is another vendor's.
    pub vendor: Option<String>,
    /// The compute capability; none where the GPU is not NVIDIA's.
    pub cc: Option<ComputeCapability>,
    /// How many GPUs the types have, rising; empty where unknown.
    #[serde(default, deserialize_with = "yaml::words")]
    pub counts: Vec<u32>,
    /// The operating system and CPU architecture of the host.
    #[serde(deserialize_with = "platform")]
    pub platform: Platform,
    /// How the row is known.
    pub evidence: Evidence,
    /// Where the row comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

fn platform<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Platform, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(serde::de::Error::custom)
}

impl InstanceRow {
    /// The row by provider and first glob: `aws:p5.48xlarge`.
    pub fn key(&self) -> String {
        let first = self.patterns.first().map_or("", String::as_str);
        format!("{}:{first}", self.provider)
    }
}

/// What the name of an instance type stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstanceLookup<'a> {
    /// One family of types, or several that are alike in GPU and host, of which this is the first.
    Found(&'a InstanceRow),
    /// Several that are not: providers share the name, or the accelerator is not named.
    Ambiguous(Vec<&'a InstanceRow>),
    /// No type has this name.
    Unknown {
        /// Up to three names that are spelt much like it, the nearest first.
        nearest: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: String,
    sources: Sources,
    instances: Vec<InstanceRow>,
}

/// The table of instance types.
#[derive(Debug)]
pub(super) struct InstanceTable {
    pub(super) as_of: String,
    pub(super) rows: Vec<InstanceRow>,
}

impl InstanceTable {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut file: File = yaml::parse(FILE, text)?;
        for source in file.instances.iter_mut().flat_map(|row| &mut row.sources) {
            yaml::resolve(FILE, &file.sources, source)?;
        }
        Ok(Self {
            as_of: file.as_of,
            rows: file.instances,
        })
    }

    /// Looks up `aws:p5.48xlarge` or the bare `p5.48xlarge`, in any case, with blanks around `+`.
    pub(super) fn find(&self, name: &str) -> InstanceLookup<'_> {
        let (provider, wanted) = match name.split_once(':') {
            Some((provider, wanted)) => (Some(provider.trim().to_lowercase()), wanted),
            None => (None, name),
        };
        let wanted = plain(wanted);
        let of_provider = |row: &&InstanceRow| provider.as_ref().is_none_or(|p| *p == row.provider);
        let rows = || self.rows.iter().filter(of_provider);
        let named = |row: &&InstanceRow| row.patterns.iter().any(|p| matches(&plain(p), &wanted));
        let mut found: Vec<&InstanceRow> = rows().filter(named).collect();
        if found.is_empty() && !wanted.contains(ATTACHED) {
            let bare = |pattern: &String| {
                let pattern = plain(pattern);
                let machine = pattern.split_once(ATTACHED).map(|(machine, _)| machine);
                machine.is_some_and(|machine| matches(machine, &wanted))
            };
            found = rows().filter(|row| row.patterns.iter().any(bare)).collect();
        }
        let Some((first, others)) = found.split_first() else {
            return InstanceLookup::Unknown {
                nearest: self.nearest(&wanted),
            };
        };
        let alike = |row: &&InstanceRow| {
            (row.cc, &row.vendor, row.platform) == (first.cc, &first.vendor, first.platform)
        };
        if others.iter().all(alike) {
            InstanceLookup::Found(first)
        } else {
            InstanceLookup::Ambiguous(found)
        }
    }

    /// The globs that are spelt most like `name`, at most three.
    fn nearest(&self, name: &str) -> Vec<String> {
        let globs = self.rows.iter().flat_map(|row| {
            let provider = &row.provider;
            row.patterns
                .iter()
                .map(move |glob| (format!("{provider}:{glob}"), plain(glob)))
        });
        spelling::nearest(name, globs)
    }
}

/// A name in the form in which names are compared.
fn plain(name: &str) -> String {
    let mut plain = name.to_lowercase();
    plain.retain(|c| !c.is_whitespace());
    for prefix in ["ml.", "standard_"] {
        if let Some(rest) = plain.strip_prefix(prefix) {
            plain = rest.to_owned();
        }
    }
    plain
}

/// Whether `text` is of the form of `glob`, in which `*` is any number of characters.
fn matches(glob: &str, text: &str) -> bool {
    let Some((start, rest)) = glob.split_once('*') else {
        return glob == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, behind)) => text = behind,
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::super::Tables;
    use super::*;

    /// GPU and host of an instance type, in words.
    fn found(name: &str) -> String {
        match Tables::builtin().instance(name) {
            InstanceLookup::Found(row) => {
                let gpu = row.gpu.as_ref().or(row.vendor.as_ref()).unwrap();
                let cc = row.cc.map_or("none".to_owned(), |cc| cc.to_string());
                format!("{gpu} {cc} {}", row.platform)
            }
            other => format!("{other:?}"),
        }
    }

    // Specifications of EC2 accelerated computing instances; GPU machine types of Compute Engine;
    // sizes of Azure virtual machines; GPU-accelerated instance families of Alibaba Cloud
    #[test]
    fn types_are_found_with_and_without_their_provider() {
        for (name, expected) in [
            ("aws:p5.48xlarge", "NVIDIA H100 80GB HBM3 9.0 linux/amd64"),
            ("p5.48xlarge", "NVIDIA H100 80GB HBM3 9.0 linux/amd64"),
            ("AWS:P5.48XLARGE", "NVIDIA H100 80GB HBM3 9.0 linux/amd64"),
            ("ml.p5.48xlarge", "NVIDIA H100 80GB HBM3 9.0 linux/amd64"),
            ("p5en.48xlarge", "NVIDIA H200 9.0 linux/amd64"),
            ("g5.xlarge", "NVIDIA A10G 8.6 linux/amd64"),
            ("g5g.xlarge", "NVIDIA T4G 7.5 linux/arm64"),
            ("g6e.48xlarge", "NVIDIA L40S 8.9 linux/amd64"),
            ("gr6f.4xlarge", "NVIDIA L4 8.9 linux/amd64"),
            ("p6e-gb200.36xlarge", "NVIDIA GB200 10.0 linux/arm64"),
            ("g4ad.xlarge", "AMD Radeon Pro V520 none linux/amd64"),
            ("gcp:a3-highgpu-8g", "NVIDIA H100 80GB HBM3 9.0 linux/amd64"),
            ("a4x-highgpu-4g", "NVIDIA GB200 10.0 linux/arm64"),
            (
                "gcp:n1-standard-8 + nvidia-tesla-t4",
                "Tesla T4 7.5 linux/amd64",
            ),
            ("nvidia-tesla-p4", "Tesla P4 6.1 linux/amd64"),
            (
                "Standard_NC24ads_A100_v4",
                "NVIDIA A100 80GB PCIe 8.0 linux/amd64",
            ),
            ("azure:NC6s_v3", "Tesla V100 7.0 linux/amd64"),
            ("Standard_NC6", "Tesla K80 3.7 linux/amd64"),
            ("Standard_NC4as_T4_v3", "Tesla T4 7.5 linux/amd64"),
            (
                "Standard_NCC40ads_H100_v5",
                "NVIDIA H100 NVL 9.0 linux/amd64",
            ),
            (
                "Standard_ND96asr_v4",
                "NVIDIA A100-SXM4-40GB 8.0 linux/amd64",
            ),
            (
                "Standard_ND96amsr_A100_v4",
                "NVIDIA A100-SXM4-80GB 8.0 linux/amd64",
            ),
            (
                "Standard_ND128isr_NDR_GB200_v6",
                "NVIDIA GB200 10.0 linux/arm64",
            ),
            ("Standard_NV24s_v3", "Tesla M60 5.2 linux/amd64"),
            ("ecs.gn7i-c8g1.2xlarge", "NVIDIA A10 8.6 linux/amd64"),
            (
                "ecs.gn7-c12g1.3xlarge",
                "NVIDIA A100-SXM4-40GB 8.0 linux/amd64",
            ),
            ("ecs.vgn6i-m4-vws.xlarge", "Tesla T4 7.5 linux/amd64"),
            ("lambda:gpu_8x_h100_sxm5", "NVIDIA H100 9.0 linux/amd64"),
            ("gpu_1x_gh200", "NVIDIA GH200 480GB 9.0 linux/arm64"),
        ] {
            assert_eq!(found(name), expected, "{name}");
        }
    }

    #[test]
    fn what_is_not_said_is_not_guessed() {
        let ambiguous = |name| match Tables::builtin().instance(name) {
            InstanceLookup::Ambiguous(rows) => rows.len(),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(ambiguous("n1-standard-8"), 5);
        let nearest = |name| match Tables::builtin().instance(name) {
            InstanceLookup::Unknown { nearest } => nearest,
            other => panic!("{name}: {other:?}"),
        };
        assert!(nearest("p5.84xlarge").contains(&"aws:p5.48xlarge".to_owned()));
        assert!(nearest("azure:p5.48xlarge").contains(&"aws:p5.48xlarge".to_owned()));
        assert_eq!(nearest("m5.large of any cloud that has no GPU"), [""; 0]);
        assert!(nearest("").is_empty() && nearest("aws:").is_empty());
    }

    #[test]
    fn stars_are_any_characters() {
        for (glob, text, expected) in [
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("a*c", "acb", false),
            ("nc*s_v3", "nc6s_v3", true),
            ("nc*as_t4_v3", "nc6s_v3", false),
            ("gpu_*x_a100*", "gpu_8x_a100_80gb_sxm4", true),
            ("a*b*c", "acb", false),
            ("abc", "abcd", false),
            // the end must not reuse what a part has taken
            ("a*bc*c", "abc", false),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
    }
}
