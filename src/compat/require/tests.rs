//! Expected values are worked out by hand from the strings of `testdata/env` and the CUDA versions of branches.

use super::*;
use crate::image::ImageEnv;
use crate::tables::GpuLookup;

fn tables() -> &'static Tables {
    Tables::builtin()
}

fn requirements(env: &[&str]) -> Requirements {
    ImageEnv::parse(env.iter().copied(), [], tables()).requirements
}

/// The requirements of an image of nvidia/cuda.
fn of_image(cuda: &str) -> Requirements {
    let value = match cuda {
        "11.8" => include_str!("../../../testdata/env/11.8.txt"),
        "12.1" => include_str!("../../../testdata/env/12.1.txt"),
        "12.4" => include_str!("../../../testdata/env/12.4.txt"),
        "12.6" => include_str!("../../../testdata/env/12.6.txt"),
        "12.8" => include_str!("../../../testdata/env/12.8.txt"),
        "12.9" => include_str!("../../../testdata/env/12.9.txt"),
        "13.0" => include_str!("../../../testdata/env/13.0.txt"),
        "13.1" => include_str!("../../../testdata/env/13.1.txt"),
        "13.2" => include_str!("../../../testdata/env/13.2.txt"),
        "13.3" => include_str!("../../../testdata/env/13.3-replica.txt"),
        other => panic!("{other}"),
    };
    requirements(&[&format!("NVIDIA_REQUIRE_CUDA={}", value.trim_end())])
}

/// What a driver and a GPU by name, or by capability, answer.
fn ask(requirements: &Requirements, gpu: &str, driver: &str) -> Answer {
    with_host(gpu, driver, |host| {
        requirements_met(requirements, host, tables())
    })
}

