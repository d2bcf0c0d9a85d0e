//! The note of a forward compatibility driver: on which hosts and GPUs NVIDIA means it to be used.
//!
//! Format as in `cmd/nvidia-cdi-hook/cudacompat/cuda-elf-header.go` of
//! <https://github.com/NVIDIA/nvidia-container-toolkit>: an ELF note section of the name
//! `.note.cuda.fwd_compatibility`, owner `NVIDIA Corporation`, whose descriptor is JSON with keys of any case.
//! Drivers have it since about R575; 575.57.08 and 590.44.01 list drivers and devices, those for Orin do not.

use serde_json::Value;

use crate::cuda::ToolkitVersion;
use crate::device::le::{range, u32_at};

/// The name of the section.
pub(super) const SECTION: &[u8] = b".note.cuda.fwd_compatibility";
/// Largest section that is read; real ones have 170 bytes.
pub(super) const MAX: u64 = 64 << 10;
const OWNER: &[u8] = b"NVIDIA Corporation";

/// What a forward compatibility driver says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForwardNote {
    /// The number of the form; 1 is known.
    pub format: u32,
    /// The CUDA version that it gives.
    pub cuda: ToolkitVersion,
    /// The branches of kernel drivers that it works on, by number; none where it does not say.
    pub drivers: Option<Vec<u32>>,
    /// The brands of GPUs that it works on, by their numbers in NVML; none where it does not say.
    pub devices: Option<Vec<u32>>,
}

impl ForwardNote {
    /// A note of these values, of the known form.
    pub fn new(cuda: ToolkitVersion, drivers: Option<Vec<u32>>, devices: Option<Vec<u32>>) -> Self {
        Self {
            format: FORMAT,
            cuda,
            drivers,
            devices,
        }
    }
}

const FORMAT: u32 = 1;

/// Why a note cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the forward compatibility note of a driver {0}")]
pub struct BrokenNote(pub(super) &'static str);

/// Reads the bytes of the section; none where it is the note of somebody else, or empty.
pub(super) fn read(section: &[u8], align: u64) -> Option<Result<ForwardNote, BrokenNote>> {
    let header = |at| u32_at(section, at).map(u64::from);
    let (Some(name_len), Some(text_len)) = (header(0), header(4)) else {
        return Some(Err(BrokenNote("is cut off")));
    };
    if name_len == 0 || text_len == 0 {
        return None;
    }
    // `objcopy` leaves 1 for what it adds; words are padded to 4 all the same, and readelf reads them so
    let align = align.max(4);
    let name_room = name_len.div_ceil(align).checked_mul(align)?;
    let name = range(section, 12, name_len).map(without_zeros);
    if name.is_some_and(|name| name != OWNER) {
        return None;
    }
    let text = usize::try_from(12 + name_room.min(MAX)).ok();
    let text = text.and_then(|at| section.get(at..));
    let (Some(_), Some(text)) = (name, text) else {
        return Some(Err(BrokenNote("is cut off")));
    };
    // that for Orin says that its text has two bytes more than the section
    let len = usize::try_from(text_len).unwrap_or(usize::MAX);
    Some(parse(without_zeros(text.get(..len).unwrap_or(text))))
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0);
    bytes
        .get(..end.map_or(0, |end| end + 1))
        .unwrap_or_default()
}

