//! Flat pages and directories: files of all projects in one place, as `--find-links` names them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::error::{IndexError, IndexErrorKind};
use super::fetch::{Fetcher, PAGE_MAX};
use super::file::{IndexFile, Project, is_wheel, stem, version_of};
use super::{FILES_MAX, Page, html};
use crate::escape::visible;
use crate::limits::read_capped;
use crate::source::http::Address;
use crate::source::wheel::normal_name;

/// A flat page or directory, read once.
#[derive(Debug)]
pub(super) struct Flat {
    address: Address,
    eager: bool,
    fetcher: Arc<Fetcher>,
    files: OnceLock<Result<Files, IndexError>>,
}

/// Its files, so that those of one project are found at once.
#[derive(Debug, Default)]
struct Files {
    /// Wheels by the normalised name of their project.
    wheels: BTreeMap<String, Vec<IndexFile>>,
    /// Files of whose names only one who knows the project can tell where the version begins.
    others: Vec<IndexFile>,
}

impl Flat {
    pub(super) fn new(address: &Address, eager: bool, fetcher: &Arc<Fetcher>) -> Self {
        Self {
            address: address.clone(),
            eager,
            fetcher: Arc::clone(fetcher),
            files: OnceLock::new(),
        }
    }

    pub(super) fn shown(&self) -> String {
        self.address.shown()
    }

    /// What is there of the project `name`, which is normalised; a project without files where there is nothing.
    pub(super) fn project(&self, name: &str) -> Result<Project, IndexError> {
        let files = self.files.get_or_init(|| self.read());
        let files = files.as_ref().map_err(Clone::clone)?;
        let wheels = files.wheels.get(name).into_iter().flatten();
        let others = files.others.iter();
        let others = others.filter(|file| version_of(&file.name, name).is_some());
        let found = wheels.chain(others).cloned().collect();
        Ok(Project::new(name.to_owned(), found, None))
    }

    fn read(&self) -> Result<Files, IndexError> {
        let page = match self.address.to_path() {
            Some(path) if path.is_dir() => local_directory(&path)?,
            Some(path) => local_page(&path)?,
            None => self.fetcher.page(&self.address, self.eager)?,
        };
        let mut files = Files::default();
        for file in page.files {
            match file.name.split_once('-') {
                Some((name, _)) if is_wheel(&file.name) => {
                    files
                        .wheels
                        .entry(normal_name(name))
                        .or_default()
                        .push(file);
                }
                _ => files.others.push(file),
            }
        }
        Ok(files)
    }
}

/// A page of this machine.
pub(super) fn local_page(path: &Path) -> Result<Page, IndexError> {
    let at =
        Address::of_path(path, false).ok_or_else(|| unreadable(path, "is no absolute path"))?;
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    match read_capped(file, PAGE_MAX) {
        Ok((bytes, false)) => html::parse(&bytes, &at),
        Ok((_, true)) => Err(IndexError::too_large(
            &at.shown(),
            &format!("{PAGE_MAX} bytes"),
        )),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

/// The files in a directory of this machine that an installer could take, in the order of their names.
pub(super) fn local_directory(path: &Path) -> Result<Page, IndexError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| cannot_read(path, &error))? {
        let entry = entry.map_err(|error| cannot_read(path, &error))?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        let at = path.join(&name);
        if stem(&name).is_none() || !at.is_file() {
            continue;
        }
        let url =
            Address::of_path(&at, false).ok_or_else(|| unreadable(path, "is no absolute path"))?;
        if files.len() == FILES_MAX {
            return Err(IndexError::too_large(
                &visible(&path.to_string_lossy()),
                &format!("{FILES_MAX} files"),
            ));
        }
        files.push(IndexFile {
            size: fs::metadata(&at).ok().map(|metadata| metadata.len()),
            ..IndexFile::new(name, &url)
        });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Page {
        files,
        versions: None,
    })
}

fn cannot_read(path: &Path, error: &io::Error) -> IndexError {
    match error.kind() {
        io::ErrorKind::NotFound => unreadable(path, "does not exist"),
        _ => unreadable(path, &format!("could not be read: {error}")),
    }
}

fn unreadable(path: &Path, why: &str) -> IndexError {
    IndexError::new(
        IndexErrorKind::Unreadable,
        format!("`{}` {why}", visible(&path.to_string_lossy())),
        "name a directory or an HTML page with `--find-links`, or take it out of the configuration of pip or uv",
    )
}
