"""Changes of trace files (JSON) and what each does to the reports."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from tests.transformations.documents import (
    Document,
    Event,
    each_event,
    is_device_work,
    is_timed,
    plain_name,
    read_bytes,
    read_document,
    with_events,
    write_document,
)
from tests.transformations.effects import (
    at_most,
    both,
    longer_by,
    per_source,
    scaled,
    unchanged,
)
from tests.transformations.making import (
    RUN,
    Changed,
    Transformation,
    exported_trace,
    of_bytes,
    of_document,
    of_documents,
)


def shifted(document: Document, by: int = 7_000_000) -> Document:
    return each_event(document, lambda e: e | {"ts": e["ts"] + by} if is_timed(e) else e)


def doubled(document: Document) -> Document:
    first = min(event["ts"] for event in document["traceEvents"] if is_timed(event))

    def change(event: Event) -> Event:
        if not is_timed(event):
            return event
        event = event | {"ts": first + (event["ts"] - first) * 2}
        if "dur" in event:
            event["dur"] *= 2
        args = event.get("args") or {}
        rates = {name: value / 2 for name, value in args.items() if name.endswith("(GB/s)")}
        return event | {"args": args | rates} if rates else event

    return each_event(document, change)


def shuffled(document: Document) -> Document:
    def change(events: list[Event]) -> list[Event]:
        events = list(events)
        random.Random(42).shuffle(events)
        return events

    return with_events(document, change)


def keys_reversed(document: Document) -> Document:
    return each_event(document, lambda event: dict(reversed(event.items())))


def with_renamed_correlations(document: Document) -> Document:
    def change(event: Event) -> Event:
        if event.get("cat") == "ac2g":
            return event | {"id": event["id"] + 1_000_000}
        args = event.get("args") or {}
        if isinstance(args.get("correlation"), int) and args["correlation"] > 0:
            args = args | {"correlation": args["correlation"] + 1_000_000}
            if (
                isinstance(waits := args.get("wait_on_cuda_event_record_corr_id"), int)
                and waits > 0
            ):
                args["wait_on_cuda_event_record_corr_id"] = waits + 1_000_000
            return event | {"args": args}
        return event

    return each_event(document, change)


def with_renamed_streams(document: Document) -> Document:
    """Streams n become n + 100."""
    devices = {e["pid"] for e in document["traceEvents"] if is_device_work(e)}

    def change(event: Event) -> Event:
        args = dict(event.get("args") or {})
        for name in ("stream", "wait_on_stream"):
            if isinstance(args.get(name), int) and args[name] >= 0:
                args[name] += 100
        if event.get("pid") in devices and isinstance(event.get("tid"), int):
            event = event | {"tid": event["tid"] + 100}
            if event["ph"] == "M" and event["name"] == "thread_name":
                args["name"] = str(args["name"]).replace(
                    f"stream {event['tid'] - 100} ", f"stream {event['tid']} "
                )
        return event | {"args": args} if args else event

    return each_event(document, change) if devices else document


def with_text_pids(document: Document) -> Document:
    """Process 4242 becomes "4242"."""
    return each_event(
        document, lambda e: e | {"pid": str(e["pid"])} if isinstance(e.get("pid"), int) else e
    )


def with_other_pids(document: Document) -> Document:
    """Processes of the host get other numbers."""
    devices = {e["pid"] for e in document["traceEvents"] if is_device_work(e)}
    hosts = {
        e["pid"]
        for e in document["traceEvents"]
        if isinstance(e.get("pid"), int) and e["pid"] not in devices and e["pid"] > 1000
    }

    def change(event: Event) -> Event:
        pid = event.get("pid")
        if not isinstance(pid, int) or pid not in hosts:
            return event
        tid = event.get("tid")  # the main thread has the number of its process
        return event | {"pid": pid + 50_000} | ({"tid": tid + 50_000} if tid == pid else {})

    return each_event(document, change)


def with_template_arguments(document: Document) -> Document:
    """Kernels of unsigned int become kernels of unsigned long."""
    return each_event(document, lambda e: e | {"name": _long(str(e["name"]))} if "name" in e else e)


def _long(text: str) -> str:
    return text.replace("unsigned int", "unsigned long")


def _long_if_text(column: str, value: object) -> object:
    return _long(value) if isinstance(value, str) else value


def with_device_twice(document: Document) -> Document | None:
    devices = document.get("deviceProperties")
    return document | {"deviceProperties": devices * 2} if devices else None


def with_metadata(document: Document) -> Document:
    return {"about_weather": {"rain": [1, "x"]}} | document | {"cluster_note": "unrelated"}


def device_named(path: Path, folder: Path) -> Changed | None:
    """The device's name comes from the user, not from the file."""
    document = read_document(path)
    names = {device.get("name") for device in document.pop("deviceProperties", [])}
    if len(names) != 1:
        return None
    options = replace(RUN, device_name=names.pop())
    return Changed([write_document(document, folder / plain_name(path))], options)


