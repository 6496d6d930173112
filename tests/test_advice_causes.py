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
        ("data_loading", "host_data_loading"),
        ("elementwise_chain", "unfused_chain"),
        ("recomputation", "recomputation"),
    ],
)
def test_the_first_finding_is_what_was_planted(
    ingested: Ingested, cause: str, finding: str
) -> None:
    database = ingested.database(CAUSES / f"{cause}.trace.json.gz")
    assert advise(database).rows()[0]["finding_name"] == finding
