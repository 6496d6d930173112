"""Stacks for speedscope.app: its file format, with a sampled profile for each run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO

from tracekit._version import __version__
from tracekit.charts.stacks import WEIGHTS, Stack, path_of, total_of
from tracekit.exports import ExportRequest
from tracekit.exports.stacks import asked_stacks, told, weight_of
from tracekit.session import Session

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
#: A Python frame: file, line and function.
_FRAME = re.compile(r"(?P<file>[^()]+)\((?P<line>\d{1,9})\): .+", re.DOTALL)


class Speedscope:
    """A profile for each run: each stack is a sample, its own time in ns the weight."""

    name = "speedscope"
    title = "stacks for speedscope.app"
    suffixes = (".speedscope.json", ".speedscope.json.gz")
    more_suffixes = (".json", ".json.gz")
    most_runs = 2
    options = ("weight",)

    def write(self, session: Session, asked: ExportRequest, file: BinaryIO) -> tuple[str, ...]:
        """Write the stacks with time of their own; raises UsageError if there is none."""
        found, names = asked_stacks(session, asked), session.run_names()
        what = WEIGHTS[weight_of(asked)]
        titles = [f"{names[run]}: {what}" for run in asked.runs]
        for piece in pieces_of(titles, found):
            file.write(piece.encode())
        return told(session, asked, found)


def pieces_of(titles: Sequence[str], runs: Sequence[Sequence[Stack]]) -> Iterator[str]:
    """The content of a file, sample by sample: they can be much longer than the stacks."""
    places: dict[tuple[str, str], int] = {}
    for stack in chain.from_iterable(runs):
        places.setdefault((stack.kind, stack.name), len(places))
    head = {
        "$schema": _SCHEMA,
        "exporter": f"tracekit {__version__}",
        "name": titles[0],
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(kind, name) for kind, name in places]},
    }
    yield f'{json.dumps(head)[:-1]}, "profiles": ['
    for number, (title, stacks) in enumerate(zip(titles, runs, strict=True)):
        yield ", " if number else ""
        yield from _profile(title, stacks, places)
    yield "]}\n"


def _profile(
    title: str, stacks: Sequence[Stack], places: Mapping[tuple[str, str], int]
) -> Iterator[str]:
    sampled = [stack for stack in stacks if stack.self_value]
    head = {
        "type": "sampled",
        "name": title,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": total_of(stacks),
        "weights": [stack.self_value for stack in sampled],
    }
    yield f'{json.dumps(head)[:-1]}, "samples": ['
    for number, stack in enumerate(sampled):
        path = [places[member.kind, member.name] for member in path_of(stacks, stack)]
        yield f"{', ' if number else ''}{json.dumps(path)}"
    yield "]}"


def _frame(kind: str, name: str) -> dict[str, Any]:
    """A frame; one of Python with its file and line, the others with their kind."""
    found = _FRAME.fullmatch(name) if kind == "python" else None
    if found is None:
        return {"name": name, "file": kind}
    return {"name": name, "file": found["file"], "line": int(found["line"])}
