//! One request and its answer, in as much of HTTP/1.1 (RFC 9112) as daemons speak on their sockets.

use std::io::{self, BufRead, BufReader, Read, Write as _};

use serde::Deserialize;

use super::socket::Connection;
use crate::limits::read_capped;

/// Bytes of the head of an answer.
const HEAD_MAX: u64 = 64 << 10;
/// Headers of an answer.
const HEADERS_MAX: usize = 100;
/// Bytes of the line before a chunk.
const LINE_MAX: u64 = 1 << 10;
/// Bytes of an error that are read.
const ERROR_MAX: u64 = 64 << 10;
/// Bytes that are read from the socket at a time.
const BUFFER: usize = 256 << 10;

/// An answer, its body not read yet.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Box<dyn Read + Send>,
}

impl Answer {
    /// Asks for `path`, which holds nothing that would have to be encoded.
    pub(super) fn get(mut connection: Connection, path: &str) -> io::Result<Self> {
        let version = env!("CARGO_PKG_VERSION");
        // with HTTP/1.0 nobody could tell the end of the body from the end of the daemon
        write!(
            connection,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: smgate/{version}\r\nConnection: close\r\n\r\n"
        )?;
        connection.flush()?;
        Self::read(BufReader::with_capacity(BUFFER, connection))
    }

    fn read(mut reader: impl BufRead + Send + 'static) -> io::Result<Self> {
        let mut head = Vec::new();
        let mut left = HEAD_MAX;
        loop {
            let line = line(&mut reader, left)?;
            left = left.saturating_sub(line.len() as u64);
            head.extend_from_slice(&line);
            if matches!(line.as_slice(), b"\r\n" | b"\n") {
                break;
            }
        }
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        parsed
            .parse(&head)
            .map_err(|error| invalid(&error.to_string()))?;
        let status = parsed
            .code
            .ok_or_else(|| invalid("an answer without a status"))?;
        let header = |name: &str| {
            let mut headers = parsed.headers.iter();
            let found = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(found.value).ok()
        };
        let body: Box<dyn Read + Send> =
            match (header("transfer-encoding"), header("content-length")) {
                (Some(coding), _) if coding.trim().eq_ignore_ascii_case("chunked") => {
                    Box::new(Chunked::new(reader))
                }
                (Some(_), _) => return Err(invalid("a transfer coding that is not known")),
                (None, Some(len)) => {
                    let left = len
                        .trim()
                        .parse()
                        .map_err(|_wrong| invalid("a length that is none"))?;
                    Box::new(Sized {
                        inner: reader,
                        left,
                    })
                }
                // it ends where the connection does: whoever reads the archive sees whether that was its end
                (None, None) => Box::new(reader),
            };
        Ok(Self { status, body })
    }

    /// What an answer that is an error says. Docker and podman agree on `message`.
    pub(super) fn message(self) -> String {
        #[derive(Deserialize)]
        struct Said {
            message: String,
        }
        let Ok((bytes, _)) = read_capped(self.body, ERROR_MAX) else {
            return "and no more".to_owned();
        };
        match serde_json::from_slice::<Said>(&bytes) {
            Ok(said) => said.message,
            Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
}

/// A line with its end, of `most` bytes at most.
fn line(reader: &mut impl BufRead, most: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    reader.take(most).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\n") {
        return Ok(line);
    }
    if line.len() as u64 == most {
        return Err(invalid("a line without an end"));
    }
    Err(early())
}

fn early() -> io::Error {
    let what = "the daemon ended its answer early";
    io::Error::new(io::ErrorKind::UnexpectedEof, what)
}

fn invalid(what: &str) -> io::Error {
    let what = format!("this is no answer of a daemon: {what}");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads up to `left` bytes, which must be there.
fn read_some(reader: &mut impl Read, left: &mut u64, buf: &mut [u8]) -> io::Result<usize> {
    let most = usize::try_from(*left).map_or(buf.len(), |left| left.min(buf.len()));
    let wanted = buf.get_mut(..most).unwrap_or_default();
    let len = reader.read(wanted)?;
    if len == 0 && most > 0 {
        return Err(early());
    }
    *left -= len as u64;
    Ok(len)
}

/// A body of a stated length.
struct Sized<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Sized<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        read_some(&mut self.inner, &mut self.left, buf)
    }
}

