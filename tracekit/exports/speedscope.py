"""Stacks for speedscope.app: its file format, with a sampled profile for each run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, BinaryIO

from tracekit._version import __version__
from tracekit.charts.stacks import WEIGHTS, Stack, total_of
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
    suffixes = (".speedscope.json", ".speedscope.json.gz", ".json", ".json.gz")
    most_runs = 2
    options = ("weight",)

    def write(self, session: Session, asked: ExportRequest, file: BinaryIO) -> tuple[str, ...]:
        """Write the stacks with time of their own; raises UsageError if there is none."""
        found, names = asked_stacks(session, asked), session.run_names()
        what = WEIGHTS[weight_of(asked)]
        titles = [f"{names[run]}: {what}" for run in asked.runs]
        file.write(json.dumps(content_of(titles, found)).encode())
        return told(session, asked, found)


def content_of(titles: Sequence[str], runs: Sequence[Sequence[Stack]]) -> dict[str, Any]:
    """The content of a file: profiles share their frames."""
    places: dict[tuple[str, str], int] = {}
    profiles = [_profile(title, stacks, places) for title, stacks in zip(titles, runs, strict=True)]
    return {
        "$schema": _SCHEMA,
        "exporter": f"tracekit {__version__}",
        "name": titles[0],
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(kind, name) for kind, name in places]},
        "profiles": profiles,
    }


def _profile(
    title: str, stacks: Sequence[Stack], places: dict[tuple[str, str], int]
) -> dict[str, Any]:
    """A profile; `places` gets the frames that are new."""
    paths: list[list[int]] = []
    for stack in stacks:
        above = paths[stack.parent] if stack.parent >= 0 else []
        paths.append([*above, places.setdefault((stack.kind, stack.name), len(places))])
    sampled = [place for place, stack in enumerate(stacks) if stack.self_value]
    return {
        "type": "sampled",
        "name": title,
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": total_of(stacks),
        "samples": [paths[place] for place in sampled],
        "weights": [stacks[place].self_value for place in sampled],
    }


def _frame(kind: str, name: str) -> dict[str, Any]:
    """A frame; one of Python with its file and line, the others with their kind."""
    found = _FRAME.fullmatch(name) if kind == "python" else None
    if found is None:
        return {"name": name, "file": kind}
    return {"name": name, "file": found["file"], "line": int(found["line"])}
