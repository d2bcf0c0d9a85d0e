//! Trees in memory, and RPM databases as the documents of their formats describe them.

use std::collections::BTreeMap;

use crate::archive::Fault;
use crate::source::packages::Tree;

/// A tree in memory, with links of directories.
#[derive(Default)]
pub(super) struct Memory {
    files: Vec<(Vec<u8>, Vec<u8>)>,
    links: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Memory {
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        files.iter().fold(Self::default(), |tree, (name, content)| {
            tree.with(name.as_bytes(), content.as_bytes())
        })
    }

    pub(super) fn with(mut self, name: &[u8], content: &[u8]) -> Self {
        self.files.push((name.to_owned(), content.to_owned()));
        self.files.sort();
        self
    }

    pub(super) fn link(mut self, from: &str, to: &str) -> Self {
        let name = |text: &str| text.as_bytes().to_owned();
        self.links.insert(name(from), name(to));
        self
    }
}

impl Tree for Memory {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn name(&self, index: usize) -> &[u8] {
        &self.files[index].0
    }

    fn read(&self, index: usize) -> Result<Vec<u8>, Fault> {
        Ok(self.files[index].1.clone())
    }

    fn canonical(&self, path: &[u8]) -> Option<Vec<u8>> {
        let links = self.links.iter();
        let mut followed = links.filter_map(|(from, to)| {
            let rest = path.strip_prefix(from.as_slice())?.strip_prefix(b"/")?;
            Some([to, rest].join(&b'/'))
        });
        Some(followed.next().unwrap_or_else(|| path.to_owned()))
    }
}

/// The value of an entry of an RPM header.
pub(super) enum Value<'v> {
    Text(&'v str),
    Texts(&'v [&'v str]),
    Numbers(&'v [u32]),
}

