//! Secrets: passwords and tokens, which no message and no log may hold.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A password or a token. It has no `Display`, and its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text out of circulation.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The value of `Authorization` that says who `user` is (RFC 7617).
    pub fn basic(user: &str, password: &Self) -> Self {
        let pair = format!("{user}:{}", password.expose());
        Self(format!("Basic {}", STANDARD.encode(pair)))
    }

    /// The text, for the one place that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_never_shown() {
        let shown = format!("{:?}", Some(Secret::new("s3cret")));
        assert_eq!(shown, "Some(Secret(…))");
    }
}
