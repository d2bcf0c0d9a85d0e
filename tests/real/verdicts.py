"""Judges real packages on real GPUs and compares with what is known to happen there.

    python3 tests/real/verdicts.py target/release/smgate [--cache DIR] [--only TEXT]

Downloads the wheels that it does not have yet (5.8 GB). One line a case, a figure last, exit status 1 where any is
not as expected. A case states every finding that denies or warns, so that a new false alarm shows too.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from wheels import cache_dir, require_program, wheel

CUDA = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "cuda"
TRUTH = CUDA.parent / "truth"

# wheels that testdata/truth does not describe
OTHER_WHEELS = {
    "faiss_gpu-1.7.2-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl":
        "c98abc1aac06cb4cb94de223b3186bd4a60d15fd3cae42271604168abc081ca5",
    "faiss_gpu_cu12-1.13.2-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl":
        "feba45c2271a350de30a1be5e9e1e1b1b43915b5f20975529a9c26cbc0ef1b03",
    "flashinfer_python-0.7.4-py3-none-any.whl":
        "a051a62e09a2738e8b0de47a1944fd2f0f3eff01b728b662141ea660cb09dd32",
    "nvidia_cuda_runtime_cu12-12.8.90-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl":
        "adade8dcbd0edf427b7204d480d6066d33902cab2a4707dcfc48a2d0fd44ab90",
    "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl":
        "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93",
    "onnxruntime_gpu-1.22.0-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl":
        "86b064c8f6cbe6da03f51f46351237d985f8fd5eb907d3f9997ea91881131a13",
    "onnxruntime_gpu-1.23.0-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl":
        "95801445d4ba4f4420587e66d6ccf28294a9cdc30f542da8425df68ac7101f62",
    "onnxruntime_gpu-1.23.2-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl":
        "4f2d1f720685d729b5258ec1b36dee1de381b8898189908c98cbeecdb2f2b5c2",
    "onnxruntime_gpu-1.31.1-cp312-cp312-win_amd64.whl":
        "2bb1e9373baba88f6415257f5b6a589d23e23c16004f7d89adf4344eada5749e",
    "tensorflow-2.20.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl":
        "25265b0bc527e0d54b1e9cc60c44a24f44a809fe27666b905f0466471f9c52ec",
    "paddlepaddle_gpu-2.6.2-cp311-cp311-manylinux1_x86_64.whl":
        "29694686383d935fb0966dd393f9af32a87d2d6674c8603583df5b08f9457f45",
    "tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl":
        "b3b95643c4e70eb925839938fb35cbe142f317ec84af6844ee61513713bb13c0",
    "torch-2.15.0-cp312-cp312-manylinux_2_28_aarch64.whl":
        "9e51cf9460c5441dcd2a4f31ece207e35ea7c3d2535be0f929cca4944e2eeb18",
    "torch-2.15.0-cp312-cp312-manylinux_2_28_x86_64.whl":
        "6d8c86f4e33a9f12a58149bd9b0d64351632b8eb44479be8ff85e5389932dd79",
    # packages that compile at run time, and compilers
    "cupy_cuda12x-14.2.0-cp312-cp312-manylinux2014_x86_64.whl":
        "f82141761f2c81905d49387464ae29438887956d99063381c93a1d5d1b7d32e8",
    "jax_cuda12_pjrt-0.12.0.1-py3-none-manylinux_2_27_x86_64.whl":
        "5ec28e06198d094031c37590b4ea753ae8cde4879ab4b60baf40f0dffb673286",
    "jax_cuda12_plugin-0.12.0.1-cp312-cp312-manylinux_2_27_x86_64.whl":
        "61dc67a8341ad6a0bb59631307914581ad16055f6c5635a2b7e57dfffb77e466",
    "numba_cuda-0.30.4-cp312-cp312-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl":
        "4f229a9314c98a6084e43c3a29ae1568a182bdcab7e87d8fc628a651ea2336ca",
    "nvidia_cuda_nvcc_cu12-12.4.131-py3-none-manylinux2014_x86_64.whl":
        "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04",
    "nvidia_cuda_nvrtc-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl":
        "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
    "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl":
        "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
    "nvidia_cuda_nvrtc_cu12-12.8.93-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl":
        "a7756528852ef889772a84c6cd89d41dfa74667e24cca16bb31f8f061e3e9994",
    "onnxruntime_ep_nv_tensorrt_rtx_cu12-0.5.0-py3-none-manylinux_2_28_x86_64.whl":
        "d71fcbaf4adc627d82fffa6bbac9300a4bfc58fbfa604929b601d22211083d47",
    "tensorrt_lean_cu12_libs-11.4.0.106-py3-none-manylinux_2_28_x86_64.whl":
        "091458056315f2ff7d8aa1b324ce8f9a0b227016fe223dfb60fc783eb8659478",
    "triton-3.9.0-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl":
        "5e52ab4e2f1d64f0ac494c9aa723697b793f81a91c4cae4c36608ca0bc4267bf",
    "warp_lang-1.19.0-py3-none-manylinux_2_28_x86_64.whl":
        "c797f5f4aa9925f676e20dd28e5416fee794499f3f3c0a5b66f2d4dfc2de9e32",
}

LINUX, WINDOWS, ARM = "linux/amd64", "windows/amd64", "linux/arm64"
PASS, FAIL = "pass", "fail"

# Cubins of testdata/cuda with another number of sm target, at the bytes of `e_flags` that hold it: compilers for
# these targets were not at hand
PATCHED = {
    "sm_86.cubin": ("cubin_118_sm_80.cubin", {0x30: 86, 0x32: 86}),
    "sm_120.cubin": ("cubin_135_sm_121.cubin", {0x31: 120}),
    "sm_120a.cubin": ("cubin_135_sm_120a.cubin", {}),
}

WORSE = ["pass", "incomplete", "fail"]
Case = collections.namedtuple("Case", "input gpu driver platform verdict codes texts expect_gpu")


def case(package, gpu, driver, verdict, codes="", *texts, platform=LINUX, expect_gpu=()):
    """Each of `texts` must stand in a finding or in a note of a row; a finding's library counts as part of it."""
    return Case(package, gpu, driver, platform, verdict, frozenset(codes.split()), texts, tuple(expect_gpu))


