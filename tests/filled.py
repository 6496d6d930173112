"""A store with rows in every table, and what each report can be asked of it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.operators import add_operators
from tracekit.catalog import Query, tables_of
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.joins import join
from tracekit.store import open_store

EVENTS = """
[[event]]
name = "my_lines"
quantity = "dram"
amount = 64
source = "mine"
"""


def fill(store: Path, fixtures: Path, folder: Path) -> None:
    """Make the store; the run gpu has a timeline, and counters beside it. Files go to `folder`."""
    gpu = fixtures / "torch_profiler" / "gpu-handmade" / "trace.json.gz"
    ingest(gpu, store, Options(run_name="gpu", labels={"batch": "32"}))
    counters = fixtures / "nsight_compute" / "details-v100-handmade" / "report.csv"
    ingest(counters, store, Options(run_name="gpu", device_name="Tesla V100-SXM2-16GB"))
    cut = fixtures / "torch_profiler" / "hand-made" / "cut.json"
    ingest(cut, store, Options(run_name="cut"))
    _measure_a_processor(store, fixtures / "perf_stat", folder)
    add_operators(open_store(store), "ops", "ops")
    _count_ranges(store, folder)
    _lose_records(store, folder)
    ingest(fixtures / "caffe_time" / "means" / "caffe.log", store, Options(run_name="net"))
    sweep = fixtures / "results_table" / "hand-made" / "sweep.csv"
    units = {"images_per_s:GFLOP/s": "metric", "loss:FLOP/byte": "metric"}
    ingest(sweep, store, Options(run_name="sweep", columns=units, device_name="TPU v2 board"))
    recorded = fixtures / "h100" / "lstm"
    ingest(recorded / "trace.json.gz", store, Options(run_name="lstm"))
    ingest(recorded / "raw.csv.gz", store, Options(run_name="lstm-ncu"))
    join(Database(open_store(store)), "lstm", "lstm-ncu")


def _measure_a_processor(store: Path, fixtures: Path, folder: Path) -> None:
    """Counters of a processor in a run of their own, with a metric and an event of the user's."""
    events = folder / "events.toml"
    events.write_text(EVENTS)
    processor = Options(
        run_name="cpu",
        labels={"nodes": "1"},
        metrics={"images_per_s": 8.2},
        events=[events],
        device_name="2x Xeon Gold 6126",
    )
    ingest(fixtures / "intel_trio" / "stat.csv", store, processor)


def _count_ranges(store: Path, folder: Path) -> None:
    """A trace of CUPTI's range profiler, in a run of its own."""
    counted = {"ph": "X", "cat": "cuda_profiler_range", "name": "gemm", "pid": 0, "tid": 0}
    counted |= {
        "ts": 1,
        "dur": 1,
        "args": {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 4},
    }
    file = folder / "ranges.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [counted]}))
    ingest(file, store, Options(run_name="ranges"))


def _lose_records(store: Path, folder: Path) -> None:
    """A trace of a launch without a device record, in a run of its own."""
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
    call |= {"ts": 1, "dur": 1, "args": {"correlation": 1}}
    file = folder / "lost.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [call]}))
    ingest(file, store, Options(run_name="lost"))


def needed(query: Query) -> set[str]:
    """The tables that a query needs, or that are enough."""
    return {table for need in query.needs for table in tables_of(need)}


ASKED_OF_A_SWEEP = {
    "heatmap": {"x": "nodes", "y": "batch", "metric": "images_per_s", "fixed": "model=mlp"},
    "outliers": {"by": "nodes", "metric": "images_per_s"},
    "distribution": {"by": "nodes", "metric": "images_per_s"},
    "sensitivity": {"metric": "images_per_s"},
    "amdahl": {"over": "nodes", "metric": "images_per_s"},
    "speedup": {"over": "model", "baseline": "mlp", "metric": "images_per_s"},
}


def asked_of_the_store(query: Query) -> dict[str, str]:
    """Parameters that ask for what is in the filled store."""
    if "kernel_match" in query.needs:
        return {"run_id": "lstm"}
    if query.name == "scaling":
        return {"over": "nodes", "metric": "images_per_s"}
    if query.name in ASKED_OF_A_SWEEP:
        return ASKED_OF_A_SWEEP[query.name] | {"runs": "sweep"}
    runs = (
        ("cut", query.name == "issues"),
        ("cpu", "measurement" in needed(query)),
        ("net", query.name == "layers"),
        ("ranges", query.name == "range_counters"),
        ("lost", "launch_call" in query.needs),
        ("sweep", query.name.startswith("configuration")),
        ("ops", {"op_stat", "step", "step_part"} & needed(query)),
        ("gpu", True),
    )
    run = next(run for run, is_its in runs if is_its)
    return {p.name: run for p in query.parameters if p.name in ("run_id", "other_run_id")}
