//! Answers against NVIDIA's documents, which each test names.

use super::*;

fn found(kind: Kind, name: &str) -> Answer {
    let answer = look_up(kind, name, Tables::builtin());
    assert_eq!(answer.status, Status::Found, "{name}: {answer:?}");
    answer
}

/// A fact of an answer, its values joined.
fn value(answer: &Answer, name: &str) -> String {
    let fact = answer.facts.iter().find(|fact| fact.name == name);
    let fact = fact.unwrap_or_else(|| panic!("no `{name}` in {answer:?}"));
    match &fact.value {
        None => "unknown".to_owned(),
        Some(values) => values.join(" "),
    }
}

fn assert_values(kind: Kind, name: &str, expected: &[(&str, &str)]) {
    let answer = found(kind, name);
    for (fact, expected) in expected {
        assert_eq!(value(&answer, fact), *expected, "{name}: {fact}");
    }
}

// NVIDIA's driver and architecture matrix; release notes of CUDA 11.8, 13.0 and 12.8
#[test]
fn a_gpu_names_the_toolkits_and_drivers_that_know_it() {
    assert_values(
        Kind::Gpu,
        "rtx 4090",
        &[
            ("compute-capability", "8.9"),
            ("chips", "AD102"),
            ("first-toolkit", "11.8"),
            ("last-toolkit", ""),
            ("last-driver-branch", ""),
            ("runs-cubins-of", "sm_80 sm_86 sm_89"),
        ],
    );
    assert_values(
        Kind::Gpu,
        "V100",
        &[
            ("first-toolkit", "9.0"),
            ("last-toolkit", "12.9"),
            ("last-driver-branch", "R580"),
        ],
    );
    assert_values(
        Kind::Gpu,
        "Tesla K80",
        &[("last-toolkit", "11.8"), ("last-driver-branch", "R470")],
    );
    let first = value(&found(Kind::Gpu, "RTX 5090"), "first-driver");
    assert_eq!(first, "R570 Linux 570.86.16");
    let tegra = found(Kind::Gpu, "AGX Orin");
    assert_eq!(value(&tegra, "tegra"), "yes");
    assert_eq!(value(&tegra, "driver-branches"), "unknown");
    assert_eq!(value(&tegra, "last-driver-branch"), "unknown");
}

#[test]
fn ambiguous_names_list_what_they_may_be_by_pci_id() {
    let answer = look_up(Kind::Gpu, "RTX 6000", Tables::builtin());
    assert_eq!(answer.status, Status::Ambiguous);
    let has = |pci: &str, cc: &str| {
        let found = answer
            .candidates
            .iter()
            .find(|c| c.pci.as_deref() == Some(pci));
        assert_eq!(found.unwrap().cc.as_deref(), Some(cc), "{pci}");
    };
    // PCI ID database: Quadro RTX 6000, RTX 6000 Ada Generation, RTX PRO 6000 Blackwell
    has("10de:1e30", "7.5");
    has("10de:26b1", "8.9");
    has("10de:2bb1", "12.0");
    let answer = look_up(Kind::Gpu, "GT 730 2GB", Tables::builtin());
    let cc: std::collections::BTreeSet<_> = answer.candidates.iter().map(|c| &c.cc).collect();
    assert_eq!((answer.status, cc.len()), (Status::Ambiguous, 3));
    let answer = look_up(Kind::Arch, "Ampere", Tables::builtin());
    let names: Vec<&str> = answer.candidates.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["sm_80", "sm_86", "sm_87"]);
}

// PCI ID database; README of the open kernel modules
#[test]
fn a_pci_id_decides_in_every_spelling() {
    for (kind, name) in [
        (Kind::Pci, "10de:2b85"),
        (Kind::Pci, "0x2b8510de"),
        (Kind::Gpu, "10de:2b85"),
    ] {
        assert_values(
            kind,
            name,
            &[
                ("chip", "GB202"),
                ("compute-capability", "12.0"),
                ("first-open-kernel-module", "570.86.16"),
            ],
        );
    }
    let answer = look_up(Kind::Pci, "10de:ffff", Tables::builtin());
    assert_eq!((answer.status, answer.nearest.len()), (Status::Unknown, 0));
    assert_values(
        Kind::Pci,
        "10de:3200",
        &[("chip", "GB112"), ("compute-capability", "unknown")],
    );
}

