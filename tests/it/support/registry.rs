//! Registries on this machine: Debian's `docker-registry` with a storage of its own, an issuer of tokens that it
//! trusts, and a store that it redirects to.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use smgate::source::http::{Clock, HttpOptions};
use smgate::source::oci::{Access, CredentialOptions};

#[path = "../../../src/source/http/stub.rs"]
pub(crate) mod stub;

use stub::{Reply, Seen, Stub};

/// `ci` with the password `s3cret`, by `htpasswd -Bbn -C 4 ci s3cret`.
const HTPASSWD: &str = "ci:$2y$04$KKP.WWefGNowrRwR43puPuHiNuts.lobMgCjdNFWHph94kpS0Lueu";
/// The same as an `auth` of Docker's `config.json`.
pub(crate) const LOGIN: &str = "Y2k6czNjcmV0";

/// A running registry. It ends when this is dropped.
pub(crate) struct DockerRegistry {
    child: Child,
    /// `127.0.0.1:PORT`
    pub(crate) host: String,
}

impl DockerRegistry {
    /// Starts one on `storage`, with further lines of configuration. `None`, and a note, where it is not installed.
    pub(crate) fn start(storage: &Path, more: &str) -> Option<Self> {
        for _ in 0..5 {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let host = free.local_addr().unwrap().to_string();
            drop(free);
            let config = storage.join(format!("config-{}.yml", host.replace(':', "-")));
            let text = format!(
                "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\nstorage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp: {{addr: '{host}'}}\n{more}\n",
                storage.display()
            );
            std::fs::write(&config, text).unwrap();
            let spawned = Command::new("docker-registry")
                .arg("serve")
                .arg(&config)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let Ok(child) = spawned else {
                println!("skipped: `docker-registry` is not installed");
                return None;
            };
            let mut registry = Self { child, host };
            if registry.is_up() {
                return Some(registry);
            }
        }
        panic!("`docker-registry` does not come up");
    }

    /// Waits until it listens; false where it ended, as it does if another took its port.
    fn is_up(&mut self) -> bool {
        for _ in 0..300 {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect(&self.host).is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Pushes a blob, and gives its digest.
    pub(crate) fn push_blob(&self, repository: &str, bytes: &[u8]) -> String {
        let digest = digest(bytes);
        let (status, head) =
            self.send("POST", &format!("/v2/{repository}/blobs/uploads/"), "", &[]);
        assert_eq!(status, 202, "{head}");
        let location = head
            .lines()
            .find_map(|line| line.strip_prefix("Location: "))
            .unwrap();
        let path = location.split_once(&self.host).unwrap().1;
        let (status, head) = self.send(
            "PUT",
            &format!("{path}&digest={digest}"),
            "application/octet-stream",
            bytes,
        );
        assert_eq!(status, 201, "{head}");
        digest
    }

    /// Pushes a manifest under `tag`, and gives its digest.
    pub(crate) fn push_manifest(
        &self,
        repository: &str,
        tag: &str,
        kind: &str,
        bytes: &[u8],
    ) -> String {
        let (status, head) = self.send(
            "PUT",
            &format!("/v2/{repository}/manifests/{tag}"),
            kind,
            bytes,
        );
        assert_eq!(status, 201, "{head}");
        digest(bytes)
    }

    /// One request, without the client that is tested.
    fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let len = stream.read(&mut chunk).unwrap();
            if len == 0 {
                break;
            }
            answer.extend_from_slice(&chunk[..len]);
        }
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text.replace('\r', ""))
    }
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// `sha256:…`
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// Configuration for users with passwords.
pub(crate) fn with_passwords(storage: &Path) -> String {
    let file = storage.join("htpasswd");
    std::fs::write(&file, HTPASSWD).unwrap();
    format!(
        "auth: {{htpasswd: {{realm: lab, path: '{}'}}}}",
        file.display()
    )
}

/// Configuration for blobs that another server gives.
pub(crate) fn with_store(store: &Stub) -> String {
    format!(
        "middleware: {{storage: [{{name: redirect, options: {{baseurl: '{}'}}}}]}}",
        store.url("/")
    )
}

