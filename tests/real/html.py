#!/usr/bin/env python3
"""Looks at the HTML report in a real browser: Chromium without a window, driven by playwright's Python driver.

    python3 tests/real/html.py --smgate target/release/smgate --policy fleet.yaml --out DIR INPUT...
    python3 tests/real/html.py --smgate target/release/smgate --out DIR --hostile
    python3 tests/real/html.py --smgate target/release/smgate --demo --picture docs/report.png

Needs a Chromium (`--chromium PATH`, or one on PATH), the Python packages `playwright` and `axe-core-python`, and for
`--picture` also `pillow`. Nothing is fetched: the browser is the system's, axe-core comes with its package.

The first form writes the report of INPUT... and looks at it at 1280 and 400 pixels, in light and dark. It fails where

- the console says anything, or anything but the file itself is asked for;
- the page scrolls sideways;
- a summary, a link or a button cannot be reached by the tabulator key;
- the page says less without its script;
- axe-core finds something against WCAG 2 A or AA, with everything open;

and leaves pictures of the head and of the whole page in DIR, of a long page in parts. `--hostile` does the same for a wheel and a policy whose
names are HTML, and looks whether they became text. `--demo` takes wheels of generic names that this script makes
itself. `--picture` writes the picture of the README: the head and the heat map, 1280 pixels wide, with few colours so
that it stays below 150 KiB. The third line above made the one in the repository, with the fonts of DejaVu.
"""

import argparse
import io
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

from playwright.sync_api import sync_playwright

SIZES = [(1280, 900), (400, 800)]
SCHEMES = ["light", "dark"]
# pixels of a picture, from top to bottom
PART = 8000
PICTURE_BYTES = 150 * 1024

HOSTILE = "<img src=x onerror=alert(1)>"
HOSTILE_POLICY = """\
version: 1
targets:
  - {name: "<script>alert(2)</script>", gpu: H100, driver: R580}
  - {name: "\\"onfocus=alert(3) x=\\"", gpu: T4, driver: R535}
"""

DEMO_POLICY = """\
version: 1
targets:
  - {name: t4-batch, gpu: T4, driver: R535}
  - {name: a100-prod, gpu: A100, driver: R550}
  - {name: a10-web, gpu: [A10, A40], driver: R570}
  - {name: l4-edge, gpu: L4, driver: R570}
  - {name: h100-train, gpu: H100, driver: "570.86.15"}
  - {name: b200-new, gpu: B200, driver: R580}
  - {name: desk, gpu: RTX 5090, driver: R580}
"""
ALL = ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
# packages of the demonstration: libraries, with fatbins of these images and how many of each
DEMO = {
    ("tensors", "2.9.0"): {"tensors/lib/libtensors.so": [(ALL, 40)], "tensors/lib/liblinalg.so": [(ALL, 12)]},
    ("visionops", "0.24.1"): {"visionops/_C.so": [(ALL, 6)]},
    ("attention", "3.1.0"): {"attention/_C.so": [(["sm_80", "sm_86", "sm_90", "compute_90@8.0"], 18)]},
    ("fastquant", "0.50.2"): {"fastquant/libquant.so": [(["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"], 22)]},
    ("speechnet", "1.4.0"): {
        "speechnet/_C.so": [(ALL, 9), (["sm_80", "sm_90", "sm_100", "sm_120"], 3)],
    },
    ("graphkit", "4.0.1"): {"graphkit/core.so": [(["sm_75", "sm_80", "compute_80@9.0"], 14)]},
    ("plotting", "1.0"): {},
}


def fail(message):
    raise SystemExit(f"html.py: {message}")


# Wheels with device code, as small as can be: an ELF with a section of fatbins (FORMAT.md). The cubins hold no code.


def cubin(sm):
    """A cubin of CUDA 12.8 with one kernel that does nothing."""
    number = int(sm.removeprefix("sm_"))
    names = b"\0.shstrtab\0.text.kernel\0"
    text = bytes(16)
    body = text + names
    header = 64
    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (1, 3, 0, 0, header + len(text), len(names), 0, 0, 1, 0),
        (11, 1, 6, 0, header, len(text), 0, 0, 128, 0),
    ]
    table = header + len(body) + (-len(body)) % 8
    flags = (number << 16) | number if number < 100 else (number << 8) | 2
    version, abi = (128, 7) if number < 100 else (1, 8)
    ident = b"\x7fELF\x02\x01\x01" + bytes([0x33 if number < 100 else 0x41, abi]) + bytes(7)
    elf = ident + struct.pack(
        "<HHIQQQIHHHHHH", 2, 190, version, 0, 0, table, flags, 64, 0, 0, 64, len(sections), 1
    )
    data = elf + body + bytes((-len(body)) % 8)
    return data + b"".join(struct.pack("<IIQQQQIIQQ", *section) for section in sections)


