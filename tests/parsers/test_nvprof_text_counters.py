"""Metrics and events as text read at once and line by line give the same tables."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.parsers.nvprof_blocks import read_both
from tracekit.compiled import library

pytestmark = pytest.mark.skipif(library() is None, reason="no library")
(METRICS,) = (ROOT / "fixtures/nvprof/metrics-text").iterdir()
LINES = METRICS.read_bytes().splitlines()
EVENTS, HEAD, PLACE, ROWS = LINES[:5], LINES[12:14], LINES[14:16], LINES[16:]
TITLE = LINES[:3]
KERNEL = b"    Kernel: void other(float*)"
DAMAGE = [
    *(b'"', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"", b" ", b"  ", b"   ", b"-", b"1e3"),
    *(b"\x1b[1m", b"==7== Warning: x\n", b"\n\n", b"%", b"GB/s", b"Low (1)", b"\t", b"\x01"),
    *(b"No kernels were profiled.", KERNEL, b"\n" + KERNEL + b"\n", b"Device", HEAD[1], b" -->"),
]


def row(metric: bytes, *cells: bytes, times: bytes = b"3", label: bytes = b"A Label") -> bytes:
    shown = b"".join(cell.rjust(12) for cell in cells)
    return times.rjust(11) + b"  " + metric.rjust(40) + b"  " + label.rjust(40) + shown


def metrics(rows: list[bytes]) -> bytes:
    return b"\n".join([*TITLE, *HEAD, *rows, b""])


def numbered(count: int) -> list[bytes]:
    """Many kernels with the rows of the fixture each."""
    return [
        line
        for number in range(count)
        for line in (KERNEL.replace(b"other", b"k%d" % (number % 50)), *ROWS)
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_many_kernels_are_read_at_once(
    end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks end within a kernel, too."""
    content = metrics([PLACE[0], *numbered(200)]).replace(b"\n", end)
    taken = read_both(tmp_path, content, monkeypatch)
    assert len(taken) > 3
    assert all(taken)


def test_each_table_of_a_block_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = (
        b"        301                            warps_launched        6400        6402        6401"
    )
    events = [*EVENTS, PLACE[0], PLACE[1], event + b"     1926701", KERNEL, event + b"     1926701"]
    content = b"\n".join([*events, b"", metrics([*PLACE, *ROWS])])
    assert read_both(tmp_path, content, monkeypatch, 1 << 20) == [True, True]


@pytest.mark.parametrize(
    ("lines", "is_taken"),
    [
        ([row(b"ipc", b"0.5", b"0.75", b"0.625")], True),
        ([row(b"hit", b"58.75%", b"59.76%", b"58.86%")], True),
        ([row(b"rate", b"5.4797MB/s", b"45.740GB/s", b"0.00000B/s")], True),
        ([row(b"use", b"Idle (0)", b"High (7)", b"Low (1)")], True),
        ([row(b"tensor_precision_fu_utilization", *[b"Idle (0)"] * 3)], True),
        ([row(b"achieved_occupancy", b"0.1", b"0.3", b"0.2")], True),
        ([row(b"x", b"-", b"-", b"-")], True),
        ([row(b"x", b"nan", b"inf", b"n/a")], True),
        ([row(b"x", b"1", b"2", b"2 -->")], False),
        ([row(b"x", b"1", b"2", b"2") + b"  -->"], False),
        ([row(b"x", b"a,b", b"2", b"2")], False),
        ([row(b"x", b"1", b"2", b"2", label=b"One, or two")], True),
        ([row(b"x", b"1", b"2", b"2", label=b"-")], True),
        ([row(b"x", b"1", b"2", b"2", label=b"One  or two")], False),
        ([row(b"x", b"1", b"2", b"2 [7]")], False),
        ([row(b"x", b"1", b"2", b"a [7]")], True),
        ([row(b"x", b"1", b"2", b"2", label=b"Invocations")], False),
        ([row(b"x", b"1", b"2", b"2", times=b"0")], False),
        ([row(b"x", b"1", b"2", b"2", times=b"x1")], False),
        ([row(b"flop_count_sp", b"1", b"2", b"2"), row(b"flop_count_sp", b"1", b"2", b"2")], False),
        ([KERNEL, row(b"x", b"1", b"2", b"2"), KERNEL, row(b"x", b"1", b"2", b"2")], True),
        ([KERNEL, row(b"x", b"1", b"2", b"2"), KERNEL, row(b"y", b"1", b"2", b"2")], True),
        (
            [
                KERNEL,
                row(b"x", b"1", b"2", b"2"),
                KERNEL,
                *(row(m, b"1", b"2", b"2") for m in (b"y", b"x")),
            ],
            False,
        ),
        (
            [
                KERNEL,
                row(b"x", b"1", b"2", b"2"),
                KERNEL,
                *(row(m, b"1", b"2", b"2") for m in (b"x", b"y")),
            ],
            True,
        ),
        ([KERNEL, KERNEL, row(b"x", b"1", b"2", b"2")], True),
        ([KERNEL], True),
        ([b"    Kernel: "], False),
        ([b"    Kernel:   ", row(b"x", b"1", b"2", b"2")], True),
        ([b'Device "Tesla V100 (1)"', KERNEL, row(b"x", b"1", b"2", b"2")], True),
        ([b'Device "Tesla V100 (1)"  Kernel: spin(int)', row(b"x", b"1", b"2", b"2")], True),
        ([b'Device "Tesla V100 (1)"', row(b"x", b"1", b"2", b"2")], False),
        ([b'Device "Tesla V100 (1)"'], True),
        ([b'Device "Tesla V100 SXM2"', KERNEL, row(b"x", b"1", b"2", b"2")], True),
        ([b"    Kernel: a  b  c  d", row(b"x", b"1", b"2", b"2")], False),
        ([b"    Kernel: a==b", row(b"x", b"1", b"2", b"2")], True),
        ([b"    Kernel: ==7== Warning: x", row(b"x", b"1", b"2", b"2")], False),
        ([b"    Kernel: No kernels were profiled", row(b"x", b"1", b"2", b"2")], False),
        ([b"    Kernel: \xc3\xa9", row(b"x", b"1", b"2", b"2")], False),
        ([b"rank 0 says something"], False),
    ],
)
def test_lines_that_differ(
    lines: list[bytes], is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = metrics([*PLACE, *ROWS, *lines])
    assert read_both(tmp_path, content, monkeypatch, 1 << 20) == [is_taken]


def test_a_metric_that_the_block_before_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of another kernel is lost at the start of the second block."""
    rows = [row(b"metric_%02d" % number, b"1", b"2", b"2") for number in range(40)]
    taken = read_both(tmp_path, metrics([*PLACE, *rows, *rows]), monkeypatch, 1 << 12)
    assert taken[0]
    assert not all(taken)


def test_the_metrics_of_darknet(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message at its end is read as a line."""
    content = (corpus / "ncu" / "darknet19-nvprof-metrics.txt").read_bytes()
    assert all(read_both(tmp_path, content, monkeypatch, 1 << 16))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_damage(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        content = metrics([PLACE[0], *numbered(20)])
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(content))
            content = content[:place] + rng.choice(DAMAGE) + content[place + rng.randrange(3) :]
        read_both(tmp_path, content, monkeypatch)
