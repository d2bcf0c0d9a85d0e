//! Files that nobody wrote with good intent, and files that editors and transfers have changed.

use super::*;

#[test]
fn oversized_and_undecodable_files_are_refused() {
    let large = format!("version: 1 # {}\n", "x".repeat(Policy::MAX_BYTES));
    assert_eq!(
        mistakes(&large),
        ["1:1: the file is larger than 1048576 bytes"]
    );
    let bytes = b"version: 1\n# \xff\n";
    let diagnostics = Policy::parse_bytes("p.yaml", bytes, Tables::builtin())
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        diagnostics.to_string(),
        "p.yaml:2:3: the file is not UTF-8 from here on"
    );
    let utf16: Vec<u8> = "version: 1"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert!(Policy::parse_bytes("p.yaml", &utf16, Tables::builtin()).is_err());
    assert!(
        Policy::parse_bytes(
            "p.yaml",
            with_target("gpu: H100").as_bytes(),
            Tables::builtin()
        )
        .is_ok()
    );
}

#[test]
fn the_answer_to_a_hostile_file_is_bounded() {
    let half = Policy::MAX_BYTES / 2;
    for text in [
        "[".repeat(Policy::MAX_BYTES),
        "? ".repeat(half),
        "a: [".repeat(Policy::MAX_BYTES / 4),
        "&a ".repeat(Policy::MAX_BYTES / 3),
        "- \n".repeat(Policy::MAX_BYTES / 3),
        with_top(&format!("levels: {{{}}}", "x: y, ".repeat(half / 6))),
        with_top(
            &(0..half / 16)
                .map(|i| [i.to_string(), ": 1\n".to_owned()].concat())
                .collect::<Vec<_>>()
                .concat(),
        ),
        with_target(&format!("gpu: [{}]", "x, ".repeat(half / 3))),
        with_target(&format!("gpu: {}", "x".repeat(half))),
        with_top(&format!("waivers: [{}]", "{},".repeat(half / 3))),
        "\u{1}".repeat(half),
        "'".repeat(half),
        "\r".repeat(half),
    ] {
        let diagnostics = parse(&text).map(|_| ()).unwrap_err();
        let begin = text.get(..40).unwrap();
        let count = diagnostics.iter().count();
        assert!((1..=diag::MOST).contains(&count), "{count}: {begin}");
        let rendered = diagnostics.render(false);
        assert!(
            rendered.len() <= diag::MOST * (diag::SHOWN + 1024),
            "{}: {begin}",
            rendered.len()
        );
    }
}

#[test]
fn truncated_and_garbled_files_never_panic() {
    let text = include_str!("../../../policies/mixed-fleet.yaml");
    let waivers = text
        .replace("# waivers:", "waivers:")
        .replace("\n#   ", "\n  ");
    let shown = |bytes: &[u8]| {
        let parsed = Policy::parse_bytes("p.yaml", bytes, Tables::builtin());
        parsed
            .map_err(|diagnostics| diagnostics.render(false))
            .is_ok()
    };
    for end in (0..waivers.len()).step_by(3) {
        shown(&waivers.as_bytes()[..end]);
    }
    let alphabet = b"\n\r\t :-[]{},#&*!|>'\"%@`?~<0\xc3\xff";
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(random >> 33).unwrap() % below
    };
    for _ in 0..1000 {
        let mut bytes = waivers.clone().into_bytes();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            bytes[at] = alphabet[next(alphabet.len())];
        }
        shown(&bytes);
    }
}

#[test]
fn windows_line_breaks_and_a_byte_order_mark_change_nothing() {
    let unix = with_target("gpu: [H100, L4]\ndriver: R550 # é\nplatform: linux/amd64");
    let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
    let old = unix.replace('\n', "\r");
    for text in [&windows, &old] {
        assert_eq!(valid(text).targets, valid(&unix).targets);
    }
    let wrong = unix.replace("R550", "\"é\" # ");
    assert_eq!(mistakes(&wrong), ["5:13: `é` is not a driver"]);
    assert_eq!(mistakes(&wrong.replace('\n', "\r\n")), mistakes(&wrong));
    assert_eq!(
        mistakes(&format!("\u{feff}{}", wrong.replace('\n', "\r"))),
        mistakes(&wrong)
    );
}
