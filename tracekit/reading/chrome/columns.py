"""Event arguments as table columns: typed, in base units, with whatever is left as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from tracekit.parser import Report
from tracekit.reading.chrome.events import EVENT_KEYS, EventGroup
from tracekit.schema import INT, REAL, TEXT, Table, batch

_INT64_MAX = 2**63 - 1
_MOST_DIGITS = 100
_MANY = 4096
_MOST_COMMON_LENGTH = 40
_THREE = pa.list_(INT, 3)
_REFERENCE = re.compile(r"(?:\$\$)?(\d{1,18})")
_INTEGER = re.compile(r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)\s*")
_REAL = re.compile(r"[\s0-9.eE+-]+")
#: A thread of our own export: a further lane for events that would overlap on the thread.
_LANE = re.compile(r"(.*) \(tracekit lane [0-9]+\)", re.DOTALL)
_ARROW_REFUSALS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


@dataclass(frozen=True, slots=True)
class Arg:
    """Which argument fills a column: its name and older spellings, and how to convert a value.

    Values in ``none`` are how the profiler says "none": they become NULL. ``convert`` gets a
    Python value and returns one of the column's type, or None if the value is not plausible;
    the value then stays in ``args_json``. Without ``convert`` the value is taken as it is.
    """

    keys: tuple[str, ...]
    convert: Callable[[Any], Any] | None = None
    none: tuple[Any, ...] = ()
    axis: int | None = None


def arg(*keys: str, convert: Callable[[Any], Any] | None = None, none: tuple[Any, ...] = ()) -> Arg:
    """An argument under any of `keys`."""
    return Arg(keys, convert, none)


def integer(value: Any) -> int | None:
    """An integer of int64 from a number or text (decimal or 0x…)."""
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value) or len(value) > _MOST_DIGITS:
            return None
        value = int(value, 16 if "x" in value.lower() else 10)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_INT64_MAX - 1 <= value <= _INT64_MAX else None


def reference(value: Any) -> int | None:
    """The number of something that the profiler refers to: 5 of ``$$5``, as XLA writes it, or 5."""
    match = _REFERENCE.fullmatch(str(value))
    return int(match[1]) if match else None


def real(value: Any) -> float | None:
    """A finite number from a number or text."""
    if isinstance(value, bool) or (isinstance(value, str) and not _REAL.fullmatch(value)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) != float("inf") and number == number else None


def text(value: Any) -> str | None:
    """Text as it is; anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def component(key: str, axis: int) -> Arg:
    """One of the three numbers of a list such as a grid."""

    def pick(value: Any) -> int | None:
        return integer(value[axis]) if isinstance(value, list) and axis < len(value) < 4 else None

    return Arg((key,), pick, axis=axis)


@dataclass(frozen=True, slots=True)
class Scaling:
    """A number times `by` and divided by `over`, to come to the base unit: 35 % are 0.35."""

    by: float = 1.0
    over: float = 1.0

    def __call__(self, value: Any) -> float | None:
        """The number in the base unit; None if it is none."""
        number = real(value)
        return None if number is None else real(number * self.by / self.over)


@dataclass(frozen=True, slots=True)
class Choice:
    """The text that an integer stands for; the integers follow one another."""

    texts: Mapping[int, str]

    def __call__(self, value: Any) -> str | None:
        """The text of a value; None if it has none."""
        number = integer(value)
        return None if number is None else self.texts.get(number)


#: Keys of an event that every table has a column for, or the choice of the table says.
_KEYS_WITH_COLUMNS = frozenset(EVENT_KEYS) - {"id"}
_DEFAULTS: dict[pa.DataType, Callable[[Any], Any]] = {INT: integer, REAL: real, TEXT: text}


