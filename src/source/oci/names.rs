//! Names of images, and which of several images is meant.

use super::Image;
use super::docker_hub::familiar;

/// Which of several images is meant; all where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The platform, `linux/arm64`.
    pub platform: Option<String>,
    /// The name (`repository:tag`, or the tag alone), or the digest of its index, manifest or configuration.
    pub name: Option<String>,
}

/// The tag of a name, `1` of `localhost:5000/a:1`.
pub(super) fn tag(name: &str) -> Option<&str> {
    let last = name.rsplit('/').next().unwrap_or(name);
    Some(last.split_once(':')?.1)
}

/// An image and the digests of the indexes that it is in.
pub(super) type Digested<'i> = (&'i Image, &'i [String]);

/// Which of `images` has the wanted name: those that have it exactly, else those that have it as their tag.
pub(super) fn named(images: &[Digested<'_>], wanted: &str) -> Vec<bool> {
    let wanted = wanted.trim_start_matches('@');
    let find = |hit: &dyn Fn(&Digested<'_>) -> bool| -> Option<Vec<bool>> {
        let hits: Vec<bool> = images.iter().map(hit).collect();
        hits.contains(&true).then_some(hits)
    };
    let latest = format!("{wanted}:latest");
    let has_name = |image: &Image, wanted: &str| {
        let mut names = image.names.iter();
        names.any(|name| familiar(name) == familiar(wanted))
    };
    find(&|(image, parents)| {
        let own = [&image.digest, &image.image_id];
        own.into_iter()
            .flatten()
            .chain(*parents)
            .any(|digest| digest == wanted)
    })
    .or_else(|| find(&|(image, _)| has_name(image, wanted)))
    .or_else(|| find(&|(image, _)| has_name(image, &latest)))
    .or_else(|| find(&|(image, _)| image.names.iter().any(|name| tag(name) == Some(wanted))))
    .unwrap_or_else(|| vec![false; images.len()])
}

/// A platform in the form in which two are compared: `linux/arm64/v8` for `linux/arm64`.
///
/// Follows what containerd's `platforms.Normalize` does for the platforms that CUDA is made for.
pub(super) fn normal(platform: &str) -> String {
    let lower = platform.to_ascii_lowercase();
    let mut parts = lower.split('/');
    let os = parts.next().unwrap_or_default();
    let arch = parts.next().unwrap_or_default();
    let variant = parts.next().unwrap_or_default();
    let (arch, variant) = match (arch, variant) {
        ("x86_64" | "x86-64" | "amd64", "" | "v1") => ("amd64", ""),
        ("x86_64" | "x86-64", variant) => ("amd64", variant),
        ("aarch64" | "arm64", "" | "8" | "v8") => ("arm64", "v8"),
        ("aarch64", variant) => ("arm64", variant),
        ("arm", "" | "7" | "v7") => ("arm", "v7"),
        other => other,
    };
    if variant.is_empty() {
        format!("{os}/{arch}")
    } else {
        format!("{os}/{arch}/{variant}")
    }
}

/// The operating system and the CPU of a platform, in the spelling of targets: they name no variant, which asks for
/// a newer CPU of the same kind.
pub fn without_variant(platform: &str) -> String {
    let normal = normal(platform);
    let mut parts = normal.split('/');
    let (os, arch) = (parts.next(), parts.next());
    format!("{}/{}", os.unwrap_or_default(), arch.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_name_no_variant() {
        for (platform, target) in [
            ("linux/arm64/v8", "linux/arm64"),
            ("Linux/aarch64", "linux/arm64"),
            ("linux/amd64/v3", "linux/amd64"),
            ("linux/x86_64", "linux/amd64"),
            ("linux/arm/v7", "linux/arm"),
            ("linux", "linux/"),
        ] {
            assert_eq!(without_variant(platform), target);
        }
    }

    #[test]
    fn the_tag_is_behind_the_last_component() {
        assert_eq!(tag("localhost:5000/a"), None);
        assert_eq!(tag("localhost:5000/a:1"), Some("1"));
        assert_eq!(tag("a"), None);
    }

    #[test]
    fn the_variant_that_is_understood_may_be_left_out() {
        for (one, other) in [
            ("linux/arm64", "linux/arm64/v8"),
            ("linux/aarch64", "linux/arm64/v8"),
            ("linux/x86_64", "linux/amd64/v1"),
            ("Linux/AMD64", "linux/amd64"),
            ("linux/arm", "linux/arm/v7"),
        ] {
            assert_eq!(normal(one), normal(other));
        }
        for (one, other) in [
            ("linux/arm64", "linux/arm64/v9"),
            ("linux/arm64", "windows/arm64"),
            ("linux/amd64", "linux/amd64/v3"),
            ("linux/arm64", "linux/arm"),
        ] {
            assert_ne!(normal(one), normal(other));
        }
    }
}
