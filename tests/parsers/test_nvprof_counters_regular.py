"""Metrics and events of nvprof read at once and line by line give the same tables."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.parsers.nvprof_blocks import read_both
from tracekit.compiled import library

pytestmark = pytest.mark.skipif(library() is None, reason="no library")
(METRICS,) = (ROOT / "fixtures/nvprof/metrics-csv").iterdir()
LINES = METRICS.read_bytes().splitlines()
BEGIN, EVENTS, COUNTED = LINES[:4], LINES[4:8], LINES[8:]
HEAD, ROWS = COUNTED[:2], COUNTED[2:]
ROW = ROWS[3]
DAMAGE = [
    *(b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"", b" ", b"-", b"e3", b"%", b"."),
    *(b"\x1b[1m", b"==7== Warning: x\n", b'"\n"', b'","', b"No kernels were profiled.", b"GB/s"),
]


def metrics(rows: list[bytes]) -> bytes:
    return b"\n".join([*BEGIN, *HEAD, *rows, b""])


def events(rows: list[bytes]) -> bytes:
    return b"\n".join([*BEGIN, *EVENTS[:2], *rows, b""])


def kernels(rows: list[bytes], count: int) -> list[bytes]:
    """Repeat rows for kernels with other names, one after the other."""
    return [row.replace(b'","', b'","%d ' % i, 1) for i in range(count) for row in rows]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("count", [2, 100])
def test_rows_are_read_at_once(
    count: int, end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rows in (kernels(ROWS, count), ROWS * count, kernels(ROWS * 2, count)):
        assert all(read_both(tmp_path, metrics(rows).replace(b"\n", end), monkeypatch))
    for rows in (kernels(EVENTS[2:], count), EVENTS[2:] * count):
        assert all(read_both(tmp_path, events(rows).replace(b"\n", end), monkeypatch))


@pytest.mark.deep
def test_many_rows_settle_the_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace after few rows decides how many bytes a KB has; after many, it is 1,024."""
    (trace,) = (ROOT / "fixtures/nvprof/gpu-trace-csv").iterdir()
    copies = trace.read_bytes().replace(b"0.125000,0.077610", b"0.125000,0.000081380")
    for count in (300, 600, 680, 690, 1300):
        content = metrics(kernels(ROWS, count)) + copies
        assert any(read_both(tmp_path, content, monkeypatch, 16 << 10))
        content = copies + metrics(kernels(ROWS, count)) + copies
        assert any(read_both(tmp_path, content, monkeypatch, 16 << 10))


@pytest.mark.parametrize(
    ("old", "new", "is_taken"),
    [
        (b"0.850643", b"1", True),
        (b"0.850643", b"0.8506431234", True),
        (b"0.850643", b"123456789.123456", True),
        (b"0.850643", b"12345678901234567", True),
        (b"0.850643", b"-0.5", True),
        (b"0.850643", b"1.5e-3", True),
        (b"0.850643", b"1,5", False),
        (b"0.850643", b'"1,234"', True),
        (b"0.850643", b"5%", True),
        (b"0.850643", b"5.123456789KB/s", True),
        (b"0.850643", b"5 MB", False),
        (b"0.850643", b"5ms", True),
        (b"0.850643", b"5XB", True),
        (b"0.850643", b"inf", True),
        (b"0.850643", b"", True),
        (b"0.850643", b'"Low (1)"', True),
        (b"0.850643", b"0.850643 -->", False),
        (b"0.850643", b"0.850643 ", False),
        (b"0.850643", b'"a ""b"""', False),
        (b"0.850901", b'"Max (10)"', True),
        (b",3,", b",0,", False),
        (b",3,", b",03,", False),
        (b",3,", b",,", False),
        (b",3,", b",1.5,", False),
        (b",3,", b",3000000000,", False),
        (b'"achieved_occupancy"', b'""', False),
        (b'"achieved_occupancy"', b'"flop_count_sp_add"', True),
        (b'"achieved_occupancy"', b'"tensor_precision_fu_utilization"', True),
        (b'"achieved_occupancy"', b'" ipc "', True),
        (b'"Tesla K20c (0)"', b'"Tesla K20c (1)"', True),
        (b'"Tesla K20c (0)"', b'"Tesla K20c"', True),
        (b'"Tesla K20c (0)"', b"Tesla K20c (0)", False),
        (b'"Tesla K20c (0)"', b'x"Tesla K20c (0)"', False),
        (b'"Tesla K20c (0)"', b' "Tesla K20c (0)"', False),
        (b'"stencil', b'"Invocations metric avg stencil', False),
        (b'"stencil', b'"==12== Profiling result: ', False),
        (b'"stencil(float*, int)"', b'""', True),
    ],
)
def test_a_row_that_differs(
    old: bytes, new: bytes, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert old in ROW
    rows = kernels(ROWS, 20)
    other = [*rows[:100], ROW.replace(old, new), *rows[100:]]
    assert read_both(tmp_path, metrics(other), monkeypatch, 1 << 20) == [is_taken]


@pytest.mark.parametrize(
    ("row", "is_taken"),
    [
        (b"3,x,10,13,11,35", True),
        (b"3,x,10,13,11,33", True),
        (b"3,x,10,13,11,30", True),
        (b"3,x,10,13,11,29", False),
        (b"3,x,10,13,11,37", False),
        (b"7,x,10,13,11,78", True),
        (b"7,x,10,13,999999999999999,999999999999999", False),
        (b"2147483647,x,1,1,465661,999999999999999", True),
        (b"3,x,10,13,,35", True),
        (b"3,x,10,13,11,", True),
        (b"3,x,10,13,11,n/a", True),
        (b"3,x,10,13,11.5,35", False),
        (b"3,x,10,13,11,35.5", False),
        (b"3,x,10,13,-1,-3", False),
        (b"3,x,10,13,11KB,35KB", False),
        (b"3,flop_count_sp,10,13,11,35", False),
    ],
)
def test_totals(
    row: bytes, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [*kernels(EVENTS[2:], 20), b'"Tesla K20c (0)","k",' + row]
    assert read_both(tmp_path, events(rows), monkeypatch, 1 << 20) == [is_taken]


@pytest.mark.parametrize("seed", range(8))
def test_totals_are_divided_as_decimals_are(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, rows = random.Random(seed), list[bytes]()
    for _ in range(2000):
        times, mean = rng.randrange(1, 1 << rng.randrange(1, 31)), rng.randrange(10**6)
        total = min(mean * times + rng.randrange(times), 10**15 - 1)
        rows.append(b'"Tesla K20c (0)","k",%d,x,1,2,%d,%d' % (times, total // times, total))
    assert read_both(tmp_path, events(rows), monkeypatch, 1 << 20) == [True]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_damage(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        head, rows = rng.choice([(HEAD, ROWS), (EVENTS[:2], EVENTS[2:])])
        chosen = [rng.choice(rows) for _ in range(120)]
        content = b"\n".join([*BEGIN, *head, *chosen, *EVENTS, *HEAD, *ROWS, b""])
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(content))
            content = content[:place] + rng.choice(DAMAGE) + content[place + rng.randrange(3) :]
        read_both(tmp_path, content, monkeypatch)
