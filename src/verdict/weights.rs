//! What the architectures of an artifact weigh, and which of them no target can use.

use std::collections::BTreeMap;

use crate::compat::{Fit, cubin_fit};
use crate::cuda::SmTarget;
use crate::device::ImageKind;
use crate::inventory::Library;
use crate::policy::Policy;
use crate::tables::Tables;

/// The device images of one kind for one sm target, over several libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weight {
    /// Their kind.
    pub kind: ImageKind,
    /// What they were built for; none where they do not say.
    pub target: Option<SmTarget>,
    /// Bytes as stored.
    pub bytes: u64,
    /// Whether it is machine code that no GPU of any target can run.
    pub unused: bool,
}

/// What the device code of `libraries` weighs, by kind and sm target: the packages' own, or that of NVIDIA's libraries.
pub fn weights<'l>(
    libraries: impl IntoIterator<Item = &'l Library>,
    own: bool,
    policy: &Policy,
    tables: &Tables,
) -> Vec<Weight> {
    let mut sums: BTreeMap<(ImageKind, Option<SmTarget>), u64> = BTreeMap::new();
    let code = libraries.into_iter().flat_map(|library| &library.code);
    for image in code
        .filter(|code| code.own == own)
        .flat_map(|code| &code.class.images)
    {
        let sum = sums.entry((image.key.kind, image.key.target)).or_default();
        *sum = sum.saturating_add(image.bytes);
    }
    let weight = |((kind, target), bytes)| Weight {
        kind,
        target,
        bytes,
        unused: kind == ImageKind::Cubin
            && target.is_some_and(|target| !is_used(target, policy, tables)),
    };
    sums.into_iter().map(weight).collect()
}

/// Whether some GPU of the policy may run machine code for `target`.
fn is_used(target: SmTarget, policy: &Policy, tables: &Tables) -> bool {
    let mut gpus = policy.targets.iter().flat_map(|target| &target.gpus);
    gpus.any(|gpu| cubin_fit(target, gpu.cc, tables) != Fit::No)
}
