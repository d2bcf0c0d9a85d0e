//! The policy that a new project starts from, with comments that teach its keys.
//!
//! Writes text and reads nothing; `smgate policy init` decides where it goes.

use std::fmt::Write as _;

use super::command_line;
use super::diag::Fault;
use super::gpu::GpuKey;
use super::target::FleetTarget;
use crate::Error;
use crate::tables::Tables;

const HEAD: &str =
    "# What the CUDA code of this project must run on. `smgate check INPUT...` judges against it,
# `smgate policy lint` checks this file, `smgate explain CODE` explains a finding.
version: 1

# One item for every kind of machine. The code must run on all of them.
targets:
";

const TAIL: &str = "
# What a finding does: allow, warn or deny. These are the defaults of three rules.
levels:
  partial-coverage: warn      # part of a library has no code for the GPU
  jit-only: warn              # the driver compiles the code at first use
  unreadable: incomplete      # something could not be read; warn accepts that, deny fails

# Packages of which a CPU-only build is a failure.
# expect-gpu: [torch, \"mypkg-*\"]

# Packages that the driver may compile at first use.
# allow-jit: [mypkg-kernels]

# Levels and thresholds for a part of it all; the last scope that fits counts.
# scopes:
#   - package: torch
#     levels: {partial-coverage: allow}

# Findings that are accepted, for a reason and until a day.
# waivers:
#   - rule: partial-coverage
#     package: torch
#     version: \"2.9.*\"
#     library: \"**/libtorch_cuda_linalg.so\"
#     reason: \"the batched MAGMA kernels are not called\"
#     until: 2027-03-01
";

/// The text of a policy for these targets, or for an example where there are none.
///
/// # Errors
///
/// A usage error where a target, driver or platform is not known.
pub fn init(
    targets: &[impl AsRef<str>],
    driver: Option<&str>,
    platform: Option<&str>,
    tables: &Tables,
) -> Result<String, Error> {
    let targets = if targets.is_empty() {
        command_line::targets(
            &["H100"],
            driver.or(Some("R550")),
            platform.or(Some("linux/amd64")),
            tables,
        )
    } else {
        command_line::targets(targets, driver, platform, tables)
    }
    .map_err(Fault::into_usage_error)?;
    let mut text = String::from(HEAD);
    for target in &targets {
        write_target(&mut text, target);
    }
    text.push_str(TAIL);
    Ok(text)
}

fn write_target(text: &mut String, target: &FleetTarget) {
    let spec = &target.name;
    let given = target.gpus.first().map(|gpu| gpu.given.key);
    let key = given.unwrap_or(GpuKey::Gpu);
    let gpu = (
        match key {
            GpuKey::Cc => format!("{key}: {spec}"),
            _ => format!("{key}: {}", scalar(spec)),
        },
        "or `cc`, `pci`, `instance`; a list where a pool is mixed",
    );
    let driver = match &target.driver {
        Some(driver) => format!("driver: {driver}"),
        None => "# driver: R550".to_owned(),
    };
    let platform = match target.platform {
        Some(platform) => format!("platform: {platform}"),
        None => "# platform: linux/amd64".to_owned(),
    };
    let _ = writeln!(text, "  - name: {}", scalar(&slug(spec)));
    for (field, comment) in [
        gpu,
        (
            driver,
            "the oldest driver of the pool: a branch, or a version such as 550.54.15",
        ),
        (platform, "linux/amd64, linux/arm64 or windows/amd64"),
    ] {
        let _ = writeln!(text, "    {field:<25} # {comment}");
    }
}

