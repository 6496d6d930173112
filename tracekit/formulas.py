"""Formulas of columns: values of a report that must be what its documentation says.

A column whose documentation begins with a formula over other columns of the report, such as
``busy_ns / elapsed_ns``, holds that value in each row, or NULL.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracekit.catalog import Query, known
from tracekit.recounts import Contradiction

#: Values may differ by this, relative to the larger one: floats are rounded.
_ROUNDING = 1e-9
_Numbers = NDArray[np.float64]
_NAME = "column_formulas"
_PURPOSE = "A column is what its documentation says."
_OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}


@dataclass(frozen=True, slots=True)
class Formula:
    """What a column of a report is computed from, as its documentation writes it."""

    column: str
    text: str
    expression: ast.expr


@cache
def column_formulas(report: str) -> tuple[Formula, ...]:
    """Return the formulas in the documentation of a report's columns."""
    query = known(report)
    return () if query is None else tuple(_documented_formulas(query))


def _documented_formulas(query: Query) -> Iterator[Formula]:
    names = {column.name for column in query.columns if column.type in ("BIGINT", "DOUBLE")}
    for column in query.columns:
        text = column.doc.partition(";")[0].partition(":")[0].strip()
        try:
            expression = ast.parse(text.replace(" x ", " * "), mode="eval").body
        except SyntaxError:  # words
            continue
        if isinstance(expression, ast.BinOp) and _is_formula(expression, names):
            yield Formula(column.name, text, expression)


def _is_formula(part: ast.expr, names: set[str]) -> bool:
    if isinstance(part, ast.BinOp):
        parts = (part.left, part.right)
        return type(part.op) in _OPERATORS and all(_is_formula(each, names) for each in parts)
    if isinstance(part, ast.Name):
        return part.id in names
    return isinstance(part, ast.Constant) and isinstance(part.value, int)


def unlike_formulas(tables: Mapping[str, pa.Table]) -> list[Contradiction]:
    """Return the first row of each column that is not what its formula gives."""
    return [
        (_NAME, _PURPOSE, *parts)
        for report, table in tables.items()
        for formula in column_formulas(report)
        for parts in _first_unlike(report, formula, table)
    ]


def _first_unlike(
    report: str, formula: Formula, table: pa.Table
) -> Iterator[tuple[str, str, float, str, float]]:
    """Yield subject, and name and value of both figures, of a row that contradicts the formula."""
    shown = _column_values(table, formula.column)
    with np.errstate(all="ignore"):
        computed = _computed_values(formula.expression, table) * _per_second(formula)
        largest = np.maximum(np.abs(shown), np.abs(computed))
        # what is unknown, or divided by 0, is not equal to and not above anything
        unlike = np.isfinite(computed) & (np.abs(shown - computed) > _ROUNDING * largest)
    for index in np.flatnonzero(unlike)[:1]:
        subject = f"row {index + 1} of {report}"
        figures = f"{report}.{formula.column}", float(shown[index])
        yield subject, *figures, formula.text, float(computed[index])


def _per_second(formula: Formula) -> float:
    """Return how many times a value is as large for a second as for a nanosecond."""
    return 1e9 if formula.column.endswith("_per_s") and "_ns" in formula.text else 1.0


def _computed_values(part: ast.expr, table: pa.Table) -> _Numbers:
    if isinstance(part, ast.BinOp):
        compute = _OPERATORS[type(part.op)]
        result: _Numbers = compute(
            _computed_values(part.left, table), _computed_values(part.right, table)
        )
        return result
    if isinstance(part, ast.Constant) and isinstance(part.value, int):
        return np.full(len(table), float(part.value))
    assert isinstance(part, ast.Name)
    return _column_values(table, part.id)


def _column_values(table: pa.Table, column: str) -> _Numbers:
    """Return the values of a column, nan for NULL."""
    # the nearest float of a whole number beyond 2^53 is near enough
    values: _Numbers = table[column].cast(pa.float64(), safe=False).to_numpy()
    return values
