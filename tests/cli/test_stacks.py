"""Stacks as a user gets them: from a trace with Python frames to a report, pictures and files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tracekit = Callable[..., Any]
HOSTILE = "</title><script>;\n=1+1\u202e"


def span(category: str, name: str, thread: int, start: int, dur: int, **args: Any) -> Any:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 1 if thread < 9 else 0,
        "tid": thread,
        "ts": start,
        "dur": dur,
        "args": args,
    }


def trace(folder: Path, name: str, gemm_us: int, *more: Any) -> Path:
    """Python frames around an operator, twice, with a kernel each, and a copy nobody launched."""
    events = [
        span("user_annotation", "ProfilerStep#1", 1, 0, 50),
        span("user_annotation", "ProfilerStep#2", 1, 50, 50),
        span("python_function", "train.py(1): main", 1, 0, 100, **{"Python id": 1}),
        span("python_function", "nn.Module: Net_0", 1, 5, 40, **{"Python id": 2}),
        span("cpu_op", "aten::mm", 1, 10, 20),
        span("cuda_runtime", "cudaLaunchKernel", 1, 15, 5, correlation=7),
        span("python_function", "nn.Module: Net_0", 1, 55, 40, **{"Python id": 3}),
        span("cpu_op", "aten::mm", 1, 60, 20),
        span("cuda_runtime", "cudaLaunchKernel", 1, 65, 5, correlation=8),
        span("kernel", "gemm", 9, 20, gemm_us, device=0, stream=9, correlation=7),
        span("kernel", "gemm", 9, 70, gemm_us, device=0, stream=9, correlation=8),
        span("gpu_memcpy", "Memcpy HtoD", 9, 95, 4, device=0, stream=9, correlation=99),
        *more,
    ]
    path = folder / f"{name}.json"
    content = {"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": events}
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def store(tmp_path: Path, tracekit: Tracekit) -> Path:
    """Two runs with kernels, `slow` and `fast`; `host` without; `odd` with a hostile name."""
    folder = tmp_path / "store"
    op = span("cpu_op", "aten::mm", 1, 0, 10)
    cpu = tmp_path / "cpu.json"
    cpu.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [op]}))
    odd = span("kernel", HOSTILE, 9, 200, 6, device=0, stream=9, correlation=7)
    files = {
        "slow": trace(tmp_path, "slow", 20),
        "fast": trace(tmp_path, "fast", 10),
        "host": cpu,
        "odd": trace(tmp_path, "odd", 10, odd),
    }
    for name, file in files.items():
        assert tracekit("ingest", file, "--store", folder, "--run", name).code == 0
    return folder


def asked(store: Path, tracekit: Tracekit, *words: str) -> list[dict[str, str]]:
    answer = tracekit("query", "stacks", "--store", store, "--format", "csv", *words)
    assert answer.code == 0
    return list(csv.DictReader(io.StringIO(answer.data.decode("utf-8"))))


def test_the_report_is_the_tree_of_the_trace(store: Path, tracekit: Tracekit) -> None:
    rows = asked(store, tracekit, "--run", "slow")
    columns = ("depth_index", "stack_kind", "name", "device_ns", "host_ns", "self_host_ns")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        ("0", "python", "train.py(1): main", "40000", "100000", "20000"),
        ("1", "module", "nn.Module: Net_0", "40000", "80000", "40000"),
        ("2", "op", "aten::mm", "40000", "40000", "30000"),
        ("3", "call", "cudaLaunchKernel", "40000", "10000", "10000"),
        ("4", "kernel", "gemm", "40000", "0", "0"),
        ("0", "unknown", "(no launch in the file)", "4000", "0", "0"),
        ("1", "memcpy", "Memcpy HtoD", "4000", "0", "0"),
    ]


def test_of_a_step_is_what_was_launched_in_it(store: Path, tracekit: Tracekit) -> None:
    rows = asked(store, tracekit, "--run", "slow", "--param", "phase=2..2")
    assert [(row["name"], row["device_ns"], row["host_ns"]) for row in rows] == [
        ("train.py(1): main", "20000", "40000"),  # that of main itself began before
        ("nn.Module: Net_0", "20000", "40000"),
        ("aten::mm", "20000", "20000"),
        ("cudaLaunchKernel", "20000", "5000"),
        ("gemm", "20000", "0"),
    ]


def test_folded_stacks(store: Path, tmp_path: Path, tracekit: Tracekit) -> None:
    path = "train.py(1): main;nn.Module: Net_0;aten::mm;cudaLaunchKernel"
    file = tmp_path / "x.txt"
    answer = tracekit("export", "slow", "--store", store, "--to", "folded", "-o", file)
    assert answer.code == 0
    assert "slow: 2 stacks, 44.00 µs device time" in answer.messages
    assert file.read_text() == f"{path};gemm 40000\n(no launch in the file);Memcpy HtoD 4000\n"

    both = tmp_path / "both.folded"
    assert tracekit("export", "slow", "fast", "--store", store, "-o", both).code == 0
    assert both.read_text() == (
        f"{path};gemm 40000 20000\n(no launch in the file);Memcpy HtoD 4000 4000\n"
    )

    host = tmp_path / "host.txt.gz"
    words = ("--weight", "host", "-o", host)
    assert tracekit("export", "slow", "--store", store, *words).code == 0
    lines = gzip.decompress(host.read_bytes()).decode().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 100_000
    assert f"{path} 10000" in lines


def test_a_hostile_name_stays_in_its_line(store: Path, tmp_path: Path, tracekit: Tracekit) -> None:
    file = tmp_path / "x.folded"
    assert tracekit("export", "odd", "--store", store, "-o", file).code == 0
    lines = file.read_text().splitlines()
    assert len(lines) == 3
    (odd,) = (line for line in lines if "script" in line)
    assert odd.endswith(r"cudaLaunchKernel;</title><script>:\n=1+1\u202e 6000")

    svg = tmp_path / "x.svg"
    assert tracekit("chart", "flame", "odd", "--store", store, "-o", svg).code == 0
    assert "<script" not in svg.read_text()

    json_file = tmp_path / "x.speedscope.json"
    assert tracekit("export", "odd", "--store", store, "-o", json_file).code == 0
    assert HOSTILE in {f["name"] for f in json.loads(json_file.read_text())["shared"]["frames"]}


def test_speedscope(store: Path, tmp_path: Path, tracekit: Tracekit) -> None:
    file = tmp_path / "x.json"
    words = ("--to", "speedscope", "-o", file)
    assert tracekit("export", "slow", "fast", "--store", store, *words).code == 0
    content = json.loads(file.read_text())
    frames = content["shared"]["frames"]
    assert content["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert frames[0] == {"name": "train.py(1): main", "file": "train.py", "line": 1}
    assert frames[1] == {"name": "nn.Module: Net_0", "file": "module"}
    slow, fast = content["profiles"]
    assert (slow["type"], slow["unit"], slow["startValue"]) == ("sampled", "nanoseconds", 0)
    assert (slow["name"], fast["name"]) == ("slow: device time", "fast: device time")
    assert slow["endValue"] == sum(slow["weights"]) == 44_000
    assert fast["endValue"] == sum(fast["weights"]) == 24_000
    assert [frames[place]["name"] for place in slow["samples"][0]] == [
        "train.py(1): main",
        "nn.Module: Net_0",
        "aten::mm",
        "cudaLaunchKernel",
        "gemm",
    ]
    assert slow["samples"] == fast["samples"]  # they share their frames


NUMBER = (int, float)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("runs", "weight"),
    [
        (("slow",), "device"),
        (("slow", "fast"), "device"),
        (("slow", "fast"), "host"),
        (("host",), "host"),
        (("odd",), "device"),
        (("odd",), "host"),
    ],
)
def test_speedscope_opens_what_is_exported(
    store: Path, tmp_path: Path, tracekit: Tracekit, runs: tuple[str, ...], weight: str
) -> None:
    """What its schema demands, and what its importer relies on."""
    file = tmp_path / "x.speedscope.json"
    words = ("--weight", weight, "--store", store, "-o", file)
    assert tracekit("export", *runs, *words).code == 0
    content = json.loads(file.read_text())
    assert content["exporter"].startswith("tracekit ")
    assert isinstance(content["name"], str)
    frames, profiles = content["shared"]["frames"], content["profiles"]
    assert content["activeProfileIndex"] in range(len(profiles))
    assert len(profiles) == len(runs)
    for frame in frames:
        assert {"name"} <= {*frame} <= {"name", "file", "line", "col"}
        assert isinstance(frame["name"], str)
        assert isinstance(frame.get("file", ""), str)
        assert isinstance(frame.get("line", 1), int)
    for profile in profiles:
        assert (profile["type"], profile["unit"]) == ("sampled", "nanoseconds")
        assert isinstance(profile["name"], str)
        assert 0 < len(profile["samples"]) == len(profile["weights"])
        assert all(isinstance(w, NUMBER) and w > 0 for w in profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        places = {place for sample in profile["samples"] for place in sample}
        assert places <= {*range(len(frames))}
        assert all(profile["samples"])


def test_a_flame_graph_of_one_run_and_of_two(
    store: Path, tmp_path: Path, tracekit: Tracekit
) -> None:
    answer = tracekit("chart", "flame", "slow", "--store", store)
    assert answer.code == 0
    lines = answer.data.decode().splitlines()
    assert lines[0] == "│slow: 44.00 µs device time"
    assert lines[1].startswith("│train.py(1): main")
    both = tracekit("chart", "flame", "slow", "fast", "--store", store)
    assert "│gemm (-20.00 µs)" in both.data.decode()
    png = tmp_path / "x.png"
    assert tracekit("chart", "flame", "fast", "--store", store, "-o", png).code == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    data = tmp_path / "x.csv"
    assert tracekit("chart", "flame", "slow", "--store", store, "--data", data).code == 0
    rows = list(csv.DictReader(data.read_text().splitlines()))
    assert sum(int(row["self_ns"]) for row in rows) == 44_000


def test_runs_without_work_say_what_there_is(
    store: Path, tmp_path: Path, tracekit: Tracekit
) -> None:
    file = tmp_path / "x.folded"
    for command in (("chart", "flame", "host"), ("export", "host", "-o", file)):
        answer = tracekit(*command, "--store", store)
        assert answer.code == 2
        assert "no stack of host has device time; use --weight host" in answer.messages
        assert not file.exists()
    answer = tracekit("export", "host", "--store", store, "--weight", "host", "-o", file)
    assert answer.code == 0
    assert file.read_text() == "aten::mm 10000\n"
    answer = tracekit("export", "host", "--store", store, "--weight", "gpu", "-o", file, "--force")
    assert (answer.code, file.read_text()) == (2, "aten::mm 10000\n")
