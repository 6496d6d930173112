"""Launches of kernels as columns: what is aligned, and what comes out."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Flags = NDArray[np.bool_]

#: Stands for "not known" in shapes, and for "none" among places of launches.
NONE = -1
#: Grid and block of a launch: x, y and z of each.
Shape = tuple[int, int, int, int, int, int]
_UNKNOWN: Shape = (NONE, NONE, NONE, NONE, NONE, NONE)


class Kind(enum.IntEnum):
    """What a match rests on; the lower, the stronger."""

    SEQUENCE = 1
    SHAPE = 2
    NAME = 3


class Lack(enum.IntEnum):
    """What of a launch was not counted, so that it has no match."""

    FUNCTION = 0
    ARGUMENTS = 1
    SHAPE = 2
    VERSION = 3


@dataclass(frozen=True, slots=True)
class Launches:
    """Launches of one run, in the order in which they were launched.

    ``names`` holds each name once, in any profiler's spelling; ``name_codes`` says which one a
    launch has. ``shapes`` has a row for each: grid x, y, z and block x, y, z, all six `NONE` where
    the file has no shape. ``track_codes`` tells processes and devices apart, each of which is a
    sequence of its own; None: there is one. Without ``is_ordered`` nothing is known of the order.
    Raises ValueError where the columns differ in length.
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
    """A place where the two sequences part and go on together behind it.

    ``timeline_count`` launches of the timeline from ``timeline_start`` on have no match by
    sequence there, and ``counter_count`` launches of the counters from ``counter_start`` on none.
    """

    timeline_start: int
    timeline_count: int
    counter_start: int
    counter_count: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which counter launch each launch of a timeline has.

    For each launch of the timeline: ``counters`` is the place of its counter launch, ``kinds`` the
    `Kind` of the match (both `NONE`: it has none), ``fits`` how many counter launches have the same
    function and shape (for a match by name, the same function and no other shape): unless the kind
    is SEQUENCE, any of them could be it, and their mean and spread say more than the one. For each
    counter launch: ``serves`` says how many launches of the timeline have it, ``groups`` is one
    number for all of the same function and shape, ``functions`` one for all of the same function,
    and ``has_shape`` tells whether its shape is known. ``partings`` are the first places at which
    the sequences part. ``lacks`` has for each launch of the timeline the `Lack` for which it has no
    match (of no meaning where it has one). ``has_other_inputs``: in places both sides have the same
    function in another shape or for another type, as programs with other inputs do.
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
