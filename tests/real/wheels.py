"""Exact wheels for the tools beside this file: found by name and SHA-256, downloaded once.

pip does the download, so the index, its credentials, certificates and proxies are those of the user's own
configuration, and no index is named here.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def cache_dir(given=None):
    """The directory that keeps downloads: the argument, or one below the user's cache directory."""
    if given:
        return pathlib.Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "smgate-real-wheels"


def require_program(name):
    """Ends with a message where the program under test is not there."""
    if shutil.which(name) is None:
        raise SystemExit(f"{name}: there is no such program; `cargo build --release --locked` builds it")


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def pip_options(name):
    """The options that make pip choose the wheel called `name` on any machine, and its requirement."""
    project, version, *_build, python, abi, platform = name.removesuffix(".whl").split("-")
    tag = python.split(".")[-1]
    digits = tag.lstrip("abcdefghijklmnopqrstuvwxyz")
    options = ["--implementation", tag[: len(tag) - len(digits)], "--abi", abi]
    options += ["--python-version", digits]
    for tag in platform.split("."):
        options += ["--platform", tag]
    return options, f"{project}=={version}"


def wheel(name, digest, cache):
    """The path of the wheel called `name` with this SHA-256, downloaded where it is not in `cache` yet."""
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / name
    if path.exists() and sha256(path) == digest:
        return path
    options, requirement = pip_options(name)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        wanted = pathlib.Path(scratch) / "requirements.txt"
        wanted.write_text(f"{requirement} --hash=sha256:{digest}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--no-deps"]
        command += ["--only-binary=:all:", "--ignore-requires-python", *options]
        command += ["--require-hashes", "--dest", scratch, "-r", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = pathlib.Path(scratch) / name
        if done.returncode != 0 or not found.exists():
            raise SystemExit(f"{name}: pip could not download it:\n{done.stderr.strip()}")
        found.replace(path)
    return path


if __name__ == "__main__":
    if len(sys.argv) < 2 or not all("=" in argument for argument in sys.argv[1:]):
        raise SystemExit("usage: wheels.py NAME.whl=SHA256...; prints where each lies")
    for argument in sys.argv[1:]:
        wanted_name, _, wanted_digest = argument.partition("=")
        print(wheel(wanted_name, wanted_digest, cache_dir()))
