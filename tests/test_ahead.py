"""Work that threads do ahead: in order, within bounds, and ended when it is not wanted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tracekit.ahead import DoneAhead


def made(
    work: Callable[[int], int], items: list[int], *, most_items: int = 9, most_weight: int = 99
) -> DoneAhead[int, int]:
    """Work on some numbers, each as heavy as it is, by two threads."""
    return DoneAhead(
        work, items, lambda n: n, threads=2, most_items=most_items, most_weight=most_weight
    )


def settled(begun: list[int]) -> list[int]:
    """What is begun once nothing more is."""
    before = -1
    while before != len(begun):
        before = len(begun)
        time.sleep(0.1)
    return sorted(begun)


@pytest.mark.parametrize(
    ("most_items", "most_weight", "first", "then"),
    [
        (2, 99, [1, 2], [1, 2, 3]),  # so many
        (9, 6, [1, 2, 3], [1, 2, 3]),  # 1 + 2 + 3; without 1 there is room for 1, not for 10
        (9, 15, [1, 2, 3], [1, 2, 3, 10]),  # 2 + 3 + 10
    ],
)
def test_what_is_held_is_bounded(
    most_items: int, most_weight: int, first: list[int], then: list[int]
) -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        return -number

    ahead = made(work, [1, 2, 3, 10], most_items=most_items, most_weight=most_weight)
    assert settled(begun) == first
    assert ahead.result(0) == -1
    ahead.release(0)
    assert settled(begun) == then
    ahead.stop()


def test_what_is_waited_for_is_begun_in_any_case() -> None:
    ahead = made(lambda n: -n, [5, 6, 7], most_items=1, most_weight=1)
    assert [ahead.result(place) for place in range(3)] == [-5, -6, -7]  # none is released


def test_what_belongs_together_is_begun_together() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        return -number

    ahead = made(work, [5, 6, 7], most_items=1, most_weight=1)
    assert ahead.result(0, last=1) == -5
    assert settled(begun) == [5, 6]
    ahead.stop()


def test_an_error_is_that_of_its_item() -> None:
    def work(number: int) -> int:
        if number == 2:
            raise ValueError(number)
        return -number

    ahead = made(work, [1, 2, 3])
    assert ahead.result(2) == -3
    assert not ahead.is_done(1)
    with pytest.raises(ValueError, match="2"):
        ahead.result(1)
    assert ahead.result(0) == -1


def test_who_waits_is_called_meanwhile() -> None:
    goes_on, calls = threading.Event(), []

    def work(number: int) -> int:
        goes_on.wait(10)
        return -number

    def on_wait() -> None:
        calls.append(1)
        goes_on.set()

    assert made(work, [4]).result(0, on_wait) == -4
    assert calls


def test_nothing_is_begun_after_the_end() -> None:
    begun: list[int] = []
    goes_on = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        goes_on.wait(10)
        return -number

    ahead = made(work, [1, 2, 3, 4])
    assert settled(begun) == [1, 2]
    ahead.stop()
    goes_on.set()
    assert settled(begun) == [1, 2]
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("tracekit-ahead")]