@dataclass(slots=True)
class Cells:
    """The columns of one group on their way into `table`."""

    group: EventGroup
    table: Table
    report: Report
    columns: dict[str, pa.Array] = field(default_factory=dict)
    _left: dict[str, list[Any]] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)
    _own: dict[str, Sequence[Any]] = field(init=False)
    _vectors: dict[str, list[pa.Array] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Place, process and thread, which every event table has."""
        self.columns["event_id"] = pa.array(self.group.ids)
        self._own = {k: v for k, v in self.group.fields.items() if k not in _KEYS_WITH_COLUMNS}
        self._tracks()

    def put(self, column: str, values: pa.Array) -> None:
        """A column that is ready."""
        self.columns[column] = values

    def put_values(self, column: str, values: Sequence[Any]) -> None:
        """A column from Python values of its type."""
        self.columns[column] = pa.array(values, self.table.schema.field(column).type)

    def put_tracks(self, names: Sequence[str | None]) -> None:
        """What tracks are called; one without a name keeps what it has."""
        known = self.columns.get("track_name")
        said = [None] * len(names) if known is None else known.to_pylist()
        joined = [name or other for name, other in zip(names, said, strict=True)]
        self.put_values("track_name", joined)

    def put_text(self, column: str, values: Sequence[Any]) -> None:
        """A text column from values that are nearly always text."""
        self.columns[column] = _array(values, TEXT) or pa.array([text(v) for v in values], TEXT)

    def put_constant(self, column: str, value: str) -> None:
        """The same text in every row."""
        size = len(self.group)
        is_common = size <= _MANY and len(value) <= _MOST_COMMON_LENGTH
        self.columns[column] = _repeated(value).slice(0, size) if is_common else _text(value, size)

    def put_own(self, column: str, key: str) -> None:
        """A column out of a key of the event itself."""
        made, failed = self._converted(
            self._own.pop(key), self.table.schema.field(column).type, None, key
        )
        self.columns[column] = made
        if failed is not None:
            self._own[key] = failed

    def put_args(self, wanted: Mapping[str, Arg]) -> None:
        """Columns out of the arguments."""
        for column, source in wanted.items():
            keys = [key for key in source.keys if key in self.group.args]
            if not keys:
                continue
            self._used.update(keys)
            values: Sequence[Any] = self.group.args[keys[0]]
            for key in keys[1:]:
                values = self._joined(values, key)
            if source.axis is not None and (axes := self._axes(keys[0])) is not None:
                self.columns[column] = axes[source.axis]
                continue
            if any(value in values for value in source.none):
                values = [None if value in source.none else value for value in values]
            kind = self.table.schema.field(column).type
            self.columns[column], failed = self._converted(values, kind, source.convert, keys[0])
            if failed is not None:
                self._left.setdefault(keys[0], failed)

    def _joined(self, values: Sequence[Any], key: str) -> list[Any]:
        """The values, and if there is none that of an older spelling; no second one is lost."""
        other = self.group.args[key]
        pairs = list(zip(values, other, strict=True))
        self._left[key] = [b if a is not None and a != b else None for a, b in pairs]
        return [b if a is None else a for a, b in pairs]

    def _axes(self, key: str) -> list[pa.Array] | None:
        """The three numbers of a list in every row; None if a row has something else there."""
        if key not in self._vectors:
            lists = _array(self.group.args[key], _THREE)
            self._vectors[key] = None
            if lists is not None and not lists.null_count:
                table = lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, 3)
                if table.dtype == np.int64:  # it is not where a number is missing
                    self._vectors[key] = [pa.array(column.copy()) for column in table.T]
        return self._vectors[key]

    def batch(self) -> pa.RecordBatch:
        """The record batch, with every argument that has no column in ``args_json``."""
        self.columns["args_json"] = self._args_json()
        return batch(self.table, self.columns, len(self.group))

    def _converted(
        self,
        values: Sequence[Any],
        kind: pa.DataType,
        convert: Callable[[Any], Any] | None,
        key: str,
    ) -> tuple[pa.Array, list[Any] | None]:
        """The values as a column, and those that fit none: they stay in ``args_json``."""
        if convert is None:
            ready = _json_texts(values) if kind == TEXT else _array(values, kind)
            if ready is not None:
                return ready, None
            convert = _DEFAULTS[kind]
        plain = plain_values(values)
        made = mapped(plain, convert)
        if made.count(None) == plain.count(None):
            return pa.array(made, kind), None
        failed = [
            value if known is not None and new is None else None
            for value, known, new in zip(values, plain, made, strict=True)
        ]
        self.report.tell(
            "odd_value",
            "info",
            "recording",
            f"values of {key!r} that do not fit their column are only in args_json",
            occurrence_count=len(failed) - failed.count(None),
        )
        return pa.array(made, kind), failed

    def _tracks(self) -> None:
        processes, threads = (self.group.fields.get(key) for key in ("pid", "tid"))
        names: list[Sequence[str | None]] = []
        for column, values in (("process_id", processes), ("thread_id", threads)):
            if values is None:
                continue
            first = values[0]
            if type(first) is int and values.count(first) == len(values):  # nearly always
                ready = pa.repeat(first, len(values)) if abs(first) <= _INT64_MAX else None
            else:
                ready = _array(values, INT)
            if ready is None:
                plain = [_without_lane(value) for value in plain_values(values)]
                ready = pa.array([integer(value) for value in plain], INT)
                names.append(
                    [
                        text(v) if known is None else None
                        for v, known in zip(plain, ready.to_pylist(), strict=True)
                    ]
                )
            self.columns[column] = ready
        if names:
            joined = [
                "/".join(part for part in parts if part) or None
                for parts in zip(*names, strict=True)
            ]
            self.columns["track_name"] = pa.array(joined, TEXT)

    def _args_json(self) -> pa.Array:
        rest = {k: v for k, v in self.group.args.items() if k not in self._used} | self._left
        for key, values in self._own.items():
            rest |= _beside(key, values, rest.get(key))
        kept = [
            (msgspec.json.encode(key) + b":", values)
            for key, values in sorted(rest.items())  # whatever was met first in the file
            if values.count(None) < len(values)
        ]
        if not kept:
            return pa.nulls(len(self.group), TEXT)
        rows = zip(*(_members(head, values) for head, values in kept), strict=True)
        return pa.array([_object(row) for row in rows], TEXT)


@lru_cache(maxsize=64)
def _repeated(value: str) -> pa.Array:
    """The words that group after group has: what kind its rows are."""
    return _text(value, _MANY)


def _text(value: str, size: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, TEXT), size)


def mapped(values: Sequence[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """Return every value converted; each different one only once if that pays."""
    if bool not in set(map(type, values)):  # True would pass for 1
        try:
            kinds = set(values)
        except TypeError:  # lists
            kinds = set()
        if 0 < 4 * len(kinds) <= len(values):
            made = {kind: None if kind is None else convert(kind) for kind in kinds}
            return [made[value] for value in values]
    return [None if value is None else convert(value) for value in values]


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array | None:
    """The values as an Arrow array if they all are of its kind already.

    Arrow finds the kind out: told which, it would make 7 of 7.5 and 1 of true.
    """
    try:
        if kind == _THREE:
            return pa.array(values, kind)
        made = pa.array(values)
    except _ARROW_REFUSALS:
        return None
    if made.type == kind:
        return made
    if pa.types.is_null(made.type):
        return pa.nulls(len(values), kind)
    return made.cast(REAL, safe=False) if (kind, made.type) == (REAL, INT) else None


def _json_texts(values: Sequence[Any]) -> pa.Array | None:
    """JSON text as it is in the file, if all values are that and none of them a string."""
    pieces: Sequence[Any] = values
    try:
        body = b"".join(pieces)
    except TypeError:
        if not set(map(type, values)) <= {msgspec.Raw, type(None)}:
            return _array(values, TEXT)
        pieces = [b"" if value is None else value for value in values]
        body = b"".join(pieces)
    sizes = np.fromiter(map(len, pieces), np.int32, count=len(pieces))
    ends = np.cumsum(sizes, dtype=np.int32)
    firsts = np.frombuffer(body + b"\0", np.uint8)[ends - sizes]
    if ((firsts == ord('"')) & (sizes > 0)).any():
        return None
    is_known = (sizes > 0) & ((sizes != len(b"null")) | (firsts != ord("n")))
    return pa.StringArray.from_buffers(
        len(pieces),
        pa.py_buffer(np.concatenate((np.zeros(1, np.int32), ends))),
        pa.py_buffer(body),
        pa.py_buffer(np.packbits(is_known, bitorder="little")),
    )


def _without_lane(value: Any) -> Any:
    """The thread that a lane of it belongs to; anything else as it is."""
    lane = _LANE.fullmatch(value) if isinstance(value, str) else None
    return lane[1] if lane else value


def plain_values(values: Sequence[Any]) -> Sequence[Any]:
    """Values, JSON text as what it stands for: text loses its quotes, a list stays JSON."""
    is_raw = msgspec.Raw in set(map(type, values))
    return [_plain(value) for value in values] if is_raw else values


def _plain(value: Any) -> Any:
    """JSON text as the value it stands for: text loses its quotes, a list stays JSON."""
    if not isinstance(value, msgspec.Raw):
        return value
    raw = bytes(value).strip()
    if raw[:1] in (b"[", b"{"):
        return raw.decode()
    try:
        return msgspec.json.decode(raw)
    except msgspec.MsgspecError:  # a number that no float holds
        return raw.decode()


def _beside(key: str, own: Sequence[Any], args: Sequence[Any] | None) -> dict[str, Sequence[Any]]:
    """The values of an event's own key; where an argument has the same name, as ``event.KEY``."""
    if args is None:
        return {key: own}
    pairs = list(zip(own, args, strict=True))
    return {
        key: [value if argument is None else argument for value, argument in pairs],
        f"event.{key}": [None if argument is None else value for value, argument in pairs],
    }


def _members(head: bytes, values: Sequence[Any]) -> list[bytes | None]:
    """Return the members of objects as JSON, which all begin with `head`."""
    encode = msgspec.json.encode
    return [
        None
        if value is None
        else head + (bytes(value) if isinstance(value, msgspec.Raw) else encode(value))
        for value in values
    ]


def _object(row: Sequence[bytes | None]) -> bytes | None:
    members = b",".join(filter(None, row))
    return b"{" + members + b"}" if members else None
