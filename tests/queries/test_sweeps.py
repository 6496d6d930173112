"""Sweeps on the data of ParaDnn's authors, beside a few lines of numpy on the same files."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.intake import Options, ingest
from tracekit.store import open_store


@pytest.fixture(scope="module")
def sweeps(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Database:
    store = tmp_path_factory.mktemp("sweeps") / "S"
    for name in ("tpu", "gpu"):
        ingest(
            corpus / "paradnn" / f"{name}_fc.json.gz",
            store,
            Options(run_name=name, labels={"platform": name}),
        )
    return Database(open_store(store))


def table(corpus: Path, name: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(
        gzip.decompress((corpus / "paradnn" / f"{name}_fc.json.gz").read_bytes())
    )
    return found


def labels(job: str) -> dict[str, int]:
    return {part.split("_")[0]: int(part.split("_")[1]) for part in job.split("-")}


def test_the_sweep_of_batch_and_nodes(corpus: Path, sweeps: Database) -> None:
    """ParaDnn, Fig. 2 (a): FLOP/s over nodes and batch, one configuration a cell."""
    fixed = {"layer": 32, "input": 2000, "output": 1000}
    data = table(corpus, "tpu")
    measured = {
        job: value
        for job, value in zip(data["labels"], data["flops"], strict=True)
        if labels(job).items() >= fixed.items()
    }
    failed = {job for job in data["err_jobs"] if labels(job).items() >= fixed.items()}
    result = sweeps.query(
        "heatmap",
        {
            "x": "node",
            "y": "bs",
            "metric": "flops",
            "runs": "tpu",
            "fixed": ",".join(f"{name}={value}" for name, value in fixed.items()),
        },
    )
    found = {(row["x_number"], row["y_number"]): row for row in result.rows()}
    assert len(found) == len(measured) + len(failed) == 81
    assert 0 < len(failed) == sum(row["failed_count"] for row in found.values())
    for job, value in measured.items():
        assert found[labels(job)["node"], labels(job)["bs"]]["metric_value"] == value
    for job in failed:
        row = found[labels(job)["node"], labels(job)["bs"]]
        assert (row["metric_value"], row["reason"]) == (None, "OOM")


@pytest.mark.parametrize("rule", ["mean", "median", "min", "max"])
def test_configurations_of_one_cell_by_a_rule(corpus: Path, sweeps: Database, rule: str) -> None:
    data = table(corpus, "tpu")
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for job, value in zip(data["labels"], data["flops"], strict=True):
        cells[labels(job)["layer"], labels(job)["node"]].append(value)
    result = sweeps.query(
        "heatmap", {"x": "layer", "y": "node", "metric": "flops", "runs": "tpu", "rule": rule}
    )
    found = {(row["x_number"], row["y_number"]): row for row in result.rows()}
    assert found.keys() >= cells.keys()
    for cell, values in cells.items():
        assert found[cell]["metric_value"] == pytest.approx(getattr(np, rule)(values), rel=1e-9)
    assert sum(row["configuration_count"] for row in found.values()) == 1944
    assert sum(row["failed_count"] for row in found.values()) == 220


def test_a_label_of_the_run_is_one_of_its_configurations(sweeps: Database) -> None:
    result = sweeps.query(
        "heatmap", {"x": "platform", "y": "bs", "metric": "example_per_sec", "rule": "max"}
    )
    counts: dict[str, int] = defaultdict(int)
    for row in result.rows():
        counts[row["x_value"]] += row["configuration_count"]
    assert counts == {"tpu": 1944, "gpu": 270}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": "nodes"}, "no configuration has the label nodes; there are: bs, input, layer, node"),
        ({"metric": "speed"}, "no configuration has the metric speed; there are: example_per_sec"),
        ({}, r"\d+ configurations with node=\d+ and bs=\d+: keep those with certain labels"),
    ],
)
def test_what_cannot_be_asked(sweeps: Database, change: dict[str, str], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        sweeps.query("heatmap", {"x": "node", "y": "bs", "metric": "flops"} | change)


def test_what_the_tables_hold(sweeps: Database, corpus: Path) -> None:
    runs = {name: run_id for run_id, name in sweeps.run_names().items()}
    rows = list(sweeps.query("configurations", {"run_id": runs["gpu"]}).rows())
    flops = next(row for row in rows if row["column_name"] == "flops")
    values = table(corpus, "gpu")["flops"]
    assert flops["median_value"] == pytest.approx(np.median(values), rel=1e-12)
    assert (flops["configuration_count"], flops["missing_count"]) == (176, 94)
    assert [row["configuration_count"] for row in rows[:2]] == [176, 94]


def test_quantiles_of_a_metric(corpus: Path, sweeps: Database) -> None:
    data = table(corpus, "tpu")
    groups: dict[int, list[float]] = defaultdict(list)
    for job, value in zip(data["labels"], data["flops"], strict=True):
        groups[labels(job)["bs"]].append(value)
    result = sweeps.query("distribution", {"metric": "flops", "by": "bs", "runs": "tpu"})
    found = {row["group_number"]: row for row in result.rows()}
    assert found.keys() == groups.keys()
    for group, values in groups.items():
        row = found[group]
        marks = np.quantile(values, [0.02, 0.09, 0.5, 0.91, 0.98])
        names = ("p02_value", "p09_value", "median_value", "p91_value", "p98_value")
        assert [row[name] for name in names] == pytest.approx(marks, rel=1e-9)
        assert row["mean_value"] == pytest.approx(np.mean(values), rel=1e-9)
        assert (row["min_value"], row["max_value"]) == (min(values), max(values))
        beyond = sum(value < marks[0] or value > marks[4] for value in values)
        assert (row["known_count"], row["outlier_count"]) == (len(values), beyond)
        assert row["failed_count"] == sum(labels(job)["bs"] == group for job in data["err_jobs"])


def test_speedups_of_the_configurations_that_both_have(corpus: Path, sweeps: Database) -> None:
    rates, failed = {}, {}
    for name in ("tpu", "gpu"):
        data = table(corpus, name)
        rates[name] = dict(zip(data["labels"], data["example_per_sec"], strict=True))
        failed[name] = {*data["err_jobs"]}
    result = sweeps.query("speedup", {"over": "platform", "baseline": "gpu"})
    found = {row["configuration"]: row for row in result.rows()}
    every = {job for name in rates for job in (*rates[name], *failed[name])}
    assert len(found) == len(every) == 1944
    reasons: dict[str | None, int] = defaultdict(int)
    for job in every:
        told = sorted((name, str(value)) for name, value in labels(job).items())
        row = found[", ".join(f"{name}={value}" for name, value in told)]
        if job in rates["tpu"] and job in rates["gpu"]:
            expected = rates["tpu"][job] / rates["gpu"][job]
            assert row["speedup_factor"] == pytest.approx(expected, rel=1e-9)
            assert row["reason"] is None
        else:
            assert row["speedup_factor"] is None
        reasons[row["reason"]] += 1
    assert reasons[None] == len(rates["tpu"].keys() & rates["gpu"].keys()) == 176
    assert reasons["not tried on gpu"] == len(
        rates["tpu"].keys() - rates["gpu"].keys() - failed["gpu"]
    )
    assert reasons["no figure on gpu: no error but not finished"] == len(
        failed["gpu"] & rates["tpu"].keys()
    )
    assert sum(reasons.values()) == 1944
    with pytest.raises(QueryError, match="no configuration has platform=v100; there are: gpu, tpu"):
        sweeps.query("speedup", {"over": "platform", "baseline": "v100"})


# -- sensitivity ----------------------------------------------------------------------------------


def scaled(values: Any) -> Any:
    found = np.asarray(values, float)
    return (found - found.mean()) / found.std()


def weights(columns: dict[str, list[float]], metric: list[float]) -> dict[str, float]:
    matrix = np.column_stack([scaled(values) for values in columns.values()])
    found = np.linalg.lstsq(matrix, scaled(metric))[0]
    return dict(zip(columns, found, strict=True))


def columns(jobs: list[str], *names: str) -> dict[str, list[float]]:
    return {name: [float(labels(job)[name]) for job in jobs] for name in names}


FC = ("layer", "node", "input", "output", "bs")


def of_the_report(sweeps: Database, **asked: Any) -> dict[str, float]:
    rows = sweeps.query("sensitivity", asked).rows()
    return {row["term"]: row["weight"] for row in rows if row["weight"] is not None}


def test_weights_of_fully_connected_models(corpus: Path, sweeps: Database) -> None:
    """ParaDnn, Fig. 2 (d): batch size and nodes weigh most, then layers."""
    data = table(corpus, "tpu")
    expected = weights(columns(data["labels"], *FC), data["flops"])
    rows = list(sweeps.query("sensitivity", {"metric": "flops", "runs": "tpu"}).rows())
    assert [row["term"] for row in rows[:3]] == ["bs", "node", "layer"]
    assert of_the_report(sweeps, metric="flops", runs="tpu") == pytest.approx(expected, rel=1e-9)
    assert {(row["row_count"], row["left_out_count"]) for row in rows} == {(1724, 220)}
    matrix = np.column_stack([scaled(v) for v in columns(data["labels"], *FC).values()])
    rest = np.linalg.lstsq(matrix, scaled(data["flops"]))[1][0]
    assert rows[0]["r2_ratio"] == pytest.approx(1 - rest / 1724, rel=1e-9)
    error = np.sqrt(np.linalg.inv(matrix.T @ matrix)[4, 4] * rest / (1724 - 6))
    assert rows[0]["standard_error"] == pytest.approx(error, rel=1e-9)


def test_products_and_logarithms(corpus: Path, sweeps: Database) -> None:
    data = table(corpus, "tpu")
    own = columns(data["labels"], "bs", "node")
    product = {"bs*node": list(scaled(own["bs"]) * scaled(own["node"]))}
    found = of_the_report(sweeps, metric="flops", runs="tpu", labels="bs, node", order=2)
    assert found == pytest.approx(weights(own | product, data["flops"]), rel=1e-9)
    logs = {name: list(np.log(values)) for name, values in own.items()}
    found = of_the_report(sweeps, metric="flops", runs="tpu", labels="bs,node", scale="log")
    assert found == pytest.approx(weights(logs, list(np.log(data["flops"]))), rel=1e-9)


def test_weights_for_a_speedup(corpus: Path, sweeps: Database) -> None:
    """ParaDnn, Fig. 8 (a): large batches favor the TPU, many nodes and layers the GPU."""
    rates = {}
    for name in ("tpu", "gpu"):
        data = table(corpus, name)
        rates[name] = dict(zip(data["labels"], data["example_per_sec"], strict=True))
    both = sorted(rates["tpu"].keys() & rates["gpu"].keys())
    expected = weights(
        columns(both, "layer", "node", "bs"), [rates["tpu"][j] / rates["gpu"][j] for j in both]
    )
    asked = {"metric": "example_per_sec", "over": "platform", "baseline": "gpu"}
    assert of_the_report(sweeps, **asked) == pytest.approx(expected, rel=1e-9)
    assert expected["bs"] > 0 > expected["layer"] > expected["node"]
    reasons = {row["term"]: row["reason"] for row in sweeps.query("sensitivity", asked).rows()}
    assert reasons["input"] == reasons["output"] == "has only one value"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"order": 3}, "order cannot be 3; it is 1 or 2"),
        ({"labels": "bs,nodes"}, "no configuration has the label nodes; there are: bs, input"),
        ({"over": "platform"}, r"specify baseline \(one of gpu, tpu\)"),
        ({"metric": "bs"}, "bs is a label, not a metric; what a column is can be said at ingest"),
        ({"fixed": "layer=5"}, "no configuration has layer=5; layer is one of: 4, 8, 16, 32, 64"),
        ({"fixed": "layers=4"}, "no configuration has layers=4; labels: bs, input, layer, node"),
        ({"fixed": "layer"}, "layer: give a value, such as layer=4"),
    ],
)
def test_what_no_weights_can_be_of(sweeps: Database, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        sweeps.query("sensitivity", {"metric": "flops"} | asked)


def test_units_are_not_mixed(tmp_path: Path) -> None:
    store = tmp_path / "S"
    for name, unit in (("a", "s"), ("b", "ms")):
        (tmp_path / f"{name}.csv").write_text(f"batch,time\n1,5.5\n2,7{unit == 's':d}.5\n")
        ingest(
            tmp_path / f"{name}.csv",
            store,
            Options(run_name=name, columns={f"time:{unit}": "metric"}),
        )
    database = Database(open_store(store))
    asked = {"metric": "time", "by": "batch"}
    with pytest.raises(QueryError, match="time has several units: ms in b, s in a; ask for runs"):
        database.query("distribution", asked)
    assert len(database.query("distribution", asked | {"runs": "a"})) == 2


def test_what_a_failed_configuration_has_is_not_measured(tmp_path: Path) -> None:
    """Some drivers write 0 where a job ran out of memory."""
    rows = (
        "batch,nodes,images_per_s,infeed [%],status",
        "1,1,5.5,10,ok",
        "2,1,0.0,0,OOM",
        "2,2,7.5,30,ok",
    )
    (tmp_path / "t.csv").write_text("\n".join(rows))
    ingest(tmp_path / "t.csv", tmp_path / "S", Options(run_name="t"))
    database = Database(open_store(tmp_path / "S"))
    cells = database.query("heatmap", {"x": "batch", "y": "nodes", "metric": "images_per_s"}).rows()
    assert [(row["metric_value"], row["reason"]) for row in cells] == [
        (5.5, None),
        (None, "OOM"),
        (7.5, None),
    ]
    (box,) = database.query(
        "distribution", {"metric": "images_per_s", "by": "batch", "fixed": "batch=2"}
    ).rows()
    assert (box["min_value"], box["known_count"], box["failed_count"]) == (7.5, 1, 1)
    (run_id,) = database.run_names()
    told = {
        row["column_name"]: row
        for row in database.query("configurations", {"run_id": run_id}).rows()
    }
    assert (told["images_per_s"]["min_value"], told["images_per_s"]["missing_count"]) == (5.5, 1)
    waits = database.query("infeed", {"run_id": run_id, "by": "step", "metric": "infeed [%]"})
    assert [row["infeed_ratio"] for row in waits.rows()] == pytest.approx([0.1, None, 0.3])


def test_platforms_without_a_label_in_common(tmp_path: Path) -> None:
    for name, text in (("a", "x,speed\n1,5.5\n2,6.5\n"), ("b", "y,speed\n1,2.5\n")):
        (tmp_path / f"{name}.csv").write_text(text)
        ingest(
            tmp_path / f"{name}.csv",
            tmp_path / "S",
            Options(run_name=name, labels={"platform": name}),
        )
    database = Database(open_store(tmp_path / "S"))
    asked = {"over": "platform", "baseline": "b", "metric": "speed"}
    with pytest.raises(QueryError, match="2 configurations on a: keep those with certain labels"):
        database.query("speedup", asked)
    (row,) = database.query("speedup", asked | {"rule": "mean"}).rows()
    assert (row["configuration"], row["speedup_factor"]) == ("", pytest.approx(6 / 2.5))
