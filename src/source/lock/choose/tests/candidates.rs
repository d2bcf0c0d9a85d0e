//! What is taken of an index.

use super::super::{Candidate, choose, choose_of_index};
use super::{environment, linux, lock};
use crate::source::lock::{Environment, Hash, LockKind, Locked, Pick};

fn pick(version: Option<&str>, hashes: &[&str]) -> Pick {
    let mut lock = lock(LockKind::Requirements);
    let mut torch = Locked::new("My.Torch", version.map(str::to_owned), 3);
    torch.hashes = hashes
        .iter()
        .map(|hash| Hash::parse(hash).unwrap())
        .collect();
    lock.packages.push(torch);
    choose(&lock, &linux()).picks.remove(0)
}

/// `VERSION STATUS FILE`
fn taken(pick: &Pick, candidates: &[Candidate], environment: &Environment) -> String {
    let taken = choose_of_index(pick, candidates, environment);
    let file = taken.file.map_or("-".to_owned(), |file| file.name);
    format!(
        "{} {} {file}",
        taken.version.unwrap_or_default(),
        taken.status.id()
    )
}

fn named(names: &[&str]) -> Vec<Candidate> {
    names.iter().map(|name| Candidate::new(*name)).collect()
}

#[test]
fn the_version_is_compared_as_pep_440_says_and_a_local_one_is_preferred() {
    let files = named(&[
        "my_torch-2.9-py3-none-any.whl",
        "my_torch-2.9.0+cpu-py3-none-any.whl",
        "my_torch-2.9.0+cu128-py3-none-any.whl",
        "my_torch-2.9.0+cu130-py3-none-win_amd64.whl",
        "my_torch-2.9.1-py3-none-any.whl",
        "other-3-py3-none-any.whl",
    ]);
    for (version, expected) in [
        (
            "2.9.0",
            "2.9.0+cu128 wheel my_torch-2.9.0+cu128-py3-none-any.whl",
        ),
        (
            "2.9.0+cpu",
            "2.9.0+cpu wheel my_torch-2.9.0+cpu-py3-none-any.whl",
        ),
        ("2.9.1", "2.9.1 wheel my_torch-2.9.1-py3-none-any.whl"),
        ("2.9.0+cu130", "2.9.0+cu130 no-file -"),
        ("3", "3 no-file -"),
    ] {
        assert_eq!(taken(&pick(Some(version), &[]), &files, &linux()), expected);
    }
}

#[test]
fn the_best_wheel_is_taken_else_the_source() {
    let files = named(&[
        "my-torch-1.0.tar.gz",
        "my_torch-1.0-py3-none-any.whl",
        "my_torch-1.0-1-cp312-cp312-linux_x86_64.whl",
        "my_torch-1.0-cp312-cp312-linux_x86_64.whl",
        "my_torch-1.0-cp312-cp312-win_amd64.whl",
    ]);
    let pick = pick(Some("1"), &[]);
    assert_eq!(
        taken(&pick, &files, &linux()),
        "1.0 wheel my_torch-1.0-1-cp312-cp312-linux_x86_64.whl"
    );
    let source = [files[0].clone(), files[4].clone()];
    assert_eq!(
        taken(&pick, &source, &linux()),
        "1.0 sdist my-torch-1.0.tar.gz"
    );
}

#[test]
fn only_files_with_one_of_the_hashes_are_taken() {
    let mut files = named(&[
        "my_torch-1-cp312-cp312-linux_x86_64.whl",
        "my_torch-1-py3-none-any.whl",
    ]);
    files[0].hash = Hash::parse("sha256:aa");
    files[1].hash = Hash::parse("sha256:bb");
    let any = "1 wheel my_torch-1-py3-none-any.whl";
    let own = "1 wheel my_torch-1-cp312-cp312-linux_x86_64.whl";
    let with =
        |hashes: &[&str], files: &[Candidate]| taken(&pick(Some("1"), hashes), files, &linux());
    assert_eq!(with(&["sha256:BB", "sha256:cc"], &files), any);
    assert_eq!(with(&["sha256:bb", "sha256:aa"], &files), own);
    assert_eq!(with(&[], &files), own);
    assert_eq!(with(&["sha256:cc"], &files), "1 no-file -");
    // a pin without a version takes what the hashes say
    assert_eq!(taken(&pick(None, &["sha256:bb"]), &files, &linux()), any);
    // what has another kind of hash may be it, but what is known to be it comes first
    files[0].hash = Hash::parse("sha512:aa");
    assert_eq!(with(&["sha256:bb"], &files), any);
    assert_eq!(with(&["sha256:cc"], &files), own);
}

