//! The arguments, as typed: syntax only.

mod check_format;
mod diff;
mod find;
mod fleet;
mod install;
mod shell;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};

use self::install::Install;
use super::bytes::Bytes;
#[cfg(feature = "registry")]
use super::indexes::IndexOptions;
use crate::facts::Kind;
use crate::inventory::ScanOptions;
use crate::limits::Limits;
use crate::report::Format;

pub(super) use check_format::{CheckFormatArg, OutputFile};
pub(super) use diff::Diff;
pub(super) use find::Find;
pub(super) use fleet::Fleet;
pub(super) use shell::{Completions, Man};

/// Will the CUDA code in this wheel, library or environment run on the GPUs and drivers it is going to?
#[derive(Debug, Parser)]
#[command(name = "smgate", version, about, max_term_width = 100)]
pub(super) struct Args {
    /// When to use colours
    #[arg(
        long = "color",
        value_enum,
        default_value_t,
        global = true,
        value_name = "WHEN"
    )]
    pub(super) colour: Colour,
    /// Rows over the built-in tables: hardware and drivers that are not out yet, in the form of the tables
    #[arg(long, global = true, value_name = "FILE")]
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
    #[command(after_help = EXIT_HELP)]
    Check(Check),
    /// Show what changes between two versions of a package, an environment or an image, for your targets
    #[command(after_help = diff::EXIT_HELP)]
    Diff(Diff),
    /// Find the newest builds of a package that run on your targets, in package indexes
    #[command(after_help = find::HELP)]
    Find(Find),
    /// Show what device code packages hold, without judging it
    #[command(after_help = INSPECT_EXIT_HELP)]
    Inspect(Inspect),
    /// Explain a rule code or an error: what it means, how it fails, what to do
    Explain(Explain),
    /// Look up what the tables know, with sources: GPUs, toolkits, drivers, errors
    Facts(Facts),
    /// Write, check or show a policy file
    Policy(Policy),
    /// Show this machine's GPUs and driver, as a target for a policy
    #[command(after_help = HOST_EXIT_HELP)]
    Host(Host),
    /// Show or clear what is kept between runs: what was found in the files that lock files name
    Cache(Cache),
    /// Print what makes a shell complete commands, options and their values
    Completions(Completions),
    /// Print a page of the manual, or write all of them
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

const HOST_EXIT_HELP: &str =
    "Exit status: 0 the GPUs are known, 2 there is none whose compute capability is known";

/// Show this machine's GPUs and driver, as a target for a policy
#[derive(Debug, ClapArgs)]
pub(super) struct Host {
    /// The form of the report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: FormatArg,
}

const EXIT_HELP: &str = "Exit status: 0 pass, 1 the policy denies something, 2 nothing could be judged \
                         (usage, policy, input), 3 something could not be read and nothing else failed";

const INSPECT_EXIT_HELP: &str = "Exit status: 0 everything was read, 2 nothing could be read (usage, input), \
                                 3 something could not be read";

