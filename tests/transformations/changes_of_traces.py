"""Changes of trace files (JSON) and what each does to the reports."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
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
from tests.transformations.effects import Effect, scaled, unchanged
from tracekit.intake import Options

RUN = Options(run_name="run")


@dataclass(frozen=True)
class Changed:
    """Files to ingest as one run."""

    files: list[Path]
    options: Options = RUN


@dataclass(frozen=True)
class Transformation:
    """A change of a file and its effect; `make` returns None for a file that it cannot change."""

    make: Callable[[Path, Path], Changed | None]
    effect: Effect


def of_document(
    change: Callable[[Document], Document | None], options: Options = RUN
) -> Callable[[Path, Path], Changed | None]:
    """Return what writes a changed document as a file of the same name."""

    def make(path: Path, folder: Path) -> Changed | None:
        before = read_document(path)
        after = change(before)
        if after is None or repr(after) == repr(before):  # the order of keys counts
            return None
        return Changed([write_document(after, folder / plain_name(path))], options)

    return make


def of_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path, Path], Changed | None]:
    """Return what writes changed bytes as a file of the same name."""

    def make(path: Path, folder: Path) -> Changed | None:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / plain_name(path)
        target.write_bytes(change(read_bytes(path)))
        return Changed([target])

    return make


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


def packed(path: Path, folder: Path) -> Changed | None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{plain_name(path)}.gz"
    target.write_bytes(gzip.compress(read_bytes(path), 1))
    return None if path.suffix == ".gz" else Changed([target])


def pretty(data: bytes) -> bytes:
    return json.dumps(json.loads(data), indent=2).replace("\n", "\r\n").encode()


#: Columns that say when something was: reports give it on the clock of the file.
TIMES = ("start_ns", "end_ns", "time_ns")
#: Reports that compare times with what does not double: peaks, thresholds in µs.
NOT_LINEAR = {
    *("advise", "summary", "attributed_op_roofline_points", "idle_between", "kernel_sequences"),
    *("op_below_roof", "ops", "product_in_fp32", "misaligned_product", "short_kernels"),
}

SAME = unchanged()
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
        unchanged(expected=lambda _, value: _long(value) if isinstance(value, str) else value),
    ),
    "device listed twice": Transformation(of_document(with_device_twice), SAME),
    "device named by the user": Transformation(
        device_named, unchanged(("basis_kind", "peak_source", "peak_basis"))
    ),
    "unrelated metadata": Transformation(of_document(with_metadata), SAME),
    "compressed": Transformation(packed, SAME),
    "pretty, with CRLF": Transformation(of_bytes(pretty), SAME),
}
