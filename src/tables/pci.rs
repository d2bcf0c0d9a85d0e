//! PCI device ids: which chip a device is, by the number that the machine itself reports.
//!
//! Names of a chip's products say less: one name covers several chips, one chip has several names. The file
//! is read line by line, because a look-up needs one row of more than a thousand.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::rows::{Confidence, Evidence, yes};
use super::yaml::{self, Sources};
use crate::cuda::{ComputeCapability, DriverBranch, DriverVersion};
use crate::error::Error;

const FILE: &str = "pci.yaml";

/// NVIDIA's vendor id.
const VENDOR: &str = "10de";

/// The line behind which every line is a row.
const DEVICES: &str = "\ndevices:\n";

/// A PCI device id of NVIDIA's: `10de:2330`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciId(u16);

/// A text that is no PCI id of NVIDIA's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a PCI id of NVIDIA's such as `10de:2330`")]
pub struct ParsePciIdError(String);

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VENDOR}:{:04x}", self.0)
    }
}

impl FromStr for PciId {
    type Err = ParsePciIdError;

    /// Parses what tools print: `10de:2330` with or without a subsystem behind it (`lspci -n`), `2330`,
    /// `0x2330`, `0x233010DE` (`nvidia-smi`), `v000010DEd00002330…` (modalias), `VEN_10DE&DEV_2330…` (Windows).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.trim().to_ascii_lowercase();
        let behind = |marks: &str| lower.split_once(marks).map(|(_, rest)| rest);
        let found = behind("v000010ded0000")
            .or_else(|| behind("ven_10de&dev_"))
            .map_or_else(|| plain(&lower), |rest| rest.get(..4));
        found
            .and_then(device)
            .map(Self)
            .ok_or_else(|| ParsePciIdError(text.to_owned()))
    }
}

/// The four digits of the device in an id without marks.
fn plain(text: &str) -> Option<&str> {
    let (id, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if let Some(device) = id.strip_prefix("10de:") {
        // a subsystem may follow
        return device.split(':').next();
    }
    if !rest.is_empty() {
        return None;
    }
    let digits = id.strip_prefix("0x").unwrap_or(id);
    match digits.len() {
        8 => digits.strip_suffix(VENDOR),
        _ => Some(digits),
    }
}

fn device(digits: &str) -> Option<u16> {
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let hexadecimal = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())?
}

impl Serialize for PciId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PciId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = text.parse::<Self>().map_err(serde::de::Error::custom)?;
        if id.to_string() == text {
            Ok(id)
        } else {
            Err(serde::de::Error::custom(format_args!(
                "write `{id}`, not `{text}`"
            )))
        }
    }
}

/// A chip: what the capability of its devices follows from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ChipRow {
    /// Its code name: `GH100`.
    pub chip: String,
    /// Its compute capability.
    pub cc: Option<ComputeCapability>,
    /// Set where no source states the capability.
    pub confidence: Option<Confidence>,
    /// How the capability is known.
    pub evidence: Evidence,
    /// Where it comes from.
    #[serde(deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// A PCI device of NVIDIA's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PciRow {
    /// Its id.
    pub id: PciId,
    /// Its chip.
    pub chip: String,
    /// The capability of its chip; none where it is unknown, and for what is no GPU.
    #[serde(skip_deserializing)]
    pub cc: Option<ComputeCapability>,
    /// Whether it is a GPU; some ids are other functions of a chipset.
    #[serde(default = "yes")]
    pub gpu: bool,
    /// Its name in the PCI ID database.
    pub pci_name: Option<String>,
    /// Its names as NVIDIA's driver prints them; several where subsystems differ.
    #[serde(default)]
    pub names: Vec<String>,
    /// The first version of the open kernel modules whose README lists it.
    pub open_first: Option<DriverVersion>,
    /// Driver branches whose packaged device list has it, oldest first; others may support it too.
    #[serde(default, deserialize_with = "yaml::words")]
    pub listed: Vec<DriverBranch>,
    /// Where the row comes from; filled from its fields where the row names none.
    #[serde(default, deserialize_with = "yaml::words")]
    pub sources: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// A row as text, parsed when it is asked for.
