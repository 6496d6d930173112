"""Inference: LoadGen's summary and detail log of a test.

Layouts: loadgen/results.cc and loadgen/test_settings_internal.cc of mlcommons/inference. Labels
and metrics have the names that they have in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tracekit.parser import Report
from tracekit.parsers.mlperf.sniffing import is_title
from tracekit.reading.configurations import NUMBER, ConfigurationRows, Measured, unit_of
from tracekit.reading.text.json_values import Number, object_in

_PAIR = re.compile(r"\s*(?:\* )?([^:]{1,200}?)\s*:\s*(\S.{0,1000})")
_PARAMETERS = "Test Parameters Used"
_RESULT = "Result is"
_ADVICE = "Recommendations:"
_PERFORMANCE = "PerformanceOnly"
_MOST_REASONS = 8
_SHOWN = 80


@dataclass(slots=True)
class _Test:
    """One test; `reasons` say why its result is not valid."""

    labels: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Measured] = field(default_factory=dict)
    validity: str | None = None
    reasons: list[str] = field(default_factory=list)

    def measure(self, name: str, value: str) -> None:
        """Keep a number as a metric."""
        self.metrics[name] = Measured(value, unit_of(name))

    def add_to(self, rows: ConfigurationRows, name_label: str, mode_label: str) -> None:
        """The test as a configuration."""
        name, mode = self.labels.get(name_label), self.labels.get(mode_label)
        failure = None
        if isinstance(mode, str) and mode != _PERFORMANCE:
            failure = f"{mode}: no performance is measured"
        elif self.validity is None:
            failure = "not finished: no result"
        elif self.validity != "VALID":
            why = ", ".join(dict.fromkeys(self.reasons[:_MOST_REASONS]))
            failure = f"{self.validity}: {why}" if why else self.validity
        rows.add(
            name if isinstance(name, str) else None,
            self.labels,
            self.metrics,
            failure,
            has_failed=failure is not None,
        )


class DetailLog:
    """Events of ``mlperf_log_detail.txt``, test by test; ``said`` describes LoadGen."""

    def __init__(self, rows: ConfigurationRows, report: Report) -> None:
        """Start empty; completed tests go to `rows`."""
        self.said: dict[str, Any] = {}
        self._rows = rows
        self._report = report
        self._test: _Test | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        key, value = event["key"], event.get("value")
        if key == "loadgen_version":
            self.end()
        if self._test is None:
            self._test = _Test()
        if key in ("loadgen_version", "test_datetime"):
            self.said.setdefault(key, value)
        self._tell_trouble(event)
        _settle(self._test, key, value)

    def end(self) -> None:
        """End the test."""
        test, self._test = self._test, None
        if test is not None:
            test.add_to(self._rows, "sut_name", "effective_test_mode")

    def _tell_trouble(self, event: Mapping[str, Any]) -> None:
        said = object_in(event, "metadata")
        first = f"the first is {event['key']}: {event.get('value')}"[:_SHOWN]
        if said.get("is_error") is True:
            code, what = "profiler_error", "errors"
        elif said.get("is_warning") is True:
            code, what = "profiler_warning", "warnings"
        else:
            return
        message = f"LoadGen reported {what} in the test"
        self._report.tell(code, "warning", "recording", message, first)


def _settle(test: _Test, key: str, value: Any) -> None:
    """Add what one event of the detail log says about the test."""
    if key == "result_validity":
        test.validity = str(value)
    elif key == "result_invalid_reason" and isinstance(value, str) and value.strip():
        test.reasons.append(value.strip().removesuffix("."))
    elif key.endswith("_met") and value is False:
        test.reasons.append(f"{key.removeprefix('result_')}: no")
    elif key.startswith("result_") and isinstance(value, Number):
        test.measure(key, value)
    elif isinstance(value, str | bool) and (
        key.startswith("effective_") or key in ("sut_name", "qsl_name")
    ):
        test.labels[key] = value


class Summary:
    """Lines of ``mlperf_log_summary.txt``, test by test."""

    def __init__(self, rows: ConfigurationRows) -> None:
        """Start empty; completed tests go to `rows`."""
        self._rows = rows
        self._test: _Test | None = None
        self._part = ""

    def take(self, line: str) -> None:
        """Read one line, of a summary or of anything else."""
        if is_title(line):
            self.end()
            self._test, self._part = _Test(), ""
        elif self._test is None:
            return
        elif line.strip() in (_PARAMETERS, _ADVICE):
            self._part = line.strip()
        elif self._part == _ADVICE and line.startswith(" * "):
            self._test.reasons.append(line[3:].strip().removesuffix("."))
        else:
            self._part = "" if self._part == _ADVICE else self._part
            if found := _PAIR.fullmatch(line):
                self._pair(self._test, found[1], found[2].strip())

    def _pair(self, test: _Test, name: str, value: str) -> None:
        """Take a name and a value; words before the parameters are labels, as are parameters."""
        if name == _RESULT:
            test.validity = value
        elif name.endswith("satisfied"):
            if value.lower() != "yes":
                test.reasons.append(f"{name}: {value.lower()}")
        elif self._part != _PARAMETERS and NUMBER.fullmatch(value):
            test.measure(name, value)
        else:
            test.labels[name] = value

    def end(self) -> None:
        """End the test."""
        test, self._test = self._test, None
        if test is not None:
            test.add_to(self._rows, "SUT name", "Mode")
