"""The step of a moment on a host or a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracekit.attribution.columns import NONE, Ints, by_text, numbers
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.nesting import holders
from tracekit.attribution.packing import Packed, joined
from tracekit.attribution.tracks import PLACE, Tracks
from tracekit.attribution.work import DeviceWork

_NUMBERS = ("step_index", "start_ns", "dur_ns", "device_id")
_KINDS = ("host", "device")
COLUMNS = (*_NUMBERS, *PLACE[:2], "step_kind")


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

    def at_work(self, work: DeviceWork, part: slice) -> Ints:
        """The step of its device in which each of some works starts."""
        on = work.device_id[part] if self.counts_by_device else work.track[part]
        return self.of_device.at(on, work.start_ns[part])


def gather(rows: pa.Table, known: SourceCodes) -> dict[str, NDArray[Any]]:
    """Steps; ``kind`` is a place in _KINDS, -1 for another."""
    return {
        "track": known.tracks.codes(rows),
        "kind": by_text(
            rows["step_kind"], lambda kind: _KINDS.index(kind) if kind in _KINDS else -1
        ),
        **{name: numbers(rows[name]) for name in _NUMBERS},
    }


def joined_steps(parts: list[dict[str, Packed]], tracks: Tracks) -> RecordedSteps:
    """Steps from their parts: of hosts by process, of devices by device or else stream."""
    index, start, dur, devices = (joined(parts, name, np.int64) for name in _NUMBERS)
    track, kind = (joined(parts, name, np.int32) for name in ("track", "kind"))
    has_start = (start != NONE) & (index != NONE)
    on_host, on_device = (has_start & (kind == place) for place in range(len(_KINDS)))
    by_device = bool((devices[on_device] != NONE).any())
    processes = tracks.process_codes(track)
    on = devices if by_device else track.astype(np.int64)
    return RecordedSteps(
        Steps(index[on_host], start[on_host], dur[on_host], processes[on_host].astype(np.int64)),
        Steps(index[on_device], start[on_device], dur[on_device], on[on_device]),
        by_device,
    )
