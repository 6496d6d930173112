"""Where a copy goes, out of what profilers call it."""

from __future__ import annotations

import re

# A: array, P: peer device, M: host memory that is not pinned (Level Zero)
_PLACES = {"h": "host", "m": "host", "d": "device", "a": "device", "p": "device"} | {
    "host": "host",
    "memory": "host",
    "pageable": "host",
    "pinned": "host",
    "device": "device",
}
_ARROW = re.compile(r"\((\w+) -> (\w+)\)")
_LETTERS = re.compile(
    r"\b([HDAPM])to([HDAPM])\b"  # Memcpy HtoD, [CUDA memcpy DtoH]
    r"|(?i:mem(?:cpy|set)_?([HDAPM])(?:to|2)([HDAPM]))"  # MemcpyH2D, MEMCPYHtoD
    r"|\bMemcpy ([HDAPM])2([HDAPM])\b"  # Memcpy M2D
)


def direction(name: str) -> str | None:
    """``host_to_device`` and the like, of a copy's name; what it spells out counts before letters.

    ``Memcpy HtoD (Pageable -> Device)`` of torch.profiler, ``Memcpy M2D`` of it on XPU,
    ``[CUDA memcpy HtoD]`` of nvprof, ``MemcpyH2D`` of XLA, ``MEMCPYHtoD`` of TensorFlow 1.
    """
    if match := _ARROW.search(name):
        return between(*match.groups())
    match = _LETTERS.search(name)
    return between(*filter(None, match.groups())) if match else None


def between(source: str, target: str) -> str | None:
    """The direction from a place to another; None if one of them is no such place."""
    ends = [_PLACES.get(place.lower()) for place in (source, target)]
    return f"{ends[0]}_to_{ends[1]}" if all(ends) else None
