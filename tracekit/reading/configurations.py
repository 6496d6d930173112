"""Configurations of a sweep as rows: what the parsers of benchmarks' results share.

What a number is, whether a value was set (a label) or measured (a metric), the unit that a name
says, and the rows of `configuration` and `configuration_value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.reading.issues import skip_damaged_row
from tracekit.reading.text.json_values import as_json, text_of
from tracekit.schema import CONFIGURATION, CONFIGURATION_VALUE, INT, REAL, TEXT

#: A word of a name that a measurement has, or the unit that its name ends with.
_MEASURED = re.compile(
    r"(?ix)(?:^|[\s_.\-/(\[])(?:flops?|[gt]flops?|time|times|duration|latency|throughput|speed|"
    r"speedup|bandwidth|intensity|utili[sz]ation|efficiency|accuracy|loss|perplexity|score|mean|"
    r"median|stddev|std|avg|average|perc|percent|ratio|share|rate|power|energy|memory|qps|ips|"
    r"(?:images?|examples?|samples?|tokens?|steps?)[_/ ](?:per[_ ])?s(?:ec|econd)?)"
    r"(?:$|[\s_.\-/)\]])"
    r"|[\s_.\-/(\[](?:ns|us|µs|ms|s|sec|secs|seconds?|min|hours?|[kmgt]?i?b|bytes|[kmg]?hz|w|watts?|"
    r"j|joules?|%)[)\]]?$"
)
_WHOLE = re.compile(r"[-+]?\d+")
#: Texts in place of a value that was not measured.
_NO_FIGURES = frozenset(
    ("nan", "inf", "+inf", "-inf", "infinity", "-infinity", "na", "n/a", "null", "none", "-", "?")
)
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?")
#: A number, or what stands for one that cannot be read: NaN, a decimal comma.
_LIKE_NUMBER = re.compile(rf"(?i){NUMBER.pattern}|[-+]?(?:nan|inf(?:inity)?|\d+,\d+)")
_NUMBERS = f"^{NUMBER.pattern}$"
_ROWS_AT_ONCE = 1 << 14  # configurations
_SHOWN = 40


def role_of_values(name: str, texts: Sequence[str]) -> str:
    """Label or metric: what values are, by their name, then by themselves.

    Words and whole numbers are set, numbers with a fraction are measured.
    """
    told = [text for text in texts if text.lower() not in _NO_FIGURES]
    if _MEASURED.search(name.strip()) and any(_LIKE_NUMBER.fullmatch(text) for text in texts):
        return "metric"
    if not told:  # NaN is a measurement that went wrong
        return "metric" if any(map(_LIKE_NUMBER.fullmatch, texts)) else "label"
    are_numbers = all(NUMBER.fullmatch(text) for text in told)
    return "metric" if are_numbers and not all(map(_WHOLE.fullmatch, told)) else "label"


_UNIT_IN_BRACKETS = re.compile(r"[\[(]([^\])]{1,20})[\])]\s*$")
_UNITS = {
    "ns": "ns",
    "us": "us",
    "µs": "us",
    "ms": "ms",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "bytes": "byte",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "hz": "hz",
    "mhz": "MHz",
    "ghz": "GHz",
    "perc": "%",
    "percent": "%",
    "pct": "%",
    "ratio": "ratio",
    "gflops": "GFLOP/s",
    "tflops": "TFLOP/s",
    "w": "W",
    "watts": "W",
    "j": "J",
}


@lru_cache(maxsize=1024)
def unit_of(name: str) -> str | None:
    """The unit that a name says."""
    if found := _UNIT_IN_BRACKETS.search(name):
        return found[1].strip()
    words = re.split(r"[\s_]+", name.strip().lower())
    unit = _UNITS.get(words[-1])
    if unit is not None and len(words) > 2 and words[-2] == "per":
        return f"{words[-3]}/{unit}"
    return unit if len(words) > 1 else None


def numbers_of(texts: pa.Array) -> pa.Array:
    """The finite number that each text is; NULL if it is none."""
    is_number = pc.fill_null(pc.match_substring_regex(texts, _NUMBERS), False)
    numbers = pc.if_else(is_number, texts, pa.scalar(None, TEXT)).cast(REAL)
    is_finite = pc.fill_null(pc.is_finite(numbers), False)
    return pc.if_else(is_finite, numbers, pa.scalar(None, REAL))


def clean(texts: pa.Array) -> pa.Array:
    """The texts without spaces around them; NULL for none."""
    trimmed = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, TEXT), trimmed)


def tell_no_number(report: Report, name: str, odd: pa.Array) -> None:
    """A metric's values that are no number: a failure's word, NaN, a list."""
    if len(odd):
        report.tell(
            "no_number",
            "warning",
            "recording",
            f"values of the metric {name!r} that are not numbers, such as "
            f"{odd[0].as_py()[:_SHOWN]!r}",
            "they count as missing",
            occurrence_count=len(odd),
        )


class Measured(NamedTuple):
    """A metric's value, as it is in the file, and its unit; None if it says none."""

    value: Any
    unit: str | None = None


