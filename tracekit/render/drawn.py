"""What drawing gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tracekit.errors import UsageError
from tracekit.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Inches: what is higher has more pixels than matplotlib can draw.
_HIGHEST = 200.0


class Drawn(NamedTuple):
    """A figure of matplotlib's and the table of all that is in it."""

    figure: Figure
    data: Result


def drawable_height(height: float) -> float:
    """The height of a figure in inches; raises UsageError where it would be too high to draw."""
    if height > _HIGHEST:
        raise UsageError(
            f"the picture would be {height:.0f} inches high; name fewer runs, leave --panels out, "
            "or write the numbers with --data FILE"
        )
    return height
