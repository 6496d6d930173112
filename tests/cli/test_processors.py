"""The commands on what perf stat counted, as a user types them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

VGG16 = ROOT / "fixtures" / "javed2019" / "vgg16-ps1-vanilla-64-1"
COMMAND = ("--label", "model=vgg16", "--label", "nodes=1", "--metric", "images_per_s=8.2",
           "--device", "2x Xeon Gold 6126")  # fmt: skip


@pytest.fixture
def store(tracekit: Any, tmp_path: Path) -> str:
    """A run of one node, as the manual has it."""
    place = str(tmp_path / "S")
    done = tracekit("ingest", str(VGG16), "--store", place, "--run", "vgg16", *COMMAND)
    assert done.code == 0, done.messages
    assert done.messages.endswith(f"next: tracekit query cpu_work --run vgg16 --store {place}\n")
    return place


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_work_and_scaling_come_out_of_one_command_each(tracekit: Any, store: str) -> None:
    (work,) = rows(tracekit("query", "cpu_work", "--store", store, "--format", "csv").text)
    assert float(work["total_flop"]) == pytest.approx(33e12)  # 330 GFLOP/s for 100 s
    assert float(work["intensity_flop_per_byte"]) == pytest.approx(2.0, rel=1e-6)
    assert float(work["utilization_ratio"]) == pytest.approx(330 / 1305.6)
    done = tracekit("query", "scaling", "--store", store, "--param", "over=nodes",
               "--param", "metric=images_per_s", "--format", "csv")  # fmt: skip
    (point,) = rows(done.text)
    assert (point["over_value"], float(point["metric_value"])) == ("1", 8.2)
    done = tracekit(
        "query", "scaling", "--store", store, "--param", "over=nodes", "--param", "metric=x"
    )
    assert done.code == 5
    assert "no run has the metric x; metrics: images_per_s" in done.messages


def test_kernels_say_where_the_counters_are(tracekit: Any, store: str) -> None:
    done = tracekit("kernels", "--store", store)
    assert "has no device kernels, but counters of processors: tracekit query cpu_work" in (
        done.messages
    )


def test_a_run_has_one_value_of_a_metric(tracekit: Any, store: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text((VGG16 / "node0.csv").read_text() + "1;;cycles;1;100.00;;\n")
    done = tracekit("ingest", str(other), "--store", store, "--run", "vgg16",
               "--metric", "images_per_s=9")  # fmt: skip
    assert done.code == 2
    assert "the run 'vgg16' has the metric images_per_s=8.2, and images_per_s=9 is asked" in (
        done.messages
    )
    done = tracekit("ingest", str(other), "--store", store, "--run", "vgg16",
               "--metric", "images_per_s=8.2")  # fmt: skip
    assert done.code == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--metric", "x"), "--metric 'x': write it as NAME=VALUE, e.g. --metric images_per_s=8.2"),
        (("--metric", "x=fast"), "--metric x=fast: 'fast' is no number; a text is a --label"),
        (("--metric", "x=inf"), "--metric x=inf: is no number; leave it out if unknown"),
        (("--metric", "x=nan"), "--metric x=nan: is no number"),
        (("--metric", "x=1", "--metric", "x=2"), "--metric 'x' is given twice with different"),
        (("--events", "nosuch.toml"), "nosuch.toml: cannot be read"),
        (("--device", "3x Xeon Nosuch"), "no device of that name is known"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read(
    tracekit: Any, tmp_path: Path, option: tuple[str, ...], message: str
) -> None:
    done = tracekit("ingest", str(VGG16), "--store", str(tmp_path / "S"), *option)
    assert done.code == 2
    assert message in done.messages
    assert not (tmp_path / "S").exists()


def test_events_of_the_user_go_before_ours(tracekit: Any, tmp_path: Path) -> None:
    """An event that counts other than we know: twice the operations of 256 bits."""
    events = tmp_path / "my.toml"
    events.write_text("".join(
        f'[[event]]\nname = "fp_arith_inst_retired.{name}_single"\nquantity = "flop"\n'
        f'precision = "fp32"\nwidth = "{width}"\namount = {amount}\n'
        for name, width, amount in (("scalar", "scalar", 2), ("128b_packed", "128", 8),
                                    ("256b_packed", "256", 16), ("512b_packed", "512", 32))
    ))  # fmt: skip
    store = str(tmp_path / "S")
    tracekit("ingest", str(VGG16), "--store", store, *COMMAND, "--events", str(events))
    (work,) = rows(tracekit("query", "cpu_work", "--store", store, "--format", "csv").text)
    assert float(work["fp32_flop"]) == pytest.approx(66e12)
