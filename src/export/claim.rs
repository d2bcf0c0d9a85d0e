//! What an image claims today, beside what it needs.

use crate::compat::{Answer, Driver, Host, requirements_met};
use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec};
use crate::image::{Requirement, Requirements};
use crate::platform::Os;
use crate::tables::Tables;

use super::require::RequireCuda;

/// Where a claim differs from what is needed, on GPUs of a brand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The brand, as `brand=` has it.
    pub brand: &'static str,
    /// Branches that the claim refuses though the content runs there, rising.
    pub refused: Vec<DriverBranch>,
    /// Branches that it accepts though the content does not run there.
    pub accepted: Vec<DriverBranch>,
}

/// What an image claims today.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// Its variables with their values, as written.
    pub variables: Vec<String>,
    /// Whether it switches the checks off.
    pub disabled: bool,
    /// Whether it says for which GPUs it is.
    pub names_gpus: bool,
    /// Where it differs from what is needed; brands on which it does not are left out.
    pub differences: Vec<Difference>,
}

/// The brands that are compared: what most consumer GPUs and most data-centre GPUs report.
const BRANDS: [&str; 2] = ["geforce", "tesla"];

impl Claim {
    /// Compares what an image claims with what is needed, on GPUs for which it holds code.
    pub fn of(claimed: &Requirements, needed: &RequireCuda, tables: &Tables) -> Self {
        let value = needed.value.as_deref().unwrap_or_default();
        let ours = Requirements {
            all: vec![Requirement::parse("NVIDIA_REQUIRE_CUDA", value)],
            ..Requirements::default()
        };
        let capabilities = needed.parts.iter().flat_map(|part| &part.capabilities);
        let capabilities: Vec<ComputeCapability> = capabilities.copied().collect();
        let difference = |brand: &'static str| {
            let mut difference = Difference {
                brand,
                refused: Vec::new(),
                accepted: Vec::new(),
            };
            for row in tables.branches() {
                let host = Asked {
                    branch: row.branch,
                    brand: brand.to_owned(),
                    tables,
                };
                for cc in capabilities.iter().filter(|cc| row.supports(**cc)) {
                    let of = match (host.meets(&ours, *cc), host.meets(claimed, *cc)) {
                        (Some(true), Some(false)) => &mut difference.refused,
                        (Some(false), Some(true)) => &mut difference.accepted,
                        _ => continue,
                    };
                    if of.last() != Some(&row.branch) {
                        of.push(row.branch);
                    }
                }
            }
            difference
        };
        let variables = claimed.all.iter().map(ToString::to_string);
        let terms = claimed.all.iter().flat_map(|one| &one.terms);
        let mut factors = terms.flat_map(|term| &term.factors);
        Self {
            variables: variables.collect(),
            disabled: claimed.disabled,
            names_gpus: factors.any(|factor| factor.text.to_ascii_lowercase().starts_with("arch")),
            differences: BRANDS
                .into_iter()
                .map(difference)
                .filter(|one| !one.refused.is_empty() || !one.accepted.is_empty())
                .collect(),
        }
    }
}

/// A host that is asked whether it meets requirements.
struct Asked<'t> {
    branch: DriverBranch,
    brand: String,
    tables: &'t Tables,
}

impl Asked<'_> {
    /// Whether the host meets them; none where that is not known.
    fn meets(&self, requirements: &Requirements, cc: ComputeCapability) -> Option<bool> {
        let spec = DriverSpec::Branch(self.branch);
        let driver = Driver::new(Some(spec), Os::Linux, self.tables);
        let host = Host {
            driver: &driver,
            cc,
            brands: std::slice::from_ref(&self.brand),
        };
        match requirements_met(requirements, &host, self.tables) {
            Answer::Met => Some(true),
            Answer::Unmet(_) | Answer::Refused { .. } => Some(false),
            Answer::Unknown(_) => None,
        }
    }
}
