"""One damaged event, made readable if that needs no guess about its numbers.

Repaired: invalid UTF-8, raw control characters, lone surrogates, invalid escapes (unescaped Windows
paths), unescaped quotes in a text, missing, doubled and trailing commas, NaN and Infinity (which
JSON does not have; they become null).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_TOKEN = re.compile(r'\s+|[{}\[\]:,]|"|[^\s{}\[\]:,"]+')
# A quote ends a text only where JSON goes on after it.
_AFTER_TEXT = re.compile(r'\s*(?::|,\s*["{\[\d\-]|,\s*(?:true|false|null)\b|,\s*[,}\]]|[}\]]|$)')
_MISSING_COMMA_AFTER_TEXT = re.compile(r'\s+"[^"\n]{1,80}"\s*:')
_VALID_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_SURROGATE_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE = re.compile(r"\\(u[dD][89a-fA-F][0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x1f]")
_MAY_NEED_MENDING = re.compile(r'[\x00-\x1f"\\]')
_MOST_TRIED_BYTES = 64 << 10
_MOST_TRIED_TEXTS = 3
_MOST_SKIPPED_ENDS = 4
# No decoder goes so deep, and no event.
_MOST_NESTED = 1000
# Keys whose texts are words, so that none of them holds a quote.
_WORDS = {'"ph"', '"cat"', '"id"', '"s"', '"bp"'}
# As JavaScript, C and Windows (1.#IND; -nan(ind)) write them.
_NOT_A_NUMBER = re.compile(r"[+-]?(?:nan(?:\(\w*\))?|inf(?:inity)?|1\.#\w+)", re.IGNORECASE)


def mended(text: bytes) -> bytes | None:
    """A damaged JSON object made readable; None if that needs a guess.

    A text with quotes in it may seem to end too early, at one that JSON could go on after. What
    follows is not JSON then, and the next such quote is tried.
    """
    try:
        return _mended(text)
    except RecursionError:
        return None


def _mended(text: bytes) -> bytes | None:
    tokens = _tokens(text.decode("utf-8", "backslashreplace"))
    found, place = _sound(tokens)
    if place is None or len(text) > _MOST_TRIED_BYTES:
        return found
    for start in _texts_before(tokens, place):
        for skipped in range(1, _MOST_SKIPPED_ENDS):
            tokens = _tokens(text.decode("utf-8", "backslashreplace"), {start: skipped})
            found, _ = _sound(tokens)
            if found is not None:
                return found
    return None


def repaired(event: bytes) -> bytes:
    """`event` with its texts and commas repaired; it may still be no JSON."""
    try:
        return _written(_tokens(event.decode("utf-8", "backslashreplace")))
    except RecursionError:
        return event


class _Token(NamedTuple):
    """A piece of JSON, repaired, and where it began in the damaged text."""

    text: str
    start: int


def _sound(tokens: list[_Token]) -> tuple[bytes | None, int | None]:
    """The object that the tokens are, or None; and where they cease to be JSON, if they do."""
    text = _written(tokens)
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        return None, error.pos
    except (ValueError, RecursionError):
        return None, None
    return (text if isinstance(value, dict) else None), None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of these members; refuses one whose texts and members were mistaken.

    A key that appears twice, or has a quote in it, means that a text was treated as members, or
    members for a text.
    """
    members = dict(pairs)
    if len(members) < len(pairs) or any('"' in key for key in members):
        raise ValueError
    return members


def _texts_before(tokens: list[_Token], place: int) -> list[int]:
    """Where the last few free texts begin that end before `place` of the repaired text."""
    found, length = [], 0
    whole = _with_commas(tokens)
    for number, token in enumerate(whole):
        length += len(token.text)
        if length > place:
            break
        is_value = number > 1 and whole[number - 1].text == ":"
        if token.text[:1] == '"' and is_value and whole[number - 2].text not in _WORDS:
            found.append(token.start)
    return found[-_MOST_TRIED_TEXTS:][::-1]


def _written(tokens: list[_Token]) -> bytes:
    joined = "".join(token.text for token in _with_commas(tokens))
    return joined.encode("utf-8", "backslashreplace")


def _tokens(text: str, skipped_ends: Mapping[int, int] = MappingProxyType({})) -> list[_Token]:
    """The tokens of `text`; some texts end only after this many quotes that could be their end.

    Raises RecursionError if it is nested deeper than any decoder goes.
    """
    tokens: list[_Token] = []
    position = nested = 0
    while position < len(text):
        if text[position] == '"':
            end = _end_of_text(text, position + 1, skipped_ends.get(position, 0))
            tokens.append(_Token(f'"{_mended_text(text[position + 1 : end])}"', position))
            position = end + 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:  # pragma: no cover - the pattern matches any character
            break
        token = match.group()
        if not token.isspace():
            tokens.append(_Token("null" if _NOT_A_NUMBER.fullmatch(token) else token, position))
            nested += (token in "[{") - (token in "]}")
            if nested > _MOST_NESTED:
                raise RecursionError
        position = match.end()
    return tokens


def _end_of_text(text: str, start: int, skipped: int) -> int:
    """Where the quote stands that ends the text begun before `start`."""
    position = start
    while (position := text.find('"', position)) >= 0:
        is_escaped = _backslashes_before(text, position, start) % 2 == 1
        if not is_escaped and (
            _AFTER_TEXT.match(text, position + 1)
            or _MISSING_COMMA_AFTER_TEXT.match(text, position + 1)
        ):
            if not skipped:
                return position
            skipped -= 1
        position += 1
    return len(text)


def _backslashes_before(text: str, position: int, start: int) -> int:
    count = 0
    while position - count > start and text[position - count - 1] == "\\":
        count += 1
    return count


def _mended_text(body: str) -> str:
    if _MAY_NEED_MENDING.search(body) is None:
        return body
    if _has_invalid_escape(body):  # its writer does not escape: every backslash is meant
        body = re.sub(r'\\(?!")', lambda _: "\\\\", body.replace("\\\\", "\\"))
    body = _escape_lone_surrogates(body)
    body = _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", body)
    return _escape_quotes(body)


def _has_invalid_escape(body: str) -> bool:
    return any(not _VALID_ESCAPE.fullmatch(match.group()) for match in _ESCAPE.finditer(body))


def _escape_lone_surrogates(body: str) -> str:
    parts, last = [], 0
    for pair in _SURROGATE_PAIR.finditer(body):
        parts += [_SURROGATE.sub(r"\\\\\1", body[last : pair.start()]), pair.group()]
        last = pair.end()
    return "".join([*parts, _SURROGATE.sub(r"\\\\\1", body[last:])])


def _escape_quotes(body: str) -> str:
    return re.sub(r'(\\.)|"', lambda match: match.group(1) or '\\"', body, flags=re.DOTALL)


def _with_commas(tokens: list[_Token]) -> list[_Token]:
    """The tokens with a comma between two members and nowhere else."""
    out: list[_Token] = []
    for token in tokens:
        before = out[-1].text if out else ""
        if token.text == ",":
            if before in ("", ",", "{", "[", ":"):
                continue
        elif token.text in ("}", "]"):
            if before == ",":
                out.pop()
        elif token.text != ":" and before not in ("", ",", "{", "[", ":"):
            out.append(_Token(",", token.start))
        out.append(token)
    return out