/// A body in chunks.
struct Chunked<R> {
    inner: R,
    /// Bytes of the chunk that are still to come.
    left: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first chunk.
    First,
    /// In a chunk, or at its end.
    Chunk,
    Ended,
}

impl<R: BufRead> Chunked<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            left: 0,
            state: State::First,
        }
    }

    /// Goes to the next chunk.
    fn next_chunk(&mut self) -> io::Result<()> {
        if self.state == State::Chunk && line(&mut self.inner, 2)? != b"\r\n" {
            return Err(invalid("a chunk that is longer than it says"));
        }
        self.state = State::Chunk;
        let line = line(&mut self.inner, LINE_MAX)?;
        let text = std::str::from_utf8(&line).unwrap_or_default();
        let size = text.split(';').next().unwrap_or_default().trim();
        let digits = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = u64::from_str_radix(size, 16).ok().filter(|_| digits);
        self.left = size.ok_or_else(|| invalid("a chunk without a size"))?;
        if self.left == 0 {
            self.trailer()?;
            self.state = State::Ended;
        }
        Ok(())
    }

    fn trailer(&mut self) -> io::Result<()> {
        let mut left = HEAD_MAX;
        loop {
            let line = line(&mut self.inner, left)?;
            left = left.saturating_sub(line.len() as u64);
            if matches!(line.as_slice(), b"\r\n" | b"\n") {
                return Ok(());
            }
        }
    }
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if self.left == 0 && self.state != State::Ended {
            self.next_chunk()?;
        }
        if self.state == State::Ended {
            return Ok(0);
        }
        read_some(&mut self.inner, &mut self.left, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<(u16, String)> {
        // in small pieces, as a socket gives them
        let reader = BufReader::with_capacity(3, io::Cursor::new(text.as_bytes().to_vec()));
        let answer = Answer::read(reader)?;
        let (body, _) = read_capped(answer.body, 1000)?;
        Ok((answer.status, String::from_utf8(body).unwrap()))
    }

    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    #[test]
    fn bodies_end_where_the_answer_says() {
        for (rest, body) in [
            ("5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", "hello world"),
            ("0\r\nX-Sum: 1\r\n\r\n", ""),
            ("00A\r\n0123456789\r\n0\r\n\r\nbehind", "0123456789"),
        ] {
            assert_eq!(
                read(&format!("{CHUNKED}{rest}")).unwrap(),
                (200, body.to_owned())
            );
        }
        let sized = "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nbody and more";
        assert_eq!(read(sized).unwrap(), (404, "body".to_owned()));
        let open = "HTTP/1.1 200 OK\r\n\r\nto the end";
        assert_eq!(read(open).unwrap(), (200, "to the end".to_owned()));
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error_and_no_end() {
        for rest in [
            "",
            "5\r\nhel",
            "5\r\nhello",
            "5\r\nhello\r\n",
            "5\r\nhello\r\n0\r\n",
        ] {
            let error = read(&format!("{CHUNKED}{rest}")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{rest:?}");
        }
        let sized = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbody";
        assert_eq!(
            read(sized).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
        assert_eq!(
            read("HTTP/1.1 20").unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }

    #[test]
    fn nonsense_is_an_error() {
        let long = format!("{CHUNKED}{}", "1".repeat(5000));
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(100_000));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(200));
        let chunks = [
            "-5\r\n",
            "+5\r\nhello\r\n",
            "\r\n",
            "fffffffffffffffff\r\n",
            "5\r\nhello!\r\n",
        ];
        let chunks = chunks.map(|rest| format!("{CHUNKED}{rest}"));
        let heads = [
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        ];
        let heads = heads.map(str::to_owned);
        for text in [long, endless, many].iter().chain(&chunks).chain(&heads) {
            let error = read(text).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
    }
}
