"""What smgate costs on a large image, beside the least that any reader has to do.

    python3 benches/image.py [OCI-LAYOUT]

Builds what it measures. Without a layout it makes one: a Debian base where `debootstrap` is there and may run, and
torch 2.9.1 with the NVIDIA packages that it needs (3 GB, which pip downloads once) as one gzip layer, written
straight from the wheels. Every run is a process of its own, the programs take turns, and medians are printed:

    inspect    `smgate inspect --format json oci-dir:LAYOUT`
    layers     benches/layers.rs: unpacks the layers with the same backends and computes both digests of each, a
               layer's digests on a second thread; nothing else

The bars of this project: wall time of `inspect` at most 1.15 times that of `layers`, a peak RSS of at most 128 MiB,
and nothing left on the disk.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

from measuring import ROOT, cargo, measure

sys.path.insert(0, str(ROOT / "tests" / "real"))
from wheels import cache_dir  # noqa: E402

RATIO_BAR, RSS_BAR = 1.15, 128
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64"]
SITE = "usr/local/lib/python3.12/site-packages"


class Blob:
    """A file that is hashed as it is written, packed by gzip or not at all, under its digest at the end."""

    def __init__(self, layout, pack):
        self.blobs = layout / "blobs" / "sha256"
        self.blobs.mkdir(parents=True, exist_ok=True)
        self.file = tempfile.NamedTemporaryFile(dir=self.blobs, delete=False)
        self.packer = zlib.compressobj(6, zlib.DEFLATED, 31) if pack else None
        self.packed, self.plain, self.size = hashlib.sha256(), hashlib.sha256(), 0

    def write(self, data):
        self.plain.update(data)
        self.store(self.packer.compress(data) if self.packer else bytes(data))
        return len(data)

    def store(self, data):
        self.packed.update(data)
        self.file.write(data)
        self.size += len(data)

    def close(self):
        if self.packer:
            self.store(self.packer.flush())
        self.file.close()
        os.chmod(self.file.name, 0o644)
        os.rename(self.file.name, self.blobs / self.packed.hexdigest())
        return {"digest": f"sha256:{self.packed.hexdigest()}", "size": self.size}


def base_layer(layout):
    """A Debian base, where one can be made here."""
    if not shutil.which("debootstrap") or os.geteuid() != 0:
        print("no debootstrap or no rights: the image has no base layer")
        return None
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["debootstrap", "--variant=minbase", "stable", root], check=True, stdout=subprocess.DEVNULL)
        blob = Blob(layout, pack=True)
        with tarfile.open(fileobj=blob, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            tar.add(root, arcname=".")
    return blob


def wheel_layer(layout, wheels):
    blob = Blob(layout, pack=True)
    with tarfile.open(fileobj=blob, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(path) as wheel:
                for member in wheel.infolist():
                    if member.is_dir():
                        continue
                    info = tarfile.TarInfo(f"{SITE}/{member.filename}")
                    info.size = member.file_size
                    with wheel.open(member) as data:
                        tar.addfile(info, data)
    return blob


def make_layout(layout, wheels):
    layers, diff_ids = [], []
    media = "application/vnd.oci.image"
    for blob in filter(None, [base_layer(layout), wheel_layer(layout, wheels)]):
        layers.append({"mediaType": f"{media}.layer.v1.tar+gzip", **blob.close()})
        diff_ids.append(f"sha256:{blob.plain.hexdigest()}")

    def put(media_type, document):
        blob = Blob(layout, pack=False)
        blob.write(json.dumps(document).encode())
        return {"mediaType": f"{media}.{media_type}.v1+json", **blob.close()}

    config = put("config", {
        "architecture": "amd64",
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": diff_ids},
        "history": [{"created_by": "debootstrap"}, {"created_by": "pip install torch==2.9.1"}][-len(layers):],
    })
    manifest = put("manifest", {"schemaVersion": 2, "config": config, "layers": layers})
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    (layout / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')


def default_layout(cache):
    layout = cache / "image-torch-2.9.1"
    if (layout / "oci-layout").exists():
        return layout
    wheels = cache / "image-wheels"
    command = [sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "--python-version", "3.12"]
    command += [it for platform in PLATFORMS for it in ("--platform", platform)]
    subprocess.run([*command, "--dest", wheels, "torch==2.9.1"], check=True)
    shutil.rmtree(layout, ignore_errors=True)
    make_layout(layout, wheels)
    return layout


def layers_of(layout):
    """The blobs of the only image of a layout."""
    def read(descriptor):
        return json.loads((layout / "blobs" / descriptor["digest"].replace(":", "/")).read_text())

    manifest = read(json.loads((layout / "index.json").read_text())["manifests"][0])
    return [layout / "blobs" / layer["digest"].replace(":", "/") for layer in manifest["layers"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout", nargs="?", type=pathlib.Path, help="an OCI layout with one image")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program (3)")
    parser.add_argument("--cache", help="where what is downloaded and made is kept")
    arguments = parser.parse_args()
    layout = arguments.layout or default_layout(cache_dir(arguments.cache))
    smgate = cargo("build", "--release", "--bin", "smgate")["smgate"]
    peer = cargo("bench", "--bench", "layers", "--no-run")["layers"]
    layers = layers_of(layout)
    unpacked = int(subprocess.run([peer, *layers], check=True, stdout=subprocess.PIPE).stdout)
    packed = sum(layer.stat().st_size for layer in layers)
    print(f"{layout.name}: {len(layers)} layers, {packed / 1e6:.0f} MB, {unpacked / 1e6:.0f} MB unpacked")
    programs = {
        "inspect": [smgate, "inspect", "--format", "json", f"oci-dir:{layout}"],
        "layers": [peer, *layers],
    }
    results = {name: [] for name in programs}
    for _ in range(arguments.runs):
        for name, command in programs.items():
            results[name].append(measure(list(map(str, command))))
    print(f"{'':10}{'wall s':>8}{'user s':>8}{'sys s':>8}{'RSS MiB':>9}   each run, wall s")
    medians = {}
    for name, runs in results.items():
        medians[name] = [statistics.median(column) for column in zip(*runs)]
        wall, user, system, rss = medians[name]
        print(f"{name:10}{wall:8.2f}{user:8.2f}{system:8.2f}{rss:9.1f}   {' '.join(f'{run[0]:.2f}' for run in runs)}")
    ratio, rss = medians["inspect"][0] / medians["layers"][0], medians["inspect"][3]
    print(f"wall time, inspect to layers: {ratio:.3f} (bar {RATIO_BAR})")
    print(f"peak RSS of inspect: {rss:.1f} MiB (bar {RSS_BAR})")


if __name__ == "__main__":
    main()
