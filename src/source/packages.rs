//! Provisional.
#![allow(missing_docs)]
use crate::archive::Fault;
use crate::limits::Limits;
use crate::{Locator, Problem};
pub trait Tree {
    fn len(&self) -> usize;
    fn name(&self, index: usize) -> &[u8];
    fn read(&self, index: usize) -> Result<Vec<u8>, Fault>;
    fn canonical(&self, path: &[u8]) -> Option<Vec<u8>> {
        Some(path.to_vec())
    }
}
pub fn is_metadata(name: &[u8]) -> bool {
    name.ends_with(b".dist-info/METADATA") || name.ends_with(b".dist-info/RECORD")
}
#[derive(Debug, Default)]
pub struct Assigned {
    pub packages: Vec<super::Package>,
    pub owner: Vec<Option<usize>>,
    pub problems: Vec<Problem>,
}
pub fn assign(_tree: &dyn Tree, _at: &Locator, _limits: &Limits) -> Assigned {
    Assigned::default()
}
