"""The step of a moment on a host or a device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracekit.attribution.columns import NONE, Ints, Texts, batches, numbers
from tracekit.attribution.nesting import holders
from tracekit.attribution.slices import PLACE, Tracks
from tracekit.attribution.work import DeviceWork

_NUMBERS = ("step_index", "start_ns", "dur_ns", "device_id")


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of one kind; ``on`` is the process, device or stream that each applies to."""

    index: Ints
    start_ns: Ints
    dur_ns: Ints
    on: Ints

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.index)

    def at(self, on: NDArray[np.integer], moments: Ints) -> Ints:
        """The number of the innermost step around each moment; NONE for none."""
        known = np.flatnonzero(moments != NONE)
        places = np.unique(np.concatenate((self.on, on[known])), return_inverse=True)[1]
        held = holders(
            places[: len(self)], self.start_ns, self.dur_ns, places[len(self) :], moments[known]
        )
        found = np.full(len(moments), NONE, np.int64)
        found[known] = np.append(self.index, NONE)[held]
        return found


@dataclass(frozen=True, slots=True)
class RecordedSteps:
    """The steps of a file, on its hosts and on its devices.

    ``of_work`` is present if the file marks none: the detected step of each work.
    """

    of_host: Steps
    of_device: Steps
    counts_by_device: bool
    of_work: Ints | None = None

    def are_none(self) -> bool:
        """Whether nothing marks steps."""
        return not len(self.of_host) and not len(self.of_device)

    def at_work(self, work: DeviceWork) -> Ints:
        """The step of its device in which each work starts."""
        on = work.device_id if self.counts_by_device else work.track
        return self.of_device.at(on, work.start_ns)


def read(folder: Path, tracks: Tracks) -> RecordedSteps:
    """The steps of a source: of hosts by process, of devices by device or else stream."""
    texts = Texts()
    host, device = texts.code("host"), texts.code("device")
    columns: list[NDArray[np.int64]] = [np.zeros((6, 0), np.int64)]
    for rows in batches(folder, "step", (*_NUMBERS, "step_kind", *PLACE[:2])):
        track = tracks.codes(rows)
        known = [numbers(rows[name]) for name in _NUMBERS]
        columns.append(np.stack((*known, track, texts.codes(rows["step_kind"]))))
    index, start, dur, devices, track, kind = np.concatenate(columns, axis=1)
    has_start = (start != NONE) & (index != NONE)
    on_host, on_device = has_start & (kind == host), has_start & (kind == device)
    by_device = bool((devices[on_device] != NONE).any())
    processes = tracks.process_codes(track)
    on = devices if by_device else track
    return RecordedSteps(
        Steps(index[on_host], start[on_host], dur[on_host], processes[on_host].astype(np.int64)),
        Steps(index[on_device], start[on_device], dur[on_device], on[on_device]),
        by_device,
    )
