//! `inspect LOCK --offline`: what each kind of lock file puts on a machine, without asking anybody.

mod texts;

use serde_json::{Value, json};

use crate::schema::{assert_valid, schema};
use crate::support::servers::by_ranges;
use crate::support_cli::Place;
use texts::{CONDA_LOCK, EXPLICIT, PDM, PIPENV, PIXI, POETRY, PYLOCK, REQUIREMENTS, UV};

/// A hash of one repeated digit.
fn hash(digit: &str) -> String {
    digit.repeat(64)
}

/// What `inspect` says of the lock file `name` for `platform` and Python 3.12: its kind and, for each package, name,
/// version, file, the digit of its hash, line and status. No server may be asked.
fn rows(name: &str, text: &str, platform: &str) -> (String, Vec<Value>) {
    let server = by_ranges(Vec::new());
    let mut text = text.replace("BASE", &server.url(""));
    for digit in ["a", "b", "c", "d"] {
        text = text.replace(&format!("<{digit}>"), &hash(digit));
    }
    let place = Place::new();
    place.write(name, text);
    let run = place.run(&[
        "inspect",
        name,
        "--offline",
        "--platform",
        platform,
        "--python",
        "3.12",
        "--format",
        "json",
    ]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(server.paths(), Vec::<String>::new());
    let report = run.json();
    assert_valid(&schema("inspect-1.json"), &report);
    assert_eq!(report["schema"], "smgate/inspect/1");
    let locks = report["locks"].as_array().unwrap();
    assert_eq!(locks.len(), 1, "{report}");
    let lock = &locks[0];
    assert_eq!(lock["input"], name);
    assert_eq!(lock["fetched"], 0);
    let packages = lock["packages"].as_array().unwrap();
    let rows = packages.iter().map(|package| {
        let digit = package["hash"].as_str().map(|text| {
            let hex = text.strip_prefix("sha256:").unwrap();
            assert_eq!(hex, hash(&hex[..1]));
            &hex[..1]
        });
        json!([
            package["name"],
            package["version"],
            package["file"],
            digit,
            package["line"],
            package["status"]
        ])
    });
    (lock["kind"].as_str().unwrap().to_owned(), rows.collect())
}

#[test]
fn uv_lock_has_wheels_addresses_sources_and_packages_without_a_file() {
    assert_eq!(
        rows("uv.lock", UV, "linux/amd64"),
        (
            "uv".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                    "b",
                    10,
                    "wheel"
                ]),
                json!(["far", "2.0", "far-2.0-py3-none-any.whl", "d", 20, "url"]),
                json!(["only-win", "3.0", null, null, 28, "no-file"]),
                json!(["src", "4.0", "src-4.0.tar.gz", "b", 36, "sdist"]),
            ]
        )
    );
    assert_eq!(
        rows("uv.lock", UV, "windows/amd64"),
        (
            "uv".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-win_amd64.whl",
                    "c",
                    10,
                    "wheel"
                ]),
                json!(["far", "2.0", "far-2.0-py3-none-any.whl", "d", 20, "url"]),
                json!([
                    "only-win",
                    "3.0",
                    "only_win-3.0-py3-none-win_amd64.whl",
                    "a",
                    28,
                    "wheel"
                ]),
                json!(["src", "4.0", "src-4.0.tar.gz", "b", 36, "sdist"]),
            ]
        )
    );
}

#[test]
fn pylock_has_files_and_markers() {
    assert_eq!(
        rows("pylock.toml", PYLOCK, "linux/amd64"),
        (
            "pylock".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                    "a",
                    5,
                    "wheel"
                ]),
                json!(["src", "4.0", "src-4.0.tar.gz", "c", 13, "sdist"]),
            ]
        )
    );
    assert_eq!(
        rows("pylock.toml", PYLOCK, "windows/amd64"),
        (
            "pylock".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-win_amd64.whl",
                    "b",
                    5,
                    "wheel"
                ]),
                json!(["src", "4.0", "src-4.0.tar.gz", "c", 13, "sdist"]),
                json!(["win", "1", "win-1-py3-none-any.whl", "d", 18, "wheel"]),
            ]
        )
    );
}

#[test]
fn requirements_leave_files_to_an_index_except_those_with_an_address() {
    assert_eq!(
        rows("requirements.txt", REQUIREMENTS, "linux/amd64"),
        (
            "requirements".to_owned(),
            vec![
                json!(["cuda-ext", "1.0", null, null, 2, "ask-index"]),
                json!(["far", "2.0", "far-2.0-py3-none-any.whl", "c", 5, "url"]),
            ]
        )
    );
    assert_eq!(
        rows("requirements.txt", REQUIREMENTS, "windows/amd64"),
        (
            "requirements".to_owned(),
            vec![
                json!(["cuda-ext", "1.0", null, null, 2, "ask-index"]),
                json!(["far", "2.0", "far-2.0-py3-none-any.whl", "c", 5, "url"]),
                json!(["win", "1", null, null, 6, "ask-index"]),
            ]
        )
    );
}

