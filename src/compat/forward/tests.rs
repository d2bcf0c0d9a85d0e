//! Expected values: NVIDIA's forward compatibility document (v615) and the notes of 575.57.08 and 590.44.01.

use super::*;
use crate::tables::GpuLookup;

fn tables() -> &'static Tables {
    Tables::builtin()
}

fn host(spec: &str) -> Driver<'static> {
    Driver::new(spec.parse().ok(), Os::Linux, tables())
}

fn gpu(name: &str) -> &'static GpuRow {
    match tables().gpu(name) {
        GpuLookup::Found(row) => row,
        _ => panic!("{name}"),
    }
}

fn on(package: &Package<'_>, driver: &str, name: &str) -> Forward {
    let row = gpu(name);
    let cc = row.cc[0];
    forward(package, &host(driver), cc, Some(row), tables())
}

fn named(cuda: &str, driver: &str) -> Package<'static> {
    Package {
        driver: driver.parse().ok(),
        cuda: cuda.parse().ok(),
        ..Package::default()
    }
}

fn applies(cuda: &str, branch: u32, once: bool) -> Forward {
    Forward::Applies {
        cuda: cuda.parse().unwrap(),
        branch: DriverBranch(branch),
        once,
    }
}

const HOST: Forward = Forward::Fails(ForwardFailure::Host);
const GPU: Forward = Forward::Fails(ForwardFailure::Gpu);

fn note_of_590() -> ForwardNote {
    ForwardNote::new(
        ToolkitVersion::new(13, 1),
        Some(vec![535, 550, 570, 575, 580, 590]),
        Some(vec![1, 2, 7, 8, 9, 10, 11, 12, 13, 14]),
    )
}

#[test]
fn without_a_note_the_document_decides() {
    for (cuda, driver, on_host, name, expected) in [
        (
            "12.4",
            "550.54.15",
            "535.104.05",
            "A100",
            applies("12.4", 550, false),
        ),
        (
            "12.4",
            "550.54.15",
            "R535",
            "H100",
            applies("12.4", 550, false),
        ),
        (
            "12.4",
            "550.54.15",
            "470.82.01",
            "A100",
            applies("12.4", 550, true),
        ),
        ("12.4", "550.54.15", "545.23.08", "A100", HOST),
        ("12.4", "550.54.15", "550.54.15", "A100", Forward::NotNeeded),
        ("12.4", "550.54.15", "R550", "A100", Forward::NotNeeded),
        ("12.4", "550.54.15", "580.65.06", "A100", Forward::NotNeeded),
        ("12.4", "550.54.15", "535.104.05", "RTX 4090", GPU),
        (
            "12.4",
            "550.54.15",
            "535.104.05",
            "RTX 3080 Laptop GPU",
            GPU,
        ),
        (
            "12.4",
            "550.54.15",
            "535.104.05",
            "RTX A6000",
            Forward::Unknown(ForwardUnsure::Gpu),
        ),
        (
            "13.5",
            "620.70.06",
            "580.65.06",
            "H100",
            Forward::Unknown(ForwardUnsure::Host),
        ),
        ("13.4", "", "R580", "H100", applies("13.4", 615, false)),
    ] {
        let package = named(cuda, driver);
        assert_eq!(
            on(&package, on_host, name),
            expected,
            "{cuda} on {on_host}, {name}"
        );
    }
}

#[test]
fn a_note_decides_by_branch_and_brand() {
    let note = note_of_590();
    let package = Package {
        driver: "590.44.01".parse().ok(),
        note: Some(&note),
        ..Package::default()
    };
    for (driver, name, expected) in [
        ("535.104.05", "H100", applies("13.1", 590, false)),
        ("550.54.15", "RTX A6000", applies("13.1", 590, false)),
        // an R590 that is older than the package's is in the list
        ("R575", "T4", applies("13.1", 590, false)),
        ("580.65.06", "RTX 5090", GPU),
        ("580.65.06", "TITAN RTX", GPU),
        ("565.57.01", "H100", HOST),
        ("595.44.02", "H100", Forward::NotNeeded),
        ("580.65.06", "T1000", Forward::Unknown(ForwardUnsure::Gpu)),
    ] {
        assert_eq!(on(&package, driver, name), expected, "{driver}, {name}");
    }
}

#[test]
fn a_note_without_lists_decides_nothing() {
    let note = ForwardNote::new(ToolkitVersion::new(13, 2), None, None);
    let package = Package {
        note: Some(&note),
        ..Package::default()
    };
    let expected = Forward::Unknown(ForwardUnsure::Host);
    assert_eq!(on(&package, "R580", "Jetson AGX Orin"), expected);
}

