//! What the environment says of daemons that hold images.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::source::{Daemons, Endpoint};

/// Daemons where the environment of this process says that they listen: `DOCKER_HOST`, else the sockets that Docker
/// has by default (of the system, without root, of Docker Desktop); `CONTAINER_HOST`, else those of podman.
pub fn local_daemons() -> Daemons {
    daemons(&|name| env::var_os(name))
}

fn daemons(variable: &dyn Fn(&str) -> Option<OsString>) -> Daemons {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let below = |name: &str, rest: &str| Some(PathBuf::from(set(name)?).join(rest));
    let named = |name: &str| {
        let address = set(name)?;
        Some(vec![Endpoint::from_address(&address.to_string_lossy())])
    };
    let sockets = |paths: [Option<PathBuf>; 3]| {
        let paths = paths.into_iter().flatten();
        paths.map(Endpoint::Unix).collect()
    };
    let docker = named("DOCKER_HOST").unwrap_or_else(|| {
        sockets([
            Some("/var/run/docker.sock".into()),
            below("XDG_RUNTIME_DIR", "docker.sock"),
            below("HOME", ".docker/run/docker.sock"),
        ])
    });
    let podman = named("CONTAINER_HOST").unwrap_or_else(|| {
        sockets([
            below("XDG_RUNTIME_DIR", "podman/podman.sock"),
            Some("/run/podman/podman.sock".into()),
            None,
        ])
    });
    Daemons::new(docker, podman)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Daemons {
        daemons(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn sockets_are_where_docker_and_podman_have_them() {
        let unix = |path: &str| Endpoint::Unix(path.into());
        let system = Daemons::new(
            vec![unix("/var/run/docker.sock")],
            vec![unix("/run/podman/podman.sock")],
        );
        assert_eq!(of(&[("DOCKER_HOST", "")]), system);
        let user = Daemons::new(
            vec![
                unix("/var/run/docker.sock"),
                unix("/run/user/7/docker.sock"),
                unix("/h/.docker/run/docker.sock"),
            ],
            vec![
                unix("/run/user/7/podman/podman.sock"),
                unix("/run/podman/podman.sock"),
            ],
        );
        assert_eq!(
            of(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/7")]),
            user
        );
    }

    #[test]
    fn an_address_that_is_named_is_the_only_one() {
        let said = Daemons::new(
            vec![Endpoint::Tcp("127.0.0.1:2375".to_owned())],
            vec![Endpoint::Unix("/p.sock".into())],
        );
        let variables = [
            ("DOCKER_HOST", "tcp://127.0.0.1:2375"),
            ("CONTAINER_HOST", "unix:///p.sock"),
            ("HOME", "/h"),
        ];
        assert_eq!(of(&variables), said);
    }
}