#[test]
fn pipenv_leaves_files_to_an_index() {
    assert_eq!(
        rows("Pipfile.lock", PIPENV, "linux/amd64"),
        (
            "pipenv".to_owned(),
            vec![json!(["cuda-ext", "1.0", null, null, 9, "ask-index"]),]
        )
    );
    assert_eq!(
        rows("Pipfile.lock", PIPENV, "windows/amd64"),
        (
            "pipenv".to_owned(),
            vec![
                json!(["cuda-ext", "1.0", null, null, 9, "ask-index"]),
                json!(["win", "1", null, null, 13, "ask-index"]),
            ]
        )
    );
}

#[test]
fn poetry_lock_has_files_without_addresses() {
    assert_eq!(
        rows("poetry.lock", POETRY, "linux/amd64"),
        (
            "poetry".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                    "a",
                    1,
                    "wheel"
                ]),
                json!(["src", "4.0", "src-4.0.tar.gz", "c", 12, "sdist"]),
            ]
        )
    );
    assert_eq!(
        rows("poetry.lock", POETRY, "windows/amd64"),
        (
            "poetry".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-win_amd64.whl",
                    "b",
                    1,
                    "wheel"
                ]),
                json!(["src", "4.0", "src-4.0.tar.gz", "c", 12, "sdist"]),
            ]
        )
    );
}

#[test]
fn pdm_lock_has_files_with_addresses() {
    assert_eq!(
        rows("pdm.lock", PDM, "linux/amd64"),
        (
            "pdm".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
                    "a",
                    10,
                    "wheel"
                ]),
                json!(["only-win", "3.0", null, null, 19, "no-file"]),
            ]
        )
    );
    assert_eq!(
        rows("pdm.lock", PDM, "windows/amd64"),
        (
            "pdm".to_owned(),
            vec![
                json!([
                    "cuda-ext",
                    "1.0",
                    "cuda_ext-1.0-cp312-cp312-win_amd64.whl",
                    "b",
                    10,
                    "wheel"
                ]),
                json!([
                    "only-win",
                    "3.0",
                    "only_win-3.0-py3-none-win_amd64.whl",
                    "c",
                    19,
                    "wheel"
                ]),
            ]
        )
    );
}

#[test]
fn conda_lock_has_conda_packages_and_wheels() {
    assert_eq!(
        rows("conda-lock.yml", CONDA_LOCK, "linux/amd64"),
        (
            "conda-lock".to_owned(),
            vec![
                json!([
                    "libcuda-ext",
                    "1.0.0",
                    "libcuda-ext-1.0.0-cuda129_0.conda",
                    "a",
                    6,
                    "conda"
                ]),
                json!(["far", "2.0", "far-2.0-py3-none-any.whl", "c", 22, "wheel"]),
            ]
        )
    );
    assert_eq!(
        rows("conda-lock.yml", CONDA_LOCK, "windows/amd64"),
        (
            "conda-lock".to_owned(),
            vec![json!([
                "libcuda-ext",
                "1.0.0",
                "libcuda-ext-1.0.0-cuda129_0.conda",
                "b",
                14,
                "conda"
            ]),]
        )
    );
}

#[test]
fn an_explicit_list_is_for_one_platform() {
    assert_eq!(
        rows("explicit.txt", EXPLICIT, "linux/amd64"),
        (
            "conda-explicit".to_owned(),
            vec![
                json!([
                    "libcuda-ext",
                    "1.0.0",
                    "libcuda-ext-1.0.0-cuda129_0.conda",
                    "a",
                    3,
                    "conda"
                ]),
                json!(["plain", "2", "plain-2-0.conda", "b", 4, "conda"]),
            ]
        )
    );
    assert_eq!(
        rows("explicit.txt", EXPLICIT, "windows/amd64"),
        ("conda-explicit".to_owned(), Vec::<Value>::new())
    );
}

#[test]
fn pixi_lock_has_conda_packages_and_wheels_by_platform() {
    assert_eq!(
        rows("pixi.lock", PIXI, "linux/amd64"),
        (
            "pixi".to_owned(),
            vec![
                json!([
                    "libcuda-ext",
                    "1.0.0",
                    "libcuda-ext-1.0.0-cuda129_0.conda",
                    "a",
                    13,
                    "conda"
                ]),
                json!(["far", "2.0", "far-2.0-py3-none-any.whl", "c", 17, "wheel"]),
            ]
        )
    );
    assert_eq!(
        rows("pixi.lock", PIXI, "windows/amd64"),
        (
            "pixi".to_owned(),
            vec![json!([
                "libcuda-ext",
                "1.0.0",
                "libcuda-ext-1.0.0-cuda129_0.conda",
                "b",
                15,
                "conda"
            ]),]
        )
    );
}
