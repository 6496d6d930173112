"""Recounts: values of a report computed from the stored rows alone, by a few plain lines.

A recount is a file of `queries/recount`: one SELECT over tables of the store, and none of the views
and macros that reports stand upon. It has some columns of its report, and a row for each row of it,
found by the columns in `keys`. A report whose values are others contradicts the rows of the file.
Several recounts can stand `upon` the same rows, a file of `queries/recount/rows`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
import pyarrow as pa

from tracekit.catalog import Text, finding_names, report_names, split_header
from tracekit.errors import QueryError
from tracekit.typed import convert

#: Values of a column may differ by this, relative to the larger one: sums of floats are rounded.
_ROUNDING = 1e-9
#: A sum that is 0 but for rounding.
_ZERO = 1e-12
#: Recount, purpose, subject, and the name and value of the report's figure and of the counted one.
Contradiction = tuple[str, str, str, str, float | None, str, float | None]
_Row = dict[str, Any]


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    purpose: Text
    source: Text
    report: Text
    keys: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    upon: str | None = None
    about: tuple[str, ...] = ()
    options: dict[str, list[str | int]] = {}
    is_partial: bool = False
    is_sum: bool = False
    skips_unknown: bool = False


class _RowsHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    purpose: Text
    upon: str | None = None


@dataclass(frozen=True, slots=True)
class Recount:
    """One recount: ``sql`` selects columns of ``report`` for the run ``$run_id``.

    ``needs`` are the tables without whose rows there is nothing to count. ``options`` are what
    the report is asked with, such as ``by``; they are parameters of ``sql``, too, and NULL where
    the report has its default. Columns in ``about`` say what the report was asked about, such as
    one of several metrics: rows about others are not compared. The report of one that
    ``is_partial`` can have rows that the recount does not have. Of one that ``is_sum``, the rows of
    each key are added up before they are compared. One that ``skips_unknown`` says nothing about
    values that it has none for.
    """

    name: str
    purpose: str
    report: str
    keys: tuple[str, ...]
    needs: tuple[str, ...]
    is_partial: bool
    is_sum: bool
    skips_unknown: bool
    sql: str
    about: tuple[str, ...] = ()
    options: Mapping[str, str | int | None] = field(default_factory=dict)


@cache
def recounts() -> tuple[Recount, ...]:
    """Return every recount, by name; raise QueryError for a file whose header is wrong."""
    folder = files("tracekit.queries") / "recount"
    paths = sorted(folder.iterdir(), key=lambda file: file.name)
    return tuple(each for file in paths if file.name.endswith(".sql") for each in _recounts(file))


def _recounts(file: Traversable) -> Iterator[Recount]:
    """Yield the recount of a file with the first choice of each option, and each other choice."""
    name = file.name.removesuffix(".sql")
    try:
        entries, sql = split_header(file.read_text("utf-8"))
        header = convert(entries, _Header)
        if header.report not in {*report_names(), *finding_names()} or not sql:
            raise ValueError(f"no report is called {header.report}" if sql else "no SQL")
    except ValueError as error:
        raise QueryError(f"recount/{file.name}: the header is wrong: {error}") from error
    if header.upon is not None:
        rows = ",\n".join(f"{name} as ({text})" for name, text in _rows_under(header.upon))
        sql = f"with {rows}\nfrom ({sql})"
    rules = header.needs, header.is_partial, header.is_sum, header.skips_unknown
    # an option without choices can have any value
    first = {option: next(iter(choices), None) for option, choices in header.options.items()}
    others = [{**first, name: c} for name, choices in header.options.items() for c in choices[1:]]
    for options in (first, *others):
        chosen = [f"{option}={choice}" for option, choice in options.items() if choice is not None]
        full_name = " ".join([name, *chosen])
        about = header.about, options
        yield Recount(full_name, header.purpose, header.report, header.keys, *rules, sql, *about)


def _rows_under(name: str) -> list[tuple[str, str]]:
    """Return the named SELECTs that recounts upon the rows stand upon, the lowest first."""
    file = files("tracekit.queries") / "recount" / "rows" / f"{name}.sql"
    entries, sql = split_header(file.read_text("utf-8"))
    header = convert(entries, _RowsHeader)
    return [*(_rows_under(header.upon) if header.upon else ()), (name, sql)]


def unlike(recount: Recount, report: pa.Table, counted: pa.Table) -> list[Contradiction]:
    """Return where a report is unlike its recount; texts that differ have no values.

    A recount without rows says nothing: its SQL refuses what it cannot count.
    """
    counted = _alike(recount, report, counted)
    if not len(counted):
        return []
    found = _unlike(recount, _by_key(recount, report), _by_key(recount, counted))
    return [(recount.name, recount.purpose, *parts) for parts in found]


def _alike(recount: Recount, report: pa.Table, counted: pa.Table) -> pa.Table:
    """Return the counted rows that are about the same as the report; all if there is no choice."""
    if not recount.about:
        return counted
    told = [tuple(row[name] for name in recount.about) for row in counted.to_pylist()]
    asked = {tuple(row[name] for name in recount.about) for row in report.to_pylist()}
    if len({*told}) == 1 and not asked:
        return counted
    return counted.filter(pa.array([about in asked for about in told], pa.bool_()))


def _by_key(recount: Recount, table: pa.Table) -> dict[tuple[Any, ...], list[_Row]]:
    found: dict[tuple[Any, ...], list[_Row]] = {}
    for row in _rows(table):
        found.setdefault(tuple(row[key] for key in recount.keys), []).append(row)
    return {key: [_summed(rows)] for key, rows in found.items()} if recount.is_sum else found


def _rows(table: pa.Table) -> list[_Row]:
    """Return the rows, with the values that are compared."""
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]


def _plain(value: Any) -> Any:
    """Return a sum of integers, which DuckDB gives 128 bits, as one; None for a quotient by 0."""
    if isinstance(value, Decimal):
        return int(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _summed(rows: list[_Row]) -> _Row:
    """Return the sums of the numbers of rows; None where no row has one."""
    sums = dict[str, Any]()
    for name in rows[0]:
        numbers = [row[name] for row in rows if isinstance(row[name], int | float)]
        sums[name] = sum(numbers) if numbers else None
    return sums


def _unlike(
    recount: Recount,
    reported: dict[tuple[Any, ...], list[_Row]],
    counted: dict[tuple[Any, ...], list[_Row]],
) -> Iterator[tuple[str, str, float | None, str, float | None]]:
    """Yield the subject, and the name and value of both figures, of each contradiction."""
    for key in counted if recount.is_partial else {**counted, **reported}:
        subject = ", ".join(map(str, key)) or "all rows"
        first, second = reported.get(key, []), counted.get(key, [])
        if len(first) != len(second):
            yield subject, f"rows of {recount.report}", len(first), "rows counted", len(second)
            continue
        for one, other in zip(first, second, strict=True):
            for column, value in other.items():
                is_skipped = column in recount.keys or (value is None and recount.skips_unknown)
                if not is_skipped and not _is_same(one[column], value):
                    figures = f"{recount.report}.{column}", f"counted: {column}"
                    yield subject, figures[0], _number(one[column]), figures[1], _number(value)


def _is_same(one: Any, other: Any) -> bool:
    is_numeric = isinstance(one, int | float) and isinstance(other, int | float)
    if is_numeric:
        return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ZERO)
    return bool(one == other)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
