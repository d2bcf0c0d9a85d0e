//! The arguments that say where packages would be installed, and where they come from.

use clap::Args as ClapArgs;

use crate::platform::{CpuArch, Os, Platform};
use crate::policy::FleetTarget;
use crate::source::lock::{Environment, Libc, PythonVersion};

/// Where the packages of a lock file, or of a requirement such as `torch==2.9.1`, would be installed.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Lock files")]
pub(in crate::cli) struct Install {
    /// The Python that files are chosen for, `3.12`
    ///
    /// `3.13t` is one without the global lock. Without it the target's, else what the lock file asks for.
    #[arg(long, value_name = "VERSION")]
    pub(in crate::cli) python: Option<PythonVersion>,
    /// The glibc that files are chosen for, `2.28`; without it the target's, else any
    #[arg(long, value_name = "VERSION", value_parser = glibc, hide_short_help = true)]
    pub(in crate::cli) glibc: Option<Glibc>,
    /// An extra of the project that is installed; repeatable
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    extra: Vec<String>,
    /// A dependency group that is installed beside the default ones; repeatable
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    group: Vec<String>,
    /// The environment of a `pixi.lock`; `default` if not given
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    environment: Option<String>,
}

/// A version of glibc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Glibc {
    text: String,
    version: (u16, u16),
}

fn glibc(text: &str) -> Result<Glibc, String> {
    let wrong = || "write major and minor, such as `2.28`".to_owned();
    let (major, minor) = text.split_once('.').ok_or_else(wrong)?;
    let number = |part: &str| {
        let digits = (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    };
    let version = number(major).zip(number(minor)).ok_or_else(wrong)?;
    Ok(Glibc {
        text: text.to_owned(),
        version,
    })
}

impl Install {
    /// Where things are installed, without a target; none where lock files are read for no such platform, as images
    /// can be for it. Without a platform it is a Linux machine on x86-64.
    pub(in crate::cli) fn of_platform(&self, given: Option<&str>) -> Option<Environment> {
        const USUAL: Platform = Platform::new(Os::Linux, CpuArch::Amd64);
        // the variant is that of an image
        let bare = given.map(|text| text.splitn(3, '/').take(2).collect::<Vec<_>>().join("/"));
        let platform = match bare {
            Some(bare) => bare.parse().ok()?,
            None => USUAL,
        };
        let mut environment = Environment::new(platform);
        environment.python = self.python;
        if let Some(glibc) = &self.glibc {
            environment.libc = Libc::Glibc(Some(glibc.version));
        }
        Some(self.choices(environment))
    }

    /// `environment` with what the user asks for besides.
    pub(in crate::cli) fn choices(&self, mut environment: Environment) -> Environment {
        environment.extras.clone_from(&self.extra);
        environment.groups.clone_from(&self.group);
        environment.named.clone_from(&self.environment);
        environment
    }

    /// Gives a target what it leaves open.
    pub(in crate::cli) fn complete(&self, target: &mut FleetTarget) {
        if target.python.is_none() {
            target.python = self.python.map(|python| python.to_string());
        }
        if target.glibc.is_none() {
            target.glibc = self.glibc.as_ref().map(|glibc| glibc.text.clone());
        }
    }
}
