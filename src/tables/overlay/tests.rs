//! Overlays: what they add, and what is refused.

use super::*;
use crate::cuda::DriverBranch;
use crate::platform::Os;
use crate::tables::{ForwardCompat, GpuLookup, InstanceLookup};

/// A GPU, its chip and device, a driver and its toolkit that are not out yet.
const NEXT: &str = "\
sources:
  brief: 'a briefing that is not public'
gpus:
- {name: Example X100, cc: '13.0', class: datacenter, chips: GX100, pci: '10de:fff0', sources: brief}
sm:
- {target: sm_130, first_toolkit: '14.0', min_ptx_isa: '10.0', evidence: unverified, sources: brief}
capabilities:
- {cc: '13.0', examples: Example (X100), first_driver: {branch: R700, evidence: unverified, source: brief}, sources: brief}
branches:
- {branch: R700, cuda: '14.0', cc: '9.0 13.0', evidence: unverified, sources: brief}
toolkits:
- {cuda: '14.0', ptx_isa: '10.0', branch: R700, cudart: libcudart.so.14, released: false, evidence: unverified, sources: brief}
ptx:
- {isa: '10.0', cuda: '14.0', branch: R700, evidence: unverified, sources: brief}
runtime_floors:
- {major: 14, os: linux, driver: R700, evidence: unverified, source: brief}
chips:
- {chip: GX100, cc: '13.0', evidence: unverified, sources: brief}
devices:
- {id: '10de:fff0', chip: GX100, sources: brief}
";

