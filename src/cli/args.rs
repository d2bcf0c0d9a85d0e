//! The arguments, as typed: syntax only.

mod check_format;
mod diff;
mod export;
mod find;
mod fleet;
mod help;
mod install;
mod scan;
mod shell;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};

use self::install::Install;
use crate::facts::Kind;
use crate::report::Format;

pub(super) use check_format::{CheckFormatArg, OutputFile};
pub(super) use diff::Diff;
pub(super) use export::Export;
pub(super) use find::Find;
pub(super) use fleet::Fleet;
pub(super) use scan::{Network, Scan};
pub(super) use shell::{Completions, Man};

/// Will the CUDA code in this wheel, library or environment run on the GPUs and drivers it is going to?
#[derive(Debug, Parser)]
#[command(name = "smgate", version, about, max_term_width = 100, after_long_help = help::ALL)]
pub(super) struct Args {
    /// When to use colours
    #[arg(
        long = "color",
        value_enum,
        default_value_t,
        global = true,
        value_name = "WHEN",
        help_heading = "General",
        hide_short_help = true
    )]
    pub(super) colour: Colour,
    /// Rows over the built-in tables: hardware and drivers that are not out yet, in the form of the tables
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = "General",
        hide_short_help = true
    )]
    pub(super) tables: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Judge packages against a policy of target GPUs and drivers
    #[command(after_long_help = help::CHECK)]
    Check(Check),
    /// Show what changes between two versions of a package, an environment or an image, for your targets
    #[command(after_long_help = help::DIFF)]
    Diff(Diff),
    /// Find the newest builds of a package that run on your targets, in package indexes
    #[command(after_long_help = help::FIND)]
    Find(Find),
    /// Show what device code packages hold, without judging it
    #[command(after_long_help = help::INSPECT)]
    Inspect(Inspect),
    /// Write what packages or images need in a form for others: container tools, Kubernetes, bills of materials
    #[command(after_long_help = help::EXPORT)]
    Export(Export),
    /// Explain a rule code or an error: what it means, how it fails, what to do
    #[command(after_long_help = help::EXPLAIN)]
    Explain(Explain),
    /// Look up what the tables know, with sources: GPUs, toolkits, drivers, errors
    #[command(after_long_help = help::FACTS)]
    Facts(Facts),
    /// Write, check or show a policy file
    #[command(after_long_help = help::POLICY)]
    Policy(Policy),
    /// Show this machine's GPUs and driver, as a target for a policy
    #[command(after_long_help = help::HOST)]
    Host(Host),
    /// Show or clear what is kept between runs: what was found in the files that lock files name
    #[command(after_long_help = help::CACHE)]
    Cache(Cache),
    /// Print what makes a shell complete commands, options and their values
    #[command(after_long_help = help::COMPLETIONS)]
    Completions(Completions),
    /// Print a page of the manual, or write all of them
    #[command(after_long_help = help::MAN)]
    Man(Man),
}

/// Show or clear what is kept between runs
#[derive(Debug, ClapArgs)]
pub(super) struct Cache {
    #[command(subcommand)]
    pub(super) command: CacheCommand,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(super) enum CacheCommand {
    /// Where results are kept
    Dir,
    /// How many results are kept, and how many bytes they take
    Size,
    /// Remove all results
    Clear,
}

/// Show this machine's GPUs and driver, as a target for a policy
#[derive(Debug, ClapArgs)]
pub(super) struct Host {
    /// The form of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: FormatArg,
}

/// Judge packages against a policy of target GPUs and drivers
#[derive(Debug, ClapArgs)]
pub(super) struct Check {
    /// Wheels, libraries, directories, lock files, images, a requirement
    ///
    /// Directories such as a venv or `site-packages`, images as a layout or an archive (`-` for `docker save`).
    /// `wheel:`, `file:`, `dir:`, `oci-dir:`, `oci-archive:` or `docker-archive:` says what it is; `https://…` is a
    /// file on a server, `registry:IMAGE`, `docker:IMAGE` and `podman:IMAGE` are images elsewhere
    #[arg(required_unless_present = "inventory", value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(super) inputs: Vec<OsString>,
    /// Fail only on what is not in this baseline
    ///
    /// Entries that occur no longer are reported.
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the findings of this run as a baseline, and judge against it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "baseline",
        hide_short_help = true
    )]
    pub(super) write_baseline: Option<PathBuf>,
    /// Judge a saved inventory (`inspect --format json`) instead of inputs
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub(super) inventory: Option<PathBuf>,
    /// Exit with 1 on warnings too
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(super) fail_on: FailOn,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE", hide_short_help = true)]
    pub(super) today: Option<String>,
    /// List the kernels of each library for which a GPU finds no code; reads longer, and changes no verdict on
    /// what can be read
    #[arg(long, hide_short_help = true)]
    pub(super) kernels: bool,
    /// The form of the report on standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: CheckFormatArg,
    /// Write a report to a file too, `sarif=report.sarif`; repeatable
    #[arg(long, value_name = "FORMAT=FILE")]
    pub(super) output: Vec<OutputFile>,
    /// Print a line for each package and target, and the result; no findings
    #[arg(long, short, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) details: Details,
    #[command(flatten)]
    pub(super) fleet: Fleet,
    #[command(flatten)]
    pub(super) network: Network,
    #[command(flatten)]
    pub(super) scan: Scan,
}

/// From which level on a finding fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum FailOn {
    /// Denied findings only
    #[default]
    Deny,
    /// Warnings too
    Warn,
}

