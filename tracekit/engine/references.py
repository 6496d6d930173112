"""The built-in tables: devices, processor events, and operator classes.

Few queries need one, and loading what describes them takes time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracekit.schema import (
    CPU_FAMILY,
    DEVICE_MODEL,
    EVENT_MODEL,
    EVENT_SET,
    MODEL_CEILING,
    OP_CLASS,
    Table,
)


def _model_rows() -> list[dict[str, Any]]:
    from tracekit.peaks import models

    return [
        {
            "model_key": key,
            "model_name": model.name,
            "vendor_name": model.vendor,
            "scope_kind": model.scope,
            "compute_capability": model.compute_capability,
            "architecture_name": model.architecture,
            "core_count": model.core_count,
            "sm_count": model.sm_count,
            "memory_bytes": model.memory_bytes,
            "boost_clock_hz": model.boost_clock_hz,
        }
        for model in models()
        for key in model.keys
    ]


def _ceiling_rows() -> list[dict[str, Any]]:
    from tracekit.peaks import models

    return [
        {
            "model_name": model.name,
            "ceiling_kind": ceiling.kind,
            "ceiling_name": ceiling.name,
            "value": float(ceiling.value),
            "unit": ceiling.unit,
            "origin_kind": ceiling.origin,
            "source_text": ceiling.source,
            "date": ceiling.date,
        }
        for model in models()
        for ceiling in model.ceilings
    ]


def _event_model_rows() -> list[dict[str, Any]]:
    from tracekit.events import model_rows

    return model_rows()


def _event_set_rows() -> list[dict[str, Any]]:
    from tracekit.events import set_rows

    return set_rows()


def _cpu_family_rows() -> list[dict[str, Any]]:
    from tracekit.events import family_rows

    return family_rows()


def _op_class_rows() -> list[dict[str, Any]]:
    from tracekit.opclasses import rows

    return rows()


#: Built-in tables, each with the function that returns its rows.
REFERENCES: tuple[tuple[Table, Callable[[], list[dict[str, Any]]]], ...] = (
    (DEVICE_MODEL, _model_rows),
    (MODEL_CEILING, _ceiling_rows),
    (EVENT_MODEL, _event_model_rows),
    (EVENT_SET, _event_set_rows),
    (CPU_FAMILY, _cpu_family_rows),
    (OP_CLASS, _op_class_rows),
)
