"""The plain events of a block as columns, by the compiled scanner, where there is one.

It reads what nearly all events are; others, which it calls odd, go through `EventDecoder`, as do
whole blocks that are damaged, and every block where no scanner was built. The rows are the same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.compiled import library
from tracekit.dictionaries import repeats
from tracekit.reading.chrome.columns import Arg, Choice, Scaling, reference
from tracekit.reading.chrome.events import EventDecoder, EventGroup
from tracekit.reading.chrome.salvage import DAMAGE
from tracekit.schema import INT, REAL, TEXT, Column, Table

#: What follows a text that is scanned: the scanner looks ahead.
PADDING = bytes(64)
_LARGEST_BLOCK_BYTES = 1 << 30
#: Of rows that wait: about those of a row group of the store.
_DUE_BYTES = 8 << 20
_INTEGER_COLUMN, _TEXT_COLUMN, _CODED_COLUMN = range(3)
_PLACE_NUMBERS = 5
_INTEGER, _NUMBER, _JSON, _TEXT, _VECTOR, _OTHER, _DIGITS, _REFERENCE, _LABEL = range(9)
_MOST_WITHOUT = 64
#: More are forgotten: no program has so many instructions, but each event may have its own name.
_MOST_KINDS, _MOST_KIND_BYTES = 1 << 16, 32 << 20
_CLOSED, _REFUSED = 1, 2
_LEAST, _MOST = -(2**63), 2**63 - 1
#: Which column of a table holds what the event itself says, in the order of tracekit.c.
_ROLES: tuple[tuple[str, ...], ...] = (
    ("event_id",),
    ("route",),
    ("start_ns", "time_ns"),
    ("dur_ns",),
    ("name",),
    ("process_id",),
    ("thread_id",),
    ("track_name",),
    ("flow_id",),
    ("args_json",),
    ("kind_number",),
    ("marks",),
)
#: Of tables for a plan with kinds.
KIND_NUMBER = Column("kind_number", INT, "which kind an event is of")
MARKS = Column("marks", INT, "a bit for each column of an event that has a value")


@dataclass(frozen=True, slots=True)
class Route:
    """Where the events of a phase and category go; ``memory_table`` is for those of allocations."""

    phase: str
    category: str
    table: Table
    memory_table: Table | None = None


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What a profiler's plain events look like: where they go, and what their arguments fill.

    ``args`` are the arguments by table, ``typed`` those that the decoder gives as Python values: of
    the others, the JSON text is kept as it is.

    With ``kinds``, there is one table, and a profiler writes all its arguments as text. Those in
    columns of `kinds`, and the names of events, are not in the table but in `Kinds`; its other
    arguments are numbers. All of them stay in ``args_json``, see `without`.
    """

    routes: Sequence[Route]
    args: Mapping[str, Mapping[str, Arg]]
    typed: Collection[str]
    kinds: Table | None = None


@dataclass(slots=True)
class ScannedRows:
    """Plain events as columns of a table; ``numbers`` are their routes' places in ``routes``."""

    routes: Sequence[Route]
    numbers: pa.Array
    columns: dict[str, pa.Array]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.numbers)

    def put_by_route(self, texts: Mapping[str, Callable[[Route], str]]) -> None:
        """Add columns with a text for each route, as dictionaries."""
        numbers = self.numbers.to_numpy()
        used = np.flatnonzero(np.bincount(numbers)).tolist()
        for column, text in texts.items():
            known = {number: text(self.routes[number]) for number in used}
            values = sorted(set(known.values()))
            places = np.zeros(len(self.routes), np.int32)
            places[used] = [values.index(known[number]) for number in used]
            indices = pa.array(places[numbers])
            self.columns[column] = pa.DictionaryArray.from_arrays(indices, pa.array(values, TEXT))


