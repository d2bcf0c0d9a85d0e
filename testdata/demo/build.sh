#!/bin/bash
# Builds smgate_demo-1.0-py3-none-manylinux_2_28_x86_64.whl, the same bytes for the same tools.
# needs: bash, python3 with pip, gcc, binutils; no GPU. NVCC=PATH takes an nvcc 13 that is there; otherwise it is
# installed from PyPI into a temporary folder.
set -eu
cd "$(dirname "$0")"; HERE=$PWD; T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
if [ -z "${NVCC:-}" ]; then
  python3 -m pip install -q --disable-pip-version-check --no-deps --target "$T/tk" \
    nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37
  find "$T/tk" -path '*/bin/*' -type f -exec chmod +x {} +     # wheels lose the x bit
  NVCC=$T/tk/nvidia/cu13/bin/nvcc
fi
# relative names, so that no path of this machine gets into the code
cp demo.cu demo.c "$T"; cp -r smgate_demo "$T"; cd "$T"
# machine code for two targets and no PTX: nothing that a driver could compile for a newer GPU
"$NVCC" -fatbin -gencode arch=compute_80,code=sm_80 -gencode arch=compute_86,code=sm_86 -o demo.fatbin demo.cu
gcc -O2 -fPIC -shared -DFATBIN='"demo.fatbin"' -Wl,-soname,libsmgate_demo.so -Wl,--build-id=none -o smgate_demo/libsmgate_demo.so demo.c
strip --strip-unneeded --remove-section=.comment smgate_demo/libsmgate_demo.so
python3 - "$HERE" <<'P'
import base64, csv, hashlib, io, pathlib, sys, zipfile

NAME, TAG = 'smgate_demo-1.0', 'py3-none-manylinux_2_28_x86_64'
METADATA = '''Metadata-Version: 2.1
Name: smgate-demo
Version: 1.0
Summary: Two CUDA kernels for sm_80 and sm_86, and nothing for newer GPUs: an example for smgate
License: MIT OR Apache-2.0
Requires-Python: >=3.8
'''
WHEEL = f'''Wheel-Version: 1.0
Generator: smgate-demo build.sh
Root-Is-Purelib: false
Tag: {TAG}
'''
members = [(str(path), path.read_bytes()) for path in sorted(pathlib.Path('smgate_demo').iterdir()) if path.is_file()]
members += [(f'{NAME}.dist-info/METADATA', METADATA.encode()), (f'{NAME}.dist-info/WHEEL', WHEEL.encode())]
record = io.StringIO()
rows = csv.writer(record, lineterminator='\n')
for name, data in members:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    rows.writerow([name, f'sha256={digest}', len(data)])
rows.writerow([f'{NAME}.dist-info/RECORD', '', ''])
members.append((f'{NAME}.dist-info/RECORD', record.getvalue().encode()))
with zipfile.ZipFile(pathlib.Path(sys.argv[1], f'{NAME}-{TAG}.whl'), 'w') as wheel:
    for name, data in members:
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o755 if name.endswith('.so') else 0o644) << 16
        wheel.writestr(info, data)
P
