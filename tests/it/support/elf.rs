//! Host libraries built in code: 64-bit little-endian ELF with a dynamic section and any sections.
//!
//! `Elf::new().soname("liba.so").needed("libcudart.so.12").section(".nv_fatbin", bytes).build()`. What
//! `readelf` reads out of them is what was put in: a test of `host_readelf` holds that.

const PT_LOAD: u32 = 1;
const SHT_NOTE: u32 = 7;
const PT_DYNAMIC: u32 = 2;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const DT_SONAME: u64 = 14;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;
/// Files are loaded this far above their own offsets, so that mixing up the two shows.
const LOAD_ADDRESS: u64 = 0x40_0000;

/// Where the names of the dynamic section lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Before the sections, as linkers put them.
    Near,
    /// Behind so many bytes, and as many follow before the section table.
    Far(usize),
    /// Behind the section table, where patchelf puts what has grown.
    Last,
}

/// A library to be built.
pub(crate) struct Elf {
    machine: u16,
    soname: Option<String>,
    needed: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
    sections: Vec<(String, u32, Vec<u8>)>,
    names: Names,
    /// Added to the stated size of the names, which then ends beyond the file.
    names_size_lie: u64,
}

impl Elf {
    /// An x86-64 library without anything.
    pub(crate) fn new() -> Self {
        Self {
            machine: 62,
            soname: None,
            needed: Vec::new(),
            rpath: None,
            runpath: None,
            sections: Vec::new(),
            names: Names::Near,
            names_size_lie: 0,
        }
    }

    /// For another CPU, by its number in ELF.
    pub(crate) fn machine(mut self, machine: u16) -> Self {
        self.machine = machine;
        self
    }

    pub(crate) fn soname(mut self, soname: &str) -> Self {
        self.soname = Some(soname.to_owned());
        self
    }

    pub(crate) fn needed(mut self, needed: &str) -> Self {
        self.needed.push(needed.to_owned());
        self
    }

    pub(crate) fn rpath(mut self, rpath: &str) -> Self {
        self.rpath = Some(rpath.to_owned());
        self
    }

    pub(crate) fn runpath(mut self, runpath: &str) -> Self {
        self.runpath = Some(runpath.to_owned());
        self
    }

    /// A section with `bytes`, aligned to 8.
    pub(crate) fn section(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.sections.push((name.to_owned(), 1, bytes.into()));
        self
    }

    /// A section of notes.
    pub(crate) fn notes(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.sections
            .push((name.to_owned(), SHT_NOTE, bytes.into()));
        self
    }

    /// A library with one fatbin in the section that nvcc uses.
    pub(crate) fn with_fatbin(fatbin: impl Into<Vec<u8>>) -> Self {
        Self::new().section(".nv_fatbin", fatbin)
    }

    pub(crate) fn names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// States that the names of the dynamic section are so many bytes longer than they are.
    pub(crate) fn names_size_lie(mut self, more: u64) -> Self {
        self.names_size_lie = more;
        self
    }

    /// The names, and the dynamic section that refers to them.
    fn dynamic(&self) -> (Vec<u8>, Vec<(u64, u64)>) {
        let mut names = vec![0];
        let mut rows = Vec::new();
        let needed = self.needed.iter().map(|name| (DT_NEEDED, name));
        let single = [
            (DT_SONAME, &self.soname),
            (DT_RPATH, &self.rpath),
            (DT_RUNPATH, &self.runpath),
        ];
        let single = single
            .into_iter()
            .filter_map(|(tag, text)| Some((tag, text.as_ref()?)));
        for (tag, text) in needed.chain(single) {
            rows.push((tag, names.len() as u64));
            names.extend(text.bytes().chain([0]));
        }
        (names, rows)
    }

