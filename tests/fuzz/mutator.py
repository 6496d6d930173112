"""Damaged inputs by number: the same target, seeds and number give the same bytes everywhere."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Sequence

_NUMBER = re.compile(rb"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_NUMBERS = (
    b"0",
    b"-0",
    b"-1",
    b"1e999",
    b"-1e999",
    b"1e-99999999",
    b"9e999990",
    b"1e9999999",
    b"NaN",
    b"Infinity",
    b"-inf",
    b"null",
    b"true",
    b'""',
    b"[]",
    b"{}",
    b"0.1",
    b"1,5",
    b"1.234,5",
    b"0x1F",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"99999999999999999999",
    b"1e-400",
    b"4294967296",
    b"2147483648",
    b"1" * 400,
    b"0." + b"3" * 300,
    b"1_000",
    b"\xd9\xa1",
    b" 1 ",
    b"1e",
    b".",
    b"+",
)
_PIECES = (
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\\",
    b'"',
    b"'",
    b",",
    b";",
    b":",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"#",
    b"%",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"\\ud800",
    b"\\u0000",
    b"-",
    b"<not counted>",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"n/a",
    b"==PROF==",
    b"/*",
    b"[" * 2000,
    b'{"a":' * 2000,
    b"(" * 2000,
    b'"' * 999,
    b"a" * 70_000,
)
_MOST_BYTES = 1 << 18

Edit = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def seed_place(target: str, number: int, seeds: Sequence[bytes]) -> int:
    """Which of the seeds the `number`-th input for `target` was made of."""
    return random.Random(f"{target} {number}").choice(range(len(seeds)))


def mutated(target: str, number: int, seeds: Sequence[bytes]) -> bytes:
    """The `number`-th input for `target`: one of its seeds after one to six edits."""
    rng = random.Random(f"{target} {number}")
    content = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        content = rng.choice(_EDITS)(content, rng, seeds)[:_MOST_BYTES]
    return _packed(content, rng) if rng.random() < 0.02 else content


def _place(content: bytes, rng: random.Random) -> int:
    return rng.randrange(len(content) + 1)


def _span(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(content, rng)
    return start, min(len(content), start + rng.choice((1, 1, 2, 4, 10, 100, 1000)))


def _flip(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    changed = bytearray(content)
    for _time in range(rng.choice((1, 1, 1, 4, 20)) if content else 0):
        changed[rng.randrange(len(changed))] ^= rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))
    return bytes(changed)


def _insert(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place = _place(content, rng)
    return content[:place] + rng.choice(_PIECES) + content[place:]


def _overwrite(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place, piece = _place(content, rng), rng.choice(_PIECES)
    return content[:place] + piece + content[place + len(piece) :]


def _delete(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def _cut(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place = _place(content, rng)
    return content[:place] if rng.random() < 0.7 else content[place:]


def _copy(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    (start, end), place = _span(content, rng), _place(content, rng)
    return content[:place] + content[start:end] * rng.choice((1, 1, 2, 50)) + content[place:]


def _splice(content: bytes, rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    other = rng.choice(seeds)
    return content[: _place(content, rng)] + other[_place(other, rng) :]


def _in_place(pattern: re.Pattern[bytes], with_one_of: Sequence[bytes] | None) -> Edit:
    """Puts something else where `pattern` is found: one of those, or what else it finds."""

    def edit(content: bytes, rng: random.Random, seeds: Sequence[bytes]) -> bytes:
        found = list(pattern.finditer(content))
        if not found:
            return _flip(content, rng, seeds)
        chosen = rng.choice(found)
        new = rng.choice(with_one_of) if with_one_of else rng.choice(found)[0]
        return content[: chosen.start()] + new + content[chosen.end() :]

    return edit


def _lines(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    lines = content.split(b"\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines[here], lines[there] = lines[there], lines[here]
    elif kind == 1:
        lines.insert(there, lines[here])
    elif kind == 2:
        del lines[here]
    elif here + 1 < len(lines):
        lines[here : here + 2] = [lines[here] + lines[here + 1]]
    return b"\n".join(lines)


def _encode(content: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    text = content.decode("utf-8", "replace")
    return rng.choice(
        (
            lambda: ("\ufeff" + text).encode("utf-16-le"),
            lambda: ("\ufeff" + text).encode("utf-16-be"),
            lambda: ("\ufeff" + text).encode("utf-32-le"),
            lambda: content.replace(b"\n", b"\r\n"),
            lambda: content.replace(b'"', b""),
            lambda: content.decode("latin-1").encode(),
        )
    )()


def _packed(content: bytes, rng: random.Random) -> bytes:
    """Compressed, and mostly damaged."""
    packed = gzip.compress(content, 1, mtime=0)
    return packed if rng.random() < 0.3 else _flip(packed, rng, ())


_EDITS: tuple[Edit, ...] = (
    _flip,
    _flip,
    _insert,
    _overwrite,
    _delete,
    _cut,
    _copy,
    _splice,
    _lines,
    _lines,
    _encode,
    _in_place(_NUMBER, _NUMBERS),
    _in_place(_NUMBER, _NUMBERS),
    _in_place(_NUMBER, None),
    _in_place(_STRING, None),
    _in_place(_STRING, _NUMBERS),
)
