//! Programs of the user that are asked something: within a time, and up to a number of bytes.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::limits::read_capped;

/// What a program said.
#[derive(Debug)]
pub(crate) struct Said {
    /// Whether it ended well.
    pub(crate) success: bool,
    /// Its standard output.
    pub(crate) output: Vec<u8>,
}

/// Why a program said nothing.
#[derive(Debug)]
pub(crate) enum Silent {
    /// It could not be started.
    NotStarted(io::Error),
    /// It could not be waited for.
    NotEnded(io::Error),
    /// It took too long, or said more than was asked for; it was ended.
    TooMuch,
}

/// Starts `command`, says `input` and a line feed where there is one, and listens to at most `most` bytes for at most
/// `timeout`. What it writes to standard error is lost.
///
/// # Errors
///
/// See [`Silent`].
pub(crate) fn ask(
    command: &mut Command,
    input: Option<&str>,
    most: u64,
    timeout: Duration,
) -> Result<Said, Silent> {
    let stdin = if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(Silent::NotStarted)?;
    let output = converse(&mut child, input, most, timeout);
    if output.is_none() {
        // it may have ended by itself just now
        let _ended = child.kill();
    }
    let status = child.wait().map_err(Silent::NotEnded)?;
    Ok(Said {
        success: status.success(),
        output: output.ok_or(Silent::TooMuch)?,
    })
}

/// Says `input` and listens to the end; `None` where the program takes too long or talks too much.
fn converse(
    child: &mut Child,
    input: Option<&str>,
    most: u64,
    timeout: Duration,
) -> Option<Vec<u8>> {
    let mut stdin = child.stdin.take();
    let stdout = child.stdout.take()?;
    let input = input.unwrap_or_default().to_owned();
    let (send, receive) = mpsc::channel();
    // a thread of its own, left behind with a program that hangs
    thread::spawn(move || {
        if let Some(stdin) = &mut stdin {
            // a program that answers without listening has closed its end
            let _closed = writeln!(stdin, "{input}");
        }
        drop(stdin);
        let _gone = send.send(listen(stdout, most));
    });
    receive.recv_timeout(timeout).ok().flatten()
}

fn listen(stdout: impl Read, most: u64) -> Option<Vec<u8>> {
    match read_capped(stdout, most) {
        Ok((bytes, false)) => Some(bytes),
        _ => None,
    }
}
