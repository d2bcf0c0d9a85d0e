//! The table of verdicts: images × GPU × driver, with the outcome and the minimum driver.

use super::build::{lib, wheel};
use super::{check, minimum, on, outcome};

const TABLE: &str = include_str!("table.txt");

/// One line of the table.
#[derive(Debug)]
struct Row<'t> {
    line: usize,
    links: &'t str,
    fatbins: &'t str,
    gpu: &'t str,
    driver: &'t str,
    platform: &'t str,
    outcome: &'t str,
    minimum: &'t str,
}

fn rows() -> Vec<Row<'static>> {
    let lines = TABLE.lines().enumerate();
    let rows = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    rows.map(|(index, text)| {
        let line = index + 1;
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [links, fatbins, gpu, driver, platform, outcome, minimum] = cells[..] else {
            panic!("line {line}: seven columns expected: {text}");
        };
        Row {
            line,
            links,
            fatbins,
            gpu,
            driver,
            platform,
            outcome,
            minimum,
        }
    })
    .collect()
}

impl Row<'_> {
    /// The outcome and the minimum driver that the program gives.
    fn judged(&self) -> (String, String) {
        let given = |cell: &'_ str| (cell != "-").then(|| cell.to_owned());
        let (platform, wsl) = match self.platform {
            "linux" => ("linux/amd64", false),
            "wsl" => ("linux/amd64", true),
            "arm" => ("linux/arm64", false),
            "windows" => ("windows/amd64", false),
            other => panic!("line {}: what is the platform `{other}`?", self.line),
        };
        let mut lib = lib("pkg/_C.so");
        for images in self.fatbins.split('/') {
            lib = lib.fatbin(images, 1);
        }
        lib = match platform {
            "windows/amd64" => lib.windows(),
            "linux/arm64" => lib.machine("aarch64"),
            _ => lib,
        };
        if let Some(name) = given(self.links) {
            lib = lib.needs(&name);
        }
        let driver = given(self.driver).unwrap_or_default();
        let mut policy = on(self.gpu, &driver).replace("linux/amd64", platform);
        if wsl {
            policy.push_str("    wsl: true\n");
        }
        let input = wheel("pkg", "1.0").tags(platform).with(lib);
        let evaluation = check(&input, &policy);
        (outcome(&evaluation), minimum(&evaluation))
    }
}

#[test]
fn the_table_of_verdicts_holds() {
    let rows = rows();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let (outcome, minimum) = row.judged();
        if (outcome.as_str(), minimum.as_str()) != (row.outcome, row.minimum) {
            let line = row.line;
            wrong.push(format!("line {line}: {outcome}, {minimum}; {row:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