/// Show what device code packages hold, without judging it
#[derive(Debug, ClapArgs)]
pub(super) struct Inspect {
    /// Wheels, libraries, directories, lock files, images, a requirement
    ///
    /// Directories such as a venv or `site-packages`, images as a layout or an archive (`-` for `docker save`).
    /// `wheel:`, `file:`, `dir:`, `oci-dir:`, `oci-archive:` or `docker-archive:` says what it is; `https://…` is a
    /// file on a server, `registry:IMAGE`, `docker:IMAGE` and `podman:IMAGE` are images elsewhere
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(super) inputs: Vec<OsString>,
    /// The platform of images that are there for several: `linux/amd64`, `linux/arm64/v8`; all of them if not given
    #[arg(long)]
    pub(super) platform: Option<String>,
    /// List the kernels of each library by name; reads longer
    #[arg(long)]
    pub(super) kernels: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: FormatArg,
    #[command(flatten)]
    pub(super) details: Details,
    #[command(flatten)]
    pub(super) install: Install,
    #[command(flatten)]
    pub(super) network: Network,
    #[command(flatten)]
    pub(super) scan: Scan,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Details")]
pub(super) struct Details {
    /// Show more
    ///
    /// `check` also remarks, waived findings and what holds of each fatbin on each target, `inspect` also the
    /// megabytes of each architecture, both every kernel of `--kernels`.
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// List the files with device code that later layers of an image remove or replace: shipped and never used
    #[arg(long, hide_short_help = true)]
    pub(super) wasted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum FormatArg {
    /// For people
    #[default]
    Human,
    /// For programs; the schemas are in the repository
    Json,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Human => Self::Human,
            FormatArg::Json => Self::Json,
        }
    }
}

/// Explain a rule code or an error: what it means, how it fails, what to do
#[derive(Debug, ClapArgs)]
pub(super) struct Explain {
    /// A rule code, `folklore`, or an error as it was printed: a text, a name, a number; `-` reads a log from
    /// standard input; all codes with their titles if not given
    #[arg(value_name = "CODE|ERROR")]
    pub(super) what: Vec<String>,
}

/// Write, check or show a policy file
#[derive(Debug, ClapArgs)]
pub(super) struct Policy {
    #[command(subcommand)]
    pub(super) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Write a commented starter policy
    #[command(after_long_help = help::POLICY_INIT)]
    Init(PolicyInit),
    /// Check policy files; every mistake with its place
    #[command(after_long_help = help::POLICY_LINT)]
    Lint(PolicyLint),
    /// Show what a policy means: every target with its GPUs and driver, every level with where it is set
    #[command(after_long_help = help::POLICY_SHOW)]
    Show(PolicyShow),
}

#[derive(Debug, ClapArgs)]
pub(super) struct PolicyInit {
    /// A target: a GPU (`H100`), a compute capability (`9.0`), a PCI id (`10de:2330`) or an instance type (`aws:p5.48xlarge`); repeatable
    #[arg(long, value_name = "GPU|CC|ID|TYPE")]
    pub(super) target: Vec<String>,
    /// The driver of the targets: a version (`550.54.15`) or a branch (`R550`)
    #[arg(long)]
    pub(super) driver: Option<String>,
    /// The platform of the targets: `linux/amd64`, `linux/arm64` or `windows/amd64`
    #[arg(long)]
    pub(super) platform: Option<String>,
    /// Where to write it, which must not exist; `-` is standard output. Without it, `smgate.yaml`, or
    /// standard output where that is redirected
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct PolicyShow {
    /// A policy file, or `preset:NAME`; without it, `smgate.yaml` found upwards from here
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) file: Option<String>,
    /// The form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: ShowFormat,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE")]
    pub(super) today: Option<String>,
}

/// The form of what `policy show` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum ShowFormat {
    /// For people
    #[default]
    Human,
    /// For programs
    Json,
}

#[derive(Debug, ClapArgs)]
pub(super) struct PolicyLint {
    /// Policy files, or `preset:NAME`; without any, `smgate.yaml` found upwards from here
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) files: Vec<String>,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE")]
    pub(super) today: Option<String>,
}

/// Look up what the tables know, with sources: GPUs, toolkits, drivers, errors
#[derive(Debug, ClapArgs)]
pub(super) struct Facts {
    /// What to look up
    #[arg(value_enum)]
    pub(super) kind: FactsKind,
    /// Its name: `RTX 4090`, `10de:2684`, `sm_90a`, `12.4`, `R550`, `8.7`, `aws:p5.48xlarge`, `209`
    #[arg(required = true)]
    pub(super) name: Vec<String>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: FormatArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FactsKind {
    /// A GPU by name
    Gpu,
    /// A GPU by its PCI id
    Pci,
    /// An sm target, a compute capability or the name of an architecture
    Arch,
    /// A CUDA toolkit
    Toolkit,
    /// A driver version or branch
    Driver,
    /// A PTX ISA version
    Ptx,
    /// A cloud instance type
    Instance,
    /// An error by its text, name or number
    Error,
}

impl From<FactsKind> for Kind {
    fn from(kind: FactsKind) -> Self {
        match kind {
            FactsKind::Gpu => Self::Gpu,
            FactsKind::Pci => Self::Pci,
            FactsKind::Arch => Self::Arch,
            FactsKind::Toolkit => Self::Toolkit,
            FactsKind::Driver => Self::Driver,
            FactsKind::Ptx => Self::Ptx,
            FactsKind::Instance => Self::Instance,
            FactsKind::Error => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests;
