"""Columns of a table as rows of `configuration` and `configuration_value`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.parsers.results_table.packed import unpacked
from tracekit.parsers.results_table.roles import FINE, UNITS, VALUES, role_of
from tracekit.parsers.results_table.said import ColumnsSaid, roles_without_units
from tracekit.parsers.results_table.tables import Columns
from tracekit.reading.configurations import NUMBER, clean, numbers_of, tell_no_number, unit_of
from tracekit.schema import CONFIGURATION, CONFIGURATION_VALUE, INT, TEXT

_LOOKED_AT = 1000


@dataclass(slots=True)
class TableRows:
    """Reads one table; its first row is the `next_row`-th of the file.

    ``given`` is the user's ``--columns``, ``said`` the part about columns of this table; ``roles``
    is the role of each column, ``known`` the same with unpacked labels.
    """

    report: Report
    next_row: int
    given: Mapping[str, str]
    said: dict[str, ColumnsSaid] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def batches(self, blocks: Iterator[Columns]) -> Iterator[Batch]:
        """The rows of all blocks."""
        for columns in blocks:
            self._know(columns)
            yield from self._rows(columns)

    def _know(self, columns: Columns) -> None:
        """Decide the role of each column, from the first block that has it."""
        looked = {
            name: [t for t in column.slice(0, _LOOKED_AT).to_pylist() if t]
            for name, column in columns.items()
            if name not in self.roles
        }
        first = {name: role_of(name, texts, has_packed=False) for name, texts in looked.items()}
        has_packed = "packed" in {*first.values(), *self.roles.values()}
        self.said = ColumnsSaid.of_columns(self.given, looked) | self.said
        kinds = roles_without_units(self.given, (*self.roles, *looked))
        self.roles |= {
            name: self._role(name, role_of(name, texts, has_packed=has_packed), texts, kinds)
            for name, texts in looked.items()
        }
        self.known |= self.roles

    def _role(self, name: str, seen: str, texts: Sequence[str], kinds: set[str]) -> str:
        """Return the role of a column according to the user.

        If the user names only labels, other numbers are metrics; if only metrics, other columns
        are labels; if both, other columns are skipped. A metric named with its unit does not affect
        other columns.
        """
        if name in self.said:
            return self.said[name].role
        if not kinds or seen not in ("label", "metric"):
            return seen
        if kinds == {"metric"}:
            return "label"
        are_numbers = bool(texts) and all(map(NUMBER.fullmatch, texts))
        return "metric" if kinds == {"label"} and are_numbers else "left out"

    def _rows(self, columns: Columns) -> Iterator[Batch]:
        count = max(map(len, columns.values()))
        ids = pa.array(np.arange(self.next_row, self.next_row + count), INT)
        self.next_row += count
        self.report.event_count += count
        has_metric = np.zeros(count, bool)
        values: list[pa.RecordBatch] = []
        units = self._units(columns)
        for name, column in columns.items():
            role = self.roles[name]
            if role == "nested":
                self._tell_nested(name, column)
            elif role == "packed":
                values += self._unpacked(ids, column)
            elif role in ("label", "metric"):
                batch, is_number = self._values(ids, name, role, clean(column), units)
                values.append(batch)
                has_metric |= is_number if role == "metric" else False
        yield CONFIGURATION.name, self._configurations(columns, ids, has_metric)
        for batch in values:
            if batch.num_rows:
                yield CONFIGURATION_VALUE.name, batch

    def _configurations(
        self, columns: Columns, ids: pa.Array, has_metric: np.ndarray
    ) -> pa.RecordBatch:
        names, said = (
            [clean(columns[n]) for n, role in self.roles.items() if role == kind and n in columns]
            for kind in ("packed", "status")
        )
        nothing = pa.nulls(len(ids), TEXT)
        status = pc.coalesce(*said) if said else nothing
        is_fine = pc.or_(
            pc.is_null(status), pc.is_in(pc.utf8_lower(status), pa.array(sorted(FINE)))
        )
        is_ok = pc.and_(is_fine, pa.array(has_metric))
        return pa.RecordBatch.from_arrays(
            [
                ids,
                pc.coalesce(*names) if names else nothing,
                pc.if_else(is_ok, "ok", "failed"),
                status,
            ],
            schema=CONFIGURATION.schema,
        )

    def _values(
        self, ids: pa.Array, name: str, role: str, column: pa.Array, units: pa.Array | None = None
    ) -> tuple[pa.RecordBatch, np.ndarray]:
        """Return the nonempty cells of one column as rows, and which rows have a number."""
        numbers = numbers_of(column)
        is_finite = pc.is_valid(numbers)
        if role == "metric":
            odd = column.filter(pc.and_(pc.is_valid(column), pc.invert(is_finite)))
            tell_no_number(self.report, name, odd)
        is_there = pc.is_valid(column)
        said = self.said[name].unit if name in self.said else None
        unit = said or unit_of(name) if role == "metric" else None
        count = len(column)
        of_rows = role == "metric" and unit is None and units is not None
        of_rows = of_rows and name.strip().lower() in VALUES
        whole = pa.RecordBatch.from_arrays(
            [
                ids,
                pa.repeat(pa.scalar(name, TEXT), count),
                pa.repeat(pa.scalar(role, TEXT), count),
                column,
                numbers,
                units if of_rows else pa.repeat(pa.scalar(unit, TEXT), count),
            ],
            schema=CONFIGURATION_VALUE.schema,
        )
        return whole.filter(is_there), is_finite.to_numpy(zero_copy_only=False)

    def _units(self, columns: Columns) -> pa.Array | None:
        """Return the unit of each row, from a column of that name; None without one."""
        named = [n for n in columns if n.strip().lower() in UNITS and self.roles[n] == "label"]
        return clean(columns[named[0]]) if len(named) == 1 else None

    def _tell_nested(self, name: str, column: pa.Array) -> None:
        self.report.tell(
            "nested_column",
            "warning",
            "import",
            f"the column {name!r} holds lists; it is skipped",
            "write one value per list, such as its mean, as a separate column",
            occurrence_count=len(column) - column.null_count,
        )

    def _unpacked(self, ids: pa.Array, column: pa.Array) -> Iterator[pa.RecordBatch]:
        """The labels of a packed column; what follows them is the label ``name``."""
        once = clean(column).dictionary_encode()
        words = [unpacked(text) for text in once.dictionary.to_pylist()]
        names = dict.fromkeys(name for word in words if word for name in word[0])
        self.known |= dict.fromkeys(names, "label")
        for name in names:
            texts = pa.array([word[0].get(name) if word else None for word in words], TEXT)
            yield self._values(ids, name, "label", texts.take(once.indices))[0]
        rest = pa.array([(word[1] or None) if word else None for word in words], TEXT)
        if rest.null_count < len(rest):
            yield self._values(ids, "name", "label", rest.take(once.indices))[0]
