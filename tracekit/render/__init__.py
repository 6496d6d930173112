"""Results as bytes: a table for the terminal, CSV, JSON, Markdown, Parquet; one file an output."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, runtime_checkable

from tracekit.errors import UsageError
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
        color: whether escape sequences for colour may be written.
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
    return list(_entries())


def renderer(name: str) -> Renderer:
    """The output called `name`; raises UsageError if there is none or it cannot be loaded."""
    entry = _entries().get(name)
    if entry is None:
        known = ", ".join(inert(known) for known in renderer_names())
        raise UsageError(f"there is no output format called '{inert(name)}'; known: {known}")
    try:
        loaded = entry.load()()
    except Exception as error:  # a plug-in may fail in any way
        raise UsageError(
            f"the output format '{inert(name)}' ({inert(entry.value)}) cannot be loaded: "
            f"{inert(str(error))}; update or uninstall the package that provides it"
        ) from error
    if not isinstance(loaded, Renderer):
        raise UsageError(f"{inert(entry.value)} is no renderer: it lacks name, is_binary or render")
    return loaded


def _entries() -> dict[str, EntryPoint]:
    """Where each output is found; a name that is taken is not replaced."""
    entries = {entry.name: entry for entry in BUILT_IN}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        entries.setdefault(entry.name, entry)
    return entries
