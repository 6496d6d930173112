"""Rows of the metrics that perf computes: insn per cycle, of all branches, tma_retiring."""

from __future__ import annotations

import json
import re

from tracekit.parsers.perf_stat.assemble import CounterSeries
from tracekit.parsers.perf_stat.units import metric_of
from tracekit.spelling import Spelling

_PMU_OF_GROUP = re.compile(r".* \((\w+)\)")


def metric_series(
    label: str,
    event: CounterSeries | None = None,
    *,
    has_sign: bool = False,
    scope_name: str | None = None,
    scope_cpu_count: int | None = None,
    cgroup_name: str | None = None,
    group: str | None = None,
    is_cut: bool = False,
) -> CounterSeries:
    """Return the series of a metric in the line of `event`, or alone.

    `group` is the group of metrics it is printed under: ``TopdownL1 (cpu_core)``; `is_cut`: perf
    omits the decimals of its value.
    """
    metric = metric_of(label, has_sign)
    pmu = event.spelling.pmu_name if event is not None and event.spelling is not None else None
    if event is not None:
        scope_name, scope_cpu_count = event.scope_name, event.scope_cpu_count
        cgroup_name = event.cgroup_name
    elif group is not None and (found := _PMU_OF_GROUP.fullmatch(group)):
        pmu = found[1]
    return CounterSeries(
        "metric",
        metric.name,
        metric.scale,
        metric.unit_raw,
        Spelling("", pmu),
        None if event is None else event.name,
        scope_name,
        scope_cpu_count,
        cgroup_name,
        None if group is None else json.dumps({"metricgroup": group}, ensure_ascii=False),
        is_cut,
    )
