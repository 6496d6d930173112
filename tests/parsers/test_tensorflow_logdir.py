"""A profiler's log folder in, runs out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.parsers.xspaces import Plane, Stat, space
from tracekit.engine import Database
from tracekit.errors import FormatError, UsageError
from tracekit.intake import Listener, Options, Outcome, ingest
from tracekit.store import open_store


class Heard(Listener):
    def __init__(self) -> None:
        self.left: list[tuple[str, str]] = []
        self.passed = 0

    def left_out(self, file: Path, reason: str) -> None:
        self.left.append((file.name, reason))

    def passed_over(self, folder: Path, count: int) -> None:
        self.passed += count


def dump(dur_ps: int, host: str = "h") -> bytes:
    """A dump with one kernel."""
    plane = Plane("/device:GPU:0")
    details: Stat = "grid:1,1,1 block:32,1,1"
    plane.line("Stream #7", [plane.event("k", 0, dur_ps, kernel_details=details)])
    return space(plane, host=host)


def profile(logdir: Path, run: str, **files: bytes) -> Path:
    """A run's folder with files; `_` in their names stands for a point."""
    folder = logdir / "train" / "plugins" / "profile" / run
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return folder


def bring_in(
    store: Path, *paths: Path, heard: Listener | None = None, **options: str
) -> list[Outcome]:
    return ingest(paths, store, Options(**options), heard)  # type: ignore[arg-type]


def runs(store: Path) -> dict[str, tuple[int, int]]:
    """Sources and kernel time of each run, by its name."""
    rows = Database(open_store(store)).query("runs").table.to_pylist()
    return {row["run_name"]: (row["source_count"], row["kernel_ns"]) for row in rows}


def test_the_hosts_of_a_profile_are_one_run(tmp_path: Path) -> None:
    logdir = tmp_path / "log"
    profile(logdir, "2026_a", h1_xplane_pb=dump(1000), h2_xplane_pb=dump(20_000))
    profile(logdir, "2026_b", h1_xplane_pb=dump(300_000))
    outcomes = bring_in(tmp_path / "S", logdir)
    assert runs(tmp_path / "S") == {"2026_a": (2, 21), "2026_b": (1, 300)}
    assert len({outcome.source_id for outcome in outcomes}) == 3


def test_what_was_made_of_a_dump_is_left_out(tmp_path: Path) -> None:
    trace = b'{"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "a"}, {}]}'  # noqa: E501
    profile(
        tmp_path / "log",
        "r",
        h1_xplane_pb=dump(1000),
        h1_trace_json=trace,
        jit_f_hlo_proto_pb=b"\x0a\x00",
        h2_xplane_pb=b"",
    )
    heard = Heard()
    bring_in(tmp_path / "S", tmp_path / "log", heard=heard)
    assert runs(tmp_path / "S") == {"r": (1, 1)}
    left = dict(heard.left)
    assert left["h2.xplane.pb"] == "the file is empty"
    assert left.get("h1.trace.json", "passed over").endswith(
        ("which is read instead", "passed over")
    )
    assert len(left) + heard.passed == 3


def test_two_profiles_are_no_run_together(tmp_path: Path) -> None:
    logdir = tmp_path / "log"
    for run in ("a", "b"):
        profile(logdir, run, h_xplane_pb=dump(1000, run))
    with pytest.raises(UsageError, match="2 profiles, each a separate run"):
        bring_in(tmp_path / "S", logdir, run_name="mine")
    bring_in(tmp_path / "S", logdir / "train/plugins/profile/b", run_name="mine")
    assert runs(tmp_path / "S") == {"mine": (1, 1)}


def test_profiles_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    for number, logdir in enumerate(("x", "y")):
        profile(tmp_path / logdir, "2026_a", h_xplane_pb=dump(1000 * (number + 1)))
        bring_in(tmp_path / "S", tmp_path / logdir)
    found = Database(open_store(tmp_path / "S")).query("runs").table.to_pylist()
    assert sorted((row["run_name"], row["kernel_ns"]) for row in found) == [
        ("2026_a", 1),
        ("2026_a", 2),
    ]
    assert len({row["run_id"] for row in found}) == 2


def test_a_file_that_is_named_is_a_run_of_its_own(tmp_path: Path) -> None:
    folder = profile(tmp_path / "log", "a", h1_xplane_pb=dump(1000), h2_xplane_pb=dump(2000))
    bring_in(tmp_path / "S", folder / "h1.xplane.pb", folder / "h2.xplane.pb")
    assert runs(tmp_path / "S") == {"h1": (1, 1), "h2": (1, 2)}


def test_a_folder_without_a_dump_says_so(tmp_path: Path) -> None:
    profile(tmp_path / "log", "a", h1_xplane_pb=b"")
    with pytest.raises(FormatError, match="no trace in this folder"):
        bring_in(tmp_path / "S", tmp_path / "log")


def test_a_host_that_comes_in_later_joins_the_others(tmp_path: Path) -> None:
    folder = profile(tmp_path / "log", "2026_a", h1_xplane_pb=dump(1000))
    bring_in(tmp_path / "S", tmp_path / "log")
    (folder / "h2.xplane.pb").write_bytes(dump(20_000))
    bring_in(tmp_path / "S", tmp_path / "log")
    assert runs(tmp_path / "S") == {"2026_a": (2, 21)}


def test_the_only_trace_of_a_host_is_read(tmp_path: Path) -> None:
    recorded = ROOT / "fixtures/tensorflow_profiler/jax-cpu"
    trace = gzip.decompress((recorded / "trace.json.gz").read_bytes())
    folder = profile(tmp_path / "log", "r", a_xplane_pb=dump(1000), b_xplane_pb=b"")
    (folder / "b.trace.json").write_bytes(trace)
    (folder / "a.trace.json").write_bytes(trace)
    heard = Heard()
    outcomes = bring_in(tmp_path / "S", tmp_path / "log", heard=heard)
    assert [outcome.path.name for outcome in outcomes] == ["a.xplane.pb", "b.trace.json"]
    assert {name for name, _ in heard.left} == {"a.trace.json", "b.xplane.pb"}
    assert len({outcome.run_id for outcome in outcomes}) == 1