/// Judge packages against a policy of target GPUs and drivers
#[derive(Debug, ClapArgs)]
pub(super) struct Check {
    /// Wheels, libraries, directories (a venv, site-packages), images (a layout, an archive, `-` for `docker save`);
    /// `wheel:`, `file:`, `dir:`, `oci-dir:`, `oci-archive:` or `docker-archive:` says what it is; `https://…` is a
    /// file on a server, `registry:IMAGE`, `docker:IMAGE` and `podman:IMAGE` are images elsewhere
    #[arg(required_unless_present = "inventory", value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(super) inputs: Vec<OsString>,
    #[command(flatten)]
    pub(super) fleet: Fleet,
    /// Fail only on what is not in this baseline; entries that occur no longer are reported
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the findings of this run as a baseline, and judge against it
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Judge a saved inventory (`inspect --format json`) instead of inputs
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub(super) inventory: Option<PathBuf>,
    /// Exit with 1 on warnings too
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(super) fail_on: FailOn,
    /// The day on which waivers are judged, `2027-03-01`; today if not given
    #[arg(long, value_name = "DATE")]
    pub(super) today: Option<String>,
    /// List the kernels of each library for which a GPU finds no code; reads longer, and changes no verdict on
    /// what can be read
    #[arg(long)]
    pub(super) kernels: bool,
    /// The form of the report on standard output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: CheckFormatArg,
    /// Write a report to a file too, `sarif=report.sarif`; repeatable, for several in one run
    #[arg(long, value_name = "FORMAT=FILE")]
    pub(super) output: Vec<OutputFile>,
    #[command(flatten)]
    pub(super) details: Details,
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
    /// Wheels, libraries, directories (a venv, site-packages), images (a layout, an archive, `-` for `docker save`);
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
pub(super) struct Details {
    /// Show more: `check` also remarks and waived findings, `inspect` also the megabytes of each architecture, both
    /// every kernel of `--kernels`
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// List the files with device code that later layers of an image remove or replace: shipped and never used
    #[arg(long)]
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

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Network")]
pub(super) struct Network {
    /// Ask registries and other servers without TLS, in a network that you trust; one on this machine needs no option
    #[arg(long)]
    pub(super) plain_http: bool,
    /// Certificate authorities to trust beside those of the system, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) ca_file: Option<PathBuf>,
    /// Ask no server: lock files are answered from what they say and from what earlier runs kept
    #[arg(long)]
    pub(super) offline: bool,
    /// Neither use nor keep what earlier runs found in files that lock files name
    #[arg(long)]
    pub(super) no_cache: bool,
    #[cfg(feature = "registry")]
    #[command(flatten)]
    pub(super) indexes: IndexOptions,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub(super) struct Scan {
    /// Threads that read, 1 to 256; without it, one for each core, at most 8. Reports do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Unpacked bytes over all inputs; `K`, `M`, `G` or `T` behind a number of bytes are powers of 1024
    #[arg(long, value_name = "BYTES", default_value_t = Bytes(Limits::default().unpacked_bytes))]
    max_unpacked: Bytes,
    /// How many times its packed size a member may unpack to, beyond its first 64 MiB
    #[arg(long, value_name = "N", default_value_t = Limits::default().ratio)]
    max_ratio: u64,
    /// Members of one archive, or files of one directory
    #[arg(long, value_name = "N", default_value_t = Limits::default().members)]
    max_members: u64,
    /// Bytes of one metadata file; takes `K`, `M`, `G` and `T` too
    #[arg(long, value_name = "BYTES", default_value_t = Bytes(Limits::default().metadata_bytes))]
    max_metadata: Bytes,
    /// Archives inside each other, the outermost counted
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: u32,
    /// Bytes of one archive inside another, which is held in a temporary file; takes `K`, `M`, `G` and `T` too
    #[arg(long, value_name = "BYTES", default_value_t = Bytes(Limits::default().spool_bytes))]
    max_spool: Bytes,
    /// Bytes that the names of kernels take over all inputs, with `--kernels`; takes `K`, `M`, `G` and `T` too
    #[arg(long, value_name = "BYTES", default_value_t = Bytes(Limits::default().kernel_name_bytes))]
    max_kernel_names: Bytes,
}

impl Scan {
    pub(super) fn options(&self, kernels: bool) -> ScanOptions {
        let mut options = ScanOptions {
            kernels,
            ..ScanOptions::default()
        };
        if let Some(threads) = self.threads {
            options.threads = threads.into();
        }
        let limits = &mut options.limits;
        limits.unpacked_bytes = self.max_unpacked.0;
        limits.ratio = self.max_ratio;
        limits.members = self.max_members;
        limits.metadata_bytes = self.max_metadata.0;
        limits.depth = self.max_depth;
        limits.spool_bytes = self.max_spool.0;
        limits.kernel_name_bytes = self.max_kernel_names.0;
        options
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
    Init(PolicyInit),
    /// Check policy files; every mistake with its place
    Lint(PolicyLint),
    /// Show what a policy means: every target with its GPUs and driver, every level with where it is set
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
#[command(after_help = "Exit status: 0 found, 2 unknown or ambiguous")]
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
