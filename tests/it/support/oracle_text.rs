//! The texts `NAME.oracle.txt`: what cuobjdump 13.5.37 printed of a fixture.

use std::collections::BTreeSet;

use super::Images;

/// The text of one fixture.
pub(crate) struct OracleText {
    /// Command line without the tool and the file name, exit status, output.
    commands: Vec<(String, i32, String)>,
    /// SHA-256 and size in the first line.
    pub(crate) size: usize,
}

/// One image of the plain listing.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// `elf`, `ptx`, `nvvm`, … as printed.
    pub(crate) kind: String,
    /// Part of a concatenated entry.
    pub(crate) nested: bool,
    pub(crate) arch: Option<String>,
    /// The pair of `code version`.
    pub(crate) version: (u32, u32),
    /// Its own payload, or that of the concatenated entry it is part of.
    pub(crate) compressed: bool,
    pub(crate) identifier: Option<String>,
}

/// The first line of `cuobjdump -elf` of a bare cubin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ElfLine {
    pub(crate) relocatable: bool,
    pub(crate) sm: String,
    pub(crate) toolkit: String,
}

impl OracleText {
    /// The text of the fixture called `name`.
    pub(crate) fn of(name: &str) -> Self {
        let bytes = super::fixture(&format!("{name}.oracle.txt"));
        let text = String::from_utf8(bytes).unwrap();
        let (title, rest) = text.split_once('\n').unwrap();
        let [_, title_name, size, ..] = title.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{title}");
        };
        assert_eq!(title_name, name);
        let mut commands: Vec<(String, i32, String)> = Vec::new();
        for line in rest.split_inclusive('\n') {
            match line.strip_prefix("$ cuobjdump ") {
                Some(command) => {
                    let status = command
                        .split_once("# rc=")
                        .map_or(0, |(_, status)| status.trim().parse().unwrap());
                    let options = command.split(name).next().unwrap().trim();
                    commands.push((options.to_owned(), status, String::new()));
                }
                None => commands.last_mut().unwrap().2.push_str(line),
            }
        }
        let size = size.parse().unwrap();
        Self { commands, size }
    }

    fn output(&self, options: &str) -> &str {
        let found = self.commands.iter().find(|(text, ..)| text == options);
        &found.unwrap_or_else(|| panic!("no `{options}`")).2
    }

    /// Whether the plain listing succeeded.
    pub(crate) fn is_read(&self) -> bool {
        self.commands[0].1 == 0
    }

    /// What the tool said where it failed.
    pub(crate) fn complaint(&self) -> Option<&str> {
        let lines = self.output("-all").lines();
        lines
            .filter_map(|line| line.strip_prefix("cuobjdump "))
            .next_back()
    }

    /// The plain listing, in its order, concatenated entries themselves left out.
    pub(crate) fn listing(&self) -> Vec<Listed> {
        let mut listed: Vec<Listed> = Vec::new();
        let mut outer_compressed = false;
        for line in self.output("-all").lines() {
            let (nested, line) = match line.strip_prefix('\t') {
                Some(line) => (true, line),
                None => (false, line),
            };
            let kind = line
                .strip_prefix("Fatbin ")
                .and_then(|rest| rest.strip_suffix(" code:"));
            if let Some(kind) = kind {
                let compressed = nested && outer_compressed;
                listed.push(Listed {
                    kind: kind.to_owned(),
                    nested,
                    compressed,
                    ..Listed::default()
                });
                continue;
            }
            let Some(image) = listed.last_mut() else {
                continue;
            };
            match line.split_once(" = ") {
                Some(("arch", arch)) => image.arch = Some(arch.to_owned()),
                Some(("code version", pair)) => {
                    let pair = pair.trim_matches(['[', ']']).split_once(',').unwrap();
                    image.version = (pair.0.parse().unwrap(), pair.1.parse().unwrap());
                }
                Some(("identifier", text)) => image.identifier = Some(text.to_owned()),
                None if line == "compressed" => image.compressed = true,
                _ => {}
            }
            if image.kind == "concatenated entry" {
                outer_compressed = image.compressed;
            }
        }
        listed.retain(|image| image.kind != "concatenated entry");
        listed
    }

    /// The sm targets in the names of `-lelf` or `-lptx`, with how many there are of each.
    pub(crate) fn named(&self, option: &str) -> Images {
        let mut names = Images::new();
        for line in self.output(&format!("-all {option}")).lines() {
            let numbered = line
                .strip_prefix("ELF file ")
                .or_else(|| line.strip_prefix("PTX file "));
            let Some((_, name)) = numbered.and_then(|rest| rest.split_once(": ")) else {
                continue;
            };
            let target = name.rsplit('.').nth(1).unwrap();
            assert!(target.starts_with("sm_"), "{line}");
            *names.entry(target.to_owned()).or_default() += 1;
        }
        names
    }

    /// `.target` and `.version` of every PTX text that `-ptx` printed.
    pub(crate) fn ptx_texts(&self) -> Images {
        let mut texts = Images::new();
        let mut version = None;
        for line in self.output("-all -ptx").lines() {
            if let Some(text) = line.strip_prefix(".version ") {
                version = Some(text);
            } else if let Some(target) = line.strip_prefix(".target ") {
                let target = target.split([',', ' ']).next().unwrap();
                let target = target.replace("sm_", "compute_");
                let text = format!("{target} {}", version.take().unwrap());
                *texts.entry(text).or_default() += 1;
            }
        }
        texts
    }

    /// The identifiers of all entries.
    pub(crate) fn identifiers(&self) -> BTreeSet<String> {
        let listing = self.listing();
        listing
            .into_iter()
            .filter_map(|image| image.identifier)
            .collect()
    }

    /// The line of `-elf` about a bare cubin; both spellings of cuobjdump, by ABI.
    pub(crate) fn elf_line(&self) -> Option<ElfLine> {
        let output = self.output("-elf");
        let line = output
            .lines()
            .find(|line| line.to_lowercase().contains("bit elf: "))?;
        let value = |key: &str| {
            let (_, rest) = line.split_once(key).unwrap();
            rest.split(',').next().unwrap().to_owned()
        };
        let toolkit = value("toolkit=");
        let toolkit = match toolkit.split_once('.') {
            Some(_) => toolkit,
            None => format!("{}.{}", &toolkit[..2], &toolkit[2..]),
        };
        let relocatable = match value("type=").as_str() {
            "ET_EXEC" | "2" => false,
            "ET_REL" | "1" => true,
            other => panic!("{other}"),
        };
        Some(ElfLine {
            relocatable,
            sm: format!("sm_{}", value("sm=")),
            toolkit,
        })
    }
}
