"""Screens show a contradiction between their reports in place of the values that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ingested import Ingested
from tests.mutation.catalogs import replaced
from tracekit.advice import advise
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.page import Findings, Listing, Page
from tracekit.report import report
from tracekit.session import Session
from tracekit.store import open_store
from tracekit.summary import summarize

FILE = Path(__file__).resolve().parent.parent / "fixtures" / "h100" / "lstm" / "trace.json.gz"


@contextmanager
def doubled(name: str, column: str) -> Iterator[None]:
    """Let a report have a column twice as large as it is."""
    query = catalog()[name]
    sql = f"SELECT * REPLACE (2 * {column} AS {column}) FROM ({query.sql})"
    with replaced(replace(query, sql=sql)):
        yield


def lines_of(database: Database, phase: str = "all") -> dict[str, str]:
    rows = summarize(database, phase=phase).rows()
    return {row["about"]: row["summary"] for row in rows}


@pytest.fixture
def store(ingested: Ingested) -> Path:
    return ingested.store(FILE)


@pytest.mark.parametrize("phase", ["all", pytest.param("stable", marks=pytest.mark.deep)])
def test_the_summary_shows_what_disagrees_and_the_rest_as_it_is(store: Path, phase: str) -> None:
    right = lines_of(Database(open_store(store)), phase)
    with doubled("gaps", "total_ns"):
        wrong = lines_of(Database(open_store(store)), phase)
    different = {about for about in right if wrong.get(about) != right[about]}
    # the class idle of the line `time` is compared with the causes
    assert different == {"idle", "time"}
    assert wrong["idle"] == wrong["time"]
    assert wrong["idle"].startswith("two reports disagree: gaps.total_ns")
    assert "overlap.exposed_ns of idle" in wrong["idle"]
    assert wrong["idle"].endswith("(device 0 of source " + wrong["idle"].rpartition(" ")[2])
    assert not any("disagree" in text for text in right.values())


def test_a_finding_shows_what_contradicts_it_in_place_of_its_win(store: Path) -> None:
    right = {row["finding_name"]: row for row in advise(Database(open_store(store))).rows()}
    (idle, *_) = (name for name in right if name.startswith("idle_"))
    query = catalog()[idle]
    sql = f"SELECT * REPLACE (1000 * win_ns AS win_ns) FROM ({query.sql})"
    with replaced(replace(query, sql=sql)):
        wrong = {row["finding_name"]: row for row in advise(Database(open_store(store))).rows()}
    assert wrong.keys() == right.keys()
    assert (wrong[idle]["win_ns"], wrong[idle]["win_ratio"]) == (None, None)
    assert wrong[idle]["evidence"].startswith("two reports disagree: findings about idle time")
    others = {name for name in right if not name.startswith("idle_")}
    assert {name: wrong[name]["evidence"] for name in others} == {
        name: right[name]["evidence"] for name in others
    }


def tables_of(page: Page) -> dict[str, Listing]:
    blocks = [block for section in page.sections for block in section.blocks]
    assert any(isinstance(block, Findings) for block in blocks)
    return {block.title: block for block in blocks if isinstance(block, Listing)}


@pytest.mark.deep
def test_the_page_shows_what_disagrees_in_place_of_the_values(store: Path) -> None:
    right = tables_of(report(Session(Database(open_store(store)))))
    with doubled("gaps", "total_ns"):
        wrong = tables_of(report(Session(Database(open_store(store)))))
    assert wrong.keys() == right.keys()
    columns = {"Idle time by cause": "total_ns", "Time by class": "exposed_ns"}
    for title, column in columns.items():
        assert wrong[title].notes[0].startswith("two reports disagree: gaps.total_ns")
        before, after = right[title].result.table, wrong[title].result.table
        assert set(after[column].to_pylist()) == {None}
        assert after.drop_columns(column).equals(before.drop_columns(column))
    noted = {title for title in wrong if wrong[title].notes != right[title].notes}
    assert noted == columns.keys()
