//! Targets that are the machine that checks: `host: true`.
//!
//! Looks at no machine: the caller does, and gives what it found. A policy with such targets can be read, linted
//! and shown without one.

use super::Policy;
use super::diag::{Diagnostics, Fault};
use super::place::Place;
use super::target::FleetTarget;
use crate::Error;

impl Policy {
    /// Whether a target is the machine that checks, so that [`Policy::with_host`] has to say what that is.
    pub fn asks_for_host(&self) -> bool {
        self.targets.iter().any(FleetTarget::is_host)
    }

    /// Puts the GPUs, the driver and the platform of the first target of `host` into the targets that are the
    /// machine that checks. A driver that such a target names stays.
    ///
    /// # Errors
    ///
    /// Why this machine is no target, at every place that asks for it.
    pub fn with_host(mut self, host: Result<&Self, &Error>) -> Result<Self, Diagnostics> {
        let places = self
            .targets
            .iter()
            .filter_map(|target| target.host_place.as_ref());
        let host = match host {
            Ok(host) => host.targets.first(),
            Err(error) => {
                let mistake = |place: &Place| {
                    let fault = Fault::new(error.to_string());
                    let fault = match error.hint() {
                        Some(hint) => fault.hint(hint),
                        None => fault,
                    };
                    fault.at(&place.span).in_file(place.file)
                };
                let mistakes = places.map(mistake).collect();
                return Err(Diagnostics::new(self.files, mistakes));
            }
        };
        let ours = self.targets.iter_mut().filter(|target| target.is_host());
        for (target, host) in ours.zip(host.into_iter().cycle()) {
            target.gpus.clone_from(&host.gpus);
            target.driver = target.driver.take().or_else(|| host.driver.clone());
            target.platform = host.platform;
            target.wsl = host.wsl;
        }
        Ok(self)
    }
}
