"""Chrome trace JSON, which ui.perfetto.dev and tracekit's own parser read.

The events are written by queries, and never become Python objects: the trace of an hour has
millions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.errors import UsageError
from tracekit.exports import ExportRequest
from tracekit.render.numbers import counted
from tracekit.session import Session

#: The queries that write the events, and what these are called, in the order of the file.
_PARTS = (
    ("trace_slice", "slices"),
    ("trace_kernel", "kernels"),
    ("trace_transfer", "copies and memsets"),
    ("trace_flow", "ends of arrows"),
    ("trace_allocation", "memory events"),
    ("trace_counter", "counter values"),
    ("trace_summary", ""),
    ("trace_label", ""),  # last: Perfetto calls a thread by a tid that is text, unless told later
)
#: Members of a trace that are about its events, so that those of another trace do not hold.
_OF_EVENTS = ("traceEvents", "baseTimeNanoseconds", "displayTimeUnit")
#: Of one rank of several.
_OF_A_RANK = ("distributedInfo", "trace_id")
_MOST_PLACES = 5
_CLOCKS = {
    "collectives": "aligned by the ends of collectives",
    "unix": "as in the file",
    "start": "unknown, so the first event is at zero",
}


class Perfetto:
    """Kernels, copies, slices, steps and arrows of all ranks on one timeline."""

    name = "perfetto"
    title = "Chrome trace JSON for ui.perfetto.dev"
    suffixes = (".json", ".json.gz")
    most_runs = 1
    options = ()

    def write(self, session: Session, asked: ExportRequest, file: BinaryIO) -> tuple[str, ...]:
        """Write the trace; raise UsageError for a run without a timeline."""
        database = session.database
        given = {"run_id": asked.runs[0], "phase": asked.phase}
        clocks = [row for part in database.stream("trace_clock", given) for row in part.to_pylist()]
        if not clocks:
            name = session.run_names()[asked.runs[0]]
            raise UsageError(
                f"the run {name!r} has no timeline: no event in it has a start, as in counters and "
                "summaries; export the run of a trace (torch.profiler, *.xplane.pb …), or the "
                "reports of this one with -o FILE.xlsx"
            )
        file.write(_head(clocks))
        counts = {}
        for query, noun in _PARTS:
            count = 0
            for batch in database.stream(query, given):
                count += len(batch)
                if len(batch):
                    file.write(_text(batch.column(0)))
            if noun and count:
                counts[noun] = count
        file.write(b"\n]}\n")
        told = ", ".join(f"{noun}: {count:,}" for noun, count in counts.items())
        return (told or "no events", *_told(clocks))


def _head(clocks: Sequence[Mapping[str, Any]]) -> bytes:
    """The trace up to its first event, which says what wrote it."""
    first = clocks[0]
    says = msgspec.json.decode(first["metadata_json"] or "{}", type=dict[str, msgspec.Raw])
    without = (*_OF_EVENTS, *(_OF_A_RANK if len(clocks) > 1 else ()))
    members: dict[str, Any] = {key: says[key] for key in says if key not in without}
    if first["zero_time_ns"] is not None:
        members["baseTimeNanoseconds"] = first["zero_time_ns"]
    members |= {"displayTimeUnit": "ns"}
    head = msgspec.json.encode(members)[:-1]
    return head + b',"traceEvents":[\n{"ph":"M","name":"exported_by","args":{"name":"tracekit"}}'


def _text(events: pa.Array) -> bytes:
    """The events as JSON, with a comma before each."""
    one = pa.ListArray.from_arrays([0, len(events)], events)
    joined: bytes = pc.binary_join(one, ",\n")[0].as_buffer().to_pybytes()
    return b",\n" + joined


def _told(clocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How the clocks of several ranks are aligned, and which are not if others are."""
    if len(clocks) > 1:
        bases = Counter(row["clock_basis"] for row in clocks)
        says = [f"{counted(count, 'clock')} {_CLOCKS[basis]}" for basis, count in bases.items()]
        for index, basis in enumerate(bases):
            if "collectives" in bases and basis != "collectives":
                own = [_place(row) for row in clocks if row["clock_basis"] == basis]
                more = f" and {len(own) - _MOST_PLACES:,} more" if len(own) > _MOST_PLACES else ""
                says[index] += f" ({', '.join(own[:_MOST_PLACES])}{more})"
        yield ", ".join(says)


def _place(clock: Mapping[str, Any]) -> str:
    rank = clock["rank_index"]
    return f"source {clock['source_id']}" if rank is None else f"rank {rank}"
