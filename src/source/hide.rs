//! What of a foreign text may be shown.
//!
//! Responsible for every text of a lock file, of a server or of the command line that goes into a message or a report:
//! addresses lose users, passwords, tokens and the values of queries. Texts need not be valid addresses, so what looks
//! like a login is left out, too.

/// Fields of a query that name code and no user.
const HARMLESS: &[&str] = &[
    "branch",
    "egg",
    "lfs",
    "ref",
    "reference",
    "rev",
    "subdirectory",
    "tag",
];
/// Schemes that an address may have where a slash is missing: `http:/HOST`.
const SCHEMES: &[&str] = &[
    "http", "https", "ftp", "ftps", "sftp", "ssh", "file", "git", "hg", "svn", "bzr", "s3", "gs",
    "socks5", "direct",
];
/// What stands for a token.
const HIDDEN: &str = "…";

/// A text with what its addresses hold of users, passwords and tokens left out: what stands before the `@` of a host,
/// the values of fields behind `?`, and what stands behind `/t/`, where conda writes tokens. What looks like a login
/// without being in an address (`user:password@host`) is left out, too. The answer is its own answer.
pub fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let mut rest = word;
        while let Some((before, behind)) = rest.split_once("://") {
            push_word(&mut shown, before);
            shown.push_str("://");
            let (address, after) = split_at(behind, end_of_address(behind));
            push_address(&mut shown, address);
            rest = after;
        }
        push_word(&mut shown, rest);
    }
    shown
}

/// The path of an address without the tokens that conda writes into it.
#[cfg(feature = "registry")]
pub(super) fn path_without_secrets(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    push_path(&mut shown, path);
    shown
}

/// What stands before a user that is no part of it.
const STARTS: [char; 13] = [
    '/', '\\', '@', '=', ',', '(', '[', '{', '"', '\'', '`', '<', '>',
];

/// Where an address in a word ends: at the next one, or at a quote behind which no login ends.
fn end_of_address(behind: &str) -> usize {
    let limit = behind.find("://").map_or(behind.len(), |next| {
        let before = split_at(behind, next).0;
        let scheme = before.rfind(|c: char| !is_of_scheme(c));
        scheme.map_or(0, |at| {
            let (_, rest) = split_at(before, at);
            at + rest.chars().next().map_or(0, char::len_utf8)
        })
    });
    let before = split_at(behind, limit).0;
    let from = before.rfind('@').map_or(0, |at| at + 1);
    let quote = split_at(before, from).1.find(['"', '\'', '`', '<', '>']);
    quote.map_or(limit, |at| from + at)
}

fn is_of_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

/// Adds what stands behind `://`.
fn push_address(shown: &mut String, address: &str) {
    let end = address.find(['/', '?', '#']).unwrap_or(address.len());
    let host = split_at(address, end).0;
    // a password with a slash is no valid address, and a password all the same
    let users = if host.contains('@') || is_host(host) {
        host
    } else {
        address
    };
    let from = users.rfind('@').map_or(0, |at| at + 1);
    let address = split_at(address, from).1;

    let (address, fragment) = split_before(address, '#');
    let (path, query) = split_before(address, '?');
    push_path(shown, path);
    push_query(shown, query);
    shown.push_str(fragment);
}

/// Whether it is a host with or without a port, rather than a user and the beginning of a password. A name without a
/// dot is one where it has no port.
fn is_host(text: &str) -> bool {
    if let Some(v6) = text.strip_prefix('[') {
        let port = v6.rsplit(']').next().unwrap_or_default();
        return port
            .strip_prefix(':')
            .unwrap_or(port)
            .parse::<u16>()
            .is_ok()
            || port.is_empty();
    }
    match text.rsplit_once(':') {
        None | Some((_, "")) => true,
        Some((name, port)) => {
            (name.contains('.') || name.eq_ignore_ascii_case("localhost"))
                && port.parse::<u16>().is_ok()
        }
    }
}

/// Adds a host and the path behind it.
fn push_path(shown: &mut String, path: &str) {
    let mut before = None;
    for (i, part) in path.split('/').enumerate() {
        if i > 0 {
            shown.push('/');
        }
        match before {
            None => shown.push_str(part),
            Some("t") if i > 1 && !part.is_empty() => shown.push_str(HIDDEN),
            Some(_) => push_login(shown, part),
        }
        before = Some(part);
    }
}

/// Adds a query with its `?`, or nothing.
fn push_query(shown: &mut String, query: &str) {
    for (i, field) in query.split(['?', '&']).enumerate().skip(1) {
        shown.push(if i == 1 { '?' } else { '&' });
        match field.split_once('=') {
            Some((key, _)) if !HARMLESS.contains(&key) => {
                shown.push_str(key);
                shown.push('=');
                shown.push_str(HIDDEN);
            }
            _ => shown.push_str(field),
        }
    }
}

