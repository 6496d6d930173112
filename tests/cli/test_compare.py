"""Two runs beside each other, as a user and as a CI meets them.

The second run is the first with every time 20 % longer. Of the first: a step is 4 ms, from the
first work of one to that of the next; of its three steps the first two are the stable phase.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tracekit
from tracekit.errors import QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.render.text import inert

Tracekit = Callable[..., Any]

STEP_NS, SLOWER, SLOWER_NS = 4_000_000, 1.2, 4_800_000
#: A gemm that runs twice a step: 40 us each, 0.512 us longer in step 1 (step 2 is not stable).
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_"
GEMM_NS = 2 * (40_000 + 40_512) / 2


def slower(trace: Path, to: Path, factor: float) -> Path:
    """The trace with every start and duration times `factor`."""
    content = json.loads(gzip.decompress(trace.read_bytes()))
    for event in content["traceEvents"]:
        event.update({key: round(event[key] * factor, 3) for key in ("ts", "dur") if key in event})
    to.write_text(json.dumps(content))
    return to


@pytest.fixture(scope="session")
def store(
    tmp_path_factory: pytest.TempPathFactory,
    gpu_trace: Path,
    cpu_trace: Path,
    small_trace: Path,
    traces: Path,
) -> Path:
    """A store with the runs fast, slow, cpu, small and one with names that mean harm."""
    folder = tmp_path_factory.mktemp("compare")
    path = folder / "S"
    slow = slower(gpu_trace, folder / "slow.json", SLOWER)
    for name, trace in (
        ("fast", gpu_trace),
        ("slow", slow),
        ("cpu", cpu_trace),
        ("small", small_trace),
    ):
        ingest(trace, path, Options(run_name=name))
    ingest(
        traces / "hand-made" / "hostile-names.json", path, Options(run_name="\x1b]0;owned\x07|run")
    )
    return path


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def row_of(rows: list[dict[str, str]], name: str) -> dict[str, str]:
    (row,) = [row for row in rows if row["name"].startswith(name)]
    return row


# -- what comes out -------------------------------------------------------------------------------


def test_what_got_slower(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("compare", "fast", "slow", "--store", store)
    assert (answer.code, answer.messages) == (0, "")
    lines = answer.text.splitlines()
    assert lines[0] == "B is 20.0 % slower per step (4.000 ms → 4.800 ms, beyond noise of ±0 ns)."
    assert "A: fast, NVIDIA H100 80GB HBM3, 1 source, 2 steps (host: 0..1)" in lines
    assert "steps of the stable phase" in lines
    assert "the devices differ" not in lines


def test_every_figure_in_csv(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("compare", "fast", "slow", "--store", store, "--format", "csv")
    rows = rows_of(answer.text)
    assert [row["name"] for row in rows[:4]] == [
        "(step)",
        "(device busy)",
        "(device idle)",
        "(all)",
    ]
    assert [float(rows[0][column]) for column in ("a_ns", "b_ns", "delta_ns")] == [
        STEP_NS,
        SLOWER_NS,
        SLOWER_NS - STEP_NS,
    ]
    gemm = row_of(rows, GEMM)
    assert float(gemm["a_ns"]) == pytest.approx(GEMM_NS)
    assert float(gemm["b_ns"]) == pytest.approx(GEMM_NS * SLOWER, abs=2)  # times are of 1 ns
    assert gemm["a_launch_count"] == "2.0"
    parts = [row for row in rows if row["row_kind"] == "part"]
    assert sum(float(row["delta_ns"]) for row in parts) == pytest.approx(float(rows[3]["delta_ns"]))
    assert sum(float(row["a_share_ratio"]) for row in parts) == pytest.approx(1)
    sizes = [abs(float(row["delta_ns"])) for row in parts]
    assert sizes == sorted(sizes, reverse=True)


def test_the_other_way_round_it_is_faster(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("compare", "slow", "fast", "--store", store, "--fail-on", "0%")
    assert (answer.code, answer.messages) == (0, "")
    # 0.8 of 4.8
    assert answer.text.startswith("B is 16.7 % faster per step (4.800 ms → 4.000 ms")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("by", ["kernel", "op", "layer", "phase", "category"])
def test_a_run_beside_itself_differs_in_nothing(tracekit: Tracekit, store: Path, by: str) -> None:
    answer = tracekit(
        "compare",
        "fast",
        "fast",
        "--store",
        store,
        "--by",
        by,
        "--fail-on",
        "0%",
        "--format",
        "csv",
    )
    assert (answer.code, answer.messages) == (0, "")
    rows = rows_of(answer.text)
    assert len(rows) > 4
    assert {(row["change_kind"], row["delta_ns"], row["is_beyond_noise"]) for row in rows} == {
        ("same", "0.0", "false")
    }


def test_steps_can_be_chosen(tracekit: Tracekit, store: Path) -> None:
    chosen = tracekit("compare", "fast", "slow", "--store", store, "--phase", "1..1")
    assert chosen.text.startswith("B is 20.0 % slower per step (4.000 ms → 4.800 ms, noise unknown")
    assert "fewer than 2 steps: spread unknown" in chosen.text
    every = tracekit("compare", "fast", "slow", "--store", store, "--phase", "all")
    assert "3 steps (host: 0..2)" in every.text
    wrong = tracekit("compare", "fast", "slow", "--store", store, "--phase", "7..9")
    assert wrong.code == 5
    assert "the run has no steps 7..9" in wrong.messages


def test_the_largest_differences(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("compare", "fast", "slow", "--store", store, "--top", "2", "--by", "category")
    assert "2 of 4 rows; the other rows total" in answer.text
    assert "memset" not in answer.text
    every = tracekit("compare", "fast", "slow", "--store", store, "--by", "category")
    assert "memset" in every.text


def test_other_outputs(tracekit: Tracekit, store: Path, tmp_path: Path) -> None:
    call = ("compare", "fast", "slow", "--store", store, "--by", "category")
    told = json.loads(tracekit(*call, "--format", "json").text)
    assert told["notes"][0].startswith("B is 20.0 % slower per step")
    assert told["rows"][0]["b_ns"] == SLOWER_NS
    file = tmp_path / "out.parquet"
    assert tracekit(*call, "--format", "parquet", "-o", file).code == 0
    assert pq.read_table(file).num_rows == len(told["rows"])
    again = tracekit(*call, "--format", "parquet", "-o", file)
    assert (again.code, again.data) == (2, b"")
    assert tracekit(*call, "--format", "parquet", "-o", file, "--force").code == 0


def test_a_table_for_a_pull_request(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit(
        "compare", "fast", "slow", "--store", store, "--format", "markdown", "--top", "1"
    )
    first, empty, header, *rest = answer.text.splitlines()
    assert first == "B is 20.0 % slower per step (4.000 ms → 4.800 ms, beyond noise of ±0 ns)."
    assert empty == ""
    assert header.startswith("| change kind | name | a \\[µs\\] | b \\[µs\\] | delta \\[µs\\] |")
    assert rest[5].startswith("| slower | ncclDevKernel\\_AllReduce")
    assert rest[6] == ""
    assert rest[7] == "- A: fast, NVIDIA H100 80GB HBM3, 1 source, 2 steps (host: 0..1)"


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
def test_names_that_mean_harm(tracekit: Tracekit, store: Path, form: str) -> None:
    answer = tracekit(
        "compare",
        "small",
        "\x1b]0;owned\x07|run",
        "--store",
        store,
        "--format",
        form,
        "--full-names",
    )
    assert answer.code == 0
    assert inert(answer.text, newline=True) == answer.text
    if form == "markdown":
        rows = [line for line in answer.text.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in rows}) == 1


# -- for CI ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "code"), [("5%", 8), ("19.9 %", 8), ("20.1%", 0), ("50%", 0)])
def test_a_limit_decides(tracekit: Tracekit, store: Path, limit: str, code: int) -> None:
    answer = tracekit("compare", "fast", "slow", "--store", store, "--fail-on", limit)
    assert answer.code == code
    assert answer.text.startswith("B is 20.0 % slower per step")
    if code:
        assert answer.error == (
            "B is 20.0 % slower per step (4.000 ms → 4.800 ms, beyond noise of ±0 ns). "
            f"--fail-on allows {limit.removesuffix('%').strip()} %"
        )


def test_without_noise_the_ratio_decides_and_that_is_said(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit(
        "compare", "fast", "slow", "--store", store, "--fail-on", "5%", "--phase", "1..1"
    )
    assert answer.code == 8
    assert answer.messages.startswith("--fail-on: noise unknown, so only the ratio")


def test_what_is_within_noise_does_not_fail(
    tracekit: Tracekit, tmp_path: Path, gpu_trace: Path
) -> None:
    """Steps of 4, 4 and 3.75 ms: their noise is larger than 1 %."""
    for name, factor in (("a", 1.0), ("b", 1.01)):
        trace = slower(gpu_trace, tmp_path / f"{name}.json", factor)
        ingest(trace, tmp_path / "S", Options(run_name=name))
    answer = tracekit(
        "compare", "a", "b", "--store", tmp_path / "S", "--phase", "all", "--fail-on", "0.5%"
    )
    assert (answer.code, answer.messages) == (0, "")
    assert answer.text.startswith(
        "B takes about as long per step as A (3.967 ms → 4.006 ms, within"
    )


def test_what_cannot_be_compared_does_not_pass(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("compare", "fast", "cpu", "--store", store)
    assert answer.code == 0
    assert answer.text.startswith("A and B have nothing in common to compare.")
    assert "no rows by op: A has device time, B has time of operators on the host" in answer.text
    by_kernel = tracekit("compare", "fast", "cpu", "--store", store, "--by", "kernel")
    assert "no rows by kernel: A has device time, B has no times of kernels" in by_kernel.text
    judged = tracekit("compare", "fast", "cpu", "--store", store, "--fail-on", "5%")
    assert judged.code == 2


def test_without_a_device_operators_are_compared(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit("compare", "cpu", "cpu", "--store", store)
    assert answer.code == 0
    assert answer.text.startswith("B takes as long as A (time of operators on the host")
    assert "aten::" in answer.text


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["fast", "nothing"], 2, "there is no run called 'nothing'"),
        (["fast", "slow", "--fail-on", "5"], 2, "--fail-on '5': write a percentage, e.g. 5%"),
        (["fast", "slow", "--fail-on", "-5%"], 2, "--fail-on '-5%': write a percentage"),
        (["fast", "slow", "--by", "colour"], 5, "by: invalid value 'colour'"),
        (["fast", "slow", "--phase", "x"], 5, "phase must be all, stable or N..M"),
        (["fast"], 2, "Missing argument 'B'"),
    ],
)
def test_what_cannot_be_meant(
    tracekit: Tracekit, store: Path, words: list[str], code: int, message: str
) -> None:
    answer = tracekit("compare", *words, "--store", store)
    assert (answer.code, answer.data) == (code, b"")
    assert message in answer.messages


# -- Python and SQL -------------------------------------------------------------------------------


def test_in_python(store: Path) -> None:
    session = tracekit.open(store)
    result = session.compare("fast", "slow", by="category")
    assert result.heading.startswith("B is 20.0 % slower per step")
    assert result.df()["name"].tolist()[4:] == ["compute", "communication", "memcpy", "memset"]
    with pytest.raises(UsageError):
        session.compare("fast", "nothing")
    with pytest.raises(QueryError):
        session.compare("fast", "slow", by="colour")


def test_as_a_report(tracekit: Tracekit, store: Path) -> None:
    answer = tracekit(
        "query",
        "comparison",
        "--run",
        "fast",
        "--param",
        "other_run_id=slow",
        "--param",
        "phase=stable",
        "--store",
        store,
        "--format",
        "csv",
    )
    assert float(rows_of(answer.text)[0]["b_ns"]) == SLOWER_NS
