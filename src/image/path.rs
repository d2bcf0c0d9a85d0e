//! What files of an image are by their paths: drivers, link stubs, and configuration that a container left behind.
//!
//! Layouts of NVIDIA's packages (`cuda-compat-X-Y`, `cuda-driver-dev-X-Y`) and of the NVIDIA Container Toolkit
//! (`cmd/nvidia-cdi-hook/cudacompat`).

use crate::cuda::DriverVersion;

/// What a file called `libcuda.so*` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverFile {
    /// The user-mode driver of a forward compatibility package.
    Compat(Option<DriverVersion>),
    /// A stub to link against, which does nothing.
    Stub,
    /// A driver, which belongs to the host and not into an image.
    Driver(Option<DriverVersion>),
}

/// What a file is, by its path in an image with `/` between its parts; none where it is no `libcuda.so*`.
///
/// The version is that in the name, `libcuda.so.550.54.15`; a link such as `libcuda.so.1` has none.
pub fn driver_file(path: &str) -> Option<DriverFile> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let rest = name.strip_prefix("libcuda.so")?;
    let version = match rest.strip_prefix('.') {
        Some(version) => version.parse::<DriverVersion>().ok(),
        None if rest.is_empty() => None,
        None => return None,
    };
    // `libcuda.so.1.1` is the name on Tegra, and no version of a driver
    let version = version.filter(|version| version.major() >= 100);
    let folders: Vec<&str> = folders.split('/').collect();
    Some(if folders.last() == Some(&"stubs") {
        DriverFile::Stub
    } else if folders.iter().rev().take(2).any(|name| is_compat(name)) {
        DriverFile::Compat(version)
    } else {
        DriverFile::Driver(version)
    })
}

/// `compat` or, as packages for Orin have it, `compat_orin`.
fn is_compat(folder: &str) -> bool {
    folder == "compat" || folder.starts_with("compat_")
}

/// Whether a file is the configuration that the container toolkit writes into a running container where its
/// forward compatibility libraries are newer than the host's driver: `/etc/ld.so.conf.d/00-compat-*.conf`.
pub fn is_compat_config(path: &str) -> bool {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.strip_prefix("etc/ld.so.conf.d/00-compat-")
        .and_then(|name| name.strip_suffix(".conf"))
        .is_some_and(|name| !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_told_apart_by_their_folders() {
        let compat = |version: &str| Some(DriverFile::Compat(version.parse().ok()));
        let driver = |version: &str| Some(DriverFile::Driver(version.parse().ok()));
        for (path, expected) in [
            (
                "/usr/local/cuda-12.4/compat/libcuda.so.550.54.15",
                compat("550.54.15"),
            ),
            ("usr/local/cuda/compat/libcuda.so.1", compat("")),
            (
                "usr/local/cuda/compat/lib.real/libcuda.so.570.86.10",
                compat("570.86.10"),
            ),
            ("usr/local/cuda-13.2/compat_orin/libcuda.so.1.1", compat("")),
            (
                "usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs/libcuda.so",
                Some(DriverFile::Stub),
            ),
            (
                "usr/local/cuda/lib64/stubs/libcuda.so",
                Some(DriverFile::Stub),
            ),
            (
                "usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05",
                driver("535.104.05"),
            ),
            ("usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1.1", driver("")),
            ("libcuda.so", driver("")),
            ("opt/compat/a/b/libcuda.so.550.54.15", driver("550.54.15")),
            ("usr/local/cuda/compat/libcudadebugger.so.550.54.15", None),
            ("usr/local/cuda/compat/libcuda.sox", None),
            ("usr/local/cuda/compat", None),
        ] {
            assert_eq!(driver_file(path), expected, "{path}");
        }
    }

    #[test]
    fn a_left_behind_configuration_is_known_by_its_path() {
        for (path, is) in [
            ("/etc/ld.so.conf.d/00-compat-2719321054.conf", true),
            ("etc/ld.so.conf.d/00-compat-1.conf", true),
            ("etc/ld.so.conf.d/nvidia.conf", false),
            ("etc/ld.so.conf.d/00-compat-1.conf.bak", false),
            ("etc/ld.so.conf.d/00-compat-a/b.conf", false),
            ("opt/etc/ld.so.conf.d/00-compat-1.conf", false),
        ] {
            assert_eq!(is_compat_config(path), is, "{path}");
        }
    }
}
