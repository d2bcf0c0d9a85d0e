//! The client against servers that fail in every way.

use std::io::{self, Read as _};
use std::net::TcpListener;
use std::time::Duration;

use super::stub::{Reply, Stub, options};
use super::*;
use crate::source::Secret;

fn get(http: &Http, url: &str) -> Result<Response, HttpError> {
    http.send(&Request::get(url).unwrap())
}

fn client() -> Http {
    Http::new(&options().0).unwrap()
}

/// The client with an `Authorization`, and what came.
fn get_with_secret(http: &Http, url: &str) -> Result<Response, HttpError> {
    let request = Request::get(url).unwrap();
    http.send(
        &request
            .authorization(&Secret::new("Bearer s3cret"))
            .unwrap(),
    )
}

fn seconds(all: &[u64]) -> Vec<Duration> {
    all.iter().copied().map(Duration::from_millis).collect()
}

#[test]
fn repeats_with_growing_pauses_what_may_pass() {
    let stub = Stub::start(|_, before| match before {
        0 => Reply::new(500),
        1 => Reply::new(503),
        2 => Reply::new(429),
        _ => Reply::new(200).body("ok"),
    });
    let (options, clock) = options();
    let response = get(&Http::new(&options).unwrap(), &stub.url("/a")).unwrap();
    assert_eq!(response.read_small(10).unwrap(), b"ok");
    assert_eq!(clock.slept(), seconds(&[500, 1000, 2000]));
}

#[test]
fn gives_the_last_answer_where_all_attempts_fail() {
    let stub = Stub::start(|_, _| Reply::new(502));
    assert_eq!(get(&client(), &stub.url("/a")).unwrap().status(), 502);
    assert_eq!(stub.seen().len(), 4);
}

#[test]
fn repeats_no_answer_that_stays() {
    for status in [200, 400, 401, 403, 404, 416, 501] {
        let stub = Stub::start(move |_, _| Reply::new(status));
        assert_eq!(get(&client(), &stub.url("/a")).unwrap().status(), status);
        assert_eq!(stub.seen().len(), 1, "{status}");
    }
}

#[test]
fn waits_as_long_as_a_server_asks_for_up_to_a_minute() {
    let stub = Stub::start(|_, before| match before {
        0 => Reply::new(429).header("retry-after", "7"),
        1 => Reply::new(429).header("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"),
        _ => Reply::new(503).header("retry-after", "61"),
    });
    let (options, clock) = options();
    let response = get(&Http::new(&options).unwrap(), &stub.url("/a")).unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(clock.slept(), seconds(&[7000, 1000]));
}

#[test]
fn tries_again_where_nobody_listens() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (options, clock) = options();
    let http = Http::new(&options).unwrap();
    let error = get(&http, &format!("http://{free}/a?sig=s3cret")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Connection);
    assert!(
        error
            .message
            .starts_with(&format!("no answer from `http://{free}/a`: ")),
        "{error}"
    );
    assert_eq!(clock.slept().len(), 3);
}

#[test]
fn credentials_stay_with_the_port_that_they_are_for() {
    let store = Stub::start(|_, _| Reply::new(200).body("blob"));
    let there = store.url("/store?sig=x");
    let stub = Stub::start(move |seen, _| match seen.path.as_str() {
        "/a" => Reply::new(307).header("location", "/b"),
        _ => Reply::new(307).header("location", there.clone()),
    });
    let response = get_with_secret(&client(), &stub.url("/a")).unwrap();
    assert_eq!(response.status(), 200);
    for seen in stub.seen() {
        assert_eq!(
            seen.header("authorization"),
            Some("Bearer s3cret"),
            "{seen:?}"
        );
    }
    assert_eq!(store.paths(), ["GET /store?sig=x"]);
    assert_eq!(store.seen()[0].header("authorization"), None);
}

#[test]
fn credentials_do_not_come_back_from_another_port() {
    let home = Stub::start(|_, _| Reply::new(200));
    let back = home.url("/end");
    let away = Stub::start(move |_, _| Reply::new(302).header("location", back.clone()));
    let there = away.url("/away");
    let stub = Stub::start(move |_, _| Reply::new(302).header("location", there.clone()));
    get_with_secret(&client(), &stub.url("/a")).unwrap();
    assert_eq!(home.seen()[0].header("authorization"), None);
}

#[test]
fn other_headers_are_sent_on() {
    let store = Stub::start(|_, _| Reply::new(206));
    let there = store.url("/b");
    let stub = Stub::start(move |_, _| Reply::new(303).header("location", there.clone()));
    let request = Request::get(&stub.url("/a"))
        .unwrap()
        .header("range", "bytes=5-");
    client().send(&request).unwrap();
    assert_eq!(store.seen()[0].header("range"), Some("bytes=5-"));
    assert_eq!(store.seen()[0].header("referer"), None);
}

