//! What of a library counts as a fatbin, and what is loaded with what.

use std::collections::BTreeSet;

use crate::cuda::SmTarget;
use crate::device::{Coding, FatbinClass, ImageKey, ImageKind};
use crate::inventory::Library;

use super::state::{Judged, On, State, judge};

/// Fatbins that are loaded alike, or objects that make one when they are linked.
#[derive(Debug)]
pub(super) struct Unit<'u, 'l> {
    /// What they are made of.
    pub(super) classes: &'u [&'l FatbinClass],
    pub(super) count: u64,
    /// Whether they were meant for more than one capability.
    pub(super) general: bool,
    pub(super) judged: Judged,
}

/// The package's own fatbins in a library, sorted by what they are for.
#[derive(Debug)]
pub(super) struct Units<'l> {
    /// What can be loaded by itself; where there is nothing but images to be linked outside fatbins, these.
    loadable: Vec<&'l FatbinClass>,
    /// The objects that are linked first.
    relocatable: Vec<&'l FatbinClass>,
    /// Whether a program or a library holds nothing but objects that no device link made loadable: one unit.
    never_linked: bool,
    /// Whether the control records tell which fatbins a device link made.
    links_known: bool,
}

impl<'l> Units<'l> {
    /// The fatbins of `library`; of those that can be loaded, those that count.
    pub(super) fn of(library: &'l Library, counts: impl Fn(&FatbinClass) -> bool) -> Self {
        let own = library
            .code
            .iter()
            .filter(|code| code.own)
            .map(|code| &code.class);
        // a fatbin that could not be read is a problem, not a gap
        let own = own.filter(|class| is_judgeable(class));
        // code to be linked has its say even without a kernel: what it holds is called by others
        let (relocatable, mut loadable): (Vec<_>, Vec<_>) =
            own.partition(|class| class.relocatable);
        // the driver links what lies in fatbins; of images outside them, whoever carries them picks the one to link
        let (picked, relocatable): (Vec<_>, Vec<_>) =
            relocatable.into_iter().partition(|class| class.bare);
        let nothing_loads = library.format.is_linked() && loadable.is_empty();
        let never_linked = nothing_loads && !relocatable.is_empty();
        loadable.retain(|class| counts(class));
        if nothing_loads && !never_linked {
            loadable = picked;
        }
        // images outside fatbins decide only where there is nothing else, or something picks them
        if loadable.iter().any(|class| !class.bare) && !library.dispatches {
            loadable.retain(|class| !class.bare);
        }
        let links_known = loadable.iter().any(|class| class.device_linked);
        Self {
            loadable,
            relocatable,
            never_linked,
            links_known,
        }
    }

    /// Whether there is nothing to judge.
    pub(super) fn is_empty(&self) -> bool {
        self.loadable.is_empty() && !self.never_linked
    }

    /// Whether it holds no fatbin that counts, only images by themselves.
    pub(super) fn are_bare(&self) -> bool {
        !self.never_linked && self.loadable.iter().all(|class| class.bare)
    }

    /// What counts as one or more fatbins, and what happens when they are loaded.
    pub(super) fn judged(
        &self,
        library: &Library,
        on: On<'_>,
    ) -> impl Iterator<Item = Unit<'_, 'l>> {
        let loadable = self.loadable.iter().map(move |class| {
            let mut judged = judge(images(class), on);
            // where code fits and cannot be unpacked, nothing says that the driver would link instead
            let lacks = !judged.state.covers() && judged.state != State::CodingBlocked;
            if lacks
                && self.is_linked(class)
                && let Some(relinked) = self.relinked(on)
            {
                judged = relinked;
            }
            Unit {
                classes: std::slice::from_ref(class),
                count: class.count,
                general: is_general(class) && !library.dispatches,
                judged,
            }
        });
        let never_linked = self.never_linked.then(|| Unit {
            classes: self.relocatable.as_slice(),
            count: 1,
            general: self.relocatable.iter().any(|class| is_general(class)),
            judged: self.relinked(on).unwrap_or(Judged::NONE),
        });
        loadable.chain(never_linked)
    }

