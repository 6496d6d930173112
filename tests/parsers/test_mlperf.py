"""Logs of MLPerf: training runs, and LoadGen's summary and detail log of one test."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.parsers.configurations import FIXTURES, labels, metrics, names, read, status, units
from tests.parsers.conftest import Parsed
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.mlperf import MlperfParser
from tracekit.source import Source

HERE = FIXTURES / "mlperf"
SUMMARY, DETAIL = "mlperf_log_summary.txt", "mlperf_log_detail.txt"
TRAINING = HERE / "hand-made" / "training.txt"
#: What the detail log calls a figure of the summary, where it is no latency.
CALLED = {
    "Samples per second": "result_samples_per_second",
    "Completed samples per second": "result_completed_samples_per_sec",
    "Scheduled samples per second": "result_scheduled_samples_per_sec",
    "QPS w/ loadgen overhead": "result_qps_with_loadgen_overhead",
    "QPS w/o loadgen overhead": "result_qps_without_loadgen_overhead",
    "90.0th percentile latency (ns)": "result_90.00_percentile_latency_ns",
    "Early stopping 90.0th percentile estimate": None,
}


def parsed(case: str, name: str) -> Parsed:
    return read(HERE / case / name, "mlperf")


def of_text(folder: Path, content: str | bytes) -> Parsed:
    (folder / "file").write_bytes(content.encode() if isinstance(content, str) else content)
    return read(folder / "file", "mlperf")


# -- training -------------------------------------------------------------------------------------


def test_the_time_to_train_is_that_of_the_stamps() -> None:
    text = (HERE / "training" / "two_runs.txt").read_text()
    stamps = [json.loads(line.partition(" ")[2]) for line in text.splitlines()]
    start, stop = (
        next(s["time_ms"] for s in stamps if s["key"] == key) for key in ("run_start", "run_stop")
    )
    found = parsed("training", "two_runs.txt")
    reached, aborted = metrics(found)
    assert reached["time_to_train"] == (stop - start) / 1000 == 0.154
    assert "time_to_train" not in aborted
    assert status(found) == [("ok", None), ("failed", "aborted")]
    assert units(found)["time_to_train"] == {"s"}


def test_the_last_accuracy_and_how_far_a_run_came() -> None:
    told = [
        (row["eval_accuracy"], row["epoch_num"], row["throughput"])
        for row in metrics(parsed("training", "two_runs.txt"))
    ]
    assert told == [(0.7611, 3, 2502), (0.6, 2, 2501)]


def test_what_a_run_sets_are_labels() -> None:
    found = parsed("training", "two_runs.txt")
    assert names(found) == ["resnet", "resnet"]
    common = {
        "submission_benchmark": "resnet",
        "submission_division": "closed",
        "submission_org": "an organization",
        "submission_platform": "1xhost",
        "submission_status": "onprem",
        "global_batch_size": "2048",
        "gradient_accumulation_steps": "1",
        "opt_name": "lars",
        "opt_base_learning_rate": "8.5",
        "lars_opt_end_learning_rate": "0.0001",
        "lars_opt_weight_decay": "5e-05",
        "train_samples": "1281167",
        "eval_samples": "50000",
    }
    assert labels(found) == [common | {"seed": seed} for seed in ("17", "18")]
    assert labels(parsed("training", "aborted.txt")) == [common | {"seed": "18"}]


def test_runs_that_did_not_come_to_their_end() -> None:
    found = parsed("hand-made", "training.txt")
    assert status(found) == [
        ("ok", None),
        ("failed", "not finished: no run_stop"),
        ("failed", "run_stop without a status"),
        ("failed", "not started: no run_start"),
    ]
    assert labels(found)[0] == {
        "submission_benchmark": "bert",
        "seed": "7",
        "opt_base_learning_rate": "0.5",
    }
    assert metrics(found) == [
        {"eval_accuracy": 0.75, "samples_count": 200, "time_to_train": 2.5005},
        {"eval_accuracy": None},
        {},
        {},
    ]
    assert found.issues["no_number"].occurrence_count == 1
    issue = found.issues["damaged_row"]
    assert issue.first_offset_bytes == TRAINING.read_bytes().rindex(b"0: :::MLLOG")
    assert found.facts["is_complete"] is False


@pytest.mark.parametrize(
    ("start", "stop", "seconds"),
    [
        ("1000", "3500", 2.5),
        ("1e3", "1500.25", 0.50025),
        ("5", "5", 0),
        ("2", "1", None),
        ("null", "1", None),
        ('"x"', "1", None),
        ("NaN", "1", None),
        ("1", "1e999", None),
    ],
)
def test_times_that_fit_and_that_do_not(
    start: str, stop: str, seconds: float | None, tmp_path: Path
) -> None:
    line = ':::MLLOG {"key": "run_%s", "time_ms": %s, "metadata": {"status": "success"}}\n'
    found = of_text(tmp_path, line % ("start", start) + line % ("stop", stop))
    assert metrics(found)[0].get("time_to_train") == seconds
    assert status(found)[0][0] == ("failed" if seconds is None else "ok")
    if seconds is None:
        assert status(found)[0][1] == "run_start and run_stop without consistent times"


# -- inference ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["offline", "single_stream", "server", "invalid"])
def test_the_summary_is_that_of_the_detail_log(case: str) -> None:
    (summary,), (detail,) = (metrics(parsed(case, name)) for name in (SUMMARY, DETAIL))
    assert len(summary) >= 10
    for name, value in summary.items():
        words = name.lower().replace(" (ns)", "_ns").replace(" ", "_")
        other = CALLED.get(name, f"result_{words}")
        if other is not None:
            assert value == pytest.approx(detail[other], abs=0.005)
    of_summary, of_detail = (status(parsed(case, name)) for name in (SUMMARY, DETAIL))
    assert of_summary[0][0] == of_detail[0][0] == ("failed" if case == "invalid" else "ok")


def test_figures_of_the_recordings() -> None:
    (row,) = metrics(parsed("offline", SUMMARY))
    (line,) = re.findall(r"Samples per second: ([\d.]+)", (HERE / "offline" / SUMMARY).read_text())
    assert row["Samples per second"] == float(line)
    # all samples of an offline test are issued at once: the last one ends it
    seconds = row["Max latency (ns)"] * 1e-9
    assert float(labels(parsed("offline", SUMMARY))[0]["samples_per_query"]) / seconds == (
        pytest.approx(row["Samples per second"], rel=1e-5)
    )
    told = units(parsed("offline", SUMMARY))
    assert (told["Samples per second"], told["Max latency (ns)"]) == ({"samples/s"}, {"ns"})
    told = units(parsed("offline", DETAIL))
    assert told["result_samples_per_second"] == {"samples/s"}
    assert told["result_99.90_percentile_latency_ns"] == {"ns"}


def test_labels_of_a_test() -> None:
    (summary,), (detail,) = (labels(parsed("server", name)) for name in (SUMMARY, DETAIL))
    assert [summary[name] for name in ("SUT name", "Scenario", "Mode", "target_qps")] == [
        "PySUT",
        "Server",
        "PerformanceOnly",
        "250",
    ]
    assert [
        detail[name]
        for name in (
            "sut_name",
            "effective_scenario",
            "effective_test_mode",
            "effective_target_qps",
        )
    ] == ["PySUT", "Server", "PerformanceOnly", "250"]
    parameters = {name for name in summary if name.islower()}
    assert len(parameters) == 20
    for name in parameters:
        said = detail[f"effective_{name.replace(' (ns)', '_ns').replace(' (ms)', '_ms')}"]
        assert summary[name] == {"false": "0", "true": "1"}.get(said, said)


def test_an_invalid_test_has_failed_with_its_reasons() -> None:
    assert status(parsed("invalid", SUMMARY)) == [
        (
            "failed",
            (
                "INVALID: Performance constraints satisfied: no, Early stopping satisfied: no, "
                "Reduce target QPS to improve latency"
            ),
        )
    ]
    assert status(parsed("invalid", DETAIL)) == [
        (
            "failed",
            (
                "INVALID: perf_constraints_met: no, early_stopping_met: no, "
                "Reduce target QPS to improve latency"
            ),
        )
    ]


def test_a_test_of_accuracy_has_no_performance(tmp_path: Path) -> None:
    found = parsed("accuracy", DETAIL)
    assert status(found) == [("failed", "AccuracyOnly: no performance is measured")]
    assert metrics(found) == [{}]
    with pytest.raises(FormatError):
        of_text(tmp_path, (HERE / "accuracy" / SUMMARY).read_bytes())


def test_what_the_detail_log_says_of_loadgen() -> None:
    said = json.loads(parsed("offline", DETAIL).facts["metadata_json"])
    assert said["loadgen_version"].startswith("6.0.17 @ ")


@pytest.mark.parametrize("name", [SUMMARY, DETAIL])
def test_tests_one_after_the_other(name: str, tmp_path: Path) -> None:
    cases = ("offline", "invalid", "server")
    found = of_text(tmp_path, b"".join((HERE / case / name).read_bytes() for case in cases))
    assert metrics(found) == [metrics(parsed(case, name))[0] for case in cases]
    assert [kind for kind, _ in status(found)] == ["ok", "failed", "ok"]


def test_a_training_and_both_logs_in_one_file(tmp_path: Path) -> None:
    parts = [
        HERE / "training" / "two_runs.txt",
        HERE / "offline" / DETAIL,
        HERE / "offline" / SUMMARY,
    ]
    found = of_text(tmp_path, b"".join(part.read_bytes() for part in parts))
    assert sorted(status(found)) == sorted([("ok", None)] * 3 + [("failed", "aborted")])


def test_errors_and_warnings_of_loadgen_are_told(tmp_path: Path) -> None:
    text = (HERE / "server" / DETAIL).read_text()
    lines = text.replace('"is_error": false', '"is_error": true', 1)
    found = of_text(tmp_path, lines.replace('"is_warning": false', '"is_warning": true', 3))
    assert found.issues["profiler_error"].occurrence_count == 1
    assert found.issues["profiler_warning"].occurrence_count == 2


@pytest.mark.parametrize("name", [SUMMARY, DETAIL])
def test_a_cut_log_is_not_finished(name: str, tmp_path: Path) -> None:
    content = (HERE / "offline" / name).read_text()
    end = content.index("Result is" if name == SUMMARY else "result_validity") - 20
    found = of_text(tmp_path, content[:end])
    assert status(found) == [("failed", "not finished: no result")]
    (before,), (whole,) = labels(found), labels(parsed("offline", name))
    assert before.items() <= whole.items()
    assert "sut_name" in before or "SUT name" in before


def test_a_line_of_the_logger_may_be_long(tmp_path: Path) -> None:
    text = (HERE / "offline" / DETAIL).read_text()
    samples = ",".join(map(str, range(300_000)))
    found = of_text(tmp_path, text.replace('"value": [', f'"value": [{samples},') + " " * 3_000_000)
    assert metrics(found) == metrics(parsed("offline", DETAIL))
    assert found.codes == []


@pytest.mark.parametrize("content", ["", ":::MLLOG", ":::MLLOG {}\n", "epoch 1\n", "key : value\n"])
def test_what_has_no_run_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(content)
    with pytest.raises(FormatError, match="no MLPerf run found"):
        list(MlperfParser().parse(Source.at(tmp_path / "file"), Report()))


def test_older_logs_are_not_claimed() -> None:
    sniff = MlperfParser().sniff
    assert sniff(b":::MLPv0.5.0 resnet 1541635765.473 (main.py:35) run_start\n") is None
    assert sniff(b':::MLL 1558631912.4 run_start: {"value": null, "metadata": {}}\n') is None


def test_a_line_behind_much_else_is_found_and_utf_16_read(tmp_path: Path) -> None:
    text = TRAINING.read_text()
    assert status(of_text(tmp_path, "x\n" * 20_000 + text)) == status(of_text(tmp_path, text))
    assert status(of_text(tmp_path, ("\ufeff" + text).encode("utf-16-le"))) == status(
        of_text(tmp_path, text.replace("\n", "\r\n"))
    )


@pytest.mark.parametrize(
    "path", ["hand-made/training.txt", f"invalid/{SUMMARY}", f"server/{DETAIL}"]
)
def test_it_passes_the_conformance_suite(path: str) -> None:
    check_parser(MlperfParser(), (HERE / path).read_bytes(), effort=40)
