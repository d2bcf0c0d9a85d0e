//! conda packages through the real binary: as inputs, in directories and in images.

use serde_json::{Value, json};

use crate::support::image::{Entry, Image};
use crate::support::image::{gzip, layer, tar, zstd};
use crate::support_cli::{Place, library};
use crate::support_image::{inspect, write_layout};
use crate::support_zip::Zip;

/// A package under construction.
pub(crate) struct Conda {
    name: &'static str,
    index: Value,
    files: Vec<(String, Vec<u8>)>,
}

impl Conda {
    pub(crate) fn new(name: &'static str, build: &str) -> Self {
        Self {
            name,
            index: json!({
                "name": name, "version": "1.0", "build": build, "build_number": 0, "subdir": "linux-64",
                "depends": ["python >=3.12,<3.13.0a0"], "constrains": [], "license": "MIT",
            }),
            files: Vec::new(),
        }
    }

    pub(crate) fn says(mut self, field: &str, value: Value) -> Self {
        self.index[field] = value;
        self
    }

    pub(crate) fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files
            .push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    fn stem(&self) -> String {
        let build = self.index["build"].as_str().unwrap();
        format!("{}-1.0-{build}", self.name)
    }

    fn info(&self) -> (String, Entry) {
        let index = serde_json::to_vec(&self.index).unwrap();
        ("info/index.json".to_owned(), Entry::File(index))
    }

    fn members(&self) -> Vec<(String, Entry)> {
        let files = self.files.iter();
        let files = files.map(|(path, content)| (path.clone(), Entry::File(content.clone())));
        files.collect()
    }

    /// The name and the bytes of a `.conda`, as `cph` writes it.
    pub(crate) fn conda(&self) -> (String, Vec<u8>) {
        let stem = self.stem();
        let metadata = br#"{"conda_pkg_format_version": 2}"#;
        let zip = Zip::new()
            .stored("metadata.json", metadata)
            .stored(&format!("info-{stem}.tar.zst"), &zstd(&tar(&[self.info()])))
            .stored(&format!("pkg-{stem}.tar.zst"), &zstd(&tar(&self.members())));
        (format!("{stem}.conda"), zip.build())
    }

    /// The name and the bytes of a `.tar.bz2`, with its metadata at the end.
    pub(crate) fn tar_bz2(&self) -> (String, Vec<u8>) {
        let mut members = self.members();
        members.push(self.info());
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &tar(&members)).unwrap();
        (
            format!("{}.tar.bz2", self.stem()),
            encoder.finish().unwrap(),
        )
    }

    /// Both forms, written to a place.
    fn write(&self, place: &Place) -> [String; 2] {
        [self.conda(), self.tar_bz2()].map(|(name, bytes)| {
            place.write(&name, bytes);
            name
        })
    }
}

/// A package with code for A100 and H100.
fn gpu(build: &str) -> Conda {
    Conda::new("demo", build).file("lib/libdemo.so", library(&[("sm_80 sm_90", 3)]))
}

