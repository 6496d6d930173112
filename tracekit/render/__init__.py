"""Results as bytes: a table for the terminal, CSV, JSON, Markdown, Parquet; one file an output."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Protocol, runtime_checkable

from tracekit.errors import UsageError
from tracekit.plugins import by_name, loaded
from tracekit.render.text import inert
from tracekit.result import Result

GROUP = "tracekit.renderers"

#: Our own renderers load the way third parties' do.
BUILT_IN = (
    EntryPoint("table", "tracekit.render.table:TableRenderer", GROUP),
    EntryPoint("csv", "tracekit.render.csv:CsvRenderer", GROUP),
    EntryPoint("json", "tracekit.render.json:JsonRenderer", GROUP),
    EntryPoint("markdown", "tracekit.render.markdown:MarkdownRenderer", GROUP),
    EntryPoint("parquet", "tracekit.render.parquet:ParquetRenderer", GROUP),
)


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """How the output is looked at.

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
    """An output: a result in, bytes out, nothing else read or written.

    ``name`` is what ``--format`` takes. ``is_binary`` outputs have no place on a terminal.
    Text is UTF-8, ends in a line feed and must be inert whatever the names in the result hold.
    """

    name: str
    is_binary: bool

    def render(self, result: Result, options: RenderOptions) -> bytes:
        """`result` in this output's form."""
        ...


def renderer_names() -> list[str]:
    """The outputs there are: ours, then those of installed packages."""
    return list(by_name(GROUP, BUILT_IN))


def renderer(name: str) -> Renderer:
    """The output called `name`; raises UsageError if there is none or it cannot be loaded."""
    entry = by_name(GROUP, BUILT_IN).get(name)
    if entry is None:
        known = ", ".join(inert(known) for known in renderer_names())
        raise UsageError(f"unknown output format '{inert(name)}'; formats: {known}")
    return loaded(entry, "output format", _made)


def _made(kind: Any) -> Renderer:
    made: object = kind()
    if not isinstance(made, Renderer):
        raise TypeError("not a renderer: it lacks name, is_binary or render")
    return made
