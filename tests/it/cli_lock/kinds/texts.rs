//! One small lock file of each kind. `BASE` is the address of a server, `<a>` a hash in hexadecimal digits.

pub(super) const UV: &str = r#"version = 1
requires-python = ">=3.12"

[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "cuda-ext" }, { name = "far" }, { name = "only-win" }, { name = "src" }]

[[package]]
name = "cuda-ext"
version = "1.0"
source = { registry = "BASE/simple" }
wheels = [
    { url = "BASE/cuda_ext-1.0-cp312-cp312-manylinux_2_28_aarch64.whl", hash = "sha256:<a>", size = 10 },
    { url = "BASE/cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", hash = "sha256:<b>", size = 20 },
    { url = "BASE/cuda_ext-1.0-cp312-cp312-win_amd64.whl", hash = "sha256:<c>", size = 30 },
]

[[package]]
name = "far"
version = "2.0"
source = { url = "BASE/far-2.0-py3-none-any.whl" }
wheels = [
    { url = "BASE/far-2.0-py3-none-any.whl", hash = "sha256:<d>" },
]

[[package]]
name = "only-win"
version = "3.0"
source = { registry = "BASE/simple" }
wheels = [
    { url = "BASE/only_win-3.0-py3-none-win_amd64.whl", hash = "sha256:<a>", size = 1 },
]

[[package]]
name = "src"
version = "4.0"
source = { registry = "BASE/simple" }
sdist = { url = "BASE/src-4.0.tar.gz", hash = "sha256:<b>", size = 2 }
"#;

pub(super) const PYLOCK: &str = r#"lock-version = "1.0"
created-by = "tests"
requires-python = ">=3.12"

[[packages]]
name = "cuda-ext"
version = "1.0"
wheels = [
    { url = "BASE/cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", hashes = { sha256 = "<a>" } },
    { url = "BASE/cuda_ext-1.0-cp312-cp312-win_amd64.whl", hashes = { sha256 = "<b>" } },
]

[[packages]]
name = "src"
version = "4.0"
sdist = { url = "BASE/src-4.0.tar.gz", hashes = { sha256 = "<c>" } }

[[packages]]
name = "win"
version = "1"
marker = "sys_platform == 'win32'"
wheels = [{ url = "BASE/win-1-py3-none-any.whl", hashes = { sha256 = "<d>" } }]
"#;

pub(super) const REQUIREMENTS: &str = r#"# by hand
cuda-ext==1.0 \
    --hash=sha256:<a> \
    --hash=sha256:<b>
far @ BASE/far-2.0-py3-none-any.whl#sha256=<c>
win==1 ; sys_platform == "win32"
"#;

pub(super) const PIPENV: &str = r#"{
    "_meta": {
        "hash": {"sha256": "00"},
        "pipfile-spec": 6,
        "requires": {"python_version": "3.12"},
        "sources": [{"name": "main", "url": "BASE/simple", "verify_ssl": true}]
    },
    "default": {
        "cuda-ext": {
            "hashes": ["sha256:<a>"],
            "version": "==1.0"
        },
        "win": {"markers": "sys_platform == 'win32'", "version": "==1"}
    },
    "develop": {}
}
"#;

pub(super) const POETRY: &str = r#"[[package]]
name = "cuda-ext"
version = "1.0"
optional = false
python-versions = ">=3.10"
groups = ["main"]
files = [
    {file = "cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", hash = "sha256:<a>"},
    {file = "cuda_ext-1.0-cp312-cp312-win_amd64.whl", hash = "sha256:<b>"},
]

[[package]]
name = "src"
version = "4.0"
optional = false
python-versions = ">=3.10"
groups = ["main"]
files = [{file = "src-4.0.tar.gz", hash = "sha256:<c>"}]

[metadata]
lock-version = "2.1"
python-versions = ">=3.12"
content-hash = "00"
"#;

pub(super) const PDM: &str = r#"[metadata]
groups = ["default"]
strategy = ["inherit_metadata", "static_urls"]
lock_version = "4.5.0"
content_hash = "sha256:00"

[[metadata.targets]]
requires_python = ">=3.12"

[[package]]
name = "cuda-ext"
version = "1.0"
groups = ["default"]
files = [
    {url = "BASE/cuda_ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", hash = "sha256:<a>"},
    {url = "BASE/cuda_ext-1.0-cp312-cp312-win_amd64.whl", hash = "sha256:<b>"},
]

[[package]]
name = "only-win"
version = "3.0"
groups = ["default"]
files = [{url = "BASE/only_win-3.0-py3-none-win_amd64.whl", hash = "sha256:<c>"}]
"#;

pub(super) const CONDA_LOCK: &str = r"version: 1
metadata:
  content_hash: {linux-64: aa}
  platforms: [linux-64, win-64]
package:
- name: libcuda-ext
  version: 1.0.0
  manager: conda
  platform: linux-64
  url: BASE/linux-64/libcuda-ext-1.0.0-cuda129_0.conda
  hash: {md5: 00000000000000000000000000000000, sha256: <a>}
  category: main
  optional: false
- name: libcuda-ext
  version: 1.0.0
  manager: conda
  platform: win-64
  url: BASE/win-64/libcuda-ext-1.0.0-cuda129_0.conda
  hash: {md5: 11111111111111111111111111111111, sha256: <b>}
  category: main
  optional: false
- name: far
  version: '2.0'
  manager: pip
  platform: linux-64
  url: BASE/far-2.0-py3-none-any.whl
  hash: {sha256: <c>}
  category: main
  optional: false
";

pub(super) const EXPLICIT: &str = r"# platform: linux-64
@EXPLICIT
BASE/linux-64/libcuda-ext-1.0.0-cuda129_0.conda#sha256:<a>
BASE/noarch/plain-2-0.conda#sha256:<b>
";

pub(super) const PIXI: &str = r"version: 6
environments:
  default:
    channels:
    - url: BASE/forge/
    packages:
      linux-64:
      - conda: BASE/linux-64/libcuda-ext-1.0.0-cuda129_0.conda
      - pypi: BASE/far-2.0-py3-none-any.whl
      win-64:
      - conda: BASE/win-64/libcuda-ext-1.0.0-cuda129_0.conda
packages:
- conda: BASE/linux-64/libcuda-ext-1.0.0-cuda129_0.conda
  sha256: <a>
- conda: BASE/win-64/libcuda-ext-1.0.0-cuda129_0.conda
  sha256: <b>
- pypi: BASE/far-2.0-py3-none-any.whl
  name: far
  version: '2.0'
  sha256: <c>
";
