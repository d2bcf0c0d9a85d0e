//! `pixi.lock` as it is read.

use super::super::Origin;
use super::*;

fn at() -> Locator {
    Locator::root(0, "pixi.lock")
}

fn rows(lock: &Lock) -> Vec<(u32, String)> {
    let packages = lock.packages.iter();
    packages
        .map(|p| {
            let file = p.files.first();
            let name = file.map_or("-", |f| f.name.as_str());
            let hash = file
                .and_then(|f| f.hash.as_ref())
                .map_or("-".to_owned(), ToString::to_string);
            let on = &p.condition;
            let row = format!(
                "{} {} {name} {hash} {} {} {}",
                p.name,
                p.version.as_deref().unwrap_or("-"),
                on.environments.join(","),
                on.subdirs.join(","),
                on.platforms.join(","),
            );
            (p.line, row.trim_end().to_owned())
        })
        .collect()
}

const V5: &str = "\
version: 5
environments:
  default:
    channels:
    - url: https://c.example/forge/
    indexes:
    - https://u:s3cret@i.example/simple
    packages:
      linux-64:
      - conda: https://c.example/forge/linux-64/a-1.10-0.conda
      - conda: https://c.example/forge/noarch/n-1-0.conda
      - pypi: https://f.example/t-2.0%2Bcu1-cp312-cp312-linux_x86_64.whl
      - pypi: ./proj
      osx-arm64:
      - conda: https://c.example/forge/noarch/n-1-0.conda
  test:
    channels: []
    packages:
      linux-64:
      - conda: https://c.example/forge/noarch/n-1-0.conda
packages:
- kind: conda
  name: a
  version: 1.10
  build: '0'
  subdir: linux-64
  url: https://c.example/forge/linux-64/a-1.10-0.conda
  sha256: 0a
  md5: 0b
  depends:
  - n
  size: 12
- kind: conda
  name: n
  version: '1'
  url: https://c.example/forge/noarch/n-1-0.conda
  md5: 0c
- kind: conda
  name: unused
  version: '1'
  url: https://c.example/forge/noarch/unused-1-0.conda
- kind: pypi
  name: t
  version: 2.0+cu1
  url: https://f.example/t-2.0%2Bcu1-cp312-cp312-linux_x86_64.whl
  sha256: 0d
- kind: pypi
  name: proj
  version: '0.1'
  path: ./proj
  editable: true
";

#[test]
fn version_5_is_read_with_environments_and_platforms() {
    let lock = read(V5, &at()).unwrap();
    assert_eq!(lock.problems, []);
    let row = |line, text: &str| (line, text.to_owned());
    assert_eq!(
        rows(&lock),
        [
            row(22, "a 1.10 a-1.10-0.conda sha256:0a default linux-64"),
            row(33, "n 1 n-1-0.conda md5:0c default linux-64,osx-arm64"),
            row(33, "n 1 n-1-0.conda md5:0c test linux-64"),
            row(
                42,
                "t 2.0+cu1 t-2.0+cu1-cp312-cp312-linux_x86_64.whl sha256:0d default linux-64"
            ),
            row(47, "proj 0.1 - - default linux-64"),
        ]
    );
    assert_eq!(lock.packages[0].files[0].size, Some(12));
    assert_eq!(
        lock.packages[0].index.as_deref(),
        Some("https://c.example/forge")
    );
    assert_eq!(lock.packages[3].origin, Origin::Index);
    assert_eq!(lock.packages[4].origin, Origin::Directory("./proj".into()));
    assert_eq!(lock.environments, ["default", "test"]);
    assert_eq!(lock.indexes, ["https://i.example/simple"]);
    assert!(!format!("{lock:?}").contains("s3cret"));
    let older = read(&V5.replace("version: 5", "version: 4"), &at()).unwrap();
    assert_eq!(older.packages, lock.packages);
}

const V7: &str = "\
version: 7
platforms:
- name: gpu
  subdir: linux-64
  virtual-packages:
  - __cuda=12
- name: cpu
  subdir: linux-64
- name: win-64
environments:
  default:
    channels:
    - url: https://c.example/forge/
    packages:
      gpu:
      - conda: https://c.example/forge/linux-64/torch-2-cuda_0.conda
      - conda_source: probe[0123] @ .
      cpu:
      - conda: https://c.example/forge/linux-64/torch-2-cpu_0.conda
      win-64:
      - conda: https://c.example/forge/win-64/torch-2-cpu_0.conda
      - pypi: https://f.example/six-1-py3-none-any.whl
