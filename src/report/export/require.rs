//! `NVIDIA_REQUIRE_CUDA` for a Dockerfile: the line, and in comments why it is as it is.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::cuda::DriverBranch;
use crate::export::{Claim, Difference, Needs, OnCapability, Part, RequireCuda, Runs};
use crate::inventory::{Artifact, Inventory};
use crate::platform::Os;
use crate::tables::Tables;
use crate::verdict::{Floor, Mechanism, image};

use super::super::text::listed;
use super::{comment, not_read, nothing_found};

/// The longest claim of an image that is repeated.
const CLAIM_MAX: usize = 60;

/// Writes a block for each artifact.
pub(super) fn write(
    inventory: &Inventory,
    needs: &[Needs],
    tables: &Tables,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, (artifact, needs)) in inventory.artifacts.iter().zip(needs).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let required = of(artifact, needs, tables);
        for line in why(artifact, needs, &required, tables) {
            out.write_all(comment(&line).as_bytes())?;
        }
        if let Some(value) = &required.value {
            writeln!(out, "ENV NVIDIA_REQUIRE_CUDA=\"{value}\"")?;
        }
    }
    Ok(())
}

/// Writes the values alone, with the reasons beside them.
pub(super) fn write_values(
    inventory: &Inventory,
    needs: &[Needs],
    tables: &Tables,
    out: &mut dyn Write,
    remarks: &mut dyn Write,
) -> io::Result<()> {
    for (artifact, needs) in inventory.artifacts.iter().zip(needs) {
        let required = of(artifact, needs, tables);
        for line in why(artifact, needs, &required, tables) {
            remarks.write_all(comment(&line).as_bytes())?;
        }
        writeln!(out, "{}", required.value.unwrap_or_default())?;
    }
    Ok(())
}

fn of(artifact: &Artifact, needs: &Needs, tables: &Tables) -> RequireCuda {
    let image = artifact.image.as_deref();
    let env = image.map(|facts| image::env(facts, tables));
    let package = image
        .zip(env.as_ref())
        .and_then(|(facts, env)| image::forward_package(facts, env, tables));
    RequireCuda::of(needs, package.as_ref(), tables)
}

/// Why the line is as it is, a sentence an item.
fn why(artifact: &Artifact, needs: &Needs, required: &RequireCuda, tables: &Tables) -> Vec<String> {
    let platform = artifact.image.as_ref();
    let platform = platform.and_then(|image| image.platform.as_deref());
    // the first line of a Dockerfile could be a directive, `# syntax=…`: this is none whatever the name
    let mut lines = vec![match platform {
        Some(platform) => format!("for {} ({platform})", needs.title),
        None => format!("for {}", needs.title),
    }];
    if needs.os != Os::Linux {
        lines.push(
            "it is for Windows; `NVIDIA_REQUIRE_CUDA` is read where Linux containers start"
                .to_owned(),
        );
    } else if !needs.is_of_cuda() {
        lines.push(nothing_found(needs, "it requires nothing"));
    } else if required.parts.is_empty() {
        let so = match required.value {
            Some(_) => "the line lets no GPU in",
            None => "what was not read may run elsewhere, so that there is no line",
        };
        lines.push(format!(
            "its code runs on no GPU that the tables know: {so}"
        ));
    }
    lines.extend(required.parts.iter().map(of_part));
    lines.extend(hosts(&required.parts));
    if needs.has_device_code {
        lines.extend(not_run(needs, required));
    }
    if needs.os == Os::Linux {
        lines.extend(unknown(needs, required));
    }
    if let Some(facts) = &artifact.image
        && required.value.is_some()
    {
        let env = image::env(facts, tables);
        lines.extend(claimed(
            &Claim::of(&env.requirements, required, tables),
            tables,
        ));
    }
    lines
}

/// `compute capability 7.5 to 9.0: driver 525.60.13 or newer, because of the CUDA 12 runtime in lib/a.so`.
fn of_part(part: &Part) -> String {
    let Some(floor) = &part.floor else {
        return format!("compute capability {part}: no driver that it needs is known");
    };
    let Floor {
        driver,
        mechanism,
        culprit,
    } = floor;
    let place = match culprit {
        Some(culprit) => format!(" in {culprit}"),
        None => String::new(),
    };
    if part.asks_for_gpu_only() {
        format!(
            "compute capability {part}: driver {driver} or newer, the first that knows {mechanism}"
        )
    } else {
        format!(
            "compute capability {part}: driver {driver} or newer, because of {mechanism}{place}"
        )
    }
}

/// The older hosts on which the image's own driver helps.
fn hosts(parts: &[Part]) -> Option<String> {
    let hosts = parts.iter().flat_map(|part| &part.hosts);
    let branches: BTreeSet<DriverBranch> = hosts.map(|host| host.branch).collect();
    let branches: Vec<String> = branches.iter().map(ToString::to_string).collect();
    (!branches.is_empty()).then(|| {
        format!(
            "its forward compatibility package (`cuda-compat`) makes up for older drivers, of {}, on GPUs of the \
             brands that are listed",
            listed(&branches)
        )
    })
}

