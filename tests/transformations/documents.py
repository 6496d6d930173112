"""Trace files as documents that tests change: every number stays as exact as it was written."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

Event = dict[str, Any]
Document = dict[str, Any]

_decoder = msgspec.json.Decoder(float_hook=Decimal)
_encoder = msgspec.json.Encoder(decimal_format="number")


def read_bytes(path: Path) -> bytes:
    """Return what a file contains, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def read_document(path: Path) -> Document:
    """Return a trace; one that is only a list of events as one that names them."""
    document = _decoder.decode(read_bytes(path))
    return {"traceEvents": document} if isinstance(document, list) else document


def write_document(document: Document, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_encoder.encode(document))
    return path


def plain_name(path: Path) -> str:
    """Return the name of a file without that of its compression."""
    return path.name.removesuffix(".gz")


def with_events(document: Document, change: Callable[[list[Event]], list[Event]]) -> Document:
    return document | {"traceEvents": change(document["traceEvents"])}


def each_event(document: Document, change: Callable[[Event], Event]) -> Document:
    return with_events(document, lambda events: [change(event) for event in events])


def is_device_work(event: Event) -> bool:
    return event.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}


def is_timed(event: Event) -> bool:
    return isinstance(event.get("ts"), int | Decimal) and event.get("ph") != "M"
