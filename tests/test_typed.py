"""Types that threads are the first to use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tracekit.typed import convert, decode_json

#: Threads that are the first to read queries, which change places all the time.
_QUERIES = """
from tracekit import catalog
names = [*catalog._files()][:12]

def read():
    start.wait()
    for name in names:
        catalog._query_of(name)
"""

#: Threads that are the first to meet the keys of a trace.
_EVENTS = """
import json
from tracekit.reading.chrome.events import EventDecoder
blocks = [
    json.dumps([{"ph": "X", "cat": f"c{n}", "args": {f"k{n}": n, "m": 1}}] * 3).encode()
    for n in range(30)
]

def read():
    decoder = EventDecoder((), {})
    start.wait()
    for block in blocks:
        assert len(decoder.decode(block, 0)) == 1
"""

_FIRST_USES = """
import sys, threading
sys.setswitchinterval(1e-6)
start = threading.Barrier(4)
{read}
threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class _Pair(msgspec.Struct):
    name: str
    dur_ns: int


def test_a_value_and_json_become_the_type_that_they_must_have() -> None:
    assert convert({"name": "a", "dur_ns": 3}, _Pair) == _Pair("a", 3)
    assert decode_json(b'{"name":"a","dur_ns":3}', _Pair) == _Pair("a", 3)
    with pytest.raises(msgspec.ValidationError, match="dur_ns"):
        convert({"name": "a", "dur_ns": "3"}, _Pair)


@pytest.mark.parametrize("times", [2, pytest.param(60, marks=pytest.mark.deep)])
@pytest.mark.parametrize("read", [_QUERIES, _EVENTS], ids=["queries", "events"])
def test_threads_can_be_the_first_to_use_a_type(read: str, times: int) -> None:
    command = [sys.executable, "-c", _FIRST_USES.format(read=read)]
    ends = [subprocess.run(command, check=False).returncode for _ in range(times)]
    assert ends == [0] * times


def test_only_one_thread_at_a_time_builds_a_decoder() -> None:
    root = Path(__file__).parents[1]
    files = [path for room in ("tracekit", "parsers") for path in (root / room).rglob("*.py")]
    builders = [path.name for path in files if "json.Decoder(" in path.read_text()]
    assert builders == ["typed.py"]
