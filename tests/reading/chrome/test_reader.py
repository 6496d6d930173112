"""A trace gives the same events in any blocks and parts, and damage costs only what it hits."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.errors import FormatError
from tracekit.parser import PartMismatch
from tracekit.reading.chrome import reader as reader_module
from tracekit.reading.chrome.events import EventGroup
from tracekit.reading.chrome.reader import TraceReader, plan_blocks

Event = dict[str, Any]
Read = Callable[..., Any]
ByJson = Callable[[bytes | str], list[Event]]
Whole = tuple[bytes, list[Event]]

BLOCKS = (64, 100, 256, 1000, 4096)


@pytest.fixture
def block_bytes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the size of blocks for a test."""
    return lambda size: monkeypatch.setattr(reader_module, "BLOCK_BYTES", size)


# -- traces ---------------------------------------------------------------------------------------


def event(number: int) -> Event:
    """An event of some kind, told from the others by its name and its argument `n`."""
    kinds: list[Event] = [
        {
            "ph": "X",
            "cat": "kernel",
            "ts": number + 0.125,
            "dur": 1.5,
            "args": {"n": number, "device": 0, "stream": 7, "grid": [4, 1, 1], "occupancy": 30.5},
        },
        {
            "ph": "X",
            "cat": "cpu_op",
            "ts": number,
            "dur": 3,
            "args": {"n": number, "External id": number, "Input Dims": [[2, 3], []]},
        },
        {"ph": "i", "s": "t", "ts": number, "args": {"n": number, "Bytes": -4096}},
        {"ph": "s", "id": number, "ts": number, "cat": "ac2g", "args": {"n": number}},
        {"ph": "M", "args": {"n": number, "labels": "CPU"}},
    ]
    return {**kinds[number % len(kinds)], "name": f"event {number}", "pid": 1, "tid": 2}


def written(
    events: list[Event],
    *,
    head: str = '{"schemaVersion": 1, "traceEvents": [\n',
    tail: str = '\n], "traceName": "x"}\n',
    indent: int | None = None,
) -> bytes:
    """A trace of events, and around them what is given."""
    return (head + ",\n".join(json.dumps(e, indent=indent) for e in events) + tail).encode()


TWENTY = [event(number) for number in range(20)]
LIST: dict[str, Any] = {"head": "[", "tail": "]"}

NASTY = [
    '"},{"ph":"X","name":"',
    '"}, {"ph": "X"}], "traceName": "no',
    "},{",
    "}]",
    '"traceEvents": [',
    "\\",
    '\\"},{"ph":1}',
    "\N{GRINNING FACE}",
    "[{",
]
NESTED = [
    [{"name": i, "ph": "X"} for i in range(12)],
    [{"a": 1}, {"b": [{"c": 2}, {"d": 3}]}],
    [{}] * 30,
    {"x": {"y": [{"ph": "X"}, {"ph": "i"}]}},
    [[], [[]], [{"id": 1}]],
]


def nasty_events(count: int = 30) -> list[Event]:
    """Events with boundaries of events inside their texts and lists."""
    names, lists = itertools.cycle(NASTY), itertools.cycle(NESTED)
    return [
        {
            **event(n),
            "name": f"{n}{next(names)}",
            "args": {"n": n, "nested": next(lists), "after": next(names)},
        }
        for n in range(count)
    ]


# -- whole traces, in blocks of any size ----------------------------------------------------------


