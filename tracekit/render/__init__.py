"""Results as bytes: a table for the terminal, CSV, JSON, Markdown, Parquet, xlsx; one file each."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Protocol, runtime_checkable

from tracekit.errors import UsageError
from tracekit.plugins import by_name, named
from tracekit.result import Result

GROUP = "tracekit.renderers"

#: Our own renderers load the way third parties' do.
BUILT_IN = (
    EntryPoint("table", "tracekit.render.table:TableRenderer", GROUP),
    EntryPoint("csv", "tracekit.render.csv:CsvRenderer", GROUP),
    EntryPoint("json", "tracekit.render.json:JsonRenderer", GROUP),
    EntryPoint("markdown", "tracekit.render.markdown:MarkdownRenderer", GROUP),
    EntryPoint("parquet", "tracekit.render.parquet:ParquetRenderer", GROUP),
    EntryPoint("xlsx", "tracekit.render.xlsx:XlsxRenderer", GROUP),
)


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """How the output is viewed.

    Attributes:
        width: columns of the terminal.
        color: whether escape sequences for color may be written.
        full_names: whether names are written in full, however long.
        is_terminal: whether the output goes to a terminal.
    """

    width: int
    color: bool
    full_names: bool = False
    is_terminal: bool = False


@runtime_checkable
class Renderer(Protocol):
    """An output format: a result in, bytes out; reads and writes nothing else.

    ``name`` is the value of ``--format``. ``is_binary`` output does not go to a terminal. Text is
    UTF-8, ends in a line feed, and must be inert whatever the names in the result contain. Optional
    attributes: see `is_for_people` and `of_suffix`.
    """

    name: str
    is_binary: bool

    def render(self, result: Result, options: RenderOptions) -> bytes:
        """`result` in this format."""
        ...


def renderer_names() -> list[str]:
    """The names of all output formats: built-in ones, then those of installed packages."""
    return list(by_name(GROUP, BUILT_IN))


def renderer(name: str) -> Renderer:
    """The renderer called `name`; raises UsageError if there is none or it cannot be loaded."""
    return named(name, GROUP, BUILT_IN, "output format", _made)


def is_for_people(name: str) -> bool:
    """Whether the output called `name` is for people; output for programs has all rows and columns.

    A renderer for people has ``is_for_people = True``.
    """
    return bool(getattr(renderer(name), "is_for_people", False))


def of_suffix(suffix: str) -> str:
    """The output format for files with this suffix, such as md; `suffix` itself if there is none.

    A renderer whose files have other suffixes than its name lists them in ``suffixes``.
    """
    names = renderer_names()
    if suffix not in names:
        for name in names:
            with contextlib.suppress(UsageError):  # broken: reported if requested by name
                if suffix in getattr(renderer(name), "suffixes", ()):
                    return name
    return suffix


def _made(kind: Any) -> Renderer:
    made: object = kind()
    if not isinstance(made, Renderer):
        raise TypeError("not a renderer: it lacks name, is_binary or render")
    return made
