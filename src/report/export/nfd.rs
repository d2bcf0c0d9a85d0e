//! An image compatibility specification of Node Feature Discovery (NFD), version `v1alpha1`.
//!
//! The form is that of the Go types: `Spec` and `Compatibility` of `api/image-compatibility/v1alpha1/spec.go`,
//! `GroupRule` and `FeatureMatcherTerm` of `api/nfd/v1alpha1/types.go`, in
//! <https://github.com/kubernetes-sigs/node-feature-discovery>; what is attached to an image and how is in
//! `docs/usage/image-compatibility.md`. Only features that NFD's own sources give are used, as "Available features"
//! of `docs/usage/customization-guide.md` lists them: `pci.device` (`vendor`, `class` and `device`, four hexadecimal
//! digits each) and `kernel.loadedmodule` (names only). No source of NFD's has the version of a module, a driver or
//! CUDA, a compute capability, or the CPU architecture; labels of NVIDIA's GPU feature discovery are labels of the
//! node, and reach NFD's `local` source only where they are written to its feature files. So none of these is asked.

use std::io::{self, Write};

use crate::cuda::ComputeCapability;
use crate::export::{Needs, RequireCuda};
use crate::inventory::Inventory;
use crate::platform::Os;
use crate::tables::Tables;

use super::super::text::listed;
use super::{comment, not_read, nothing_found, visible};

/// NVIDIA's PCI vendor id.
const VENDOR: &str = "10de";
/// A device id that no GPU has.
const NO_DEVICE: &str = "0000";
/// PCI classes of GPUs: VGA controllers and 3D controllers.
const CLASSES: &str = "\"0300\", \"0302\"";
/// Ids on a line.
const IDS_PER_LINE: usize = 10;

/// Writes one document for each artifact.
pub(super) fn write(
    inventory: &Inventory,
    needs: &[Needs],
    tables: &Tables,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, (artifact, needs)) in inventory.artifacts.iter().zip(needs).enumerate() {
        if index > 0 {
            writeln!(out, "---")?;
        }
        let platform = artifact.image.as_ref();
        let platform = platform.and_then(|image| image.platform.as_deref());
        write_one(needs, platform, tables, out)?;
    }
    Ok(())
}

fn write_one(
    needs: &Needs,
    platform: Option<&str>,
    tables: &Tables,
    out: &mut dyn Write,
) -> io::Result<()> {
    let required = RequireCuda::of(needs, None, tables);
    let capabilities: Vec<ComputeCapability> = needs.covered().map(|on| on.cc).collect();
    let ids = ids_of(&capabilities, tables);
    let of_gpu = needs.has_device_code && needs.os == Os::Linux;
    let ids = if needs.runs_nowhere() && !needs.is_incomplete() {
        vec![NO_DEVICE.to_owned()]
    } else {
        ids
    };
    let title = match platform {
        Some(platform) => format!("{} ({platform})", needs.title),
        None => needs.title.clone(),
    };
    for line in header(needs, &required, &title, of_gpu && ids.is_empty()) {
        out.write_all(comment(&line).as_bytes())?;
    }
    writeln!(out, "version: v1alpha1")?;
    if !needs.is_of_cuda() || needs.os != Os::Linux || (of_gpu && ids.is_empty()) {
        // an empty list asks nothing of a node
        return writeln!(out, "compatibilities: []");
    }
    let on_pci = |cc: &&ComputeCapability| !ids_of(&[**cc], tables).is_empty();
    let named: Vec<String> = capabilities
        .iter()
        .filter(on_pci)
        .map(ToString::to_string)
        .collect();
    let description = if of_gpu && named.is_empty() {
        "CUDA code that runs on no known GPU".to_owned()
    } else if of_gpu {
        format!("CUDA code for compute capability {}", named.join(", "))
    } else {
        "a CUDA driver".to_owned()
    };
    writeln!(out, "compatibilities:")?;
    writeln!(out, "- description: \"{}\"", visible(&description))?;
    writeln!(out, "  rules:")?;
    writeln!(out, "  - name: \"kernel driver of NVIDIA\"")?;
    writeln!(out, "    matchFeatures:")?;
    writeln!(out, "    - feature: kernel.loadedmodule")?;
    writeln!(out, "      matchExpressions:")?;
    writeln!(out, "        nvidia: {{op: Exists}}")?;
    let name = if of_gpu {
        "GPU that there is code for"
    } else {
        "GPU of NVIDIA"
    };
    writeln!(out, "  - name: \"{name}\"")?;
    writeln!(out, "    matchFeatures:")?;
    writeln!(out, "    - feature: pci.device")?;
    writeln!(out, "      matchExpressions:")?;
    writeln!(out, "        vendor: {{op: In, value: [\"{VENDOR}\"]}}")?;
    writeln!(out, "        class: {{op: In, value: [{CLASSES}]}}")?;
    if of_gpu {
        writeln!(out, "        device:")?;
        writeln!(out, "          op: In")?;
        writeln!(out, "          value: [")?;
        for line in ids.chunks(IDS_PER_LINE) {
            let quoted: Vec<String> = line.iter().map(|id| format!("\"{id}\"")).collect();
            writeln!(out, "            {},", quoted.join(", "))?;
        }
        writeln!(out, "          ]")?;
    }
    Ok(())
}

