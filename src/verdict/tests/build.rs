//! Inventories built in code: what a table row writes as `lib("m/_C.so").fatbin("sm_80 compute_90@8.7", 12)`.

mod closure;
mod input;
mod lock;

use crate::device::{
    Coding, FatbinClass, HeaderClaim, HostFormat, ImageKey, ImageKind, ImageTally, Place,
};
use crate::inventory::{Code, Library};
use crate::tables::Tables;

pub(super) use closure::image_of;
use input::artifact;
pub(super) use input::{Input, conda, dir, file, sdist, wheel};
pub(super) use lock::{lock, locked};

/// Bytes of every image that a test does not give a size.
pub(super) const IMAGE_BYTES: u64 = 1_000;

/// One image: `sm_90a`, `compute_90@8.7`, `rel_compute_90@8.7` (relocatable PTX), `rel_sm_90`, `lto_90`,
/// `tile_80`, `kind10_90`; behind it, in any order, `+lz4`, `+zstd`, `+odd` (an unknown coding), `+empty`.
pub(super) fn image(text: &str) -> ImageKey {
    let mut words = text.split('+');
    let name = words.next().unwrap();
    let (name, relocatable) = match name.strip_prefix("rel_") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let (kind, target) = if name.starts_with("sm_") {
        (ImageKind::Cubin, name)
    } else if let Some(target) = name.strip_prefix("lto_") {
        (ImageKind::LtoIr, target)
    } else if let Some(target) = name.strip_prefix("tile_") {
        (ImageKind::TileIr, target)
    } else if let Some(target) = name.strip_prefix("kind10_") {
        (ImageKind::Unknown(0x10), target)
    } else if relocatable {
        (ImageKind::RelocatablePtx, name)
    } else {
        (ImageKind::Ptx, name)
    };
    let (target, isa) = match target.split_once('@') {
        Some((target, isa)) => (target, Some(isa.parse().unwrap())),
        None => (target, None),
    };
    assert_eq!(kind.is_ptx(), isa.is_some(), "`{text}`: PTX has a version");
    let mut key = ImageKey {
        kind,
        target: Some(target.parse().unwrap()),
        isa,
        coding: Coding::None,
        header: None,
        relocatable,
        empty: false,
    };
    for word in words {
        match word {
            "lz4" => key.coding = Coding::Lz4,
            "zstd" => key.coding = Coding::Zstd,
            "odd" => key.coding = Coding::Unknown,
            "empty" => key.empty = true,
            other => panic!("`{text}`: what is `{other}`?"),
        }
    }
    key
}

/// Several images, blanks between them.
pub(super) fn images(text: &str) -> Vec<ImageKey> {
    let mut keys: Vec<ImageKey> = text.split_whitespace().map(image).collect();
    // the order of a scan
    keys.sort();
    keys
}

/// A library of the package that it is put into.
#[derive(Clone)]
pub(super) struct Lib(Library);

/// A Linux library for x86-64 at `path`, without anything in it.
pub(super) fn lib(path: &str) -> Lib {
    Lib(Library {
        path: path.to_owned(),
        also: Vec::new(),
        layer: None,
        package: None,
        size: 1 << 20,
        format: HostFormat::Elf,
        machine: Some("x86_64".to_owned()),
        soname: None,
        needed: Vec::new(),
        needed_cuda: Vec::new(),
        rpath: None,
        runpath: None,
        component: None,
        compiler: false,
        compilers: Vec::new(),
        writes_ptx: false,
        dispatches: false,
        toolkits: Vec::new(),
        code: Vec::new(),
    })
}

/// The library that most tests take.
pub(super) fn so() -> Lib {
    lib("pkg/_C.so")
}

impl Lib {
    fn class(mut self, images: &str, count: u64, change: impl FnOnce(&mut FatbinClass)) -> Self {
        let tally = |key| ImageTally {
            key,
            per_fatbin: 1,
            bytes: IMAGE_BYTES.saturating_mul(count),
        };
        let images: Vec<ImageTally> = self::images(images).into_iter().map(tally).collect();
        let mut class = FatbinClass {
            bare: false,
            place: Place::Section(".nv_fatbin".to_owned()),
            relocatable: images.iter().any(|image| image.key.relocatable),
            device_linked: false,
            damaged: false,
            owner: None,
            bytes: images
                .iter()
                .fold(0, |sum: u64, image| sum.saturating_add(image.bytes)),
            images,
            count,
            first: 0x1000 * (self.0.code.len() as u64 + 1),
            names: Vec::new(),
            kernels: None,
        };
        change(&mut class);
        self.0.code.push(Code {
            class,
            own: self.0.component.is_none(),
            component: self.0.component.clone(),
        });
        self
    }

