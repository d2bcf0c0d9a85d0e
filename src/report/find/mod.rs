//! The report of `find` for people: of each target what runs and how it is installed, then what does not and why.

pub(super) mod document;

use std::io::{self, Write};

use crate::find::{Available, Failing, Found, OfSeries, OnTarget, Running, Runs};
use crate::verdict::megabytes;

use super::style::Styles;
use super::text::{plural, wrapped, write_tables};
use super::{HumanOptions, visible};

/// Where the second column begins.
const INDENT: usize = 12;

const NATIVELY: &str = "natively";
const BY_JIT: &str = "by JIT";

/// Writes the report.
pub(super) fn write(found: &Found, options: HumanOptions, out: &mut dyn Write) -> io::Result<()> {
    let styles = Styles::new(options.colour);
    for target in &found.targets {
        writeln!(out, "{}", styles.bold(visible(&headline(target))))?;
        write_target(found, target, styles, options, out)?;
        writeln!(out)?;
    }
    write_sum(found, options, out)?;
    write_tables(&found.tables, styles, out)
}

/// `GTX 1060 (6.1), driver R580`, with the name of the target before it where that says more.
fn headline(target: &OnTarget) -> String {
    let gpus = target.gpus.join(", ");
    let bare = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let mut text = if bare(&gpus).contains(&bare(&target.name)) {
        gpus
    } else {
        format!("{}: {gpus}", target.name)
    };
    match &target.driver {
        Some(driver) => text = format!("{text}, driver {driver}"),
        None => text.push_str(", no driver given"),
    }
    text
}

fn write_target(
    found: &Found,
    target: &OnTarget,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let has_driver = target.driver.is_some();
    let native = target.series.iter().filter_map(|of| of.native.as_ref());
    let jit = target.series.iter().filter_map(|of| of.jit.as_ref());
    let native = native.map(|running| (NATIVELY, running));
    for (word, running) in native.chain(jit.map(|running| (BY_JIT, running))) {
        let text = running_line(found, running, word == BY_JIT, has_driver);
        let text = wrapped(&visible(&text), INDENT, options.width);
        writeln!(out, "  {}{text}", styles.bold(in_column(word)))?;
        // commands are copied, so that they are not wrapped
        for command in [&running.install.pip, &running.install.uv] {
            writeln!(out, "  {}{}", in_column(""), visible(command))?;
        }
    }
    let mut line = |word: &str, text: &str| {
        let text = wrapped(&visible(text), INDENT, options.width);
        writeln!(out, "  {}{text}", in_column(word))
    };
    for series in &target.series {
        if let Some(failing) = &series.newest {
            let word = if failing.is_read { "not" } else { "not read" };
            line(word, &failing_line(found, series, failing))?;
        }
        if let Some(text) = rest_of(found, target, series) {
            line("", &text)?;
        }
    }
    if target.series.is_empty() {
        line("not", "no index has a wheel of it for this machine")?;
    }
    Ok(())
}

/// What is to be said of the builds of a series that are not named.
fn rest_of(found: &Found, target: &OnTarget, series: &OfSeries) -> Option<String> {
    let nothing = series.native.is_none() && series.jit.is_none();
    if series.cut {
        let unread = plural(series.builds.saturating_sub(series.read), "build");
        let name = of_label(found, series);
        let most = found.most;
        return Some(format!(
            "{unread} of {name} not looked at: `--most {most}` were read"
        ));
    }
    if nothing && series.gpu_too_new && series.read == 1 && series.builds > 1 {
        let gpus = target.gpus.join(", ");
        return Some(format!(
            "older builds were not looked at: {gpus} is newer than all code in this one"
        ));
    }
    (nothing && series.read > 1).then(|| {
        let older = plural(series.read - 1, "older build");
        format!("nor {older} of {} that were read", of_label(found, series))
    })
}

/// A word in the first column.
fn in_column(word: &str) -> String {
    format!("{word:<0$}", INDENT - 2)
}

fn running_line(found: &Found, running: &Running, by_jit: bool, has_driver: bool) -> String {
    let size = running
        .size
        .map_or_else(String::new, |size| format!(", {}", megabytes(size)));
    let mut text = format!(
        "{} {} ({}{size})",
        found.name, running.version, running.file
    );
    if by_jit {
        text.push_str(": the driver compiles it at first use");
    }
    if let (false, Some(driver)) = (has_driver, &running.minimum_driver) {
        text = format!("{text}; needs driver {driver} or newer");
    }
    if !running.warnings.is_empty() {
        let codes: Vec<&str> = running.warnings.iter().map(|code| code.id()).collect();
        text = format!("{text}; warns of {}", codes.join(", "));
    }
    text
}

fn failing_line(found: &Found, series: &OfSeries, failing: &Failing) -> String {
    let label = series.label.as_ref();
    let newest = label.map_or_else(
        || "the newest".to_owned(),
        |label| format!("the newest of +{label}"),
    );
    let mut text = format!("{} {} ({newest})", found.name, failing.version);
    if let Some(why) = &failing.why {
        if let Some(code) = why.code {
            text = format!("{text}: {code}");
        }
        text = format!("{text}: {}", why.message);
    }
    text
}

/// `+cu126 at https://…`
fn of_label(found: &Found, series: &OfSeries) -> String {
    let index = found.indexes.get(series.index);
    let index = index.map_or("", |(address, _)| address.as_str());
    match &series.label {
        Some(label) => format!("+{label} at {index}"),
        None => format!("{} at {index}", found.name),
    }
}

/// How much was looked at, and what was passed over.
fn write_sum(found: &Found, options: HumanOptions, out: &mut dyn Write) -> io::Result<()> {
    let builds: u64 = found.environments.iter().map(|of| of.builds).sum();
    let mut text = format!("Read {} of {}", found.read, plural(builds, "build"));
    if found.fetched > 0 {
        text = format!("{text}, of which {} were fetched", megabytes(found.fetched));
    }
    writeln!(out, "{}", wrapped(&text, 0, options.width))?;
    for available in &found.environments {
        if let Some(passed) = passed(available) {
            let text = format!("Passed over for {}: {passed}", available.environment);
            writeln!(out, "{}", wrapped(&visible(&text), 0, options.width))?;
        }
    }
    let worst = found.worst();
    if worst == Runs::Unknown {
        writeln!(
            out,
            "Not everything could be read: `smgate check` of the build says why"
        )?;
    }
    Ok(())
}

fn passed(available: &Available) -> Option<String> {
    let passed = available.passed;
    let one = passed.pre_releases == 1;
    let word = if one { "pre-release" } else { "pre-releases" };
    let pre_releases = format!("{word} (`--pre`)");
    let parts = [
        (passed.pre_releases, pre_releases.as_str()),
        (passed.yanked, "yanked"),
        (passed.without_cuda, "without CUDA by their label"),
        (passed.source_only, "with a source distribution only"),
        (passed.no_file, "without a wheel for it"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
