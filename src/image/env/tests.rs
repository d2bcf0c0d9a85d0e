//! Environments of real images, and what the container toolkit makes of them.

use super::*;

fn parse(env: &[&str]) -> ImageEnv {
    ImageEnv::parse(env.iter().copied(), [], Tables::builtin())
}

fn granted(env: &[&str]) -> String {
    let names: Vec<String> = parse(env).capabilities.granted.into_iter().collect();
    names.join(",")
}

const EVERYTHING: &str = "compat32,compute,display,graphics,ngx,utility,video";

// getDriverCapabilities of nvidia-container-runtime-hook
#[test]
fn capabilities_default_as_the_hook_has_it() {
    for (env, expected) in [
        (&[][..], "compute,utility"),
        (&["NVIDIA_DRIVER_CAPABILITIES="], "compute,utility"),
        (&["CUDA_VERSION=12.4.1"], EVERYTHING),
        (
            &["CUDA_VERSION=12.4.1", "NVIDIA_DRIVER_CAPABILITIES="],
            "compute,utility",
        ),
        (
            &["CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4"],
            "compute,utility",
        ),
        (&["NVIDIA_DRIVER_CAPABILITIES=all"], EVERYTHING),
        (&["NVIDIA_DRIVER_CAPABILITIES=video,all"], EVERYTHING),
        (
            &["NVIDIA_DRIVER_CAPABILITIES=graphics, utility,"],
            "graphics,utility",
        ),
        (&["NVIDIA_DRIVER_CAPABILITIES=,"], ""),
    ] {
        assert_eq!(granted(env), expected, "{env:?}");
    }
}

#[test]
fn without_compute_there_is_no_driver_library() {
    assert!(parse(&[]).capabilities.has_compute());
    assert!(
        parse(&["NVIDIA_DRIVER_CAPABILITIES=compute,utility"])
            .capabilities
            .has_compute()
    );
    let utility = parse(&["NVIDIA_DRIVER_CAPABILITIES=utility,Compute"]).capabilities;
    assert!(!utility.has_compute());
    assert_eq!(utility.unknown, ["Compute"]);
}

#[test]
fn devices_are_void_none_all_or_listed() {
    let list = |items: &[&str]| {
        VisibleDevices::List(items.iter().map(|item| (*item).to_owned()).collect())
    };
    for (value, expected) in [
        ("void", VisibleDevices::Void),
        ("", VisibleDevices::Void),
        ("0,void", VisibleDevices::Void),
        ("none", VisibleDevices::None),
        ("all", VisibleDevices::All),
        ("0, GPU-fef8089b", list(&["0", "GPU-fef8089b"])),
    ] {
        let env = format!("NVIDIA_VISIBLE_DEVICES={value}");
        assert_eq!(parse(&[&env]).visible, expected, "{value}");
    }
    assert_eq!(parse(&[]).visible, VisibleDevices::Unset);
}

#[test]
fn cuda_versions_have_two_to_four_parts() {
    for (value, expected) in [
        ("12.8", Some("12.8")),
        ("12.4.1", Some("12.4")),
        ("12.8.0.038", Some("12.8")),
        ("13.2.1", Some("13.2")),
        ("12", None),
        ("12.8.0.038.1", None),
        ("12.8-devel", None),
        ("latest", None),
    ] {
        let found = parse(&[&format!("CUDA_VERSION={value}")]);
        let text = found.cuda_version.map(|version| version.to_string());
        assert_eq!(text.as_deref(), expected, "{value}");
        assert_eq!(found.problems.is_empty(), expected.is_some(), "{value}");
    }
}

// environment of an NGC image (12.8) and of nvidia/cuda:12.4.0-devel, as far as it speaks of GPUs
#[test]
fn images_of_nvidia_say_what_they_are() {
    let ngc = parse(&[
        "CUDA_VERSION=12.8.0.038",
        "CUDA_DRIVER_VERSION=570.86.10",
        "NVIDIA_REQUIRE_CUDA=cuda>=9.0",
        "NVIDIA_REQUIRE_JETPACK_HOST_MOUNTS=",
        "TORCH_CUDA_ARCH_LIST=9.0+PTX",
        "LD_LIBRARY_PATH=/usr/local/lib/torch/lib:/usr/local/cuda/compat/lib:/usr/local/nvidia/lib",
        "SECRET_TOKEN=x",
    ]);
    assert_eq!(ngc.built_with_driver.unwrap().to_string(), "570.86.10");
    assert_eq!(ngc.compat_folders, ["/usr/local/cuda/compat/lib"]);
    assert_eq!(ngc.torch_archs.unwrap().requests.len(), 1);
    assert_eq!(ngc.host_kind, None);
    assert!(ngc.problems.is_empty());
    let cuda = parse(&[
        "NVARCH=sbsa",
        "NV_CUDA_COMPAT_PACKAGE=cuda-compat-12-4",
        "CUDA_VERSION=12.4.0",
    ]);
    assert_eq!(cuda.compat_package, Some(ToolkitVersion::new(12, 4)));
    assert_eq!(cuda.host_kind, Some(HostKind::Sbsa));
}

#[test]
fn jetson_is_told_from_servers_of_arm() {
    let jetson = parse(&["NVIDIA_REQUIRE_JETPACK=csv-mounts=all", "NVARCH=arm64"]);
    assert_eq!(jetson.host_kind, Some(HostKind::Jetson));
    assert_eq!(
        jetson.jetson_marks,
        ["NVIDIA_REQUIRE_JETPACK=csv-mounts=all"]
    );
    let by_label = ImageEnv::parse(
        ["NVARCH=sbsa"],
        [("com.nvidia.l4t.version", "36.4.0")],
        Tables::builtin(),
    );
    assert_eq!(by_label.host_kind, Some(HostKind::Jetson));
}

#[test]
fn the_last_value_of_a_name_counts_and_other_variables_are_not_asked_for() {
    let env = parse(&["CUDA_VERSION=12.4.1", "nonsense", "CUDA_VERSION=12.8.1"]);
    assert_eq!(env.cuda_version, Some(ToolkitVersion::new(12, 8)));
    for name in ["PATH", "AWS_SECRET_ACCESS_KEY", "NVIDIA_BUILD_ID"] {
        assert!(!is_relevant(name), "{name}");
    }
    for name in ["CUDA_VERSION", "NVIDIA_REQUIRE_CUDA", "L4T_VERSION"] {
        assert!(is_relevant(name), "{name}");
    }
}
