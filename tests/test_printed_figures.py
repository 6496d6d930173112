"""Figures that a profiler prints beside its counts are those computed here from the counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.ingested import Ingested
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store
from tracekit.summary import summarize

#: As perf prints it on a processor without 512-bit units, which its metric needs no events of.
PERF = """# started on Mon Mar  3 10:11:12 2025


 Performance counter stats for './gemm':

     2,000,000,000      fp_arith_inst_retired.scalar_single      #      5.7 GFLOPs
     1,000,000,000      fp_arith_inst_retired.128b_packed_single
       500,000,000      fp_arith_inst_retired.256b_packed_single
     1,400,000,000      fp_arith_inst_retired.scalar_double
                 0      fp_arith_inst_retired.128b_packed_double
                 0      fp_arith_inst_retired.256b_packed_double

       2.000000000 seconds time elapsed

"""
NVPROF = ROOT / "fixtures" / "nvprof" / "summary-text" / "summary.txt"


def test_shares_of_an_nvprof_summary(ingested: Ingested) -> None:
    """Its Time(%) is of kernels and copies together."""
    first = NVPROF.read_text("utf-8").split("API calls")[0]
    printed = [float(share) / 100 for share in re.findall(r"([\d.]+)%", first)]
    database = ingested.database(NVPROF)
    (run,) = database.run_names()
    kernels = database.query("kernel_time", {"run_id": run}).rows()
    (copies,) = database.query("copies", {"run_id": run}).rows()
    assert (copies["transfer_count"], copies["min_ns"], copies["max_ns"]) == (20, 1000, 9_000_000)
    of_kernels = 1 - copies["work_share_ratio"]
    ours = [of_kernels * row["share_ratio"] for row in kernels] + [copies["work_share_ratio"]]
    assert ours == pytest.approx(printed, abs=5e-5)  # two decimals of a percentage


def test_operations_without_those_of_the_widest_units_are_a_lower_bound(tmp_path: Path) -> None:
    """(2e9 + 4 x 1e9 + 8 x 0.5e9 + 1.4e9) / 2 s are perf's 5.7 GFLOPs."""
    (file := tmp_path / "stat.txt").write_text(PERF, "utf-8")
    ingest(file, tmp_path / "S", Options())
    database = Database(open_store(tmp_path / "S"))
    (row,) = database.query("cpu_work").rows()
    assert row["total_flop"] is None
    assert row["flop_reason"] == "fp64: fp_arith_inst_retired.512b_packed_double: not_collected"
    assert (row["least_flop"], row["least_flop_per_s"]) == (11.4e9, 5.7e9)
    assert row["reported_flop_per_s"] == pytest.approx(5.7e9)
    shown = {row["about"]: row["summary"] for row in summarize(database).rows()}
    assert shown["work"] == f"at least 11.40 GFLOP, 5.700 GFLOP/s ({row['flop_reason']})"


@pytest.mark.parametrize("name", ["raw", "raw-base", "details-all"])
def test_shares_of_memory_of_nsight_compute(corpus: Path, ingested: Ingested, name: str) -> None:
    """Bytes / (time x peak at the clock it had) is its DRAM throughput, but for its passes."""
    database = ingested.database(corpus / "h100" / f"micro.{name}.csv.gz")
    shares = database.sql(
        "SELECT bound.dram_bytes * 1e9 / bound.dur_ns"
        " / (counted.dram_peak_bytes_per_cycle * counted.dram_clock_hz) AS ours,"
        " counted.dram_throughput_ratio AS printed FROM kernel_bound AS bound"
        " JOIN kernel_counter AS counted USING (run_id, source_id, event_id)"
    ).rows()
    assert len(shares) == 36
    for share in shares:
        assert share["ours"] == pytest.approx(share["printed"], abs=0.0025)
