//! What layers do to each other: every case that a runtime decides, by what a runtime would have on its disk.

use serde_json::{Value, json};

use crate::support::layer::{Layer, pax};
use crate::support_cli::{Place, library};
use crate::support_image::{
    SITE, each, hidden, inspect, inspect_layers, of_layers, paths, problems, write_layout,
};

fn code() -> Vec<u8> {
    library(&[("sm_80 sm_90", 1)])
}

/// Another library, to be told from the first by its fatbins.
fn other() -> Vec<u8> {
    library(&[("sm_80 sm_90", 2)])
}

fn gone(path: &str, layer: u64, by: u64) -> (String, u64, u64) {
    (path.to_owned(), layer, by)
}

#[test]
fn a_whiteout_takes_a_file_or_a_whole_directory_of_lower_layers_away() {
    let image = inspect_layers(&[
        Layer::new()
            .file("a/x.so", code())
            .file("a/y.so", code())
            .file("b/deep/down/z.so", code())
            .file("c/b", code()),
        Layer::new().whiteout("a/x.so").whiteout("b"),
    ]);
    assert_eq!(paths(&image), ["a/y.so", "c/b"]);
    assert_eq!(
        hidden(&image),
        [gone("a/x.so", 1, 2), gone("b/deep/down/z.so", 1, 2)]
    );
    assert_eq!(image["problems"], json!([]));
}

#[test]
fn an_opaque_directory_keeps_what_its_own_layer_has_on_either_side_of_the_marker() {
    let image = inspect_layers(&[
        Layer::new().file("d/old.so", code()).file("e.so", code()),
        Layer::new()
            .file("d/before.so", other())
            .opaque("d")
            .file("d/after.so", other()),
    ]);
    assert_eq!(paths(&image), ["d/after.so", "d/before.so", "e.so"]);
    assert_eq!(hidden(&image), [gone("d/old.so", 1, 2)]);
}

#[test]
fn a_name_that_is_taken_away_and_made_anew_in_one_layer_is_there() {
    for layer in [
        Layer::new().whiteout("a.so").file("a.so", other()),
        Layer::new().file("a.so", other()).whiteout("a.so"),
    ] {
        let image = inspect_layers(&[Layer::new().file("a.so", code()), layer]);
        assert_eq!(each(&image["libraries"], "fatbins"), ["2"]);
        assert_eq!(hidden(&image), [gone("a.so", 1, 2)]);
    }
}

#[test]
fn what_is_taken_away_and_comes_back_in_a_third_layer_is_there() {
    let image = inspect_layers(&[
        Layer::new().file("d/a.so", code()),
        Layer::new().whiteout("d"),
        Layer::new().file("d/a.so", other()),
    ]);
    assert_eq!(each(&image["libraries"], "fatbins"), ["2"]);
    assert_eq!(hidden(&image), [gone("d/a.so", 1, 2)]);
}

#[test]
fn a_file_replaced_by_text_a_directory_or_a_link_is_not_there() {
    let image = inspect_layers(&[
        Layer::new()
            .file("a.so", code())
            .file("b.so", code())
            .file("c.so", code())
            .file("d/e.so", code()),
        Layer::new()
            .file("a.so", "no library any more\n")
            .dir("b.so")
            .symlink("c.so", "nowhere")
            .file("d", "a file where a directory was"),
    ]);
    assert_eq!(paths(&image), Vec::<String>::new());
    assert_eq!(
        hidden(&image),
        ["a.so", "b.so", "c.so", "d/e.so"].map(|path| gone(path, 1, 2))
    );
    // a directory over a directory changes nothing in it
    let image = inspect_layers(&[Layer::new().file("d/e.so", code()), Layer::new().dir("d")]);
    assert_eq!(paths(&image), ["d/e.so"]);
}

#[test]
fn parents_that_are_links_in_lower_layers_are_followed() {
    let image = inspect_layers(&[
        Layer::new()
            .dir("usr/lib")
            .symlink("lib", "usr/lib")
            .symlink("abs", "/usr/lib")
            .file("usr/lib/a.so", code()),
        Layer::new()
            .file("lib/a.so", other())
            .file("abs/b.so", code()),
        Layer::new().whiteout("lib/b.so"),
    ]);
    assert_eq!(paths(&image), ["usr/lib/a.so"]);
    assert_eq!(each(&image["libraries"], "fatbins"), ["2"]);
    assert_eq!(
        hidden(&image),
        [gone("usr/lib/a.so", 1, 2), gone("abs/b.so", 2, 3)]
    );
}

