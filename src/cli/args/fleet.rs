//! The targets that packages are judged for, as typed.

use clap::Args as ClapArgs;

use super::Install;

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Targets")]
pub(in crate::cli) struct Fleet {
    /// The policy: a file, or `preset:NAME`; without it, `smgate.yaml` found upwards from here
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(in crate::cli) policy: Option<String>,
    /// A target by hand instead of a policy; repeatable
    ///
    /// A GPU (`H100`), a compute capability (`9.0`), a PCI id (`10de:2330`), an instance type (`aws:p5.48xlarge`), or
    /// `host`, this machine.
    #[arg(long, value_name = "GPU|CC|ID|TYPE", conflicts_with = "policy")]
    pub(in crate::cli) target: Vec<String>,
    /// The driver of `--target`: a version (`550.54.15`) or a branch (`R550`)
    #[arg(long, requires = "target")]
    pub(in crate::cli) driver: Option<String>,
    /// The platform of `--target`, and of images: `linux/amd64`, `linux/arm64` or `windows/amd64`
    #[arg(long)]
    pub(in crate::cli) platform: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) install: Install,
}
