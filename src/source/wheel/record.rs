//! `RECORD`: which files belong to a package.
//!
//! Format: PEP 376 and PEP 627: comma-separated values of path, hash and size, read as Python's
//! `csv` reads them.

use crate::ProblemKind;
use crate::archive::Fault;

/// The paths that a `RECORD` lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Sorted, each once, as written: relative to the directory that holds the `.dist-info`.
    paths: Vec<Vec<u8>>,
}

impl Record {
    /// Reads a `RECORD`; hashes and sizes are left aside.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let mut rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        let mut row = csv::ByteRecord::new();
        let mut paths = Vec::new();
        loop {
            match rows.read_byte_record(&mut row) {
                Ok(true) => paths.extend(row.get(0).filter(|path| !path.is_empty()).map(Vec::from)),
                Ok(false) => break,
                Err(error) => {
                    return Err(Fault::new(
                        ProblemKind::MalformedMetadata,
                        error.to_string(),
                    ));
                }
            }
        }
        paths.sort_unstable();
        paths.dedup();
        Ok(Self { paths })
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.paths.iter().map(Vec::as_slice)
    }

    /// Whether `path` is listed.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.paths
            .binary_search_by(|listed| listed.as_slice().cmp(path))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rows_as_python_does() {
        let record = Record::parse(
            b"b.py,sha256=x,10\r\na.so,,\n\"c, d.py\",sha256=y,1\n\n../../bin/tool,,\nb.py\n\xff,,\n",
        )
        .unwrap();
        let paths: Vec<_> = record.paths().collect();
        let expected: [&[u8]; 5] = [b"../../bin/tool", b"a.so", b"b.py", b"c, d.py", b"\xff"];
        assert_eq!(paths, expected);
        assert!(record.contains(b"a.so") && !record.contains(b"a"));
        assert_eq!(Record::parse(b"").unwrap().paths().len(), 0);
    }
}
