"""Types that threads are the first to use."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from tracekit.typed import convert, decode_json

#: Threads that are the first to read queries, which change places all the time.
_FIRST_USES = """
import sys, threading
sys.setswitchinterval(1e-6)
from tracekit import catalog
names = [*catalog._files()][:12]
start = threading.Barrier(4)

def read():
    start.wait()
    for name in names:
        catalog._query_of(name)

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


@pytest.mark.parametrize("times", [2, pytest.param(200, marks=pytest.mark.deep)])
def test_threads_can_be_the_first_to_use_a_type(times: int) -> None:
    ends = [
        subprocess.run([sys.executable, "-c", _FIRST_USES], check=False).returncode
        for _ in range(times)
    ]
    assert ends == [0] * times
