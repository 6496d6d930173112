"""Tables of results: what was set, what was measured, and what failed."""

from __future__ import annotations

import gzip
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.conformance import check_parser
from tracekit.engine import Database
from tracekit.errors import FormatError
from tracekit.intake import Options, ingest
from tracekit.parser import Report
from tracekit.parsers.results_table import ResultsTableParser
from tracekit.parsers.results_table.packed import unpacked
from tracekit.parsers.results_table.roles import role_of
from tracekit.reading.configurations import unit_of
from tracekit.registry import claims, detect
from tracekit.source import Source
from tracekit.store import open_store

HAND_MADE = Path(__file__).resolve().parents[2] / "fixtures" / "results_table" / "hand-made"
LAYOUTS = ["sweep.csv", "rows.json", "lines.jsonl"]
Read = Callable[..., Parsed]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def parsed(content: bytes | str, columns: Mapping[str, str] | None = None) -> Parsed:
        path = tmp_path / "table"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        report, source = Report(), Source.at(path)
        source = Source(path, source.size_bytes, source.compression_kind, None, columns or {})
        return gathered(ResultsTableParser().parse(source, report), report)

    return parsed


def values(found: Parsed) -> dict[int, dict[str, Any]]:
    """Of each configuration its values: numbers where they are, else texts."""
    told: dict[int, dict[str, Any]] = {row["event_id"]: {} for row in found.rows["configuration"]}
    for row in found.rows["configuration_value"]:
        number, text = row["value"], row["value_text"]
        told[row["event_id"]][row["column_name"]] = text if number is None else number
    return told


def roles(found: Parsed) -> dict[str, str]:
    return {row["column_name"]: row["role_kind"] for row in found.rows["configuration_value"]}


def status(found: Parsed) -> list[tuple[str, str | None]]:
    return [(row["status_kind"], row["status_text"]) for row in found.rows["configuration"]]


# -- the authors' own tables ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "measured", "failed"), [("tpu_fc", 1724, 220), ("gpu_fc", 176, 94)]
)
def test_every_value_of_paradnn_is_there(
    corpus: Path, read: Read, name: str, measured: int, failed: int
) -> None:
    content = gzip.decompress((corpus / "paradnn" / f"{name}.json.gz").read_bytes())
    table = json.loads(content)
    found = read(content)
    assert Counter(kind for kind, _ in status(found)) == {"ok": measured, "failed": failed}
    assert Counter(text for kind, text in status(found) if kind == "failed") == Counter(
        table["states"]
    )
    metrics = ("intensity", "flops", "params", "example_per_sec", "step_per_sec", "fl")
    expected: list[dict[str, Any]] = [*map(labels_of, table["err_jobs"])]
    expected += [
        labels_of(job) | {metric: table[metric][place] for metric in metrics}
        for place, job in enumerate(table["labels"])
    ]
    assert list(values(found).values()) == expected
    assert found.report.event_count == measured + failed
    assert not found.issues


def labels_of(job: str) -> dict[str, float]:
    return {part.split("_")[0]: float(part.split("_")[1]) for part in job.split("-")}


def test_operators_of_paradnn_have_names(corpus: Path, read: Read) -> None:
    path = corpus / "paradnn" / "fc_trace_10sec_opbreakdown.json.gz"
    table = json.loads(gzip.decompress(path.read_bytes()))
    found = values(read(gzip.decompress(path.read_bytes())))
    assert len(found) == len(table["labels"]) == 2029
    for row, label, share in zip(found.values(), table["labels"], table["time_perc"], strict=True):
        assert label.endswith(f"-{row['name']}")
        assert label == (
            f"layer_{row['layer']:.0f}-node_{row['node']:.0f}-input_{row['input']:.0f}-"
            f"output_{row['output']:.0f}-bs_{row['bs']:.0f}-{row['name']}"
        )
        assert row["time_perc"] == share
    nan = sum(math.isnan(value) for value in table["intensity"])
    assert nan == sum(not isinstance(row["intensity"], float) for row in found.values()) > 0


