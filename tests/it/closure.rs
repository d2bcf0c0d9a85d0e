//! Whether what libraries need of NVIDIA's libraries is there, through the real binary: directories and images.

use serde_json::{Value, json};

use crate::support::elf::Elf;
use crate::support::layer::Layer;
use crate::support_cli::{Place, Run, fatbin_of};
use crate::support_image::{SITE, inspect, of_layer, write_layout};

const NAME: &str = "libcudart.so.12";
const MISSING: &str = "runtime-library-missing";

/// A library for an H100 that needs the CUDA runtime.
fn needing() -> Vec<u8> {
    Elf::new()
        .needed(NAME)
        .needed("libc.so.6")
        .section(".nv_fatbin", fatbin_of("sm_90"))
        .build()
}

/// The CUDA runtime, which has no device code.
fn runtime() -> Vec<u8> {
    Elf::new().soname(NAME).needed("libc.so.6").build()
}

/// Writes a package with one file that it lists.
fn install(place: &Place, name: &str, file: &str, content: Vec<u8>) {
    let site = "env/lib/python3.12/site-packages";
    let info = format!("{name}-1.0.dist-info");
    place.write(&format!("{site}/{file}"), content);
    place.write(
        &format!("{site}/{info}/METADATA"),
        format!("Name: {name}\nVersion: 1.0\n"),
    );
    place.write(
        &format!("{site}/{info}/RECORD"),
        format!("{file},,\n{info}/METADATA,,\n"),
    );
}

fn codes(run: &Run) -> Vec<String> {
    let report = run.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let codes = findings.filter(|finding| finding["level"] != "allow");
    codes
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect()
}

fn provided(artifact: &Value) -> Vec<Value> {
    let provided = artifact["provided"].as_array().unwrap().iter();
    provided
        .map(|one| json!([one["path"], one["soname"], one["package"]["name"]]))
        .collect()
}

#[test]
fn an_environment_lacks_what_no_package_of_it_brings() {
    let place = Place::new();
    install(&place, "pkg", "pkg/_C.so", needing());
    let run = place.check_h100("env");
    assert_eq!((run.status, codes(&run)), (1, vec![MISSING.to_owned()]));
    let file = "nvidia/cuda_runtime/lib/libcudart.so.12";
    install(&place, "nvidia-cuda-runtime-cu12", file, runtime());
    let run = place.check_h100("env");
    assert_eq!((run.status, codes(&run)), (0, Vec::new()));
    let path = format!("lib/python3.12/site-packages/{file}");
    assert_eq!(
        provided(&inspect(&place, "env")),
        [json!([path, null, "nvidia-cuda-runtime-cu12"])]
    );
}

#[test]
fn a_saved_inventory_lacks_the_same_and_an_older_one_nothing() {
    let place = Place::new();
    install(&place, "pkg", "pkg/_C.so", needing());
    let saved = place.run(&["inspect", "--format", "json", "env"]);
    let mut saved = saved.json();
    let check = |saved: &Value| {
        place.write("saved.json", saved.to_string());
        let target = ["--target", "H100", "--driver", "R580", "--format", "json"];
        let run = place.run(&[&["check", "--inventory", "saved.json"][..], &target].concat());
        codes(&run)
    };
    assert_eq!(check(&saved), [MISSING]);
    let artifact = saved["artifacts"][0].as_object_mut().unwrap();
    artifact.remove("provided");
    assert_eq!(check(&saved), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_link_has_a_name_of_its_own() {
    let place = Place::new();
    install(&place, "pkg", "pkg/_C.so", needing());
    let real = "env/lib/libcudart.so.12.8.90";
    // patched, so that only the link has the name
    place.write(real, Elf::new().build());
    let run = place.check_h100("env");
    assert_eq!(codes(&run), [MISSING]);
    let link = place.path().join("env/lib").join(NAME);
    std::os::unix::fs::symlink("libcudart.so.12.8.90", &link).unwrap();
    let run = place.check_h100("env");
    assert_eq!(codes(&run), [""; 0]);
    // one that leads nowhere has none
    std::fs::remove_file(place.path().join(real)).unwrap();
    let run = place.check_h100("env");
    assert_eq!(codes(&run), [MISSING]);
}

/// An image with a package that needs the CUDA runtime, and this.
fn image(place: &Place, change: impl FnOnce(Layer) -> Layer) -> String {
    let layer = Layer::new().installed(SITE, ("pkg", "1.0"), &[("pkg/_C.so", needing())]);
    let image = of_layer(&change(layer)).env(&["NVIDIA_VISIBLE_DEVICES=all"]);
    write_layout(place, "image", &image)
}

#[test]
fn an_image_provides_by_files_and_links_of_its_final_file_system() {
    const LIB: &str = "usr/local/cuda-12.8/lib64";
    let real = format!("{LIB}/libcudart.so.12.8.90");
    let link = format!("{LIB}/{NAME}");
    let patched = || Elf::new().build();
    let of = |change: &dyn Fn(Layer) -> Layer| {
        let place = Place::new();
        let input = image(&place, change);
        codes(&place.check_h100(&input))
    };
    assert_eq!(of(&|layer| layer), [MISSING]);
    assert_eq!(of(&|layer| layer.file(&link, runtime())), [""; 0]);
    assert_eq!(
        of(&|layer| layer.file(&real, runtime())),
        [""; 0],
        "by its SONAME"
    );
    assert_eq!(of(&|layer| layer.file(&real, patched())), [MISSING]);
    let linked = |layer: Layer| {
        let layer = layer.file(&real, patched());
        layer.symlink(&link, "libcudart.so.12.8.90")
    };
    assert_eq!(of(&linked), [""; 0]);
    let through = |layer: Layer| {
        let layer = layer.symlink("usr/local/cuda", "/usr/local/cuda-12.8");
        let layer = layer.file(&real, patched());
        layer.symlink(
            "usr/lib/libcudart.so.12",
            "../local/cuda/lib64/libcudart.so.12.8.90",
        )
    };
    assert_eq!(of(&through), [""; 0]);
    let broken = |layer: Layer| layer.symlink(&link, "libcudart.so.12.8.90");
    assert_eq!(of(&broken), [MISSING]);
    let stub = |layer: Layer| layer.file(&format!("{LIB}/stubs/{NAME}"), runtime());
    assert_eq!(of(&stub), [MISSING]);
    let hard = |layer: Layer| layer.file(&real, patched()).hard_link(&link, &real);
    assert_eq!(of(&hard), [""; 0]);
}
