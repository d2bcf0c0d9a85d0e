//! What the environment says of the network: proxies, logins, and time.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::source::Secret;
use crate::source::http::{Clock, HttpOptions};
use crate::source::oci::{Access, CredentialOptions};

/// The clock of this machine.
#[derive(Debug)]
struct Real(Instant);

impl Clock for Real {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// Access to registries as the environment of this process sets it up: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
/// `NO_PROXY` in small or large letters; logins of Docker (`DOCKER_CONFIG`, else below the home directory), then of
/// podman (`REGISTRY_AUTH_FILE`, then below `XDG_RUNTIME_DIR` and `XDG_CONFIG_HOME`).
pub fn registry_access() -> Access {
    access(&|name| env::var_os(name), Arc::new(Real(Instant::now())))
}

fn access(variable: &dyn Fn(&str) -> Option<OsString>, clock: Arc<dyn Clock>) -> Access {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let text = |name: &str| {
        let value = set(name).or_else(|| set(&name.to_ascii_uppercase()))?;
        Some(value.to_string_lossy().into_owned())
    };
    let mut http = HttpOptions::new(clock);
    let proxy = |name: &str| text(name).or_else(|| text("all_proxy")).map(Secret::new);
    http.https_proxy = proxy("https_proxy");
    http.http_proxy = proxy("http_proxy");
    http.no_proxy = text("no_proxy").unwrap_or_default();

    let path = |name: &str| set(name).map(PathBuf::from);
    let home = path("HOME").or_else(|| path("USERPROFILE"));
    let below_home = |rest: &str| home.as_ref().map(|home| home.join(rest));
    let docker = path("DOCKER_CONFIG").or_else(|| below_home(".docker"));
    let settings = path("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
    let files = [
        docker.map(|directory| directory.join("config.json")),
        path("REGISTRY_AUTH_FILE"),
        path("XDG_RUNTIME_DIR").map(|directory| directory.join("containers/auth.json")),
        settings.map(|directory| directory.join("containers/auth.json")),
    ];
    let mut credentials = CredentialOptions::new(files.into_iter().flatten().collect());
    credentials.helper_path = set("PATH");
    Access::new(http, credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Access {
        let look = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        access(&look, Arc::new(Real(Instant::now())))
    }

    fn files(variables: &[(&str, &str)]) -> Vec<String> {
        let files = of(variables).credentials.files;
        files
            .iter()
            .map(|file| file.to_str().unwrap().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn logins_are_those_of_docker_then_those_of_podman() {
        assert_eq!(
            files(&[("HOME", "/h")]),
            ["/h/.docker/config.json", "/h/.config/containers/auth.json"]
        );
        let all = [
            ("HOME", "/h"),
            ("DOCKER_CONFIG", "/d"),
            ("REGISTRY_AUTH_FILE", "/r/auth.json"),
            ("XDG_RUNTIME_DIR", "/run/user/0"),
            ("XDG_CONFIG_HOME", "/c"),
        ];
        assert_eq!(
            files(&all),
            [
                "/d/config.json",
                "/r/auth.json",
                "/run/user/0/containers/auth.json",
                "/c/containers/auth.json",
            ]
        );
        assert_eq!(files(&[("HOME", "")]), Vec::<String>::new());
    }

    #[test]
    fn proxies_are_named_in_small_or_large_letters() {
        let http = of(&[
            ("HTTPS_PROXY", "http://large.example"),
            ("https_proxy", "http://small.example"),
            ("ALL_PROXY", "http://all.example"),
            ("NO_PROXY", "inside.example"),
        ])
        .http;
        assert_eq!(http.https_proxy, Some(Secret::new("http://small.example")));
        assert_eq!(http.http_proxy, Some(Secret::new("http://all.example")));
        assert_eq!(http.no_proxy, "inside.example");
        let none = of(&[("https_proxy", "")]).http;
        assert_eq!((none.https_proxy, none.http_proxy), (None, None));
    }

    #[test]
    fn time_passes() {
        let clock = Real(Instant::now());
        let before = clock.now();
        clock.sleep(Duration::from_millis(2));
        assert!(clock.now().saturating_sub(before) >= Duration::from_millis(2));
    }
}
