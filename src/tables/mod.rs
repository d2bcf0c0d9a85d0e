//! Facts of CUDA compatibility: GPUs, sm targets, toolkits, drivers and libraries, as embedded tables.
//!
//! A fact is a row of a YAML file beside this module, with its source; what follows from facts is a rule
//! (`verdict`). Nothing here does I/O, and nothing here knows policies, artifacts or device code.
//! Each table is parsed once, when first asked. What a table does not say is unknown: look-ups return
//! nothing and never the nearest row.

mod arch;
mod check;
mod container;
mod driver;
mod errors;
mod forward_compat;
mod gpu;
mod instance;
mod library;
mod origin;
mod overlay;
mod pci;
mod rows;
mod soname;
mod spelling;
mod texts;
mod toolkit;
mod yaml;

use std::fmt::Write as _;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::cuda::{
    ComputeCapability, DriverBranch, DriverVersion, PtxIsa, SmTarget, Suffix, ToolkitVersion,
};
use crate::error::Error;
use crate::platform::Os;

use arch::ArchTable;
use container::ContainerTable;
use driver::DriverTable;
use errors::ErrorTable;
use forward_compat::CompatTable;
use gpu::GpuTable;
use instance::InstanceTable;
use library::LibraryTable;
use pci::PciTable;
use texts::Texts;
use toolkit::ToolkitTable;

pub use container::{ArchNameRow, BrandRow, BrandRule, CapabilitiesRow};
pub use errors::{ApiError, ErrorMatch, ErrorRow, MatchedBy};
pub use forward_compat::{CompatRow, ForwardCompat};
pub use gpu::GpuLookup;
pub use instance::{InstanceLookup, InstanceRow};
pub use library::{
    DeciderRow, FamilyRow, GpuBuildRow, Loads, Role, RoleRow, RunTimeRow, VendorRow,
};
pub use origin::Origin;
pub use overlay::{Overlay, Table};
pub use pci::{ChipRow, ParsePciIdError, PciId, PciRow};
pub use rows::{
    BranchKind, BranchRow, CapabilityRow, Confidence, Evidence, FirstDriver, Floor, GpuClass,
    GpuRow, NumberRow, PairedDriver, PtxRow, SmRow, ToolkitRow,
};
pub use soname::{SonameRow, library_key};
pub(crate) use spelling::nearest;

/// The tables.
#[derive(Debug)]
pub struct Tables {
    texts: Texts,
    gpus: OnceLock<GpuTable>,
    archs: OnceLock<ArchTable>,
    toolkits: OnceLock<ToolkitTable>,
    drivers: OnceLock<DriverTable>,
    libraries: OnceLock<LibraryTable>,
    pci: OnceLock<PciTable>,
    instances: OnceLock<InstanceTable>,
    compat: OnceLock<CompatTable>,
    errors: OnceLock<ErrorTable>,
    containers: OnceLock<ContainerTable>,
    digest: OnceLock<String>,
    overlay: Option<Overlay>,
}

/// The table of a file that a unit test has parsed.
fn parsed<T>(table: Result<T, Error>) -> T {
    table.expect("the embedded tables parse: a unit test parses every one")
}

impl Tables {
    const fn new(texts: Texts) -> Self {
        Self {
            texts,
            gpus: OnceLock::new(),
            archs: OnceLock::new(),
            toolkits: OnceLock::new(),
            drivers: OnceLock::new(),
            libraries: OnceLock::new(),
            pci: OnceLock::new(),
            instances: OnceLock::new(),
            compat: OnceLock::new(),
            errors: OnceLock::new(),
            containers: OnceLock::new(),
            digest: OnceLock::new(),
            overlay: None,
        }
    }

