//! Daemons of Docker and podman: an image of theirs as the archive that they save it to.
//!
//! One request over a local socket. Registries have a client of their own; no daemon is asked to pull anything.

mod answer;
mod socket;

use std::io::{self, Read};
use std::path::PathBuf;

use self::answer::Answer;
use self::socket::Connection;
use super::shown;
use crate::escape::visible;
use crate::{Error, ErrorKind};

/// Characters of an answer's message that are shown.
const MESSAGE_MAX: usize = 300;

/// The part of an ID from which on tools take it for one.
const ID_MIN: usize = 12;

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A socket in the file system.
    Unix(PathBuf),
    /// `HOST:PORT`, without TLS.
    Tcp(String),
    /// An address of a kind that is not spoken, as it was given.
    Other(String),
}

impl Endpoint {
    /// Understands an address as `DOCKER_HOST` has it: `unix:///run/docker.sock`, `tcp://127.0.0.1:2375`.
    pub fn from_address(address: &str) -> Self {
        match address.split_once("://") {
            Some(("unix", path)) if !path.is_empty() => Self::Unix(path.into()),
            Some(("tcp" | "http", host)) if host.contains(':') => {
                Self::Tcp(host.trim_end_matches('/').to_owned())
            }
            _ => Self::Other(address.to_owned()),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Unix(path) => shown(path),
            Self::Tcp(text) | Self::Other(text) => visible(text).into_owned(),
        }
    }
}

/// The daemons that inputs may name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Daemons {
    /// That of `docker:`.
    pub docker: Daemon,
    /// That of `podman:`.
    pub podman: Daemon,
}

impl Daemons {
    /// Daemons that listen at one of these places, the first that is there.
    pub fn new(docker: Vec<Endpoint>, podman: Vec<Endpoint>) -> Self {
        Self {
            docker: Daemon {
                program: "docker",
                endpoints: docker,
            },
            podman: Daemon {
                program: "podman",
                endpoints: podman,
            },
        }
    }
}

impl Default for Daemons {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new())
    }
}

/// A daemon that holds images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Daemon {
    /// The program that talks to it.
    program: &'static str,
    endpoints: Vec<Endpoint>,
}

impl Daemon {
    /// The archive of an image, as `docker save` writes it. `name` is one of [`full_name`].
    pub(super) fn save(&self, name: &str) -> Result<Box<dyn Read + Send>, Error> {
        let connection = self.connect(name)?;
        let answer = Answer::get(connection, &format!("/images/{name}/get"))
            .map_err(|error| self.failed("ends before its answer does", name, error))?;
        let status = answer.status;
        if status == 200 {
            return Ok(answer.body);
        }
        let said: String = visible(&answer.message())
            .chars()
            .take(MESSAGE_MAX)
            .collect();
        let program = self.program;
        let (message, hint) = match status {
            404 => (
                format!("{program} holds no image `{name}`: {said}"),
                format!("fetch it with `{program} pull {name}`, or name it as `registry:{name}`"),
            ),
            _ => (
                format!("{program} does not give `{name}`: it answered {status}: {said}"),
                self.hint(name, "look at what it logs"),
            ),
        };
        Err(Error::new(ErrorKind::Input, message).with_hint(hint))
    }

    /// Connects to the first endpoint where somebody listens.
    fn connect(&self, name: &str) -> Result<Connection, Error> {
        let mut last = None;
        for endpoint in &self.endpoints {
            let failed = |what: &str, error: io::Error| {
                let what = format!("`{}` {what}", endpoint.shown());
                self.failed(&what, name, error)
            };
            match socket::connect(endpoint) {
                Ok(connection) => return Ok(connection),
                Err(error) => match error.kind() {
                    io::ErrorKind::NotFound => {
                        last = last.or_else(|| Some(failed("is not there", error)));
                    }
                    io::ErrorKind::ConnectionRefused => {
                        last = Some(failed("has nobody listening", error));
                    }
                    io::ErrorKind::PermissionDenied => {
                        let user = "run as a user who may use it (`sudo`, or the group `docker`)";
                        return Err(
                            failed("may not be used", error).with_hint(self.hint(name, user))
                        );
                    }
                    io::ErrorKind::Unsupported => {
                        let hint = self.hint(name, "give a `unix://` or `tcp://` address");
                        return Err(failed("cannot be used", error).with_hint(hint));
                    }
                    _ => return Err(failed("cannot be connected to", error)),
                },
            }
        }
        Err(last.unwrap_or_else(|| {
            let message = format!(
                "it is not known where the daemon of {} listens",
                self.program
            );
            Error::new(ErrorKind::Input, message).with_hint(self.hint(name, "set `DOCKER_HOST`"))
        }))
    }