#[derive(Debug)]
struct Line {
    id: PciId,
    text: &'static str,
    row: OnceLock<PciRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    as_of: String,
    sources: Sources,
    chips: Vec<ChipRow>,
}

/// The table of PCI ids.
#[derive(Debug)]
pub(super) struct PciTable {
    pub(super) as_of: String,
    pub(super) chips: Vec<ChipRow>,
    sources: Sources,
    lines: Vec<Line>,
}

impl PciTable {
    /// Reads the head, and of each row its id only.
    pub(super) fn parse(text: &'static str) -> Result<Self, Error> {
        let (head, rows) = text
            .split_once(DEVICES)
            .ok_or_else(|| yaml::invalid(FILE, "no `devices`"))?;
        let mut head: Head = yaml::parse(FILE, head)?;
        for source in head.chips.iter_mut().flat_map(|row| &mut row.sources) {
            yaml::resolve(FILE, &head.sources, source)?;
        }
        let lines = rows.lines().map(|line| {
            let row = line.strip_prefix("- ");
            let id = row.and_then(|row| row.strip_prefix("{id: '")?.split('\'').next());
            match (row, id.map(str::parse)) {
                (Some(text), Some(Ok(id))) => Ok(Line {
                    id,
                    text,
                    row: OnceLock::new(),
                }),
                _ => Err(yaml::invalid(FILE, format_args!("no row: `{line}`"))),
            }
        });
        Ok(Self {
            as_of: head.as_of,
            chips: head.chips,
            sources: head.sources,
            lines: lines.collect::<Result<_, _>>()?,
        })
    }

    /// The row of an id.
    pub(super) fn find(&self, id: PciId) -> Option<&PciRow> {
        // sorted, as a unit test holds
        let at = self.lines.binary_search_by_key(&id, |line| line.id).ok()?;
        self.lines.get(at).map(|line| self.row(line))
    }

    /// Adds a row, or replaces that of its id.
    pub(super) fn set(&mut self, mut row: PciRow) {
        row.cc = self
            .chip(&row.chip)
            .and_then(|chip| chip.cc)
            .filter(|_| row.gpu);
        let line = Line {
            id: row.id,
            text: "",
            row: OnceLock::from(row),
        };
        match self.lines.binary_search_by_key(&line.id, |line| line.id) {
            Ok(at) => {
                self.lines.remove(at);
                self.lines.insert(at, line);
            }
            Err(at) => self.lines.insert(at, line),
        }
    }

    /// Every row, by id.
    pub(super) fn rows(&self) -> impl Iterator<Item = &PciRow> {
        self.lines.iter().map(|line| self.row(line))
    }

    /// Every id.
    pub(super) fn ids(&self) -> impl Iterator<Item = PciId> {
        self.lines.iter().map(|line| line.id)
    }

    pub(super) fn chip(&self, name: &str) -> Option<&ChipRow> {
        self.chips.iter().find(|row| row.chip == name)
    }

    fn row<'t>(&'t self, line: &'t Line) -> &'t PciRow {
        line.row
            .get_or_init(|| super::parsed(self.parse_row(line.text)))
    }

    fn parse_row(&self, text: &str) -> Result<PciRow, Error> {
        let row = yaml::parse(FILE, text)?;
        self.complete(row)
    }