    /// Whether a device link made the fatbins of `class`. Where the records cannot be read, it is taken to
    /// have made those that hold cubins only, as it does.
    fn is_linked(&self, class: &FatbinClass) -> bool {
        if self.links_known {
            return class.device_linked;
        }
        let cubins_only = class
            .images
            .iter()
            .all(|image| image.key.kind == ImageKind::Cubin);
        !self.relocatable.is_empty() && !class.bare && cubins_only
    }

    /// What the driver makes of the objects where it links them again (rule 2.12): it needs PTX or a cubin
    /// that fits of every one, and is stopped by what stops it at any. `None` where one object has neither.
    fn relinked(&self, on: On<'_>) -> Option<Judged> {
        let objects = self
            .relocatable
            .iter()
            .map(|class| judge(images(class), on));
        let objects: Vec<Judged> = objects.collect();
        let stopped = |state| objects.iter().find(|object| object.state == state).copied();
        let usable = objects.iter().all(|object| {
            object.state.covers()
                || matches!(object.state, State::JitBlocked | State::CodingBlocked)
        });
        if objects.is_empty() || !usable {
            return None;
        }
        let blocked = stopped(State::JitBlocked).or_else(|| stopped(State::CodingBlocked));
        Some(Judged {
            state: blocked.map_or(State::Jit, |object| object.state),
            isa: objects.iter().filter_map(|object| object.isa).max(),
            coding: if objects.iter().any(|object| object.coding == Coding::Zstd) {
                Coding::Zstd
            } else {
                Coding::None
            },
        })
    }
}

fn images(class: &FatbinClass) -> impl Iterator<Item = ImageKey> + '_ {
    class.images.iter().map(|image| image.key)
}

/// Whether enough of a fatbin could be read: it names a target, and its code is of a known coding. How other
/// entries are packed does not matter: nobody unpacks them, so nobody reports that they cannot be.
fn is_judgeable(class: &FatbinClass) -> bool {
    let is_code = |kind: ImageKind| kind == ImageKind::Cubin || kind.is_ptx();
    let unread = images(class).any(|key| key.coding == Coding::Unknown && is_code(key.kind));
    !unread && images(class).any(|key| key.target.is_some() || is_unjudged(key.kind))
}

/// Whether a fatbin holds nothing that could run: no image at all, or code without any kernel. nvcc leaves
/// such code for its default architecture in libraries without kernels (libnppc.so.12).
pub(super) fn is_empty(class: &FatbinClass) -> bool {
    let mut cubins = images(class)
        .filter(|key| key.kind == ImageKind::Cubin)
        .peekable();
    if cubins.peek().is_some() {
        return cubins.all(|key| key.empty);
    }
    images(class).all(|key| key.empty || key.kind == ImageKind::Index)
}

/// Whether no rule says where code of this kind runs. It covers nothing, and yet it is not nothing.
pub(super) const fn is_unjudged(kind: ImageKind) -> bool {
    matches!(kind, ImageKind::TileIr | ImageKind::Unknown(_))
}

/// Whether a fatbin was meant for more than one capability. Bare images are for the one they name.
fn is_general(class: &FatbinClass) -> bool {
    let capabilities: BTreeSet<_> = images(class)
        .filter_map(|key| key.target)
        .map(|target| target.cc)
        .collect();
    !class.bare && capabilities.len() > 1
}

/// The package's own fatbins in `library` that can be loaded, also those without kernels.
pub(super) fn own_fatbins(library: &Library) -> u64 {
    let units = Units::of(library, |_| true);
    let counts = units.loadable.iter().filter(|class| !class.bare);
    counts.fold(0, |sum, class| sum.saturating_add(class.count))
}

/// Every target that the package's own code in `library` was built for, with its kind.
pub(super) fn own_targets(library: &Library) -> BTreeSet<(ImageKind, SmTarget)> {
    let classes = library
        .code
        .iter()
        .filter(|code| code.own && !is_empty(&code.class));
    classes
        .flat_map(|code| images(&code.class))
        .filter_map(|key| Some((key.kind, key.target?)))
        .collect()
}
