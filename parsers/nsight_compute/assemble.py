"""Turns launches, metric cells and advice into batches of the store's tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.parsers.nsight_compute.columns import (
    Filler,
    Flags,
    Floats,
    Ints,
    PageCells,
    PageColumn,
    of_one_event,
)
from tracekit.parsers.nsight_compute.metrics import Target, is_whole, metric_name, target_of
from tracekit.reading.text.numbers import Evidence, Notation, as_floats, finite, values_of
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
    batch_of_rows,
)

_MOST_CELLS = 1 << 17
_MOST_LAUNCHES = 1 << 14
_MOST_KEYS = 1 << 16
_MOST_IN_A_LAUNCH = 1 << 19
_MOST_DEVICE_UNITS = 1 << 20
#: Reasons that have a separate issue.
_TOLD = frozenset(("contradictory", "other_unit", "impossible", "unreadable"))


@dataclass(slots=True)
class Launch:
    """One result of a report: a kernel launch, or a range or graph of several."""

    event_id: int
    name: str | None
    launch_index: int | None = None
    launch_count: int = 1  # for a summary: launches averaged in the values
    process_id: int | None = None
    context_id: int | None = None
    stream_id: int | None = None
    device_id: int | None = None
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    compute_capability: str | None = None
    args_json: str | None = None

    @property
    def key(self) -> int | None:
        """A key that is the same for this launch in every export of its report."""
        if self.process_id is None or self.launch_index is None or self.name is None:
            return None
        text = f"{self.process_id}\0{self.launch_index}\0{self.name}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> 1


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

    # -- batches ------------------------------------------------------------------------------

    def full_batches(self) -> Iterator[Batch]:
        """Yield the rows of all launches but the last, which may continue, if there are enough."""
        if len(self._cells) > _MOST_CELLS or len(self._launches) > _MOST_LAUNCHES:
            yield from self._batches(len(self._launches) - 1)
        if len(self._cells) > _MOST_IN_A_LAUNCH or len(self._metrics) > _MOST_KEYS:
            last = self._launches[-1]  # no report has this many of one launch
            yield from self._batches(len(self._launches))
            self._launches, self._of_launch, self._is_continued = [last], [(0, 0)], True

    def last_batches(self) -> Iterator[Batch]:
        """Yield the remaining rows."""
        yield from self._batches(len(self._launches))
        self._tell_missing()

    def _batches(self, count: int) -> Iterator[Batch]:
        """Yield the rows of the first `count` launches and forget them."""
        if not count:
            return
        is_all = count == len(self._launches)
        cut = len(self._cells) if is_all else self._of_launch[count][0]
        rules = len(self._rules) if is_all else self._of_launch[count][1]
        launches = self._launches[:count]
        cells = self._read(launches, cut)
        if not self._is_continued or count > 1:
            columns = self._columns(launches, cells)
            first = int(self._is_continued)
            kernels = _kernels(launches, columns["kernel"]).slice(first)
            yield KERNEL.name, kernels
            counters = {
                name: values.slice(first) for name, values in columns["kernel_counter"].items()
            }
            yield KERNEL_COUNTER.name, _counters(kernels, counters)
        if cut:
            yield KERNEL_METRIC.name, self._metric_rows(launches, cells)
        if rules:
            yield KERNEL_RULE.name, _rule_rows(self._rules[:rules])
        self._forget(count, cut, rules)

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

    def _read(self, launches: Sequence[Launch], cut: int) -> PageCells:
        starts = [at for at, _ in self._of_launch[: len(launches)]]
        counts = np.diff([*starts, cut])
        metric = np.array(self._keys[:cut], np.int64)
        raw = pa.array(self._cells[:cut], TEXT)
        powers = np.array([m.power for m in self._metrics] or [0])[metric]
        shifts = pa.array(powers) if powers.any() else None
        values = values_of(raw, self.notation, shifts)
        status = np.full(cut, "ok", object)
        numbers = as_floats(values)
        others = np.flatnonzero(~np.isfinite(numbers))
        if len(others):
            self._read_others(raw, others, powers, numbers, status)
        rows = np.repeat(np.arange(len(launches)), counts)
        failed = np.bincount(rows[status == "nan"], minlength=len(launches))
        times = np.array([launch.launch_count for launch in launches], np.int64)
        cells = PageCells(
            rows,
            metric,
            raw,
            numbers,
            status,
            (failed == counts) & (counts > 0),
            times,
            *self._extremes(cut, metric),
        )
        self._tell_failed(launches, cells.failed)
        return cells

    def _extremes(self, cut: int, metric: Ints) -> tuple[Floats, Floats]:
        """Return the minimum and maximum behind each cell that is a mean; otherwise NaN."""
        both = np.full(cut, np.nan), np.full(cut, np.nan)
        spreads = [(at, spread) for at, spread in self._spreads if at < cut]
        if not spreads:
            return both
        places = np.array([at for at, _ in spreads], np.int64)
        powers = pa.array(np.array([m.power for m in self._metrics])[metric[places]])
        for found, texts in zip(
            both,
            zip(*((spread.least, spread.most) for _, spread in spreads), strict=True),
            strict=True,
        ):
            values = values_of(pa.array(texts, TEXT), self.notation, powers)
            found[places] = as_floats(values)
        return both

    def _read_others(
        self, raw: pa.Array, others: Ints, powers: Ints, numbers: Floats, status: Any
    ) -> None:
        """Read the cells that are not plain numbers."""
        texts = raw.take(pa.array(others)).to_pylist()
        for place, text, power in zip(others, texts, powers[others], strict=True):
            kind, number = _other(text, self.notation, int(power))
            status[place], numbers[place] = kind, np.nan if number is None else number
            if kind == "unreadable":
                self.report.tell(
                    "unreadable_number",
                    "warning",
                    "import",
                    "a number is not in the notation of the file's other numbers",
                    "its value is NULL; value_raw has the original text; see kernel_metric",
                )

    def _tell_failed(self, launches: Sequence[Launch], failed: Flags) -> None:
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
                first_offset_bytes=launches[int(np.argmax(failed))].event_id,
            )

    def _metric_rows(self, launches: Sequence[Launch], cells: PageCells) -> pa.RecordBatch:
        length = len(cells.raw)
        ids = np.array([launch.event_id for launch in launches], np.int64)
        used, places = np.unique(cells.metric, return_inverse=True)
        metrics = [self._metrics[number] for number in used]

        def of_metric(values: list[str | None]) -> pa.Array:
            return pa.array(values, TEXT).take(pa.array(places))

        columns = {
            "event_id": pa.array(ids[cells.launch], INT),
            "metric_name": of_metric([m.name for m in metrics]),
            "value": finite(cells.value),
            "unit": of_metric([m.unit for m in metrics]),
            "value_raw": cells.raw,
            "unit_raw": of_metric([m.unit_raw for m in metrics]),
            "section_name": of_metric([m.section for m in metrics]),
            "item_name": of_metric([m.item for m in metrics]),
            "status_kind": pa.array(cells.status, TEXT),
            "label_name": of_metric([m.label for m in metrics]),
            "min_value": finite(cells.least),
            "max_value": finite(cells.most),
        }
        return batch(KERNEL_METRIC, columns, length)

    # -- counters that have a column ----------------------------------------------------------

    def _columns(self, launches: Sequence[Launch], cells: PageCells) -> dict[str, dict[str, Any]]:
        """Return values by table and column; ``status_json`` says why some are missing."""
        columns: dict[str, dict[str, Any]] = {"kernel": {}, "kernel_counter": {}}
        reasons: list[dict[str, str]] = [{} for _ in launches]
        for (table, name), fillers in self._by_column(cells).items():
            if table == "device":
                self._note_device(launches, cells, name, fillers)
                continue
            column = PageColumn(name, len(launches))
            column.fill(cells, fillers)
            kind = (KERNEL if table == "kernel" else KERNEL_COUNTER).schema.field(name).type
            columns[table][name] = column.integers(self.notation) if kind == INT else column.reals()
            for launch, reason in column.reasons.items():
                reasons[launch][name] = reason
            self._tell_column(column)
            self._count(column, table, cells.failed)
        columns["kernel_counter"]["status_json"] = pa.array(
            [json.dumps(why, sort_keys=True) if why else None for why in reasons], TEXT
        )
        return columns

    def _by_column(self, cells: PageCells) -> dict[tuple[str, str], list[Filler]]:
        """Return the metrics that fill each column, with the positions of their cells."""
        found: dict[tuple[str, str], list[Filler]] = {}
        order = np.argsort(cells.metric, kind="stable")
        used, starts = np.unique(cells.metric[order], return_index=True)
        for number, places in zip(used, np.split(order, starts)[1:], strict=True):
            metric = self._metrics[number]
            if metric.target is None:
                continue
            has_unit = metric.target.unit in (None, metric.unit)
            if not has_unit and (count := int(np.count_nonzero(cells.status[places] == "ok"))):
                self._tell_other_unit(metric, count)
            key = metric.target.table, metric.target.column
            found.setdefault(key, []).append(Filler(metric.target, metric.power, places, has_unit))
        return of_one_event(cells, found)

    def _note_device(
        self, launches: Sequence[Launch], cells: PageCells, column: str, fillers: Sequence[Filler]
    ) -> None:
        """Keep what a report says about a device: it is the same in each of its launches."""
        for filler in sorted(fillers, key=lambda filler: filler.target.rank):
            for place in filler.places:
                known = self.devices[launches[cells.launch[place]].device_id]
                if column not in known:
                    value = _of_device(column, cells, int(place))
                    known |= {} if value is None else {column: value}

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


def _of_device(column: str, cells: PageCells, place: int) -> str | int | None:
    """Return the value of a cell that describes a device."""
    if column == "name":
        return cells.raw[place].as_py() if cells.status[place] == "text" else None
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


def _kernels(launches: Sequence[Launch], columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    made: dict[str, pa.Array] = {
        "event_id": pa.array([launch.event_id for launch in launches], INT),
        "name": pa.array([launch.name for launch in launches], TEXT),
        "launch_count": pa.array([launch.launch_count for launch in launches], INT),
        "launch_key": pa.array([launch.key for launch in launches], INT),
        "args_json": pa.array([launch.args_json for launch in launches], TEXT),
    }
    for name in ("launch_index", "process_id", "context_id", "stream_id", "device_id"):
        made[name] = pa.array([getattr(launch, name) for launch in launches], INT)
    for what in ("grid", "block"):
        for index, axis in enumerate("xyz"):
            sizes = [getattr(launch, what) for launch in launches]
            own = pa.array([None if size is None else size[index] for size in sizes], INT)
            counted = columns.get(f"{what}_{axis}")
            made[f"{what}_{axis}"] = own if counted is None else pc.coalesce(own, counted)
    for name, values in columns.items():
        made.setdefault(name, values)
    return batch(KERNEL, made, len(launches))


def _counters(kernels: pa.RecordBatch, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    repeated = {name: kernels.column(name) for name in ("event_id", *REPEATED)}
    return batch(KERNEL_COUNTER, {**repeated, **columns}, kernels.num_rows)


def _rule_rows(rules: Sequence[tuple[int, Rule]]) -> pa.RecordBatch:
    return batch_of_rows(
        KERNEL_RULE, [{"launch_event_id": launch, **asdict(rule)} for launch, rule in rules]
    )
