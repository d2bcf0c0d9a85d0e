"""Makes the seeds of all fuzz targets out of testdata and policies; `python3 fuzz/seed.py [SMGATE]`.

With the program as argument it adds inventories, which nothing else holds.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SEEDS = ROOT / "fuzz" / "seeds"
CUDA = [path for path in sorted((ROOT / "testdata" / "cuda").iterdir()) if path.suffix in (
    ".a", ".cubin", ".dll", ".fatbin", ".lib", ".ltoir", ".o", ".obj", ".ptx", ".pyd", ".so",
)]
WHEEL = next((ROOT / "testdata" / "demo").glob("*.whl"))


def put(target, name, content):
    directory = SEEDS / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)


for path in CUDA:
    content = path.read_bytes()
    put("scan", path.name, bytes([63]) + content)
    if path.suffix == ".cubin":
        put("images", path.name, bytes([1, 0, 63]) + content)
    if path.suffix == ".ptx":
        put("images", path.name, bytes([0, 0, 63]) + content)
put("zip", WHEEL.name, WHEEL.read_bytes())
put("wheel", "demo", b"\xff".join([
    WHEEL.name.encode(),
    b"Metadata-Version: 2.1\nName: smgate-demo\nVersion: 1.0\n",
    b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n",
    b"smgate_demo/__init__.py,sha256=abc,10\nsmgate_demo-1.0.dist-info/RECORD,,\n",
]))
for path in [*sorted((ROOT / "policies").glob("*.yaml")), ROOT / "testdata" / "demo" / "smgate.yaml"]:
    put("policy", path.name, path.read_bytes())
if len(sys.argv) > 1:
    for path in [WHEEL, *CUDA[:20]]:
        run = subprocess.run([sys.argv[1], "inspect", "--format", "json", path], stdout=subprocess.PIPE, check=False)
        put("inventory", f"{path.name}.json", run.stdout)
print(f"{sum(path.is_file() for path in SEEDS.rglob('*'))} seeds in {SEEDS.relative_to(ROOT)}")
