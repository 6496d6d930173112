"""Sequences of kernels, beside the counts of texts with a letter for each kernel."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database

DUR_NS, GAP_NS = 10, 3


def rows_of(text: str, stream: int) -> list[dict[str, Any]]:
    """A kernel for each letter of a text, on one stream."""
    return [
        {
            "event_id": 1000 * stream + place,
            "work_kind": "kernel",
            "name": letter,
            "device_id": 0,
            "stream_id": stream,
            "start_ns": place * (DUR_NS + GAP_NS),
            "dur_ns": DUR_NS,
        }
        for place, letter in enumerate(text)
    ]


@pytest.mark.parametrize("letters", ["a", "ab", "abc"])
@pytest.mark.parametrize("seed", range(3))
def test_they_are_counted_as_parts_of_a_text(
    tmp_path: Path, write_store: Any, letters: str, seed: int
) -> None:
    """Which do not overlap: as `str.count` counts them."""
    chance = random.Random(seed)
    texts = ["".join(chance.choices(letters, k=chance.randint(1, 60))) for _ in range(8)]
    rows = [row for stream, text in enumerate(texts) for row in rows_of(text, stream)]
    database = Database(write_store(tmp_path / "S", {"attribution": rows}))
    given = {"run_id": "r", "least_count": 1, "top": 1_000_000}
    found = database.query("kernel_sequences", given).rows()
    counts = {row["sequence"].replace(" → ", ""): row for row in found}
    assert counts
    for text, row in counts.items():
        count = sum(one.count(text) for one in texts)
        assert (row["sequence_count"], row["kernel_count"]) == (count, len(text))
        assert row["total_ns"] == count * len(text) * DUR_NS
        assert row["gap_ns"] == count * (len(text) - 1) * GAP_NS
    every = {one[at : at + n] for one in texts for at in range(len(one)) for n in range(2, 6)}
    most = max((len(text) - 1) * sum(one.count(text) for one in texts) for text in every)
    assert found[0]["gap_ns"] == most * GAP_NS
