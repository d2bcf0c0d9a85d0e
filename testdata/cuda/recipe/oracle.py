"""What NVIDIA's cuobjdump says of every fixture, as NAME.oracle.txt beside it.

oracle.py DIR [NAME...]           writes the texts
oracle.py --check DIR [NAME...]   compares the texts that are there; exit status 1 if any differs

cuobjdump is found below $TK (see gen.sh), or named by $CUOBJDUMP. The texts in the repository are of 13.5.37.
"""
import glob, hashlib, os, re, subprocess, sys

LISTINGS = ('', '-lelf', '-lptx', '-ltext', '-ptx')


def cuobjdump():
    if 'CUOBJDUMP' in os.environ:
        return os.environ['CUOBJDUMP']
    tk = os.environ.get('TK', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tk'))
    return os.path.join(tk, '13.5', 'nvidia', 'cu13', 'bin', 'cuobjdump')


def run(tool, folder, *args):
    """Exit status as the shell sees it, and what was printed, without the places where this machine has things:
    cuobjdump prints the full path of its input, and debug information names the full path of the source."""
    done = subprocess.run([tool, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = (done.stdout + done.stderr).decode('utf-8', 'replace')
    said = re.sub(r'(\.file\t\d+ ")[^"]*/src/', r'\1src/', said.replace(folder + os.sep, ''))
    return done.returncode % 256, said


def oracle(tool, folder, name):
    data = open(os.path.join(folder, name), 'rb').read()
    text = f'# {name} {len(data)} bytes sha256 {hashlib.sha256(data).hexdigest()}\n'
    parts = []
    for listing in LISTINGS:
        args = ['-all', *listing.split(), name]
        status, said = run(tool, folder, *args)
        parts.append(f'$ cuobjdump {" ".join(args)}   # rc={status}\n{said}')
    if name.endswith('.cubin'):
        _, said = run(tool, folder, '-elf', name)
        parts.append(f'$ cuobjdump -elf {name} | head -3\n' + '\n'.join(said.split('\n')[:3]))
    return text + '\n'.join(parts)


def main():
    args = sys.argv[1:]
    check = args[:1] == ['--check']
    folder, *names = args[check:]
    folder = os.path.abspath(folder)
    if not names:
        names = sorted(os.path.basename(p) for p in glob.glob(folder + '/*.*') if not p.endswith(('.txt', '.md')))
    tool, differ = cuobjdump(), []
    for name in names:
        path = os.path.join(folder, name + '.oracle.txt')
        text = oracle(tool, folder, name)
        if not check:
            open(path, 'w', newline='').write(text)
        elif open(path, newline='').read() != text:
            differ.append(name)
    if check:
        print(f'{len(names) - len(differ)} equal, {len(differ)} different', *differ)
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
