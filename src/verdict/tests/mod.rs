//! The verdict from inventories built in code. Expected values come from the compatibility rules (RULES.md,
//! quoted by number), SEMANTICS.md, NVIDIA's tables of drivers, or a count by hand.

mod baselines;
mod blocked;
mod build;
mod closure;
mod codes;
mod compare;
mod compilers;
mod conda;
mod coverage;
mod drivers;
mod effects;
mod floors;
mod forward;
mod images;
mod inputs;
mod known;
mod linking;
mod locks;
mod packages;
mod platforms;
mod presets;
mod properties;
mod runs;
mod scopes;
mod siblings;
mod states;
mod table;
mod waivers;

use crate::inventory::Inventory;
use crate::policy::Policy;
use crate::rule::{Code, Level};
use crate::tables::Tables;

use super::{EvaluateOptions, Evaluation, Finding, evaluate};
use build::{Input, Lib, wheel};

/// A policy with one target `t`: GPUs or compute capabilities with commas between, perhaps a driver.
fn on(gpus: &str, driver: &str) -> String {
    let key = if gpus.starts_with(|c: char| c.is_ascii_digit()) {
        "cc"
    } else {
        "gpu"
    };
    let driver = match driver {
        "" => String::new(),
        driver => format!("    driver: \"{driver}\"\n"),
    };
    format!(
        "version: 1\ntargets:\n  - name: t\n    {key}: [{gpus}]\n    platform: linux/amd64\n{driver}"
    )
}

/// Judges on a fixed day.
fn judge(inventory: &Inventory, policy: &str) -> Evaluation {
    let policy = Policy::parse("smgate.yaml", policy, Tables::builtin())
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let options = EvaluateOptions {
        today: "2027-01-15".parse().unwrap(),
        fail_on_warn: false,
    };
    evaluate(inventory, &policy, Tables::builtin(), options)
}

/// Judges one input.
fn check(input: &Input, policy: &str) -> Evaluation {
    judge(&input.clone().inventory(), policy)
}

/// The verdict and the codes that count, in the order of their names; remarks are left out.
fn outcome(evaluation: &Evaluation) -> String {
    let codes = evaluation
        .findings
        .iter()
        .filter(|finding| finding.level > Level::Allow && finding.waived.is_none());
    let mut codes: Vec<&str> = codes.map(|finding| finding.code.id()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut text = evaluation.verdict.id().to_owned();
    for code in codes {
        text.push(' ');
        text.push_str(code);
    }
    text
}

/// The minimum driver of the only row, `-` where there is none.
fn minimum(evaluation: &Evaluation) -> String {
    let [row] = &evaluation.matrix[..] else {
        panic!("one row expected: {:#?}", evaluation.matrix)
    };
    row.minimum_driver
        .as_ref()
        .map_or_else(|| "-".to_owned(), |floor| floor.driver.to_string())
}

/// The findings with `code`.
fn found(evaluation: &Evaluation, code: Code) -> Vec<&Finding> {
    evaluation
        .findings
        .iter()
        .filter(|finding| finding.code == code)
        .collect()
}

/// The only finding with `code`.
#[track_caller]
fn only(evaluation: &Evaluation, code: Code) -> &Finding {
    let found = found(evaluation, code);
    let [finding] = found[..] else {
        panic!("one `{code}` expected: {:#?}", evaluation.findings)
    };
    finding
}

/// A library of its own package, GPU, driver; the verdict with the codes that count.
type LibraryRow = (Lib, &'static str, &'static str, &'static str);

fn assert_libraries(rows: Vec<LibraryRow>) {
    for (index, (lib, gpu, driver, expected)) in rows.into_iter().enumerate() {
        let evaluation = check(&wheel("pkg", "1.0").with(lib), &on(gpu, driver));
        assert_eq!(
            outcome(&evaluation),
            expected,
            "row {index}, {gpu} with {driver}: {:#?}",
            evaluation.findings
        );
    }
}

/// Packages by name: the input, GPU, driver, and the verdict with the codes that count.
fn assert_packages(rows: &[(&str, &Input, &str, &str, &str)]) {
    for (what, input, gpu, driver, expected) in rows {
        let evaluation = check(input, &on(gpu, driver));
        assert_eq!(
            outcome(&evaluation),
            *expected,
            "{what}: {gpu} with {driver}: {:#?}",
            evaluation.findings
        );
    }
}
