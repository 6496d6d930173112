"""Rows of traces as text read at once and line by line give the same tables, sound or damaged."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.parsers.nvprof_blocks import read_both
from tracekit.compiled import library

pytestmark = pytest.mark.skipif(library() is None, reason="no library")
(TRACE,) = (ROOT / "fixtures/nvprof/gpu-trace-text").iterdir()
LINES = TRACE.read_bytes().splitlines()
HEAD, ROWS, FOOT = LINES[:5], LINES[5:10], LINES[10:]
COPY, LAUNCH, KERNEL = ROWS[:3]
TITLE = b"   Start  Duration  Name"
CALLS = [
    b"330.02ms  5.2310us  cudaLaunchKernel (void add<int=2>(float const *, float*) [111])",
    b"330.05ms     832ns  cuDeviceGet",
    b"     0ns  1.0000ms  cudaMalloc",
    b"1.33010s  3.0000us  [Range start] step [7]",
]
DAMAGE = [
    *(b'"', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"", b" ", b"  ", b"   ", b"-", b"1e3"),
    *(
        b"\x1b[1m",
        b"==7== Warning: x\n",
        b"\n\n",
        b"us",
        b"]",
        b" [7]",
        b"[)",
        b"(",
        b"\t",
        b"\x01",
    ),
    *(b"No kernels were profiled.", b"Device", b"KB", b"2", b".", b"\xc2\xa0", b"\x0c", TITLE),
]


def trace(rows: list[bytes], head: list[bytes] = HEAD, foot: list[bytes] = FOOT) -> bytes:
    return b"\n".join([*head, *rows, *foot, b""])


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_repeated_rows_are_read_at_once(
    end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last block has the footnotes, before which its rows are read at once."""
    taken = read_both(tmp_path, trace(ROWS * 100).replace(b"\n", end), monkeypatch)
    assert len(taken) > 3
    assert all(taken)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_trace_without_its_footnotes(
    end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it ends is told."""
    content = trace(ROWS * 100, foot=[]).replace(b"\n", end)
    assert all(read_both(tmp_path, content, monkeypatch))


def test_calls_without_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many rows that the scale of bytes is settled."""
    content = trace(CALLS * 2100, [*HEAD[:4], TITLE], [])
    assert read_both(tmp_path, content, monkeypatch, 4 << 20) == [True]


@pytest.mark.parametrize(
    ("old", "new", "is_taken"),
    [
        (b"2.7520us", b"2.7525us", True),  # half to even: 2752, and 2753.5 is 2754
        (b"2.7520us", b"2.7535us", True),
        (b"2.7520us", b"2.7520ps", False),
        (b"2.7520us", b"  2.7520", False),
        (b"2.7520us", b"       -", True),
        (b"2.7520us", b"     n/a", False),
        (b"330.08ms", b"330.08MS", False),
        (b"330.08ms", b"330.08KB", False),
        (b"330.08ms", b"   330ms", True),
        (b"330.08ms", b"     0ns", True),
        (b"330.08ms", b"12345678.9012s", True),
        (b"330.08ms", b"1234567890123.4s", False),
        (b"330.08ms", b"       -", False),
        (b"330.08ms", b"rank 0 says  330.08ms", False),
        (b"(196 1 1)", b"  (196 1)", True),
        (b"(196 1 1)", b"        -", True),
        (b"  8  4.0000KB", b"  -  4.0000KB", True),
        (b"  8  4.0000KB", b"8.5  4.0000KB", False),
        (b"  8  4.0000KB", b"  x  4.0000KB", False),
        (b"4.0000KB        0B", b"4.0005KB    3.0001KB", True),
        (b"4.0000KB        0B", b"1.0000MB    1.0000GB", True),
        (b"4.0000KB        0B", b"1.0000TB          1B", True),
        (b"4.0000KB        0B", b"9.12345678TB      1B", False),
        (b"4.0000KB        0B", b"      4%          0B", False),
        (b"4.0000KB        0B", b"       4          0B", False),
        (b"Tesla T4 (0)", b"GeForce GTX 980", True),
        (b"Tesla T4 (0)", b"Tesla, T4 (1", True),
        (b"Tesla T4 (0)", b"           -", True),
        (b"         1         7", b"         -         -", True),
        (b"float*) [111]", b"float*)", True),
        (b"float*) [111]", b"float*)  [111]", False),
        (b"float*) [111]", b"float*) [1] [111]", False),
        (b"float*) [111]", b"float*) [123456789012345678]", True),
        (b"float*) [111]", b"float*) [1234567890123456789]", True),
        (b"float*) [111]", b"float*) [x1]", True),
        (b"float*) [111]", b"float*)[111]", True),
        (b"float*) [111]", b"float*) [111])", False),
        (b"float*) [111]", b"float*) [111] ", False),
        (b"float*) [111]", b"float* [)", False),
        (b"void add", b"void  add", False),
        (b"void add", b'void "add', False),
        (b"void add", b"void \xc3\xa9", False),
        (b"void add", b"Start Duration Device Context Stream", False),
        (b"void add", b"==12== add", False),
        (b"void add", b"No kernels were profiled", False),
        (b"void add<int=2>(float const *, float*) [111]", b"[CUDA memcpy PtoP] [12]", True),
        (b"void add<int=2>(float const *, float*) [111]", b"[Unified Memory GPU faults]", True),
        (b"void add<int=2>(float const *, float*) [111]", b"[111]", True),
        (b"void add<int=2>(float const *, float*) [111]", b"-", True),
        (b"void add<int=2>(float const *, float*) [111]", b"", False),
    ],
)
def test_a_row_that_differs(
    old: bytes, new: bytes, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert old in KERNEL
    rows = [*ROWS * 20, KERNEL.replace(old, new), *ROWS]
    assert read_both(tmp_path, trace(rows), monkeypatch, 1 << 20) == [is_taken]


@pytest.mark.parametrize(
    ("new", "is_taken"),
    [
        (b"cudaLaunchKernel (a) [1]", True),
        (b"cudaLaunchKernel ( [1])", True),
        (b"cudaLaunchKernel (- [1])", True),
        (b"cudaLaunchKernel [1])", False),
        (b"cudaLaunchKernel (a (b [1]) [2])", True),
        (b"cudaLaunchKernel (a [1234567890123456789])", True),
        (b"(a [1])", False),
        (b"[Marker] now", True),
        (b"cuLaunchKernel", True),
    ],
)
def test_a_call_that_differs(
    new: bytes, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = b"cudaLaunchKernel (void add<int=2>(float const *, float*) [111])"
    assert old in LAUNCH
    rows = [*ROWS * 20, LAUNCH.replace(old, new), *ROWS]
    assert read_both(tmp_path, trace(rows), monkeypatch, 1 << 20) == [is_taken]


@pytest.mark.deep
def test_the_scale_of_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the first copy that tells it comes before, at or after the first batch.

    195.31 KB in 16.992 us are 11.495 GB/s if a KB is 1,000 bytes, 11.226 GB/s of 1,024.
    """
    row = COPY.replace(b"10.962GB/s", b"11.225GB/s")
    by_1000 = COPY.replace(b"10.962GB/s", b"11.495GB/s")
    for count in (0, 8190, 8191, 8192, 9000):
        for copies in ([row, by_1000], [by_1000, row]):
            rows = [KERNEL] * count + copies + [KERNEL] * 10
            assert read_both(tmp_path, trace(rows), monkeypatch, 4 << 20) == [True]


def test_more_truncated_devices_than_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [KERNEL.replace(b"Tesla T4 (0)", b"Tesla %04d" % number) for number in range(200)]
    taken = read_both(tmp_path, trace([COPY, *rows]), monkeypatch)
    assert any(taken)
    assert not all(taken)


def test_the_trace_of_dlbench(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = corpus / "ncu" / "dlbench-alexnet-gtx980-nvprof-trace.txt.gz"
    assert all(read_both(tmp_path, gzip.decompress(file.read_bytes()), monkeypatch, 1 << 20))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("head", [HEAD, [*HEAD[:4], TITLE]], ids=["device", "calls"])
@pytest.mark.parametrize("seed", range(12))
def test_damage(
    head: list[bytes], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        content = trace([rng.choice(ROWS if head is HEAD else CALLS) for _ in range(60)], head)
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(content))
            content = content[:place] + rng.choice(DAMAGE) + content[place + rng.randrange(3) :]
        read_both(tmp_path, content, monkeypatch)
