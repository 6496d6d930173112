"""Detects steps without marks: the sequence of the kernels of a device repeats.

**Anchors.** A kernel that runs once per step recurs evenly; from one run to the next is the work of
one step, wherever in the step the kernel is. The anchor is the kernel that recurs least often, but
at least 3 times and evenly over half of the sequence: one of the loss, the optimizer or the input.
The kernels of a layer recur more often, and unevenly if a step has anything but layers. Launches of
a kernel in quick succession count as one run of it.

**Parts.** Anchors divide the sequence into parts. Parts are alike if they have 90 % of their
launches in common, in any order, because streams interleave differently in each step; or if they
are equally long and half of the places have the same kernel, like steps with different shapes, for
which libraries choose different kernels. At least 3 parts that are alike must have 40 % of the
launches and of the device time, and few shorter parts between them.

**Several steps in one.** Something can recur in every second step: a shape, a kernel that logs. A
part is divided if another kernel divides it into parts that are alike and equally long.

**Layers of one step** repeat too. If the recording begins or ends with kernels that no repeat has,
such as an embedding or a head, the repeats may be less than a step, and no steps are detected.

**A step begins** at the start of the recording, if the work before the first anchor and after the
last one together is a step; else after the wait that is the longest in most of the steps, if it is
1 % of them; else as if the recording ended with a step.

Work that happens evenly, three times or more, every few steps (an evaluation) cannot be
distinguished from a part of a step; the detected steps are then too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracekit.attribution.columns import Flags, Ints, ends

#: Minimum number of parts that are alike.
LEAST_PARTS = 3
#: Minimum share of launches, and of device time, in these.
LEAST_COVERAGE = 0.4
#: Minimum kinds of kernels in a step.
LEAST_KINDS = 3
#: Parts with this share of launches in common are alike.
ALIKE = 0.9
#: Parts of one length are alike with this share of places in common.
ALIKE_IN_PLACE = 0.5
#: The first and the last step are complete with this share of the launches of a step.
WHOLE = 0.95
#: A step between two others has at least this share of them, and possibly others.
CONTAINED = 0.8

_EVEN = 0.2  # distances between anchors are this close to their median …
_EVEN_SHARE = 0.5  # … over this share of the sequence
_FRAGMENTS = 0.1  # maximum share of parts shorter than a step between those that are alike
_FEW, _NEAR = 0.01, 0.05
_MOST_TRIALS = 64
_VOTERS = 256


@dataclass(frozen=True, slots=True)
class Repeats:
    """The steps of a device: work from ``first[i]`` up to, but without, ``end[i]``.

    Both are places in the given sequence; ``is_alike`` says which steps have the kernels of most
    steps. Without steps, ``reason`` says why.
    """

    first: Ints
    end: Ints
    is_alike: Flags
    reason: str | None = None


def find_steps(kinds: Ints, start_ns: Ints, dur_ns: Ints) -> Repeats:
    """The steps in the work of one device, or the reason for none.

    `kinds` has a number per name for each kernel (copies and sets can be among them), without the
    grid, which changes with the shape of the data. `start_ns`, in increasing order, and `dur_ns`
    are its start and duration. Steps do not overlap; work before, after and between them belongs to
    none. A step lasts until the start of the next one: an evaluation between two is in one of them,
    which is then not ``is_alike``. Steps that the recording truncates are omitted. Time: n log n in
    the number of kernels.
    """
    work = _Work(kinds, start_ns, dur_ns)
    parts = _repeating(work)
    if parts is None:
        return _none(
            f"no kernel recurs evenly with {LEAST_PARTS} parts between that are alike and hold "
            f"{LEAST_COVERAGE:.0%} of the launches and of the device time"
        )
    if parts.is_of_layers():
        return _none(
            "what repeats may be layers of one step: the recording begins or ends with kernels "
            "that no repeat has"
        )
    return _steps(work, _starts(parts))


def _none(reason: str) -> Repeats:
    nothing = np.zeros(0, np.int64)
    return Repeats(nothing, nothing, np.zeros(0, np.bool_), reason)


class _Work:
    """The sequence, with the places of each kind of kernel."""

    def __init__(self, kinds: Ints, start_ns: Ints, dur_ns: Ints) -> None:
        _, dense = np.unique(kinds, return_inverse=True)
        self.kinds: Ints = dense.astype(np.int64)
        self.start_ns = start_ns
        self.dur_ns = dur_ns
        self.size = len(dense)
        self.counts: Ints = np.bincount(self.kinds).astype(np.int64)
        self.places: Ints = np.argsort(self.kinds, kind="stable")
        self.offsets: Ints = np.concatenate(([0], np.cumsum(self.counts)))

    def places_of(self, kind: int) -> Ints:
        """The places of a kind of kernel in the sequence."""
        return self.places[self.offsets[kind] : self.offsets[kind + 1]]

    @cached_property
    def marks(self) -> NDArray[np.uint64]:
        """Running sum of a random number per kind: a difference identifies the kernels between."""
        random = np.random.default_rng(0).integers(2**64, size=len(self.counts), dtype=np.uint64)
        return np.concatenate((np.zeros(1, np.uint64), np.cumsum(random[self.kinds])))

    @cached_property
    def idle_ns(self) -> Ints:
        """Idle time before each kernel; 0 before the first."""
        reach = np.maximum.accumulate(ends(self.start_ns, self.dur_ns))
        idle = np.zeros(self.size, np.int64)
        idle[1:] = np.maximum(self.start_ns[1:] - reach[:-1], 0)
        return idle

    def common(self, edges: Ints, counts: Ints) -> Ints:
        """Launches of each part between `edges` that `counts` also has."""
        part = np.searchsorted(edges, self.places, side="right")
        kind = self.kinds[self.places]
        is_first = np.ones(self.size, np.bool_)
        is_first[1:] = (part[1:] != part[:-1]) | (kind[1:] != kind[:-1])
        place = np.arange(self.size)
        number = place - np.maximum.accumulate(np.where(is_first, place, 0))
        is_common = number < counts[kind]
        return np.bincount(part[is_common], minlength=len(edges) + 1)[1:-1].astype(np.int64)

    def counts_in(self, first: int, end: int) -> Ints:
        """Launches of each kind in a range."""
        counts = np.bincount(self.kinds[first:end], minlength=len(self.counts))
        return counts.astype(np.int64)


class _Parts:
    """The sequence, divided at `edges`; before the first and after the last is the rest."""

    def __init__(self, work: _Work, edges: Ints) -> None:
        self.work = work
        self.edges = edges
        self.lengths: Ints = np.diff(edges)
        self.most = self._commonest()
        first, end = int(edges[self.most]), int(edges[self.most + 1])
        self.first, self.length = first, end - first
        self.typical = work.counts_in(first, end)
        self.common = work.common(edges, self.typical)
        self.is_alike: Flags = self.common >= ALIKE * np.maximum(self.lengths, self.length)
        self.is_alike |= self._is_alike_in_place()

    def _commonest(self) -> int:
        """The first of the parts with equal kernels; else one of the median length."""
        _, which, often = np.unique(
            np.diff(self.work.marks[self.edges]), return_index=True, return_counts=True
        )
        if often.max() > 1:
            return int(which[np.argmax(often)])
        return int(np.argsort(self.lengths, kind="stable")[len(self.lengths) // 2])

    def _is_alike_in_place(self) -> Flags:
        is_alike = np.zeros(len(self.lengths), np.bool_)
        equal = np.flatnonzero(self.lengths == self.length)
        kinds = self.work.kinds[self.edges[equal][:, None] + np.arange(self.length)]
        is_same = kinds == self.work.kinds[self.first : self.first + self.length]
        is_alike[equal] = is_same.mean(axis=1) >= ALIKE_IN_PLACE
        return is_alike

    @property
    def is_whole(self) -> Flags:
        """Which parts have the kernels of a step, and possibly more."""
        return self.is_alike | (self.common >= CONTAINED * self.length)

    def repeat(self) -> bool:
        """Whether the parts repeat: they are steps or layers."""
        if np.count_nonzero(self.typical) < LEAST_KINDS or not self.is_alike.any():
            return False
        alike = np.flatnonzero(self.is_alike)
        fragments = int((~self.is_whole[alike[0] : alike[-1]]).sum())
        is_enough = len(alike) + self.is_rest_whole >= LEAST_PARTS
        few = _FRAGMENTS * len(alike)
        return is_enough and fragments <= few and self._coverage() >= LEAST_COVERAGE

    def _coverage(self) -> float:
        """The share of launches, or of device time if less, in parts that are alike."""
        covered = np.zeros(self.work.size, np.bool_)
        covered[self.edges[0] : self.edges[-1]] = np.repeat(self.is_alike, self.lengths)
        if self.is_rest_whole:
            covered[: self.edges[0]] = covered[self.edges[-1] :] = True
        spent = self.work.dur_ns.astype(np.float64)
        shares = [covered.mean()]
        if spent.sum() > 0:
            shares.append(spent[covered].sum() / spent.sum())
        return float(min(shares))

    @cached_property
    def rest(self) -> Ints:
        """Launches of each kind before the first and after the last part."""
        lead = self.work.counts_in(0, int(self.edges[0]))
        return lead + self.work.counts_in(int(self.edges[-1]), self.work.size)

    @cached_property
    def is_rest_whole(self) -> bool:
        """Whether the rest is a step."""
        common = int(np.minimum(self.rest, self.typical).sum())
        return common >= WHOLE * max(self.length, int(self.rest.sum()))

    def is_rest_more(self) -> bool:
        """Whether the rest is a step and mostly kernels that no repeat has: warm-up."""
        common = int(np.minimum(self.rest, self.typical).sum())
        strange = int(self.rest[~self.is_known].sum())
        return common >= WHOLE * self.length and 2 * strange >= int(self.rest.sum()) - common

    @cached_property
    def is_known(self) -> Flags:
        """Which kinds of kernel run in parts that are alike."""
        inside = np.zeros(self.work.size, np.bool_)
        inside[self.edges[0] : self.edges[-1]] = np.repeat(self.is_alike, self.lengths)
        known = np.zeros(len(self.typical), np.bool_)
        known[self.work.kinds[inside]] = True
        return known

    def is_of_layers(self) -> bool:
        """Whether the recording begins or ends with kernels that no repeat has."""
        work, last = self.work, int(self.edges[-1])
        strange = ~self.is_known[work.kinds]
        # work farther away than all repeats last does not count
        spanned_ns = int(work.start_ns[last]) - int(work.start_ns[self.edges[0]])
        waits = np.flatnonzero(work.idle_ns > spanned_ns)
        lead = strange[max(waits[waits <= self.edges[0]], default=0) : self.edges[0]]
        tail = strange[last : min(waits[waits > last], default=work.size)]
        few = _FEW * self.length
        return any(
            len(side) > 0 and bool(side[edge]) and int(side.sum()) > few
            for side, edge in ((lead, 0), (tail, -1))
        )


def _repeating(work: _Work) -> _Parts | None:
    """The longest parts that repeat and are not several steps; None if nothing repeats."""
    for anchors in _even_anchors(work):
        parts = _Parts(work, anchors)
        if parts.repeat():
            return _divided(parts)
    return None


def _even_anchors(work: _Work) -> Iterator[Ints]:
    """The places of kinds that recur evenly over enough of the sequence, the rarest first."""
    is_first = _first_of_runs(work)
    places = work.places[is_first]
    kinds = work.kinds[places]
    counts = np.bincount(kinds, minlength=len(work.counts))
    kind, gaps = _gaps(kinds, places)
    middle = _middle_gap(kind, gaps, len(counts))
    is_even = np.abs(gaps - middle[kind]) <= _EVEN * middle[kind]
    covered = np.bincount(kind[is_even], gaps[is_even], minlength=len(counts))
    found = np.flatnonzero((counts >= LEAST_PARTS) & (covered >= _EVEN_SHARE * work.size))
    behind = np.cumsum(counts)
    for each in found[np.argsort(counts[found], kind="stable")][:_MOST_TRIALS]:
        yield places[behind[each] - counts[each] : behind[each]]


def _first_of_runs(work: _Work) -> Flags:
    """Which launches, by kind, begin a run of their kind: an optimizer, for example, has many.

    Launches within half of the middle distance belong to the same run.
    """
    kinds = work.kinds[work.places]
    middle = _middle_gap(*_gaps(kinds, work.places), len(work.counts))
    is_first = np.ones(work.size, np.bool_)
    is_first[1:] = (kinds[1:] != kinds[:-1]) | (2 * np.diff(work.places) > middle[kinds[1:]])
    return is_first


def _gaps(kinds: Ints, places: Ints) -> tuple[Ints, Ints]:
    """The distances between adjacent places of one kind, with that kind."""
    is_same = kinds[1:] == kinds[:-1]
    return kinds[1:][is_same], np.diff(places)[is_same]


def _middle_gap(kind: Ints, gaps: Ints, count: int) -> Ints:
    """For each kind, the distance such that shorter ones make up half of the way; 0 for none."""
    order = np.lexsort((gaps, kind))
    kind, gaps = kind[order], gaps[order]
    ways = np.bincount(kind, gaps, minlength=count)
    walked = np.cumsum(gaps) - (np.cumsum(ways) - ways)[kind]
    is_behind = 2 * walked >= ways[kind]
    known, first = np.unique(kind[is_behind], return_index=True)
    middle = np.zeros(count, np.int64)
    middle[known] = gaps[is_behind][first]
    return middle


def _divided(parts: _Parts) -> _Parts:
    """The same in shorter parts, if the typical one consists of several steps."""
    work = parts.work
    unit = work.kinds[parts.first : parts.first + parts.length]
    for kind in np.argsort(-parts.typical, kind="stable")[:_MOST_TRIALS]:
        if parts.typical[kind] > 1 and _is_divided(unit, np.flatnonzero(unit == kind)):
            shorter = _Parts(work, work.places_of(int(kind)))
            if shorter.repeat():
                return shorter
    return parts


def _is_divided(unit: Ints, places: Ints) -> bool:
    """Whether `places` divide a cyclic unit into equal steps."""
    lengths = np.diff(np.append(places, places[0] + len(unit)))
    length = int(lengths[0])
    if (np.abs(lengths - length) > max(1.0, _NEAR * length)).any():
        return False
    nothing = np.zeros(len(unit), np.int64)
    turned = _Work(np.roll(unit, -places[0]), nothing, nothing)
    parts = _Parts(turned, np.append(places - places[0], len(unit)))
    is_equal = np.abs(lengths - parts.length) <= max(1.0, _FEW * parts.length)
    # a step with additional kernels lacks others; a layer with a head only has more
    is_other = (parts.common < lengths) & (parts.common < parts.length)
    return bool((parts.is_alike & (is_equal | is_other)).all())


# -- where steps begin ----------------------------------------------------------------------------


def _starts(parts: _Parts) -> Ints:
    """The starts of steps; the work before the first can also be a step."""
    waits = None if parts.is_rest_whole or parts.is_rest_more() else _longest_wait(parts)
    return _as_at_the_end(parts) if waits is None else _in_each_part(parts, *waits)


def _as_at_the_end(parts: _Parts) -> Ints:
    """Steps end with the last kernels of the recording."""
    work, last = parts.work, int(parts.edges[-1])
    once = 1 + np.flatnonzero(parts.typical[work.kinds[last + 1 :]] == 1)
    if not len(once):
        return parts.edges + (work.size - last)
    landmark = last + int(once[-1])
    return _in_each_part(parts, int(work.kinds[landmark]), 1) + (work.size - landmark)


def _longest_wait(parts: _Parts) -> tuple[int, int] | None:
    """The kernel, and its number among its kind, before which most steps wait the longest, or None.

    Steps count from after one anchor to the next.
    """
    work = parts.work
    votes: dict[tuple[int, int], int] = {}
    voters = np.flatnonzero(parts.is_alike)[:_VOTERS]
    for part in voters:
        first, end = int(parts.edges[part]), int(parts.edges[part + 1])
        place = first + 1 + int(np.argmax(work.idle_ns[first + 1 : end + 1]))
        kind = int(work.kinds[place])
        number = int((work.kinds[first + 1 : place + 1] == kind).sum())
        if work.idle_ns[place] > _FEW * (int(work.start_ns[end]) - int(work.start_ns[first])):
            votes[kind, number] = votes.get((kind, number), 0) + 1
    agreed = max(votes, key=votes.__getitem__, default=None)
    return agreed if agreed is not None and 2 * votes[agreed] > len(voters) else None


def _in_each_part(parts: _Parts, kind: int, number: int) -> Ints:
    """The place in each part of the kernel that is `number` of its kind after the anchor."""
    places = parts.work.places_of(kind)
    before = np.searchsorted(places, parts.edges, side="right")
    wanted = before + number - 1
    found = places[wanted[wanted < np.append(before[1:], len(places))]]
    lead = int(before[0] - parts.typical[kind]) + number - 1  # the same, from its end
    return np.insert(found, 0, places[lead]) if 0 <= lead < before[0] else found


def _steps(work: _Work, starts: Ints) -> Repeats:
    """The steps: parts with the kernels of most; the first and the last if they are complete."""
    edges = np.unique(np.concatenate(([0], starts[starts < work.size], [work.size])))
    parts = _Parts(work, edges)
    is_step = parts.is_whole
    is_cut = ~parts.is_alike & (parts.common < WHOLE * parts.length)
    is_step[[0, -1]] &= ~(is_cut | (parts.lengths < WHOLE * parts.length))[[0, -1]]
    return Repeats(edges[:-1][is_step], edges[1:][is_step], parts.is_alike[is_step])
