"""input_pipeline.pb, overview_page.pb and pod_viewer.json: steps and their parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracekit.parser import Report
from tracekit.parsers.tensorflow_tools.messages import GENERIC_STEP, TPU_STEP, kind_in_any
from tracekit.parsers.tensorflow_tools.rows import (
    Numbers,
    TableRow,
    as_json,
    damaged,
    device_row,
    diagnostics,
    figures,
)
from tracekit.reading.protowire import Decoded, Decoder
from tracekit.reading.text.json_values import object_in, objects_in

#: Parts of a step on any hardware; their sum is the step. Parts that old versions lack are rows
#: only if present.
_GENERIC_PARTS = {
    "unknown_time_ms": "other",
    "infeed_ms": "infeed",
    "host_wait_input_ms": "infeed",
    "host_to_device_ms": "host_to_device",
    "output_ms": "outfeed",
    "device_compute_ms": "compute",
    "device_to_device_ms": "device_to_device",
    "device_collectives_ms": "collective",
    "host_compute_ms": "host_compute",
    "host_prepare_ms": "host_prepare",
    "host_compile_ms": "compile",
}
_NOT_IN_EVERY_VERSION = frozenset(
    ("infeed_ms", "host_wait_input_ms", "host_to_device_ms", "device_collectives_ms")
)
#: Parts of a step on a TPU; their sum is the profiler's time of the step (StepTimeMs of
#: tpu_step_details_utils.h).
_TPU_PARTS = {
    "tc_compute_time_ms": "compute",
    "scv0_compute_time_ms": "compute",
    "tc_infeed_time_ms": "infeed",
    "scv0_infeed_time_ms": "infeed",
    "all_reduce_compute_time_ms": "collective",
    "all_reduce_sync_time_ms": "collective",
    "tc_outfeed_time_ms": "outfeed",
    "tc_idle_time_ms": "idle",
}
_UNIT_ENDS = ("_time_ms", "_ms")
_BULK = frozenset(
    ("step_details", "input_op_details", "top_device_ops", "reports", "with_idle", "without_idle")
)


# -- input_pipeline.pb ----------------------------------------------------------------------------


def input_pipeline(root: Decoded, decoder: Decoder, report: Report) -> Iterator[TableRow]:
    """Yield steps with their parts, input operators, the page's values, and the device."""
    if name := root.get("hardware_type"):
        yield device_row(name)
    yield from _input_rows(root, decoder, report)


def _input_rows(root: Decoded, decoder: Decoder, report: Report) -> Iterator[TableRow]:
    numbers = Numbers(report)
    for one in root.parts("step_details"):
        yield from _step(one, decoder, numbers)
    for one in root.parts("input_op_details"):
        if one.is_broken or not one.get("op_name"):
            damaged(report, one.offset_bytes)
        else:
            yield "op_stat", _input_op(one, numbers)
    yield from _figures_of(root, numbers)
    yield from _figures_of(root.part("input_time_breakdown"), numbers)
    for name, unit in (("step_time", "_ms"), ("input_share", "_percent")):
        field = "step_time_summary" if unit == "_ms" else "input_percent_summary"
        yield from _summary(root.part(field), name, unit, numbers)
    diagnostics(report, root.part("diagnostics").values)


def _figures_of(found: Decoded, numbers: Numbers, **more: Any) -> Iterator[TableRow]:
    if found.figures_offset_bytes >= 0:
        yield from figures(found.values, numbers, found.figures_offset_bytes, **more)


def _summary(found: Decoded, name: str, unit: str, numbers: Numbers) -> Iterator[TableRow]:
    """Yield average, standard deviation, minimum and maximum as series of one counter."""
    for series, value in found.values.items():
        more = {"event_name": name, "series_name": series}
        place = found.figures_offset_bytes
        for table, row in figures({series + unit: value}, numbers, place):
            yield table, row | more


def _input_op(one: Decoded, numbers: Numbers) -> dict[str, Any]:
    percent = {key: value for key, value in one.values.items() if key.endswith("_percent")}
    return {
        "event_id": one.offset_bytes,
        "op_kind": "framework",
        "side_kind": "host",
        "name": one.get("op_name"),
        "category_name": one.get("category"),
        "occurrence_count": numbers.whole(one.get("count", 0)),
        "dur_ns": numbers.ns(one.get("time_in_ms", 0.0), "ms"),
        "self_ns": numbers.ns(one.get("self_time_in_ms", 0.0), "ms"),
        "args_json": as_json(percent),
    }


