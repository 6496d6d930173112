"""Content that is decompressed once: every reader gets all of it, whatever the others do."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tracekit.errors import FormatError
from tracekit.sharing import NoLongerWanted, SharedContent
from tracekit.source import Source, identify

MANY = [bytes([i % 256]) * 10 for i in range(300)]


def counted(made: list[int]) -> Iterator[bytes | str]:
    for number, piece in enumerate(MANY):
        made.append(number)
        yield piece


def test_each_reader_gets_everything_and_it_is_made_once() -> None:
    made: list[int] = []
    content = SharedContent(counted(made), 3)
    readers = [content.reader() for _ in range(3)]
    assert content.reader() is None

    def read(number: int) -> list[bytes | str]:
        reader = readers[number]
        assert reader is not None
        found = []
        for piece in reader:
            found.append(piece)
            if number == 1:
                time.sleep(0.0005)  # slower than the others
        reader.close()
        return found

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(read, range(3))) == [MANY] * 3
    assert made == list(range(300))


def test_no_reader_gets_far_ahead_of_one_that_is_still_to_come() -> None:
    made: list[int] = []
    content = SharedContent(counted(made), 2)
    first = content.reader()
    assert first is not None
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(list, first)
        time.sleep(0.1)
        assert not reading.done()
        assert len(made) < 50
        second = content.reader()
        assert second is not None
        assert next(second) == MANY[0]
        second.close()  # it wants no more: the other goes on alone
        assert reading.result(timeout=10) == MANY


def test_all_readers_learn_what_went_wrong() -> None:
    def broken() -> Iterator[bytes | str]:
        yield b"x"
        raise FormatError("unlike any profile")

    content = SharedContent(broken(), 2)
    readers = [content.reader(), content.reader()]
    for reader in readers:
        assert reader is not None
        with pytest.raises(FormatError, match="unlike any profile"):
            list(reader)


def test_stopping_ends_a_reader_that_waits() -> None:
    content = SharedContent(iter(MANY), 2)
    reader, ended = content.reader(), threading.Event()

    def read() -> None:
        assert reader is not None
        with pytest.raises(NoLongerWanted):
            list(reader)
        ended.set()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    time.sleep(0.05)
    assert not ended.is_set()
    content.stop()
    thread.join(timeout=10)
    assert ended.is_set()


@pytest.mark.parametrize("damage", [None, "cut", "flipped"])
def test_shared_content_is_that_of_the_file(tmp_path: Path, damage: str | None) -> None:
    content = b"".join(b"%d " % i for i in range(400_000))
    packed = bytearray(gzip.compress(content))
    if damage == "cut":
        del packed[len(packed) // 2 :]
    elif damage == "flipped":
        packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "content.gz"
    path.write_bytes(packed)
    alone = Source.at(path)
    shared = alone.for_readers(2)

    def read(source: Source, size: int) -> tuple[bytes, str | None]:
        with source.open() as stream:
            found = b"".join(iter(lambda: stream.read(size), b""))
            return found, stream.damage

    expected = read(alone, 1 << 20)
    assert (expected[1] is None) == (damage is None)
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(read, shared, 999_983)
        assert identify(shared) == identify(alone)
        assert reading.result(timeout=30) == expected
    assert read(shared, 70_001) == expected  # all readers had their turn: this one reads alone
