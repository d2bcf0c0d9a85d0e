"""Compares what smgate reads out of real wheels with what NVIDIA's cuobjdump says of them.

    python3 tests/real/compare.py target/release/smgate [TRUTH.json...] [--cache DIR]

Without files it takes every one of testdata/truth, whose README says what they hold, and downloads the wheels
that it does not have yet (1.5 GB for all). One line a wheel, a figure last, exit status 1 where anything differs.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

from wheels import cache_dir, require_program, wheel

TRUTH = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "truth"
KINDS = {"elf": "cubin", "ptx": "ptx", "nvvm": "lto-ir"}
SUFFIXES = {0x100000: "a", 0x200000: "f"}
CODINGS = {0x2000: "lz4", 0x8000: "zstd"}


def base(target):
    """`sm_90` of `sm_90a` and of `compute_90a`."""
    return re.sub(r"[af]$", "", target).replace("compute_", "sm_")


def by_base(counts):
    """The counts without suffixes, which cuobjdump drops where it names the files of cubins."""
    summed = collections.Counter()
    for target, count in counts.items():
        summed[base(target)] += count
    return summed


def flag(flags, names, otherwise):
    return next((name for bit, name in names.items() if flags & bit), otherwise)


def expected_entries(file):
    """Every entry of every fatbin as an independent walk of the headers saw it."""
    entries = collections.Counter()
    for header in file.get("headers", []):
        flags = int(header["flags"], 16)
        kind = KINDS[header["kind"]]
        prefix = "compute_" if kind == "ptx" else "sm_"
        target = f"{prefix}{header['sm']}{flag(flags, SUFFIXES, '')}"
        isa = header["ver"] if kind == "ptx" else None
        entries[kind, target, isa, flag(flags, CODINGS, "none")] += header["count"]
    return entries


def read_entries(library):
    """The same, as smgate read it: where a payload contradicts its header, what the header says."""
    entries = collections.Counter()
    for group in library["classes"]:
        if group["bare"]:
            continue
        for image in group["images"]:
            said = image["header"] or image
            key = image["kind"].removeprefix("relocatable-"), said["target"], said["isa"], image["coding"]
            entries[key] += image["per_fatbin"] * group["count"]
    return entries


def read_images(library, kind, bare):
    """Targets of the images of one kind, inside fatbins or outside of them."""
    counts = collections.Counter()
    for group in library["classes"]:
        for image in group["images"]:
            if group["bare"] == bare and image["kind"].endswith(kind):
                counts[image["target"]] += image["per_fatbin"] * group["count"]
    return counts


def expected_bare(file):
    counts = collections.Counter()
    for key, count in file.get("bare_cubins", {}).items():
        counts[key.split()[0]] += count
    if file.get("bare_cubin_sm") is not None:
        counts[f"sm_{file['bare_cubin_sm']}"] += 1
    return by_base(counts)


def differences(file, library):
    """What differs for one file, in words."""
    cubins = read_images(library, "cubin", bare=False)
    pairs = [
        ("fatbins", file.get("fatbins", 0), library["fatbins"]),
        ("cubins", collections.Counter(file.get("sass", {})), drop_family(cubins)),
        ("PTX", by_base(file.get("ptx", {})), by_base(read_images(library, "ptx", bare=False))),
        ("bare cubins", expected_bare(file), by_base(read_images(library, "cubin", bare=True))),
        ("size", file["size"], library["size"]),
    ]
    if "headers" in file:
        pairs.append(("entries", expected_entries(file), read_entries(library)))
    for field in ("soname", "needed", "rpath", "runpath"):
        if field in file:
            pairs.append((field, file[field], library[field]))
    for what, want, got in pairs:
        if want != got:
            yield f"{file['path']}: {what}: {shown(want, got)}"


def drop_family(counts):
    """The counts as cuobjdump names them: without the suffix `f`, with `a`."""
    named = collections.Counter()
    for target, count in counts.items():
        named[target.removesuffix("f")] += count
    return named


def shown(want, got):
    if isinstance(want, collections.Counter):
        return f"missing {dict(want - got)}, too many {dict(got - want)}"
    return f"expected {want!r}, got {got!r}"


def compare(smgate, truth, cache):
    path = wheel(truth["wheel"], truth["sha256"], cache)
    run = subprocess.run([smgate, "inspect", "--format", "json", path], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return [f"exit status {run.returncode}: {run.stderr.strip()[-200:]}"]
    artifact = json.loads(run.stdout)["artifacts"][0]
    wrong = [] if artifact["sha256"] == truth["sha256"] else ["another SHA-256"]
    libraries = {library["path"]: library for library in artifact["libraries"]}
    for file in truth["files"]:
        library = libraries.pop(file["path"], None)
        if library is not None:
            wrong += differences(file, library)
        elif file.get("fatbins") or expected_bare(file):
            wrong.append(f"{file['path']}: not listed")
    # what the oracle has not seen must be without device code
    wrong += [f"{path}: device code that the oracle has not" for path, it in libraries.items() if it["images"]]
    return wrong


def read_truth(file):
    try:
        truth = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise SystemExit(f"{file}: could not be read: {error}") from None
    if not isinstance(truth, dict) or not {"wheel", "sha256", "files"} <= truth.keys():
        raise SystemExit(f"{file}: is no file of truth, as testdata/truth/README.md describes it")
    return truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("smgate", help="the program")
    parser.add_argument("truth", nargs="*", type=pathlib.Path, help="files of testdata/truth; all of them if not given")
    parser.add_argument("--cache", help="where downloaded wheels are kept")
    arguments = parser.parse_args()
    require_program(arguments.smgate)
    equal, files = 0, arguments.truth or sorted(TRUTH.glob("*.json"))
    if not files:
        raise SystemExit(f"{TRUTH}: no files of truth")
    for file in files:
        truth = read_truth(file)
        wrong = compare(arguments.smgate, truth, cache_dir(arguments.cache))
        equal += not wrong
        print(f"{'differs' if wrong else 'equal':8}{truth['wheel']}")
        for line in wrong:
            print(f"        {line}")
    print(f"{equal} of {len(files)} wheels equal the oracle")
    sys.exit(equal != len(files))


if __name__ == "__main__":
    main()
