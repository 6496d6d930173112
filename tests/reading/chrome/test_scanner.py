"""The compiled scanner gives the rows that Python gives, whatever the trace."""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build_backend import compiling
from tests.both_ways import read, read_both
from tracekit import compiled
from tracekit.parsers.torch_profiler import rows as torch_profiler
from tracekit.reading.chrome import scanner as scanner_module
from tracekit.reading.chrome.events import EventDecoder
from tracekit.reading.chrome.scanner import PADDING, Scan

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT.parent / "shared" / "corpus"
FIXTURES = ROOT / "fixtures"
TRACES = sorted(
    path
    for folder in (
        CORPUS / "torch",
        CORPUS / "h100",
        FIXTURES / "torch_profiler",
        FIXTURES / "h100",
    )
    for path in folder.rglob("*.json*")
    if path.name.endswith((".json", ".json.gz"))
)


@pytest.fixture(scope="module")
def library() -> Any:
    found = compiled.library()
    assert found is not None or not compiling.has_compiler(), "run build_backend/compiling.py"
    if found is None:
        pytest.skip("no C compiler here")
    return found


def test_what_is_built_is_what_is_loaded() -> None:
    assert compiling.NAME == compiled.NAME


@pytest.mark.sampled(8)
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.relative_to(path.parents[2]))
def test_every_trace_is_what_python_makes_of_it(path: Path, library: Any) -> None:
    fast, slow = read_both(path)
    assert fast == slow


# -- one event ------------------------------------------------------------------------------------

EVENT = {
    "ph": "X",
    "cat": "kernel",
    "name": "gemm",
    "pid": 0,
    "tid": 7,
    "ts": 1.5,
    "dur": 2.25,
    "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [1, 2, 3], "queued": 0},
}


def text_of(event: object = None, **changes: Any) -> str:
    """The event above with changes, as a profiler writes it; None removes a key."""
    changed = {**(EVENT if event is None else event), **changes}  # type: ignore[dict-item]
    return json.dumps({key: value for key, value in changed.items() if value is not None})


def scanned(text: bytes) -> Scan | None:
    found = scanner_module.scanner_of(torch_profiler._PLAN)
    assert found is not None
    decoder = EventDecoder(torch_profiler._TYPED_KEYS, torch_profiler._LAYOUTS)
    return found.scan(memoryview(text), 100, decoder)


