//! The integration tests: one binary, one module a subject.

mod docs;
mod layers;
mod schema;

use std::path::Path;

/// A text of the repository.
fn text(path: &Path) -> String {
    let file =
        std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (bytes, more) = smgate::limits::read_capped(file, 4 << 20).unwrap();
    assert!(!more, "{} is longer than a text", path.display());
    String::from_utf8(bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
