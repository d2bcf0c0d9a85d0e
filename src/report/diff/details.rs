//! What each package holds before and after, and what is found that was not.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::device::CodeForm;
use crate::rule::Level;
use crate::verdict::compare::{CodeKey, Content, FindingChange, PackageChange, Pair, library_stem};
use crate::verdict::megabytes;

use super::super::style::Styles;
use super::headline::{difference, name, toolkits};
use super::{HumanOptions, listed, plural, visible, wrapped};

/// The column in which the words of a detail begin.
const INDENT: usize = 18;

/// Writes the details of a pair.
pub(super) fn write(
    pair: &Pair,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let about_gpus = |change: &&PackageChange| change.is_about_gpus();
    let (shown, others): (Vec<&PackageChange>, Vec<&PackageChange>) =
        pair.packages.iter().partition(about_gpus);
    let several = pair.packages.len() as u64 + pair.unchanged > 1;
    for change in shown {
        let lines = lines(change, options);
        if lines.is_empty() && !several {
            continue;
        }
        writeln!(out)?;
        if several {
            writeln!(out, "  {}", styles.bold(visible(&titled(change))))?;
        }
        for (head, text) in lines {
            let text = wrapped(&visible(&text), INDENT, options.width);
            writeln!(out, "    {head:<12}  {text}")?;
        }
    }
    if several {
        write_others(&others, options, out)?;
    }
    write_findings(&pair.findings, several, styles, options, out)
}

/// `torch 2.8.0 -> 2.9.1`, `torch 2.9.1, new`.
fn titled(change: &PackageChange) -> String {
    let version = |content: &Content| content.version.clone();
    let name = name(change);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => match (version(before), version(after)) {
            (Some(before), Some(after)) if before != after => format!("{name} {before} -> {after}"),
            (_, Some(same)) => format!("{name} {same}"),
            _ => name.to_owned(),
        },
        (None, Some(only)) => format!("{name} {}, new", version(only).unwrap_or_default()),
        (Some(only), None) => format!("{name} {}, gone", version(only).unwrap_or_default()),
        (None, None) => name.to_owned(),
    }
}

/// What a package holds and held, line by line; lines that say that nothing changes are left out.
fn lines(change: &PackageChange, options: HumanOptions) -> Vec<(String, String)> {
    let empty = Content::default();
    let before = change.before.as_ref().unwrap_or(&empty);
    let after = change.after.as_ref().unwrap_or(&empty);
    let mut lines = Vec::new();
    let mut add = |head: &str, text: Option<String>| {
        lines.extend(text.map(|text| (head.to_owned(), text)));
    };
    add(
        "device code",
        sizes(before.code_bytes(false), after.code_bytes(false)),
    );
    for form in CodeForm::ALL {
        add(&form.to_string(), code(before, after, *form, options));
    }
    add(
        "NVIDIA's",
        sizes(before.code_bytes(true), after.code_bytes(true)),
    );
    add("made by", toolkits(change));
    add("needs", needs(&before.needs, &after.needs));
    add(
        "libraries",
        libraries(&before.libraries, &after.libraries, options),
    );
    if before.file != after.file {
        let file = |content: &Content| content.file.clone().unwrap_or_else(|| "no file".to_owned());
        add("file", Some(format!("{} -> {}", file(before), file(after))));
    }
    lines
}

fn sizes(before: u64, after: u64) -> Option<String> {
    let difference = difference(before, after)?;
    Some(format!(
        "{} -> {} ({difference})",
        megabytes(before),
        megabytes(after)
    ))
}

