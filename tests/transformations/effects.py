"""What a change does to the rows of reports: each effect returns what contradicts it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from tests.transformations.reports import Answers, Row
from tracekit.result import unit_of

Effect = Callable[[Answers, Answers], list[str]]
Expected = Callable[[str, Any], Any]

#: Columns that name a row of the store, which is another one in another store.
_OF_STORES = ("source_id", "source_ids", "event_id", "file_name", "run_id", "joined_at")


def unchanged(
    but: Collection[str] = (),
    reports: Callable[[str], bool] = lambda _: True,
    expected: Expected = lambda _, value: value,
    rounding_ns: int = 0,
) -> Effect:
    """Every row stays as it is, but for some columns or reports, or becomes what is expected."""

    def contradictions(before: Answers, after: Answers) -> list[str]:
        names = sorted(name for name in before.keys() | after.keys() if reports(name))
        return [
            f"{name}: {text}"
            for name in names
            for text in row_differences(
                [changed(row, but, expected) for row in before.get(name, [])],
                [changed(row, but) for row in after.get(name, [])],
                rounding_ns,
            )
        ]

    return contradictions


def changed(
    row: Row, but: Collection[str] = (), expected: Expected = lambda _, value: value
) -> Row:
    """Return the columns of a row that are compared, with the values that are expected."""
    return {
        column: expected(column, _plain(column, value))
        for column, value in row.items()
        if column not in but and not column.endswith(_OF_STORES)
    }


def _plain(column: str, value: Any) -> Any:
    """Return shapes, which reports show as recorded, without blanks."""
    is_json = column in {"input_dims", "input_types"} and isinstance(value, str)
    return "".join(value.split()) if is_json else value


def row_differences(before: Sequence[Row], after: Sequence[Row], rounding_ns: int = 0) -> list[str]:
    """Return what differs between two sets of rows, row by row in an order of their own."""
    if len(before) != len(after):
        alone = lone_rows(before, after)
        return [f"{len(before)} rows became {len(after)}: {alone}"]
    pairs = zip(sorted(before, key=_order), sorted(after, key=_order), strict=True)
    return [
        f"{column}: {_short(one.get(column))} became {_short(other.get(column))} in {_label(one)}"
        for one, other in pairs
        for column in one.keys() | other.keys()
        if not equal(
            one.get(column), other.get(column), rounding_ns if unit_of(column) == "ns" else 1e-9
        )
    ]


def lone_rows(before: Iterable[Row], after: Iterable[Row]) -> str:
    keys = [{str(_order(row)): row for row in rows} for rows in (before, after)]
    lost = [_label(keys[0][key]) for key in keys[0].keys() - keys[1].keys()][:2]
    new = [_label(keys[1][key]) for key in keys[1].keys() - keys[0].keys()][:2]
    return f"lost {lost}, new {new}"


def equal(one: object, other: object, rounding: float = 1e-9) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=rounding)
    return one == other


#: What a rate is of the peak it is held to.
_SHARES_OF_PEAKS = {"bandwidth_ratio", "roof_ratio", "utilization_ratio"}


def _order(row: Row) -> tuple[str, ...]:
    """Return texts first, then numbers, which may differ in their last digits."""
    values = row.items()
    texts = [str(value) for _, value in values if not isinstance(value, float | int)]
    numbers = [f"{value:+.5e}" for _, value in values if isinstance(value, float | int)]
    return (*texts, *numbers)


def _label(row: Row) -> str:
    texts = [str(value)[:40] for value in row.values() if value is not None]
    return " / ".join(texts[:4])


def _short(value: object) -> str:
    return repr(value)[:120]


def scaled(factor: int, but: Collection[str], but_reports: Collection[str]) -> Effect:
    """Times become `factor` times as long, rates as much lower; counts and shares stay."""

    def expected(column: str, value: Any) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool) or "peak" in column:
            return value
        if unit_of(column) == "ns":
            return value * factor
        is_rate = column.endswith("_per_s") or column in _SHARES_OF_PEAKS
        return value / factor if is_rate else value

    return unchanged(but, lambda name: name not in but_reports, expected, rounding_ns=factor)
