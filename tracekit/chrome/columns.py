"""Event arguments as table columns: typed, in base units, with whatever is left as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.chrome.events import EVENT_KEYS, Group
from tracekit.parser import Issue, Report
from tracekit.schema import INT, REAL, TEXT, Table, batch

_INT64_MAX = 2**63 - 1
_THREE = pa.list_(INT, 3)
_ARROW_REFUSALS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


@dataclass(frozen=True, slots=True)
class Arg:
    """Which argument fills a column: its name and older spellings, and how to convert a value.

    Values in ``none`` are how the profiler says "none": they become NULL. ``convert`` gets a
    Python value and returns one of the column's type, or None where the value cannot be meant;
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
        try:
            value = int(value, 0)
        except ValueError:
            return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_INT64_MAX - 1 <= value <= _INT64_MAX else None


def real(value: Any) -> float | None:
    """A finite number from a number or text."""
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
        return integer(value[axis]) if isinstance(value, list) and len(value) > axis else None

    return Arg((key,), pick, axis=axis)


def scaled(factor: float) -> Callable[[Any], Any]:
    """A number times `factor`, to come to the base unit."""

    def scale(value: Any) -> float | None:
        number = real(value)
        return None if number is None else number * factor

    return scale


_DEFAULTS: dict[pa.DataType, Callable[[Any], Any]] = {INT: integer, REAL: real, TEXT: text}


@dataclass(slots=True)
class Cells:
    """The columns of one group on their way into `table`."""

    group: Group
    table: Table
    report: Report
    columns: dict[str, pa.Array] = field(default_factory=dict)
    _left: dict[str, list[Any]] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)
    _vectors: dict[str, list[pa.Array] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Place, process and thread, which every event table has."""
        self.columns["event_id"] = pa.array(self.group.ids)
        self._tracks()

    def put(self, column: str, values: pa.Array) -> None:
        """A column that is ready."""
        self.columns[column] = values

    def put_text(self, column: str, values: Sequence[Any]) -> None:
        """A text column from values that are nearly always text."""
        self.columns[column] = _array(values, TEXT) or pa.array([text(v) for v in values], TEXT)

    def put_constant(self, column: str, value: Any) -> None:
        """The same value in every row."""
        kind = self.table.schema.field(column).type
        self.columns[column] = pa.repeat(pa.scalar(value, kind), len(self.group))

    def put_args(self, wanted: Mapping[str, Arg]) -> None:
        """Columns out of the arguments."""
        for column, source in wanted.items():
            keys = [key for key in source.keys if key in self.group.args]
            if not keys:
                continue
            self._used.update(keys)
            values: Sequence[Any] = self.group.args[keys[0]]
            for key in keys[1:]:
                other = self.group.args[key]
                values = [b if a is None else a for a, b in zip(values, other, strict=True)]
            if source.axis is not None and (axes := self._axes(keys[0])) is not None:
                self.columns[column] = axes[source.axis]
                continue
            if any(value in values for value in source.none):
                values = [None if value in source.none else value for value in values]
            kind = self.table.schema.field(column).type
            self.columns[column] = self._converted(values, kind, source.convert, keys[0])

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
    ) -> pa.Array:
        if convert is None:
            ready = _json_texts(values) if kind == TEXT else _array(values, kind)
            if ready is not None:
                return ready
            values = [_plain(value) for value in values]
            convert = _DEFAULTS[kind]
        made = _mapped(values, convert)
        self._keep_failures(values, made, key)
        return pa.array(made, kind)

    def _keep_failures(self, values: Sequence[Any], made: Sequence[Any], key: str) -> None:
        """Values that fit no column stay in ``args_json``."""
        if made.count(None) == values.count(None):
            return
        failed = [
            v if v is not None and m is None else None for v, m in zip(values, made, strict=True)
        ]
        count = len(failed) - failed.count(None)
        if count and key not in self._left:
            self._left[key] = failed
            self.report.issue(
                Issue(
                    "odd_value",
                    "info",
                    "recording",
                    f"values of {key!r} that do not fit their column are kept in args_json only",
                    occurrence_count=count,
                )
            )

    def _tracks(self) -> None:
        processes, threads = (self.group.fields.get(key) for key in ("pid", "tid"))
        names: list[Sequence[str | None]] = []
        for column, values in (("process_id", processes), ("thread_id", threads)):
            if values is None:
                continue
            ready = _array(values, INT)
            if ready is None:
                ready = pa.array([integer(value) for value in values], INT)
                names.append(
                    [
                        text(v) if known is None else None
                        for v, known in zip(values, ready.to_pylist(), strict=True)
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
        own = {k: v for k, v in self.group.fields.items() if k not in EVENT_KEYS}
        rest = {k: v for k, v in self.group.args.items() if k not in self._used}
        kept = [
            (msgspec.json.encode(key) + b":", values)
            for key, values in (own | rest | self._left).items()
            if values.count(None) < len(values)
        ]
        if not kept:
            return pa.nulls(len(self.group), TEXT)
        heads = [head for head, _ in kept]
        rows = zip(*(values for _, values in kept), strict=True)
        return pa.array([_object(heads, row) for row in rows], TEXT)


def _mapped(values: Sequence[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """Every value converted; each different one only once where that pays."""
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
    """The values as an Arrow array if they all are of its kind already."""
    try:
        return pa.array(values, kind)
    except _ARROW_REFUSALS:
        return None


def _json_texts(values: Sequence[Any]) -> pa.Array | None:
    """JSON text as it stands in the file, if all values are that and none of them a string."""
    kinds = set(map(type, values))
    if not kinds <= {msgspec.Raw, type(None)}:
        return _array(values, TEXT)
    whole = kinds == {msgspec.Raw}
    # A raw NUL cannot stand in JSON, so it can part the texts.
    body = b"\0".join(values if whole else [b"" if value is None else value for value in values])
    if body.startswith(b'"') or b'\0"' in body:
        return None
    texts = pc.split_pattern(pa.array([body], TEXT), "\0").flatten()
    if len(texts) != len(values):
        return None
    if whole and b"null" not in body:
        return texts
    is_nothing = pc.or_(pc.equal(texts, ""), pc.equal(texts, "null"))
    return pc.if_else(is_nothing, pa.scalar(None, TEXT), texts)


def _plain(value: Any) -> Any:
    """JSON text as the value it stands for: text loses its quotes, a list stays JSON."""
    if not isinstance(value, msgspec.Raw):
        return value
    raw = bytes(value).strip()
    return msgspec.json.decode(raw) if raw[:1] == b'"' or raw == b"null" else raw.decode()


def _object(heads: Sequence[bytes], row: Sequence[Any]) -> bytes | None:
    members = [
        head + (bytes(value) if isinstance(value, msgspec.Raw) else msgspec.json.encode(value))
        for head, value in zip(heads, row, strict=True)
        if value is not None
    ]
    return b"{" + b",".join(members) + b"}" if members else None
