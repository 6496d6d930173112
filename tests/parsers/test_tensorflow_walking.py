"""What C reads of the events of an XSpace is what NumPy makes of them, sound or damaged."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsers.xspaces import unasked
from tests.xplane import message, varint
from tracekit.compiled import library
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.tensorflow_profiler import TensorflowProfilerParser, events, walking
from tracekit.parsers.tensorflow_profiler.planes import Plane
from tracekit.source import Source

pytestmark = pytest.mark.skipif(library() is None, reason="no C compiler here")

ROOT = Path(__file__).resolve().parents[2]
DUMPS = sorted(
    path
    for folder in (ROOT / "fixtures" / "tensorflow_profiler", ROOT.parent / "shared" / "corpus")
    for path in folder.rglob("*.xplane.pb")
)


def read(path: Path) -> tuple[Any, ...] | str:
    """Everything that a dump gives, without the answer of xprof."""
    report, rows = Report(), dict[str, list[Any]]()
    try:
        for table, batch in TensorflowProfilerParser(unasked).parse(Source.at(path), report):
            rows.setdefault(table, []).extend(batch.to_pylist())
    except FormatError as error:
        return str(error)
    return rows, report.issues, report.event_count, report.facts, report.read_bytes


def read_both(path: Path) -> tuple[tuple[Any, ...] | str, tuple[Any, ...] | str]:
    """What C and what Python make of a dump."""
    with pytest.MonkeyPatch.context() as patch:
        fast = read(path)
        patch.setattr(walking, "library", lambda: None)
        return fast, read(path)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_every_dump_is_what_python_makes_of_it(path: Path) -> None:
    fast, slow = read_both(path)
    assert fast == slow


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A content that is changed in some places, and mostly cut."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 30))):
        place = rng.randrange(max(1, len(changed) - 1))
        flipped = rng.choice((b"", b"\x00", b"\xff", b"\x22\x00", bytes([rng.randrange(256)])))
        changed[place : place + rng.choice((0, 1, 1, 9))] = flipped
    return bytes(changed[: rng.choice((len(changed), rng.randrange(1, len(changed) + 1)))])


@pytest.mark.parametrize("part", range(4))
def test_a_damaged_dump_is_what_python_makes_of_it(part: int, tmp_path: Path) -> None:
    rng, path = random.Random(part), tmp_path / "host.xplane.pb"
    content = (ROOT / "fixtures/tensorflow_profiler/jax-cpu/host.xplane.pb").read_bytes()
    for _ in range(8):
        path.write_bytes(damaged(content, rng))
        fast, slow = read_both(path)
        assert fast == slow


NUMBER = st.sampled_from([0, 1, 5, 127, 128, 300, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
FIELD = st.one_of(
    st.tuples(st.sampled_from([1, 3, 4, 7]), NUMBER),
    st.tuples(st.sampled_from([5, 6]), st.binary(max_size=4)),
)
REAL = b"\x11" + b"\x00\x00\x00\x00\x00\x00\xf0\x3f"  # 1.0 in field 2


@st.composite
def stats(draw: st.DrawFn) -> bytes:
    """A stat: mostly a key and a value; else any fields, or bytes."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.binary(max_size=6))
    parts = draw(st.lists(FIELD, max_size=2))
    real = REAL if draw(st.integers(0, 4)) == 0 else b""
    key = message((1, draw(st.integers(0, 3)))) if kind > 1 else b""
    return key + message(*parts) + real


@st.composite
def one_event(draw: st.DrawFn) -> bytes:
    """An event: numbers and stats in any order; some with other fields or bytes."""
    parts = draw(
        st.lists(
            st.one_of(
                st.tuples(st.sampled_from([1, 2, 3, 5]), NUMBER).map(message),
                stats().map(lambda stat: message((4, stat))),
                stats().map(lambda stat: message((4, stat))),
            ),
            max_size=5,
        )
    )
    odd = st.sampled_from([b"\x00", b"\x30\x01", b"\x0a\x01a", b"\xff" * 11, b"\x22\x7f", b"\x0d"])
    extra = [draw(odd)] if draw(st.integers(0, 15)) == 0 else []
    return b"".join([*parts, *extra])


def made(found: events._Fields) -> tuple[Any, ...]:
    """What the fields of events say, for comparison: each stat as a column."""
    count = len(found.broken)
    said = {
        name: [
            (
                stat.kind,
                sorted(set(stat.rows.tolist())),
                stat.integers(count).to_pylist(),
                stat.json("", count).to_pylist(),
            )
            for stat in found_stats
        ]
        for name, found_stats in found.stats.items()
    }
    numbers = [found.numbers[number].tolist() for number in (1, 2, 3, 5)]
    return numbers, list(said.items())


