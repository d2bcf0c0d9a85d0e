"""What the benchmarks share: building programs, and measuring a process."""

import json
import os
import pathlib
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def cargo(*arguments):
    """Builds, and gives the paths of the programs by name."""
    command = ["cargo", *arguments, "--locked", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = map(json.loads, built.splitlines())
    return {it["target"]["name"]: it["executable"] for it in messages if it.get("executable")}


def measure(command, stdin=""):
    """Wall seconds, user seconds, system seconds and peak RSS in MiB of one process.

    The peak is read while the process runs: the one that the kernel hands out at the end counts the memory of
    this script in, which is that of the process until it begins.
    """
    peak, begun = 0, time.monotonic()
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
    return time.monotonic() - begun, usage.ru_utime, usage.ru_stime, peak / 1024


def high_water_mark(pid, program):
    """The peak RSS of a running process in KiB; 0 where it is not known, or not that program yet."""
    try:
        if not os.path.samefile(f"/proc/{pid}/exe", shutil.which(program)):
            return 0
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (OSError, TypeError):
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
