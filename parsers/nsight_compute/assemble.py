"""Turns launches, metric cells and advice into batches of the store's tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.parsers.nsight_compute.columns import (
    NAN,
    OK,
    STATUSES,
    Filler,
    Flags,
    Floats,
    Ints,
    PageCells,
    PageColumn,
    of_one_event,
)
from tracekit.parsers.nsight_compute.detail_blocks import DetailCells, joined
from tracekit.parsers.nsight_compute.launches import Launch, PageLaunches
from tracekit.parsers.nsight_compute.metrics import Target, is_whole, metric_name, target_of
from tracekit.parsers.nsight_compute.wide import WideRows
from tracekit.reading.text.numbers import Evidence, Notation, as_floats, finite, values_of
from tracekit.reading.text.plain_numbers import PlainDigits, PlainNumbers
from tracekit.reading.text.quoted_rows import QuotedRows
from tracekit.reading.text.units import unit_of
from tracekit.schema import (
    INT,
    KERNEL,
    KERNEL_COUNTER,
    KERNEL_METRIC,
    KERNEL_RULE,
    REPEATED,
    TEXT,
    batch,
)
from tracekit.wide import KERNEL_WIDE

_MOST_CELLS = 1 << 17
_MOST_LAUNCHES = 1 << 14
_MOST_KEYS = 1 << 16
_MOST_IN_A_LAUNCH = 1 << 19
_MOST_DEVICE_UNITS = 1 << 20
#: From so many launches or cells on, the rows of a raw page are stored as wide ones, in less time
#: and space. Until then they are held.
_LEAST_WIDE, _LEAST_WIDE_CELLS = 1 << 15, 1 << 21
#: Of more metrics, queries of them would take long to plan: 3 s and 2 GB for 366.
_MOST_WIDE_METRICS = 128
#: Reasons that have a separate issue.
_TOLD = frozenset(("contradictory", "other_unit", "impossible", "unreadable"))


@dataclass(frozen=True, slots=True)
class Rule:
    """One piece of advice, in the columns of `kernel_rule`."""

    event_id: int
    section_name: str | None
    rule_name: str | None
    rule_kind: str | None
    message: str | None
    speedup_kind: str | None
    speedup_ratio: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """The minimum and maximum of the values behind a mean, as written."""

    least: str
    most: str


class EvidenceSink:
    """Finds the notation of the file's numbers; has the methods of `Assembler`."""

    def __init__(self) -> None:
        """Start empty."""
        self.evidence = Evidence()
        self.generation = 0
        self._keys: list[bool] = []
        self._cells: list[str] = []

    def key(self, section: str | None, label: str, unit: str, item: str = "") -> int:
        """Return whether the metric counts whole things."""
        read = unit_of(unit)
        return int(
            is_whole(metric_name(section, label, read.base, item), read.base) and not read.power
        )

    def begin(self, launch: Launch) -> None:
        """Ignore launches."""

    def add(self, keys: Sequence[int], cells: Sequence[str], spread: Spread | None = None) -> None:
        """Keep them until `look`."""
        self._keys.extend(map(bool, keys))
        self._cells.extend(cells)
        for text in (spread.least, spread.most) if spread else ():
            self._keys.append(bool(keys[0]))
            self._cells.append(text)

    def look(self) -> None:
        """Look at the cells since the last time."""
        self.evidence.look_at(pa.array(self._cells, TEXT), pa.array(self._keys, pa.bool_()))
        self._keys.clear()
        self._cells.clear()

    def rule(self, rule: Rule) -> None:
        """Ignore advice."""

    def name_device(self, device_id: int, name: str) -> None:
        """Ignore names."""


@dataclass(frozen=True, slots=True)
class _Metric:
    """A metric as named on a page."""

    name: str
    section: str | None
    item: str | None
    label: str | None
    unit_raw: str | None
    unit: str | None
    power: int
    target: Target | None


