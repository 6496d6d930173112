"""Trace events as columns, decoded by msgspec into structs that fit what the file holds.

msgspec is fastest when it knows the keys. They differ between profilers, versions and categories,
so the decoder learns them: it decodes strictly, and where a category or key is new it adds it and
decodes the block again. Nothing is dropped silently that way, and one code path reads them all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import astuple

from tracekit.reading.chrome import times
from tracekit.typed import json_decoder

#: Keys of an event itself; any other is kept as JSON text with the arguments.
EVENT_KEYS = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "id")
TIME_KEYS = ("ts", "dur")

_MOST_KEYS = 200
_MOST_CATEGORIES = 200
# msgspec takes no such names for struct fields.
_ODD_KEY = re.compile(r'["\\\x00-\x1f]')
_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(.*)` - at `\$\[(\d+)\](\.args)?`", re.S)
_UNKNOWN_CATEGORY = re.compile(r"Invalid value '(.*)' - at `\$\[\d+\]\.cat`", re.S)

_FINE_DIGITS = {
    key: re.compile(rb'"%s"\s*+:\s*+"?+-?+\d++(?:\.\d{4}|(?:\.\d*+)?+[eE])' % key.encode())
    for key in TIME_KEYS
}

Ids = np.ndarray[Any, np.dtype[np.int64]]


class _TextNeeded(Exception):  # noqa: N818 - a signal, not an error
    """Decode the block again, keeping the text of this time key."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class _CategoryOnly(msgspec.Struct):
    cat: str | None = None


_CATEGORIES: msgspec.json.Decoder[list[_CategoryOnly]] = json_decoder(list[_CategoryOnly])


@dataclass(slots=True)
class EventGroup:
    """Events of one category and phase out of one block, as columns.

    ``ids`` are their places in the source, ``block_offset`` is where the block begins: what comes
    out of one block is not in file order, blocks are. ``fields`` holds the event's own keys,
    ``args`` its arguments: Python values for the typed names, ``msgspec.Raw`` for others, None
    where missing.
    """

    category: str | None
    phase: str | None
    block_offset: int
    ids: Ids
    start_ns: pa.Array
    dur_ns: pa.Array
    fields: dict[str, Sequence[Any]]
    args: dict[str, Sequence[Any]]

    def __len__(self) -> int:
        """Number of events."""
        return len(self.ids)

    def argument_texts(self, *keys: str) -> list[str | None]:
        """The argument under the first of `keys` that an event has, as text; None if it is none."""
        columns = [texts(self.args[key]) for key in keys if key in self.args]
        if len(columns) == 1:
            return columns[0]
        return [
            next((t for t in row if t is not None), None) for row in zip(*columns, strict=True)
        ] or [None] * len(self)

    def take(self, places: Sequence[int]) -> EventGroup:
        """Some rows, without the arguments that none of them has."""
        pick = itemgetter(*places) if len(places) > 1 else lambda column: (column[places[0]],)
        fields = {key: pick(column) for key, column in self.fields.items()}
        args = {key: pick(column) for key, column in self.args.items()}
        args = {key: column for key, column in args.items() if column.count(None) < len(column)}
        rows = pa.array(places, pa.int64())
        start_ns, dur_ns = self.start_ns.take(rows), self.dur_ns.take(rows)
        ids = self.ids[places]
        return replace(self, ids=ids, start_ns=start_ns, dur_ns=dur_ns, fields=fields, args=args)


@dataclass(slots=True)
class _Layout:
    """The keys that events of one category (None: of any) are known to have."""

    tag: str | None
    fields: list[str]
    args: list[str]
    struct: type[msgspec.Struct] | None = None

    def build(self, typed: Collection[str], exact: Collection[str]) -> type[msgspec.Struct]:
        arguments = _struct("Args", tuple((key, key in typed) for key in self.args))
        fields = (k for k in self.fields if not (k == "cat" and self.tag is not None))
        self.struct = _struct(
            "Event",
            tuple((key, key in EVENT_KEYS and key not in exact) for key in fields),
            arguments=arguments,
            tag=self.tag,
        )
        return self.struct


@lru_cache(maxsize=512)  # one new key changes one layout, and the decoder takes them all anew
def _struct(
    name: str,
    keys: tuple[tuple[str, bool], ...],
    *,
    arguments: type[msgspec.Struct] | None = None,
    tag: str | None = None,
) -> type[msgspec.Struct]:
    """A struct with these keys; those that are True come out as Python values."""
    members: list[Any] = [
        (f"f{i}", Any if is_typed else msgspec.Raw, None) for i, (_, is_typed) in enumerate(keys)
    ]
    rename = {f"f{i}": key for i, (key, _) in enumerate(keys)}
    if arguments is not None:
        members.append(("args", arguments, arguments()))
    return msgspec.defstruct(
        name,
        members,
        rename=rename,
        frozen=arguments is None,
        gc=False,
        forbid_unknown_fields=True,
        tag=tag,
        tag_field="cat" if tag is not None else None,
    )