    pub(super) fn format(mut self, format: HostFormat) -> Self {
        self.0.format = format;
        self
    }

    /// `count` fatbins that hold these images each.
    pub(super) fn fatbin(self, images: &str, count: u64) -> Self {
        self.class(images, count, |_| {})
    }

    /// `count` equal images outside any fatbin.
    pub(super) fn bare(self, image: &str, count: u64) -> Self {
        self.class(image, count, |class| class.bare = true)
    }

    /// `count` fatbins of objects that are linked first.
    pub(super) fn objects(self, images: &str, count: u64) -> Self {
        self.class(images, count, |class| {
            class.relocatable = true;
            class.place = Place::Section("__nv_relfatbin".to_owned());
        })
    }

    /// A fatbin that a device link made, by the control records.
    pub(super) fn linked(self, images: &str) -> Self {
        self.class(images, 1, |class| class.device_linked = true)
    }

    /// A fatbin whose only image is filed under another target.
    pub(super) fn filed_under(self, header: &str, image: &str, count: u64) -> Self {
        let claim = self::image(header);
        self.class(image, count, |class| {
            class.images[0].key.header = Some(HeaderClaim {
                target: claim.target,
                isa: claim.isa,
            });
        })
    }

    /// Bytes of the images of the last class, all of its fatbins together.
    pub(super) fn bytes(mut self, bytes: u64) -> Self {
        for image in &mut self.0.code.last_mut().unwrap().class.images {
            image.bytes = bytes;
        }
        self
    }

    /// A library that it needs.
    pub(super) fn needs(mut self, name: &str) -> Self {
        self.0.needed.push(name.to_owned());
        if Tables::builtin().vendor(name).is_some() {
            self.0.needed_cuda.push(name.to_owned());
        }
        self
    }

    /// Libraries that it needs, blanks between them.
    pub(super) fn needs_all(self, names: &str) -> Self {
        names.split_whitespace().fold(self, Self::needs)
    }

    /// With this `DT_RPATH`.
    pub(super) fn rpath(mut self, rpath: &str) -> Self {
        self.0.rpath = Some(rpath.to_owned());
        self
    }

    /// A toolkit that made its code.
    pub(super) fn toolkit(mut self, version: &str) -> Self {
        self.0.toolkits.push(version.parse().unwrap());
        self.0.toolkits.sort();
        self
    }

    /// A compiler of these toolkits, blanks between them; of one that it does not name where there is none.
    pub(super) fn compiles_with(mut self, versions: &str) -> Self {
        self.0.compiler = true;
        let versions = versions.split_whitespace();
        self.0.compilers = versions.map(|text| text.parse().unwrap()).collect();
        self
    }

    /// A compiler that may write PTX.
    pub(super) fn writes_ptx(mut self) -> Self {
        self.0.writes_ptx = true;
        self
    }

    /// A component of NVIDIA's that the package carries along.
    pub(super) fn carried(mut self, component: &str) -> Self {
        self.0.component = Some(component.to_owned());
        for code in &mut self.0.code {
            code.own = false;
            code.component = Some(component.to_owned());
        }
        self
    }

    /// One that picks among single-architecture fatbins by itself.
    pub(super) fn dispatches(mut self) -> Self {
        self.0.dispatches = true;
        self
    }

    /// For another CPU.
    pub(super) fn machine(mut self, machine: &str) -> Self {
        self.0.machine = Some(machine.to_owned());
        self
    }

    /// For Windows.
    pub(super) fn windows(mut self) -> Self {
        self.0.format = HostFormat::Pe;
        self
    }

    /// No library at all, but a `.cubin` or the like.
    pub(super) fn raw(mut self) -> Self {
        self.0.format = HostFormat::Raw;
        self.0.machine = None;
        for code in &mut self.0.code {
            code.class.place = Place::File;
        }
        self
    }
}
