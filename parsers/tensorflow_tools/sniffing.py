"""Tells the dumps in JSON from other files, and those in protobuf by their first byte."""

from __future__ import annotations

import re

from tracekit.reading.protowire import LENGTH
from tracekit.reading.words import words

SNIFFED_BYTES = 16 << 10
REPLACED = "\N{REPLACEMENT CHARACTER}".encode()
_FEW_REPLACED = 8


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
#: The dumps in JSON: the keys that only one has, and what its first key can be.
JSON_TOOLS = {
    "pod_viewer": (_pattern("podStatsSequence", "hloInfoMap"), _POD_KEYS),
    "op_profile": (_pattern("by(?:Category|Program)(?:ExcludeIdle)?"), _PROFILE_KEYS),
    "memory_profile": (_pattern("memoryProfilePerAllocator"), _MEMORY_KEYS),
}
_FIRST_KEY = re.compile(rb'\s*\{\s*"([A-Za-z]{3,40})"\s*:')


def json_tool(head: bytes) -> str | None:
    """Return the tool whose dump in JSON begins with `head`."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    first = _FIRST_KEY.match(head)
    if first is None:
        return None
    fitting = (
        name
        for name, (keys, first_keys) in JSON_TOOLS.items()
        if first[1].decode() in first_keys and keys.search(head)
    )
    return next(fitting, None)


def begins_with_message(head: bytes) -> bool:
    """Return whether the first field can be a message, as in every dump in protobuf."""
    return bool(head) and head[0] & 7 == LENGTH


def is_mangled(content: bytes) -> bool:
    """Return whether many bytes were replaced: the content was converted as text."""
    return content.count(REPLACED) > _FEW_REPLACED
