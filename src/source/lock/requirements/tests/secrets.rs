//! What of requirements files is shown.

use super::*;

#[test]
fn what_looks_like_a_login_is_not_shown() {
    for line in [
        "p==1 http://u:s3cret@h",
        "p=http://u:s3cret@h",
        "p @ http:/u:s3cret@h",
        "p @ u:s3cret@h",
        "u:s3cret@h",
        "./x.whl?tok=s3cret",
        "./x?tok=s3cret",
        "p @ http://u:12/s3cret@h",
        "-r http:/u:s3cret@h",
        "-r http://u:s3cret@h",
        "-f ${A}http:/u:s3cret@h",
        "p ; x == 'http://u:s3cret@h'",
        "p==1 --http://u:s3cret@h",
        "p==1 --hash=http://u:s3cret@h",
    ] {
        let lock = lock(&format!("a==1\n{line}\n"));
        let environment = crate::source::lock::Environment::new(crate::platform::Platform::new(
            crate::platform::Os::Linux,
            crate::platform::CpuArch::Amd64,
        ));
        let chosen = crate::source::lock::choose(&lock, &environment);
        let names: Vec<_> = chosen.picks.iter().map(|pick| &pick.name).collect();
        let files: Vec<_> = chosen
            .picks
            .iter()
            .filter_map(|p| p.file.as_ref())
            .collect();
        let texts: Vec<_> = chosen.unlocked.iter().map(|it| &it.text).collect();
        let said = format!(
            "{:?} {:?} {names:?} {files:?} {texts:?}",
            lock.problems, chosen.problems
        );
        assert!(!said.contains("s3cret"), "{line}: {said}");
    }
}

#[test]
fn no_text_of_a_file_elsewhere_is_shown() {
    let lock = read("-r ../../x\n", &at(), &|_| {
        Some(crate::source::lock::Neighbor {
            bytes: b"$s3cret$\n".repeat(20),
            is_outside: true,
        })
    })
    .unwrap();
    let details = details(&lock);
    assert_eq!(details.len(), 6, "{details:?}");
    assert_eq!(
        details[0],
        "line 1: `../../x`, line 1: it is not understood"
    );
    assert!(!format!("{details:?}").contains("s3cret"));
}
