"""What is read of a file: its content, however packed, and all of it that is sound."""

from __future__ import annotations

import gzip
import itertools
import os
import pickle
import random
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from blake3 import blake3

from tracekit.errors import FormatError
from tracekit.source import HEAD_BYTES, Source, identify, laid_out

# Larger than every buffer on the way, and of bytes that hardly shrink.
CONTENT = random.Random(0).randbytes(3_000_000)
TEXT = b'{"traceEvents": []}\n'

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
}


@pytest.fixture
def source(tmp_path: Path) -> Callable[[bytes], Source]:
    """A source of some bytes; its name says nothing."""

    def write(data: bytes) -> Source:
        path = tmp_path / "data"
        path.write_bytes(data)
        return Source.at(path)

    return write


Write = Callable[[bytes], Source]


def read(source: Source) -> tuple[bytes, str | None]:
    """The content, and what is said to be wrong with it."""
    with source.open() as stream:
        return b"".join(stream.pieces()), stream.damage


# -- sound files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PACKINGS)
@pytest.mark.parametrize("content", [CONTENT, TEXT, b"x"], ids=["large", "small", "a byte"])
def test_the_content_is_what_was_packed(kind: str, content: bytes, source: Write) -> None:
    packed = PACKINGS[kind](content)
    found = source(packed)
    assert (found.compression_kind, found.size_bytes) == (kind, len(packed))
    assert read(found) == (content, None)


@pytest.mark.parametrize("kind", PACKINGS)
def test_nothing_packed_is_nothing(kind: str, source: Write) -> None:
    found = source(PACKINGS[kind](b""))
    assert read(found) == (b"", None)
    assert found.head() == b""


