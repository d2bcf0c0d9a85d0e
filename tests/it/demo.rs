//! The wheel of the demonstration is what its policy and the README tell of it.

use std::collections::BTreeMap;
use std::path::Path;

use rawzip::ZipArchive;
use sha2::{Digest as _, Sha256};
use smgate::limits::read_capped;

use crate::support::{expect, images, read, scan, toolkits};

const WHEEL: &str = "testdata/demo/smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl";

/// The members of the wheel, unpacked.
fn members() -> BTreeMap<String, Vec<u8>> {
    let wheel = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(WHEEL));
    assert!(wheel.len() < 128 << 10);
    let archive = ZipArchive::from_slice(&wheel[..]).unwrap();
    let mut members = BTreeMap::new();
    for record in archive.entries() {
        let record = record.unwrap();
        let name = String::from_utf8(record.file_path().as_ref().to_vec()).unwrap();
        let entry = archive.get_entry(record.wayfinder()).unwrap();
        let inflated = flate2::read::DeflateDecoder::new(entry.data());
        let (content, more) = read_capped(inflated, 1 << 20).unwrap();
        assert!(!more, "{name}");
        members.insert(name, content);
    }
    members
}

#[test]
fn the_demo_wheel_has_machine_code_for_sm_80_and_sm_86_and_no_ptx() {
    let report = scan(&members()["smgate_demo/libsmgate_demo.so"]);
    assert_eq!(images(&report), expect(["cubin sm_80", "cubin sm_86"]));
    assert_eq!(toolkits(&report), ["13.5"]);
    assert_eq!(report.host.soname.as_deref(), Some("libsmgate_demo.so"));
    assert_eq!(report.host.needed, [""; 0]);
    let [class] = &report.classes[..] else {
        panic!("{report:?}")
    };
    assert!(
        class.images.iter().all(|image| !image.key.empty),
        "it has kernels"
    );
    assert_eq!(report.problems, []);
}

/// The digest as RECORD writes it: URL-safe Base64 without padding.
fn digest(content: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::from("sha256=");
    for chunk in Sha256::digest(content).chunks(3) {
        let mut three = [0; 4];
        three[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(three);
        for letter in 0..=chunk.len() {
            let index = usize::try_from(bits >> (18 - 6 * letter) & 63).unwrap();
            text.push(LETTERS[index].into());
        }
    }
    text
}

#[test]
fn the_record_of_the_demo_wheel_lists_every_member_with_its_digest() {
    let members = members();
    let record = String::from_utf8(members["smgate_demo-1.0.dist-info/RECORD"].clone()).unwrap();
    let rows: BTreeMap<&str, &str> = record
        .lines()
        .map(|line| line.split_once(',').unwrap())
        .collect();
    assert_eq!(rows.len(), members.len());
    for (name, content) in &members {
        let own = name.ends_with("RECORD");
        let expected = if own {
            ",".to_owned()
        } else {
            format!("{},{}", digest(content), content.len())
        };
        assert_eq!(rows[name.as_str()], expected, "{name}");
    }
}
