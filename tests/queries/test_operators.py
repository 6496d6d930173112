"""Operators and layers of real traces: against a peer's reports, and against each other."""

from __future__ import annotations

import ast
import csv
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested, opened
from tracekit.engine import Database

#: NVIDIA and AMD; forward alone, forward and backward, compiled.
TRACES = [
    "tracelens-bertsmall-h100",
    "tracelens-nsfwvit-h100-flops-mem-stack",
    "tracelens-normlayers-mi300x-fwdbwd",
    "tracelens-torchcompile-triton-mi300x",
]
FAMILIES = {
    "GEMM": "matmul",
    "SDPA_fwd": "attention",
    "CONV_fwd": "convolution",
    "CONV_bwd": "convolution",
}
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def database(corpus: Path, ingested: Ingested) -> Database:
    files = {name: corpus / "torch" / f"{name}.json.gz" for name in TRACES}
    return opened(ingested.runs(**files))


def report(database: Database, name: str, run: str, **parameters: Any) -> Rows:
    return database.query(name, {"run_id": run, **parameters}).rows()


def theirs(corpus: Path, run: str, name: str) -> Iterator[dict[str, str]]:
    file = corpus / "oracles" / "tracelens" / run / f"{name}.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


# -- against TraceLens ----------------------------------------------------------------------------


def sets_of_rocm(database: Database, run: str) -> Counter[str]:
    """The sets that a runtime of AMD launched, which TraceLens leaves out, by operator."""
    rows = database.sql(
        "SELECT op_name, sum(dur_ns) AS set_ns FROM attribution WHERE launch_name LIKE 'hip%' "
        f"AND work_kind = 'memset' AND run_id = '{run}' GROUP BY op_name"
    )
    return Counter({row["op_name"]: int(row["set_ns"]) for row in rows.rows()})


@pytest.mark.parametrize("run", TRACES)
def test_times_and_calls_are_those_of_tracelens(database: Database, corpus: Path, run: str) -> None:
    """Theirs are in microseconds of 64-bit floats since 1970: a fifth of a nanosecond a call."""
    times, calls = defaultdict[str, float](float), Counter[str]()
    for line in theirs(corpus, run, "ops_summary"):
        times[line["name"]] += float(line["total_direct_kernel_time_sum"]) * 1000
        calls[line["name"]] += int(line["Count"])
    sets = sets_of_rocm(database, run)
    found = {row["name"]: row for row in report(database, "ops", run)}
    assert found.keys() == times.keys()
    for name, row in found.items():
        assert row["call_count"] == calls[name], name
        near = pytest.approx(times[name], abs=0.2 * calls[name] + 0.5)
        assert row["total_ns"] - sets[name] == near, name


@pytest.mark.parametrize("run", TRACES)
def test_products_have_the_work_that_tracelens_models(
    database: Database, corpus: Path, run: str
) -> None:
    """Of addmm without the additions of the bias, which is what theirs have more."""
    flops, moved = Counter[str](), Counter[str]()
    for line in theirs(corpus, run, "unified_perf_summary"):
        if (family := FAMILIES.get(line["op category"])) is None:
            continue
        calls = int(line["operation_count"])
        dims = ast.literal_eval(line["Input Dims"])
        bias = dims[1][0] * dims[2][1] if line["name"] == "aten::addmm" else 0
        flops[family] += calls * (round(float(line["GFLOPS"]) * 1e9) - bias)
        moved[family] += calls * round(float(line["Data Moved (MB)"]) * 2**20)
    found = {row["name"]: row for row in report(database, "ops", run, by="family")}
    for family in flops:
        row = found[family]
        assert (row["total_flop"], row["total_bytes"]) == (flops[family], moved[family]), family
        assert row["known_ratio"] == 1
    assert {family for family in found if family in FAMILIES.values()} == flops.keys()


# -- against each other ---------------------------------------------------------------------------


def total(rows: Rows, *names: str) -> float:
    return sum(row[name] or 0 for row in rows for name in names)


@pytest.mark.parametrize("run", TRACES)
def test_operators_and_layers_have_the_same_totals(database: Database, run: str) -> None:
    layers = report(database, "layers", run)
    for by in ("name", "shape", "family"):
        ops = report(database, "ops", run, by=by)
        assert total(ops, "share_ratio") == pytest.approx(1)
        assert total(ops, "kernel_ns") == total(layers, "forward_ns", "backward_ns", "other_ns")
        assert total(ops, "kernel_count") == total(layers, "kernel_count")
        for figure in ("total_flop", "total_bytes"):
            assert total(ops, figure) == total(layers, figure)


@pytest.mark.parametrize("run", TRACES)
def test_all_device_work_is_in_a_row(database: Database, run: str) -> None:
    (work,) = database.sql(
        f"SELECT sum(dur_ns) AS total_ns FROM attribution WHERE run_id = '{run}'"
    ).rows()
    assert total(report(database, "ops", run), "total_ns") == work["total_ns"]


@pytest.mark.parametrize("run", TRACES)
def test_what_is_not_modelled_is_what_ops_do_not_know(database: Database, run: str) -> None:
    lacking = report(database, "unmodelled_ops", run)
    ops = report(database, "ops", run)
    unknown = sum(round(row["total_ns"] * (1 - row["known_ratio"])) for row in ops)
    assert total(lacking, "total_ns") == unknown
    assert all(row["reason"] for row in lacking)
