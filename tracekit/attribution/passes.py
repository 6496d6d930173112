"""Passes: the intervals in which a process calls the work of one phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.attribution.columns import NONE, Codes, Flags, Ints, at, ends, places_where
from tracekit.attribution.host import Host
from tracekit.attribution.lookup import latest_before
from tracekit.attribution.steps import Steps
from tracekit.attribution.tracks import Tracks

#: The last, data loading, is not a pass: it overlaps the others.
PHASES = (None, "forward", "backward", "optimizer", "data")
_DATA = PHASES.index("data")


@dataclass(frozen=True, slots=True)
class Passes:
    """Passes in order of process and start; ``phase`` is a place in PHASES.

    A pass lasts from the start of its first slice to the end of its last, until a slice of another
    phase or step begins. ``number`` counts them in their process, from 1.
    """

    process: Ints
    start_ns: Ints
    end_ns: Ints
    phase: Codes
    number: Ints
    tracks: Ints

    def at(self, process: Ints, moments: Ints) -> Ints:
        """The latest pass that had begun at each moment, as its place; -1 before the first."""
        return latest_before(self.process, self.start_ns, process, moments, inclusive=True)

    def phase_at(self, found: Ints, moments: Ints, tracks: Codes) -> Codes:
        """The phase of the pass `found` if it is active at the moment; 0 on other tracks."""
        phase = np.append(self.phase, 0)[found]
        goes_on = moments < np.append(self.end_ns, NONE)[found]
        return np.where(goes_on & np.isin(tracks, self.tracks), phase, 0).astype(np.int32)

    def numbers(self, found: Ints) -> Ints:
        """The number of passes of the process that had begun; NONE if the process has none."""
        return np.append(self.number, 0 if len(self.number) else NONE)[found]

    def next_phase(self, found: Ints, process: Ints) -> Codes:
        """The phase of the pass after `found`, or of the first of the process; 0 for none."""
        following = np.where(found >= 0, found + 1, np.searchsorted(self.process, process))
        following = np.minimum(following, len(self.phase))
        is_same = np.append(self.process, NONE)[following] == process
        return np.where(is_same, np.append(self.phase, 0)[following], 0).astype(np.int32)


def passes(host: Host, phase_of: Codes, steps: Steps, tracks: Tracks) -> Passes:
    """The passes of every process.

    `phase_of` is the phase of each context, `steps` are those of the hosts.
    """
    places = places_where(len(host.slices), lambda part: _are_outermost(host, phase_of, part))
    found = host.slices
    process = tracks.process_codes(found.track[places])
    order = np.lexsort((found.start_ns[places], process))
    places, owner = places[order], process[order].astype(np.int64)
    kind = phase_of[host.context[places]].astype(np.int32)
    step = steps.at(owner, found.start_ns[places])
    begins = np.arange(len(places)) == 0
    for column in (owner, kind, step):
        begins[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(begins)
    till = ends(found.start_ns[places], found.dur_ns[places])
    till = np.maximum.reduceat(till, first) if len(first) else till
    count = np.arange(len(first))
    return Passes(
        owner[first],
        found.start_ns[places[first]],
        till,
        kind[first],
        count - np.searchsorted(owner[first], owner[first]) + 1,
        np.unique(found.track[places]).astype(np.int64),
    )


def _are_outermost(host: Host, phase_of: Codes, part: slice) -> Flags:
    """Which slices are in a phase that is a pass, and that the slice around is not in."""
    phase = phase_of[host.context[part]]
    around = phase_of[at(host.context, host.parent[part])]
    return np.asarray((phase > 0) & (phase != _DATA) & (around != phase))


def phases(host: Host) -> Codes:
    """The phase of each context, as a place in PHASES; 0 for none, and at the end, for -1."""
    return np.array([*(PHASES.index(n.phase) for n in host.tree.nodes), 0], np.int8)
