//! smgate: will the CUDA code in this package run on the GPUs and drivers it is going to?
//!
//! Reads device code out of Python wheels, libraries and directory trees, without installing, importing or
//! running anything, and judges it against a policy of GPUs and drivers. The program is a thin layer over this
//! library; what it prints is described in the README and in `docs/`.
//!
//! # Three verbs
//!
//! [`inventory::scan`] reads inputs and gives facts:
//!
//! ```
//! use smgate::inventory::{ScanOptions, scan};
//! use smgate::tables::Tables;
//!
//! let inputs = ["testdata/cuda/cubin_135_sm_90a.cubin".parse()?];
//! let inventory = scan(&inputs, &ScanOptions::default(), Tables::builtin())?;
//! let library = &inventory.artifacts[0].libraries[0];
//! assert_eq!(library.code[0].class.images[0].key.target_name().as_deref(), Some("sm_90a"));
//! # Ok::<(), smgate::Error>(())
//! ```
//!
//! [`verdict::evaluate`] judges facts, without I/O and without a clock. A saved inventory
//! ([`inventory::from_json`]) is judged like a fresh one:
//!
//! ```
//! # use smgate::inventory::{ScanOptions, scan};
//! # use smgate::tables::Tables;
//! use smgate::policy::Policy;
//! use smgate::rule::Code;
//! use smgate::verdict::{EvaluateOptions, Verdict, evaluate};
//!
//! # let tables = Tables::builtin();
//! # let inputs = ["testdata/cuda/cubin_135_sm_90a.cubin".parse()?];
//! # let inventory = scan(&inputs, &ScanOptions::default(), tables)?;
//! let policy = Policy::parse(
//!     "smgate.yaml",
//!     "version: 1
//! targets:
//!   - {name: lab, gpu: H100, driver: 580.65.06}
//!   - {name: edge, gpu: L4, driver: 580.65.06}
//! ",
//!     tables,
//! )?;
//! let today = "2026-11-30".parse()?;
//! let options = EvaluateOptions { today, fail_on_warn: false };
//! let evaluation = evaluate(&inventory, &policy, tables, options);
//! assert_eq!(evaluation.matrix[0].verdict, Verdict::Pass);
//! assert_eq!(evaluation.matrix[1].verdict, Verdict::Fail);
//! assert_eq!(evaluation.findings[0].code, Code::NoKernelImage);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`report::write_check`] and [`report::write_inspect`] write results for people or programs:
//!
//! ```
//! # use smgate::inventory::Inventory;
//! # use smgate::policy::Policy;
//! # use smgate::tables::Tables;
//! # use smgate::verdict::{EvaluateOptions, evaluate};
//! use smgate::report::{CheckFormat, Checked, HumanOptions, write_check};
//!
//! # let tables = Tables::builtin();
//! # let policy = Policy::for_targets(&["H100"], None, None, Tables::builtin())?;
//! # let options = EvaluateOptions { today: "2026-11-30".parse()?, fail_on_warn: false };
//! # let inventory = Inventory::default();
//! # let evaluation = evaluate(&inventory, &policy, tables, options);
//! let checked = Checked { evaluation: &evaluation, inventory: &inventory, policy: &policy, tables };
//! let mut json = Vec::new();
//! write_check(checked, CheckFormat::Json, HumanOptions::default(), &mut json)?;
//! assert!(json.starts_with(b"{\n  \"schema\": \"smgate/check/1\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Levels below
//!
//! [`device::Scanner`] finds device code in bytes from anywhere, fed in order and in pieces of any size:
//!
//! ```
//! use smgate::device::Scanner;
//!
//! let bytes = std::fs::read("testdata/cuda/cubin_135_sm_90a.cubin")?;
//! let mut scanner = Scanner::new(Some(bytes.len() as u64));
//! for piece in bytes.chunks(4096) {
//!     scanner.feed(piece);
//! }
//! let mut scanned = scanner.finish();
//! // the headers of the host file may need bytes that were not kept: they are given again
//! let missing = scanned.missing();
//! for range in missing {
//!     scanned.fill(range.start, &bytes[range.start as usize..range.end as usize]);
//! }
//! let report = scanned.report();
//! assert_eq!(report.classes[0].images[0].key.target_name().as_deref(), Some("sm_90a"));
//! assert!(report.problems.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`archive::Zip`] reads a zip archive as installers see it:
//!
//! ```
//! use std::path::Path;
//!
//! use smgate::Locator;
//! use smgate::archive::{SharedBytes, Zip};
//! use smgate::limits::{Budget, Limits};
//!
//! let path = "testdata/demo/smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl";
//! let limits = Limits::default();
//! let bytes = SharedBytes::open(Path::new(path))?;
//! let opened = Zip::open(bytes, &Locator::root(0, path), &limits).map_err(|problem| problem.detail)?;
//! assert!(opened.problems.is_empty());
//! let budget = Budget::new(limits);
//! for (index, member) in opened.zip.members().iter().enumerate() {
//!     // size and checksum are verified where the member ends
//!     let unpacked = std::io::copy(&mut opened.zip.reader(index, &budget)?, &mut std::io::sink())?;
//!     assert_eq!(unpacked, member.size);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What fails for good is an [`Error`]; what could not be read is a [`Problem`]
//! among the results, and never silent. From async code, call through a thread for blocking work.
//!
//! # Layers
//!
//! Imports go down only, and a test holds that.
//!
//! | layer | responsible for |
//! | --- | --- |
//! | [`cli`] | arguments, commands, exit status; the one place that prints, reads the environment and the clock |
//! | [`report`] | results as text and JSON; decides nothing |
//! | [`find`] | which builds of indexes run on a target, reading few of them |
//! | [`export`] | what content needs of any machine, without a policy: requirements for container tools |
//! | [`verdict`] | rules, coverage, driver floors, waivers applied; a pure function |
//! | [`policy`] | YAML to a valid policy, or every mistake with its place; knows no artifacts |
//! | [`inventory`] | binds archives to device code: routes files, merges what threads found |
//! | [`facts`] | answers from the tables, each value with its source |
//! | [`compat`] | rules: what runs where, what a driver accepts |
//! | [`image`] | what a container image declares: environment, labels, paths; judges nothing |
//! | [`source`] | what the user names: wheels, directories, files, images, their metadata; registries, and HTTP in one module; knows no device code |
//! | [`archive`] | bytes to members: zip structure, inflation, checksums |
//! | [`device`] | bytes to device facts: fatbins, cubins, PTX, host headers; no I/O, no archives |
//! | [`tables`] | GPUs, drivers, toolkits and vendor libraries, each row with its source |
//! | base | [`cuda`] and [`platform`] words, [`rule`] codes, [`limits`], errors, problems, locators, escapes |
//!
//! # The path of one byte
//!
//! 1. `source::open` sees a wheel: the central directory is read and compared with every local header.
//! 2. Each member becomes a job. A thread inflates it in chunks of 256 KiB, counts them against
//!    [`limits::Budget`] and sniffs the first one; most members end there.
//! 3. The chunks of an ELF, PE, archive or raw member are fed to [`device::Scanner`]. A byte of a fatbin is
//!    looked at where it lies: the entry header, the beginning of the payload, then the rest is skipped. A
//!    byte of the host file is kept only where its headers can need it.
//! 4. At the end of the member size and CRC-32 are verified, and the host headers are parsed. What was not kept
//!    and is needed is read again from the member.
//! 5. Equal fatbins are counted as one [`device::FatbinClass`]; classes and host facts are an
//!    [`inventory::Library`], libraries are sorted into an [`inventory::Artifact`].
//! 6. `verdict` asks of each class and each GPU of the policy whether it is covered, counts, and says so in
//!    [`verdict::Finding`]s; `report` writes them; `cli` turns the verdict into the exit status.

pub mod archive;
pub mod cli;
pub mod compat;
pub mod cuda;
pub mod device;
mod error;
mod escape;
pub mod export;
pub mod facts;
pub mod find;
pub mod image;
pub mod inventory;
pub mod limits;
mod locator;
pub mod machine;
pub mod platform;
pub mod policy;
mod problem;
pub mod report;
pub mod rule;
pub mod source;
pub mod tables;
pub mod verdict;

pub use error::{Error, ErrorKind};
pub use locator::{Locator, MemberName, Step};
pub use problem::{Extent, Problem, ProblemKind};

/// The code of the page for users of the library compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
pub struct LibraryPage;
