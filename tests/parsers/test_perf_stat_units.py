"""Metrics and units of perf stat in base units."""

from __future__ import annotations

import pytest

from tracekit.parsers.perf_stat.names import is_metric_name
from tracekit.parsers.perf_stat.scopes import kind_of
from tracekit.parsers.perf_stat.units import Metric, UnitScale, event_scale, metric_of

RATIO, NS = UnitScale("ratio", -2), UnitScale("ns")


@pytest.mark.parametrize(
    ("label", "has_sign", "expected"),
    [
        ("insn per cycle", False, Metric("insn per cycle", UnitScale())),
        ("of all cache refs", True, Metric("of all cache refs", RATIO, "%")),
        ("of all cache refs", False, Metric("of all cache refs", RATIO)),
        ("branch-misses of all branches", False, Metric("branch-misses of all branches", RATIO)),
        ("Frontend Bound", False, Metric("Frontend Bound", RATIO)),
        ("CPUs utilized", False, Metric("CPUs utilized", UnitScale())),
        ("/sec", False, Metric("/sec", UnitScale("1/s"), "/sec")),
        ("K/sec", False, Metric("/sec", UnitScale("1/s", 3), "K/sec")),
        ("M/sec", False, Metric("/sec", UnitScale("1/s", 6), "M/sec")),
        ("G/sec", False, Metric("/sec", UnitScale("1/s", 9), "G/sec")),
        ("GHz", False, Metric("Hz", UnitScale("hz", 9), "GHz")),
        ("Ghz", False, Metric("Hz", UnitScale("hz", 9), "Ghz")),
        ("%  tma_retiring", False, Metric("tma_retiring", RATIO, "%")),
        ("tma_retiring", True, Metric("tma_retiring", RATIO, "%")),
        ("SMI cycles%", False, Metric("SMI cycles", RATIO, "%")),
        (
            "MB/s  memory_bandwidth",
            False,
            Metric("memory_bandwidth", UnitScale("byte/s", 6), "MB/s"),
        ),
        ("MiB/s  x", False, Metric("x", UnitScale("byte/s", 0, 1048576), "MiB/s")),
        ("ns  latency", False, Metric("latency", UnitScale("ns"), "ns")),
        ("GHz  cycles_frequency", False, Metric("cycles_frequency", UnitScale("hz", 9), "GHz")),
        ("cs/sec  cs_per_second", False, Metric("cs_per_second", UnitScale("1/s"), "cs/sec")),
        ("CPUs  CPUs_utilized", False, Metric("CPUs_utilized", UnitScale("CPUs"), "CPUs")),
    ],
)
def test_a_metric(label: str, has_sign: bool, expected: Metric) -> None:
    assert metric_of(label, has_sign) == expected


@pytest.mark.parametrize(
    ("key", "unit", "value", "expected"),
    [
        ("cycles", None, "402.603109", UnitScale()),
        ("task-clock", "msec", "402.6", UnitScale("ns", 6)),
        ("task-clock", None, "402.603109", UnitScale("ns", 6)),
        ("cpu-clock", "", "1.402,603109", UnitScale("ns", 6)),
        ("cpu-clock", None, "260,914,232", NS),
        ("task-clock", None, "260914232", NS),
        ("duration_time", "ns", "1", NS),
        ("duration_time", None, "1", NS),
        ("x/y/", "MiB", "1", UnitScale("byte", 0, 1048576)),
        ("power/energy-pkg/", "Joules", "1", UnitScale("J")),
        ("x/temp/", "C", "1", UnitScale("C")),
        ("x/y/", "furlongs", "1", UnitScale("furlongs")),
    ],
)
def test_the_unit_of_an_event(key: str, unit: str | None, value: str, expected: UnitScale) -> None:
    assert event_scale(key, unit, value) == expected


@pytest.mark.parametrize(
    ("scope", "kind"),
    [
        ("S0", "socket"),
        ("S0-D1", "die"),
        ("S0-D0-C12", "core"),
        ("S0-C1", "core"),
        ("N1", "node"),
        ("CPU3", "cpu"),
        ("S0-D0-CLS2", "cluster"),
        ("S0-D0-L3-ID16", "cache"),
        ("bash-1234", "thread"),
        ("Web Content-77", "thread"),
    ],
)
def test_the_kind_of_a_scope(scope: str, kind: str) -> None:
    assert kind_of(scope) == kind


def test_names_in_the_header_of_a_table() -> None:
    names = ["insn per cycle", "GHz", "%  tma_retiring", "frontend bound", "a-b of all branches"]
    assert all(map(is_metric_name, names))
    assert not any(map(is_metric_name, ["", "hello world", "1.5", "cycles"]))