/// A store of files, as behind registries: with ranges, and it refuses whoever sends it an `Authorization`. It cuts
/// the first connection after `cut` bytes.
pub(crate) fn store(root: PathBuf, cut: usize) -> Stub {
    Stub::start(move |seen, before| {
        if seen.header("authorization").is_some() {
            return Reply::new(400);
        }
        let path = seen.path.split('?').next().unwrap();
        let bytes = super::read(&root.join(path.trim_start_matches('/')));
        let range = seen.header("range").and_then(|range| {
            range
                .strip_prefix("bytes=")?
                .strip_suffix('-')?
                .parse::<usize>()
                .ok()
        });
        match range {
            Some(first) => Reply::new(206)
                .header(
                    "content-range",
                    format!("bytes {first}-{}/{}", bytes.len() - 1, bytes.len()),
                )
                .body(&bytes[first..]),
            None if before == 0 => Reply::new(200).body(bytes).cut(cut),
            None => Reply::new(200).body(bytes),
        }
    })
}

/// An issuer of tokens: anybody may pull `public/…`, `ci` everything.
pub(crate) struct Issuer {
    pub(crate) stub: Stub,
    certificate: String,
}

impl Issuer {
    pub(crate) fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["issuer.example".to_owned()]).unwrap();
        let random = SystemRandom::new();
        let secret = made.signing_key.serialize_der();
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &secret, &random).unwrap();
        let chain = STANDARD.encode(made.cert.der());
        let stub = Stub::start(move |seen, before| match who(seen) {
            None => Reply::new(401),
            Some(user) => {
                let token = token(user, seen, before, &key, &chain);
                Reply::new(200).body(json!({"token": token, "expires_in": 60}).to_string())
            }
        });
        Self {
            stub,
            certificate: made.cert.pem(),
        }
    }

    /// Configuration of a registry that trusts it.
    pub(crate) fn configuration(&self, storage: &Path) -> String {
        let file = storage.join("issuer.pem");
        std::fs::write(&file, &self.certificate).unwrap();
        format!(
            "auth: {{token: {{realm: '{}', service: lab, issuer: lab-issuer, rootcertbundle: '{}'}}}}",
            self.stub.url("/token"),
            file.display()
        )
    }
}

/// Who asks: nobody in particular is `""`, and `None` a liar.
fn who(seen: &Seen) -> Option<&'static str> {
    match (seen.method.as_str(), seen.header("authorization")) {
        ("GET", None) => Some(""),
        ("GET", Some(login)) if login == format!("Basic {LOGIN}") => Some("ci"),
        ("POST", None)
            if seen.body.contains("grant_type=refresh_token")
                && seen.body.ends_with("refresh_token=id-of-ci") =>
        {
            Some("ci")
        }
        _ => None,
    }
}

/// A token after `spec/auth/jwt` of the distribution project.
fn token(user: &str, seen: &Seen, number: usize, key: &EcdsaKeyPair, chain: &str) -> String {
    let fields = format!("{}&{}", seen.path, seen.body);
    let scope = fields
        .split_once("scope=")
        .unwrap()
        .1
        .split('&')
        .next()
        .unwrap();
    let scope = scope.replace("%3A", ":").replace("%2F", "/");
    let [kind, name, actions] = scope.split(':').collect::<Vec<_>>()[..] else {
        panic!("{scope}");
    };
    let may = user == "ci" || name.starts_with("public/");
    let actions: Vec<&str> = if may { vec![actions] } else { Vec::new() };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let head = json!({"typ": "JWT", "alg": "ES256", "x5c": [chain]});
    let claims = json!({
        "iss": "lab-issuer", "sub": user, "aud": "lab", "exp": now + 60, "nbf": now - 5, "iat": now,
        "jti": number.to_string(), "access": [{"type": kind, "name": name, "actions": actions}],
    });
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(head.to_string()),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let signature = key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Access with a file of logins in `dir`.
pub(crate) fn access(dir: &Path, logins: &serde_json::Value) -> Access {
    let file = dir.join("config.json");
    std::fs::write(&file, logins.to_string()).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(stub::TestClock::default());
    Access::new(HttpOptions::new(clock), CredentialOptions::new(vec![file]))
}