def packed(path: Path, folder: Path) -> Changed:
    """A compressed file becomes plain, another one compressed."""
    folder.mkdir(parents=True, exist_ok=True)
    is_packed = path.suffix == ".gz"
    target = folder / (plain_name(path) if is_packed else f"{path.name}.gz")
    target.write_bytes(read_bytes(path) if is_packed else gzip.compress(path.read_bytes(), 1))
    return Changed([target])


def pretty(data: bytes) -> bytes:
    return json.dumps(json.loads(data), indent=2).replace("\n", "\r\n").encode()


def without_flows(document: Document) -> Document:
    """Correlations say the same as the arrows from calls to kernels."""
    return with_events(document, lambda events: [e for e in events if e.get("cat") != "ac2g"])


def with_text_times(document: Document) -> Document:
    """Times as text, as some versions of torch write them."""
    return each_event(document, lambda e: e | {"ts": str(e["ts"])} if is_timed(e) else e)


def renumbered_steps(document: Document) -> Document:
    """ProfilerStep#3 becomes ProfilerStep#103."""
    return each_event(document, lambda e: e | {"name": _step(str(e["name"]))} if "name" in e else e)


def _step(text: str) -> str:
    return re.sub(r"ProfilerStep#(\d+)", lambda match: f"ProfilerStep#{int(match[1]) + 100}", text)


def _later_step(column: str, value: object) -> object:
    if column in {"step_index", "slowest_step_index"} and isinstance(value, int):
        return value + 100
    if column == "step_name" and isinstance(value, str) and value.isdigit():
        return str(int(value) + 100)
    return _step(value) if isinstance(value, str) else value


def of_rank(document: Document, rank: int) -> Document:
    described = document.get("distributedInfo") or {"backend": "nccl"}
    return document | {"distributedInfo": described | {"rank": rank, "world_size": 2}}


def two_ranks(document: Document) -> list[Document] | None:
    if (document.get("distributedInfo") or {}).get("rank"):
        return None  # rank 0 before and after
    return [of_rank(document, 0), of_rank(document, 1)]


def twice(document: Document) -> list[Document]:
    """The same again, an hour later."""
    return [document, shifted(document, 3_600_000_000) | {"recording": "second"}]


