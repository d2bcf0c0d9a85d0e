//! Platform tags of wheels, as platforms.
//!
//! Format: PEP 425, PEP 600 (`manylinux`), PEP 656 (`musllinux`).

use crate::platform::{CpuArch, Os, Platform};

/// The platforms that a set of platform tags names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Platforms {
    /// Whether `any` is among the tags.
    pub any: bool,
    /// The platforms, sorted; more than one where the tags name several.
    pub named: Vec<Platform>,
    /// Tags of platforms that have no name here, such as `linux_riscv64`, sorted.
    pub other: Vec<String>,
    /// All tags as written, sorted.
    pub tags: Vec<String>,
}

impl Platforms {
    /// What the single tags of a set name.
    pub(super) fn of<'t>(tags: impl IntoIterator<Item = &'t str>) -> Self {
        let mut found = Self::default();
        for tag in tags {
            found.tags.push(tag.to_owned());
            if tag == "any" {
                found.any = true;
                continue;
            }
            let platforms = named(tag);
            if platforms.is_empty() {
                found.other.push(tag.to_owned());
            }
            found.named.extend(platforms);
        }
        found.named.sort();
        found.named.dedup();
        found.other.sort();
        found.other.dedup();
        found.tags.sort();
        found.tags.dedup();
        found
    }
}

fn named(tag: &str) -> Vec<Platform> {
    let on = |os: Os, arches: &[CpuArch]| -> Vec<_> {
        arches.iter().map(|arch| Platform::new(os, *arch)).collect()
    };
    match tag {
        "win32" => return on(Os::Windows, &[CpuArch::I386]),
        "win_amd64" => return on(Os::Windows, &[CpuArch::Amd64]),
        "win_arm64" => return on(Os::Windows, &[CpuArch::Arm64]),
        _ => {}
    }
    if let Some(rest) = tag.strip_prefix("macosx_") {
        return match version_and_arch(rest) {
            "arm64" => on(Os::MacOs, &[CpuArch::Arm64]),
            "x86_64" => on(Os::MacOs, &[CpuArch::Amd64]),
            "i386" => on(Os::MacOs, &[CpuArch::I386]),
            "intel" => on(Os::MacOs, &[CpuArch::Amd64, CpuArch::I386]),
            "universal2" => on(Os::MacOs, &[CpuArch::Amd64, CpuArch::Arm64]),
            _ => Vec::new(),
        };
    }
    let prefixes = [
        "linux_",
        "manylinux1_",
        "manylinux2010_",
        "manylinux2014_",
        "manylinux_",
        "musllinux_",
    ];
    let arch = prefixes
        .into_iter()
        .find_map(|prefix| tag.strip_prefix(prefix));
    match arch.map(version_and_arch) {
        Some("x86_64") => on(Os::Linux, &[CpuArch::Amd64]),
        Some("aarch64") => on(Os::Linux, &[CpuArch::Arm64]),
        Some("i686" | "i386") => on(Os::Linux, &[CpuArch::I386]),
        Some("ppc64le") => on(Os::Linux, &[CpuArch::Ppc64le]),
        _ => Vec::new(),
    }
}

/// The architecture at the end of `2_28_x86_64`, `11_0_arm64` or `x86_64`.
fn version_and_arch(text: &str) -> &str {
    let after_number = |text: &'_ str| -> Option<usize> {
        let (number, _) = text.split_once('_')?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        digits.then_some(number.len() + 1)
    };
    let mut rest = text;
    while let Some(arch) = after_number(rest).and_then(|at| rest.get(at..)) {
        rest = arch;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(set: &str) -> String {
        let found = Platforms::of(set.split('.'));
        let mut words: Vec<_> = found.named.iter().map(ToString::to_string).collect();
        words.extend(found.any.then(|| "any".to_owned()));
        words.extend(found.other.iter().map(|tag| format!("?{tag}")));
        words.join(" ")
    }

    #[test]
    fn names_platforms_of_tags() {
        for (set, expected) in [
            ("any", "any"),
            ("manylinux_2_28_x86_64", "linux/amd64"),
            (
                "manylinux2014_aarch64.manylinux_2_17_aarch64",
                "linux/arm64",
            ),
            (
                "manylinux1_x86_64.manylinux2010_i686",
                "linux/amd64 linux/386",
            ),
            ("linux_aarch64", "linux/arm64"),
            ("musllinux_1_2_x86_64", "linux/amd64"),
            ("manylinux_2_31_ppc64le", "linux/ppc64le"),
            ("win_amd64", "windows/amd64"),
            ("win32", "windows/386"),
            ("win_arm64", "windows/arm64"),
            ("macosx_11_0_arm64", "macos/arm64"),
            ("macosx_10_9_x86_64", "macos/amd64"),
            ("macosx_10_13_universal2", "macos/amd64 macos/arm64"),
            ("linux_riscv64", "?linux_riscv64"),
            (
                "manylinux_2_28_s390x.manylinux_2_28_x86_64",
                "linux/amd64 ?manylinux_2_28_s390x",
            ),
            ("pyodide_2025_0_wasm32", "?pyodide_2025_0_wasm32"),
            ("manylinux_2_28_", "?manylinux_2_28_"),
            ("linux", "?linux"),
        ] {
            assert_eq!(shown(set), expected, "{set}");
        }
    }
}
