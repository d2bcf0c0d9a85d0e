//! The reader against NVIDIA's own tool: what `cuobjdump` 13.5.37 lists of every fixture that it reads.
//!
//! Expected values come from the oracle texts alone. Where the tool is blind or wrong, `oracle_blind` says
//! what must be read instead.

use std::collections::BTreeSet;

use smgate::device::DeviceReport;

use crate::oracle_blind::BLIND;
use crate::support::oracle_text::{Listed, OracleText};
use crate::support::{Images, count_images, describe, fixture, fixtures, images, scan, toolkits};

/// A listed image in the words of the reader.
fn expected(listed: &Listed) -> String {
    let (kind, virtual_arch, isa) = match listed.kind.as_str() {
        "elf" => ("cubin", false, false),
        "ptx" => ("ptx", true, true),
        "relocatable ptx" => ("relocatable-ptx", true, true),
        "nvvm" => ("lto-ir", false, false),
        // its architecture is a dummy (FORMAT.md §4.3)
        "tile ir" => return "tile-ir".to_owned(),
        "<unknown kind>" => ("unknown-0x200", false, false),
        other => panic!("`{other}` is not in any fixture"),
    };
    let mut words = vec![kind.to_owned()];
    words.extend(listed.arch.as_deref().map(|arch| {
        if virtual_arch {
            arch.replace("sm_", "compute_")
        } else {
            arch.to_owned()
        }
    }));
    if isa {
        words.push(format!("{}.{}", listed.version.0, listed.version.1));
    }
    if listed.compressed {
        words.push("compressed".to_owned());
    }
    words.join(" ")
}

/// Fixtures that the tool reads whole, with its text and the report of the reader.
fn read_by_both() -> impl Iterator<Item = (String, OracleText, DeviceReport)> {
    fixtures().into_iter().filter_map(|(name, bytes)| {
        let blind = BLIND.contains(&name.as_str());
        (!blind).then(|| {
            let text = OracleText::of(&name);
            (name, text, scan(&bytes))
        })
    })
}

fn is_bare(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((_, "cubin")))
}

/// Targets of cubins as `-lelf` names them: without `f`.
fn cubin_targets(report: &DeviceReport) -> Images {
    let mut targets = Images::new();
    for class in &report.classes {
        for image in &class.images {
            if image.key.kind.to_string() == "cubin" {
                let name = image.key.target_name().unwrap();
                let name = name.trim_end_matches('f').to_owned();
                *targets.entry(name).or_default() += image.per_fatbin * class.count;
            }
        }
    }
    targets
}

#[test]
fn every_fixture_is_compared_with_its_oracle_or_named_as_a_blind_spot() {
    let all: BTreeSet<String> = fixtures().into_iter().map(|(name, _)| name).collect();
    assert_eq!(all.len(), 152);
    for name in BLIND {
        assert!(all.contains(name), "{name}");
    }
    for (name, bytes) in fixtures() {
        let text = OracleText::of(&name);
        assert_eq!(
            text.size,
            bytes.len(),
            "{name} is not the file that was shown to the oracle"
        );
        let blind = BLIND.contains(&name.as_str());
        assert!(text.is_read() || blind, "{name} is not read by the oracle");
    }
}

#[test]
fn kinds_targets_suffixes_versions_and_codings_are_those_of_the_listing() {
    let mut compared = 0;
    for (name, text, report) in read_by_both().filter(|(name, ..)| !is_bare(name)) {
        let mut listed = Images::new();
        for image in text.listing() {
            *listed.entry(expected(&image)).or_default() += 1;
        }
        assert!(!listed.is_empty(), "{name}");
        assert_eq!(images(&report), listed, "{name}");
        assert_eq!(report.problems, [], "{name}");
        compared += 1;
    }
    assert!(compared > 70, "only {compared}");
}

#[test]
fn cubins_have_the_names_of_lelf() {
    for (name, text, report) in read_by_both() {
        assert_eq!(cubin_targets(&report), text.named("-lelf"), "{name}");
    }
}

#[test]
fn ptx_has_the_version_and_target_of_its_own_text() {
    let mut compared = 0;
    for (name, text, report) in read_by_both() {
        let mut ptx = Images::new();
        for (line, count) in count_images(&report, |key| key.kind.is_ptx()) {
            let words: Vec<&str> = line.split(' ').collect();
            *ptx.entry(words[1..3].join(" ")).or_default() += count;
        }
        let texts = text.ptx_texts();
        // the text of relocatable PTX is not printed
        if !name.contains("reloc") {
            assert_eq!(ptx, texts, "{name}");
        }
        compared += texts.len();
        let targets: u64 = ptx.values().sum();
        assert_eq!(targets, text.named("-lptx").values().sum::<u64>(), "{name}");
    }
    assert!(compared > 100, "only {compared}");
}

#[test]
fn names_of_fatbins_are_the_identifiers_of_their_entries() {
    for (name, text, report) in read_by_both() {
        let names: BTreeSet<String> = report
            .classes
            .into_iter()
            .flat_map(|class| class.names)
            .collect();
        // a sample of four a class, and no fixture has more
        assert_eq!(names, text.identifiers(), "{name}");
    }
}

#[test]
fn bare_cubins_have_the_type_target_and_toolkit_of_their_elf_line() {
    let mut compared = 0;
    for (name, text, report) in read_by_both().filter(|(name, ..)| is_bare(name)) {
        let line = text
            .elf_line()
            .unwrap_or_else(|| panic!("{name} has no `-elf` line"));
        let [class] = &report.classes[..] else {
            panic!("{name}: {report:?}")
        };
        let [image] = &class.images[..] else {
            panic!("{name}: {class:?}")
        };
        assert!(class.bare && class.count == 1, "{name}");
        assert_eq!(class.relocatable, line.relocatable, "{name}");
        assert_eq!(describe(&image.key), format!("cubin {}", line.sm), "{name}");
        assert_eq!(toolkits(&report), [line.toolkit.as_str()], "{name}");
        assert_eq!(class.bytes, fixture(&name).len() as u64, "{name}");
        assert_eq!(report.problems, [], "{name}");
        compared += 1;
    }
    assert_eq!(compared, 41);
}

/// The toolkits of the code in a fixture: those of its name, but for what `build.py` took from elsewhere.
fn put_in(name: &str) -> &'static [&'static str] {
    match name {
        // no cubin inside, and only those say it
        "n135_ptx_only.fatbin"
        | "n135_dlto.o"
        | "nvf135_reloc.fatbin"
        | "nvf135_tileir_synthetic.fatbin" => &[],
        "nvf124_old_archs_118.fatbin" => &["11.8"],
        "two_containers_zero_gap.fatbin" | "win_mingw_section.fatbin" => &["12.9", "13.5"],
        "aarch64.so" | "i386.so" | "bad_unknown_kind.fatbin" => &["13.5"],
        _ => match name.split('_').next().unwrap() {
            "n130" => &["13.0"],
            "n135" | "nvf135" | "fb135" => &["13.5"],
            "nvf124" | "nvf126" => &["12.4"],
            "nvf128" => &["12.8"],
            "nvf129" | "nvf130" => &["12.9"],
            other => panic!("{other}"),
        },
    }
}

#[test]
fn toolkits_are_those_that_the_fixtures_were_made_with() {
    for (name, _, report) in read_by_both().filter(|(name, ..)| !is_bare(name)) {
        assert_eq!(toolkits(&report), put_in(&name), "{name}");
    }
}
