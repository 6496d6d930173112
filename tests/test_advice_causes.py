"""The first finding names the cause that was planted in programs recorded on a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingested import Ingested
from tracekit.advice import advise

CAUSES = Path(__file__).parents[1] / "fixtures" / "torch_profiler" / "cpu-causes"


@pytest.mark.parametrize(
    ("cause", "finding"),
    [
        ("allocation", "host_fill"),
        ("data_loading", "host_data_loading"),
        ("elementwise_chain", "unfused_chain"),
        ("item_each", "host_item"),
        ("one_by_one", "host_small_product"),
        ("recomputation", "recomputation"),
        # the file does not say how many threads computed: the product that takes the time
        ("single_thread", "host_op_time"),
    ],
)
def test_the_first_finding_is_what_was_planted(
    ingested: Ingested, cause: str, finding: str
) -> None:
    database = ingested.database(CAUSES / f"{cause}.trace.json.gz")
    assert advise(database).rows()[0]["finding_name"] == finding


def test_with_its_peaks_a_single_thread_is_named(ingested: Ingested, tmp_path: Path) -> None:
    """6.44 GFLOP in 153.2 ms are 42 GFLOP/s: one of two cores reaches 92.8, both need 34.7 ms."""
    peaks = tmp_path / "peaks.toml"
    peaks.write_text(
        "[ceilings]\nfp32 = 185.6e9\ndram = 40e9\n[cpu]\nsockets = 1\ncores_per_socket = 2\n"
    )
    database = ingested.database(CAUSES / "single_thread.trace.json.gz", peaks=(peaks,))
    first = advise(database).rows()[0]
    assert first["finding_name"] == "host_single_core"
    assert first["win_ns"] == pytest.approx(118.5e6, rel=0.01)
