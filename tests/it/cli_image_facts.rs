//! What an image says of GPUs and drivers, through the real binary.

use serde_json::{Value, json};

use crate::host_note::OF_590;
use crate::support::image::Image;
use crate::support::layer::Layer;
use crate::support_cli::{Place, Run, library};
use crate::support_image::{inspect, of_layer, with_compat, write_layout};

fn check(image: &Image, gpu: &str, driver: &str) -> Run {
    let place = Place::new();
    let input = write_layout(&place, "image", image);
    let args = ["check", &input, "--target", gpu, "--driver", driver];
    place.run(&[&args[..], &["--format", "json"]].concat())
}

fn with_code() -> Image {
    of_layer(&Layer::new().file("opt/a.so", library(&[("sm_80 sm_89 sm_90", 1)])))
}

/// The finding of a code that counts.
fn finding(run: &Run, code: &str) -> Value {
    let report = run.json();
    let findings = report["findings"].as_array().unwrap();
    let mut found = findings.iter().filter(|finding| finding["code"] == code);
    let first = found
        .next()
        .unwrap_or_else(|| panic!("no {code}: {report}"));
    assert!(found.next().is_none(), "{code} twice: {report}");
    first.clone()
}

/// The list of an image of CUDA 12.8, shortened.
const REQUIRE: &str = "NVIDIA_REQUIRE_CUDA=cuda>=12.8 brand=tesla,driver>=535,driver<536 brand=nvidia,driver>=535,driver<536";

#[test]
fn requirements_that_the_driver_does_not_meet_are_denied_with_their_term() {
    let image = with_code().env(&[REQUIRE]);
    // R550 has CUDA 12.4, and the list has no term for it
    let run = check(&image, "H100", "550.54.15");
    assert_eq!(run.status, 1);
    let found = finding(&run, "driver-too-old");
    assert_eq!(found["level"], "deny");
    for text in ["`NVIDIA_REQUIRE_CUDA`", "`cuda>=12.8`", "550.54.15"] {
        let message = found["message"].as_str().unwrap();
        assert!(message.contains(text), "{message}");
    }
    // R535 stands in the list for data centre GPUs, and not for GeForce; R570 has CUDA 12.8
    for (gpu, driver, status) in [
        ("H100", "535.216.03", 0),
        ("RTX 4090", "535.216.03", 1),
        ("RTX 4090", "570.86.10", 0),
    ] {
        let run = check(&image, gpu, driver);
        assert_eq!(run.status, status, "{gpu} {driver}: {run:?}");
    }
    let off = with_code().env(&[REQUIRE, "NVIDIA_DISABLE_REQUIRE=true"]);
    assert_eq!(check(&off, "H100", "550.54.15").status, 0);
}

#[test]
fn an_image_with_code_that_asks_for_no_driver_is_a_warning() {
    let image = with_code().env(&["NVIDIA_DRIVER_CAPABILITIES=utility"]);
    let run = check(&image, "H100", "R580");
    assert_eq!(run.status, 0);
    let found = finding(&run, "driver-capability-missing");
    assert_eq!(found["level"], "warn");
    for fine in ["compute,utility", "all"] {
        let fine = format!("NVIDIA_DRIVER_CAPABILITIES={fine}");
        let run = check(&with_code().env(&[&fine]), "H100", "R580");
        assert_eq!(run.codes(), Vec::<String>::new());
    }
}

#[test]
fn architectures_that_the_environment_names_and_no_code_has_are_a_warning() {
    let image = with_code().env(&["TORCH_CUDA_ARCH_LIST=8.0 8.9 9.0 10.0+PTX"]);
    let run = check(&image, "H100", "R580");
    assert_eq!(run.status, 0);
    let message = finding(&run, "claim-mismatch")["message"].clone();
    let message = message.as_str().unwrap();
    assert!(
        message.contains("sm_100") && message.contains("compute_100"),
        "{message}"
    );
    assert!(!message.contains("sm_90"), "{message}");
    let fits = with_code().env(&["TORCH_CUDA_ARCH_LIST=8.0;8.9;9.0"]);
    assert_eq!(check(&fits, "H100", "R580").codes(), Vec::<String>::new());
}

