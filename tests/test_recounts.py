"""Recounts: reports agree with what plain lines count in the stored rows, and are told if not."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pyarrow as pa
import pytest

from tests.ingested import Ingested
from tracekit import audit
from tracekit.catalog import catalog, known
from tracekit.recounts import Recount, recounts, unlike
from tracekit.schema import TABLES

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
CORPUS = ROOT.parent / "shared" / "corpus"


def of_kernels(
    *, is_partial: bool = False, is_sum: bool = False, skips_unknown: bool = False
) -> Recount:
    options = is_partial, is_sum, skips_unknown
    return Recount("counted", "p", "kernel_time", ("name",), (), *options, "")


def kernels(**total_ns: int | None) -> pa.Table:
    return pa.table({"name": list(total_ns), "total_ns": list(total_ns.values())})


@pytest.mark.parametrize("recount", recounts(), ids=lambda recount: recount.name)
def test_a_recount_reads_stored_rows_only_and_has_columns_of_its_report(recount: Recount) -> None:
    called = set(re.findall(r"(?:from|join)\s+(\w+)|(\w+)\(", recount.sql))
    ours = {name for name, query in catalog().items() if query.kind in ("macro", "view")}
    assert not {name for pair in called for name in pair} & (ours - set(TABLES))
    assert {*recount.needs} <= set(TABLES)
    report = known(recount.report)
    assert report is not None
    assert {*recount.keys} <= {column.name for column in report.columns}
    assert recount.purpose.endswith(".")


@pytest.mark.parametrize(
    "recount", [r for r in recounts() if r.options], ids=lambda recount: recount.name
)
def test_options_of_a_recount_are_choices_of_its_report(recount: Recount) -> None:
    report = known(recount.report)
    assert report is not None
    choices = {parameter.name: parameter.choices for parameter in report.parameters}
    assert recount.options.keys() <= choices.keys()
    for name, choice in recount.options.items():
        assert not choices[name] or choice is None or choice in choices[name]


def test_of_several_options_one_at_a_time_is_another_than_the_first() -> None:
    asked = [r.options for r in recounts() if r.name.startswith("application_summary")]
    usual = {"by": "run", "fp16_convention": "arithmetic", "latency_below": None}
    assert asked == [
        usual,
        {**usual, "by": "name"},
        {**usual, "fp16_convention": "packed"},
        {**usual, "fp16_convention": "scalar"},
    ]


def test_equal_values_are_consistent() -> None:
    assert unlike(of_kernels(), kernels(a=1, b=None), kernels(b=None, a=1)) == []


def test_another_value_and_a_lost_row_are_told() -> None:
    what = ("counted", "p")
    assert unlike(of_kernels(), kernels(a=1, b=2), kernels(a=3, c=4)) == [
        (*what, "a", "kernel_time.total_ns", 1, "counted: total_ns", 3),
        (*what, "c", "rows of kernel_time", 0, "rows counted", 1),
        (*what, "b", "rows of kernel_time", 1, "rows counted", 0),
    ]


def test_a_recount_without_rows_says_nothing() -> None:
    assert unlike(of_kernels(), kernels(a=1), kernels(a=1).slice(0, 0)) == []


def test_a_value_that_became_unknown_is_told() -> None:
    assert unlike(of_kernels(), kernels(a=None), kernels(a=3)) == [
        ("counted", "p", "a", "kernel_time.total_ns", None, "counted: total_ns", 3)
    ]


def test_a_sum_of_128_bits_is_a_number() -> None:
    counted = pa.table({"name": ["a"], "total_ns": pa.array([3], pa.decimal128(38, 0))})
    assert unlike(of_kernels(), kernels(a=3), counted) == []
    assert unlike(of_kernels(), kernels(a=4), counted)[0][-1] == 3.0


def test_a_quotient_by_zero_is_unknown() -> None:
    counted = pa.table({"name": ["a", "b"], "total_ns": [math.nan, math.inf]})
    assert unlike(of_kernels(), kernels(a=None, b=None), counted) == []
    assert len(unlike(of_kernels(), kernels(a=1, b=None), counted)) == 1


def test_a_value_that_one_does_not_know_can_be_left_out() -> None:
    counted = kernels(a=None, b=2)
    assert unlike(of_kernels(skips_unknown=True), kernels(a=1, b=2), counted) == []
    assert len(unlike(of_kernels(skips_unknown=True), kernels(a=1, b=3), counted)) == 1
    assert len(unlike(of_kernels(), kernels(a=1, b=2), counted)) == 1


def test_a_partial_one_allows_other_rows_in_the_report() -> None:
    assert unlike(of_kernels(is_partial=True), kernels(a=1, b=2), kernels(a=1)) == []
    assert len(unlike(of_kernels(is_partial=True), kernels(b=2), kernels(a=1))) == 1


def test_what_the_report_was_not_asked_about_is_left_out() -> None:
    columns = {"name": ["a", "a"], "stream_id": [7, 8]}
    counted = pa.table(columns | {"total_ns": [3, 5]})
    options = False, False, False
    of_stream = Recount(
        "counted", "p", "kernel_time", ("name",), (), *options, "", about=("stream_id",)
    )
    asked = pa.table({"name": ["a"], "stream_id": [7], "total_ns": [3]})
    assert unlike(of_stream, asked, counted) == []
    other = pa.table({"name": ["a"], "stream_id": [8], "total_ns": [3]})
    assert [row[-1] for row in unlike(of_stream, other, counted)] == [5]


def test_keys_are_not_added_up() -> None:
    counted = pa.table({"name": ["a"], "stream_id": [7], "total_ns": [3]})
    reported = pa.table({"name": ["a", "a"], "stream_id": [7, 7], "total_ns": [1, 2]})
    keys = ("name", "stream_id")
    by_stream = Recount("counted", "p", "kernel_time", keys, (), False, True, False, "")
    assert unlike(by_stream, reported, counted) == []


def test_rows_of_a_key_are_added_up_for_a_sum() -> None:
    counted = pa.table({"name": ["a", "a", "a"], "total_ns": [1, None, 2]})
    assert unlike(of_kernels(is_sum=True), kernels(a=3), counted) == []
    assert len(unlike(of_kernels(is_sum=True), kernels(a=4), counted)) == 1


def compared(ingested: Ingested, *files: Path) -> list[str]:
    """What was compared about a run of these files, which is consistent."""
    done = audit.audit(ingested.database(*files))
    assert done.result.rows() == []
    return [*done.compared]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("h100/lstm/trace.json.gz",), marks=pytest.mark.deep),
        pytest.param(("h100/lstm/raw.csv.gz",), marks=pytest.mark.deep),
        ("h100/lstm/trace.json.gz", "h100/lstm/raw.csv.gz"),
        ("torch_profiler/cpu-memory/trace.json.gz",),
    ],
)
def test_reports_of_a_recording_are_what_its_rows_say(
    ingested: Ingested, names: tuple[str, ...]
) -> None:
    names_compared = compared(ingested, *(FIXTURES / name for name in names))
    assert {*names_compared} & {recount.name for recount in recounts()}


#: One of each kind: instructions that start copies, kernels on symmetric memory, launches without
#: records, copies outside of marks, tables with rows of one value, ranks.
STRANGERS = [
    ["extra/caffe-vgg-a-native-gpu.log"],
    ["h100/conv2d_tf32_b16.trace.json.gz"],
    ["h100/micro.details.csv.gz"],
    ["oracles/tracelens/tracelens-bertsmall-mi300x/Normalization.csv"],
    ["oracles/tracelens/tracelens-normlayers-mi300x-fwdbwd/Normalization.csv"],
    ["oracles/tracelens/tracelens-resnet-actckpt-mi300x-rank0of8/Reduce_fwd.csv"],
    ["perf/dispatch-concepts-fma-hybrid-r5.txt"],
    ["tf/tfprofiler-gpu-multiworker.xplane.pb"],
    ["tf/vllm-tpu-inference-0111.trace.json.gz"],
    ["tf/xprof-tpu-inference2.xplane.pb"],
    ["torch/tracelens-bertsmall-h100.json.gz"],
    ["torch/tracelens-eager-b200-rank0of8-stack.json.gz"],
    [
        "torch/hta-vit-a100-sampled-rank0of128.json.gz",
        "torch/hta-vit-a100-sampled-rank1of128.json.gz",
    ],
]


@pytest.mark.deep
@pytest.mark.parametrize("names", STRANGERS, ids=lambda names: Path(names[0]).name)
def test_reports_of_strangers_files_are_what_their_rows_say(
    ingested: Ingested, names: list[str]
) -> None:
    files = [CORPUS / name for name in names]
    if not all(file.exists() for file in files):
        pytest.skip("../shared/corpus is not here")
    assert compared(ingested, *files)


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("javed2019/alexnet-ps4-vanilla-64-2/node0.csv", "cpu_roofline_points"),
        ("javed2019/alexnet-ps4-vanilla-64-2/node0.csv", "cpu_roofline_ceilings"),
        ("pytest_benchmark/hand-made/old.json", "distribution"),
        ("torch_profiler/hand-made/list-root.json", "overlap"),
        ("results_table/hand-made/sweep.csv", "amdahl"),
        ("results_table/hand-made/sweep.csv", "distribution"),
        ("results_table/hand-made/sweep.csv", "scaling"),
        ("results_table/hand-made/sweep.csv", "sensitivity"),
    ],
)
def test_a_recount_has_rows_for_a_recording(ingested: Ingested, name: str, report: str) -> None:
    database = ingested.database(FIXTURES / name)
    run_id = database.run_id(None)
    found = audit.table_of(database, report, run_id, "all")
    assert found is not None
    recount = next(r for r in recounts() if r.name.split()[0] == report)
    counted = database.counted(recount.sql, run_id, recount.options)
    assert len(counted)
    assert unlike(recount, found, counted) == []


def test_a_report_that_refuses_what_it_has_rows_for_is_told(ingested: Ingested) -> None:
    database = ingested.database(FIXTURES / "nsight_compute/raw-v100-handmade/report.csv")
    run_id = database.run_id(None)
    table = audit.table_of(database, "kernel_figures", run_id, "all")
    assert table is not None
    by_label = Recount(
        *("counted", "p", "kernel_figures", ("name",), ("kernel_counter",)),
        *(True, False, False),
        "SELECT 'copy' AS name, 3 AS launch_count",
        options={"by": "label"},  # which needs the name of one
    )
    told = audit.unlike_recounts(database, run_id, {"kernel_figures": table}, [by_label])
    assert told == [("counted", "p", "copy", "rows of kernel_figures", 0, "rows counted", 1)]
