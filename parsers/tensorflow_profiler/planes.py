"""Planes and lines of an XSpace, with the names that their events refer to.

Field numbers: tsl/profiler/protobuf/xplane.proto (OpenXLA).
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tracekit.parsers.tensorflow_profiler.walking import line_walker
from tracekit.reading.protowire import FIXED64, LENGTH, VARINT, WireError, WireField, fields

#: The value of a stat: a number, text, or the size of something else.
Value = int | float | str | bytes

_PLANE_NAME, _PLANE_LINES, _PLANE_METADATA, _PLANE_STAT_NAMES, _PLANE_STATS = 2, 3, 4, 5, 6
_XSPACE_PLANES, _XSPACE_ERRORS, _XSPACE_WARNINGS, _XSPACE_HOSTS = 1, 2, 3, 4
_PROGRAM = re.compile(r"[^()%]{1,500}\((\d{1,20})\)")
_LINE_EVENTS = 4
_DOUBLE, _UINT, _INT, _TEXT, _BYTES, _REF = 2, 3, 4, 5, 6, 7


@dataclass(frozen=True, slots=True)
class PlaneDamage:
    """The position of damage, and the end of the damaged message."""

    offset_bytes: int
    end_bytes: int
    found: str


OnDamage = Callable[[PlaneDamage], None]


@dataclass(slots=True)
class PlaneLine:
    """One line (thread, stream, or derived line) of a plane.

    ``starts`` and ``ends`` are the positions of its events' contents.
    """

    line_id: int = 0
    name: str = ""
    display_name: str = ""
    start_ns: int = 0
    start: int = 0
    end: int = 0
    has_cut_event: bool = False
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class Metadata:
    """The common metadata of events of one kind."""

    name: str = ""
    display_name: str = ""
    stats: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True)
class Plane:
    """One plane: a device, a host, or facts about the recording.

    ``stat_names`` are by ID, ``metadata`` by the events' metadata ID, ``programs`` (HLO modules) by
    ID.
    """

    name: str = ""
    start: int = 0
    lines: list[PlaneLine] = field(default_factory=list)
    metadata: dict[int, Metadata] = field(default_factory=dict)
    stat_names: dict[int, str] = field(default_factory=dict)
    stats: dict[str, Value] = field(default_factory=dict)
    programs: dict[int, str] = field(default_factory=dict)

    def program(self, program_id: Value | None) -> str | None:
        """Return the compiled program with an ID, ``jit_f(17)``, named by the plane's modules."""
        if not isinstance(program_id, int):
            return None
        return self.programs.get(program_id % (1 << 64), f"({program_id % (1 << 64)})")


@dataclass(slots=True)
class Space:
    """A whole dump, without its events."""

    planes: list[Plane] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    host_names: list[str] = field(default_factory=list)
    unknown_fields: set[int] = field(default_factory=set)


def read_space(content: Any, on_damage: OnDamage) -> Space:
    """Return the planes of a dump, as far as they can be read; damage is reported."""
    space = Space()
    texts = {
        _XSPACE_ERRORS: space.errors,
        _XSPACE_WARNINGS: space.warnings,
        _XSPACE_HOSTS: space.host_names,
    }
    for part in _sound(content, 0, len(content), on_damage):
        if part.number == _XSPACE_PLANES and part.wire_type == LENGTH:
            space.planes.append(_plane(content, part, on_damage))
        elif part.number in texts and part.wire_type == LENGTH:
            texts[part.number].append(_text(content, part))
        else:
            space.unknown_fields.add(part.number)
    return space


def _sound(content: Any, start: int, end: int, on_damage: OnDamage) -> Iterator[WireField]:
    """Yield the fields up to the first damage, which is reported; a truncated one in part."""
    try:
        yield from fields(content, start, end)
    except WireError as error:
        on_damage(PlaneDamage(error.offset_bytes, end, str(error)))
        if error.cut is not None and error.cut.wire_type == LENGTH:
            yield error.cut


def _plane(content: Any, whole: WireField, on_damage: OnDamage) -> Plane:
    plane = Plane(start=whole.start)
    parts = list(_sound(content, whole.start, whole.end, on_damage))
    for entry in parts:
        if entry.number == _PLANE_STAT_NAMES and entry.wire_type == LENGTH:
            key, described = _entry(content, entry, on_damage)
            plane.stat_names[key] = _name(content, described, on_damage)
    for part in parts:
        if part.wire_type == LENGTH:
            _put_in_plane(plane, part, content, on_damage)
    named = (_PROGRAM.fullmatch(known.name) for known in plane.metadata.values())
    plane.programs = {int(match[1]): match[0] for match in named if match}
    return plane


