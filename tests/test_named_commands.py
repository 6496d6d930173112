"""Commands and options that messages name exist: whoever is told one must be able to type it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import typer

from tests.conftest import ROOT
from tracekit.cli.app import app

_COMMAND = re.compile(r"`tracekit ([a-z][^`\n]*)`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_FOLDERS = ("tracekit", "parsers", "queries")


def named() -> Iterator[tuple[str, str]]:
    """Each command in backticks in a text of the program, with the file that has it."""
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".sql", ".toml") and "__pycache__" not in path.parts:
                text = re.sub(r'"\s*\n\s*f?"', "", path.read_text("utf-8"))
                for command in _COMMAND.findall(text):
                    yield path.relative_to(ROOT).as_posix(), command


def options() -> dict[str, set[str]]:
    group = typer.main.get_command(app)
    return {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    }


KNOWN = options()
NAMED = sorted(set(named()))


def test_some_are_named() -> None:
    assert len(NAMED) > 20


@pytest.mark.parametrize(("file", "command"), NAMED)
def test_what_a_message_names_can_be_typed(file: str, command: str) -> None:
    name = command.split()[0]
    assert name in KNOWN, f"{file} names a command that there is not"
    assert set(_OPTION.findall(command)) <= KNOWN[name] | {"--help"}


def test_options_that_findings_and_issues_advise_are_ours() -> None:
    paths = [*(ROOT / "queries/finding").glob("*.sql"), ROOT / "queries/report/issues.sql"]
    advised = {option for path in paths for option in _OPTION.findall(path.read_text("utf-8"))}
    others = {"--set"}  # of ncu
    assert "--peaks" in advised
    assert advised - others <= set().union(*KNOWN.values())
