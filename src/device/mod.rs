//! Bytes to device facts: finds CUDA code in a stream and says what each piece was built for.
//!
//! [`Scanner`] is fed the bytes of one file in order and never holds more than a window of them. It does
//! no I/O, knows no archives and judges nothing. The formats are in `FORMAT.md` beside this file.

mod compiler;
mod cubin;
mod fatbin;
mod form;
mod host;
mod hunt;
mod image;
mod inspect;
mod kernels;
mod le;
mod lz4;
mod owner;
mod payload;
mod ptx;
mod report;
mod scan;
mod sniff;
mod tally;

pub use form::CodeForm;
pub use host::{BrokenNote, ForwardNote, HostFacts, HostFormat};
pub use image::{FatbinClass, HeaderClaim, ImageKey, ImageKind, ImageTally, Place};
pub use owner::Recognise;
pub use payload::Coding;
pub use report::{DeviceProblem, DeviceReport, Scanned};
pub use scan::Scanner;
pub use sniff::{SNIFF_LEN, is_loaded, worth_scanning};

/// Bytes of the beginning of a file that are kept: the headers of a file that is no longer never need a second look.
pub const KEPT_WHOLE: u64 = host::HEAD;
