//! The compiler that a program or a library carries: it says its release where it prints its version.
//!
//! ptxas, NVRTC, nvJitLink and libNVVM hold the text as a C string, also where they are linked statically
//! (FORMAT.md §7.3). Cubins hold it too, in the note of the tool that made them, and PTX as a comment.

use std::str;

use crate::cuda::ToolkitVersion;

/// The beginning of the text that is searched, with the end of the string before it.
pub(super) const MARK: &[u8] = b"\0Cuda co";
const TEXT: &[u8] = b"\0Cuda compilation tools, release ";
/// What follows the text in the note of a cubin: the build, in the next string, and the command line in the one after
/// it. libNVVM of CUDA 12.0 and 12.4 has the same two strings, with NULs behind them.
const BUILD: &[u8] = b"\0Build ";
/// Bytes that [`release`] looks at, at most.
pub(super) const TEXT_MAX: usize = 128;
/// The beginning of every message of NVRTC's, also where it is linked statically.
pub(super) const NVRTC_MARK: &[u8] = b"nvrtc: e";
const NVRTC_TEXT: &[u8] = b"nvrtc: error: ";
/// Bytes that [`is_nvrtc`] looks at.
pub(super) const NVRTC_LEN: usize = NVRTC_TEXT.len();
/// Releases in one file that are kept: real ones hold one.
pub(super) const RELEASES_MAX: usize = 16;

/// The release in the text of a compiler, `Cuda compilation tools, release 12.9, V12.9.86`, that begins `data`.
pub(super) fn release(data: &[u8]) -> Option<ToolkitVersion> {
    let rest = data.get(..TEXT_MAX).unwrap_or(data).strip_prefix(TEXT)?;
    let is_number = |byte: &u8| byte.is_ascii_digit() || b"., V".contains(byte);
    let end = rest.iter().position(|byte| !is_number(byte))?;
    let (text, after) = rest.split_at_checked(end)?;
    let (release, full) = str::from_utf8(text).ok()?.split_once(", V")?;
    let same = full
        .strip_prefix(release)
        .is_some_and(|build| build.starts_with('.'));
    (same && !is_note(after))
        .then(|| release.parse().ok())
        .flatten()
}

/// Whether what follows the text is the rest of the note of a cubin. Where the build does not end, it may be.
fn is_note(after: &[u8]) -> bool {
    let Some(build) = after.strip_prefix(BUILD) else {
        return false;
    };
    let command_line = build
        .iter()
        .position(|byte| *byte == 0)
        .and_then(|end| build.get(end + 1));
    command_line != Some(&0)
}

/// Whether `data` begins with a message of NVRTC's.
pub(super) fn is_nvrtc(data: &[u8]) -> bool {
    data.starts_with(NVRTC_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_compilers_hold() {
        // ptxas of triton 3.9.0, pynvjitlink 0.7.0, warp 1.19.0, libNVVM of nvidia-cuda-nvcc-cu12 12.4.131
        for (after, expected) in [
            ("12.9, V12.9.86\nBuild cuda_12.9.r12.9/compiler", "12.9"),
            ("12.9, V12.9.86\0\0Build cuda_12.9.r12.9/compiler", "12.9"),
            ("12.9, V12.9.86\0Hash in Bucket", "12.9"),
            ("13.4, V13.4.92, Build cuda_13.4.r13.4/compiler", "13.4"),
            (
                "12.4, V12.4.131\0Build cuda_12.4.r12.4/compiler.34097967_0\0\0\0\0\0\0\0\0: e",
                "12.4",
            ),
        ] {
            let text = format!("\0Cuda compilation tools, release {after}");
            let found = release(text.as_bytes()).map(|version| version.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{after}");
        }
    }

    #[test]
    fn what_others_hold_is_no_compiler() {
        for text in [
            // the note of a cubin
            "\0Cuda compilation tools, release 12.8, V12.8.13\0Build cuda_12.8.r12.8/c",
            "\0Cuda compilation tools, release 12.9, V12.9.86\0Build cuda_12.9.r12.9/c.3_0\0-arch sm_100f ",
            "\0Cuda compilation tools, release 13.5, V13.5.37\0Build cuda_13.5.r13.5/c.3_0\0x.ptx -g  -o",
            // a comment in PTX
            " Cuda compilation tools, release 10.0, V10.0.19\n",
            "\0Cuda compilation tools, release %d.%d,\0",
            "\0Cuda compilation tools, release 12.8\0",
            "\0Cuda compilation tools, release 12.8, V11.8.89\0",
            "\0Cuda compilation tools, release 12.8, V12.80\0",
            "\0Cuda compilation tools, release 12, V12.8\0",
            "\0Cuda compilation tools, release 12.8, V12.8.9",
        ] {
            assert_eq!(release(text.as_bytes()), None, "{text:?}");
        }
    }
}
