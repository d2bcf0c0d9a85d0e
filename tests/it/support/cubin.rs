//! Cubins built in code, as far as a reader looks at them: ELF header, section names, `.nv.compat`,
//! notes, kernels. Both ABIs, after FORMAT.md §7.

use smgate::cuda::{SmTarget, Suffix};

/// A cubin to be built.
#[derive(Clone)]
pub(crate) struct Cubin {
    target: SmTarget,
    toolkit: (u32, u32),
    relocatable: bool,
    kernels: usize,
    code_len: usize,
    before_attributes: usize,
    table_first: bool,
    named: Vec<String>,
}

struct Section {
    name: String,
    kind: u32,
    link: u32,
    bytes: Vec<u8>,
}

impl Cubin {
    /// A cubin for `target` (`sm_90a`) as the toolkit `major.minor` makes it, with one kernel.
    pub(crate) fn new(target: &str, toolkit: (u32, u32)) -> Self {
        let target = target.parse().unwrap();
        Self {
            target,
            toolkit,
            relocatable: false,
            kernels: 1,
            code_len: 128,
            before_attributes: 0,
            table_first: false,
            named: Vec::new(),
        }
    }

    /// An object file that is yet to be linked.
    pub(crate) fn relocatable(mut self) -> Self {
        self.relocatable = true;
        self
    }

    /// So many kernels; none is what a library without device code has.
    pub(crate) fn kernels(mut self, kernels: usize) -> Self {
        self.kernels = kernels;
        self
    }

