//! umoci's own reading of an image: what it unpacks holds the same libraries as what is read of the layers.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::support::image::{Files, Image, named};
use crate::support::layer::Layer;
use crate::support_cli::{Place, library};
use crate::support_image::{SITE, inspect, of_layers, stack};

/// Unpacks `v1` of a layout; false where umoci is not installed.
fn unpacked(place: &Place, image: &Image) -> bool {
    let mut files = Files::default();
    let manifest = named(files.image(image), "v1");
    files
        .layout(&[manifest])
        .write_to(&place.path().join("image"));
    let umoci = Command::new("umoci")
        .args(["unpack", "--rootless", "--image", "image:v1", "bundle"])
        .current_dir(place.path())
        .output();
    let Ok(output) = umoci else {
        println!("skipped: umoci is not installed");
        return false;
    };
    assert!(output.status.success(), "{output:?}");
    true
}

/// Every path with how many fatbins lie there, names of hard links among them.
fn everything(artifact: &Value) -> BTreeSet<(String, u64)> {
    let libraries = artifact["libraries"].as_array().unwrap().iter();
    libraries
        .flat_map(|library| {
            let also = library["also"].as_array().unwrap().iter();
            let paths = also.chain([&library["path"]]);
            paths.map(|path| {
                let count = library["fatbins"].as_u64().unwrap();
                (path.as_str().unwrap().to_owned(), count)
            })
        })
        .collect()
}

fn assert_same(image: &Image, count: usize) {
    let place = Place::new();
    if !unpacked(&place, image) {
        return;
    }
    let ours = inspect(&place, "oci-dir:image");
    let theirs = inspect(&place, "dir:bundle/rootfs");
    assert_eq!(everything(&ours), everything(&theirs));
    assert_eq!(everything(&ours).len(), count);
    assert_eq!(ours["packages"], theirs["packages"]);
}

fn code(count: usize) -> Vec<u8> {
    library(&[("sm_80 sm_90", count)])
}

#[test]
fn umoci_unpacks_the_same_libraries_of_a_plain_stack() {
    assert_same(&stack(), 2);
    assert_same(&stack().packed(), 2);
    assert_same(
        &stack().packing(crate::support::image::Packing::GzipMembers),
        2,
    );
}

#[test]
fn umoci_unpacks_the_same_libraries_of_layers_that_change_each_other() {
    let layers = [
        Layer::new()
            .dir("usr")
            .dir("usr/lib")
            .symlink("lib", "usr/lib")
            .symlink("usr/local/cuda", "/etc/alternatives/cuda")
            .symlink("etc/alternatives/cuda", "/usr/local/cuda-12.4")
            .dir("usr/local/cuda-12.4")
            .file("usr/lib/a.so", code(1))
            .file("opt/d/old.so", code(2))
            .file("opt/file.so", code(3))
            .file("opt/dir/in.so", code(4)),
        Layer::new()
            .installed(
                SITE,
                ("demo", "1.0"),
                &[("demo/_C.so", code(5)), ("demo/x.so", code(6))],
            )
            .file("lib/b.so", code(7))
            .hard_link("opt/hard.so", "opt/file.so")
            .hard_link("opt/hard2.so", "usr/lib/a.so")
            .file("usr/local/cuda/c.so", code(8)),
        Layer::new()
            .whiteout(&format!("{SITE}/demo/x.so"))
            .dir("opt/d")
            .file("opt/d/new.so", code(9))
            .opaque("opt/d")
            .whiteout("opt/file.so")
            .file("opt/dir", "a file now")
            .whiteout("usr/lib/a.so")
            .file("lib/a.so", code(10)),
    ];
    // a.so, b.so, c.so, _C.so, hard.so, hard2.so, new.so
    assert_same(&of_layers(&layers).packed(), 7);
}

/// Images by chance: every layer adds, replaces, links and takes away among few names.
#[test]
fn umoci_unpacks_the_same_libraries_of_images_by_chance() {
    use crate::support::Random;
    const DIRS: [&str; 4] = ["a", "a/b", "c", "c/d"];
    const NAMES: [&str; 4] = ["w.so", "x.so", "y.so", "z.so"];
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut layers = Vec::new();
        let mut brought = 1;
        for number in 0..4 {
            let mut layer = DIRS.iter().fold(Layer::new(), |layer, dir| layer.dir(dir));
            let mut used = BTreeSet::new();
            for _ in 0..6 {
                let path = format!("{}/{}", random.pick(&DIRS), random.pick(&NAMES));
                if !used.insert(path.clone()) {
                    continue;
                }
                layer = match random.below(6) {
                    0 if number > 0 => layer.whiteout(&path),
                    1 => layer.symlink(&path, "nowhere"),
                    2 => layer.file(&path, "text"),
                    _ => {
                        brought += 1;
                        layer.file(&path, code(brought))
                    }
                };
            }
            if number > 0 && random.below(3) == 0 {
                layer = layer.opaque(random.pick(&DIRS));
            }
            layers.push(layer);
        }
        let place = Place::new();
        if !unpacked(&place, &of_layers(&layers)) {
            return;
        }
        let ours = everything(&inspect(&place, "oci-dir:image"));
        let theirs = everything(&inspect(&place, "dir:bundle/rootfs"));
        assert_eq!(ours, theirs, "seed {seed}");
        assert!(!ours.is_empty());
    }
}