#[test]
fn configuration_that_a_running_container_left_is_a_warning_unless_it_was_removed() {
    let path = "etc/ld.so.conf.d/00-compat-2719321054.conf";
    let mut image = of_layer(
        &Layer::new()
            .file("opt/a.so", library(&[("sm_90", 1)]))
            .file(path, "/usr/local/cuda/compat\n"),
    );
    let run = check(&image, "H100", "R580");
    let found = finding(&run, "stale-compat-config");
    assert_eq!(
        (found["level"].as_str(), found["library"].as_str()),
        (Some("warn"), Some(path))
    );
    image.layers.push(Layer::new().whiteout(path).tar());
    assert_eq!(check(&image, "H100", "R580").codes(), Vec::<String>::new());
}

#[test]
fn a_forward_compatibility_driver_lowers_what_data_centre_gpus_need_and_not_geforce() {
    let image = with_compat(OF_590);
    let place = Place::new();
    let input = write_layout(&place, "image", &image);
    let compat = &inspect(&place, &input)["config"]["compat"];
    assert_eq!(
        *compat,
        json!([{
            "path": "usr/local/cuda-13.1/compat/libcuda.so.590.44.01",
            "note": {
                "cuda": "13.1",
                "drivers": [535, 550, 570, 575, 580, 590],
                "devices": [1, 2, 7, 8, 9, 10, 11, 12, 13, 14],
            },
            "broken": null,
        }])
    );
    let mut without = with_compat(OF_590);
    without
        .layers
        .push(Layer::new().whiteout("usr/local/cuda-13.1/compat").tar());
    for (image, gpu, driver, status) in [
        (&image, "H100", "535.216.03", 0),
        (&image, "RTX 4090", "535.216.03", 1),
        // not a branch of the note
        (&image, "H100", "545.23.08", 1),
        (&image, "H100", "580.65.06", 0),
        (&image, "RTX 4090", "580.65.06", 0),
        (&without, "H100", "535.216.03", 1),
    ] {
        let run = check(image, gpu, driver);
        assert_eq!(run.status, status, "{gpu} {driver}: {run:?}");
        if status == 1 {
            assert!(
                run.codes().contains(&"driver-too-old".to_owned()),
                "{run:?}"
            );
        }
    }
    // a person is told
    let args = [
        "check",
        &input,
        "--target",
        "H100",
        "--driver",
        "535.216.03",
    ];
    let human = place.run(&args).stdout;
    assert!(
        human.contains("user-mode driver of R590 (CUDA 13.1)"),
        "{human}"
    );
}

#[test]
fn a_note_that_cannot_be_read_lowers_nothing_by_itself() {
    let place = Place::new();
    let input = write_layout(&place, "image", &with_compat(r#"{"format":1,"#));
    let compat = &inspect(&place, &input)["config"]["compat"][0];
    assert_eq!(compat["note"], Value::Null);
    assert!(compat["broken"].is_string(), "{compat}");
}

#[test]
fn what_does_not_bear_on_gpus_is_in_no_output() {
    let place = Place::new();
    let mut image = with_compat(OF_590).env(&[
        "API_KEY=hunter2-secret",
        "AWS_SECRET_ACCESS_KEY=hunter2-secret",
        "NVIDIA_API_KEY=hunter2-secret",
        "CUDA_VERSION=13.1.0",
    ]);
    image.steps = vec!["COPY a.so /opt".to_owned()];
    let input = write_layout(&place, "image", &image);
    let saved = place.run(&["inspect", "--format", "json", &input]);
    assert!(saved.stdout.contains("CUDA_VERSION=13.1.0"), "{saved:?}");
    place.write("saved.json", &saved.stdout);
    let target = ["--target", "H100", "--driver", "R535", "--verbose"];
    let check: [&[&str]; 3] = [
        &["check", &input],
        &["check", &input, "--format", "json"],
        &["check", "--inventory", "saved.json"],
    ];
    let mut runs = vec![
        saved,
        place.run(&["inspect", "--verbose", "--wasted", &input]),
    ];
    runs.extend(check.map(|args| place.run(&[args, &target].concat())));
    for run in runs {
        assert!(!run.stdout.is_empty());
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