@pytest.mark.parametrize("size", BLOCKS)
@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_block_size_changes_no_event(
    size: int, most: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    content = written(TWENTY)
    found = read(content, most=most)
    assert found.events == by_json(content)
    assert found.codes == []


@pytest.mark.parametrize("size", BLOCKS)
def test_boundaries_inside_texts_and_lists_cut_no_event(
    size: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    content = written(nasty_events())
    found = read(content)
    assert found.events == by_json(content)
    assert found.codes == []


@pytest.mark.parametrize("count", [2, 5, 10, 100, 1000])
@pytest.mark.parametrize("size", BLOCKS)
def test_an_event_with_many_nested_objects_is_one_event(
    size: int, count: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    giant = {**event(0), "args": {"list": [{"a": i} for i in range(count)], "z": 1}}
    content = written([event(1), giant, event(2), giant, event(3)])
    found = read(content)
    assert found.events == by_json(content)
    assert found.codes == []


@pytest.mark.parametrize("size", BLOCKS)
def test_an_event_larger_than_several_blocks(
    size: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    giant = {**event(0), "name": "x" * 20_000, "args": {"text": "},{" * 5000}}
    content = written([event(1), giant, event(2)])
    found = read(content, most=999)
    assert found.events == by_json(content)
    assert found.codes == []


PIECES = st.sampled_from(NASTY) | st.text(st.characters(codec="utf-8"), max_size=10)
ARGS = st.recursive(
    PIECES | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PIECES, inner, max_size=3),
    max_leaves=20,
)


@settings(deadline=None)
@given(
    texts=st.lists(st.tuples(PIECES, ARGS), max_size=12),
    size=st.integers(64, 4096),
    most=st.integers(1, 300),
    indent=st.sampled_from([None, 1]),
)
def test_any_events_in_any_blocks(
    texts: list[tuple[str, Any]],
    size: int,
    most: int,
    indent: int | None,
    read: Read,
    by_json: ByJson,
) -> None:
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "args": {"a": args}} for name, args in texts
    ]
    content = written(events, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader_module, "BLOCK_BYTES", size)
        found = read(content, most=most)
    assert found.events == by_json(content)
    assert found.codes == []


@pytest.mark.parametrize("size", BLOCKS)
def test_places_are_unique_and_grow_with_the_file(
    size: int, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    found = read(written(nasty_events(60)))
    assert found.ids == sorted(set(found.ids))
    assert [event["args"]["n"] for event in found.events] == list(range(60))


def test_places_are_those_of_the_blocks(read: Read, block_bytes: Callable[[int], None]) -> None:
    block_bytes(300)
    content = written(TWENTY)
    starts = [content.index(json.dumps(e).encode()) for e in TWENTY]
    for place, start in zip(read(content).ids, starts, strict=True):
        assert start - 600 <= place <= start  # the block it lies in begins at most so far before


@pytest.mark.parametrize("size", BLOCKS)
def test_every_byte_is_read_once(size: int, read: Read, block_bytes: Callable[[int], None]) -> None:
    block_bytes(size)
    content = written(TWENTY)
    assert read(content, most=50).report.read_bytes == len(content)


# -- head and tail --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", BLOCKS)
def test_other_keys_are_kept_as_they_stand(
    size: int, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    content = written(
        TWENTY,
        head='{"a": 1.50, "metadata": {"traceEvents": [], "x": "\\"traceEvents\\": ["},'
        ' "traceEvents" : [',
        tail='\n] , "b": [{"c": 1}, {"d": 2}], "traceName": "x\\u0041"}',
    )
    found = read(content, most=11)
    assert found.reader.top_level == {
        "a": b"1.50",
        "metadata": b'{"traceEvents": [], "x": "\\"traceEvents\\": ["}',
        "b": b'[{"c": 1}, {"d": 2}]',
        "traceName": b'"x\\u0041"',
    }
    assert found.reader.is_closed
    assert len(found.events) == 20


@pytest.mark.parametrize("size", [64, 1000])
def test_metadata_behind_the_events_may_be_larger_than_a_block(
    size: int, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    more = [{"ph": "X", "name": f"no event {i}"} for i in range(300)]
    found = read(written(TWENTY, tail=f'], "more": {json.dumps(more)}, "last": 1}}'), most=70)
    assert json.loads(found.reader.top_level["more"]) == more
    assert found.reader.top_level["last"] == b"1"
    assert len(found.events) == 20
    assert found.codes == []


@pytest.mark.parametrize("size", [64, 1000])
def test_metadata_before_the_events_may_be_larger_than_a_block(
    size: int, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    more = [{"ph": "X", "name": f"no event {i}"} for i in range(300)]
    found = read(written(TWENTY, head=f'{{"more": {json.dumps(more)}, "traceEvents": ['), most=70)
    assert json.loads(found.reader.top_level["more"]) == more
    assert len(found.events) == 20


@pytest.mark.parametrize("value", ["9" * 40, "-" + "9" * 40, "1e999"])
def test_numbers_in_the_metadata_may_be_of_any_size(value: str, read: Read) -> None:
    found = read(
        written(TWENTY, head=f'{{"n": {value}, "traceEvents": [', tail=f'], "m": {value}}}')
    )
    assert found.reader.top_level == {"n": value.encode(), "m": value.encode()}
    assert found.reader.is_closed
    assert found.codes == []


@pytest.mark.parametrize(
    "content",
    [
        written(TWENTY, **LIST),
        written(TWENTY, head=" \n[ ", tail=" ] \n"),
        b"\xef\xbb\xbf" + written(TWENTY, **LIST),
    ],
)
def test_the_root_may_be_a_list(content: bytes, read: Read) -> None:
    found = read(content)
    assert len(found.events) == 20
    assert found.reader.is_closed
    assert found.reader.is_list_root
    assert found.codes == []


@pytest.mark.parametrize("content", ['{"traceEvents": []}', '{"traceEvents": [ ], "a": 1}', "[]"])
def test_a_trace_may_have_no_events(content: str, read: Read) -> None:
    found = read(content)
    assert (found.events, found.codes, found.reader.is_closed) == ([], [], True)


def test_a_byte_order_mark_is_no_content(read: Read, by_json: ByJson) -> None:
    content = written(TWENTY)
    found = read(b"\xef\xbb\xbf" + content)
    assert found.events == by_json(content)
    assert found.codes == []


@pytest.mark.parametrize("old", [b"\n", b", ", b": "])
def test_white_space_changes_no_event(old: bytes, read: Read, by_json: ByJson) -> None:
    content = written(TWENTY)
    spaced = content.replace(old, old + b"\r\n\t ")
    assert read(spaced).events == by_json(content)


def test_no_boundary_in_a_very_long_stretch_is_refused(
    read: Read, monkeypatch: pytest.MonkeyPatch, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(64)
    monkeypatch.setattr(reader_module, "_MOST_BLOCK_BYTES", 1000)
    with pytest.raises(
        FormatError, match=r"content\.json: no event boundary within .* after byte \d+: not a list"
    ):
        read(b'{"traceEvents": [' + b"1," * 4000 + b"1]}", most=100)


# -- parts ----------------------------------------------------------------------------------------


def ranges(count: int) -> Callable[[bytes], list[Callable[[TraceReader], Iterator[EventGroup]]]]:
    def parts(content: bytes) -> list[Callable[[TraceReader], Iterator[EventGroup]]]:
        edges = plan_blocks(len(content), count)
        return [lambda reader, e=edge: reader.read_range(*e) for edge in edges]  # type: ignore[misc]

    return parts


def shares(count: int) -> Callable[[bytes], list[Callable[[TraceReader], Iterator[EventGroup]]]]:
    def parts(content: bytes) -> list[Callable[[TraceReader], Iterator[EventGroup]]]:
        return [
            lambda reader, i=index: reader.read_share(i, count)  # type: ignore[misc]
            for index in range(count)
        ]

    return parts


PARTINGS = [
    pytest.param(kind(count), id=f"{kind.__name__}-{count}")
    for kind in (ranges, shares)
    for count in range(1, 8)
]


def in_parts(
    content: bytes, parting: Any, read: Read
) -> tuple[list[Any], dict[str, bytes], list[str]]:
    """Events with their places, other keys and issues of all parts together."""
    found = [read(content, make) for make in parting(content)]
    events = sorted(
        pair for part in found for pair in zip(part.ids, map(repr, part.events), strict=True)
    )
    top_level = {key: value for part in found for key, value in part.reader.top_level.items()}
    return events, top_level, sorted(code for part in found for code in part.codes)


def as_one(content: bytes, read: Read) -> tuple[list[Any], dict[str, bytes], list[str]]:
    found = read(content)
    pairs = sorted(zip(found.ids, map(repr, found.events), strict=True))
    return pairs, found.reader.top_level, sorted(found.codes)


@pytest.mark.parametrize("parting", PARTINGS)
@pytest.mark.parametrize("size", [256, 1000])
@pytest.mark.parametrize("around", [{}, LIST], ids=["object", "list"])
def test_parts_give_the_whole(
    size: int, around: dict[str, str], parting: Any, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    content = written([event(n) for n in range(100)], **around)  # type: ignore[arg-type]
    assert in_parts(content, parting, read) == as_one(content, read)


@pytest.mark.parametrize("parting", PARTINGS)
@pytest.mark.parametrize("size", [64, 256, 1000, 4096])
def test_parts_of_a_nasty_trace_give_the_whole_or_say_so(
    size: int, parting: Any, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    content = written(nasty_events(60))
    try:
        found = in_parts(content, parting, read)
    except PartMismatch:
        return
    assert found == as_one(content, read)


@settings(deadline=None)
@given(
    texts=st.lists(st.tuples(PIECES, ARGS), min_size=1, max_size=12),
    size=st.integers(64, 1024),
    parting=st.sampled_from([kind(count) for kind in (ranges, shares) for count in (2, 3, 7)]),
)
def test_parts_of_any_trace_give_the_whole_or_say_so(
    texts: list[tuple[str, Any]], size: int, parting: Any, read: Read
) -> None:
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "args": {"a": args}} for name, args in texts
    ]
    content = written(events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader_module, "BLOCK_BYTES", size)
        try:
            found = in_parts(content, parting, read)
        except PartMismatch:
            return
        assert found == as_one(content, read)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("parting", PARTINGS)
@pytest.mark.parametrize(
    "damage", [(b"event 250", b"event \xff"), (b"event 250", b'event "250" x'), (b'": ', b'" ')]
)
def test_parts_of_a_trace_damaged_in_the_middle_give_the_whole(
    damage: tuple[bytes, bytes], parting: Any, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(4096)
    sound = written([event(n) for n in range(500)])
    middle = sound.index(b'"event 250"')
    content = sound[:middle] + sound[middle:].replace(*damage, 1)
    assert in_parts(content, parting, read) == as_one(content, read)


@pytest.mark.parametrize("parting", PARTINGS)
@pytest.mark.parametrize("cut", [3000, 3333, 5000, 7001])
def test_parts_of_a_cut_trace_give_the_whole_or_say_so(
    cut: int, parting: Any, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(512)
    content = written([event(n) for n in range(100)])[:cut]
    try:
        found = in_parts(content, parting, read)
    except PartMismatch:
        return
    assert found == as_one(content, read)


@pytest.mark.parametrize("kind", [ranges, shares])
def test_parts_of_two_traces_in_one_file_do_not_fit(
    kind: Any, read: Read, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(256)
    content = written(TWENTY)
    with pytest.raises(PartMismatch):
        in_parts(content * 2, kind(3), read)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"a": 1}', b"hello"])
@pytest.mark.parametrize("kind", [ranges, shares])
def test_parts_without_events_do_not_fit(kind: Any, content: bytes, read: Read) -> None:
    with pytest.raises(PartMismatch):
        [read(content, make) for make in kind(2)(content.ljust(1))]


@pytest.mark.parametrize("size", [1, 255, 256, 257, 1000, 10_000])
@pytest.mark.parametrize("count", range(1, 8))
def test_planned_blocks_cover_the_content_once(
    size: int, count: int, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(256)
    plan = plan_blocks(size, count)
    assert plan[0][0] == 0
    assert plan[-1][1] is None
    assert [end for _, end in plan[:-1]] == [start for start, _ in plan[1:]]
    assert all(start < (end or 10**9) for start, end in plan)
    assert len(plan) <= count


# -- a trace that ends too early ------------------------------------------------------------------


def whole_before(content: bytes, events: list[Event]) -> list[int]:
    """Where each event ends in the content."""
    ends, position = [], 0
    for one in events:
        text = json.dumps(one).encode()
        position = content.index(text, position) + len(text)
        ends.append(position)
    return ends


CUT_EVENTS = TWENTY[:5] + [
    {**event(n), "args": {"n": n, "nested": [{"name": "a"}, {"b": [{}]}], "after": "}]"}}
    for n in range(5, 7)
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("around", [{}, LIST], ids=["object", "list"])
@pytest.mark.parametrize("size", [256, 1 << 20])
@pytest.mark.parametrize("residue", range(8))
def test_cut_anywhere_every_complete_event_is_kept(
    residue: int,
    size: int,
    around: dict[str, str],
    read: Read,
    by_json: ByJson,
    block_bytes: Callable[[int], None],
) -> None:
    block_bytes(size)
    content = written(CUT_EVENTS, **around)  # type: ignore[arg-type]
    events, ends = by_json(content), whole_before(content, CUT_EVENTS)
    for cut in range(residue, len(content.rstrip()), 8):
        found = read(content[:cut])
        complete = sum(end <= cut for end in ends)
        assert (cut, found.events) == (cut, events[:complete])
        assert not found.reader.is_closed
        (issue,) = (i for i in found.report.issues.values() if i.code == "cut_content")
        assert issue.severity_kind == "error"
        assert 0 <= (issue.first_offset_bytes or 0) <= cut
        assert found.codes == ["cut_content"]


def test_a_cut_inside_an_event_says_where_it_begins_and_what_is_lost(read: Read) -> None:
    content = written(TWENTY)
    start = content.index(json.dumps(TWENTY[7]).encode())
    found = read(content[: start + 30])
    (issue,) = found.report.issues.values()
    assert (issue.first_offset_bytes, issue.lost_bytes) == (start, 30)


def test_a_cut_between_events_loses_nothing(read: Read) -> None:
    content = written(TWENTY)
    found = read(content[: content.index(b"]", content.rindex(b"}", 0, -30)) - 1])
    (issue,) = found.report.issues.values()
    assert issue.lost_bytes == 0
    assert len(found.events) == 20


# -- damage in the middle -------------------------------------------------------------------------


def damaged(text: str, kind: str) -> bytes:
    """The text of an event with one kind of damage."""
    data = text.encode()
    return {
        "no utf-8": data.replace(b"event", b"\xe9vent", 1),
        "cut utf-8": data.replace(b"event", b"\xe2\x82", 1),
        "control character": data.replace(b"event", b"eve\x00nt", 1),
        "line feed in a text": data.replace(b"event", b"ev\nent", 1),
        "windows path": data.replace(b"event", rb"C:\xevent", 1),
        "quotes in a text": data.replace(b"event", b'an "event" of', 1),
        "quote missing": data.replace(b'"name": "', b'"name": ', 1),
        "quote too many": data.replace(b'"name": "', b'"name": ""', 1),
        "end quote missing": data.replace(b'", "pid"', b', "pid"', 1),
        "comma missing": data.replace(b', "pid"', b' "pid"', 1),
        "comma too many": data.replace(b', "pid"', b',, "pid"', 1),
        "colon missing": data.replace(b'"pid":', b'"pid"', 1),
        "value missing": data.replace(b'"pid": 1', b'"pid":', 1),
        "nan": data.replace(b'"pid": 1', b'"pid": nan', 1),
        "first brace missing": data[1:],
        "last brace missing": data[:-1],
        "brace too many": data + b"}",
        "bracket too many": data.replace(b'"pid": 1', b'"pid": 1]', 1),
        "brace in front": b"{" + data,
        "cut in half": data[: len(data) // 2],
        "second half": data[len(data) // 2 :],
        "page of nul": data[:20] + bytes(4096) + data[60:],
        "nothing but nul": bytes(len(data)),
        "rubbish": b"%$&/()=?",
        "no event": b"17",
        "another event inside": data[:30] + data + data[30:],
        "twice without a comma": data + data,
    }[kind]


KINDS = [
    "no utf-8",
    "cut utf-8",
    "control character",
    "line feed in a text",
    "windows path",
    "quotes in a text",
    "quote missing",
    "quote too many",
    "end quote missing",
    "comma missing",
    "comma too many",
    "colon missing",
    "value missing",
    "nan",
    "first brace missing",
    "last brace missing",
    "brace too many",
    "bracket too many",
    "brace in front",
    "cut in half",
    "second half",
    "page of nul",
    "nothing but nul",
    "rubbish",
    "no event",
    "another event inside",
    "twice without a comma",
]
MENDED = {
    "no utf-8": "\\xe9vent",
    "cut utf-8": "\\xe2\\x82",
    "control character": "eve\0nt",
    "line feed in a text": "ev\nent",
    "windows path": "C:\\xevent",
    "quotes in a text": 'an "event" of',
    "comma missing": "event",
    "comma too many": "event",
}


def with_damage(events: list[Event], place: int, kind: str, **around: str) -> bytes:
    content = written(events, **around)  # type: ignore[arg-type]
    text = json.dumps(events[place])
    return content.replace(text.encode(), damaged(text, kind), 1)


def others(events: list[Event], place: int) -> list[Event]:
    """The events but that of one number (and pieces of it that have none)."""
    return [e for e in events if "n" in e["args"] and e["args"]["n"] != place]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("around", [{}, LIST], ids=["object", "list"])
@pytest.mark.parametrize("size", [300, 1 << 20])
@pytest.mark.parametrize("kind", KINDS)
def test_damage_costs_no_other_event(
    kind: str,
    size: int,
    around: dict[str, str],
    read: Read,
    by_json: ByJson,
    block_bytes: Callable[[int], None],
) -> None:
    block_bytes(size)
    sound = by_json(written(TWENTY, **around))  # type: ignore[arg-type]
    for place in range(len(TWENTY)):
        found = read(with_damage(TWENTY, place, kind, **around))
        assert (place, others(found.events, place)) == (place, others(sound, place))
        assert found.codes or kind in ("no event", "twice without a comma"), place


@pytest.mark.parametrize("size", [300, 1 << 20])
@pytest.mark.parametrize("kind", KINDS)
def test_damage_costs_no_event_with_nested_objects(
    kind: str, size: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    events = [
        {**event(n), "args": {"n": n, "nested": NESTED[n % len(NESTED)], "after": 1}}
        for n in range(20)
    ]
    sound = by_json(written(events))
    for place in (0, 9, 19):
        found = read(with_damage(events, place, kind))
        assert (place, others(found.events, place)) == (place, others(sound, place))


@pytest.mark.parametrize("kind", KINDS)
def test_damage_leaves_the_keys_around_the_events(kind: str, read: Read) -> None:
    for place in range(len(TWENTY)):
        found = read(with_damage(TWENTY, place, kind))
        assert (place, found.reader.top_level) == (
            place,
            {"schemaVersion": b"1", "traceName": b'"x"'},
        )


@pytest.mark.parametrize("kind", MENDED)
@pytest.mark.parametrize("size", [300, 1 << 20])
def test_what_leaves_no_doubt_is_mended(
    kind: str, size: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(size)
    sound = by_json(written(TWENTY))
    for place in range(len(TWENTY)):
        found = read(with_damage(TWENTY, place, kind))
        mended = {**sound[place], "name": f"{MENDED[kind]} {place}"}
        assert found.events == [*sound[:place], mended, *sound[place + 1 :]]
        (issue,) = found.report.issues.values()
        assert (issue.code, issue.occurrence_count) == ("repaired_event", 1)


@pytest.mark.parametrize("kind", ["rubbish", "colon missing", "quote missing"])
def test_what_is_lost_is_told_with_its_place(kind: str, read: Read) -> None:
    content = with_damage(TWENTY, 7, kind)
    found = read(content)
    (issue,) = found.report.issues.values()
    start = written(TWENTY).index(json.dumps(TWENTY[7]).encode())
    assert (issue.code, issue.severity_kind) == ("damaged_event", "error")
    assert issue.first_offset_bytes == start
    assert issue.lost_bytes == len(damaged(json.dumps(TWENTY[7]), kind))
    assert len(found.events) == 19


@pytest.mark.parametrize("kind", ["cut in half", "colon missing", "quote missing"])
def test_pieces_of_a_damaged_event_are_no_events(kind: str, read: Read) -> None:
    events = [
        {"ph": "M", "name": "process_name", "pid": n, "args": {"name": "python", "n": n}}
        for n in range(5)
    ]
    found = read(with_damage(events, 2, kind))
    assert found.report.event_count == 4
    assert len(found.events) == 4


def test_lists_that_are_nested_too_deeply_cost_no_event(read: Read) -> None:
    """Also where the number before them is one that no float can hold."""
    deep = b'{"x":],"k":[1e400,' + b"[" * 5000
    found = read(b'{"traceEvents":[' + json.dumps(TWENTY[0]).encode() + b"," + deep)
    assert len(found.events) == 1
    assert "damaged_event" in found.codes


def test_every_event_damaged(read: Read) -> None:
    found = read(b'{"traceEvents": [{"ph" "X"}, {"ph" "i"}, {"ph" "X"}]}')
    assert found.events == []
    assert found.codes == ["damaged_event"]


@pytest.mark.parametrize("content", [b"[", b'{"traceEvents":[', b'{"traceEvents":[{"ph"'])
def test_a_cut_before_the_first_event_is_told(content: bytes, read: Read) -> None:
    assert read(content).codes == ["cut_content"]


@pytest.mark.parametrize(
    "damage",
    [
        r'"cwd": "C:\Users\x"',
        '"cwd": "line\nfeed"',
        '"cwd": "caf\udce9"',
        '"n": nan',
        '"a" 1',
        '"a": 1,',
        'host": "h"',
    ],
)
def test_damage_in_the_metadata_costs_no_event(damage: str, read: Read) -> None:
    head = f'{{"schemaVersion": 1, {damage}, "traceEvents": [\n'.encode("utf-8", "surrogateescape")
    found = read(head + written(TWENTY, head=""))
    assert len(found.events) == 20
    assert found.reader.top_level["schemaVersion"] == b"1"
    assert found.codes != []


@pytest.mark.parametrize(
    "damage", [r'"cwd": "C:\Users\x"', '"cwd": "line\nfeed"', '"n": nan', '"a" 1', 'host": "h"']
)
def test_damage_in_the_metadata_behind_costs_no_event(damage: str, read: Read) -> None:
    found = read(written(TWENTY, tail=f'], "first": 1, {damage}, "traceName": "x"}}'))
    assert len(found.events) == 20
    assert found.reader.top_level["first"] == b"1"
    assert found.codes != []


# -- several traces in one file -------------------------------------------------------------------


@pytest.mark.parametrize("between", ["", "\n", "\r\n \t"])
@pytest.mark.parametrize("around", [{}, LIST], ids=["object", "list"])
@pytest.mark.parametrize("size", [200, 1 << 20])
def test_traces_one_after_the_other_are_all_read(
    size: int,
    around: dict[str, str],
    between: str,
    read: Read,
    by_json: ByJson,
    block_bytes: Callable[[int], None],
) -> None:
    block_bytes(size)
    first, second = (written(part, **around) for part in (TWENTY[:12], TWENTY[12:]))  # type: ignore[arg-type]
    found = read(first + between.encode() + second)
    assert found.events == by_json(first) + by_json(second)
    assert found.codes == ["concatenated_traces"]
    assert found.reader.is_closed


def test_the_place_of_the_second_trace_is_told(read: Read) -> None:
    first = written(TWENTY)
    (issue,) = read(first + written(TWENTY)).report.issues.values()
    assert issue.first_offset_bytes == len(first)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("residue", range(4))
def test_a_trace_begun_again_after_a_cut(residue: int, read: Read, by_json: ByJson) -> None:
    first, second = written(TWENTY[:10]), written(TWENTY[10:])
    ends = whole_before(first, TWENTY[:10])
    again = [json.dumps(e, sort_keys=True) for e in by_json(second)]
    for cut in range(first.index(b'{"ph"') + residue, len(first), 4):
        found = read(first[:cut] + b"\n" + second)
        texts = [json.dumps(e, sort_keys=True) for e in found.events]
        assert texts[: sum(end <= cut for end in ends)] == [
            json.dumps(e, sort_keys=True) for e in by_json(first)[: sum(end <= cut for end in ends)]
        ]
        assert (cut, [text for text in texts if text in again]) == (cut, again)


@pytest.mark.parametrize("rubbish", [b"\0" * 100, b"rubbish", b"]", b"}", b"{", b'{"a": 1}'])
def test_what_follows_the_trace_is_told(rubbish: bytes, read: Read) -> None:
    found = read(written(TWENTY) + rubbish)
    assert len(found.events) == 20
    assert found.codes != []


# -- random damage --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_random_bytes_break_nothing_but_what_they_hit(
    seed: int, read: Read, by_json: ByJson, block_bytes: Callable[[int], None]
) -> None:
    block_bytes(2000)
    rng = random.Random(seed)
    content, sound = written(TWENTY), by_json(written(TWENTY))
    first, last = content.index(b'{"ph"'), content.rindex(b"]") - 1
    ends = whole_before(content, TWENTY)
    for _ in range(30):
        place = rng.randrange(first, last)
        hit = {
            n
            for n, end in enumerate(ends)
            if (n and ends[n - 1] <= place <= end + 3) or (not n and place <= end + 3)
        }
        found = read(content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :])
        kept = [e for e in found.events if e["args"].get("n") not in hit]
        expected = [e for e in sound if e["args"]["n"] not in hit]
        assert (place, [e for e in kept if e in expected]) == (place, expected)
