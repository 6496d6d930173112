"""Rows of the raw page read at once and one by one give the same tables, sound or damaged."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import CORPUS, ROOT
from tests.parsers.ncu_pages import Launch, Metric, as_seen, raw
from tracekit.engine import Database
from tracekit.errors import FormatError
from tracekit.intake import Options, Outcome, ingest
from tracekit.parser import Report
from tracekit.parsers.nsight_compute import NsightComputeParser, assemble, report
from tracekit.parsers.nsight_compute.csvpages import CsvPage
from tracekit.reading.text import lines, quoted_rows
from tracekit.source import Source
from tracekit.store import open_store
from tracekit.wide import KERNEL_WIDE, LAYOUT_KEY, layout_of

#: So that a short file has several; each has some rows of a page made here.
BLOCK_BYTES = 2048
TEXTS = [
    *("0", "1", "1,234", "1234", "1,234,567.25", "0.07", "45.30", "100.00", "1.5e+20", "-3", "+4"),
    *("9,007,199,254,740,993", "9,223,372,036,854,775,807", "1" * 25, "1,23", "1.", ".5", "1.234"),
    *("n/a", "(!) n/a", "nan", "-nan", "inf", "", " ", "CachePreferNone", "12 (1; 2; 9)", "µ"),
]
#: As in columns of NVTX ranges.
WITH_QUOTES = ['4404  "<default domain>:step" ', '"', '""', '12"', '"12', '12","34', '7 ("a"; "b")']
NAMES = [
    *(("dram__bytes.sum", unit) for unit in ("byte", "Kbyte")),
    ("gpu__time_duration.sum", "us"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"),
    ("launch__func_cache_config", ""),
    ("device__attribute_display_name", ""),
    ("device__attribute_multiprocessor_count", ""),
]
DAMAGE = [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"", b'""', b"==PROF== x\n", b'"\n"', b'","']
#: Damage of quotes, and what `CsvPage.feed` takes for something other than the rest of a row.
AMONG_QUOTES = [
    *(b"", b'"', b'""', b'"""', b'","', b'"",""', b'"7","8",', b'"7""8","9","10",'),
    *(b"ID,Process ID,Process Name,", b'","Process ID","'),
]


def pages() -> Iterator[Any]:
    """Raw pages of real reports."""
    folders = [CORPUS / "h100", CORPUS / "ncu", ROOT / "fixtures/nsight_compute"]
    for file in sorted(file for folder in folders for file in folder.rglob("*.csv*")):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        if b"Process ID" in content and b'"Metric Name"' not in content:
            yield pytest.param(content, id=file.name)


def made(seed: int, *, is_mixed: bool = False, has_quotes: bool = False) -> bytes:
    """A page of launches with every kind of cell."""
    rng = random.Random(seed)
    texts = [*TEXTS, *WITH_QUOTES] if has_quotes else TEXTS
    metrics = rng.sample(NAMES, 5)
    launches = [
        Launch(
            number,
            name=rng.choice(
                ["k(int)", "void µ<2, 3>(float*)", *(WITH_QUOTES if has_quotes else [""])]
            ),
            grid=rng.choice(["(16, 2, 1)", "(0, 0, 0)", "n/a"]),
            device=rng.choice(["0", "1"]),
            cc=rng.choice(["8.0", "9.0"]) if is_mixed else "8,0",
            metrics=[
                Metric(name, unit, rng.choice(texts if rng.random() < 0.3 else TEXTS[:8]))
                for name, unit in metrics
            ],
        )
        for number in range(60)
    ]
    return raw(launches).encode()


def damaged(content: bytes, rng: random.Random, by: list[bytes] = DAMAGE) -> bytes:
    """The same with a few bytes replaced, or its end cut off."""
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(content))
        content = content[:place] + rng.choice(by) + content[place + rng.randrange(3) :]
    return content[: rng.randrange(len(content))] if rng.random() < 0.2 else content


def found(file: Path) -> tuple[Any, ...]:
    """Every row by table, in order, and all that the report says; or why it is refused."""
    said, rows = Report(), dict[str, list[str]]()
    try:
        for table, batch in as_seen(NsightComputeParser().parse(Source.at(file), said)):
            rows.setdefault(table, []).extend(map(str, batch.to_pylist()))
    except FormatError as error:
        return (str(error),)
    rows = {table: sorted(texts) for table, texts in rows.items()}
    return rows, said.event_count, said.facts, said.issues


