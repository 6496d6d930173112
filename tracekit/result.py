"""The result of a query: an Arrow table, with the meaning of its columns and its provenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

from tracekit.errors import QueryError


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result: its name, base unit ('ns', 'bytes', 'ratio' …) and meaning.

    One that ``is_answer`` answers the question: a table that is too wide omits others first.
    """

    name: str
    unit: str = ""
    doc: str = ""
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Rows in base units, with what a reader must know about them.

    ``name`` is the query's; ``notes`` are its provenance as text: run, parameters, what was
    excluded and why. ``heading``, if not empty, is the answer in one sentence.
    """

    name: str
    table: pa.Table
    columns: tuple[ResultColumn, ...]
    notes: tuple[str, ...] = ()
    heading: str = ""

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.table.num_rows)

    @property
    def is_empty(self) -> bool:
        """Return whether it has no rows, and not a heading alone to say so."""
        return not len(self) and not (self.heading and not self.columns)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The heading, if any, then the notes."""
        return (self.heading, *self.notes) if self.heading else self.notes

    def has_values(self, name: str) -> bool:
        """Return whether a column has a value that is not NULL."""
        column = self.table.column(name)
        return bool(column.null_count < len(column))

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream, which polars, pandas and pyarrow read."""
        return self.table.__arrow_c_stream__(requested_schema)

    def df(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame."""
        try:
            frame: pd.DataFrame = self.table.to_pandas()
        except (ValueError, NotImplementedError) as error:
            raise QueryError(
                f"the rows cannot be converted to a DataFrame: {error}; write CAST(… AS VARCHAR) "
                "for that column"
            ) from error
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as dicts of Python values."""
        return list(self.table.to_pylist())

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """Return the rows as tuples, in column order."""
        values = [column.to_pylist() for column in self.table.columns]
        return zip(*values, strict=True)


#: Units by the end of a column's name, after the naming rule of docs/tables.md.
_UNIT_SUFFIXES = (
    ("_flop_per_s", "flop/s"),
    ("_bytes_per_s", "bytes/s"),
    ("_offset_bytes", "offset"),  # a place, not a size
    ("_flop_per_byte", "flop/byte"),
    ("_ns", "ns"),
    ("_bytes", "bytes"),
    ("_flop", "flop"),
    ("_inst", "inst"),
    ("_hz", "hz"),
    ("_ratio", "ratio"),
    ("_count", "count"),
)


def unit_of(column_name: str) -> str:
    """Return the unit in a column's name; empty if none."""
    return next((unit for suffix, unit in _UNIT_SUFFIXES if column_name.endswith(suffix)), "")


def own_names(names: Sequence[str]) -> list[str]:
    """Return `names`, repeated ones as ``name_1``: SQL allows two columns of one name."""
    taken, own, counts = set(names), list[str](), dict[str, int]()
    for name in names:
        candidate, count = name, counts.get(name)
        while count is not None and candidate in taken:
            count += 1
            candidate = f"{name}_{count}"
        counts[name] = count or 0
        taken.add(candidate)
        own.append(candidate)
    return own
