"""The macro `ratio`: a quotient, or NULL where there is none."""

from __future__ import annotations

import pytest

from tracekit.engine import Database
from tracekit.store import create_store


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(create_store(tmp_path_factory.mktemp("ratio") / "S"))


def ratio(database: Database, numerator: str, denominator: str) -> float | None:
    (row,) = database.sql(f"SELECT ratio({numerator}, {denominator}) AS r").rows()
    value: float | None = row["r"]
    return value


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [
        ("1", "4", 0.25),
        ("700", "200", 3.5),  # Javed et al. 2019: the speed-up of Alexnet, images per second
        ("0", "5", 0.0),
        ("-1", "4", -0.25),
        ("1", "-4", -0.25),
        ("5::BIGINT", "2::BIGINT", 2.5),  # no division of whole numbers
        ("5::HUGEINT", "2::HUGEINT", 2.5),
        ("sum(5::BIGINT)", "sum(2::BIGINT)", 2.5),
        ("0.1::DECIMAL(2, 1)", "0.2::DECIMAL(2, 1)", 0.5),
        ("9223372036854775807", "9223372036854775807", 1.0),
        ("1", "9223372036854775807", 1 / (2**63 - 1)),
        ("1 + 1", "3 + 1", 0.5),  # the arguments are pasted in whole
    ],
)
def test_it_is_the_quotient(
    database: Database, numerator: str, denominator: str, expected: float
) -> None:
    assert ratio(database, numerator, denominator) == pytest.approx(expected, rel=1e-15, abs=0)


INFINITE = "'inf'::DOUBLE"
NAN = "'nan'::DOUBLE"


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        ("1", "0"),
        ("0", "0"),
        ("1", "0.0"),
        ("1", "-0.0::DOUBLE"),
        ("1", "NULL"),
        ("NULL", "1"),
        ("NULL", "0"),
        ("NULL", "NULL"),
        (INFINITE, "1"),
        (INFINITE, INFINITE),
        (NAN, "1"),
        ("1", NAN),
        ("1e308", "1e-308"),
        ("0::BIGINT", "0::HUGEINT"),
    ],
)
def test_it_is_null_where_there_is_none(
    database: Database, numerator: str, denominator: str
) -> None:
    assert ratio(database, numerator, denominator) is None