FAISS, TORCH, VISION = "faiss_gpu_cu12-1.14.1", "torch-2.9.1", "torchvision-0.24.1"
CASES = [
    case(FAISS, "H100", "580.65.06", FAIL, "no-kernel-image", "0 of 182", "sm_70, sm_80; no PTX"),
    case(FAISS, "RTX 5090", "580.65.06", FAIL, "no-kernel-image", "0 of 182", "sm_70, sm_80; no PTX"),
    case(FAISS, "A100", "580.65.06", PASS),
    case(FAISS, "L4", "580.65.06", PASS),
    case(FAISS, "T4", "580.65.06", PASS),
    case(VISION, "P100", "580.65.06", FAIL, "no-kernel-image", "torchvision/_C.so"),
    case("xformers-0.0.35", "RTX 5090", "580.65.06", PASS, "jit-only"),
    case("ctranslate2-4.8.5", "H100", "535.104.05", FAIL, "ptx-too-new", "8.7"),
    case("ctranslate2-4.8.5", "H100", "570.86.15", PASS, "jit-only"),
    case("stringzillas_cuda-5.3.2", "T4", "580.65.06", FAIL, "no-kernel-image"),
    case("onnxruntime_gpu-1.31.1 win", "H100", "580.88", FAIL, "no-kernel-image", "0 of 308", platform=WINDOWS),
    # 609 fatbins, none of which fits
    case("onnxruntime_gpu-1.31.1 manylinux", "B200", "580.65.06", FAIL, "no-kernel-image", "0 of 308", "0 of 301"),
    *(case(TORCH, gpu, "580.65.06", PASS) for gpu in ["T4", "A100", "L4", "H100", "B200", "RTX 5090"]),
    case(TORCH, "GTX 1080", "580.65.06", FAIL, "no-kernel-image", "libtorch_cuda.so"),
    case(TORCH, "P100", "580.65.06", FAIL, "no-kernel-image", "libtorch_cuda.so"),
    case(TORCH, "GTX 1080", "R590", FAIL, "driver-dropped-gpu no-kernel-image", "R590"),
    case(TORCH, "H100", "580.65.06", FAIL, "platform-mismatch", platform=ARM),
    case("torchaudio-2.9.1", "GTX 1060", "580.65.06", FAIL, "no-kernel-image"),
    # headers say compute_90, the PTX is for sm_90a: no newer GPU compiles it
    case("tensorflow-2.20.0", "H100", "580.65.06", PASS, "jit-only ptx-header-mismatch", "compute_90a"),
    case("tensorflow-2.20.0", "RTX 5090", "580.65.06", FAIL, "no-kernel-image jit-only ptx-header-mismatch",
         "248 of 1397"),
    case("tensorflow-2.21.0", "RTX 5090", "580.65.06", PASS, "jit-only"),
    # one of 33 fatbins of the linear algebra library has code for a T4, and libtorch_cuda.so all of it
    case("torch-2.15.0 x86_64", "T4", "580.65.06", PASS, "partial-coverage", "32 of 33", "libtorch_cuda_linalg.so"),
    # its sm_120 code runs on 12.1
    case("torch-2.15.0 aarch64", "GB10", "580.95.05", PASS, platform=ARM),
    case("faiss_gpu_cu12-1.13.2", "H100", "580.65.06", FAIL, "no-kernel-image", "sm_70, sm_80; no PTX"),
    # 84 of 128 fatbins are for JIT; 37 have no kernels, 5 are for one architecture
    case("faiss_gpu-1.7.2", "A100", "580.65.06", PASS, "jit-only partial-coverage", "84 of 86"),
    case("paddlepaddle_gpu-2.6.2", "H100", "580.65.06", FAIL, "no-kernel-image"),
    case("xgboost-3.4.1", "V100", "580.65.06", FAIL, "no-kernel-image"),
    case("xgboost-3.4.1", "T4", "575.57.08", FAIL, "driver-too-old", "R580"),
    case("onnxruntime_gpu-1.22.0", "RTX 5090", "580.65.06", PASS, "jit-only"),
    case("onnxruntime_gpu-1.22.0", "B200", "580.65.06", PASS, "jit-only"),
    # its only PTX is for sm_90a
    case("onnxruntime_gpu-1.23.0", "RTX 5090", "580.65.06", FAIL, "no-kernel-image", "compute_90a"),
    case("onnxruntime_gpu-1.23.0", "B200", "580.65.06", FAIL, "no-kernel-image", "compute_90a"),
    case("onnxruntime_gpu-1.23.2", "RTX 5090", "580.65.06", PASS, "jit-only"),
    case("onnxruntime_gpu-1.31.1 manylinux", "RTX 5090", "580.65.06", PASS),
    # static PTX for B300, which the package assembles there with ptxas
    case("flashinfer_python-0.7.4", "H100", "580.65.06", PASS, "arch-specific-only"),
    case("flashinfer_python-0.7.4", "B300", "580.95.05", PASS),
    # What a compiler knows and writes: `ptxas --version` and `--help`, nvrtcVersion, nvrtcGetSupportedArchs and the
    # `.version` of what nvrtcCompileProgram returns, each of these very files
    case("nvidia_cuda_nvrtc_cu12-12.8.93", "A100", "525.60.13", PASS, "jit-compiler-mismatch", "PTX 8.7", "up to 8.0"),
    case("nvidia_cuda_nvrtc_cu12-12.8.93", "A100", "570.124.06", PASS, "", "nvrtc 12.8 (knows sm_50 to sm_120)"),
    case("nvidia_cuda_nvrtc_cu12-12.8.93", "RTX 5090", "570.124.06", PASS),
    case("nvidia_cuda_nvrtc_cu12-12.8.93", "B300", "580.95.05", PASS, "jit-compiler-mismatch", "12.9 is the first"),
    case("nvidia_cuda_nvrtc_cu12-12.4.127", "RTX 5090", "580.65.06", PASS, "jit-compiler-mismatch", "12.8 is the first"),
    case("nvidia_cuda_nvrtc_cu12-12.4.127", "H100", "550.54.14", PASS, "", "nvrtc 12.4 (knows sm_50 to sm_90)"),
    case("nvidia_cuda_nvrtc-13.5.37", "V100", "580.65.06", PASS, "jit-compiler-mismatch", "12.9 is the last"),
    case("nvidia_cuda_nvrtc-13.5.37", "T4", "580.65.06", PASS, "jit-compiler-mismatch", "PTX 9.5", "up to 9.0"),
    # libNVVM, whose release has but one NUL before its build, beside ptxas
    case("nvidia_cuda_nvcc_cu12-12.4.131", "RTX 5090", "580.65.06", PASS, "jit-compiler-mismatch", "libnvvm.so"),
    case("nvidia_cuda_nvcc_cu12-12.4.131", "H100", "525.60.13", PASS, "", "nvvm 12.4, ptxas 12.4"),
    # ptxas of 12.9 and of 13.4 make machine code, which asks nothing of the driver
    case("triton-3.9.0", "V100", "525.60.13", PASS, "", "ptxas 12.9, ptxas 13.4 (knows sm_50 to sm_121)"),
    case("triton-3.9.0", "RTX 5090", "580.65.06", PASS, "", "compiles on your machine"),
    # NVRTC of 13.4 is linked in; it asks for machine code where the driver is older than that
    case("warp_lang-1.19.0", "V100", "580.65.06", FAIL, "jit-compiler-mismatch no-kernel-image", "12.9 is the last"),
    case("warp_lang-1.19.0", "T4", "580.65.06", PASS, "", "CUDA 13.4 (knows sm_75 to sm_121)"),
    # these carry no compiler
    case("cupy_cuda12x-14.2.0", "RTX 5090", "580.65.06", PASS, "", "compiles on your machine with NVRTC"),
    case("jax_cuda12_pjrt-0.12.0.1", "H100", "580.65.06", PASS, "", "compiles on your machine with XLA"),
    case("jax_cuda12_plugin-0.12.0.1", "H100", "580.65.06", PASS, "", "compiles on your machine with XLA"),
    case("numba_cuda-0.30.4", "H100", "580.65.06", PASS, "", "compiles on your machine with libNVVM"),
    # NVRTC of 12.9 is linked into the TensorRT for RTX of this one; the other is the runtime without a builder
    case("onnxruntime_ep_nv_tensorrt_rtx_cu12-0.5.0", "RTX 5090", "580.65.06", PASS, "", "CUDA 12.9 (knows sm_50 to sm_121)"),
    case("tensorrt_lean_cu12_libs-11.4.0.106", "H100", "580.65.06", PASS),
    case("numpy-2.4.6", "H100", "580.65.06", PASS),
    case("numpy-2.4.6", "H100", "580.65.06", FAIL, "cpu-only-build", expect_gpu=["numpy"]),
    case("sm_120.cubin", "GB10", "580.95.05", PASS, platform=ARM),
    case("sm_120a.cubin", "GB10", "580.95.05", FAIL, "no-kernel-image", platform=ARM),
    case("sm_120a.cubin", "RTX 5090", "580.95.05", PASS),
    case("sm_86.cubin", "RTX 4090", "580.95.05", PASS),
    case("sm_86.cubin", "A100", "580.95.05", FAIL, "no-kernel-image"),
    # environments: wheels that are unpacked beside each other
    case(
        "xformers-0.0.35 + nvidia_cuda_runtime-13", "A100", "580.65.06", FAIL, "runtime-library-missing",
        "xformers/_C.so", "needs `libcudart.so.12`", "libcudart.so.13` is there, of CUDA 13",
    ),
    case("xformers-0.0.35 + nvidia_cuda_runtime_cu12", "A100", "580.65.06", PASS),
    case(
        "faiss_gpu_cu12-1.14.1 + nvidia_cuda_runtime_cu12", "A100", "580.65.06", FAIL, "runtime-library-missing",
        "needs `libcublas.so.12` and `libcublasLt.so.12`, which",
    ),
    # its device code needs nothing; each of its modules needs one library
    case(
        "cupy_cuda12x-14.2.0 + nvidia_cuda_runtime_cu12", "A100", "580.65.06", PASS, "runtime-library-missing",
        "libcublas.so.12", "libcusparse.so.12",
    ),
]


