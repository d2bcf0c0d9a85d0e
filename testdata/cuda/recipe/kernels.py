"""The names of the kernels of every fixture, one fixture a line, as readelf and cuobjdump see them.

kernels.py DIR > DIR/kernels.txt

What cuobjdump cannot extract from is left out. cuobjdump is found as oracle.py finds it.
"""
import os
import re
import subprocess
import sys
import tempfile

from oracle import cuobjdump

SYMBOL = re.compile(r'\s*\d+: \S+\s+\S+ FUNC\s+\S+\s+\S+\s+\[<other>: ([0-9a-f]+)\]\s*(\S+) (\S+)$')


def of_cubin(path):
    """Defined functions with the mark of an entry point, 0x10."""
    said = subprocess.run(['readelf', '-sW', path], capture_output=True, text=True, check=True).stdout
    symbols = filter(None, map(SYMBOL.match, said.splitlines()))
    return {name for other, section, name in (s.groups() for s in symbols) if int(other, 16) & 0x10 and section != 'UND'}


def of_fixture(tool, path):
    if path.endswith('.cubin'):
        return of_cubin(path)
    names = set()
    with tempfile.TemporaryDirectory() as folder:
        for kind in ('-xelf', '-xptx'):
            subprocess.run([tool, '-all', kind, 'all', path], cwd=folder, capture_output=True, check=False)
        for image in (os.path.join(folder, name) for name in os.listdir(folder)):
            if image.endswith('.cubin'):
                names |= of_cubin(image)
            else:
                with open(image, encoding='utf-8') as text:
                    names |= set(re.findall(r'\.entry\s+([\w$]+)', text.read()))
    return names


def main():
    folder = os.path.abspath(sys.argv[1])
    tool = os.path.abspath(cuobjdump())
    for name in sorted(os.listdir(folder)):
        if os.path.exists(os.path.join(folder, name + '.oracle.txt')) and not name.endswith(('.ptx', '.ltoir')):
            kernels = of_fixture(tool, os.path.join(folder, name))
            if kernels:
                print(name, *sorted(kernels))


if __name__ == '__main__':
    main()