@dataclass(slots=True)
class Kinds:
    """What plain events are, each once, by its number; see `ScanPlan`.

    Columns are texts, ``process_id``, ``thread_id``, the ``route`` and ``marks``, where bit i is
    whether the column `numbered[i]` of the event has a value. All kinds are forgotten when they are
    many: then ``generation`` changes, and numbers begin anew.
    """

    columns: dict[str, list[Any]]
    numbered: Sequence[str] = ()
    generation: int = 0
    count: int = 0
    size_bytes: int = 0

    def add(self, columns: Mapping[str, pa.Array], count: int) -> None:
        """Take the next kinds."""
        self.count += count
        for name, column in columns.items():
            self.size_bytes += column.nbytes
            self.columns[name] += column.to_pylist()

    def kind(self, number: int) -> dict[str, Any]:
        """What one kind is."""
        return {name: values[number] for name, values in self.columns.items()}

    def has(self, number: int, name: str) -> bool:
        """Whether events of a kind have a value in the column `name`."""
        marks: int = self.columns["marks"][number]
        return bool(marks >> self.numbered.index(name) & 1)

    def is_full(self) -> bool:
        """Whether there are many."""
        return self.count > _MOST_KINDS or self.size_bytes > _MOST_KIND_BYTES

    def forget(self) -> None:
        """Begin anew."""
        self.generation += 1
        self.count = self.size_bytes = 0
        for known in self.columns.values():
            known.clear()


@dataclass(slots=True)
class ScannedBlock:
    """The plain events of the block at ``block_offset``, by table; ``kinds`` hold until the next.

    ``event_count`` is how many the block has. Their rows may come with those of a later one. With a
    table of kinds in the plan they do not, and ``kinds`` has them.
    """

    block_offset: int
    event_count: int
    tables: dict[str, ScannedRows]
    kinds: Kinds = field(default_factory=lambda: Kinds({}))

    def __len__(self) -> int:
        """Number of events."""
        return self.event_count

    def first_ns(self) -> int | None:
        """The earliest start or moment; None if there are no events."""
        times = [
            rows.columns[name]
            for rows in self.tables.values()
            for name in ("start_ns", "time_ns")
            if name in rows.columns
        ]
        return min((pc.min(column).as_py() for column in times), default=None)


@dataclass(slots=True)
class Scan:
    """What a block gave: plain events, odd ones, and where the list closes in it, if it does."""

    plain_count: int
    odd: list[EventGroup]
    closed_at: int | None


def scanner_of(plan: ScanPlan) -> Scanner | None:
    """A scanner; None where there is none."""
    found = library()
    return None if found is None else Scanner(found, plan)


@dataclass(slots=True)
class _ScanTable:
    """A table in the scanner: names and kinds of its columns, and what arguments fill them."""

    table: Table
    names: list[str]
    kinds: list[int]
    args: Mapping[str, Arg]
    texts: dict[str, _Texts] = field(default_factory=dict)  # of coded columns


@dataclass(slots=True)
class _Texts:
    """The texts of a coded column as they were: they grow, and begin anew as a new generation."""

    generation: int = -1
    values: pa.Array = field(default_factory=lambda: pa.array([], TEXT))


