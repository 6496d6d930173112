"""The answer to a query: an Arrow table with the meaning of its columns and its provenance."""

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
    """One column of a result: its name, base unit ('ns', 'bytes', 'ratio' …) and meaning."""

    name: str
    unit: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows in base units, with what a reader must know of them.

    ``name`` is the query's, ``notes`` are its provenance in words: run, parameters, what was
    left out and why. ``heading`` is the answer in one sentence, where there is one.
    """

    name: str
    table: pa.Table
    columns: tuple[ResultColumn, ...]
    notes: tuple[str, ...] = ()
    heading: str = ""

    def __len__(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Everything there is to say of the rows: the heading, then the notes."""
        return (self.heading, *self.notes) if self.heading else self.notes

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self.table

    def df(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame."""
        try:
            frame: pd.DataFrame = self.table.to_pandas()
        except (ValueError, NotImplementedError) as error:
            raise QueryError(
                f"the rows cannot be converted to a DataFrame: {error}; write CAST(… AS VARCHAR) "
                "for that column"
            ) from error
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dicts of Python values."""
        return list(self.table.to_pylist())

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples, in column order."""
        values = [column.to_pylist() for column in self.table.columns]
        return zip(*values, strict=True)


#: The unit that the end of a column name says, by the naming rule of docs/tables.md.
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
    """The unit that a column's name carries; empty if none."""
    return next((unit for suffix, unit in _UNIT_SUFFIXES if column_name.endswith(suffix)), "")


def own_names(names: Sequence[str]) -> list[str]:
    """`names`, a repeated one as ``name_1``: SQL allows two columns of one name."""
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
