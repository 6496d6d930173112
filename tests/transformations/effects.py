"""What a change does to the rows of reports: each effect returns what contradicts it."""

from __future__ import annotations

import math
import re
from collections import defaultdict
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
    """Return a text without the ending of a compressed file, and shapes without blanks."""
    if not isinstance(value, str):
        return value
    is_json = column in {"input_dims", "input_types"}
    return "".join(value.split()) if is_json else value.replace(".gz", "")


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


def _order(row: Row) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return texts first, then numbers, which may differ in their last digits."""
    return (
        tuple(str(value) for value in row.values() if not isinstance(value, float | int | None)),
        tuple(
            float(f"{value:.6g}") if isinstance(value, float | int) else -math.inf
            for value in row.values()
            if isinstance(value, float | int | None)
        ),
    )


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


def both(*effects: Effect) -> Effect:
    return lambda before, after: [text for effect in effects for text in effect(before, after)]


#: Reports about several ranks or the run as a whole, and those that give only the largest.
_ACROSS_SOURCES = {
    *("ranks", "stragglers", "waiting_for_rank", "collectives", "small_collectives", "advise"),
    *("summary", "data_ranks", "data_clocks", "issues", "run_labels", "largest_gaps"),
    "kernel_sequences",  # what is once in each source repeats
}
#: Reports that give an example's source, not the source of a row.
_OF_A_RUN = {
    *("attributed_op_roofline_points", "reported_op_roofline_points", "roofline_points"),
}
#: What must grow with the sources; what else is summed shows by itself.
TOTALS = {"total_ns", "launch_count", "call_count", "transfer_count"}


def per_source(times: int) -> Effect:
    """The rows of each source stay; totals are so many times as large, means and shares stay.

    Once: of two sources one is empty, so nothing grows.
    """

    def contradictions(before: Answers, after: Answers) -> list[str]:
        found = []
        for name in sorted(before.keys() - _ACROSS_SOURCES):
            earlier, later = (
                [changed(row, ("rank_index", *_TIMES)) for row in rows.get(name, [])]
                for rows in (before, after)
            )
            has_sources = any("source_id" in row for row in before[name])
            if not has_sources or name in _OF_A_RUN:
                found += [f"{name}: {text}" for text in _multiples(earlier, later, times)]
                continue
            sources = defaultdict[str, list[Row]](list)
            for row, plain in zip(after.get(name, []), later, strict=True):
                sources[row["source_id"]].append(plain)
            unlike = [row_differences(earlier, rows, 1) for rows in sources.values()]
            closest = sorted(unlike, key=len)[:times]
            found += [f"{name}: {text}" for texts in closest for text in texts]
            if len(closest) != times and earlier:
                found.append(f"{name}: rows of {len(closest)} sources")
        return found

    return contradictions


def _multiples(before: Sequence[Row], after: Sequence[Row], times: int) -> list[str]:
    """Return the columns that are neither as before nor so many times as large in all rows."""
    if len(before) != len(after):
        return row_differences(before, after)
    pairs = list(zip(sorted(before, key=_order), sorted(after, key=_order), strict=True))
    return _no_multiples(pairs, lambda column: (times,) if column in TOTALS else (1, times))


def _no_multiples(
    pairs: Sequence[tuple[Row, Row]], factors: Callable[[str], Sequence[float]]
) -> list[str]:
    """Return the columns that are not the same multiple of what they were in all rows."""
    found = []
    for column in pairs[0][0] if pairs else ():
        values = [(one[column], other.get(column)) for one, other in pairs]
        allowed = factors(column)
        if not any(all(_is_multiple(*pair, factor) for pair in values) for factor in allowed):
            one, other = next(v for v in values if not _is_multiple(*v, allowed[-1]))
            found.append(f"{column}: {_short(one)} became {_short(other)} in {_label(pairs[0][0])}")
    return found


def once_more(before: Answers, after: Answers) -> list[str]:
    """Each row stays or comes twice; a column stays, doubles or halves, the same in all rows."""
    found = []
    for name in sorted(before):
        earlier, later = (
            sorted((changed(row, _OF_A_TIME) for row in rows.get(name, [])), key=_order)
            for rows in (before, after)
        )
        times = 2 if len(later) > len(earlier) else 1
        if len(later) != times * len(earlier):
            found.append(f"{name}: {len(earlier)} rows became {len(later)}")
            continue
        pairs = list(zip([row for row in earlier for _ in range(times)], later, strict=True))
        found += [f"{name}: {text}" for text in _no_multiples(pairs, lambda _: (1, 2, 0.5))]
    return found


def _is_multiple(one: object, other: object, times: float) -> bool:
    if isinstance(one, str) and isinstance(other, str):  # counts in texts
        return re.sub(r"\d+", "", one) == re.sub(r"\d+", "", other)
    if isinstance(one, float | int) and not isinstance(one, bool):
        return equal(one * times, other, times)
    return one == other


_TIMES = ("start_ns", "end_ns", "time_ns")
#: What tells from another time that the same happened.
_OF_A_TIME = (*_TIMES, "launch_start_ns", "step_index", "correlation_id")


def at_most(before: Answers, after: Answers) -> list[str]:
    """Totals by name only become smaller, and no name is new."""
    found = []
    for name in ("kernel_time", "reported_op_time", "copies", "collectives", "annotations"):
        for column in ("total_ns", "launch_count", "call_count", "transfer_count"):
            earlier, later = (_by_name(rows.get(name, []), column) for rows in (before, after))
            found += [
                f"{name}: {column}: {earlier.get(key, 0)} became {value} in {key[:80]}"
                for key, value in later.items()
                if value > earlier.get(key, 0)
            ]
    return found


def _by_name(rows: Iterable[Row], column: str) -> dict[str, float]:
    totals = defaultdict[str, float](float)
    for row in rows:
        texts = (str(row.get(key)) for key in ("name", "direction_kind", "collective_kind"))
        totals[" ".join(texts)] += row.get(column) or 0
    return totals


def longer_by(sleep_ns: int) -> Effect:
    """One step and the idle time of each device are so much longer, and the host is the cause."""

    def contradictions(before: Answers, after: Answers) -> list[str]:
        found = []
        marks = [_total(rows["steps"], "host_ns") for rows in (before, after)]
        if marks[1] - marks[0] != sleep_ns:
            found.append(f"steps: marks of {marks[0]} ns became {marks[1]} ns")
        causes = [_by_kind(rows.get("gaps", [])) for rows in (before, after)]
        devices = {(row["source_id"], row["device_id"]) for row in before.get("gaps", [])}
        grown = {
            kind: ns - causes[0].get(kind, 0)
            for kind, ns in causes[1].items()
            if ns != causes[0].get(kind, 0)
        }
        if sum(grown.values()) != sleep_ns * len(devices) or grown.keys() - _CAUSES_OF_A_SLEEP:
            found.append(f"gaps: a sleep of {sleep_ns} ns on {len(devices)} devices is {grown}")
        return found

    return contradictions


_CAUSES_OF_A_SLEEP = {"host", "data_loading"}


def _by_kind(rows: Iterable[Row]) -> dict[str, int]:
    totals = defaultdict[str, int](int)
    for row in rows:
        totals[row["gap_kind"]] += row["total_ns"]
    return totals


def _total(rows: Iterable[Row], column: str) -> int:
    return sum(row[column] or 0 for row in rows if row["step_index"] is not None)