PLAIN = [
    text_of(),
    text_of(ts=0, dur=0),
    text_of(ts=1712195495519689.047),
    text_of(ts=-3.0005),
    text_of(pid="0", tid="stream 7"),
    text_of(pid="Spans", tid="PyTorch Profiler"),
    text_of(pid="-5", tid="-435209213309282338"),
    text_of(name='quote " back \\ slash \n \t é 漢 😀'),
    text_of(name="\U0001f600 \u00e9 \ud7ff \ue000"),
    text_of(args={"x": "\U0001f600"}),
    text_of(name=""),
    text_of(args=None),
    text_of(args={}),
    text_of(args={"stream": -1, "device": None}),
    text_of(args={"stream": 4294967295, "registers per thread": 32, "warps per SM": 0.5}),
    text_of(args={"est. achieved occupancy %": 35, "blocks per SM": 12.345678901234567}),
    text_of(args={"z": 1, "a": {"b": [1, {"c": "}"}]}, "aa": "x", "b": None}),
    text_of(args={"Input Dims": [1, 2], "Collective name": "allreduce", "cbid": 5}),
    text_of(cat="cpu_op", args={"Input Dims": [[8, 64], []], "Input type": ["float", ""]}),
    text_of(cat="python_function", args={"Call stack": "a.py(1): f"}),
    text_of(cat="gpu_memcpy", name="Memcpy HtoD (Pageable -> Device)", args={"bytes": 4096}),
    text_of(cat="gpu_memset", name="Memset (Device)", args={"memory bandwidth (GB/s)": 1.5}),
    text_of(cat="user_annotation", name="ProfilerStep#12", args={"External id": 5}),
    text_of(cat="user_annotation", args={"grid": "a", "queued": 5}).replace(
        "}}", ',"block":[1,2]}}'
    ),
    text_of(ph="s", cat="ac2g", id=5, dur=None, args=None),
    text_of(ph="f", cat="ac2g", id=5, dur=None, bp="e", args=None),
    text_of(ph="i", cat="cpu_instant_event", dur=None, s="t", args={}),
    text_of(ph="i", cat="cpu_instant_event", dur=None, name="[memory]", args={"Device Type": 1}),
    ' {\n"ph" :\t"X" , "cat":"kernel","name":"k","pid":0,"tid":7,"ts":1 ,"dur":2\r\n}',
]
ODD = [
    "{}",
    text_of(ph="X", cat="unknown to us"),
    text_of(ph="M", cat=None, name="process_name"),
    text_of(cat=None),
    text_of(name=None),
    text_of(name=5),
    text_of(ts=None),
    text_of(ts="1.5"),
    text_of(ts=True),
    text_of(ts=1e300),
    text_of(dur=-1),
    text_of(dur=None),
    text_of(pid=1.0),
    text_of(pid="007"),
    text_of(pid="--5"),
    text_of(tid="7x"),
    text_of(tid="7 (tracekit lane 2)"),
    text_of(tid="main (tracekit lane 2)"),
    text_of(tid="main (2)"),
    text_of(tid=[7]),
    text_of(id=5),
    text_of(s="t"),
    text_of(args=5),
    text_of(args=[]),
    text_of(args={"stream": 7, "Stream Id": 8}),
    text_of(args={"stream": -1, "Stream Id": 8}),
    text_of(args={"grid": [1, 2]}),
    text_of(args={"grid": [1, 2, 3.5]}),
    text_of(args={"device": "0"}),
    text_of(args={"device": 2**63}),
    text_of(args={"device": 0.0}),
    text_of(args={"device": True}),
    text_of(args={"warps per SM": "1e400"}),
    text_of(cat="cpu_op", args={"Input Dims": True}),
    text_of(args={"key with é and \\": 1}),
    text_of(ph="i", cat="cpu_instant_event", dur=None, name="[memory]", args={"Device Type": 99}),
    text_of(ph="i", cat="cpu_instant_event", dur=None).replace("gemm", "\\u005bmemory]"),
    text_of().replace('"ts": 1.5', '"ts": 15e-1'),
    text_of().replace('"ts": 1.5', '"ts": 1, "ts": 2'),
    text_of().replace('"queued": 0', '"queued": 0, "queued": null'),
    text_of().replace('"queued": 0', '"x": 0, "x": 1'),
    text_of(args={str(i): i for i in range(40)}),
    text_of(cat="cpu_op", args={"grid": [1.50, 2], "block": True}),
    text_of(ph="s", cat="ac2g", id="0x5", dur=None),
]
REFUSED = [
    text_of()[:-1],
    text_of().replace(":", "", 1),
    text_of().replace('"gemm"', '"gemm'),
    text_of().replace('"gemm"', '"\\x"'),
    text_of().replace('"gemm"', '"a\x01b"'),
    text_of().replace('"gemm"', '"\\ud800"'),  # no text
    text_of(args={"x": "fl"}).replace("fl", "\\udc00"),
    text_of(args={"x": "fl"}).replace("fl", "\\ud800\\ud800"),
    text_of(args={"deep": json.loads("[" * 70 + "]" * 70)}),
    text_of().replace('"ts": 1.5', '"ts": 01.5'),
    text_of().replace('"ts": 1.5', '"ts": 1.'),
    text_of() + "\0",
    text_of() + ",",
    text_of() + "}",
    "[" + text_of() + "]",
    "5",
    "",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_events_are_scanned(text: str, library: Any) -> None:
    found = scanned(text.encode())
    assert found is not None
    assert (found.plain_count, found.odd, found.closed_at) == (1, [], None)


@pytest.mark.parametrize("text", ODD)
def test_odd_events_are_left_to_python(text: str, library: Any) -> None:
    found = scanned(text.encode())
    assert found is not None
    assert (found.plain_count, [group.ids.tolist() for group in found.odd]) == (0, [[100]])


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_sound_is_refused_as_a_whole(text: str, library: Any) -> None:
    assert scanned(f"{text_of()}, {text}".encode()) is None
    assert scanned(text.encode() + b"\xff") is None


@given(st.integers(0, 1000), st.sampled_from(["", ',{"a":1},', '}]},"x"', '"' * 40]))
def test_a_block_ends_where_it_ends_whatever_follows(end: int, following: str) -> None:
    """In place, a block is followed by the next ones: it gives what it gives alone, or nothing."""
    found = compiled.library()
    if found is None:
        pytest.skip("no C compiler here")
    text = ", ".join((text_of(), text_of(name='}, {"'))).encode()
    end = min(end, len(text))
    content = text[:end] + (text[end:] + following.encode() + PADDING)
    decoder = EventDecoder(torch_profiler._TYPED_KEYS, torch_profiler._LAYOUTS)
    blocks = memoryview(content)[:end], memoryview(text[:end])
    scanners = [scanner_module.Scanner(found, torch_profiler._PLAN) for _ in blocks]
    in_place, alone = (
        scanner.scan(block, 0, decoder) for scanner, block in zip(scanners, blocks, strict=True)
    )
    assert (in_place is None) == (alone is None)
    if in_place is not None and alone is not None:
        assert in_place.closed_at == alone.closed_at
        assert in_place.plain_count == alone.plain_count
        tables = [
            scanner.plain(0, 2, is_last=True).tables["kernel"].columns for scanner in scanners
        ]
        assert tables[0] == tables[1]


def test_the_end_of_the_list_is_told(library: Any) -> None:
    found = scanned(f"{text_of()} , {text_of(cat='odd')}\n ] , more".encode())
    assert found is not None
    assert (found.plain_count, sum(map(len, found.odd))) == (1, 1)
    assert found.closed_at == len(f"{text_of()} , {text_of(cat='odd')}\n ")


@pytest.mark.parametrize("texts", [PLAIN, ODD, [*PLAIN, *ODD] * 3], ids=["plain", "odd", "both"])
def test_rows_of_such_events_are_those_of_python(
    texts: list[str], tmp_path: Path, library: Any
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(f'{{"schemaVersion": 1, "traceEvents": [{", ".join(texts)}]}}')
    fast, slow = read_both(path)
    assert fast == slow
    assert not isinstance(fast, str)


# -- texts that repeat ----------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "width"), [(40_000, 5), (30_000, 300)], ids=["many", "long"])
def test_texts_are_forgotten_when_they_are_many(
    count: int, width: int, tmp_path: Path, library: Any
) -> None:
    path = tmp_path / "trace.json"
    names = [f"{i:0{width}d}" for i in range(count)]
    events = [text_of(name=name, args={"a": name[-3:]}) for name in (*names, *names[::-7])]
    path.write_text(f'{{"traceEvents": [{", ".join(events)}]}}')
    fast, slow = read_both(path)
    assert fast == slow
    assert not isinstance(fast, str)
    assert sorted(fast[0]["kernel"]["name"].to_pylist()) == sorted([*names, *names[::-7]])


def test_texts_of_like_hashes_take_no_more_time_than_python(library: Any) -> None:
    """As many texts as a hostile file likes that begin to be looked for at the same place."""
    numbers = np.arange(600_000)
    texts = np.char.mod("%08d", numbers).astype("S8")
    factor = np.uint64(0x9E3779B97F4A7C15)
    hashes = texts.view("<u8") * factor  # that of eight bytes in tracekit.c
    hashes = (hashes ^ (hashes >> np.uint64(32))) * factor
    hashes = (hashes ^ (hashes >> np.uint64(32))) & np.uint64(1023)
    alike = texts[hashes == 5][:400]
    found = scanned(", ".join(text_of(name=name.decode()) for name in alike).encode())
    assert found is not None
    odd = sum(map(len, found.odd))
    assert odd > 50
    assert found.plain_count + odd == len(alike) == 400


# -- damage ---------------------------------------------------------------------------------------

PIECES = [
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\x00", b"\xff", b"\n", b"null", b"-0"),
    *(b'"dur":1,', b'"args":{},', b"\\u0000", b"\\ud800", b"1e5", b"{}", b"},{", b'"ph":"B",'),
]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A content changed in one to four places: cut, flipped, overwritten, repeated."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content) + 1)
        upto = min(len(content), place + rng.choice((0, 1, 1, 3, 40)))
        piece = rng.choice((b"", rng.choice(PIECES), content[place : place + 30]))
        content = content[:place] + piece + content[upto:]
    return content


def seeds() -> list[bytes]:
    """Small traces, as text."""
    texts = ", ".join([*PLAIN, *ODD])
    hand_made = [path.read_bytes() for path in FIXTURES.glob("torch_profiler/hand-made/*.json")]
    return [f'{{"traceEvents": [{texts}]}}'.encode(), f"[{texts}]".encode(), *hand_made]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("part", range(8))
def test_damaged_traces_give_what_python_gives(part: int, tmp_path: Path, library: Any) -> None:
    rng, path, contents = random.Random(part), tmp_path / "trace.json", seeds()
    for _ in range(40):
        path.write_bytes(damaged(rng.choice(contents), rng))
        fast, slow = read_both(path)
        assert fast == slow, path.read_bytes()


def test_blocks_end_anywhere(
    gpu_trace: Path, tmp_path: Path, library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.decompress(gpu_trace.read_bytes()))
    for size in (500, 3000, 70_000):
        monkeypatch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", size)
        fast, slow = read_both(path)
        assert fast == slow


# -- without it ------------------------------------------------------------------------------------


@pytest.fixture
def forgets() -> Iterator[None]:
    """The library is looked for anew, in this test and after it."""
    compiled.library.cache_clear()
    yield
    compiled.library.cache_clear()


@pytest.mark.parametrize("content", [None, b"no library"])
def test_where_it_does_not_load_python_reads(
    content: bytes | None, small_trace: Path, monkeypatch: pytest.MonkeyPatch, forgets: None
) -> None:
    expected = read(small_trace)
    name = Path(compiled.__file__).with_name("_missing.so")
    try:
        if content is not None:
            name.write_bytes(content)
        monkeypatch.setattr(compiled, "NAME", name.name)
        compiled.library.cache_clear()
        assert compiled.library() is None
        assert scanner_module.scanner_of(torch_profiler._PLAN) is None
        assert read(small_trace) == expected
    finally:
        name.unlink(missing_ok=True)


def test_without_a_compiler_there_is_no_library_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert not compiling.has_compiler()
    assert compiling.compiled(ROOT, tmp_path) is None
    assert "no C compiler: tracekit will read traces by Python alone" in capsys.readouterr().err


# -- the memory it touches -------------------------------------------------------------------------

_DAMAGE = """
import numpy as np
from tracekit.reading.chrome.scanner import without
scanner = Scanner(library, plan)
sound = 0
for _ in range(1500):
    text = damaged(rng.choice(contents), rng)
    found = scanner.scan(memoryview(text), 0, decoder)
    sound += found is not None
    is_last = rng.random() < 0.2  # others wait
    plain = scanner.plain(0, found.plain_count, is_last=is_last) if found else None
    for rows in plain.tables.values() if plain else ():
        if "args_json" in rows.columns:
            without(rows.columns["args_json"], np.arange(0, len(rows), 2), ("a", "correlation_id"))
    size = rng.randrange(len(text) + 1)
    scanner.scan(memoryview(text + PADDING)[:size], 0, decoder)  # a block among others
print(sound)
"""
#: The events of the trace viewer, whose texts are kept from one scan to the next.
_VIEWER = """
import numpy as np
from tests.parsers.test_tensorflow_trace_scanned import ODD as ODD_EVENTS, PLAIN as PLAIN_EVENTS
from tracekit.parsers.tensorflow_trace import plain
from tracekit.reading.chrome import scanner as scanner_module
from tracekit.reading.chrome.scanner import without
plan = plain.PLAN
scanner_module.library = lambda: library
scanner_module._MOST_KINDS = 500
contents = [
    (",".join([*PLAIN_EVENTS, *ODD_EVENTS]) + "]}").encode(),
    (",".join(PLAIN_EVENTS[: len(PLAIN_EVENTS) // 2]) + "]}").encode(),
]
"""
#: One allocation fails, the first, the second and so on: the block is refused, and each after it.
_LACK = """
left = ctypes.c_long.in_dll(library, "allocations_left")
small = memoryview(contents[0][:-2])
text = memoryview(b",".join(small for _ in range(60)))
refused = 0
for number in range(10_000):
    scanner = Scanner(library, plan)
    before = scanner.scan(text[:1], 0, decoder) if number % 2 else scanner.scan(small, 0, decoder)
    left.value = number // 2
    first = scanner.scan(text, 0, decoder)
    if left.value >= 0:
        break
    left.value = -1
    assert first is None
    assert scanner.scan(text, 0, decoder) is None
    kept = scanner.plain(0, 0, is_last=True).tables.values()  # of the block before
    assert sum(map(len, kept)) == (before.plain_count if before else 0)
    refused += 1
left.value = -1
assert first is not None
print(refused)
"""
#: Contexts by the thousand, so that their table grows; then each of its allocations fails once.
_WALK = """
import numpy as np
from tracekit.attribution.walking import _by_c
left = ctypes.c_long.in_dll(library, "tables_left")
count = 20_000
places = np.arange(count)
columns = (
    np.array([rng.randrange(-1, i) for i in range(count)]),
    np.array([rng.randrange(50) for _ in range(count)]),
    np.array([rng.randrange(-2, i) for i in range(count)]),
    np.array([rng.random() < 0.5 for _ in range(count)]),
    np.array([rng.random() < 0.1 for _ in range(count)]),
)
asked = []
def enter(*key):
    asked.append(key)
    return len(asked) % 3000, True
failed = 0
for number in range(100):
    asked.clear()
    left.value = number
    try:
        _by_c(library, places, columns, enter)
    except MemoryError:
        failed += 1
        continue
    break
assert len(asked) == len(set(asked)) > 2000, "each is asked for once"
print(failed)
"""

_CELLS = """
from tests.reading.text.test_quoted_rows import DAMAGE, line
from tracekit.reading.text import quoted_rows as rows
rows.library = lambda: library
sound = 0
for _ in range(3000):
    text = b"\\n".join(line(rng, 3) for _ in range(5))
    if rng.random() < 0.9:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(DAMAGE) + text[place + rng.randrange(3) :]
    sound += rows.quoted_rows(0, text.split(b"\\n"), 3, 1) is not None
print(sound)
"""

_REPEATS = """
from tests.reading.text.test_quoted_rows import DAMAGE
from tests.reading.text.test_repeated_rows import made
from tracekit.reading.text import repeated_rows as rows
rows.library = lambda: library
sound = 0
for _ in range(3000):
    text = made(rng)
    if rng.random() < 0.9:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(DAMAGE) + text[place + rng.randrange(3) :]
    sound += rows.repeated_rows(text, 3, 2, 7) is not None
print(sound)
"""

_MIXED = """
from tests.reading.text.test_quoted_rows import DAMAGE
from tracekit.reading.text import mixed_rows as rows
rows.library = lambda: library
sound = 0
for _ in range(3000):
    text = b'1.50,"a ""b"", c",,x,2%\\r\\n"7",x,"0.001",,"7GB/s"\\n1,x,2,x,n/a\\n' * 3
    if rng.random() < 0.9:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(DAMAGE) + text[place + rng.randrange(3) :]
    sound += rows.mixed_rows(text, (0, 1, 0, 1, 2)) is not None
print(sound)
"""


@pytest.mark.deep
def test_sanitizers_find_nothing(sanitized: Callable[[str], int]) -> None:
    """Addresses and undefined behavior; the text ends where its allocation does."""
    assert sanitized(_DAMAGE) > 50, "most are refused, but not all"


@pytest.mark.deep
def test_sanitizers_find_nothing_in_what_the_viewer_reads(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_VIEWER + _DAMAGE) > 50


@pytest.mark.deep
def test_no_lack_of_memory_harms(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_LACK) > 50


@pytest.mark.deep
def test_no_lack_of_memory_harms_what_the_viewer_reads(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_VIEWER + _LACK) > 20


@pytest.mark.deep
def test_the_walk_to_contexts_touches_its_own_memory_only(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_WALK) >= 3, "the walker, and its table each time that it grows"


@pytest.mark.deep
def test_the_cells_of_a_table_touch_their_own_memory_only(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_CELLS) > 200


@pytest.mark.deep
def test_rows_like_those_before_them_touch_their_own_memory_only(
    sanitized: Callable[[str], int],
) -> None:
    assert sanitized(_REPEATS) > 200


@pytest.mark.deep
def test_rows_of_mixed_cells_touch_their_own_memory_only(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_MIXED) > 200
