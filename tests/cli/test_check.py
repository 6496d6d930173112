"""Whether a store is as it was written: what `tracekit check` finds, and what it must not."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tracekit import audit
from tracekit.intake import Options, ingest
from tracekit.snapshot import Damage, Litter, UnknownIngest
from tracekit.store import open_store

Tracekit = Callable[..., Any]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TRACES = FIXTURES / "torch_profiler"
#: Runs of all kinds of sources.
SOURCES = {
    "gpu": [TRACES / "gpu-handmade" / "trace.json.gz"],
    "pair": [TRACES / "cpu-inference" / "trace.json", TRACES / "hand-made" / "valid.json"],
    "counted": [FIXTURES / "nsight_compute" / "raw-v100-handmade" / "report.csv"],
    "perf": [FIXTURES / "perf_stat" / "intel_trio" / "stat.csv"],
    "caffe": [FIXTURES / "caffe_time" / "means" / "caffe.log"],
}
DAMAGES = 300


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("sound") / "S"
    for run, paths in SOURCES.items():
        ingest(paths, store, Options(run_name=run, labels={"batch": "8"}))
    return store


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    return Path(shutil.copytree(sound, tmp_path / "S"))


def files_of(store: Path) -> list[Path]:
    """What ingests wrote: tables, and manifests."""
    return sorted(path for path in store.glob("*/*/*/*") if path.is_file())


def test_a_sound_store_is_sound(store: Path, tracekit: Tracekit) -> None:
    assert list(open_store(store).check(is_deep=True)) == []
    done = tracekit("check", "--store", str(store))
    assert (done.code, done.text) == (0, "")
    assert done.messages == "intact: 6 sources, all files checked by size and rows\n"
    done = tracekit("check", "pair", "--deep", "--store", str(store))
    assert (done.code, done.messages) == (
        0,
        "intact: 2 sources, all files checked by size, rows and hash\n",
    )


@pytest.mark.parametrize(
    "run",
    [name if name == "counted" else pytest.param(name, marks=pytest.mark.deep) for name in SOURCES],
)
def test_reports_of_a_run_agree(sound: Path, tracekit: Tracekit, run: str) -> None:
    done = tracekit("check", run, "--figures", "--store", str(sound))
    assert (done.code, done.text) == (0, "")
    assert re.fullmatch(r"consistent: \d+ comparisons in 1 run, no contradiction\n", done.messages)


def test_contradictions_are_listed_with_both_values(
    sound: Path, tracekit: Tracekit, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT name AS subject, 'a' AS first_figure, 1 AS first_value, 'b' AS second_figure, "
    rule = audit.AuditRule(
        "a_is_b", "A is B.", "", ("kernel_time",), f"{sql}2 AS second_value FROM kernel_time"
    )
    monkeypatch.setattr(audit, "identities", lambda: (rule,))
    monkeypatch.setattr(audit, "asks_only_for_a_run", lambda _: False)  # no others
    monkeypatch.setattr(audit, "applicable_recounts", lambda *_: [])
    done = tracekit("check", "counted", "--figures", "--store", str(sound), "-f", "csv")
    assert done.code == 9
    assert "counted,all,a_is_b," in done.text
    assert done.text.endswith(",a,1.0,b,2.0,A is B.\n")
    assert "contradictions among" in done.messages


@pytest.mark.deep
def test_nothing_is_found_in_twenty_sound_stores(tmp_path: Path) -> None:
    """One of each file, and some that were changed on the way: replaced, and partly removed."""
    files = [
        *sorted(FIXTURES.glob("perf_stat/*/stat.*"))[:8],
        *FIXTURES.glob("nvprof/*/*.csv"),
        *(path for paths in SOURCES.values() for path in paths),
    ]
    for number in range(20):
        store = tmp_path / str(number)
        chosen = [files[(number + step) % len(files)] for step in range(1 + number % 3)]
        ingest(chosen, store, Options(run_name="r"))
        if number % 4 == 1:
            ingest(chosen[:1], store, Options(run_name="r", replaces=True))
        if number % 4 == 2:
            home = open_store(store)
            home.remove(home.commits()[:1])
        assert list(open_store(store).check(is_deep=True)) == []


def _delete(file: Path, _store: Path, _rng: random.Random) -> list[Path]:
    file.unlink()
    return [file]


def _cut(file: Path, _store: Path, rng: random.Random) -> list[Path]:
    content = file.read_bytes()
    file.write_bytes(content[: rng.randrange(len(content))])
    return [file]


def _flip(file: Path, _store: Path, rng: random.Random) -> list[Path]:
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)
    return [file]


def _swap(file: Path, store: Path, rng: random.Random) -> list[Path]:
    content = file.read_bytes()
    other = rng.choice([path for path in files_of(store) if path.read_bytes() != content])
    file.write_bytes(other.read_bytes())
    other.write_bytes(content)
    return [file, other]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("damage", [_delete, _cut, _flip, _swap])
@pytest.mark.parametrize("seed", range(5))
def test_every_damage_is_found(
    store: Path, sound: Path, seed: int, damage: Callable[[Path, Path, random.Random], list[Path]]
) -> None:
    rng = random.Random(seed)
    files = files_of(store)
    for _ in range(DAMAGES // 20):
        file = rng.choice(files)
        changed = damage(file, store, rng)
        found = {one.path.parent.name for one in open_store(store).check(is_deep=True)}
        assert found & {path.parent.name for path in changed}, changed  # the source is named
        for path in changed:  # as it was
            shutil.copyfile(sound / path.relative_to(store), path)
    assert list(open_store(store).check(is_deep=True)) == []


def test_what_is_missing_is_named(store: Path, tracekit: Tracekit) -> None:
    (file,) = (store / "kernel" / "run_id=gpu").rglob("*.parquet")
    file.unlink()
    done = tracekit("check", "--store", str(store), "-f", "csv")
    assert done.code == 9
    (row,) = done.text.splitlines()[1:]
    assert row == f"gpu,{file.parent.name.partition('=')[2]},{file.relative_to(store)},is missing"
    assert done.messages == (
        "tracekit: 1 source of 6 damaged: use `tracekit ingest --replace FILE` to read the file "
        "again\n"
    )
    assert tracekit("check", "pair", "--store", str(store)).code == 0
    with_rest = tracekit(
        "sql", "SELECT DISTINCT run_id FROM slice ORDER BY 1", "-f", "csv", "--store", str(store)
    )
    assert (with_rest.code, with_rest.text.split()) == (0, ["run_id", "pair"])
    assert f"is excluded: {'/'.join(file.parts[-4:])} is missing" in with_rest.messages


def test_a_damaged_run_can_be_read_again_or_removed(store: Path, tracekit: Tracekit) -> None:
    (trace,) = SOURCES["gpu"]
    for name, command in {
        "gpu": ("ingest", str(trace), "--replace", "--run", "gpu", "--label", "batch=8"),
        "counted": ("remove", "counted"),
    }.items():
        for file in (store / "source_file" / f"run_id={name}").rglob("*.parquet"):
            file.write_bytes(b"PAR1")
        done = tracekit(*command, "--store", str(store))
        assert done.code == 0, done.messages
    assert list(open_store(store).check(is_deep=True)) == []
    assert {commit.run_id for commit in open_store(store).commits()} == {*SOURCES} - {"counted"}


def test_litter_is_named_and_cleared(store: Path, tracekit: Tracekit) -> None:
    """The manifest goes first, then the mark: so an interrupted removal leaves it."""
    for mark in (store / "source_file" / "run_id=perf").rglob("*.*"):
        mark.unlink()
    left = store / ".staging" / ("0" * 20)
    left.mkdir(parents=True)
    found = list(open_store(store).check())
    assert all(isinstance(one, Litter) for one in found)
    assert left in {one.path for one in found}
    assert len(found) > 3
    assert tracekit("check", "--store", str(store)).code == 9
    done = tracekit("check", "--repair", "--store", str(store))
    assert done.code == 0
    assert done.messages == "intact: 5 sources, all files checked by size and rows\n"
    assert not left.exists()
    assert not list(store.glob("*/run_id=perf/**/*.*"))


def test_what_lost_its_mark_is_kept(store: Path, tracekit: Tracekit) -> None:
    for mark in (store / "source_file" / "run_id=gpu").rglob("*.parquet"):
        mark.unlink()
    found = list(open_store(store).check())
    assert {(type(one), one.what) for one in found} == {(Damage, "has lost its commit mark")}
    assert tracekit("check", "--repair", "--store", str(store)).code == 9
    assert tracekit("remove", "caffe", "--store", str(store)).code == 0
    assert len(list(open_store(store).check())) == len(found)
    (trace,) = SOURCES["gpu"]
    again = ("ingest", str(trace), "--run", "gpu", "--label", "batch=8")
    assert tracekit(*again, "--store", str(store)).code == 0
    assert tracekit("check", "--repair", "--store", str(store)).code == 0


def test_a_source_of_an_older_version_has_no_manifest(store: Path, tracekit: Tracekit) -> None:
    (manifest,) = (store / "source_file" / "run_id=gpu").rglob("_*.json")
    manifest.unlink()
    (found,) = open_store(store).check()
    assert isinstance(found, UnknownIngest)
    done = tracekit("check", "--store", str(store))
    assert done.code == 9
    assert done.messages.startswith(
        "tracekit: 1 source of 6 without a manifest, written by an older"
    )
    assert (found.path, "cannot tell" in found.what) == (manifest, True)
    assert not open_store(store).snapshot().damages


def test_what_several_processes_wrote_is_sound(tmp_path: Path, large_trace: Path) -> None:
    ingest([large_trace], tmp_path / "S", Options(run_name="large", workers=2))
    store = open_store(tmp_path / "S")
    assert len(store.snapshot().files["kernel"]) > 1
    assert list(store.check(is_deep=True)) == []


@pytest.mark.parametrize(
    "line",
    [
        (
            b'{"files": [{"table": "kernel", "file_name": "../../../../secret.parquet", '
            b'"row_count": 1, "size_bytes": 6, "sha256": ""}]}'
        ),
        (
            b'{"files": [{"table": "../kernel", "file_name": "0-0.parquet", '
            b'"row_count": 1, "size_bytes": 6, "sha256": ""}]}'
        ),
        b'{"files": [{"table": "kernel"}]}',
        b"[]",
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_manifest_of_a_stranger_leads_nowhere(store: Path, line: bytes) -> None:
    """Its own hash is right: who made the store made that, too."""
    (manifest,) = (store / "source_file" / "run_id=gpu").rglob("_*.json")
    (store.parent / "secret.parquet").write_bytes(b"secret")
    manifest.write_bytes(line + b"\n" + sha256(line).hexdigest().encode() + b"\n")
    snapshot = open_store(store).snapshot()
    assert [(damage.path, damage.what) for damage in snapshot.damages] == [
        (manifest, "has changed")
    ]
    assert not any("secret" in str(file) for files in snapshot.files.values() for file in files)


def test_an_unknown_run_is_said(store: Path, tracekit: Tracekit) -> None:
    done = tracekit("check", "nosuch", "--store", str(store))
    assert done.code == 2
    assert "IDs: caffe, counted, gpu, pair, perf" in done.messages