@dataclass(slots=True)
class _EventColumns:
    """Events as columns, before they are distinguished by category and phase."""

    ids: Ids
    fields: dict[str, Sequence[Any]]
    args: dict[str, Sequence[Any]] = field(default_factory=dict)


class EventDecoder:
    """Decodes blocks of events into groups; remembers the keys it met.

    `typed` are the argument names to hand out as Python values; `layouts` are the categories and
    argument names to begin with.
    """

    def __init__(self, typed: Collection[str], layouts: Mapping[str, Sequence[str]]) -> None:
        """Begin with the given layouts."""
        self._typed = frozenset(typed)
        self._exact: set[str] = set()
        self._layouts: dict[str | None, _Layout] = {
            tag: _Layout(tag, list(EVENT_KEYS), list(keys)) for tag, keys in layouts.items()
        }
        known = dict.fromkeys(key for keys in layouts.values() for key in keys)
        self._layouts[None] = _Layout(None, list(EVENT_KEYS), list(known))
        self._decoders: dict[bool, msgspec.json.Decoder[Any]] = {}
        self._by_struct: dict[type, _Layout] = {}

    def decode(self, block: bytes, offset: int) -> list[EventGroup]:
        """The events of `block`, a JSON array that begins at `offset` of the content.

        Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError for damaged JSON.
        """
        if not block.isascii():
            block.decode()  # msgspec looks only at the texts that it hands out
        for is_tagged in (True, False):
            while (events := self._strict(block, is_tagged=is_tagged)) is not None:
                try:
                    return self._grouped(self._columns(events, offset), offset, block)
                except _TextNeeded as need:
                    self._exact.add(need.key)
                    self._decoders.clear()
        return self.decode_loosely(msgspec.json.decode(block, type=list[msgspec.Raw]), offset)

    def decode_loosely(self, events: Sequence[msgspec.Raw], offset: int) -> list[EventGroup]:
        """Events one at a time, whatever their keys and types.

        What is not an object counts as an event without keys: category and phase None.
        """
        if not events:
            return []
        rows = [_as_object(event) for event in events]
        ids = np.arange(offset, offset + len(rows), dtype=np.int64)
        arguments = [
            _as_object(row.pop("args")) if _is_object(row.get("args")) else {} for row in rows
        ]
        fields: dict[str, Sequence[Any]] = {
            key: [
                self._value(row.get(key), key in EVENT_KEYS and key not in TIME_KEYS)
                for row in rows
            ]
            for key in dict.fromkeys((*EVENT_KEYS, *(k for row in rows for k in row)))
        }
        args: dict[str, Sequence[Any]] = {
            key: [self._value(row.get(key), key in self._typed) for row in arguments]
            for key in dict.fromkeys(k for row in arguments for k in row)
        }
        return self._grouped([_EventColumns(ids, fields, args)], offset, None)

    @staticmethod
    def _value(raw: msgspec.Raw | None, is_typed: bool) -> Any:
        if raw is None or not is_typed:
            return raw
        try:
            value = msgspec.json.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return raw
        # A float may have lost digits that a time needs: keep its text.
        return raw if isinstance(value, float) else value

    def _strict(self, block: bytes, *, is_tagged: bool) -> list[Any] | None:
        """The events as structs, learning what is new; None if they have no common layout."""
        while True:
            try:
                events: list[Any] = self._decoder(is_tagged).decode(block)
                return events
            except msgspec.ValidationError as error:
                if not self._learn(str(error), block, is_tagged=is_tagged):
                    return None

    def _decoder(self, is_tagged: bool) -> msgspec.json.Decoder[Any]:
        if is_tagged not in self._decoders:
            layouts = [lay for tag, lay in self._layouts.items() if (tag is not None) == is_tagged]
            union: Any = None
            for layout in layouts:
                struct = layout.build(self._typed, self._exact)
                self._by_struct[struct] = layout
                union = struct if union is None else union | struct
            self._decoders[is_tagged] = json_decoder(list[union])
        return self._decoders[is_tagged]

    def _learn(self, message: str, block: bytes, *, is_tagged: bool) -> bool:
        if match := _UNKNOWN_KEY.fullmatch(message):
            key, index, is_argument = match[1], int(match[2]), match[3] is not None
            layout = self._layouts.get(_category_at(block, index) if is_tagged else None)
            if layout is None:  # an event with two categories
                return False
            keys = layout.args if is_argument else layout.fields
            if len(keys) >= _MOST_KEYS or key == "args" or key in keys or _ODD_KEY.search(key):
                return False
            keys.append(key)
        elif is_tagged and (match := _UNKNOWN_CATEGORY.fullmatch(message)):
            if len(self._layouts) >= _MOST_CATEGORIES or match[1] in self._layouts:
                return False
            self._layouts[match[1]] = _Layout(match[1], list(EVENT_KEYS), [])
        else:
            return False
        self._decoders.pop(is_tagged, None)
        return True

    def _columns(self, events: list[Any], offset: int) -> list[_EventColumns]:
        """The events of each layout as columns."""
        numbers = {s: number for number, s in enumerate(dict.fromkeys(map(type, events)))}
        ids = np.arange(offset, offset + len(events), dtype=np.int64)
        if len(numbers) == 1:
            return [self._columns_of(self._by_struct[type(events[0])], events, ids)]
        codes = np.fromiter(map(numbers.__getitem__, map(type, events)), np.int64, len(events))
        found = []
        for struct, number in numbers.items():
            places = np.flatnonzero(codes == number)
            rows = [events[i] for i in places.tolist()]
            found.append(self._columns_of(self._by_struct[struct], rows, ids[places]))
        return found

    @staticmethod
    def _columns_of(layout: _Layout, rows: list[Any], ids: Ids) -> _EventColumns:
        *columns, arguments = _transposed(rows)
        keys = [k for k in layout.fields if not (k == "cat" and layout.tag is not None)]
        fields: dict[str, Sequence[Any]] = dict(zip(keys, columns, strict=True))
        if layout.tag is not None:
            fields["cat"] = (layout.tag,) * len(rows)
        args: dict[str, Sequence[Any]] = {}
        if layout.args:
            args = dict(zip(layout.args, _transposed(arguments), strict=True))
        return _EventColumns(ids, fields, args)

    def _grouped(
        self, parts: Sequence[_EventColumns], offset: int, block: bytes | None
    ) -> list[EventGroup]:
        groups: list[EventGroup] = []
        starts, durations = (
            self._nanoseconds([part.fields.pop(key) for part in parts], key, block)
            for key in TIME_KEYS
        )
        for part, start, duration in zip(parts, starts, durations, strict=True):
            kinds, codes = _kinds(part.fields["cat"], part.fields["ph"])
            for code, kind in enumerate(kinds):
                whole = EventGroup(*kind, offset, part.ids, start, duration, part.fields, part.args)
                places = np.flatnonzero(codes == code).tolist() if len(kinds) > 1 else None
                groups.append(whole if places is None else whole.take(places))
        return groups

    def _nanoseconds(
        self, columns: Sequence[Sequence[Any]], key: str, block: bytes | None
    ) -> list[pa.Array]:
        """Time columns in ns; `block` is their text, None if the values are texts already.

        They are converted together: a block has many small ones.
        """
        sizes = [0 if _is_empty(column) else len(column) for column in columns]
        known = [column for column, size in zip(columns, sizes, strict=True) if size]
        values = known[0] if len(known) == 1 else list(chain.from_iterable(known))
        try:
            nanos = times.to_ns(values)
        except times.TextNeeded as need:
            raise _TextNeeded(key) from need
        text = b"" if block is None or key in self._exact else block
        if text and times.is_coarse(nanos) and _FINE_DIGITS[key].search(text):
            raise _TextNeeded(key)
        ends = accumulate(sizes)
        return [
            nanos.slice(end - size, size) if size else pa.nulls(len(column), pa.int64())
            for column, size, end in zip(columns, sizes, ends, strict=True)
        ]


