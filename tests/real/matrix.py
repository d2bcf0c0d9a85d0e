"""Judges wheels on GPUs from K80 to GB10 and prints tables of Markdown, one row a wheel.

    python3 tests/real/matrix.py target/release/smgate WHEEL...

A cell is `+` (pass), `-` (fail) or `?` (incomplete), with letters for what was found; MATRIX.md beside this file
explains them and holds the last tables. Wheels for x86-64 and for Arm have a table each: a GPU on the other host would
be `-o` everywhere. Drivers: R470 for the K80, R580 elsewhere; Orin's come with JetPack and are in no table of branches.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ORIN = "Jetson AGX Orin"
GPUS = {
    "linux/amd64": [
        "K80", "GTX 980", "P100", "GTX 1080", "V100", "T4", "A100", "RTX 3090", "L4", "H100", "B200", "B300", "RTX 5090",
    ],
    "linux/arm64": [ORIN, "Jetson AGX Thor", "GH200", "GB200", "GB300", "GB10"],
}
DRIVERS = {"K80": "R470", ORIN: None}
MARKS = {
    "no-kernel-image": "k", "driver-too-old": "d", "ptx-too-new": "p", "partial-coverage": "c", "jit-only": "j",
    "arch-specific-only": "a", "library-for-newer-gpus": "n", "jit-compiler-mismatch": "m", "unreadable": "u",
    "ptx-header-mismatch": "h", "platform-mismatch": "o", "tegra-compatibility-unsure": "t", "link-only": "l",
}
SIGNS = {"pass": "+", "fail": "-", "incomplete": "?"}


def row(smgate, policy, gpus, wheel):
    command = [smgate, "check", "--format", "json", "--policy", policy, wheel]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 3):
        raise SystemExit(f"{wheel}: exit status {run.returncode}: {run.stderr.strip()}")
    report = json.loads(run.stdout)
    cells = []
    for gpu, judged in zip(gpus, report["matrix"], strict=True):
        codes = {
            finding["code"] for finding in report["findings"]
            if finding["target"] == gpu and finding["level"] in ("deny", "warn", "incomplete")
        }
        letters = "".join(sorted(MARKS.get(code, f" {code} ") for code in codes))
        cells.append(SIGNS[judged["verdict"]] + letters)
    name = " ".join(pathlib.Path(wheel).name.split("-")[:2])
    return f"| {name} | " + " | ".join(cells) + " |"


def target(gpu, platform):
    driver = DRIVERS.get(gpu, "R580")
    return {"name": gpu, "gpu": gpu, "platform": platform} | ({"driver": driver} if driver else {})


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    arm = [wheel for wheel in sys.argv[2:] if "aarch64" in pathlib.Path(wheel).name]
    tables = {"linux/amd64": [wheel for wheel in sys.argv[2:] if wheel not in arm], "linux/arm64": arm}
    with tempfile.TemporaryDirectory() as scratch:
        policy = pathlib.Path(scratch) / "policy.yaml"
        for platform, wheels in tables.items():
            if not wheels:
                continue
            gpus = GPUS[platform]
            targets = [target(gpu, platform) for gpu in gpus]
            levels = {"driver-not-given": "allow"}
            policy.write_text(json.dumps({"version": 1, "targets": targets, "levels": levels}))
            print(f"{platform}:\n")
            print("| package | " + " | ".join(gpus) + " |")
            print("| --- |" + " --- |" * len(gpus))
            for wheel in wheels:
                print(row(sys.argv[1], policy, gpus, wheel), flush=True)
            print()


if __name__ == "__main__":
    main()
