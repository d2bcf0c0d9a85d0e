//! `smgate facts`: what the tables know of a GPU, a toolkit, a driver, an error.

use std::io::Write as _;

use crate::cli::args::{Facts, FormatArg};
use crate::cli::{Exit, Failure, Output};
use crate::facts::{Answer, Status, look_up};
use crate::report::{HumanOptions, write_facts};
use crate::tables::Tables;
use crate::{Error, ErrorKind};

pub(in crate::cli) fn run(args: &Facts, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    let answer = look_up(args.kind.into(), &args.name.join(" "), tables);
    if answer.status == Status::Unknown && args.format == FormatArg::Human {
        return Err(unknown(&answer).into());
    }
    let mut stdout = output.stdout();
    let options = HumanOptions::new(output.stdout_colour(), false);
    write_facts(&answer, args.format.into(), options, &mut stdout)?;
    stdout.flush()?;
    Ok(match answer.status {
        Status::Found => Exit::Pass,
        Status::Ambiguous | Status::Unknown => Exit::CannotJudge,
    })
}

fn unknown(answer: &Answer) -> Error {
    let noun = answer.kind.noun();
    let message = format!("no {noun} `{}` is known", answer.asked);
    let near: Vec<String> = answer
        .nearest
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let hint = if near.is_empty() {
        "the tables do not have it; `--tables FILE` adds rows".to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}
