//! Lock files. What each environment gets is what installers do with the locks that each test names.

use super::build::{Input, Lib, lib, lock, locked};
use super::{check, found, on, only, outcome};
use crate::inventory::{Content, LockKind, LockedPackage, NotRead, PickStatus, Unlocked};
use crate::rule::{Code, Level};

const OFFLINE: Content = Content::NotRead(NotRead::Offline);

fn gpu(path: &str) -> Lib {
    lib(path).fatbin("sm_80 sm_90", 9)
}

/// A lock file on an A100.
fn of(input: &Input) -> super::Evaluation {
    check(input, &on("A100", "R580"))
}

fn wheel(name: &str, version: &str) -> LockedPackage {
    locked(name, version, PickStatus::Wheel, Content::Read)
}

fn with(package: LockedPackage) -> Input {
    lock("linux/amd64").locked(package)
}

/// For each code a case that raises it, and its neighbour that does not.
pub(super) fn cases() -> impl Iterator<Item = (Code, Input, Input)> {
    let none = locked("a", "1.0", PickStatus::NoFile, Content::None);
    let quiet = || with(wheel("a", "1.0"));
    let open = quiet().change(|lock| lock.unlocked.push(Unlocked::new("b>=1", 7)));
    [
        (Code::NoFileForTarget, with(none), quiet()),
        (Code::NotLocked, open, quiet()),
    ]
    .into_iter()
}

#[test]
fn what_is_built_at_install_is_told_and_a_wheel_is_not() {
    for (status, file, told) in [
        (PickStatus::Sdist, "a-1.0.tar.gz", true),
        (PickStatus::Vcs, "", true),
        (PickStatus::Directory, "", true),
        (PickStatus::Url, "a-1.0.zip", true),
        (PickStatus::Url, "a-1.0-py3-none-any.whl", false),
        (PickStatus::File, "a-1.0-py3-none-any.whl", false),
        (PickStatus::Wheel, "a-1.0-py3-none-any.whl", false),
        (PickStatus::Conda, "a-1.0-0.tar.bz2", false),
    ] {
        let mut package = locked("a", "1.0", status, Content::Read);
        if let Some(known) = &mut package.file {
            file.clone_into(&mut known.name);
        }
        let found = found(&of(&with(package)), Code::BuiltAtInstall).len();
        assert_eq!(found, usize::from(told), "{status:?} {file}");
    }
}

#[test]
fn torch_without_cuda_code_on_a_gpu_machine_says_which_build_it_is() {
    let says = |version: &str, content| {
        let package = locked("torch", version, PickStatus::Wheel, content);
        let evaluation = of(&with(package));
        let found = found(&evaluation, Code::CpuOnlyBuild);
        found.first().map(|finding| finding.message.clone())
    };
    for (version, what) in [
        ("2.9.1", "a build without CUDA device code"),
        ("2.9.1+cpu", "a CPU build"),
        ("2.9.1+rocm6.4", "a ROCm build, for AMD GPUs"),
        ("2.9.1+xpu", "an XPU build, for Intel GPUs"),
    ] {
        let message = says(version, Content::Read).unwrap();
        assert_eq!(
            message,
            format!("`torch` is {what}, and the target is a GPU machine")
        );
    }
    // its version says so, read or not; else what was not read may hold anything
    assert!(says("2.9.1+cpu", OFFLINE).is_some());
    assert_eq!(says("2.9.1", OFFLINE), None);
    let cuda = with(wheel("torch", "1.0")).of("torch", gpu("torch/lib/libtorch_cuda.so"));
    assert_eq!(found(&of(&cuda), Code::CpuOnlyBuild).len(), 0);
    // nobody expects device code of these
    assert_eq!(outcome(&of(&with(wheel("numpy", "2.0")))), "pass");
}

#[test]
fn what_was_not_read_offline_makes_the_verdict_incomplete() {
    let package = locked("a", "1.0", PickStatus::Wheel, OFFLINE);
    assert_eq!(outcome(&of(&with(package))), "incomplete unreadable");
    let asked = locked("a", "1.0", PickStatus::AskIndex, OFFLINE);
    assert_eq!(outcome(&of(&with(asked))), "incomplete unreadable");
}

#[test]
fn a_lock_without_anything_for_the_target_does_not_pass() {
    let others = lock("linux/amd64").change(|lock| lock.is_for_others = true);
    assert_eq!(outcome(&of(&others)), "fail no-file-for-target");
}

#[test]
fn where_nothing_is_locked_nothing_passes() {
    let open = |input: Input| input.change(|lock| lock.unlocked.push(Unlocked::new("b>=1", 7)));
    assert_eq!(
        outcome(&of(&open(lock("linux/amd64")))),
        "incomplete not-locked"
    );
    assert_eq!(
        outcome(&of(&open(with(wheel("a", "1.0"))))),
        "pass not-locked"
    );
    // a list without entries; a project without dependencies has a lock file all the same
    let list = lock("linux/amd64").change(|lock| lock.kind = LockKind::Requirements);
    assert_eq!(outcome(&of(&list)), "incomplete");
    assert_eq!(outcome(&of(&lock("linux/amd64"))), "pass");
}

