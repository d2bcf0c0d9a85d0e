//! Look-ups with expected values from documents of NVIDIA, not from the tables.

use super::*;
use crate::cuda::DriverSpec;

fn tables() -> &'static Tables {
    Tables::builtin()
}

fn cc(text: &str) -> ComputeCapability {
    text.parse().unwrap()
}

#[test]
fn every_table_parses() {
    GpuTable::parse(Texts::BUILTIN.gpus).unwrap();
    ArchTable::parse(Texts::BUILTIN.archs).unwrap();
    ToolkitTable::parse(Texts::BUILTIN.toolkits).unwrap();
    DriverTable::parse(Texts::BUILTIN.drivers).unwrap();
    LibraryTable::parse(Texts::BUILTIN.libraries).unwrap();
    CompatTable::parse(Texts::BUILTIN.compat).unwrap();
    ErrorTable::parse(Texts::BUILTIN.errors).unwrap();
    PciTable::parse(Texts::BUILTIN.pci).unwrap();
    InstanceTable::parse(Texts::BUILTIN.instances).unwrap();
    ContainerTable::parse(Texts::BUILTIN.containers).unwrap();
}

#[test]
fn ptx_versions_need_the_driver_of_their_cuda_version() {
    // cuda-bindings _ptx_utils.py and the PTX ISA release history
    for (isa, cuda, branch, linux) in [
        ("4.3", "7.5", 352, None),
        ("7.5", "11.5", 495, Some("495.29.05")),
        ("8.4", "12.4", 550, Some("550.54.14")),
        ("8.5", "12.5", 555, Some("555.42.02")),
        ("8.6", "12.7", 565, Some("565.57.01")),
        ("8.7", "12.8", 570, Some("570.26")),
        ("9.0", "13.0", 580, Some("580.65.06")),
        ("9.5", "13.5", 620, None),
    ] {
        let row = tables().ptx(isa.parse().unwrap()).unwrap();
        assert_eq!(row.cuda.to_string(), cuda, "{isa}");
        assert_eq!(row.branch, Some(DriverBranch(branch)), "{isa}");
        let first = row.first_driver(Os::Linux).map(ToString::to_string);
        assert_eq!(first.as_deref(), linux, "{isa}");
    }
    for isa in ["7.9", "8.9", "9.6", "10.0"] {
        assert_eq!(tables().ptx(isa.parse().unwrap()), None, "{isa}");
    }
}

#[test]
fn runtimes_have_the_floor_of_minor_version_compatibility() {
    // Release notes, table "CUDA Toolkit and Minimum Required Driver Version"
    for (major, os, expected) in [
        (10, Os::Linux, None),
        (11, Os::Linux, Some("450.80.02")),
        (11, Os::Windows, Some("452.39")),
        (12, Os::Linux, Some("525.60.13")),
        (12, Os::Windows, Some("528.33")),
        (13, Os::Linux, Some("R580")),
        (13, Os::Windows, Some("R580")),
        (14, Os::Linux, None),
        (12, Os::MacOs, None),
    ] {
        let floor = tables().runtime_floor(major, os);
        let driver = floor.map(|floor| floor.driver.to_string());
        assert_eq!(driver.as_deref(), expected, "{major} {os}");
    }
}

#[test]
fn zstd_needs_the_driver_of_cuda_12_4() {
    let driver = |coding, os| {
        let floor = tables().compression_floor(coding, os);
        floor.map(|floor| floor.driver.clone())
    };
    assert_eq!(
        driver("zstd", Os::Linux),
        Some(DriverSpec::Exact("550.54.14".parse().unwrap()))
    );
    assert_eq!(
        driver("zstd", Os::Windows),
        Some(DriverSpec::Exact("551.61".parse().unwrap()))
    );
    assert_eq!(driver("lz4", Os::Linux), None);
}

#[test]
fn capabilities_begin_and_end_with_the_drivers_that_know_them() {
    // Open-module README tables; CUDA toolkit, driver and architecture matrix
    for (text, branch, linux, last) in [
        ("3.5", None, None, Some(470)),
        ("2.1", None, None, Some(390)),
        ("5.2", Some(352), None, Some(580)),
        ("6.1", Some(367), None, Some(580)),
        ("7.0", Some(384), None, Some(580)),
        ("7.5", Some(410), None, None),
        ("8.0", Some(450), None, None),
        ("8.6", Some(455), None, None),
        ("8.9", Some(520), Some("520.56.06"), None),
        ("9.0", Some(520), Some("520.56.06"), None),
        ("10.0", Some(570), Some("570.86.15"), None),
        ("10.3", Some(580), Some("580.82.07"), None),
        ("10.7", Some(615), None, None),
        ("12.0", Some(570), Some("570.86.16"), None),
        ("12.1", Some(580), Some("580.94.13"), None),
    ] {
        let row = tables().capability(cc(text)).unwrap();
        let first = row.first_driver.as_ref();
        let first_branch = first.and_then(|first| first.branch);
        assert_eq!(first_branch, branch.map(DriverBranch), "{text}");
        let first_linux = first.and_then(|first| first.linux.as_ref());
        assert_eq!(
            first_linux.map(ToString::to_string).as_deref(),
            linux,
            "{text}"
        );
        assert_eq!(row.last_branch, last.map(DriverBranch), "{text}");
    }
    assert_eq!(tables().capability(cc("9.9")), None);
}

