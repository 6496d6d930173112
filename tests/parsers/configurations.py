"""Rows of configurations, as tests of results' formats look at them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.parsers.conftest import Parsed, gathered
from tracekit.parser import Report
from tracekit.registry import detect
from tracekit.source import Source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def read(path: Path, parser_name: str) -> Parsed:
    """What the parser that claims a file makes of it, which has to be this one."""
    parser = detect(Source.at(path)).parser
    assert parser.name == parser_name
    report = Report()
    return gathered(parser.parse(Source.at(path), report), report)


def values(found: Parsed, role: str) -> list[dict[str, Any]]:
    """Of each configuration its labels (texts) or its metrics (numbers)."""
    told: dict[int, dict[str, Any]] = {row["event_id"]: {} for row in found["configuration"]}
    for row in found["configuration_value"]:
        if row["role_kind"] == role:
            of_it = told[row["event_id"]]
            assert row["column_name"] not in of_it
            of_it[row["column_name"]] = row["value_text" if role == "label" else "value"]
    return list(told.values())


def labels(found: Parsed) -> list[dict[str, Any]]:
    return values(found, "label")


def metrics(found: Parsed) -> list[dict[str, Any]]:
    return values(found, "metric")


def units(found: Parsed) -> dict[str, set[str | None]]:
    """The units that each metric has."""
    told: dict[str, set[str | None]] = {}
    for row in found["configuration_value"]:
        if row["role_kind"] == "metric":
            told.setdefault(row["column_name"], set()).add(row["unit"])
    return told


def status(found: Parsed) -> list[tuple[str, str | None]]:
    return [(row["status_kind"], row["status_text"]) for row in found["configuration"]]


def names(found: Parsed) -> list[str | None]:
    return [row["name"] for row in found["configuration"]]
