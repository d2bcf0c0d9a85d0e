"""What smgate costs on a large wheel, beside the least that any reader has to do and beside other programs.

    python3 benches/wheel.py [WHEEL]

Builds what it measures. Without a wheel it takes torch 2.9.1 for Linux (900 MB), which pip downloads once. Every
run is a process of its own, the programs take turns, and medians are printed:

    inspect    `smgate inspect --format json`
    inflate    benches/inflate.rs: inflates the wheel's native members with the same backend and takes the SHA-256
               of the wheel, nothing else
    unzip      `unzip -p`: all members
    zipfile    `python -m zipfile -t`: all members, with checksums

The bars of this project are for torch 2.9.1: user CPU of `inspect` at most 1.25 times that of `inflate`, and a peak
RSS of at most 64 MiB.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
import zipfile

from measuring import ROOT, cargo, measure

sys.path.insert(0, str(ROOT / "tests" / "real"))
from wheels import cache_dir, wheel  # noqa: E402

SUBJECT = "torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64"
RATIO_BAR, RSS_BAR = 1.25, 64
# Machine fields of COFF objects: x86, x86-64, Arm 64
COFF = (b"\x4c\x01", b"\x64\x86", b"\x64\xaa")


def is_native(name, head):
    """By content; a COFF object only by its suffix too, as its first two bytes say little."""
    coff = name.lower().endswith((".obj", ".o")) and head.startswith(COFF)
    return head.startswith((b"\x7fELF", b"MZ", b"!<arch>\n")) or coff


def native_members(path):
    """The members to inflate, in the form that benches/inflate.rs reads, and their unpacked bytes."""
    lines, unpacked = [], 0
    with zipfile.ZipFile(path) as archive, open(path, "rb") as raw:
        for member in archive.infolist():
            with archive.open(member) as file:
                head = file.read(8)
            if not is_native(member.filename, head):
                continue
            raw.seek(member.header_offset + 26)
            name, extra = (int.from_bytes(raw.read(2), "little") for _ in range(2))
            offset = member.header_offset + 30 + name + extra
            method = "stored" if member.compress_type == zipfile.ZIP_STORED else "deflated"
            lines.append(f"{offset} {member.compress_size} {method}\n")
            unpacked += member.file_size
    return "".join(lines), unpacked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", nargs="?", help="a wheel; torch 2.9.1 if not given")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program (3)")
    parser.add_argument("--cache", help="where a downloaded wheel is kept")
    arguments = parser.parse_args()
    if arguments.wheel:
        path = pathlib.Path(arguments.wheel)
    else:
        truth = json.loads((ROOT / "testdata" / "truth" / f"{SUBJECT}.json").read_text())
        path = wheel(truth["wheel"], truth["sha256"], cache_dir(arguments.cache))
    smgate = cargo("build", "--release", "--bin", "smgate")["smgate"]
    inflate = cargo("bench", "--bench", "inflate", "--no-run")["inflate"]
    members, unpacked = native_members(path)
    programs = {
        "inspect": ([smgate, "inspect", "--format", "json", path], ""),
        "inflate": ([inflate, path], members),
        "zipfile": ([sys.executable, "-m", "zipfile", "-t", path], ""),
    }
    if shutil.which("unzip"):
        programs["unzip"] = (["unzip", "-p", path], "")
    print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, native members {unpacked / 1e6:.0f} MB unpacked")
    results = {name: [] for name in programs}
    for _ in range(arguments.runs):
        for name, (command, stdin) in programs.items():
            results[name].append(measure(list(map(str, command)), stdin))
    print(f"{'':10}{'user s':>8}{'sys s':>8}{'RSS MiB':>9}   each run, user s")
    medians = {}
    for name, runs in results.items():
        medians[name] = [statistics.median(column) for column in zip(*runs)]
        _, user, system, rss = medians[name]
        print(f"{name:10}{user:8.2f}{system:8.2f}{rss:9.1f}   {' '.join(f'{run[1]:.2f}' for run in runs)}")
    ratio, rss = medians["inspect"][1] / medians["inflate"][1], medians["inspect"][3]
    print(f"user CPU, inspect to inflate: {ratio:.3f} (bar {RATIO_BAR})")
    print(f"peak RSS of inspect: {rss:.1f} MiB (bar {RSS_BAR})")


if __name__ == "__main__":
    main()
