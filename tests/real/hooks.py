#!/usr/bin/env python3
"""The pre-commit hooks, through pre-commit itself, in repositories that are made for that.

    python3 tests/real/hooks.py --pre-commit VENV/bin/pre-commit --program target/release/smgate [WAY...]

WAY is `system` (the program as it is; the default), `rust` (cargo builds the hook), `python` (pip and maturin do),
`wheel=FILE` (a wheel of the program, as `repo: local`). What is installed is the last commit, out of a clone with a
tag; nothing is written to this repository. A build takes minutes; CARGO_TARGET_DIR shortens it.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEMO = ROOT / "testdata/demo"
WHEEL = "smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl"
SHA256 = hashlib.sha256((DEMO / WHEEL).read_bytes()).hexdigest()

A100 = """\
version: 1
targets:
  - {name: lab-a100, gpu: A100, driver: "580.65.06", platform: linux/amd64}
"""
# what a hook without a network may be content with
HOOK = "version: 1\ninclude: a100.yaml\nlevels: {unreadable: warn}\n"
PYLOCK = f"""\
lock-version = "1.0"
created-by = "tests"

[[packages]]
name = "smgate-demo"
version = "1.0"
wheels = [{{ path = "wheels/{WHEEL}", hashes = {{ sha256 = "{SHA256}" }} }}]
"""
ELSEWHERE = f"https://packages.example/{WHEEL}"
REMOTE = f"smgate-demo @ {ELSEWHERE} --hash=sha256:{SHA256}\n"

# the hook, its arguments, the files: how it ends, and what it must say
CASES = [
    ("wheels that fail", "wheel", [], [f"wheels/{WHEEL}"], 1, ["FAIL        new-h100", "no-kernel-image"]),
    ("wheels that pass", "wheel", ["--policy", "a100.yaml"], [f"wheels/{WHEEL}"], 0, ["PASS        lab-a100"]),
    ("a lock file that fails", "lock", ["--offline"], ["pylock.toml"], 1, ["new-h100", "no-kernel-image"]),
    ("a lock file that passes", "lock", ["--offline", "--policy", "a100.yaml"], ["pylock.toml"], 0, ["lab-a100"]),
    ("nothing is kept, no network", "lock", ["--offline", "--policy", "a100.yaml"], ["requirements.txt"], 3, ["unreadable"]),
    ("the same where that is a warning", "lock", ["--offline", "--policy", "hook.yaml"], ["requirements.txt"], 0, ["unreadable"]),
    ("several files are one run", "lock", ["--offline", "--policy", "hook.yaml"],
     ["pylock.toml", "requirements.txt", "sub/pylock.gpu.toml"], 0, ["sub/pylock.gpu.toml"]),
    ("ranges alone are not judged", "lock", ["--offline", "--policy", "a100.yaml"], ["requirements-dev.txt"], 2, ["not-locked"]),
    ("a mistake in the policy", "wheel", ["--policy", "broken.yaml"], [f"wheels/{WHEEL}"], 2, ["no GPU is known by the name"]),
    ("other files are left alone", "lock", [], ["environment.yml", "Cargo.lock"], None, ["(no files to check)"]),
]


def run(*command, cwd, check=True, **env):
    return subprocess.run(
        command, cwd=cwd, check=check, env={**os.environ, **env}, text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )


def git(*args, cwd):
    return run("git", "-c", "user.name=tests", "-c", "user.email=tests@host.example", *args, cwd=cwd)


def user_repository(place):
    """A repository with lock files, a wheel and policies."""
    files = {
        "smgate.yaml": (DEMO / "smgate.yaml").read_text("utf-8"),
        "a100.yaml": A100,
        "hook.yaml": HOOK,
        "broken.yaml": A100.replace("A100", "A1000000"),
        "pylock.toml": PYLOCK,
        "sub/pylock.gpu.toml": PYLOCK.replace("wheels/", "../wheels/"),
        "requirements.txt": REMOTE,
        "requirements-dev.txt": "numpy\n",
        "environment.yml": "name: x\ndependencies:\n- numpy\n",
        "Cargo.lock": "version = 4\n",
    }
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (place / "wheels").mkdir()
    shutil.copy(DEMO / WHEEL, place / "wheels" / WHEEL)
    git("init", "--quiet", cwd=place)
    git("add", "--all", cwd=place)


def config(way, hook, args, clone):
    """The configuration of one hook. YAML takes JSON's way to write texts."""
    quoted = "[" + ", ".join(f'"{arg}"' for arg in args) + "]"
    if way.startswith("wheel="):
        manifest = (clone / ".pre-commit-hooks.yaml").read_text("utf-8")
        pattern = r"\.(whl|conda)$" if hook == "wheel" else re.search(r"files: &lock-files >-\n((?: {4}.*\n)+)", manifest)[1]
        pattern = " ".join(pattern.split())
        wheel = str(pathlib.Path(way[len("wheel="):]).resolve())
        return (
            "repos:\n- repo: local\n  hooks:\n"
            f"  - {{id: smgate, name: smgate, language: python, entry: smgate check, additional_dependencies: ['{wheel}'],\n"
            f"     files: '{pattern}', require_serial: true, args: {quoted}}}\n"
        )
    ending = {"rust": "", "python": "-py", "system": "-system"}[way]
    return (
        f"repos:\n- repo: '{clone.as_posix()}'\n  rev: v0.0.0\n  hooks:\n"
        f"  - {{id: smgate-{hook}{ending}, args: {quoted}}}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pre-commit", default="pre-commit")
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("way", nargs="*", default=["system"])
    options = parser.parse_args()
    pre_commit = shutil.which(options.pre_commit)
    if pre_commit is None:
        sys.exit(f"there is no `{options.pre_commit}`: pip install pre-commit")
    pre_commit = str(pathlib.Path(pre_commit).absolute())
    wrong = 0
    done = 0
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        clone = top / "smgate"
        git("clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone), cwd=top)
        git("tag", "v0.0.0", cwd=clone)
        user = top / "user"
        user.mkdir()
        user_repository(user)
        environment = {
            "PRE_COMMIT_HOME": str(top / "pre-commit"),
            "SMGATE_CACHE_DIR": str(top / "cache"),
            "PATH": os.pathsep.join([str(options.program.resolve().parent), os.environ["PATH"]]),
        }
        run(pre_commit, "validate-manifest", str(clone / ".pre-commit-hooks.yaml"), cwd=user, **environment)
        for way in options.way:
            began = time.monotonic()
            (user / ".pre-commit-config.yaml").write_text(config(way, "lock", [], clone), "utf-8")
            git("add", ".pre-commit-config.yaml", cwd=user)
            installed = run(pre_commit, "install-hooks", cwd=user, check=False, **environment)
            print(f"{way}: installed in {time.monotonic() - began:.0f} s")
            if installed.returncode != 0:
                sys.exit(installed.stdout)
            for name, hook, args, files, status, says in CASES:
                (user / ".pre-commit-config.yaml").write_text(config(way, hook, args, clone), "utf-8")
                git("add", ".pre-commit-config.yaml", cwd=user)
                ran = run(pre_commit, "run", "--verbose", "--color=never", "--files", *files, cwd=user, check=False, **environment)
                found = re.search(r"^- exit code: (\d+)$", ran.stdout, re.MULTILINE)
                code = int(found[1]) if found else 0
                good = (ran.returncode, code) == ((1, status) if status else (0, 0)) and all(word in ran.stdout for word in says)
                # one run has one summary
                if status is not None:
                    good = good and len(re.findall(r"^Tables of ", ran.stdout, re.MULTILINE)) <= 1
                print(f"  {'ok   ' if good else 'WRONG'}  {name}: exit status {code}")
                done += 1
                if not good:
                    wrong += 1
                    print(ran.stdout)
    print(f"{done - wrong} passed, {wrong} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