@dataclass(frozen=True, slots=True)
class _LaunchRows:
    """Launches with the same metrics, in rows of the raw page."""

    launches: PageLaunches
    keys: Sequence[int]
    rows: QuotedRows

    def __len__(self) -> int:
        """Return how many cells of metrics they have."""
        return len(self.launches) * len(self.keys)

    @property
    def digits(self) -> PlainDigits:
        """The cells as whole numbers, one metric after the other."""
        return self.rows.digits

    @property
    def launch(self) -> Ints:
        """The launch of each cell."""
        return np.tile(np.arange(len(self.launches)), len(self.keys))

    @property
    def metric(self) -> Ints:
        """The metric of each cell."""
        return np.repeat(np.array(self.keys, np.int64), len(self.launches))

    def texts(self, places: Ints) -> pa.Array:
        """Return cells as written."""
        return self.rows.texts(places)


@dataclass(slots=True)
class Assembler:
    """Collects launches until a batch is full.

    The numbers from `key` are valid as long as `generation` stays the same.
    """

    report: Report
    notation: Notation
    devices: dict[int | None, dict[str, Any]] = field(default_factory=dict)
    launch_count: int = 0
    generation: int = 0
    _launches: list[Launch] = field(default_factory=list)
    _rules: list[tuple[int, Rule]] = field(default_factory=list)
    _metrics: list[_Metric] = field(default_factory=list)
    _known: dict[tuple[str | None, str, str, str], int] = field(default_factory=dict)
    _of_launch: list[tuple[int, int]] = field(default_factory=list)
    _keys: list[int] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _spreads: list[tuple[int, Spread]] = field(default_factory=list)  # of cells that are means
    _rows: list[_LaunchRows | DetailCells] = field(default_factory=list)  # of the current block
    _row_cells: int = 0
    _held: list[_LaunchRows | DetailCells] = field(
        default_factory=list
    )  # until it is known how many there are
    _block_rules: list[tuple[int, Rule]] = field(default_factory=list)
    _wide: WideRows = field(default_factory=WideRows)
    _is_continued: bool = False
    _failed: int = 0
    _known_in: Counter[str] = field(default_factory=Counter)  # launches, by column
    _why: dict[str, Counter[str]] = field(default_factory=dict)

    # -- what the pages call ------------------------------------------------------------------

    def key(self, section: str | None, label: str, unit: str, item: str = "") -> int:
        """Return the number of a metric, for `add`; `item` is the part of the section."""
        known = self._known.get((section, label, unit, item))
        if known is None:
            known = self._known[section, label, unit, item] = len(self._metrics)
            self._metrics.append(_metric(section, label, unit, item))
        return known

    def begin(self, launch: Launch) -> None:
        """Begin `launch`: what follows belongs to it."""
        self._launches.append(launch)
        self._of_launch.append((len(self._cells), len(self._rules)))
        self.launch_count += 1
        self.report.event_count += 1
        device = self.devices.setdefault(launch.device_id, {})
        if launch.compute_capability is None:
            return
        known = device.setdefault("compute_capability", launch.compute_capability)
        if known != launch.compute_capability:
            self._tell_other_device(launch, known)

    def add(self, keys: Sequence[int], cells: Sequence[str], spread: Spread | None = None) -> None:
        """Add metric values of the last launch, as written; `spread` if one is a mean."""
        if spread is not None:
            self._spreads.append((len(self._cells), spread))
        self._keys.extend(keys)
        self._cells.extend(cells)

    def rule(self, rule: Rule) -> None:
        """Add advice about the last launch."""
        self._rules.append((self._launches[-1].event_id, rule))
        self.report.event_count += 1

    def name_device(self, device_id: int, name: str) -> None:
        """Note the name of a device that launches ran on."""
        if device_id in self.devices:
            self.devices[device_id].setdefault("name", name)

    def add_rows(self, launches: PageLaunches, keys: Sequence[int], rows: QuotedRows) -> bool:
        """Add launches with the same metrics, `keys`, in rows of the raw page.

        Return False if they must be read one by one: numbers are in another notation, a metric
        appears twice, or machines are mixed.
        """
        return len(set(keys)) == len(keys) and self._hold(_LaunchRows(launches, keys, rows))

    def add_details(self, cells: DetailCells, rules: Sequence[tuple[int, Rule]]) -> bool:
        """Add launches, in rows of the details page, and the advice by their places.

        Return False if they must be read one by one, as in `add_rows`.
        """
        if len(self._metrics) > _MOST_KEYS or not self._hold(cells):
            return False
        self._block_rules += rules
        self.report.event_count += len(rules)
        return True

    def _hold(self, rows: _LaunchRows | DetailCells) -> bool:
        """Keep rows; return False if their numbers are in another notation, or machines mixed."""
        if self.notation != "point" or not self._is_one_machine(rows.launches):
            return False
        self.launch_count += len(rows.launches)
        self.report.event_count += len(rows.launches)
        self._rows.append(rows)
        self._row_cells += len(rows)
        return True

    def _is_one_machine(self, launches: PageLaunches) -> bool:
        """Note the compute capability of each device; return False if one has several."""
        pairs = pa.table([launches.columns["device_id"], launches.capabilities], ["id", "is"])
        found: dict[int | None, str] = {}
        for row in pairs.group_by(["id", "is"], use_threads=False).aggregate([]).to_pylist():
            device = self.devices.get(row["id"], {})
            known = found.get(row["id"], device.get("compute_capability", row["is"]))
            if row["is"] not in (None, known):
                return False
            found |= {row["id"]: known} if row["is"] else {}
        for device_id in pc.unique(launches.columns["device_id"]).to_pylist():
            device = self.devices.setdefault(device_id, {})
            if device_id in found:
                device["compute_capability"] = found[device_id]
        return True

    # -- batches ------------------------------------------------------------------------------

    def full_batches(self) -> Iterator[Batch]:
        """Yield the rows of all launches but the last, which may continue, if there are enough."""
        if self._rows:
            yield from self._batches(len(self._launches))  # which come before them
            yield from self._rules_at_once()
            self._held += self._rows
            self._rows.clear()
            if self._is_wide and sum(map(len, self._held)) > _MOST_CELLS:
                yield from self._held_batches()
        else:
            yield from self._held_batches()
        if len(self._cells) > _MOST_CELLS or len(self._launches) > _MOST_LAUNCHES:
            yield from self._batches(len(self._launches) - 1)
        is_much = len(self._cells) > _MOST_IN_A_LAUNCH or len(self._metrics) > _MOST_KEYS
        if self._launches and is_much:
            last = self._launches[-1]  # no report has this many of one launch
            yield from self._batches(len(self._launches))
            self._launches, self._of_launch, self._is_continued = [last], [(0, 0)], True

    def last_batches(self) -> Iterator[Batch]:
        """Yield the remaining rows."""
        yield from self._held_batches()
        yield from self._batches(len(self._launches))
        self._tell_missing()

    @property
    def _is_wide(self) -> bool:
        """Whether the report has many launches, or many cells in rows read at once."""
        return self.launch_count >= _LEAST_WIDE or self._row_cells > _LEAST_WIDE_CELLS

    def _held_batches(self) -> Iterator[Batch]:
        """Yield the rows that are held, and forget them."""
        for held in _fewer(self._held):
            cells = self._cells_at_once(held)
            rows = dict(self._launch_rows(held.launches, cells))
            if self._is_wide and 0 < len(held.keys) <= _MOST_WIDE_METRICS:
                wide, others = self._wide.split(held.keys, self._metrics, cells, rows)
                yield KERNEL_WIDE.name, wide
                cells = cells.at(others)
            else:
                yield from rows.items()
            yield from self._metric_rows(held.launches, cells)
        self._held.clear()

    def _rules_at_once(self) -> Iterator[Batch]:
        """Yield the advice in the current block."""
        if self._block_rules:
            yield KERNEL_RULE.name, _rule_rows(self._block_rules)
            self._block_rules.clear()

    def _batches(self, count: int) -> Iterator[Batch]:
        """Yield the rows of the first `count` launches and forget them."""
        if not count:
            return
        is_all = count == len(self._launches)
        cut = len(self._cells) if is_all else self._of_launch[count][0]
        rules = len(self._rules) if is_all else self._of_launch[count][1]
        launches = PageLaunches.of(self._launches[:count])
        cells = self._cells_of(launches, cut)
        yield from self._launch_rows(launches, cells)
        yield from self._metric_rows(launches, cells)
        if rules:
            yield KERNEL_RULE.name, _rule_rows(self._rules[:rules])
        self._forget(count, cut, rules)

    def _launch_rows(self, launches: PageLaunches, cells: PageCells) -> Iterator[Batch]:
        """Yield the rows of launches, and their counters that have a column."""
        self._tell_failed(launches, cells.failed)
        first = int(self._is_continued)
        if len(launches) > first:
            columns = self._columns(launches, cells)
            kernels = _kernels(launches, columns["kernel"]).slice(first)
            yield KERNEL.name, kernels
            counters = {
                name: values.slice(first) for name, values in columns["kernel_counter"].items()
            }
            yield KERNEL_COUNTER.name, _counters(kernels, counters)

    def _forget(self, count: int, cut: int, rules: int) -> None:
        self._is_continued = False
        del self._launches[:count], self._of_launch[:count], self._rules[:rules]
        del self._keys[:cut], self._cells[:cut]
        self._of_launch = [(at - cut, rule - rules) for at, rule in self._of_launch]
        self._spreads = [(at - cut, spread) for at, spread in self._spreads if at >= cut]
        if len(self._metrics) > _MOST_KEYS and not self._cells:
            self._known.clear()
            self._metrics.clear()
            self.generation += 1

    # -- cells --------------------------------------------------------------------------------

    def _cells_at_once(self, rows: _LaunchRows | DetailCells) -> PageCells:
        """Return the cells of rows that are read at once."""
        metric = rows.metric
        plain = PlainNumbers.of(rows.digits, self._powers(metric))
        numbers, others = plain.value, np.flatnonzero(~plain.is_plain)
        raw = rows.texts(others)
        numbers[others] = self._values(raw, self._powers(metric[others]))
        nothing = np.full(len(metric), np.nan)
        of = rows.launches, rows.launch, metric, rows.texts
        cells = self._read(*of, numbers, (nothing, nothing))
        return replace(cells, plain=plain)

    def _cells_of(self, launches: PageLaunches, cut: int) -> PageCells:
        """Return the first cells, which are those of `launches`."""
        starts = [at for at, _ in self._of_launch[: len(launches)]]
        rows = np.repeat(np.arange(len(launches)), np.diff([*starts, cut]))
        metric = np.array(self._keys[:cut], np.int64)
        raw = pa.array(self._cells[:cut], TEXT)
        numbers = self._values(raw, self._powers(metric))
        extremes = self._extremes(cut, metric)

        def texts(places: Ints) -> pa.Array:
            return raw.take(pa.array(places))

        return self._read(launches, rows, metric, texts, numbers, extremes)

    def _powers(self, metric: Ints) -> Ints:
        """Return the power of ten of the unit of each cell."""
        return np.array([m.power for m in self._metrics] or [0], np.int64)[metric]

    def _values(self, raw: pa.Array, powers: Ints) -> Floats:
        """Return cells as numbers; NaN if one is not."""
        shifts = pa.array(powers) if powers.any() else None
        return as_floats(values_of(raw, self.notation, shifts))

    def _read(
        self,
        launches: PageLaunches,
        rows: Ints,
        metric: Ints,
        texts: Callable[[Ints], pa.Array],
        numbers: Floats,
        extremes: tuple[Floats, Floats],
    ) -> PageCells:
        """Read the cells that are not plain numbers: the launch, metric and text of each."""
        status = np.full(len(metric), OK, np.int8)
        others = np.flatnonzero(~np.isfinite(numbers))
        if len(others):
            powers = self._powers(metric[others])
            status[others], numbers[others] = self._read_others(texts(others), powers)
        counts = np.bincount(rows, minlength=len(launches))
        failed = np.bincount(rows[status == NAN], minlength=len(launches))
        is_failed = (failed == counts) & (counts > 0)
        return PageCells(
            rows, metric, texts, numbers, status, is_failed, launches.counts, *extremes
        )

    def _extremes(self, cut: int, metric: Ints) -> tuple[Floats, Floats]:
        """Return the minimum and maximum behind each cell that is a mean; otherwise NaN."""
        both = np.full(cut, np.nan), np.full(cut, np.nan)
        spreads = [(at, spread) for at, spread in self._spreads if at < cut]
        if not spreads:
            return both
        places = np.array([at for at, _ in spreads], np.int64)
        powers = pa.array(self._powers(metric[places]))
        for found, texts in zip(
            both,
            zip(*((spread.least, spread.most) for _, spread in spreads), strict=True),
            strict=True,
        ):
            values = values_of(pa.array(texts, TEXT), self.notation, powers)
            found[places] = as_floats(values)
        return both

    def _read_others(self, raw: pa.Array, powers: Ints) -> tuple[npt.NDArray[np.int8], Floats]:
        """Return status and value of cells that are not plain numbers; equal ones are read once."""
        texts = raw.dictionary_encode()
        pairs = np.stack([np.asarray(texts.indices, np.int64), powers])
        found, which = np.unique(pairs, axis=1, return_inverse=True)
        names = texts.dictionary.to_pylist()
        read = [_other(names[text], self.notation, int(power)) for text, power in found.T]
        kinds = np.array([STATUSES.index(kind) for kind, _ in read], np.int8)[which]
        values = [np.nan if number is None else number for _, number in read]
        if count := int(np.count_nonzero(kinds == STATUSES.index("unreadable"))):
            self.report.tell(
                "unreadable_number",
                "warning",
                "import",
                "a number is not in the notation of the file's other numbers",
                "its value is NULL; value_raw has the original text; see kernel_metric",
                occurrence_count=count,
            )
        return kinds, np.array(values, np.float64)[which]

    def _tell_failed(self, launches: PageLaunches, failed: Flags) -> None:
        """Report of launches that failed: every counter is nan."""
        self._failed += (count := int(np.count_nonzero(failed)))
        if count:
            self.report.tell(
                "failed_launch",
                "warning",
                "recording",
                "all counters of a launch are nan: the launch failed under the profiler",
                "its values are NULL; run the program without ncu first",
                occurrence_count=count,
                first_offset_bytes=int(launches.event_ids[np.argmax(failed)]),
            )

    def _metric_rows(self, launches: PageLaunches, cells: PageCells) -> Iterator[Batch]:
        """Yield a row for each cell."""
        if not (length := len(cells.metric)):
            return
        used, places = np.unique(cells.metric, return_inverse=True)
        metrics = [self._metrics[number] for number in used]
        numbers = pa.array(places)

        def of_metric(values: list[str | None]) -> pa.Array:
            return pa.array(values, TEXT).take(numbers) if any(values) else pa.nulls(length, TEXT)

        columns = {
            "event_id": pa.array(launches.event_ids[cells.launch], INT),
            "metric_name": of_metric([m.name for m in metrics]),
            "value": finite(cells.value),
            "unit": of_metric([m.unit for m in metrics]),
            "unit_raw": of_metric([m.unit_raw for m in metrics]),
            "section_name": of_metric([m.section for m in metrics]),
            "item_name": of_metric([m.item for m in metrics]),
            "status_kind": pa.array(STATUSES, TEXT).take(pa.array(cells.status)),
            "label_name": of_metric([m.label for m in metrics]),
            "min_value": finite(cells.least),
            "max_value": finite(cells.most),
            **_as_written(cells),
        }
        yield KERNEL_METRIC.name, batch(KERNEL_METRIC, columns, length)

    # -- counters that have a column ----------------------------------------------------------

    def _columns(self, launches: PageLaunches, cells: PageCells) -> dict[str, dict[str, Any]]:
        """Return values by table and column; ``status_json`` says why some are missing."""
        columns: dict[str, dict[str, Any]] = {"kernel": {}, "kernel_counter": {}}
        reasons: dict[int, dict[str, str]] = {}
        for (table, name), fillers in self._by_column(cells).items():
            if table == "device":
                self._note_device(launches, cells, name, fillers)
                continue
            column = PageColumn(name, len(launches))
            column.fill(cells, fillers)
            kind = (KERNEL if table == "kernel" else KERNEL_COUNTER).schema.field(name).type
            columns[table][name] = column.integers(self.notation) if kind == INT else column.reals()
            for launch, reason in column.reasons.items():
                reasons.setdefault(launch, {})[name] = reason
            self._tell_column(column)
            self._count(column, table, cells.failed)
        if reasons:
            texts = {at: _reasons_json(tuple(why.items())) for at, why in reasons.items()}
            found = pa.array(map(texts.get, range(len(launches))), TEXT)
            columns["kernel_counter"]["status_json"] = found
        return columns

    def _by_column(self, cells: PageCells) -> dict[tuple[str, str], list[Filler]]:
        """Return the metrics that fill each column, with the positions of their cells."""
        found: dict[tuple[str, str], list[Filler]] = {}
        for number, places in _places_by(cells.metric):
            metric = self._metrics[number]
            if metric.target is None:
                continue
            has_unit = metric.target.unit in (None, metric.unit)
            if not has_unit and (count := int(np.count_nonzero(cells.is_ok[places]))):
                self._tell_other_unit(metric, count)
            key = metric.target.table, metric.target.column
            found.setdefault(key, []).append(Filler(metric.target, metric.power, places, has_unit))
        return of_one_event(cells, found)

    def _note_device(
        self, launches: PageLaunches, cells: PageCells, column: str, fillers: Sequence[Filler]
    ) -> None:
        """Keep what a report says about a device: it is the same in each of its launches."""
        devices = launches.columns["device_id"].to_pylist()
        unknown = {device for device in devices if column not in self.devices[device]}
        for filler in sorted(fillers, key=lambda filler: filler.target.rank):
            for place in filler.places if unknown else ():
                device = devices[cells.launch[place]]
                value = _of_device(column, cells, int(place)) if device in unknown else None
                if value is not None:
                    self.devices[device][column] = value
                    unknown.remove(device)
                if not unknown:
                    break

    def _count(self, column: PageColumn, table: str, failed: Flags) -> None:
        """Count the launches that lack a counter, for `_tell_missing`."""
        if table == "kernel" and column.name != "dur_ns":
            return
        first = int(self._is_continued)
        reasons = [why for n, why in column.reasons.items() if n >= first and not failed[n]]
        told = sum(why in _TOLD for why in reasons)
        known = np.count_nonzero(np.isfinite(column.value[first:]))
        self._known_in[column.name] += int(known) + told
        missing = self._why.setdefault(column.name, Counter())
        missing.update(why for why in reasons if why not in _TOLD)

    # -- what to tell -------------------------------------------------------------------------

    def _tell_other_device(self, launch: Launch, known: str | None) -> None:
        self.report.tell(
            "several_devices",
            "warning",
            "recording",
            f"device {launch.device_id} has compute capability "
            f"{launch.compute_capability} here "
            f"and {known} before: the file mixes several machines",
            "ingest the reports one by one, each with its --device",
            first_offset_bytes=launch.event_id,
        )

    def _tell_other_unit(self, metric: _Metric, count: int) -> None:
        self.report.tell(
            "other_unit",
            "warning",
            "recording",
            f"{metric.name[:120]} is in {metric.unit_raw or 'no unit'!s}, not in "
            f"{metric.target.unit if metric.target else ''}",
            "no value is computed from it; kernel_metric keeps it unchanged",
            occurrence_count=count,
        )

    def _tell_column(self, column: PageColumn) -> None:
        """Report why a column has no value although its counters have."""
        if column.disagreeing:
            self.report.tell(
                "contradictory_metric",
                "warning",
                "recording",
                f"a counter appears twice with different values ({column.name})",
                "no value is computed from it; kernel_metric keeps both",
                occurrence_count=column.disagreeing,
            )
        if odd := list(column.reasons.values()).count("impossible"):
            self.report.tell(
                "impossible_value",
                "warning",
                "recording",
                f"{column.name} would be zero, negative or implausibly large",
                "no value is computed from it; kernel_metric keeps it unchanged",
                occurrence_count=odd,
            )

    def _tell_missing(self) -> None:
        """Report of counters that some launches have, or should have, and others have not."""
        for column, why in sorted(self._why.items()):
            missing = self.launch_count - self._failed - self._known_in[column]
            if missing <= 0:
                continue
            absent = missing - why.total()
            told = [f"{count} {reason}" for reason, count in sorted(why.items())]
            told += [f"{absent} without the counter"] if absent else []
            self.report.tell(
                "missing_counter",
                "warning",
                "recording",
                f"{column} is unknown for some launches ({', '.join(told)})",
                "values that need it are NULL there; kernel_counter.status_json says why",
                occurrence_count=missing,
            )


