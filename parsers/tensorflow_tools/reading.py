"""Reads a dump of a tool into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.tensorflow_tools.jsontext import document
from tracekit.parsers.tensorflow_tools.memory import memory_facts, memory_profile
from tracekit.parsers.tensorflow_tools.operators import kernel_stats, op_profile, tensorflow_stats
from tracekit.parsers.tensorflow_tools.protos import PROTO_TOOLS, proto_tool
from tracekit.parsers.tensorflow_tools.rows import TableRow, as_json
from tracekit.parsers.tensorflow_tools.sniffing import (
    JSON_TOOLS,
    REPLACED,
    SNIFFED_BYTES,
    is_mangled,
    json_tool,
)
from tracekit.parsers.tensorflow_tools.steps import (
    input_pipeline,
    overview_page,
    page_facts,
    pod_facts,
    pod_viewer,
)
from tracekit.reading.issues import tell_damaged_stream
from tracekit.reading.protowire import Decoded, Decoder
from tracekit.schema import TABLES, batch_of_rows
from tracekit.source import Source

_MOST_BYTES = 64 << 20
_ROWS_IN_A_BATCH = 8192

Rows = Iterator[TableRow]


@dataclass(frozen=True, slots=True)
class _JsonReader:
    """How rows and facts are made of a dump in JSON."""

    rows: Callable[[dict[str, Any], Report], Rows]
    facts: Callable[[dict[str, Any]], dict[str, Any]]
    recording_kind: str = "summary"


_JSON_READERS = {
    "pod_viewer": _JsonReader(pod_viewer, pod_facts),
    "op_profile": _JsonReader(
        op_profile, lambda root: {k: v for k, v in root.items() if not k.startswith("by")}
    ),
    "memory_profile": _JsonReader(memory_profile, memory_facts, "timeline"),
}
_PROTO_ROWS: dict[str, Callable[[Decoded, Decoder, Report], Rows]] = {
    "kernel_stats": lambda root, _, report: kernel_stats(root, report),
    "tensorflow_stats": lambda root, _, report: tensorflow_stats(root, report),
    "input_pipeline": input_pipeline,
    "overview_page": overview_page,
}


def rows_of_tool(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    content = _content(source, report)
    name = str(source.path)
    if tool := json_tool(content[:SNIFFED_BYTES]):
        root = document(content, report, name)
        reader = _JSON_READERS[tool]
        yield from _batches(name, reader.rows(root, report), report)
        facts = reader.facts(root)
        kind = reader.recording_kind
        tool_name = tool
    else:
        proto = proto_tool(content)
        if proto is None:
            raise FormatError(_nothing_fits(name, content))
        decoder = Decoder(content)
        message = decoder.read(proto.message)
        _tell_damage(name, decoder, report)
        yield from _batches(name, _PROTO_ROWS[proto.name](message, decoder, report), report)
        facts = page_facts(message, decoder)
        kind = "summary"
        tool_name = proto.name
    report.facts |= {
        "profiler_name": "TensorFlow profiler",
        "recording_kind": kind,
        "is_complete": report.is_whole(),
        "metadata_json": as_json({"tool": tool_name} | facts),
    }


def _content(source: Source, report: Report) -> bytes:
    with source.open() as stream:
        content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise FormatError(
                f"{source.path}: larger than {_MOST_BYTES >> 20} MiB: no tool of the profiler "
                "plugin "
                "writes a dump of that size; check what the file is"
            )
        report.read(len(content))
        if stream.damage:
            tell_damaged_stream(report, stream.damage, len(content))
    return content


def _batches(name: str, rows: Rows, report: Report) -> Iterator[Batch]:
    """Yield the rows by table, and count the events; raise FormatError if there are no rows."""
    held: dict[str, list[dict[str, Any]]] = {}
    latest, is_empty = None, True
    for table, row in rows:
        is_empty = False
        if TABLES[table].is_event and row["event_id"] != latest:
            report.event_count += 1
            latest = row["event_id"]
        held.setdefault(table, []).append(row)
        if len(held[table]) >= _ROWS_IN_A_BATCH:
            yield table, batch_of_rows(TABLES[table], held.pop(table))
    if is_empty:
        raise FormatError(
            f"{name}: a profiler plugin dump, but none of its records can be read. The "
            "profiler recorded nothing (profile for longer), or the file is damaged: get a new copy"
        )
    for table, rest in held.items():
        yield table, batch_of_rows(TABLES[table], rest)


_MANGLED_HINT = (
    "it has many EF BF BD sequences, the mark for bytes that are not text: the file went through a "
    "text conversion (by version control or a text-mode transfer). The original bytes are "
    "lost: get a new copy, in binary mode"
)


def _tell_damage(name: str, decoder: Decoder, report: Report) -> None:
    if decoder.errors:
        first = min(decoder.errors, key=lambda error: error.offset_bytes)
        if is_mangled(decoder.content):
            raise FormatError(
                f"{name}: not protobuf from byte {first.offset_bytes:,} on: {first}; "
                f"{_MANGLED_HINT}"
            )
        code, what = "damaged_content", f"records that are not protobuf ({first})"
        if decoder.is_cut:
            code, what = "cut_content", "the content ends inside a record"
        report.tell(
            code,
            "error",
            "recording",
            what,
            "the readable part is kept; get a new copy, in binary mode",
            occurrence_count=len(decoder.errors),
            first_offset_bytes=first.offset_bytes,
        )
    if decoder.unknown_count:
        report.tell(
            "unknown_field",
            "info",
            "import",
            "unknown fields",
            "a newer profiler wrote them; they are skipped",
            occurrence_count=decoder.unknown_count,
            first_offset_bytes=decoder.first_unknown_bytes,
        )


def _nothing_fits(name: str, content: bytes) -> str:
    if is_mangled(content):
        place = content.index(REPLACED)
        return f"{name}: not a profiler plugin dump, from byte {place:,} on: {_MANGLED_HINT}"
    return (
        f"{name}: its first bytes ({content[:16].hex(' ') or 'none'}) are neither the fields of "
        f"{', '.join(tool.name for tool in PROTO_TOOLS)} nor the keys of "
        f"{', '.join(JSON_TOOLS)}; xplane.pb and traces have their own "
        "parsers"
    )
