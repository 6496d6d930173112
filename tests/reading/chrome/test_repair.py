"""A damaged event is mended where its numbers are beyond doubt, and never made up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.reading.chrome.repair import mended, repaired

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
EVENTS = st.dictionaries(st.text(), VALUES, max_size=6)


@settings(deadline=None)
@given(event=EVENTS, is_ascii=st.booleans(), indent=st.sampled_from([None, 2]))
def test_sound_json_keeps_its_meaning(
    event: dict[str, Any], is_ascii: bool, indent: int | None
) -> None:
    text = json.dumps(event, ensure_ascii=is_ascii, indent=indent)
    if not _is_encodable(text):
        text = json.dumps(event, ensure_ascii=True, indent=indent)
    read = json.loads(repaired(text.encode()))
    assert read == json.loads(_with_escaped_surrogates(text))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_escaped_surrogates(text: str) -> str:
    """The event with every lone surrogate spelled out, as no UTF-8 can hold it."""
    event = json.loads(text)
    return json.dumps(_spelled_out(event))


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(
            f"\\u{ord(char):04x}" if 0xD800 <= ord(char) < 0xE000 else char for char in value
        )
    if isinstance(value, list):
        return [_spelled_out(item) for item in value]
    if isinstance(value, dict):
        return {_spelled_out(key): _spelled_out(item) for key, item in value.items()}
    return value


@settings(deadline=None)
@given(event=st.binary(max_size=400))
def test_any_bytes_become_utf8(event: bytes) -> None:
    repaired(event).decode()


@settings(deadline=None)
@given(
    event=EVENTS.map(lambda event: json.dumps(event).encode()),
    place=st.integers(0, 10**6),
    junk=st.binary(max_size=5),
)
def test_any_damage_becomes_utf8(event: bytes, place: int, junk: bytes) -> None:
    place %= len(event) + 1
    repaired(event[:place] + junk + event[place:]).decode()


def name_of(event: bytes | str) -> Any:
    """The name in a mended event, which must have kept its other members."""
    data = event.encode() if isinstance(event, str) else event
    whole = json.loads(repaired(data))
    assert whole == {"ph": "X", "name": whole["name"], "ts": 1.5, "args": {"a": [1, "b"]}}
    return whole["name"]


def event_named(raw: str) -> str:
    return f'{{"ph": "X", "name": "{raw}", "ts": 1.5, "args": {{"a": [1, "b"]}}}}'


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (r"C:\Users\x\model.py", r"C:\Users\x\model.py"),
        (r"C:\new\table\u12", r"C:\new\table\u12"),
        (r"C:\\new\q", r"C:\new\q"),
        ("line one\nline two\ttab", "line one\nline two\ttab"),
        ("\x1b[31mred\x00", "\x1b[31mred\x00"),
        (r"lone \ud800 half", r"lone \ud800 half"),
        (r"\udc00\ud800", r"\udc00\ud800"),
        (r"pair \ud83d\ude00", "pair \N{GRINNING FACE}"),
        ('call "inner" here', 'call "inner" here'),
        ('"all of it"', '"all of it"'),
        ('std::map<"a", b>', 'std::map<"a", b>'),
        ('operator"" _s(char)', 'operator"" _s(char)'),
        (r"sound \" \\ \n \u0041", 'sound " \\ \n A'),
    ],
)
def test_names_by_hand(raw: str, name: str) -> None:
    assert name_of(event_named(raw)) == name


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"caf\xe9", r"caf\xe9"),
        (b"half \xe2\x82", r"half \xe2\x82"),
        (b"\xff\xfe", r"\xff\xfe"),
        (b"coded \xed\xa0\x80", r"coded \xed\xa0\x80"),
        ("sound é €".encode(), "sound é €"),
    ],
)
def test_bytes_that_are_no_utf8_are_spelled_out(raw: bytes, name: str) -> None:
    event = event_named("@").encode().replace(b"@", raw)
    assert name_of(event) == name


WORDS = st.text(st.characters(codec="utf-8", exclude_characters='"\\:,{}[]'), max_size=12)


@settings(deadline=None)
@given(before=WORDS, inside=WORDS.filter(str.strip), after=WORDS.filter(str.strip))
def test_quoted_words_in_a_name_stay_in_it(before: str, inside: str, after: str) -> None:
    raw = f'{before}"{inside}"{after}'
    assert name_of(event_named(raw)) == raw


@settings(deadline=None)
@given(parts=st.lists(st.sampled_from(["C:", "new", "x1", "user", "b", "ü", "temp"]), min_size=2))
def test_windows_paths_keep_their_backslashes(parts: list[str]) -> None:
    path = "\\".join([*parts, "qq"])  # \q begins no escape, so none of them is meant
    assert name_of(event_named(path)) == path


SOUND = '{"a": 1, "b": [1, {"c": "x"}], "d": {"e": null}, "f": "y"}'


@pytest.mark.parametrize("place", [i for i, char in enumerate(SOUND) if char == ","])
def test_a_missing_comma_is_put_in(place: int) -> None:
    assert json.loads(repaired((SOUND[:place] + SOUND[place + 1 :]).encode())) == json.loads(SOUND)


@pytest.mark.parametrize("place", [i for i, char in enumerate(SOUND) if char in ",]}"])
@pytest.mark.parametrize("more", [",", ",,", " , "])
def test_a_comma_too_many_is_dropped(place: int, more: str) -> None:
    assert json.loads(repaired((SOUND[:place] + more + SOUND[place:]).encode())) == json.loads(
        SOUND
    )


@pytest.mark.parametrize(
    "number",
    ["NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "-nan(ind)", "nan(0x1)", "-1.#IND"],
)
def test_numbers_that_json_lacks_become_null(number: str) -> None:
    event = f'{{"ts": {number}, "name": "{number}", "l": [{number}, 1]}}'
    assert json.loads(repaired(event.encode())) == {"ts": None, "name": number, "l": [None, 1]}


@pytest.mark.parametrize(
    "event", ['{"a": 1', '{"a": [1}', '{"a" "b"}', '{"a": "b}', "{", "", '{"a": 1}}', "{a: 1}"]
)
def test_missing_structure_is_not_made_up(event: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json.loads(repaired(event.encode()))


@pytest.mark.parametrize(
    "name", ['call "inner", "dur": 1 here', 'a "b", "c", "d" e', 'f("x": 1, "y": 2)']
)
def test_a_name_may_hold_what_looks_like_members(name: str) -> None:
    event = mended(f'{{"ph": "X", "name": "{name}", "pid": 7, "ts": 1.5}}'.encode())
    assert event is not None
    assert json.loads(event) == {"ph": "X", "name": name, "pid": 7, "ts": 1.5}


@pytest.mark.parametrize(
    "event",
    [
        '{"ph": "X", "name": "a", "dur": 9, "b": "c", "dur": 1.5}',  # which of the two?
        '{"ph": "X", "name": "a, "ts": 1.5}',
        '{"ph": "X", "name": a", "ts": 1.5}',
        '{"ph": "X", "cat": "kernel", "name": a", "ts": 1.5}',
        '{"ph": "X", "name": "a", "pid" 1, "ts": 1.5}',
        '{"ph": "X", "name": "a", "ts": }',
        '{"ph": "X", "name": "a"',
        "[1, 2]",
        "17",
        "",
        "}{",
    ],
)
def test_what_would_need_a_guess_is_left_alone(event: str) -> None:
    assert mended(event.encode()) is None


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_what_is_nested_beyond_every_decoder_is_not_mended(opening: bytes) -> None:
    damaged = b'{"ph": "X" "args": ' + opening * 2_000_000  # of many megabytes: it takes no time
    assert mended(damaged) is None
    assert repaired(damaged) == damaged
