"""XSpace dumps made by hand, event by event; nothing here knows of the parser."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.xplane import message
from tracekit.parsers.tensorflow_profiler.xprof.answer import Refusal
from tracekit.source import Source

Stat = int | float | str | bytes | tuple[str, int] | tuple[str, str]


@contextmanager
def unasked(_: Source) -> Iterator[Callable[[], Refusal]]:
    """Nobody asks xprof: what the dump says by itself."""
    yield lambda: Refusal("not asked")


def whole(number: int, value: int) -> bytes:
    """A field that holds a number."""
    return message((number, value))


def long(number: int, value: bytes | str) -> bytes:
    """A field that holds bytes."""
    return message((number, value))


@dataclass
class Plane:
    """A plane being written: names get their ids as they come."""

    name: str
    plane_id: int = 0
    stats: Mapping[str, Stat] = field(default_factory=dict)
    stat_ids: dict[str, int] = field(default_factory=dict)
    metadata: dict[tuple[str, str], int] = field(default_factory=dict)
    metadata_stats: dict[str, Mapping[str, Stat]] = field(default_factory=dict)
    lines: list[bytes] = field(default_factory=list)

    def stat_id(self, name: str) -> int:
        return self.stat_ids.setdefault(name, len(self.stat_ids) + 1)

    def stat(self, name: str, value: Stat) -> bytes:
        """XStat: a tuple ("uint", n) or ("ref", name) says which of its fields."""
        key = whole(1, self.stat_id(name))
        if isinstance(value, tuple):
            kind, held = value
            if kind == "ref":
                return key + whole(7, self.stat_id(str(held)))
            return key + whole(3, int(held))
        if isinstance(value, float):
            return key + b"\x11" + struct.pack("<d", value)
        if isinstance(value, int):
            return key + whole(4, value)
        return key + long(5 if isinstance(value, str) else 6, value)

    def event(
        self,
        name: str,
        offset_ps: int = 0,
        dur_ps: int = 0,
        display: str = "",
        occurrences: int = 0,
        /,
        **stats: Stat,
    ) -> bytes:
        """XEvent."""
        key = self.metadata.setdefault((name, display), len(self.metadata) + 1)
        body = whole(1, key)
        body += whole(5, occurrences) if occurrences else whole(2, offset_ps)
        body += whole(3, dur_ps) if dur_ps else b""
        return body + b"".join(long(4, self.stat(n, v)) for n, v in stats.items())

    def line(self, name: str, events: Sequence[bytes], line_id: int = 0, start_ns: int = 0) -> None:
        """XLine."""
        body = whole(1, line_id) + long(2, name) + whole(3, start_ns)
        self.lines.append(body + b"".join(long(4, event) for event in events))

    def encoded(self) -> bytes:
        """XPlane, its lines in front of the names, as protobuf writes it."""
        body = (whole(1, self.plane_id) if self.plane_id else b"") + long(2, self.name)
        body += b"".join(long(3, line) for line in self.lines)
        stats = b"".join(long(6, self.stat(n, v)) for n, v in self.stats.items())
        for (name, display), key in self.metadata.items():
            described = whole(1, key) + long(2, name) + (long(4, display) if display else b"")
            for stat, value in self.metadata_stats.get(display or name, {}).items():
                described += long(5, self.stat(stat, value))
            body += long(4, whole(1, key) + long(2, described))
        for name, key in self.stat_ids.items():
            body += long(5, whole(1, key) + long(2, whole(1, key) + long(2, name)))
        return body + stats


def space(*planes: Plane, errors: Sequence[str] = (), host: str = "host-0") -> bytes:
    """XSpace."""
    return (
        b"".join(long(1, plane.encoded()) for plane in planes)
        + b"".join(long(2, error) for error in errors)
        + long(4, host)
    )