#[test]
fn links_lead_to_one_file_and_do_not_make_it_two() {
    let cuda = "usr/local/cuda-12.4/targets/x86_64-linux/lib";
    let image = inspect_layers(&[
        Layer::new()
            .symlink("usr/local/cuda", "/etc/alternatives/cuda")
            .symlink("etc/alternatives/cuda", "/usr/local/cuda-12.4")
            .symlink("usr/local/cuda-12.4/lib64", "targets/x86_64-linux/lib")
            .file(&format!("{cuda}/libown.so.1.2"), code())
            .symlink(&format!("{cuda}/libown.so.1"), "libown.so.1.2")
            .symlink(&format!("{cuda}/libown.so"), "libown.so.1"),
        Layer::new()
            .dir("venv/lib")
            .symlink("venv/lib64", "lib")
            .file("usr/local/cuda/lib64/libmore.so", code())
            .file("venv/lib64/a.so", code()),
    ]);
    assert_eq!(
        paths(&image),
        [
            format!("{cuda}/libmore.so"),
            format!("{cuda}/libown.so.1.2"),
            "venv/lib/a.so".to_owned()
        ]
    );
    assert_eq!(each(&image["libraries"], "also"), ["[]", "[]", "[]"]);
    assert_eq!(image["problems"], json!([]));
}

#[test]
fn hard_links_are_one_library_with_all_its_names() {
    let image = inspect_layers(&[Layer::new()
        .file("m/a.so", code())
        .hard_link("z/b.so", "m/a.so")
        .hard_link("a/c.so", "/m/a.so")]);
    assert_eq!(paths(&image), ["a/c.so"]);
    assert_eq!(image["libraries"][0]["also"], json!(["m/a.so", "z/b.so"]));
}

#[test]
fn a_hard_link_into_a_lower_layer_outlives_the_first_name() {
    let image = inspect_layers(&[
        Layer::new().file("a.so", code()),
        Layer::new().hard_link("b.so", "a.so"),
        Layer::new().whiteout("a.so"),
    ]);
    assert_eq!(paths(&image), ["b.so"]);
    assert_eq!(image["libraries"][0]["also"], json!([]));
    assert_eq!(image["libraries"][0]["layer"], image["layers"][0]["digest"]);
    assert_eq!(hidden(&image), []);
    // and is what it was where the first name is something else then
    let image = inspect_layers(&[
        Layer::new().file("a.so", code()),
        Layer::new().hard_link("b.so", "a.so"),
        Layer::new().file("a.so", other()),
    ]);
    assert_eq!(paths(&image), ["a.so", "b.so"]);
    assert_eq!(each(&image["libraries"], "fatbins"), ["2", "1"]);
    let image = inspect_layers(&[Layer::new()
        .file("a.so", code())
        .hard_link("b.so", "a.so")
        .hard_link("c.so", "nowhere.so")]);
    assert_eq!(problems(&image)[0].0, "not-followed");
    assert!(problems(&image)[0].1.ends_with("layer 1 › c.so"), "{image}");
}

#[test]
fn a_path_that_is_twice_in_a_layer_is_a_problem_and_the_last_counts() {
    let image = inspect_layers(&[Layer::new().file("a.so", code()).file("a.so", other())]);
    assert_eq!(each(&image["libraries"], "fatbins"), ["2"]);
    assert_eq!(hidden(&image), [gone("a.so", 1, 1)]);
    let kinds = problems(&image);
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    assert_eq!(kinds[0].0, "duplicate-member");
    let place = Place::new();
    let layer = Layer::new().file("a.so", code()).file("a.so", "text");
    let input = write_layout(&place, "image", &of_layers(&[layer]));
    assert_eq!(place.check_h100(&input).status, 3);
}

#[test]
fn names_that_lead_out_stay_in_the_image_and_nothing_is_written() {
    let place = Place::new();
    let layer = Layer::new()
        .file("../../up.so", code())
        .file("/abs.so", code())
        .file("a/./b//../c.so", code())
        .file("./dot.so", code())
        .symlink("esc", "../../..")
        .file("esc/tmp/through.so", code())
        .symlink("loop", "loop")
        .file("loop/never.so", code());
    let input = write_layout(&place, "in/image", &of_layers(&[layer]));
    let image = inspect(&place, &input);
    assert_eq!(
        paths(&image),
        ["a/c.so", "abs.so", "dot.so", "tmp/through.so", "up.so"]
    );
    let kinds = problems(&image);
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    assert_eq!(kinds[0].0, "not-followed");
    assert!(kinds[0].1.ends_with("loop/never.so"), "{kinds:?}");
    let there = std::fs::read_dir(place.path()).unwrap();
    assert_eq!(there.count(), 1);
}

