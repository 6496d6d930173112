"""Rows of tables as columns: many lines at once, if all of them are as nvprof writes.

A row that needs care, such as damage, a message, or a value with its own unit where the column has
one, sends its whole block to `reading`, which reads one line after the other: both give the same
rows. Text becomes such rows, too: its cells have units of their own, and an empty line or a message
ends a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tracekit.parser import Batch
from tracekit.parsers.nvprof import counter_blocks, launch_blocks, text_rows, trace_blocks
from tracekit.parsers.nvprof.blocks import IrregularError, RowBlock
from tracekit.parsers.nvprof.counter_lines import placed_rows
from tracekit.parsers.nvprof.found import PendingRows
from tracekit.parsers.nvprof.tables import TableLayout
from tracekit.reading.text.mixed_rows import CellKind, mixed_rows


def is_for_columns(table: TableLayout | None) -> bool:
    """Return whether rows of a table may be read at once."""
    return table is not None and bool(_kinds(table))


def rows_end(table: TableLayout | None, text: bytes) -> int:
    """Return where the lines that may be read at once end."""
    return len(text) if table is None or table.is_csv else text_rows.rows_end(text)


def rows_at_once(
    found: PendingRows, place: int, text: bytes, has_message: Callable[[str], object]
) -> list[Batch] | None:
    """Return the rows of whole lines that begin at `place`, after those not yet in a batch.

    None if a line needs care: then nothing has changed. `has_message` tells a text in which a line
    of something else may be.
    """
    table = found.where.table
    if table is None or b"\x1b" in text or not (kinds := _kinds(table)):
        return None
    placed = None
    if table.is_csv:
        rows = mixed_rows(text, kinds)
    elif table.kind == "trace":
        rows = text_rows.text_rows(text, kinds)
        table = replace(table, keys=(*table.keys, "correlation"))
    else:
        placed = placed_rows(found.where, text, kinds, has_message)
        rows = placed.rows if placed else None
        table = replace(table, keys=(*table.keys, "device", "name"))
    if rows is None or any(map(has_message, rows.texts)):
        return None
    try:
        block = RowBlock.of(found, table, place, rows, text)
        if table.kind == "trace" and not table.metrics:
            return trace_blocks.TraceBlock(block).take()
        if table.kind == "metrics":
            return counter_blocks.CounterBlock(block, placed).take()
        return launch_blocks.LaunchBlock(block).take()
    except IrregularError:
        return None


def _kinds(table: TableLayout) -> list[CellKind]:
    """Return what the cells of each column are; nothing if such rows cannot be read at once."""
    if trace_blocks.is_text_trace(table):
        numbers, values = trace_blocks.NUMBER_KEYS, trace_blocks.VALUE_KEYS
    elif counter_blocks.is_text_counters(table):
        numbers, values = counter_blocks.NUMBER_KEYS, counter_blocks.VALUE_KEYS
    elif not table.is_csv:
        return []
    elif trace_blocks.is_trace(table):
        numbers, values = trace_blocks.NUMBER_KEYS | trace_blocks.VALUE_KEYS, frozenset[str]()
    elif counter_blocks.is_counters(table):
        numbers, values = counter_blocks.NUMBER_KEYS, counter_blocks.VALUE_KEYS
    elif launch_blocks.is_launches(table):
        numbers, values = launch_blocks.NUMBER_KEYS, frozenset(table.metrics)
    else:
        return []
    return [
        CellKind.NUMBER if key in numbers else CellKind.VALUE if key in values else CellKind.TEXT
        for key in table.keys
    ]