def _step(one: Decoded, decoder: Decoder, numbers: Numbers) -> Iterator[TableRow]:
    """Yield one step: a google.protobuf.Any with one of two messages."""
    kind = kind_in_any(one.get("type_url", ""))
    if one.is_broken or "value" not in one.values:
        damaged(numbers.report, one.offset_bytes)
    elif kind is not GENERIC_STEP and kind is not TPU_STEP:
        numbers.report.event_count += 1
        numbers.report.tell(
            "unknown_record",
            "warning",
            "import",
            f"steps of an unknown kind: {one.get('type_url', '')[:200]!r}",
            "a newer profiler wrote them; they are skipped",
            skipped_event_count=1,
            first_offset_bytes=one.offset_bytes,
        )
    else:
        start, end = one.get("value")
        step = decoder.read(kind, start, end, one.offset_bytes)
        if step.is_broken:
            damaged(numbers.report, one.offset_bytes)
        else:
            yield from _generic(step, numbers) if kind is GENERIC_STEP else _tpu(step, numbers)


def _generic(step: Decoded, numbers: Numbers) -> Iterator[TableRow]:
    yield from _step_rows(
        step,
        numbers,
        step.get("step_time_ms", 0.0),
        {
            name: kind
            for name, kind in _GENERIC_PARTS.items()
            if name in step.values or name not in _NOT_IN_EVERY_VERSION
        },
    )


def _tpu(step: Decoded, numbers: Numbers) -> Iterator[TableRow]:
    total = sum(step.get(name, 0.0) for name in _TPU_PARTS)
    yield from _step_rows(step, numbers, total, _TPU_PARTS)
    others = {
        name: value
        for name, value in step.values.items()
        if name not in _TPU_PARTS and isinstance(value, float)
    }
    facts = {
        name: step.get(name) for name in ("coreid_max_infeed_time", "max_infeed_time_core_name")
    }
    if others:
        yield from figures(
            others,
            numbers,
            step.figures_offset_bytes,
            scope_name=f"step {step.get('step_number', 0)}",
            args_json=as_json({name: value for name, value in facts.items() if value is not None}),
        )


def _step_rows(
    step: Decoded, numbers: Numbers, total_ms: float, parts: dict[str, str]
) -> Iterator[TableRow]:
    number = numbers.signed(step.get("step_number", 0))
    place = step.offset_bytes
    yield (
        "step",
        {
            "event_id": place,
            "step_index": number,
            "step_kind": "reported",
            "dur_ns": numbers.ns(total_ms, "ms"),
        },
    )
    for name, kind in parts.items():
        yield (
            "step_part",
            {
                "event_id": place,
                "step_index": number,
                "part_name": _plain_name(name),
                "part_kind": kind,
                "dur_ns": numbers.ns(step.get(name, 0.0), "ms"),
            },
        )


def _plain_name(name: str) -> str:
    end = next((end for end in _UNIT_ENDS if name.endswith(end)), "")
    return name.removesuffix(end)


# -- overview_page.pb -----------------------------------------------------------------------------


def overview_page(root: Decoded, decoder: Decoder, report: Report) -> Iterator[TableRow]:
    """Yield the page's content: the input analysis with steps, values, largest operators."""
    numbers = Numbers(report)
    environment = root.part("run_environment")
    hosts = [one.get("key") for one in environment.parts("hostnames")]
    jobs = [one.get("host_id") for one in environment.parts("host_dependent_job_info")]
    name = environment.get("device_type") or root.part("input_analysis").get("hardware_type")
    if name:
        known = {one for one in (*hosts, *jobs) if one}
        yield device_row(
            name, environment.plain(), host_name=known.pop() if len(known) == 1 else None
        )
    yield from _input_rows(root.part("input_analysis"), decoder, report)
    analysis = root.part("analysis")
    yield from _figures_of(analysis, numbers)
    for one in analysis.parts("top_device_ops"):
        if one.is_broken or not one.get("name"):
            damaged(report, one.offset_bytes)
        else:
            yield "counter", _share(one, numbers)
    yield from _latencies(root.part("inference_latency"), numbers)
    diagnostics(report, root.part("diagnostics").values)


