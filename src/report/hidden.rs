//! What an image ships and never uses: files with device code that later layers took away.

use std::io::{self, Write};

use crate::escape::visible;
use crate::inventory::Hidden;
use crate::verdict::megabytes;

use super::HumanOptions;
use super::text::plural;

/// Says how much it is, and lists it where that is asked for.
pub(super) fn write(
    hidden: &[Hidden],
    options: HumanOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    if hidden.is_empty() {
        return Ok(());
    }
    let bytes = hidden
        .iter()
        .fold(0_u64, |sum, file| sum.saturating_add(file.size));
    let how = if options.wasted {
        ":"
    } else {
        " (`--wasted` lists them)"
    };
    writeln!(
        out,
        "  {} in {} with device code, shipped and never used: later layers take them away{how}",
        megabytes(bytes),
        plural(hidden.len() as u64, "file")
    )?;
    for file in hidden.iter().filter(|_| options.wasted) {
        writeln!(out, "    {}", visible(&line(file)))?;
    }
    Ok(())
}

/// What a file is, where it was brought and what took it away.
pub(super) fn line(file: &Hidden) -> String {
    let by = match file.by {
        Some(by) if by == file.layer => "replaced in the same layer".to_owned(),
        Some(by) => format!("taken away by layer {}", by + 1),
        None => "not in the final file system".to_owned(),
    };
    let (path, layer) = (&file.path, file.layer + 1);
    format!("{path}  {}, layer {layer}, {by}", megabytes(file.size))
}