// CUDA C++ Programming Guide, "Binary Compatibility"; help text of ptxas 13.5 (RULES.md 1.1 to 1.4, 2.1, 2.2)
#[test]
fn an_architecture_says_what_runs_on_it_and_where_its_code_runs() {
    for name in ["sm_90", "compute_90", "9.0", "90", "hopper", "SM_90"] {
        assert_values(
            Kind::Arch,
            name,
            &[
                ("its-cubins-run-on", "9.0"),
                ("runs-cubins-of", "sm_90 sm_90a"),
                ("first-toolkit", "11.8"),
            ],
        );
    }
    assert_values(
        Kind::Arch,
        "sm_90a",
        &[
            ("its-cubins-run-on", "9.0"),
            ("its-ptx-compiles-for", "9.0"),
            ("first-toolkit", "12.0"),
        ],
    );
    assert_values(
        Kind::Arch,
        "sm_100f",
        &[
            ("its-cubins-run-on", "10.0 10.3 10.7"),
            ("its-ptx-compiles-for", "10.0 10.3 10.7"),
            ("first-ptx-isa", "8.8"),
        ],
    );
    assert_values(
        Kind::Arch,
        "8.0",
        &[
            ("its-cubins-run-on", "8.0 8.6 8.9"),
            ("its-cubins-unsure-on", "8.7 8.8"),
            ("runs-cubins-of", "sm_80"),
        ],
    );
    let ampere = value(&found(Kind::Arch, "8.0"), "gpus");
    assert!(
        ampere.contains("A100") && !ampere.contains("RTX 3090"),
        "{ampere}"
    );
    for name in ["sm_91", "sm_80a", "sm_", "9", ""] {
        let answer = look_up(Kind::Arch, name, Tables::builtin());
        assert_eq!(answer.status, Status::Unknown, "{name}");
    }
}

// Release notes of CUDA, tables of minimum and of corresponding driver versions
#[test]
fn a_toolkit_names_the_drivers_that_it_needs() {
    assert_values(
        Kind::Toolkit,
        "12.4",
        &[
            ("ptx-isa", "8.4"),
            ("minimum-driver-linux", "525.60.13"),
            ("minimum-driver-windows", "528.33"),
            (
                "paired-drivers",
                "12.4.0 GA: Linux 550.54.14 / Windows 551.61 12.4.1 Update 1: Linux 550.54.15 / Windows 551.78",
            ),
            ("default-target", "sm_52"),
            ("forward-compatibility-on", "R535"),
        ],
    );
    assert_values(
        Kind::Toolkit,
        "12.4.1",
        &[(
            "paired-drivers",
            "12.4.1 Update 1: Linux 550.54.15 / Windows 551.78",
        )],
    );
    let dropped = value(&found(Kind::Toolkit, "13.0"), "dropped-targets");
    assert!(
        dropped.starts_with("sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72"),
        "{dropped}"
    );
    assert_values(Kind::Toolkit, "11.8", &[("new-targets", "sm_89 sm_90")]);
    assert_values(
        Kind::Toolkit,
        "10.2",
        &[
            ("minimum-driver-linux", "R440"),
            ("minimum-driver-windows", "R440"),
        ],
    );
    let nearest = |name| look_up(Kind::Toolkit, name, Tables::builtin()).nearest;
    assert_eq!(nearest("12.10"), ["12.9", "13.0"]);
    assert_eq!(nearest("99.0"), ["13.5"]);
    assert!(nearest("12.4.7").contains(&"12.4.1".to_owned()));
}

// PTX ISA release history; release notes of CUDA 12.8
#[test]
fn a_ptx_version_names_its_toolkit_and_first_driver() {
    for name in ["8.7", "PTX 8.7", "ptx isa 8.7"] {
        assert_values(
            Kind::Ptx,
            name,
            &[
                ("first-cuda", "12.8"),
                ("first-driver-branch", "R570"),
                ("first-driver-linux", "570.26"),
                ("first-driver-windows", "570.65"),
                ("written-by-toolkits", "12.8"),
                ("new-targets", "sm_120 sm_120a"),
            ],
        );
    }
    // 12.7 had no toolkit
    assert_values(
        Kind::Ptx,
        "8.6",
        &[
            ("written-by-toolkits", ""),
            ("first-driver-windows", "unknown"),
        ],
    );
    let answer = look_up(Kind::Ptx, "8.9", Tables::builtin());
    assert_eq!(answer.nearest, ["8.8", "9.0"]);
}

