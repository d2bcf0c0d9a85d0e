//! The report of `inspect` for people: what each library holds, without any judgement.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cuda::SmTarget;
use crate::device::{CodeForm, ImageKind};
use crate::inventory::{Artifact, Inventory, Library};
use crate::problem::{Problem, ProblemKind};
use crate::tables::Tables;
use crate::verdict::megabytes;

use super::hidden;
use super::kernels;
use super::locked;
use super::style::Styles;
use super::text::{Look, plural, wrapped, write_looked_at, write_tables};
use super::{HumanOptions, visible};

/// Writes the report.
pub(super) fn write(
    inventory: &Inventory,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let styles = Styles::new(options.colour);
    for (artifact, title) in inventory.artifacts.iter().zip(inventory.titles()) {
        write_artifact(artifact, &title, styles, options, out)?;
    }
    let locks = inventory
        .artifacts
        .iter()
        .filter_map(|artifact| Some((artifact.lock.as_deref()?, artifact.problems.as_slice())));
    if let Some(line) = locked::summary(locks) {
        writeln!(out, "{line}")?;
    }
    write_looked_at(inventory.artifacts.iter().map(look), out)?;
    match &inventory.tables {
        Some(tables) => write_tables(tables, styles, out),
        None => Ok(()),
    }
}

fn look(artifact: &Artifact) -> Look<'_> {
    Look {
        kind: artifact.kind,
        seen: artifact.seen,
        fetched: artifact.fetched.as_ref(),
        problems: artifact.problems.len(),
    }
}

fn write_artifact(
    artifact: &Artifact,
    title: &str,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let version = artifact.version.as_deref().unwrap_or_default();
    let kind = match &artifact.image {
        Some(image) => {
            let platform = image.platform.as_deref().unwrap_or("of no known platform");
            let layers = plural(image.layers.len() as u64, "layer");
            format!("image, {}, {layers}", visible(platform))
        }
        None => match &artifact.lock {
            Some(lock) => format!("{}, for {}", lock.kind.title(), visible(&lock.title())),
            None => artifact.kind.id().to_owned(),
        },
    };
    match &artifact.name {
        Some(name) => {
            let name = format!("{name} {version}");
            writeln!(
                out,
                "{}  {}",
                styles.bold(visible(name.trim_end())),
                styles.dim(format!("{kind}, {}", visible(title)))
            )?;
        }
        None => writeln!(out, "{}  {}", styles.bold(visible(title)), styles.dim(kind))?,
    }
    if let Some(lock) = &artifact.lock {
        locked::write(artifact, lock, styles, options, out)?;
    }
    let packages = artifact.packages.iter();
    let known = packages.filter_map(|package| {
        let with = Tables::builtin().run_time(&package.name)?.with.as_ref()?;
        Some((&package.name, with))
    });
    let mut compiles = false;
    for (package, with) in known {
        compiles = true;
        let line = format!("{package} compiles device code at run time with {with}");
        writeln!(out, "  {}", visible(&line))?;
    }
    if artifact.libraries.is_empty() {
        let unread = artifact.lock.as_ref().map_or(0, |lock| lock.unread());
        if unread > 0 {
            let packages = plural(unread, "package");
            writeln!(
                out,
                "  nothing is said of the code of {packages}, of which no file was read"
            )?;
        }
        let nothing =
            (!compiles && unread == 0).then_some("no device code, nothing that links CUDA");
        let why = look(artifact)
            .why_none()
            .filter(|_| artifact.lock.is_none());
        if let Some(why) = why.or(nothing) {
            writeln!(out, "  {why}")?;
        }
    }
    for library in &artifact.libraries {
        write_library(library, artifact, styles, options, out)?;
    }
    if let Some(image) = &artifact.image {
        hidden::write(&image.hidden, options, out)?;
    }
    write_problems(&artifact.problems, styles, options, out)?;
    writeln!(out)
}

/// Problems that say the same are shown once, with the first place.
fn write_problems(
    problems: &[Problem],
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
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
        let hint = wrapped(first.kind.hint(), 10, options.width);
        writeln!(out, "    {} {hint}", styles.bold("next:"))?;
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
    facts.push(units(library));
    if !library.toolkits.is_empty() {
        let toolkits: Vec<String> = library.toolkits.iter().map(ToString::to_string).collect();
        facts.push(format!("made by CUDA {}", toolkits.join(", ")));
    }
    if library.compiler {
        facts.push(compiles(library));
    }
    if let Some(component) = &library.component {
        facts.push(format!("NVIDIA's {component}"));
    }
    if !library.needed_cuda.is_empty() {
        facts.push(format!("needs {}", library.needed_cuda.join(", ")));
    }
    writeln!(out, "    {}", styles.dim(visible(&facts.join("; "))))?;
    for form in CodeForm::ALL {
        let lines = tally(library, *form);
        if lines.is_empty() {
            continue;
        }
        let parts: Vec<String> = lines
            .iter()
            .map(|(name, line)| {
                if options.verbose {
                    format!("{name} ×{} ({})", line.count, megabytes(line.bytes))
                } else {
                    format!("{name} ×{}", line.count)
                }
            })
            .collect();
        writeln!(out, "    {form:<12}  {}", parts.join("  "))?;
    }
    kernels::write_library(library, options, out)
}

/// What a compiler says of itself.
fn compiles(library: &Library) -> String {
    let versions = library.compilers.iter().map(ToString::to_string);
    let versions: Vec<String> = versions.collect();
    let of = match versions.as_slice() {
        [] => String::new(),
        some => format!(": CUDA {}", some.join(", ")),
    };
    let range = Tables::builtin().compile_range(&library.compilers);
    let knows = range.map_or_else(String::new, |(first, last)| {
        format!(" (knows {first} to {last})")
    });
    format!("compiles device code at run time{of}{knows}")
}

/// What of its code is listed by itself: fatbins, and images outside them.
fn units(library: &Library) -> String {
    let bare = library.code.iter().filter(|code| code.class.bare);
    let bare = bare.fold(0_u64, |sum, code| sum.saturating_add(code.class.count));
    match (library.fatbins(), bare) {
        (0, 0) => "no device code".to_owned(),
        (0, bare) => format!("{}, in no fatbin", plural(bare, "device image")),
        (fatbins, 0) => plural(fatbins, "fatbin"),
        (fatbins, bare) => format!(
            "{}, and {} outside them",
            plural(fatbins, "fatbin"),
            plural(bare, "device image")
        ),
    }
}

/// Images of one form, by target.
fn tally(library: &Library, form: CodeForm) -> Vec<(String, Line)> {
    let mut lines: BTreeMap<(Option<SmTarget>, ImageKind), (String, Line)> = BTreeMap::new();
    for class in library.code.iter().map(|code| &code.class) {
        let images = class.images.iter();
        for image in images.filter(|image| CodeForm::of(class, image.key.kind) == form) {
            let name = image
                .key
                .target_name()
                .unwrap_or_else(|| image.key.kind.to_string());
            let (_, line) = lines
                .entry((image.key.target, image.key.kind))
                .or_insert((name, Line::default()));
            line.count = line
                .count
                .saturating_add(image.per_fatbin.saturating_mul(class.count));
            line.bytes = line.bytes.saturating_add(image.bytes);
        }
    }
    lines.into_values().collect()
}
