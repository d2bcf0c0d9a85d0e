"""Judges wheels on GPUs from K80 to RTX 5090 and prints a table of Markdown, one row a wheel.

    python3 tests/real/matrix.py target/release/smgate WHEEL...

A cell is `+` (pass), `-` (fail) or `?` (incomplete), with letters for what was found; MATRIX.md beside this file
explains them and holds the last table. Drivers: R470 for the K80, R580 elsewhere.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

GPUS = ["K80", "GTX 980", "P100", "GTX 1080", "V100", "T4", "A100", "RTX 3090", "L4", "H100", "B200", "B300", "RTX 5090"]
MARKS = {
    "no-kernel-image": "k", "driver-too-old": "d", "ptx-too-new": "p", "partial-coverage": "c", "jit-only": "j",
    "arch-specific-only": "a", "library-for-newer-gpus": "n", "jit-compiler-mismatch": "m", "unreadable": "u",
    "ptx-header-mismatch": "h", "platform-mismatch": "o",
}
SIGNS = {"pass": "+", "fail": "-", "incomplete": "?"}


def row(smgate, policy, wheel):
    command = [smgate, "check", "--format", "json", "--policy", policy, wheel]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 3):
        raise SystemExit(f"{wheel}: exit status {run.returncode}: {run.stderr.strip()}")
    report = json.loads(run.stdout)
    cells = []
    for gpu, judged in zip(GPUS, report["matrix"], strict=True):
        codes = {
            finding["code"] for finding in report["findings"]
            if finding["target"] == gpu and finding["level"] in ("deny", "warn", "incomplete")
        }
        letters = "".join(sorted(MARKS.get(code, f" {code} ") for code in codes))
        cells.append(SIGNS[judged["verdict"]] + letters)
    name = " ".join(pathlib.Path(wheel).name.split("-")[:2])
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    targets = [
        {"name": gpu, "gpu": gpu, "driver": "R470" if gpu == "K80" else "R580", "platform": "linux/amd64"}
        for gpu in GPUS
    ]
    with tempfile.TemporaryDirectory() as scratch:
        policy = pathlib.Path(scratch) / "policy.yaml"
        policy.write_text(json.dumps({"version": 1, "targets": targets}))
        print("| package | " + " | ".join(GPUS) + " |")
        print("| --- |" + " --- |" * len(GPUS))
        for wheel in sys.argv[2:]:
            print(row(sys.argv[1], policy, wheel), flush=True)


if __name__ == "__main__":
    main()
