"""The function of a kernel: what a name says without what it is instantiated with."""

from __future__ import annotations

import csv
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.signatures import kernel_function

FUNCTIONS = Path(__file__).resolve().parent.parent / "fixtures" / "kernel_names" / "functions.csv"


def test_a_kernel_is_called_by_its_function() -> None:
    with FUNCTIONS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) > 30
    expected = {row["name"]: row["function"] for row in rows}
    assert {name: kernel_function(name) for name in expected} == expected


def test_brackets_that_never_end_end_nowhere() -> None:
    assert kernel_function("void f<" + "a<" * 50_000) == "f"
    assert kernel_function("_ZN" + "1aI" * 5_000)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab:<>(){}[]_ ,&*ZNIE123SKL./-'$"), max_size=40))
def test_no_name_is_refused_or_gets_longer(name: str) -> None:
    for text in (name, f"_Z{name}"):
        found = kernel_function(text)
        assert bool(found) or not text.strip("./ ")
        assert len(found) <= 2 * len(text)
