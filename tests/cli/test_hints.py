"""A name typed as a command: what the user is told to type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tracekit = Callable[..., Any]


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("ops", "`tracekit query ops`"),
        ("kernel_tme", "`tracekit query kernel_time`"),
        ("memory", "`tracekit chart memory`"),
        ("layers", "`tracekit query layers` or `tracekit chart layers`"),
        ("torch-profiler", "`tracekit formats torch-profiler --record`"),
        ("TITAN V", "`tracekit devices 'TITAN V'`"),
        ("h100", "`tracekit devices 'NVIDIA H100 PCIe'`"),
        ("my trace.json", "`tracekit ingest 'my trace.json'`"),
    ],
)
def test_a_name_that_is_no_command_says_which_command_takes_it(
    tracekit: Tracekit, here: Path, word: str, means: str
) -> None:
    (here / "my trace.json").write_text("[]")
    answer = tracekit(word)
    assert (answer.code, answer.data) == (2, b"")
    error, hint = answer.messages.splitlines()
    assert error.startswith(f"tracekit: No such command {word!r}.")
    assert hint == f"did you mean {means}?"
    assert [file.name for file in here.iterdir()] == ["my trace.json"]


def test_a_run_of_the_store_is_known_too(
    tracekit: Tracekit, filled: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("small", "smal"):
        for place in (("--store", str(filled)), (f"--store={filled}",)):
            told = tracekit(word, *place).messages.splitlines()[-1]
            assert told == f"did you mean `tracekit summary small {' '.join(place)}`?"
    monkeypatch.setenv("TRACEKIT_STORE", str(filled))
    assert tracekit("gpu").messages.splitlines()[-1] == "did you mean `tracekit summary gpu`?"
    assert list(here.iterdir()) == []


def test_the_rest_of_the_line_is_kept_and_inert(tracekit: Tracekit, here: Path) -> None:
    told = tracekit("ops", "--param", "x=a b", "\x1b[31m").messages
    assert told.splitlines()[-1] == (
        r"did you mean `tracekit query ops --param 'x=a b' '\x1b[31m'`?"
    )


@pytest.mark.parametrize(
    "words",
    [
        ["nope"],
        [""],
        ["nope", "--store"],
        ["nope", "--store", "none"],
        ["nope\0"],
        ["n" * 5000],
        ["/" * 300],
        ["issues", "--store"],  # a command, although there is a report of that name
    ],
)
def test_what_is_nothing_points_to_the_help(
    tracekit: Tracekit, here: Path, words: list[str]
) -> None:
    answer = tracekit(*words)
    assert answer.code == 2
    assert answer.messages.splitlines()[-1] == "run `tracekit --help` for the options"
    assert list(here.iterdir()) == []


def test_a_damaged_store_has_no_runs_to_suggest(tracekit: Tracekit, here: Path) -> None:
    (here / "S").mkdir()
    (here / "S" / "tracekit.json").write_text("{")
    answer = tracekit("nope", "--store", "S")
    assert (answer.code, len(answer.messages.splitlines())) == (2, 2)