// RULES: R590 and newer no longer drive Volta
#[test]
fn a_package_that_dropped_the_gpu_fails() {
    let expected = Forward::Fails(ForwardFailure::DroppedGpu(DriverBranch(580)));
    assert_eq!(
        on(&named("13.1", "590.44.01"), "R580", "V100-SXM2-16GB"),
        expected
    );
    assert_eq!(
        on(&named("13.0", "580.65.06"), "R570", "V100-SXM2-16GB"),
        applies("13.0", 580, false)
    );
}

#[test]
fn a_package_that_is_loaded_anyway_fails_on_a_newer_host() {
    let forced = Package {
        forced: true,
        ..named("12.4", "550.54.15")
    };
    assert_eq!(on(&forced, "580.65.06", "H100"), HOST);
    assert_eq!(
        on(&forced, "535.104.05", "H100"),
        applies("12.4", 550, false)
    );
    assert_eq!(ForwardFailure::Host.error(), Some(803));
    assert_eq!(ForwardFailure::Gpu.error(), Some(804));
}

#[test]
fn what_is_not_known_is_unknown() {
    let nothing = Package::default();
    let unknown = |why| Forward::Unknown(why);
    assert_eq!(
        on(&nothing, "R535", "H100"),
        unknown(ForwardUnsure::Package)
    );
    let package = named("12.4", "550.54.15");
    let cc = ComputeCapability::new(9, 0);
    let any = Driver::new(None, Os::Linux, tables());
    let found = forward(&package, &any, cc, Some(gpu("H100")), tables());
    assert_eq!(found, unknown(ForwardUnsure::NoDriver));
    let found = forward(&package, &host("R535"), cc, None, tables());
    assert_eq!(found, unknown(ForwardUnsure::Gpu));
    let windows = Driver::new("551.61".parse().ok(), Os::Windows, tables());
    let found = forward(&package, &windows, cc, Some(gpu("H100")), tables());
    assert_eq!(found, Forward::Fails(ForwardFailure::System));
}

#[test]
fn the_user_mode_driver_is_that_of_the_package_where_it_applies() {
    let package = named("12.4", "550.54.15");
    let host = host("535.104.05");
    let lifted = user_mode(&applies("12.4", 550, false), &package, &host, tables());
    assert!(lifted.unpacks(crate::device::Coding::Zstd));
    assert!(lifted.accepts_isa("8.4".parse().ok()));
    for forward in [
        GPU,
        HOST,
        Forward::NotNeeded,
        Forward::Unknown(ForwardUnsure::Gpu),
    ] {
        let own = user_mode(&forward, &package, &host, tables());
        assert_eq!(own.spec(), host.spec());
    }
}

/// RULES.md 5, the table of NVIDIA's document (v615): C works, X does not, n/a is the branch itself. Every X of it is a
/// host that is newer than the package, which has no use for it.
const DOCUMENT: &str = "
    host 535 570 580 590 595 610 615
    13.4 C   C   C   C   C   C   n/a
    13.3 C   C   C   C   C   n/a X
    13.2 C   C   C   C   n/a X   X
    13.1 C   C   C   n/a X   X   X
    13.0 C   C   n/a X   X   X   X
    12.9 C   C   X   X   X   X   X
    12.8 C   n/a X   X   X   X   X
    12.6 C   X   X   X   X   X   X
    12.5 C   X   X   X   X   X   X
    12.4 C   X   X   X   X   X   X
    12.3 C   X   X   X   X   X   X
    12.2 n/a X   X   X   X   X   X";

#[test]
fn every_cell_of_the_document_holds_on_a_data_centre_gpu() {
    let mut lines = DOCUMENT.lines().filter(|line| !line.trim().is_empty());
    let hosts: Vec<&str> = lines.next().unwrap().split_whitespace().skip(1).collect();
    let mut cells = 0;
    for line in lines {
        let mut words = line.split_whitespace();
        let package = words.next().unwrap();
        for (host, cell) in hosts.iter().zip(words) {
            let found = on(&named(package, ""), &format!("R{host}"), "A100 80GB PCIe");
            let applies = matches!(found, Forward::Applies { once: false, .. });
            let expected = match cell {
                "C" => applies,
                "X" | "n/a" => found == Forward::NotNeeded,
                other => panic!("what is `{other}`?"),
            };
            assert!(expected, "{package} on R{host}: {found:?}");
            cells += 1;
        }
    }
    assert_eq!(cells, 84);
}