fn parse(text: &[u8]) -> Result<ForwardNote, BrokenNote> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(text) else {
        return Err(BrokenNote("is no JSON object"));
    };
    let field = |wanted: &str| {
        let mut found = fields
            .iter()
            .filter(|(key, value)| key.eq_ignore_ascii_case(wanted) && !value.is_null());
        found.next_back().map(|(_, value)| value)
    };
    let numbers = |wanted, broken| {
        let list = |value: &Value| {
            value
                .as_array()?
                .iter()
                .map(number)
                .collect::<Option<Vec<u32>>>()
        };
        field(wanted)
            .map(|value| list(value).ok_or(BrokenNote(broken)))
            .transpose()
    };
    let format = field("format").map_or(Some(0), number);
    let cuda = field("cuda version").and_then(|value| value.as_str()?.parse().ok());
    Ok(ForwardNote {
        format: format.ok_or(BrokenNote("has a format that is no number"))?,
        cuda: cuda.ok_or(BrokenNote("names no CUDA version"))?,
        drivers: numbers("driver", "lists drivers that are no numbers")?,
        devices: numbers("device", "lists devices that are no numbers")?,
    })
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note section, aligned to four.
    fn note(owner: &str, text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let owner_len = u32::try_from(owner.len() + 1).unwrap();
        let text_len = u32::try_from(text.len()).unwrap();
        for number in [owner_len, text_len, 0] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for part in [&format!("{owner}\0"), text] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    fn nvidia(text: &str) -> Option<Result<ForwardNote, BrokenNote>> {
        read(&note("NVIDIA Corporation", text), 4)
    }

    const OF_575: &str = r#"{"format":1,"CUDA version":"12.9","driver":[535,550,560,565,570,575],"device":[1,2,7,8,9,10,11,12,13,14]}"#;

    // the texts of libcuda.so 575.57.08 and of the driver for Orin of CUDA 13.2.1
    #[test]
    fn the_note_says_cuda_drivers_and_devices() {
        let found = nvidia(OF_575).unwrap().unwrap();
        assert_eq!(found.format, 1);
        assert_eq!(found.cuda, ToolkitVersion::new(12, 9));
        assert_eq!(found.drivers.unwrap(), [535, 550, 560, 565, 570, 575]);
        assert_eq!(found.devices.unwrap(), [1, 2, 7, 8, 9, 10, 11, 12, 13, 14]);
        let orin = nvidia(r#"{"format":1,"CUDA version":"13.2"}"#)
            .unwrap()
            .unwrap();
        assert_eq!(
            orin,
            ForwardNote::new(ToolkitVersion::new(13, 2), None, None)
        );
    }

    #[test]
    fn keys_are_of_any_case() {
        let found = nvidia(r#"{"Format":1,"CUDA Version":"13.1","DRIVER":[590],"Device":[2]}"#);
        let cuda = ToolkitVersion::new(13, 1);
        let expected = ForwardNote::new(cuda, Some(vec![590]), Some(vec![2]));
        assert_eq!(found.unwrap().unwrap(), expected);
    }

    #[test]
    fn a_note_that_is_not_understood_says_so() {
        for text in [
            // NVIDIA's own test of broken JSON
            r#"{"format":1,"CUDA version":"13.2",}"#,
            r#"{"format":1}"#,
            r#"{"format":"x","CUDA version":"13.2"}"#,
            r#"{"format":1,"CUDA version":13.2}"#,
            r#"{"format":1,"CUDA version":"13.2","driver":["535"]}"#,
            r#"{"format":1,"CUDA version":"13.2","device":2}"#,
            r#"{"format":1,"CUDA version":"13.2","driver":[-1]}"#,
            "[]",
        ] {
            assert!(nvidia(text).unwrap().is_err(), "{text}");
        }
    }

    #[test]
    fn notes_of_others_and_empty_ones_are_none() {
        assert_eq!(read(&note("GNU", OF_575), 4), None);
        assert_eq!(nvidia(""), None);
        let mut nameless = note("", OF_575);
        nameless[..4].fill(0);
        assert_eq!(read(&nameless, 4), None);
    }

    #[test]
    fn a_section_cut_anywhere_is_broken_and_never_half_a_note() {
        let whole = note("NVIDIA Corporation", OF_575);
        // the last byte is padding
        let needed = 12 + 20 + OF_575.len();
        for len in 0..needed {
            assert!(matches!(read(&whole[..len], 4), Some(Err(_))), "{len}");
        }
        assert!(matches!(read(&whole[..needed], 4), Some(Ok(_))));
    }

    #[test]
    fn a_name_longer_than_the_section_is_broken() {
        let mut lying = note("NVIDIA Corporation", OF_575);
        lying[..4].fill(0xff);
        assert!(matches!(read(&lying, 4), Some(Err(_))));
        assert!(matches!(read(&lying, 1 << 63), None | Some(Err(_))));
    }

    // as in NVIDIA's test file of the driver for Orin of CUDA 13.2.1: 41 bytes said, 39 there, 34 of them text
    #[test]
    fn a_text_shorter_than_it_says_is_read_as_far_as_it_goes() {
        let mut orin = note(
            "NVIDIA Corporation",
            r#"{"format":1,"CUDA version":"13.2"}"#,
        );
        orin.resize(12 + 20 + 39, 0);
        orin[4] = 41;
        let expected = ForwardNote::new(ToolkitVersion::new(13, 2), None, None);
        assert_eq!(read(&orin, 4), Some(Ok(expected)));
    }
}
