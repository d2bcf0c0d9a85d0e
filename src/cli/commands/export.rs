//! `smgate export`: what content needs, in forms for others.

use std::io::Write as _;

use crate::cli::args::Export;
use crate::cli::{Exit, Failure, Output, unless_closed};
use crate::export::needs;
use crate::inventory::{Inventory, from_json};
use crate::report::write_export;
use crate::tables::Tables;
use crate::{Error, ErrorKind};

use super::{by_what_was_read, read_text, require_something, scan_inputs};

pub(in crate::cli) fn run(
    args: &Export,
    tables: &Tables,
    output: &Output,
) -> Result<Exit, Failure> {
    let format = args.form().ok_or_else(|| {
        Error::new(ErrorKind::Usage, "`--value` is for `require-cuda` only")
            .with_hint("leave it out")
    })?;
    let inventory = if let Some(path) = &args.inventory {
        let (origin, text) = read_text(path)?;
        from_json(&origin, &text)?
    } else {
        let mut options = args.scan.options(false);
        options.platform.clone_from(&args.platform);
        let environment = args.install.of_platform(args.platform.as_deref());
        options.environments.extend(environment);
        scan_inputs(&args.inputs, options, &args.network, None, tables)?
    };
    require_something(&inventory, args.inventory.as_deref())?;
    if inventory.is_unread() {
        return Err(nothing_read(&inventory).into());
    }
    let needs = needs(&inventory, tables)?;
    let (mut stdout, mut stderr) = (output.stdout(), output.stderr());
    let written = write_export(&inventory, &needs, tables, format, &mut stdout, &mut stderr);
    unless_closed(written.and_then(|()| stdout.flush()))?;
    let mut exit = by_what_was_read(&inventory);
    if needs.iter().any(|needs| needs.unread > 0) {
        exit = Exit::Incomplete;
    }
    if exit == Exit::Incomplete {
        writeln!(
            stderr,
            "warning: not all was read: what is written may ask for too little\n  \
             next: `smgate inspect` names what was not"
        )?;
    }
    Ok(exit)
}

/// Nothing could be read: a document would say that nothing is needed.
fn nothing_read(inventory: &Inventory) -> Error {
    let mut problems = inventory.artifacts.iter().flat_map(|one| &one.problems);
    let first = problems.next();
    let first = first.map(|one| format!("{}, {}: {}", one.at, one.kind, one.detail));
    let message = format!(
        "nothing could be read: {}",
        first.unwrap_or_else(|| "the inputs hold nothing that is installed".to_owned())
    );
    Error::new(ErrorKind::Input, message).with_hint("`smgate inspect` names what could not be read")
}
