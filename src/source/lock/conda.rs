//! conda packages as lock files name them: by the address of a file, which holds name, version, build and subdir.
//!
//! Format: CEP 26 (names), and the layout of channels: `CHANNEL/SUBDIR/NAME-VERSION-BUILD.conda`.

use super::address::file_name;
use super::link::{has_scheme, split_fragment};
use super::{Hash, Locked, LockedFile, Origin, without_secrets};

/// Suffixes of conda packages.
const SUFFIXES: &[&str] = &[".conda", ".tar.bz2"];

/// Parts of the name of a file, as written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileParts<'n> {
    pub(super) name: &'n str,
    pub(super) version: &'n str,
    pub(super) build: &'n str,
}

/// The parts of `numpy-2.0.1-py312_0.conda`; nothing where it is not named so.
pub(super) fn file_parts(file: &str) -> Option<FileParts<'_>> {
    let stem = SUFFIXES
        .iter()
        .find_map(|suffix| file.strip_suffix(suffix))?;
    let mut parts = stem.rsplitn(3, '-');
    let (build, version, name) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = !(build.is_empty() || version.is_empty() || name.is_empty());
    is_whole.then_some(FileParts {
        name,
        version,
        build,
    })
}

/// The package of an address or a path, without a condition; nothing where its file is not named as packages are.
pub(super) fn package(url: &str, hash: Option<Hash>, line: u32) -> Option<Locked> {
    let name = file_name(url);
    let parts = file_parts(&name)?;
    let mut package = Locked::new(parts.name, Some(parts.version.to_owned()), line);
    if has_scheme(url) {
        package.index = channel(url).map(without_secrets);
    } else {
        package.origin = Origin::File(url.to_owned());
    }
    let mut file = LockedFile::new(name, line);
    file.url = Some(url.to_owned());
    file.hash = hash;
    package.files.push(file);
    Some(package)
}

/// `linux-64` of `https://HOST/CHANNEL/linux-64/FILE`; nothing where no subdir is there.
pub(super) fn subdir(url: &str) -> Option<&str> {
    let (url, _) = split_fragment(url);
    let subdir = url.rsplit(['/', '\\']).nth(1)?;
    is_subdir(subdir).then_some(subdir)
}

/// Whether a text is `noarch` or an operating system with a CPU.
pub(super) fn is_subdir(text: &str) -> bool {
    let cpu =
        |cpu: &str| !cpu.is_empty() && cpu.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let known = [
        "linux",
        "osx",
        "win",
        "freebsd",
        "zos",
        "emscripten",
        "wasi",
    ];
    let is_system = text
        .split_once('-')
        .is_some_and(|(system, of)| known.contains(&system) && cpu(of));
    text == "noarch" || is_system
}

fn channel(url: &str) -> Option<&str> {
    let (url, _) = split_fragment(url);
    let (dir, _file) = url.rsplit_once('/')?;
    let (channel, _subdir) = dir.rsplit_once('/')?;
    (!channel.ends_with('/')).then_some(channel)
}

/// The stronger of the hashes that conda locks give.
pub(super) fn strongest(sha256: Option<&str>, md5: Option<&str>) -> Option<Hash> {
    let hash = |name: &str, hex: &str| Hash::parse(&format!("{name}:{}", hex.trim()));
    sha256
        .and_then(|hex| hash("sha256", hex))
        .or_else(|| md5.and_then(|hex| hash("md5", hex)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_holds_name_version_and_build() {
        let parts = |name, version, build| {
            Some(FileParts {
                name,
                version,
                build,
            })
        };
        for (file, expected) in [
            (
                "cuda-cudart_linux-64-12.9.79-h3f2d84a_0.conda",
                parts("cuda-cudart_linux-64", "12.9.79", "h3f2d84a_0"),
            ),
            (
                "pytorch-2.1.0-py3.9_cuda12.1_cudnn8.9.2_0.tar.bz2",
                parts("pytorch", "2.1.0", "py3.9_cuda12.1_cudnn8.9.2_0"),
            ),
            (
                "_libgcc_mutex-0.1-main.conda",
                parts("_libgcc_mutex", "0.1", "main"),
            ),
            ("a-1.conda", None),
            ("-1-0.conda", None),
            ("a-1-0.zip", None),
            (".conda", None),
        ] {
            assert_eq!(file_parts(file), expected, "{file}");
        }
    }

    #[test]
    fn an_address_holds_channel_and_subdir() {
        let url = "https://u:p@c.example/t/tk/forge/linux-64/a-1%2B2-0.conda";
        let package = package(url, None, 7).unwrap();
        assert_eq!(
            (&*package.name, package.version.as_deref()),
            ("a", Some("1+2"))
        );
        assert_eq!(
            package.index.as_deref(),
            Some("https://c.example/t/…/forge")
        );
        assert_eq!(package.files[0].name, "a-1+2-0.conda");
        assert_eq!(subdir(url), Some("linux-64"));
        assert_eq!(
            subdir("https://c.example/noarch/a-1-0.conda#0"),
            Some("noarch")
        );
        assert_eq!(subdir("a-1-0.conda"), None);
        assert_eq!(subdir("https://c.example/a-1-0.conda"), None);
        for text in ["linux-aarch64", "win-64", "osx-arm64", "noarch"] {
            assert!(is_subdir(text), "{text}");
        }
        assert!(!is_subdir("linux") && !is_subdir("my-channel") && !is_subdir("linux-"));
    }
}
