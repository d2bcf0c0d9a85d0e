//! Container images (provisional: types only).
#![allow(missing_docs)]
use std::collections::BTreeMap;
use std::io::BufRead;

use crate::archive::{Fault, SharedBytes};
use crate::{Locator, MemberName, Problem};

#[derive(Debug)]
pub struct Image {
    pub at: Locator,
    pub names: Vec<String>,
    pub digest: Option<String>,
    pub image_id: Option<String>,
    pub platform: Option<String>,
    pub config: ImageConfig,
    pub layers: Vec<ImageLayer>,
    pub problems: Vec<Problem>,
}
#[derive(Debug, Clone, Default)]
pub struct ImageConfig {
    pub os: String,
    pub architecture: String,
    pub variant: Option<String>,
    pub env: Vec<String>,
    pub labels: BTreeMap<String, String>,
}
#[derive(Debug)]
pub struct ImageLayer {
    pub digest: Option<String>,
    pub diff_id: Option<String>,
    pub size: Option<u64>,
    pub media_type: Option<String>,
    pub created_by: Option<String>,
    pub blob: Blob,
}
#[derive(Debug, Clone)]
pub enum Blob {
    Bytes(SharedBytes),
    File(std::path::PathBuf),
    Passed(MemberName),
    Absent(Fault),
}
impl Blob {
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>, Fault> {
        todo!()
    }
    pub fn key(&self) -> String {
        todo!()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub platform: Option<String>,
    pub name: Option<String>,
}
#[derive(Debug)]
pub struct Passing;
impl Passing {
    pub fn new() -> Self {
        Self
    }
    pub fn wants(&self, _head: &[u8], _size: u64) -> bool {
        todo!()
    }
    pub fn keep(&mut self, _name: &MemberName, _bytes: Vec<u8>) {}
    pub fn link(&mut self, _name: &MemberName, _target: &[u8]) {}
    pub fn passed(&mut self, _name: &MemberName, _size: u64) {}
    pub fn images(
        self,
        _at: Locator,
        _choice: &Choice,
        _limits: &crate::limits::Limits,
    ) -> Result<Vec<Image>, crate::Error> {
        todo!()
    }
}
/// An archive of images that can be read forward only.
pub struct ImageStream {
    pub at: Locator,
    pub reader: Box<dyn std::io::Read + Send>,
    pub choice: Choice,
}
impl std::fmt::Debug for ImageStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageStream")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub struct Images {
    pub at: Locator,
    pub images: Vec<Image>,
}
