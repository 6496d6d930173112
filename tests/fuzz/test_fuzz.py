"""A few inputs of each format, and those that once broke a rule; `make fuzz` takes many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.mutator import mutated
from tests.fuzz.run import main
from tests.fuzz.targets import INGESTED_EVERY, NAMES, SEEDS, Target, targets
from tracekit.registry import parsers

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*/*"))
INPUTS = 2 * INGESTED_EVERY


@pytest.fixture(params=NAMES)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    (target,) = targets([request.param], tmp_path)
    return target


def test_every_format_is_fuzzed() -> None:
    assert set(SEEDS) <= set(parsers()) <= set(NAMES)


def test_seeds_are_read(target: Target) -> None:
    assert len(target.seeds) >= 1
    assert all(len(seed) < 1 << 16 for seed in target.seeds)
    assert any(target.accepts(INGESTED_EVERY, seed) for seed in target.seeds)


@pytest.mark.sampled(6)
def test_damaged_inputs_are_read_or_refused(target: Target) -> None:
    contents = [mutated(target.name, number, target.seeds) for number in range(1, INPUTS + 1)]
    read = [target.accepts(number, content) for number, content in enumerate(contents, start=1)]
    assert len(set(contents)) > 0.9 * INPUTS
    assert {True, False} == set(read)


def test_every_file_of_settings_is_one(tmp_path: Path) -> None:
    """Else only refusals would be fuzzed."""
    (target,) = targets(["settings"], tmp_path)
    assert all(target.accepts(1, seed) for seed in target.seeds)


@pytest.mark.parametrize("statement", ["FROM main.csv", "FROM 'main.csv'", 'FROM "run.csv"'])
def test_a_file_beside_the_store_would_be_seen(
    statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the check of SQL the fuzzer notices that a file was read."""
    (target,) = targets(["sql"], tmp_path)
    assert not target.accepts(1, statement.encode())
    monkeypatch.setattr("tracekit.engine.require_reading", lambda _: None)
    with pytest.raises(AssertionError):
        target.accepts(1, statement.encode())


@pytest.mark.parametrize("file", REGRESSIONS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_once_broke_a_rule_does_not(file: Path, tmp_path: Path) -> None:
    (target,) = targets([file.parent.name], tmp_path)
    number, _, _ = file.name.partition("-")  # which of a store's files it is goes by its number
    target.accepts(int(number) if number.isdecimal() else INGESTED_EVERY, file.read_bytes())


@pytest.mark.deep
def test_the_command_counts_what_it_tries(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--inputs", "20", "--format", "caffe-time", "--workers", "1"]) == 0
    row = capfd.readouterr().out.splitlines()[-1].split("|")
    name, total, accepted, refused, broken, crashed, hung = (
        cell.strip().replace(",", "") for cell in row[1:-1]
    )
    assert name == "all"
    assert int(total) == int(accepted) + int(refused) >= 20
    assert (broken, crashed, hung) == ("0", "0", "0")
