"""Asks xprof, in a separate process: ``child.py DUMP ANSWER LIMIT_S`` (see ask.py).

Standard input has the search path for packages, as JSON.

xprof converts a dump once into OpStats, which it keeps next to the dump as a file
``ALL_HOSTS.op_stats*.pb``; its tools are views of that. So the exact values are read from the
file, in picoseconds, operations and bytes, and not from the tools' rates, some of whose units are
mislabeled ("GBytes/Sec" are GiB/s) and differ by version. Fields:
plugin/xprof/protobuf/op_stats.proto and its imports (github.com/openxla/xprof).

Standalone: only the standard library and xprof are imported here.
"""

from __future__ import annotations

import html
import json
import re
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

#: Exit statuses if xprof is not installed, and if it cannot convert the dump.
NOT_INSTALLED, NOTHING = 77, 78

_GRACE_S = 5
_HBM = 1  # plugin/xprof/protobuf/op_metrics.proto: MEMORY_SPACE_HBM
_MOST = 2**63 - 1
_KINDS = {1: "cpu", 2: "gpu", 3: "tpu"}  # hardware_types.proto

#: Parts of a step of a GPU or CPU program: the event types of xprof/utils/event_span.h, by the
#: names of input_pipeline.pb, which has device_compute in one and leaves some out.
_EVENT_TYPES = {
    0: ("unknown", "other"),
    10: ("host_compute", "host_compute"),
    20: ("host_preprocess", "host_compute"),
    30: ("host_postprocess", "host_compute"),
    40: ("host_batch_formation", "host_compute"),
    50: ("host_runtime", "host_compute"),
    60: ("host_compile", "compile"),
    70: ("host_to_host", "other"),
    80: ("host_to_device", "host_to_device"),
    90: ("host_prepare", "host_prepare"),
    100: ("device_collectives", "collective"),
    110: ("host_wait_input", "infeed"),
    120: ("device_to_device", "device_to_device"),
    130: ("output", "outfeed"),
    140: ("device_compute_32", "compute"),
    150: ("device_compute_16", "compute"),
    160: ("device_wait_device", "device_to_device"),
    170: ("device_wait_host", "host_to_device"),
}
#: Parts of a step of a TPU core are categories of HLO instructions; the first that fits.
_CATEGORIES = (
    (re.compile(r"IDLE$"), "idle"),
    (re.compile(r".*infeed"), "infeed"),
    (re.compile(r".*outfeed|host send"), "outfeed"),
    (re.compile(r"host recv"), "host_to_device"),
    (re.compile(r".*(all-reduce|all-to-all|all-gather|reduce-scatter|collective)"), "collective"),
    (re.compile(r"send|recv"), "device_to_device"),
    (re.compile(r"copy-(start|done)|async-(start|update|done)"), "other"),
)
_SPARSE_PARTS = {
    "sc_compute_ps": ("SparseCore compute", "compute"),
    "sc_infeed_ps": ("SparseCore input", "infeed"),
    "sc_outfeed_ps": ("SparseCore output", "outfeed"),
    "sc_idle_ps": ("SparseCore idle", "idle"),
}


def main(dump: str, answer: str, limit_s: str) -> None:
    """Write the answer as JSON to the file `answer`."""
    if hasattr(signal, "alarm"):  # ends us even inside xprof, if nobody is there any more to do it
        signal.alarm(int(limit_s) + _GRACE_S)
    sys.path[:] = json.load(sys.stdin)
    try:
        from xprof.convert import raw_to_tool_data
        from xprof.protobuf import op_stats_pb2
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(NOT_INSTALLED)

    def table(tool: str, columns: set[str]) -> list[dict[str, Any]]:
        text, _ = raw_to_tool_data.xspace_to_tool_data([dump], tool, {"use_saved_result": True})
        return _rows(text, columns)

    # The first call converts; the others use the kept result.
    bounds = table("hlo_stats", {"program_id", "hlo_op_name", "bound_by"})
    kept = [p for p in Path(dump).parent.glob("*.op_stats*.pb") if ".flat_" not in p.name]
    if not kept:
        sys.exit(NOTHING)
    stats = op_stats_pb2.OpStats.FromString(kept[0].read_bytes())
    said = {
        "version": _version(),
        "environment": _environment(stats),
        "op_costs": _sorted(_op_costs(stats, bounds), "program_id", "name"),
        "steps": list(_steps(stats)),
        "remarks": list(_remarks(table("input_pipeline_analyzer", {"severity", "message"}))),
    }
    Path(answer).write_text(json.dumps(said), "utf-8")


