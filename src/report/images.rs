//! What fatbins hold, in words: `sm_80, sm_90 (lz4) · PTX 8.7 for compute_90 (lz4)`.

use crate::device::{Coding, FatbinClass, ImageKey, ImageKind};

/// Images of one kind that are stored alike.
#[derive(Debug, PartialEq, Eq)]
struct Alike {
    /// What stands before their names.
    head: String,
    /// What stands behind them, in brackets.
    remarks: Vec<&'static str>,
}

/// The images of fatbins that are loaded as one. What is said of several in a row is said once.
pub(super) fn images(classes: &[&FatbinClass]) -> String {
    let mut parts: Vec<(Alike, Vec<String>)> = Vec::new();
    for image in classes.iter().flat_map(|class| &class.images) {
        let key = &image.key;
        let name = key.target_name().unwrap_or_else(|| "no target".to_owned());
        let name = match image.per_fatbin {
            1 => name,
            n => format!("{name} ×{n}"),
        };
        let alike = Alike::of(key);
        match parts.last_mut().filter(|(last, _)| *last == alike) {
            // objects that are linked to one hold the same
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => parts.push((alike, vec![name])),
        }
    }
    let parts = parts.into_iter().map(|(alike, names)| {
        let Alike { head, remarks } = alike;
        let mut part = head;
        if !part.is_empty() {
            part.push(' ');
        }
        part.push_str(&names.join(", "));
        if !remarks.is_empty() {
            part.push_str(" (");
            part.push_str(&remarks.join(", "));
            part.push(')');
        }
        part
    });
    parts.collect::<Vec<_>>().join(" · ")
}

impl Alike {
    fn of(key: &ImageKey) -> Self {
        let head = match (key.kind, key.isa) {
            (ImageKind::Cubin, _) => String::new(),
            (ImageKind::Ptx | ImageKind::RelocatablePtx, Some(isa)) => format!("PTX {isa} for"),
            (kind, _) => kind.to_string(),
        };
        let coding = match key.coding {
            Coding::None => None,
            Coding::Lz4 => Some("lz4"),
            Coding::Zstd => Some("zstd"),
            Coding::Unknown => Some("of an unknown coding"),
        };
        let relocatable = key.relocatable.then_some("relocatable");
        let empty = key.empty.then_some("without kernels");
        let remarks = [coding, relocatable, empty];
        Self {
            head,
            remarks: remarks.into_iter().flatten().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{ImageTally, Place};

    fn class(images: &[(ImageKind, &str, Coding, bool)]) -> FatbinClass {
        let tally = |&(kind, target, coding, empty): &(ImageKind, &str, Coding, bool)| ImageTally {
            key: ImageKey {
                kind,
                target: Some(target.parse().unwrap()),
                isa: kind.is_ptx().then(|| "8.7".parse().unwrap()),
                coding,
                header: None,
                relocatable: false,
                empty,
            },
            per_fatbin: 1,
            bytes: 1,
        };
        FatbinClass {
            bare: false,
            place: Place::Section(".nv_fatbin".to_owned()),
            relocatable: false,
            device_linked: false,
            damaged: false,
            owner: None,
            bytes: 1,
            images: images.iter().map(tally).collect(),
            count: 1,
            first: 0,
            names: Vec::new(),
            kernels: None,
        }
    }

    #[test]
    fn what_holds_of_several_images_is_said_once() {
        use Coding::{Lz4, None, Zstd};
        use ImageKind::{Cubin, Ptx};

        for (images_of, said) in [
            (
                &[(Cubin, "sm_80", Lz4, false), (Cubin, "sm_90", Lz4, false)][..],
                "sm_80, sm_90 (lz4)",
            ),
            (
                &[(Cubin, "sm_80", Lz4, true), (Cubin, "sm_90", Lz4, false)],
                "sm_80 (lz4, without kernels) · sm_90 (lz4)",
            ),
            (
                &[
                    (Cubin, "sm_80", None, false),
                    (Ptx, "compute_90", Zstd, false),
                ],
                "sm_80 · PTX 8.7 for compute_90 (zstd)",
            ),
        ] {
            let class = class(images_of);
            assert_eq!(images(&[&class]), said);
        }
    }
}