def _put_in_plane(plane: Plane, part: WireField, content: Any, on_damage: OnDamage) -> None:
    if part.number == _PLANE_NAME:
        plane.name = _text(content, part)
    elif part.number == _PLANE_LINES:
        plane.lines.append(_line(content, part, on_damage))
    elif part.number == _PLANE_METADATA:
        key, described = _entry(content, part, on_damage)
        if described is not None:
            plane.metadata[key] = _metadata(content, described, plane, on_damage)
    elif part.number == _PLANE_STATS:
        plane.stats |= _stat(content, part, plane, on_damage)


def _name(content: Any, described: WireField | None, on_damage: OnDamage) -> str:
    """Return the name in a stat's metadata."""
    if described is None:
        return ""
    inner = _sound(content, described.start, described.end, on_damage)
    return next((_text(content, f) for f in inner if f.number == 2 and f.wire_type == LENGTH), "")


def _entry(content: Any, entry: WireField, on_damage: OnDamage) -> tuple[int, WireField | None]:
    """Return key and value of a map entry."""
    key, value = 0, None
    for part in _sound(content, entry.start, entry.end, on_damage):
        if part.number == 1 and part.wire_type == VARINT:
            key = signed(part.bits)
        elif part.number == 2 and part.wire_type == LENGTH:
            value = part
    return key, value


def _metadata(content: Any, whole: WireField, plane: Plane, on_damage: OnDamage) -> Metadata:
    found = Metadata()
    for part in _sound(content, whole.start, whole.end, on_damage):
        if part.wire_type != LENGTH:
            continue
        if part.number == 2:
            found.name = _text(content, part)
        elif part.number == 4:
            found.display_name = _text(content, part)
        elif part.number == 5:
            found.stats |= _stat(content, part, plane, on_damage)
    return found


def _stat(content: Any, whole: WireField, plane: Plane, on_damage: OnDamage) -> dict[str, Value]:
    """Return one stat by its name; empty if it has no name or value."""
    name, value = "", None
    for part in _sound(content, whole.start, whole.end, on_damage):
        if part.number == 1:
            name = plane.stat_names.get(part.bits, "")
        else:
            value = _value(content, part, plane)
    return {name: value} if name and value is not None else {}


def _value(content: Any, part: WireField, plane: Plane) -> Value | None:
    if part.number == _DOUBLE and part.wire_type == FIXED64:
        return float(struct.unpack("<d", content[part.start : part.end])[0])
    if part.number == _UINT and part.wire_type == VARINT:
        return part.bits
    if part.number == _INT and part.wire_type == VARINT:
        return signed(part.bits)
    if part.number == _REF and part.wire_type == VARINT:
        return plane.stat_names.get(part.bits)
    if part.number == _TEXT and part.wire_type == LENGTH:
        return _text(content, part)
    if part.number == _BYTES and part.wire_type == LENGTH:
        return bytes(content[part.start : part.end])
    return None


def signed(value: int) -> int:
    """Return a 64-bit number as protobuf's int64."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _line(content: Any, whole: WireField, on_damage: OnDamage) -> PlaneLine:
    """Return a line with the positions of its events, which are not parsed."""
    line = PlaneLine(start=whole.start, end=whole.end)
    walk, place = line_walker(content), whole.start
    while (place := walk(place, whole.end, line.starts, line.ends)) < whole.end:
        try:
            part = next(fields(content, place, whole.end))
        except WireError as error:
            line.has_cut_event = error.cut is not None and error.cut.number == _LINE_EVENTS
            on_damage(PlaneDamage(error.offset_bytes, whole.end, str(error)))
            break
        place = part.end
        _put(line, part, content)
    return line


def _put(line: PlaneLine, part: WireField, content: Any) -> None:
    if part.wire_type == VARINT:
        if part.number == 1:
            line.line_id = signed(part.bits)
        elif part.number == 3:
            line.start_ns = signed(part.bits)
    elif part.wire_type == LENGTH:
        if part.number == 2:
            line.name = _text(content, part)
        elif part.number == 4:
            line.starts.append(part.start)
            line.ends.append(part.end)
        elif part.number == 11:
            line.display_name = _text(content, part)


def _text(content: Any, part: WireField) -> str:
    return bytes(content[part.start : part.end]).decode("utf-8", "replace")
