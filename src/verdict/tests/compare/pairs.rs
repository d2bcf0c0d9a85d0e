//! What is compared with what.

use crate::inventory::{
    Artifact, ArtifactKind, Content, ImageFacts, Inventory, LockFacts, LockedPackage, NotRead,
};
use crate::inventory::{Environment, LockKind, PickStatus};
use crate::platform::{CpuArch, Os, Platform};
use crate::verdict::compare::{Compared, Comparison, Standing};

use super::super::build::{Input, dir, file, lib, so, wheel};
use super::{compared, pair};

#[test]
fn two_artifacts_of_one_package_are_compared_whatever_they_are_called() {
    let old = wheel("cupy-cuda12x", "14.0").with(so().fatbin("sm_75", 1));
    let new = wheel("cupy_cuda13x", "14.0").with(so().fatbin("sm_80", 1));
    let comparison = compared(&old, &new, "T4", "R580");
    let one = &pair(&comparison).outcomes[0];
    assert_eq!(one.package.as_deref(), Some("cupy_cuda13x"));
    assert!(one.before.is_some() && one.after.is_some());
    assert_eq!(pair(&comparison).packages.len(), 1);
    assert!(comparison.is_worse());
    let single = file("a.so").with(so().fatbin("sm_75", 1));
    let comparison = compared(&single, &new, "T4", "R580");
    assert_eq!(pair(&comparison).packages.len(), 1, "a file and a wheel");
}

