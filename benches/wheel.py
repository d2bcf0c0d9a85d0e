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
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "real"))
from wheels import cache_dir, wheel  # noqa: E402

SUBJECT = "torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64"
RATIO_BAR, RSS_BAR = 1.25, 64
# Machine fields of COFF objects: x86, x86-64, Arm 64
COFF = (b"\x4c\x01", b"\x64\x86", b"\x64\xaa")


def cargo(*arguments):
    """Builds, and gives the paths of the programs by name."""
    command = ["cargo", *arguments, "--locked", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = map(json.loads, built.splitlines())
    return {it["target"]["name"]: it["executable"] for it in messages if it.get("executable")}


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


def measure(command, stdin=""):
    """User seconds, system seconds and peak RSS in MiB of one process.

    The peak is read while the process runs: the one that the kernel hands out at the end counts the memory of
    this script in, which is that of the process until it begins.
    """
    peak = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        process.stdin.write(stdin)
        process.stdin.close()
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            peak = max(peak, high_water_mark(process.pid, command[0]))
            time.sleep(0.005)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{command[0]}: exit status {process.returncode}")
    return usage.ru_utime, usage.ru_stime, peak / 1024


def high_water_mark(pid, program):
    """The peak RSS of a running process in KiB; 0 where it is not known, or not that program yet."""
    try:
        if not os.path.samefile(f"/proc/{pid}/exe", shutil.which(program)):
            return 0
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (OSError, TypeError):
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


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
        user, system, rss = medians[name]
        print(f"{name:10}{user:8.2f}{system:8.2f}{rss:9.1f}   {' '.join(f'{run[0]:.2f}' for run in runs)}")
    ratio, rss = medians["inspect"][0] / medians["inflate"][0], medians["inspect"][2]
    print(f"user CPU, inspect to inflate: {ratio:.3f} (bar {RATIO_BAR})")
    print(f"peak RSS of inspect: {rss:.1f} MiB (bar {RSS_BAR})")


if __name__ == "__main__":
    main()
