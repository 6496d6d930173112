"""What `tracekit formats FORMAT --record` prints: programs and commands that record a file."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tracekit import registry
from tracekit.parser import Match, Recipe, RecordableParser
from tracekit.parsers import BUILT_IN
from tracekit.registry import parser_named

Tracekit = Callable[..., Any]
OURS = [entry.name for entry in BUILT_IN]


def recipes(name: str) -> list[Recipe]:
    parser = parser_named(name)
    assert isinstance(parser, RecordableParser)
    return list(parser.record)


@pytest.mark.parametrize("name", OURS)
def test_every_format_says_how_it_is_recorded(tracekit: Tracekit, name: str) -> None:
    done = tracekit("formats", name, "--record")
    assert done.code == 0
    assert done.messages == ""
    assert done.text.startswith("# ")
    assert done.text.endswith("\n")
    assert all(recipe.text in done.text for recipe in recipes(name))
    assert max(map(len, done.text.splitlines())) <= 100


@pytest.mark.parametrize("name", OURS)
def test_every_program_is_one(name: str) -> None:
    found = recipes(name)
    assert found
    for recipe in found:
        if recipe.language == "python":
            ast.parse(recipe.text)
            compile(recipe.text, name, "exec")
        else:
            done = subprocess.run(
                ["sh", "-n"], input=recipe.text.encode(), capture_output=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, b"")


def run(recipe: Recipe, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", recipe.text], cwd=folder, check=False)
    assert done.returncode == 0


def test_a_table_that_the_program_wrote_is_read(tracekit: Tracekit, tmp_path: Path) -> None:
    (recipe,) = recipes("results-table")
    run(recipe, tmp_path)
    done = tracekit("ingest", tmp_path / "results.csv", "--store", tmp_path / "S")
    assert done.code == 0
    assert "6 configurations" in done.messages


@pytest.mark.parametrize(
    ("name", "module", "file"),
    [
        ("torch-profiler", "torch", "trace.json.gz"),
        ("tensorflow-profiler", "jax", "logs"),
        ("tensorflow-trace", "jax", "logs"),
    ],
)
def test_a_profile_that_the_program_wrote_is_read(
    tracekit: Tracekit, tmp_path: Path, name: str, module: str, file: str
) -> None:
    pytest.importorskip(module)
    run(recipes(name)[0], tmp_path)
    done = tracekit("ingest", tmp_path / file, "--store", tmp_path / "S")
    assert done.code == 0
    told = " ".join(done.messages.split())
    assert " steps" in told  # xprof, where it is installed, tells them once more
    assert "lost: nothing" in told


def test_without_a_format(tracekit: Tracekit) -> None:
    done = tracekit("formats", "--record")
    assert (done.code, done.data) == (2, b"")
    assert done.error == "--record needs a format: use tracekit formats FORMAT --record"


def test_of_no_format(tracekit: Tracekit) -> None:
    done = tracekit("formats", "nsys", "--record")
    assert (done.code, done.data) == (2, b"")
    assert done.error.startswith("unknown format 'nsys'; formats: ")


class Silent:
    """A parser of another package, which says nothing of recording."""

    name, title = "silent", "silence"

    def sniff(self, head: bytes) -> Match | None:
        return None

    def parse(self, source: object, report: object) -> Iterator[Any]:
        return iter(())


class Wrong(Silent):
    """One whose word is of another kind."""

    record = "ls"


@pytest.mark.parametrize(
    ("parser", "code", "error"),
    [
        (Silent, 2, "silent has no recording instructions"),
        (Wrong, 70, "the parser 'silent' failed"),
    ],
)
def test_a_parser_of_another_package(
    tracekit: Tracekit, monkeypatch: pytest.MonkeyPatch, parser: type, code: int, error: str
) -> None:
    monkeypatch.setattr(registry, "parsers", lambda: {"silent": parser()})
    done = tracekit("formats", "silent", "--record")
    assert done.code == code
    assert error in done.messages
