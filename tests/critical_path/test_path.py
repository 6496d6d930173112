"""Critical paths of traces written by hand, with each piece worked out beside them (in µs).

Without marks of steps the path begins with the first call: 5 µs of launch before its kernel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.critical_path.traces import BACKWARD, Answer, Trace
from tracekit.engine import Database
from tracekit.errors import QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.store import open_store


def test_a_device_that_waits_for_the_host(tmp_path: Path) -> None:
    trace = Trace()
    trace.host("aten::linear", 90, 30)
    for at in (0, 100, 200):
        trace.launch("gemm", at, at + 5, 10)
    answer = trace.path(tmp_path)
    # from 0, when the first call starts, to 215: the host until 200, the launch, the kernel
    assert answer.kinds == {"host": 200, "launch": 5, "kernel": 10}
    assert answer.names == {
        ("host", "(outside of all calls)"): 165,
        # two launches come before the last
        ("host", "aten::linear"): 25,
        ("host", "cudaLaunchKernel"): 10,
        ("launch", "gemm"): 5,
        ("kernel", "gemm"): 10,
    }
    assert answer.saved == {"kernel": 10, "gemm": 10}


def test_a_host_that_is_ahead_of_the_device(tmp_path: Path) -> None:
    trace = Trace()
    for index, at in enumerate((0, 10, 20)):
        trace.launch("gemm", at, 5 + 102 * index, 100)
    answer = trace.path(tmp_path)
    # from 0 to 309, with 5 of launch and 2 between kernels
    assert answer.kinds == {"launch": 5, "kernel": 300, "waiting": 4}
    assert answer.names["waiting", "next on a stream"] == 4
    # free, each starts 5 after its launch: the last at 25
    assert answer.saved["gemm"] == 309 - 25


def test_what_is_free_shifts_the_path_to_what_ran_beside_it(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("long", 0, 5, 100, 7)
    trace.launch("beside", 10, 15, 80, 20)
    answer = trace.path(tmp_path)
    assert answer.kinds == {"launch": 5, "kernel": 100}
    # the other still ends at 95; without either, it still starts at 15, 5 after its launch
    assert answer.saved == {"long": 10, "kernel": 90}


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_stream_that_waits_for_an_event_of_another(tmp_path: Path, is_recorded: bool) -> None:
    trace = Trace()
    trace.launch("before", 0, 5, 100, 7)
    record = trace.call("cudaEventRecord", 6, 1)
    trace.launch("other", 8, 13, 93, 21)
    wait = trace.call("cudaStreamWaitEvent", 14, 1)
    if is_recorded:
        waits = {"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": record}
        trace.sync("Stream Wait Event", wait, 20, **waits)
    trace.launch("after", 16, 108, 50, 20)
    answer = trace.path(tmp_path)
    # without a record, it is the last kernel that ended on another stream, at 106
    awaited = "before" if is_recorded else "other"
    assert answer.names["kernel", "after"] == 50
    assert answer.names["kernel", awaited] == (100 if is_recorded else 93)
    assert answer.names["waiting", "another stream"] == (3 if is_recorded else 2)
    assert sum(answer.kinds.values()) == 158


def test_a_stream_that_waits_for_two_others(tmp_path: Path) -> None:
    trace = Trace()
    for at, name, dur, stream in ((0, "one", 100, 7), (8, "two", 60, 8)):
        trace.launch(name, at, at + 5, dur, stream)
        waits = {"wait_on_cuda_event_record_corr_id": trace.call("cudaEventRecord", at + 6, 1)}
        wait = trace.call("cudaStreamWaitEvent", at + 7, 1)
        trace.sync("Stream Wait Event", wait, 20, wait_on_stream=stream, **waits)
    trace.launch("after", 20, 108, 50, 20)
    answer = trace.path(tmp_path)
    assert answer.kinds == {"launch": 5, "kernel": 150, "waiting": 3}
    # the other one still ends at 73; without either, it starts 5 after its launch, at 25
    assert answer.saved["one"] == 108 - 73
    assert answer.saved["kernel"] == 108 - 25 + 50


def test_a_stream_without_a_wait_does_not_depend_on_another(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("before", 0, 5, 100, 7)
    trace.launch("after", 16, 108, 50, 20)
    answer = trace.path(tmp_path)
    # its launch came last, long before; the host had launched the first one by then
    assert answer.kinds == {"launch": 92, "kernel": 50, "host": 16}


def test_a_host_that_waits_for_the_device(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("gemm", 0, 5, 100)
    trace.call("cudaDeviceSynchronize", 10, 100)
    trace.host("aten::step", 112, 8)
    trace.launch("relu", 130, 135, 10)
    answer = trace.path(tmp_path)
    # the call returns 5 after the kernel
    assert answer.kinds == {"kernel": 110, "host": 20, "waiting": 5, "launch": 10}
    assert answer.names["waiting", "return of cudaDeviceSynchronize"] == 5
    assert answer.names["host", "aten::step"] == 8
    # without it, the call returns at 15, and all that follows comes 95 earlier
    assert answer.saved["gemm"] == 95
    assert answer.saved["relu"] == 10


def test_a_host_that_waits_for_work_whose_launch_is_not_in_the_file(tmp_path: Path) -> None:
    trace = Trace()
    trace.kernel("gemm", 5, 100, 99)
    trace.call("cudaDeviceSynchronize", 10, 100)
    trace.launch("relu", 130, 135, 10)
    answer = trace.path(tmp_path)
    # as above: the call returns at 110, 5 after the kernel, and the host goes on for 20
    assert answer.kinds == {"kernel": 110, "host": 20, "waiting": 5, "launch": 5}
    assert answer.names["kernel", "gemm"] == 100


def test_an_event_does_not_wait_for_work_of_unknown_launch_that_began_later(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("mine", 0, 5, 95)
    record = trace.call("cudaEventRecord", 6, 1)
    trace.kernel("unknown", 100, 5, 99)
    call = trace.call("cudaEventSynchronize", 14, 96)
    awaited = {"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": record}
    trace.sync("Event Sync", call, 7, **awaited)
    trace.launch("after", 115, 120, 10)
    answer = trace.path(tmp_path)
    assert answer.names["kernel", "mine"] == 95
    assert ("kernel", "unknown") not in answer.names


def test_a_host_that_waits_for_all_streams(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("short", 0, 5, 60, 20)
    trace.launch("long", 10, 15, 85)
    trace.call("cudaDeviceSynchronize", 20, 85)
    trace.launch("after", 120, 125, 10)
    answer = trace.path(tmp_path)
    assert answer.names["kernel", "long"] == 85
    # the call still waits for the other one until 65; without either, it returns at 25
    assert answer.saved["long"] == 100 - 65
    assert answer.saved["kernel"] == 105 - 25 + 10


def test_a_synchronization_that_finds_the_device_idle_is_host_time(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("gemm", 0, 5, 10)
    trace.call("cudaDeviceSynchronize", 20, 4)
    trace.launch("relu", 30, 35, 10)
    answer = trace.path(tmp_path)
    assert answer.kinds == {"host": 30, "kernel": 10, "launch": 5}
    assert answer.names["host", "cudaDeviceSynchronize"] == 4


@pytest.mark.parametrize(("sync_stream", "awaited"), [(None, "mine"), (7, "mine"), (20, "other")])
def test_a_host_that_waits_for_one_stream(
    tmp_path: Path, sync_stream: int | None, awaited: str
) -> None:
    trace = Trace()
    trace.launch("other", 0, 5, 103, 20)
    trace.launch("mine", 6, 11, 95, 7)
    call = trace.call("cudaStreamSynchronize", 14, 96)
    if sync_stream is not None:
        trace.sync("Stream Sync", call, sync_stream)
    trace.launch("after", 115, 120, 10, 7)
    answer = trace.path(tmp_path)
    # "mine" ends at 106, "other" at 108; without a record, it is the stream of the last launch
    assert answer.names["kernel", awaited] == (95 if awaited == "mine" else 103)
    assert answer.names["waiting", "return of cudaStreamSynchronize"] == (
        4 if awaited == "mine" else 2
    )
    assert sum(answer.kinds.values()) == 130


def test_a_host_that_waits_for_an_event(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("mine", 0, 5, 95)
    record = trace.call("cudaEventRecord", 6, 1)
    trace.launch("later", 8, 100, 5)
    call = trace.call("cudaEventSynchronize", 14, 96)
    awaited = {"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": record}
    trace.sync("Event Sync", call, 7, **awaited)
    trace.launch("after", 115, 120, 10)
    answer = trace.path(tmp_path)
    # "later" ended in the call, too, but was launched after the record
    assert answer.names["kernel", "mine"] == 95
    assert ("kernel", "later") not in answer.names
    assert answer.names["waiting", "return of cudaEventSynchronize"] == 10


def test_copies_that_hold_up_the_host(tmp_path: Path) -> None:
    trace = Trace()
    copy: dict[str, Any] = {"kind": "gpu_memcpy"}
    # a copy from the device ends in its call; one of pageable memory to it just after
    trace.kernel("Memcpy DtoH", 3, 90, trace.call("cudaMemcpyAsync", 0, 95), **copy)
    trace.kernel("Memcpy HtoD", 103, 80, trace.call("cudaMemcpyAsync", 100, 80), **copy)
    trace.launch("gemm", 190, 195, 5)
    answer = trace.path(tmp_path)
    # 195 to 200; 190 to 195; host 180 to 190; the copy while its call waits, 103 to 180; its
    # launch 100 to 103; host 95 to 100; return 93 to 95; the first copy from 3, its launch from 0
    assert answer.kinds == {"copy": 77 + 90, "host": 15, "launch": 11, "kernel": 5, "waiting": 2}
    # without it, its call returns at 103
    assert answer.saved["Memcpy HtoD"] == 77


def test_a_copy_that_its_call_waits_for_behind_other_work(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("gemm", 0, 5, 100)
    trace.kernel("Memcpy DtoH", 107, 10, trace.call("cudaMemcpyAsync", 10, 112), kind="gpu_memcpy")
    answer = trace.path(tmp_path)
    # the call was there long before the kernel ended, and returns at 122, 5 after the copy
    assert answer.kinds == {"launch": 5, "kernel": 100, "copy": 10, "waiting": 2 + 5}


def test_kernels_that_overlap_on_a_stream(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("first", 0, 5, 100)
    trace.launch("second", 10, 103, 50)
    trace.launch("third", 20, 153, 10)
    answer = trace.path(tmp_path)
    # a kernel can start before the one before it ends (programmatic dependent launch)
    assert answer.kinds == {"launch": 5, "kernel": 158}
    assert answer.names["kernel", "second"] == 153 - 105
    assert answer.saved["second"] == 48
    # the second one still starts 5 after its launch, at 15
    assert answer.saved["first"] == 105 - 15


def test_the_backward_pass_on_a_thread_of_its_own(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("first", 0, 5, 10)
    trace.host("forward", 10, 90)
    trace.host("backward", 110, 100, thread=BACKWARD)
    trace.launch("gradient", 190, 195, 5, thread=BACKWARD)
    trace.host("optimizer", 220, 30)
    trace.launch("update", 240, 245, 10)
    answer = trace.path(tmp_path)
    assert answer.kinds == {"host": 240, "launch": 5, "kernel": 10}
    # until the launches in them; between the passes, nothing is known
    assert answer.names["host", "optimizer"] == 20
    assert answer.names["host", "backward"] == 95
    assert answer.names["host", "forward"] == 90
    assert answer.names["host", "(outside of all calls)"] == 5 + 10 + 10


def test_threads_that_work_side_by_side_do_not_wait_for_each_other(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("first", 0, 5, 10)
    for at in range(10, 200, 20):
        trace.host("mine", at, 15)
        trace.host("theirs", at + 2, 15, thread=BACKWARD)
    trace.launch("last", 210, 215, 5)
    answer = trace.path(tmp_path)
    assert answer.names["host", "mine"] == 150
    assert ("host", "theirs") not in answer.names


def test_a_rank_that_waits_for_another(tmp_path: Path) -> None:
    for rank, start in ((0, 5), (1, 65)):
        trace = Trace(rank=rank)
        group: dict[str, Any] = {
            "Process Group Name": "0",
            "Process Group Ranks": "[0, 1]",
            "Group size": 2,
        }
        collective = {"Collective name": "allreduce", **group}
        correlation = trace.call("cudaLaunchKernel", start - 5, 5)
        trace.kernel("ncclDevKernel_AllReduce", start, 105 - start, correlation, **collective)
        trace.launch("gemm", start + 1, 107, 50)
        trace.write(tmp_path / f"{rank}.json")
    ingest(tmp_path, tmp_path / "S", Options(run_name="r"))
    database = Database(open_store(tmp_path / "S"))
    answer = Answer.of(database)
    assert answer.notes[1] == "path of rank 0, the longest of 2; for another, use --rank"
    assert answer.kinds == {"launch": 5, "waiting": 62, "kernel": 50, "communication": 40}
    assert answer.names["waiting", "rank 1, last in allreduce"] == 60
    assert answer.saved["ncclDevKernel_AllReduce"] == 40
    other = Answer.of(database, rank=1)
    assert other.kinds == {"launch": 5, "kernel": 50, "communication": 40, "waiting": 2}


def test_a_device_without_its_host(tmp_path: Path) -> None:
    trace = Trace()
    trace.kernel("one", 0, 10, 1)
    trace.kernel("two", 12, 10, 2)
    trace.kernel("beside", 5, 10, 3, 20)
    answer = trace.path(tmp_path)
    assert answer.kinds == {"kernel": 20, "waiting": 2}
    assert answer.notes[1:] == (
        "launches of 3 of 3 kernels, copies and memsets not in the file",
        "no host calls in the file: the path is of the device only",
    )


def test_a_launch_after_its_kernel_is_not_believed(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("one", 0, 5, 10)
    trace.launch("two", 30, 20, 20)
    answer = trace.path(tmp_path)
    assert answer.kinds == {"launch": 5, "kernel": 30, "waiting": 5}
    assert answer.notes[1].startswith("launches of 1 of 2 ")


def test_steps(tmp_path: Path) -> None:
    trace = Trace()
    for step in range(3):
        at = 100 * step
        trace.host(f"ProfilerStep#{step}", at, 100, "user_annotation")
        trace.launch("gemm", at + 10, at + 15, 30)
    database = trace.database(tmp_path)
    # from mark to mark, long after its kernel has ended
    inner = Answer.of(database, phase="1..1")
    assert inner.kinds == {"host": 100}
    assert inner.saved == {}
    # the last one ends with its mark
    assert Answer.of(database, phase="2..2").kinds == {"host": 100}
    both = Answer.of(database, phase="0..1")
    assert sum(both.kinds.values()) == 200
    with pytest.raises(QueryError, match=r"no steps 7\.\.9"):
        Answer.of(database, phase="7..9")
    with pytest.raises(QueryError, match='no phase "it\'s"'):
        Answer.of(database, phase="it's")


def test_steps_of_a_host_that_runs_ahead(tmp_path: Path) -> None:
    trace = Trace()
    for step in range(3):
        at = 40 * step
        trace.host(f"ProfilerStep#{step}", at, 40, "user_annotation")
        trace.launch("gemm", at, 5 + 102 * step, 100)
    database = trace.database(tmp_path)
    # marks are at 0, 40 and 80, but kernels end at 105, 207 and 309, and so do the steps
    first = Answer.of(database, phase="0..0")
    assert first.kinds == {"kernel": 100, "launch": 5}
    inner = Answer.of(database, phase="1..1")
    assert inner.kinds == {"kernel": 100, "waiting": 2}
    assert inner.saved == {"kernel": 100, "gemm": 100}
    assert sum(Answer.of(database).kinds.values()) == 309


def test_events_of_no_length_at_one_time_come_in_some_order(tmp_path: Path) -> None:
    trace = Trace()
    for name in ("one", "two", "three"):
        trace.kernel(name, 10, 0, trace.call("cudaLaunchKernel", 10, 0))
        trace.call("cudaDeviceSynchronize", 10, 0)
        trace.host("aten::nothing", 10, 0, thread=BACKWARD)
    trace.launch("last", 10, 12, 5)
    answer = trace.path(tmp_path)
    assert sum(answer.kinds.values()) == 7


def test_a_run_without_a_device_is_refused(tmp_path: Path) -> None:
    trace = Trace()
    trace.host("aten::mm", 0, 10)
    with pytest.raises(UsageError, match="has no timeline of devices"):
        trace.path(tmp_path)
    with pytest.raises(UsageError, match="no run called 'other'"):
        Answer.of(Database(open_store(tmp_path / "S")), run="other")


def test_an_unknown_rank_is_refused(tmp_path: Path) -> None:
    trace = Trace()
    trace.launch("gemm", 0, 5, 10)
    with pytest.raises(UsageError, match="no rank 3; its files name no rank"):
        trace.path(tmp_path, rank=3)
