"""Work that threads do while the results before it are used."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import Generic, TypeVar

_Batch = TypeVar("_Batch")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_POLL_SECONDS = 0.1  # for whoever waits to see Ctrl-C, on any system


@contextmanager
def made_ahead(batches: Iterator[_Batch], most: int) -> Iterator[Iterator[_Batch]]:
    """The same batches, of which a thread makes so many ahead, from now on.

    It works in a copy of this context: large arrays are in files there, too.
    """
    make = partial(copy_context().run, next, batches, None)
    with ThreadPoolExecutor(1, "tracekit-ahead") as beside:
        coming = deque(beside.submit(make) for _ in range(most))

        def made() -> Iterator[_Batch]:
            while (batch := coming.popleft().result()) is not None:
                coming.append(beside.submit(make))
                yield batch

        yield made()


class DoneAhead(Generic[_Item, _Result]):
    """The results of `work` for some items, by place, which threads work on in that order.

    What they hold, from the start of an item until its release, stays within a number of items and
    a sum of their weights; but what is waited for is always begun. The threads may hang in the
    network, so they are no reason for the process to go on.
    """

    def __init__(
        self,
        work: Callable[[_Item], _Result],
        items: Sequence[_Item],
        weight_of: Callable[[_Item], int],
        *,
        threads: int,
        most_items: int,
        most_weight: int,
    ) -> None:
        """Begin at once."""
        self._work, self._items, self._weight_of = work, items, weight_of
        self._most_items, self._most_weight = most_items, most_weight
        self._changed = threading.Condition()
        self._next, self._wanted = 0, -1
        self._held: dict[int, int] = {}  # weights
        self._results: dict[int, _Result] = {}
        self._errors: dict[int, BaseException] = {}
        self._is_stopped = False
        for number in range(min(threads, len(items))):
            threading.Thread(target=self._run, name=f"tracekit-ahead-{number}", daemon=True).start()

    def is_done(self, place: int) -> bool:
        """Whether there is a result, and no error."""
        with self._changed:
            return place in self._results

    def result(
        self, place: int, on_wait: Callable[[], None] = lambda: None, last: int = -1
    ) -> _Result:
        """The result for an item, or its error; `on_wait` is called now and then meanwhile.

        Items up to `last` are waited for together with it.
        """
        with self._changed:
            self._wanted = max(self._wanted, place, last)
            self._changed.notify_all()
            while place not in self._results and place not in self._errors:
                self._changed.wait(_POLL_SECONDS)
                on_wait()
            if place in self._errors:
                raise self._errors[place]
            return self._results[place]

    def release(self, place: int) -> None:
        """Forget a result: what it held may be used for others."""
        with self._changed:
            self._results.pop(place, None)
            self._held.pop(place, None)
            self._changed.notify_all()

    def stop(self) -> None:
        """Begin nothing more."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def _run(self) -> None:
        while (place := self._begun()) is not None:
            try:
                result = self._work(self._items[place])
            except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
                self._errors[place] = error
            else:
                self._results[place] = result
            with self._changed:
                self._changed.notify_all()

    def _begun(self) -> int | None:
        """The next item to work on, once there is room for it; None at the end."""
        with self._changed:
            while not self._is_stopped and self._next < len(self._items):
                place, weight = self._next, self._weight_of(self._items[self._next])
                if self._has_room(place, weight):
                    self._next += 1
                    self._held[place] = weight
                    return place
                self._changed.wait()
            return None

    def _has_room(self, place: int, weight: int) -> bool:
        is_within = len(self._held) < self._most_items
        is_light = sum(self._held.values()) + weight <= self._most_weight
        return (is_within and is_light) or place <= self._wanted
