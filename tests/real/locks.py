"""Compares what `smgate inspect LOCK --offline` says is installed with what other tools say.

    python3 tests/real/locks.py SMGATE LOCK...

It needs the Python packages `packaging` (26.4 or newer), `pyyaml`, and `uv` for uv.lock files. Nothing is asked of
any server. For each lock file, platform and Python, the set of (name, version, file) is compared with

- pylock.toml: `packaging.pylock.Pylock.select`
- uv.lock: `uv export --frozen --format pylock.toml`, then the same
- poetry.lock 2.1, pdm.lock: markers, groups and tags by `packaging`
- Pipfile.lock, requirements.txt: markers by `packaging`; these files name no files
- conda-lock.yml, pixi.lock, @EXPLICIT: the entries of the platform
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
from urllib.parse import unquote, urlparse

from packaging.markers import Marker
from packaging.pylock import PackageDirectory, PackageVcs, Pylock, PylockSelectError
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

PLATFORMS = {
    "linux/amd64": ("x86_64", "linux", "Linux", "posix", "x86_64", "linux-64"),
    "linux/arm64": ("aarch64", "linux", "Linux", "posix", "aarch64", "linux-aarch64"),
    "windows/amd64": ("win_amd64", "win32", "Windows", "nt", "AMD64", "win-64"),
}
PYTHONS = ["3.10", "3.12", "3.13"]
GLIBCS = ["2.17", "2.28", None]


def tags(platform, python, glibc):
    arch = PLATFORMS[platform][0]
    version = tuple(int(part) for part in python.split("."))
    if arch.startswith("win"):
        platforms = [arch]
    else:
        newest = int(glibc.split(".")[1]) if glibc else 99
        platforms = []
        for minor in range(newest, 4, -1):
            platforms.append(f"manylinux_2_{minor}_{arch}")
            legacy = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}.get(minor)
            if legacy and (minor == 17 or arch == "x86_64"):
                platforms.append(f"{legacy}_{arch}")
        platforms.append(f"linux_{arch}")
    interpreter = "cp" + "".join(map(str, version))
    return [
        *cpython_tags(version, platforms=platforms),
        *compatible_tags(version, interpreter, platforms),
    ]


def environment(platform, python):
    _, sys_platform, system, os_name, machine, _ = PLATFORMS[platform]
    return {
        "python_version": python,
        "python_full_version": python + ".0",
        "sys_platform": sys_platform,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": os_name,
        "implementation_name": "cpython",
        "implementation_version": python + ".0",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_version": "",
        "extra": "",
    }


def best(names, supported):
    rank = {tag: index for index, tag in enumerate(supported)}
    found = []
    for name in names:
        if name.endswith(".whl"):
            _, _, build, of = parse_wheel_filename(name)
            fits = [rank[tag] for tag in of if tag in rank]
            if fits:
                found.append((min(fits), tuple(-part for part in build[:1]), name))
    return min(found)[2] if found else None


def file_name(address):
    return unquote(urlparse(address).path).rsplit("/", 1)[-1]


def by_pylock(data, platform, python, glibc):
    lock = Pylock.from_dict(data)
    marks, supported = environment(platform, python), tags(platform, python, glibc)
    try:
        chosen = list(lock.select(environment=marks, tags=supported))
    except PylockSelectError as error:
        if "No wheel" not in str(error):
            raise
        yield from one_by_one(data, marks, supported)
        return
    for package, what in chosen:
        name = getattr(what, "name", None) or getattr(what, "filename", None)
        if isinstance(what, (PackageVcs, PackageDirectory)):
            name = None
        yield package.name, str(package.version) if package.version else None, name


def one_by_one(data, marks, supported):
    """The same where a package has no file, at which `select` stops."""
    marks = {**marks, "extras": set(), "dependency_groups": set(data.get("default-groups", []))}
    for package in data["packages"]:
        if "marker" in package and not Marker(package["marker"]).evaluate(marks, context="lock_file"):
            continue
        files = package.get("wheels", [])
        names = [file.get("name") or file_name(file["url"]) for file in files]
        file = best(names, supported)
        if not file and "sdist" in package:
            sdist = package["sdist"]
            file = sdist.get("name") or file_name(sdist["url"])
        yield package["name"], package.get("version"), file


def export_uv(path):
    """A project whose lock this could be, exported by uv."""
    lock = tomllib.loads(path.read_text())
    roots = [
        package
        for package in lock["package"]
        if {"virtual", "editable"} & package["source"].keys()
    ]
    root = roots[0]
    lines = [
        "[project]",
        f'name = "{root["name"]}"',
        f'version = "{root.get("version", "0")}"',
        f'requires-python = "{lock["requires-python"]}"',
        "[dependency-groups]",
        *(f"{group} = []" for group in root.get("dev-dependencies", {})),
    ]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "uv.lock").write_bytes(path.read_bytes())
        (folder / "pyproject.toml").write_text("\n".join(lines) + "\n")
        command = ["uv", "export", "--frozen", "--offline", "--no-emit-project"]
        command += ["--format", "pylock.toml", "-q"]
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if out.returncode:
            raise RuntimeError(out.stderr.strip()[-300:])
        return tomllib.loads(out.stdout)


def by_files(packages, platform, python, glibc, wanted):
    """poetry and pdm: flat lists of packages with markers, groups and file names."""
    marks = environment(platform, python)
    supported = tags(platform, python, glibc)
    for package in packages:
        marker = package.get("markers") or package.get("marker")
        if isinstance(marker, dict):
            marker = " or ".join(f"({text})" for group, text in marker.items() if group in wanted)
        if marker and not Marker(marker).evaluate(marks):
            continue
        groups = package.get("groups")
        if groups is not None and not set(groups) & set(wanted):
            continue
        if package.get("optional"):
            continue
        needs = package.get("requires_python") or package.get("python-versions")
        names = [
            file.get("file") or file_name(file["url"]) for file in package.get("files", [])
        ]
        if package.get("requires_python") and not SpecifierSet(needs).contains(python + ".0"):
            continue
        wheel = best(names, supported)
        sdist = next((name for name in names if not name.endswith(".whl")), None)
        yield package["name"], package["version"], wheel or sdist


def by_pipfile(data, platform, python):
    marks = environment(platform, python)
    for name, entry in data.get("default", {}).items():
        if "markers" in entry and not Marker(entry["markers"]).evaluate(marks):
            continue
        yield name, entry.get("version", "").removeprefix("==") or None, None


def by_requirements(text, platform, python):
    marks = environment(platform, python)
    text = re.sub(r"\\\r?\n", " ", text)
    for line in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if line.startswith("-e "):
            yield pathlib.PurePath(line[3:]).name or ".", None, None
        if not line or line.startswith("-"):
            continue
        if line.endswith(".whl") and "@" not in line:
            if best([file_name(line)], tags(platform, python, None)):
                yield *file_name(line).split("-")[:2], None
            continue
        line = line.split(" --hash")[0].strip()
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker and not requirement.marker.evaluate(marks):
            continue
        if requirement.url:
            if best([file_name(requirement.url)], tags(platform, python, None)):
                yield requirement.name, "URL", None
            continue
        exact = [spec for spec in requirement.specifier if spec.operator in ("==", "===")]
        if len(exact) == 1 and not exact[0].version.endswith(".*"):
            yield requirement.name, exact[0].version, None


def conda_name(url):
    name = file_name(url)
    stem = re.sub(r"\.(conda|tar\.bz2)$", "", name)
    return stem.rsplit("-", 2)[0], stem.rsplit("-", 2)[1], name


def by_conda_lock(data, platform):
    subdir = PLATFORMS[platform][5]
    for package in data["package"]:
        if package["platform"] != subdir or package.get("category", "main") != "main":
            continue
        if package.get("optional"):
            continue
        yield package["name"], package["version"], file_name(package["url"])


def python_of(packages):
    """The Python that the environment itself installs."""
    for entry in packages:
        found = re.search(r"/python-(3\.\d+)\.", entry.get("conda", ""))
        if found:
            return found[1]
    return None


def by_pixi(data, platform, python, glibc):
    subdir = PLATFORMS[platform][5]
    packages = data["environments"]["default"]["packages"].get(subdir, [])
    versions = {
        entry.get("pypi") or entry.get("url"): (entry["name"], entry["version"])
        for entry in data["packages"]
        if ("pypi" in entry or entry.get("kind") == "pypi") and "name" in entry
    }
    for entry in packages:
        url = entry.get("conda") or entry.get("pypi")
        if "conda" in entry and re.search(r"\.(conda|tar\.bz2)$", url):
            yield conda_name(url)
        elif "pypi" in entry and url in versions:
            name = file_name(url)
            if name.endswith(".whl"):
                name = best([name], tags(platform, python_of(packages) or python, glibc))
            yield *versions[url], name
        elif "conda_source" in entry:
            # a package that is built from a directory
            yield entry["conda_source"].split("[")[0], None, None


def by_explicit(text, platform):
    subdir = PLATFORMS[platform][5]
    if f"/{subdir}/" not in text:
        return  # the list is for another platform, and so is what of it is for any
    for line in text.splitlines():
        if re.match(r"https?://", line):
            url = line.split("#")[0]
            if url.split("/")[-2] in (subdir, "noarch"):
                yield conda_name(url)


def oracle(path, platform, python, glibc, exported={}):
    text = path.read_text()
    name = path.name
    if name.endswith("uv.lock"):
        if path not in exported:
            exported[path] = export_uv(path)
        return by_pylock(exported[path], platform, python, glibc)
    if name.endswith("pylock.toml"):
        return by_pylock(tomllib.loads(text), platform, python, glibc)
    if name.endswith("poetry.lock"):
        return by_files(tomllib.loads(text)["package"], platform, python, glibc, ["main"])
    if name.endswith("pdm.lock"):
        return by_files(tomllib.loads(text)["package"], platform, python, glibc, ["default"])
    if name.endswith("Pipfile.lock"):
        return by_pipfile(json.loads(text), platform, python)
    if name.endswith(".txt"):
        return by_requirements(text, platform, python)
    if "@EXPLICIT" in text:
        return by_explicit(text, platform)
    import yaml

    data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return by_conda_lock(data, platform) if "package" in data else by_pixi(data, platform, python, glibc)


def ours(smgate, path, platform, python, glibc):
    command = [smgate, "inspect", str(path), "--offline", "--no-cache", "--format", "json"]
    command += ["--platform", platform, "--python", python]
    command += ["--glibc", glibc] if glibc else []
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode not in (0, 3):
        raise RuntimeError(out.stderr.strip()[-300:])
    lock = json.loads(out.stdout)["locks"][0]
    for package in lock["packages"]:
        yield package["name"], package["version"], package["file"], package["status"]


def skip_unfit(path, rows):
    """Requirements by address that do not fit: the other reading leaves them out."""
    return (row for row in rows if not (path.suffix == ".txt" and row[3] == "no-file"))


def main():
    smgate, paths = sys.argv[1], [pathlib.Path(path) for path in sys.argv[2:]]
    compared = failed = 0
    for path in paths:
        for platform in PLATFORMS:
            for python in PYTHONS:
                for glibc in GLIBCS:
                    where = f"{path.name} {platform} {python} {glibc}"
                    try:
                        expected = {
                            (canonicalize_name(name), version, file)
                            for name, version, file in oracle(path, platform, python, glibc)
                        }
                    except Exception as error:  # the other tool refuses: so it is told
                        print(f"?    {where}: {type(error).__name__}: {str(error)[:120]}")
                        continue
                    try:
                        found = {
                            (
                                canonicalize_name(name),
                                "URL" if status == "url" and path.suffix == ".txt" else version,
                                None if path.suffix == ".txt" else file,
                            )
                            for name, version, file, status in skip_unfit(path, ours(
                                smgate, path, platform, python, glibc
                            ))
                        }
                    except Exception as error:
                        print(f"FAIL {where}: {error}")
                        failed += 1
                        continue
                    compared += 1
                    if found != expected:
                        failed += 1
                        print(f"FAIL {where}: {len(found)} found, {len(expected)} expected")
                        for what, rows in (("only ours", found - expected), ("only theirs", expected - found)):
                            for row in sorted(rows, key=str)[:5]:
                                print(f"       {what}: {row}")
    print(f"{compared} compared, {failed} failed")
    sys.exit(failed > 0)


main()
