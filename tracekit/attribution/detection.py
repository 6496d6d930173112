"""Detects the steps of a source without step marks in the work of its devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import NONE, Codes, Flags, Ints, ends, in_parts, nullable
from tracekit.attribution.repeats import find_steps
from tracekit.attribution.rows import Batch
from tracekit.attribution.work import DeviceWork
from tracekit.schema import STEP, TEXT, batch


@dataclass(frozen=True, slots=True)
class _OnDevice:
    """The steps of one device, their first works, and the step of each work (`places`)."""

    device_id: int
    start_ns: Ints
    end_ns: Ints
    first_work: Ints
    places: Ints
    step: Ints


@dataclass(frozen=True, slots=True)
class Detected:
    """Detected steps; ``step`` is the number of each work's step, or NONE."""

    devices: tuple[_OnDevice, ...]
    step: Ints

    def rows(self, launch: Codes, slice_start_ns: Ints) -> Iterator[Batch]:
        """Return the rows of `step`, per device, each from the launch of its first work.

        `launch` is the place of the slice that launched each work, -1 if unknown, and
        `slice_start_ns` the start of each slice.
        """
        for device in self.devices:
            count = len(device.start_ns)
            start_ns = _launched(device, launch, slice_start_ns)
            is_followed = np.append(device.end_ns[:-1] == device.start_ns[1:], False)
            end_ns = np.where(is_followed, np.append(start_ns[1:], NONE), device.end_ns)
            columns = {
                "step_index": np.arange(count),
                "start_ns": start_ns,
                "dur_ns": _between(start_ns, end_ns),
                "device_id": np.full(count, device.device_id),
            }
            arrays = {name: nullable(column) for name, column in columns.items()}
            arrays["step_kind"] = pa.array(["detected"] * count, TEXT)
            yield STEP.name, batch(STEP, arrays, count)


def detected(work: DeviceWork) -> Detected:
    """The steps in the work of the devices; none if devices disagree.

    Devices with steps must have equally many, and all must begin a step before any begins the next.
    The work of other devices belongs to the step in which it starts.
    """
    step = np.full(len(work), NONE, np.int64)
    has_start = work.start_ns != NONE
    shown = [
        _on_device(work, device, has_start) for device in np.unique(work.device_id[:]).tolist()
    ]
    devices = tuple(device for device in shown if len(device.start_ns))
    if not devices or not _do_agree(devices):
        return Detected((), step)
    starts = np.min([device.start_ns for device in devices], axis=0)
    till = np.max([device.end_ns for device in devices], axis=0)
    at = np.searchsorted(starts, work.start_ns, side="right") - 1
    step = np.where(has_start & (at >= 0) & (work.start_ns < till[at]), at, NONE)
    for device in devices:
        step[device.places] = device.step
    return Detected(devices, step)


def steps_of_calls(after: Ints, launch: Ints, step: Ints) -> Ints:
    """The step of the first work launched in each slice of the host; NONE without any.

    `after` is the place after the content of each slice, `launch` the place of the slice that
    launched each work, -1 if unknown, and `step` the step of the work.
    """
    known = np.flatnonzero(launch >= 0)
    known = known[np.argsort(launch[known], kind="stable")]
    places, numbers = np.append(launch[known], len(after)), np.append(step[known], NONE)
    found = np.full(len(after), NONE, np.int64)
    for part in in_parts(len(after)):
        first = np.searchsorted(places[:-1], np.arange(part.start, part.stop))
        found[part] = np.where(places[first] < after[part], numbers[first], NONE)
    return found


def _on_device(work: DeviceWork, device: int, has_start: Flags) -> _OnDevice:
    places = np.flatnonzero(has_start & (work.device_id[:] == device))
    places = places[np.lexsort((work.event_id[places], work.start_ns[places]))]
    start, dur = work.start_ns[places], np.maximum(work.dur_ns[places], 0)
    found = find_steps(work.name[places].astype(np.int64), start, dur)
    till = np.maximum.accumulate(ends(start, dur))
    step = np.full(len(places), NONE, np.int64)
    for number, (first, end) in enumerate(zip(found.first, found.end, strict=True)):
        step[first:end] = number
    is_followed = np.append(found.first[1:] == found.end[:-1], False)[: len(found.first)]
    following = start[np.where(is_followed, found.end, found.first)]
    end_ns = np.where(is_followed, following, till[found.end - 1])
    return _OnDevice(device, start[found.first], end_ns, places[found.first], places, step)


def _launched(device: _OnDevice, launch: Codes, slice_start_ns: Ints) -> Ints:
    """Return where the steps start: with their first launches if all are known, else with work."""
    places = launch[device.first_work]
    if (places < 0).any():
        return device.start_ns
    launched = slice_start_ns[places]
    is_usable = (launched <= device.start_ns).all() and (np.diff(launched) > 0).all()
    return launched if is_usable and (launched != NONE).all() else device.start_ns


def _between(start: Ints, end: Ints) -> Ints:
    """Durations; NONE beyond 64 bits."""
    dur = end - start
    return np.where(dur < 0, NONE, dur)


def _do_agree(devices: tuple[_OnDevice, ...]) -> bool:
    """Whether devices have the same steps."""
    if len({len(device.start_ns) for device in devices}) > 1:
        return False
    latest = np.max([device.start_ns for device in devices], axis=0)
    earliest = np.min([device.start_ns for device in devices], axis=0)
    return bool((latest[:-1] < earliest[1:]).all())
