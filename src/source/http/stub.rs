//! A server for tests, on this machine: it answers each request with what the test says, and remembers what it was
//! asked. The integration tests use it too.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{Clock, HttpOptions};

/// The longest time that a server holds a connection open in vain.
const HANG: Duration = Duration::from_secs(20);

/// A request, as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What to answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Bytes of the body that are stated, if any are.
    claimed: Option<usize>,
    then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Close,
    Hang,
    RepeatBody,
    RepeatHeader,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            claimed: Some(0),
            then: Then::Close,
        }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.claimed = Some(self.body.len());
        self
    }

    /// States the length of the body, and sends only its first `len` bytes.
    pub(crate) fn cut(mut self, len: usize) -> Self {
        self.body.truncate(len);
        self
    }

    /// States no length: the body ends where the connection does.
    pub(crate) fn unsized_body(mut self) -> Self {
        self.claimed = None;
        self
    }

    /// Sends what there is, and then nothing for a long time.
    pub(crate) fn hang(mut self) -> Self {
        self.then = Then::Hang;
        self
    }

    /// Sends the body over and over.
    pub(crate) fn endless_body(mut self) -> Self {
        self.claimed = None;
        self.then = Then::RepeatBody;
        self
    }

    /// Sends headers over and over.
    pub(crate) fn endless_header(mut self) -> Self {
        self.then = Then::RepeatHeader;
        self
    }

    fn send(&self, stream: &mut impl Write, stop: &AtomicBool) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Stub\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(len) = self.claimed {
            head.extend(["content-length: ", &len.to_string(), "\r\n"]);
        }
        stream.write_all(head.as_bytes())?;
        while self.then == Then::RepeatHeader && !stop.load(Ordering::Relaxed) {
            stream.write_all(b"x-more: and more\r\n")?;
        }
        stream.write_all(b"\r\n")?;
        stream.write_all(&self.body)?;
        stream.flush()?;
        while self.then == Then::RepeatBody && !stop.load(Ordering::Relaxed) {
            stream.write_all(&self.body)?;
        }
        if self.then == Then::Hang {
            let mut left = HANG;
            while !stop.load(Ordering::Relaxed) && !left.is_zero() {
                let step = Duration::from_millis(20);
                thread::sleep(step);
                left = left.saturating_sub(step);
            }
        }
        Ok(())
    }
}

/// The server. It stops when it is dropped.
pub(crate) struct Stub {
    address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Arc<AtomicBool>,
}

type Answer = dyn FnMut(&Seen, usize) -> Reply + Send;

impl Stub {
    /// Answers by `answer`, which is given the request and how many came before it.
    pub(crate) fn start(answer: impl FnMut(&Seen, usize) -> Reply + Send + 'static) -> Self {
        Self::run(answer, None)
    }

    /// The same through TLS, and the authority that vouches for it, as a PEM file.
    pub(crate) fn start_tls(
        answer: impl FnMut(&Seen, usize) -> Reply + Send + 'static,
    ) -> (Self, Vec<u8>) {
        let key =
            rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])
                .unwrap();
        let secret =
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![key.cert.der().clone()], secret)
            .unwrap();
        (
            Self::run(answer, Some(Arc::new(config))),
            key.cert.pem().into_bytes(),
        )
    }

    fn run(
        answer: impl FnMut(&Seen, usize) -> Reply + Send + 'static,
        tls: Option<Arc<ServerConfig>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stub = Self {
            address: listener.local_addr().unwrap(),
            scheme: if tls.is_some() { "https" } else { "http" },
            seen: Arc::default(),
            stop: Arc::default(),
        };
        let seen = Arc::clone(&stub.seen);
        let stop = Arc::clone(&stub.stop);
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (stop, seen) = (Arc::clone(&stop), Arc::clone(&seen));
                let (answer, tls) = (Arc::clone(&answer), tls.clone());
                thread::spawn(move || {
                    let stream = stream.unwrap();
                    // a client that goes away is a part of many tests
                    let _gone = match tls {
                        None => serve(stream, &answer, &seen, &stop),
                        Some(config) => {
                            let connection = ServerConnection::new(config).unwrap();
                            serve(StreamOwned::new(connection, stream), &answer, &seen, &stop)
                        }
                    };
                });
            }
        });
        stub
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// An address on this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Method and path of what was asked so far.
    pub(crate) fn paths(&self) -> Vec<String> {
        let seen = self.seen();
        seen.iter()
            .map(|seen| format!("{} {}", seen.method, seen.path))
            .collect()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // wakes the listener
        let _refused = TcpStream::connect(self.address);
    }
}

fn serve(
    mut stream: impl Read + Write,
    answer: &Mutex<Answer>,
    all: &Mutex<Vec<Seen>>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut reader = BufReader::new(&mut stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Ok(());
    };
    let mut seen = Seen {
        method,
        path,
        headers: Vec::new(),
        body: String::new(),
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        seen.headers
            .push((name.to_ascii_lowercase(), value.to_owned()));
    }
    if let Some(len) = seen.header("content-length") {
        let mut body = vec![0; len.parse().unwrap()];
        reader.read_exact(&mut body)?;
        seen.body = String::from_utf8(body).unwrap();
    }
    drop(reader);
    let reply = {
        let mut all = all.lock().unwrap();
        let before = all.len();
        all.push(seen.clone());
        drop(all);
        answer.lock().unwrap()(&seen, before)
    };
    reply.send(&mut stream, stop)
}

/// What a server of files answers: all of `file`, or the one range that is asked for.
pub(crate) fn part(file: &[u8], seen: &Seen) -> Reply {
    let len = file.len();
    let asked = seen.header("range").and_then(|range| {
        let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
        match (from.parse::<usize>(), to.parse::<usize>()) {
            (Ok(from), Ok(to)) => Some((from, to.min(len - 1))),
            (Ok(from), Err(_)) => Some((from, len - 1)),
            (Err(_), Ok(last)) => Some((len.saturating_sub(last), len - 1)),
            (Err(_), Err(_)) => None,
        }
    });
    match asked {
        None => Reply::new(200).body(file),
        Some((from, _)) if from >= len => {
            Reply::new(416).header("content-range", format!("bytes */{len}"))
        }
        Some((from, to)) => Reply::new(206)
            .header("content-range", format!("bytes {from}-{to}/{len}"))
            .body(&file[from..=to]),
    }
}

/// Time that passes only where it is slept through, or by a step with each look at it.
#[derive(Debug, Default)]
pub(crate) struct TestClock {
    now: AtomicU64,
    step: AtomicU64,
    slept: Mutex<Vec<Duration>>,
}

impl TestClock {
    /// Lets so many milliseconds pass with each look.
    pub(crate) fn run(&self, millis: u64) {
        self.step.store(millis, Ordering::Relaxed);
    }

    /// The pauses so far.
    pub(crate) fn slept(&self) -> Vec<Duration> {
        self.slept.lock().unwrap().clone()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        let step = self.step.load(Ordering::Relaxed);
        Duration::from_millis(self.now.fetch_add(step, Ordering::Relaxed))
    }

    fn sleep(&self, time: Duration) {
        self.slept.lock().unwrap().push(time);
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.now.fetch_add(millis, Ordering::Relaxed);
    }
}

/// Options with little patience, and their clock.
pub(crate) fn options() -> (HttpOptions, Arc<TestClock>) {
    let clock = Arc::new(TestClock::default());
    let mut options = HttpOptions::new(Arc::<TestClock>::clone(&clock));
    options.idle_timeout = Duration::from_secs(10);
    options.connect_timeout = Duration::from_secs(10);
    (options, clock)
}
