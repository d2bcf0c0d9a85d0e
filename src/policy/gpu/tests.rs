//! Tests of `gpu`. Expected values: the sources of the tables of GPUs, PCI ids and instance types.

use super::*;

fn hint<T: fmt::Debug>(result: Result<T, Fault>) -> String {
    result.unwrap_err().hint.unwrap_or_default()
}

#[test]
fn gpus_are_found_by_name() {
    let tables = Tables::builtin();
    for (text, cc) in [
        ("H100", "9.0"),
        ("h100", "9.0"),
        ("B200", "10.0"),
        ("L4", "8.9"),
        ("A100", "8.0"),
        ("T4", "7.5"),
    ] {
        assert_eq!(gpu(text, tables).unwrap().cc.to_string(), cc, "{text}");
    }
}

#[test]
fn unknown_gpus_get_the_nearest_names() {
    let tables = Tables::builtin();
    assert!(
        hint(gpu("H10O", tables)).contains("H100"),
        "{:?}",
        gpu("H10O", tables)
    );
    assert_eq!(
        hint(gpu("9.0", tables)),
        "a compute capability goes into `cc`: `cc: 9.0`"
    );
    assert_eq!(hint(gpu("10de:2330", tables)), "write `pci: 10de:2330`");
    assert_eq!(
        hint(gpu("aws:p5.48xlarge", tables)),
        "write `instance: aws:p5.48xlarge`"
    );
}

#[test]
fn an_ambiguous_gpu_is_told_apart_by_capability() {
    let fault = gpu("GT 730", Tables::builtin()).unwrap_err();
    assert!(
        fault
            .message
            .ends_with("different compute capabilities: 2.1, 3.0 and 3.5"),
        "{fault:?}"
    );
    assert!(
        fault
            .hint
            .unwrap()
            .starts_with("say which one, such as `cc: 2.1`;")
    );
}

#[test]
fn capabilities_are_written_with_a_dot() {
    let tables = Tables::builtin();
    assert_eq!(
        capability("10.0", tables).unwrap().cc,
        ComputeCapability::new(10, 0)
    );
    for (text, meant) in [
        ("90", "9.0"),
        ("sm_90", "9.0"),
        ("sm_90a", "9.0"),
        ("compute_100", "10.0"),
        ("9", "9.0"),
        ("12", "12.0"),
    ] {
        assert!(
            hint(capability(text, tables)).contains(&format!("`{meant}`")),
            "{text}"
        );
    }
    for text in ["", "H100", "9.0.1", "1e1", "0x9", "９.0"] {
        assert!(
            hint(capability(text, tables)).contains("with a dot"),
            "{text}"
        );
    }
    assert!(
        capability("9.7", tables)
            .unwrap_err()
            .message
            .contains("no GPU is known")
    );
    assert_eq!(hint(capability("10.1", tables)), "write `cc: 11.0`");
}

#[test]
fn an_ambiguous_name_asks_for_the_id() {
    let tables = Tables::builtin();
    let fault = gpu("RTX 6000", tables).unwrap_err();
    let asked = fault.hint.unwrap();
    // Quadro RTX 6000 is TU102, RTX 6000 Ada Generation is AD102
    for (id, cc) in [("10de:1e30", "7.5"), ("10de:26b1", "8.9")] {
        assert!(asked.contains(&format!("`pci: {id}` is {cc}")), "{asked}");
        assert_eq!(pci(id, tables).unwrap().cc.to_string(), cc);
    }
}

#[test]
fn a_pci_id_is_read_as_tools_write_it() {
    let tables = Tables::builtin();
    for text in ["10de:2330", "0x2330", "0x233010DE"] {
        let found = pci(text, tables).unwrap();
        assert_eq!(found.cc.to_string(), "9.0", "{text}");
        assert_eq!(found.name, "NVIDIA H100 80GB HBM3", "{text}");
        assert_eq!(found.given.to_string(), format!("pci: {text}"));
    }
    // another vendor, no id, a controller of a chipset, a chip whose capability nobody states
    for (text, part) in [
        ("1002:73bf", "not a PCI id"),
        ("H100", "not a PCI id"),
        ("10de:0ab8", "no GPU"),
        ("10de:3200", "nothing tells"),
        ("10de:ffff", "no device is known"),
    ] {
        let fault = pci(text, tables).unwrap_err();
        assert!(fault.message.contains(part), "{text}: {fault:?}");
        assert!(fault.hint.is_some(), "{text}");
    }
}

#[test]
fn an_instance_type_is_its_gpus_and_its_host() {
    let tables = Tables::builtin();
    for (text, cc, platform, counts) in [
        ("aws:p5.48xlarge", "9.0", "linux/amd64", &[1, 8][..]),
        ("p5.48xlarge", "9.0", "linux/amd64", &[1, 8]),
        ("g5g.xlarge", "7.5", "linux/arm64", &[1, 2]),
        ("aws:g6e.48xlarge", "8.9", "linux/amd64", &[1, 4, 8]),
    ] {
        let found = instance(text, tables).unwrap();
        assert_eq!(found.cc.to_string(), cc, "{text}");
        assert_eq!(found.given.platform, platform.parse().ok(), "{text}");
        assert_eq!(found.given.counts, counts, "{text}");
    }
    let amd = instance("g4ad.xlarge", tables).unwrap_err();
    assert!(amd.message.contains("AMD Radeon Pro V520"), "{amd:?}");
    assert!(
        hint(instance("aws:p5.48xlarg", tables)).contains("aws:p5.48xlarge"),
        "{:?}",
        instance("aws:p5.48xlarg", tables)
    );
}

#[test]
fn the_command_line_tells_the_four_ways_apart() {
    let tables = Tables::builtin();
    for (text, key) in [
        ("H100", GpuKey::Gpu),
        ("rtx-5090", GpuKey::Gpu),
        ("nothing", GpuKey::Gpu),
        ("9.0", GpuKey::Cc),
        ("9.7", GpuKey::Cc),
        ("10de:2330", GpuKey::Pci),
        ("0x2330", GpuKey::Pci),
        ("aws:p5.48xlarge", GpuKey::Instance),
        ("p5.48xlarge", GpuKey::Instance),
    ] {
        assert_eq!(GpuKey::guess(text, tables), key, "{text}");
    }
}
