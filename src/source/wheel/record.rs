//! `RECORD`: which files belong to a package.
//!
//! Format: PEP 376 and PEP 627: comma-separated values of path, hash and size, read as Python's
//! `csv` reads them.

use crate::ProblemKind;
use crate::archive::Fault;
use crate::limits::{LimitHit, Limits};

/// The paths that a `RECORD` lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Sorted, each once, as written: relative to the directory that holds the `.dist-info`.
    paths: Vec<Vec<u8>>,
}

impl Record {
    /// Reads a `RECORD`; hashes and sizes are left aside.
    ///
    /// # Errors
    ///
    /// What is no such list, and one of more files than an archive may have members.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, Fault> {
        // A row has two commas and those in its name; a row of nothing else would have millions of fields.
        let commas = memchr::memchr_iter(b',', bytes).count() as u64;
        let too_many = || Fault::from(LimitHit::Members(limits.members));
        if commas / 4 > limits.members {
            return Err(too_many());
        }
        let mut rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        let mut row = csv::ByteRecord::new();
        let mut paths = Vec::new();
        loop {
            match rows.read_byte_record(&mut row) {
                Ok(true) if paths.len() as u64 >= limits.members => {
                    return Err(too_many());
                }
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
            &Limits::default(),
        )
        .unwrap();
        let paths: Vec<_> = record.paths().collect();
        let expected: [&[u8]; 5] = [b"../../bin/tool", b"a.so", b"b.py", b"c, d.py", b"\xff"];
        assert_eq!(paths, expected);
        assert!(record.contains(b"a.so") && !record.contains(b"a"));
        assert_eq!(
            Record::parse(b"", &Limits::default())
                .unwrap()
                .paths()
                .len(),
            0
        );
    }

    #[test]
    fn a_list_of_too_many_files_is_a_fault() {
        let limits = Limits {
            members: 3,
            ..Limits::default()
        };
        assert!(Record::parse(b"a\nb\nc\n", &limits).is_ok());
        assert!(Record::parse(b"a,sha256=x,1\nb,,\nc,,\n", &limits).is_ok());
        for list in ["a\nb\nc\nd\n".to_owned(), ",".repeat(100)] {
            let fault = Record::parse(list.as_bytes(), &limits).unwrap_err();
            assert_eq!(fault.kind, ProblemKind::LimitExceeded);
        }
    }
}
