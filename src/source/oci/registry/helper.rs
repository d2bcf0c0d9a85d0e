//! Credential helpers: programs `docker-credential-NAME` that keep logins.
//!
//! The protocol is that of docker-credential-helpers: `get` as the argument, the server on standard input, JSON on
//! standard output.

use std::process::Command;

use serde::Deserialize;

use super::credentials::{Credential, CredentialOptions};
use crate::escape::visible;
use crate::source::Secret;
use crate::source::http::bounded;
use crate::source::process::{Silent, ask};
use crate::{Error, ErrorKind};

/// Bytes of what a helper says.
const ANSWER_MAX: u64 = 256 << 10;
/// What a helper says where it has no login.
const NONE: &str = "credentials not found";
/// The user of an identity token.
const TOKEN_USER: &str = "<token>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    #[serde(default)]
    username: String,
    #[serde(default)]
    secret: String,
}

/// The login that the helper `name` keeps for `server`.
///
/// # Errors
///
/// A name that is none, and a helper that cannot be run, fails, hangs, or talks nonsense.
pub(super) fn get(
    name: &str,
    server: &str,
    options: &CredentialOptions,
) -> Result<Credential, Error> {
    let timeout = options.helper_timeout;
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if !is_name || name.is_empty() || name.starts_with(['-', '.']) {
        let message = format!("`{}` is no name of a credential helper", visible(name));
        return Err(Error::new(ErrorKind::Input, message).with_hint(
            "`credsStore` and `credHelpers` name a program `docker-credential-NAME` in `PATH`, not a file",
        ));
    }
    let program = format!("docker-credential-{name}");
    let failed = |why: String| {
        Error::new(
            ErrorKind::Input,
            format!("the credential helper `{program}` {why}"),
        )
        .with_hint(format!(
            "try `echo {server} | {program} get`, or take it out of `credsStore` and `credHelpers`"
        ))
    };
    let mut command = Command::new(&program);
    if let Some(path) = &options.helper_path {
        command.env("PATH", path);
    }
    let said = ask(command.arg("get"), Some(server), ANSWER_MAX, timeout);
    let said = said.map_err(|silent| match silent {
        Silent::NotStarted(error) => failed("could not be started".to_owned()).with_source(error),
        Silent::NotEnded(error) => failed("could not be waited for".to_owned()).with_source(error),
        Silent::TooMuch => failed(format!(
            "gave no answer of at most {ANSWER_MAX} bytes within {} seconds",
            timeout.as_secs()
        )),
    })?;
    let bytes = said.output;
    if !said.success {
        let said = String::from_utf8_lossy(&bytes);
        if said.contains(NONE) {
            return Ok(Credential::None);
        }
        return Err(failed(format!("failed: `{}`", bounded(said.trim(), 200))));
    }
    // the text of the error could repeat a part of the secret
    let answer: Answer = serde_json::from_slice(&bytes)
        .map_err(|_secret| failed("answered with something else than a login".to_owned()))?;
    Ok(match (answer.username.as_str(), answer.secret) {
        ("", secret) if secret.is_empty() => Credential::None,
        (TOKEN_USER, secret) => Credential::Identity(Secret::new(secret)),
        (user, secret) => Credential::Password {
            user: user.to_owned(),
            secret: Secret::new(secret),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        let options = CredentialOptions::new(Vec::new());
        get(name, "registry.example", &options)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn runs_nothing_but_programs_of_a_plain_name() {
        for name in [
            "../evil", "a/b", "a\\b", "", "-x", "a b", "C:evil", "..", "a\nb",
        ] {
            let error = error(name);
            assert!(
                error.contains("is no name of a credential helper"),
                "{name}: {error}"
            );
        }
    }

    #[test]
    fn says_which_program_is_missing() {
        assert_eq!(
            error("absent-on-every-machine"),
            "the credential helper `docker-credential-absent-on-every-machine` could not be started"
        );
    }

    /// Helpers as shell scripts; `.exe` is what Windows would want.
    #[cfg(unix)]
    mod scripts {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        use std::time::Duration;

        use crate::limits::read_capped;

        use super::*;

        /// What comes of a helper that runs `body`, and the server that it was asked for.
        fn run(body: &str, timeout: Duration) -> (Result<Credential, Error>, String) {
            let dir = tempfile::tempdir().unwrap();
            let asked = dir.path().join("asked");
            let mut file = std::fs::OpenOptions::new()
                .create(true)
                .write(true)
                .truncate(true)
                .mode(0o755)
                .open(dir.path().join("docker-credential-fake"))
                .unwrap();
            let script = format!(
                "#!/bin/sh\nPATH=/usr/bin:/bin\ncat > '{}'\n{body}\n",
                asked.display()
            );
            file.write_all(script.as_bytes()).unwrap();
            drop(file);
            let mut options = CredentialOptions::new(Vec::new());
            options.helper_timeout = timeout;
            options.helper_path = Some(dir.path().into());
            let found = get("fake", "registry.example:5000", &options);
            let asked = std::fs::File::open(asked)
                .map(|file| read_capped(file, 1000).unwrap().0)
                .unwrap_or_default();
            (found, String::from_utf8(asked).unwrap())
        }

        const LONG: Duration = Duration::from_secs(60);

        #[test]
        fn gives_what_a_helper_keeps() {
            let (found, asked) = run(
                r#"[ "$1" = get ] && echo '{"ServerURL":"x","Username":"ci","Secret":"s3cret"}'"#,
                LONG,
            );
            let expected = Credential::Password {
                user: "ci".to_owned(),
                secret: Secret::new("s3cret"),
            };
            assert_eq!(found.unwrap(), expected);
            assert_eq!(asked, "registry.example:5000\n");
            let (found, _) = run(r#"echo '{"Username":"<token>","Secret":"id"}'"#, LONG);
            assert_eq!(found.unwrap(), Credential::Identity(Secret::new("id")));
        }

        #[test]
        fn takes_no_login_for_none() {
            let (found, _) = run(
                "echo 'credentials not found in native keychain'; exit 1",
                LONG,
            );
            assert_eq!(found.unwrap(), Credential::None);
        }

        #[test]
        fn says_why_a_helper_failed() {
            let (found, _) = run("printf 'locked \\033[31m'; exit 2", LONG);
            assert_eq!(
                found.unwrap_err().to_string(),
                "the credential helper `docker-credential-fake` failed: `locked \\u{1b}[31m`"
            );
            let (found, _) = run("echo s3cret", LONG);
            assert_eq!(
                found.unwrap_err().to_string(),
                "the credential helper `docker-credential-fake` answered with something else than a login"
            );
        }

        #[test]
        fn waits_for_no_helper_for_ever_and_listens_to_none_for_ever() {
            let (found, _) = run("exec sleep 60", Duration::from_millis(200));
            assert!(found.unwrap_err().to_string().contains("gave no answer"));
            let (found, _) = run("exec yes", LONG);
            assert!(found.unwrap_err().to_string().contains("gave no answer"));
        }
    }
}
