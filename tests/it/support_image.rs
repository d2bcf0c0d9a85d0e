//! What the tests of images share: an image, the forms in which people have it, and what is the same in all of them.

// Several modules use a part each.
#![allow(dead_code, reason = "helpers of several modules")]

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::host_note::{OF_590, SECTION, note};
use crate::support::elf::Elf;
use crate::support::fatbin::{Entry, fatbin};
use crate::support::image::{Files, INDEX, Image, Packing, digest, gzip, hex, named, on};
use crate::support::layer::Layer;
use crate::support_cli::{Place, Run, library};

/// Where Python packages of the images are installed.
pub(crate) const SITE: &str = "usr/lib/python3.12/site-packages";

/// A system, a package on it, and a step that takes a library of the package away and brings one of no package.
pub(crate) fn stack() -> Image {
    let system = Layer::new()
        .dir("usr")
        .dir("usr/lib")
        .symlink("lib", "usr/lib")
        .file("etc/os-release", "ID=debian\n");
    let package = Layer::new().installed(
        SITE,
        ("demo", "1.0"),
        &[
            ("demo/_C.so", library(&[("sm_80 sm_90", 3)])),
            ("demo/old.so", library(&[("sm_70 sm_75", 2)])),
        ],
    );
    let change = Layer::new()
        .whiteout(&format!("{SITE}/demo/old.so"))
        .file("opt/tool.so", library(&[("sm_80 compute_80@8.0", 1)]));
    Image::built(&[
        ("ADD rootfs /", system.tar()),
        ("RUN pip install demo", package.tar()),
        ("RUN make tool", change.tar()),
    ])
}

/// An image of one layer.
pub(crate) fn of_layer(layer: &Layer) -> Image {
    of_layers(std::slice::from_ref(layer))
}

/// An image of these layers, with steps `COPY 0 /` and so on.
pub(crate) fn of_layers(layers: &[Layer]) -> Image {
    let mut image = Image::of(&[]);
    image.layers = layers.iter().map(Layer::tar).collect();
    image
}

/// Code of CUDA 13 with its runtime, and the user-mode driver of a `cuda-compat-13-1` package with this note.
pub(crate) fn with_compat(text: &str) -> Image {
    let entries = ["sm_89", "sm_90"].map(|target| Entry::plain_cubin(target, (13, 0)));
    let code = Elf::new()
        .needed("libcudart.so.13")
        .section(".nv_fatbin", fatbin(&entries));
    let driver = Elf::new().soname("libcuda.so.1").notes(SECTION, note(text));
    let runtime = Elf::new().soname("libcudart.so.13");
    let cuda = "usr/local/cuda-13.1";
    let compat = format!("{cuda}/compat");
    of_layer(
        &Layer::new()
            .file("opt/a.so", code.build())
            .file(&format!("{cuda}/lib64/libcudart.so.13"), runtime.build())
            .file(&format!("{compat}/libcuda.so.590.44.01"), driver.build())
            .symlink(&format!("{compat}/libcuda.so.1"), "libcuda.so.590.44.01")
            .symlink("usr/local/cuda", "cuda-13.1"),
    )
}

/// An image with everything that only images have, and a layer that is elsewhere.
pub(crate) fn rare() -> Files {
    let mut image = with_compat(OF_590).env(&["NVIDIA_REQUIRE_CUDA=cuda>=13.0"]);
    image.layers.extend(stack().layers);
    let more = Layer::new()
        .hard_link("opt/other/b.so", "opt/a.so")
        .file(
            "etc/ld.so.conf.d/00-compat-1.conf",
            "/usr/local/cuda/compat\n",
        )
        .file("usr/local/cuda-13.2/compat/libcuda.so.595.10", {
            Elf::new().notes(SECTION, note("{")).build()
        });
    let elsewhere = Layer::new().file("windows", "not for us");
    image.layers.extend([more.tar(), elsewhere.tar()]);
    let mut files = Files::default();
    let config = files.json(&image.config(), crate::support::image::CONFIG);
    let mut stored = image.stored();
    let (elsewhere, media_type) = stored.pop().unwrap();
    let mut layers: Vec<Value> = stored
        .iter()
        .map(|(bytes, media_type)| files.blob(bytes, media_type))
        .collect();
    layers.push(json!({
        "mediaType": media_type,
        "digest": digest(&elsewhere),
        "size": elsewhere.len(),
        "urls": ["https://layers.example/1"],
    }));
    let manifest = on(files.manifest(&config, &layers), &image.platform());
    files.layout(&[named(manifest, "1.0")])
}

/// A layout that holds one image without a name.
pub(crate) fn layout(image: &Image) -> Files {
    let mut files = Files::default();
    let manifest = files.image(image);
    files.layout(&[manifest])
}

/// Writes an image as a layout.
pub(crate) fn write_layout(place: &Place, name: &str, image: &Image) -> String {
    layout(image).write_to(&place.path().join(name));
    format!("oci-dir:{name}")
}

/// What skopeo's `dir:` writes.
fn skopeo_dir(image: &Image) -> Files {
    let mut blobs = Files::default();
    let manifest = blobs.image(image);
    let path = manifest["digest"].as_str().unwrap();
    let path = path.replace("sha256:", "blobs/sha256/");
    let manifest = blobs.get(&path).clone();
    blobs.remove(&path);
    let mut files = Files::default();
    for (name, entry) in blobs.members {
        let name = name.trim_start_matches("blobs/sha256/").to_owned();
        files.members.push((name, entry));
    }
    files.add("manifest.json", manifest);
    files.add("version", "Directory Transport Version: 1.1\n");
    files
}

