"""The C library as the sanitizers build it, for all tests that run it in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from build_backend import compiling

ROOT = Path(__file__).resolve().parent.parent

_BEGIN = """
import ctypes, random, sys
sys.path.insert(0, {root!r})
from tests.reading.chrome.test_scanner import damaged, seeds
from tracekit.compiled import declared
from tracekit.parsers.torch_profiler import rows as torch_profiler
from tracekit.reading.chrome.events import EventDecoder
from tracekit.reading.chrome.scanner import PADDING, Scanner

rng, contents = random.Random(1), [text[text.index(b"[") + 1 :] for text in seeds()]
plan = torch_profiler._PLAN
library = declared(ctypes.CDLL({library!r}))
decoder = EventDecoder(torch_profiler._TYPED_KEYS, torch_profiler._LAYOUTS)
"""

_FAILING = """
#define _GNU_SOURCE
#include <stdlib.h>
__attribute__((visibility("default"))) long tables_left = -1;
static void *failing_table(size_t count, size_t size) {{
    return tables_left >= 0 && tables_left-- == 0 ? NULL : calloc(count, size);
}}
#define calloc failing_table
__attribute__((visibility("default"))) long allocations_left = -1;
static void *failing(void *memory, size_t size) {{
    return allocations_left >= 0 && allocations_left-- == 0 ? NULL : realloc(memory, size);
}}
#define realloc failing
#include "{source}"
"""


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """What a script prints, with a library that stops at the first wrong access."""
    if not compiling.has_compiler():
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("sanitized")
    compiler = next(compiling.compilers())
    source, target = folder / "failing.c", folder / compiling.NAME
    source.write_text(_FAILING.format(source=ROOT / compiling.SOURCE))
    options = ("-std=c11", "-g", "-O1", "-shared", "-fPIC", "-fsanitize=address,undefined")
    command = [*compiler, *options, "-fno-sanitize-recover=all", "-o", str(target), str(source)]
    runtime = subprocess.run(
        [*compiler, "-print-file-name=libasan.so"], check=False, capture_output=True, text=True
    ).stdout.strip()
    if not Path(runtime).is_file():
        pytest.skip("this compiler has no sanitizers")
    subprocess.run(command, check=True, text=True)
    environment = os.environ | {
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONMALLOC": "malloc",  # so that the end of a text is the end of its allocation
    }

    def run(script: str) -> int:
        whole = _BEGIN.format(root=str(ROOT), library=str(target)) + script
        done = subprocess.run(
            [sys.executable, "-c", whole],
            check=False,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return int(done.stdout)

    return run