    /// The tables that this build carries.
    pub fn builtin() -> &'static Self {
        static BUILTIN: Tables = Tables::new(Texts::BUILTIN);
        &BUILTIN
    }

    /// The SHA-256 of the table files in hexadecimal: two reports with one digest used the same facts.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            let overlay = self.overlay.iter().map(|overlay| overlay.text.as_str());
            for text in self.texts.all().into_iter().chain(overlay) {
                hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
                hash.update(text);
            }
            let mut hex = String::with_capacity(64);
            for byte in hash.finalize() {
                let _ = write!(hex, "{byte:02x}");
            }
            hex
        })
    }

    /// The day of the facts: `2026-11-29`.
    pub fn as_of(&self) -> &str {
        &self.arch_table().as_of
    }

    /// What the GPU name stands for, in any spelling of `nvidia-smi`, documents or people.
    pub fn gpu(&self, name: &str) -> GpuLookup<'_> {
        self.gpu_table().find(name)
    }

    /// All GPUs, by capability and name.
    pub fn gpus(&self) -> &[GpuRow] {
        &self.gpu_table().rows
    }

    /// The GPUs that an ambiguous name may stand for.
    pub fn gpu_candidates(&self, name: &str) -> Vec<&GpuRow> {
        self.gpu_table().candidates(name)
    }

    /// The PCI device with this id, in any spelling of `lspci`, `nvidia-smi`, Linux or Windows.
    pub fn pci(&self, id: &str) -> Option<&PciRow> {
        self.pci_table().find(id.parse().ok()?)
    }

    /// All PCI devices, by id.
    pub fn pci_rows(&self) -> impl Iterator<Item = &PciRow> {
        self.pci_table().rows()
    }

    /// The ids of all PCI devices, rising; cheaper than the rows.
    pub fn pci_ids(&self) -> impl Iterator<Item = PciId> {
        self.pci_table().ids()
    }

    /// A chip by its code name.
    pub fn chip(&self, name: &str) -> Option<&ChipRow> {
        self.pci_table().chip(name)
    }

    /// The cloud instance type with this name, `aws:p5.48xlarge` or `p5.48xlarge`.
    pub fn instance(&self, name: &str) -> InstanceLookup<'_> {
        self.instance_table().find(name)
    }

    /// All cloud instance types, by provider and name.
    pub fn instances(&self) -> &[InstanceRow] {
        &self.instance_table().rows
    }

    /// An sm target.
    pub fn sm(&self, target: SmTarget) -> Option<&SmRow> {
        self.sm_rows().iter().find(|row| row.target == target)
    }

    /// All sm targets, in rising order.
    pub fn sm_rows(&self) -> &[SmRow] {
        &self.arch_table().sm
    }

    /// A compute capability.
    pub fn capability(&self, cc: ComputeCapability) -> Option<&CapabilityRow> {
        self.capabilities().iter().find(|row| row.cc == cc)
    }

    /// All compute capabilities, in rising order.
    pub fn capabilities(&self) -> &[CapabilityRow] {
        &self.arch_table().capabilities
    }

    /// A driver branch.
    pub fn branch(&self, branch: DriverBranch) -> Option<&BranchRow> {
        self.driver_table().branch(branch)
    }

    /// All driver branches, oldest first.
    pub fn branches(&self) -> &[BranchRow] {
        &self.driver_table().branches
    }

    /// The branch of a driver, which on Windows has other numbers than on Linux.
    pub fn branch_of(&self, version: &DriverVersion, os: Os) -> Option<&BranchRow> {
        self.driver_table().branch_of(version, os)
    }

    /// The newest branch that has a driver number below `number` on `os`.
    pub fn branch_before(&self, number: u32, os: Os) -> Option<DriverBranch> {
        self.driver_table().branch_before(number, os)
    }

    /// The driver numbers on `os` that differ from their branch's.
    pub fn driver_numbers(&self, os: Os) -> &[NumberRow] {
        self.driver_table().numbers(os)
    }

    /// A toolkit.
    pub fn toolkit(&self, version: ToolkitVersion) -> Option<&ToolkitRow> {
        self.toolkits().iter().find(|row| row.cuda == version)
    }

    /// All toolkits, oldest first.
    pub fn toolkits(&self) -> &[ToolkitRow] {
        &self.toolkit_table().toolkits
    }

    /// The oldest driver on which code of any toolkit of a CUDA major version starts, without PTX JIT.
    ///
    /// None before CUDA 11, where a runtime needed a driver of its own minor version, and for majors that the
    /// table does not know.
    pub fn runtime_floor(&self, major: u32, os: Os) -> Option<&Floor> {
        let floors = &self.toolkit_table().runtime;
        let found = floors.iter().find(|(key, _)| *key == (major, os));
        found.map(|(_, floor)| floor)
    }

    /// The oldest drivers whose JIT accepts a PTX ISA version.
    pub fn ptx(&self, isa: PtxIsa) -> Option<&PtxRow> {
        self.ptx_rows().iter().find(|row| row.isa == isa)
    }

    /// All PTX ISA versions, oldest first.
    pub fn ptx_rows(&self) -> &[PtxRow] {
        &self.toolkit_table().ptx
    }

    /// The oldest driver that unpacks fatbin entries of a coding (`zstd`), where that is newer than the runtime's.
    pub fn compression_floor(&self, coding: &str, os: Os) -> Option<&Floor> {
        let floors = &self.toolkit_table().compression;
        let found = floors
            .iter()
            .find(|(key, _)| key.0 == coding && key.1 == os);
        found.map(|(_, floor)| floor)
    }

    /// Whether the forward compatibility package of a CUDA version works on a kernel driver of branch `host`.
    pub fn forward_compat(&self, package: ToolkitVersion, host: DriverBranch) -> ForwardCompat {
        self.compat_table().find(package, host)
    }

    /// All forward compatibility packages, oldest first.
    pub fn compat_packages(&self) -> &[CompatRow] {
        &self.compat_table().rows
    }

    /// On which GPUs and systems forward compatibility packages work at all, in sentences.
    pub fn compat_conditions(&self) -> &[String] {
        &self.compat_table().conditions
    }

    /// What a pasted error text, name or number may be, the surest first.
    pub fn errors(&self, pasted: &str) -> Vec<ErrorMatch<'_>> {
        self.error_table().find(pasted)
    }

    /// All errors, by name.
    pub fn error_rows(&self) -> &[ErrorRow] {
        &self.error_table().rows
    }

    /// Up to three names of errors that are spelt much like `name`, the nearest first.
    pub fn nearest_errors(&self, name: &str) -> Vec<String> {
        self.error_table().nearest(name)
    }

    /// The library of NVIDIA's with this file name (without directories), which may be a hashed copy.
    pub fn vendor(&self, file_name: &str) -> Option<&VendorRow> {
        self.library_table().vendor(file_name)
    }

    /// The library of NVIDIA's that rows call `component`.
    pub fn component(&self, component: &str) -> Option<&VendorRow> {
        let mut rows = self.library_table().vendor.iter();
        rows.find(|row| row.component == component)
    }

    /// Whether the distribution `package` is a library of NVIDIA's.
    pub fn is_vendor_package(&self, package: &str) -> bool {
        let mut rows = self.library_table().vendor.iter();
        rows.any(|row| row.is_package(package))
    }

    /// What is known of a name by which libraries need one of NVIDIA's.
    pub fn soname(&self, name: &str) -> Option<&SonameRow> {
        let mut rows = self.library_table().sonames.iter();
        rows.find(|row| row.is(name))
    }

    /// Whose a kernel is, by its name, where it is known: a number for [`Tables::kernel_vendor`].
    pub fn kernel_owner(&self, kernel: &str) -> Option<u16> {
        self.library_table().kernel_owner(kernel)
    }

    /// The library of NVIDIA's that [`Tables::kernel_owner`] answered with `owner`.
    pub fn kernel_vendor(&self, owner: u16) -> Option<&VendorRow> {
        self.library_table().vendor.get(usize::from(owner))
    }

    /// The known role of a library of a package.
    pub fn role(&self, package: &str, library_path: &str) -> Option<&RoleRow> {
        self.library_table().role(package, library_path)
    }

    /// The siblings that a library of a package belongs to, of which one is loaded.
    pub fn sibling_family(&self, package: &str, library_path: &str) -> Option<&FamilyRow> {
        self.library_table().family(package, library_path)
    }

    /// What is known of a package that compiles device code on the machine that runs it.
    pub fn run_time(&self, package: &str) -> Option<&RunTimeRow> {
        self.library_table().run_time(package)
    }

    /// A package that is published with and without device code under one name.
    pub fn gpu_build(&self, package: &str) -> Option<&GpuBuildRow> {
        self.library_table().gpu_build(package)
    }

    /// The least and the greatest target, without `a` and `f`, among those that toolkits of `versions` compile for;
    /// none where one of them is not known.
    pub fn compile_range(&self, versions: &[ToolkitVersion]) -> Option<(SmTarget, SmTarget)> {
        let mut known = Vec::new();
        for version in versions {
            let row = self
                .toolkit(*version)
                .filter(|row| !row.targets.is_empty())?;
            known.extend(row.targets.iter().map(|target| target.cc));
        }
        let plain = |cc: &ComputeCapability| SmTarget::new(*cc, Suffix::None);
        Some((
            known.iter().min().map(plain)?,
            known.iter().max().map(plain)?,
        ))
    }

    fn gpu_table(&self) -> &GpuTable {
        self.gpus
            .get_or_init(|| parsed(GpuTable::parse(self.texts.gpus)))
    }

    fn arch_table(&self) -> &ArchTable {
        self.archs
            .get_or_init(|| parsed(ArchTable::parse(self.texts.archs)))
    }

    fn toolkit_table(&self) -> &ToolkitTable {
        self.toolkits
            .get_or_init(|| parsed(ToolkitTable::parse(self.texts.toolkits)))
    }

    fn driver_table(&self) -> &DriverTable {
        self.drivers
            .get_or_init(|| parsed(DriverTable::parse(self.texts.drivers)))
    }

    fn pci_table(&self) -> &PciTable {
        self.pci
            .get_or_init(|| parsed(PciTable::parse(self.texts.pci)))
    }

    fn instance_table(&self) -> &InstanceTable {
        self.instances
            .get_or_init(|| parsed(InstanceTable::parse(self.texts.instances)))
    }

    fn compat_table(&self) -> &CompatTable {
        self.compat
            .get_or_init(|| parsed(CompatTable::parse(self.texts.compat)))
    }

    fn error_table(&self) -> &ErrorTable {
        self.errors
            .get_or_init(|| parsed(ErrorTable::parse(self.texts.errors)))
    }

    fn container_table(&self) -> &ContainerTable {
        self.containers
            .get_or_init(|| parsed(ContainerTable::parse(self.texts.containers)))
    }

    fn library_table(&self) -> &LibraryTable {
        self.libraries
            .get_or_init(|| parsed(LibraryTable::parse(self.texts.libraries)))
    }
}

#[cfg(test)]
impl Tables {
    /// The embedded tables, none of which is parsed yet.
    pub(crate) fn unparsed() -> Self {
        Self::new(Texts::BUILTIN)
    }

    /// The files that were parsed.
    pub(crate) fn parsed_files(&self) -> Vec<&'static str> {
        let files = [
            ("gpus", self.gpus.get().is_some()),
            ("archs", self.archs.get().is_some()),
            ("toolkits", self.toolkits.get().is_some()),
            ("drivers", self.drivers.get().is_some()),
            ("libraries", self.libraries.get().is_some()),
            ("pci", self.pci.get().is_some()),
            ("instances", self.instances.get().is_some()),
            ("compat", self.compat.get().is_some()),
            ("errors", self.errors.get().is_some()),
            ("containers", self.containers.get().is_some()),
        ];
        let parsed = files.into_iter().filter(|(_, parsed)| *parsed);
        parsed.map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests;