    /// The file.
    pub(crate) fn build(&self) -> Vec<u8> {
        let (names, mut rows) = self.dynamic();
        let dynamic_at = 64 + 2 * 56;
        let dynamic_len = (rows.len() + 3) * 16;
        let mut file = vec![0; dynamic_at + dynamic_len];
        let mut table = Table::new();
        let mut names_at = 0;
        match self.names {
            Names::Near => names_at = append(&mut file, &names),
            Names::Far(len) => {
                file.resize(file.len() + len, 0xcc);
                names_at = append(&mut file, &names);
                file.resize(file.len() + len, 0xcc);
            }
            Names::Last => {}
        }
        for (name, kind, bytes) in &self.sections {
            let at = append(&mut file, bytes);
            table.add(name, *kind, at, bytes.len());
        }
        table.add(".dynamic", 6, dynamic_at, dynamic_len);
        let table_len = (table.rows.len() + 2) * 64;
        let section_names_len = table.names.len() + ".dynstr\0.shstrtab\0".len();
        let section_names_at = file.len().next_multiple_of(8);
        let table_at = (section_names_at + section_names_len).next_multiple_of(8);
        if self.names == Names::Last {
            names_at = table_at + table_len;
        }
        table.add(".dynstr", 3, names_at, names.len());
        table.add(".shstrtab", 3, section_names_at, section_names_len);
        append(&mut file, &table.names);
        append(&mut file, &table.bytes());
        if self.names == Names::Last {
            append(&mut file, &names);
        }

        rows.push((DT_STRTAB, names_at as u64 + LOAD_ADDRESS));
        rows.push((DT_STRSZ, names.len() as u64 + self.names_size_lie));
        rows.push((0, 0));
        for (index, (tag, value)) in rows.iter().enumerate() {
            put(&mut file, dynamic_at + index * 16, &tag.to_le_bytes());
            put(&mut file, dynamic_at + index * 16 + 8, &value.to_le_bytes());
        }
        let len = file.len();
        segment(&mut file, 64, PT_LOAD, 0, len);
        segment(&mut file, 64 + 56, PT_DYNAMIC, dynamic_at, dynamic_len);
        self.header(&mut file, table_at, table.rows.len());
        file
    }

    fn header(&self, file: &mut [u8], table_at: usize, sections: usize) {
        put(file, 0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]);
        put(file, 16, &3_u16.to_le_bytes());
        put(file, 18, &self.machine.to_le_bytes());
        put(file, 20, &1_u32.to_le_bytes());
        put(file, 32, &64_u64.to_le_bytes());
        put(file, 40, &(table_at as u64).to_le_bytes());
        let sections = u16::try_from(sections).unwrap();
        for (at, value) in [
            (52, 64),
            (54, 56),
            (56, 2),
            (58, 64),
            (60, sections),
            (62, sections - 1),
        ] {
            put(file, at, &value.to_le_bytes());
        }
    }
}

/// Rows of a section table and their names.
struct Table {
    names: Vec<u8>,
    /// Offset of the name, type, offset, length.
    rows: Vec<(usize, u32, usize, usize)>,
}

impl Table {
    fn new() -> Self {
        Self {
            names: vec![0],
            rows: vec![(0, 0, 0, 0)],
        }
    }

    fn add(&mut self, name: &str, kind: u32, at: usize, len: usize) {
        self.rows.push((self.names.len(), kind, at, len));
        self.names.extend(name.bytes().chain([0]));
    }

    fn bytes(&self) -> Vec<u8> {
        // the dynamic section and its names refer to each other
        let names_index = self.rows.len() - 2;
        let mut bytes = Vec::new();
        for (name, kind, at, len) in &self.rows {
            let loaded = matches!(kind, 1 | 6);
            let address = if loaded { *at as u64 + LOAD_ADDRESS } else { 0 };
            bytes.extend(u32::try_from(*name).unwrap().to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            for word in [if loaded { 2 } else { 0 }, address, *at as u64, *len as u64] {
                bytes.extend(word.to_le_bytes());
            }
            let link = if *kind == 6 { names_index } else { 0 };
            bytes.extend(u32::try_from(link).unwrap().to_le_bytes());
            bytes.extend([0; 4]);
            let align = match *kind {
                0 => 0,
                SHT_NOTE => 4,
                _ => 1_u64,
            };
            bytes.extend(align.to_le_bytes());
            bytes.extend(if *kind == 6 { 16_u64 } else { 0 }.to_le_bytes());
        }
        bytes
    }
}

fn segment(file: &mut [u8], at: usize, kind: u32, offset: usize, len: usize) {
    let (offset, len) = (offset as u64, len as u64);
    put(file, at, &kind.to_le_bytes());
    put(file, at + 4, &6_u32.to_le_bytes());
    let address = offset + LOAD_ADDRESS;
    for (index, word) in [offset, address, address, len, len, 8].iter().enumerate() {
        put(file, at + 8 + index * 8, &word.to_le_bytes());
    }
}

fn append(file: &mut Vec<u8>, bytes: &[u8]) -> usize {
    file.resize(file.len().next_multiple_of(8), 0);
    let at = file.len();
    file.extend(bytes);
    at
}

/// Writes over bytes that are there.
pub(crate) fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}