def _share(one: Decoded, numbers: Numbers) -> dict[str, Any]:
    """Return the share of device time of one of the largest operators."""
    value = one.get("self_time_fraction", 0.0)
    others = {k: v for k, v in one.values.items() if k not in ("name", "self_time_fraction")}
    return {
        "event_id": one.offset_bytes,
        "event_name": "self_time_fraction",
        "record_kind": "metric",
        "scope_name": "Device",
        "series_name": one.get("name"),
        "value": numbers.real(value),
        "unit": "ratio",
        "value_raw": repr(value),
        "args_json": as_json(others),
    }


def _latencies(found: Decoded, numbers: Numbers) -> Iterator[TableRow]:
    """Yield latencies of inference: the extremes, and each percentile's parts."""
    yield from _figures_of(found, numbers)
    percentiles = found.get("percentile_numbers", [])
    for one, percentile in zip(found.parts("latency_breakdowns"), percentiles, strict=False):
        yield from _figures_of(one, numbers, series_name=f"p{percentile:g}")


# -- what the pages say besides -------------------------------------------------------------------


def page_facts(found: Decoded, decoder: Decoder) -> dict[str, Any]:
    """Return everything but the records as plain values; an Any is decoded."""
    return {
        name: _fact(value, decoder) for name, value in found.values.items() if name not in _BULK
    }


def _fact(value: Any, decoder: Decoder) -> Any:
    if isinstance(value, list):
        return [_fact(one, decoder) for one in value]
    if not isinstance(value, Decoded):
        return value
    if "type_url" not in value.values:
        return page_facts(value, decoder)
    kind = kind_in_any(value.get("type_url"))
    inner = {"type_url": value.get("type_url")}
    if kind is None or "value" not in value.values:
        return inner
    return inner | page_facts(decoder.read(kind, *value.get("value")), decoder)


# -- pod_viewer.json ------------------------------------------------------------------------------

#: The parts of a core's step, by key (2019 to 2021) and by part name (stepBreakdownEvents, later).
_POD_PARTS = {
    "highFlopsCompute": "compute",
    "hostInfeedDuration": "infeed",
    "hostOutfeedDuration": "outfeed",
    "sendDuration": "device_to_device",
    "recvDuration": "device_to_device",
    "crsDuration": "collective",  # cross-replica sum: an all-reduce
    "allReduceComputeDuration": "collective",
    "allReduceSyncDuration": "collective",
    "bcInfeedTransformDuration": "infeed",
    "bcInfeedWaitDuration": "infeed",
    "bcOutfeedDuration": "outfeed",
    "High flops compute": "compute",
    "Low flops compute": "compute",
    "Device compute": "compute",
    "Device to device": "device_to_device",
    "Device collective communication": "collective",
    "Host compute": "host_compute",
    "Kernel launch": "host_prepare",
    "Input": "infeed",
    "Host infeed": "infeed",
    "Output": "outfeed",
    "Host outfeed": "outfeed",
    "Send": "device_to_device",
    "Recv": "device_to_device",
    "AllReduce compute": "collective",
    "AllReduce sync": "collective",
    "All reduce compute": "collective",
    "All reduce sync": "collective",
    "Compilation": "compile",
    "All others": "other",
    "Idle": "idle",
}
_US = "Us"
_TOTAL = "totalDurationUs"
_POD_BULK = frozenset(("podStatsSequence", "hloInfoMap", "stepBreakdownEvents"))


def pod_facts(root: dict[str, Any]) -> dict[str, Any]:
    """Return the dump's values other than its records."""
    return {key: value for key, value in root.items() if key not in _POD_BULK}


def pod_viewer(root: dict[str, Any], report: Report) -> Iterator[TableRow]:
    """Yield for each step its time and parts on each core, collectives and channels."""
    pod = _Pod(root, report)
    for stats in pod.maps():
        yield from pod.cores(stats)
        yield from pod.operators(stats)
    yield from pod.devices()
    diagnostics(report, object_in(root, "diagnostics"))