    /// Fills what follows from other fields and rows.
    fn complete(&self, mut row: PciRow) -> Result<PciRow, Error> {
        let chip = self.chip(&row.chip);
        row.cc = chip.filter(|_| row.gpu).and_then(|chip| chip.cc);
        if row.sources.is_empty() {
            let known = [
                ("pci-ids", row.pci_name.is_some()),
                ("kernel-readme", row.open_first.is_some()),
                ("driver-lists", !row.listed.is_empty()),
            ];
            let named = known.into_iter().filter(|(_, has)| *has);
            row.sources = named.map(|(key, _)| key.to_owned()).collect();
        }
        for source in &mut row.sources {
            yaml::resolve(FILE, &self.sources, source)?;
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tables, Texts};
    use super::*;

    // Spellings of lspci -n, nvidia-smi --query-gpu=pci.device_id, modalias and the Windows device manager
    #[test]
    fn ids_are_read_as_tools_print_them() {
        for text in [
            "10de:2330",
            "10DE:2330",
            " 2330 ",
            "0x2330",
            "0x233010DE",
            "233010de",
            "10de:2330:10de:16c1",
            "10de:2330 (rev a1)",
            "10de:0x2330",
            "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00",
            r"PCI\VEN_10DE&DEV_2330&SUBSYS_16C110DE&REV_A1\4&1",
        ] {
            let id: PciId = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(id.to_string(), "10de:2330", "{text}");
        }
        for text in [
            "",
            "H100",
            "10de:",
            "10de:23",
            "10de:23300",
            "1002:2330",
            "0x23301002",
            "123",
            "zzzz",
            "10de:233g",
            "VEN_10DE&DEV_23",
            "VEN_1002&DEV_2330",
            "1080 Ti 10de:1b06",
        ] {
            assert!(text.parse::<PciId>().is_err(), "{text}");
        }
    }

    // PCI ID database; README of the open kernel modules
    #[test]
    fn the_chip_decides_the_capability() {
        for (id, chip, cc, name) in [
            ("10de:2330", "GH100", Some("9.0"), "NVIDIA H100 80GB HBM3"),
            ("10de:2901", "GB100", Some("10.0"), "NVIDIA B200"),
            (
                "10de:2b85",
                "GB202",
                Some("12.0"),
                "NVIDIA GeForce RTX 5090",
            ),
            ("10de:1eb8", "TU104", Some("7.5"), "Tesla T4"),
            ("10de:1db6", "GV100", Some("7.0"), "Tesla V100 PCIe 32GB"),
            ("10de:13bb", "GM107", Some("5.0"), "Quadro K620"),
            ("10de:13fa", "GM204", Some("5.2"), "Quadro M3000M"),
            ("10de:3200", "GB112", None, "GB112"),
            ("10de:0ab8", "MCP79", None, "MCP79 AHCI Controller"),
        ] {
            let row = Tables::builtin().pci(id).unwrap();
            assert_eq!(row.chip, chip, "{id}");
            assert_eq!(row.cc, cc.map(|cc| cc.parse().unwrap()), "{id}");
            let called = row.names.iter().chain(&row.pci_name);
            assert!(
                called.into_iter().any(|known| known == name),
                "{id}: {row:?}"
            );
        }
        assert_eq!(Tables::builtin().pci("10de:ffff"), None);
        let row = Tables::builtin().pci("10de:2330").unwrap();
        let first = row.open_first.as_ref().unwrap();
        assert_eq!(first.to_string(), "525.47.07");
        assert_eq!(row.listed, [DriverBranch(535), DriverBranch(550)]);
        assert_eq!(row.sources.len(), 3);
    }

    #[test]
    fn reading_by_line_is_reading_the_file() {
        #[derive(Deserialize)]
        struct Whole {
            devices: Vec<PciRow>,
        }
        let whole: Whole = yaml::parse(FILE, Texts::BUILTIN.pci).unwrap();
        let table = PciTable::parse(Texts::BUILTIN.pci).unwrap();
        let rows: Vec<PciRow> = whole
            .devices
            .into_iter()
            .map(|row| table.complete(row).unwrap())
            .collect();
        assert_eq!(rows.len(), 1234);
        assert!(table.rows().eq(&rows));
    }
}
