#!/bin/bash
# Regenerates fixtures/ and fixtures/*.oracle.txt from PyPI packages (no GPU needed).
# needs: bash, python3 (3.9+), pip, unzip, gcc, binutils, zstd; optional: x86_64-w64-mingw32-gcc, aarch64-linux-gnu-{as,ld}
#   apt-get install gcc-mingw-w64-x86-64 binutils-aarch64-linux-gnu
# usage: ./gen.sh [fetch|build|oracle|all]
set -eu
cd "$(dirname "$0")"; HERE=$PWD; export TK=$HERE/tk FIX=$HERE/fixtures PY=$HERE/v/bin/python
PIP="python3 -m pip"
PLAT="--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux_2_12_x86_64 --platform manylinux2010_x86_64 --platform manylinux1_x86_64 --platform manylinux_2_27_x86_64"

fetch() {
  mkdir -p whl tk
  [ -x v/bin/python ] || { python3 -m venv v; v/bin/pip install -q --disable-pip-version-check zstandard==0.25.0 lz4==4.4.5; }
  while read -r v specs; do
    for s in $specs; do
      n=${s%%==*}; f=whl/$(echo "$n" | tr - _)-${s##*==}
      ls $f-*.whl >/dev/null 2>&1 || nice $PIP download -q --disable-pip-version-check --no-deps --only-binary :all: $PLAT -d whl "$s"
      mkdir -p tk/$v; unzip -qo $f-*.whl -d tk/$v -x '*.dist-info/*'
    done
  done <<'L'
11.8 nvidia-cuda-nvcc-cu11==11.8.89 nvidia-cuda-nvrtc-cu11==11.8.89
12.0 nvidia-cuda-nvcc-cu12==12.0.140 nvidia-cuda-nvrtc-cu12==12.0.140
12.4 nvidia-cuda-nvcc-cu12==12.4.131 nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-nvfatbin-cu12==12.4.127
12.6 nvidia-nvfatbin-cu12==12.6.77
12.8 nvidia-cuda-nvcc-cu12==12.8.93 nvidia-cuda-nvrtc-cu12==12.8.93 nvidia-nvfatbin-cu12==12.8.90
12.9 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-nvfatbin-cu12==12.9.82
13.0 nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-nvfatbin==13.0.85
13.5 nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37 nvidia-nvfatbin==13.5.37 nvidia-cuda-nvrtc==13.5.37 nvidia-cuda-cuobjdump==13.5.37 nvidia-cuda-nvdisasm==13.5.37
L
  mkdir -p tk/13.5/nvidia/cu13/nvvm/lib64; ln -sf ../../lib/libnvvm.so.4 tk/13.5/nvidia/cu13/nvvm/lib64/libnvvm.so   # nvlink -dlto looks there
  find tk -path '*/bin/*' -type f -exec chmod +x {} +     # wheels lose the x bit
}

N5() { nice $TK/13.5/nvidia/cu13/bin/nvcc -cudart none "$@"; }
N0() { nice $TK/13.0/nvidia/cu13/bin/nvcc -cudart none "$@"; }
ND() { nice $TK/13.5/nvidia/cu13/bin/nvcc "$@"; }
FB() { nice $TK/13.5/nvidia/cu13/bin/fatbinary "$@"; }
B2C=$TK/13.5/nvidia/cu13/bin/bin2c
G3="-gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90a,code=[sm_90a,compute_90a] -gencode arch=compute_100f,code=[sm_100f,compute_100f]"
SO="-shared -Xcompiler -fPIC"

build() {
  rm -rf $FIX; mkdir -p $FIX; S=$HERE/src; T=$(mktemp -d); cd $S
  # --- sources
  echo 'extern "C" __global__ void add1(float *p) { p[threadIdx.x] += 1.0f; }' > k.cu
  echo 'extern "C" __global__ void mul2(float *p) { p[threadIdx.x] *= 2.0f; }' > k2.cu
  printf 'extern "C" __device__ float helper(float);\nextern "C" __global__ void callh(float *p) { p[threadIdx.x] = helper(p[threadIdx.x]); }\n' > rdc.cu
  echo 'extern "C" __device__ float helper(float x) { return x * 3.0f; }' > rdc2.cu
  # --- device-only fatbins, nvcc 13.5: every target
  all() { A=; for a in "$@"; do A="$A -gencode arch=compute_$a,code=[sm_$a,compute_$a]"; done; }
  all 75 80 86 87 88 89 90 90a 100 100a 103 103a 107 107a 110 110a 120 120a 121 121a
  N5 -fatbin -Xfatbin -compress-all $A -o $FIX/n135_all_plain_and_a.fatbin k.cu
  all 100f 103f 107f 110f 120f 121f      # nvcc refuses sm_100 and sm_100f in one run
  N5 -fatbin -Xfatbin -compress-all $A -o $FIX/n135_all_f.fatbin k.cu
  all 75 80 88 90 90a 100a 100f 103a 103f 110a 110f 120a 120f 121a 121f
  N0 -fatbin -Xfatbin -compress-all $A -o $FIX/n130_all_a_f.fatbin k.cu
  N5 -fatbin -gencode arch=compute_80,code=sm_80 -o $FIX/n135_sass_only.fatbin k.cu
  N5 -fatbin -gencode arch=compute_90a,code=compute_90a -o $FIX/n135_ptx_only.fatbin k.cu
  # --- compression modes, nvcc 13.5
  for m in default size speed balance none; do N5 -fatbin --compress-mode=$m $G3 -o $FIX/n135_mode_$m.fatbin k.cu; done
  N5 -fatbin --no-compress $G3 -o $FIX/n135_no_compress.fatbin k.cu
  N5 -fatbin -Xfatbin -compress-all $G3 -o $FIX/n135_compress_all.fatbin k.cu
  N5 -fatbin --concat $G3 -o $FIX/n135_concat.fatbin k.cu
  N5 -fatbin --concat --compress-mode=size -rdc=true -gencode arch=compute_90a,code=[sm_90a,compute_90a,lto_90a] $G3 -Xptxas -O1 -o $FIX/n135_concat_rdc_lto.fatbin k.cu
  # --- options / idents / debug
  N5 -fatbin -G $G3 -o $FIX/n135_debug_G.fatbin k.cu
  N5 -fatbin -lineinfo $G3 -o $FIX/n135_lineinfo.fatbin k.cu
  N5 -fatbin -Xptxas -O1,-v $G3 -o $FIX/n135_ptxas_opts.fatbin k.cu 2>/dev/null
  N5 -cubin -arch=sm_100f -o $T/c100f.cubin k.cu; N5 -ptx -arch=compute_100f -o $T/c100f.ptx k.cu
  FB -64 -ident=12345678 -cmdline="-O2 --maxrregcount 32" --create=$FIX/fb135_ident8_opts.fatbin --image3=kind=elf,sm=100f,file=$T/c100f.cubin --image3=kind=ptx,sm=100f,file=$T/c100f.ptx
  FB -64 -g --compress-mode=none --create=$FIX/fb135_debugflag_nocomp.fatbin --image3=kind=elf,sm=100f,file=$T/c100f.cubin --image3=kind=ptx,sm=100f,file=$T/c100f.ptx
  # --- host objects and libraries
  N5 $SO -arch=sm_90 -o $FIX/n135_single.so k.cu
  N0 $SO $G3 -o $FIX/n130_multi.so k.cu
  N5 $SO $G3 -o $FIX/n135_two_objs.so k.cu k2.cu
  cp $FIX/n135_two_objs.so $FIX/n135_two_objs_stripped.so; strip --strip-all $FIX/n135_two_objs_stripped.so
  $PY - $FIX/n135_two_objs_stripped.so $FIX/n135_no_section_headers.so <<'P'
import sys,struct
d=bytearray(open(sys.argv[1],'rb').read()); sh=struct.unpack_from('<Q',d,40)[0]
struct.pack_into('<Q',d,40,0); struct.pack_into('<HHH',d,58,0,0,0); open(sys.argv[2],'wb').write(d[:sh])
P
  N5 -rdc=true -Xcompiler -fPIC $G3 -c -o $T/rdc.o rdc.cu; N5 -rdc=true -Xcompiler -fPIC $G3 -c -o $T/rdc2.o rdc2.cu; N5 -Xcompiler -fPIC $G3 -c -o $T/k.o k.cu
  cp $T/rdc.o $FIX/n135_rdc.o
  gcc -shared -o $FIX/n135_rdc_not_device_linked.so $T/rdc.o $T/rdc2.o $T/k.o
  ND -dlink -Xcompiler -fPIC $G3 -o $T/dl.o $T/rdc.o $T/rdc2.o      # with -cudart none nvcc skips this step by itself
  gcc -shared -o $FIX/n135_rdc_device_linked.so $T/rdc.o $T/rdc2.o $T/k.o $T/dl.o
  ar rcs $FIX/n135_static.a $T/rdc.o $T/rdc2.o $T/k.o
  ar rcsT $T/thin.a $T/k.o
  N5 -rdc=true -Xcompiler -fPIC -gencode arch=compute_90a,code=lto_90a -c -o $FIX/n135_dlto.o rdc.cu
  N5 -rdc=true -Xcompiler -fPIC -gencode arch=compute_90a,code=lto_90a -c -o $T/d2.o rdc2.cu
  ND -dlink -dlto -Xcompiler -fPIC -arch=sm_90a -o $T/dl2.o $FIX/n135_dlto.o $T/d2.o && gcc -shared -o $FIX/n135_dlto_device_linked.so $FIX/n135_dlto.o $T/d2.o $T/dl2.o
  # --- embedded as plain data
  N5 -cubin -arch=sm_90a -o $T/k90a.cubin k.cu
  $B2C --const --name fb $FIX/n135_mode_default.fatbin > $T/fb.c; $B2C --const --name cb $T/k90a.cubin >> $T/fb.c
  echo 'const void *get(int i) { return i ? (const void *)cb : (const void *)fb; }' >> $T/fb.c
  gcc -shared -fPIC -O1 -o $FIX/rodata_fatbin_and_cubin.so $T/fb.c
  printf '.section .rodata\n.byte 1\n.globl fb\nfb: .incbin "%s"\n.byte 2,3\n.globl px\npx: .incbin "%s"\n.byte 0\n' $FIX/n135_mode_none.fatbin $T/c100f.ptx > $T/un.s
  gcc -shared -nostdlib -o $FIX/rodata_unaligned_fatbin_and_ptx.so $T/un.s
  # --- other hosts: aarch64, i386
  printf '.section .nv_fatbin,"a"\n.balign 8\nfatbinData: .incbin "%s"\n.section .nvFatBinSegment,"aw"\n.balign 8\n.long 0x466243b1,1\n.quad fatbinData,0\n' $FIX/n135_mode_default.fatbin > $T/h.s
  if command -v aarch64-linux-gnu-as >/dev/null; then aarch64-linux-gnu-as -o $T/h.o $T/h.s && aarch64-linux-gnu-ld -shared -o $FIX/aarch64.so $T/h.o; fi
  sed 's/\.quad fatbinData,0/.long fatbinData,0/' $T/h.s > $T/h32.s; as --32 -o $T/h32.o $T/h32.s && ld -m elf_i386 -shared -o $FIX/i386.so $T/h32.o
  # --- python-driven fixtures (nvrtc/ptxas/nvFatbin of every toolkit)
  $PY $HERE/build.py $FIX $T
  # --- PE / COFF
  if command -v x86_64-w64-mingw32-gcc >/dev/null; then
    M=x86_64-w64-mingw32
    printf '.section .nv_fatb,"dr"\n.balign 8\nfatbinData: .incbin "%s"\n.balign 8\n.incbin "%s"\n.section .nvFatBi,"dw"\n.balign 8\n.long 0x466243b1,1\n.quad fatbinData,0\n.text\n.globl get\nget: leaq fatbinData(%%rip),%%rax\nret\n' $FIX/nvf135_host_windows.fatbin $FIX/nvf129_host_windows.fatbin > $T/w.s
    $M-as -o $FIX/win_mingw.obj $T/w.s; $M-gcc -shared -nostdlib -Wl,--no-insert-timestamp -Wl,-e,0 -o $FIX/win_mingw.dll $FIX/win_mingw.obj
    cp $FIX/win_mingw.dll $FIX/win_mingw.pyd
    $M-ar rcs $FIX/win_mingw.lib $FIX/win_mingw.obj
    $M-objcopy -O binary --only-section=.nv_fatb $FIX/win_mingw.dll $FIX/win_mingw_section.fatbin
  fi
  rm -rf $T; cd $HERE
}

oracle() { $PY $HERE/oracle.py $FIX; }
case "${1:-all}" in fetch) fetch;; build) build;; oracle) oracle;; all) fetch; build; oracle;; esac