class _Pod:
    """Collects the rows of one dump; positions are record numbers."""

    def __init__(self, root: dict[str, Any], report: Report) -> None:
        self._root = root
        self._report = report
        self._numbers = Numbers(report)
        self._count = 0
        self._cores: dict[int, dict[str, Any]] = {}
        parts = objects_in(root, "stepBreakdownEvents")
        self._names = {str(one.get("id")): str(one.get("name")) for one in parts}

    def maps(self) -> list[dict[str, Any]]:
        """Return the record of each step."""
        return objects_in(object_in(self._root, "podStatsSequence"), "podStatsMap")

    def _place(self) -> int:
        place, self._count = self._count, self._count + 1
        return place

    def cores(self, stats: dict[str, Any]) -> Iterator[TableRow]:
        """Yield the step on each core."""
        for key, record in object_in(stats, "podStatsPerCore").items():
            core = int(key) if key.isdecimal() and len(key) < 10 else None
            parts = list(self._parts(record)) if isinstance(record, dict) else []
            if core is None or not parts:
                damaged(self._report)
                continue
            self._cores.setdefault(core, record)
            place = self._place()
            where = {
                "event_id": place,
                "device_id": core,
                "step_index": self._numbers.signed(record.get("stepNum", stats.get("stepNum", 0))),
            }
            total = self._numbers.ns(record.get(_TOTAL), "us")
            yield "step", where | {"step_kind": "reported", "dur_ns": total}
            for name, kind, dur_ns in parts:
                yield "step_part", where | {"part_name": name, "part_kind": kind, "dur_ns": dur_ns}

    def _parts(self, record: dict[str, Any]) -> Iterator[tuple[str, str, int | None]]:
        named = {
            name.removesuffix(_US): value
            for name, value in record.items()
            if name.endswith(_US) and name != _TOTAL and not isinstance(value, dict)
        }
        for number, value in object_in(record, "stepBreakdownUs").items():
            named[self._names.get(number, f"part {number[:20]}")] = value
        for name, value in named.items():
            yield name, _POD_PARTS.get(name, "other"), self._numbers.ns(value, "us")

    def operators(self, stats: dict[str, Any]) -> Iterator[TableRow]:
        """Yield collective operators and channels; a duration is the mean over the occurrences."""
        for key, category in (("allReduceOpDb", "all-reduce"), ("channelDb", "channel")):
            for record in objects_in(stats, key):
                numbers = self._numbers
                count = numbers.whole(record.get("occurrences"))
                mean = numbers.real(record.get("durationUs"))
                total = None if mean is None or count is None else mean * count
                said = record.get("description")
                others = {
                    k: v
                    for k, v in record.items()
                    if v
                    and (
                        k not in _OPERATOR_COLUMNS
                        or (k == "description" and not isinstance(said, str))
                    )
                }
                yield (
                    "op_stat",
                    {
                        "event_id": self._place(),
                        "op_kind": "hlo",
                        "side_kind": "device",
                        "name": _operator_name(record),
                        "category_name": category,
                        "occurrence_count": count,
                        "dur_ns": numbers.ns(total, "us"),
                        "hlo_text": said if isinstance(said, str) and said else None,
                        "args_json": as_json(others | {"stepNum": stats.get("stepNum", 0)}),
                    },
                )

    def devices(self) -> Iterator[TableRow]:
        """Yield the cores that have steps."""
        environment = object_in(self._root, "runEnvironment")
        name = self._root.get("deviceType") or environment.get("tpuType")
        if not self._cores and isinstance(name, str):
            yield device_row(name)
        for core, record in sorted(self._cores.items()):
            host = record.get("hostName")
            properties = {key: record[key] for key in ("chipId", "nodeId") if key in record}
            yield device_row(
                name if isinstance(name, str) else None,
                properties,
                device_id=core,
                host_name=host if isinstance(host, str) and host else None,
            )


_OPERATOR_COLUMNS = ("name", "occurrences", "description")


def _operator_name(record: dict[str, Any]) -> str | None:
    if isinstance(name := record.get("name"), str):
        return name
    names = record.get("hloNames")
    if isinstance(names, list) and names:
        return ", ".join(str(one) for one in names)
    return f"channel {record['channelId']}" if "channelId" in record else None
