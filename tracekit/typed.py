"""Values and JSON as the types that they must have, in any thread.

Two threads that are the first to use a type crash in msgspec 0.22: it builds what it keeps of a
type without a lock. Here one thread builds it.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar

import msgspec

__all__ = ["convert", "decode_json", "json_decoder"]

_Type = TypeVar("_Type")
_lock = Lock()
_built = set[Any]()


def convert(value: object, kind: type[_Type]) -> _Type:
    """Return a value as this type; raise msgspec.ValidationError if it is another."""
    _build(kind)
    return msgspec.convert(value, kind)


def decode_json(text: bytes | str, kind: type[_Type]) -> _Type:
    """Return JSON as this type; raise msgspec.MsgspecError if it is no JSON or another type."""
    _build(kind)
    return msgspec.json.decode(text, type=kind)


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder of JSON to this type, whose structs other threads may need, too."""
    with _lock:
        return msgspec.json.Decoder(kind)


def _build(kind: type[_Type]) -> None:
    """Let msgspec build what it keeps of a type and of the types in it."""
    if kind not in _built:
        json_decoder(kind)
        _built.add(kind)
