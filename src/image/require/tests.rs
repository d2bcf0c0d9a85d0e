//! Requirements as both tools read them: `dsl.c` of one, `factory.go` and `property.go` of the other.

use super::*;

fn one(text: &str) -> Factor {
    let requirement = Requirement::parse("NVIDIA_REQUIRE_CUDA", text);
    assert_eq!(requirement.terms.len(), 1, "{text}");
    assert_eq!(requirement.terms[0].factors.len(), 1, "{text}");
    requirement.terms[0].factors[0].clone()
}

fn of(env: &[(&str, &str)]) -> Requirements {
    Requirements::parse(&env.iter().copied().collect())
}

#[test]
fn blanks_are_or_and_commas_are_and() {
    let requirement = Requirement::parse(
        "NVIDIA_REQUIRE_CUDA",
        "cuda>=12.8 brand=tesla,driver>=470,driver<471  ,",
    );
    let terms: Vec<(&str, usize)> = requirement
        .terms
        .iter()
        .map(|term| (term.text.as_str(), term.factors.len()))
        .collect();
    assert_eq!(
        terms,
        [("cuda>=12.8", 1), ("brand=tesla,driver>=470,driver<471", 3)]
    );
}

#[test]
fn conditions_are_property_operator_value() {
    let version =
        |property, compare, value| Test::Version(property, compare, Numbers::parse(value).unwrap());
    for (text, test) in [
        (
            "cuda>=12.8",
            version(Property::Cuda, Compare::GreaterEqual, "12.8"),
        ),
        (
            "driver<471",
            version(Property::Driver, Compare::Less, "471"),
        ),
        (
            "driver>470",
            version(Property::Driver, Compare::Greater, "470"),
        ),
        (
            "driver<=470",
            version(Property::Driver, Compare::LessEqual, "470"),
        ),
        ("arch=8.9", version(Property::Arch, Compare::Equal, "8.9")),
        (
            "arch!=3.5",
            version(Property::Arch, Compare::NotEqual, "3.5"),
        ),
    ] {
        let factor = one(text);
        assert_eq!((factor.test, factor.refused_by), (test, vec![]), "{text}");
    }
    let brand = one("brand!=GeForce").test;
    let expected = Test::Brand {
        is: false,
        brand: "geforce".to_owned(),
    };
    assert_eq!(brand, expected);
}

// dsl.c and factory.go, read line by line
#[test]
fn what_a_tool_refuses_is_said() {
    use Tool::{Cli, Runtime};
    for (text, refused_by) in [
        ("cuda", &[Cli, Runtime][..]),
        ("os=linux", &[Cli]),
        (">=12.8", &[Cli]),
        ("CUDA>=12.3", &[]),
        ("cuda>=", &[Cli, Runtime]),
        ("cuda>=12.x", &[Cli, Runtime]),
        ("cuda=>12", &[Cli, Runtime]),
        ("cuda==12.8", &[Cli, Runtime]),
        ("cuda>=v12.8", &[Cli]),
        ("cuda>=12.8.0.38", &[Runtime]),
        ("driver>=580.65.06", &[Runtime]),
        ("driver>=580.65.0", &[]),
        ("cuda!12.8", &[Runtime]),
        ("brand<tesla", &[Cli]),
        ("brand==tesla", &[Cli]),
        ("brand=", &[Cli]),
    ] {
        assert_eq!(one(text).refused_by, refused_by, "{text}");
    }
}

#[test]
fn versions_compare_by_number_at_any_length() {
    let numbers = |text| Numbers::parse(text).unwrap();
    assert!(numbers("12.8") < numbers("12.10"));
    assert!(numbers("470") < numbers("470.82.01"));
    assert_eq!(numbers("12.0"), numbers("12"));
    assert_eq!(numbers("12..8"), numbers("12.8"));
    for text in ["", ".5", "12.x", "-1", "99999999999999999999999"] {
        assert_eq!(Numbers::parse(text), None, "{text}");
    }
}

#[test]
fn all_variables_but_those_of_jetpack_are_requirements() {
    let requirements = of(&[
        ("NVIDIA_REQUIRE_CUDA", "cuda>=12.8"),
        ("NVIDIA_REQUIRE_ARCH", "arch>=8.0"),
        ("NVIDIA_REQUIRE_JETPACK", "csv-mounts=all"),
        ("NVIDIA_REQUIRE_JETPACK_HOST_MOUNTS", ""),
        ("NVIDIA_REQUIRE_EMPTY", " "),
        ("CUDA_VERSION", "12.8.1"),
    ]);
    let texts: Vec<String> = requirements.all.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "NVIDIA_REQUIRE_ARCH=arch>=8.0",
            "NVIDIA_REQUIRE_CUDA=cuda>=12.8"
        ]
    );
    assert!(!requirements.legacy);
}

#[test]
fn cuda_version_alone_implies_a_requirement() {
    for env in [
        &[("CUDA_VERSION", "12.4.1")][..],
        &[("CUDA_VERSION", "12.4.1"), ("NVIDIA_REQUIRE_CUDA", "")],
    ] {
        let requirements = of(env);
        assert!(requirements.legacy);
        assert_eq!(requirements.all[0].to_string(), "CUDA_VERSION=cuda>=12.4");
        assert!(requirements.all[0].is_implied());
    }
    // another variable does not change that
    let both = of(&[("CUDA_VERSION", "12"), ("NVIDIA_REQUIRE_ARCH", "arch>=8.0")]);
    assert_eq!(both.all.len(), 2);
    assert_eq!(both.all[1].to_string(), "CUDA_VERSION=cuda>=12.0");
    assert!(of(&[("CUDA_VERSION", "")]).all.is_empty());
}

#[test]
fn a_cuda_version_of_four_parts_is_none_to_the_tools() {
    let ngc = of(&[("CUDA_VERSION", "12.8.0.038")]);
    assert!(ngc.all[0].refused_by(Tool::Cli).next().is_some());
    let declared = of(&[
        ("CUDA_VERSION", "12.8.0.038"),
        ("NVIDIA_REQUIRE_CUDA", "cuda>=9.0"),
    ]);
    assert!(declared.all[0].refused_by(Tool::Cli).next().is_none());
}

#[test]
fn the_checks_are_off_where_go_reads_true() {
    for (value, off) in [
        ("1", true),
        ("t", true),
        ("TRUE", true),
        ("True", true),
        ("yes", false),
        ("0", false),
        ("tRUE", false),
        ("", false),
    ] {
        let requirements = of(&[
            ("NVIDIA_DISABLE_REQUIRE", value),
            ("NVIDIA_REQUIRE_CUDA", "cuda>=12.8"),
        ]);
        assert_eq!(requirements.disabled, off, "{value}");
        assert_eq!(requirements.checked().is_empty(), off, "{value}");
    }
}
