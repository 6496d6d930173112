"""Output of nvprof read in both ways: many rows at once, and line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.nvprof import NvprofParser, regular
from tracekit.reading.text import lines
from tracekit.source import Source
from tracekit.wide import WIDE_FORMS
from tracekit.widened import as_tables


def found(file: Path) -> Any:
    """Every row by table and all that the report says; or why it is refused."""
    said, rows = Report(), dict[str, list[Any]]()
    try:
        for table, batch in NvprofParser().parse(Source.at(file), said):
            form = WIDE_FORMS.get(table)
            for name, part in as_tables(form, batch) if form else [(table, batch)]:
                rows.setdefault(name, []).extend(part.to_pylist())
    except FormatError as error:
        return str(error)
    for name in rows.keys() & {"kernel", "kernel_counter", "kernel_metric"}:
        rows[name].sort(key=_place)
    return rows, said.event_count, said.facts, said.issues


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Where a row stands: tables have no order, and those of wide rows are in parts."""
    return row["event_id"], row.get("section_name") or "", row.get("metric_name")


def read_both(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, block_bytes: int = 4096
) -> list[bool]:
    """Read a file both ways, which must agree; return which blocks were read at once."""
    file, taken, at_once = tmp_path / "trace.csv", list[bool](), regular.rows_at_once
    file.write_bytes(content)

    def noted(*args: Any) -> Any:
        batches = at_once(*args)
        taken.append(batches is not None)
        return batches

    with monkeypatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block_bytes)
        patch.setattr(regular, "rows_at_once", noted)
        by_columns = found(file)
        patch.setattr(regular, "rows_at_once", lambda *_: None)
        assert by_columns == found(file)
    return taken