fn with_host<T>(gpu: &str, driver: &str, then: impl FnOnce(&Host<'_>) -> T) -> T {
    let driver = Driver::new(driver.parse().ok(), Os::Linux, tables());
    let (cc, brands) = match tables().gpu(gpu) {
        GpuLookup::Found(row) => (row.cc[0], tables().brands_of(row)),
        _ => (gpu.parse().unwrap(), &[][..]),
    };
    then(&Host {
        driver: &driver,
        cc,
        brands,
    })
}

fn word(answer: &Answer) -> String {
    match answer {
        Answer::Met => "met".to_owned(),
        Answer::Unmet(unmet) => format!("{}: {}", unmet.term, unmet.accepted),
        Answer::Refused { factor, .. } => format!("refused {factor}"),
        Answer::Unknown(why) => format!("{why:?}"),
    }
}

#[test]
fn images_of_nvidia_on_data_centre_gpus() {
    for (image, gpu, driver, expected) in [
        // `cuda>=` alone: the branch of the toolkit and newer
        ("11.8", "A100", "520.61.05", "met"),
        ("12.4", "A100", "550.54.15", "met"),
        ("12.8", "H100", "570.86.10", "met"),
        ("13.2", "B200", "595.44.02", "met"),
        // the branches of the list, for Tesla and NVIDIA brands
        ("11.8", "A100", "470.82.01", "met"),
        ("11.8", "A100", "515.43.04", "met"),
        ("12.1", "A100", "525.60.13", "met"),
        ("12.4", "A100", "535.104.05", "met"),
        ("12.6", "H100", "550.54.15", "met"),
        ("12.8", "H100", "565.57.01", "met"),
        ("12.9", "T4", "535.104.05", "met"),
        ("13.0", "H100", "575.57.08", "met"),
        ("13.1", "B200", "580.65.06", "met"),
        ("13.2", "H100", "590.44.01", "met"),
        ("13.3", "H100", "535.104.05", "met"),
        // and those that are not in it
        (
            "12.4",
            "A100",
            "545.23.08",
            "cuda>=12.4: R470, R525, R535, or R550 and newer",
        ),
        (
            "12.6",
            "A100",
            "525.60.13",
            "cuda>=12.6: R470, R535, R550, or R560 and newer",
        ),
        (
            "12.8",
            "H100",
            "555.42.02",
            "cuda>=12.8: R470, R535, R550, or R560 and newer",
        ),
        (
            "12.9",
            "H100",
            "470.82.01",
            "cuda>=12.9: R535, R550, or R560 and newer",
        ),
        (
            "13.2",
            "H100",
            "550.54.15",
            "cuda>=13.2: R535, R570, or R580 and newer",
        ),
        // R450 for Tesla only, which newer drivers call an A100 no longer
        ("11.8", "A100", "450.80.02", "Brand"),
        (
            "11.8",
            "A100",
            "460.32.03",
            "cuda>=11.8: R470, or R510 and newer",
        ),
    ] {
        let answer = ask(&of_image(image), gpu, driver);
        assert_eq!(word(&answer), expected, "{image} on {gpu} with {driver}");
    }
}

#[test]
fn images_of_nvidia_leave_geforce_out_since_12_6() {
    for (image, gpu, driver, expected) in [
        ("11.8", "RTX 3090", "470.82.01", "met"),
        ("12.4", "RTX 4090", "535.104.05", "met"),
        ("12.4", "RTX 4090", "525.60.13", "met"),
        ("12.4", "TITAN RTX", "R535", "met"),
        (
            "12.6",
            "RTX 4090",
            "550.54.15",
            "cuda>=12.6: R560 and newer",
        ),
        ("12.6", "RTX 4090", "560.28.03", "met"),
        ("12.8", "RTX 5090", "570.86.16", "met"),
        (
            "12.8",
            "RTX 4090",
            "565.57.01",
            "cuda>=12.8: R570 and newer",
        ),
        ("12.8", "TITAN RTX", "R550", "cuda>=12.8: R570 and newer"),
        (
            "13.0",
            "RTX 4090",
            "575.57.08",
            "cuda>=13.0: R580 and newer",
        ),
        ("13.2", "RTX 4090", "R590", "cuda>=13.2: R595 and newer"),
        ("13.3", "RTX 4090", "R595", "cuda>=13.3: R610 and newer"),
        // workstation cards are in every list
        ("12.8", "RTX A6000", "R550", "met"),
        ("12.8", "Quadro RTX 8000", "535.104.05", "met"),
        (
            "13.2",
            "RTX PRO 6000 Blackwell Workstation Edition",
            "580.65.06",
            "met",
        ),
    ] {
        let answer = ask(&of_image(image), gpu, driver);
        assert_eq!(word(&answer), expected, "{image} on {gpu} with {driver}");
    }
}

#[test]
fn an_unknown_brand_matters_only_where_the_answer_depends_on_it() {
    for (image, driver, expected) in [
        ("12.8", "570.86.10", "met"),
        ("12.8", "550.54.15", "Brand"),
        ("12.8", "545.23.08", "cuda>=12.8: R570 and newer"),
    ] {
        let answer = ask(&of_image(image), "9.0", driver);
        assert_eq!(word(&answer), expected, "{image} with {driver}");
    }
}

#[test]
fn the_declared_minimum_is_the_lowest_that_is_accepted() {
    for (image, gpu, lowest) in [
        ("12.4", "A100", "R470"),
        ("12.8", "RTX 4090", "R570"),
        ("13.2", "H100", "R535"),
        ("13.2", "RTX 5090", "R595"),
    ] {
        let found = with_host(gpu, "", |host| accepted(&of_image(image), host, tables()));
        assert_eq!(
            found.lowest().unwrap().to_string(),
            lowest,
            "{image} on {gpu}"
        );
    }
}

#[test]
fn requirements_written_by_hand() {
    for (value, driver, expected) in [
        ("cuda>=12.8", "565.57.01", "cuda>=12.8: R570 and newer"),
        // a blank is OR, which is seldom what was meant
        ("cuda>=12.1.1 driver>=530", "R530", "met"),
        ("cuda>=12.8,driver>=570", "570.86.10", "met"),
        (
            "cuda>=12.8,driver>=570.124.06",
            "570.86.10",
            "cuda>=12.8,driver>=570.124.06: 570.124.6 and newer",
        ),
        ("driver>=570.124.06", "R570", "VersionInBranch"),
        ("driver>=570,driver<571", "R570", "met"),
        ("driver<571", "R575", "driver<571: R367"),
        ("arch>=8.0", "R570", "met"),
        ("arch>=10.0", "R570", "arch>=10.0: no driver that is known"),
        ("arch!=9.0", "R570", "arch!=9.0: no driver that is known"),
        (
            "brand=TESLA,cuda>=12.0 brand=nvidia,cuda>=12.0",
            "R570",
            "met",
        ),
        ("brand!=geforce", "R570", "met"),
        (
            "brand=geforce",
            "R570",
            "brand=geforce: no driver that is known",
        ),
        ("os=linux", "R570", "refused os=linux"),
        // it stops at the first term that holds
        ("cuda>=12.0 os=linux", "R570", "met"),
        ("cuda>=13.0 os=linux", "R570", "refused os=linux"),
        ("cuda>=9.0", "R390", "met"),
        ("cuda>=13.0", "R9999", "met"),
        ("cuda>=99.0", "R9999", "DriverUnknown"),
        ("", "R570", "met"),
    ] {
        let env = format!("NVIDIA_REQUIRE_CUDA={value}");
        let answer = ask(&requirements(&[&env]), "H100", driver);
        let found = word(&answer);
        let matches = match expected.strip_suffix("R367") {
            // the list of all older branches
            Some(start) => found.starts_with(&format!("{start}R")) && found.ends_with("or R570"),
            None => found == expected,
        };
        assert!(matches, "{value} with {driver}: {found}");
    }
}

#[test]
fn all_variables_must_be_met() {
    let both = requirements(&[
        "NVIDIA_REQUIRE_CUDA=cuda>=12.0",
        "NVIDIA_REQUIRE_ARCH=arch>=10.0",
    ]);
    let Answer::Unmet(unmet) = ask(&both, "H100", "R570") else {
        panic!();
    };
    assert_eq!(unmet.variable, "NVIDIA_REQUIRE_ARCH");
    assert_eq!(ask(&both, "B200", "R570"), Answer::Met);
    let refused = requirements(&["NVIDIA_REQUIRE_A=arch>=10.0", "NVIDIA_REQUIRE_B=gpus"]);
    assert_eq!(word(&ask(&refused, "H100", "R570")), "refused gpus");
}

#[test]
fn an_image_of_the_old_kind_needs_the_driver_of_its_toolkit() {
    let legacy = requirements(&["CUDA_VERSION=12.4.1"]);
    assert_eq!(ask(&legacy, "H100", "R550"), Answer::Met);
    assert_eq!(
        word(&ask(&legacy, "H100", "R535")),
        "cuda>=12.4: R550 and newer"
    );
    let ngc = requirements(&["CUDA_VERSION=12.8.0.038"]);
    assert_eq!(word(&ask(&ngc, "H100", "R580")), "refused cuda>=12.8");
}

#[test]
fn without_a_driver_or_with_the_checks_off_nothing_is_unmet() {
    assert_eq!(
        ask(&of_image("13.2"), "H100", ""),
        Answer::Unknown(Unsure::NoDriver)
    );
    let off = requirements(&["NVIDIA_REQUIRE_CUDA=cuda>=13.2", "NVIDIA_DISABLE_REQUIRE=1"]);
    assert_eq!(ask(&off, "H100", "R470"), Answer::Met);
}

#[test]
fn numbers_of_windows_drivers_are_compared_as_they_are() {
    let met = |value: &str, spec: &str| {
        let driver = Driver::new(spec.parse().ok(), Os::Windows, tables());
        let host = Host {
            driver: &driver,
            cc: ComputeCapability::new(8, 9),
            brands: &["geforce".to_owned()],
        };
        let env = format!("NVIDIA_REQUIRE_CUDA={value}");
        requirements_met(&requirements(&[&env]), &host, tables())
    };
    assert_eq!(met("cuda>=12.4", "551.61"), Answer::Met);
    assert_eq!(met("driver>=551", "551.61"), Answer::Met);
    assert_eq!(
        met("driver>=551", "R550"),
        Answer::Unknown(Unsure::DriverUnknown)
    );
}

// R615 has drivers whose number is 616
#[test]
fn a_branch_covers_every_number_that_is_its_own() {
    let below = requirements(&["NVIDIA_REQUIRE_CUDA=driver<616"]);
    assert_eq!(
        ask(&below, "H100", "R615"),
        Answer::Unknown(Unsure::VersionInBranch)
    );
    let below = requirements(&["NVIDIA_REQUIRE_CUDA=driver<617"]);
    assert_eq!(ask(&below, "H100", "R615"), Answer::Met);
}
