"""Signs for the parts of a stack in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.style import Style

from tracekit.charts.chart import Key
from tracekit.render.cells import listed
from tracekit.render.text import inert

_SIGNS = "█░▒▓#=+:ox"
_COLORS = ("cyan", "yellow", "magenta", "green")
#: As in pictures, the same in every chart.
_FIXED = {"compute": "cyan", "communication": "yellow", "copy": "magenta", "idle": "green"}


def signs(keys: Sequence[Key]) -> dict[str, tuple[str, Style]]:
    """A sign for each key, in the color of its family."""
    families = list(dict.fromkeys(key.family for key in keys if key.family not in _FIXED))
    colors = _FIXED | {
        family: _COLORS[place % len(_COLORS)] for place, family in enumerate(families)
    }
    return {
        key.name: (
            _SIGNS[place % len(_SIGNS)],
            Style(color=colors[key.family]),
        )
        for place, key in enumerate(keys)
    }


def sign_legend(keys: Sequence[Key], width: int) -> Iterator[str]:
    """What the signs stand for."""
    texts = [
        f"{sign} {inert(key.title)}"
        for key, (sign, _) in zip(keys, signs(keys).values(), strict=True)
    ]
    yield from listed(texts, width)
