"""Launches of which the file has no device record: how many, and when their work can have run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.attribution.traces import Store, kernel, launch, op, slice_, stored

US = 1000


def counts(store: Store) -> dict[str, tuple[int, int]]:
    """The calls and the unrecorded calls of each name."""
    rows = store.rows("SELECT name, call_count, unrecorded_count FROM launch_call")
    return {row["name"]: (row["call_count"], row["unrecorded_count"]) for row in rows}


def possible(store: Store) -> list[tuple[Any, ...]]:
    rows = store.rows("""
        SELECT device_id, stream_id, possible_start_ns, possible_end_ns FROM unrecorded_launch
        ORDER BY start_ns""")
    return [tuple(row.values()) for row in rows]


def issues(store: Store) -> list[tuple[str, str, int]]:
    rows = store.rows("""
        SELECT severity_kind, message, occurrence_count FROM ingest_issue
        WHERE code = 'launches_without_records'""")
    return [tuple(row.values()) for row in rows]


def test_launches_without_records_are_counted_and_told(tmp_path: Path) -> None:
    # two graphs have no kernel; a kernel of one more starts 20 us after its launch
    store = stored(
        tmp_path,
        [
            *(launch(i, 1000 * i, 10, name="cudaGraphLaunch") for i in range(4)[1:]),
            launch(4, 4000, 10, name="cudaGraphLaunch"),
            kernel("k", 1020, 900, correlation=1),
            kernel("k", 4020, 900, correlation=4),
        ],
    )
    assert counts(store) == {"cudaGraphLaunch": (4, 2)}
    assert possible(store) == [(0, 7, 2000 * US, 4020 * US), (0, 7, 3000 * US, 4020 * US)]
    message = "launch calls without a record of their device work, of 4 in total"
    assert issues(store) == [("warning", message, 2)]


def test_one_launch_in_many_is_a_note(tmp_path: Path) -> None:
    launches = [launch(i, 10 * i) for i in range(200)[1:]]
    kernels = [kernel("k", 10 * i + 5, 1, correlation=i) for i in range(199)[1:]]
    store = stored(tmp_path, [*launches, *kernels])
    assert [(kind, count) for kind, _, count in issues(store)] == [("info", 1)]


def test_nothing_is_missing_where_all_launches_have_work(tmp_path: Path) -> None:
    store = stored(tmp_path, [launch(1, 0), kernel("k", 5, 1, correlation=1)])
    assert counts(store) == {}
    assert possible(store) == []
    assert issues(store) == []


def test_captured_launches_have_no_work_by_nature(tmp_path: Path) -> None:
    captured = [
        launch(90, 10, name="cudaStreamBeginCapture"),
        *(launch(i, 20 * i) for i in (1, 2, 3)),
        launch(91, 90, name="cudaStreamEndCapture"),
    ]
    lost = launch(5, 200)
    store = stored(
        tmp_path,
        [
            *captured,
            launch(4, 100, name="cudaGraphLaunch"),
            kernel("k", 110, 5, correlation=4),
            lost,
        ],
    )
    assert counts(store) == {"cudaGraphLaunch": (1, 0), "cudaLaunchKernel": (1, 1)}


def test_a_call_of_the_driver_inside_one_of_the_runtime_is_the_same_launch(tmp_path: Path) -> None:
    store = stored(
        tmp_path,
        [
            launch(1, 0, 10),
            launch(2, 2, 5, name="cuLaunchKernel", cat="cuda_driver"),
            kernel("k", 20, 5, correlation=1),
            launch(3, 30, 10),
            launch(4, 32, 5, name="cuLaunchKernel", cat="cuda_driver"),
        ],
    )
    assert counts(store) == {"cudaLaunchKernel": (2, 1)}


def test_kinds_of_calls(tmp_path: Path) -> None:
    names = {
        "cudaLaunchKernelExC_v11060": True,
        "cudaLaunchHostFunc_v10000": False,
        "cudaMemcpyAsync": True,
        "cudaGraphAddMemcpyNode": False,
        "cudaMemGetInfo": False,
        "cuMemsetD8Async": True,
        "hipExtModuleLaunchKernel": True,
        "hipGraphLaunch": True,
        "hipGraphInstantiate": False,
        "zeCommandListAppendLaunchKernel": True,
        "zeCommandListAppendMemoryCopy": True,
        "zeCommandQueueExecuteCommandLists": False,
        "urEnqueueKernelLaunch": True,
        "urEnqueueUSMFill": True,
        "urEventWait": False,
        "piEnqueueKernelLaunch": True,
        "runFunction - job_prep_and_submit_for_execution": True,
        "enqueueCommand memcpyDtoHAsync": True,
        "enqueueCommand waitOnEvent": False,
        "AscendCL@aclnnMatmul": True,
        "AscendCL@aclnnMatmulGetWorkspaceSize": False,
        "AscendCL@aclrtMemcpyAsync": True,
        "AscendCL@aclrtSynchronizeStream": False,
    }
    calls = [launch(i, 10 * i, name=name) for i, name in enumerate(names, start=1)]
    store = stored(tmp_path, calls)
    assert set(counts(store)) == {name for name, starts_work in names.items() if starts_work}
    assert all(count == (1, 1) for count in counts(store).values())


def test_without_any_device_record_all_launches_are_unrecorded(tmp_path: Path) -> None:
    store = stored(tmp_path, [op("aten::mm", 0, 50), launch(1, 10), launch(2, 20)])
    assert counts(store) == {"cudaLaunchKernel": (2, 2)}
    assert possible(store) == [(None, None, 10 * US, None), (None, None, 20 * US, None)]


def test_device_work_without_ids_can_be_the_work_of_any_launch(tmp_path: Path) -> None:
    kernels = [slice_("kernel", "k", 50 * i, 5, device=0, stream=7) for i in (1, 2)]
    store = stored(tmp_path, [launch(1, 10), launch(2, 20), *kernels])
    assert counts(store) == {}


def test_work_runs_between_its_neighbors_on_the_stream(tmp_path: Path) -> None:
    # launched at 20, while the kernel launched before it runs until 100; the one after it starts
    # at 300; on the other stream, nothing says
    store = stored(
        tmp_path,
        [
            launch(1, 0),
            launch(2, 20),
            launch(3, 30),
            kernel("first", 10, 90, correlation=1),
            kernel("next", 300, 10, correlation=3),
            kernel("other", 150, 10, stream=9, correlation=4),
            launch(4, 40, tid=5),
        ],
    )
    assert possible(store) == [(0, 7, 100 * US, 300 * US)]


def test_a_call_that_waits_for_the_device_ends_the_time(tmp_path: Path) -> None:
    store = stored(
        tmp_path,
        [
            launch(1, 0),
            kernel("first", 10, 20, correlation=1),
            launch(2, 50),
            launch(80, 60, 40, name="cudaDeviceSynchronize"),
            launch(3, 400),
            kernel("next", 450, 10, correlation=3),
        ],
    )
    assert possible(store) == [(0, 7, 50 * US, 100 * US)]


def test_a_call_that_waits_for_a_stream_ends_it_on_a_thread_of_one_stream(tmp_path: Path) -> None:
    sync = launch(80, 60, 40, name="cudaStreamSynchronize")
    events = [
        launch(1, 0),
        kernel("first", 10, 20, correlation=1),
        launch(2, 50),
        sync,
        launch(3, 400),
        kernel("next", 450, 10, correlation=3),
    ]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert possible(stored(tmp_path / "one", events)) == [(0, 7, 50 * US, 100 * US)]
    more = [launch(5, 500), kernel("other", 520, 10, stream=9, correlation=5)]
    assert possible(stored(tmp_path / "two", [*events, *more])) == [(0, 7, 50 * US, 450 * US)]
