//! `smgate explain`: the page of a rule code.

use std::io::Write as _;

use crate::cli::args::Explain;
use crate::cli::{Exit, Failure, Output};
use crate::rule::Code;
use crate::{Error, ErrorKind};

pub(in crate::cli) fn run(args: &Explain, output: &Output) -> Result<Exit, Failure> {
    let mut stdout = output.stdout();
    match &args.code {
        Some(text) => {
            let lower = text.trim().to_ascii_lowercase();
            let code: Code = lower.parse().map_err(|_unknown| unknown(&lower))?;
            write!(stdout, "{}", code.page())?;
            writeln!(stdout, "\nDefault level: {}", code.default_level())?;
        }
        None => {
            for code in Code::ALL {
                writeln!(
                    stdout,
                    "{:<28} {:<10} {}",
                    code.id(),
                    code.default_level().id(),
                    code.title()
                )?;
            }
        }
    }
    stdout.flush()?;
    Ok(Exit::Pass)
}

fn unknown(text: &str) -> Error {
    let near = Code::ALL
        .iter()
        .map(|code| (strsim::jaro_winkler(code.id(), text), code));
    let near = near
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similarity, _)| *similarity > 0.75);
    let hint = match near {
        Some((_, code)) => format!("did you mean `{code}`? `smgate explain` lists all codes"),
        None => "`smgate explain` lists all codes".to_owned(),
    };
    Error::new(ErrorKind::Usage, format!("`{text}` is not a rule code")).with_hint(hint)
}
