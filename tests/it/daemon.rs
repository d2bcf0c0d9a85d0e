//! Images that a daemon holds: a server on a socket of Unix that answers as Docker and podman do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use crate::support::image::{Files, Image, layer};
use crate::support_cli::{Place, Run, finish, library};

/// An archive of `docker save` with one image.
fn archive(code: &str) -> Vec<u8> {
    let mut image = Image::of(&["etc/os-release"]);
    let bytes = library(&[(code, 2)]);
    image.layers.push(layer(&[("opt/app/lib.so", &bytes)]));
    let mut files = Files::default();
    let saved = files.docker_24(&image, &["lab/cuda:1"]);
    files.docker(&[saved]).tar()
}

/// An answer in chunks of many sizes.
fn chunked(bytes: &[u8]) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-tar\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut answer = head.as_bytes().to_vec();
    let mut rest = bytes;
    for len in [1, 511, 4096, 70_000].into_iter().cycle() {
        let (chunk, more) = rest.split_at(len.min(rest.len()));
        write!(answer, "{:x}\r\n", chunk.len()).unwrap();
        answer.extend([chunk, b"\r\n"].concat());
        rest = more;
        if chunk.is_empty() {
            return answer;
        }
    }
    unreachable!("the sizes go round")
}

/// Answers one request with `answer`; gives the line that it asked with.
fn serve(socket: &Path, answer: Vec<u8>) -> thread::JoinHandle<String> {
    let _old = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let asked = lines.next().unwrap().unwrap();
        while !lines.next().unwrap().unwrap().is_empty() {}
        // who has seen enough hangs up
        let _closed = stream.write_all(&answer);
        asked
    })
}

fn check(place: &Place, input: &str) -> Run {
    let mut command = place.command(&[
        "check", input, "--target", "H100", "--driver", "R580", "--format", "json",
    ]);
    let address = format!("unix://{}", place.path().join("d.sock").display());
    command
        .env("DOCKER_HOST", &address)
        .env("CONTAINER_HOST", &address);
    finish(command)
}

/// The run, and what the daemon was asked.
fn asked(place: &Place, input: &str, answer: Vec<u8>) -> (Run, String) {
    let daemon = serve(&place.path().join("d.sock"), answer);
    let run = check(place, input);
    (run, daemon.join().unwrap())
}

#[test]
fn an_image_of_a_daemon_is_judged_as_the_archive_that_it_saves() {
    let place = Place::new();
    for (code, status) in [("sm_90", 0), ("sm_80", 1)] {
        place.write("saved.tar", archive(code));
        let saved = check(&place, "saved.tar");
        for (input, path) in [
            ("docker:lab/cuda:1", "lab/cuda:1"),
            ("docker:lab/cuda", "lab/cuda:latest"),
            ("podman:0123456789ab", "0123456789ab"),
        ] {
            let (run, asked) = asked(&place, input, chunked(&archive(code)));
            assert_eq!(asked, format!("GET /images/{path}/get HTTP/1.1"));
            assert_eq!((run.status, saved.status), (status, status), "{run:?}");
            assert_eq!(run.codes(), saved.codes());
            assert_eq!(run.problems(), Vec::<String>::new());
        }
    }
}

#[test]
fn an_answer_that_breaks_off_passes_nothing() {
    let place = Place::new();
    let whole = chunked(&archive("sm_90"));
    // in a layer, so that it is not known which images there are; then in the zeros at the end of the archive
    for (len, status) in [(whole.len() / 2, 2), (whole.len() - 800, 3)] {
        let (run, _) = asked(&place, "docker:lab/cuda:1", whole[..len].to_vec());
        assert_eq!(run.status, status, "{run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("ended its answer early"), "{run:?}");
    }
}

#[test]
fn what_a_daemon_does_not_give_is_said_with_what_to_do() {
    let place = Place::new();
    let answer = |status: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    let absent = answer("404 Not Found", r#"{"message":"reference does not exist"}"#);
    let (run, _) = asked(&place, "docker:lab/cuda:2", absent);
    insta::assert_snapshot!(run.shown(), @r"
    exit 2
    --- stderr
    error: docker holds no image `lab/cuda:2`: reference does not exist
      next: fetch it with `docker pull lab/cuda:2`, or name it as `registry:lab/cuda:2`
    ");
    let broken = answer(
        "500 Internal Server Error",
        r#"{"cause":"disk","message":"no \u001b space"}"#,
    );
    let (run, _) = asked(&place, "podman:lab/cuda:2", broken);
    insta::assert_snapshot!(run.shown(), @r"
    exit 2
    --- stderr
    error: podman does not give `lab/cuda:2`: it answered 500: no \u{1b} space
      next: look at what it logs; or pipe `podman save lab/cuda:2` into `smgate check -`
    ");
    std::fs::remove_file(place.path().join("d.sock")).unwrap();
    let run = check(&place, "docker:lab/cuda:1");
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("d.sock` is not there"), "{run:?}");
    assert!(
        run.stderr
            .contains("`docker save lab/cuda:1` into `smgate check -`"),
        "{run:?}"
    );
}
