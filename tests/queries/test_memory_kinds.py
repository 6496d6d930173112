"""Memory by kind on recorded files: against bytes counted by hand, and plain Python."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested
from tracekit.engine import Database

#: Traces of the corpus with events of an allocator; the first is of torch 1.9, without addresses.
WITHOUT_ADDRESSES = "kineto-resnet50-v100-torch19-memory"
CORPUS = (
    "dtumlops-cpu-memory-torch21",
    "hta-v100-nccl-rank1of2-memory",
    "parttransformer-a100pcie-flops-mem",
    "profilingtutorial-transformer-h100-stack-mem",
    "switchtransformer-a100-stack-mem",
    "tracelens-bertsmall-h100",
    "tracelens-bertsmall-mi300x",
    "tracelens-normlayers-mi300x-fwdbwd",
    "tracelens-nsfwvit-h100-flops-mem-stack",
    "tracelens-nsfwvit-mi300x-flops-mem-stack",
    "tracelens-owlv2-h100-55mb",
    "tracelens-sglang-capture-mi300x",
    "tracelens-timesformer-h100",
)
FIGURES = ("peak_bytes", "at_peak_bytes", "allocation_count", "allocated_bytes")


def report(database: Database, name: str) -> list[dict[str, Any]]:
    """The rows of the only run."""
    return database.query(name, {"run_id": database.run_id(None)}).rows()


def test_each_kind_is_as_counted_by_hand(traces: Path, ingested: Ingested) -> None:
    folder = traces / "cpu-memory"
    lines = (folder / "expected" / "memory_by_kind.csv").read_text("utf-8").splitlines()
    expected = {
        row["kind"]: tuple(int(row[name]) for name in FIGURES)
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    }
    database = ingested.database(folder / "trace.json.gz")
    rows = report(database, "memory_by_kind")
    assert {row["kind"]: tuple(row[name] for name in FIGURES) for row in rows} == expected
    # three steps of the same: 4,096 + 128 bytes of input, 25,864 of feature maps in each
    per_step = {row["kind"]: row["allocated_step_bytes"] for row in rows}
    assert (per_step["input"], per_step["feature_maps"]) == (4224, 25864)
    assert per_step["weights"] == 0  # the network is made before the first step


def test_the_layers_that_hold_the_feature_maps(traces: Path, ingested: Ingested) -> None:
    """Both ReLUs are called in the network itself, the last layer is a module, the loss is none."""
    database = ingested.database(traces / "cpu-memory" / "trace.json.gz")
    rows = report(database, "memory_by_module")
    assert {row["module_path"]: row["at_peak_bytes"] for row in rows} == {
        "Net_0": 16384 + 8192,
        "Net_0/Linear_1": 640,
        None: 640 + 4 + 4,
    }


# -- the corpus -----------------------------------------------------------------------------------


def pools_of(trace: Path) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """The allocator's events of each device, in the order of time."""
    root = json.loads(gzip.decompress(trace.read_bytes()))
    pools = defaultdict(list)
    for event in root["traceEvents"]:
        if event.get("name") == "[memory]":
            args = event["args"]
            pools[args["Device Type"], args["Device Id"]].append({"ts": event["ts"], **args})
    return {pool: sorted(own, key=lambda e: e["ts"]) for pool, own in pools.items()}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", CORPUS)
def test_kinds_make_the_profilers_total(corpus: Path, ingested: Ingested, name: str) -> None:
    """At the largest total: what was there before, and every block allocated by then and held."""
    trace = corpus / "torch" / f"{name}.json.gz"
    database = ingested.database(trace)
    found: dict[bool, dict[str, int]] = defaultdict(dict)
    for row in report(database, "memory_by_kind"):
        found[row["device_kind"] == "cpu"][row["kind"]] = row["at_peak_bytes"]
    for (kind, _), events in pools_of(trace).items():
        peak = max(event["Total Allocated"] for event in events)
        before = events[0]["Total Allocated"] - events[0]["Bytes"]
        held: dict[int, int] = {}
        for event in events:
            held[event["Addr"]] = max(event["Bytes"], 0)
            if event["Total Allocated"] == peak:
                break
        own = found[kind == 0]
        assert own.pop("(all)") == peak
        assert own.get("unseen", 0) == before
        assert sum(own.values()) == before + sum(held.values()) == peak
    for row in report(database, "memory_coverage"):
        assert (row["unaccounted_bytes"], row["lost_release_count"], row["unequal_count"]) == (
            0,
        ) * 3
        assert row["reason"] is None


def test_a_file_without_addresses_says_so(corpus: Path, ingested: Ingested) -> None:
    database = ingested.database(corpus / "torch" / f"{WITHOUT_ADDRESSES}.json.gz")
    for name, figure in (("memory_by_kind", "peak_bytes"), ("memory_coverage", "block_count")):
        rows = report(database, name)
        assert [(row["device_kind"], row[figure]) for row in rows] == [
            ("cpu", None),
            ("cuda", None),
        ]
        assert {row["reason"] for row in rows} == {"the file has neither addresses nor totals"}
    assert not report(database, "memory_over_time")