#[test]
fn long_names_of_either_dialect_are_whole() {
    let long = format!("{}/", "x".repeat(40)).repeat(6);
    let (gnu, of_pax) = (format!("{long}gnu.so"), format!("{long}pax.so"));
    let mut image = of_layers(&[Layer::new().file(&gnu, code())]);
    image.layers.push(pax(&of_pax, &code()));
    let place = Place::new();
    let input = write_layout(&place, "image", &image);
    assert_eq!(paths(&inspect(&place, &input)), [gnu, of_pax]);
}

#[test]
fn the_packages_of_an_image_are_those_of_the_final_file_system() {
    let status =
        "Package: libown\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.1-1\n\n";
    let list = "/.\n/usr\n/usr/lib\n/lib/libown.so.2\n";
    let layers = [
        Layer::new().dir("usr/lib").symlink("lib", "usr/lib").file(
            "var/lib/dpkg/status",
            "Package: libold\nStatus: install ok installed\nVersion: 1\n\n",
        ),
        Layer::new()
            .file("var/lib/dpkg/status", status)
            .file("var/lib/dpkg/info/libown.list", list)
            .file("lib/libown.so.2", code()),
        Layer::new()
            .installed(SITE, ("demo", "1.0"), &[("demo/_C.so", code())])
            .installed(SITE, ("gone", "3.0"), &[("gone/_C.so", code())]),
        Layer::new()
            .whiteout(&format!("{SITE}/gone"))
            .whiteout(&format!("{SITE}/gone-3.0.dist-info"))
            .file(&format!("{SITE}/demo/stray.so"), code()),
    ];
    let image = inspect_layers(&layers);
    let package = |name: &str, version: &str, manager: &str| json!({"name": name, "version": version, "manager": manager});
    let (demo, own) = (
        package("demo", "1.0", "pip"),
        package("libown", "2.1-1", "dpkg"),
    );
    assert_eq!(image["packages"], json!([demo, own]));
    let owners: Vec<(String, &Value)> = paths(&image)
        .into_iter()
        .zip(image["libraries"].as_array().unwrap())
        .map(|(path, library)| (path, &library["package"]))
        .collect();
    assert_eq!(
        owners,
        [
            ("usr/lib/libown.so.2".to_owned(), &own),
            (format!("{SITE}/demo/_C.so"), &demo),
            (format!("{SITE}/demo/stray.so"), &Value::Null),
        ]
    );
    assert_eq!(hidden(&image), [gone(&format!("{SITE}/gone/_C.so"), 3, 4)]);
}

#[test]
fn a_wheel_in_a_layer_is_read_and_gone_where_it_is_taken_away() {
    let demo = "smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/demo")
        .join(demo);
    let wheel = crate::support::read(&path);
    let at = format!("wheels/{demo}");
    let brought = Layer::new().file(&at, &wheel);
    let inner = format!("{at} › smgate_demo/libsmgate_demo.so");
    let image = inspect_layers(std::slice::from_ref(&brought));
    assert_eq!(paths(&image), std::slice::from_ref(&inner));
    let package = &image["libraries"][0]["package"];
    assert_eq!(
        (package["name"].as_str(), package["version"].as_str()),
        (Some("smgate-demo"), Some("1.0"))
    );
    let image = inspect_layers(&[brought, Layer::new().whiteout("wheels")]);
    assert_eq!(paths(&image), Vec::<String>::new());
    assert_eq!(image["packages"], json!([]));
    assert_eq!(hidden(&image), [gone(&inner, 1, 2)]);
}

#[test]
fn our_fixtures_are_the_same_in_a_layer_and_by_themselves() {
    let place = Place::new();
    let names = [
        "n130_multi.so",
        "n135_compress_all.fatbin",
        "n135_concat_rdc_lto.fatbin",
        "data_zstd_cubin.so",
    ];
    let mut layer = Layer::new();
    for name in names {
        let bytes = crate::support::fixture(name);
        place.write(&format!("tree/{name}"), &bytes);
        layer = layer.file(name, &bytes);
    }
    let input = write_layout(&place, "image", &of_layers(&[layer]).packed());
    let (image, tree) = (inspect(&place, &input), inspect(&place, "dir:tree"));
    let mut of_image = image["libraries"].clone();
    for library in of_image.as_array_mut().unwrap() {
        assert_eq!(library["layer"], image["layers"][0]["digest"]);
        library["layer"] = Value::Null;
    }
    assert_eq!(of_image.as_array().unwrap().len(), names.len());
    assert_eq!(of_image, tree["libraries"]);
}