def entry(image):
    """An entry of a fatbin: a cubin `sm_80`, or PTX `compute_80@9.0`."""
    name, _, isa = image.partition("@")
    arch = int(name.split("_")[1])
    if isa:
        major, minor = (int(part) for part in isa.split("."))
        text = f".version {isa}\n.target sm_{arch}\n.address_size 64\n.visible .entry k()\n{{\nret;\n}}\n"
        payload, kind = text.encode() + b"\0", 1
    else:
        payload, kind, major, minor = cubin(image), 2, 1, 7
    payload += bytes((-len(payload)) % 8)
    header = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(payload), 0, 0, minor, major, arch, 0, 0, 0x11, 0, 0
    )
    return header + payload


def fatbin(images):
    entries = b"".join(entry(image) for image in images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries


def library(fatbins):
    """A shared library for Linux on x86-64 with these fatbins."""
    code = b"".join(fatbin(images) * count for images, count in fatbins)
    names = b"\0.shstrtab\0.nv_fatbin\0"
    body = code + names
    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (1, 3, 0, 0, 64 + len(code), len(names), 0, 0, 1, 0),
        (11, 1, 2, 0, 64, len(code), 0, 0, 8, 0),
    ]
    body += bytes((-len(body)) % 8)
    elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(sections), 1
    )
    return elf + body + b"".join(struct.pack("<IIQQQQIIQQ", *section) for section in sections)


def wheel(directory, name, version, members):
    tag = "py3-none-manylinux_2_28_x86_64"
    path = pathlib.Path(directory) / f"{name}-{version}-{tag}.whl"
    info = f"{name}-{version}.dist-info"
    files = {member: library(fatbins) for member, fatbins in members.items()}
    files[f"{name}/__init__.py"] = b""
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f'"{member}",,\n' for member in [*files, f"{info}/RECORD"])
    files[f"{info}/RECORD"] = record.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return path.name


def report(args, directory, policy, inputs):
    """The path of the report of `inputs`."""
    path = pathlib.Path(directory) / "report.html"
    smgate = pathlib.Path(shutil.which(args.smgate) or fail(f"{args.smgate}: there is no such program"))
    command = [smgate.resolve(), "check", "--policy", policy, "--output", f"html={path.resolve()}", *inputs]
    run = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 3):
        fail(run.stderr)
    print(f"{path.stat().st_size / 1e6:.2f} MB, exit status {run.returncode}")
    return path.resolve()


