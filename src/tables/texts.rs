//! The texts of the table files, as they are embedded.

/// The texts of the table files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts {
    pub(super) gpus: &'static str,
    pub(super) archs: &'static str,
    pub(super) toolkits: &'static str,
    pub(super) drivers: &'static str,
    pub(super) libraries: &'static str,
    pub(super) pci: &'static str,
    pub(super) instances: &'static str,
    pub(super) compat: &'static str,
    pub(super) errors: &'static str,
    pub(super) containers: &'static str,
}

impl Texts {
    pub(super) const BUILTIN: Self = Self {
        gpus: include_str!("gpus.yaml"),
        archs: include_str!("archs.yaml"),
        toolkits: include_str!("toolkits.yaml"),
        drivers: include_str!("drivers.yaml"),
        libraries: include_str!("libraries.yaml"),
        pci: include_str!("pci.yaml"),
        instances: include_str!("instances.yaml"),
        compat: include_str!("forward_compat.yaml"),
        errors: include_str!("errors.yaml"),
        containers: include_str!("containers.yaml"),
    };

    /// All of them, in the order of the digest.
    pub(super) fn all(&self) -> [&'static str; 10] {
        [
            self.gpus,
            self.archs,
            self.toolkits,
            self.drivers,
            self.libraries,
            self.pci,
            self.instances,
            self.compat,
            self.errors,
            self.containers,
        ]
    }
}
