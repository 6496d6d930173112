"""What holds for the findings of every run, whatever is in it."""

from __future__ import annotations

import math
import re
from collections import Counter

from tracekit.advice import advise
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.result import Result

WHOLE = "of the whole run, not only of these steps: "
FINDINGS = {name: query for name, query in catalog().items() if query.kind == "finding"}


def named(result: Result) -> list[str]:
    """Every finding that a result lists, in its rows or its notes, but for what is in both."""
    notes = [note for note in result.notes[1:] if not note.startswith(WHOLE)]
    return [row["finding_name"] for row in result.rows()] + [
        name for note in notes for name in note.split(": ", 1)[1].split(", ")
    ]


def check_advice(database: Database, run: str, phase: str = "all") -> None:
    """Each finding is listed once, ranked by its time, and overlaps go both ways."""
    result = advise(database, run, phase, 0)
    assert Counter(named(result)) == dict.fromkeys(FINDINGS, 1)
    rows = result.rows()
    without = [r["finding_name"] for r in rows if "$phase" not in FINDINGS[r["finding_name"]].sql]
    told = [WHOLE + ", ".join(without)] if without and phase != "all" else []
    assert [note for note in result.notes if note.startswith(WHOLE)] == told
    wins = [row["win_ns"] or 0 for row in rows]
    assert wins == sorted(wins, reverse=True)
    for row in rows:
        assert row["win_ns"] is None or row["win_ns"] > 0
        assert row["win_ratio"] is None or 0 < row["win_ratio"] <= 1
        assert not re.search(r"\{\w+(:[\w ]+)?\}", row["evidence"])
        assert "None" not in row["evidence"]
    overlaps = {
        row["finding_index"]: {int(other) for other in (row["overlaps"] or "").split(", ") if other}
        for row in rows
    }
    for index, others in overlaps.items():
        assert index not in others
        assert all(index in overlaps[other] for other in others)


def check_evidence(database: Database, run: str) -> None:
    """No more time than there is, in no finding on no device, and nothing that is not a number."""
    for name, query in FINDINGS.items():
        if database.lacking(query):
            continue
        for row in database.query(name, {"run_id": run}).rows():
            reals = [value for value in row.values() if isinstance(value, float)]
            assert all(map(math.isfinite, reals)), (name, row)
            if query.finding is not None and query.finding.pool == "none":
                assert row["win_ns"] is None
            if row["win_ns"] is not None:
                assert row["elapsed_ns"] is None or 0 < row["win_ns"] <= row["elapsed_ns"], row