def said(page):
    """What the page says, with everything open."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return page.inner_text("main").split()


def look(browser, path, scripts=True, size=(1280, 900), scheme="light"):
    """A page, and what was noticed while it was loaded."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, java_script_enabled=scripts
    )
    page = context.new_page()
    noticed = []
    page.on("console", lambda message: noticed.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (noticed.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda one: one.url == path.as_uri() or noticed.append(f"request: {one.url}"))
    page.goto(path.as_uri())
    return page, noticed


def tabbed(page):
    """How many of what can be focused is reached by the tabulator key alone."""
    want = page.evaluate(
        """() => [...document.querySelectorAll('a[href], summary, button, input, [tabindex="0"]')]
            .filter((one) => one.checkVisibility()).map((one, at) => { one.dataset.tab = at; return at; })"""
    )
    reached = set()
    for _ in range(len(want) + 10):
        page.keyboard.press("Tab")
        at = page.evaluate("document.activeElement.dataset.tab ?? null")
        reached.add(int(at) if at is not None else None)
    return len(want), [at for at in want if at not in reached]


def wcag(page):
    """What axe-core finds."""
    from axe_core_python.sync_playwright import Axe

    options = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
    results = Axe().run(page, options=options)
    found = []
    for one in results["violations"]:
        where = "; ".join(str(node["target"]) for node in one["nodes"][:3])
        found.append(f"axe: {one['id']}: {one['help']} ({len(one['nodes'])}: {where})")
    return found


def pictures(page, width, out, name):
    """Takes the whole page, in as many parts as it needs: a browser draws no picture of any height."""
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": min(height, PART)})
    parts = math.ceil(height / PART)
    for part in range(parts):
        page.evaluate("(top) => scrollTo({top, behavior: 'instant'})", part * PART)
        number = f"-{part + 1:02}" if parts > 1 else ""
        page.screenshot(path=out / f"open-{name}{number}.png")
    return parts


def check(browser, path, out):
    """Every wrong thing about the report at `path`."""
    wrong = []
    plain, _ = look(browser, path, scripts=False)
    # without scripts a browser runs none of ours either, so it opens what the text of the file has
    closed = plain.inner_text("main").split()
    for size in SIZES:
        for scheme in SCHEMES:
            page, noticed = look(browser, path, size=size, scheme=scheme)
            name = f"{size[0]}-{scheme}"
            page.screenshot(path=out / f"head-{name}.png")
            with_script = page.inner_text("main").split()
            lost = set(closed) - set(with_script)
            if size == SIZES[0] and lost:
                wrong.append(f"{name}: only without the script: {sorted(lost)[:5]}")
            if scheme == "light":
                count, missed = tabbed(page)
                print(f"{name}: {count} reached by the tabulator key")
                wrong += [f"{name}: {len(missed)} of {count} are not reached"] if missed else []
            said(page)
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > size[0]:
                wrong.append(f"{name}: scrolls sideways, {wide} px")
            wrong += [f"{name}: {one}" for one in wcag(page)]
            parts = pictures(page, size[0], out, name)
            print(f"{name}: {parts} picture{'' if parts == 1 else 's'} of the whole page")
            wrong += [f"{name}: {one}" for one in noticed]
            page.context.close()
    return wrong


def hostile(browser, args, out):
    """Names that are HTML become text."""
    name = wheel(out, "evil", "1.0", {f"evil/{HOSTILE}.so": [(["sm_80", "sm_86"], 3)]})
    (out / "evil.yaml").write_text(HOSTILE_POLICY)
    path = report(args, out, "evil.yaml", [name])
    wrong = check(browser, path, out)
    page, noticed = look(browser, path)
    text = " ".join(said(page))
    for part in (HOSTILE, "<script>alert(2)</script>", '"onfocus=alert(3) x="'):
        if part not in text:
            wrong.append(f"not shown as text: {part}")
    for what in ("img", "iframe", "link", "object", "main script", "[onerror]", "[onfocus]"):
        if page.query_selector(what):
            wrong.append(f"there is a {what}")
    return wrong + noticed


def picture(browser, path, out):
    """The head and the heat map, 1280 pixels wide."""
    from PIL import Image

    page, _ = look(browser, path, size=(1280, 1600))
    page.evaluate(
        """() => {
            document.querySelectorAll('.finding').forEach((one) => { one.open = false; });
            document.querySelectorAll('.more').forEach((one) => one.remove());
        }"""
    )
    box = page.locator("#map").bounding_box()
    clip = {"x": 0, "y": 0, "width": 1280, "height": box["y"] + box["height"] + 24}
    taken = Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True))).convert("RGB")
    taken.quantize(colors=64, dither=Image.Dither.NONE).save(out, optimize=True)
    size = out.stat().st_size
    print(f"{out}: {taken.size[0]} x {taken.size[1]}, {size / 1024:.0f} KiB")
    return [f"{out} is larger than {PICTURE_BYTES} bytes"] if size > PICTURE_BYTES else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("inputs", nargs="*", metavar="INPUT")
    parser.add_argument("--smgate", default="smgate", help="the program under test")
    parser.add_argument("--policy", help="the policy; with --demo its own")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--out", type=pathlib.Path, help="the directory for the report and the pictures")
    parser.add_argument("--hostile", action="store_true", help="names that are HTML")
    parser.add_argument("--demo", action="store_true", help="wheels of generic names, made here")
    parser.add_argument("--picture", type=pathlib.Path, help="write the picture of the README here")
    args = parser.parse_args()
    if not args.chromium:
        fail("there is no Chromium on PATH: name one by `--chromium`")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        out = (args.out or pathlib.Path(scratch)).resolve()
        out.mkdir(parents=True, exist_ok=True)
        browser = driver.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        if args.hostile:
            wrong = hostile(browser, args, out)
        else:
            policy, inputs = args.policy, [str(pathlib.Path(one).resolve()) for one in args.inputs]
            if args.demo:
                (out / "fleet.yaml").write_text(DEMO_POLICY)
                policy = "fleet.yaml"
                inputs = [wheel(out, *package, members) for package, members in DEMO.items()]
            elif not policy or not inputs:
                fail("name a policy and inputs, or give --demo or --hostile")
            else:
                policy = str(pathlib.Path(policy).resolve()) if pathlib.Path(policy).exists() else policy
            path = report(args, out, policy, inputs)
            wrong = picture(browser, path, args.picture.resolve()) if args.picture else check(browser, path, out)
        browser.close()
    for one in wrong:
        print(one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
