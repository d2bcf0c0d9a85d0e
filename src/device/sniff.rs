//! Whether a file is worth scanning, from its first bytes and its name.

use super::fatbin::{MAGIC, OLD_MAGIC};
use super::host::HostFormat;
use super::ptx;

/// Bytes that [`worth_scanning`] looks at, at most.
pub const SNIFF_LEN: usize = 512;

/// Whether the file called `name` that begins with `head` can hold device code.
///
/// Everything but text can: executables, libraries, and data in which a program keeps what it loads
/// itself. Of text only PTX is code. `head` is the whole file or at least [`SNIFF_LEN`] bytes of it.
pub fn worth_scanning(name: &str, head: &[u8]) -> bool {
    if head.is_empty() {
        return false;
    }
    is_named_ptx(name)
        || !is_text(head)
        // a program or a document may quote PTX; a module begins with its directives
        || ptx::parse_head(head).is_ok()
}

/// Whether the file that begins with `head` is one that a loader takes as it is: a program, a library, an archive of
/// objects, or device code. Such a file may have what looks like another format in places that no loader looks at.
pub fn is_loaded(head: &[u8]) -> bool {
    HostFormat::of(head) != HostFormat::Raw
        // a cubin
        || head.starts_with(b"\x7fELF")
        || head.starts_with(&MAGIC)
        || head.starts_with(&OLD_MAGIC)
}

/// Whether a file is named as PTX.
pub(super) fn is_named_ptx(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, suffix)| suffix.eq_ignore_ascii_case("ptx"))
}

fn is_text(head: &[u8]) -> bool {
    let head = head.get(..SNIFF_LEN).unwrap_or(head);
    // A character may be cut at the end of what is looked at.
    let text = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() - error.valid_up_to() < 4,
    };
    text && head.iter().all(|byte| ptx::is_text(*byte) || *byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_skipped_unless_it_is_ptx() {
        assert!(!worth_scanning("a.py", b"import torch\n"));
        assert!(!worth_scanning(
            "a.txt",
            "gr\u{fc}n ".repeat(100).as_bytes().get(..511).unwrap()
        ));
        assert!(!worth_scanning("empty.so", b""));
        assert!(!worth_scanning(
            "test_driver.py",
            b"PTX = '''\n.version 8.0\n.target sm_80\n.address_size 64\n'''\n"
        ));
        assert!(worth_scanning(
            "kernel",
            b"//\n.version 8.0\n.target sm_80\n.address_size 64\n"
        ));
        assert!(worth_scanning("kernel.PTX", b"// a very long comment"));
    }

    #[test]
    fn everything_else_is_scanned_whatever_its_name() {
        assert!(worth_scanning("README.md", b"\x7fELF\x02\x01\x01\x00"));
        assert!(worth_scanning("weights", b"\x50\xed\x55\xba\x01\x00"));
        assert!(worth_scanning("latin1.txt", b"gr\xfcn"));
    }
}