#[test]
fn follows_five_redirects_and_no_more() {
    let stub = Stub::start(|seen, _| match seen.path.len() {
        7 => Reply::new(200),
        _ => Reply::new(308).header("location", format!("{}a", seen.path)),
    });
    assert_eq!(get(&client(), &stub.url("/a")).unwrap().status(), 200);
    let error = get(&client(), &stub.url("/")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Redirect);
    assert!(
        error.message.ends_with("redirects more than 5 times"),
        "{error}"
    );
}

#[test]
fn refuses_redirects_that_lead_nowhere_or_to_other_schemes() {
    let cases = [
        ("http://[", HttpErrorKind::Redirect),
        ("file:///etc/passwd", HttpErrorKind::Insecure),
        ("ftp://127.0.0.1/", HttpErrorKind::Insecure),
        ("http://registry.example/a", HttpErrorKind::Insecure),
        ("http://user:s3cret@127.0.0.1/a", HttpErrorKind::Insecure),
    ];
    for (location, kind) in cases {
        let stub = Stub::start(move |_, _| Reply::new(302).header("location", location));
        let error = get(&client(), &stub.url("/a")).unwrap_err();
        assert_eq!(error.kind, kind, "{location}: {error}");
        assert!(!error.message.contains("s3cret"), "{error}");
    }
    let stub = Stub::start(|_, _| Reply::new(302));
    let error = get(&client(), &stub.url("/a")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Redirect);
}

#[test]
fn a_form_goes_nowhere_else() {
    let stub = Stub::start(|_, _| Reply::new(307).header("location", "/b"));
    let request = Request::get(&stub.url("/a"))
        .unwrap()
        .form(&[("refresh_token", "s3 &cret")]);
    let error = client().send(&request).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Redirect);
    assert_eq!(stub.paths(), ["POST /a"]);
    assert_eq!(stub.seen()[0].body, "refresh_token=s3+%26cret");
}

#[test]
fn encryption_is_asked_for_except_on_this_machine() {
    let (mut options, _) = options();
    options.attempts = 1;
    let http = Http::new(&options).unwrap();
    let error = get(&http, "http://registry.example/v2/").unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Insecure);
    assert_eq!(
        error.message,
        "`http://registry.example/v2/` is not `https:`"
    );
    // asked for, it is tried: the proxy sees it
    let proxy = Stub::start(|_, _| Reply::new(200));
    options.plain_http = true;
    options.http_proxy = Some(Secret::new(proxy.url("/")));
    get(&Http::new(&options).unwrap(), "http://registry.example/v2/").unwrap();
    assert_eq!(proxy.paths(), ["GET http://registry.example/v2/"]);
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_it_is_given() {
    let (stub, ca) = Stub::start_tls(|_, _| Reply::new(200).body("ok"));
    let (mut options, clock) = options();
    let error = get(&Http::new(&options).unwrap(), &stub.url("/a")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls, "{error}");
    assert!(clock.slept().is_empty(), "another attempt cannot help");
    options.ca_pem = Some(ca);
    let response = get(&Http::new(&options).unwrap(), &stub.url("/a")).unwrap();
    assert_eq!(response.read_small(10).unwrap(), b"ok");
}

#[test]
fn nothing_leads_out_of_encryption() {
    let plain = Stub::start(|_, _| Reply::new(200));
    let there = plain.url("/a");
    let (stub, ca) = Stub::start_tls(move |_, _| Reply::new(302).header("location", there.clone()));
    let (mut options, _) = options();
    options.ca_pem = Some(ca);
    options.plain_http = true;
    let error = get(&Http::new(&options).unwrap(), &stub.url("/a")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Insecure);
    assert!(error.message.ends_with("which is not encrypted"), "{error}");
    assert!(plain.seen().is_empty());
}

#[test]
fn one_authority_that_cannot_be_used_does_not_hide_the_others() {
    let (stub, mut pem) = Stub::start_tls(|_, _| Reply::new(200));
    pem.extend(b"\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let (mut options, _) = options();
    options.ca_pem = Some(pem);
    let http = Http::new(&options).unwrap();
    assert_eq!(get(&http, &stub.url("/a")).unwrap().status(), 200);
}

#[test]
fn says_what_is_wrong_with_a_file_of_authorities() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in ["", "no PEM", broken] {
        let (mut options, _) = options();
        options.ca_pem = Some(pem.into());
        let error = Http::new(&options).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the file of certificate authorities holds no certificate that can be read"
        );
    }
}

