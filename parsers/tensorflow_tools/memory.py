"""memory_profile.json: allocations and deallocations of a framework's allocators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tracekit.parser import Report
from tracekit.parsers.tensorflow_tools.rows import (
    Numbers,
    TableRow,
    as_json,
    damaged,
    device_kind,
    figures,
)
from tracekit.reading.text.json_values import object_in

_SNAPSHOTS = ("memoryProfileSnapshots", "sampledTimelineSnapshots")
_SIGNS = {"ALLOCATION": 1, "DEALLOCATION": -1, 1: 1, 2: -1}
_NUMBERED = re.compile(r"(?:gpu|tpu)[_:]?(\d{1,4})(?!\d)", re.IGNORECASE)
_MOST_SPECIAL = 1000
_FEW_DIGITS = 10
#: With more snapshots than this, the profiler keeps the largest of each of this many sections
#: (XProf, xplane_to_memory_profile: SampleMemoryProfileTimeline).
_SAMPLED_COUNT = 1000
_FEW, _NAME_WIDTH = 4, 40


def memory_profile(root: dict[str, Any], report: Report) -> Iterator[TableRow]:
    """Yield a row of `memory_event` per snapshot, and the peak of each allocator."""
    walk = _Allocators(report)
    for name, profile in object_in(root, "memoryProfilePerAllocator").items():
        if isinstance(profile, dict):
            yield from walk.allocator(name, profile)
    walk.finish()


def memory_facts(root: dict[str, Any]) -> dict[str, Any]:
    """Return the other values of the dump."""
    special = {
        name: profile["specialAllocations"][:_MOST_SPECIAL]
        for name, profile in object_in(root, "memoryProfilePerAllocator").items()
        if isinstance(profile, dict) and isinstance(profile.get("specialAllocations"), list)
    }
    facts = {key: value for key, value in root.items() if key != "memoryProfilePerAllocator"}
    return facts | ({"specialAllocations": special} if special else {})


class _Allocators:
    """Goes through the allocators; positions are record numbers."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._numbers = Numbers(report)
        self._count = 0
        self._repeated = 0
        self._sampled: list[str] = []

    def _place(self) -> int:
        place, self._count = self._count, self._count + 1
        return place

    def allocator(self, name: str, profile: dict[str, Any]) -> Iterator[TableRow]:
        """Yield the snapshots of one allocator; one that is in both lists is one event."""
        seen = set()
        for key in _SNAPSHOTS:
            snapshots = profile.get(key)
            if isinstance(snapshots, list) and len(snapshots) == _SAMPLED_COUNT:
                self._sampled.append(name)
            for one in snapshots if isinstance(snapshots, list) else ():
                activity = one.get("activityMetadata") if isinstance(one, dict) else None
                if not isinstance(activity, dict):
                    damaged(self._report)
                    continue
                same = (
                    str(one.get("timeOffsetPs")),
                    str(activity.get("address")),
                    str(activity.get("memoryActivity")),
                )
                if same in seen and key == _SNAPSHOTS[1]:
                    self._repeated += 1
                    continue
                seen.add(same)
                yield self._event(name, one, activity)
        yield from self._summary(name, profile.get("profileSummary"))

    def _event(self, name: str, one: dict[str, Any], activity: dict[str, Any]) -> TableRow:
        numbers, kind = self._numbers, activity.get("memoryActivity", 0)
        sign = _SIGNS.get(kind) if isinstance(kind, int | str) else None
        size = numbers.whole(activity.get("allocationBytes", 0))
        stats = object_in(one, "aggregationStats")
        others = {
            k: v for k, v in activity.items() if k not in _ACTIVITY_COLUMNS and v not in ("", 0)
        }
        if sign is None:  # a reservation, or a stack that grows: no allocation
            others |= {"allocationBytes": activity.get("allocationBytes")}
        return "memory_event", {
            "event_id": self._place(),
            "time_ns": numbers.ns(one.get("timeOffsetPs", 0), "ps"),
            "size_bytes": None if size is None or sign is None else sign * size,
            "address": numbers.whole(activity.get("address")),
            "total_allocated_bytes": numbers.whole(stats.get("heapAllocatedBytes")),
            **_device_of(name),
            "track_name": name,
            "args_json": as_json(
                others | {k: v for k, v in stats.items() if k != "heapAllocatedBytes"}
            ),
        }

    def _summary(self, name: str, summary: Any) -> Iterator[TableRow]:
        """Yield the peaks and the capacity of an allocator: one event."""
        if not isinstance(summary, dict):
            return
        when = self._numbers.ns(summary.get("peakStatsTimePs"), "ps")
        at_peak = object_in(summary, "peakStats").get("heapAllocatedBytes")
        place = self._place()
        found = False
        for event, value, time in (
            ("peakBytesUsageLifetime", summary.get("peakBytesUsageLifetime"), None),
            ("memoryCapacity", summary.get("memoryCapacity"), None),
            ("heapAllocatedBytes", at_peak, when),
        ):
            size = self._numbers.whole(value)
            if size is None:
                continue
            found = True
            rows = figures({event: size}, self._numbers, place, track_name=name, time_ns=time)
            for table, row in rows:
                yield table, row | {"unit": "byte"}
        if not found:
            damaged(self._report)

    def finish(self) -> None:
        """Report what the dump does not have."""
        if self._repeated:
            self._report.tell(
                "repeated_record",
                "info",
                "recording",
                "snapshots of the peak that are also in the timeline",
                "nothing is missing: each is counted once",
                occurrence_count=self._repeated,
            )
        if self._sampled:
            names = ", ".join(name[:_NAME_WIDTH] for name in self._sampled[:_FEW])
            self._report.tell(
                "sampled_events",
                "info",
                "recording",
                f"exactly {_SAMPLED_COUNT:,} snapshots of {names}: the profiler kept samples",
                "totals are right, but blocks cannot be derived; xplane.pb has every event",
            )


_ACTIVITY_COLUMNS = ("allocationBytes", "address")


def _device_of(name: str) -> dict[str, Any]:
    """Return the device of an allocator: GPU_0_bfc, 0 (a TPU), gpu_host_bfc (the host's)."""
    if name.isdecimal() and len(name) < _FEW_DIGITS:
        return {"device_id": int(name)}
    if "host" in name.lower():
        return {"device_kind": "cpu"}
    numbered = _NUMBERED.match(name)
    return {
        "device_kind": device_kind(re.sub(r"(\d|bfc|:)", " ", name)),
        "device_id": int(numbered[1]) if numbered else None,
    }