/// The device ids of GPUs of these capabilities, as NFD prints them.
fn ids_of(capabilities: &[ComputeCapability], tables: &Tables) -> Vec<String> {
    let rows = tables.pci_rows();
    let covered = rows.filter(|row| row.gpu && row.cc.is_some_and(|cc| capabilities.contains(&cc)));
    let ids = covered.map(|row| row.id.to_string());
    ids.filter_map(|id| Some(id.split_once(':')?.1.to_owned()))
        .collect()
}

/// What the document says, and what it cannot say.
fn header(needs: &Needs, required: &RequireCuda, title: &str, no_ids: bool) -> Vec<String> {
    let mut lines = vec![title.to_owned()];
    lines.extend(not_read(needs));
    if needs.os != Os::Linux {
        lines.push("it is for Windows, and NFD looks at Linux nodes: nothing is asked".to_owned());
        return lines;
    }
    if !needs.is_of_cuda() {
        lines.push(nothing_found(needs, "nothing is asked"));
        return lines;
    }
    if needs.runs_nowhere() && !no_ids {
        lines.push(format!(
            "its code runs on no GPU that the tables know: no node has the device {NO_DEVICE}, so that none matches"
        ));
        return lines;
    }
    if no_ids {
        lines.push(
            "its code runs on no GPU whose PCI id is known (Tegra GPUs have none): nothing is asked, and this \
             document does not say that it runs"
                .to_owned(),
        );
    }
    let mut drivers: Vec<String> = Vec::new();
    for part in &required.parts {
        if let Some(floor) = &part.floor {
            drivers.push(format!("{} on {part}", floor.driver));
        }
    }
    let drivers = match drivers.as_slice() {
        [] => String::new(),
        drivers => format!(" (at least {})", listed(drivers)),
    };
    lines.push(format!(
        "not asked, because no feature source of NFD has it: the version of the driver{drivers}, and the CPU \
         architecture; `kernel.loadedmodule` has names of modules only"
    ));
    lines.push(
        "not asked: labels of GPU feature discovery (`nvidia.com/cuda.driver-version.*`), which `nfd compat` sees only \
         where they are in feature files of the `local` source"
            .to_owned(),
    );
    if needs.has_device_code && !no_ids {
        lines.push(
            "GPUs are told by PCI device ids, as the tables know them: one that is newer than the tables does not \
             match, and a node matches where one of its GPUs does"
                .to_owned(),
        );
    }
    lines
}