def _fewer(
    held: Sequence[_LaunchRows | DetailCells],
) -> Iterator[_LaunchRows | DetailCells]:
    """Yield rows; those of the details page as fewer parts, as each metric takes its own time."""
    parts: list[DetailCells] = []
    for rows in held:
        if isinstance(rows, DetailCells) and sum(map(len, parts)) < _MOST_CELLS:
            parts.append(rows)
            continue
        if parts:
            yield joined(parts)
        parts = [rows] if isinstance(rows, DetailCells) else []
        if not parts:
            yield rows
    if parts:
        yield joined(parts)


#: Where the pages of a report put their data.
Sink = EvidenceSink | Assembler


def _metric(section: str | None, label: str, unit: str, item: str) -> _Metric:
    read = unit_of(unit)
    name = metric_name(section, label, read.base, item)
    return _Metric(
        name,
        section,
        item or None,
        None if name == label else label,
        unit.strip() or None,
        read.base,
        read.power,
        target_of(name),
    )


def _places_by(metric: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each metric and the places of its cells."""
    is_sorted = bool((np.diff(metric) >= 0).all())  # as in rows of the raw page
    order = np.arange(len(metric)) if is_sorted else np.argsort(metric, kind="stable")
    starts = np.flatnonzero(np.diff(metric[order], prepend=-1))
    for places in np.split(order, starts)[1:]:
        yield int(metric[places[0]]), places


def _of_device(column: str, cells: PageCells, place: int) -> str | int | None:
    """Return the value of a cell that describes a device."""
    if column == "name":
        return cells.text(place) if cells.status[place] == STATUSES.index("text") else None
    number = cells.value[place]
    return int(number) if 0 < number < _MOST_DEVICE_UNITS else None


_MISSING = {
    "n/a": "not_available",
    "(!) n/a": "not_available",
    "no data": "not_available",
    "nan": "nan",
    "-nan": "nan",
    "inf": "nan",
    "-inf": "nan",
    "": "empty",
}
_LIKE_A_NUMBER = re.compile(r"[+-]?\d[\d.,' \u00a0\u202f\u2009\u2019]*(?:[eE][+-]?\d+)?")
_WITH_INSTANCES = re.compile(r"([^()]+) \(.*\)", re.DOTALL)


@lru_cache(maxsize=4096)
def _other(text: str, notation: Notation, power: int) -> tuple[str, float | None]:
    """Return the status and value of a cell that is not a plain number."""
    plain = text.strip()
    if known := _MISSING.get(plain.lower()):
        return known, None
    inner = _WITH_INSTANCES.fullmatch(plain)
    candidate = inner[1] if inner else plain
    number = values_of(pa.array([candidate], TEXT), notation, pa.array([power]))[0].as_py()
    if number is not None and np.isfinite(number):
        return "ok", float(number)
    return ("unreadable" if _LIKE_A_NUMBER.fullmatch(plain) else "text"), None


@lru_cache(maxsize=4096)
def _reasons_json(reasons: tuple[tuple[str, str], ...]) -> str:
    """Return columns and why they have no value; many launches have the same ones."""
    return json.dumps(dict(reasons), sort_keys=True)


def _as_written(cells: PageCells) -> dict[str, pa.Array]:
    """Return the texts of cells; of plain numbers, the format, from which the text follows."""
    if cells.plain is None:
        return {"value_raw": cells.texts(np.arange(len(cells.metric)))}
    is_plain = cells.plain.is_plain
    others = np.flatnonzero(~is_plain)
    place = np.zeros(len(is_plain), np.int64)
    place[others] = np.arange(len(others))
    return {
        "value_raw": cells.texts(others).take(pa.array(place, mask=is_plain)),
        "raw_format": pa.array(cells.plain.format, INT, mask=~is_plain),
    }


def _kernels(launches: PageLaunches, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    own = launches.columns
    both = {
        name: pc.coalesce(own[name], counted) if name in own else counted
        for name, counted in columns.items()
    }
    return batch(KERNEL, {**own, **both}, len(launches))


def _counters(kernels: pa.RecordBatch, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    repeated = {name: kernels.column(name) for name in ("event_id", *REPEATED)}
    return batch(KERNEL_COUNTER, {**repeated, **columns}, kernels.num_rows)


def _rule_rows(rules: Sequence[tuple[int, Rule]]) -> pa.RecordBatch:
    names = [part.name for part in fields(Rule)]
    columns = {name: [getattr(rule, name) for _, rule in rules] for name in names}
    columns["launch_event_id"] = [launch for launch, _ in rules]
    made = {name: pa.array(x, KERNEL_RULE.schema.field(name).type) for name, x in columns.items()}
    return batch(KERNEL_RULE, made, len(rules))
