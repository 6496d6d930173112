"""A torch trace as the compiled scanner reads it, and as Python does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.torch_profiler import TorchProfilerParser
from tracekit.parsers.torch_profiler import rows as torch_rows
from tracekit.source import Source

Known = tuple[dict[str, pa.Table], dict[str, Any]]


def read(path: Path) -> Known | str:
    """The rows by table, in order, and all that the report says; or why it is refused."""
    report, found = Report(), dict[str, list[pa.RecordBatch]]()
    try:
        for name, batch in TorchProfilerParser().parse(Source.at(path), report):
            found.setdefault(name, []).append(batch)
    except FormatError as error:
        return str(error)
    tables = {name: pa.Table.from_batches(batches) for name, batches in found.items()}
    for name, table in tables.items():
        key = "event_id" if "event_id" in table.column_names else table.column_names[0]
        tables[name] = table.sort_by(key).combine_chunks()
    says = {"events": report.event_count, "facts": report.facts, "issues": report.issues}
    return tables, says


def read_both(path: Path) -> tuple[Known | str, Known | str]:
    """What the scanner and what Python make of a trace."""
    with pytest.MonkeyPatch.context() as patch:
        fast = read(path)
        patch.setattr(torch_rows, "scanner_of", lambda _: None)
        return fast, read(path)
