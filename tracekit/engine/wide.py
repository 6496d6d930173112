"""Rows of `kernel_metric` from the files of wide rows; see `tracekit.wide`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb

from tracekit.engine.quoting import escaped, quoted, read
from tracekit.errors import StoreError
from tracekit.wide import EVENT_ID, METRICS_KEY, WideMetric, metrics_of

_DIGITS = 16  # more than a cell has


def wide_selects(
    cursor: duckdb.DuckDBPyConnection, files: Sequence[str], keys: str, columns: Sequence[str]
) -> Iterator[str]:
    """Return the rows of each metric as a query with `keys` and the `columns` of the table.

    A filter on the metric or the launch then reads only what it needs. Raises StoreError if a
    file does not say which metrics it has.
    """
    for metrics, similar in _files_by_metrics(cursor, files):
        for metric in metrics:
            texts = _columns_of(metric)
            chosen = ", ".join(f'{texts.get(name, "NULL")} AS "{name}"' for name in columns)
            yield (
                f"SELECT {keys}, {chosen} FROM {read(similar)} "  # noqa: S608 - all of it quoted
                f"WHERE {metric.column} IS NOT NULL"
            )


def _files_by_metrics(
    cursor: duckdb.DuckDBPyConnection, files: Sequence[str]
) -> Iterator[tuple[list[WideMetric], list[str]]]:
    """Return files with the same metrics together."""
    by_text: dict[bytes, list[str]] = {}
    for file in files:
        query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = encode(?)"
        found = cursor.execute(query, [escaped(file), METRICS_KEY]).fetchall()
        by_text.setdefault(found[0][0] if found else b"", []).append(file)
    for text, similar in by_text.items():
        try:
            yield metrics_of(text), similar
        except ValueError:
            raise StoreError(
                f"{similar[0]}: does not say which counters it has; ingest the source again"
            ) from None


def _columns_of(metric: WideMetric) -> dict[str, str]:
    """Return SQL for the columns of `kernel_metric` that a metric has."""
    constants = {
        "metric_name": metric.metric_name,
        "unit": metric.unit,
        "unit_raw": metric.unit_raw,
        "section_name": metric.section_name,
        "label_name": metric.label_name,
        "item_name": metric.item_name,
        "status_kind": "text" if metric.is_text else "ok",
    }
    known = {name: quoted(text) for name, text in constants.items() if text is not None}
    return {
        EVENT_ID: EVENT_ID,
        "value_raw": _written(metric),
        **({} if metric.is_text else {"value": _value(metric)}),
        **known,
    }


def _value(metric: WideMetric) -> str:
    """Return the value in base units: exact powers of ten, so it is rounded once."""
    shift = metric.decimals - metric.power
    operator = "/" if shift >= 0 else "*"
    return f"CAST({metric.column} AS DOUBLE) {operator} CAST('1e{abs(shift)}' AS DOUBLE)"


def _written(metric: WideMetric) -> str:
    """Return the text of a cell."""
    if metric.is_text:
        return metric.column
    scale = 10**metric.decimals
    if not metric.decimals:
        plain = f"CAST({metric.column} AS VARCHAR)"
        grouped = f"format('{{:,}}', {metric.column})"
    else:
        least, whole = f"0.{1:0{metric.decimals}d}", f"{metric.column} // {scale}"
        kind = f"DECIMAL({metric.decimals}, {metric.decimals})"
        exact = f"CAST({metric.column} AS DECIMAL({_DIGITS}, 0)) * CAST('{least}' AS {kind})"
        plain = f"CAST({exact} AS VARCHAR)"
        pattern = f"{{:,}}.{{:0{metric.decimals}d}}"
        grouped = f"format('{pattern}', {whole}, {metric.column} % {scale})"
    if not metric.is_grouped:
        return plain
    return f"if({metric.column} < {1000 * scale}, {plain}, {grouped})"
