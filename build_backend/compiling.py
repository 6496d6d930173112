"""Compiles tracekit/compiled/tracekit.c: at installation, and as a script for a checkout."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path("tracekit") / "compiled"
SOURCE = FOLDER / "tracekit.c"
NAME = {"win32": "_tracekit.dll", "darwin": "_tracekit.dylib"}.get(sys.platform, "_tracekit.so")
USUAL = ("cc", "gcc", "clang")
_OPTIONS = ("-std=c11", "-O3", "-shared", "-fvisibility=hidden")


def has_compiler() -> bool:
    """Whether this machine has a C compiler."""
    return bool(os.environ.get("CC")) or any(map(shutil.which, USUAL))


def compilers() -> Iterator[list[str]]:
    """The commands to try, in turn."""
    if given := os.environ.get("CC"):
        yield shlex.split(given)
    yield from ([name] for name in USUAL if shutil.which(name))
    # A compiler as a wheel; without a target, it would compile for this very processor.
    yield [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]


def compiled(root: Path, folder: Path) -> Path | None:
    """Compile the library of the checkout `root` into `folder`; None if no compiler can."""
    target = folder / NAME
    position = () if sys.platform == "win32" else ("-fPIC",)
    for compiler in compilers():
        command = [*compiler, *_OPTIONS, *position, "-o", str(target), str(root / SOURCE)]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
        except OSError:
            continue
        if done.returncode == 0:
            return target
        print(f"{shlex.join(compiler)}: {done.stderr.strip()[-500:]}", file=sys.stderr)
    print("no C compiler: tracekit will read traces by Python alone, more slowly", file=sys.stderr)
    return None


if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parent.parent
    sys.exit(compiled(ROOT, ROOT / FOLDER) is None)
