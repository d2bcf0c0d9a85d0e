//! Names of kernels for people: demangled, instantiations of one template folded into one line.
//!
//! Names come from the input, and a few bytes of one can stand for gigabytes of C++: what is written of each is
//! bounded, and a name that is longer or none of C++ is shown as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, ParseOptions, Symbol};

use crate::inventory::Library;
use crate::verdict::{Evaluation, Missing, MissingKernels};

use super::style::Styles;
use super::text::{listed, plural, wrapped};
use super::{HumanOptions, visible};

/// Lines of names that are shown without `--verbose`.
const LINES_MAX: usize = 24;
/// Characters of a name that are shown.
const SHOWN_MAX: usize = 160;
/// The longest name that is demangled, in bytes: 5,000 are seen in real libraries.
const MANGLED_MAX: usize = 32 << 10;
/// What is written at most of a demangled name, in bytes.
const WRITTEN_MAX: usize = 64 << 10;
/// Parts of a name that are looked at.
const NODES_MAX: usize = 1 << 16;
/// How deep a name may be nested; more takes more stack than some systems give.
const DEPTH_MAX: u32 = 128;

/// Writes the kernels of the `artifact`th input for which a GPU finds no code; of equal GPUs once.
pub(super) fn write_missing(
    evaluation: &Evaluation,
    artifact: usize,
    styles: Styles,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(all) = &evaluation.missing_kernels else {
        return Ok(());
    };
    let mut groups: Vec<(&MissingKernels, Vec<String>)> = Vec::new();
    for found in all.iter().filter(|found| found.artifact == artifact) {
        let alike = |first: &MissingKernels| {
            (&first.package, &first.library, &first.missing)
                == (&found.package, &found.library, &found.missing)
        };
        match groups.iter_mut().find(|(first, _)| alike(first)) {
            Some((_, names)) => names.push(name(found)),
            None => groups.push((found, vec![name(found)])),
        }
    }
    if groups.is_empty() {
        let text = "No kernel is missing: every fatbin that counts can run on every target.";
        writeln!(out)?;
        return writeln!(out, "{}", styles.dim(text));
    }
    for (found, mut names) in groups {
        names.dedup();
        writeln!(out)?;
        writeln!(
            out,
            "{}  {}",
            styles.bold("kernels without code"),
            visible(&listed(&names))
        )?;
        writeln!(out, "  {}", visible(&found.library))?;
        let summary = summary(&found.missing);
        writeln!(out, "  {}", wrapped(&summary, 2, options.width))?;
        write_names(&found.missing.kernels, "  - ", options, out)?;
    }
    Ok(())
}

/// The GPU that finds no code.
pub(super) fn name(found: &MissingKernels) -> String {
    // a target made of one GPU is often called by its name
    if found.gpu.contains(&found.target) {
        found.gpu.clone()
    } else {
        format!("{} ({})", found.target, found.gpu)
    }
}

/// How many kernels are missing, in words.
pub(super) fn summary(missing: &Missing) -> String {
    let Missing {
        fatbins,
        uncovered,
        unnamed,
        elsewhere,
        kernels,
    } = missing;
    let mut parts = vec![format!(
        "{}, of the {uncovered} of {} with kernels that cannot run",
        plural(kernels.len() as u64, "kernel"),
        plural(*fatbins, "fatbin")
    )];
    if *elsewhere > 0 {
        let more = plural(*elsewhere, "more kernel");
        parts.push(format!("{more} of theirs in fatbins that can"));
    }
    match unnamed {
        0 => {}
        1 => parts.push("1 of these fatbins shows no kernel by name".to_owned()),
        n => parts.push(format!("{n} of these fatbins show no kernel by name")),
    }
    parts.join("; ")
}

/// Writes the kernels of a library, where their names were read.
pub(super) fn write_library(
    library: &Library,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let classes = library.code.iter().map(|code| &code.class);
    let named: Vec<&[Arc<str>]> = classes
        .filter_map(|class| class.kernels.as_deref())
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    let names: BTreeSet<&Arc<str>> = named.into_iter().flatten().collect();
    writeln!(out, "    {:<12}  {}", "kernels", names.len())?;
    write_names(names, "      ", options, out)
}

fn write_names<'n>(
    names: impl IntoIterator<Item = &'n Arc<str>>,
    before: &str,
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = folded(names.into_iter().map(|name| &**name));
    let shown = if options.verbose {
        lines.len()
    } else {
        LINES_MAX
    };
    for line in lines.iter().take(shown) {
        writeln!(out, "{before}{}", visible(line))?;
    }
    let more = lines.len().saturating_sub(shown);
    if more > 0 {
        let more = plural(more as u64, "more line");
        writeln!(
            out,
            "{before}and {more} (`--verbose`; `--format json` has every name)"
        )?;
    }
    Ok(())
}

/// The lines that show `names`, ascending: instantiations of a template, and overloads, as one.
pub(super) fn folded<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut heads: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for name in names {
        let (head, whole) = demangle(name).unwrap_or_else(|| (name.to_owned(), name.to_owned()));
        heads.entry(head).or_insert((0, whole)).0 += 1;
    }
    let lines = heads.into_iter().map(|(head, (count, whole))| match count {
        1 => shortened(&whole),
        _ if head.contains(FOLDED) => format!("{} ({count} instantiations)", shortened(&head)),
        _ => format!("{} ({count} overloads)", shortened(&head)),
    });
    lines.collect()
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or(name)),
        None => name.to_owned(),
    }
}