/// A name for a target out of the GPU's: `geforce-rtx-4090`.
fn slug(spec: &str) -> String {
    let lower = spec.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '.');
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// The text as YAML: in quotes, unless it cannot be misread.
fn scalar(text: &str) -> String {
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts_plain
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " -.".contains(c))
    {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::rule::Code;

    const NONE: &[&str] = &[];

    #[test]
    fn the_example_parses_clean_and_changes_no_default() {
        let tables = Tables::builtin();
        let text = init(NONE, None, None, tables).unwrap();
        let policy = Policy::parse("smgate.yaml", &text, tables).unwrap();
        assert_eq!(policy.targets.len(), 1);
        for code in Code::ALL {
            assert_eq!(policy.level(*code), code.default_level(), "{code}");
        }
    }

    #[test]
    fn what_is_commented_out_parses_clean_too() {
        let tables = Tables::builtin();
        let text = init(NONE, None, None, tables).unwrap();
        let text = text
            .replace("# expect-gpu:", "expect-gpu:")
            .replace("# waivers:", "waivers:")
            .replace("# allow-jit:", "allow-jit:")
            .replace("# scopes:", "scopes:")
            .replace("\n#   ", "\n  ");
        let policy = Policy::parse("smgate.yaml", &text, tables).unwrap();
        assert_eq!((policy.waivers.len(), policy.expect_gpu.len()), (1, 2));
        assert_eq!((policy.scopes.len(), policy.allow_jit.len()), (1, 1));
    }

    #[test]
    fn the_targets_asked_for_are_written() {
        let tables = Tables::builtin();
        let text = init(
            &["h100", "9.0", "RTX 4090"],
            Some("R550"),
            Some("linux/amd64"),
            tables,
        )
        .unwrap();
        let policy = Policy::parse("smgate.yaml", &text, tables).unwrap();
        let asked = Policy::for_targets(
            &["h100", "9.0", "RTX 4090"],
            Some("R550"),
            Some("linux/amd64"),
            tables,
        )
        .unwrap();
        let names: Vec<&str> = policy
            .targets
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        assert_eq!(names, ["h100", "9.0", "rtx-4090"]);
        for (written, asked) in policy.targets.iter().zip(&asked.targets) {
            assert_eq!(
                (&written.gpus, &written.driver, written.platform),
                (&asked.gpus, &asked.driver, asked.platform)
            );
        }
        insta::assert_snapshot!(init(&["h100"], None, None, tables).unwrap(), @r#"
        # What the CUDA code of this project must run on. `smgate check INPUT...` judges against it,
        # `smgate policy lint` checks this file, `smgate explain CODE` explains a finding.
        version: 1

        # One item for every kind of machine. The code must run on all of them.
        targets:
          - name: h100
            gpu: h100                 # or `cc`, `pci`, `instance`; a list where a pool is mixed
            # driver: R550            # the oldest driver of the pool: a branch, or a version such as 550.54.15
            # platform: linux/amd64   # linux/amd64, linux/arm64 or windows/amd64

        # What a finding does: allow, warn or deny. These are the defaults of three rules.
        levels:
          partial-coverage: warn      # part of a library has no code for the GPU
          jit-only: warn              # the driver compiles the code at first use
          unreadable: incomplete      # something could not be read; warn accepts that, deny fails

        # Packages of which a CPU-only build is a failure.
        # expect-gpu: [torch, "mypkg-*"]

        # Packages that the driver may compile at first use.
        # allow-jit: [mypkg-kernels]

        # Levels and thresholds for a part of it all; the last scope that fits counts.
        # scopes:
        #   - package: torch
        #     levels: {partial-coverage: allow}

        # Findings that are accepted, for a reason and until a day.
        # waivers:
        #   - rule: partial-coverage
        #     package: torch
        #     version: "2.9.*"
        #     library: "**/libtorch_cuda_linalg.so"
        #     reason: "the batched MAGMA kernels are not called"
        #     until: 2027-03-01
        "#);
    }

    #[test]
    fn pci_ids_and_instance_types_are_written_with_their_keys() {
        let tables = Tables::builtin();
        let specs = ["10de:2330", "aws:g5g.xlarge", "rtx-5090"];
        let text = init(&specs, Some("R580"), None, tables).unwrap();
        let policy = Policy::parse("smgate.yaml", &text, tables).unwrap();
        let keys: Vec<String> = policy
            .targets
            .iter()
            .map(|target| target.gpus[0].given.to_string())
            .collect();
        assert_eq!(
            keys,
            [
                "pci: 10de:2330",
                "instance: aws:g5g.xlarge",
                "gpu: rtx-5090"
            ]
        );
        assert_eq!(policy.targets[1].platform, "linux/arm64".parse().ok());
    }

    #[test]
    fn the_example_takes_the_driver_and_platform_asked_for() {
        let tables = Tables::builtin();
        let text = init(NONE, Some("570.86.15"), Some("linux/arm64"), tables).unwrap();
        let policy = Policy::parse("smgate.yaml", &text, tables).unwrap();
        let target = &policy.targets[0];
        assert_eq!(target.driver, Some("570.86.15".parse().unwrap()));
        assert_eq!(target.platform, Some("linux/arm64".parse().unwrap()));
    }

    #[test]
    fn unknown_targets_are_refused() {
        let error = init(&["h10o"], None, None, Tables::builtin()).unwrap_err();
        assert!(
            error.hint().unwrap_or_default().contains("H100"),
            "{error:?}"
        );
    }
}
