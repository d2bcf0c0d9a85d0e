//! Where an installer puts the members of a wheel.
//!
//! Format: PEP 427, "Installing a wheel"; what pip does where that leaves room.

/// Into which kind of directory a member is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `site-packages`, whether `purelib` or `platlib`: they are one directory almost everywhere.
    Library,
    /// The directory of commands.
    Scripts,
    /// The directory of C headers.
    Headers,
    /// The environment's own directory.
    Data,
}

/// The installed path of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Installed<'n> {
    /// Where the path begins.
    pub scheme: Scheme,
    /// The path, byte for byte.
    pub path: &'n [u8],
}

impl<'n> Installed<'n> {
    /// Where the member `name` is installed: `x-1.data/platlib/a.so` at `a.so`.
    pub fn of(name: &'n [u8]) -> Self {
        let mut parts = name.splitn(3, |byte| *byte == b'/');
        if let (Some(data), Some(key), Some(path)) = (parts.next(), parts.next(), parts.next())
            && data.ends_with(b".data")
        {
            let scheme = match key {
                b"purelib" | b"platlib" => Some(Scheme::Library),
                b"scripts" => Some(Scheme::Scripts),
                b"headers" => Some(Scheme::Headers),
                b"data" => Some(Scheme::Data),
                _ => None,
            };
            if let Some(scheme) = scheme {
                return Self { scheme, path };
            }
        }
        Self {
            scheme: Scheme::Library,
            path: name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_data_directories() {
        for (name, scheme, path) in [
            ("a/b.so", Scheme::Library, "a/b.so"),
            ("x-1.data/purelib/a/b.so", Scheme::Library, "a/b.so"),
            ("x-1.data/platlib/b.so", Scheme::Library, "b.so"),
            ("x-1.data/scripts/tool", Scheme::Scripts, "tool"),
            ("x-1.data/headers/x.h", Scheme::Headers, "x.h"),
            ("x-1.data/data/lib/x.so", Scheme::Data, "lib/x.so"),
            ("x-1.data/other/x", Scheme::Library, "x-1.data/other/x"),
            ("x-1.data/x", Scheme::Library, "x-1.data/x"),
            ("a/x-1.data/data/x", Scheme::Library, "a/x-1.data/data/x"),
        ] {
            let installed = Installed::of(name.as_bytes());
            assert_eq!(
                (installed.scheme, installed.path),
                (scheme, path.as_bytes()),
                "{name}"
            );
        }
    }
}
