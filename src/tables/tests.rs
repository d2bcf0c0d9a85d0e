//! Look-ups with expected values from documents of NVIDIA, not from the tables.

use super::*;
use crate::cuda::DriverSpec;

fn tables() -> &'static Tables {
    Tables::builtin()
}

fn cc(text: &str) -> ComputeCapability {
    text.parse().unwrap()
}

#[test]
fn every_table_parses() {
    GpuTable::parse(Texts::BUILTIN.gpus).unwrap();
    ArchTable::parse(Texts::BUILTIN.archs).unwrap();
    ToolkitTable::parse(Texts::BUILTIN.toolkits).unwrap();
    DriverTable::parse(Texts::BUILTIN.drivers).unwrap();
    LibraryTable::parse(Texts::BUILTIN.libraries).unwrap();
}

#[test]
fn timing() {
    for _ in 0..5 {
        let t = std::time::Instant::now();
        GpuTable::parse(Texts::BUILTIN.gpus).unwrap();
        let g = t.elapsed();
        let t = std::time::Instant::now();
        ToolkitTable::parse(Texts::BUILTIN.toolkits).unwrap();
        let k = t.elapsed();
        let t = std::time::Instant::now();
        LibraryTable::parse(Texts::BUILTIN.libraries).unwrap();
        let l = t.elapsed();
        eprintln!("gpus {g:?} toolkits {k:?} libraries {l:?}");
    }
}
