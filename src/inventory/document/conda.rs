//! The JSON form of what only conda packages have.

use serde::{Deserialize, Serialize};

use crate::cuda::ToolkitVersion;
use crate::inventory::CondaFacts;

/// What a conda package says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CondaForm {
    subdir: Option<String>,
    build: Option<String>,
    build_number: Option<u64>,
    noarch: Option<String>,
    depends: Vec<String>,
    constrains: Vec<String>,
    /// The CUDA version that its driver must support, which the lists say.
    driver_cuda: Option<ToolkitVersion>,
}

impl From<&CondaFacts> for CondaForm {
    fn from(facts: &CondaFacts) -> Self {
        Self {
            subdir: facts.subdir.clone(),
            build: facts.build.clone(),
            build_number: facts.build_number,
            noarch: facts.noarch.clone(),
            depends: facts.depends.clone(),
            constrains: facts.constrains.clone(),
            driver_cuda: facts.driver_floor().map(|floor| floor.cuda),
        }
    }
}

impl CondaForm {
    pub(super) fn into_facts(self) -> Result<CondaFacts, String> {
        let facts = CondaFacts {
            subdir: self.subdir,
            build: self.build,
            build_number: self.build_number,
            noarch: self.noarch,
            depends: self.depends,
            constrains: self.constrains,
        };
        let says = facts.driver_floor().map(|floor| floor.cuda);
        if says == self.driver_cuda {
            return Ok(facts);
        }
        let shown = |version: Option<ToolkitVersion>| {
            version.map_or_else(|| "none".to_owned(), |version| version.to_string())
        };
        Err(format!(
            "`driver_cuda` is {}, and its lists say {}",
            shown(self.driver_cuda),
            shown(says)
        ))
    }
}