fn refused(text: &str) -> String {
    let error = Tables::with_overlay("next.yaml", text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    error.to_string()
}

#[test]
fn rows_of_an_overlay_are_found_beside_the_embedded_ones() {
    // every capability that R620 lists but 9.0 would end with it
    let listing = "7.5 8.0 8.6 8.9 9.0 10.0 10.3 10.7 12.0 12.1 13.0";
    let text = NEXT.replace("cc: '9.0 13.0'", &format!("cc: '{listing}'"));
    let tables = Tables::with_overlay("next.yaml", &text).unwrap();
    match tables.gpu("NVIDIA example x100") {
        GpuLookup::Found(row) => assert_eq!(row.sources, ["a briefing that is not public"]),
        other => panic!("{other:?}"),
    }
    let device = tables.pci("10de:fff0").unwrap();
    assert_eq!(device.cc, Some("13.0".parse().unwrap()));
    let floor = tables.runtime_floor(14, Os::Linux).unwrap();
    assert_eq!(floor.driver.to_string(), "R700");
    assert_eq!(tables.branches().last().unwrap().branch, DriverBranch(700));
    assert!(matches!(tables.gpu("H100"), GpuLookup::Found(_)));
    assert_eq!(tables.pci("10de:2330").unwrap().chip, "GH100");
    let overlay = tables.overlay().unwrap();
    assert_eq!(
        (overlay.origin.as_str(), overlay.rows().count()),
        ("next.yaml", 9)
    );
    assert!(tables.is_overlaid(Table::Gpus, &"Example X100"));
    assert!(!tables.is_overlaid(Table::Gpus, &"H100"));
    assert_ne!(tables.digest(), Tables::builtin().digest());
    assert!(Tables::builtin().overlay().is_none());
}

#[test]
fn a_row_with_the_key_of_an_embedded_row_replaces_it() {
    let count = Tables::builtin().gpus().len();
    let text =
        "sources: {own: a label}\ngpus:\n- {name: H100, cc: '9.0', class: other, sources: own}\n";
    let tables = Tables::with_overlay("own.yaml", text).unwrap();
    assert_eq!(tables.gpus().len(), count);
    match tables.gpu("H100") {
        GpuLookup::Found(row) => assert_eq!(row.class, crate::tables::GpuClass::Other),
        other => panic!("{other:?}"),
    }
}

#[test]
fn mistakes_are_told_with_line_and_column() {
    for (text, place, what) in [
        (
            "gpus:\n- {name: X, cc: '9.0', class: other, colour: red, sources: own}\n",
            "line 2",
            "colour",
        ),
        (
            "gpus:\n- {name: X, cc: '9', class: other, sources: own}\n",
            "line 2",
            "9",
        ),
        (
            "gpus:\n- {name: X, class: other, sources: own}\n",
            "line 2",
            "cc",
        ),
        ("gpu: []\n", "line 1", "gpu"),
        ("gpus: []\ngpus: []\n", "line 2", "gpus"),
        ("gpus: [\n", "line", ""),
        (
            "gpus:\n- {name: X, cc: '9.0', class: other, sources: own}\n",
            "line 2, column 3",
            "`own`",
        ),
        (
            "sources: {own: x y}\ngpus:\n- {name: X, cc: '9.0', class: other, sources: own}\n- {name: X, cc: '9.0', class: other, sources: own}\n",
            "line 4, column 3",
            "twice",
        ),
        // invariants, over the whole
        (
            "sources: {own: x y}\ngpus:\n\n- {name: X, cc: '6.6', class: other, sources: own}\n",
            "line 4, column 3",
            "unknown capability",
        ),
        (
            "sources: {own: x y}\nbranches:\n- {branch: R700, cuda: '13.5', cc: '9.0', evidence: docs, sources: own}\n",
            "",
            "last branch",
        ),
    ] {
        let message = refused(text);
        assert!(
            message.starts_with("tables `next.yaml`: ")
                && message.contains(place)
                && message.contains(what)
                && !message.contains('\n'),
            "{text}: {message}"
        );
    }
    for empty in ["", "{}", "sources: {}", "# nothing\n"] {
        assert!(
            refused(empty).contains("no row"),
            "{empty}: {}",
            refused(empty)
        );
    }
}

#[test]
fn an_overlay_that_forgets_a_row_is_refused() {
    for list in ["sm:", "capabilities:", "branches:", "ptx:", "chips:"] {
        let listing = "7.5 8.0 8.6 8.9 9.0 10.0 10.3 10.7 12.0 12.1 13.0";
        let text = NEXT.replace("cc: '9.0 13.0'", &format!("cc: '{listing}'"));
        let (before, behind) = text.split_once(&format!("\n{list}\n")).unwrap();
        let (_, behind) = behind.split_once('\n').unwrap();
        let without = format!("{before}\n{behind}");
        if list == "sm:" {
            // a capability without a target is known of old chips too
            assert!(Tables::with_overlay("next.yaml", &without).is_ok());
        } else {
            assert!(!refused(&without).is_empty(), "{list}");
        }
    }
}

#[test]
fn every_list_of_the_tables_can_be_extended() {
    let listing = "7.5 8.0 8.6 8.9 9.0 10.0 10.3 10.7 12.0 12.1 13.0";
    let text = NEXT.replace("cc: '9.0 13.0'", &format!("cc: '{listing}'"));
    let text = format!(
        "{text}\
linux:
- {{branch: R700, from: 701, to: 701, evidence: unverified, sources: brief}}
windows:
- {{branch: R620, from: 620, to: 699, evidence: unverified, sources: brief}}
- {{branch: R700, from: 700, evidence: unverified, sources: brief}}
instances:
- {{provider: lab, match: 'box-*', gpu: Example X100, cc: '13.0', platform: linux/amd64, evidence: unverified, sources: brief}}
packages:
- {{package: '14.0', branch: R700, hosts: R615, evidence: unverified, sources: brief}}
"
    );
    let tables = Tables::with_overlay("next.yaml", &text).unwrap();
    let branch = |version: &str, os| {
        let version = version.parse().unwrap();
        tables
            .branch_of(&version, os)
            .map(|row| row.branch.to_string())
    };
    assert_eq!(branch("701.01.02", Os::Linux).as_deref(), Some("R700"));
    assert_eq!(branch("650.10", Os::Windows).as_deref(), Some("R620"));
    assert_eq!(branch("712.34", Os::Windows).as_deref(), Some("R700"));
    match tables.instance("lab:box-8") {
        InstanceLookup::Found(row) => assert_eq!(row.cc, Some("13.0".parse().unwrap())),
        other => panic!("{other:?}"),
    }
    let package = "14.0".parse().unwrap();
    assert_eq!(
        tables.forward_compat(package, DriverBranch(615)),
        ForwardCompat::Supported
    );
    let mut lists: Vec<Table> = tables
        .overlay()
        .unwrap()
        .rows()
        .map(|(list, _)| list)
        .collect();
    lists.dedup();
    assert_eq!(lists.len(), 13, "{lists:?}");
}
