"""What to fix first, as the command line says it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested
from tracekit.catalog import catalog

Tracekit = Callable[..., Any]
HOSTILE = '=HYPERLINK("http://x")\x1b[31m<script>\u202e'


def test_findings_are_paragraphs_for_people(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("advise", "gpu", "--store", filled)
    assert (answer.code, answer.messages) == (0, "")
    lines = answer.text.splitlines()
    assert lines[0].split() == ["finding", "advice"]
    assert lines[2].startswith(
        "1         The device runs dry after the host waited for it: could save"
    )
    # twice 2040.4 us, and 8.4 us in a step, by the timetable beside the trace; after the last copy,
    # 1824 us until its mark ends: 5913 of 11,900
    assert "save up to 5.913 ms (49.7 %)" in answer.text
    assert sum(line.startswith("next      tracekit ") for line in lines) == 5
    assert f"next      tracekit query largest_gaps --run gpu --store {filled}" in " ".join(
        answer.text.split("\n")
    ).replace("          ", "")
    assert "not found: " in answer.text
    assert "below 1.0 %: " in answer.text
    assert "not checked, because the data is missing: " in answer.text


def test_findings_are_rows_for_programs(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("advise", "gpu", "--store", filled, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["finding_index"] for row in rows] == [str(n) for n in range(1, 6)]
    first = rows[0]
    assert (first["finding_name"], first["overlaps"]) == ("idle_synchronisation", "2, 3")
    assert first["command"] == "query largest_gaps"
    everything = tracekit(
        "advise", "gpu", "--store", filled, "--format", "json", "--least", "0", "--phase", "stable"
    )
    names = [row["finding_name"] for row in json.loads(everything.text)["rows"]]
    assert {"idle_host", "small_grid"} <= set(names) <= set(catalog())


def test_the_evidence_of_a_finding_is_a_query(tracekit: Tracekit, filled: Path) -> None:
    words = ("query", "idle_synchronisation", "--run", "gpu", "--store", filled)
    rows = list(csv.DictReader(io.StringIO(tracekit(*words, "--format", "csv").text)))
    assert [row["op_name"] for row in rows] == [
        "aten::copy_",
        "",  # nothing follows the last copy
        "triton_poi_fused_add_gelu_0",
    ]


def test_a_run_in_which_nothing_is_wrong_says_what_was_looked_for(
    tracekit: Tracekit, ingested: Ingested, corpus: Path
) -> None:
    store = ingested.store(corpus / "h100" / "planted" / "baseline.trace.json.gz")
    answer = tracekit("advise", "--store", store)
    assert (answer.code, answer.messages) == (0, "")
    assert answer.text.startswith("No problems found.\n\nrun: ")
    assert "(no rows)" not in answer.text
    assert "could save" not in answer.text
    assert "not found: " in answer.text
    assert "idle_host" in answer.text


@pytest.mark.parametrize(("form", "table"), [("markdown", "| "), ("html", "<table")])
def test_where_nothing_is_found_is_no_table(
    tracekit: Tracekit, ingested: Ingested, corpus: Path, form: str, table: str
) -> None:
    planted = corpus / "h100" / "planted"
    nothing = ingested.store(planted / "baseline.trace.json.gz")
    answer = tracekit("advise", "--store", nothing, "--format", form)
    assert "No problems found." in answer.text
    assert table not in answer.text
    assert "run: " in answer.text
    something = ingested.store(planted / "gc_stall.trace.json.gz")
    assert table in tracekit("advise", "--store", something, "--format", form).text


def test_a_finding_of_all_steps_says_so_beside_those_of_some(
    tracekit: Tracekit, ingested: Ingested, corpus: Path
) -> None:
    store = ingested.store(corpus / "h100" / "planted" / "gc_stall.trace.json.gz")
    told = "of the whole run, not only of these steps: unstable_steps\n"
    # steps of 65.707 and 62.059 ms beside a median of 5.715, without 115.233 in stalls, win 1.101:
    # 0.7 % of 150.522
    assert told in tracekit("advise", "--store", store, "--phase", "2..5", "--least", "0").text
    assert "of the whole run" not in tracekit("advise", "--store", store, "--least", "0").text


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("advise", "nothing"), 2, "nothing"),
        (("advise", "gpu", "--phase", "90..91"), 5, "the run has no steps 90..91"),
        (("advise", "gpu", "--phase", "soon"), 5, 'there is no phase "soon"'),
        (("advise", "gpu", "--format", "pie"), 2, "pie"),
    ],
)
def test_what_is_wrong_is_said(
    tracekit: Tracekit, filled: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    answer = tracekit(*words, "--store", filled)
    assert (answer.code, answer.data) == (code, b"")
    assert says in answer.error


def test_a_share_above_one_is_refused(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("advise", "gpu", "--store", filled, "--least", "2")
    assert (answer.code, answer.data) == (2, b"")


def test_a_file_that_exists_stays(tracekit: Tracekit, filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "advice.csv"
    file.write_text("mine")
    words = ("advise", "gpu", "--store", filled, "--format", "csv", "-o", file)
    assert tracekit(*words).code != 0
    assert file.read_text() == "mine"
    assert tracekit(*words, "--force").code == 0
    assert file.read_text("utf-8").startswith("finding_index,")


def test_names_in_the_file_are_inert(tracekit: Tracekit, tmp_path: Path) -> None:
    """An operator with a formula, an escape sequence and a mark in its name."""
    launches = [
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
        | {"ts": ts, "dur": 1, "args": {"correlation": n}}
        for n, ts in enumerate((0, 500), 1)
    ]
    kernels = [
        {"ph": "X", "cat": "kernel", "name": HOSTILE, "pid": 0, "tid": 7, "ts": ts, "dur": 10}
        | {"args": {"correlation": n, "device": 0, "stream": 7}}
        for n, ts in enumerate((5, 505), 1)
    ]
    trace = tmp_path / "hostile.json"
    trace.write_text(json.dumps({"traceEvents": launches + kernels}))
    assert tracekit("ingest", trace, "--store", tmp_path / "S").code == 0
    answer = tracekit("advise", "--store", tmp_path / "S")
    assert answer.code == 0
    assert "The host launches work too slowly" in answer.text
    assert "\x1b" not in answer.text
    assert "\u202e" not in answer.text