def with_empty_rank(document: Document) -> list[Document] | None:
    ranks = two_ranks(document)
    times = [event["ts"] for event in document["traceEvents"] if is_timed(event)]
    if ranks is None or not times:  # Ascend writes times as text
        return None
    told = [e for e in document["traceEvents"] if e.get("ph") == "M"]
    instant = {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": ""}
    return [document, ranks[1] | {"traceEvents": [*told, instant | {"ts": min(times)}]}]


def split_in_time(document: Document) -> list[Document] | None:
    """The first half of the events, then the others."""
    events = document["traceEvents"]
    times = sorted(event["ts"] for event in events if is_timed(event))
    if len(times) < 4:
        return None
    middle = times[len(times) // 2]
    return [
        with_events(
            document,
            lambda events, late=late: [  # type: ignore[misc]
                e for e in events if not is_timed(e) or (e["ts"] >= middle) is late
            ],
        )
        for late in (False, True)
    ]


def without_the_end(document: Document) -> Document:
    """The last tenth of the events is lost."""
    times = sorted(event["ts"] for event in document["traceEvents"] if is_timed(event))
    last = times[len(times) * 9 // 10]
    return with_events(
        document, lambda events: [e for e in events if not is_timed(e) or e["ts"] < last]
    )


def with_fewer_records(document: Document) -> Document:
    """Every tenth kernel has no record."""
    kernels = [e for e in document["traceEvents"] if e.get("cat") == "kernel"]
    lost = {id(event) for event in kernels[::10]}
    return with_events(document, lambda events: [e for e in events if id(e) not in lost])


def with_an_idle_hour(document: Document) -> Document | None:
    """An operator of 1 us an hour after all that is marked."""
    operators = [e for e in document["traceEvents"] if e.get("cat") == "cpu_op"]
    if not operators or not any(_is_mark(e) for e in document["traceEvents"]):
        return None
    last = max(operators, key=lambda event: event["ts"])
    late = {key: last[key] for key in ("ph", "cat", "pid", "tid")} | {
        "name": "late",
        "ts": last["ts"] + 3_600_000_000,
        "dur": 1,
    }
    return with_events(document, lambda events: [*events, late])


def _is_mark(event: Event) -> bool:
    return str(event.get("name")).startswith("ProfilerStep#")


SLEEP_US = 5_000


def with_a_sleep(document: Document) -> Document | None:
    """The host sleeps in a marked step while the device is idle."""
    moment = _quiet_moment(document["traceEvents"])
    if moment is None:
        return None

    def change(event: Event) -> Event:
        if not is_timed(event):
            return event
        if event["ts"] >= moment:
            return event | {"ts": event["ts"] + SLEEP_US}
        if event["ts"] + event.get("dur", 0) > moment:
            return event | {"dur": event["dur"] + SLEEP_US}
        return event

    return each_event(document, change)


def _quiet_moment(events: list[Event]) -> Decimal | None:
    """Return the start of an operator in a step while nothing else than its callers runs."""
    spans = [(e["ts"], e["ts"] + e.get("dur", 0), e) for e in events if is_timed(e)]
    marks = [(start, end) for start, end, e in spans if _is_mark(e) and not _is_on_device(e)]
    busy = [
        (start, end)
        for start, end, e in spans
        if is_device_work(e)
        or e.get("cat") in {"cuda_runtime", "cuda_driver", "gpu_user_annotation"}
    ]
    for moment, _, event in spans:
        if event.get("cat") != "cpu_op" or not any(s < moment < e for s, e in marks):
            continue
        if not any(start <= moment <= end for start, end in busy):
            return Decimal(moment)
    return None


def _is_on_device(event: Event) -> bool:
    return event.get("cat") == "gpu_user_annotation"


#: Columns that say when something was: reports give it on the clock of the file.
TIMES = ("start_ns", "end_ns", "time_ns")
#: Reports that compare times with what does not double: peaks, thresholds in µs.
NOT_LINEAR = {
    *("advise", "summary", "attributed_op_roofline_points", "idle_between", "kernel_sequences"),
    *("op_below_roof", "ops", "product_in_fp32", "misaligned_product", "short_kernels"),
    *("device_ceilings", "attributed_op_roofline_ceilings", "launch_bounds", "unfused_chain"),
}


#: Where all is done at once that must change nothing, or only names.
HARMLESS = Transformation(
    of_document(
        shifted,
        with_renamed_correlations,
        with_renamed_streams,
        with_other_pids,
        with_template_arguments,
        with_device_twice,
        with_metadata,
        keys_reversed,
        shuffled,
    ),
    unchanged(
        (*TIMES, "stream_id", "process_id", "thread_id"),
        lambda name: name != "stacks",  # calls of the same microseconds nest as they are written
        _long_if_text,
    ),
)

SAME = unchanged()
#: The trace that tracekit writes counts times from its first event, and has more tracks.
READ_AGAIN = unchanged((*TIMES, "event_count"), lambda name: name != "summary")
TRACES: dict[str, Transformation] = {
    "times shifted": Transformation(of_document(shifted), unchanged(TIMES)),
    "times doubled": Transformation(of_document(doubled), scaled(2, TIMES, NOT_LINEAR)),
    "events reversed": Transformation(
        of_document(lambda d: with_events(d, lambda events: events[::-1])), SAME
    ),
    "events shuffled": Transformation(of_document(shuffled), SAME),
    "keys reversed": Transformation(of_document(keys_reversed), SAME),
    "correlations renamed": Transformation(of_document(with_renamed_correlations), SAME),
    "streams renamed": Transformation(of_document(with_renamed_streams), unchanged(("stream_id",))),
    "processes as text": Transformation(of_document(with_text_pids), SAME),
    "processes renumbered": Transformation(
        of_document(with_other_pids), unchanged(("process_id", "thread_id"))
    ),
    "kernels of other types": Transformation(
        of_document(with_template_arguments),
        unchanged(expected=_long_if_text),
    ),
    "device listed twice": Transformation(of_document(with_device_twice), SAME),
    "device named by the user": Transformation(
        device_named,
        # a name says nothing of the number of multiprocessors and of other devices
        unchanged(
            ("basis_kind", "peak_source", "peak_basis"),
            lambda name: name not in {"small_grid", "device_ceilings"},
        ),
    ),
    "unrelated metadata": Transformation(of_document(with_metadata), SAME),
    "exported and read again": Transformation(exported_trace, READ_AGAIN),
    "compressed or not": Transformation(packed, SAME),
    "pretty, with CRLF": Transformation(of_bytes(pretty), SAME),
    "flows removed": Transformation(
        of_document(without_flows), unchanged(("event_count",), lambda name: name != "summary")
    ),
    "times as text": Transformation(of_document(with_text_times), SAME),
    "byte order mark and blanks": Transformation(
        of_bytes(lambda data: b"\xef\xbb\xbf\n  " + data + b"\n\n  "), SAME
    ),
    "steps renumbered": Transformation(
        of_document(renumbered_steps), unchanged(expected=_later_step)
    ),
    "two ranks": Transformation(of_documents(two_ranks), per_source(2)),
    "a second measurement": Transformation(of_documents(twice), per_source(2)),
    "an empty rank": Transformation(of_documents(with_empty_rank), per_source(1)),
    "split in time": Transformation(
        of_documents(split_in_time),
        unchanged(reports={"kernel_time", "copies", "reported_op_time"}.__contains__),
    ),
    "the end is lost": Transformation(of_document(without_the_end), at_most),
    "records are lost": Transformation(of_document(with_fewer_records), at_most),
    "an idle hour after the marks": Transformation(
        of_document(with_an_idle_hour),
        unchanged(reports={"steps", "step_time", "training_metrics", "overlap"}.__contains__),
    ),
    "a sleep in a step": Transformation(
        of_document(with_a_sleep),
        both(
            unchanged(reports={"kernel_time", "copies", "precision_mix"}.__contains__),
            longer_by(SLEEP_US * 1000),
        ),
    ),
}


def of_one_kernel(document: Document) -> Document | None:
    """The kernel with the most time takes half of it, wherever it runs."""
    totals = defaultdict[str, Decimal](Decimal)
    for event in document["traceEvents"]:
        if event.get("cat") == "kernel":
            totals[event["name"]] += event["dur"]
    if not totals:
        return None
    largest = max(totals, key=lambda name: (totals[name], name))

    def change(event: Event) -> Event:
        is_it = event.get("cat") == "kernel" and event["name"] == largest
        return event | {"dur": Decimal(event["dur"]) / 2} if is_it else event

    return each_event(document, change)
