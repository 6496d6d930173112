"""Figures that a profiler prints beside its counts are those computed here from the counts."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.ingested import Ingested

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
