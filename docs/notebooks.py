"""Makes docs/example.ipynb of docs/example.py: its cells, and what a notebook shows for each.

``python docs/notebooks.py`` writes it; a test checks that it is up to date. A cell begins with
``# %%``, one of text with ``# %% [markdown]``.
"""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "docs" / "example.py"
NOTEBOOK = EXAMPLE.with_suffix(".ipynb")
_CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)
#: The moment at which everything was ingested.
_CLOCK_NS = 1_767_603_600 * 10**9


def notebook_of(script: str) -> str:
    """The notebook with the cells of `script`, which run one after the other, and their outputs."""
    _, *parts = _CELL.split(script)
    names: dict[str, Any] = {}
    with _same_each_time():
        cells = [
            _text(place, body) if kind else _code(place, body, names)
            for place, (kind, body) in enumerate(zip(parts[::2], parts[1::2], strict=True))
        ]
    content = {
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@contextmanager
def _same_each_time() -> Iterator[None]:
    """The root of the repository as folder, and a clock that stands still."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("time.time_ns", return_value=_CLOCK_NS),
            mock.patch("tempfile.mkdtemp", return_value=folder),
        ):
            yield
    finally:
        os.chdir(before)


def _text(place: int, body: str) -> dict[str, Any]:
    lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
    return {"cell_type": "markdown", "id": f"c{place}", "metadata": {}, "source": "\n".join(lines)}


def _code(place: int, body: str, names: dict[str, Any]) -> dict[str, Any]:
    shown = _run(body, names)
    outputs = [] if shown is None else [_output(shown)]
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"c{place}",
        "metadata": {},
        "outputs": outputs,
        "source": body.strip(),
    }


def _run(body: str, names: dict[str, Any]) -> Any:
    """The value of the last line, if it is an expression."""
    tree = ast.parse(body)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, EXAMPLE.name, "exec"), names)  # noqa: S102 - ours
        return None
    before = ast.Module(tree.body[:-1], [])
    exec(compile(before, EXAMPLE.name, "exec"), names)  # noqa: S102 - ours
    return eval(compile(ast.Expression(last.value), EXAMPLE.name, "eval"), names)  # noqa: S307


def _output(shown: Any) -> dict[str, Any]:
    data = {"text/html": shown._repr_html_(), "text/plain": type(shown).__name__}
    return {"output_type": "display_data", "data": data, "metadata": {}}


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook_of(EXAMPLE.read_text("utf-8")), "utf-8", newline="\n")
