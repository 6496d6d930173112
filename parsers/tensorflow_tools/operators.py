"""kernel_stats.pb, tensorflow_stats.pb and op_profile.json: kernels and operators, summed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from tracekit.parser import Report
from tracekit.parsers.tensorflow_tools.rows import (
    PER_CENT,
    Numbers,
    TableRow,
    as_json,
    damaged,
    device_row,
    idle_time,
)
from tracekit.reading.protowire import Decoded
from tracekit.reading.text.json_values import object_in, objects_in
from tracekit.reading.words import words
from tracekit.reading.xla.ops import costed

# -- kernel_stats.pb ------------------------------------------------------------------------------

_AXES = "xyz"


def kernel_stats(root: Decoded, report: Report) -> Iterator[TableRow]:
    """Yield a row of `kernel` per report: all launches of one kernel for one operator."""
    numbers = Numbers(report)
    for one in root.parts("reports"):
        if one.is_broken or not one.get("name"):
            damaged(report, one.offset_bytes)
        else:
            yield "kernel", _kernel(one, numbers)
            yield from _extremes(one, numbers)


def _extremes(one: Decoded, numbers: Numbers) -> Iterator[TableRow]:
    """Yield mean, minimum and maximum duration of a launch, as a counter of the kernel."""
    least, most = one.get("min_duration_ns"), one.get("max_duration_ns")
    count, total = one.get("occurrences", 0), one.get("total_duration_ns", 0)
    if count and (least or most):
        yield (
            "kernel_metric",
            {
                "event_id": one.offset_bytes,
                "metric_name": "duration",
                "unit": "ns",
                "value": numbers.real(total / count),
                "status_kind": "ok",
                "min_value": numbers.real(least or 0),
                "max_value": numbers.real(most or 0),
            },
        )


def _kernel(one: Decoded, numbers: Numbers) -> dict[str, Any]:
    registers = one.get("registers_per_thread")
    shared = one.get("static_shmem_bytes", 0) + one.get("dynamic_shmem_bytes", 0)
    occupancy = one.get("occupancy_pct") or None  # older versions do not have it
    # A kernel has registers and threads: where both are zero, nothing was recorded of its launch.
    is_described = bool(registers or any(one.get("block_dim", ())))
    return {
        "event_id": one.offset_bytes,
        "name": one.get("name"),
        "launch_count": numbers.whole(one.get("occurrences", 0)),
        "dur_ns": numbers.whole(one.get("total_duration_ns", 0)),
        **_dimensions("block", one.get("block_dim", []), numbers),
        **_dimensions("grid", one.get("grid_dim", []), numbers),
        "registers_per_thread_count": numbers.whole(registers or None),
        "shared_memory_bytes": numbers.whole(shared) if is_described else None,
        "occupancy_ratio": numbers.rate(occupancy, PER_CENT),
        "op_name": one.get("op_name"),
        "is_tensor_core_kernel": one.get("is_kernel_using_tensor_core", False),
        "is_tensor_core_op": one.get("is_op_tensor_core_eligible", False),
    }


def _dimensions(what: str, sizes: list[int], numbers: Numbers) -> dict[str, int | None]:
    if len(sizes) != len(_AXES) or not all(sizes):
        return {}
    return {f"{what}_{axis}": numbers.whole(n) for axis, n in zip(_AXES, sizes, strict=True)}


# -- tensorflow_stats.pb --------------------------------------------------------------------------

_GIGA = Decimal(10**9)
_GIBI = Decimal(1 << 30)
_MOST_APART = 0.01
_IDLE = "IDLE"
_STATS_COLUMNS = frozenset(
    words(
        """
        host_or_device op_type op_name occurrences total_time_in_us total_self_time_in_us bound_by
        is_eager flops flops_v2 bytes_accessed
        """
    )
)


def tensorflow_stats(root: Decoded, report: Report) -> Iterator[TableRow]:
    """Yield a row of `op_stat` per operator, and of `counter` per time without one.

    The dump has every record twice, in a table with the idle time and in one without: a record of
    the second that is also in the first is not an event.
    """
    if device_type := root.get("device_type"):
        yield device_row(device_type)
    records = [*_whole(root.part("with_idle"), report), *_not_repeated(root, report)]
    scale = _bandwidth_scale(records)
    numbers = Numbers(report)
    for one in records:
        if one.get("op_type") == _IDLE and one.get("op_name") == _IDLE:
            idle = numbers.ns(one.get("total_self_time_in_us", 0.0), "us")
            yield idle_time(one.offset_bytes, one.get("host_or_device", ""), idle)
        else:
            yield "op_stat", _op_of_record(one, numbers, scale)


def _key(one: Decoded) -> tuple[Any, ...]:
    return one.get("host_or_device"), one.get("op_type"), one.get("op_name")


def _whole(table: Decoded, report: Report) -> Iterator[Decoded]:
    """Yield the records of `table` that can be read."""
    for one in table.parts("tf_stats_record"):
        if one.is_broken or not one.get("op_name"):
            damaged(report, one.offset_bytes)
        else:
            yield one


def _not_repeated(root: Decoded, report: Report) -> Iterator[Decoded]:
    first = root.part("with_idle").parts("tf_stats_record")
    seen = Counter(_key(one) for one in first if not one.is_broken)
    repeated = 0
    for one in _whole(root.part("without_idle"), Report() if seen else report):
        if seen[_key(one)]:
            seen[_key(one)] -= 1
            repeated += 1
        else:
            yield one
    if repeated:
        report.tell(
            "repeated_record",
            "info",
            "recording",
            "the table without idle time repeats the records of the one with it",
            "nothing is missing: each is counted once",
            occurrence_count=repeated,
            first_offset_bytes=root.part("without_idle").offset_bytes,
        )


def _bandwidth_scale(records: Iterable[Decoded]) -> Decimal:
    """Return the bytes per second in a unit of bandwidth: 10⁹, or 2³⁰ since 2021.

    The intensity in the same record, FLOP per byte, decides; 10⁹ if no record has it.
    """
    for one in records:
        rate, width, intensity = (
            one.get(name, 0.0)
            for name in ("measured_flop_rate", "measured_memory_bw", "operational_intensity")
        )
        if rate > 0 and width > 0 and intensity > 0:
            apart = rate / intensity / width * float(_GIGA / _GIBI)
            return _GIBI if abs(apart - 1) < _MOST_APART else _GIGA
    return _GIGA


def _op_of_record(one: Decoded, numbers: Numbers, scale: Decimal) -> dict[str, Any]:
    measured = one.get("measured_flop_rate")
    rate = one.get("model_flop_rate", measured)
    width = one.get("measured_memory_bw")
    has_cost = rate is not None or width is not None  # zeros are omitted from the file
    is_counted = any(name in one.values for name in ("flops", "flops_v2", "bytes_accessed"))
    normalized = numbers.whole(one.get("flops_v2", one.get("flops", 0))) if is_counted else None
    accessed = numbers.whole(one.get("bytes_accessed", 0)) if is_counted else None
    hbm = one.get("hbm_bw")
    return {
        "event_id": one.offset_bytes,
        "op_kind": "framework",
        "side_kind": one.get("host_or_device", "").lower() or None,
        "name": one.get("op_name"),
        "type_name": one.get("op_type"),
        "occurrence_count": numbers.whole(one.get("occurrences", 0)),
        "dur_ns": numbers.ns(one.get("total_time_in_us", 0.0), "us"),
        "self_ns": numbers.ns(one.get("total_self_time_in_us", 0.0), "us"),
        "flop_count": normalized if rate == measured else None,
        "normalized_flop_count": normalized,
        "accessed_bytes": accessed,
        "dram_bytes": numbers.whole(accessed * hbm / width) if accessed and hbm and width else None,
        "reported_flop_per_s": numbers.rate(rate or 0.0, _GIGA) if has_cost else None,
        "reported_bytes_per_s": numbers.rate(width or 0.0, scale) if has_cost else None,
        "bound_name": one.get("bound_by"),
        "work_source_name": "dump" if has_cost else None,
        "is_eager": one.get("is_eager"),
        "args_json": as_json({k: v for k, v in one.values.items() if k not in _STATS_COLUMNS}),
    }


# -- op_profile.json ------------------------------------------------------------------------------

_TREES = ("byProgram", "byCategory", "byProgramExcludeIdle", "byCategoryExcludeIdle")


def op_profile(root: dict[str, Any], report: Report) -> Iterator[TableRow]:
    """Yield a row of `op_stat` per operator: each leaf of the tree that has a time.

    The trees by program and by category have the same operators; the one by program is used if
    present, because it names the program of each.
    """
    if isinstance(device_type := root.get("deviceType"), str) and device_type:
        yield device_row(device_type)
    tree = next((name for name in _TREES if isinstance(root.get(name), dict)), None)
    if tree is None:
        return
    walk = _OpWalk(report, is_by_program=tree.startswith("byProgram"))
    for node in objects_in(root[tree], "children"):
        name = node.get("name")
        yield from walk.below(node, name if isinstance(name, str) else None)


def _has_time(node: dict[str, Any]) -> bool:
    metrics = object_in(node, "metrics")
    return any(metrics.get(key) not in (None, 0, 0.0, "0") for key in ("rawTime", "time"))


class _OpWalk:
    """Finds the operators of a tree, in order; their positions are their numbers."""

    def __init__(self, report: Report, *, is_by_program: bool) -> None:
        self._report = report
        self._numbers = Numbers(report)
        self._is_by_program = is_by_program
        self._count = 0

    def below(self, top: dict[str, Any], program: str | None) -> Iterator[TableRow]:
        """Yield the operators at and under `top`, which is a program or a category."""
        nodes = [top]
        while nodes:
            node = nodes.pop()
            children = objects_in(node, "children")
            self._tell_left_out(node, len(children))
            if "xla" not in node or any("xla" in one and _has_time(one) for one in children):
                nodes.extend(reversed(children))
            else:
                yield self._row(node, program)

    def _tell_left_out(self, node: dict[str, Any], count: int) -> None:
        wanted = node.get("numChildren")
        if isinstance(wanted, int) and wanted > count:
            self._report.tell(
                "left_out_by_profiler",
                "warning",
                "recording",
                "operators missing from the profiler's dump: it keeps the largest of each group",
                "xplane.pb has all of them",
                occurrence_count=wanted - count,
            )

    def _row(self, node: dict[str, Any], program: str | None) -> TableRow:
        place, self._count = self._count, self._count + 1
        xla, metrics, numbers = object_in(node, "xla"), object_in(node, "metrics"), self._numbers
        category, name = _text(xla.get("category")), _text(node.get("name"))
        dur_ns = numbers.ns(metrics.get("rawTime"), "ps")
        if _IDLE in (category, name):
            return idle_time(place, "Device", dur_ns)
        flops, normalized = (
            costed(numbers.whole(metrics.get(key)), category) for key in ("rawFlops", "bf16Flops")
        )
        moved = metrics.get("rawBytesAccessedArray")
        sizes = [numbers.whole(one) or 0 for one in moved] if isinstance(moved, list) else []
        total = sum(sizes) if sizes else metrics.get("rawBytesAccessed")
        return "op_stat", {
            "event_id": place,
            "op_kind": "hlo",
            "side_kind": "device",
            "name": name,
            "type_name": _text(xla.get("op")),
            "category_name": category,
            "op_name": _text(xla.get("provenance")),
            "program_name": program if self._is_by_program else None,
            "occurrence_count": numbers.whole(metrics.get("occurrences") or None),
            "dur_ns": dur_ns,
            "self_ns": dur_ns,
            "flop_count": flops,
            "normalized_flop_count": normalized,
            "accessed_bytes": costed(numbers.whole(total), category),
            "dram_bytes": costed(sizes[0], category) if sizes else None,
            "work_source_name": None if flops is None and total is None else "dump",
            "source_text": _source(object_in(xla, "sourceInfo")),
            "hlo_text": _text(xla.get("expression")),
            "args_json": as_json(_others(metrics, xla)),
        }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _source(info: dict[str, Any]) -> str | None:
    file, line = _text(info.get("fileName")), info.get("lineNumber")
    return f"{file}:{line}" if file and isinstance(line, int) else file


_OP_METRICS = ("time", "flops", "memoryBandwidth", "bandwidthUtils", "uncappedFlops")
_OP_FACTS = ("layout", "computationPrimitiveSize", "fingerprint", "programId")


def _others(metrics: dict[str, Any], xla: dict[str, Any]) -> dict[str, Any]:
    """Return values without a column: shares of the peaks, layout, IDs."""
    found = {key: metrics[key] for key in _OP_METRICS if key in metrics}
    found |= {key: xla[key] for key in _OP_FACTS if xla.get(key) not in (None, 0, "0")}
    stack = _text(object_in(xla, "sourceInfo").get("stackFrame"))
    return found | ({"stackFrame": stack} if stack else {})