packages:
- conda: https://c.example/forge/linux-64/torch-2-cuda_0.conda
  sha256: 0a
- conda: https://c.example/forge/linux-64/torch-2-cpu_0.conda
  sha256: 0b
- conda: https://c.example/forge/win-64/torch-2-cpu_0.conda
  sha256: 0c
- conda_source: probe[0123] @ .
  variants: {target_platform: linux-64}
  build_packages:
  - conda: https://c.example/forge/noarch/not-installed-1-0.conda
- pypi: https://f.example/six-1-py3-none-any.whl
  name: six
  version: '1'
  index: https://u:s3cret@i.example/simple
  sha256: 0d
";

#[test]
fn version_7_tells_machines_of_one_subdir_apart() {
    let lock = read(V7, &at()).unwrap();
    assert_eq!(lock.problems, []);
    let row = |line, text: &str| (line, text.to_owned());
    assert_eq!(
        rows(&lock),
        [
            row(
                24,
                "torch 2 torch-2-cuda_0.conda sha256:0a default linux-64 gpu"
            ),
            row(
                26,
                "torch 2 torch-2-cpu_0.conda sha256:0b default linux-64 cpu"
            ),
            row(28, "torch 2 torch-2-cpu_0.conda sha256:0c default win-64"),
            row(30, "probe - - - default linux-64 gpu"),
            row(34, "six 1 six-1-py3-none-any.whl sha256:0d default win-64"),
        ]
    );
    assert_eq!(lock.packages[3].origin, Origin::Directory(".".into()));
    assert_eq!(
        lock.packages[4].index.as_deref(),
        Some("https://i.example/simple")
    );
    assert_eq!(lock.platforms[0].virtual_packages, ["__cuda=12"]);
    assert_eq!(lock.platforms[2].subdir, "win-64");
}

#[test]
fn version_6_takes_sources_apart_by_what_selects_them() {
    let text = "version: 6\nenvironments:\n  default:\n    packages:\n      linux-64:\n      - conda: mono\n        name: core\n      - pypi: git+https://g.example/p@1\n      - pypi: direct+https://f.example/q-1-py3-none-any.whl\npackages:\n- conda: mono\n  name: core\n  version: '1'\n- conda: mono\n  name: utils\n- pypi: git+https://g.example/p@1\n  name: p\n- pypi: direct+https://f.example/q-1-py3-none-any.whl\n  name: q\n";
    let lock = read(text, &at()).unwrap();
    assert_eq!(lock.problems, []);
    let seen: Vec<_> = lock
        .packages
        .iter()
        .map(|p| (&*p.name, p.origin.clone()))
        .collect();
    assert_eq!(
        seen,
        [
            ("core", Origin::Directory("mono".into())),
            ("p", Origin::Vcs("git+https://g.example/p@1".into())),
            ("q", Origin::Url),
        ]
    );
}

#[test]
fn what_is_used_and_not_described_is_located_and_kept() {
    let text = "version: 6\nenvironments:\n  default:\n    packages:\n      linux-64:\n      - conda: https://u:s3cret@c.example/linux-64/a-1-0.conda\n      - rpm: x\n      osx-64:\n      - conda: https://u:s3cret@c.example/linux-64/a-1-0.conda\npackages:\n- name: nothing\n";
    let lock = read(text, &at()).unwrap();
    let details: Vec<_> = lock.problems.iter().map(|p| p.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "line 6: `https://c.example/linux-64/a-1-0.conda` is in an environment and is not described under `packages`",
            "line 7: a package that is neither `conda` nor `pypi`",
            "line 11: a package without the address of its file, which is left out",
        ]
    );
    assert_eq!(
        rows(&lock),
        [(6, "a 1 a-1-0.conda - default linux-64,osx-64".to_owned())]
    );
}

#[test]
fn other_versions_are_refused_with_their_line() {
    let error = read("# c\nversion: 3\npackage: []\n", &at()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pixi.lock: line 2: version `3` of pixi.lock is not read, 4 to 7 are"
    );
    assert!(error.hint().unwrap().contains("pixi lock"));
    assert!(read("version: 6\npackages: []\n", &at()).is_err());
}
