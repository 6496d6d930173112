"""JSON for programs: one object per result, base units, the exact text of every name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tracekit.render import RenderOptions
from tracekit.render.text import escaped
from tracekit.render.values import columns_of, json_value
from tracekit.result import Result


class JsonRenderer:
    r"""An object with ``name``, ``columns`` (name, unit, doc), ``notes`` and ``rows``.

    Integers keep their exact value; NaN and infinity become null. Characters that act on a
    terminal are written ``\uXXXX``, so decoding gives the exact text.
    """

    name = "json"
    is_binary = False

    def render(self, result: Result, options: RenderOptions) -> bytes:  # noqa: ARG002
        """`result` as JSON in UTF-8, one row per line."""
        columns = columns_of(result)
        described = [{"name": c.name, "unit": c.unit, "doc": c.doc} for c in columns]
        names = [column.name for column in columns]
        rows = (dict(zip(names, map(json_value, row), strict=True)) for row in result.tuples())
        parts = (
            f'"name": {_written(result.name)}',
            f'"columns": {_lines(described)}',
            f'"notes": {_lines(result.remarks)}',
            f'"rows": {_lines(rows)}',
        )
        return ("{" + ",\n ".join(parts) + "}\n").encode()


def _lines(items: Iterable[Any]) -> str:
    """`items` as a JSON array, one per line."""
    texts = [_written(item) for item in items]
    return "[\n  " + ",\n  ".join(texts) + "\n ]" if texts else "[]"


def _written(value: Any) -> str:
    return escaped(json.dumps(value, ensure_ascii=False, allow_nan=False), _json_escape)


def _json_escape(character: str) -> str:
    """The character as JSON escapes it; beyond U+FFFF as a pair."""
    return json.dumps(character)[1:-1] if character != "\x7f" else "\\u007f"
