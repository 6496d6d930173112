"""Dumps of the tools of TensorFlow's profiler plugin (2019 to 2022, and those saved from xprof).

One file per host and tool, next to xplane.pb, which is now the only file. Messages are those of
github.com/openxla/xprof; docs/formats.md describes the rows of each. None of these files names its
type: they are recognized by their first fields or keys, and by matching texts and types of fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.tensorflow_tools import messages
from tracekit.parsers.tensorflow_tools.jsontext import document
from tracekit.parsers.tensorflow_tools.memory import memory_facts, memory_profile
from tracekit.parsers.tensorflow_tools.operators import kernel_stats, op_profile, tensorflow_stats
from tracekit.parsers.tensorflow_tools.rows import TableRow, as_json
from tracekit.parsers.tensorflow_tools.steps import (
    input_pipeline,
    overview_page,
    page_facts,
    pod_facts,
    pod_viewer,
)
from tracekit.reading.issues import tell_damaged_stream
from tracekit.reading.protowire import Decoded, Decoder, WireMessage
from tracekit.reading.words import words
from tracekit.schema import TABLES, batch_of_rows
from tracekit.source import Source

_MOST_BYTES = 64 << 20
_SNIFFED_BYTES = 16 << 10
_ROWS_IN_A_BATCH = 8192
_REPLACED = "\N{REPLACEMENT CHARACTER}".encode()
_FEW_REPLACED = 8

Rows = Iterator[TableRow]


# -- what each tool's dump is ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ProtoTool:
    """A dump in protobuf: its outermost message, what it has to hold, how its rows are made."""

    name: str
    message: WireMessage
    fits: Callable[[Decoded], bool]
    rows: Callable[[Decoded, Decoder, Report], Rows]


@dataclass(frozen=True, slots=True)
class _JsonTool:
    """A dump in JSON: the key that only it has, what may be its first key, how rows are made."""

    name: str
    keys: re.Pattern[bytes]
    first_keys: tuple[str, ...]
    rows: Callable[[dict[str, Any], Report], Rows]
    facts: Callable[[dict[str, Any]], dict[str, Any]]
    recording_kind: str = "summary"


def _fits_kernels(root: Decoded) -> bool:
    """Return whether reports have a name, a count and a time, most of them valid."""
    reports = root.parts("reports")
    sound = [
        one
        for one in reports
        if not (one.is_broken or one.odd_count)
        and one.get("name")
        and "total_duration_ns" in one.values
        and len(one.get("block_dim", ())) in (0, 3)
        and "occurrences" in one.values
    ]
    return len(sound) * 2 > len(reports) - 1 and bool(sound) and not root.odd_count


def _fits_stats(root: Decoded) -> bool:
    """Records of Host or Device."""
    tables = (root.part("with_idle"), root.part("without_idle"))
    return any(
        one.get("host_or_device") in ("Host", "Device") and "op_type" in one.values
        for table in tables
        for one in table.parts("tf_stats_record")
        if not one.odd_count
    )


def _fits_input(root: Decoded) -> bool:
    """A message of the profiler in an Any, or a known device."""
    if root.odd_count or root.part("step_time_summary").odd_count:
        return False
    anys = [
        *root.parts("step_details"),
        root.part("step_time_breakdown"),
        root.part("recommendation").part("bottleneck_analysis"),
    ]
    return _has_known(anys) or _is_device(root.get("hardware_type"))


def _fits_overview(root: Decoded) -> bool:
    """An input analysis, or a device, or a recommendation of the profiler's."""
    if root.odd_count:
        return False
    return (
        _fits_input(root.part("input_analysis"))
        or _is_device(root.part("run_environment").get("device_type"))
        or _has_known([root.part("recommendation").part("recommendation")])
    )


def _has_known(anys: list[Decoded]) -> bool:
    return any(messages.kind_in_any(one.get("type_url", "")) for one in anys)


def _is_device(name: str | None) -> bool:
    return bool(name) and re.search(r"\b(?:CPU|GPU|TPU)(?:\b|_ONLY)", name or "") is not None


_PROTO_TOOLS = (
    _ProtoTool(
        "kernel_stats",
        messages.KERNEL_STATS,
        _fits_kernels,
        lambda root, _, report: kernel_stats(root, report),
    ),
    _ProtoTool(
        "tensorflow_stats",
        messages.TENSORFLOW_STATS,
        _fits_stats,
        lambda root, _, report: tensorflow_stats(root, report),
    ),
    _ProtoTool("input_pipeline", messages.INPUT_PIPELINE, _fits_input, input_pipeline),
    _ProtoTool("overview_page", messages.OVERVIEW_PAGE, _fits_overview, overview_page),
)


def _pattern(*keys: str) -> re.Pattern[bytes]:
    return re.compile(rb'"(?:' + "|".join(keys).encode() + rb')"\s*:\s*[\[{]')


