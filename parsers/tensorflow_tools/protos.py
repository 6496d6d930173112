"""Tells the dumps in protobuf: by their first fields, and what these hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tracekit.parsers.tensorflow_tools import messages
from tracekit.parsers.tensorflow_tools.sniffing import SNIFFED_BYTES, begins_with_message
from tracekit.reading.protowire import Decoded, Decoder, WireMessage


@dataclass(frozen=True, slots=True)
class ProtoTool:
    """A dump in protobuf: its outermost message, and what it has to hold."""

    name: str
    message: WireMessage
    fits: Callable[[Decoded], bool]


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


PROTO_TOOLS = (
    ProtoTool("kernel_stats", messages.KERNEL_STATS, _fits_kernels),
    ProtoTool("tensorflow_stats", messages.TENSORFLOW_STATS, _fits_stats),
    ProtoTool("input_pipeline", messages.INPUT_PIPELINE, _fits_input),
    ProtoTool("overview_page", messages.OVERVIEW_PAGE, _fits_overview),
)


def proto_tool(head: bytes) -> ProtoTool | None:
    """Return the tool whose message the first fields are."""
    start = head[:SNIFFED_BYTES]
    if not begins_with_message(start):
        return None
    numbers = {tool: start[0] >> 3 in tool.message.fields for tool in PROTO_TOOLS}
    fitting = (
        tool
        for tool in PROTO_TOOLS
        if numbers[tool] and tool.fits(Decoder(start).read(tool.message))
    )
    return next(fitting, None)