/// An RPM header as databases keep it.
pub(super) fn header(entries: &[(u32, Value<'_>)]) -> Vec<u8> {
    let mut index = Vec::new();
    let mut data = Vec::new();
    for (tag, value) in entries {
        while matches!(value, Value::Numbers(_)) && data.len() % 4 != 0 {
            data.push(0);
        }
        let offset = data.len();
        let (kind, count) = match value {
            Value::Text(text) => {
                data.extend(text.bytes().chain([0]));
                (6, 1)
            }
            Value::Texts(texts) => {
                for text in *texts {
                    data.extend(text.bytes().chain([0]));
                }
                (8, texts.len())
            }
            Value::Numbers(numbers) => {
                for number in *numbers {
                    data.extend(number.to_be_bytes());
                }
                (4, numbers.len())
            }
        };
        for field in [*tag, kind, number(offset), number(count)] {
            index.extend(field.to_be_bytes());
        }
    }
    let mut blob = number(entries.len()).to_be_bytes().to_vec();
    blob.extend(number(data.len()).to_be_bytes());
    blob.extend(index);
    blob.extend(data);
    blob
}

/// The header of a package with these files, each a directory and a name.
pub(super) fn package(name: &str, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let dirs: Vec<&str> = files.iter().map(|(dir, _)| *dir).collect();
    let names: Vec<&str> = files.iter().map(|(_, name)| *name).collect();
    let indexes: Vec<u32> = (0..number(files.len())).collect();
    header(&[
        (1000, Value::Text(name)),
        (1001, Value::Text(version)),
        (1002, Value::Text("3.el9")),
        (1116, Value::Numbers(&indexes)),
        (1117, Value::Texts(&names)),
        (1118, Value::Texts(&dirs)),
    ])
}

pub(super) const PAGE: usize = 512;

fn number(value: usize) -> u32 {
    value.try_into().unwrap()
}

fn half(value: usize) -> u16 {
    value.try_into().unwrap()
}

/// The lowest seven bits.
fn seven(value: usize) -> u8 {
    (value & 0x7f).try_into().unwrap()
}

fn varint(value: usize) -> Vec<u8> {
    let mut bytes = vec![seven(value)];
    let mut rest = value >> 7;
    while rest > 0 {
        bytes.insert(0, seven(rest) | 0x80);
        rest >>= 7;
    }
    bytes
}

/// A record of values with their serial types.
fn record(values: &[(usize, &[u8])]) -> Vec<u8> {
    let kinds: Vec<u8> = values.iter().flat_map(|(kind, _)| varint(*kind)).collect();
    // the length counts itself: one byte below 127
    let mut bytes = varint(kinds.len() + 1);
    bytes.extend(kinds);
    bytes.extend(values.iter().flat_map(|(_, value)| value.iter()));
    bytes
}

/// A table page: its kind, the page of its last child, and its cells.
fn page(at: usize, kind: u8, last: u32, cells: &[Vec<u8>]) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    let mut end = PAGE;
    let pointers = at + if kind == 5 { 12 } else { 8 };
    page[at] = kind;
    page[at + 3..at + 5].copy_from_slice(&half(cells.len()).to_be_bytes());
    if kind == 5 {
        page[at + 8..at + 12].copy_from_slice(&last.to_be_bytes());
    }
    for (index, cell) in cells.iter().enumerate() {
        end -= cell.len();
        page[end..end + cell.len()].copy_from_slice(cell);
        let pointer = pointers + 2 * index;
        page[pointer..pointer + 2].copy_from_slice(&half(end).to_be_bytes());
    }
    page[at + 5..at + 7].copy_from_slice(&half(end).to_be_bytes());
    page
}

/// An `SQLite` database of 512-byte pages with a table `Packages`: page 2 is its root, each row has a leaf of its own,
/// and what is too long for it lies on pages of its own.
pub(super) fn database(blobs: &[Vec<u8>]) -> Vec<u8> {
    let sql: &[u8] = b"CREATE TABLE 'Packages' (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)";
    let schema = record(&[
        (23, b"table"),
        (29, b"Packages"),
        (29, b"Packages"),
        (1, &[2]),
        (13 + 2 * sql.len(), sql),
    ]);
    let row = [varint(schema.len()), varint(1), schema].concat();
    let mut pages = vec![page(100, 13, 0, &[row]), Vec::new()];
    let mut leaves = Vec::new();
    for (index, blob) in blobs.iter().enumerate() {
        let record = record(&[(0, b""), (12 + 2 * blob.len(), blob)]);
        let (most, least) = (PAGE - 35, (PAGE - 12) * 32 / 255 - 23);
        let fitting = least + record.len().saturating_sub(least) % (PAGE - 4);
        let local = match record.len() {
            len if len <= most => len,
            _ if fitting <= most => fitting,
            _ => least,
        };
        let mut cell = [varint(record.len()), varint(index + 1)].concat();
        cell.extend(&record[..local]);
        leaves.push(number(pages.len() + 1));
        let leaf = pages.len();
        pages.push(Vec::new());
        let chunks: Vec<&[u8]> = record[local..].chunks(PAGE - 4).collect();
        if !chunks.is_empty() {
            cell.extend(number(pages.len() + 1).to_be_bytes());
        }
        for (index, chunk) in chunks.iter().enumerate() {
            let is_last = index + 1 == chunks.len();
            let next = if is_last { 0 } else { number(pages.len() + 2) };
            let mut page = next.to_be_bytes().to_vec();
            page.extend(*chunk);
            page.resize(PAGE, 0);
            pages.push(page);
        }
        pages[leaf] = page(0, 13, 0, &[cell]);
    }
    pages[1] = match leaves.split_last() {
        None => page(0, 13, 0, &[]),
        Some((last, others)) => {
            let cells: Vec<Vec<u8>> = others
                .iter()
                .enumerate()
                .map(|(index, leaf)| [leaf.to_be_bytes().to_vec(), varint(index + 1)].concat())
                .collect();
            page(0, 5, *last, &cells)
        }
    };
    let header = [
        b"SQLite format 3\0".as_slice(),
        &half(PAGE).to_be_bytes(),
        &[1, 1, 0, 64, 32, 32],
        &[0, 0, 0, 1],
        &number(pages.len()).to_be_bytes(),
        &[0; 12],
        &[0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]
    .concat();
    pages[0][..header.len()].copy_from_slice(&header);
    pages[0][92..96].copy_from_slice(&[0, 0, 0, 1]);
    pages[0][96..100].copy_from_slice(&3_040_001_u32.to_be_bytes());
    pages.concat()
}
