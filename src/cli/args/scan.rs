//! The arguments that say how inputs are read: networks and limits.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::bytes::Bytes;
#[cfg(feature = "registry")]
use crate::cli::indexes::IndexOptions;
use crate::inventory::ScanOptions;
use crate::limits::Limits;

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Network")]
pub(in crate::cli) struct Network {
    /// Ask registries and other servers without TLS, in a network that you trust; one on this machine needs no option
    #[arg(long, hide_short_help = true)]
    pub(in crate::cli) plain_http: bool,
    /// Certificate authorities to trust beside those of the system, as PEM
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(in crate::cli) ca_file: Option<PathBuf>,
    /// Ask no server: lock files are answered from what they say and from what earlier runs kept
    #[arg(long)]
    pub(in crate::cli) offline: bool,
    /// Neither use nor keep what earlier runs found in files that lock files name
    #[arg(long, hide_short_help = true)]
    pub(in crate::cli) no_cache: bool,
    #[cfg(feature = "registry")]
    #[command(flatten)]
    pub(in crate::cli) indexes: IndexOptions,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub(in crate::cli) struct Scan {
    /// Threads that read, 1 to 256; without it, one for each core, at most 8. Reports do not depend on it
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Unpacked bytes over all inputs; `K`, `M`, `G` or `T` behind a number of bytes are powers of 1024
    #[arg(long, hide_short_help = true, value_name = "BYTES", default_value_t = Bytes(Limits::default().unpacked_bytes))]
    max_unpacked: Bytes,
    /// How many times its packed size a member may unpack to, beyond its first 64 MiB
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = Limits::default().ratio)]
    max_ratio: u64,
    /// Members of one archive, or files of one directory
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = Limits::default().members)]
    max_members: u64,
    /// Bytes of one metadata file; takes `K`, `M`, `G` and `T` too
    #[arg(long, hide_short_help = true, value_name = "BYTES", default_value_t = Bytes(Limits::default().metadata_bytes))]
    max_metadata: Bytes,
    /// Archives inside each other, the outermost counted
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: u32,
    /// Bytes of one archive inside another, which is held in a temporary file; takes `K`, `M`, `G` and `T` too
    #[arg(long, hide_short_help = true, value_name = "BYTES", default_value_t = Bytes(Limits::default().spool_bytes))]
    max_spool: Bytes,
    /// Bytes that the names of kernels take over all inputs, with `--kernels`; takes `K`, `M`, `G` and `T` too
    #[arg(long, hide_short_help = true, value_name = "BYTES", default_value_t = Bytes(Limits::default().kernel_name_bytes))]
    max_kernel_names: Bytes,
}

impl Scan {
    pub(in crate::cli) fn options(&self, kernels: bool) -> ScanOptions {
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
