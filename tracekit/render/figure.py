"""Figures of matplotlib: sizes, looks, text from traces, and files that are the same every time."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import font_manager, style
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font

from tracekit.errors import UsageError, require_choice
from tracekit.render.cells import cut
from tracekit.render.text import inert, visible_escape

#: Paul Tol's high-contrast scheme: apart for the color-blind, and in greyscale by lightness.
BLUE, YELLOW, RED, GREY = "#004488", "#ddaa33", "#bb5566", "#767676"
BLACK = "#111111"

#: Series have a color (Okabe and Ito 2008), a sign and a dash of their own.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
DASHES = ("-", "--", "-.", ":")

#: Relative luminance below which a ground is dark, and the least contrast of a sign with it.
_DARK, _CONTRAST = 0.18, 3.0


@dataclass(frozen=True, slots=True)
class Look:
    """How a series of points is drawn: color, sign, line, title, if under others."""

    color: str
    marker: str
    dash: str
    title: str
    is_under: bool = False


def series_look(place: int, title: str) -> Look:
    """That of a series: another sign each time the colors begin again."""
    marker = MARKERS[(place + place // len(COLORS)) % len(MARKERS)]
    dash = DASHES[place // len(COLORS) % len(DASHES)]
    return Look(seen(COLORS[place % len(COLORS)]), marker, dash, title)


def seen(color: str) -> str:
    """The color; lighter on a style's dark ground, to 3:1 (WCAG 2.1, success criterion 1.4.11)."""
    ground = _luminance(to_rgb(matplotlib.rcParams["axes.facecolor"]))
    if ground >= _DARK:
        return color
    for white in np.linspace(0, 1, 21):
        red, green, blue = (part + (1 - part) * white for part in to_rgb(color))
        lighter = to_hex((red, green, blue))
        if _luminance(to_rgb(lighter)) + 0.05 >= _CONTRAST * (ground + 0.05):
            break
    return lighter