# -- layouts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAYOUTS)
def test_one_sweep_in_any_layout(read: Read, name: str) -> None:
    found = read((HAND_MADE / name).read_bytes())
    assert roles(found) == {
        "nodes": "label",
        "batch": "label",
        "model": "label",
        "images_per_s": "metric",
        "loss": "metric",
    }
    told = list(values(found).values())
    assert len(told) == 11
    assert told[0] == {"nodes": 64, "batch": 16, "model": "mlp", "images_per_s": 200, "loss": 1}
    assert told[9] == {"nodes": 512, "batch": 64, "model": "cnn"}
    assert told[10]["loss"] == 0.5
    assert told[10]["images_per_s"].lower() == "nan"
    assert status(found)[8:] == [("ok", "ok"), ("failed", "OOM"), ("ok", "ok")]
    (issue,) = found.issues.values()
    assert (issue.code, issue.occurrence_count) == ("no_number", 1)
    units = {row["column_name"]: row["unit"] for row in found.rows["configuration_value"]}
    assert units["images_per_s"] == "images/s"


def test_columns_of_several_lengths_are_several_tables(read: Read) -> None:
    found = read((HAND_MADE / "columns.json").read_bytes())
    assert status(found) == [("failed", "OOM"), ("failed", "not finished")] + [("ok", None)] * 9
    told = values(found)
    assert told[0] == {"nodes": 512, "batch": 64}
    assert told[2] == {"nodes": 64, "batch": 16, "flops": 500, "params": 4096}
    (issue,) = found.issues.values()
    assert (issue.code, issue.occurrence_count) == ("nested_column", 9)


def test_parquet(read: Read) -> None:
    table = pa.table({"batch": [1, 2, 3], "time_s": [0.5, None, 1e-9], "model": ["a", "b", None]})
    content = io.BytesIO()
    pq.write_table(table, content)
    assert list(values(read(content.getvalue())).values()) == [
        {"batch": 1, "time_s": 0.5, "model": "a"},
        {"batch": 2, "model": "b"},
        {"batch": 3, "time_s": 1e-9},
    ]


@pytest.mark.parametrize(
    "content",
    [
        "a;time_s\n1;2.5\n",
        "a\ttime_s\n1\t2.5\n",
        "\ufeffa,time_s\r\n1,2.5\r\n",
        '"a","time_s"\n"1","2.5"',
        "# it\n\na,time_s\n1,2.5\na,time_s\n",
    ],
)
def test_notations_of_csv(read: Read, content: str) -> None:
    assert list(values(read(content)).values()) == [{"a": 1, "time_s": 2.5}]


def test_utf_16(read: Read) -> None:
    for name in ("sweep.csv", "rows.json", "lines.jsonl"):
        text = (HAND_MADE / name).read_text()
        plain, wide = read(text), read(("\ufeff" + text).encode("utf-16-le"))
        assert values(plain) == values(wide)


def test_long_words_and_numbers_cost_their_length(read: Read) -> None:
    text = "1" * 500_000
    row = f'{{"a": "{text}x", "b": 1, "time_s": "{text}"}}'
    found = read(f'[{{"a": "x_1-", "b": 2}},\n{row}]')
    assert values(found)[1] == {"a": f"{text}x", "b": 1, "time_s": text}


@pytest.mark.parametrize("name", [*LAYOUTS, "columns.json"])
def test_it_passes_the_conformance_suite(name: str) -> None:
    check_parser(ResultsTableParser(), (HAND_MADE / name).read_bytes(), effort=10)


def test_more_rows_than_a_block(read: Read) -> None:
    lines = "".join(f"{i},{i * 0.5}\n" for i in range(150_000))
    found = read("batch,time_s\n" + lines)
    told = values(found)
    assert len(told) == 150_000
    assert told[149_999] == {"batch": 149_999, "time_s": 74_999.5}


