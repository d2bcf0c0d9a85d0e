//! Docker Hub, the registry that is meant where none is named: its names, its API's host, its key in files of
//! credentials.
//!
//! The one file that names its hosts.

/// The name of the registry in references.
pub(super) const NAME: &str = "docker.io";

/// The host of its API.
#[cfg(feature = "registry")]
const API_HOST: &str = "registry-1.docker.io";

/// The key of its credentials, as `docker login` writes it, and what credential helpers are asked for.
#[cfg(feature = "registry")]
pub(super) const CREDENTIAL_KEY: &str = "https://index.docker.io/v1/";

/// Another host of its names, of old.
const ALIAS: &str = "index.docker.io";

/// The first part of names of official images, which may be left out.
pub(super) const OFFICIAL: &str = "library";

/// Whether `host` is one of its names.
#[cfg(feature = "registry")]
pub(super) fn is(host: &str) -> bool {
    [NAME, ALIAS, API_HOST].contains(&host)
}

/// The host to send requests to for a registry called `name`.
#[cfg(feature = "registry")]
pub(super) fn api_host(name: &str) -> &str {
    if name == NAME { API_HOST } else { name }
}

/// A name as people write it: without the registry and the repository that it has where none is written.
pub(super) fn familiar(name: &str) -> &str {
    let below = |host: &str| name.strip_prefix(host)?.strip_prefix('/');
    let Some(rest) = below(NAME).or_else(|| below(ALIAS)) else {
        return name;
    };
    let single = rest
        .strip_prefix(OFFICIAL)
        .and_then(|rest| rest.strip_prefix('/'));
    single
        .filter(|single| !single.contains('/'))
        .unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "registry")]
    use super::super::Reference;
    use super::*;

    #[test]
    fn a_name_loses_what_is_understood() {
        for (name, short) in [
            ("docker.io/library/a:1", "a:1"),
            ("docker.io/lab/a:1", "lab/a:1"),
            ("index.docker.io/library/a", "a"),
            ("docker.io/library/a/b", "library/a/b"),
            ("library/a", "library/a"),
            ("registry.example/library/a", "registry.example/library/a"),
        ] {
            assert_eq!(familiar(name), short);
        }
    }

    #[cfg(feature = "registry")]
    #[test]
    fn short_names_are_those_of_docker_hub() {
        let names = [
            ("ubuntu", "docker.io/library/ubuntu:latest"),
            ("ubuntu:24.04", "docker.io/library/ubuntu:24.04"),
            ("pytorch/pytorch", "docker.io/pytorch/pytorch:latest"),
            ("docker.io/ubuntu", "docker.io/library/ubuntu:latest"),
            (
                "docker.io/library/ubuntu",
                "docker.io/library/ubuntu:latest",
            ),
            ("index.docker.io/ubuntu", "docker.io/library/ubuntu:latest"),
            ("registry-1.docker.io/a/b:c", "docker.io/a/b:c"),
            ("Docker.IO/a/b:c", "docker.io/a/b:c"),
        ];
        for (short, full) in names {
            let reference: Reference = short.parse().unwrap();
            assert_eq!(reference.to_string(), full, "{short}");
            assert_eq!(full.parse::<Reference>().unwrap(), reference, "{short}");
        }
        assert_eq!(api_host("docker.io"), "registry-1.docker.io");
        assert_eq!(api_host("registry.example"), "registry.example");
        // a port makes it another server
        let other: Reference = "docker.io:5000/ubuntu".parse().unwrap();
        assert_eq!(other.repository(), "ubuntu");
    }
}