/// Adds a word, or a part of one, that has no `://`.
fn push_word(shown: &mut String, word: &str) {
    let (path, query) = split_before(word, '?');
    let slash = path.find(":/").map(|colon| split_at(path, colon));
    let slash = slash.filter(|(before, _)| {
        let scheme = before.rsplit(|c: char| !is_of_scheme(c)).next();
        let names = scheme.unwrap_or_default().split('+');
        names
            .map(str::to_ascii_lowercase)
            .any(|name| SCHEMES.contains(&name.as_str()))
    });
    let Some((before, behind)) = slash else {
        push_login(shown, path);
        // white space is no part of a value
        let (query, space) = split_at(query, query.trim_end().len());
        push_query(shown, query);
        shown.push_str(space);
        return;
    };
    push_login(shown, before);
    let address = behind.trim_start_matches([':', '/']);
    let slashes = behind.len() - address.len();
    shown.push_str(split_at(behind, slashes).0);
    push_address(shown, split_at(word, before.len() + slashes).1);
}

/// Adds a word in which `user:password@` may stand.
fn push_login(shown: &mut String, word: &str) {
    let Some((before, behind)) = word.rsplit_once('@') else {
        shown.push_str(word);
        return;
    };
    let drive = match before.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => 2,
        _ => 0,
    };
    let (drive, before) = split_at(before, drive);
    let Some((user, _password)) = before.split_once(':') else {
        shown.push_str(word);
        return;
    };
    let start = user.rfind(STARTS).map_or(0, |at| at + 1);
    shown.push_str(drive);
    shown.push_str(split_at(user, start).0);
    shown.push_str(behind);
}

fn split_before(text: &str, c: char) -> (&str, &str) {
    split_at(text, text.find(c).unwrap_or(text.len()))
}

fn split_at(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_addresses_are_left_out() {
        for (text, shown) in [
            (
                "https://me:s3cret@w.example/a@b.whl",
                "https://w.example/a@b.whl",
            ),
            ("https://s3cret@w.example", "https://w.example"),
            (
                "git+ssh://git:s3@w.example:22/a?rev=1&token=s3cret#c0ffee",
                "git+ssh://w.example:22/a?rev=1&token=…#c0ffee",
            ),
            (
                "two: https://a:s3@x.example and `https://b:s3@y.example`",
                "two: https://x.example and `https://y.example`",
            ),
            ("https://me:s3/cret@w.example/a", "https://w.example/a"),
            ("https://a@b:s3@w.example/a", "https://w.example/a"),
            ("http://u:12/s3@h/x", "http://h/x"),
            ("http://u:12/s3@w.example/x", "http://w.example/x"),
            ("http://[::1]:8080/a@b", "http://[::1]:8080/a@b"),
            (
                "https://w.example:443/a@b/simple",
                "https://w.example:443/a@b/simple",
            ),
            (
                "\"https://a:s\"3@x.example\",\"https://b:s3@y.example\"",
                "\"https://x.example\",\"https://y.example\"",
            ),
            (
                "https://p.example/https://u:s3@w.example/x",
                "https://p.example/https://w.example/x",
            ),
            (
                "https://p.example/u:s3@w.example",
                "https://p.example/w.example",
            ),
        ] {
            assert_eq!(without_secrets(text), shown);
            assert_eq!(without_secrets(shown), shown);
        }
    }

    #[test]
    fn what_looks_like_a_login_is_left_out() {
        for (text, shown) in [
            ("http:/u:s3@h/x", "http:/h/x"),
            ("ftp:/s3@h", "ftp:/h"),
            ("http:u:s3@h/x", "h/x"),
            ("pkg @ u:s3/x@h ; a", "pkg @ h ; a"),
            ("pkg@u:s3@h", "pkg@h"),
            ("pkg=http://u:s3@h", "pkg=http://h"),
            ("--x=u:s3@h", "--x=h"),
            ("`/x/u:s3@h`", "`/x/h`"),
            ("./x.whl?tok=s3 b", "./x.whl?tok=… b"),
            ("./x.whl?tag=1", "./x.whl?tag=1"),
        ] {
            assert_eq!(without_secrets(text), shown);
            assert_eq!(without_secrets(shown), shown);
        }
    }

    #[test]
    fn what_holds_no_login_stays() {
        for text in [
            "a >= 1 @ nothing",
            "C:\\wheels\\a@b.whl",
            "c:/wheels/a@b.whl",
            "file:///C:/wheels/a@b.whl",
            "line 3: `a@b` is there? no: é@",
            "git@w.example/a",
            "a[b]==1 ; extra == 'c'",
            "://",
            "@",
            ":@",
        ] {
            let shown = if text == ":@" { "" } else { text };
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn tokens_of_channels_are_left_out() {
        for (url, expected) in [
            (
                "https://c.example/t/tk-1/main/noarch/x.conda",
                "https://c.example/t/…/main/noarch/x.conda",
            ),
            (
                "https://u:p@c.example/t/tk-1/a and https://c.example/t/tk-2",
                "https://c.example/t/…/a and https://c.example/t/…",
            ),
            ("https://c.example/a/t/b/c", "https://c.example/a/t/…/c"),
            ("https://t/b/c", "https://t/b/c"),
            ("/home/t/b/c", "/home/t/b/c"),
        ] {
            assert_eq!(without_secrets(url), expected);
            assert_eq!(without_secrets(expected), expected);
        }
    }
}
