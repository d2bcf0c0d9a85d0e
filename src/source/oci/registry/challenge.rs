//! Challenges: what a server asks for in `WWW-Authenticate` (RFC 9110, section 11.6.1).

/// Challenges of an answer that are looked at.
const CHALLENGES_MAX: usize = 16;

/// One challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The scheme in lower case: `basic`, `bearer`.
    pub(super) scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// A parameter; the first of its name, whatever its case.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The challenges of headers, in their order. A challenge with a mistake is left out with the rest of its header:
/// half a challenge must not lead credentials anywhere.
pub(super) fn parse<'h>(headers: impl Iterator<Item = &'h str>) -> Vec<Challenge> {
    let mut all = Vec::new();
    for header in headers {
        let mut rest = header.trim_start_matches(is_space_or_comma);
        while let Some((challenge, after)) = one(rest) {
            all.push(challenge);
            rest = after.trim_start_matches(is_space_or_comma);
        }
    }
    all.truncate(CHALLENGES_MAX);
    all
}

/// The challenge at the start, and what follows it; none where it does not end in the end or in a comma.
fn one(text: &str) -> Option<(Challenge, &str)> {
    let (scheme, mut rest) = token(text)?;
    let mut parameters: Vec<(String, String)> = Vec::new();
    let mut ended = false;
    // `Basic` alone, or followed by parameters after a space
    if rest.starts_with(is_space) {
        rest = rest.trim_start_matches(is_space);
        if let Some(after) = token68(rest) {
            rest = after;
        }
        while let Some((name, value, after)) = parameter(rest) {
            parameters.push((name, value));
            let next = after.trim_start_matches(is_space);
            rest = next.strip_prefix(',').unwrap_or(next);
            // a comma stands before another parameter or another challenge
            ended = rest.len() < next.len();
            if !ended {
                break;
            }
        }
    }
    let challenge = Challenge {
        scheme: scheme.to_ascii_lowercase(),
        parameters,
    };
    (ended || rest.is_empty() || rest.starts_with(',')).then_some((challenge, rest))
}

/// `name=value` or `name="value"` at the start, after spaces and commas.
fn parameter(text: &str) -> Option<(String, String, &str)> {
    let (name, rest) = token(text.trim_start_matches(is_space_or_comma))?;
    let rest = rest.trim_start_matches(is_space).strip_prefix('=')?;
    let rest = rest.trim_start_matches(is_space);
    let (value, rest) = if let Some(quoted) = rest.strip_prefix('"') {
        unquote(quoted)?
    } else {
        let (value, rest) = token(rest)?;
        (value.to_owned(), rest)
    };
    Some((name.to_ascii_lowercase(), value, rest))
}

/// The text up to the closing quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// What follows a single word of base64 (`Negotiate YII=`), where there is one.
fn token68(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"-._~+/".contains(c));
    let rest = text.get(end.unwrap_or(text.len())..)?;
    if rest.len() == text.len() {
        return None;
    }
    let rest = rest.trim_start_matches('=').trim_start_matches(is_space);
    (rest.is_empty() || rest.starts_with(',')).then_some(rest)
}

fn token(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"!#$%&'*+-.^_`|~".contains(c));
    let (token, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    (!token.is_empty()).then_some((token, rest))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_space_or_comma(c: char) -> bool {
    is_space(c) || c == ','
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[&str]) -> Vec<String> {
        let challenges = parse(headers.iter().copied());
        let shown = challenges.iter().map(|challenge| {
            let parameters = challenge.parameters.iter();
            let parameters: Vec<String> = parameters
                .map(|(name, value)| format!(" {name}=<{value}>"))
                .collect();
            format!("{}{}", challenge.scheme, parameters.concat())
        });
        shown.collect()
    }

    #[test]
    fn reads_what_registries_send() {
        let seen = r#"Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull,push""#;
        assert_eq!(
            of(&[seen]),
            [
                "bearer realm=<https://auth.example/token> service=<registry.example> scope=<repository:a/b:pull,push>"
            ]
        );
        assert_eq!(of(&[r#"Basic realm="lab""#]), ["basic realm=<lab>"]);
        assert_eq!(of(&["Basic"]), ["basic"]);
        let challenge = parse([seen].into_iter()).remove(0);
        assert_eq!(challenge.parameter("service"), Some("registry.example"));
        assert_eq!(challenge.parameter("error"), None);
    }

    #[test]
    fn reads_several_challenges_in_one_header_and_in_several() {
        let both = r#"Basic realm="a, b", Bearer realm="https://c/d" , service=e"#;
        let expected = [
            "basic realm=<a, b>",
            "bearer realm=<https://c/d> service=<e>",
        ];
        assert_eq!(of(&[both]), expected);
        assert_eq!(
            of(&[
                r#"Basic realm="a, b""#,
                r#"Bearer realm="https://c/d",service=e"#
            ]),
            expected
        );
        assert_eq!(
            of(&["Negotiate, NTLM,Basic realm=x"]),
            ["negotiate", "ntlm", "basic realm=<x>"]
        );
        assert_eq!(
            of(&["Negotiate YII=, Basic realm=x"]),
            ["negotiate", "basic realm=<x>"]
        );
    }

    #[test]
    fn reads_quotes_within_quotes_and_spaces_around_signs() {
        assert_eq!(
            of(&[r#"Basic realm="a \"b\" \\ c""#]),
            [r#"basic realm=<a "b" \ c>"#]
        );
        assert_eq!(
            of(&["bEARER REALM = \"x\" ,, service\t=\ty"]),
            ["bearer realm=<x> service=<y>"]
        );
    }

    #[test]
    fn the_first_of_two_parameters_counts() {
        let challenge = parse(["Bearer realm=a,realm=b"].into_iter()).remove(0);
        assert_eq!(challenge.parameter("realm"), Some("a"));
    }

    #[test]
    fn takes_nothing_from_what_is_damaged() {
        for damaged in [
            r#"Bearer realm="https://a"#,
            r#"Bearer realm="https://a" service"#,
            r#"Bearer realm="https://a\"#,
            "Bearer realm=https://a",
            "=",
            "\"",
            "",
            ",,,",
        ] {
            assert_eq!(of(&[damaged]), Vec::<String>::new(), "{damaged}");
        }
        assert_eq!(
            of(&[r#"Basic realm=x, Bearer realm="y"#]),
            ["basic realm=<x>"]
        );
        let many = "Basic, ".repeat(10_000);
        assert_eq!(of(&[&many]).len(), CHALLENGES_MAX);
    }
}
