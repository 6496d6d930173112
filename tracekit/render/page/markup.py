"""Elements of SVG and text for pages: whatever a name contains, it acts nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup, escape

from tracekit.render.text import inert


def safe(value: Any) -> Markup:
    """`value` as text in a page; Markup stays as it is."""
    return value if isinstance(value, Markup) else escape(inert(str(value)))


def element(name: str, *content: Any, **attributes: Any) -> Markup:
    """An element; ``class_`` is the attribute class, and ``stroke_width`` stroke-width.

    An attribute that is None is omitted.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(safe, content))
    return Markup(f"<{name}{written}>{inside}</{name}>")


def joined(parts: Iterable[Markup]) -> Markup:
    """`parts` one after the other."""
    return Markup("").join(parts)


def _attribute(value: Any) -> Markup:
    if isinstance(value, float):
        return escape(f"{value:.7g}")
    return escape(inert(str(value), newline=True))  # a tip has lines
