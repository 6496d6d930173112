"""`tracekit chart` as a user meets it: pictures, bars and lines in the terminal, the numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracekit as library
from tests.cli.test_startup import loaded as loaded
from tracekit.intake import Options, ingest

Tracekit = Callable[..., Any]

CHARTS = ("oi_breakdown", "fp_width_mix", "throughput")
EVENTS = [
    f"fp_arith_inst_retired.{width}_{precision}"
    for precision in ("single", "double")
    for width in ("scalar", "128b_packed", "256b_packed", "512b_packed")
]


def perf_stat(counts: dict[str, int | str], read_mib: int | str, write_mib: int | str) -> str:
    """A file of `perf stat -x';'`: ten seconds; what is not given was counted as 0."""
    rows = [f"{counts.get(event, 0)};;{event};10000000000;100.00;;" for event in EVENTS]
    rows += [
        f"{read_mib};MiB;uncore_imc/cas_count_read/;10000000000;100.00;;",
        f"{write_mib};MiB;uncore_imc/cas_count_write/;10000000000;100.00;;",
        "10000000000;ns;duration_time;10000000000;100.00;;",
    ]
    return "# started on Sun Nov 22 06:00:00 2026\n\n" + "\n".join(rows) + "\n"


RATES = {
    ("vgg16", 1): 8.0,
    ("vgg16", 2): 15.0,
    ("vgg16", 4): 28.0,
    ("alexnet", 1): 60.0,
    ("alexnet", 2): 90.0,
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on one to four nodes; a run whose bytes were not counted and that has no rate."""
    folder = tmp_path_factory.mktemp("measured")
    for (model, nodes), rate in RATES.items():
        file = folder / f"{model}-{nodes}.csv"
        file.write_text(
            # the same file is not ingested twice: a comment tells them apart
            f"# {file.name}\n"
            + perf_stat({EVENTS[0]: 1000, EVENTS[2]: 125 * 10**9 // nodes}, 1024, 512),
            "utf-8",
        )
        ingest(
            file,
            folder / "S",
            Options(
                run_name=f"{model}-{nodes}",
                labels={"model": model, "nodes": str(nodes)},
                metrics={"images_per_s": rate},
                device_name="2x Xeon Gold 6126",
            ),
        )
    file = folder / "lacks.csv"
    file.write_text(perf_stat({EVENTS[0]: 1000}, "<not counted>", 512), "utf-8")
    ingest(file, folder / "S", Options(run_name="lacks", labels={"model": "vgg16", "nodes": "8"}))
    return folder / "S"


@pytest.fixture
def there(here: Path, measured: Path) -> Path:
    """The current folder, with that store in it, to be asked and not changed."""
    (here / "S").symlink_to(measured, target_is_directory=True)
    return here


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_pictures_of_all_kinds(tracekit: Tracekit, there: Path) -> None:
    starts = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    for chart, kind in zip(CHARTS, starts, strict=True):
        done = tracekit(
            "chart", chart, "--store", "S", "-o", f"a.{kind}", "--size", "column", "--title", "T"
        )
        assert done.code == 0, done.messages
        assert done.messages.startswith(f"a.{kind}: {chart}, ")
        assert (there / f"a.{kind}").read_bytes().startswith(starts[kind])


def test_operations_and_bytes_in_numbers(tracekit: Tracekit, there: Path) -> None:
    done = tracekit(
        "chart",
        "oi_breakdown",
        "--store",
        "S",
        "--over",
        "nodes",
        "--series",
        "model",
        "--data",
        "d.csv",
        "-o",
        "d.png",
    )
    assert done.messages == "d.png: oi_breakdown, 11 bars, 1 unknown\n"
    rows = rows_of(there / "d.csv")
    assert [(row["series"], row["name"]) for row in rows] == [
        ("alexnet", "1"),
        ("alexnet", "2"),
        ("vgg16", "1"),
        ("vgg16", "2"),
        ("vgg16", "4"),
        ("vgg16", "8"),
    ]
    # 125e9 instructions of eight FP32 operations over the nodes, and 1000 of one
    flops = [1e12 + 1000, 5e11 + 1000, 1e12 + 1000, 5e11 + 1000, 2.5e11 + 1000, 1000]
    assert [float(row["total_flop"]) for row in rows] == pytest.approx(flops, rel=1e-12)
    assert [float(row["dram_bytes"]) for row in rows[:-1]] == [1536 * 2**20] * 5
    ratios = [float(row["intensity_flop_per_byte"]) for row in rows[:-1]]
    assert ratios == pytest.approx([flop / (1536 * 2**20) for flop in flops[:-1]])
    assert rows[-1]["dram_bytes"] == rows[-1]["intensity_flop_per_byte"] == ""
    assert "not_counted" in rows[-1]["reason"]


def test_shares_in_numbers(tracekit: Tracekit, there: Path) -> None:
    done = tracekit("chart", "fp_width_mix", "vgg16-1", "--store", "S", "--data", "d.csv")
    assert (done.code, done.text) == (0, "")
    found = {(r["precision_name"], r["width_name"]): r for r in rows_of(there / "d.csv")}
    assert len(found) == 8
    scalar, wide = found["fp32", "scalar"], found["fp32", "256"]
    assert float(scalar["inst_share_ratio"]) == pytest.approx(1000 / (125e9 + 1000))
    assert float(wide["flop_share_ratio"]) == pytest.approx(1e12 / (1e12 + 1000))
    assert float(found["fp64", "512"]["inst_share_ratio"]) == 0


def test_growth_in_numbers(tracekit: Tracekit, there: Path) -> None:
    done = tracekit(
        "chart",
        "throughput",
        "--store",
        "S",
        "--data",
        "d.csv",
        "-o",
        "d.svg",
        "--show",
        "efficiency",
    )
    assert done.messages == "d.svg: throughput, 5 points\n"
    rows = rows_of(there / "d.csv")
    found = {(row["series"], row["over_value"]): row for row in rows}
    assert set(found) == {(model, str(nodes)) for model, nodes in RATES}
    for (model, nodes), rate in RATES.items():
        row = found[model, str(nodes)]
        first = RATES[model, 1]
        assert float(row["metric_value"]) == rate
        assert float(row["speedup_factor"]) == rate / first
        assert float(row["efficiency_ratio"]) == rate / first / nodes
        assert float(row["ideal_value"]) == 1  # of the efficiency
    done = tracekit("chart", "throughput", "vgg16*", "lacks", "--store", "S", "--data", "e.csv")
    assert [(row["over_value"], row["metric_value"]) for row in rows_of(there / "e.csv")] == [
        ("1", "8.0"),
        ("2", "15.0"),
        ("4", "28.0"),
        ("8", ""),
    ]
    assert rows_of(there / "e.csv")[-1]["reason"] == "no figure of the metric images_per_s"


def test_speedups_over_a_run(tracekit: Tracekit, there: Path) -> None:
    tracekit(
        "chart",
        "throughput",
        "alexnet*",
        "--store",
        "S",
        "--data",
        "d.csv",
        "--show",
        "speedup",
        "--baseline",
        "vgg16-1",
    )
    found = [float(row["speedup_factor"]) for row in rows_of(there / "d.csv")]
    assert found == [60 / 8, 90 / 8]


@pytest.mark.parametrize("suffix", ["md", "parquet"])
def test_the_numbers_are_of_the_kind_that_the_file_is_called_after(
    tracekit: Tracekit, there: Path, suffix: str
) -> None:
    done = tracekit("chart", "throughput", "--store", "S", "--data", f"d.{suffix}")
    assert done.code == 0, done.messages
    starts = {"md": b"|", "parquet": b"PAR1"}
    assert (there / f"d.{suffix}").read_bytes().startswith(starts[suffix])


@pytest.mark.parametrize(("chart", "width"), list(zip(CHARTS, (80, 160, 80), strict=True)))
def test_the_chart_and_its_table_fit_the_terminal(
    tracekit: Tracekit, there: Path, monkeypatch: pytest.MonkeyPatch, chart: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    done = tracekit("chart", chart, "--store", "S")
    assert done.code == 0, done.messages
    assert max(map(len, done.text.splitlines())) <= width
    assert "\x1b" not in done.text
    said = {
        "oi_breakdown": "█ NUM_FLOP: FP32",
        "fp_width_mix": "█ FP32 scalar",
        "throughput": "dotted: ideal (linear)",
    }
    assert said[chart] in done.text
    assert chart in done.text.splitlines()[-1]  # what is in it
    if chart == "oi_breakdown":
        assert re.search(r"\nx lacks MEM_ACC: .*not_counted", done.text)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["pie"],
            "unknown chart 'pie'; charts: oi_breakdown, fp_width_mix, layers, throughput",
        ),
        (["throughput", "-o", "a.docx"], "the picture file has '.docx'; use one of:"),
        (["throughput", "--size", "poster"], "--size: invalid value 'poster'"),
        (["throughput", "--style", "x"], "--style needs a picture: name its file with -o"),
        (["throughput", "-o", "a.png", "--style", "nosuch"], "matplotlib has no such style"),
        (["throughput", "--baseline", "no-run"], "0 runs with this name have the metric"),
        (["oi_breakdown", "nosuch*"], "no run matches 'nosuch*'; runs:"),
        (["oi_breakdown", "--data", "a.ods"], "unknown output format 'ods'"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_sentence(
    tracekit: Tracekit, there: Path, arguments: list[str], says: str
) -> None:
    done = tracekit("chart", *arguments, "--store", "S")
    assert done.code == 2, done.messages
    assert says in done.error
    assert not list(there.glob("a.*"))


def test_nothing_is_overwritten_unasked(tracekit: Tracekit, there: Path) -> None:
    (there / "a.png").write_bytes(b"mine")
    for option in ("-o", "--data"):
        done = tracekit("chart", "throughput", "--store", "S", option, "a.png")
        assert (done.code, done.error) == (2, "a.png: the file exists; use --force to overwrite it")
    assert (there / "a.png").read_bytes() == b"mine"
    assert tracekit("chart", "throughput", "--store", "S", "-o", "a.png", "--force").code == 0
    assert (there / "a.png").read_bytes() != b"mine"


def test_a_store_without_counters(tracekit: Tracekit, here: Path, filled: Path) -> None:
    for chart, says in (
        ("oi_breakdown", "none of the runs has CPU counters"),
        ("throughput", "none of the runs has a metric"),
    ):
        done = tracekit("chart", chart, "--store", filled)
        assert (done.code, says in done.error) == (2, True), done.messages


def test_ranks_of_a_trace(tracekit: Tracekit, here: Path, filled: Path) -> None:
    done = tracekit("chart", "ranks", "gpu", "--store", filled, "--data", "d.csv", "-o", "a.png")
    assert done.code == 0, done.messages
    (row,) = rows_of(here / "d.csv")
    parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
    assert sum(int(row[part]) for part in parts) == int(row["elapsed_ns"]) > 0
    done = tracekit("chart", "ranks", "gpu", "--store", filled)
    assert "█ compute" in done.text
    done = tracekit("chart", "ranks", "gpu", "--store", filled, "--phase", "some")
    assert (done.code, "phase must be all, stable or N..M" in done.error) == (5, True)


def test_a_name_that_means_harm(tracekit: Tracekit, here: Path, measured: Path) -> None:
    name = "\x1b]0;owned\x07<script>$x^2$"
    file = measured.parent / "vgg16-1.csv"
    ingest(
        file,
        here / "H",
        Options(run_name=name, labels={"nodes": "1"}, metrics={"images_per_s": 1.0}),
    )
    for chart in CHARTS:
        done = tracekit("chart", chart, "--store", "H", "-o", f"{chart}.svg")
        assert done.code == 0, done.messages
        assert b"<script" not in (here / f"{chart}.svg").read_bytes()
    done = tracekit("chart", "throughput", "--store", "H")
    assert done.code == 0
    assert all(line.isprintable() for line in done.text.splitlines())


def test_from_python(measured: Path) -> None:
    session = library.open(measured)
    drawn = session.chart("throughput", "vgg16*", over="nodes", show="speedup")
    assert [row["speedup_factor"] for row in drawn.data.rows()] == [1, 15 / 8, 28 / 8]
    (axes,) = drawn.figure.axes
    assert axes.get_ylabel() == "Speedup of images_per_s"
    drawn = session.chart("oi_breakdown", over="nodes", series=["model"], size="slide")
    assert drawn.figure.get_size_inches().tolist() == [13.33, 7.5]


def test_no_chart_in_the_terminal_loads_what_it_does_not_need(
    loaded: Callable[..., set[str]], measured: Path
) -> None:
    for words in (["--help"], ["throughput", "--store", measured]):
        found = loaded("chart", *words)
        assert not found & {"pandas", "matplotlib"}
    assert "duckdb" in found


# -- memory ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Path:
    store = tmp_path_factory.mktemp("remembered") / "S"
    ingest(traces / "cpu-memory" / "trace.json.gz", store, Options(run_name="net"))
    return store


def test_memory_by_kind_over_time(tracekit: Tracekit, here: Path, remembered: Path) -> None:
    done = tracekit("chart", "memory", "--store", remembered, "-o", "m.png", "--data", "m.csv")
    assert (done.code, done.messages) == (0, "m.png: memory, 1 device\n")
    rows = rows_of(here / "m.csv")
    peak = {row["kind"]: int(row["allocated_bytes"]) for row in rows if row["is_peak"]}
    assert sum(peak.values()) == 814036  # the README of the file counts it
    assert (peak["weights"], peak["optimizer_state"]) == (136904, 273832)
    done = tracekit("chart", "memory", "net", "--store", remembered)
    assert done.text.startswith("cpu: ▼ peak 814.0 kB\n")
    assert "▒ optimizer state" in done.text


def test_memory_of_steps_that_are_not_there(
    tracekit: Tracekit, here: Path, remembered: Path
) -> None:
    done = tracekit("chart", "memory", "--store", remembered, "--phase", "7..9")
    assert done.code == 5
    assert "the run has no steps 7..9" in done.error
