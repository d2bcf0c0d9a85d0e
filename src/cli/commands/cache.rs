//! `smgate cache`: what is kept between runs.

use std::io::Write as _;

use crate::cli::args::{Cache as Args, CacheCommand};
use crate::cli::places::cache_dir;
use crate::cli::{Exit, Failure, Output};
use crate::inventory::Cache;
use crate::report::plural;
use crate::verdict::megabytes;
use crate::{Error, ErrorKind};

pub(in crate::cli) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let dir = cache_dir().ok_or_else(|| {
        Error::new(ErrorKind::Usage, "there is no directory to keep results in")
            .with_hint("name one with the variable `SMGATE_CACHE_DIR`")
    })?;
    let cache = Cache::new(dir);
    let mut stdout = output.stdout();
    match args.command {
        CacheCommand::Dir => writeln!(stdout, "{}", cache.dir().display())?,
        CacheCommand::Size => {
            let (count, bytes) = cache.size()?;
            writeln!(stdout, "{}, {}", plural(count, "result"), megabytes(bytes))?;
        }
        CacheCommand::Clear => {
            let (count, bytes) = cache.clear()?;
            let results = plural(count, "result");
            writeln!(stdout, "removed {results}, {}", megabytes(bytes))?;
        }
    }
    stdout.flush()?;
    Ok(Exit::Pass)
}