#[test]
fn a_conda_package_is_judged_as_its_code_is() {
    let place = Place::new();
    for input in gpu("cuda129_0").write(&place) {
        let run = place.check_h100(&input);
        assert_eq!((run.status, run.codes()), (0, vec![]), "{run:?}");
        let run = place.run(&["check", &input, "--target", "RTX 5090", "--driver", "R580"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stdout.contains("no-kernel-image"), "{run:?}");
        assert!(run.stdout.contains("demo 1.0"), "{run:?}");
    }
}

#[test]
fn an_inventory_of_packages_is_judged_as_they_are() {
    let place = Place::new();
    let package = gpu("cuda129_0").says("depends", json!(["__cuda >=12.9", "numpy"]));
    let [conda, bz2] = package.write(&place);
    let one = inspect(&place, &conda);
    let other = inspect(&place, &bz2);
    assert_eq!(one["kind"], "conda");
    assert_eq!(one["conda"]["driver_cuda"], "12.9");
    assert_eq!(one["conda"]["depends"], json!(["__cuda >=12.9"]));
    assert_eq!(one["packages"][0]["manager"], "conda");
    for field in [
        "kind",
        "name",
        "version",
        "platforms",
        "packages",
        "conda",
        "libraries",
    ] {
        assert_eq!(one[field], other[field], "{field}");
    }
    let saved = place.run(&["inspect", "--format", "json", &conda]).stdout;
    place.write("saved.json", saved);
    let judged = |arguments: &[&str]| {
        let options = ["--target", "H100", "--driver", "R550", "--format", "json"];
        let run = place.run(&[&["check"], arguments, &options].concat());
        let report = run.json();
        (
            run.status,
            report["findings"].clone(),
            report["matrix"].clone(),
        )
    };
    let direct = judged(&[&conda]);
    assert_eq!(direct.0, 1);
    assert_eq!(direct.1[0]["code"], "driver-too-old");
    assert_eq!(judged(&["--inventory", "saved.json"]), direct);
    // a saved inventory that was edited
    let saved = crate::support::text(&place.path().join("saved.json"));
    place.write(
        "edited.json",
        saved.replace("__cuda >=12.9", "__cuda >=12.0"),
    );
    let run = place.run(&["check", "--inventory", "edited.json", "--target", "H100"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("`driver_cuda` is 12.9"), "{run:?}");
}

#[test]
fn the_findings_of_a_package_for_people() {
    let place = Place::new();
    let (name, bytes) = gpu("cpu_generic_py312_h0_4")
        .says("depends", json!(["__cuda >=12.9"]))
        .conda();
    place.write(&name, bytes);
    let run = place.run(&["check", &name, "--target", "H100", "--driver", "R550"]);
    let out = crate::support_cli::without_digest(&run.shown());
    insta::assert_snapshot!(out, @r"
    exit 1
    --- stdout
    demo 1.0  demo-1.0-cpu_generic_py312_h0_4.conda
      FAIL        H100  needs driver R575 or newer, has R550 (the package's `__cuda >=12.9`)

    deny driver-too-old  H100
      the package's `__cuda >=12.9` needs driver R575 or newer, `H100` has R550
      next: upgrade the driver of `H100` to R575 or newer

    warn claim-mismatch
      its build string `cpu_generic_py312_h0_4` says that it is a CPU build, and it holds device code
      - device code in `lib/libdemo.so`
      next: trust the device code; ask whoever built it which of the two is meant

    FAIL: 1 denied finding, 1 warning, 2 remarks not shown (`--verbose`) (targets of the command line)
    Looked at 3 files: 1 with device code, all readable
    Tables of DAY; sha256 DIGEST
    `smgate explain driver-too-old` says more
    ");
}

#[test]
fn what_is_called_a_package_and_is_none_is_incomplete() {
    let place = Place::new();
    let (conda, bytes) = gpu("cuda129_0").conda();
    place.write(&conda, &bytes[..bytes.len() / 2]);
    place.write("page-1.0-0.conda", "<!DOCTYPE html>");
    place.write("page.tar.bz2", "<!DOCTYPE html>");
    // an artifact of which nothing was read was not judged
    for input in [&*conda, "page-1.0-0.conda", "conda:page.tar.bz2"] {
        let run = place.check_h100(input);
        assert_eq!(run.codes(), ["unreadable"], "{run:?}");
        assert_eq!(run.status, 2, "{run:?}");
    }
    let (bz2, bytes) = gpu("cuda129_0").tar_bz2();
    place.write(&bz2, &bytes[..bytes.len() - 10]);
    let run = place.check_h100(&bz2);
    assert_eq!(run.status, 3, "{run:?}");
    std::fs::create_dir(place.path().join("dir")).unwrap();
    let run = place.check_h100("conda:dir");
    assert_eq!(run.status, 2, "{run:?}");
}

/// Names of packages and paths of libraries of an artifact.
fn found(artifact: &Value) -> (Vec<String>, Vec<String>) {
    let texts = |list: &str, field: &str| {
        let items = artifact[list].as_array().unwrap().iter();
        items
            .map(|item| item[field].as_str().unwrap().to_owned())
            .collect()
    };
    (texts("packages", "name"), texts("libraries", "path"))
}

#[test]
fn a_cache_of_packages_is_read_in_a_directory_and_in_an_image() {
    let place = Place::new();
    let (conda, conda_bytes) = gpu("cuda129_0").conda();
    let (bz2, bz2_bytes) = Conda::new("other", "cuda129_1")
        .file("lib/libother.so", library(&[("sm_90", 1)]))
        .tar_bz2();
    let archive = gzip(&tar(&[(
        "opt/libloose.so".to_owned(),
        Entry::File(library(&[("sm_80", 1)])),
    )]));
    let files = [
        (format!("opt/conda/pkgs/{conda}"), conda_bytes),
        (format!("opt/conda/pkgs/{bz2}"), bz2_bytes),
        ("srv/loose.tar.gz".to_owned(), archive),
    ];
    for (name, bytes) in &files {
        place.write(&format!("tree/{name}"), bytes);
    }
    let members: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
        .collect();
    let expected = (
        vec!["demo".to_owned(), "other".to_owned()],
        vec![
            format!("opt/conda/pkgs/{conda} › lib/libdemo.so"),
            format!("opt/conda/pkgs/{bz2} › lib/libother.so"),
            "srv/loose.tar.gz › opt/libloose.so".to_owned(),
        ],
    );
    let tree = inspect(&place, "tree");
    assert_eq!(found(&tree), expected);
    assert_eq!(tree["files"]["unopened"], 0);
    let image = Image::built(&[("COPY", layer(&members))]);
    let image = inspect(&place, &write_layout(&place, "image", &image));
    assert_eq!(found(&image), expected);
    assert_eq!(image["files"]["with_device_code"], 3);
    assert!(image["problems"].as_array().unwrap().is_empty());
}
