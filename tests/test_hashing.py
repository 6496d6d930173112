"""When a source is hashed: first if the store may have it, else beside its attribution."""

from __future__ import annotations

import gzip
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from tracekit.errors import StoreError
from tracekit.intake import Options, ingest, job, side_by_side
from tracekit.parsers import torch_profiler
from tracekit.source import Source, identify
from tracekit.store import create_store, open_store

REPEATS = 20


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done with a source, in order; however small it is, it is read in parts."""
    told: list[str] = []
    monkeypatch.setattr("tracekit.intake._WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setattr(torch_profiler, "_BIG_ENOUGH_TO_SPLIT", 0)

    def note(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            told.append(what)
            return function(*args)

        return noted

    monkeypatch.setattr(job, "identify", note("hash", identify))
    monkeypatch.setattr(side_by_side, "_await", note("wait", side_by_side._await))
    return told


@pytest.fixture
def trace(repeated: Callable[[Path, int], Path], tmp_path: Path) -> Path:
    return repeated(tmp_path / "trace.json", REPEATS)


def packed(path: Path) -> Path:
    target = path.with_suffix(".json.gz")
    target.write_bytes(gzip.compress(path.read_bytes(), compresslevel=1))
    return target


def bring_in(store: Path, *paths: Path) -> list[str | None]:
    """The runs that the sources were in already."""
    return [outcome.already_in for outcome in ingest(paths, store, Options(workers=2))]


@pytest.mark.parametrize("is_compressed", [False, True])
def test_content_that_the_store_cannot_have_is_hashed_after_it_was_read(
    tmp_path: Path, trace: Path, gpu_trace: Path, told: list[str], is_compressed: bool
) -> None:
    """What is compressed is hashed meanwhile, so that it is decompressed once."""
    bring_in(tmp_path / "S", gpu_trace)  # of another size
    del told[:]
    path = packed(trace) if is_compressed else trace
    assert bring_in(tmp_path / "S", path) == [None]
    assert told == (["hash", "wait"] if is_compressed else ["wait", "hash"])
    source_id = "s" + blake3(trace.read_bytes()).hexdigest()[:15]
    assert open_store(tmp_path / "S").commit_of(source_id) is not None


def test_content_that_the_store_has_from_a_compressed_file_is_told(
    tmp_path: Path, trace: Path, told: list[str]
) -> None:
    bring_in(tmp_path / "S", packed(trace))
    del told[:]
    assert bring_in(tmp_path / "S", trace) != [None]
    assert told == ["hash"]


def test_content_that_the_store_has_from_a_plain_file_is_told_while_it_is_read(
    tmp_path: Path, trace: Path, told: list[str]
) -> None:
    bring_in(tmp_path / "S", trace)
    before = sorted((tmp_path / "S").rglob("*.parquet"))
    del told[:]
    assert bring_in(tmp_path / "S", packed(trace)) != [None]
    assert told == ["hash"]
    assert sorted((tmp_path / "S").rglob("*.parquet")) == before


def test_content_of_a_size_that_the_store_has_is_hashed_first(
    tmp_path: Path, trace: Path, told: list[str]
) -> None:
    bring_in(tmp_path / "S", trace)
    del told[:]
    copy = Path(shutil.copy(trace, tmp_path / "copy.json"))
    assert bring_in(tmp_path / "S", copy) != [None]
    assert told == ["hash"]
    other = tmp_path / "other.json"
    other.write_bytes(trace.read_bytes().replace(b"cudaLaunchKernel", b"cudaLaunchKerneL", 1))
    del told[:]
    assert bring_in(tmp_path / "S", other) == [None]
    assert told == ["hash", "wait"]


def test_a_copy_in_the_same_command_is_hashed_first(
    tmp_path: Path, trace: Path, told: list[str]
) -> None:
    copy = Path(shutil.copy(trace, tmp_path / "copy.json"))
    first, second = bring_in(tmp_path / "S", trace, copy)
    assert (first, second is None) == (None, False)
    assert told == ["hash", "wait", "hash"]


def test_a_failure_ends_the_hash(
    tmp_path: Path, trace: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(_: Source, on_piece: Callable[[], None]) -> None:
        while True:
            on_piece()

    def fail(*_: object) -> None:
        raise StoreError("no space")

    monkeypatch.setattr(job, "identify", endless)
    monkeypatch.setattr(side_by_side, "attribute", fail)
    with pytest.raises(StoreError, match="no space"):
        bring_in(tmp_path / "S", trace)
    assert not [one for one in threading.enumerate() if one.name.startswith("tracekit-hash")]


def test_what_a_store_may_have(tmp_path: Path, gpu_trace: Path) -> None:
    file_bytes = gpu_trace.stat().st_size
    content_bytes = len(gzip.decompress(gpu_trace.read_bytes()))
    store = create_store(tmp_path / "S")
    assert not store.may_have(file_bytes)
    ingest([gpu_trace], store.path)
    assert store.may_have(file_bytes)
    assert store.may_have(content_bytes)
    assert not store.may_have(content_bytes + 1)


def test_a_store_with_a_damaged_mark_may_have_anything(tmp_path: Path, gpu_trace: Path) -> None:
    ingest([gpu_trace], tmp_path / "S")
    (mark,) = (tmp_path / "S" / "source_file").glob("*/*/*.parquet")
    mark.write_bytes(b"PAR1")
    assert open_store(tmp_path / "S").may_have(1)


def test_a_store_of_many_sources_may_have_anything(
    tmp_path: Path, gpu_trace: Path, cpu_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([gpu_trace, cpu_trace], tmp_path / "S")
    assert not open_store(tmp_path / "S").may_have(1)
    monkeypatch.setattr("tracekit.store._FEW_SOURCES", 1)
    assert open_store(tmp_path / "S").may_have(1)
