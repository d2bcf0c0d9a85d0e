//! Indexes of Python packages: which files there are of a project, and where.
//!
//! Responsible for asking indexes and for reading their pages, for putting the answers of several together, and for
//! logins. It reads no environment: the command line gives it an [`IndexConfig`]. It opens no package, and does not
//! choose among files; no host of an index is known here.
//!
//! Formats: the simple API as HTML (PEP 503, 592, 629) and as JSON (PEP 691, 700, 714), and pages and directories of
//! `--find-links` as pip reads them.

mod config;
mod credentials;
mod error;
mod fetch;
mod file;
mod flat;
mod html;
mod json;
mod netrc;
mod set;

use std::path::Path;
use std::sync::Arc;

pub use self::config::{CredentialSources, IndexConfig, IndexKind, IndexLogin, IndexSpec, Merge};
pub use self::credentials::IndexCredentials;
pub use self::error::{IndexError, IndexErrorKind};
use self::fetch::Fetcher;
pub use self::file::{IndexFile, Project};
pub use self::set::{Indexes, OfIndex};
use crate::source::http::Address;
use crate::source::wheel::normal_name;

/// The most files of one page; the largest projects have some ten thousand.
const FILES_MAX: usize = 500_000;

/// What a page holds.
#[derive(Debug)]
struct Page {
    files: Vec<IndexFile>,
    /// The versions that it lists, where it lists any.
    versions: Option<Vec<String>>,
}

/// One index that is asked by the simple API, or a directory of this machine that is laid out like one.
#[derive(Debug)]
pub struct Index {
    /// With a slash at its end.
    address: Address,
    /// Whether its address came with a login, which is then sent without being asked for.
    eager: bool,
    fetcher: Arc<Fetcher>,
}

impl Index {
    fn new(address: &Address, eager: bool, fetcher: &Arc<Fetcher>) -> Self {
        Self {
            address: address.as_directory(),
            eager,
            fetcher: Arc::clone(fetcher),
        }
    }

    /// The address, without what may be secret in it.
    pub fn shown(&self) -> String {
        self.address.shown()
    }

    /// What it has of the project `name`, in any spelling.
    ///
    /// # Errors
    ///
    /// [`IndexErrorKind::NoProject`] where it has no such project; every failure to find out.
    pub fn project(&self, name: &str) -> Result<Project, IndexError> {
        let name = normal_name(name);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let at = self.address.join(&format!("{name}/")).filter(|_| is_name);
        let Some(at) = at else {
            let name = crate::source::http::bounded(&name, 100);
            return Err(IndexError::new(
                IndexErrorKind::NoProject,
                format!("`{name}` is no name of a Python package"),
                "correct the name",
            ));
        };
        let page = match self.address.to_path() {
            Some(directory) => local_project(&directory.join(&name), &at)?,
            None => self.fetcher.page(&at, self.eager)?,
        };
        Ok(Project::new(name, page.files, page.versions))
    }

    /// The files of the project `name`, in the order of the index.
    ///
    /// # Errors
    ///
    /// Those of [`Index::project`].
    pub fn files(&self, name: &str) -> Result<Vec<IndexFile>, IndexError> {
        Ok(self.project(name)?.files)
    }
}

/// The page of a project in a directory that is laid out like an index: `NAME/index.html`, or the files themselves.
fn local_project(directory: &Path, at: &Address) -> Result<Page, IndexError> {
    if !directory.is_dir() {
        return Err(fetch::no_project(at, "does not exist"));
    }
    let page = directory.join("index.html");
    if page.is_file() {
        flat::local_page(&page)
    } else {
        flat::local_directory(directory)
    }
}

#[cfg(test)]
mod tests;
