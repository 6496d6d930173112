"""A number that nothing can hold costs its event at most, not the trace, the process or minutes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

GOOD = ",".join(
    f'{{"ph":"X","cat":"kernel","name":"k{n}","pid":0,"tid":7,"ts":{1000 + 20 * n}.5,"dur":10,'
    f'"args":{{"device":0,"stream":7}}}}'
    for n in range(8)
)
NUMBERS = {
    "tiny_text": '"1e-99999999"',
    "tiny": "1e-99999999",
    "huge": "1e9999999",
    "huge_text": '"9e999990"',
    "digits": "9" * 400,
    "digits_text": f'"{"9" * 400}"',
    "long": "9" * 5000,
    "fine": "1000." + "1" * 400,
    "list": "[1]",
    "object": '{"a":1}',
    "true": "true",
    "infinite": '"inf"',
}
ROUNDED = {"tiny_text": 0, "tiny": 0, "fine": 1_000_111}


def kernels(tmp_path: Path, content: str | bytes) -> dict[str, tuple[int | None, int | None]]:
    """Start and duration of each kernel of a trace, in at most a few seconds."""
    trace = tmp_path / "trace.json"
    trace.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = time.process_time()
    ingest(trace, tmp_path / "S", Options(run_name="r", workers=1))
    assert time.process_time() - before < 5
    rows = Database(open_store(tmp_path / "S")).sql("SELECT name, start_ns, dur_ns FROM kernel")
    return {row["name"]: (row["start_ns"], row["dur_ns"]) for row in rows.rows()}


def trace_of(event: str, head: str = '"schemaVersion":1') -> str:
    more = GOOD.replace('"name":"k', '"name":"l')
    return f'{{{head},"traceEvents":[{GOOD},{event},{more}]}}'


def issues(tmp_path: Path) -> set[str]:
    found = Database(open_store(tmp_path / "S")).sql("SELECT code FROM ingest_issue")
    return {row["code"] for row in found.rows()}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_time_that_cannot_be_costs_its_own_value(tmp_path: Path, name: str) -> None:
    event = '{"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"ts":%s,"dur":10}'
    found = kernels(tmp_path, trace_of(event % NUMBERS[name]))
    assert found.pop("odd") == (ROUNDED.get(name), 10_000)
    assert len(found) == 16
    assert all(start is not None and dur == 10_000 for start, dur in found.values())
    assert ("no_time" in issues(tmp_path)) == (name not in ROUNDED)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_duration_that_cannot_be_costs_its_own_value(tmp_path: Path, name: str) -> None:
    event = '{"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"ts":1100,"dur":%s}'
    found = kernels(tmp_path, trace_of(event % NUMBERS[name]))
    assert found.pop("odd") == (1_100_000, ROUNDED.get(name))
    assert len(found) == 16
    assert ("no_duration" in issues(tmp_path)) == (name not in ROUNDED)


@pytest.mark.parametrize("value", ["1e999", "9" * 5000, "-1e999", "[1e999]"])
def test_what_the_trace_says_of_itself_costs_no_event(tmp_path: Path, value: str) -> None:
    head = f'"schemaVersion":{value},"deviceProperties":[{{"id":0,"totalGlobalMem":{value}}}]'
    event = '{"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"ts":1100,"dur":1}'
    assert len(kernels(tmp_path, trace_of(event, head))) == 17


def test_a_phase_is_told_as_it_is_written(tmp_path: Path) -> None:
    event = '{"ph":1e999,"cat":1e999,"name":1e999,"pid":0,"tid":7,"ts":1,"dur":1}'
    assert len(kernels(tmp_path, trace_of(event))) == 16
    rows = Database(open_store(tmp_path / "S")).sql("SELECT * FROM ingest_issue").rows()
    told = " ".join(str(value) for row in rows for value in row.values())
    assert "'1e999'" in told
    assert "msgspec" not in told


def test_a_key_that_is_no_text_costs_no_other_event(tmp_path: Path) -> None:
    event = b'{"ph":1e999,"name":"odd","args":{"\xff\xfe":1}},{"ph":"X","name":"broken" "x"}'
    content = trace_of("EVENT").encode().replace(b"EVENT", event)
    assert len(kernels(tmp_path, content)) == 16