@given(st.lists(one_event(), min_size=1, max_size=8))
def test_the_fields_of_events_are_those_that_numpy_finds(bodies: list[bytes]) -> None:
    ends = np.cumsum([len(body) for body in bodies])
    starts = ends - [len(body) for body in bodies]
    plane, piece = Plane(stat_names={1: "one", 2: "two", 5: "five"}), b"".join(bodies)
    slow = events._fields(piece, starts, ends, plane)
    fast = events._walked(piece, starts, ends, plane)
    assert made(fast) == made(slow)
    walked = walking.walk_events(piece, starts, ends)
    if slow.broken.any() or slow.unknown_fields or slow.broken_stats:
        assert walked is None
    assert fast.broken.tolist() == slow.broken.tolist()
    assert (fast.unknown_fields, fast.broken_stats) == (slow.unknown_fields, slow.broken_stats)


def test_plain_events_are_read_by_c() -> None:
    stat = message((1, 1), (4, 7))
    body = message((1, 3), (2, 1 << 60), (3, 9), (4, stat), (4, message((1, 2), (5, "text"))))
    starts = np.arange(3) * len(body)
    walked = walking.walk_events(body * 3, starts, starts + len(body))
    assert walked is not None
    assert [walked.numbers[number].tolist() for number in (1, 2, 3, 5)] == [
        [3] * 3,
        [1 << 60] * 3,
        [9] * 3,
        [0] * 3,
    ]
    assert [(group.code, group.rows.tolist()) for group in walked.groups] == [
        (1 * 8 + 4, [0, 1, 2]),
        (2 * 8 + 5, [0, 1, 2]),
    ]
    assert walked.groups[0].values.tolist() == [7] * 3
    text = walked.groups[1]
    assert walking.pieces_of(body * 3, text.places, text.values).to_pylist() == [b"text"] * 3


def test_more_kinds_of_stats_than_there_is_room_for() -> None:
    bodies = [message((4, message((1, key), (4, 7)))) for key in range(2049)]
    ends = np.cumsum([len(body) for body in bodies])
    starts = ends - [len(body) for body in bodies]
    assert walking.walk_events(b"".join(bodies[:-1]), starts[:-1], ends[:-1]) is not None
    assert walking.walk_events(b"".join(bodies), starts, ends) is None


def test_where_the_events_of_a_line_are() -> None:
    sizes = [0, 1, 127, 128, 20_000, 3]
    parts = [b"\x22" + varint(size) + b"\x08" * size for size in sizes]
    content = b"".join([parts[0], b"\x08\x01", *parts[1:], b"\x22\x05abc"])
    for found in (walking.line_walker(content), walking.walk_in_python(content)):
        starts, ends = array("q"), array("q")
        place = found(0, len(content), starts, ends)
        assert (place, list(ends)) == (2, [2])
        place = found(4, len(content), starts, ends)
        while place < len(content) - 5:  # Python leaves a long event to its caller
            starts.append(place + 4)
            ends.append(place + 4 + 20_000)
            place = found(ends[-1], len(content), starts, ends)
        assert place == len(content) - 5
        assert [end - start for start, end in zip(starts, ends, strict=True)] == sizes


_WALKED = """
import numpy as np
from array import array
from tracekit.parsers.tensorflow_profiler import walking
from tests.parsers.test_tensorflow_walking import damaged
from tests.xplane import message
walking.library = lambda: library
sound = 0
stats = [message((1, key), value) for key, value in enumerate(((4, 7), (5, "abc"), (7, 1 << 40)))]
body = message((1, 300), (2, 1 << 50), (3, 9), *((4, stat) for stat in stats))
for _ in range(3000):
    changed = damaged(body * 3, rng) if rng.random() < 0.9 else body * 3
    edges = sorted(rng.randrange(len(changed) + 1) for _ in range(4))
    if changed == body * 3:
        edges = [0, len(body), 2 * len(body), 3 * len(body)]
    edges = np.array(edges)
    found = walking.walk_events(changed, edges[:-1], edges[1:])
    sound += found is not None
    for group in found.groups if found else ():
        if group.code % 8 == 5:
            walking.pieces_of(changed, group.places, group.values)
    line = b"".join(b"\\x22" + bytes([rng.choice((0, 3, 130))]) + b"\\x08" * 3 for _ in range(20))
    walk = walking.line_walker(line)
    starts, ends = array("q"), array("q")
    walk(0, rng.randrange(len(line) + 1), starts, ends)
print(sound)
"""


@pytest.mark.deep
def test_it_touches_its_own_memory_only(sanitized: Callable[[str], int]) -> None:
    assert sanitized(_WALKED) > 100