@pytest.mark.parametrize("name", ["trace.json.gz", "trace.zst", "trace"])
def test_the_name_does_not_tell_the_compression(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(TEXT)
    assert Source.at(path).compression_kind == "none"
    path.write_bytes(gzip.compress(TEXT))
    assert Source.at(path).compression_kind == "gzip"


@pytest.mark.parametrize("parts", [2, 5])
def test_gzip_of_several_members_is_one_content(parts: int, source: Write) -> None:
    size = len(CONTENT) // parts + 1
    members = [CONTENT[i : i + size] for i in range(0, len(CONTENT), size)]
    assert read(source(b"".join(map(gzip.compress, members)))) == (CONTENT, None)


@pytest.mark.parametrize("parts", [2, 5])
def test_zstd_of_several_frames_is_one_content(parts: int, source: Write) -> None:
    size = len(CONTENT) // parts + 1
    frames = [CONTENT[i : i + size] for i in range(0, len(CONTENT), size)]
    assert read(source(b"".join(map(zstandard.compress, frames)))) == (CONTENT, None)


def test_many_small_members(source: Write) -> None:
    members = [bytes([i % 256]) * (i % 7) for i in range(500)]
    assert read(source(b"".join(map(gzip.compress, members)))) == (b"".join(members), None)


def test_a_zstd_frame_that_does_not_tell_its_size(source: Write) -> None:
    stream = zstandard.ZstdCompressor().compressobj()
    packed = stream.compress(CONTENT) + stream.flush()
    assert read(source(packed)) == (CONTENT, None)


def test_a_skippable_zstd_frame_is_no_content(source: Write) -> None:
    frame = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    packed = zstandard.compress(TEXT) + frame + zstandard.compress(TEXT)
    assert read(source(packed)) == (TEXT * 2, None)


# -- damaged files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.8, 0.99])
def test_a_cut_stream_gives_what_comes_before_the_cut(
    kind: str, share: float, source: Write
) -> None:
    packed = PACKINGS[kind](CONTENT)
    content, damage = read(source(packed[: int(len(packed) * share)]))
    assert CONTENT.startswith(content)
    # at most a block of the compressor is lost: 128 KiB and what is in its buffers
    assert len(content) > len(CONTENT) * share - 400_000
    assert damage == f"{kind} stream is cut short"


@pytest.mark.parametrize("missing", [1, 4, 8])
def test_gzip_without_all_of_its_check_sum_is_cut(missing: int, source: Write) -> None:
    content, damage = read(source(gzip.compress(TEXT)[:-missing]))
    assert content == TEXT
    assert damage == "gzip stream is cut short"


def test_a_file_that_ends_in_the_magic_bytes_is_cut(source: Write) -> None:
    for kind, magic in (("gzip", b"\x1f\x8b"), ("zstd", b"\x28\xb5\x2f\xfd")):
        assert read(source(magic)) == (b"", f"{kind} stream is cut short")


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("rubbish", [b"rubbish behind", b"\n", bytes(range(1, 200))])
def test_rubbish_behind_the_stream_is_told_and_costs_nothing(
    kind: str, rubbish: bytes, source: Write
) -> None:
    content, damage = read(source(PACKINGS[kind](CONTENT) + rubbish))
    assert content == CONTENT
    assert damage is not None
    assert damage.startswith(f"{kind} stream is ")


@pytest.mark.parametrize("size", [1, 512, 300_000])
def test_zeros_behind_gzip_are_padding(size: int, source: Write) -> None:
    """Tapes and some copy programs fill the last block; gzip itself passes over it."""
    assert read(source(gzip.compress(CONTENT) + bytes(size))) == (CONTENT, None)


def test_a_flipped_bit_in_the_content_of_gzip_is_told(source: Write) -> None:
    packed = bytearray(gzip.compress(CONTENT))
    packed[len(packed) // 2] ^= 0x10
    content, damage = read(source(bytes(packed)))
    assert damage is not None
    assert damage.startswith("gzip stream is damaged")
    assert CONTENT[: len(CONTENT) // 3] == content[: len(CONTENT) // 3]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_flipped_bit_in_the_check_sum_is_told(kind: str, source: Write) -> None:
    checked = zstandard.ZstdCompressor(write_checksum=True).compress
    packed = bytearray(checked(TEXT) if kind == "zstd" else gzip.compress(TEXT))
    packed[-5 if kind == "gzip" else -1] ^= 1
    _, damage = read(source(bytes(packed)))
    assert damage is not None
    assert damage.startswith(f"{kind} stream is damaged")


def test_damage_in_the_second_member_costs_not_the_first(source: Write) -> None:
    second = bytearray(gzip.compress(CONTENT))
    second[20] ^= 0xFF
    content, damage = read(source(gzip.compress(TEXT) + bytes(second)))
    assert content.startswith(TEXT)
    assert damage is not None


def test_no_bit_of_a_small_file_breaks_it_unseen(source: Write) -> None:
    """A flipped bit changes the content and is told, or changes none of it."""
    for kind in ("gzip", "zstd"):
        packer = zstandard.ZstdCompressor(write_checksum=True).compress
        packed = packer(TEXT) if kind == "zstd" else gzip.compress(TEXT, mtime=0)
        for bit in range(32, 8 * len(packed)):
            broken = bytearray(packed)
            broken[bit // 8] ^= 1 << bit % 8
            content, damage = read(source(bytes(broken)))
            assert damage is not None or content == TEXT


# -- reading piece by piece ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PACKINGS)
def test_a_read_gives_as_much_as_is_asked_for(kind: str, source: Write) -> None:
    with source(PACKINGS[kind](CONTENT)).open() as stream:
        sizes = [1, 10, 70_000, 1_500_000, 0, 3]
        place = 0
        for size in sizes:
            assert stream.read(size) == CONTENT[place : place + size]
            place += size
        assert stream.read(10_000_000) == CONTENT[place:]
        assert stream.read(10) == b""


@pytest.mark.parametrize("kind", PACKINGS)
def test_the_head_is_the_first_64_kib(kind: str, source: Write) -> None:
    assert HEAD_BYTES == 65536
    assert source(PACKINGS[kind](CONTENT)).head() == CONTENT[:65536]
    assert source(PACKINGS[kind](TEXT)).head() == TEXT


def test_a_plain_file_can_be_read_from_anywhere(source: Write) -> None:
    found = source(CONTENT)
    assert found.is_seekable
    with found.open() as stream:
        for place in (2_000_000, 0, 2_999_999, 3_000_000):
            stream.seek(place)
            assert stream.read(100) == CONTENT[place : place + 100]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_packed_file_is_read_from_its_start(kind: str, source: Write) -> None:
    assert not source(PACKINGS[kind](CONTENT)).is_seekable


@pytest.mark.parametrize("kind", PACKINGS)
@pytest.mark.parametrize("sizes", [(4_000_000,), (1, 65_536, 999_999), (3_000_000, 7)])
def test_content_is_read_into_given_room(kind: str, sizes: tuple[int, ...], source: Write) -> None:
    found, room = bytearray(), memoryview(bytearray(4_000_000))
    with source(PACKINGS[kind](CONTENT)).open() as stream:
        for size in itertools.cycle(sizes):
            count = stream.read_into(room[:size])
            found += room[:count]
            if count < size:
                break
        assert stream.read_into(room) == 0
        assert stream.read(10) == b""
    assert found == CONTENT


def test_reading_goes_on_after_what_was_read_into_room(source: Write) -> None:
    for pack in PACKINGS.values():
        with source(pack(CONTENT)).open() as stream:
            room = memoryview(bytearray(100))
            head = stream.read(1000)
            assert stream.read_into(room) == 100
            assert head + bytes(room) + stream.read(5_000_000) == CONTENT


# -- identity --------------------------------------------------------------------------------------


def test_the_identity_is_that_of_the_content(source: Write) -> None:
    digest = blake3(CONTENT).hexdigest()
    packings = [pack(CONTENT) for pack in PACKINGS.values()]
    for packed in (*packings, gzip.compress(CONTENT, 1, mtime=7)):
        identity = identify(source(packed))
        assert identity.content_hash == digest
        assert identity.content_bytes == 3_000_000
        assert identity.source_id == "s" + digest[:15]


def test_another_content_has_another_identity(source: Write) -> None:
    assert identify(source(CONTENT)).source_id != identify(source(CONTENT + b" ")).source_id


# -- files that cannot be read ---------------------------------------------------------------------


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no\.json: cannot be read: No such file"):
        Source.at(tmp_path / "no.json")


def test_a_folder_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        Source.at(tmp_path)


# -- bombs -----------------------------------------------------------------------------------------


def zstd_bomb(size: int) -> bytes:
    """One frame of `size` zeros, in four bytes for each 128 KiB."""
    block, count = 1 << 17, size >> 17
    head = b"\x28\xb5\x2f\xfd\x00\x38"  # no size, a window of 128 KiB
    run_of_zeros = (block << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return (
        head + run_of_zeros * (count - 1) + (block << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"
    )


def test_what_zstd_inflates_to_is_never_in_memory(source: Write) -> None:
    found = source(zstd_bomb(1 << 29))
    assert found.size_bytes < 20_000
    with found.open() as stream:
        sizes = [len(piece) for piece in stream.pieces()]
        assert stream.damage is None
    assert (sum(sizes), max(sizes)) == (1 << 29, 1 << 20)
    tracemalloc.start()
    try:
        assert found.head() == bytes(HEAD_BYTES)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_file_that_gives_more_than_any_profile_is_refused(
    source: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.source._HARMLESS_BYTES", 1 << 24)
    assert len(read(source(zstd_bomb(1 << 24)))[0]) == 1 << 24
    bomb = source(zstd_bomb(1 << 26))
    with pytest.raises(FormatError, match=r"more than 2,000 times as many.*decompress it"):
        identify(bomb)
    packed = source(gzip.compress(bytes(1 << 26), 9))  # nothing in gzip comes near
    assert identify(packed).content_bytes == 1 << 26


@pytest.mark.parametrize("kind", PACKINGS)
def test_laid_out_is_the_content_uncompressed(kind: str, source: Write, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = replace(source(PACKINGS[kind](CONTENT)), scratch=scratch)
    with laid_out(found) as (plain, damage):
        assert (plain.path.read_bytes(), plain.is_seekable, damage) == (CONTENT, True, None)
        assert plain.path == found.path or scratch in plain.path.parents
    assert not list(scratch.iterdir())
    with laid_out(replace(source(gzip.compress(CONTENT)[:5000]), scratch=scratch)) as (
        plain,
        damage,
    ):
        assert damage == "gzip stream is cut short"
        assert CONTENT.startswith(plain.path.read_bytes())


def test_laid_out_says_that_there_is_no_room(source: Write, tmp_path: Path) -> None:
    nowhere = replace(source(gzip.compress(CONTENT)), scratch=tmp_path / "nowhere")
    with pytest.raises(FormatError, match="cannot be written to a temporary file: No such file"):
        laid_out(nowhere).__enter__()


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="files don't stay open on this system")
def test_readers_of_a_file_that_stays_open_do_not_disturb_each_other(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    plain, packed = tmp_path / "plain", tmp_path / "packed.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    with ExitStack() as kept:
        for path in (plain, packed):
            source = Source.at(path, kept)
            path.unlink()
            with source.open() as one, source.open() as other:
                first = one.read(1000)
                assert other.read(2_000_000) == content
                assert first + one.read(2_000_000) == content
            assert identify(source).content_bytes == len(content)
            elsewhere = pickle.loads(pickle.dumps(source))  # noqa: S301
            assert elsewhere.file is None
    with pytest.raises(ValueError, match="closed"):
        source.open().read(1)
