"""Matplotlib figures: sizes, styles, text from traces, and reproducible files."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib
import numpy as np
from matplotlib import font_manager, style
from matplotlib.artist import Artist
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font

from tracekit.errors import UsageError, require_choice
from tracekit.render.cells import cut
from tracekit.render.palette import BLACK as BLACK
from tracekit.render.palette import BLUE as BLUE
from tracekit.render.palette import GREY as GREY
from tracekit.render.palette import RED as RED
from tracekit.render.palette import YELLOW as YELLOW
from tracekit.render.text import inert, visible_escape

#: Each series has its own color (Okabe and Ito 2008), marker and dash.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
DASHES = ("-", "--", "-.", ":")

#: Relative luminance below which a background is dark; minimum contrast of a marker with it.
_DARK, _CONTRAST = 0.18, 3.0


@dataclass(frozen=True, slots=True)
class Look:
    """How a series of points is drawn: color, marker, line, title, whether under others."""

    color: str
    marker: str
    dash: str
    title: str
    is_under: bool = False


def series_look(place: int, title: str) -> Look:
    """The look of the series at `place`: another marker each time the colors repeat."""
    marker = MARKERS[(place + place // len(COLORS)) % len(MARKERS)]
    dash = DASHES[place // len(COLORS) % len(DASHES)]
    return Look(seen(COLORS[place % len(COLORS)]), marker, dash, title)


def seen(color: str) -> str:
    """The color; lighter on a dark background, to 3:1 (WCAG 2.1, success criterion 1.4.11)."""
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
    """Black or white, whichever has more contrast with a background of this color."""
    light = _luminance(color[:3])
    return BLACK if (light + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def _luminance(color: Sequence[float]) -> float:
    """Relative luminance of red, green and blue, as WCAG 2.1 defines it."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


@dataclass(frozen=True, slots=True)
class Size:
    """A figure's size in inches and points: `font` is the size of text, `scale` that of markers.

    By default, `names` points are labeled, with names of up to `name_width` letters.
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

#: The titles of parts of figures, and what their IDs begin with.
_TITLES: WeakKeyDictionary[Figure, list[str]] = WeakKeyDictionary()
_TITLED = "titled-"

#: In inches: a taller figure has more pixels than matplotlib can draw.
_HIGHEST = 200.0

_LARGEST_STYLE_BYTES = 1 << 20
#: File types that matplotlib writes without another program.
_KINDS = {"eps", "jpeg", "jpg", "pdf", "png", "svg", "tif", "tiff", "webp"}

#: What no style may change: names from traces are not math, and files are reproducible.
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
    """Our settings, then those of a matplotlib style, by name or file.

    Raises UsageError if there is no such style.
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
        # perceptually uniform, also for the color-blind, and ever lighter (Nunez 2018)
        "image.cmap": "cividis",
    }
    settings: Any = matplotlib.rcParams
    with matplotlib.rc_context():
        settings.update(_defaults())  # not the user's own; --style can name those
        settings.update(ours)
        if style_name is not None:
            style.use(_style(style_name))
        settings.update(_ESSENTIAL)
        yield


class _Unheard(logging.Filter):
    """Counts log records and drops them."""

    count = 0

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - its text is not ours
        """Count a record."""
        self.count += 1
        return False


def _style(name: str) -> Any:
    """A style by name, or the settings in a style file.

    Not with matplotlib's own search: it fetches URLs, imports packages, and prints the lines of
    files that are not styles.
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
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: ~ of an unknown user
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
    """A figure with its title; raises UsageError if it is too tall to draw."""
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
    """The file types of pictures."""
    return sorted(_KINDS & FigureCanvasBase.get_supported_filetypes().keys())


def _defaults() -> dict[str, Any]:
    """Matplotlib's own settings except the backend, which belongs to the process."""
    default: Any = matplotlib.rcParamsDefault
    return {name: default[name] for name in default if "backend" not in name}


def check_suffix(suffix: str) -> str:
    """The file type, without its dot; raises UsageError if matplotlib cannot write it."""
    kind = suffix.removeprefix(".").lower()
    if kind not in suffixes():
        what = f"'.{inert(kind)}'" if kind else "no extension"
        raise UsageError(
            f"the picture file has {what}; use one of: {', '.join(suffixes())} "
            "(for the data, use --data FILE)"
        )
    return kind


def explain(figure: Figure, artist: Artist, text: str) -> None:
    """Give a part of a figure a title, which browsers show for an SVG under the pointer."""
    texts = _TITLES.setdefault(figure, [])
    artist.set_gid(f"{_TITLED}{len(texts)}")
    texts.append(text)


def _with_titles(svg: bytes, texts: Sequence[str]) -> bytes:
    def titled(found: re.Match[bytes]) -> bytes:
        return (
            found[0]
            + f"<title>{escape(inert(texts[int(found[1])], newline=True))}</title>".encode()
        )

    return re.sub(rb'<g id="%b(\d+)">' % _TITLED.encode(), titled, svg)


def encoded(figure: Figure, kind: str, size: Size, dots_per_inch: int = 300) -> bytes:
    """The figure as a file; svg, pdf and png are reproducible byte for byte."""
    out = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with look(size), _quiet():
        figure.savefig(out, format=kind, dpi=dots_per_inch, metadata=dated.get(kind))
    if kind == "svg" and figure in _TITLES:
        return _with_titles(out.getvalue(), _TITLES[figure])
    return out.getvalue()


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what matplotlib logs about EPS: that it has no transparency."""
    log = logging.getLogger("matplotlib.backends.backend_ps")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


# -- text -----------------------------------------------------------------------------------------


def drawable(text: str) -> str:
    """`text` made harmless, with escapes for characters that the font lacks."""
    plain = inert(text)
    if plain.isascii():
        return plain
    glyphs = _glyphs()
    return "".join(c if ord(c) in glyphs else visible_escape(c) for c in plain)


@cache
def _glyphs() -> frozenset[int]:
    """The characters in the font that comes with matplotlib."""
    path = font_manager.findfont("DejaVu Sans")
    return frozenset(FT2Font(path).get_charmap())
