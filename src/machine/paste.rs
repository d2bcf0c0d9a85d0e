//! A machine as a fleet target, in the words of a policy file.

use std::fmt::Write as _;

use crate::cuda::ComputeCapability;
use crate::tables::Tables;

use super::{LocalGpu, Machine, by_name};

/// The name of the target.
const NAME: &str = "this-machine";

pub(super) fn target(machine: &Machine, driver: Option<&str>, tables: &Tables) -> Option<String> {
    let mut known: Vec<(&LocalGpu, ComputeCapability)> = Vec::new();
    for gpu in &machine.gpus {
        if let Some(cc) = gpu.cc
            && !known
                .iter()
                .any(|(other, at)| *at == cc && other.name == gpu.name)
        {
            known.push((gpu, cc));
        }
    }
    if known.is_empty() {
        return None;
    }
    let names: Option<Vec<&str>> = known
        .iter()
        .map(|(gpu, cc)| {
            gpu.name
                .as_deref()
                .filter(|name| by_name(name, tables) == Some(*cc))
        })
        .collect();
    let (key, values) = if let Some(names) = names {
        ("gpu", names.into_iter().map(quoted).collect::<Vec<_>>())
    } else {
        // a name that is not in the tables, or that several capabilities have
        let mut capabilities: Vec<ComputeCapability> = known.iter().map(|(_, cc)| *cc).collect();
        capabilities.sort_unstable();
        capabilities.dedup();
        let quoted = capabilities.iter().map(|cc| quoted(&cc.to_string()));
        ("cc", quoted.collect())
    };
    let mut text = format!("  - name: {NAME}\n");
    let values = match &values[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let _ = writeln!(text, "    {key}: {values}");
    let found = machine
        .driver
        .as_ref()
        .map(|driver| driver.version.to_string());
    if let Some(driver) = driver.map(ToOwned::to_owned).or(found) {
        let _ = writeln!(text, "    driver: {}", quoted(&driver));
    }
    if let Some(platform) = machine.platform {
        let _ = writeln!(text, "    platform: {platform}");
    }
    if machine.wsl {
        text.push_str("    wsl: true\n");
    }
    Some(text)
}

/// A YAML scalar in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
