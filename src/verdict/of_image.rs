//! What an image says of GPUs and drivers, held against its targets beside the code that it holds.

use std::collections::BTreeSet;

use crate::compat::{Driver, Package as CompatPackage, forward, user_mode};
use crate::cuda::SmTarget;
use crate::image::ImageEnv;
use crate::inventory::{Artifact, ImageFacts, Library};
use crate::policy::{FleetTarget, TargetGpu};
use crate::tables::Tables;

use super::finding::Finding;
use super::floor::Floor;
use super::image::{self, capabilities, claims, forward_note, stale_config};

/// An image on its way to findings.
pub(super) struct OfImage<'a> {
    env: ImageEnv,
    facts: &'a ImageFacts,
    compat: Option<CompatPackage<'a>>,
    tables: &'a Tables,
}

/// What an image says for a GPU of a target.
#[derive(Default)]
pub(super) struct OnGpu {
    pub(super) findings: Vec<Finding>,
    pub(super) floors: Vec<Floor>,
    pub(super) notes: Vec<String>,
}

impl<'a> OfImage<'a> {
    /// What `artifact` says, where it is an image.
    pub(super) fn of(artifact: &'a Artifact, tables: &'a Tables) -> Option<Self> {
        let facts = artifact.image.as_deref()?;
        let env = image::env(facts, tables);
        let compat = image::forward_package(facts, &env, tables);
        Some(Self {
            env,
            facts,
            compat,
            tables,
        })
    }

    /// What is wrong with it whatever the target.
    pub(super) fn findings(&self, artifact: &Artifact) -> Vec<Finding> {
        let own = artifact
            .libraries
            .iter()
            .flat_map(|library| &library.code)
            .filter(|code| code.own);
        let mut code: BTreeSet<SmTarget> = BTreeSet::new();
        let mut ptx = BTreeSet::new();
        for image in own.flat_map(|code| &code.class.images) {
            let key = image.key;
            if let Some(target) = key.target {
                let of_kind = if key.kind.is_ptx() {
                    &mut ptx
                } else {
                    &mut code
                };
                of_kind.insert(target);
            }
        }
        let has_code = artifact.libraries.iter().any(Library::has_device_code);
        let configs = self.facts.compat_configs.iter().map(String::as_str);
        capabilities(&self.env, has_code)
            .into_iter()
            .chain(stale_config(configs))
            .chain(claims(&self.env, &code, &ptx))
            .collect()
    }

    /// What it asks of the driver of a GPU.
    pub(super) fn required(&self, target: &FleetTarget, gpu: &TargetGpu) -> OnGpu {
        let required = image::requirements(&self.env, target, gpu, self.tables);
        let host_kind = image::host_kind(&self.env, target, gpu, self.tables);
        OnGpu {
            findings: required.finding.into_iter().chain(host_kind).collect(),
            floors: required.floor.into_iter().collect(),
            notes: required.notes,
        }
    }

    /// The driver that programs in it see on a GPU: its own where forward compatibility allows that, else the
    /// host's; and a remark about it.
    pub(super) fn driver<'t>(
        &self,
        host: &Driver<'t>,
        gpu: &TargetGpu,
        tables: &'t Tables,
    ) -> (Driver<'t>, Option<String>) {
        let Some(package) = &self.compat else {
            return (host.clone(), None);
        };
        let row = image::row(gpu, tables);
        let what = forward(package, host, gpu.cc, row, tables);
        (user_mode(&what, package, host, tables), forward_note(&what))
    }
}