# -- what is a label, what a metric ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "labels", "rest"),
    [
        ("layer_8-node_4096", {"layer": "8", "node": "4096"}, ""),
        (
            "layer_8-node_4096-cross-replica-sum",
            {"layer": "8", "node": "4096"},
            "cross-replica-sum",
        ),
        ("batch=64,model=resnet50", {"batch": "64", "model": "resnet50"}, ""),
        ("batch_size_8/fp16=true", {"batch_size": "8", "fp16": "true"}, ""),
        ("a:1 b:2", {"a": "1", "b": "2"}, ""),
    ],
)
def test_labels_in_one_text(text: str, labels: dict[str, str], rest: str) -> None:
    assert unpacked(text) == (labels, rest)


@pytest.mark.parametrize("text", ["", "resnet50", "layer_8", "a-b-c", "8_layer-9_node", "x_1-x_2"])
def test_what_holds_no_labels(text: str) -> None:
    assert unpacked(text) is None


@pytest.mark.parametrize(
    ("name", "texts", "role"),
    [
        ("batch", ["1", "2"], "label"),
        ("lr", ["0.1"], "metric"),
        ("time_s", ["1", "2"], "metric"),
        ("model", ["a", "1"], "label"),
        ("latency", ["1", "OOM"], "metric"),
        ("status", ["ok", "OOM"], "status"),
        ("error", ["0.5", "0.25"], "metric"),
        ("x", ["[1]", "[2]"], "nested"),
        ("steps", ["10"], "label"),
        ("timeline", ["1"], "label"),
        ("throughput (img/s)", ["1"], "metric"),
        ("empty", [], "label"),
    ],
)
def test_what_a_column_is(name: str, texts: list[str], role: str) -> None:
    assert role_of(name, texts, has_packed=False) == role


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("time_ms", "ms"),
        ("images_per_s", "images/s"),
        ("power [W]", "W"),
        ("v (img/s)", "img/s"),
        ("flops_perc", "%"),
        ("s", None),
        ("batch", None),
        ("used_bytes", "byte"),
    ],
)
def test_the_unit_in_a_name(name: str, unit: str | None) -> None:
    assert unit_of(name) == unit


def test_the_user_says_what_columns_are(read: Read) -> None:
    content = "a,b,c,d\n1,2,3.5,x\n4,5,6.5,y\n"
    both = read(content, {"a": "label", "b": "metric"})
    assert roles(both) == {"a": "label", "b": "metric"}
    assert roles(read(content)) == {"a": "label", "b": "label", "c": "metric", "d": "label"}
    named = read(content, {"a": "label"})
    assert roles(named) == {"a": "label", "b": "metric", "c": "metric"}
    named = read(content, {"c": "metric"})
    assert roles(named) == {"a": "label", "b": "label", "c": "metric", "d": "label"}
    with pytest.raises(FormatError, match="--columns: unknown column 'e'; columns: a, b, c, d"):
        read(content, {"e": "label"})


def units(found: Parsed) -> dict[str, str | None]:
    return {row["column_name"]: row["unit"] for row in found.rows["configuration_value"]}


def test_the_user_says_the_unit_of_a_metric(read: Read) -> None:
    content = "batch,flops,time_ms,n,status\n1,2,3.5,7,ok\n4,5,6.5,8,OOM\n"
    found = read(content, {"flops:GFLOP/s": "metric", "time_ms:us": "metric"})
    assert roles(found) == {"batch": "label", "flops": "metric", "time_ms": "metric", "n": "label"}
    assert units(found) == {"batch": None, "flops": "GFLOP/s", "time_ms": "us", "n": None}
    assert status(found) == [("ok", "ok"), ("failed", "OOM")]
    # a label is made a metric, and another named without a unit leaves labels only
    assert roles(read(content, {"n:images": "metric"}))["n"] == "metric"
    assert roles(read(content, {"flops:GFLOP/s": "metric", "n": "metric"})) == {
        "batch": "label",
        "flops": "metric",
        "time_ms": "label",
        "n": "metric",
    }


