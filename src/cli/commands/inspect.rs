//! `smgate inspect`: what is inside, without a policy.

use std::io::Write as _;

use crate::cli::args::Inspect;
use crate::cli::{Exit, Failure, Output, stdout_width, unless_closed};
use crate::report::{HumanOptions, write_inspect};
use crate::tables::Tables;

use super::{by_what_was_read, require_something, scan_inputs};

pub(in crate::cli) fn run(
    args: &Inspect,
    tables: &Tables,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut options = args.scan.options(args.kernels);
    options.platform.clone_from(&args.platform);
    let environment = args.install.of_platform(args.platform.as_deref());
    options.environments.extend(environment);
    let inventory = scan_inputs(&args.inputs, options, &args.network, None, tables)?;
    require_something(&inventory, None)?;
    let mut stdout = output.stdout();
    let human = HumanOptions::new(output.stdout_colour(), args.details.verbose)
        .with_wasted(args.details.wasted)
        .with_width(stdout_width());
    let written = write_inspect(&inventory, args.format.into(), human, &mut stdout);
    unless_closed(written.and_then(|()| stdout.flush()))?;
    Ok(by_what_was_read(&inventory))
}
