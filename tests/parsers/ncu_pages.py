"""Writes a report the three ways Nsight Compute does, and reads one with the parser.

The writers share nothing with tracekit: they follow the layouts of real files of the corpus.
"""

from __future__ import annotations

import atexit
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tests.parsers.conftest import Parsed, Row, gathered
from tracekit.engine.written import written
from tracekit.parser import Batch, Report
from tracekit.parsers.nsight_compute import NsightComputeParser
from tracekit.source import Source

COMMAND_LINE = "Command line profiler metrics"
LAUNCH = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
]
METRIC = ["Section Name", "Metric Name", "Metric Unit", "Metric Value"]
RULE = ["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"]
HEADER = ",".join(f'"{name}"' for name in (*LAUNCH, *METRIC)) + "\n"


@dataclass(frozen=True)
class Metric:
    """A counter: its name, what is printed, and how the details page calls it."""

    name: str
    unit: str
    text: str
    label: str = ""
    section: str = COMMAND_LINE


@dataclass(frozen=True)
class Advice:
    """A rule, by the identifier and the display name of its section."""

    identifier: str
    section: str
    name: str
    kind: str
    message: str
    speedup: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Launch:
    """One result of a report."""

    id: int
    name: str = "void k<float>(float *, int)"
    pid: int = 4242
    process: str = "app"
    stream: str = "7"
    grid: str = "(16, 2, 1)"
    block: str = "(128, 1, 1)"
    device: str = "0"
    cc: str = "8.0"
    metrics: Sequence[Metric] = ()
    advice: Sequence[Advice] = field(default_factory=tuple)

    @property
    def cells(self) -> list[str]:
        return [
            str(self.id),
            str(self.pid),
            self.process,
            "127.0.0.1",
            self.name,
            "1",
            self.stream,
            self.block,
            self.grid,
            self.device,
            self.cc,
        ]


def line(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return out.getvalue()


def details(launches: Sequence[Launch]) -> str:
    """`ncu --csv`: rows of 15 or 16 fields, of 20 for advice."""
    has_rules = any(launch.advice for launch in launches)
    rows = [line([*LAUNCH, *METRIC, *(RULE if has_rules else [])])]
    for launch in launches:
        for metric in launch.metrics:
            cells = [metric.section, metric.label or metric.name, metric.unit, metric.text]
            row = line([*launch.cells, *cells])
            rows.append(row[:-1] + ",\n" if has_rules else row)
        for rule in launch.advice:
            cells = ["", "", "", rule.name, rule.kind, rule.message, *rule.speedup]
            rows.append(line([*launch.cells, rule.identifier, *cells]))
    return "".join(rows)


def raw(launches: Sequence[Launch]) -> str:
    """`ncu --csv --page raw`: a row of names, a row of units, a row a launch."""
    units = {m.name: m.unit for launch in launches for m in launch.metrics if m.text != "n/a"}
    names = sorted({m.name for launch in launches for m in launch.metrics})
    rows = [line([*LAUNCH, *names]), line([*[""] * 11, *(units.get(name, "") for name in names)])]
    for launch in launches:
        texts = {metric.name: metric.text for metric in launch.metrics}
        rows.append(line([*launch.cells, *(texts.get(name, "") for name in names)]))
    return "".join(rows)


def text(launches: Sequence[Launch]) -> str:
    """`ncu`: a table a section, names to the left, units and values to the right."""
    lines: list[str] = []
    pid = None
    for launch in launches:
        if launch.pid != pid:
            pid = launch.pid
            lines.append(f"[{pid}] {launch.process}@127.0.0.1")
        lines.append(
            f"  {launch.name} {launch.grid}x{launch.block}, Context 1, Stream {launch.stream}, "
            f"Device {launch.device}, CC {launch.cc}"
        )
        sections = dict.fromkeys(m.section for m in launch.metrics)
        sections |= dict.fromkeys(rule.section for rule in launch.advice)
        for section in sections:
            lines.append(f"    Section: {section}")
            lines += _table([m for m in launch.metrics if m.section == section])
            for rule in (rule for rule in launch.advice if rule.section == section):
                lines += _advice(rule)
            lines.append("")
    return "\n".join(lines) + "\n"


def _table(metrics: Sequence[Metric]) -> list[str]:
    if not metrics:
        return []
    rows = [("Metric Name", "Metric Unit", "Metric Value")]
    rows += [(m.label or m.name, m.unit, m.text) for m in metrics]
    a, b, c = (max(len(row[i]) for row in rows) for i in range(3))
    dashes = f"    {'-' * a} {'-' * b} {'-' * c}"
    cells = [f"    {name:<{a}} {unit:>{b}} {value:>{c}}" for name, unit, value in rows]
    return [dashes, cells[0], dashes, *cells[1:], dashes]


def _advice(rule: Advice) -> list[str]:
    kind, percent = rule.speedup
    first = f"Est. {'Local ' if kind == 'local' else ''}Speedup: {percent}%" if kind else ""
    parts = [first] if first else []
    words = rule.message.split(" ")
    parts += [" ".join(words[i : i + 12]) for i in range(0, len(words), 12)]
    return [f"    {rule.kind}   {parts[0]}", *(f"          {part}" for part in parts[1:])]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One for all: to open one takes ten times as long as to ask it."""
    connection = duckdb.connect(config={"threads": 1})
    atexit.register(_connection.cache_clear)  # else DuckDB reports a leak
    return connection


def as_seen(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Rows as SQL sees them: the text of a number can follow from its value and format."""
    text = f"coalesce(value_raw, {written('value', 'raw_format')})"
    shown = f"SELECT * EXCLUDE (raw_format) REPLACE ({text} AS value_raw) FROM metrics"
    for table, batch in batches:
        if table != "kernel_metric":
            yield table, batch
            continue
        with _connection().cursor() as cursor:
            cursor.register("metrics", pa.Table.from_batches([batch]))
            parts = cursor.sql(shown).to_arrow_table().to_batches()
        yield from ((table, part) for part in parts)


def read(path: Path, content: bytes | str) -> Parsed:
    """What the parser makes of a file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    report = Report()
    return gathered(as_seen(NsightComputeParser().parse(Source.at(path), report)), report)


def known(row: Row) -> Row:
    """A row without what is NULL and without its place."""
    return {key: value for key, value in row.items() if value is not None and key != "event_id"}


def content_of(found: Parsed) -> dict[str, list[Any]]:
    """The launches and their counters, without what depends on the page they stand on."""
    order = [row["event_id"] for row in found["kernel"]]
    metrics: list[list[Any]] = [[] for _ in order]
    for row in found["kernel_metric"]:
        unit = row["unit"] if row["status_kind"] == "ok" else None
        metrics[order.index(row["event_id"])].append(
            (row["metric_name"], row["value"], unit, row["value_raw"], row["status_kind"])
        )
    return {
        "kernel": [known(row) for row in found["kernel"]],
        "kernel_counter": [known(row) for row in found["kernel_counter"]],
        "kernel_metric": [sorted(rows, key=str) for rows in metrics],
    }
