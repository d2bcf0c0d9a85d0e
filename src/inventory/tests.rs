//! Scanned and saved: what is written as JSON is what is read back, and whose code is whose.

use std::path::Path;

use super::{ArtifactKind, Inventory, Library, ScanOptions, from_json, scan, to_json};
use crate::source::SourceSpec;
use crate::tables::Tables;

/// The device-code fixtures: every kind of image, file and damage.
const FIXTURES: &str = concat!("dir:", env!("CARGO_MANIFEST_DIR"), "/testdata/cuda");
const DEMO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/testdata/demo/smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl"
);

fn scanned(inputs: &[&str], threads: usize) -> Inventory {
    let specs: Vec<SourceSpec> = inputs.iter().map(|input| input.parse().unwrap()).collect();
    let options = ScanOptions {
        threads,
        ..ScanOptions::default()
    };
    scan(&specs, &options, Tables::builtin()).unwrap()
}

#[test]
fn an_inventory_is_read_back_as_it_was() {
    let mut inventory = scanned(&[FIXTURES, DEMO], 2);
    assert!(inventory.artifacts[0].libraries.len() > 100);
    assert!(!inventory.artifacts[0].problems.is_empty());
    let json = to_json(&inventory).unwrap();
    let read = from_json("x.json", &json).unwrap();
    // whose kernels they are is told by `own` and `component`
    for artifact in &mut inventory.artifacts {
        for code in artifact
            .libraries
            .iter_mut()
            .flat_map(|library| &mut library.code)
        {
            code.class.owner = None;
        }
    }
    assert_eq!(read, inventory);
    assert_eq!(to_json(&read).unwrap(), json);
}

#[test]
fn threads_find_the_same() {
    let alone = scanned(&[FIXTURES, DEMO], 1);
    for threads in [2, 7] {
        assert_eq!(scanned(&[FIXTURES, DEMO], threads), alone);
    }
}

#[test]
fn fields_that_are_not_known_yet_are_no_mistake() {
    let json = to_json(&scanned(&[DEMO], 1)).unwrap();
    let more = json.replacen("\"input\":", "\"added_later\": [1, {}], \"input\":", 1);
    assert_ne!(more, json);
    assert_eq!(
        from_json("x", &more).unwrap(),
        from_json("x", &json).unwrap()
    );
}

/// A file called `name` in a package of this name, or in none.
fn library(package: Option<&str>, name: &str) -> Library {
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda/n135_two_objs.so");
    std::fs::create_dir(site.join("lib")).unwrap();
    std::fs::copy(fixture, site.join("lib").join(name)).unwrap();
    if let Some(package) = package {
        let dist_info = site.join("p-1.0.dist-info");
        std::fs::create_dir(&dist_info).unwrap();
        std::fs::write(
            dist_info.join("METADATA"),
            format!("Name: {package}\nVersion: 1.0\n"),
        )
        .unwrap();
        std::fs::write(dist_info.join("RECORD"), format!("lib/{name},,\n")).unwrap();
    }
    let mut inventory = scanned(&[&format!("dir:{}", site.display())], 1);
    let mut artifact = inventory.artifacts.remove(0);
    assert_eq!(artifact.kind, ArtifactKind::Directory);
    assert_eq!(artifact.libraries.len(), 1);
    artifact.libraries.remove(0)
}

// SEMANTICS.md: own code only; bundled NVIDIA libraries are listed apart, also under hashed names, unless the package
// is that library.
#[test]
fn a_library_of_nvidia_is_its_own_packages_and_nobody_elses() {
    for (package, name, own, component, dispatches) in [
        (Some("torch"), "_C.so", true, None, false),
        (None, "_C.so", true, None, false),
        (
            Some("torch"),
            "libcublas.so.12",
            false,
            Some("cublas"),
            true,
        ),
        (
            Some("torch"),
            "libcublas-f6acd947.so.11",
            false,
            Some("cublas"),
            true,
        ),
        (
            None,
            "libnvjpeg.8dd2b5e6.so.12",
            false,
            Some("nvjpeg"),
            false,
        ),
        (
            Some("nvidia-cublas-cu12"),
            "libcublas.so.12",
            true,
            Some("cublas"),
            true,
        ),
        (
            Some("nvidia_cublas"),
            "libcublas.so.12",
            true,
            Some("cublas"),
            true,
        ),
        (
            Some("nvidia-cudnn-cu12"),
            "libcublas.so.12",
            false,
            Some("cublas"),
            true,
        ),
        (Some("torch"), "libnvrtc.so.12", false, Some("nvrtc"), false),
    ] {
        let library = library(package, name);
        assert!(
            library.code.iter().all(|code| code.own == own),
            "{package:?} {name}"
        );
        assert_eq!(
            library.component.as_deref(),
            component,
            "{package:?} {name}"
        );
        assert_eq!(library.dispatches, dispatches, "{package:?} {name}");
        assert_eq!(library.compiler, name.contains("nvrtc"), "{name}");
        assert_eq!(library.package.is_some(), package.is_some());
    }
}