def test_packed_labels_stay_labels_where_a_unit_is_said(read: Read) -> None:
    content = json.dumps(
        {
            "labels": ["layer_4-node_32-add", "layer_8-node_32-mul"],
            "flops": [1.5, 2.5],
            "params": [100, 200],
            "states": ["OOM"],
            "err_jobs": ["layer_4-node_64"],
        }
    )
    found = read(content, {"flops:GFLOP/s": "metric", "params:count": "metric"})
    assert roles(found) == {
        "layer": "label",
        "node": "label",
        "name": "label",
        "flops": "metric",
        "params": "metric",
    }
    assert units(found)["flops"] == "GFLOP/s"
    assert sorted(status(found)) == [("failed", "OOM"), ("ok", None), ("ok", None)]
    plain = read(content, {"flops:GFLOP/s": "metric"})
    assert roles(plain) == roles(found)


def test_a_name_with_a_colon_goes_before_a_unit(read: Read) -> None:
    content = "batch,rate:s,rate\n1,2.5,3.5\n"
    found = read(content, {"rate:s": "metric"})
    assert roles(found) == {"batch": "label", "rate:s": "metric", "rate": "label"}
    assert units(read(content, {"rate:s:Hz": "metric"}))["rate:s"] == "Hz"


@pytest.mark.parametrize(
    "given",
    [
        {"flop:GFLOP/s": "metric"},
        {"flops:": "metric"},
        {":GFLOP/s": "metric"},
        {"a:GFLOP/s": "label"},
        {"flops:GFLOP/s": "metric", "flops:MFLOP/s": "metric"},
    ],
)
def test_what_cannot_be_said_of_a_column(read: Read, given: dict[str, str]) -> None:
    with pytest.raises(FormatError, match=r"--columns: unknown column '.+'; columns: a, flops"):
        read("a,flops\n1,2.5\n", given)


# -- bad input ------------------------------------------------------------------------------------


def test_rows_of_another_length_are_told(read: Read) -> None:
    found = read("a,time_s\n1,2.5\n3\n4,5,6\n7,8.5\n\n8,9\n")
    assert list(values(found).values()) == [
        {"a": 1, "time_s": 2.5},
        {"a": 7, "time_s": 8.5},
        {"a": 8, "time_s": 9},
    ]
    (issue,) = found.issues.values()
    assert (issue.code, issue.skipped_event_count) == ("damaged_row", 2)
    assert found.report.event_count == 5


def test_numbers_that_nothing_can_hold_are_missing(read: Read) -> None:
    odd = ["1e999", "-1e-99999999", "9e999990", "nan", "inf", "1" * 400, "0x1F", "1_000", "1,5"]
    rows = "".join(f'{i},"{text}"\n' for i, text in enumerate(odd))
    found = read(f"a,time_s\n99,1.5\n{rows}")
    told = values(found)
    assert told[0]["time_s"] == 1.5
    assert [told[i + 1]["time_s"] for i in range(len(odd))] == odd
    assert found.issues["no_number"].occurrence_count == len(odd)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello\n",
        b"1,2\n3,4\n",
        b"a,a\n1,2\n",
        b"{}",
        b"[]",
        b"[1, 2]",
        b'{"a": 1}',
        b"PAR1",
        b'{"a": {"b": 1}}',
        b"a,b\nx,y\n",
    ],
)
def test_what_is_no_table(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        list(ResultsTableParser().parse(Source.at(path), Report()))


def test_tables_of_profilers_are_not_taken_for_results(corpus: Path) -> None:
    files = sorted((corpus / "extra").glob("rocprof*.csv"))
    assert len(files) > 5
    for file in files:
        assert claims(Source.at(file).head()) == []


def test_another_parser_is_surer(corpus: Path) -> None:
    for file in [*(corpus / "ncu").glob("*.csv"), *(corpus / "perf").glob("*.csv")]:
        found = claims(Source.at(file).head())
        assert not found or found[0][0].name != "results-table"


def test_tables_in_a_folder_are_not_taken_unless_named(tmp_path: Path, small_trace: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "trace.json").write_bytes(small_trace.read_bytes())
    (folder / "notes.csv").write_bytes((HAND_MADE / "sweep.csv").read_bytes())
    assert detect(Source.at(folder / "notes.csv")).parser.name == "results-table"
    names = [outcome.path.name for outcome in ingest(folder, tmp_path / "S", Options())]
    assert names == ["trace.json"]
    named = ingest(folder, tmp_path / "S", Options(format_name="results-table"))
    assert [outcome.path.name for outcome in named] == ["notes.csv"]


def test_half_a_surrogate_pair_is_shown_as_a_mark(read: Read) -> None:
    found = read('[{"a": "x\\ud800", "\\udfff": 1.5}]')
    assert list(values(found).values()) == [{"a": "x\ufffd", "\ufffd": 1.5}]
    found = read('{"a": "x\\ud800", "time_s": 1.5}\n{"a": "\\ud83d\\ude00", "time_s": 2}\n')
    assert [row["a"] for row in values(found).values()] == ["x\ufffd", "\U0001f600"]


# -- tables that say too little -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2,3.5\n4,5,6.5\n", "line 1 has '1' instead of a column name; the first"),
        ("# x\n\nbatch,,s\n1,2,3\n", "line 3 has no name for column 2; the first line of a table"),
        ("batch,batch,time_s\n1,2,3.5\n", "line 1 names 'batch' twice; the first line of a table"),
    ],
)
def test_a_header_that_is_missing_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FormatError, match=re.escape(said)):
        ingest(tmp_path / "t.csv", tmp_path / "S", Options())


