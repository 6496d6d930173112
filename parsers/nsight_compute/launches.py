"""Launches as rows of a page describe them: one by one, or many as columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from tracekit.parsers.nsight_compute.columns import Ints
from tracekit.schema import INT, TEXT


@dataclass(slots=True)
class Launch:
    """One result of a report: a kernel launch, or a range or graph of several."""

    event_id: int
    name: str | None
    launch_index: int | None = None
    launch_count: int = 1  # for a summary: launches averaged in the values
    process_id: int | None = None
    context_id: int | None = None
    stream_id: int | None = None
    device_id: int | None = None
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    compute_capability: str | None = None
    args_json: str | None = None

    @property
    def key(self) -> int | None:
        """A key that is the same for this launch in every export of its report."""
        if self.process_id is None or self.launch_index is None or self.name is None:
            return None
        text = f"{self.process_id}\0{self.launch_index}\0{self.name}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> 1


@dataclass(frozen=True, slots=True)
class PageLaunches:
    """Launches by column of `kernel`, and the compute capability of each one's device."""

    columns: dict[str, pa.Array]
    capabilities: pa.Array

    def __len__(self) -> int:
        """Return how many."""
        return len(self.capabilities)

    @property
    def event_ids(self) -> Ints:
        """The place of each."""
        return np.asarray(self.columns["event_id"], np.int64)

    @property
    def counts(self) -> Ints:
        """How many launches each row stands for."""
        return np.asarray(self.columns["launch_count"], np.int64)

    @classmethod
    def joined(cls, parts: Sequence[PageLaunches]) -> PageLaunches:
        """Return the launches of several parts of a page."""
        columns = {
            name: pa.concat_arrays([part.columns[name] for part in parts])
            for name in parts[0].columns
        }
        return cls(columns, pa.concat_arrays([part.capabilities for part in parts]))

    @classmethod
    def of(cls, launches: Sequence[Launch]) -> PageLaunches:
        """Return launches that were read one by one."""
        columns = {
            name: pa.array([getattr(launch, name) for launch in launches], INT)
            for name in ("event_id", "launch_count", "launch_index", "process_id", "context_id")
        }
        for name in ("stream_id", "device_id"):
            columns[name] = pa.array([getattr(launch, name) for launch in launches], INT)
        for name in ("name", "args_json"):
            columns[name] = pa.array([getattr(launch, name) for launch in launches], TEXT)
        columns["launch_key"] = pa.array([launch.key for launch in launches], INT)
        for what in ("grid", "block"):
            found = [getattr(launch, what) for launch in launches]
            for at, axis in enumerate("xyz"):
                columns[f"{what}_{axis}"] = pa.array([size and size[at] for size in found], INT)
        return cls(columns, pa.array([launch.compute_capability for launch in launches], TEXT))


@lru_cache(maxsize=256)
def args_json(names: tuple[str, ...], texts: tuple[str, ...]) -> str | None:
    """Return the nonempty arguments of a launch as JSON."""
    known = {name: text for name, text in zip(names, texts, strict=True) if text}
    return json.dumps(known, ensure_ascii=False) if known else None


@lru_cache(maxsize=4096)
def number(text: str) -> int | None:
    """Return an integer of at most 18 digits; None for anything else, such as n/a."""
    plain = text.strip().removesuffix(".0")  # which pandas adds
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 18 else None


@lru_cache(maxsize=4096)
def sizes(text: str) -> tuple[int, ...] | None:
    """Return ``(256, 1, 1)`` as numbers; None if invalid, or the launch failed (all zero)."""
    numbers = [number(part) for part in text.strip().strip("()").split(",")]
    if len(numbers) != 3 or None in numbers or not all(numbers):
        return None
    return tuple(size for size in numbers if size is not None)


def capability_of(text: str) -> str | None:
    """Return a compute capability; in some locales it has a decimal comma."""
    return text.replace(",", ".") or None
