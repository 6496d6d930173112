"""What the schema of a file of wide rows says, and files that say something odd."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracekit.engine.wide import wide_selects
from tracekit.errors import StoreError
from tracekit.wide import METRICS_KEY, WideMetric, cell_count, metrics_of, wide_schema

COLUMNS = ("event_id", "metric_name", "value", "unit", "value_raw", "status_kind")


def seen(file: Path, metric: WideMetric, cells: list[int | str | None]) -> list[tuple[object, ...]]:
    """The rows of `kernel_metric` that follow from cells of a metric."""
    arrays = [pa.array(range(len(cells)), pa.int64()), pa.array(cells)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=wide_schema([metric]))
    assert cell_count(batch) == sum(cell is not None for cell in cells)
    pq.write_table(pa.Table.from_batches([batch]), file)
    with duckdb.connect() as connection:
        (select,) = wide_selects(connection, [str(file)], "1 AS run_id", COLUMNS)
        return [row[1:] for row in connection.execute(select).fetchall()]


def test_numbers_and_texts(tmp_path: Path) -> None:
    file = tmp_path / "it's [1].parquet"
    grouped = WideMetric("m7", "o'clock", "ns", decimals=2, power=3, is_grouped=True)
    assert seen(file, grouped, [123450, 5, None, 10**14 - 1, 100000]) == [
        (0, "o'clock", 1234500.0, "ns", "1,234.50", "ok"),
        (1, "o'clock", 50.0, "ns", "0.05", "ok"),
        (3, "o'clock", 999999999999990.0, "ns", "999,999,999,999.99", "ok"),
        (4, "o'clock", 1e6, "ns", "1,000.00", "ok"),
    ]
    percent = WideMetric("m0", "p", "ratio", decimals=9, power=-2)
    assert seen(file, percent, [1, 99_970_000_000]) == [
        (0, "p", 1e-11, "ratio", "0.000000001", "ok"),
        (1, "p", 0.9997, "ratio", "99.970000000", "ok"),
    ]
    whole = WideMetric("m0", "w", is_grouped=True)
    assert [row[4] for row in seen(file, whole, [0, 999, 1000, 10**15 - 1])] == [
        *("0", "999", "1,000", "999,999,999,999,999")
    ]
    text = WideMetric("m0", "t", is_text=True)
    assert seen(file, text, ["a", None, "b"]) == [
        (0, "t", None, None, "a", "text"),
        (2, "t", None, None, "b", "text"),
    ]


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"{}",
        b"\xff",
        b'[{"column": "m0; DROP", "metric_name": "x"}]',
        b'[{"column": "m0", "metric_name": "x", "decimals": 99}]',
        b'[{"column": "m0", "metric_name": 5}]',
        b"[" * 100_000,
    ],
)
def test_what_a_file_cannot_say(tmp_path: Path, said: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        metrics_of(said)
    table = pa.table({"event_id": [1]}).replace_schema_metadata({METRICS_KEY: said} if said else {})
    pq.write_table(table, tmp_path / "a.parquet")
    with duckdb.connect() as connection, pytest.raises(StoreError, match="ingest the source again"):
        list(wide_selects(connection, [str(tmp_path / "a.parquet")], "1", COLUMNS))
