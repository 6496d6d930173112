"""What the profiler of a TPU says, written by hand: operators, a device, and steps with input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.schema import TABLES, batch_of_rows
from tracekit.snapshot import Commit
from tracekit.store import Said, Store, TableWriter

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def operator(name: str, category: str, dur_ns: int, flop: int | None, moved: int) -> dict[str, Any]:
    """A row of `op_stat`: an HLO instruction that ran once on device 0."""
    return {
        "op_kind": "hlo",
        "side_kind": "device",
        "device_id": 0,
        "name": name,
        "category_name": category,
        "occurrence_count": 1,
        "dur_ns": dur_ns,
        "self_ns": dur_ns,
        "flop_count": flop,
        "dram_bytes": moved,
    }


#: Of a core of TPU v2, whose ridge is at 23e12 / 350e9 = 65.7 FLOP/byte.
OPERATORS: Rows = {
    "device": [{"device_id": 0, "name": "TPU v2", "device_kind": "tpu"}],
    "op_stat": [
        operator("convolution.1", "convolution", 1000, 11_500_000, 35_000),
        operator("fusion.2", "loop fusion", 500, 10_000, 80_000),
        operator("all-reduce.3", "all-reduce", 300, 1_250, 10_000),
        operator("copy.4", "copy", 200, 0, 7_000),
        operator("custom-call.5", "custom-call", 100, None, 7_000),
    ],
    "kernel": [{"event_id": 1, "device_id": 0, "name": "fusion.2", "start_ns": 10, "dur_ns": 90}],
    "step": [
        {
            "event_id": 2,
            "device_id": 0,
            "step_index": 1,
            "step_kind": "device",
            "start_ns": 0,
            "dur_ns": 100,
        }
    ],
    "step_part": [
        {
            "event_id": 2,
            "device_id": 0,
            "step_index": 1,
            "part_name": "Input",
            "part_kind": "infeed",
            "dur_ns": 10,
        }
    ],
}


def add_operators(store: Store, run_id: str, run_name: str, tables: Rows = OPERATORS) -> None:
    """Commit a source of these rows to a run, which may be a new one."""
    with store.begin() as ingest:
        writer = TableWriter(ingest.source_folder(0), "1")
        for name, rows in tables.items():
            writer.write(name, batch_of_rows(TABLES[name], [dict(row) for row in rows]))
        writer.close()
        last: dict[str, dict[str, object]] = {
            "run": {"run_name": run_name},
            "source_file": {"file_name": "hand-made"},
        }
        ingest.commit(
            0,
            Commit(run_id, f"operators-of-{run_id}", ingest.ingest_id),
            {name: batch_of_rows(TABLES[name], [dict(row)]) for name, row in last.items()},
            said=Said(),
            replaces=False,
        )
