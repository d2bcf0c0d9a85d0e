//! What can be named: directories, archives inside others, source distributions, and nothing at all.

use crate::support_cli::{Place, library, simple, wheel};
use crate::support_zip::Zip;

#[test]
fn a_directory_has_a_row_for_every_package_with_device_code() {
    let place = Place::new();
    let site = "env/lib/python3.12/site-packages";
    for (name, version, images) in [
        ("good", "1.0", "sm_80 sm_90"),
        ("bad", "2.0", "sm_70 sm_80"),
    ] {
        place.write(&format!("{site}/{name}/_C.so"), library(&[(images, 2)]));
        let dist_info = format!("{site}/{name}-{version}.dist-info");
        place.write(
            &format!("{dist_info}/METADATA"),
            format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"),
        );
        place.write(
            &format!("{dist_info}/RECORD"),
            format!("{name}/_C.so,,\n{name}-{version}.dist-info/METADATA,,\n"),
        );
    }
    place.write(
        &format!("{site}/pure-3.0.dist-info/METADATA"),
        "Name: pure\nVersion: 3.0\n",
    );
    place.write(&format!("{site}/pure-3.0.dist-info/RECORD"), "");
    place.write(&format!("{site}/stray.so"), library(&[("sm_90", 1)]));
    // a wheel in a directory is a wheel
    let nested = simple("nested", &[("sm_90", 1)]);
    place.write(&format!("env/dist/{}", nested.file_name()), nested.build());
    let run = place.check_h100("env");
    assert_eq!(run.status, 1, "{run:?}");
    let rows: Vec<(Option<String>, String)> = run.json()["matrix"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let package = row["package"].as_str().map(str::to_owned);
            (package, row["verdict"].as_str().unwrap().to_owned())
        })
        .collect();
    let row = |name: Option<&str>, verdict: &str| (name.map(str::to_owned), verdict.to_owned());
    assert_eq!(
        rows,
        [
            row(Some("bad"), "fail"),
            row(Some("good"), "pass"),
            row(Some("nested"), "pass"),
            row(None, "pass")
        ]
    );
}

#[test]
fn archives_inside_a_wheel_are_judged_with_it() {
    let place = Place::new();
    let inner = Zip::new()
        .deflated("deep/x.so", &library(&[("sm_70 sm_80", 3)]))
        .build();
    let input = wheel("outer", "1.0")
        .member("outer/data.bin", inner)
        .write(&place);
    let run = place.check_h100(&input);
    assert_eq!(run.status, 1, "{run:?}");
    let library = run.json()["findings"][0]["library"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(library, "outer/data.bin › deep/x.so");
    // a wheel in a wheel is a package of its own
    let inner = simple("inner", &[("sm_70 sm_80", 3)]);
    let name = format!("outer/{}", inner.file_name());
    let input = wheel("outer2", "1.0")
        .member(&name, inner.build())
        .write(&place);
    let run = place.check_h100(&input);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(run.json()["findings"][0]["package"], "inner");
}

#[test]
fn a_source_distribution_is_told_to_be_built() {
    let place = Place::new();
    let mut tar = vec![0_u8; 512];
    let name = b"flash_attn-2.8.3/setup.py";
    tar[..name.len()].copy_from_slice(name);
    tar[100..107].copy_from_slice(b"0000644");
    tar[124..135].copy_from_slice(b"00000000000");
    tar[156] = b'0';
    tar[148..156].fill(b' ');
    let sum: u32 = tar.iter().map(|byte| u32::from(*byte)).sum();
    tar[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    tar.extend([0; 1024]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &tar).unwrap();
    place.write("flash_attn-2.8.3.tar.gz", gzip.finish().unwrap());
    let run = place.check_h100("flash_attn-2.8.3.tar.gz");
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.codes(), ["built-at-install"]);
    // another compressed file is no source distribution, and nothing of it was seen
    let packed = std::fs::read_dir(place.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::copy(&packed, place.path().join("weights.tar.gz")).unwrap();
    let run = place.check_h100("weights.tar.gz");
    assert_eq!((run.status, run.codes()), (0, vec![]), "{run:?}");
    // of a kind that is not opened
    place.write("weights.tar.xz", b"\xfd7zXZ\0\0\x04");
    let run = place.check_h100("weights.tar.xz");
    assert_eq!(
        (run.status, run.codes()),
        (3, vec!["unreadable".to_owned()]),
        "{run:?}"
    );
}

#[test]
fn nothing_to_judge_is_no_pass() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("empty")).unwrap();
    let run = place.run(&["check", "empty", "--target", "H100"]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 2
    --- stderr
    error: there is no file in `empty`
      next: name the directory that holds the packages, such as `site-packages`
    ");
    let run = place.run(&["inspect", "empty"]);
    assert_eq!(run.status, 2, "inspect ends as check does: {run:?}");
    assert!(run.stderr.contains("there is no file in `empty`"));
    place.write(
        "none.json",
        r#"{"schema":"smgate/inspect/1","artifacts":[]}"#,
    );
    let run = place.run(&["check", "--inventory", "none.json", "--target", "H100"]);
    insta::assert_snapshot!(run.shown(), @r"
    exit 2
    --- stderr
    error: the inventory `none.json` holds no artifact
      next: write one with `smgate inspect --format json INPUT... > FILE`
    ");
}