/// A library called `name` that holds `text` behind the end of the file proper, as it is read and read back.
fn library_with(name: &str, text: &[u8]) -> Library {
    let dir = tempfile::tempdir().unwrap();
    let fixture = include_bytes!("../../testdata/cuda/n135_two_objs.so");
    let mut bytes = fixture.to_vec();
    bytes.extend(text);
    std::fs::write(dir.path().join(name), bytes).unwrap();
    let inventory = scanned(&[&format!("dir:{}", dir.path().display())], 1);
    let json = to_json(&inventory).unwrap();
    let read = from_json("x", &json).unwrap();
    let library = &inventory.artifacts[0].libraries[0];
    let again = &read.artifacts[0].libraries[0];
    assert_eq!(again.compilers, library.compilers);
    assert_eq!(again.writes_ptx, library.writes_ptx);
    library.clone()
}

const RELEASE: &[u8] = b"\0Cuda compilation tools, release 12.9, V12.9.86\0\0";

/// The compilers of a library called `name` that holds the text of CUDA 12.9's.
fn compilers(name: &str) -> Option<Vec<String>> {
    let library = library_with(name, RELEASE);
    let releases = library.compilers.iter().map(ToString::to_string);
    library.compiler.then(|| releases.collect())
}

#[test]
fn a_compiler_that_may_write_ptx_is_known_by_its_name_and_by_its_messages() {
    let both = [RELEASE, b"nvrtc: error: unrecognized option %s\n\0"].concat();
    let message = b"..nvrtc: error: invalid value\0";
    for (name, text, expected) in [
        ("libnvrtc.so.12", RELEASE, true),
        ("libnvvm.so", RELEASE, true),
        ("libnvJitLink.so.12", RELEASE, false),
        ("ptxas", RELEASE, false),
        // linked statically, as in warp 1.19.0; and what only repeats its messages
        ("warp.so", &both, true),
        ("_nvjitlinklib.so", RELEASE, false),
        ("app.so", message, false),
        // what cuDNN asks its NVRTC for is its own affair
        ("libcudnn_graph.so.9", &both, false),
    ] {
        assert_eq!(library_with(name, text).writes_ptx, expected, "{name}");
    }
}

#[test]
fn a_compiler_is_known_by_what_it_says_and_by_its_name_where_that_is_exact() {
    for (name, expected) in [
        ("ptxas", Some("12.9")),
        ("_nvjitlinklib.so", Some("12.9")),
        ("libnvJitLink.so.12", Some("12.9")),
        ("libnvrtc-builtins.so.12.8", Some("12.8 12.9")),
        ("libnvrtc-builtins.alt.so.12.8", Some("12.8 12.9")),
        ("libnvrtc-builtins-2dc4bf18.so.11.8.89", Some("11.8 12.9")),
        ("nvrtc-builtins64_128.dll", Some("12.8 12.9")),
        // 11.2 to 11.8 have one name
        ("libnvrtc.so.11.2", Some("12.9")),
        ("nvrtc64_120_0.dll", Some("12.9")),
        // NVRTC is linked into it, of 9.28.0
        ("libcudnn_graph.so.9", Some("12.9")),
        // what they name made their code, or is a tool's own release
        ("libcupti.so.12", None),
        ("libcuda.so.1", None),
        ("nvdisasm", None),
    ] {
        let expected = expected.map(|text| text.split(' ').map(str::to_owned).collect());
        assert_eq!(compilers(name), expected, "{name}");
    }
}

#[test]
fn an_inventory_without_compilers_is_read_as_one_that_knows_of_none() {
    let json = to_json(&scanned(&[DEMO], 1)).unwrap();
    let older = json.replace("\"compilers\": [],", "");
    assert_ne!(older, json);
    assert_eq!(
        from_json("x", &older).unwrap(),
        from_json("x", &json).unwrap()
    );
}

#[test]
fn a_system_package_that_is_a_library_of_nvidias_is_judged_by_it() {
    for (package, own) in [("libcublas-12-4", true), ("python3-torch-cuda", false)] {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, content: String| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        write(
            "var/lib/dpkg/status",
            format!("Package: {package}\nStatus: install ok installed\nVersion: 12.4.5.8-1\n"),
        );
        let list = format!("var/lib/dpkg/info/{package}.list");
        write(&list, "/usr/lib/libcublas.so.12\n".to_owned());
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cuda/n135_two_objs.so");
        std::fs::create_dir_all(dir.path().join("usr/lib")).unwrap();
        std::fs::copy(fixture, dir.path().join("usr/lib/libcublas.so.12")).unwrap();
        let scanned = scanned(&[&format!("dir:{}", dir.path().display())], 1);
        let json: serde_json::Value = serde_json::from_str(&to_json(&scanned).unwrap()).unwrap();
        assert_eq!(
            json["artifacts"][0]["libraries"][0]["package"],
            serde_json::json!({"name": package, "version": "12.4.5.8-1", "manager": "dpkg"})
        );
        let read = from_json("x.json", &json.to_string()).unwrap();
        assert_eq!(
            read.artifacts[0].packages[0].manager,
            Some(super::Manager::Dpkg)
        );
        let library = &scanned.artifacts[0].libraries[0];
        assert!(library.dispatches);
        assert!(library.code.iter().all(|code| code.own == own), "{package}");
    }
}