def measured(values: Mapping[str, Any]) -> dict[str, Measured]:
    """Metrics whose units are what their names say."""
    return {name: Measured(value, unit_of(name)) for name, value in values.items()}


class ConfigurationRows:
    """Configurations being gathered, one after another, as rows of both tables."""

    def __init__(self, report: Report) -> None:
        """Begin; each configuration is counted as an event in `report`."""
        self._report = report
        self._empty()

    def _empty(self) -> None:
        self._configurations: list[tuple[int, str | None, bool, str | None]] = []
        # The columns of `configuration_value`, without the numbers.
        self._places: list[int] = []
        self._names: list[str] = []
        self._roles: list[str] = []
        self._texts: list[str] = []
        self._units: list[str | None] = []

    def add(
        self,
        name: str | None,
        labels: Mapping[str, Any],
        metrics: Mapping[str, Measured],
        status_text: str | None = None,
        *,
        has_failed: bool = False,
    ) -> None:
        """One configuration; values that are None are not there."""
        place = self._report.event_count
        self._report.event_count += 1
        self._configurations.append((place, name, has_failed, status_text))
        for label, value in labels.items():
            self._keep(place, label, "label", value, None)
        for metric, (value, unit) in metrics.items():
            self._keep(place, metric, "metric", value, unit)

    def _keep(self, place: int, name: str, role: str, value: Any, unit: str | None) -> None:
        if (text := text_of(value)) is not None:
            self._places.append(place)
            self._names.append(name)
            self._roles.append(role)
            self._texts.append(text)
            self._units.append(unit)

    def skip_damaged(self, what: str) -> None:
        """What was found where a configuration should be, and gives no row."""
        skip_damaged_row(self._report, f"{what}, skipped", "the file is damaged: get a new copy")

    def batches(self, *, is_last: bool = False) -> Iterator[Batch]:
        """The rows so far, if they are many or the last."""
        if len(self._configurations) < _ROWS_AT_ONCE and not is_last:
            return
        if self._configurations:
            values = self._value_rows()
            yield CONFIGURATION.name, self._configuration_rows(values)
            if values.num_rows:
                yield CONFIGURATION_VALUE.name, values
        self._empty()

    def _value_rows(self) -> pa.RecordBatch:
        told = clean(pa.array(self._texts, TEXT))
        batch = pa.RecordBatch.from_arrays(
            [
                pa.array(self._places, INT),
                pa.array(self._names, TEXT),
                pa.array(self._roles, TEXT),
                told,
                numbers_of(told),
                pa.array(self._units, TEXT),
            ],
            schema=CONFIGURATION_VALUE.schema,
        ).filter(pc.is_valid(told))
        self._tell_odd(batch)
        return batch

    def _tell_odd(self, batch: pa.RecordBatch) -> None:
        is_odd = pc.and_(pc.equal(batch["role_kind"], "metric"), pc.is_null(batch["value"]))
        odd = batch.filter(is_odd)
        for name in odd["column_name"].unique():
            of_it = odd.filter(pc.equal(odd["column_name"], name))
            tell_no_number(self._report, name.as_py(), of_it["value_text"])

    def _configuration_rows(self, values: pa.RecordBatch) -> pa.RecordBatch:
        places, names, failures, texts = zip(*self._configurations, strict=True)
        ids = pa.array(places, INT)
        is_figure = pc.and_(pc.equal(values["role_kind"], "metric"), pc.is_valid(values["value"]))
        has_figure = pc.is_in(ids, pc.filter(values["event_id"], is_figure))
        is_ok = pc.and_(has_figure, pa.array(np.logical_not(failures)))
        return pa.RecordBatch.from_arrays(
            [
                ids,
                clean(pa.array(names, TEXT)),
                pc.if_else(is_ok, "ok", "failed"),
                clean(pa.array(texts, TEXT)),
            ],
            schema=CONFIGURATION.schema,
        )


def tell_single_times(report: Report, of_what: str) -> None:
    """That times are in the file, statistics of which are metrics."""
    what = f"times of single {of_what}, skipped"
    report.tell("single_times", "info", "import", what, "their statistics are kept")


def results_facts(report: Report, tool: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What a file of results says about itself: facts for `report`."""
    return {
        "profiler_name": tool,
        "recording_kind": "results",
        "is_complete": report.is_whole(),
        "metadata_json": as_json(metadata) if metadata else None,
    }
