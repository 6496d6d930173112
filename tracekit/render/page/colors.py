"""Colors of pages by what they stand for, on light and on dark ground."""

from __future__ import annotations

from tracekit.render.palette import BLACK, BLUE, GREY, RED

#: Those of pictures on light ground, with Paul Tol's light companions for dark ground. Yellow is
#: darker than theirs, for a contrast of nearly 3:1 without an edge.
_BLUE, _YELLOW, _RED = (BLUE, "#6699cc"), ("#c4941f", "#eecc66"), (RED, "#ee99aa")
_GREY, _BLACK = (GREY, "#9a9a9a"), (BLACK, "#eeeeee")

#: For what has no color of its own (Okabe and Ito 2008).
_FREE = (
    ("#0072b2", "#56a5d8"),
    ("#d55e00", "#f08a3c"),
    ("#009e73", "#2fc79b"),
    ("#444444", "#cccccc"),
    ("#cc79a7", "#e3a5c8"),
    ("#b87e00", "#e6b13c"),
    ("#2e8ec7", "#8ccbf2"),
    ("#8c564b", "#c08d82"),
    ("#6a3d9a", "#b497d6"),
    ("#4d7d2d", "#94c973"),
)

COLORS: dict[str, tuple[str, str]] = {
    "compute": _BLUE,
    "communication": _YELLOW,
    "copy": _RED,
    "memcpy": _RED,
    "memset": ("#d98c99", "#b86a78"),
    "idle": _GREY,
    "host": _FREE[1],
    "data_loading": _FREE[4],
    "compile": _FREE[8],
    "synchronisation": _FREE[2],
    "launch": _FREE[5],
    "graph": _FREE[9],
    "wait_communication": _YELLOW,
    "wait_copy": _RED,
    "stream": _FREE[6],
    "queue": _FREE[7],
    "unknown": _GREY,
    "step": ("#b0b0b0", "#5c5c5c"),
    "stable": ("#7f9fbf", "#47607a"),
    "b-compute": _RED,
    "b-bandwidth": _BLUE,
    "b-latency": _BLACK,
    "b-overhead": _YELLOW,
    "b-unknown": _GREY,
    **{f"c{place}": pair for place, pair in enumerate(_FREE)},
}
