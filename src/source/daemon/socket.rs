//! Connections to daemons. Sockets in the file system are those of Unix; on other systems the error says what to do.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use super::Endpoint;

/// The longest wait for a daemon. Docker packs a large image as a whole before it answers.
const PATIENCE: Duration = Duration::from_secs(900);

/// Both ways of a connection.
pub(super) type Connection = Box<dyn ReadWrite>;

/// What can be read from and written to.
pub(super) trait ReadWrite: Read + Write + Send {}

impl<S: Read + Write + Send> ReadWrite for S {}

/// Connects to a daemon.
///
/// # Errors
///
/// `Unsupported` for an endpoint of a kind that is not spoken, or not on this system.
pub(super) fn connect(endpoint: &Endpoint) -> io::Result<Connection> {
    match endpoint {
        Endpoint::Unix(path) => unix(path),
        Endpoint::Tcp(host) => {
            let stream = TcpStream::connect(host)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(Box::new(stream))
        }
        Endpoint::Other(_) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "addresses of this kind are not read",
        )),
    }
}

#[cfg(unix)]
fn unix(path: &Path) -> io::Result<Connection> {
    let stream = std::os::unix::net::UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(Box::new(stream))
}

#[cfg(not(unix))]
fn unix(_path: &Path) -> io::Result<Connection> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "sockets of Unix are not read on this system",
    ))
}
