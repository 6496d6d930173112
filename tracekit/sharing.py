"""Content that is decompressed once, for several readers at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

_MOST_AHEAD = 24  # pieces that the fastest reader may be ahead of the slowest


class NoLongerWanted(BaseException):
    """Ends a reader whose work is not wanted any more: no error, so nobody handles it."""


class SharedContent:
    """Pieces of content for a number of readers, each in a thread of its own.

    Whoever needs the next piece first makes it, and it is kept until all have had it. So none gets
    far ahead: it waits for the others, also for those that are still to come.
    """

    def __init__(self, pieces: Iterator[bytes | str], readers: int) -> None:
        """Share `pieces` among so many readers."""
        self._pieces = pieces
        self._kept: deque[bytes | str] = deque()
        self._first = 0  # the number of the first piece that is kept
        self._next: dict[int, int] = dict.fromkeys(range(readers), 0)  # piece, by reader
        self._free = list(self._next)
        self._changed = threading.Condition()
        self._failure: BaseException | None = None

    def reader(self) -> SharedReader | None:
        """Another reader of the pieces; None if all of them are there already."""
        with self._changed:
            return SharedReader(self, self._free.pop()) if self._free else None

    def stop(self) -> None:
        """End all readers: NoLongerWanted is raised where they read on."""
        with self._changed:
            self._failure = NoLongerWanted()
            self._changed.notify_all()

    def piece_for(self, number: int) -> bytes | str | None:
        """The next piece for a reader; None at the end."""
        with self._changed:
            while self._failure is None and self._is_far_ahead(number):
                self._changed.wait()
            if self._failure is not None:
                raise self._failure
            place = self._next[number] - self._first
            if place == len(self._kept) and not self._make():
                return None
            piece = self._kept[place]
            self._next[number] += 1
            self._forget()
            return piece

    def leave(self, number: int) -> None:
        """A reader wants no further piece."""
        with self._changed:
            self._next.pop(number, None)
            self._forget()

    def _is_far_ahead(self, number: int) -> bool:
        return self._next[number] - min(self._next.values()) >= _MOST_AHEAD

    def _make(self) -> bool:
        """Make the next piece; False at the end. An error is every reader's."""
        try:
            piece = next(self._pieces, None)
        except BaseException as error:
            self._failure = error
            self._changed.notify_all()
            raise
        if piece is not None:
            self._kept.append(piece)
        return piece is not None

    def _forget(self) -> None:
        """Let go of what all readers have had, and wake those that waited for it."""
        slowest = min(self._next.values(), default=self._first)
        for _ in range(slowest - self._first):
            self._kept.popleft()
        if slowest > self._first:
            self._first = slowest
            self._changed.notify_all()


class SharedReader:
    """One reader of shared content: an iterator over its pieces, to be closed."""

    def __init__(self, content: SharedContent, number: int) -> None:
        """Read as the reader of that number."""
        self._content, self._number = content, number

    def __iter__(self) -> SharedReader:
        """The reader itself."""
        return self

    def __next__(self) -> bytes | str:
        """The next piece; waits for slower readers."""
        piece = self._content.piece_for(self._number)
        if piece is None:
            raise StopIteration
        return piece

    def close(self) -> None:
        """Let the others go on alone."""
        self._content.leave(self._number)
