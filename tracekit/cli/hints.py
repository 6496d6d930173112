"""What a word may mean that was typed as a command but is the name of something else."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from tracekit.cli.output import DEFAULT_STORE, STORE_VARIABLE
from tracekit.errors import TracekitError
from tracekit.urls import path_of

_MOST_COMMANDS = 3
_LEAST_LIKENESS = 0.7


def hint(arguments: Sequence[str]) -> str | None:
    """Return the commands that `arguments` may stand for, as a question; None if there are none.

    The first argument is the name of a report, a chart, a run of the store, a format, a device or a
    file; the name of a report, chart or run may also be misspelled.
    """
    if not arguments or arguments[0][:1] in ("", "-"):
        return None
    word, *others = arguments
    found = list(_commands(word, others)) or list(_near(word, others))
    if not found:
        return None
    return f"did you mean {' or '.join(f'`{line}`' for line in found[:_MOST_COMMANDS])}?"


def _commands(word: str, others: Sequence[str]) -> Iterator[str]:
    named = _names(others)
    yield from (_line(start, word, others) for start, names in named.items() if word in names)
    from tracekit.peaks.devices import device_named
    from tracekit.registry import parsers

    if word in parsers():
        yield _line("formats", word, ["--record"])
    with contextlib.suppress(TracekitError):
        if device_named(word) is not None:
            yield _line("devices", word, others)
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        if Path(word).is_file():
            yield _line("ingest", word, others)


def _near(word: str, others: Sequence[str]) -> Iterator[str]:
    for start, names in _names(others).items():
        for near in get_close_matches(word, names, 1, _LEAST_LIKENESS):
            yield _line(start, near, others)
    from tracekit.peaks.devices import nearest

    for device in nearest(word)[:1]:
        if word.lower() in device.lower():
            yield _line("devices", device, others)


def _names(others: Sequence[str]) -> dict[str, list[str]]:
    """Return what has a name that is free to choose, by the command that takes it."""
    from tracekit.catalog import finding_names, report_names
    from tracekit.charts import chart_names

    names = [*report_names(), *finding_names()]
    return {"query": names, "chart": chart_names(), "summary": run_names_in(store_of(others))}


def run_names_in(store: Path) -> list[str]:
    """Return the names and IDs of the runs in a store; none if it cannot be read."""
    from tracekit.cli.opening import opened

    try:
        names = opened(store).run_names()
    except (TracekitError, OSError):  # there is no store, or it cannot be read
        return []
    return [*dict.fromkeys((*names.values(), *names))]


def store_of(others: Sequence[str]) -> Path:
    """Return the store that the arguments of a command name, or else the default."""
    for place, option in enumerate(others):
        name, equals, value = option.partition("=")
        if name == "--store":
            return path_of(value if equals else "".join(others[place + 1 : place + 2]))
    return path_of(os.environ.get(STORE_VARIABLE) or str(DEFAULT_STORE))


def _line(start: str, word: str, others: Sequence[str]) -> str:
    return shlex.join(["tracekit", start, word, *others])
