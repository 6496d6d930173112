"""A run on one screen; the figures are those of the READMEs beside the traces."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.render.text import inert
from tracekit.store import open_store
from tracekit.summary import summarize

Tracekit = Callable[..., Any]
LINES, COLUMNS = 24, 80


def lines_of(answer: Any) -> dict[str, str]:
    assert (answer.code, answer.messages) == (0, "")
    rows = csv.DictReader(io.StringIO(answer.text))
    return {row["about"]: row["summary"] for row in rows}


def test_a_run_with_kernels(tracekit: Tracekit, filled: Path) -> None:
    lines = lines_of(tracekit("summary", "gpu", "--store", filled, "--format", "csv"))
    assert lines["run"] == "gpu: 1 file (torch-profiler), 619 events"
    assert lines["device"] == "NVIDIA H100 80GB HBM3"
    # three marks, 11,900 us; 1707.772 us of kernels, of which 9 before the first mark
    assert lines["busy"] == "14.3 %: kernels run for 1.699 ms of 11.90 ms; with copies 15.1 %"
    assert lines["steps"] == "median 4.000 ms, spread 0.0 %, 2 of 3 steps (stable; host)"
    # three all-reduces of 120 us of 1961.272
    assert lines["kernel 1"].startswith("18.4 %, 360.0 µs: 3 \u00d7 ncclDevKernel_AllR")
    assert "kernel 5" in lines
    assert "kernel 6" not in lines
    assert lines["data"] == "complete: no events lost"


def test_what_is_not_there_has_a_reason(tracekit: Tracekit, filled: Path) -> None:
    lines = lines_of(tracekit("summary", "cpu", "--store", filled, "--format", "csv"))
    assert lines["device"] == "no file names one"
    assert lines["busy"] == "unknown: no kernels with a start and a duration"
    assert lines["kernels"] == "none with a known duration"
    assert "op 1" in lines  # of the processor, as there are no kernels
    assert lines["bound"] == "unknown: no shapes; no FLOP modeled from shapes"


def test_of_some_steps(tracekit: Tracekit, filled: Path) -> None:
    words = ("summary", "gpu", "--store", filled, "--format", "csv")
    lines = lines_of(tracekit(*words, "--phase", "stable"))
    assert lines["phase"] == "stable: times, work and memory of these steps only"
    # two steps of 4 ms, and no time outside of them
    assert " of 8.0" in lines["busy"]
    refused = tracekit(*words, "--phase", "90..91")
    assert (refused.code, refused.data) == (5, b"")
    assert "the run has no steps 90..91" in refused.messages


@pytest.mark.parametrize("run", ["gpu", "cpu", "small"])
def test_it_fits_the_screen(
    tracekit: Tracekit, filled: Path, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    lines = tracekit("summary", run, "--store", filled).text.splitlines()
    assert len(lines) < LINES
    assert max(map(len, lines)) <= COLUMNS


def test_names_that_mean_harm(tracekit: Tracekit, hostile: Path) -> None:
    answer = tracekit("summary", "--store", hostile)
    assert answer.code == 0
    assert inert(answer.text, newline=True) == answer.text


def test_a_run_that_is_not_there(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("summary", "nothing", "--store", filled)
    assert (answer.code, answer.data) == (2, b"")
    assert "there is no run called 'nothing'" in answer.messages


def test_jax_on_a_gpu_with_command_buffers(
    tracekit: Tracekit, tmp_path: Path, corpus: Path
) -> None:
    """The screen says what `reported_op_breakdown`, the device and the marked steps say."""
    folder, store = corpus / "h100" / "jax", tmp_path / "store"
    assert tracekit("ingest", folder, "--store", store, "--run", "jax").code == 0
    lines = lines_of(tracekit("summary", "jax", "--store", store, "--format", "csv"))
    assert lines["device"] == "NVIDIA H100 80GB HBM3"
    assert " 3 steps (" in lines["steps"]
    assert "step 100.0 %" in lines["known"]
    answer = tracekit(
        "query", "reported_op_breakdown", "--run", "jax", "--store", store, "--format", "csv"
    )
    row = next(csv.DictReader(io.StringIO(answer.text)))
    names = {
        "bandwidth": "memory_bound",
        "compute": "compute_bound",
        "no FLOP": "zero_flop",
        "unknown": "unknown",
    }
    shares = {kind: float(row[f"{name}_ratio"]) for kind, name in names.items()}
    assert sum(shares.values()) == pytest.approx(1)
    said = ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in shares.items() if share)
    assert lines["bound"].startswith(f"nearest roof: {said} of operator time")


def test_which_busy_figure_of_a_tpu_is_which(
    tracekit: Tracekit, tmp_path: Path, corpus: Path
) -> None:
    """The rows of the two devices of a trace, against plain Python; it names no device."""
    trace = corpus / "tf" / "vllm-tpu-inference-0111.trace.json.gz"
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    rows = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"
    }
    names = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    spans: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for event in events:
        place = names.get(event.get("pid"), ""), rows.get((event.get("pid"), event.get("tid")), "")
        if event.get("ph") == "X" and place[0].startswith("/device:TPU"):
            spans.setdefault(place, []).append((event["ts"], event["ts"] + event["dur"]))

    store = tmp_path / "S"
    words = ("--run", "tpu", "--store", store)
    assert tracekit("ingest", trace, *words, "--device", "TPU v6 lite").code == 0
    told = tracekit("query", "busy_by_track", *words, "--format", "csv")
    for row in csv.DictReader(io.StringIO(told.text)):
        kind = "XLA Ops" if row["track_kind"] == "kernels" else row["track_kind"]
        busy, reach = 0.0, -math.inf
        for start, end in sorted(spans[f"/device:TPU:{row['device_id']}", kind]):
            busy += max(end - max(start, reach), 0)
            reach = max(reach, end)
        assert int(row["busy_ns"]) == pytest.approx(1000 * busy, rel=2e-5, abs=5)
    lines = lines_of(tracekit("summary", "tpu", "--store", store, "--format", "csv"))
    assert lines["device"] == "TPU v6 lite"
    assert "programs with their waits (XLA Modules) 2.9 % of that time" in lines["busy by"]
    assert lines["busy by"].endswith("; kernels 2.9 % of the whole profile")


def test_a_bound_says_how_near(tracekit: Tracekit, tmp_path: Path, corpus: Path) -> None:
    """Convolutions at 16 % of their roof are bound by neither compute nor bandwidth."""
    store = tmp_path / "S"
    trace = corpus / "h100" / "conv2d_fp16_b16.trace.json.gz"
    assert tracekit("ingest", trace, "--run", "conv", "--store", store).code == 0
    lines = lines_of(tracekit("summary", "conv", "--store", store, "--format", "csv"))
    assert lines["bound"].startswith("latency 97.1 % (at 15.6 %), unknown 2.9 %")
    told = tracekit("query", "ops", "--run", "conv", "--store", store, "--format", "csv")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(told.text))}
    back = rows["aten::convolution_backward"]
    assert (back["bound_kind"], back["nearest_name"]) == ("latency", "compute")
    # 2 calls of 2 x 2 x 16 x 64 x 64 x 9 x 112^2 operations, against 989.4 TFLOP/s
    least_ns = 2 * 4 * 16 * 64 * 64 * 9 * 112**2 / 989_400
    assert float(back["roof_ratio"]) == pytest.approx(least_ns / int(back["total_ns"]), rel=1e-2)


def test_a_memory_profile_of_samples_is_told_as_one(tracekit: Tracekit, tmp_path: Path) -> None:
    """1,000 snapshots, of which no two belong together: more seems allocated than there is."""
    snapshots = [
        {
            "timeOffsetPs": str(1_000_000 * place),
            "aggregationStats": {"heapAllocatedBytes": str(4096 + place)},
            "activityMetadata": {
                "memoryActivity": "ALLOCATION",
                "allocationBytes": "8192",
                "address": str(512 * place),
            },
        }
        for place in range(1000)
    ]
    trace = tmp_path / "x.memory_profile.json"
    profile = {"GPU_0_bfc": {"sampledTimelineSnapshots": snapshots}}
    trace.write_text(json.dumps({"memoryProfilePerAllocator": profile}))
    words = ("--run", "m", "--store", tmp_path / "S")
    assert tracekit("ingest", trace, *words).code == 0
    lines = lines_of(tracekit("summary", "m", "--store", tmp_path / "S", "--format", "csv"))
    assert lines["memory"] == (
        "at most 5.095 kB (gpu): the profiler kept samples of the events: no kind is known, and "
        "the peak is the largest that it kept"
    )
    told = tracekit("query", "memory_by_kind", *words, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(told.text))
    assert (row["kind"], row["peak_bytes"], row["share_ratio"]) == ("(all)", "5095", "1.0")


def test_an_error_in_one_thread_ends_the_other(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second thread is in the midst of a query when the first one fails."""
    database, is_asking, ended = Database(open_store(filled)), threading.Event(), list[str]()
    before = {*threading.enumerate()}

    def query(name: str, *_: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            assert is_asking.wait(20)
            raise QueryError("damaged")
        is_asking.set()
        try:
            return database.sql(
                "SELECT sum(a.i * b.i) FROM range(1000000) a(i), range(1000000) b(i)"
            )
        except KeyboardInterrupt:
            ended.append(name)
            raise

    monkeypatch.setattr(database, "query", query)
    with pytest.raises(QueryError, match="damaged"):
        summarize(database, "gpu")
    for thread in {*threading.enumerate()} - before:
        thread.join(20)
    assert ended == ["attribution_coverage"]  # the last part that the second thread asks
