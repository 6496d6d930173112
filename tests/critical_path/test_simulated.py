"""Critical paths of programs that are run by a few lines here, which also run them without work.

The host launches kernels to two streams and waits for the device now and then. A kernel starts
5 µs after its launch began, or when the one before on its stream ends; a call that waits returns
3 µs after the last kernel, or after it began.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.critical_path.traces import Trace

LAUNCH, RETURN = 5, 3
NAMES = ("gemm", "relu", "sum")


@dataclass(frozen=True)
class Launch:
    """A kernel to launch after some time on the host."""

    host: int
    name: str
    dur: int
    stream: int


@dataclass(frozen=True)
class Wait:
    """A wait for all kernels after some time on the host."""

    host: int


Program = list[Launch | Wait]


@dataclass
class Ran:
    """When each kernel ran, and each wait."""

    kernels: list[tuple[Launch, int, int]]
    waits: list[tuple[int, int]]

    @property
    def span(self) -> tuple[int, int]:
        """From the first call, which is at 0, to the last end of a kernel or a wait."""
        kernel_ends = [start + dur for _, start, dur in self.kernels]
        return 0, max(kernel_ends + [until for _, until in self.waits])


def ran(program: Program, free: str | None = None) -> Ran:
    """Run a program, kernels called `free` without taking time."""
    now, ends, result = 0, {7: 0, 20: 0}, Ran([], [])
    for what in program:
        now += what.host
        if isinstance(what, Wait):
            until = max(now, *ends.values()) + RETURN
            result.waits.append((now, until))
            now = until
            continue
        start = max(now + LAUNCH, ends[what.stream])
        dur = 0 if free in (what.name, "any") else what.dur
        result.kernels.append((what, start, dur))
        ends[what.stream] = start + dur
        now += LAUNCH
    return result


def trace_of(program: Program) -> Trace:
    """The trace of a program."""
    result, trace, now = ran(program), Trace(), 0
    kernels, waits = iter(result.kernels), iter(result.waits)
    for what in program:
        now += what.host
        if isinstance(what, Wait):
            begin, until = next(waits)
            trace.call("cudaDeviceSynchronize", begin, until - begin)
            now = until
        else:
            _, start, dur = next(kernels)
            trace.launch(what.name, now, start, dur, what.stream)
            now += LAUNCH
    return trace


launches = st.builds(
    Launch, st.integers(0, 20), st.sampled_from(NAMES), st.integers(1, 60), st.sampled_from([7, 20])
)
programs = st.lists(launches | st.builds(Wait, st.integers(0, 20)), max_size=12).map(
    lambda rest: [Launch(0, "gemm", 10, 7), *rest]
)


@pytest.mark.deep
@settings(max_examples=settings().max_examples // 2)  # each is ingested
@given(programs)
@example(  # without "relu", the host still waits for "sum"
    [
        Launch(0, "gemm", 10, 7),
        Launch(19, "sum", 31, 20),
        Launch(4, "relu", 53, 7),
        Wait(0),
        Launch(19, "gemm", 20, 20),
    ]
)
def test_time_to_win_is_that_of_the_program_without_the_kernel(program: Program) -> None:
    with tempfile.TemporaryDirectory() as folder:
        answer = trace_of(program).path(Path(folder))
    first, last = ran(program).span
    assert sum(answer.kinds.values()) == last - first
    assert sum(answer.names.values()) == last - first
    for name, saved in answer.saved.items():
        _, without = ran(program, "any" if name == "kernel" else name).span
        assert saved == last - max(without, first), name

    for name in NAMES:
        total = sum(dur for what, _, dur in ran(program).kernels if what.name == name)
        on_path = answer.names.get(("kernel", name), 0)
        assert answer.saved.get(name, 0) <= on_path <= total