_POD_KEYS = words(
    """
    hloInfoMap podStatsSequence runEnvironment deviceType summary diagnostics stepBreakdownEvents
    topology
    """
)
_PROFILE_KEYS = words(
    """
    byCategory byProgram deviceType byCategoryExcludeIdle byProgramExcludeIdle byProvenance
    byProvenanceExcludeIdle aggDvfsTimeScaleMultiplier
    """
)
_MEMORY_KEYS = words(
    """
    memoryProfilePerAllocator numHosts memoryIds version hloModules
    """
)
_JSON_TOOLS = (
    _JsonTool(
        "pod_viewer", _pattern("podStatsSequence", "hloInfoMap"), _POD_KEYS, pod_viewer, pod_facts
    ),
    _JsonTool(
        "op_profile",
        _pattern("by(?:Category|Program)(?:ExcludeIdle)?"),
        _PROFILE_KEYS,
        op_profile,
        lambda root: {k: v for k, v in root.items() if not k.startswith("by")},
    ),
    _JsonTool(
        "memory_profile",
        _pattern("memoryProfilePerAllocator"),
        _MEMORY_KEYS,
        memory_profile,
        memory_facts,
        "timeline",
    ),
)

_FIRST_KEY = re.compile(rb'\s*\{\s*"([A-Za-z]{3,40})"\s*:')
#: The rest of a record or an Any after every byte above 127 was replaced.
_MANGLED = re.compile(
    rb"\x12(?:\x06Device|\x04Host)\x1a|"
    rb"type\.googleapis\.com/tensorflow\.profiler\.Per(?:Generic|Tpu)StepDetails"
)


def _json_tool(head: bytes) -> _JsonTool | None:
    head = head.removeprefix(b"\xef\xbb\xbf")
    first = _FIRST_KEY.match(head)
    if first is None:
        return None
    fitting = (t for t in _JSON_TOOLS if first[1].decode() in t.first_keys and t.keys.search(head))
    return next(fitting, None)


def _proto_tool(head: bytes) -> _ProtoTool | None:
    """Return the tool whose message the first fields are."""
    start = head[:_SNIFFED_BYTES]
    if not start or start[0] & 7 != 2:  # each begins with a message
        return None
    numbers = {tool: start[0] >> 3 in tool.message.fields for tool in _PROTO_TOOLS}
    fitting = (
        tool
        for tool in _PROTO_TOOLS
        if numbers[tool] and tool.fits(Decoder(start).read(tool.message))
    )
    return next(fitting, None)


def _is_mangled(content: bytes) -> bool:
    return content.count(_REPLACED) > _FEW_REPLACED


# -- the parser -----------------------------------------------------------------------------------


_RECORD = (
    Recipe(
        "a tool's dump, made by xprof (pip install xprof) from a GPU or TPU profile "
        "(tracekit formats tensorflow-profiler --record); tracekit reads the profile itself, "
        "which has more: use this only if you have nothing but the dump",
        "python",
        """\
from pathlib import Path

from xprof.convert import raw_to_tool_data

profiles = [str(path) for path in Path("logs").rglob("*.xplane.pb")]
data, _ = raw_to_tool_data.xspace_to_tool_data(profiles, "op_profile", {})
Path("op_profile.json").write_bytes(data if isinstance(data, bytes) else data.encode())
""",
    ),
)


class TensorflowToolsParser:
    """The tools' dumps; see the module."""

    name = "tensorflow-tools"
    title = "tool data of TensorFlow's profiler plugin (kernel_stats.pb, op_profile.json …)"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim files with the shape and the words of one of the dumps."""
        if tool := _json_tool(head):
            return Match(0.95, f"JSON with the keys of {tool.name}")
        if found := _proto_tool(head):
            return Match(0.9, f"protobuf with the fields of {found.name} ({found.message.name})")
        if _MANGLED.search(head) and _is_mangled(head):
            return Match(0.5, "a profiler plugin dump, in protobuf that was damaged as text")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        content = _content(source, report)
        name = str(source.path)
        if tool := _json_tool(content[:_SNIFFED_BYTES]):
            root = document(content, report, name)
            yield from _batches(name, tool.rows(root, report), report)
            facts = tool.facts(root)
            kind = tool.recording_kind
            tool_name = tool.name
        else:
            proto = _proto_tool(content)
            if proto is None:
                raise FormatError(_nothing_fits(name, content))
            decoder = Decoder(content)
            message = decoder.read(proto.message)
            _tell_damage(name, decoder, report)
            yield from _batches(name, proto.rows(message, decoder, report), report)
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
        if _is_mangled(decoder.content):
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
    if _is_mangled(content):
        place = content.index(_REPLACED)
        return f"{name}: not a profiler plugin dump, from byte {place:,} on: {_MANGLED_HINT}"
    return (
        f"{name}: its first bytes ({content[:16].hex(' ') or 'none'}) are neither the fields of "
        f"{', '.join(tool.name for tool in _PROTO_TOOLS)} nor the keys of "
        f"{', '.join(tool.name for tool in _JSON_TOOLS)}; xplane.pb and traces have their own "
        "parsers"
    )
