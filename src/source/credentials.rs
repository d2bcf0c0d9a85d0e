//! What is sent to a server that asks who is there.

use std::fmt;

use super::Secret;

/// Credentials of servers that files are fetched from. Threads share them.
pub trait Credentials: Send + Sync + fmt::Debug {
    /// The value of `Authorization` for `url`, for the scheme, host and port of this address alone; nothing where
    /// there are no credentials. It may take seconds the first time, where a program is asked.
    ///
    /// A caller asks without them first, and comes back after a 401 or a 403.
    fn for_url(&self, url: &str) -> Option<Secret>;

    /// Why credentials may be missing for `url` though the user has some: a file of them that cannot be understood,
    /// a program that failed. Without secrets.
    fn remark(&self, url: &str) -> Option<String> {
        let _ = url;
        None
    }
}