#[test]
fn proxies_stand_before_all_but_the_hosts_that_are_excepted() {
    let proxy = Stub::start(|_, _| Reply::new(200));
    let direct = Stub::start(|_, _| Reply::new(200));
    let (mut options, _) = options();
    options.plain_http = true;
    options.attempts = 1;
    options.http_proxy = Some(Secret::new(format!("user:s3cret@{}", proxy.host())));
    options.no_proxy = "inside.example, 192.0.2.0/24".to_owned();
    let http = Http::new(&options).unwrap();
    get(&http, "http://outside.example/a").unwrap();
    get(&http, &direct.url("/b")).unwrap();
    get(&http, "http://registry.inside.example/c").unwrap_err();
    assert_eq!(proxy.paths(), ["GET http://outside.example/a"]);
    assert_eq!(direct.paths(), ["GET /b"]);
    // base64 of `user:s3cret`
    let login = proxy.seen()[0]
        .header("proxy-authorization")
        .map(str::to_owned);
    assert_eq!(login.as_deref(), Some("Basic dXNlcjpzM2NyZXQ="));
    assert!(!format!("{options:?}").contains("s3cret"));
    options.https_proxy = options.http_proxy.take();
    get(&Http::new(&options).unwrap(), "https://outside.example/a").unwrap_err();
    assert_eq!(proxy.paths()[1], "CONNECT outside.example:443");
}

#[test]
fn says_what_a_proxy_must_look_like() {
    for proxy in [
        "socks5://s3cret@127.0.0.1:1",
        "http://[s3cret",
        "s3cret://x",
    ] {
        let (mut options, _) = options();
        options.https_proxy = Some(Secret::new(proxy));
        let error = Http::new(&options).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the proxy for `https:` is no address of an HTTP proxy"
        );
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn waits_for_nobody_for_ever() {
    let (mut options, _) = options();
    options.idle_timeout = Duration::from_millis(300);
    options.attempts = 1;
    let http = Http::new(&options).unwrap();
    let stub = Stub::start(|_, _| Reply::new(200).body("half of it").cut(4).hang());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = get(&http, &format!("http://{}/a", silent.local_addr().unwrap())).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Timeout);
    let error = get(&http, &stub.url("/body"))
        .unwrap()
        .read_small(100)
        .unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Timeout, "{error}");
}

#[test]
fn takes_no_endless_head_and_no_endless_body() {
    let (mut options, _) = options();
    options.attempts = 1;
    let http = Http::new(&options).unwrap();
    let stub = Stub::start(|seen, _| match seen.path.as_str() {
        "/head" => Reply::new(200).endless_header(),
        _ => Reply::new(200).body(vec![b'x'; 10_000]).endless_body(),
    });
    let error = get(&http, &stub.url("/head")).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Connection);
    let error = get(&http, &stub.url("/body"))
        .unwrap()
        .read_small(1 << 20)
        .unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::TooLong);
}

#[test]
fn takes_nothing_that_drips() {
    let stub = Stub::start(|_, _| Reply::new(200).body(vec![b'x'; 4 << 20]));
    let (options, clock) = options();
    let http = Http::new(&options).unwrap();
    let mut response = get(&http, &stub.url("/a")).unwrap();
    clock.run(10_000);
    let mut byte = [0];
    let drips = (0..100).find_map(|_| response.read(&mut byte).err());
    let error = response.error_of(&drips.unwrap());
    assert_eq!(error.kind, HttpErrorKind::Timeout);
    assert!(error.message.ends_with("sends too slowly"), "{error}");
    // minutes with enough bytes in them are no drip
    clock.run(1000);
    let mut response = get(&http, &stub.url("/a")).unwrap();
    assert_eq!(io::copy(&mut response, &mut io::sink()).unwrap(), 4 << 20);
    // a small answer has a minute for the whole
    let stub = Stub::start(|_, _| Reply::new(200).body("x"));
    let response = get(&http, &stub.url("/a")).unwrap();
    clock.run(61_000);
    assert_eq!(
        response.read_small(10).unwrap_err().kind,
        HttpErrorKind::Timeout
    );
}

#[test]
fn secrets_stay_out_of_what_is_shown() {
    let request =
        Request::get("https://u:s3cret@registry.example:5000/a/b?sig=s3cret#s3cret").unwrap();
    assert_eq!(request.shown(), "https://registry.example:5000/a/b");
    assert_eq!(
        format!("{request:?}"),
        "Request(\"https://registry.example:5000/a/b\")"
    );
    let error = client().send(&request).unwrap_err();
    assert!(!format!("{error:?}").contains("s3cret"));
    let secret = Secret::new("s3cret\n");
    let error = Request::get("https://a.example")
        .unwrap()
        .authorization(&secret)
        .unwrap_err();
    assert!(!format!("{error:?}").contains("s3cret"));
}

#[test]
fn knows_this_machine_by_its_names() {
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"] {
        assert!(is_loopback_host(host), "{host}");
    }
    for host in [
        "registry.example",
        "128.0.0.1",
        "[::2]",
        "localhost.example",
        "0.0.0.0",
        "127.0.0.1.example",
    ] {
        assert!(!is_loopback_host(host), "{host}");
    }
}
