"""What was counted against what is known: operators of a real H100 by their definition.

`micro.truth.json` has the operations of each operator of `micro`. What the counters should give is
worked out here a second time, from the CSV file alone.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested
from tracekit.engine import Database
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session
from tracekit.store import Store, open_store

H100 = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "h100"
pytestmark = pytest.mark.skipif(not H100.exists(), reason="no corpus here")

#: Of the data sheet: FLOP/s (of INT8 operations/s), bytes/s.
PEAKS = {
    "fp64": 33.45408e12,
    "fp32": 66.90816e12,
    "fp16": 133.81632e12,
    "tensor_fp64": 66.90816e12,
    "tensor_tf32": 494.7e12,
    "tensor_fp16": 989.4e12,
    "tensor_bf16": 989.4e12,
    "tensor_fp8": 1978.9e12,
    "tensor_int8": 1978.9e12,
}
DRAM = 3.35e12
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on"
TENSOR = re.compile(
    r"sm__ops_path_tensor_src_(fp64|tf32|bf16|fp16|fp8|int8)(_dst_fp32|_sparsity_off)?\.sum"
)
Launch = dict[str, str]


def raw_page(name: str) -> Iterator[Launch]:
    """The launches, a column a counter; base units, unless the page scales them."""
    with gzip.open(H100 / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        header, _, *launches = csv.reader(lines)
    return (dict(zip(header, launch, strict=True)) for launch in launches)


def number(launch: Launch, name: str) -> float:
    return float(launch.get(name, "").replace(",", "") or 0)


def instructions(launch: Launch, op: str) -> float:
    """As counted, or as mean per cycle times cycles; packed FP16 ones are there as operations."""
    rate = number(launch, f"{SASS.format(op)}.sum.per_cycle_elapsed")
    return number(launch, f"{SASS.format(op)}.sum") or rate * number(
        launch, "smsp__cycles_elapsed.avg"
    )


def operations(launch: Launch) -> dict[str, float]:
    """By ceiling, FP16 as packed."""
    found = {
        f"fp{bits}": lanes
        * sum(
            count * instructions(launch, f"{kind}{op}")
            for op, count in (("add", 1), ("mul", 1), ("fma", 2))
        )
        for bits, kind, lanes in ((64, "d", 1), (32, "f", 1), (16, "h", 2))
    }
    for name in launch:
        if match := TENSOR.fullmatch(name):
            found[f"tensor_{match[1]}"] = number(launch, name)
    return found


def truth() -> dict[str, dict[str, Any]]:
    rows = json.loads((H100 / "micro.truth.json").read_text("utf-8"))
    return {row["name"]: row for row in rows}


def ranges() -> dict[int, str]:
    """The operator that each launch is of: the range around it."""
    column = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
    return {
        int(launch["ID"]): launch[column].partition("<default domain>:")[2].partition(":")[0]
        for launch in raw_page("micro.raw-base")
    }


@pytest.fixture(scope="module")
def store(ingested: Ingested) -> Store:
    names = ("micro.raw-base", "lstm.raw", "conv2d_fp16_b16.raw")
    files = {name.partition(".")[0]: H100 / f"{name}.csv.gz" for name in names}
    return open_store(ingested.runs(**files))


@pytest.fixture(scope="module")
def database(store: Store) -> Database:
    return Database(store)


@pytest.fixture(scope="module")
def query(database: Database) -> Callable[..., list[dict[str, Any]]]:
    """The rows of a report of a run."""
    runs = {row["run_name"]: row["run_id"] for row in database.query("runs").rows()}

    def ask(report: str, run: str = "micro", **given: Any) -> list[dict[str, Any]]:
        return list(database.query(report, {"run_id": runs[run], **given}).rows())

    return ask


# -- operations -----------------------------------------------------------------------------------


def counted(query: Callable[..., list[dict[str, Any]]], convention: str) -> dict[str, float]:
    """Operations of each operator of `micro` by a convention of FP16; those on integers too."""
    of = ranges()
    found: dict[str, float] = defaultdict(float)
    for row in query("kernel_figures", by="launch", fp16_convention=convention):
        found[of[row["launch_index"]]] += row["total_flop"]
    return dict(found)


def test_the_work_of_each_operator_is_that_of_its_definition(query: Any) -> None:
    found = counted(query, "arithmetic")
    known = {name: row["flop"] for name, row in truth().items() if row["flop"] is not None}
    # a product in integers does no floating-point operation
    assert found.pop("gemm_int8") == 0
    assert known.pop("gemm_int8") == 2 * 2048**3
    # a copy of the whole is no kernel
    assert known.keys() - found.keys() == {"clone"}
    for name, flop in known.items():
        if name == "clone":
            continue
        if flop == 0:
            assert found[name] == 0, name
        # products have an epilogue, attention a softmax, a sum adds up its parts
        most = {"sdpa_bf16": 1.03, "sum_fp32": 1.04}.get(name, 1.01)
        # h * h: two conversions that are no operations, and a multiplication that is; a rate of
        # five digits times cycles
        assert flop * 0.99998 <= found[name] <= flop * most, name


def test_the_packed_convention_counts_moves_and_conversions(query: Any) -> None:
    arithmetic, packed, scalar = (
        counted(query, name) for name in ("arithmetic", "packed", "scalar")
    )
    expected: dict[str, float] = defaultdict(float)
    halves: dict[str, float] = defaultdict(float)
    of = ranges()
    for launch in raw_page("micro.raw-base"):
        work = operations(launch)
        expected[of[int(launch["ID"])]] += sum(work.values()) - work["tensor_int8"]
        halves[of[int(launch["ID"])]] += work["fp16"]
    # rates are rounded, and times other cycles: those of multiprocessors or of their quarters
    assert packed == pytest.approx(dict(expected), rel=1e-3)
    # no operator here works in FP16 outside of tensor cores
    assert halves["transpose"] > 16e6 < halves["mul_fp16"]
    for name, flop in expected.items():
        assert arithmetic[name] == pytest.approx(flop - halves[name], rel=1e-3, abs=1), name
        assert scalar[name] == pytest.approx(flop - halves[name] / 2, rel=1e-3, abs=1), name


def test_bytes_and_share_of_a_cache_are_of_one_counter(database: Database) -> None:
    """The vendor gives rate, peak and share of each; SMs read more from L2 than it sends.

    One transfer goes to several SMs.
    """
    rows = {
        row["launch_index"]: row
        for row in database.sql("""
        SELECT kernel_bound.*, launch_index FROM kernel_bound JOIN run_title USING (run_id)
        WHERE run_title.title = 'micro'""").rows()
    }
    more = 0
    for launch in raw_page("micro.raw-base"):
        row = rows[int(launch["ID"])]
        for level, event in (("l2", "lts__lts2xbar"), ("l1", "l1tex__lsu_writeback")):
            name = f"derived__{event}_bytes" + ("_mem_lgds" if level == "l1" else "")
            rate = number(launch, f"{name}.sum.per_second")
            assert row[f"{level}_vendor_bytes"] == pytest.approx(
                rate * row["dur_ns"] / 1e9, rel=1e-5
            )
            cycles = number(launch, f"{event.partition('__')[0]}__cycles_elapsed.avg.per_second")
            peak = number(launch, f"{name}.sum.peak_sustained") * cycles
            assert row[f"own_{level}_vendor_bytes_per_s"] == pytest.approx(peak, rel=1e-5)
        share = number(launch, "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed")
        own = row["l2_vendor_bytes"] * 1e9 / row["own_l2_vendor_bytes_per_s"] / row["dur_ns"]
        assert own == pytest.approx(share / 100, rel=1e-3, abs=1e-4)
        more += number(launch, "l1tex__m_xbar2l1tex_read_bytes.sum") > 1.2 * row["l2_vendor_bytes"]
    assert more > 3


def test_kernels_that_move_are_told_as_such(query: Any) -> None:
    of = ranges()
    rows = query("zero_ai_kernels", by="launch")
    kinds = {of[row["launch_index"]]: row["zero_ai_kind"] for row in rows if row["is_zero_ai"]}
    assert kinds.pop("sort") in ("measured_zero", "moves")  # of several kernels
    assert kinds == {
        "transpose": "moves",
        "gather": "moves",
        "int_add": "measured_zero",
        "fill": "measured_zero",
        "zero_memset": "measured_zero",
        "gemm_int8": "integer",
    }
    named = {row["name"].partition("(")[0].rpartition("::")[2]: row for row in rows}
    reversing = named["fill_reverse_indices_kernel"]
    assert reversing["zero_ai_kind"] == "moves"
    assert reversing["fp16_flop"] == pytest.approx(4 * 1024 * 1024, rel=1e-4)
    packed = query("zero_ai_kernels", by="launch", fp16_convention="packed")
    assert len(packed) == sum(row["zero_ai_kind"] in ("measured_zero", "integer") for row in rows)


@pytest.mark.parametrize("run", ["lstm", "conv2d_fp16_b16"])
def test_operation_counters_decide_where_the_tensor_pipe_only_ran(query: Any, run: str) -> None:
    launches = list(raw_page(f"{run}.raw"))
    pipe = [number(launch, "sm__inst_executed_pipe_tensor.sum") for launch in launches]
    work = [operations(launch) for launch in launches]
    tensor = [sum(of[name] for name in of if name.startswith("tensor")) for of in work]
    assert sum(ran > 0 and not done for ran, done in zip(pipe, tensor, strict=True)) > 0
    found = query("kernel_figures", run, by="launch")
    expected = {
        int(launch["ID"]): sum(of.values()) - of["fp16"]
        for launch, of in zip(launches, work, strict=True)
    }
    assert {row["launch_index"]: row["total_flop"] for row in found} == expected
    kernels = query("kernel_figures", run)
    assert all(row["bound_kind"] for row in kernels)
    assert len(kernels) == len({launch["Kernel Name"] for launch in launches})
    (summary,) = query("application_summary", run)
    assert summary["total_flop"] == sum(expected.values())
    assert summary["unknown_time_ratio"] == 0
    assert summary["other_flop"] == sum(sum(of.values()) for of in work)


# -- ceilings and bounds --------------------------------------------------------------------------


def own_figures() -> dict[int, tuple[str, float, float]]:
    """Of each launch: its ceiling, its utilization, and its time at peak / time, by DRAM."""
    found = {}
    for launch in raw_page("micro.raw-base"):
        work, time = operations(launch), number(launch, "gpu__time_duration.sum") * 1e-9
        del work["fp16"]  # moves and conversions, all of them
        ceiling = max(work, key=lambda name: (work[name], name == "fp32"))
        compute = sum(flop / PEAKS[name] for name, flop in work.items())
        moved = sum(number(launch, f"dram__bytes_{way}.sum") for way in ("read", "write")) / DRAM
        found[int(launch["ID"])] = (
            ceiling,
            work[ceiling] / PEAKS[ceiling] / time,
            max(compute, moved) / time,
        )
    return found


def test_each_kernel_is_held_to_the_ceiling_of_most_of_its_operations(query: Any) -> None:
    expected = own_figures()
    rows = query("kernel_figures", by="launch")
    assert {row["launch_index"]: row["ceiling_name"] for row in rows} == {
        launch: ceiling for launch, (ceiling, _, _) in expected.items()
    }
    for row in rows:
        _, utilization, roof = expected[row["launch_index"]]
        assert row["utilization_ratio"] == pytest.approx(utilization, rel=2e-3), row
        # caches can be nearer than both; what is used is never above the roof
        assert row["roof_ratio"] >= roof * (1 - 2e-3)
        assert row["utilization_ratio"] <= row["roof_ratio"] * (1 + 1e-9)
        if row["nearest_name"] in ("compute", "dram"):
            assert row["roof_ratio"] == pytest.approx(roof, rel=2e-3)
    used = {row["ceiling_name"] for row in rows}
    assert {"tensor_bf16", "tensor_fp8", "tensor_int8", "tensor_tf32", "fp32"} <= used
    tensor = [row for row in rows if row["ceiling_name"].startswith("tensor_")]
    assert all(row["fp32_utilization_ratio"] < 0.1 for row in tensor)
    # the table is of the same figures, and so is the bound of its speed-up
    low = query("low_utilization_kernels", by="launch", top=36)
    known = {row["event_id"]: row for row in rows}
    assert all(row["utilization_ratio"] < row["average_ratio"] for row in low)
    well = {row["name"] for row in tensor if row["utilization_ratio"] > 0.3}
    assert not {row["name"] for row in low} & well
    for row in low:
        match = [
            one
            for one in known.values()
            if one["total_ns"] == row["total_ns"] and one["name"] == row["name"]
        ]
        assert (row["utilization_ratio"], row["roof_ratio"], row["bound_kind"]) in [
            (one["utilization_ratio"], one["roof_ratio"], one["bound_kind"]) for one in match
        ]
        if row["utilization_ratio"]:
            assert row["speedup_bound"] == pytest.approx(1 / row["utilization_ratio"])


def test_the_peak_of_fp32_gives_the_tables_of_the_paper(query: Any) -> None:
    launches = list(raw_page("micro.raw-base"))
    flop = sum(operations(launch)["fp32"] for launch in launches)
    time = sum(number(launch, "gpu__time_duration.sum") for launch in launches) * 1e-9
    average = flop / (PEAKS["fp32"] * time)
    low = query("low_utilization_kernels", ceiling="fp32", top=99)
    assert {row["ceiling_name"] for row in low} == {"fp32"}
    assert low[0]["average_ratio"] == pytest.approx(average, rel=1e-3)
    both = {row["name"]: row for row in query("kernel_figures")}
    for row in low:
        assert row["utilization_ratio"] == both[row["name"]]["fp32_utilization_ratio"] < average


@pytest.mark.parametrize("run", ["lstm", "conv2d_fp16_b16"])
def test_shares_of_peaks_are_those_of_nsight_compute(query: Any, run: str) -> None:
    rows = {row["launch_index"]: row for row in query("kernel_figures", run, by="launch")}
    launches = list(raw_page(f"{run}.raw"))
    assert {int(launch["ID"]) for launch in launches} == {*rows}
    for launch in launches:
        row = rows[int(launch["ID"])]
        percent = number(launch, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")
        bandwidth = row["total_bytes"] / row["total_ns"] * 1e9
        # a short kernel has cycles of the memory before its first and after its last one
        assert bandwidth / DRAM == pytest.approx(percent / 100, rel=0.03)
        # the pipe of FP32 is one of those of which `sm__throughput` is the busiest
        clock = number(launch, "sm__cycles_elapsed.avg") / row["total_ns"] * 1e9
        at_its_clock = row["fp32_utilization_ratio"] * PEAKS["fp32"] / (132 * 256 * clock)
        assert (
            at_its_clock <= number(launch, "sm__throughput.avg.pct_of_peak_sustained_elapsed") / 100
        )


def test_what_is_far_from_every_roof_is_latency(query: Any) -> None:
    rows = query("kernel_figures", by="launch")
    shares = {
        int(launch["ID"]): {
            kind: number(launch, f"{name}_throughput.avg.pct_of_peak_sustained_elapsed")
            for kind, name in (("bandwidth", "gpu__compute_memory"), ("compute", "sm_"))
        }
        for launch in raw_page("micro.raw-base")
    }
    for row in rows:
        share = shares[row["launch_index"]]
        busiest = max(share, key=lambda kind: share[kind])
        if row["roof_ratio"] < 0.6:
            assert row["bound_kind"] == (busiest if share[busiest] >= 60 else "latency"), row
        else:
            assert row["bound_kind"] in ("compute", "bandwidth")
    of = ranges()
    (product,) = (row for row in rows if of[row["launch_index"]] == "gemm_int8")
    # its kernel is of another generation: 6 % of the tensor cores, shared memory 90 % busy
    assert (product["bound_kind"], product["nearest_name"]) == ("bandwidth", "memory throughput")
    assert product["ceiling_name"] == "tensor_int8"
    seconds = product["total_ns"] * 1e-9
    assert product["utilization_ratio"] == pytest.approx(
        2 * 2048**3 / PEAKS["tensor_int8"] / seconds
    )
    # the limit is the user's
    none = query("kernel_figures", by="launch", latency_below=0.0)
    every = query("kernel_figures", by="launch", latency_below=2.0)
    assert "latency" not in {row["bound_kind"] for row in none}
    assert {row["bound_kind"] for row in every} == {"latency"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("run", ["micro", "lstm", "conv2d_fp16_b16"])
def test_every_report_names_the_same_bound(
    store: Store, database: Database, query: Any, run: str
) -> None:
    told: dict[str, set[tuple[str, str, str, float]]] = {}
    for report in ("kernel_figures", "application_summary"):
        told[report] = {
            (row["name"], row["bound_kind"], row["nearest_name"], round(row["roof_ratio"], 9))
            for row in query(report, run, by="name")
        }
    overhead = query("launch_overhead", run, launch_overhead_ns=1e-9)  # too small to bound any
    told["launch_overhead"] = {
        (row["name"], row["bound_kind"], row["nearest_name"], round(row["roof_ratio"], 9))
        for row in overhead
        if not row["is_total"]
    }
    assert told["kernel_figures"] == told["application_summary"] == told["launch_overhead"]
    chart = Session(Database(store)).roofline_data([run], RooflineRequest()).data
    drawn = {
        (row["name"], row["bound_kind"], round(row["roof_ratio"], 9))
        for row in chart.rows()
        if row["row_kind"] == "point"
    }
    assert drawn == {(name, kind, roof) for name, kind, _, roof in told["kernel_figures"]}
    launches = query("kernel_figures", run, by="launch")
    by_launch = {(row["event_id"], row["bound_kind"]) for row in launches}
    view = database.sql(
        f"SELECT event_id, bound_kind FROM kernel_bound WHERE run_id = '{database.run_id(run)}'"
    )
    assert set(view.tuples()) == by_launch
