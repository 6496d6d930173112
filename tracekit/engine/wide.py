"""Rows of tables from the files of wide rows, as SQL; see `tracekit.wide`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb

from tracekit.engine.quoting import SQL_TYPES, escaped, null_of, quoted, read
from tracekit.errors import StoreError
from tracekit.schema import Table
from tracekit.wide import (
    EVENT_ID,
    LAYOUT_KEY,
    WideForm,
    WideLayout,
    WideMetric,
    WideSum,
    is_of_integers,
    layout_of,
)

_DIGITS = 16  # more than a cell has


def wide_selects(
    cursor: duckdb.DuckDBPyConnection,
    form: WideForm,
    table: Table,
    files: Sequence[str],
    keys: str,
) -> Iterator[str]:
    """Return queries for `keys` and the columns of a table.

    Of cells, there is one for each metric: a filter on the metric or the launch then reads only
    what it needs. Raises StoreError if a file does not say what is in it.
    """
    by_row: dict[tuple[str, str], list[str]] = {}
    for layout, similar in _files_by_layout(cursor, form, files):
        rows = _cells_of(layout) if table == form.cells else [(_row_of(form, layout), "true")]
        for columns, condition in rows:
            chosen = ", ".join(
                f'{columns.get(c.name, null_of(c))} AS "{c.name}"' for c in table.columns
            )
            by_row.setdefault((chosen, condition), []).extend(similar)
    for (chosen, condition), similar in by_row.items():
        rows_of = read(similar)
        yield f"SELECT {keys}, {chosen} FROM {rows_of} WHERE {condition}"  # noqa: S608 - quoted


def _files_by_layout(
    cursor: duckdb.DuckDBPyConnection, form: WideForm, files: Sequence[str]
) -> Iterator[tuple[WideLayout, list[str]]]:
    """Return files of the same layout together."""
    by_text: dict[bytes, list[str]] = {}
    for file in files:
        query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = encode(?)"
        found = cursor.execute(query, [escaped(file), LAYOUT_KEY]).fetchall()
        by_text.setdefault(found[0][0] if found else b"", []).append(file)
    for text, similar in by_text.items():
        try:
            yield layout_of(form, text), similar
        except ValueError:
            raise StoreError(
                f"{similar[0]}: does not say which counters it has; ingest the source again"
            ) from None


# -- a row of a table ------------------------------------------------------------------------------


def _row_of(form: WideForm, layout: WideLayout) -> dict[str, str]:
    """Return SQL for the columns that a row has."""
    return {
        **{name: f'"{name}"' for name in (EVENT_ID, *layout.stored)},
        **{rule.column: _sum(form, rule, layout.parts_of(rule)) for rule in layout.sums},
    }


def _sum(form: WideForm, rule: WideSum, parts: Sequence[WideMetric]) -> str:
    """Return the sum of metrics; DuckDB rounds half to even, too."""
    if is_of_integers(form, rule, parts):
        return " + ".join(f"{part.column} * {10**-part.shift}" for part in parts)
    factor = "" if rule.factor == 1 else f" * CAST({quoted(repr(rule.factor))} AS DOUBLE)"
    total = " + ".join(f"({_value(part)}){factor}" for part in parts)
    return f"CAST({total} AS {SQL_TYPES[form.columns[rule.column].type]})"


# -- cells -----------------------------------------------------------------------------------------


def _cells_of(layout: WideLayout) -> Iterator[tuple[dict[str, str], str]]:
    """Return SQL for the columns of each metric's rows, and for which cells are rows."""
    for metric in layout.metrics:
        yield _columns_of(metric), f"{metric.column} IS NOT NULL"


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
    operator = "/" if metric.shift >= 0 else "*"
    return f"CAST({metric.column} AS DOUBLE) {operator} CAST('1e{abs(metric.shift)}' AS DOUBLE)"


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