#[test]
fn packages_of_directories_pair_by_their_normal_name() {
    let old = dir("old")
        .of("Torch_Vision", lib("a/_C.so").fatbin("sm_80", 1))
        .of("same", lib("s/_C.so").fatbin("sm_80", 1))
        .of("gone", lib("g/_C.so").fatbin("sm_80", 1));
    let new = dir("new")
        .of("torch-vision", lib("a/_C.so").fatbin("sm_90", 1))
        .of("same", lib("s/_C.so").fatbin("sm_80", 1))
        .of("new", lib("n/_C.so").fatbin("sm_90", 1));
    let comparison = compared(&old, &new, "A100", "R580");
    let pair = pair(&comparison);
    assert_eq!(pair.unchanged, 1);
    let names: Vec<(Option<&str>, Option<&str>)> = pair
        .packages
        .iter()
        .map(|change| {
            (
                change.before.as_ref().and_then(|side| side.name.as_deref()),
                change.after.as_ref().and_then(|side| side.name.as_deref()),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            (None, Some("new")),
            (Some("Torch_Vision"), Some("torch-vision")),
            (Some("gone"), None),
        ]
    );
    let told: Vec<String> = pair
        .outcomes
        .iter()
        .map(|outcome| {
            let verdict =
                |side: &Option<Standing>| side.as_ref().map_or("-", |side| side.verdict.id());
            let package = outcome.package.as_deref().unwrap_or_default();
            format!(
                "{package} {} {} {}",
                verdict(&outcome.before),
                verdict(&outcome.after),
                outcome.is_worse()
            )
        })
        .collect();
    // what is new and fails is worse; what failed and is gone is not
    assert_eq!(
        told,
        [
            "new - fail true",
            "same pass pass false",
            "torch-vision pass fail true",
            "gone pass - false",
        ]
    );
}

/// An image for a platform.
fn image(name: &str, platform: &str) -> Artifact {
    let mut artifact = dir("images").inventory().artifacts.remove(0);
    artifact.kind = ArtifactKind::Image;
    artifact.image = Some(Box::new(ImageFacts {
        names: vec![name.to_owned()],
        platform: Some(platform.to_owned()),
        ..ImageFacts::default()
    }));
    artifact
}

#[test]
fn artifacts_pair_by_what_tells_them_apart_and_the_rest_is_told() {
    let of = |artifacts: Vec<Artifact>| Inventory {
        artifacts,
        tables: None,
    };
    let wheels = |inputs: [Input; 2]| Input::inventory_of(inputs);
    let (amd, arm) = ("linux/amd64", "linux/arm64");
    for (name, before, after, expected) in [
        (
            "one with one",
            of(vec![image("registry.example/a:1", amd)]),
            of(vec![image("registry.example/b:2", arm)]),
            "0-0",
        ),
        (
            "by platform, in the order of the second",
            of(vec![
                image("registry.example:5000/a:1", amd),
                image("registry.example:5000/a:1", arm),
            ]),
            of(vec![
                image("registry.example:5000/a:2", arm),
                image("registry.example:5000/a:2", amd),
            ]),
            "1-0 0-1",
        ),
        (
            "one platform more",
            of(vec![image("a:1", amd)]),
            of(vec![image("a:2", amd), image("a:2", arm)]),
            "0-0 x-1",
        ),
        (
            "one platform less",
            of(vec![image("a:1", amd), image("a:1", arm)]),
            of(vec![image("a:2", arm)]),
            "1-0 0-x",
        ),
        (
            "wheels by name, the rest because it is left",
            wheels([wheel("a", "1"), wheel("b", "1")]),
            wheels([wheel("c", "2"), wheel("A", "2")]),
            "1-0 0-1",
        ),
    ] {
        let mut before = before;
        let mut after = after;
        for (index, artifact) in before.artifacts.iter_mut().enumerate() {
            artifact.input = format!("b{index}");
        }
        for (index, artifact) in after.artifacts.iter_mut().enumerate() {
            artifact.input = format!("a{index}");
        }
        let comparison = Comparison::of(&before, &after, None);
        let told: Vec<String> = comparison
            .pairs
            .iter()
            .map(|pair| {
                let side = |side: &Option<Compared>| {
                    side.as_ref().map_or("x".to_owned(), |side| {
                        side.input.trim_start_matches(['a', 'b']).to_owned()
                    })
                };
                format!("{}-{}", side(&pair.before), side(&pair.after))
            })
            .collect();
        assert_eq!(told.join(" "), expected, "{name}");
    }
}

#[test]
fn the_same_twice_has_no_change() {
    let input = dir("env")
        .of("a", lib("a/_C.so").fatbin("sm_80 sm_90", 2))
        .of("b", lib("b/_C.so").fatbin("sm_75", 1))
        .stray(lib("x.so").fatbin("sm_90", 1));
    let comparison = compared(&input, &input, "H100", "R580");
    let pair = pair(&comparison);
    assert_eq!(
        (pair.unchanged, pair.packages.len(), pair.findings.len()),
        (3, 0, 0)
    );
    assert!(!comparison.is_worse(), "b fails as before");
}

/// A lock file for a platform, with packages `NAME VERSION`.
fn lock(cpu: CpuArch, packages: &[(&str, &str)], content: Content) -> Artifact {
    let mut artifact = dir("uv.lock").inventory().artifacts.remove(0);
    artifact.kind = ArtifactKind::LockFile;
    let environment = Environment::new(Platform::new(Os::Linux, cpu));
    let mut facts = LockFacts::new(LockKind::Uv, environment);
    facts.packages = packages
        .iter()
        .map(|(name, version)| LockedPackage {
            name: (*name).to_owned(),
            version: Some((*version).to_owned()),
            line: 1,
            status: PickStatus::Wheel,
            file: None,
            content,
        })
        .collect();
    artifact.lock = Some(Box::new(facts));
    artifact
}

#[test]
fn lock_files_pair_by_environment_and_their_packages_by_name() {
    let of = |artifacts: Vec<Artifact>| Inventory {
        artifacts,
        tables: None,
    };
    let old = [("Torch", "2.8.0"), ("numpy", "2.0"), ("six", "1.0")];
    let new = [("torch", "2.9.1"), ("numpy", "2.0"), ("attrs", "1.0")];
    let read = Content::Read;
    let before = of(vec![
        lock(CpuArch::Amd64, &old, read),
        lock(CpuArch::Arm64, &old, read),
    ]);
    let after = of(vec![
        lock(CpuArch::Arm64, &old, read),
        lock(CpuArch::Amd64, &new, read),
    ]);
    let comparison = Comparison::of(&before, &after, None);
    assert!(!comparison.incomplete);
    let [arm, amd] = comparison.pairs.as_slice() else {
        panic!("{comparison:?}");
    };
    assert_eq!((arm.packages.len(), arm.unchanged), (0, 3));
    assert_eq!(amd.unchanged, 1, "numpy");
    let versions: Vec<(Option<&str>, Option<&str>)> = amd
        .packages
        .iter()
        .map(|change| {
            (
                change
                    .before
                    .as_ref()
                    .and_then(|side| side.version.as_deref()),
                change
                    .after
                    .as_ref()
                    .and_then(|side| side.version.as_deref()),
            )
        })
        .collect();
    assert_eq!(
        versions,
        [
            (None, Some("1.0")),
            (Some("2.8.0"), Some("2.9.1")),
            (Some("1.0"), None),
        ]
    );
    let offline = of(vec![lock(
        CpuArch::Amd64,
        &new,
        Content::NotRead(NotRead::Offline),
    )]);
    assert!(Comparison::of(&before, &offline, None).incomplete);
}
