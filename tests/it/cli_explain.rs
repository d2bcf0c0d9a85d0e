//! `smgate explain` of what people paste.

use std::process::Stdio;

use crate::support_cli::{Place, Run};

fn explain(text: &str) -> Run {
    Place::new().run(&["explain", text])
}

// cudaGetErrorString of libcudart 11.8 to 13.5; torch/cuda/__init__.py; glibc's dl-load.c
#[test]
fn a_pasted_error_is_explained_with_the_rules_that_see_it_before() {
    for (pasted, id, rules) in [
        (
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "no-kernel-image",
            &["no-kernel-image", "partial-coverage"][..],
        ),
        ("209", "no-kernel-image", &["no-kernel-image"]),
        (
            "222",
            "ptx-too-new",
            &["ptx-too-new", "jit-compiler-mismatch"],
        ),
        ("35", "driver-too-old", &["driver-too-old"]),
        ("803", "system-driver-mismatch", &["driver-too-old"]),
        ("unsupported toolchain", "ptx-too-new", &["ptx-too-new"]),
        (
            "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
            "runtime-library-missing",
            &["runtime-library-missing"],
        ),
        (
            "sm_120 is not compatible with the current PyTorch installation",
            "pytorch-arch",
            &["no-kernel-image"],
        ),
    ] {
        let run = explain(pasted);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{pasted}");
        assert!(
            run.stdout.starts_with(&format!("{id}: ")),
            "{pasted}: {run:?}"
        );
        for part in ["  seen ", "  causes ", "  how to tell ", "  next: `smgate "] {
            assert!(run.stdout.contains(part), "{pasted}: {part}: {run:?}");
        }
        for rule in rules {
            assert!(
                run.stdout.contains(&format!("  rule         {rule}: ")),
                "{pasted}: {run:?}"
            );
        }
        assert_eq!(
            run.stdout.contains("no rule of `check`"),
            rules.is_empty(),
            "{run:?}"
        );
    }
}

#[test]
fn the_gpu_that_the_text_names_is_the_target_to_check() {
    for (text, target) in [
        (
            "sm_120 is not compatible with the current PyTorch installation",
            "12.0",
        ),
        (
            "RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
            "12.0",
        ),
        (
            "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 8.9.",
            "8.9",
        ),
        (
            "no kernel image is available for execution on the device",
            "GPU",
        ),
    ] {
        let run = explain(text);
        assert!(
            run.stdout.contains(&format!("--target {target} ")),
            "{text}: {run:?}"
        );
    }
}

fn explain_log(log: &[u8]) -> Run {
    let place = Place::new();
    let log = place.write("log.txt", log);
    let mut command = place.command(&["explain", "-"]);
    command.stdin(Stdio::from(std::fs::File::open(log).unwrap()));
    let output = command.output().unwrap();
    Run {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_log_on_standard_input_is_searched_to_its_end() {
    let noise = "step 7 of 300: error code 8, status 35, libfoo.so.1\r\n".repeat(60_000);
    assert!(noise.len() > 3 << 20);
    let log = format!(
        "{noise}  CUDA error: no kernel image is available\n for execution on the device\u{1b}[0m\n{noise}\
         ImportError: libcudnn.so.9: cannot open shared object file\n"
    );
    let run = explain_log(log.as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    let ids: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| Some(line.split_once(": ")?.0))
        .collect();
    // numbers in the noise are no errors beside texts
    assert_eq!(
        ids,
        ["no-kernel-image", "runtime-library-missing"],
        "{run:?}"
    );
    let run = explain_log(b"\xff\xfe nothing\n");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.starts_with("error: there is no known error"),
        "{run:?}"
    );
}

#[test]
fn unknown_texts_are_refused_with_what_is_near() {
    let run = explain("cudaErrorNoKernelImage");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("`cudaErrorNoKernelImageForDevice`"),
        "{run:?}"
    );
    let run = explain("no-kernel-imag");
    assert!(
        run.stderr.contains("did you mean `no-kernel-image`"),
        "{run:?}"
    );
}

#[test]
fn a_code_is_still_its_page_and_words_need_no_quotes() {
    let run = explain("no-kernel-image");
    assert!(run.stdout.contains("\nDefault level: deny"), "{run:?}");
    let place = Place::new();
    let words = [
        "explain",
        "no",
        "kernel",
        "image",
        "is",
        "available",
        "for",
        "execution",
        "on",
        "the",
        "device",
    ];
    assert!(place.run(&words).stdout.starts_with("no-kernel-image: "));
}

#[test]
fn folklore_is_the_page_of_the_repository() {
    let run = explain("folklore");
    assert_eq!(run.status, 0);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(
        run.stdout,
        crate::support::text(&root.join("src/compat/FOLKLORE.md"))
    );
    // one row for each claim of the review that the page is from
    let rows = run.stdout.lines().filter(|line| line.starts_with("| "));
    assert_eq!(rows.count(), 18);
    assert!(run.stdout.contains("`strings lib.so | grep sm_` is wrong"));
}
