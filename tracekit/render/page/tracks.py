"""The data of timelines of a page, for its script: JSON without characters that act in HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from tracekit.page import Pieces, Timeline
from tracekit.render.names import display_names
from tracekit.render.text import inert

_NAME_WIDTH = 96
_ESCAPES: dict[str, str | int | None] = {
    character: f"\\u{ord(character):04x}" for character in "<>&'"
}

#: Kinds of pieces with what they are called, by track: work, idle time by cause, steps.
KINDS = {
    "compute": "compute",
    "communication": "communication",
    "memcpy": "copies",
    "memset": "memory sets",
    "host": "waits for the host",
    "data_loading": "waits for data",
    "compile": "waits for compiling",
    "synchronisation": "waits for a synchronization",
    "launch": "waits for a launch",
    "graph": "within a graph",
    "wait_communication": "waits for communication",
    "wait_copy": "waits for a copy",
    "stream": "waits for another stream",
    "queue": "waits in the queue",
    "unknown": "cause unknown",
    "step": "step",
    "stable": "stable step",
}
#: Causes that are called like classes of work.
_CAUSES = {"communication": "wait_communication", "copy": "wait_copy"}


def kind_key(kind: str, track_kind: str) -> str:
    """The key of a kind of piece on a track of this kind."""
    key = _CAUSES.get(kind, kind) if track_kind == "idle" else kind
    return key if key in KINDS else "unknown"


def used_kinds(timeline: Timeline) -> list[str]:
    """The kinds in a timeline, in the order of KINDS."""
    found = {
        kind_key(kind, track.kind)
        for group in timeline.groups
        for track in group.tracks
        for kind in set(track.pieces.kinds)
    }
    return [kind for kind in KINDS if kind in found]


def data_of(timeline: Timeline) -> Markup:
    """The groups with their tracks; offsets are differences, names and kinds are numbers."""
    kinds = used_kinds(timeline)
    tracks = [(track, group) for group in timeline.groups for track in group.tracks]
    given = sorted({name for track, _ in tracks for name in track.pieces.names if name})
    shown = [inert(name) for name in display_names(given, _NAME_WIDTH)]
    name_index = {name: place for place, name in enumerate(given)}
    data = {
        "kinds": [[kind, KINDS[kind]] for kind in kinds],
        "names": shown,
        "groups": [
            {
                "elapsed": group.elapsed_ns,
                "tracks": [
                    _columns(track.pieces, track.kind, kinds, name_index) for track in group.tracks
                ],
            }
            for group in timeline.groups
        ],
    }
    return _embedded(data)


def _columns(
    pieces: Pieces, track_kind: str, kinds: Sequence[str], name_index: dict[str, int]
) -> dict[str, Any]:
    """Work and sums are omitted where a piece is one work: they say nothing new."""
    offsets = pieces.offsets_ns
    before = (0, *offsets[:-1])
    rows = [*zip(pieces.durs_ns, pieces.sums_ns, pieces.counts, strict=True)]
    return {
        "k": [kinds.index(kind_key(kind, track_kind)) for kind in pieces.kinds],
        "o": [offset - last for offset, last in zip(offsets, before, strict=True)],
        "d": pieces.durs_ns,
        "s": [0 if total == dur else total for dur, total, _ in rows],
        "c": [0 if count == 1 else count for *_, count in rows],
        "n": [-1 if name is None else name_index[name] for name in pieces.names],
    }


def _embedded(data: Any) -> Markup:
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.translate(str.maketrans(_ESCAPES)))
