//! Docker Hub, the registry that is meant where none is named: its names, its API's host, its key in files of
//! credentials.
//!
//! The one file that names its hosts.

/// The name of the registry in references.
pub(super) const NAME: &str = "docker.io";

/// The host of its API.
const API_HOST: &str = "registry-1.docker.io";

/// The key of its credentials, as `docker login` writes it, and what credential helpers are asked for.
pub(super) const CREDENTIAL_KEY: &str = "https://index.docker.io/v1/";

/// Hosts that all mean Docker Hub.
const ALIASES: &[&str] = &[NAME, "index.docker.io", API_HOST];

/// The first part of names of official images, which may be left out.
pub(super) const OFFICIAL: &str = "library";

/// Whether `host` is one of its names.
pub(super) fn is(host: &str) -> bool {
    ALIASES.contains(&host)
}

/// The host to send requests to for a registry called `name`.
pub(super) fn api_host(name: &str) -> &str {
    if name == NAME { API_HOST } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::reference::Reference;
    use super::*;

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
