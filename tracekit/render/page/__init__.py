"""Pages: a report of a run as one HTML file, which loads nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from tracekit._version import __version__
from tracekit.page import Block, Page
from tracekit.render.numbers import human
from tracekit.render.page.colors import COLORS
from tracekit.render.page.markup import safe
from tracekit.render.page.pictures import drawn
from tracekit.render.page.tables import grid_of
from tracekit.render.page.tracks import KINDS, data_of, used_kinds


def render_page(page: Page) -> bytes:
    """`page` as one HTML file in UTF-8."""
    style, script = _style(), _text("page.js")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            version=__version__,
            style=Markup(style),
            script=Markup(script),
            policy="; ".join(
                (
                    "default-src 'none'",
                    f"style-src '{_digest(style)}'",
                    f"script-src '{_digest(script)}'",
                    "base-uri 'none'",
                    "form-action 'none'",
                )
            ),
        )
    )
    return text.encode()


def _digest(text: str) -> str:
    """The hash by which a browser knows a style or a script that it may use."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _text(name: str) -> str:
    return (files("tracekit.render.page") / "templates" / name).read_text("utf-8")


@cache
def _style() -> str:
    return _environment().get_template("page.css").render(colors=COLORS)


@cache
def _environment() -> Environment:
    """Templates in which every value is made harmless; a missing one is an error."""
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=safe,
    )
    environment.filters["human"] = human
    environment.globals.update(
        block_kind=_block_kind, drawn=drawn, grid_of=grid_of, kind_words=KINDS
    )
    environment.globals.update(track_data=data_of, used_kinds=used_kinds)
    return environment


def _block_kind(block: Block) -> str:
    return type(block).__name__.lower()