#[test]
fn families_and_tegra_are_as_ptxas_and_the_programming_guide_say() {
    for (text, expected) in [
        ("10.0", &["10.0", "10.3", "10.7"][..]),
        ("10.3", &["10.3", "10.7"]),
        ("12.0", &["12.0", "12.1"]),
        ("11.0", &["11.0"]),
        ("9.0", &[]),
        ("8.0", &[]),
    ] {
        let expected: Vec<_> = expected.iter().map(|text| cc(text)).collect();
        assert_eq!(
            tables().capability(cc(text)).unwrap().family,
            expected,
            "{text}"
        );
    }
    let tegra = tables().capabilities().iter().filter(|row| row.tegra);
    let tegra: Vec<_> = tegra.map(|row| row.cc.to_string()).collect();
    assert_eq!(
        tegra,
        ["3.2", "5.3", "6.2", "7.2", "8.7", "8.8", "10.1", "11.0"]
    );
    let renamed = tables().capability(cc("10.1")).unwrap().renamed_to;
    assert_eq!(renamed, Some(cc("11.0")));
}

#[test]
fn drivers_belong_to_branches() {
    let branch = |text: &str, os| {
        let row = tables().branch_of(&text.parse().unwrap(), os);
        row.map(|row| (row.branch.0, row.cuda.to_string()))
    };
    for (driver, os, expected) in [
        ("550.54.15", Os::Linux, Some((550, "12.4"))),
        ("590.48.01", Os::Linux, Some((590, "13.1"))),
        ("616.00", Os::Linux, Some((615, "13.4"))),
        ("617.14", Os::Linux, None),
        ("551.61", Os::Linux, None),
        ("551.61", Os::Windows, Some((550, "12.4"))),
        ("528.33", Os::Windows, Some((525, "12.0"))),
        ("570.65", Os::Windows, Some((570, "12.8"))),
        ("617.14", Os::Windows, Some((615, "13.4"))),
        ("555.85", Os::Windows, Some((555, "12.5"))),
        ("472.50", Os::Windows, Some((470, "11.4"))),
        ("534.10", Os::Windows, None),
        ("700.10", Os::Linux, None),
        ("550.54.15", Os::MacOs, None),
    ] {
        let expected = expected.map(|(number, cuda)| (number, cuda.to_owned()));
        assert_eq!(branch(driver, os), expected, "{driver} {os}");
    }
    assert_eq!(tables().branches().len(), 39);
    assert!(
        tables()
            .branch(DriverBranch(580))
            .unwrap()
            .supports(cc("6.1"))
    );
    assert!(
        !tables()
            .branch(DriverBranch(590))
            .unwrap()
            .supports(cc("6.1"))
    );
}

#[test]
fn toolkits_build_for_what_they_list() {
    let toolkit = |text: &str| tables().toolkit(text.parse().unwrap());
    assert_eq!(tables().toolkits().len(), 32);
    assert!(!toolkit("12.7").unwrap().released);
    assert_eq!(
        toolkit("13.0").unwrap().default_target,
        "sm_75".parse().ok()
    );
    assert_eq!(
        toolkit("12.9").unwrap().default_target,
        "sm_52".parse().ok()
    );
    assert_eq!(toolkit("13.6"), None);
    for (target, first, last) in [
        ("sm_61", "8.0", Some("12.9")),
        ("sm_89", "11.8", None),
        ("sm_90a", "12.0", None),
        ("sm_100f", "12.9", None),
        ("sm_101", "12.8", Some("12.9")),
        ("sm_110", "13.0", None),
    ] {
        let row = tables().sm(target.parse().unwrap()).unwrap();
        assert_eq!(row.first_toolkit, first.parse().ok(), "{target}");
        assert_eq!(
            row.last_toolkit,
            last.map(|t| t.parse().unwrap()),
            "{target}"
        );
    }
}

#[test]
fn the_digest_covers_every_file() {
    let digest = tables().digest();
    assert_eq!(digest.len(), 64);
    let mut texts = Texts::BUILTIN;
    texts.libraries = texts.libraries.trim_end();
    assert_ne!(Tables::new(texts).digest(), digest);
}

#[test]
fn files_name_no_local_file_and_no_package_registry() {
    let hosts = ["pypi", "crates", "npmjs", "debian"];
    let hosts = hosts.map(|name| [format!("{name}.org"), format!("{name}.io")]);
    for text in Texts::BUILTIN.all() {
        for word in ["/work/", "/tmp/", "evidence/", "truth/"] {
            assert!(!text.contains(word), "{word}");
        }
        for host in hosts.iter().flatten() {
            assert!(!text.contains(host.as_str()), "{host}");
        }
    }
}
