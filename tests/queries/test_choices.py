"""What need not be said of a sweep, as the store leaves no choice, and what has to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database
from tracekit.errors import ChoiceError, QueryError
from tracekit.intake import Options, ingest
from tracekit.store import create_store, open_store

Make = Callable[..., Database]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A store of tables of results by run, some with labels of the run."""

    def build(
        tables: Mapping[str, str], labels: Mapping[str, Mapping[str, str]] | None = None
    ) -> Database:
        for name, text in tables.items():
            (tmp_path / f"{name}.csv").write_text(text)
            own = (labels or {}).get(name, {})
            ingest(tmp_path / f"{name}.csv", tmp_path / "S", Options(run_name=name, labels=own))
        return Database(open_store(tmp_path / "S"))

    return build


CORES = "cores,batch,images_per_s\n1,8,10.5\n2,8,20.5\n4,8,30.5\n"


def choices(database: Database, report: str, **given: Any) -> Mapping[str, Any]:
    with pytest.raises(ChoiceError) as raised:
        database.query(report, given)
    return raised.value.choices


def test_the_only_metric_and_the_only_label(make: Make) -> None:
    """Of batch there is one value, so that cores is the only label with several."""
    database = make({"a": CORES})
    rows = list(database.query("sensitivity").rows())
    assert [(row["term"], row["metric_name"]) for row in rows] == [
        ("cores", "images_per_s"),
        ("batch", "images_per_s"),
    ]
    result = database.query("amdahl")
    assert {row["over_name"] for row in result.rows()} == {"cores"}
    assert [row["speedup_factor"] for row in result.rows()] == pytest.approx(
        [20.5 / 10.5, 30.5 / 10.5]
    )
    assert result.notes[2:] == ("over = cores (not given)", "metric = images_per_s (not given)")
    boxes = database.query("distribution")
    assert [row["group_value"] for row in boxes.rows()] == ["1", "2", "4"]
    assert choices(database, "heatmap") == {"x": ["cores"], "y": ["cores"]}


def test_what_was_given_is_not_said_to_be_chosen(make: Make) -> None:
    database = make({"a": CORES})
    assert database.query("sensitivity").notes[2:] == ("metric = images_per_s (not given)",)
    assert database.query("sensitivity", {"metric": "images_per_s"}).notes[2:] == ()


def test_several_metrics_and_labels_are_listed(make: Make) -> None:
    database = make({"a": "cores,batch,images_per_s,loss\n1,8,10.5,2.5\n2,16,20.5,3.5\n"})
    labels, metrics = ["batch", "cores"], ["images_per_s", "loss"]
    assert choices(database, "amdahl") == {"over": labels, "metric": metrics}
    assert choices(database, "heatmap") == {"x": labels, "y": labels, "metric": metrics}
    assert choices(database, "distribution", metric="loss") == {"by": labels}
    assert choices(database, "speedup", over="cores", baseline="1") == {"metric": metrics}
    said = r"^specify metric \(one of images_per_s, loss\) and by \(one of batch, cores\)$"
    with pytest.raises(QueryError, match=said):
        database.query("distribution")


TWO = {"platform": "tpu"}, {"platform": "gpu"}


def test_the_label_that_tells_runs_apart(make: Make) -> None:
    """Which of two platforms the baseline is would be a guess."""
    tables = {"a": CORES, "b": CORES.replace("0.5", "5.5")}
    database = make(tables, dict(zip("ab", TWO, strict=True)))
    assert choices(database, "speedup") == {"baseline": ["gpu", "tpu"]}
    result = database.query("speedup", {"baseline": "gpu"})
    assert [row["speedup_factor"] for row in result.rows()] == pytest.approx(
        [30.5 / 35.5, 20.5 / 25.5, 10.5 / 15.5]
    )


def test_labels_of_words_count_no_chips(make: Make) -> None:
    """Runs differ in the platform, which Amdahl's law says nothing of."""
    database = make({"a": CORES, "b": CORES}, dict(zip("ab", TWO, strict=True)))
    result = database.query("amdahl", {"runs": "a"})
    assert {row["over_name"] for row in result.rows()} == {"cores"}
    assert {row["over_name"] for row in database.query("amdahl", {"rule": "mean"}).rows()} == {
        "cores"
    }


def test_only_the_runs_that_are_asked_for_count(make: Make) -> None:
    database = make({"a": CORES, "b": CORES.replace("images_per_s", "loss")})
    assert choices(database, "sensitivity") == {"metric": ["images_per_s", "loss"]}
    rows = database.query("sensitivity", {"runs": "b"}).rows()
    assert {row["metric_name"] for row in rows} == {"loss"}


def test_examples_per_second_of_several_metrics(make: Make) -> None:
    """As in the tables of ParaDnn's authors."""
    text = "platform,batch,example_per_sec,loss\na,1,2.5,1.5\nb,1,5.0,1.5\n"
    (row,) = make({"a": text}).query("speedup", {"baseline": "a"}).rows()
    assert (row["metric_name"], row["speedup_factor"]) == ("example_per_sec", 2.0)


def test_a_number_has_one_spelling_and_numbers_stand_by_size(make: Make) -> None:
    database = make({"a": "cores,rate\n16,1.5\n16.0,2.5\n9,3.5\nmany,4.5\n"})
    assert choices(database, "speedup", over="cores") == {"baseline": ["9", "16", "many"]}


def test_many_values_are_not_all_listed(make: Make) -> None:
    rows = "".join(f"{cores},{cores}.5\n" for cores in range(1, 31))
    with pytest.raises(QueryError, match=r"19, 20 and 10 more\)$"):
        make({"a": f"cores,rate\n{rows}"}).query("speedup")


def test_values_from_files_are_told_in_one_line(make: Make) -> None:
    with pytest.raises(QueryError, match=r"^specify baseline \(one of a, b\\nerror: c\)$"):
        make({"a": 'net,rate\na,1.5\n"b\nerror: c",2.5\n'}).query("speedup")


def test_where_there_is_nothing_to_choose(make: Make, tmp_path: Path) -> None:
    assert len(Database(create_store(tmp_path / "empty")).query("sensitivity")) == 0
    database = make({"a": "cores,batch,images_per_s\n1,8,\n1,8,2.5\n"})
    with pytest.raises(QueryError, match="no configuration has a label with several values; "):
        database.query("distribution")


def test_there_is_nothing_to_compare_one_value_with(make: Make) -> None:
    database = make({"a": CORES}, {"a": TWO[0]})
    with pytest.raises(QueryError, match=r"^platform is tpu everywhere: there is nothing to comp"):
        database.query("speedup", {"over": "platform"})
    with pytest.raises(QueryError, match=r"^platform is tpu everywhere: "):
        database.query("sensitivity", {"over": "platform"})


def test_a_heat_map_is_of_two_labels(make: Make) -> None:
    with pytest.raises(QueryError, match=r"^x and y are both cores; name another label for one"):
        make({"a": CORES}).query("heatmap", {"x": "cores", "y": "cores", "rule": "max"})


def test_what_scales_is_a_label(make: Make) -> None:
    with pytest.raises(QueryError, match=r"^no configuration has the label nodes; there are: ba"):
        make({"a": CORES}).query("scaling", {"over": "nodes"})
