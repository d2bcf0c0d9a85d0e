//! `smgate find`: which builds of a package run on the targets.

use crate::cli::args::Find;
use crate::cli::{Exit, Failure, Output};
use crate::tables::Tables;
#[cfg(not(feature = "registry"))]
use crate::{Error, ErrorKind};

/// There are no indexes.
#[cfg(not(feature = "registry"))]
pub(in crate::cli) fn run(_: &Find, _: &Tables, _: &Output) -> Result<Exit, Failure> {
    let message = "`find` asks package indexes, and this build of smgate asks no servers";
    Err(Error::new(ErrorKind::Usage, message)
        .with_hint("build it with the feature `registry`, which is on by default")
        .into())
}

#[cfg(feature = "registry")]
pub(in crate::cli) fn run(args: &Find, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    with_indexes::run(args, tables, output)
}

#[cfg(feature = "registry")]
mod with_indexes {
    use std::io::Write as _;
    use std::sync::Arc;

    use super::super::{fleet, today};
    use crate::cli::args::Find;
    use crate::cli::progress::Line;
    use crate::cli::reach::{open_servers, reach};
    use crate::cli::{Exit, Failure, Output, stdout_width, unless_closed};
    use crate::find::{FindOptions, How, Offer, Runs, Wanted, find};
    use crate::report::{HumanOptions, write_find};
    use crate::source::Servers;
    use crate::source::index::{IndexError, OfIndex};
    use crate::source::lock::Candidate;
    use crate::tables::Tables;
    use crate::{Error, ErrorKind};

    pub(super) fn run(args: &Find, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
        let wanted = Wanted::parse(&args.requirement, args.pre)?;
        let policy = fleet::policy(&args.fleet, tables)?;
        let today = today(args.today.as_deref())?;
        let mut scan = args.scan.options(false);
        reach(&mut scan, &args.network, &policy.indexes)?;
        let servers = Arc::new(open_servers(&args.network, &policy.indexes)?);
        let offers = offers(&servers, &wanted.name)?;
        if !args.network.offline {
            scan.fetch = Some(servers);
        }
        let line = Line::start();
        scan.progress = line.as_ref().map(Line::counters);
        let options = FindOptions::new(scan, args.most, today);
        let found = find(&offers, &wanted, &policy, tables, &options)?;
        drop(line);
        let mut stdout = output.stdout();
        let human = HumanOptions::new(output.stdout_colour(), false).with_width(stdout_width());
        let written = write_find(&found, args.format.into(), human, &mut stdout);
        unless_closed(written.and_then(|()| stdout.flush()))?;
        Ok(match found.worst() {
            Runs::No => Exit::Fail,
            Runs::Unknown => Exit::Incomplete,
            Runs::ByJit | Runs::Natively => Exit::Pass,
        })
    }

    fn offers(servers: &Servers, name: &str) -> Result<Vec<Offer>, Error> {
        let of_each = servers.indexes(None)?.of_each(name);
        let of_each = of_each.map_err(|IndexError { message, hint, .. }| {
            Error::new(ErrorKind::Input, message).with_hint(hint)
        })?;
        Ok(of_each.into_iter().map(offer).collect())
    }

    fn offer(of: OfIndex) -> Offer {
        let files = of.project.files.iter().cloned();
        Offer {
            how: how(&of),
            index: of.index,
            files: files.map(Candidate::from).collect(),
        }
    }

    /// How installers are told of an index: those that were named by options have to be, and those that are configured
    /// beside the main one are, since not each installer knows of them.
    fn how(of: &OfIndex) -> How {
        match of {
            of if of.is_flat => How::FindLinks,
            of if !of.is_main => How::Extra,
            of if of.named_by.contains("--index-url") => How::Main,
            _ => How::Configured,
        }
    }
}