/// What `docker save` of the containerd image store writes: an index in the index, in which another platform and an
/// attestation are named and not there.
fn containerd(image: &Image) -> Files {
    let mut files = Files::default();
    let own = on(files.image(image), &image.platform());
    let absent = |content: &str| json!({"mediaType": crate::support::image::MANIFEST, "digest": digest(content.as_bytes()), "size": 7});
    let arm = on(
        absent("arm64"),
        &json!({"os": "linux", "architecture": "arm64"}),
    );
    let mut attestation = on(
        absent("attestation"),
        &json!({"os": "unknown", "architecture": "unknown"}),
    );
    attestation["annotations"] = json!({"vnd.docker.reference.type": "attestation-manifest"});
    let index = files.index(&[own, arm, attestation]);
    let mut index = named(index, "29");
    index["annotations"]["io.containerd.image.name"] = json!("docker.io/lab/x:29");
    assert_eq!(index["mediaType"], INDEX);
    let saved = Files::docker_25(image, &["lab/x:29"]);
    files.layout(&[index]).docker(&[saved])
}

/// Every form in which one image may come, as arguments; those that are archives also as bytes.
pub(crate) fn forms(place: &Place, image: &Image) -> Vec<(String, Option<Vec<u8>>)> {
    let mut forms = Vec::new();
    for (number, packing) in Packing::ALL.into_iter().enumerate() {
        let image = image.clone().packing(packing);
        forms.push((
            write_layout(place, &format!("layout{number}"), &image),
            None,
        ));
    }
    let docker = image.clone().docker();
    forms.push((write_layout(place, "docker-types", &docker), None));
    let gzipped = image.clone().packed();
    skopeo_dir(&gzipped).write_to(&place.path().join("skopeo-dir"));
    forms.push(("skopeo-dir".to_owned(), None));

    let mut archive = |name: &str, scheme: &str, bytes: Vec<u8>| {
        place.write(name, &bytes);
        forms.push((name.to_owned(), Some(bytes)));
        forms.push((format!("{scheme}:{name}"), None));
    };
    archive("oci.tar", "oci-archive", layout(&gzipped).tar());
    let mut last = layout(&gzipped);
    last.members.reverse();
    let index = last
        .members
        .iter()
        .position(|(name, _)| name == "index.json");
    let index = last.members.remove(index.unwrap());
    last.members.push(index);
    for (name, _) in &mut last.members {
        *name = format!("./{name}");
    }
    archive("index-last.tar", "oci-archive", last.tar());
    let mut files = Files::default();
    let saved = files.docker_24(image, &["lab/x:24", "lab/x:alias"]);
    let docker_24 = files.docker(&[saved]).tar();
    archive("docker-24.tar.gz", "docker-archive", gzip(&docker_24));
    archive("docker-24.tar", "docker-archive", docker_24);
    let docker_25 = layout(image).docker(&[Files::docker_25(image, &["lab/x:25"])]);
    archive("docker-25.tar", "docker-archive", docker_25.tar());
    archive("containerd.tar", "oci-archive", containerd(&gzipped).tar());
    let mut files = Files::default();
    let saved = files.skopeo(image, &["docker.io/lab/x:1"]);
    for layer in &image.layers {
        let old = hex(format!("v1 {}", hex(layer)).as_bytes());
        files.link(
            &format!("{old}/layer.tar"),
            &format!("../{}.tar", hex(layer)),
        );
    }
    archive("skopeo.tar", "docker-archive", files.docker(&[saved]).tar());
    forms
}

/// Runs the binary with bytes on standard input.
pub(crate) fn run_with(place: &Place, args: &[&str], input: &[u8]) -> Run {
    let mut command = place.command(args);
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // who has read enough closes it
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Run {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// `inspect --format json` of one input; the first artifact.
pub(crate) fn inspect(place: &Place, input: &str) -> Value {
    let run = place.run(&["inspect", "--format", "json", input]);
    run.json()["artifacts"][0].clone()
}

/// `inspect` of an image of these layers.
pub(crate) fn inspect_layers(layers: &[Layer]) -> Value {
    let place = Place::new();
    let input = write_layout(&place, "image", &of_layers(layers));
    inspect(&place, &input)
}

/// The strings of a field of a list of objects.
pub(crate) fn each(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|item| match &item[field] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect()
}

/// The paths of the libraries.
pub(crate) fn paths(artifact: &Value) -> Vec<String> {
    each(&artifact["libraries"], "path")
}

/// The kinds of the problems, each with its place.
pub(crate) fn problems(artifact: &Value) -> Vec<(String, String)> {
    let kinds = each(&artifact["problems"], "kind");
    kinds
        .into_iter()
        .zip(each(&artifact["problems"], "at"))
        .collect()
}

/// `(path, layer, taken away by)` of what is shipped and never used.
pub(crate) fn hidden(artifact: &Value) -> Vec<(String, u64, u64)> {
    let files = artifact["hidden"].as_array().unwrap().iter();
    files
        .map(|file| {
            (
                file["path"].as_str().unwrap().to_owned(),
                file["layer"].as_u64().unwrap(),
                file["removed_by"].as_u64().unwrap(),
            )
        })
        .collect()
}