class Scanner:
    """Scans blocks; not for several threads at once."""

    def __init__(self, scan: ctypes.CDLL, plan: ScanPlan) -> None:
        """Tell the scanner of all tables, arguments and routes; raises MemoryError."""
        self._scan = scan
        self._scanner = scan.tracekit_scanner()
        if not self._scanner:
            raise MemoryError
        self._tables: list[_ScanTable] = []
        self._routes = plan.routes
        wanted = [t for route in plan.routes for t in (route.table, route.memory_table) if t]
        if plan.kinds is not None:
            wanted.append(plan.kinds)
        for table in dict.fromkeys(wanted):
            self._add_columns(table, plan.args[table.name], is_coded=plan.kinds is None)
        for number, found in enumerate(self._tables):
            if found.table is not plan.kinds:
                self._add_keys(number, plan.typed, has_kinds=plan.kinds is not None)
        for route in plan.routes:
            self._add_route(route)
        self._kinds = Kinds({})
        if plan.kinds is not None:
            self._kinds = Kinds(
                {name: [] for name in self._tables[-1].names}, self._tables[0].names
            )
            scan.tracekit_kinds(self._scanner, 0, len(self._tables) - 1)

    def __del__(self) -> None:
        """Give the memory back."""
        if self._scanner:
            self._scan.tracekit_free(self._scanner)

    def _add_columns(self, table: Table, args: Mapping[str, Arg], *, is_coded: bool) -> None:
        own = {name for names in _ROLES for name in names}
        names = [c.name for c in table.columns if c.name in own or c.name in args] + ["route"]
        kinds = [_column_kind(table, name, args.get(name), is_coded=is_coded) for name in names]
        roles = [next((names.index(n) for n in role if n in names), -1) for role in _ROLES]
        self._scan.tracekit_table(self._scanner, len(names), _numbers(kinds), _numbers(roles))
        self._tables.append(_ScanTable(table, names, kinds, args))

    def _add_keys(self, number: int, typed: Collection[str], *, has_kinds: bool) -> None:
        found = self._tables[number]
        for column, argument in found.args.items():
            if not argument.axis:  # the first number of a list stands for all three
                for key in argument.keys:
                    kind = (
                        _key_kind_of_text(argument)
                        if has_kinds
                        else _key_kind(found.table, column, argument, is_json=key not in typed)
                    )
                    self._add_key(number, key, found.names.index(column), kind, argument)
        labels = self._tables[-1].args if has_kinds else {}
        for column, argument in labels.items():
            for key in argument.keys:
                place = self._tables[-1].names.index(column)
                self._add_key(number, key, place, _LABEL, argument)
        known = {key for args in (found.args, labels) for a in args.values() for key in a.keys}
        for key in sorted(set(typed) - known):
            self._add_key(number, key, 0, _OTHER, Arg((key,)))

    def _add_key(self, table: int, key: str, column: int, kind: int, argument: Arg) -> None:
        least, most = _LEAST, _MOST
        if isinstance(argument.convert, Choice):
            least, most = min(argument.convert.texts), max(argument.convert.texts)
        none = (ctypes.c_int64 * 2)(*argument.none)
        name = key.encode()
        was_added = self._scan.tracekit_key(
            *(self._scanner, table, name, len(name), column, kind),
            *(least, most, none, len(argument.none)),
        )
        assert was_added, key

    def _add_route(self, route: Route) -> None:
        tables = [scanned.table for scanned in self._tables]
        memory = -1 if route.memory_table is None else tables.index(route.memory_table)
        name = route.category.encode()
        has_duration = int(route.phase == "X")
        number = tables.index(route.table)
        was_added = self._scan.tracekit_route(
            *(self._scanner, ord(route.phase), name, len(name), number, has_duration, memory)
        )
        assert was_added, route

    def scan(self, block: memoryview, offset: int, decoder: EventDecoder) -> Scan | None:
        """The events of `block`, which begins at `offset` of the content; see `plain` for rows.

        None if it is not sound throughout, or holds what `decoder` refuses: then it is to be read
        without the scanner.
        """
        if not block or len(block) > _LARGEST_BLOCK_BYTES:
            return None
        text = block if _is_padded(block.obj) else memoryview(b"".join((block, PADDING)))
        address = np.frombuffer(text, np.uint8).ctypes.data
        if not self._scan.tracekit_is_ascii(address, len(block)) and not _is_utf8(block):
            return None
        if self._kinds.is_full():
            self._kinds.forget()
            self._scan.tracekit_forget(self._scanner)
        count, place = ctypes.c_int64(), ctypes.c_int64()
        end = self._scan.tracekit_scan(
            *(self._scanner, address, len(block), offset),
            *(ctypes.byref(count), ctypes.byref(place)),
        )
        if end == _REFUSED:
            return None
        try:
            odd = self._odd(block, offset, decoder)
        except DAMAGE:
            self.undo()
            return None
        plain_count = count.value - sum(map(len, odd))
        return Scan(plain_count, odd, place.value if end == _CLOSED else None)

    def undo(self) -> None:
        """Forget the rows of the block just scanned."""
        self._scan.tracekit_undo(self._scanner)

    def plain(self, offset: int, count: int, *, is_last: bool = False) -> ScannedBlock:
        """The `count` plain events of the block just scanned, at `offset`.

        Their rows wait until they are many, or the last: handing them out takes time.
        """
        block = ScannedBlock(offset, count, {}, self._kinds)
        shown = self._tables[:-1] if self._kinds.columns else self._tables
        is_due = is_last or self._scan.tracekit_bytes(self._scanner) >= _DUE_BYTES
        if is_due or self._kinds.columns:
            for number, table in enumerate(shown):
                if (rows := self._rows(number)) is not None:
                    block.tables[table.table.name] = rows
            self._scan.tracekit_clear(self._scanner)
        if self._kinds.columns:
            self._learn_kinds(len(shown))
        return block

    def _odd(self, block: memoryview, offset: int, decoder: EventDecoder) -> list[EventGroup]:
        """The odd events of the block just scanned."""
        found = ctypes.POINTER(ctypes.c_int64)()
        count = self._scan.tracekit_odd(self._scanner, ctypes.byref(found))
        if not count:
            return []
        places = np.ctypeslib.as_array(found, (count, 3)).copy()
        texts = [block[start:end] for start, end, _ in places.tolist()]
        groups = decoder.decode(b"[" + b",".join(texts) + b"]", 0)
        for group in groups:
            group.ids, group.block_offset = places[group.ids, 2], offset
        return groups

    def _rows(self, number: int) -> ScannedRows | None:
        """The rows of a table in the block just scanned; None if there are none."""
        count = self._scan.tracekit_rows(self._scanner, number)
        if not count:
            return None
        found = self._tables[number]
        columns = self._columns(number, count)
        for name in columns.keys() & found.args.keys():
            kind = found.table.schema.field(name).type
            columns[name] = _made(columns[name], found.args[name], kind)
        return ScannedRows(self._routes, columns.pop("route"), columns)

    def _learn_kinds(self, number: int) -> None:
        """Take the kinds that came with the block just scanned."""
        first, count = self._kinds.count, self._scan.tracekit_rows(self._scanner, number)
        if count == first:
            return
        start = first // 8 * 8
        found = self._columns(number, count, start)
        nothing = pa.nulls(count - start)
        names = self._tables[number].names
        later = {name: found.get(name, nothing).slice(first - start) for name in names}
        self._kinds.add(later, count - first)

    def _columns(self, number: int, count: int, start: int = 0) -> dict[str, pa.Array]:
        """Copies of the columns of a table, which the next scan changes, that have values.

        They have the rows from `start` on, a multiple of 8.
        """
        found, size = self._tables[number], count - start
        at = (ctypes.c_int64 * (_PLACE_NUMBERS * len(found.names)))()
        length = self._scan.tracekit_places(self._scanner, number, start, at)
        memory = pa.allocate_buffer(length)
        self._scan.tracekit_copy(self._scanner, number, start, at, memory.address)
        places, columns = iter(at), dict[str, pa.Array]()
        for place, (name, kind) in enumerate(zip(found.names, found.kinds, strict=True)):
            known_count, bits, values, texts, text_size = islice(places, _PLACE_NUMBERS)
            if not known_count:
                continue
            known = None if bits < 0 else memory.slice(bits, (size + 7) // 8)
            if kind == _INTEGER_COLUMN:
                buffers = [known, memory.slice(values, 8 * size)]
                columns[name] = pa.Array.from_buffers(INT, size, buffers)
            elif kind == _TEXT_COLUMN:
                parts = memory.slice(values, 4 * (size + 1)), memory.slice(texts, text_size)
                columns[name] = pa.Array.from_buffers(TEXT, size, [known, *parts])
            else:
                buffers = [known, memory.slice(values, 4 * size)]
                codes = pa.Array.from_buffers(pa.int32(), size, buffers)
                coded = self._texts(number, place, texts, text_size)
                columns[name] = pa.DictionaryArray.from_arrays(codes, coded, safe=False)
        return columns

    def _texts(self, number: int, place: int, generation: int, count: int) -> pa.Array:
        """The texts of a coded column, copied if they are not those of the block before."""
        found = self._tables[number]
        known = found.texts.setdefault(found.names[place], _Texts())
        if known.generation != generation or len(known.values) != count:
            at = (ctypes.c_int64 * 2)()
            self._scan.tracekit_coded(self._scanner, number, place, at)
            ends = ctypes.string_at(at[0], 4 * (count + 1))
            texts = ctypes.string_at(at[1], int(np.frombuffer(ends, np.int32)[-1]))
            buffers = [None, pa.py_buffer(ends), pa.py_buffer(texts)]
            known.values = pa.Array.from_buffers(TEXT, count, buffers)
            known.generation = generation
        return known.values


class _Without(ctypes.Structure):
    """`Without` of tracekit.c."""

    _fields_ = (
        ("names", ctypes.c_char_p * _MOST_WITHOUT),
        ("sizes", ctypes.c_int32 * _MOST_WITHOUT),
        ("count", ctypes.c_int),
    )


def without(objects: pa.Array, rows: npt.NDArray[np.int64], keys: Collection[str]) -> pa.Array:
    """Some of the objects that a scan made of arguments, each row once, without these keys.

    `objects` are a whole column as it was scanned: what follows its text is looked at.
    """
    found = library()
    assert found is not None, "there is a scanner"
    names = [key.encode() for key in keys]
    told = _Without((*names,), (*map(len, names),), len(names))
    _, ends, texts = objects.buffers()
    sizes = np.diff(np.frombuffer(ends, np.int32, len(objects) + 1))
    places = np.ascontiguousarray(rows, np.int64)
    new_ends = np.empty(len(rows) + 1, np.int32)
    known = np.zeros((len(rows) + 7) // 8, np.uint8)
    written = np.empty(int(sizes[places].sum()), np.uint8)
    is_sound = found.tracekit_without(
        *(len(rows), places.ctypes.data, ends.address),
        *(texts.address, ctypes.byref(told)),
        *(new_ends.ctypes.data, known.ctypes.data, written.ctypes.data),
    )
    assert is_sound, "a scan made them"
    body = pa.py_buffer(written[: new_ends[-1]])
    buffers = [pa.py_buffer(known), pa.py_buffer(new_ends), body]
    return pa.Array.from_buffers(TEXT, len(rows), buffers)


def _numbers(values: Sequence[int]) -> Any:
    return (ctypes.c_int * len(values))(*values)


def _is_padded(text: object) -> bool:
    return isinstance(text, bytes | bytearray) and text.endswith(PADDING)


def _is_utf8(text: memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _column_kind(table: Table, name: str, argument: Arg | None, *, is_coded: bool) -> int:
    """What a column holds in the scanner: integers, text, or codes of texts that repeat."""
    if name == "route" or (argument is not None and isinstance(argument.convert, Choice)):
        return _INTEGER_COLUMN
    field = table.schema.field(name)
    if field.type == INT:
        return _INTEGER_COLUMN
    return _CODED_COLUMN if is_coded and repeats(field) else _TEXT_COLUMN


def _key_kind(table: Table, column: str, argument: Arg, *, is_json: bool) -> int:
    """What an argument's value must be."""
    kind = table.schema.field(column).type
    if argument.axis is not None:
        return _VECTOR
    if isinstance(argument.convert, Choice) or kind == INT:
        return _INTEGER
    if kind == REAL:
        return _NUMBER
    return _JSON if is_json else _TEXT


def _key_kind_of_text(argument: Arg) -> int:
    """What the value of a number written as text must be."""
    return _REFERENCE if argument.convert is reference else _DIGITS


def _made(column: pa.Array, argument: Arg, kind: pa.DataType) -> pa.Array:
    """A column of the scanner as one of the table, of type `kind`."""
    if isinstance(argument.convert, Choice):
        codes = sorted(argument.convert.texts)
        texts = pa.array([argument.convert.texts[code] for code in codes], TEXT)
        return texts.take(pc.subtract(column, codes[0]))
    if kind != REAL:
        return column
    numbers = column.cast(REAL)
    scale = argument.convert
    if scale is None:
        return numbers
    assert isinstance(scale, Scaling)
    return pc.divide(pc.multiply(numbers, scale.by), scale.over)
