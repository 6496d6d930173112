"""What a Chrome trace calls its processes and threads.

Names are in their own events (phase M), anywhere in the file, so they are read before rows
are made of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracekit.parser import Report
from tracekit.reading.chrome.events import EventDecoder, EventGroup
from tracekit.reading.chrome.reader import Events, TraceReader
from tracekit.reading.chrome.scanner import Scanner
from tracekit.source import Source

Track = tuple[Hashable, Hashable]

_MOST_NAMES = 1 << 20
_PLAIN_TYPES = {int, str, type(None)}


@dataclass(slots=True)
class Names:
    """Names of processes and threads; of several for one the last, as a viewer shows it."""

    processes: dict[Hashable, str] = field(default_factory=dict)
    threads: dict[Track, str] = field(default_factory=dict)

    def note(self, group: EventGroup) -> None:
        """Take the names of a group of phase M."""
        values = group.args.get("name", (None,) * len(group))
        for kind, track, value in zip(group.fields["name"], tracks(group), values, strict=True):
            if not isinstance(value, str) or len(self.threads) >= _MOST_NAMES:
                continue
            if kind == "process_name":
                self.processes[track[0]] = value
            elif kind == "thread_name":
                self.threads[track] = value

    def of(self, track: Track) -> tuple[str | None, str | None]:
        """The names of the track's process and thread."""
        return self.processes.get(track[0]), self.threads.get(track)


def tracks(group: EventGroup) -> list[Track]:
    """Process and thread of each event, fit for the keys of a dict."""
    pids, tids = (_all_hashable(group.fields[key]) for key in ("pid", "tid"))
    return list(zip(pids, tids, strict=True))


def _all_hashable(values: Sequence[Any]) -> Sequence[Hashable]:
    is_plain = set(map(type, values)) <= _PLAIN_TYPES
    return values if is_plain else [_hashable(value) for value in values]


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, int | str | None) else repr(value)


def first_events(
    source: Source, typed: Collection[str], scanner: Scanner | None = None
) -> Iterator[Events]:
    """The events of a trace for those who only look: what is wrong with them is reported later.

    `typed` are the argument names to hand out as Python values.
    """
    with source.open() as stream:
        yield from TraceReader(stream, EventDecoder(typed, {}), Report(), scanner).read()


def first_look(source: Source, typed: Collection[str]) -> Iterator[EventGroup]:
    """The same as groups."""
    for group in first_events(source, typed):
        assert isinstance(group, EventGroup), "there is no scanner"
        yield group