/// For which GPUs there is nothing in it, and of which package.
fn not_run(needs: &Needs, required: &RequireCuda) -> Vec<String> {
    let first = required
        .parts
        .first()
        .and_then(|part| part.capabilities.first());
    let Some(first) = first else {
        return Vec::new();
    };
    let known = needs.on.iter().filter(|on| on.known);
    let older: Vec<_> = known.clone().filter(|on| on.cc < *first).collect();
    let mut lines = Vec::new();
    if let Some(newest) = older.last() {
        lines.push(format!("{} and older: {}", newest.cc, lacking(newest)));
    }
    let mut newer: Vec<(String, Vec<String>)> = Vec::new();
    for on in needs
        .on
        .iter()
        .filter(|on| on.runs == Runs::No && on.cc > *first)
    {
        let why = lacking(on);
        let name = if on.known {
            on.cc.to_string()
        } else if needs.on.last() == Some(on) {
            format!("{} and newer", on.cc)
        } else {
            continue;
        };
        match newer.last_mut() {
            Some((same, names)) if *same == why => names.push(name),
            _ => newer.push((why, vec![name])),
        }
    }
    lines.extend(
        newer
            .into_iter()
            .map(|(why, names)| format!("{}: {why}", listed(&names))),
    );
    lines
}

fn lacking(on: &OnCapability) -> String {
    let Some((package, message)) = &on.lacking else {
        return "no code".to_owned();
    };
    // so that the same is said once for several
    let message = message.replace(&format!(" for compute capability {}", on.cc), "");
    match package {
        Some(package) => format!("{message} ({package})"),
        None => message,
    }
}

/// What is not known, and so not in the line.
fn unknown(needs: &Needs, required: &RequireCuda) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(not_read(needs));
    let unsure: Vec<String> = needs
        .covered()
        .filter(|on| on.runs == Runs::Unsure)
        .map(|on| on.cc.to_string())
        .collect();
    if !unsure.is_empty() {
        lines.push(format!(
            "not known: whether code for desktop GPUs runs on Tegra or the other way round ({}); it is not excluded",
            listed(&unsure)
        ));
    }
    if needs.compiles {
        lines.push(
            "not known: what it compiles at run time; its compiler decides for which GPUs and drivers"
                .to_owned(),
        );
    }
    let inferred = required.parts.iter().filter_map(|part| part.floor.as_ref());
    let mut inferred = inferred.filter(|floor| matches!(floor.mechanism, Mechanism::Toolkit(_)));
    if inferred.next().is_some() {
        lines.push(
            "inferred: it links the CUDA runtime statically or not at all, and the toolkit that made its code is \
             taken for the runtime's version"
                .to_owned(),
        );
    }
    lines
}

/// How what it claims today differs.
fn claimed(claim: &Claim, tables: &Tables) -> Vec<String> {
    if claim.variables.is_empty() {
        return vec!["today it claims nothing, so that it starts on every driver".to_owned()];
    }
    let mut lines = Vec::new();
    let shown: Vec<String> = claim.variables.iter().map(|text| shortened(text)).collect();
    let switched_off = if claim.disabled {
        ", and switches the check off"
    } else {
        ""
    };
    lines.push(format!(
        "today it claims `{}`{switched_off}",
        shown.join("` and `")
    ));
    for difference in &claim.differences {
        lines.extend(differs(difference, tables));
    }
    if claim.differences.is_empty() && !claim.disabled {
        lines.push("which accepts the same drivers".to_owned());
    }
    if !claim.names_gpus {
        lines.push("it accepts every GPU, also those without code".to_owned());
    }
    lines
}

fn differs(difference: &Difference, tables: &Tables) -> Vec<String> {
    let Difference {
        brand,
        refused,
        accepted,
        ..
    } = difference;
    let mut lines = Vec::new();
    if !refused.is_empty() {
        let ranges = ranges(refused, tables);
        lines.push(format!(
            "it refuses {ranges} (brand {brand}), where the code runs"
        ));
    }
    if !accepted.is_empty() {
        let ranges = ranges(accepted, tables);
        lines.push(format!(
            "it accepts {ranges} (brand {brand}), where the code does not run on all of these GPUs"
        ));
    }
    lines
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= CLAIM_MAX {
        return text.to_owned();
    }
    let start: String = text.chars().take(CLAIM_MAX).collect();
    format!("{start}…")
}

/// `R525 to R565 and R575`: branches side by side in the tables are a range.
fn ranges(branches: &[DriverBranch], tables: &Tables) -> String {
    let mut ranges: Vec<Vec<DriverBranch>> = Vec::new();
    let mut beside = false;
    for row in tables.branches() {
        if !branches.contains(&row.branch) {
            beside = false;
            continue;
        }
        match ranges.last_mut() {
            Some(range) if beside => range.push(row.branch),
            _ => ranges.push(vec![row.branch]),
        }
        beside = true;
    }
    let named = ranges.iter().filter_map(|range| match range.as_slice() {
        [first, .., last] => Some(format!("{first} to {last}")),
        [only] => Some(only.to_string()),
        [] => None,
    });
    listed(&named.collect::<Vec<_>>())
}
