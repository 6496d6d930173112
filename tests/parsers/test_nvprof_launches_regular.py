"""Launches with metrics of nvprof read at once and line by line give the same tables."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.parsers.nvprof_blocks import read_both
from tracekit.compiled import library
from tracekit.parsers.nvprof import launch_blocks

pytestmark = pytest.mark.skipif(library() is None, reason="no library")
BEGIN = [
    b"==9== NVPROF is profiling process 9, command: ./app",
    b"==9== Profiling result:",
]
METRICS = [
    *(b"flop_count_sp", b"achieved_occupancy", b"dram_utilization", b"branch_efficiency"),
    *(b"dram_read_transactions", b"l2_read_transactions", b"l2_write_transactions"),
    *(b"tensor_precision_fu_utilization", b"dram_read_throughput", b"ipc", b"stall_sync"),
]
HEAD = [
    b'"Device","Context","Stream","Kernel","Correlation_ID",%s'
    % b",".join(b'"%s"' % name for name in METRICS),
    b",,,,,,,,%,,,,,GB/s,,%",
]
TITAN = b'"TITAN X (Pascal) (0)"'
ROWS = [
    TITAN
    + b',"3","78","gemm(float*, int)",2298,1048576,0.664158,"Low (2)",99.500000,7,5,6,"Idle (0)",'
    b"1.250000,1.500000,0.000000",
    TITAN + b',"3","78","bias(float*)",2301,4096,0.250000,"Idle (0)",100.000000,8,0,1,"Low (1)",'
    b"0.125000,0.750000,33.333333",
    b'"Tesla T4 (1)","1","","tail(void)",,0,0.000000,"Max (10)",1.0,0,0,0,"Idle (0)",3,n/a,nan',
]
ROW = ROWS[0]
DAMAGE = [
    *(b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"", b" ", b"-", b"e3", b"%", b"."),
    *(b"\x1b[1m", b"==7== Warning: x\n", b'"\n"', b'","', b"No kernels were profiled.", b"GB/s"),
]


def launches(rows: list[bytes], head: list[bytes] | None = None) -> bytes:
    return b"\n".join([*BEGIN, *(head or HEAD), *rows, b""])


@pytest.fixture(params=[False, True], ids=["rows", "wide"])
def is_wide(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        monkeypatch.setattr(launch_blocks, "WIDE_BYTES", 1)
    return bool(request.param)


@pytest.mark.usefixtures("is_wide")
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_rows_are_read_at_once(end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = launches(ROWS * 100).replace(b"\n", end)
    taken = read_both(tmp_path, content, monkeypatch)
    assert len(taken) > 2
    assert all(taken)


@pytest.mark.usefixtures("is_wide")
@pytest.mark.parametrize("count", range(1, len(METRICS) + 1))
def test_columns_of_counters(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first metrics, and each alone."""
    for first in (0, count - 1):
        kept = [*range(5), *range(5 + first, 5 + count)]
        cut = [b",".join(line.split(b",")[at] for at in kept) for line in HEAD]
        rows = [row.replace(b"(float*, int)", b"()").split(b",") for row in ROWS * 20]
        content = launches([b",".join(row[at] for at in kept) for row in rows], cut)
        assert read_both(tmp_path, content, monkeypatch, 1 << 20) == [True]


@pytest.mark.usefixtures("is_wide")
@pytest.mark.parametrize(
    "parts",
    [
        [b"flop_count_sp_add", b"flop_count_sp_mul", b"flop_count_sp_fma"],
        [b"flop_count_sp", b"flop_count_sp_mul"],
        [b"flop_count_dp_fma", b"dram_read_bytes"],
        [b"l2_read_transactions"],
        [b"l2_read_transactions", b"l2_write_transactions"],
    ],
)
def test_parts_of_counters(
    parts: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = [HEAD[0].split(b',"flop')[0] + b"".join(b",%s" % name for name in parts)]
    head.append(b"," * head[0].count(b","))
    rows = [TITAN + b',"3","78","k",1' + b",12" * len(parts)] * 20
    assert read_both(tmp_path, launches(rows, head), monkeypatch, 1 << 20) == [True]


@pytest.mark.parametrize(
    ("old", "new", "is_taken"),
    [
        (b"0.664158", b"1", None),
        (b"0.664158", b"n/a", None),
        (b"1048576", b"12345678901234567", False),
        (b"1048576", b"<OVERFLOW>", False),
        (b"1048576", b"1.5", False),
        (b"1048576", b"5KB", False),
        (b"1048576", b"", False),
        (b'"Low (2)"', b"2", True),
        (b'"Low (2)"', b'"n/a"', True),
        (b"99.500000", b"99.5", True),
        (b"99.500000", b"-1", True),
        (b"99.500000", b"5ms", True),
        (b"99.500000", b"<OVERFLOW>", True),
        (b"1.250000", b"1.5MB/s", True),
        (b"1.500000", b"1.5e3", True),
        (b"1.500000", b"", True),
        (b"1.500000", b"-", True),
        (b"1.500000", b" 1", False),
        (b"0.000000", b"0.000000 -->", False),
        (b'"Idle (0)"', b"0", True),
        (b'"3"', b"x", False),
        (b'"3"', b"", False),
        (b'"78"', b"-", False),
        (b'"78"', b"1.5", False),
        (b"2298", b"", True),
        (b'"gemm', b'"[CUDA memcpy HtoD] gemm', False),
        (b'int)"', b'int) [12]"', False),
        (b'"gemm(float*, int)"', b'""', False),
        (b'"gemm', b'"==12== Profiling result: ', False),
        (TITAN, b'"TITAN X (Pas"', False),
        (TITAN, b'""', True),
        (TITAN, b"TITAN", False),
        (TITAN, b"x" + TITAN, False),
    ],
)
def test_a_row_that_differs(
    old: bytes,
    new: bytes,
    is_taken: bool | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_wide: bool,
) -> None:
    """In wide rows, columns that follow from a metric need all of its cells."""
    assert old in ROW
    rows = [*ROWS * 20, ROW.replace(old, new, 1), *ROWS]
    expected = not is_wide if is_taken is None else is_taken
    assert read_both(tmp_path, launches(rows), monkeypatch, 1 << 20) == [expected]


@pytest.mark.deep
@pytest.mark.usefixtures("is_wide")
def test_many_rows_settle_the_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace after few rows decides how many bytes a KB has; after many, it is 1,024."""
    (trace,) = (ROOT / "fixtures/nvprof/gpu-trace-csv").iterdir()
    copies = trace.read_bytes().replace(b"0.125000,0.077610", b"0.125000,0.000081380")
    for count in (150, 204, 208, 212, 260):
        content = launches(ROWS * count) + copies
        assert any(read_both(tmp_path, content, monkeypatch, 4 << 10))
        content = copies + launches(ROWS * count) + copies
        assert any(read_both(tmp_path, content, monkeypatch, 4 << 10))


@pytest.mark.sampled(8)
@pytest.mark.usefixtures("is_wide")
@pytest.mark.parametrize("seed", range(12))
def test_damage(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        content = launches([rng.choice(ROWS) for _ in range(120)])
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(content))
            content = content[:place] + rng.choice(DAMAGE) + content[place + rng.randrange(3) :]
        read_both(tmp_path, content, monkeypatch)
