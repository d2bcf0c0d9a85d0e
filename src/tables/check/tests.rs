//! The embedded tables hold every invariant, and each invariant notices when it is broken.

use super::super::Texts;
use super::*;

/// What `check` says when `from` stands as `to` in the file that `file` picks.
fn broken(file: fn(&mut Texts) -> &mut &'static str, from: &str, to: &str) -> Vec<String> {
    let mut texts = Texts::BUILTIN;
    let text = file(&mut texts);
    assert!(text.contains(from), "nothing to replace: {from}");
    *text = text.replacen(from, to, 1).leak();
    Tables::new(texts).check()
}

#[track_caller]
fn assert_broken(broken: &[String], expected: &str) {
    let said = broken.iter().any(|message| message.contains(expected));
    assert!(said, "`{expected}` is not among {broken:#?}");
}

#[test]
fn the_embedded_tables_hold_every_invariant() {
    let broken = Tables::builtin().check();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn rows_are_sorted_and_unique() {
    let branch = "- {branch: R545,";
    let broken = broken(|t| &mut t.drivers, branch, "- {branch: R535,");
    assert_broken(
        &broken,
        "branches: DriverBranch(535) stands after DriverBranch(535)",
    );
}

#[test]
fn gpus_are_sorted_and_unique() {
    let broken = broken(|t| &mut t.gpus, "- {name: H200,", "- {name: H100,");
    assert_broken(&broken, "gpus: ");
}

#[test]
fn tables_are_of_one_day() {
    let broken = broken(|t| &mut t.gpus, "2026-11-29", "2026-11-30");
    assert_broken(&broken, "tables of several days");
}

#[test]
fn every_row_has_a_source() {
    let row = "min_ptx_isa: '8.0', evidence: measured, sources: ptxas";
    let bare = "min_ptx_isa: '8.0', evidence: measured, sources: ''";
    let broken = broken(|t| &mut t.archs, row, bare);
    assert_broken(&broken, "`sm_90a` has no source");
}

#[test]
fn a_doubtful_gpu_says_why() {
    let note = "confidence: low, note: 'Blackwell GB10x die; no CC source found'";
    let broken = broken(|t| &mut t.gpus, note, "confidence: low");
    assert_broken(&broken, "is doubtful and has no note");
}

#[test]
fn gpus_have_known_capabilities_and_pci_ids() {
    let gpu = "- {name: L4, cc: '8.9', class: datacenter, chips: AD104, pci: '10de:27b8'";
    let unknown = gpu.replace("8.9", "9.9").replace("27b8", "27B8");
    let broken = broken(|t| &mut t.gpus, gpu, &unknown);
    assert_broken(&broken, "GPU `L4` has an unknown capability");
    assert_broken(&broken, "GPU `L4` has a malformed PCI id");
}

#[test]
fn targets_and_toolkits_agree() {
    let row = "- {target: sm_89, first_toolkit: '11.8'";
    let broken = broken(
        |t| &mut t.archs,
        row,
        "- {target: sm_89, first_toolkit: '11.7'",
    );
    assert_broken(&broken, "toolkit `11.7` and `sm_89` contradict each other");
}

#[test]
fn targets_have_known_ptx_isa_versions() {
    let isa = "min_ptx_isa: '7.8'";
    let broken = broken(|t| &mut t.archs, isa, "min_ptx_isa: '7.9'");
    assert_broken(&broken, "`sm_89` has an unknown PTX ISA version");
}

#[test]
fn families_are_known_and_newer() {
    let family = "family: '12.0 12.1'";
    let broken = broken(|t| &mut t.archs, family, "family: '12.0 12.2'");
    assert_broken(&broken, "`12.0`: a family member is unknown or older");
}

#[test]
fn new_names_are_mutual() {
    let broken = broken(|t| &mut t.archs, "renamed_from: '10.1', ", "");
    assert_broken(&broken, "`10.1` is renamed to a row that does not say so");
}

#[test]
fn first_and_last_branches_are_those_that_list_the_capability() {
    let listed = "- {branch: R580, cuda: '13.0', cc: '5.0 5.2 6.0 6.1 7.0 ";
    let shorter = "- {branch: R580, cuda: '13.0', cc: '5.0 5.2 6.0 7.0 ";
    let broken = broken(|t| &mut t.drivers, listed, shorter);
    assert_broken(
        &broken,
        "`6.1`: the last branch is not the last that lists it",
    );
}

#[test]
fn first_drivers_are_of_their_branch() {
    let broken = broken(|t| &mut t.archs, "linux: '580.82.07'", "linux: '581.82.07'");
    assert_broken(
        &broken,
        "`10.3`: driver 581.82.07 on linux is not of its branch",
    );
}

#[test]
fn newer_branches_report_no_older_cuda_version() {
    let row = "- {branch: R560, cuda: '12.6'";
    let broken = broken(|t| &mut t.drivers, row, "- {branch: R560, cuda: '12.4'");
    assert_broken(&broken, "a newer branch reports an older CUDA version");
    assert_broken(
        &broken,
        "toolkit `12.6`: its branch reports another CUDA version",
    );
}

#[test]
fn dropped_capabilities_do_not_come_back() {
    let row = "- {branch: R590, cuda: '13.1', cc: '7.5";
    let back = "- {branch: R590, cuda: '13.1', cc: '6.1 7.5";
    let broken = broken(|t| &mut t.drivers, row, back);
    assert_broken(&broken, "`R590` lists `6.1`, which an older branch dropped");
}

#[test]
fn ends_are_months() {
    let broken = broken(|t| &mut t.drivers, "eol: '2028-06'", "eol: '2028-13'");
    assert_broken(&broken, "`R580`: the end is neither `ended` nor a month");
}

#[test]
fn number_ranges_do_not_overlap() {
    let row = "- {branch: R550, from: 551, to: 553";
    let broken = broken(
        |t| &mut t.drivers,
        row,
        "- {branch: R550, from: 551, to: 555",
    );
    assert_broken(&broken, "number ranges on windows overlap or fall");
}

#[test]
fn newer_toolkits_write_no_older_ptx() {
    let row = "- {cuda: '12.4', ptx_isa: '8.4'";
    let broken = broken(|t| &mut t.toolkits, row, "- {cuda: '12.4', ptx_isa: '8.2'");
    assert_broken(&broken, "a newer toolkit writes an older PTX ISA version");
}

#[test]
fn paired_drivers_report_the_cuda_version() {
    let row = "linux: '550.54.15', windows: '551.78'";
    let broken = broken(
        |t| &mut t.toolkits,
        row,
        "linux: '550.54.15', windows: '555.78'",
    );
    assert_broken(
        &broken,
        "toolkit `12.4`: driver 555.78 on windows reports another",
    );
}

#[test]
fn ptx_versions_rise_with_cuda_versions() {
    let row = "- {isa: '8.7', cuda: '12.8'";
    let broken = broken(|t| &mut t.toolkits, row, "- {isa: '8.7', cuda: '12.6'");
    assert_broken(
        &broken,
        "a newer PTX ISA version needs an older CUDA version",
    );
    assert_broken(
        &broken,
        "PTX ISA `8.7`: its branch reports another CUDA version",
    );
}

#[test]
fn floors_are_of_their_major_version() {
    let broken = broken(
        |t| &mut t.toolkits,
        "'525.60.13', evidence",
        "'520.60.13', evidence",
    );
    assert_broken(
        &broken,
        "the runtime floor of CUDA 12 on linux is of another major",
    );
}

#[test]
fn packages_are_normalised() {
    let row = "- {packages: bitsandbytes,";
    let broken = broken(|t| &mut t.libraries, row, "- {packages: Bits_and_bytes,");
    assert_broken(
        &broken,
        "the package name `Bits_and_bytes` is not normalised",
    );
}

#[test]
fn devices_are_sorted_and_of_known_chips() {
    let row = "- {id: '10de:2330', chip: GH100";
    let twice = broken(|t| &mut t.pci, row, "- {id: '10de:2329', chip: GH100");
    assert_broken(&twice, "PCI devices: ");
    let unknown = broken(|t| &mut t.pci, row, "- {id: '10de:2330', chip: GH999");
    assert_broken(&unknown, "`10de:2330` has an unknown chip `GH999`");
    assert_broken(&unknown, "`10de:2330` is unknown or of another chip");
}

#[test]
fn chips_agree_with_the_gpus_and_drivers_that_name_them() {
    let row = "- {chip: GH100, cc: '9.0'";
    let broken = broken(|t| &mut t.pci, row, "- {chip: GH100, cc: '10.0'");
    assert_broken(&broken, "`10de:2330` has another capability");
    assert_broken(
        &broken,
        "`NVIDIA H100 80GB HBM3` is no GPU of capability 10.0",
    );
    assert_broken(
        &broken,
        "`10de:2330`: `R525` lists it and does not support its capability",
    );
}

#[test]
fn an_unknown_chip_says_so() {
    let note = ", note: no source states its capability}";
    let broken = broken(|t| &mut t.pci, note, "}");
    assert_broken(&broken, "chip `GB112` has no capability and no note");
}

#[test]
fn instances_have_known_gpus_and_names_of_their_own() {
    let row = "match: p5en.48xlarge, gpu: NVIDIA H200, cc: '9.0'";
    let other = broken(|t| &mut t.instances, row, &row.replace("9.0", "10.0"));
    assert_broken(
        &other,
        "`aws:p5en.48xlarge`: its GPU is unknown or of another",
    );
    let shared = broken(|t| &mut t.instances, "match: 'g5.*'", "match: 'g5*.*'");
    assert_broken(&shared, "`aws:g5g.*`: `g5g.*` is of another row too");
}

#[test]
fn compatibility_packages_are_newer_than_their_hosts() {
    let row = "- {package: '13.1', branch: R590, hosts: R535 R570 R580,";
    let newer = broken(|t| &mut t.compat, row, &row.replace("R580,", "R595,"));
    assert_broken(
        &newer,
        "package `13.1`: host `R595` is unknown or not older",
    );
    let other = broken(|t| &mut t.compat, row, &row.replace("R590", "R595"));
    assert_broken(
        &other,
        "package `13.1`: its branch reports another CUDA version",
    );
}

#[test]
fn errors_are_recognised_by_their_own_texts_and_numbers() {
    let text = "texts: [named symbol not found]";
    let shared = broken(
        |t| &mut t.errors,
        text,
        "texts: [device kernel image is invalid]",
    );
    assert_broken(&shared, "is first of another row");
    let vague = broken(|t| &mut t.errors, text, "texts: ['error {n}']");
    assert_broken(
        &vague,
        "`named-symbol-not-found`: `error {n}` says too little",
    );
    let number = broken(|t| &mut t.errors, "runtime: 500 ", "runtime: 209 ");
    assert_broken(
        &number,
        "`no-kernel-image`: 209 cudaErrorNoKernelImageForDevice is of another row",
    );
}
