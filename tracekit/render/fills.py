"""Colors and hatches of the parts of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Patch

from tracekit.charts.chart import Key
from tracekit.render.axes import Drawing
from tracekit.render.figure import BLUE, GREY, RED, YELLOW, drawable
from tracekit.render.palette import FIXED

_COLORS = (BLUE, YELLOW, RED, GREY)
#: Share of white in a family's color, from its first key to its last.
_LIGHT = (0.0, 0.35, 0.6, 0.8, 0.9)
#: Each key has a hatch, too, so that keys differ in grayscale.
_HATCHES = ("", "/", ".", "x", "\\", "-", "o", "|", "+", "*")


def fills(keys: Sequence[Key], density: int) -> dict[str, tuple[str, str]]:
    """A color, by family, and a hatch for each key; a higher `density` is finer.

    Compute, communication, copies and idle time have the same color in every chart.
    """
    families = list(dict.fromkeys(key.family for key in keys))
    free = [family for family in families if family not in FIXED]
    colors = FIXED | {family: _COLORS[place % len(_COLORS)] for place, family in enumerate(free)}
    found, places = {}, dict.fromkeys(families, 0)
    for number, key in enumerate(keys):
        light = _LIGHT[min(places[key.family], len(_LIGHT) - 1)]
        base = to_rgb(colors[key.family])
        red, green, blue = (part + (1 - part) * light for part in base)
        color = to_hex((red, green, blue))
        found[key.name] = (color, density * _HATCHES[number % len(_HATCHES)])
        places[key.family] += 1
    return found


def fill_handles(
    keys: Sequence[Key], looks: Mapping[str, tuple[str, str]], drawing: Drawing
) -> list[Any]:
    """A patch in the legend for each key; beside the axes in the order of the stack."""
    return [
        Patch(
            facecolor=looks[key.name][0],
            hatch=looks[key.name][1],
            edgecolor=drawing.ink,
            linewidth=0.4 * drawing.thin,
            label=drawable(key.title),
        )
        for key in (reversed(keys) if drawing.is_legend_beside else keys)
    ]