/// What own code of a form is gone or new, and what has less than half or more than twice the share that it had.
fn code(
    before: &Content,
    after: &Content,
    form: CodeForm,
    options: HumanOptions,
) -> Option<String> {
    let of_form = |content: &Content| -> BTreeMap<CodeKey, u64> {
        let own = content.code.iter();
        let own = own.filter(|(key, _)| key.form == form && !key.carried);
        own.map(|(key, bytes)| (key.clone(), *bytes)).collect()
    };
    let (before, after) = (of_form(before), of_form(after));
    let total = |code: &BTreeMap<CodeKey, u64>| code.values().map(|bytes| u128::from(*bytes)).sum();
    let (all_before, all_after): (u128, u128) = (total(&before), total(&after));
    let keys: BTreeSet<&CodeKey> = before.keys().chain(after.keys()).collect();
    let (mut gone, mut new, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for key in keys {
        let name = &key.name;
        match (before.get(key), after.get(key)) {
            (Some(was), None) => gone.push(format!("{name} ({})", megabytes(*was))),
            (None, Some(is)) => new.push(format!("{name} ({})", megabytes(*is))),
            (Some(was), Some(is)) => {
                let share_before = u128::from(*was).saturating_mul(all_after);
                let share_after = u128::from(*is).saturating_mul(all_before);
                let far = share_after.saturating_mul(2) < share_before
                    || share_before.saturating_mul(2) < share_after;
                if (far || options.verbose) && difference(*was, *is).is_some() {
                    other.push(format!("{name} {} -> {}", megabytes(*was), megabytes(*is)));
                }
            }
            (None, None) => {}
        }
    }
    let parts = [("gone ", gone), ("new ", new), ("", other)];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts
        .map(|(head, names)| format!("{head}{}", names.join(", ")))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `libcudart.so.12 -> libcudart.so.13`, and what has no partner.
fn needs(before: &BTreeSet<String>, after: &BTreeSet<String>) -> Option<String> {
    let mut gone: Vec<&String> = before.difference(after).collect();
    let mut new: Vec<&String> = after.difference(before).collect();
    let mut parts = Vec::new();
    for name in gone.clone() {
        let alike = |names: &[&String]| -> Vec<usize> {
            let places = names.iter().enumerate();
            let places = places.filter(|(_, other)| stem(other) == stem(name));
            places.map(|(index, _)| index).collect()
        };
        if let ([at], [partner]) = (alike(&gone).as_slice(), alike(&new).as_slice()) {
            gone.remove(*at);
            parts.push(format!("{name} -> {}", new.remove(*partner)));
        }
    }
    let names = |names: Vec<&String>| -> Vec<String> { names.into_iter().cloned().collect() };
    let (gone, new) = (names(gone), names(new));
    if !gone.is_empty() {
        parts.push(format!("no longer {}", listed(&gone)));
    }
    if !new.is_empty() {
        parts.push(format!("new {}", listed(&new)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What stays of the name of a library from version to version: `libcudart` of `libcudart-5a077122.so.12.0.107`,
/// `cudart64` of `cudart64_12.dll`.
fn stem(name: &str) -> &str {
    let name = name.split(".so").next().unwrap_or(name);
    let name = name.split('-').next().unwrap_or(name);
    let name = name.strip_suffix(".dll").unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_')
}

fn libraries(
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
    options: HumanOptions,
) -> Option<String> {
    let said = |what: &str, names: Vec<String>| {
        let names = if options.verbose {
            names.join(", ")
        } else {
            listed(&names)
        };
        (!names.is_empty()).then(|| format!("{what} {names}"))
    };
    let only = |names: &BTreeSet<String>, others: &BTreeSet<String>| -> Vec<String> {
        let others: BTreeSet<&str> = others.iter().map(|name| library_stem(name)).collect();
        let names = names
            .iter()
            .filter(|name| !others.contains(library_stem(name)));
        names.cloned().collect()
    };
    let parts = [
        said("gone", only(before, after)),
        said("new", only(after, before)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Packages without device code, in one line.
fn write_others(
    others: &[&PackageChange],
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names: Vec<String> = others.iter().map(|change| titled(change)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let names = if options.verbose {
        names.join(", ")
    } else {
        listed(&names)
    };
    let text = format!("without device code: {names}");
    writeln!(out, "\n  {}", wrapped(&visible(&text), 2, options.width))
}

/// What is found that was not: each rule once, with what it says of the first target.
fn write_findings(
    findings: &[FindingChange],
    several: bool,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_new = |finding: &&FindingChange| {
        (finding.after > finding.before || !finding.new.is_empty())
            && (options.verbose || finding.level > Level::Allow)
    };
    let mut groups: Vec<(&FindingChange, Vec<&FindingChange>)> = Vec::new();
    for finding in findings.iter().filter(is_new) {
        let same = groups.iter_mut().find(|(first, _)| {
            (first.level, first.code, &first.package, &first.new)
                == (finding.level, finding.code, &finding.package, &finding.new)
        });
        match same {
            Some((_, more)) => more.push(finding),
            None => groups.push((finding, Vec::new())),
        }
    }
    let line = |text: &str| wrapped(&visible(text), 2, options.width);
    for (first, more) in groups {
        let targets = std::iter::once(&first).chain(&more);
        let mut targets: Vec<String> = targets.filter_map(|one| one.target.clone()).collect();
        targets.dedup();
        writeln!(
            out,
            "\nnew: {} {}  {}",
            styles.level(first.level),
            styles.bold(first.code),
            visible(&listed(&targets))
        )?;
        let package = first.package.as_ref().filter(|_| several);
        let subject: Vec<String> = package
            .cloned()
            .into_iter()
            .chain((!first.new.is_empty()).then(|| listed(&first.new)))
            .collect();
        if !subject.is_empty() {
            writeln!(out, "  {}", line(&subject.join(" › ")))?;
        }
        writeln!(out, "  {}", line(&first.message))?;
        if !more.is_empty() {
            let gpus = more.iter().filter_map(|one| one.gpu.clone());
            let mut gpus: Vec<String> = gpus.collect();
            gpus.dedup();
            let like = if gpus.is_empty() {
                plural(more.len() as u64, "more like it")
            } else {
                format!("the like for {}", listed(&gpus))
            };
            writeln!(out, "  - {}", line(&like))?;
        }
        let next = wrapped(&visible(&first.next_step), 8, options.width);
        writeln!(out, "  {} {next}", styles.bold("next:"))?;
    }
    Ok(())
}
