"""A trace as the compiled scanner reads it, and as Python does."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from tracekit.dictionaries import with_texts
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.tensorflow_trace import outline
from tracekit.parsers.tensorflow_trace import rows as tensorflow_rows
from tracekit.parsers.torch_profiler import rows as torch_rows
from tracekit.registry import parser_named
from tracekit.source import Source

Known = tuple[dict[str, pa.Table], dict[str, Any]]
#: The modules of each parser that make scanners.
SCANNING: dict[str, tuple[ModuleType, ...]] = {
    "torch-profiler": (torch_rows,),
    "tensorflow-trace": (tensorflow_rows, outline),
}
#: Tables whose rows no place in the file tells apart.
_UNPLACED = ("counter", "op_stat")


def read(path: Path, parser: str = "torch-profiler") -> Known | str:
    """The rows by table, in order, and all that the report says; or why it is refused."""
    report, found = Report(), dict[str, list[pa.RecordBatch]]()
    try:
        for name, batch in parser_named(parser).parse(Source.at(path), report):
            found.setdefault(name, []).append(batch)
    except FormatError as error:
        return str(error)
    tables = {name: with_texts(batches) for name, batches in found.items()}
    for name, table in tables.items():
        names = table.column_names
        keys = names if name in _UNPLACED else ["event_id" if "event_id" in names else names[0]]
        tables[name] = table.sort_by([(key, "ascending") for key in keys]).combine_chunks()
    says = {"events": report.event_count, "facts": report.facts, "issues": report.issues}
    return tables, says


def read_both(path: Path, parser: str = "torch-profiler") -> tuple[Known | str, Known | str]:
    """What the scanner and what Python make of a trace."""
    with pytest.MonkeyPatch.context() as patch:
        fast = read(path, parser)
        for module in SCANNING[parser]:
            patch.setattr(module, "scanner_of", lambda _: None)
        return fast, read(path, parser)