/// What stands for template arguments, between brackets of their own.
const FOLD: &str = "...";
/// The same, as it stands in a name.
const FOLDED: &str = "<...>";

/// A C++ name without and with its template arguments; neither has parameters or a return type.
fn demangle(name: &str) -> Option<(String, String)> {
    if !name.starts_with("_Z") || name.len() > MANGLED_MAX {
        return None;
    }
    let parse = ParseOptions::default().recursion_limit(DEPTH_MAX);
    let symbol = Symbol::new_with_options(name.as_bytes(), &parse).ok()?;
    let options = DemangleOptions::new()
        .no_params()
        .no_return_type()
        .hide_expression_literal_types()
        .recursion_limit(DEPTH_MAX);
    let mut sink = Sink::default();
    symbol.structured_demangle(&mut sink, &options).ok()?;
    Some((sink.head, sink.whole))
}

/// Takes a demangled name, up to a bound.
#[derive(Debug, Default)]
struct Sink {
    head: String,
    whole: String,
    nodes: usize,
    /// Of each part of the name that is being written, whether it is template arguments.
    inside: Vec<bool>,
    /// How many of these are.
    depth: usize,
}

impl DemangleWrite for Sink {
    fn push_demangle_node(&mut self, node: DemangleNodeType) {
        self.nodes += 1;
        let is_arguments = node == DemangleNodeType::TemplateArgs;
        self.inside.push(is_arguments);
        if is_arguments {
            if self.depth == 0 {
                self.head.push_str(FOLD);
            }
            self.depth += 1;
        }
    }

    fn write_string(&mut self, text: &str) -> std::fmt::Result {
        if self.whole.len() + text.len() > WRITTEN_MAX || self.nodes > NODES_MAX {
            return Err(std::fmt::Error);
        }
        self.whole.push_str(text);
        if self.depth == 0 {
            self.head.push_str(text);
        }
        Ok(())
    }

    fn pop_demangle_node(&mut self) {
        if self.inside.pop() == Some(true) {
            self.depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    // What c++filt 2.44 prints for each, without return type and parameters; heads by hand.
    #[test]
    fn names_are_demangled_and_their_template_arguments_folded() {
        for (name, head, whole) in [
            (
                "_Z12cswap_kerneliP6float2iS0_i",
                "cswap_kernel",
                "cswap_kernel",
            ),
            (
                "_Z27sgetf2_nopiv_batched_kernelILi28ELi32EEviPPfiS1_iPii",
                "sgetf2_nopiv_batched_kernel<...>",
                "sgetf2_nopiv_batched_kernel<28, 32>",
            ),
            (
                "_ZN1aI1bIiEE1cIfEEvv",
                "a<...>::c<...>",
                "a<b<int> >::c<float>",
            ),
        ] {
            assert_eq!(
                demangle(name),
                Some((head.to_owned(), whole.to_owned())),
                "{name}"
            );
        }
        for name in ["k", "_Z", "_ZN", "__nv_static_1_a", "_Z3", "_Z1fILi"] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    #[test]
    fn instantiations_and_overloads_are_one_line_each() {
        let names = [
            "_Z1fILi1EEvv",
            "_Z1fILi2EEvv",
            "_Z1gIiEvv",
            "_Z1hi",
            "_Z1hf",
            "k",
        ];
        assert_eq!(
            folded(names.into_iter()),
            [
                "f<...> (2 instantiations)",
                "g<int>",
                "h (2 overloads)",
                "k"
            ]
        );
    }

    /// A name whose every template argument after the first names the one before it twice, so that the text
    /// doubles with each.
    fn bomb(arguments: usize) -> String {
        let mut name = "_Z1fI1aIiiE".to_owned();
        for n in 1..arguments {
            let last = number(2 * n);
            let _infallible = write!(name, "1aIS{last}_S{last}_E");
        }
        name + "Evv"
    }

    #[test]
    fn a_name_that_stands_for_gigabytes_is_shown_as_it_is() {
        // as c++filt shows it
        let small = "f<a<int, int>, a<a<int, int>, a<int, int> > >";
        assert_eq!(folded([&*bomb(2)].into_iter()), [small]);
        let name = bomb(40);
        assert_eq!(demangle(&name), None);
        assert_eq!(folded([&*name].into_iter()), [shortened(&name)]);
    }

    #[test]
    fn names_that_are_deep_or_long_are_short_lines() {
        let deep = format!("_Z1fI{}iEvv", "P".repeat(20_000));
        let nested = format!("_Z1fI{}i{}Evv", "1aI".repeat(5_000), "E".repeat(5_000));
        let long = format!("_Z40000{}v", "x".repeat(40_000));
        for name in [&*deep, &*nested, &*long] {
            assert_eq!(folded([name].into_iter()), [shortened(name)]);
        }
    }

    /// The number of a substitution: base 36, after the first, which has none.
    fn number(n: usize) -> String {
        let digit = |n: usize| char::from_digit(u32::try_from(n).unwrap(), 36).unwrap();
        match n {
            0 => String::new(),
            n if n <= 36 => digit(n - 1).to_uppercase().to_string(),
            n => format!("{}{}", digit((n - 1) / 36), digit((n - 1) % 36)).to_uppercase(),
        }
    }
}
