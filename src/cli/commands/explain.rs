//! `smgate explain`: the page of a rule code, of an error that was pasted, or of what people say wrongly.

use std::io::{self, Write as _};

use crate::cli::args::Explain;
use crate::cli::{Exit, Failure, Output};
use crate::compat::FOLKLORE;
use crate::limits::read_capped;
use crate::rule::Code;
use crate::tables::Tables;
use crate::{Error, ErrorKind};

use super::pasted;

/// The name of the page of claims that are often heard.
const FOLKLORE_NAME: &str = "folklore";
/// Bytes of a log that are looked at.
const LOG_MAX: u64 = 16 << 20;

pub(in crate::cli) fn run(
    args: &Explain,
    tables: &Tables,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut stdout = output.stdout();
    let text = args.what.join(" ");
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    if let Ok(code) = lower.parse::<Code>() {
        write!(stdout, "{}", code.page())?;
        writeln!(stdout, "\nDefault level: {}", code.default_level())?;
    } else if lower == FOLKLORE_NAME {
        write!(stdout, "{FOLKLORE}")?;
    } else if args.what.is_empty() {
        for code in Code::ALL {
            writeln!(
                stdout,
                "{:<28} {:<10} {}",
                code.id(),
                code.default_level().id(),
                code.title()
            )?;
        }
    } else if text == "-" {
        let (log, more) = read_capped(io::stdin().lock(), LOG_MAX).map_err(|error| {
            Error::new(ErrorKind::Input, "standard input could not be read").with_source(error)
        })?;
        let log = String::from_utf8_lossy(&log);
        if !pasted::write(&log, tables, &mut stdout)? {
            let message = "there is no known error in what standard input gave";
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give the lines around the first error, or an error number")
                .into());
        }
        if more {
            writeln!(
                stdout,
                "only the first {} MiB were looked at",
                LOG_MAX >> 20
            )?;
        }
    } else if !pasted::write(text, tables, &mut stdout)? {
        return Err(unknown(text, tables).into());
    }
    stdout.flush()?;
    Ok(Exit::Pass)
}

fn unknown(text: &str, tables: &Tables) -> Error {
    let lower = text.to_ascii_lowercase();
    let near = Code::ALL
        .iter()
        .map(|code| (strsim::jaro_winkler(code.id(), &lower), code));
    let near = near
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similarity, _)| *similarity > 0.75);
    let near: Vec<String> = if let Some((_, code)) = near {
        vec![format!("`{code}`")]
    } else {
        let errors = tables.nearest_errors(text).into_iter();
        errors.map(|name| format!("`{name}`")).collect()
    };
    let hint = if near.is_empty() {
        "`smgate explain` lists all codes; an error is given as it was printed".to_owned()
    } else {
        format!(
            "did you mean {}? `smgate explain` lists all codes",
            near.join(" or ")
        )
    };
    Error::new(
        ErrorKind::Usage,
        format!("`{text}` is not a rule code, and no error that is known"),
    )
    .with_hint(hint)
}
