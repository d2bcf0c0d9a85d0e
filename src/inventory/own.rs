//! Whose code it is: the package's own, or a library of NVIDIA's that it carries.

use std::collections::BTreeSet;

use crate::cuda::ToolkitVersion;
use crate::device::DeviceReport;
use crate::image::{DriverFile, driver_file};
use crate::tables::{Tables, VendorRow};

use super::{Code, Library, Package, Provided};

/// The library that a scanned file is, where it matters to a gate: it holds device code, links CUDA, or is a
/// CUDA compiler.
pub(super) fn library(
    path: String,
    size: u64,
    package: Option<&Package>,
    report: DeviceReport,
    tables: &Tables,
) -> Option<Library> {
    let Role {
        vendor,
        needed_cuda,
        compilers,
        compiler,
    } = Role::of(&path, &report, tables)?;
    // A package that is this library of NVIDIA's is judged by it.
    let foreign = vendor.filter(|row| !is_package(row, package));
    let code = report.classes.into_iter().map(|class| {
        // linked statically into a library that is the package's own
        let linked = class.owner.and_then(|owner| tables.kernel_vendor(owner));
        let linked = linked.filter(|row| !is_package(row, package));
        let foreign = foreign.or(linked);
        Code {
            class,
            own: foreign.is_none(),
            component: foreign.map(component),
        }
    });
    Some(Library {
        also: Vec::new(),
        package: None,
        layer: None,
        size,
        format: report.host.format,
        machine: report.host.machine.map(str::to_owned),
        soname: report.host.soname,
        needed: report.host.needed,
        needed_cuda,
        rpath: report.host.rpath,
        runpath: report.host.runpath,
        component: vendor.map(component),
        compiler,
        writes_ptx: vendor.map_or(report.nvrtc && !compilers.is_empty(), |row| row.writes_ptx),
        compilers,
        dispatches: vendor.is_some_and(|row| row.dispatches),
        toolkits: report.toolkits.into_iter().collect(),
        code: code.collect(),
        path,
    })
}

/// Whether a scanned file of an image matters to a gate: as a library, as one that others need, or as a driver that
/// the image brings.
pub(super) fn matters(path: &str, report: &DeviceReport, tables: &Tables) -> bool {
    matches!(driver_file(path), Some(DriverFile::Compat(_)))
        || is_provided(path, report, tables)
        || Role::of(path, report, tables).is_some()
}

/// The library of NVIDIA's that a scanned file is, where others can need it by name; of no package yet.
pub(super) fn provided(path: &str, report: &DeviceReport, tables: &Tables) -> Option<Provided> {
    is_provided(path, report, tables).then(|| {
        let soname = report.host.soname.clone();
        let soname = soname.filter(|soname| soname != file_name(path));
        Provided::new(path, soname, None)
    })
}

fn is_provided(path: &str, report: &DeviceReport, tables: &Tables) -> bool {
    let soname = report.host.soname.as_deref().unwrap_or_default();
    report.host.format.is_linked()
        && (provides(path, tables) || provides(&at_its_place(path, soname), tables))
}

/// Whether the name of a file or a link is that of a shared library of NVIDIA's that other libraries need. A stub is
/// there to link against, and is never loaded; what lies in an archive that is not unpacked is not either.
pub(super) fn provides(path: &str, tables: &Tables) -> bool {
    let name = file_name(path);
    let is_shared = name.contains(".so") || name.to_ascii_lowercase().ends_with(".dll");
    let lies_aside = path.split('/').rev().skip(1).any(|part| part == "stubs");
    let is_packed = path.contains(" › ");
    is_shared && !lies_aside && !is_packed && tables.vendor(name).is_some_and(|vendor| !vendor.host)
}

/// The path of a file of another name beside that at `path`.
fn at_its_place(path: &str, name: &str) -> String {
    let dir = path.len() - file_name(path).len();
    format!("{}{name}", path.get(..dir).unwrap_or_default())
}

/// What a file that matters to a gate is.
struct Role<'t> {
    vendor: Option<&'t VendorRow>,
    needed_cuda: Vec<String>,
    compilers: Vec<ToolkitVersion>,
    compiler: bool,
}

impl<'t> Role<'t> {
    fn of(path: &str, report: &DeviceReport, tables: &'t Tables) -> Option<Self> {
        let file_name = file_name(path);
        let vendor = tables.vendor(file_name);
        let needed = report.host.needed.iter();
        let needed_cuda: Vec<String> = needed
            .filter(|name| tables.vendor(name).is_some())
            .cloned()
            .collect();
        let compilers = compilers(file_name, vendor, report);
        let compiler = vendor.is_some_and(|row| row.compiler) || !compilers.is_empty();
        let matters = report.has_device_code() || !needed_cuda.is_empty() || compiler;
        matters.then_some(Self {
            vendor,
            needed_cuda,
            compilers,
            compiler,
        })
    }
}

/// The releases of the compilers in a file, ascending. Other libraries of NVIDIA's hold the text too: CUPTI and
/// drivers for what they load, nvdisasm as the tool that it is; cuDNN and `TensorRT` for NVRTC in them.
fn compilers(
    file_name: &str,
    vendor: Option<&VendorRow>,
    report: &DeviceReport,
) -> Vec<ToolkitVersion> {
    if vendor.is_some_and(|row| !row.compiler && !row.may_compile) {
        return Vec::new();
    }
    let named = vendor
        .filter(|_| report.host.format.is_linked())
        .and_then(|_| named_release(file_name));
    let found: BTreeSet<ToolkitVersion> = report.compilers.iter().copied().chain(named).collect();
    found.into_iter().collect()
}

/// The release in the name of a part of NVRTC that is of just one: `libnvrtc-builtins.so.12.8`, with a hash behind
/// `builtins` or a longer version where a wheel bundles it; `nvrtc-builtins64_128.dll`.
fn named_release(file_name: &str) -> Option<ToolkitVersion> {
    if let Some(rest) = file_name.strip_prefix("libnvrtc-builtins") {
        let (_, version) = rest.split_once(".so.")?;
        let mut parts = version.splitn(3, '.');
        return format!("{}.{}", parts.next()?, parts.next()?).parse().ok();
    }
    let number = file_name.strip_prefix("nvrtc-builtins64_")?;
    let number: u32 = number.strip_suffix(".dll")?.parse().ok()?;
    (100..1000)
        .contains(&number)
        .then(|| ToolkitVersion::from_tenfold(number))
}

fn is_package(row: &VendorRow, package: Option<&Package>) -> bool {
    package.is_some_and(|package| row.is_package(&package.name))
}

fn component(row: &VendorRow) -> String {
    row.component.clone()
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
