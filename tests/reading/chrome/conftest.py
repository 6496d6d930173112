"""Trace content in, events out: what the tests of tracekit.reading.chrome share."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from tracekit.parser import Report
from tracekit.reading.chrome import reader as reader_module
from tracekit.reading.chrome.events import EventDecoder, EventGroup
from tracekit.reading.chrome.reader import Events, TraceReader
from tracekit.source import ContentStream

Event = dict[str, Any]
Make = Callable[[TraceReader], Iterator[Events]]

TYPED = ("device", "stream", "correlation", "grid")
LAYOUTS = {"kernel": ("device", "stream"), "cpu_op": ("External id",)}


class Content(io.BytesIO):
    """Content in memory, as a ContentStream hands it out."""

    damage: str | None = None
    path = Path("content.json")

    def read_into(self, room: memoryview) -> int:
        return self.readinto(room)

    def skip(self, size: int) -> int:
        return len(self.read(size))


@dataclass
class Reading:
    """What a reader found: the events in file order, their places, the account."""

    events: list[Event]
    ids: list[int]
    report: Report
    reader: TraceReader

    @property
    def codes(self) -> list[str]:
        return [issue.code for issue in self.report.issues.values()]


def flat(groups: Iterable[Events]) -> list[tuple[int, Event]]:
    """The events of groups with their places, in file order."""
    found = [pair for group in groups for pair in _events_of(cast("EventGroup", group))]
    return sorted(found, key=lambda pair: pair[0])


def _events_of(group: EventGroup) -> Iterator[tuple[int, Event]]:
    starts, durations = group.start_ns.to_pylist(), group.dur_ns.to_pylist()
    for i, place in enumerate(group.ids.tolist()):
        event = _known((key, column[i]) for key, column in group.fields.items())
        event |= _known([("ph", group.phase), ("cat", group.category)])
        event |= _known([("start_ns", starts[i]), ("dur_ns", durations[i])])
        event["args"] = _known((key, column[i]) for key, column in group.args.items())
        yield place, event


def _known(pairs: Iterable[tuple[str, Any]]) -> Event:
    plain = ((key, _plain(value)) for key, value in pairs)
    return {key: value for key, value in plain if value is not None}


def _plain(value: Any) -> Any:
    return json.loads(bytes(value)) if isinstance(value, msgspec.Raw) else value


def told_by_json(content: bytes | str) -> list[Event]:
    """The events of sound JSON in the same shape, by the json module and Decimal alone."""
    return [_told(event) for event in _listed(json.loads(content, parse_float=_Number))]


class _Number(float):
    """A float that remembers its text."""

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def _listed(root: Any) -> list[Any]:
    return cast("list[Any]", root if isinstance(root, list) else root["traceEvents"])


def _told(event: Any) -> Event:
    event = dict(event) if isinstance(event, dict) else {}
    starts = {to: _ns(event.pop(key, None)) for key, to in (("ts", "start_ns"), ("dur", "dur_ns"))}
    args = event.pop("args", None)
    known = {key: value for key, value in (event | starts).items() if value is not None}
    if not isinstance(args, dict):
        return known | ({} if args is None else {"args": args}) | {"args": {}}
    return known | {"args": {key: value for key, value in args.items() if value is not None}}


def _ns(value: Any) -> int | None:
    if value is None:
        return None
    text = value.text if isinstance(value, _Number) else str(value)
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_EVEN))


@pytest.fixture(scope="session")
def by_json() -> Callable[[bytes | str], list[Event]]:
    return told_by_json


@pytest.fixture(scope="session")
def events_of() -> Callable[[Iterable[EventGroup]], list[Event]]:
    return lambda groups: [event for _, event in flat(groups)]


@pytest.fixture(scope="session")
def new_decoder() -> Callable[[], EventDecoder]:
    return lambda: EventDecoder(TYPED, LAYOUTS)


@pytest.fixture(scope="session")
def read() -> Callable[..., Reading]:
    """Reads content: whole, or as `make` says; from its file `most` bytes at a time."""

    def run(
        content: bytes | str, make: Make = TraceReader.read, *, most: int | None = None
    ) -> Reading:
        data = content.encode() if isinstance(content, str) else content
        report = Report()
        with pytest.MonkeyPatch.context() as patch:
            if most is not None:
                patch.setattr(reader_module, "_READ_BYTES", most)
            stream = cast("ContentStream", Content(data))
            reader = TraceReader(stream, EventDecoder(TYPED, LAYOUTS), report)
            pairs = flat(make(reader))
        return Reading([e for _, e in pairs], [i for i, _ in pairs], report, reader)

    return run
