"""Names of planes and lines as real profiles have them, and what they say."""

from __future__ import annotations

import pytest

from tracekit.reading.xla.lines import Role, device_of, host_slice_kind, role, stream_of


@pytest.mark.parametrize(
    ("plane", "line", "expected"),
    [
        ("/device:GPU:4", "Stream #134(Compute)", Role.KERNELS),
        ("/device:GPU:0", "Stream #2", Role.KERNELS),
        ("/device:GPU:0", "Stream #8(MemcpyOther)", Role.KERNELS),
        ("/device:GPU:0", "XLA Ops", Role.DERIVED),
        ("/device:GPU:0", "TensorFlow Name Scope", Role.DERIVED),
        ("/device:GPU:0", "Steps", Role.STEPS),
        ("/device:GPU:0", "XLA Ops - from #16", Role.DERIVED),
        ("/device:GPU:7", "Source code - from #1", Role.DERIVED),
        ("/device:TPU:0", "Host Offload Ops row 3", Role.DERIVED),
        ("/device:GPU:0", "a line of tomorrow", Role.OTHER),
        ("/device:TPU:3", "XLA Ops", Role.TPU_OPS),
        ("/device:TPU:3", "Async XLA Ops", Role.DERIVED),
        ("/device:TPU:3", "XLA Modules", Role.MODULES),
        ("/device:TPU:3", "_counters_", Role.COUNTERS),
        ("/device:TPU:0 SparseCore 1", "Sparse Core Ops", Role.OTHER),
        ("/device:TPU:0 SparseCore 1", "XLA Ops", Role.DERIVED),
        ("/device:CUSTOM:Megascale Trace", "Stream #2", Role.OTHER),
        ("/host:CPU", "Host Threads/583", Role.HOST),
        ("/host:CPU", "", Role.HOST),
        ("/host:CUPTI", "python3", Role.HOST),
        ("/host:python-tracer", "MainThread", Role.PYTHON),
        ("Task Environment", "", Role.OTHER),
    ],
)
def test_a_line_is_told_by_its_plane_and_name(plane: str, line: str, expected: Role) -> None:
    assert role(plane, line) is expected


def test_only_streams_and_the_tpus_own_line_are_work() -> None:
    assert [r for r in Role if r.is_repeated] == [Role.MODULES, Role.STEPS, Role.DERIVED]


@pytest.mark.parametrize(
    ("plane", "expected"),
    [
        ("/device:GPU:7", ("gpu", 7)),
        ("/device:TPU:12", ("tpu", 12)),
        ("/device:TPU:0 SparseCore 1", ("tpu", 0)),
        ("worker-1 /device:TPU:5", ("tpu", 5)),
        ("/device:CUSTOM:Megascale Trace", None),
        ("/device:GPU:" + "9" * 40, None),
        ("/host:CPU", None),
        ("", None),
    ],
)
def test_the_device_stands_in_the_name_of_the_plane(
    plane: str, expected: tuple[str, int] | None
) -> None:
    assert device_of(plane) == expected


def test_the_stream_stands_in_the_name_of_the_line() -> None:
    assert stream_of("Stream #16(Kernel)") == 16
    assert stream_of("Stream #2") == 2
    assert stream_of("Steps") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("$threading.py:637 wait", "python"),
        ("cudaLaunchKernel", "runtime"),
        ("cuMemcpyHtoDAsync_v2", "runtime"),
        ("hipModuleLaunchKernel", "runtime"),
        ("custom_call", "annotation"),
        ("cumsum", "annotation"),
        ("Identity_2:Identity", "op"),
        ("model/dense/MatMul:MatMul", "op"),
        ("Iterator::Prefetch::Generator", "annotation"),
        ("tpu::System::Execute=>Done", "annotation"),
        ("PjitFunction(f)", "annotation"),
    ],
)
def test_what_an_event_of_a_host_thread_is(name: str, expected: str) -> None:
    assert host_slice_kind(name) == expected
