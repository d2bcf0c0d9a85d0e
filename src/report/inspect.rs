//! The report of `inspect` for people: what each library holds, without any judgement.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cuda::SmTarget;
use crate::device::ImageKind;
use crate::inventory::{Artifact, Inventory, Library};
use crate::problem::{Problem, ProblemKind};

use super::human::plural;
use super::style::Styles;
use super::{HumanOptions, visible};

/// Writes the report.
pub(super) fn write(
    inventory: &Inventory,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let styles = Styles::new(options.colour);
    for artifact in &inventory.artifacts {
        write_artifact(artifact, styles, options, out)?;
    }
    let sum = |count: fn(&Artifact) -> u64| inventory.artifacts.iter().map(count).sum::<u64>();
    let files = usize::try_from(sum(|artifact| artifact.seen.files)).unwrap_or(usize::MAX);
    let problems = inventory
        .artifacts
        .iter()
        .map(|artifact| artifact.problems.len())
        .sum::<usize>();
    let unopened = sum(|artifact| artifact.seen.unopened);
    write!(
        out,
        "Looked at {}: {} with device code",
        plural(files, "file"),
        sum(|artifact| artifact.seen.with_device_code)
    )?;
    if problems > 0 {
        write!(out, ", {} while reading", plural(problems, "problem"))?;
    }
    if unopened > 0 {
        write!(
            out,
            ", {} not opened",
            plural(
                usize::try_from(unopened).unwrap_or(usize::MAX),
                "compressed file"
            )
        )?;
    }
    writeln!(out)
}

fn write_artifact(
    artifact: &Artifact,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let version = artifact.version.as_deref().unwrap_or_default();
    let kind = artifact.kind.id();
    match &artifact.name {
        Some(name) => {
            let name = format!("{name} {version}");
            writeln!(
                out,
                "{}  {}",
                styles.bold(visible(name.trim_end())),
                styles.dim(format!("{kind}, {}", visible(&artifact.input)))
            )?;
        }
        None => writeln!(
            out,
            "{}  {}",
            styles.bold(visible(&artifact.input)),
            styles.dim(kind)
        )?,
    }
    if artifact.libraries.is_empty() {
        writeln!(out, "  no device code, nothing that links CUDA")?;
    }
    for library in &artifact.libraries {
        write_library(library, artifact, styles, options, out)?;
    }
    write_problems(&artifact.problems, styles, out)?;
    writeln!(out)
}

/// Problems that say the same are shown once, with the first place.
fn write_problems(problems: &[Problem], styles: Styles, out: &mut dyn Write) -> io::Result<()> {
    let mut seen: BTreeMap<(ProblemKind, &str), (&Problem, usize)> = BTreeMap::new();
    for problem in problems {
        seen.entry((problem.kind, &problem.detail))
            .or_insert((problem, 0))
            .1 += 1;
    }
    for (first, count) in seen.values() {
        let kind = styles.bold(first.kind);
        writeln!(out, "  {kind} {}", visible(&first.at.to_string()))?;
        let more = if *count > 1 {
            format!(" (and {} more like it)", count - 1)
        } else {
            String::new()
        };
        writeln!(out, "    {}{more}", visible(&first.detail))?;
        writeln!(out, "    {} {}", styles.bold("next:"), first.kind.hint())?;
    }
    Ok(())
}

/// What of a library's device code is listed on one line.
#[derive(Debug, Default)]
struct Line {
    count: u64,
    bytes: u64,
}

fn write_library(
    library: &Library,
    artifact: &Artifact,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "  {}", styles.bold(visible(&library.path)))?;
    if artifact.name.is_none()
        && let Some(package) = library
            .package
            .and_then(|index| artifact.packages.get(index))
    {
        write!(out, "  {}", styles.dim(visible(&package.name)))?;
    }
    writeln!(out)?;
    let mut facts = Vec::new();
    if library.has_device_code() {
        facts.push(plural(
            usize::try_from(library.fatbins()).unwrap_or(usize::MAX),
            "fatbin",
        ));
    } else {
        facts.push("no device code".to_owned());
    }
    if !library.toolkits.is_empty() {
        let toolkits: Vec<String> = library.toolkits.iter().map(ToString::to_string).collect();
        facts.push(format!("made by CUDA {}", toolkits.join(", ")));
    }
    if library.compiler {
        facts.push("compiles device code at run time".to_owned());
    }
    if let Some(component) = &library.component {
        facts.push(format!("NVIDIA's {component}"));
    }
    if !library.needed_cuda.is_empty() {
        facts.push(format!("needs {}", library.needed_cuda.join(", ")));
    }
    writeln!(out, "    {}", styles.dim(visible(&facts.join("; "))))?;
    for (label, lines) in [
        (
            "machine code",
            tally(library, |kind| kind == ImageKind::Cubin),
        ),
        ("PTX", tally(library, ImageKind::is_ptx)),
        ("LTO-IR", tally(library, |kind| kind == ImageKind::LtoIr)),
        ("other", tally(library, is_other)),
    ] {
        if lines.is_empty() {
            continue;
        }
        let parts: Vec<String> = lines
            .iter()
            .map(|(name, line)| {
                if options.verbose {
                    format!("{name} ×{} ({:.1} MB)", line.count, megabytes(line.bytes))
                } else {
                    format!("{name} ×{}", line.count)
                }
            })
            .collect();
        writeln!(out, "    {label:<12}  {}", parts.join("  "))?;
    }
    Ok(())
}

fn is_other(kind: ImageKind) -> bool {
    !matches!(kind, ImageKind::Cubin | ImageKind::LtoIr) && !kind.is_ptx()
}

fn tally(library: &Library, wanted: impl Fn(ImageKind) -> bool) -> Vec<(String, Line)> {
    let mut lines: BTreeMap<(Option<SmTarget>, ImageKind), (String, Line)> = BTreeMap::new();
    for code in &library.code {
        for image in code
            .class
            .images
            .iter()
            .filter(|image| wanted(image.key.kind))
        {
            let name = image
                .key
                .target_name()
                .unwrap_or_else(|| image.key.kind.to_string());
            let (_, line) = lines
                .entry((image.key.target, image.key.kind))
                .or_insert((name, Line::default()));
            line.count += image.per_fatbin * code.class.count;
            line.bytes = line.bytes.saturating_add(image.bytes);
        }
    }
    lines.into_values().collect()
}

fn megabytes(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = bytes as f64 / 1e6;
    megabytes
}
