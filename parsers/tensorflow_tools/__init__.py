"""Dumps of the tools of TensorFlow's profiler plugin (2019 to 2022, and those saved from xprof).

One file per host and tool, next to xplane.pb, which is now the only file. Messages are those of
github.com/openxla/xprof; docs/formats.md describes the rows of each. None of these files names its
type: they are recognized by their first fields or keys, and by matching texts and types of fields.
The reader, `reading`, is loaded when a dump is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.tensorflow_tools.sniffing import begins_with_message, is_mangled, json_tool
from tracekit.source import Source

#: The rest of a record or an Any after every byte above 127 was replaced.
_MANGLED = re.compile(
    rb"\x12(?:\x06Device|\x04Host)\x1a|"
    rb"type\.googleapis\.com/tensorflow\.profiler\.Per(?:Generic|Tpu)StepDetails"
)


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
        if tool := json_tool(head):
            return Match(0.95, f"JSON with the keys of {tool}")
        if begins_with_message(head):
            from tracekit.parsers.tensorflow_tools.protos import proto_tool

            if found := proto_tool(head):
                what = f"{found.name} ({found.message.name})"
                return Match(0.9, f"protobuf with the fields of {what}")
        if _MANGLED.search(head) and is_mangled(head):
            return Match(0.5, "a profiler plugin dump, in protobuf that was damaged as text")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.tensorflow_tools.reading import rows_of_tool

        yield from rows_of_tool(source, report)
