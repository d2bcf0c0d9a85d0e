//! Python packages as conda's lock files and requirements name them: by an address or a path.

use super::address::file_name;
use super::link::{is_archive, is_vcs, local_path, split_fragment};
use super::{Hash, Locked, LockedFile, Origin, link, without_secrets};

/// The package of an address or a path: a file, a directory, or a repository.
pub(super) fn package(
    name: &str,
    version: Option<String>,
    url: &str,
    hash: Option<Hash>,
    line: u32,
) -> Locked {
    let mut package = Locked::new(name, version, line);
    if is_vcs(url) {
        package.origin = Origin::Vcs(without_secrets(split_fragment(url).0));
        return package;
    }
    // what pixi writes before addresses that no index gave
    let (direct, url) = match url.strip_prefix("direct+") {
        Some(url) => (true, url),
        None => (false, url),
    };
    let (bare, fragment) = split_fragment(url);
    let path = match local_path(bare) {
        Some(path) => Some(path),
        None if link::has_scheme(bare) => None,
        None => Some(bare.to_owned()),
    };
    let file = file_name(bare);
    match path {
        Some(path) if !is_archive(&file) => {
            package.origin = Origin::Directory(path);
            return package;
        }
        Some(path) => package.origin = Origin::File(path),
        None if direct => package.origin = Origin::Url,
        None => {}
    }
    let mut locked = LockedFile::new(file, line);
    locked.hash = hash.or_else(|| fragment_hash(fragment));
    locked.url = Some(match &package.origin {
        Origin::File(path) => path.clone(),
        _ => bare.to_owned(),
    });
    package.files.push(locked);
    package
}

/// Says that the address of a package is its own, not one of an index.
pub(super) fn set_direct(package: &mut Locked) {
    if package.origin == Origin::Index {
        package.origin = Origin::Url;
    }
}

/// The strongest hash of `#sha256=…`.
fn fragment_hash(fragment: Option<&str>) -> Option<Hash> {
    let names = ["sha512", "sha384", "sha256", "sha224", "sha1", "md5"];
    let mut found = names.iter().filter_map(|name| {
        let hex = link::in_fragment(fragment, name)?;
        Hash::parse(&format!("{name}={hex}"))
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_where_a_package_comes_from() {
        let origin = |url| package("a", None, url, None, 1).origin;
        assert_eq!(
            origin("https://f.example/a-1-py3-none-any.whl"),
            Origin::Index
        );
        assert_eq!(
            origin("direct+https://f.example/a-1-py3-none-any.whl"),
            Origin::Url
        );
        assert_eq!(
            origin("./wheels/a-1-py3-none-any.whl"),
            Origin::File("./wheels/a-1-py3-none-any.whl".into())
        );
        assert_eq!(
            origin("file:///srv/a%20b.zip"),
            Origin::File("/srv/a b.zip".into())
        );
        assert_eq!(origin("./"), Origin::Directory("./".into()));
        assert_eq!(
            origin("git+https://u:p@g.example/a@1#egg=a"),
            Origin::Vcs("git+https://g.example/a@1".into())
        );
    }

    #[test]
    fn a_fragment_holds_the_hash() {
        let package = package(
            "a",
            None,
            "https://f.example/a-1%2Bc-x.whl#md5=0a&sha256=0b",
            None,
            1,
        );
        let file = &package.files[0];
        assert_eq!(file.name, "a-1+c-x.whl");
        assert_eq!(file.hash.as_ref().unwrap().to_string(), "sha256:0b");
        assert_eq!(file.url.as_deref(), Some("https://f.example/a-1%2Bc-x.whl"));
    }
}