#[test]
fn findings_point_at_the_line_of_their_package() {
    let mut package = wheel("pkg-name", "1.0");
    package.line = 42;
    let input = with(package).of("pkg-name", lib("pkg/_C.so").fatbin("sm_90", 3));
    let evaluation = of(&input);
    assert_eq!(only(&evaluation, Code::NoKernelImage).line, Some(42));
}

#[test]
fn each_target_is_judged_by_its_own_environment() {
    let policy = |extra: &str| {
        format!(
            "version: 1\ntargets:\n  - {{name: t, gpu: A100, driver: R580, platform: linux/amd64{extra}}}\n"
        )
    };
    let rows = |input: &Input, extra: &str| check(input, &policy(extra)).matrix.len();
    let any = with(wheel("a", "1.0"));
    assert_eq!(rows(&any, ""), 1);
    assert_eq!(rows(&any, ", python: '3.12'"), 0);
    assert_eq!(rows(&any, ", glibc: '2.28'"), 0);
    let of_python = any.change(|lock| lock.environment.python = "3.12".parse().ok());
    assert_eq!(rows(&of_python, ", python: '3.12'"), 1);
    assert_eq!(rows(&of_python, ", python: '3.13'"), 0);
    let arm = lock("linux/arm64").locked(wheel("a", "1.0"));
    assert_eq!(rows(&arm, ""), 0);
}

/// xformers 0.0.35 needs `libcudart.so.12`, and torch 2.15.0 brings CUDA 13.
fn xformers() -> Input {
    with(wheel("xformers", "1.0"))
        .of("xformers", gpu("xformers/_C.so").needs("libcudart.so.12"))
        .locked(wheel("nvidia-cuda-runtime", "1.0"))
        .provides("nvidia/cu13/lib/libcudart.so.13")
}

#[test]
fn a_library_of_another_version_than_the_locked_one_is_missing() {
    let evaluation = of(&xformers());
    let finding = only(&evaluation, Code::RuntimeLibraryMissing);
    assert_eq!(finding.level, Level::Deny);
    assert!(
        finding
            .message
            .contains("`libcudart.so.12`, which nothing in the lock file provides")
    );
    let with_12 = xformers().provides("nvidia/cuda_runtime/lib/libcudart.so.12");
    assert_eq!(found(&of(&with_12), Code::RuntimeLibraryMissing).len(), 0);
}

#[test]
fn what_no_version_of_is_locked_may_come_from_the_machine() {
    let alone = with(wheel("onnxruntime-gpu", "1.0")).of(
        "onnxruntime-gpu",
        gpu("onnxruntime/cuda.so").needs("libcublas.so.12"),
    );
    let evaluation = of(&alone);
    assert_eq!(
        only(&evaluation, Code::RuntimeLibraryMissing).level,
        Level::Warn
    );
}

#[test]
fn nothing_is_missing_where_not_all_is_known() {
    let quiet = |input: Input| found(&of(&input), Code::RuntimeLibraryMissing).is_empty();
    assert!(!quiet(xformers()));
    // requirements without hashes do not list what their packages need
    assert!(quiet(xformers().change(|lock| lock.is_whole = false)));
    let unread = locked("b", "1.0", PickStatus::Wheel, OFFLINE);
    assert!(quiet(xformers().locked(unread)));
    // built at install, by a package that is known to bring it
    let built = locked(
        "nvidia-cuda-runtime-cu12",
        "1.0",
        PickStatus::Sdist,
        Content::None,
    );
    assert!(quiet(xformers().locked(built)));
    let other = locked("pure", "1.0", PickStatus::Sdist, Content::None);
    assert!(!quiet(xformers().locked(other)));
}

#[test]
fn a_package_of_a_lock_is_found_by_any_spelling_and_by_its_version_first() {
    let at = |line, package| LockedPackage { line, ..package };
    let input = lock("linux/amd64")
        .locked(at(3, wheel("Flash_Attn", "1.0")))
        .locked(at(5, wheel("flash-attn", "2.0")))
        .locked(at(7, wheel("flash.attn", "2.0")));
    input.change(|lock| {
        let by_name = lock.by_name();
        let line = |name, version| by_name.get(name, version).map(|package| package.line);
        assert_eq!(line("FLASH-ATTN", Some("2.0")), Some(5));
        assert_eq!(line("flash-attn", Some("1.0")), Some(3));
        // of no such version, the first
        assert_eq!(line("flash-attn", Some("9")), Some(3));
        assert_eq!(line("flash-attn", None), Some(3));
        assert_eq!(line("flash", Some("1.0")), None);
    });
}

#[test]
fn each_of_many_packages_is_judged_by_its_own_line() {
    const COUNT: u32 = 5_000;
    let mut input = lock("linux/amd64");
    for line in 1..=COUNT {
        let none = locked(
            &format!("p{line}"),
            "1.0",
            PickStatus::NoFile,
            Content::None,
        );
        input = input.locked(LockedPackage { line, ..none });
    }
    let evaluation = of(&input);
    let mut lines: Vec<u32> = evaluation
        .findings
        .iter()
        .filter_map(|found| found.line)
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, (1..=COUNT).collect::<Vec<_>>());
    for found in &evaluation.findings {
        let name = found.package.as_ref().map(|package| package.name.clone());
        assert_eq!(name, found.line.map(|line| format!("p{line}")));
    }
}
