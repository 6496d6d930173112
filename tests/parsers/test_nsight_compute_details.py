"""Rows of the details page read at once and one by one give the same tables, sound or damaged."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CORPUS, ROOT
from tests.parsers.ncu_pages import Advice, Launch, Metric, details, read
from tests.parsers.test_nsight_compute_regular import BLOCK_BYTES, TEXTS, damaged, found
from tracekit.parsers.nsight_compute import report
from tracekit.parsers.nsight_compute.assemble import Assembler
from tracekit.parsers.nsight_compute.csvpages import CsvPage
from tracekit.reading.text import lines

GPUS = b'"GPU ID","GPU Name","NUMA ID by CPU Affinity"\n"0","NVIDIA H100 80GB HBM3","0"\n'
LABELS = [
    Metric("gpu__time_duration.sum", "us", "", "Duration", "GPU Speed Of Light Throughput"),
    Metric("dram__bytes.sum", "Kbyte", ""),
    Metric("launch__func_cache_config", "", "", "Function Cache Configuration", "LaunchStats"),
    Metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", ""),
    Metric("device__attribute_display_name", "", ""),
]


def pages() -> Iterator[Any]:
    """Details pages of real reports; of long ones, the first launches."""
    folders = [CORPUS / "h100", CORPUS / "ncu", ROOT / "fixtures/nsight_compute"]
    for file in sorted(file for folder in folders for file in folder.rglob("*.csv*")):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        if b'"Metric Name"' in content:
            yield pytest.param(content[: 1 << 20], id=file.name)


def made(seed: int) -> bytes:
    """A page of launches with every kind of cell, and with advice."""
    rng = random.Random(seed)
    advice = Advice("LaunchStats", "Launch Statistics", "Tail", "WRN", 'a "long" tail', ("", ""))
    labels = rng.sample(LABELS, 3)
    launches = [
        Launch(
            number,
            name=rng.choice(["k(int)", "void µ<2, 3>(float*)", 'of "quoted" cells']),
            grid=rng.choice(["(16, 2, 1)", "(0, 0, 0)", "n/a"]),
            device=rng.choice(["0", "1"]),
            metrics=[
                Metric(
                    label.name,
                    label.unit,
                    rng.choice(TEXTS if rng.random() < 0.2 else TEXTS[:8]),
                    label.label,
                    label.section,
                )
                for label in (labels if seed % 2 else rng.sample(LABELS, rng.randrange(1, 4)))
            ],
            advice=[advice] if seed > 3 and rng.random() < 0.5 else [],
        )
        for number in range(60)
    ]
    return details(launches).encode()


def read_both(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, block_bytes: int = BLOCK_BYTES
) -> list[int | None]:
    """Read a page both ways, which must agree; return what was taken of each block at once."""
    file, taken = tmp_path / "details.csv", list[int | None]()
    file.write_bytes(content)
    at_once = CsvPage.feed_details

    def noted(page: CsvPage, *block: Any) -> int | None:
        size = at_once(page, *block)
        if isinstance(page.sink, Assembler):  # not the first look at the notation
            taken.append(size)
        return size

    with monkeypatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block_bytes)
        patch.setattr(report, "_BLOCK_GROWTH", 1)
        patch.setattr(CsvPage, "feed_details", noted)
        by_columns = found(file)
        patch.setattr(CsvPage, "feed_details", lambda *_: None)
        one_by_one = found(file)
    assert by_columns == one_by_one
    return taken


@pytest.mark.sampled(8)
@pytest.mark.parametrize("content", list(pages()))
def test_real_pages(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for block_bytes in (1 << 14, 1 << 18):
        read_both(tmp_path, content, monkeypatch, block_bytes)


@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_cell(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = made(seed)
    taken = read_both(tmp_path, content, monkeypatch)
    assert any(taken)
    assert None not in taken
    assert any(read_both(tmp_path, content.replace(b"\n", b"\r\n"), monkeypatch))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_damage(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    taken = [
        size
        for _ in range(4)
        for size in read_both(tmp_path, damaged(made(seed), rng), monkeypatch)
    ]
    assert any(taken)
    assert None in taken


@pytest.mark.parametrize("between", [GPUS, b"epoch 1\n\n", b"  Section: x\n", b'"0","1","a"\n'])
def test_lines_between_rows(
    tmp_path: Path, between: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = made(1).splitlines(keepends=True)
    for place in (30, 31, 32, 120):
        content = b"".join([*rows[:place], between, *rows[place:]])
        assert any(read_both(tmp_path, content, monkeypatch))


def test_rows_that_are_not_adjacent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header, *rows = made(1).splitlines(keepends=True)
    content = b"".join([header, *rows, *rows[:3], *rows[60:90], rows[0]])
    assert any(read_both(tmp_path, content, monkeypatch))


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracekit.reading.text.repeated_rows.library", lambda: None)
    assert not any(read_both(tmp_path, made(5), monkeypatch))


def test_values_and_advice_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", BLOCK_BYTES)
    advice = [Advice("LaunchStats", "x", "Tail", "OPT", "a tail", ("global", "3.5"))]
    texts = ["1,234.50", "n/a", "7", *["0.25"] * 40]
    content = details(
        [
            Launch(number, metrics=[Metric("gpu__time_duration.sum", "us", text)], advice=advice)
            for number, text in enumerate(texts)
        ]
    )
    read_all = read(tmp_path / "d.csv", content)
    rows = read_all.rows["kernel_metric"]
    assert [row["value_raw"] for row in rows] == texts
    assert [row["value"] for row in rows][:3] == [1234500.0, None, 7000.0]
    starts = {content.index(f'"{number}","4242"') for number in range(len(texts))}
    assert {row["event_id"] for row in read_all.rows["kernel"]} == starts
    rules = read_all.rows["kernel_rule"]
    assert {row["launch_event_id"] for row in rules} == starts
    assert {row["section_name"] for row in rules} == {"Launch Statistics"}
    assert {row["speedup_ratio"] for row in rules} == {0.035}
