"""One damaged event, made readable where that needs no guess about its numbers.

Mended: invalid UTF-8, raw control characters, lone surrogates, invalid escapes (unescaped Windows
paths), unescaped quotes in a text, missing, doubled and trailing commas, NaN and Infinity (which
JSON does not have; they become null).
"""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'\s+|[{}\[\]:,]|"|[^\s{}\[\]:,"]+')
# A quote ends a text only where JSON goes on after it.
_AFTER_TEXT = re.compile(r'\s*(?::|,\s*["{\[\d\-]|,\s*(?:true|false|null)\b|,\s*[,}\]]|[}\]]|$)')
_MISSING_COMMA_AFTER_TEXT = re.compile(r'\s+"[^"\n]{1,80}"\s*:')
_VALID_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_SURROGATE_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE = re.compile(r"\\(u[dD][89a-fA-F][0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x1f]")
_NOT_A_NUMBER = {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"}


def is_unambiguous(event: bytes) -> bool:
    """Whether no key of the event or its arguments stands twice.

    Twice would mean that a text was taken for members, and its numbers for those of the event.
    """
    try:
        json.loads(event, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return False
    return True


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def repaired(event: bytes) -> bytes:
    """`event` with its texts and commas mended; it may still be no JSON."""
    text = event.decode("utf-8", "backslashreplace")
    tokens: list[str] = []
    position = 0
    while position < len(text):
        if text[position] == '"':
            end = _end_of_text(text, position + 1)
            tokens.append(f'"{_mended_text(text[position + 1 : end])}"')
            position = end + 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:  # pragma: no cover - the pattern matches any character
            break
        token = match.group()
        if not token.isspace():
            tokens.append("null" if token in _NOT_A_NUMBER else token)
        position = match.end()
    return "".join(_with_commas(tokens)).encode("utf-8", "backslashreplace")


def _end_of_text(text: str, start: int) -> int:
    """Where the quote stands that ends the text begun before `start`."""
    position = start
    while (position := text.find('"', position)) >= 0:
        is_escaped = _backslashes_before(text, position, start) % 2 == 1
        if not is_escaped and (
            _AFTER_TEXT.match(text, position + 1)
            or _MISSING_COMMA_AFTER_TEXT.match(text, position + 1)
        ):
            return position
        position += 1
    return len(text)


def _backslashes_before(text: str, position: int, start: int) -> int:
    count = 0
    while position - count > start and text[position - count - 1] == "\\":
        count += 1
    return count


def _mended_text(body: str) -> str:
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


def _with_commas(tokens: list[str]) -> list[str]:
    """The tokens with a comma between two members and nowhere else."""
    out: list[str] = []
    for token in tokens:
        before = out[-1] if out else ""
        if token == ",":
            if before in ("", ",", "{", "[", ":"):
                continue
        elif token in ("}", "]"):
            if before == ",":
                out.pop()
        elif token != ":" and before not in ("", ",", "{", "[", ":"):
            out.append(",")
        out.append(token)
    return out
