"""Launches of kernels as columns: the input and the result of an alignment."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Flags = NDArray[np.bool_]

#: "Unknown" in shapes, "none" in places of launches.
NONE = -1
#: Grid and block of a launch: x, y and z of each.
Shape = tuple[int, int, int, int, int, int]
_UNKNOWN: Shape = (NONE, NONE, NONE, NONE, NONE, NONE)


class Kind(enum.IntEnum):
    """The evidence for a match; a lower one is stronger."""

    SEQUENCE = 1
    SHAPE = 2
    NAME = 3


class Lack(enum.IntEnum):
    """The property of a launch that was not counted, so that it has no match."""

    FUNCTION = 0
    ARGUMENTS = 1
    SHAPE = 2
    VERSION = 3


@dataclass(frozen=True, slots=True)
class Launches:
    """Launches of one run, in launch order.

    ``names`` holds each name once, in any profiler's spelling; ``name_codes`` has the place of each
    launch's name. ``shapes`` has one row per launch: grid x, y, z and block x, y, z, all six `NONE`
    if the file has no shape. ``track_codes`` identify processes and devices, each with its own
    sequence; None: there is one. Without ``is_ordered``, the order is unknown. Raises ValueError if
    the columns differ in length.
    """

    names: Sequence[str]
    name_codes: Ints
    shapes: Ints
    track_codes: Ints | None = None
    is_ordered: bool = True

    def __post_init__(self) -> None:
        tracks = self.name_codes if self.track_codes is None else self.track_codes
        if self.shapes.shape != (len(self), 6) or len(tracks) != len(self):
            raise ValueError(f"{len(self)} names, shapes {self.shapes.shape}, {len(tracks)} tracks")

    def __len__(self) -> int:
        return len(self.name_codes)

    @property
    def has_shape(self) -> Flags:
        """Whether the grid and the block of each launch are known."""
        return np.asarray((self.shapes >= 0).all(axis=1))

    @classmethod
    def of(
        cls, rows: Iterable[tuple[str, Shape | None]], tracks: Sequence[int] | None = None
    ) -> Launches:
        """Launches from names and shapes, one after another."""
        codes: dict[str, int] = {}
        pairs = [(codes.setdefault(name, len(codes)), shape) for name, shape in rows]
        shapes = np.array([shape or _UNKNOWN for _, shape in pairs], np.int64).reshape(-1, 6)
        return cls(
            tuple(codes),
            np.array([code for code, _ in pairs], np.int64),
            shapes,
            None if tracks is None else np.array(tracks, np.int64),
        )


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where the two sequences differ before they agree again.

    There, ``timeline_count`` launches of the timeline from ``timeline_start`` and ``counter_count``
    launches of the counters from ``counter_start`` have no match by sequence.
    """

    timeline_start: int
    timeline_count: int
    counter_start: int
    counter_count: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """The counter launch of each launch of a timeline.

    For each launch of the timeline: ``counters`` is the place of its counter launch, ``kinds`` the
    `Kind` of the match (both `NONE`: it has none), ``fits`` the number of counter launches with the
    same function and shape (for a match by name, the same function and no other shape): unless the
    kind is SEQUENCE, any of them could be the match, and their mean and spread say more than one.
    For each counter launch: ``serves`` is the number of launches of the timeline that have it,
    ``groups`` one number for all of the same function and shape, ``functions`` one for all of the
    same function, and ``has_shape`` whether its shape is known. ``partings`` are the first places
    where the sequences differ. ``lacks`` has the `Lack` of each launch of the timeline without a
    match (undefined with a match). ``has_other_inputs``: in places, both sides have the same
    function in another shape or for another type, like programs with other inputs.
    """

    counters: Ints
    kinds: Ints
    fits: Ints
    serves: Ints
    groups: Ints
    functions: Ints
    has_shape: Flags
    lacks: Ints
    partings: tuple[Parting, ...] = ()
    has_other_inputs: bool = False