def _version() -> str:
    for name in ("xprof", "tensorboard-plugin-profile"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "unknown"


def _rows(text: bytes | str | None, columns: set[str]) -> list[dict[str, Any]]:
    """Return the rows of the last table with these columns in a tool's answer for its charts."""
    found: list[dict[str, Any]] = []
    said = json.loads(text) if text else []
    for each in said if isinstance(said, list) else [said]:
        ids = [column["id"] for column in each.get("cols", ())]
        if columns <= set(ids):
            cells = ([(cell or {}).get("v") for cell in row["c"]] for row in each["rows"])
            found = [dict(zip(ids, row, strict=False)) for row in cells]
    return found


def _sorted(rows: Iterator[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Sort in a stable order: xprof's order differs each time."""
    return sorted(rows, key=lambda row: ([row[n] or "" for n in names], json.dumps(row)))


def _ns(ps: int | float) -> int:
    """Return nanoseconds for picoseconds, rounded half up."""
    return min(int(ps + 500) // 1000, _MOST)


def _count(number: int | float) -> int:
    """Return a count that fits in a column."""
    return min(int(number), _MOST)


def _text(text: str | None) -> str | None:
    return text or None


def _environment(stats: Any) -> dict[str, Any]:
    return {
        "device_kind": _KINDS.get(stats.run_environment.hardware_type),
        "peak_flop_per_s": stats.perf_env.peak_tera_flops_per_second * 1e12 or None,
    }


def _op_costs(stats: Any, bounds: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    bound_names = {(row["program_id"], row["hlo_op_name"]): row["bound_by"] for row in bounds}
    for op in stats.device_op_metrics_db.metrics_db:
        if not op.hlo_module_id and not op.long_name:  # TensorFlow's own kernels, and idle time
            continue
        bound = bound_names.get((str(op.hlo_module_id), op.name))
        source = op.source_info
        yield {
            "program_id": op.hlo_module_id,
            "name": op.name,
            "category_name": _text(op.category),
            "op_name": _text(op.provenance.rpartition(":")[0] or op.provenance.strip(":")),
            "hlo_text": _text(op.long_name),
            "source_text": f"{source.file_name}:{source.line_number}" if source.file_name else None,
            "bound_name": None if bound in (None, "", "Unknown") else bound,
            "occurrence_count": op.occurrences,
            **_costs(op),
        }


def _costs(op: Any) -> dict[str, int | None]:
    """Return operations and bytes; none if the cost model has neither."""
    names = ("flop_count", "normalized_flop_count", "accessed_bytes", "dram_bytes")
    flop_count = op.flops or getattr(op, "flops_v2", 0)
    if not flop_count and not op.bytes_accessed:
        return dict.fromkeys(names)
    model = op.model_flops or getattr(op, "model_flops_v2", 0) or flop_count
    spaces = op.memory_accessed_breakdown
    dram = sum(one.bytes_accessed for one in spaces if one.memory_space == _HBM)
    # The breakdown omits results that are tuples: what some of them are is not a total.
    is_whole = sum(one.bytes_accessed for one in spaces) >= op.bytes_accessed
    numbers = (model, flop_count, op.bytes_accessed, dram if spaces and is_whole else None)
    # The cost model knows nothing of custom calls and says 0 of them.
    is_unknown = op.category == "custom-call"
    return {
        k: None if n is None or (is_unknown and not n) else _count(n)
        for k, n in zip(names, numbers, strict=True)
    }


def _steps(stats: Any) -> Iterator[dict[str, Any]]:
    is_tpu = _KINDS.get(stats.run_environment.hardware_type) == "tpu"
    cores = dict(stats.core_id_to_details)
    for step in stats.step_db.step_sequence:
        for core_id, one in sorted(step.step_info_per_core.items()):
            core = cores.get(core_id)
            yield {
                "step_index": one.step_num,
                # Of other hardware there is one entry for all devices.
                "device_ordinal": core.device_ordinal if is_tpu and core else None,
                "is_sparse_core": bool(core and core.is_sparse_core),
                "dur_ns": _ns(one.duration_ps),
                "parts": [
                    {"part_name": name, "part_kind": kind, "dur_ns": _ns(ps)}
                    for name, kind, ps in _parts(one.step_breakdown)
                ],
            }


def _parts(breakdown: Any) -> Iterator[tuple[str, str, int]]:
    """Yield name, kind and picoseconds of the parts of a step; parts without time are omitted."""
    from xprof.protobuf import steps_db_pb2

    generic, sparse = steps_db_pb2.GenericStepBreakdown(), steps_db_pb2.SparseCoreStepBreakdown()
    if breakdown.Unpack(generic):
        for number, ps in sorted(generic.type_ps.items()):
            name, kind = _EVENT_TYPES.get(number, (f"event_type_{number}", "other"))
            yield name, kind, ps
        for category, ps in sorted(generic.category_ps.items()):
            yield category, _kind(category), ps
    elif breakdown.Unpack(sparse):
        for field, (name, kind) in _SPARSE_PARTS.items():
            if ps := getattr(sparse, field):
                yield name, kind, ps


def _kind(category: str) -> str:
    return next((kind for pattern, kind in _CATEGORIES if pattern.match(category)), "compute")


def _remarks(rows: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    for row in rows:
        severity = str(row["severity"]).lower()
        plain = html.unescape(re.sub(r"<[^>]*>", "", str(row["message"])))
        yield {
            "severity_kind": severity if severity in ("info", "warning", "error") else "info",
            "message": " ".join(plain.split()),
        }


if __name__ == "__main__":
    main(*sys.argv[1:])
