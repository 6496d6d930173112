"""Batches that a thread makes while those before them are used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import TypeVar

_Batch = TypeVar("_Batch")


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
