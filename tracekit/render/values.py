"""Values of results as text and as JSON; SQL can return any DuckDB type."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from tracekit.render.numbers import number
from tracekit.result import Result, ResultColumn, own_names, unit_of


def columns_of(result: Result) -> list[ResultColumn]:
    """The columns of the table in order, each with its unit, and with its own name."""
    described = {column.name: column for column in result.columns}
    names = result.table.column_names
    known = [described.get(name, ResultColumn(name)) for name in names]
    return [
        replace(column, name=own_name, unit=column.unit or unit_of(column.name))
        for own_name, column in zip(own_names(names), known, strict=True)
    ]


def json_value(value: Any) -> Any:
    """`value` as a JSON value.

    Dates and times become ISO 8601, bytes hexadecimal text, a map a list of pairs, an interval
    its months, days and nanoseconds; NaN and infinity become null.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Decimal):
        plain = number(value)
        return plain if math.isfinite(plain) else None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return _moment(value)


def _moment(value: Any) -> str:
    """A date, time or anything else in words."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def text_of(value: Any) -> str:
    """A value that is not a number as text: NULL is empty, nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    plain = json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
