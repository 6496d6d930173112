"""Reads the rows that a parser has written as columns of numbers.

Texts are numbers too: each distinct text is read once. An unknown value is `NONE`, an unknown text
has the code 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tracekit.dictionaries import encoded
from tracekit.schema import TABLES, TEXT

Ints = NDArray[np.integer[Any]]
#: Codes of texts and threads, and places in other columns.
Codes = Ints
Flags = NDArray[np.bool_]

#: NULL in columns of numbers; no time, id or duration of a trace has this value.
NONE = int(np.iinfo(np.int64).min)
LATEST = int(np.iinfo(np.int64).max)
_BATCH_ROWS = 1 << 16
_PART_ROWS = 1 << 16


class IntColumn(Protocol):
    """Integers, of which some rows can be had."""

    def __len__(self) -> int:
        """The number of rows."""
        ...

    def __getitem__(self, places: Any, /) -> Ints:
        """The values of some rows."""
        ...


@dataclass(slots=True)
class Texts:
    """Distinct texts; the code of a text is its place here, and 0 is NULL."""

    values: list[str | None] = field(default_factory=lambda: [None])
    _codes: dict[str | None, int] = field(default_factory=lambda: {None: 0})

    def code(self, text: str | None) -> int:
        """The code of a text."""
        code = self._codes.setdefault(text, len(self.values))
        if code == len(self.values):
            self.values.append(text)
        return code

    def codes(self, column: pa.Array | pa.ChunkedArray) -> Codes:
        """The codes of a column of text."""
        return by_text(column, self.code)

    def array(self, codes: Codes) -> pa.Array:
        """The texts of codes, each distinct one converted once."""
        used, places = used_of(codes)
        texts = pa.array([self.values[code] for code in used.tolist()], TEXT)
        return texts.take(pa.array(places))

    def absorb(self, others: Texts) -> Codes:
        """Add the texts of `others`; their codes here, by their codes there."""
        return np.array([self.code(text) for text in others.values], np.int32)


def by_text(column: pa.Array | pa.ChunkedArray, number: Callable[[str | None], int]) -> Codes:
    """What `number` says of each text of a column, asked once for each."""
    known = encoded(column)
    found = np.array([*map(number, known.dictionary.to_pylist()), number(None)], np.int32)
    places = known.indices.fill_null(len(found) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(found[places])


def numbers(column: pa.Array | pa.ChunkedArray) -> Ints:
    """A column of integers, with `NONE` for NULL."""
    return np.asarray(column.fill_null(NONE).to_numpy(zero_copy_only=False), np.int64)


def nullable(values: Ints) -> pa.Array:
    """Numbers as a column, with NULL for `NONE`."""
    return pa.array(values, mask=values == NONE)


def ends(starts: Ints, durations: Ints) -> Ints:
    """The ends of intervals; the maximum without a duration, or beyond 64 bits."""
    known = np.maximum(durations, 0)
    return np.asarray(starts + np.minimum(known, LATEST - np.maximum(starts, 0)))


def together(*codes: NDArray[np.integer]) -> Codes:
    """One code for each distinct row of several columns of nonnegative numbers."""
    joined = codes[0].astype(np.int64)
    size = int(joined.max(initial=0)) + 1
    for column in codes[1:]:
        width = int(column.max(initial=0)) + 1
        if size * width > LATEST:
            joined = distinct(joined).astype(np.int64)
            size = int(joined.max(initial=0)) + 1
        joined = joined * width + column
        size *= width
    return distinct(joined)


def distinct(values: Ints) -> Codes:
    """A number for each distinct value, in order of appearance."""
    codes: Codes = pa.array(values).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return codes


def used_of(codes: Codes) -> tuple[Codes, Codes]:
    """The distinct nonnegative codes in a column, in order, and the place of each row's in them."""
    used = np.flatnonzero(np.bincount(codes))
    places = np.zeros(int(codes.max(initial=0)) + 1, np.int32)
    places[used] = np.arange(len(used), dtype=np.int32)
    return used, places[codes]


def give_back() -> None:
    """Give memory that was freed back to the system, which small columns would not be."""
    pa.default_memory_pool().release_unused()


def are_among(values: Ints, ids: Ints) -> Flags:
    """Which values are among ids, which are sorted and distinct, without NULL."""
    places = np.searchsorted(ids, values)
    return np.asarray((np.append(ids, NONE)[places] == values) & (values != NONE))


def places_where(count: int, is_wanted: Callable[[slice], Flags]) -> Codes:
    """The places of rows for which that holds, found in parts."""
    found = [
        (part.start + np.flatnonzero(is_wanted(part))).astype(np.int32) for part in in_parts(count)
    ]
    return np.concatenate([np.zeros(0, np.int32), *found])


def in_parts(count: int) -> Iterator[slice]:
    """Parts of so many rows, for what would take too much memory for all rows at once."""
    for first in range(0, count, _PART_ROWS):
        yield slice(first, min(first + _PART_ROWS, count))


def at(column: IntColumn, places: Ints, none: int = -1) -> Ints:
    """The values of a column at places; `none` at -1."""
    if not len(column):
        return np.full(len(places), none, np.int64)
    return np.where(places < 0, none, np.asarray(column[places], np.int64))


def firsts_of(codes: Codes) -> Codes:
    """The first row of each code, for codes in order of appearance (see `distinct`)."""
    so_far = np.maximum.accumulate(codes) if len(codes) else codes
    return np.flatnonzero(np.diff(so_far, prepend=-1))


def totals(codes: Codes, values: Ints, count: int) -> Ints:
    """The sum of the values of each of `count` codes, exactly."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, codes, values)
    return sums


def batches(folder: Path, table: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Columns of a table's rows in a source's folder, with texts as dictionaries."""
    texts = [name for name in names if TABLES[table].schema.field(name).type == TEXT]
    for file in sorted((folder / table).glob("*.parquet")):
        with pq.ParquetFile(file, read_dictionary=texts) as rows:
            yield from rows.iter_batches(_BATCH_ROWS, columns=list(names), use_threads=False)


def ids_in(values: Ints) -> Ints:
    """The distinct ids in a column, sorted, without NULL and 0."""
    found = np.sort(values[(values != NONE) & (values != 0)], kind="stable")  # nearly sorted
    return np.asarray(found[np.diff(found, prepend=0) != 0])