def _transposed(rows: Sequence[Any]) -> list[list[Any]]:
    """The fields of structs of one type, each as a list; slices of one list are the quickest."""
    values: list[Any] = []
    for row in map(astuple, rows):
        values += row
    size = len(values) // len(rows)
    return [values[i::size] for i in range(size)]


def _is_empty(column: Sequence[Any]) -> bool:
    return not column or (column[0] is None and column.count(None) == len(column))


def _kinds(
    categories: Sequence[Any], phases: Sequence[Any]
) -> tuple[list[tuple[str | None, str | None]], Ids]:
    """The different pairs of category and phase, and which of them each event has."""
    try:
        if all(column.count(column[0]) == len(column) for column in (categories, phases)):
            return [(_text_or_none(categories[0]), _text_or_none(phases[0]))], np.zeros(0, np.int64)
        keys = list(zip(categories, phases, strict=True))
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        codes = np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))
    except TypeError:  # a list or object where text belongs
        texts = [[_text_or_none(value) for value in column] for column in (categories, phases)]
        return _kinds(*texts)
    kinds = [(_text_or_none(category), _text_or_none(phase)) for category, phase in numbers]
    return kinds, codes


def texts(values: Sequence[Any]) -> list[str | None]:
    """The values that are text; None for the others."""
    if set(map(type, values)) <= {str, type(None)}:
        return list(values)
    return [value if isinstance(value, str) else None for value in values]


def _text_or_none(value: Any) -> str | None:
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode("utf-8", "replace").strip()
    return value if isinstance(value, str) or value is None else repr(value)


def _category_at(block: bytes, index: int) -> str | None:
    return _CATEGORIES.decode(block)[index].cat


def _is_object(raw: Any) -> bool:
    return (
        raw is not None and bytes(raw[:1] if isinstance(raw, bytes) else raw).lstrip()[:1] == b"{"
    )


def _as_object(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    if not _is_object(raw):
        return {}
    return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