@pytest.mark.parametrize("cell", ["nan", "inf", "-Infinity", "3,5"])
def test_a_measurement_without_a_number_is_a_metric_that_is_missing(
    tmp_path: Path, cell: str
) -> None:
    (tmp_path / "t.csv").write_text(f"batch;time_s\n1;{cell}\n2;{cell}\n")
    (outcome,) = ingest(tmp_path / "t.csv", tmp_path / "S", Options())
    (row,) = Database(open_store(tmp_path / "S")).sql("SELECT * FROM ingest_issue").rows()
    assert (row["code"], row["occurrence_count"]) == ("no_number", 2)
    assert f"such as {cell!r}" in row["message"]
    assert outcome.rows["configuration"] == 2


def test_the_index_of_a_data_frame_has_no_name(read: Read) -> None:
    """Its row numbers are no parameter: each row would be a series of its own."""
    found = read(",batch,time_ms\n0,16,1.25\n1,32,2.5\n")
    assert roles(found) == {"batch": "label", "time_ms": "metric"}
    found = read(",time_ms\nconv,1.25\nfc,2.5\n")
    assert roles(found) == {"Unnamed: 0": "label", "time_ms": "metric"}


@pytest.mark.parametrize(
    ("texts", "role"),
    [
        (["[vmlinux]", "[Outside any module]"], "label"),
        (["{other}", "[kernel.kallsyms]"], "label"),
        (["[1, 2]", "[3]"], "nested"),
        (["[]", "[0.5 0.25]"], "nested"),
        (["['a', 'b']", '["c"]'], "nested"),
        (['{"a": 1}', "{a: 2}"], "nested"),
    ],
)
def test_names_in_brackets_are_not_lists(texts: list[str], role: str) -> None:
    assert role_of("name", texts, has_packed=False) == role


def test_a_column_has_the_unit_of_each_row(read: Read) -> None:
    found = read("test,value,stddev,loops_per_s,unit\nread,1.5,0.1,2.5,GB/s\nwait,2.5,0.2,3.5,ms\n")
    assert [
        (row["column_name"], row["value"], row["unit"])
        for row in sorted(found["configuration_value"], key=lambda row: row["event_id"])
        if row["role_kind"] == "metric"
    ] == [
        ("value", 1.5, "GB/s"),
        ("stddev", 0.1, "GB/s"),
        ("loops_per_s", 2.5, "loops/s"),
        ("value", 2.5, "ms"),
        ("stddev", 0.2, "ms"),
        ("loops_per_s", 3.5, "loops/s"),
    ]