def text_on(color: Sequence[float]) -> str:
    """Black or white, whichever has more contrast with a ground of this color."""
    light = _luminance(color[:3])
    return BLACK if (light + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def _luminance(color: Sequence[float]) -> float:
    """Relative luminance of red, green and blue, as WCAG 2.1 defines it."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


@dataclass(frozen=True, slots=True)
class Size:
    """A figure's size in inches and points: `font` is the size of text, `scale` that of signs.

    If nobody says how many, `names` points are named, in `name_width` letters.
    """

    width: float
    height: float
    font: float
    scale: float
    legend: str
    names: int
    name_width: int


#: A column and a page of a two-column paper, a 16:9 slide.
SIZES = {
    "column": Size(3.5, 3.6, 7.0, 0.6, "outside lower center", 5, 20),
    "page": Size(7.16, 4.2, 8.0, 1.0, "outside right upper", 8, 30),
    "slide": Size(13.33, 7.5, 15.0, 2.6, "outside right upper", 8, 30),
}

#: Inches: what is higher has more pixels than matplotlib can draw.
_HIGHEST = 200.0

_LARGEST_STYLE_BYTES = 1 << 20
#: What matplotlib can write without its own program.
_KINDS = {"eps", "jpeg", "jpg", "pdf", "png", "svg", "tif", "tiff", "webp"}

#: What no style may change: names from traces are no mathematics, files are always the same.
_ESSENTIAL = {
    "text.parse_math": False,
    "text.usetex": False,
    "axes.formatter.use_mathtext": False,
    "text.hinting": "none",  # text is as wide at every resolution
    "svg.hashsalt": "tracekit",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}


def size_named(name: str) -> Size:
    """One of SIZES; raises UsageError for another name."""
    require_choice("size", name, tuple(SIZES))
    return SIZES[name]


@contextmanager
def look(size: Size, style_name: str | None = None) -> Iterator[None]:
    """Our looks, and over them a style of matplotlib's, by name or as a file.

    Raises UsageError where there is no such style.
    """
    ours = {
        "font.size": size.font,
        "axes.linewidth": 0.6 * size.scale**0.5,
        "axes.titlesize": size.font + 1,
        "legend.fontsize": size.font - 0.5,
        "legend.frameon": False,
        "lines.linewidth": 1.0 * size.scale**0.5,
        "xtick.direction": "out",
        "ytick.direction": "out",
        "hatch.linewidth": 0.4,
        # even to the eye, the same to the color-blind, and lighter all along (Nunez 2018)
        "image.cmap": "cividis",
    }
    settings: Any = matplotlib.rcParams
    with matplotlib.rc_context():
        settings.update(_defaults())  # not the user's own, which --style can name
        settings.update(ours)
        if style_name is not None:
            style.use(_style(style_name))
        settings.update(_ESSENTIAL)
        yield


class _Unheard(logging.Filter):
    """Counts what is logged and passes nothing on."""

    count = 0

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - its text is not ours
        """Count a record."""
        self.count += 1
        return False


def _style(name: str) -> Any:
    """A style by name, or the settings in a file of one.

    Not as matplotlib looks for one: it fetches URLs, imports packages, and prints the lines of a
    file that is something else.
    """
    if name == "default" or name in style.library:
        return name
    said = _Unheard()
    logger = logging.getLogger("matplotlib")
    logger.addFilter(said)
    try:
        path = Path(name).expanduser()
        if not path.is_file() or path.stat().st_size > _LARGEST_STYLE_BYTES:
            raise OSError
        found = matplotlib.rc_params_from_file(path, use_default_template=False)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: ~ of nobody
        raise UsageError(
            f"--style {name}: matplotlib has no such style, and there is no readable file of "
            "that name "
            f"; styles: {', '.join(style.available)}"
        ) from error
    finally:
        logger.removeFilter(said)
    if said.count:
        raise UsageError(
            f"--style {name}: the file is not a matplotlib style: {said.count:,} of its lines "
            "are not settings"
        )
    return found


def empty_figure(size: Size, height: float, title: str) -> Figure:
    """A figure with its title; raises UsageError where it would be too high to draw."""
    if height > _HIGHEST:
        raise UsageError(
            f"the picture would be {height:.0f} inches high; name fewer runs, omit --panels, "
            "or write the data with --data FILE"
        )
    figure = Figure(figsize=(size.width, height), layout="constrained")
    if title:
        figure.suptitle(cut(drawable(title), int(14 * size.width)), fontsize=size.font + 2)
    return figure


def suffixes() -> list[str]:
    """The kinds of files that figures can be written as."""
    return sorted(_KINDS & FigureCanvasBase.get_supported_filetypes().keys())


def _defaults() -> dict[str, Any]:
    """Matplotlib's own settings, but for the backend: it is of the whole process."""
    default: Any = matplotlib.rcParamsDefault
    return {name: default[name] for name in default if "backend" not in name}


def check_suffix(suffix: str) -> str:
    """The kind of file, without its dot; raises UsageError where matplotlib knows none such."""
    kind = suffix.removeprefix(".").lower()
    if kind not in suffixes():
        what = f"'.{inert(kind)}'" if kind else "no extension"
        raise UsageError(
            f"the picture file has {what}; use one of: {', '.join(suffixes())} "
            "(for the data, use --data FILE)"
        )
    return kind


def encoded(figure: Figure, kind: str, size: Size, dots_per_inch: int = 300) -> bytes:
    """The figure as a file; as svg, pdf and png the same bytes for the same figure."""
    out = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with look(size), _quiet():
        figure.savefig(out, format=kind, dpi=dots_per_inch, metadata=dated.get(kind))
    return out.getvalue()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what matplotlib logs of a kind of file: EPS has no transparency, which is known."""
    log = logging.getLogger("matplotlib.backends.backend_ps")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


# -- text -----------------------------------------------------------------------------------------


def drawable(text: str) -> str:
    """`text` made harmless, with escapes for what the font has no glyph for."""
    plain = inert(text)
    if plain.isascii():
        return plain
    glyphs = _glyphs()
    return "".join(c if ord(c) in glyphs else visible_escape(c) for c in plain)


@cache
def _glyphs() -> frozenset[int]:
    """What the font that comes with matplotlib can draw."""
    path = font_manager.findfont("DejaVu Sans")
    return frozenset(FT2Font(path).get_charmap())