#[test]
fn yanked_files_and_those_for_another_python_are_left() {
    let mut files = named(&[
        "my_torch-1-cp312-cp312-linux_x86_64.whl",
        "my_torch-1-py3-none-any.whl",
    ]);
    let any = "1 wheel my_torch-1-py3-none-any.whl";
    files[0].yanked = true;
    assert_eq!(taken(&pick(Some("1"), &[]), &files, &linux()), any);
    files[1].yanked = true;
    assert_ne!(taken(&pick(Some("1"), &[]), &files, &linux()), any);
    files[0].requires_python = Some(">=3.13".to_owned());
    assert_eq!(taken(&pick(Some("1"), &[]), &files, &linux()), any);
    files[1].requires_python = Some("what".to_owned());
    assert_eq!(taken(&pick(Some("1"), &[]), &files, &linux()), any);
}

#[test]
fn without_a_python_the_newest_that_has_a_wheel_is_taken() {
    let mut files = named(&[
        "my_torch-1-cp311-cp311-linux_x86_64.whl",
        "my_torch-1-cp312-cp312-linux_x86_64.whl",
        "my_torch-1-cp313-cp313-win_amd64.whl",
        "my_torch-1.tar.gz",
    ]);
    let machine = environment("linux/amd64");
    let taken = |files: &[Candidate]| taken(&pick(Some("1"), &[]), files, &machine);
    assert_eq!(
        taken(&files),
        "1 wheel my_torch-1-cp312-cp312-linux_x86_64.whl"
    );
    files[1].requires_python = Some("<3.12".to_owned());
    assert_eq!(
        taken(&files),
        "1 wheel my_torch-1-cp311-cp311-linux_x86_64.whl"
    );
    assert_eq!(taken(&files[2..]), "1 sdist my_torch-1.tar.gz");
    assert_eq!(
        taken(&named(&["my_torch-1-py3-none-any.whl"])),
        "1 wheel my_torch-1-py3-none-any.whl"
    );
}

#[test]
fn without_a_version_pre_releases_come_last() {
    let files = named(&[
        "my_torch-2.0rc1-py3-none-any.whl",
        "my_torch-1.0-py3-none-any.whl",
    ]);
    let pick = pick(None, &[]);
    assert_eq!(
        taken(&pick, &files, &linux()),
        "1.0 wheel my_torch-1.0-py3-none-any.whl"
    );
    assert_eq!(
        taken(&pick, &files[..1], &linux()),
        "2.0rc1 wheel my_torch-2.0rc1-py3-none-any.whl"
    );
}

#[test]
fn options_leave_out_wheels_or_sources() {
    let files = named(&["my_torch-2-py3-none-any.whl", "my-torch-2.tar.gz"]);
    let forms = |no: &[&str], only: &[&str]| {
        let mut lock = lock(LockKind::Requirements);
        lock.packages
            .push(Locked::new("My.Torch", Some("2".to_owned()), 3));
        lock.options.no_binary = no.iter().map(|name| (*name).to_owned()).collect();
        lock.options.only_binary = only.iter().map(|name| (*name).to_owned()).collect();
        choose(&lock, &linux()).picks.remove(0)
    };
    let wheel = "2 wheel my_torch-2-py3-none-any.whl";
    let sdist = "2 sdist my-torch-2.tar.gz";
    for (no, only, expected) in [
        (&[][..], &[][..], wheel),
        (&["my-torch"], &[], sdist),
        (&[":all:"], &[], sdist),
        (&[":all:"], &["my-torch"], wheel),
        (&["other"], &[], wheel),
        (&["my-torch"], &[":all:"], sdist),
    ] {
        assert_eq!(taken(&forms(no, only), &files, &linux()), expected);
    }
    let only = forms(&[], &["my-torch"]);
    assert_eq!(taken(&only, &files[1..], &linux()), "2 no-file -");
}