def path_of(package, cache, scratch):
    """The file of an input: a wheel by the beginning of its name and what else it must contain, or a cubin; the
    directory of several wheels with ` + ` between, which are installed by unpacking them."""
    if package in PATCHED:
        source, changes = PATCHED[package]
        content = bytearray((CUDA / source).read_bytes())
        for offset, byte in changes.items():
            content[offset] = byte
        path = scratch / package
        path.write_bytes(content)
        return path
    if " + " in package:
        environment = scratch / package
        for part in package.split(" + "):
            with zipfile.ZipFile(path_of(part, cache, scratch)) as archive:
                archive.extractall(environment / "lib" / "python3.12" / "site-packages")
        return environment
    known = OTHER_WHEELS | {truth["wheel"]: truth["sha256"] for truth in map(read_json, sorted(TRUTH.glob("*.json")))}
    begin, *parts = package.split()
    name = next(name for name in known if name.startswith(begin) and all(part in name for part in parts))
    return wheel(name, known[name], cache)


def read_json(path):
    return json.loads(path.read_text())


def target_name(it):
    return f"{it.gpu}, {it.driver}, {it.platform}"


def judge(smgate, path, cases, scratch):
    """The report of one run for all targets of an input."""
    targets = [
        {"name": target_name(it), "gpu": it.gpu, "driver": it.driver, "platform": it.platform} for it in cases
    ]
    policy = {"version": 1, "targets": targets}
    if cases[0].expect_gpu:
        policy["expect-gpu"] = list(cases[0].expect_gpu)
    file = scratch / "policy.yaml"
    file.write_text(json.dumps(policy))
    command = [smgate, "check", "--format", "json", "--policy", file, path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 3):
        raise SystemExit(f"{path.name}: exit status {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def differences(it, report):
    name = target_name(it)
    verdicts = {row["verdict"] for row in report["matrix"] if row["target"] == name}
    if " + " in it.input:
        # an environment is the worst of its packages
        verdicts = {max(verdicts, key=WORSE.index)}
    if verdicts != {it.verdict}:
        yield f"verdict {', '.join(sorted(verdicts))}"
    findings = [
        finding for finding in report["findings"]
        if finding["target"] in (name, None) and finding["level"] in ("deny", "warn", "incomplete")
    ]
    codes = {finding["code"] for finding in findings}
    if missing := it.codes - codes:
        yield f"without {', '.join(sorted(missing))}"
    for code in sorted(codes - it.codes):
        finding = next(finding for finding in findings if finding["code"] == code)
        yield f"also {code}: {finding['library']}: {finding['message']}"
    said = "\n".join(
        [f"{finding['library']} {finding['message']} {' '.join(finding['evidence'])}" for finding in findings]
        + [note for row in report["matrix"] if row["target"] == name for note in row["notes"]]
    )
    for text in it.texts:
        if text not in said:
            yield f"nothing says `{text}`: {said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("smgate", help="the program")
    parser.add_argument("--cache", help="where downloaded wheels are kept")
    parser.add_argument("--only", default="", help="only cases whose input has this in its name")
    arguments = parser.parse_args()
    runs = collections.defaultdict(list)
    for it in CASES:
        if arguments.only in it.input:
            runs[it.input, it.expect_gpu].append(it)
    if not runs:
        raise SystemExit(f"no case has `{arguments.only}` in the name of its input")
    require_program(arguments.smgate)
    right = total = 0
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        for (package, _), cases in runs.items():
            path = path_of(package, cache_dir(arguments.cache), scratch)
            report = judge(arguments.smgate, path, cases, scratch)
            for it in cases:
                wrong = list(differences(it, report))
                right, total = right + (not wrong), total + 1
                codes = " ".join(sorted(it.codes))
                print(f"{'WRONG' if wrong else 'ok':6}{package:50}{target_name(it):34}{it.verdict:5} {codes}".rstrip())
                for line in wrong:
                    print(f"      {line}")
    print(f"{right} of {total} verdicts are as expected")
    sys.exit(right != total)


if __name__ == "__main__":
    main()
