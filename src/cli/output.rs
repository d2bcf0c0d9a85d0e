//! Standard output and error, with colours where a person looks at them.

use std::error::Error as _;
use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use crate::Error;
use crate::escape::visible;

/// Where output goes.
#[derive(Debug)]
pub(super) struct Output {
    choice: ColorChoice,
}

impl Output {
    pub(super) fn new(colour: super::args::Colour) -> Self {
        let choice = match colour {
            super::args::Colour::Auto => ColorChoice::Auto,
            super::args::Colour::Always => ColorChoice::Always,
            super::args::Colour::Never => ColorChoice::Never,
        };
        Self { choice }
    }

    pub(super) fn stdout(&self) -> impl Write + use<> {
        io::BufWriter::new(AutoStream::new(io::stdout(), self.choice))
    }

    pub(super) fn stderr(&self) -> impl Write + use<> {
        AutoStream::new(io::stderr(), self.choice)
    }

    pub(super) fn stdout_colour(&self) -> bool {
        self.choice_for(AutoStream::choice(&io::stdout()))
    }

    pub(super) fn stderr_colour(&self) -> bool {
        self.choice_for(AutoStream::choice(&io::stderr()))
    }

    fn choice_for(&self, auto: ColorChoice) -> bool {
        match self.choice {
            ColorChoice::Auto => auto != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }
}

/// The columns of the terminal that standard output is; none where it is a file or a pipe.
pub(super) fn stdout_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0))
}

/// Prints a fatal error: what is wrong, its causes, the next step.
pub(super) fn print_error(error: &Error, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "error: {}", visible(&error.to_string()))?;
    let mut cause = error.source();
    while let Some(source) = cause {
        write!(out, ": {}", visible(&source.to_string()))?;
        cause = source.source();
    }
    writeln!(out)?;
    if let Some(hint) = error.hint() {
        writeln!(out, "  next: {}", visible(hint))?;
    }
    Ok(())
}