// NVIDIA's driver and architecture matrix; release notes; RULES.md 4.2, 4.5 and 2.13
#[test]
fn a_driver_names_the_gpus_and_toolkits_that_it_takes() {
    let answer = found(Kind::Driver, "R580");
    let last = value(&answer, "last-branch-for");
    for cc in ["5.0", "5.2", "6.0", "6.1", "7.0"] {
        assert!(last.contains(cc), "{cc}: {last}");
    }
    assert!(!last.contains("7.5") && !last.contains("7.2"), "{last}");
    assert_values(
        Kind::Driver,
        "535.104.05",
        &[
            ("branch", "R535"),
            ("cuda", "12.2"),
            ("newest-ptx-isa", "8.2"),
            ("toolkits-by-minor-version", "12.3 12.4 12.5 12.6 12.8 12.9"),
            ("unpacks-zstd", "no"),
        ],
    );
    assert_values(
        Kind::Driver,
        "551.61",
        &[("branch", "R550"), ("unpacks-zstd", "yes")],
    );
    assert_values(
        Kind::Driver,
        "550",
        &[("branch", "R550"), ("unpacks-zstd", "from 550.54.14 on")],
    );
    // too old for the floor of CUDA 12, though of its first branch
    assert_values(
        Kind::Driver,
        "525.53.00",
        &[("branch", "R525"), ("toolkits-by-minor-version", "")],
    );
    let nearest = |name| look_up(Kind::Driver, name, Tables::builtin()).nearest;
    assert_eq!(nearest("R552"), ["R550", "R555"]);
    assert_eq!(nearest("999.10.1"), ["R620"]);
    // no Windows number of R620 above 620 has been seen
    assert_eq!(nearest("999.1"), ["R620"]);
    assert_eq!(nearest("621.10"), ["R620"]);
}

// Specifications of EC2 accelerated computing instances
#[test]
fn an_instance_type_names_its_gpu() {
    assert_values(
        Kind::Instance,
        "aws:g5g.xlarge",
        &[("compute-capability", "7.5"), ("platform", "linux/arm64")],
    );
    assert_values(Kind::Instance, "g4ad.xlarge", &[("compute-capability", "")]);
    let answer = look_up(Kind::Instance, "n1-standard-8", Tables::builtin());
    assert_eq!(
        (answer.status, answer.candidates.len()),
        (Status::Ambiguous, 5)
    );
}

#[test]
fn every_row_of_every_table_is_answered() {
    let tables = Tables::builtin();
    let mut asked: Vec<(Kind, String)> = Vec::new();
    asked.extend(
        tables
            .gpus()
            .iter()
            .map(|row| (Kind::Gpu, row.name.clone())),
    );
    asked.extend(tables.pci_ids().map(|id| (Kind::Pci, id.to_string())));
    asked.extend(
        tables
            .sm_rows()
            .iter()
            .map(|row| (Kind::Arch, row.target.to_string())),
    );
    asked.extend(
        tables
            .capabilities()
            .iter()
            .map(|row| (Kind::Arch, row.cc.to_string())),
    );
    asked.extend(
        tables
            .toolkits()
            .iter()
            .map(|row| (Kind::Toolkit, row.cuda.to_string())),
    );
    asked.extend(
        tables
            .branches()
            .iter()
            .map(|row| (Kind::Driver, row.branch.to_string())),
    );
    asked.extend(
        tables
            .ptx_rows()
            .iter()
            .map(|row| (Kind::Ptx, row.isa.to_string())),
    );
    asked.extend(
        tables
            .error_rows()
            .iter()
            .map(|row| (Kind::Error, row.id.clone())),
    );
    for (kind, name) in asked {
        let answer = look_up(kind, &name, tables);
        assert_ne!(answer.status, Status::Unknown, "{kind:?} {name}");
        for fact in &answer.facts {
            let named = fact
                .name
                .split('-')
                .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()));
            assert!(named, "{}", fact.name);
            let grounded =
                fact.evidence.is_none() || fact.value.is_none() || !fact.sources.is_empty();
            assert!(grounded && !fact.overlay, "{name}: {fact:?}");
            // also what an error means and how to tell its causes apart
            assert!(
                kind != Kind::Error || fact.evidence.is_some(),
                "{name}: {fact:?}"
            );
        }
        if answer.status == Status::Ambiguous {
            assert!(answer.candidates.len() > 1, "{name}: {answer:?}");
        }
    }
}

#[test]
fn only_the_tables_that_an_answer_needs_are_parsed() {
    for (kind, name, files) in [
        (Kind::Gpu, "RTX 4090", "gpus archs drivers"),
        (Kind::Pci, "10de:2330", "archs drivers pci"),
        (Kind::Arch, "sm_90", "gpus archs drivers"),
        (Kind::Toolkit, "12.4", "archs toolkits compat"),
        (Kind::Driver, "R550", "archs toolkits drivers"),
        (Kind::Ptx, "8.7", "archs toolkits"),
        (Kind::Instance, "p5.48xlarge", "archs drivers instances"),
        (Kind::Error, "209", "archs errors"),
    ] {
        let tables = Tables::unparsed();
        look_up(kind, name, &tables);
        assert_eq!(tables.parsed_files().join(" "), files, "{kind:?} {name}");
    }
}
