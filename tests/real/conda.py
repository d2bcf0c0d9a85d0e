"""Makes conda packages out of real wheels, in both formats, and compares what smgate finds in all three.

    python3 tests/real/conda.py target/release/smgate [WHEEL...] [--cph PROGRAM] [--work DIR]

Without wheels it takes the small ones among those that compare.py and verdicts.py have downloaded. The packages are
made by `cph` of conda-package-handling (`pip install conda-package-handling` in a virtual environment, then
`--cph VENV/bin/cph`), so that they are what conda's own tool writes: `.conda` with zstd level 19, `.tar.bz2`. One line a
wheel, exit status 1 where the libraries, the classes of their device code or anything else of them differ.
"""

import argparse
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from wheels import cache_dir, require_program

SITE = "lib/python3.12/site-packages"
SMALL = 10 << 20


def inspect(smgate, path):
    """The one artifact that smgate finds at `path`."""
    run = subprocess.run([smgate, "inspect", "--format", "json", str(path)], capture_output=True, check=False)
    if run.returncode not in (0, 3):
        raise SystemExit(f"{path}: {run.stderr.decode()}")
    return json.loads(run.stdout)["artifacts"][0]


def make(wheel, cph, work):
    """The two packages with the content of a wheel."""
    name, version = wheel.name.split("-")[:2]
    build = "cuda_py312_h0123456_0"
    with tempfile.TemporaryDirectory(dir=work) as tree:
        tree = pathlib.Path(tree)
        paths = []
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if member.is_dir():
                    continue
                path = f"{SITE}/{member.filename}"
                content = archive.read(member)
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(content)
                digest = hashlib.sha256(content).hexdigest()
                entry = {"_path": path, "path_type": "hardlink", "sha256": digest, "size_in_bytes": len(content)}
                paths.append(entry)
        machine = "linux-aarch64" if "aarch64" in wheel.name else "win-64" if "win_amd64" in wheel.name else "linux-64"
        index = {"name": name, "version": version, "build": build, "build_number": 0, "subdir": machine}
        index |= {"depends": ["python >=3.12,<3.13.0a0"], "constrains": [], "license": "unknown"}
        info = tree / "info"
        info.mkdir()
        (info / "index.json").write_text(json.dumps(index))
        (info / "paths.json").write_text(json.dumps({"paths": paths, "paths_version": 1}))
        (info / "files").write_text("".join(f"{entry['_path']}\n" for entry in paths))
        packages = []
        for suffix in (".conda", ".tar.bz2"):
            package = work / f"{name}-{version}-{build}{suffix}"
            package.unlink(missing_ok=True)
            subprocess.run([cph, "create", str(tree), str(package)], check=True, stdout=subprocess.DEVNULL)
            packages.append(package)
        return packages


def libraries(artifact):
    """The libraries without what depends on the archive around them, by path."""
    found = {}
    for library in artifact["libraries"]:
        path = library.pop("path").removeprefix(f"{SITE}/")
        library.pop("package")
        found[path] = library
    return found


def problems(artifact):
    places = ((problem["kind"], re.sub(r"^.* › ", "", problem["at"])) for problem in artifact["problems"])
    return sorted((kind, place.replace(f"{SITE}/", "")) for kind, place in places)


def compare(wheel, smgate, cph, work):
    """What differs, as sentences, and a summary of what is there."""
    expected = inspect(smgate, wheel)
    differs = []
    wanted, said = libraries(expected), problems(expected)
    for package in make(wheel, cph, work):
        found = inspect(smgate, package)
        if found["kind"] != "conda" or found["name"] != wheel.name.split("-")[0]:
            differs.append(f"{package.name} is {found['kind']} {found['name']}")
        have = libraries(found)
        for path in sorted(wanted.keys() | have.keys()):
            if wanted.get(path) != have.get(path):
                differs.append(f"{package.name}: {path}")
        if problems(found) != said:
            differs.append(f"{package.name}: problems {problems(found)}, in the wheel {said}")
        package.unlink()
    images = (image for library in wanted.values() for image in library["images"])
    targets = sorted({image["target"] for image in images if image["target"]})
    return differs, f"{len(wanted)} libraries, {len(targets)} targets ({', '.join(targets)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("smgate")
    parser.add_argument("wheels", nargs="*", type=pathlib.Path)
    parser.add_argument("--cph", default="cph", help="the tool that makes packages")
    parser.add_argument("--cache", help="where wheels were downloaded to")
    parser.add_argument("--work", type=pathlib.Path, help="where packages are made")
    options = parser.parse_args()
    for program in (options.smgate, options.cph):
        if shutil.which(program) is None:
            require_program(options.smgate)
            raise SystemExit(f"{program}: there is no such program; see the head of this file")
    wheels = options.wheels
    if not wheels:
        cached = sorted(cache_dir(options.cache).glob("*.whl"))
        wheels = [wheel for wheel in cached if wheel.stat().st_size < SMALL]
    if not wheels:
        raise SystemExit("no wheels: name some, or run compare.py before")
    failed = 0
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        for wheel in wheels:
            differs, summary = compare(wheel, options.smgate, options.cph, pathlib.Path(work))
            print(f"{'FAIL' if differs else 'ok'}  {wheel.name}: {summary}", flush=True)
            for difference in differs:
                print(f"      {difference}")
            failed += bool(differs)
    print(f"{len(wheels)} wheels, {failed} differ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