    /// Kernels of these names, with a symbol table, and a function that is none.
    pub(crate) fn named(mut self, names: &[&str]) -> Self {
        self.kernels = names.len();
        self.named = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// So many bytes of machine code a kernel.
    pub(crate) fn code_len(mut self, code_len: usize) -> Self {
        self.code_len = code_len;
        self
    }

    /// So many bytes, as of a large symbol table, before the attributes that hold the suffix.
    pub(crate) fn before_attributes(mut self, len: usize) -> Self {
        self.before_attributes = len;
        self
    }

    /// The section table before the sections, as in the hand-written kernels of CUPTI 13.
    pub(crate) fn table_first(mut self) -> Self {
        self.table_first = true;
        self
    }

    fn number(&self) -> u32 {
        u32::from(self.target.cc.number())
    }

    /// ABI 7 or 8: FORMAT.md §7.1.
    fn abi(&self) -> u8 {
        let new = self.toolkit >= (13, 0) || self.toolkit >= (12, 8) && self.number() >= 100;
        if new { 8 } else { 7 }
    }

    /// The minor part of the version in an entry header.
    pub(crate) fn entry_version(&self) -> (u16, u16) {
        (1, self.abi().into())
    }

    fn arch_specific(&self) -> bool {
        self.target.suffix == Suffix::Arch
    }

    /// Its `.nv.compat` section, where it has one.
    pub(crate) fn compat(&self) -> Option<Vec<u8>> {
        let has = match self.toolkit {
            (13.., _) => self.number() >= 90,
            (12, 8..) => self.number() >= 100,
            _ => false,
        };
        let specific = self.toolkit >= (13, 0) && self.arch_specific();
        has.then(|| vec![2, 2, 1, 0, 3, 5, 7, 0, 2, 9, u8::from(specific), 0])
    }

    fn flags(&self) -> u32 {
        let (number, specific) = (self.number(), u32::from(self.arch_specific()));
        if self.abi() == 7 {
            return number << 16 | specific << 11 | 0x500 | number;
        }
        let old_style = u32::from(self.toolkit < (13, 0)) * specific;
        let class = if number >= 100 { 2 } else { 4 };
        0x0600_0000 | number << 8 | old_style << 3 | class
    }

    /// `.note.nv.cuinfo` of CUDA 13, or `.note.nv.tkinfo` of 12.8 and 12.9.
    fn note(&self) -> Vec<u8> {
        let (major, minor) = self.toolkit;
        let (kind, desc) = if self.toolkit >= (13, 0) {
            let mut desc = vec![2, 0];
            desc.extend(self.target.cc.number().to_le_bytes());
            desc.extend((major * 10 + minor).to_le_bytes());
            (1000_u32, desc)
        } else {
            let version =
                format!("Cuda compilation tools, release {major}.{minor}, V{major}.{minor}.1\0");
            let strings = format!("\0ptxas\0{version}");
            let mut desc = Vec::new();
            for word in [0x81, 0, 1, 7, 0, 0_u32] {
                desc.extend(word.to_le_bytes());
            }
            desc.extend(strings.bytes());
            (2000, desc)
        };
        let name = b"NVIDIA Corp\0";
        let mut note = Vec::new();
        for word in [name.len(), desc.len()] {
            note.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        note.extend(kind.to_le_bytes());
        note.extend(name);
        note.extend(desc);
        note
    }

    fn sections(&self) -> Vec<Section> {
        let section = |name: &str, kind, bytes| Section {
            name: name.to_owned(),
            kind,
            link: 0,
            bytes,
        };
        let mut sections = vec![section("", 0, Vec::new())];
        if !self.named.is_empty() {
            let (symbols, strings) = self.symbols();
            sections.push(section(".strtab", 3, strings));
            sections.push(section(".symtab", 2, symbols));
            // behind the names of sections, which come first
            sections[2].link = 2;
        }
        if self.before_attributes > 0 {
            sections.push(section(".symtab", 2, vec![0; self.before_attributes]));
        }
        if let Some(attributes) = self.compat() {
            sections.push(section(".nv.compat", 0x7000_0086, attributes));
        }
        if self.abi() == 8 {
            sections.push(section(".note.nv.info", 7, self.note()));
        }
        for kernel in 0..self.kernels {
            let code = vec![0x5a; self.code_len];
            sections.push(section(&format!(".text.k{kernel}"), 1, code));
        }
        sections
    }

    /// Its symbol table and the names in it: a function that is no kernel, one that is defined elsewhere, kernels.
    fn symbols(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut symbols, mut strings) = (vec![0; 24], vec![0]);
        let others = [("helper", 0x12, 0, 5), ("elsewhere", 0x12, 0x10, 0)];
        let kernels = self.named.iter().map(|name| (name.as_str(), 0x12, 0x10, 6));
        for (name, info, other, section) in others.into_iter().chain(kernels) {
            symbols.extend(u32::try_from(strings.len()).unwrap().to_le_bytes());
            symbols.extend([info, other, section, 0]);
            symbols.extend([0; 16]);
            strings.extend(name.bytes().chain([0]));
        }
        (symbols, strings)
    }

    /// The file.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut sections = self.sections();
        let mut names = vec![0];
        let mut name_offsets = Vec::new();
        for name in sections.iter().map(|section| section.name.as_str()) {
            name_offsets.push(if name.is_empty() { 0 } else { names.len() });
            if !name.is_empty() {
                names.extend(name.bytes().chain([0]));
            }
        }
        name_offsets.push(names.len());
        names.extend(b".shstrtab\0");
        let names_section = Section {
            name: ".shstrtab".to_owned(),
            kind: 3,
            link: 0,
            bytes: names,
        };
        // NVIDIA's tools put the names first
        sections.insert(1, names_section);
        name_offsets.insert(1, name_offsets.len() - 1);
        name_offsets[1] = name_offsets.pop().unwrap();

        let table_len = if self.table_first {
            sections.len() * 64
        } else {
            0
        };
        let mut file = vec![0; 64 + table_len];
        let mut table = Vec::new();
        for (section, name) in sections.iter().zip(&name_offsets) {
            file.resize(file.len().next_multiple_of(8), 0);
            let offset = if section.kind == 0 { 0 } else { file.len() };
            file.extend(&section.bytes);
            table.extend(u32::try_from(*name).unwrap().to_le_bytes());
            table.extend(section.kind.to_le_bytes());
            table.extend([0; 16]);
            table.extend((offset as u64).to_le_bytes());
            table.extend((section.bytes.len() as u64).to_le_bytes());
            table.extend(section.link.to_le_bytes());
            table.extend([0; 20]);
        }
        file.resize(file.len().next_multiple_of(8), 0);
        let table_at = if self.table_first { 64 } else { file.len() };
        if self.table_first {
            file[64..64 + table.len()].copy_from_slice(&table);
        } else {
            file.extend(table);
        }
        let table_at = table_at as u64;
        self.write_header(&mut file, table_at, u16::try_from(sections.len()).unwrap());
        file
    }

    fn write_header(&self, file: &mut [u8], table_at: u64, sections: u16) {
        let (major, minor) = self.toolkit;
        let (osabi, version) = match self.abi() {
            7 => (0x33, major * 10 + minor),
            _ => (0x41, 1),
        };
        file[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, osabi, self.abi()]);
        let kind: u16 = if self.relocatable { 1 } else { 2 };
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0x10, &kind.to_le_bytes());
        put(0x12, &190_u16.to_le_bytes());
        put(0x14, &version.to_le_bytes());
        put(0x28, &table_at.to_le_bytes());
        put(0x30, &self.flags().to_le_bytes());
        put(0x34, &64_u16.to_le_bytes());
        put(0x36, &56_u16.to_le_bytes());
        put(0x3a, &64_u16.to_le_bytes());
        put(0x3c, &sections.to_le_bytes());
        put(0x3e, &1_u16.to_le_bytes());
    }
}