def read_both(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, block_bytes: int = BLOCK_BYTES
) -> list[bool]:
    """Read a page both ways, which must agree; return for which blocks rows were read at once."""
    file, taken = tmp_path / "raw.csv", list[bool]()
    file.write_bytes(content)
    at_once = CsvPage.feed_rows

    def noted(page: CsvPage, place: int, rows: Any) -> bool:
        taken.append(at_once(page, place, rows))
        return taken[-1]

    with monkeypatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block_bytes)
        patch.setattr(report, "_BLOCK_GROWTH", 1)
        patch.setattr(CsvPage, "feed_rows", noted)
        by_columns = found(file)
        patch.setattr(CsvPage, "feed_rows", lambda *_: False)
        one_by_one = found(file)
    assert by_columns == one_by_one
    return taken


@pytest.mark.sampled(7)
@pytest.mark.parametrize("content", list(pages()))
def test_real_pages(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for block_bytes in (BLOCK_BYTES, 1 << 16):
        first = content[: content.rindex(b"\n", 0, 100 * block_bytes) + 1]  # in as many blocks
        taken = read_both(tmp_path, first, monkeypatch, block_bytes)
        assert all(taken[4:])  # after the units and the first row, also once for the notation


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_cell(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = made(seed)
    taken = read_both(tmp_path, content, monkeypatch)
    assert sum(taken) >= len(taken) // 2 > 0
    assert any(read_both(tmp_path, content.replace(b"\n", b"\r\n"), monkeypatch))
    read_both(tmp_path, made(seed, is_mixed=True), monkeypatch)
    taken = read_both(tmp_path, made(seed, has_quotes=True), monkeypatch)
    assert sum(taken) >= len(taken) // 2 > 0


def test_sql_sees_each_cell_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", BLOCK_BYTES)
    content, file = made(1, has_quotes=True), tmp_path / "raw.csv"
    file.write_bytes(content)
    ingest(file, tmp_path / "S", Options(run_name="r"))
    rows = Database(open_store(tmp_path / "S")).sql("FROM kernel_metric").rows()
    _, *launches = csv.DictReader(io.StringIO(content.decode()))
    names = [name for name in launches[0] if "__" in name]
    expected = Counter((name, launch[name]) for launch in launches for name in names)
    assert Counter((row["label_name"] or row["metric_name"], row["value_raw"]) for row in rows) == (
        expected
    )
    stored = pq.read_table(tmp_path / "S/kernel_metric").column("value_raw")
    assert 0 < stored.null_count < len(stored)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("has_quotes", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_damage(
    tmp_path: Path, seed: int, has_quotes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    page, by = made(seed, has_quotes=has_quotes), AMONG_QUOTES if has_quotes else DAMAGE
    taken = [
        flag for _ in range(12) for flag in read_both(tmp_path, damaged(page, rng, by), monkeypatch)
    ]
    assert True in taken
    assert False in taken


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"4242"', b'"42""42"'),  # then the row is taken to begin further on, or not at all
        (b'"4242"', b'""'),
        (b'"58"', b'"1234567890123"'),
        (b'"58"', b'"30'),
        (b'"a ""b"""', b'"a ""b""'),
        (b'"a ""b"""', b'"a "b"""'),
        (b'"app","127.0.0.1","a ""b"""', b'"ID,Process ID,Process Name,""","","Kernel Name"'),
    ],
)
def test_row_that_is_not_taken_as_it_is(
    tmp_path: Path, old: bytes, new: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = with_quotes(60)
    assert read_both(tmp_path, b"\n".join(lines), monkeypatch)[-1]
    lines[60] = lines[60].replace(old, new)
    assert not read_both(tmp_path, b"\n".join(lines), monkeypatch)[-1]


def test_devices_among_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of a device is one only in their table, which a row with a quote ends."""
    for place in range(18, 30):
        lines = [
            *with_quotes(60)[: place + 8],
            *raw(launches(60)).encode().split(b"\n")[place + 8 :],
        ]
        page = [*lines[:place], b'"GPU ID","GPU Name",', *lines[place : place + 27]]
        page += [b'"0","NVIDIA T4",', *lines[place + 27 :]]
        read_both(tmp_path, b"\n".join(page), monkeypatch)


def launches(count: int, name: str = "k(int)") -> list[Launch]:
    metric = Metric("gpu__time_duration.sum", "us", "1,234.50")
    return [Launch(number, name=name, metrics=[metric]) for number in range(count)]


def with_quotes(count: int) -> list[bytes]:
    """The lines of a page; that of a launch is two after its ID."""
    return raw(launches(count, name='a "b"')).encode().split(b"\n")


# -- wide rows ------------------------------------------------------------------------------------


def brought_in(
    store: Path, file: Path, monkeypatch: pytest.MonkeyPatch, least: int, *, has_library: bool
) -> tuple[Outcome, Database]:
    """A page in a store of its own, with wide rows from `least` launches on."""
    with monkeypatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", BLOCK_BYTES)
        patch.setattr(report, "_BLOCK_GROWTH", 1)
        patch.setattr(assemble, "_LEAST_WIDE", least)
        if not has_library:
            patch.setattr(quoted_rows, "library", lambda: None)
        (outcome,) = ingest(file, store, Options(run_name="r"))
    return outcome, Database(open_store(store))


def metric_rows(database: Database, where: str = "true") -> Counter[str]:
    return Counter(map(str, database.sql(f"FROM kernel_metric WHERE {where}").rows()))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("has_library", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_wide_rows_are_seen_as_rows(
    tmp_path: Path, seed: int, has_library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, file = made(seed, has_quotes=seed % 2 == 1), tmp_path / "raw.csv"
    if seed > 3:
        content = damaged(content, random.Random(seed))
    file.write_bytes(content)
    long = brought_in(tmp_path / "L", file, monkeypatch, 1 << 30, has_library=has_library)
    wide = brought_in(tmp_path / "W", file, monkeypatch, 1, has_library=has_library)
    assert not list((tmp_path / "L").glob("kernel_wide/*/*/*.parquet"))
    assert seed > 3 or list((tmp_path / "W").glob("kernel_wide/*/*/*.parquet"))
    assert wide[0].rows == long[0].rows
    assert wide[0].issues == long[0].issues
    for where in ("true", "status_kind = 'text'", "metric_name = 'dram__bytes.sum'", "value > 1e6"):
        assert metric_rows(wide[1], where) == metric_rows(long[1], where)
    for table in ("kernel", "kernel_counter", "stored_table"):
        rows = [database.sql(f"FROM {table} ORDER BY ALL").rows() for _, database in (long, wide)]
        assert rows[0] == rows[1]
    for query in ("kernel_time", "operational_intensity"):
        rows = [database.query(query, {"run_id": "r"}).rows() for _, database in (long, wide)]
        assert rows[0] == rows[1]


def by_hand(cells: list[list[str]]) -> bytes:
    """A page of launches with these cells of two metrics, in us and without a unit."""
    names = ("gpu__time_duration.sum", "us"), ("launch__func_cache_config", "")
    return raw(
        [
            Launch(
                number, metrics=[Metric(*name, text) for name, text in zip(names, row, strict=True)]
            )
            for number, row in enumerate(cells)
        ]
    ).encode()


def test_cells_that_differ_from_their_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = ["1234.50", "1,234.5", "n/a", "7", "1,234,567.25", "-1.50", "9" * 16 + ".25"]
    words = ["CachePreferNone", "", "12", "CachePreferNone", "n/a", "CachePreferL1", "x, y"]
    usual = [["1,234.50", "CachePreferNone"]] * 40
    file = tmp_path / "raw.csv"
    file.write_bytes(by_hand([*usual, *map(list, zip(odd, words, strict=True)), *usual]))
    _, database = brought_in(tmp_path / "S", file, monkeypatch, 1, has_library=True)
    rows = database.sql("FROM kernel_metric").rows()
    assert Counter(row["value_raw"] for row in rows) == Counter(
        [*odd, *words, *(cell for row in (*usual, *usual) for cell in row)]
    )
    layouts = [
        layout_of(KERNEL_WIDE, pq.read_schema(path).metadata[LAYOUT_KEY.encode()])
        for path in sorted(
            (tmp_path / "S").glob("kernel_wide/*/*/*.parquet"),
            key=lambda path: (len(path.name), path.name),
        )
    ]
    assert [rule.column for rule in layouts[0].sums] == ["dur_ns"]
    assert all("dur_ns" in layout.stored for layout in layouts[1:])  # once, and from then on
    assert len(layouts) == 2
    durations = "SELECT event_id, kernel.dur_ns FROM kernel JOIN kernel_counter USING (event_id)"
    found = {row["event_id"]: row["dur_ns"] for row in database.sql(durations).rows()}
    times = {row["event_id"]: row["value"] for row in rows if row["unit_raw"] == "us"}
    assert found == {
        number: round(value) if value is not None and 0 < value < 2**63 else None
        for number, value in times.items()
    }
    values = {row["value_raw"]: row["value"] for row in rows if row["unit_raw"] == "us"}
    assert values["1,234.50"] == 1234500.0
    assert values["1,234,567.25"] == 1234567250.0
    assert values["n/a"] is None


def test_a_store_with_wide_rows_is_checked_and_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "raw.csv"
    file.write_bytes(made(1))
    brought_in(tmp_path / "S", file, monkeypatch, 1, has_library=True)
    path = min((tmp_path / "S").glob("kernel_wide/*/*/*.parquet"))
    store, content = open_store(tmp_path / "S"), path.read_bytes()
    assert list(store.check(is_deep=True)) == []
    path.write_bytes(content[:-1] + b"x")
    assert [damage.path for damage in store.check(is_deep=True)] == [path]
    path.write_bytes(content)
    store.remove(store.commits())
    assert not list((tmp_path / "S").rglob("*.parquet"))
