"""Rows of a GPU trace read at once and line by line give the same tables, sound or damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.parsers.nvprof_blocks import read_both
from tracekit.compiled import library

pytestmark = pytest.mark.skipif(library() is None, reason="no library")
FILES = sorted((ROOT / "fixtures/nvprof").glob("*/*"))
(TRACE,) = (ROOT / "fixtures/nvprof/gpu-trace-csv").iterdir()
HEAD, ROWS = TRACE.read_bytes().splitlines()[:6], TRACE.read_bytes().splitlines()[6:]
KERNEL = ROWS[2]
DEVICE = b'"GeForce RTX 2080 Ti (0)"'
DAMAGE = [
    *(b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"", b" ", b"-", b"1e3", b"us"),
    *(b"\x1b[1m", b"==7== Warning: x\n", b'"\n"', b'","', b"No kernels were profiled."),
]


def trace(rows: list[bytes], units: bytes | None = None) -> bytes:
    head = HEAD if units is None else [*HEAD[:5], units]
    return b"\n".join([*head, *rows, b""])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_fixtures(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_both(tmp_path, file.read_bytes(), monkeypatch)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_repeated_rows_are_read_at_once(
    end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = trace(ROWS * 100).replace(b"\n", end)
    taken = read_both(tmp_path, content, monkeypatch)
    assert len(taken) > 3
    assert all(taken)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("units", "is_taken"),
    [
        (b"ms,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,", True),
        (b"s,ns,,,,,,,,B,KB,B,MB/s,,,,,,,", True),
        (b"ns,ms,,,,,,,,MB,,GB,KB/s,,,,,,,", True),
        (b"s,s,,,,,,,,B,B,,,,,,,,,", True),
        (b",us,,,,,,,,KB,KB,KB,GB/s,,,,,,,", False),
        (b"KB,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,", False),
    ],
)
def test_units(
    units: bytes, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many rows that the scale of bytes is settled, whether or not a copy tells it."""
    assert read_both(tmp_path, trace(ROWS * 1700, units), monkeypatch, 4 << 20) == [is_taken]


@pytest.mark.parametrize(
    ("old", "new", "is_taken"),
    [
        (b"12.001000", b"12.0005", True),  # half to even: 12000, and 12001.5 is 12002
        (b"12.001000", b"12.0015", True),
        (b"12.001000", b"1234567890.12345", True),
        (b"12.001000", b"12345678901234.5", True),
        (b"12.001000", b"1234567890123456.5", False),
        (b"12.001000", b"-1.5", False),
        (b"12.001000", b"", False),
        (b"250.125000", b"", True),
        (b"250.125000", b"1.5ms", False),
        (b"250.125000", b"-", False),
        (b",64,2,1,", b",64,x,1,", False),
        (b",64,2,1,", b",,,,", True),
        (b"1.500000,0.250000", b"1.0004883,0.0004882", True),
        (b"1.500000,0.250000", b",", True),
        (b'"void scale', b'" void ""a"" scale', True),
        (b'"void scale', b'"void Context scale', True),
        (b'"void scale', b'"Device, Context, Stream, Name, scale', False),
        (b'"void scale', b'"==12== Profiling result: ', False),
        (b'"void scale', b'"[CUDA memcpy PtoP] ', True),
        (b'"void scale', b'"[Unified Memory GPU page faults] ', True),
        (b'*)"', b'*) [12]"', False),
        (DEVICE, b'""', True),
        (DEVICE, b'"GeForce RTX 208"', False),
        (DEVICE + b',"1","7"', b'"","",""', True),
        (b",64,2,1,256,1,1,40,1.500000,0.250000,,,,," + DEVICE + b',"1","7"', b"," * 17, False),
    ],
)
def test_a_row_that_differs(
    old: bytes, new: bytes, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert old in KERNEL
    rows = [*ROWS * 20, KERNEL.replace(old, new), *ROWS]
    taken = read_both(tmp_path, trace(rows), monkeypatch, 1 << 20)
    assert taken == [is_taken]


@pytest.mark.deep
def test_the_scale_of_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the first copy that tells it comes before, at or after the first batch."""
    by_1000 = ROWS[1].replace(b"0.125000,0.077610", b"0.125000,0.000081380")
    units = b"us,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,"
    for count in (0, 8190, 8191, 8192, 9000):
        for copies in ([ROWS[1], by_1000], [by_1000, ROWS[1]]):
            rows = [KERNEL] * count + copies + [KERNEL] * 10
            taken = read_both(tmp_path, trace(rows, units), monkeypatch, 4 << 20)
            assert taken == [True]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_damage(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        content = trace([rng.choice(ROWS) for _ in range(120)])
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(content))
            content = content[:place] + rng.choice(DAMAGE) + content[place + rng.randrange(3) :]
        read_both(tmp_path, content, monkeypatch)