    fn failed(&self, what: &str, name: &str, error: io::Error) -> Error {
        let message = format!("the daemon of {} cannot be asked: {what}", self.program);
        let start = match self.program {
            "podman" => "start it with `systemctl --user start podman.socket`",
            _ => "start it, or say with `DOCKER_HOST` where it listens",
        };
        Error::new(ErrorKind::Input, message)
            .with_hint(self.hint(name, start))
            .with_source(error)
    }

    /// What always works instead.
    fn hint(&self, name: &str, first: &str) -> String {
        format!(
            "{first}; or pipe `{} save {name}` into `smgate check -`",
            self.program
        )
    }
}

/// The name of one image: of a repository without a tag, daemons would give all images.
pub(super) fn full_name(name: &str) -> Result<String, Error> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    let mut parts = name.split('/');
    let traverses = parts.any(|part| part.is_empty() || part == "." || part == "..");
    if !name.bytes().all(good) || traverses {
        let message = format!("`{}` is no name of an image", visible(name));
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("name it as `docker images` does: `NAME:TAG`, `NAME@sha256:…`, or its ID"));
    }
    let last = name.rsplit('/').next().unwrap_or(name);
    let hex = name
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_id = name.starts_with("sha256:") || hex && (ID_MIN..=64).contains(&name.len());
    Ok(if is_id || last.contains([':', '@']) {
        name.to_owned()
    } else {
        format!("{name}:latest")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_a_tag_is_the_latest_one() {
        let id = "0123456789ab";
        for (name, full) in [
            ("cuda", "cuda:latest"),
            ("lab/cuda", "lab/cuda:latest"),
            ("localhost:5000/cuda", "localhost:5000/cuda:latest"),
            ("lab/cuda:12.4", "lab/cuda:12.4"),
            ("lab/cuda@sha256:00", "lab/cuda@sha256:00"),
            ("cafe", "cafe:latest"),
            (id, id),
            ("sha256:0123", "sha256:0123"),
        ] {
            assert_eq!(full_name(name).unwrap(), full);
        }
    }

    #[test]
    fn a_name_is_nothing_but_a_name() {
        for name in [
            "a b",
            "../containers",
            "a/../b",
            "a?x=1",
            "a%2e",
            "a\r\nHost: x",
            "//a",
            "é",
            "",
        ] {
            let error = full_name(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{name}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn addresses_are_those_of_docker() {
        let unix = |path: &str| Endpoint::Unix(path.into());
        let other = |text: &str| Endpoint::Other(text.to_owned());
        for (address, endpoint) in [
            ("unix:///run/docker.sock", unix("/run/docker.sock")),
            (
                "tcp://127.0.0.1:2375",
                Endpoint::Tcp("127.0.0.1:2375".to_owned()),
            ),
            ("ssh://me@host", other("ssh://me@host")),
            (
                "npipe:////./pipe/docker_engine",
                other("npipe:////./pipe/docker_engine"),
            ),
            ("unix://", other("unix://")),
            ("/run/docker.sock", other("/run/docker.sock")),
        ] {
            assert_eq!(Endpoint::from_address(address), endpoint);
        }
    }

    #[test]
    fn where_nobody_listens_the_error_says_what_works() {
        let dir = tempfile::tempdir().unwrap();
        let absent = Endpoint::Unix(dir.path().join("no.sock"));
        let daemons = Daemons::new(
            vec![absent],
            vec![Endpoint::Other("ssh://me@host".to_owned())],
        );
        for daemon in [&daemons.docker, &daemons.podman, &Daemons::default().docker] {
            let error = daemon.save("cuda:12").err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Input);
            let hint = format!("{} save cuda:12` into `smgate check -`", daemon.program);
            assert!(error.hint().unwrap().contains(&hint), "{error}");
        }
    }
}
