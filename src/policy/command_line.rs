//! Targets that are given one by one, as on the command line.
//!
//! Reads the same values as the policy file does. Knows no argument parser and prints nothing.

use super::diag::{Fault, quote};
use super::gpu::GpuKey;
use super::target::{FleetTarget, Tegra};
use super::values;
use crate::tables::Tables;

/// Fleet targets for names of GPUs and compute capabilities, all with one driver and platform. Each
/// GPU once.
pub(super) fn targets(
    specs: &[impl AsRef<str>],
    driver: Option<&str>,
    platform: Option<&str>,
    tables: &Tables,
) -> Result<Vec<FleetTarget>, Fault> {
    let driver = driver.map(values::driver).transpose()?;
    let platform = platform.map(values::platform).transpose()?;
    let mut targets: Vec<FleetTarget> = Vec::new();
    for spec in specs {
        let spec = spec.as_ref().trim();
        if spec.contains(',') {
            let each: Vec<String> = spec
                .split(',')
                .map(str::trim)
                .filter(|one| !one.is_empty())
                .map(|one| {
                    let quote = if one.contains(' ') { "\"" } else { "" };
                    format!("--target {quote}{one}{quote}")
                })
                .collect();
            return Err(
                Fault::new(format!("{} is more than one GPU", quote(spec))).hint(format!(
                    "repeat the option: `{}`; all of them must be able to run the code",
                    each.join(" ")
                )),
            );
        }
        let gpu = GpuKey::guess(spec, tables).read(spec, tables)?;
        let platform = platform.or(gpu.given.platform);
        if targets
            .iter()
            .any(|target| target.gpus.iter().any(|known| known.name == gpu.name))
        {
            continue;
        }
        targets.push(FleetTarget {
            name: values::name(spec)?,
            gpus: vec![gpu],
            driver: driver.clone(),
            platform,
            wsl: false,
            tegra: Tegra::default(),
            allow_jit: Vec::new(),
            python: None,
            glibc: None,
            place: None,
            driver_place: None,
            host_place: None,
        });
    }
    if targets.is_empty() {
        return Err(Fault::new("no target is given")
            .hint("name a GPU or its compute capability: `--target H100`"));
    }
    Ok(targets)
}
