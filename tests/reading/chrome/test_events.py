"""Blocks of events become columns that hold all that the JSON holds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.reading.chrome.events import EventDecoder, EventGroup

Event = dict[str, Any]
New = Callable[[], EventDecoder]
EventsOf = Callable[[Iterable[EventGroup]], list[Event]]
ByJson = Callable[[bytes | str], list[Event]]

DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NASTY = st.sampled_from(['"},{"ph":"X"', "},{", "]", "\\", '"', "\0", "\n", "}]", "`", "$[0].args"])
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT | NASTY
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | NASTY, inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["device", "stream", "grid", "External id", "f0", "args", "cat", "type"])
ARGS = st.dictionaries(KEYS | TEXT | NASTY, VALUES, max_size=5)
OWN = st.dictionaries(
    st.sampled_from(["name", "pid", "tid", "id", "bp", "s", "rank"])
    | TEXT.filter(lambda key: key not in ("ph", "cat", "ts", "dur", "args", "start_ns", "dur_ns")),
    VALUES,
    max_size=4,
)
HEADS = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.sampled_from(["X", "i", "M", "s", None]) | TEXT,
        "cat": st.sampled_from(["kernel", "cpu_op", "new", None]) | TEXT | NASTY,
        "ts": st.integers(0, 10**15),
        "dur": st.integers(0, 10**6),
    },
)
EVENTS = st.builds(
    lambda head, own, args: own | head | args,
    HEADS,
    OWN,
    ARGS.map(lambda args: {"args": args}) | st.just({}),
)


@settings(deadline=None)
@given(events=st.lists(EVENTS, min_size=1, max_size=6), is_ascii=st.booleans())
def test_events_hold_what_json_holds(
    events: list[Event], is_ascii: bool, new_decoder: New, events_of: EventsOf, by_json: ByJson
) -> None:
    text = json.dumps(events, ensure_ascii=is_ascii)
    assert events_of(new_decoder().decode(text.encode(), 0)) == by_json(text)


@settings(deadline=None)
@given(events=st.lists(EVENTS, min_size=1, max_size=6))
def test_loose_decoding_gives_the_same_events(
    events: list[Event], new_decoder: New, events_of: EventsOf, by_json: ByJson
) -> None:
    raws = [msgspec.Raw(json.dumps(event).encode()) for event in events]
    assert events_of(new_decoder().decode_loosely(raws, 0)) == by_json(json.dumps(events))


@settings(deadline=None)
@given(blocks=st.lists(st.lists(EVENTS, min_size=1, max_size=3), min_size=2, max_size=4))
def test_what_was_learned_does_not_change_later_blocks(
    blocks: list[list[Event]], new_decoder: New, events_of: EventsOf, by_json: ByJson
) -> None:
    decoder = new_decoder()
    texts = [json.dumps(events) for events in blocks]
    found = [events_of(decoder.decode(text.encode(), 0)) for text in texts]
    assert found == [by_json(text) for text in texts]


def test_groups_are_of_one_category_and_phase(new_decoder: New) -> None:
    block = (
        b'[{"ph":"X","cat":"kernel"},{"ph":"i"},{"ph":"X","cat":"new"},'
        b'{"ph":"X","cat":"kernel"},{"cat":"kernel"}]'
    )
    groups = new_decoder().decode(block, 1000)
    found = {(g.category, g.phase): g.ids.tolist() for g in groups}
    assert found == {
        ("kernel", "X"): [1000, 1003],
        (None, "i"): [1001],
        ("new", "X"): [1002],
        ("kernel", None): [1004],
    }


def test_groups_come_in_the_same_order_every_time(new_decoder: New) -> None:
    names = random.Random(0).sample(range(100), 30)
    block = json.dumps([{"ph": "X", "cat": f"c{name}"} for name in names]).encode()
    orders = {tuple(group.category for group in new_decoder().decode(block, 0)) for _ in range(8)}
    assert len(orders) == 1


def test_typed_arguments_are_values_and_others_json_text(new_decoder: New) -> None:
    (group,) = new_decoder().decode(
        b'[{"ph":"X","cat":"kernel","args":{"device":1,"grid":[1,2],"more":0.10}}]', 0
    )
    assert (group.args["device"][0], group.args["grid"][0]) == (1, [1, 2])
    assert bytes(group.args["more"][0]) == b"0.10"


def test_an_argument_that_only_others_have_is_none(new_decoder: New) -> None:
    (group,) = new_decoder().decode(
        b'[{"ph":"X","cat":"a","args":{"p":1}},{"ph":"X","cat":"a"}]', 0
    )
    assert group.args["p"][1] is None


@pytest.mark.parametrize(
    "key",
    [
        "",
        "f0",
        "args",
        "cat",
        "a b",
        "é",
        "\U0001f600",
        'quo"te',
        "back\\slash",
        "nul\0",
        "line\nfeed",
        "back`tick",
        "a` - at `$[0]`",
        "x" * 5000,
        "__class__",
        "type",
        "tag",
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_any_key_of_sound_json_is_kept(
    key: str, is_ascii: bool, new_decoder: New, events_of: EventsOf
) -> None:
    event = {"ph": "X", "cat": "kernel", "args": {"device": 1, key: "v"}}
    (found,) = events_of(
        new_decoder().decode(json.dumps([event], ensure_ascii=is_ascii).encode(), 0)
    )
    assert found == event


@pytest.mark.parametrize("category", ["", 'quo"te', "back\\slash", "é", "nul\0", "kern'el", "x`y"])
def test_any_category_is_kept(category: str, new_decoder: New) -> None:
    (group,) = new_decoder().decode(json.dumps([{"ph": "X", "cat": category}]).encode(), 0)
    assert group.category == category


@pytest.mark.parametrize("value", [1, 1.5, True, [1], {"a": 1}])
@pytest.mark.parametrize("key", ["cat", "ph"])
def test_a_category_or_phase_that_is_no_text_loses_nothing(
    key: str, value: Any, new_decoder: New, events_of: EventsOf
) -> None:
    events = [{"ph": "X", "cat": "kernel", "name": "a"}, {"name": "b", key: value}]
    found = events_of(new_decoder().decode(json.dumps(events).encode(), 0))
    assert [event["name"] for event in found] == ["a", "b"]


@pytest.mark.parametrize("args", [[1, 2], "text", 7, True])
def test_arguments_that_are_no_object_are_kept(
    args: Any, new_decoder: New, events_of: EventsOf
) -> None:
    block = json.dumps([{"ph": "X", "args": args, "args2": 1}, {"ph": "X", "args": {"a": 1}}])
    groups = new_decoder().decode(block.encode(), 0)
    first = groups[0].fields["args"][0]
    assert json.loads(bytes(first)) == args
    assert sum(map(len, groups)) == 2


def test_what_is_no_object_counts_as_an_event(new_decoder: New) -> None:
    groups = new_decoder().decode(b'[1, "a", null, [2], {"ph": "X"}, {}]', 0)
    assert sum(map(len, groups)) == 6


@pytest.mark.parametrize("count", [150, 250, 600])
def test_any_number_of_argument_names(count: int, new_decoder: New, events_of: EventsOf) -> None:
    events = [{"ph": "X", "cat": "kernel", "args": {f"a{i}": i}} for i in range(count)]
    found = events_of(new_decoder().decode(json.dumps(events).encode(), 0))
    assert found == events


def test_an_event_of_two_categories_is_read(new_decoder: New, events_of: EventsOf) -> None:
    """Which of them the decoder takes for its kind, and which it finds again, differs."""
    rows = [
        '{"ph":"X","cat":"kernel","name":"a"}',
        '{"ph":"X","cat":"new","name":"b"}',
        '{"ph":"X","cat":"kernel","cat":"new","name":"c"}',
        '{"ph":"X","cat":"new","cat":"unseen","name":"d","own":1}',
        '{"ph":"X","cat":"new","name":"e"}',
    ]
    found = events_of(new_decoder().decode(f"[{','.join(rows)}]".encode(), 0))
    assert [event["name"] for event in found] == ["a", "b", "c", "d", "e"]
    assert [event["cat"] for event in found] == ["kernel", "new", "new", "unseen", "new"]


def test_any_number_of_categories(new_decoder: New) -> None:
    events = [{"ph": "X", "cat": f"c{i}", "name": f"n{i}"} for i in range(300)]
    groups = new_decoder().decode(json.dumps(events).encode(), 0)
    found = {(group.category, name) for group in groups for name in group.fields["name"]}
    assert found == {(f"c{i}", f"n{i}") for i in range(300)}


@pytest.mark.parametrize(
    "number", ["10159970886766084423", "9" * 60, "1" + "0" * 400, "-" + "9" * 30]
)
@pytest.mark.parametrize("key", ["device", "Comms Id"])
def test_integers_beyond_64_bits_keep_their_digits(
    key: str, number: str, new_decoder: New, events_of: EventsOf
) -> None:
    block = f'[{{"ph":"X","cat":"kernel","args":{{"{key}":{number}}}}}]'
    (event,) = events_of(new_decoder().decode(block.encode(), 0))
    assert event["args"][key] == int(number)


def test_decimals_beyond_a_float_keep_their_digits(new_decoder: New) -> None:
    block = b'[{"ph":"X","cat":"kernel","args":{"x":0.12345678901234567890123}}]'
    (group,) = new_decoder().decode(block, 0)
    assert bytes(group.args["x"][0]) == b"0.12345678901234567890123"


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
@pytest.mark.parametrize("key", ["device", "x"])
def test_a_number_no_float_holds_loses_no_event(key: str, number: str, new_decoder: New) -> None:
    block = f'[{{"ph":"X","cat":"kernel","args":{{"{key}":{number}}}}},{{"ph":"X","cat":"a"}}]'
    assert sum(map(len, new_decoder().decode(block.encode(), 0))) == 2


@pytest.mark.parametrize(
    "block",
    [
        b"[",
        b"[{}",
        b'[{"ph":"X"]',
        b'[{"ph":"X"}{"ph":"X"}]',
        b'[{"ph":"X","name":"a\nb"}]',
        b'[{"ph":"X","name":"a\\qb"}]',
        b'[{"ph":"X","name":"\xff"}]',
        b'[{"ph":"X","cat":"\xff"}]',
        b'[{"ph":"X","args":{"\xff":1}}]',
        b'[{"ph":"X","ts":NaN}]',
        b"[" * 5000,
        b'[{"ph":"X"},]',
    ],
)
def test_damage_is_told_with_the_errors_of_damage(block: bytes, new_decoder: New) -> None:
    with pytest.raises(DAMAGE):
        new_decoder().decode(block, 0)


def test_bytes_that_are_no_utf8_are_damage_wherever_they_stand(new_decoder: New) -> None:
    with pytest.raises(DAMAGE):
        new_decoder().decode(b'[{"ph":"X","cat":"kernel","args":{"more":"\xff"}}]', 0)


def test_no_events_give_no_groups(new_decoder: New) -> None:
    assert new_decoder().decode(b"[]", 0) == []


def test_no_events_give_no_groups_loosely(new_decoder: New) -> None:
    assert new_decoder().decode_loosely([], 0) == []


def test_take_keeps_rows_together(new_decoder: New, events_of: EventsOf) -> None:
    events = [{"ph": "X", "cat": "a", "name": f"n{i}", "args": {f"k{i}": i}} for i in range(5)]
    (group,) = new_decoder().decode(json.dumps(events).encode(), 50)
    part = group.take([3, 1])
    assert part.ids.tolist() == [53, 51]
    assert part.fields["name"] == ("n3", "n1")
    assert events_of([part]) == [events[1], events[3]]


def test_take_leaves_out_arguments_that_no_row_has(new_decoder: New) -> None:
    events = [{"ph": "X", "cat": "a", "args": {f"k{i}": i}} for i in range(3)]
    (group,) = new_decoder().decode(json.dumps(events).encode(), 0)
    assert list(group.take([1]).args) == ["k1"]
