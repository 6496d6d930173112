"""Large arrays in files: they are arrays as any, but for where they are."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

from tracekit.compiled import library
from tracekit.compiled.arrays import in_files

COUNT = 4_000_000  # 32 MB of numbers

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or library() is None, reason="arrays are in memory here"
)


def resident_bytes() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


def file_bytes() -> int:
    compiled = library()
    assert compiled is not None
    return int(compiled.tracekit_array_file_bytes())


def test_only_what_is_made_meanwhile_is_in_files(tmp_path: Path) -> None:
    before = np.arange(COUNT)
    with in_files(tmp_path):
        large, small = np.arange(COUNT), np.arange(10)
        assert (get_handler_name(large), get_handler_name(before)) == (
            "tracekit",
            "default_allocator",
        )
        assert 8 * COUNT <= file_bytes() < 10 * COUNT  # and none for the small one
    assert get_handler_name(np.arange(COUNT)) == "default_allocator"
    assert (large == before).all()
    assert small.tolist() == list(range(10))
    assert list(tmp_path.iterdir()) == []  # they have no names
    del large
    assert file_bytes() == 0


def test_pages_leave_memory_and_come_back(tmp_path: Path) -> None:
    gc.collect()
    with in_files(tmp_path):
        found = [np.full(COUNT, number) for number in range(8)]  # 256 MB
        time.sleep(0.2)
        before = resident_bytes()
        assert [int(array.sum()) for array in found] == [COUNT * number for number in range(8)]
        found[3][:] += 1
        time.sleep(0.2)
        assert resident_bytes() < before + 100_000_000
        assert (found[3] == 4).all()


def test_zeros_are_zeros_where_another_array_was(tmp_path: Path) -> None:
    with in_files(tmp_path):
        for _ in range(3):
            found = np.zeros(COUNT, np.int32)
            assert not found.any()
            found[:] = -1
            del found
        assert file_bytes() < 5 * COUNT  # the file is used again


def test_arrays_change_their_size(tmp_path: Path) -> None:
    with in_files(tmp_path):
        for sizes in ((1000, COUNT, 2 * COUNT), (COUNT, 1000, COUNT), (COUNT, COUNT // 2, 100)):
            found = np.arange(sizes[0])
            for size in sizes[1:]:
                known = found[:size].copy()
                found.resize(size, refcheck=False)
                assert (found[: len(known)] == known).all()
                assert not found[len(known) :].any()


def test_without_room_arrays_are_in_memory(tmp_path: Path) -> None:
    with in_files(tmp_path / "missing"):
        found, zeros = np.arange(COUNT), np.zeros(COUNT)
        assert file_bytes() == 0
    assert int(found[-1]) == COUNT - 1
    assert not zeros.any()


def test_one_use_inside_another_and_in_threads(tmp_path: Path) -> None:
    """Threads have files only in a copy of the context; both uses end in any order."""
    said: dict[str, str | None] = {}

    def make(name: str) -> None:
        said[name] = get_handler_name(np.arange(COUNT))

    with in_files(tmp_path):
        with in_files(tmp_path):
            kept = np.arange(COUNT)
        assert get_handler_name(np.arange(1)) == "tracekit"
        context = copy_context()
        threads = [
            threading.Thread(target=make, args=("bare",)),
            threading.Thread(target=context.run, args=(make, "copied")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert said == {"bare": "default_allocator", "copied": "tracekit"}
    assert int(kept.sum()) == COUNT * (COUNT - 1) // 2


def test_an_error_ends_it(tmp_path: Path) -> None:
    with pytest.raises(KeyError), in_files(tmp_path):
        raise KeyError
    assert get_handler_name(np.arange(COUNT)) == "default_allocator"
    assert file_bytes() == 0


def test_threads_make_and_drop_arrays_at_once(tmp_path: Path) -> None:
    """What one thread writes, no other sees, and no page is lost."""
    wrong: list[int] = []

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        kept: list[np.ndarray] = []
        for _ in range(60):
            kept.append(np.full(int(random.integers(1000, 300_000)), number))
            if len(kept) > 4:
                del kept[int(random.integers(len(kept)))]
            if any((array != number).any() for array in kept):
                wrong.append(number)

    with in_files(tmp_path):
        threads = [
            threading.Thread(target=copy_context().run, args=(work, number)) for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


_MANY = """
import tempfile
from pathlib import Path
import numpy as np
from tracekit.compiled import arrays

arrays.library = lambda: library
kept, made = [], 0
with tempfile.TemporaryDirectory() as folder, arrays.in_files(Path(folder), 1 << 16):
    for number in range(400):
        size = rng.randrange(1, 100_000)
        found = np.full(size, number) if number % 2 else np.zeros(size, np.int64)
        assert found[-1] == (number if number % 2 else 0)
        if number % 5 == 0:
            found.resize(rng.randrange(1, 100_000), refcheck=False)
            found[:] = number
        kept.append(found)
        if len(kept) > 5:
            kept.pop(rng.randrange(6))
        made += library.tracekit_array_file_bytes() > 0
print(made)
"""


@pytest.mark.deep
def test_files_of_arrays_touch_their_own_memory_only(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_MANY) > 300
