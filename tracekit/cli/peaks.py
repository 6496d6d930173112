"""Known devices and their peaks, as results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracekit.errors import UsageError
from tracekit.peaks import DeviceModel, device_named, models, nearest, read_peaks
from tracekit.result import Result, ResultColumn, unit_of

_SHOWN = {
    "fp64": "fp64_flop_per_s",
    "fp32": "fp32_flop_per_s",
    "tensor": "tensor_flop_per_s",
    "dram": "dram_bytes_per_s",
    "launch_overhead": "launch_overhead_ns",
}
_DOCS = {
    "device_name": "as profilers print it",
    "compute_capability": "of NVIDIA devices",
    "core_count": "cores of a processor, in the scope",
    "scope_kind": "what the values apply to: a board, package, die (gcd) or core",
    "ceiling_name": "kind of ceiling",
    "peak_flop_per_s": "dense operations",
    "peak_bytes_per_s": "traffic",
    "overhead_ns": "time of one kernel launch",
    "origin_kind": "datasheet, computed, measured, or given by the user",
    "date": "date of the source",
    "source": "source of the value",
}


def all_devices(peaks: Path | None) -> Result:
    """Return one row per device, with its most used ceilings."""
    rows = [
        {
            "device_name": model.name,
            "compute_capability": model.compute_capability,
            "core_count": model.core_count,
            **{column: _value(model, name) for name, column in _SHOWN.items()},
            "scope_kind": model.scope,
        }
        for model in sorted(_known(peaks), key=lambda model: (model.vendor, model.name))
    ]
    notes = ("for all ceilings of a device with sources, use `tracekit devices NAME`",)
    return _result("devices", rows, notes)


def one_device(name: str, peaks: Path | None) -> Result:
    """Return one row per ceiling of a device ("2x NAME": two); raise UsageError if unknown."""
    model = device_named(name, _known(peaks) if peaks else ())
    if model is None:
        close = ", ".join(nearest(name)) or "none; for all devices, run `tracekit devices`"
        raise UsageError(f"unknown device {name!r}; similar names: {close}")
    rows = [
        {
            "ceiling_name": ceiling.name,
            "peak_flop_per_s": ceiling.value if ceiling.kind == "compute" else None,
            "peak_bytes_per_s": ceiling.value if ceiling.kind == "bandwidth" else None,
            "overhead_ns": ceiling.value if ceiling.kind == "launch_overhead" else None,
            "origin_kind": ceiling.origin,
            "date": ceiling.date,
            "source": ceiling.source,
        }
        for ceiling in model.ceilings
    ]
    about = f"{model.name} ({model.vendor}), {_what_of(model)}"
    also = f"also called: {', '.join(model.aliases)}" if model.aliases else ""
    return _result("device", rows, tuple(filter(None, (about, model.note, also))))


def _what_of(model: DeviceModel) -> str:
    """Return what the values apply to; for a processor, also its cores and architecture."""
    if model.core_count is None:
        return f"values for one {model.scope}"
    family = f", {model.architecture}" if model.architecture else ""
    return f"values for all {model.core_count} cores{family}"


def _known(peaks: Path | None) -> Sequence[DeviceModel]:
    if peaks is None:
        return models()
    own = read_peaks(peaks).models
    if not own:
        raise UsageError(f"{peaks}: has values, but no [[device]] to list")
    return own


def _value(model: DeviceModel, name: str) -> float | None:
    ceiling = model.ceiling(name)
    if name == "tensor":  # either 16-bit type
        ceiling = model.ceiling("tensor_fp16") or model.ceiling("tensor_bf16")
    return None if ceiling is None else ceiling.value


def _result(name: str, rows: list[dict[str, Any]], notes: tuple[str, ...]) -> Result:
    schema = pa.schema([(key, _type(key)) for key in rows[0]])
    columns = tuple(ResultColumn(key, unit_of(key), _DOCS.get(key, "peak")) for key in rows[0])
    return Result(name, pa.Table.from_pylist(rows, schema), columns, notes)


def _type(column: str) -> pa.DataType:
    unit = unit_of(column)
    return pa.int64() if unit == "count" else pa.float64() if unit else pa.string()
