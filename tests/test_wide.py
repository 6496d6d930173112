"""What the schema of a file of wide rows says, and files that say something odd."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracekit.engine.wide import wide_selects
from tracekit.errors import StoreError
from tracekit.schema import INT, KERNEL, KERNEL_COUNTER, KERNEL_METRIC, REAL, TEXT, Table
from tracekit.wide import (
    KERNEL_WIDE,
    LAYOUT_KEY,
    WideLayout,
    WideMetric,
    WideSum,
    forms_of,
    layout_in,
    layout_of,
    shown_counts,
)
from tracekit.widened import as_tables

COLUMNS = ("event_id", "metric_name", "value", "unit", "value_raw", "status_kind")
US = WideMetric("m1", "time", "ns", decimals=2, power=3)


def batch_of(layout: WideLayout, columns: Mapping[str, Sequence[Any]]) -> pa.RecordBatch:
    """Rows with these columns, and their number as `event_id`."""
    (length,) = {len(column) for column in columns.values()}
    schema = layout.schema(KERNEL_WIDE)
    return pa.RecordBatch.from_pydict({"event_id": range(length), **columns}, schema=schema)


def seen(files: list[Path], table: Table) -> list[dict[str, Any]]:
    """The rows of a table in files, in SQL."""
    with duckdb.connect() as connection:
        paths = list(map(str, files))
        selects = wide_selects(connection, KERNEL_WIDE, table, paths, "1 AS run_id")
        text = " UNION ALL ".join(selects)
        found = connection.sql(text).to_arrow_table()
    assert found.drop_columns(["run_id"]).schema.types == [c.type for c in table.columns]
    return [{k: v for k, v in row.items() if k != "run_id"} for row in found.to_pylist()]


def seen_of(file: Path, rows: pa.RecordBatch, table: Table) -> list[dict[str, Any]]:
    """The rows of a table in one file, in SQL; those of `as_tables` are the same."""
    pq.write_table(pa.Table.from_batches([rows]), file)
    found = seen([file], table)
    names = [column.name for column in table.columns]
    checked = [
        {name: row[name] for name in names}
        for shown, batch in as_tables(KERNEL_WIDE, rows)
        for row in (batch.to_pylist() if shown == table.name else ())
    ]
    assert Counter(map(repr, found)) == Counter(map(repr, checked))
    assert shown_counts(KERNEL_WIDE, rows)[table.name] == len(found)
    return found


def cells_of(
    file: Path, metric: WideMetric, cells: list[int | str | None]
) -> list[tuple[object, ...]]:
    """The rows of `kernel_metric` that follow from cells of a metric."""
    rows = seen_of(file, batch_of(WideLayout((metric,)), {metric.column: cells}), KERNEL_METRIC)
    return [tuple(row[name] for name in COLUMNS) for row in rows]


def test_numbers_and_texts(tmp_path: Path) -> None:
    file = tmp_path / "it's [1].parquet"
    grouped = WideMetric("m7", "o'clock", "ns", decimals=2, power=3, is_grouped=True)
    assert cells_of(file, grouped, [123450, 5, None, 10**14 - 1, 100000]) == [
        (0, "o'clock", 1234500.0, "ns", "1,234.50", "ok"),
        (1, "o'clock", 50.0, "ns", "0.05", "ok"),
        (3, "o'clock", 999999999999990.0, "ns", "999,999,999,999.99", "ok"),
        (4, "o'clock", 1e6, "ns", "1,000.00", "ok"),
    ]
    percent = WideMetric("m0", "p", "ratio", decimals=9, power=-2)
    assert cells_of(file, percent, [1, 99_970_000_000]) == [
        (0, "p", 1e-11, "ratio", "0.000000001", "ok"),
        (1, "p", 0.9997, "ratio", "99.970000000", "ok"),
    ]
    whole = WideMetric("m0", "w", is_grouped=True)
    assert [row[4] for row in cells_of(file, whole, [0, 999, 1000, 10**15 - 1])] == [
        *("0", "999", "1,000", "999,999,999,999,999")
    ]
    text = WideMetric("m0", "t", is_text=True)
    assert cells_of(file, text, ["a", None, "b"]) == [
        (0, "t", None, None, "a", "text"),
        (2, "t", None, None, "b", "text"),
    ]


def test_columns_of_the_tables_of_a_row(tmp_path: Path) -> None:
    metrics = (
        US,
        WideMetric("m2", "static"),
        WideMetric("m3", "dynamic", power=3),
        WideMetric("m4", "busy", "ratio", decimals=2, power=-2),
        WideMetric("m5", "rate", decimals=3),
        WideMetric("m6", "writebacks", "byte/s"),
    )
    sums = (
        WideSum("dur_ns", ("m1",)),
        WideSum("shared_memory_bytes", ("m3", "m2")),
        WideSum("occupancy_ratio", ("m4",)),
        WideSum("ffma_per_cycle", ("m5", "m6"), 0.1),
        WideSum("l1_writeback_per_s", ("m6",), 1 / 128),
    )
    layout = WideLayout(metrics, ("name", "grid_x", "status_json"), sums)
    rows = batch_of(
        layout,
        {
            "name": ["a", None, "c"],
            "grid_x": [1, 2, None],
            "status_json": [None, '{"dur_ns": "nan"}', None],
            "m1": [12345, None, 7],  # of 10 ns
            "m2": [16, 1, None],
            "m3": [2, 3, 4],
            "m4": [1234, 0, None],
            "m5": [1, 2, 3],
            "m6": [1, 3, 300],
        },
    )
    kernels = seen_of(tmp_path / "a.parquet", rows, KERNEL)
    assert [(row["name"], row["dur_ns"], row["grid_x"]) for row in kernels] == [
        ("a", 123450, 1),
        (None, None, 2),
        ("c", 70, None),
    ]
    assert [row["shared_memory_bytes"] for row in kernels] == [2016, 3001, None]
    counters = seen_of(tmp_path / "a.parquet", rows, KERNEL_COUNTER)
    assert [(row["name"], row["dur_ns"]) for row in counters] == [
        *(("a", 123450), (None, None), ("c", 70))
    ]
    assert [row["occupancy_ratio"] for row in counters] == [1234 / 1e4, 0.0, None]
    assert [row["ffma_per_cycle"] for row in counters] == [
        *(1 / 1e3 * 0.1 + 1 * 0.1, 2 / 1e3 * 0.1 + 3 * 0.1, 3 / 1e3 * 0.1 + 300 * 0.1)
    ]
    assert [row["l1_writeback_per_s"] for row in counters] == [1 / 128, 3 / 128, 300 / 128]
    assert [row["status_json"] for row in counters] == [None, '{"dur_ns": "nan"}', None]
    assert {row["grid_y"] for row in (*kernels, *counters)} == {None}
    assert len(seen_of(tmp_path / "a.parquet", rows, KERNEL_METRIC)) == 15


@pytest.mark.parametrize("seed", range(5))
def test_sql_and_arrow_agree_to_the_last_bit(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    metrics = tuple(
        WideMetric(f"m{n}", f"x{n}", decimals=rng.randrange(10), power=rng.randrange(-13, 14))
        for n in range(8)
    )
    reals, integers = (
        [c.name for c in KERNEL_COUNTER.columns if c.type == kind and c.name != "event_id"]
        for kind in (REAL, INT)
    )
    names = rng.sample(reals, 4)
    sums = tuple(
        WideSum(name, tuple(m.column for m in rng.sample(metrics, 2)), rng.random() * 3)
        for name in names
    )
    fractions = (WideMetric("m8", "x8", decimals=1), WideMetric("m9", "x9", decimals=2, power=1))
    metrics += fractions
    sums += tuple(
        WideSum(name, (fraction.column,), factor)
        for name, fraction, factor in zip(
            rng.sample(integers, 4), fractions * 2, (1.0, 1.0, 1 / 128, 0.3), strict=True
        )
    )
    cells: dict[str, list[int | None]] = {
        m.column: [
            rng.choice([None, 0, rng.randrange(10 ** rng.randrange(1, 16))]) for _ in "x" * 99
        ]
        for m in metrics
    }
    rows = batch_of(WideLayout(metrics, sums=sums), cells)
    for table in (KERNEL_COUNTER, KERNEL_METRIC):
        seen_of(tmp_path / "a.parquet", rows, table)


def test_files_of_different_layouts_are_read_together(tmp_path: Path) -> None:
    """A query per metric, not per metric and file, although neither file has all columns."""
    files = [tmp_path / f"{name}.parquet" for name in "abc"]
    other = WideMetric("m2", "bytes")
    layouts = [
        WideLayout((US,), ("name",), (WideSum("dur_ns", ("m1",)),)),
        WideLayout((US, other), ("name",), (WideSum("dur_ns", ("m1",)),)),
        WideLayout((other,), ("name", "dur_ns")),
    ]
    given: dict[str, list[Any]] = {"name": ["k"], "m1": [100], "m2": [5], "dur_ns": [9]}
    for file, layout in zip(files, layouts, strict=True):
        columns = {name: given[name] for name in layout.schema(KERNEL_WIDE).names[1:]}
        pq.write_table(pa.Table.from_batches([batch_of(layout, columns)]), file)
    assert sorted(row["dur_ns"] for row in seen(files, KERNEL)) == [9, 1000, 1000]
    assert sorted((row["metric_name"], row["value"]) for row in seen(files, KERNEL_METRIC)) == [
        *[("bytes", 5.0)] * 2,
        *[("time", 1000.0)] * 2,
    ]
    with duckdb.connect() as connection:
        paths = [str(file) for file in files]
        for table in (KERNEL, KERNEL_METRIC):
            assert len(list(wide_selects(connection, KERNEL_WIDE, table, paths, "1"))) == 2


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"metrics": [{"column": "m0; DROP", "metric_name": "x"}]}',
        b'{"metrics": [{"column": "m0", "metric_name": "x", "decimals": 99}]}',
        b'{"metrics": [{"column": "m0", "metric_name": 5}]}',
        b'{"metrics": [], "stored": ["run_id"]}',
        b'{"metrics": [], "stored": ["event_id"]}',
        b'{"metrics": [], "stored": ["name", "name"]}',
        b'{"metrics": [], "sums": [{"column": "dur_ns", "metrics": ["m0"]}]}',
        b'{"metrics": [], "sums": [{"column": "dur_ns", "metrics": []}]}',
        b'{"metrics": [], "sums": [{"column": "1; DROP", "metrics": ["m0"]}]}',
        b"[" * 100_000,
    ],
)
def test_what_a_file_cannot_say(tmp_path: Path, said: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        layout_of(KERNEL_WIDE, said)
    table = pa.table({"event_id": [1]}).replace_schema_metadata({LAYOUT_KEY: said} if said else {})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(StoreError, match="ingest the source again"):
        seen([tmp_path / "a.parquet"], KERNEL_METRIC)


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        (WideMetric("m0", "x", is_text=True), WideSum("occupancy_ratio", ("m0",))),
        (WideMetric("m0", "x"), WideSum("name", ("m0",))),
        (WideMetric("m0", "x"), WideSum("event_id", ("m0",))),
        (WideMetric("m0", "x"), WideSum("occupancy_ratio", ("m1",))),
    ],
)
def test_columns_that_cannot_follow_from_a_metric(metric: WideMetric, rule: WideSum) -> None:
    assert WideLayout((metric,), sums=(rule,)).oddity(KERNEL_WIDE)
    assert not WideLayout((metric,)).oddity(KERNEL_WIDE)


def test_rows_that_are_not_as_their_schema_says() -> None:
    layout = WideLayout((US,), ("name",), (WideSum("dur_ns", ("m1",)),))
    rows = batch_of(layout, {"name": ["k"], "m1": [100]})
    assert layout_in(KERNEL_WIDE, rows) == layout
    for other in (
        rows.drop_columns(["m1"]),
        rows.append_column("m2", rows.column("m1")),
        rows.rename_columns(["event_id", "m1", "name"]),
        rows.cast(pa.schema([("event_id", INT), ("name", TEXT), ("m1", REAL)])),
    ):
        with pytest.raises(ValueError, match=r"."):
            layout_in(KERNEL_WIDE, other.replace_schema_metadata(rows.schema.metadata))
    with pytest.raises(ValueError, match=r"."):
        layout_in(KERNEL_WIDE, rows.replace_schema_metadata())
    huge = WideLayout((WideMetric("m1", "x", power=13),), sums=(WideSum("dur_ns", ("m1",)),))
    for number, why in ((-1, "negative"), (10**15, "digits"), (10**9, "too large")):
        with pytest.raises(ValueError, match=why):
            list(as_tables(KERNEL_WIDE, batch_of(huge, {"m1": [number]})))


def test_which_tables_have_a_form() -> None:
    assert [forms_of(name) for name in ("kernel", "kernel_counter", "kernel_metric")] == (
        [(KERNEL_WIDE,)] * 3
    )
    assert forms_of("slice") == ()
