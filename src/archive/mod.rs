//! Archives: bytes in, members out.
//!
//! Responsible for naming the members of an archive exactly as they are stored, for reading them
//! within the limits of the run, and for saying where an archive contradicts itself. It knows
//! nothing of packages (that is `source`) nor of device code, and it never writes a member to disk
//! under its name.

mod codec;
mod cursor;
mod detect;
mod fault;
mod ranges;
mod shared;
mod spool;
pub mod tar;
pub mod zip;

pub use codec::{Sniffed, decoder};
pub use cursor::Cursor;
pub use detect::{Kind, describe};
pub use fault::Fault;
pub use ranges::{Hold, Ranges};
pub use shared::SharedBytes;
pub use spool::spool;
pub use tar::{Listed, Tar, TarBody, TarEnd, TarKind, TarMember, list};
pub use zip::{MemberKind, MemberReader, Opened, Zip, ZipMember};
