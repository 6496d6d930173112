"""Pages of one ncu report that lie in a folder, each in a file of its own: one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parsers.xspaces import Plane, space
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

_LAUNCH = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
_DETAILS = _LAUNCH + '"Section Name","Metric Name","Metric Unit","Metric Value"'
_RAW = _LAUNCH + '"gpu__time_duration.sum"'


def details(process: int = 7, host: str = "node1") -> str:
    row = f'"0","{process}","app","{host}","k","1","7","GPU Speed Of Light","Duration","ns","1000"'
    return f"{_DETAILS}\n{row}\n"


def raw(process: int = 7, host: str = "node1") -> str:
    units = '"","","","","","","","ns"'
    return f'{_RAW}\n{units}\n"0","{process}","app","{host}","k","1","7","1000"\n'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "S"


def brought_in(store: Path, folder: Path, **files: str) -> dict[str, int]:
    """The sources of each run, by its name; `_` in names of files stands for a point."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    ingest(folder, store)
    rows = Database(open_store(store)).query("runs").table.to_pylist()
    return {row["run_name"]: row["source_count"] for row in rows}


def test_the_pages_of_a_report_are_one_run_with_each_launch_once(
    store: Path, tmp_path: Path
) -> None:
    found = brought_in(store, tmp_path / "d", gemm_raw_csv=raw(), gemm_details_csv=details())
    assert found == {"gemm": 2}
    database = Database(open_store(store))
    (kernel,) = database.query(
        "kernel_figures", {"run_id": database.run_id("gemm")}
    ).table.to_pylist()
    assert (kernel["launch_count"], kernel["total_ns"]) == (1, 1000)


def test_a_file_called_after_the_page_alone_takes_the_name_of_its_folder(
    store: Path, tmp_path: Path
) -> None:
    found = brought_in(store, tmp_path / "gemm", raw_csv=raw(), details_csv=details())
    assert found == {"gemm": 2}


@pytest.mark.parametrize(
    "other",
    [
        {"gemm_details_csv": details(process=8)},
        {"gemm_details_csv": details(host="node2")},
        {"conv_details_csv": details()},
        {"gemm_2_raw_csv": raw() + '"1","7","app","node1","k","1","7","2000"\n'},
    ],
    ids=["another process", "another host", "another name", "the same page twice"],
)
def test_reports_that_may_be_of_two_programs_are_two_runs(
    other: dict[str, str], store: Path, tmp_path: Path
) -> None:
    found = brought_in(store, tmp_path / "d", gemm_raw_csv=raw(), **other)
    assert list(found.values()) == [1, 1]


def test_pages_that_are_named_are_runs_of_their_own(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    for name, content in (("gemm.raw.csv", raw()), ("gemm.details.csv", details())):
        (folder / name).write_text(content)
    ingest([folder / "gemm.raw.csv", folder / "gemm.details.csv"], store)
    assert len(Database(open_store(store)).query("runs").table) == 2


def test_two_reports_are_one_run_if_the_user_says_so(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    for number, name in enumerate(("a", "b")):
        (folder / f"{name}.raw.csv").write_text(raw(number))
        (folder / f"{name}.details.csv").write_text(details(number))
    ingest(folder, store, Options(run_name="mine"))
    (run,) = Database(open_store(store)).query("runs").table.to_pylist()
    assert (run["run_name"], run["source_count"], run["kernel_count"]) == ("mine", 4, 2)


def test_pages_in_the_folder_of_another_profiler_are_read(store: Path, tmp_path: Path) -> None:
    """What lies beside a dump of a host called as they are was made of it, as its name says."""
    folder = tmp_path / "plugins" / "profile" / "r"
    folder.mkdir(parents=True)
    plane = Plane("/device:GPU:0")
    plane.line("Stream #7", [plane.event("k", 0, 1000, kernel_details="grid:1,1,1 block:1,1,1")])
    (folder / "gemm.xplane.pb").write_bytes(space(plane, host="gemm"))
    (folder / "gemm.raw.csv").write_text(raw())
    (folder / "gemm.details.csv").write_text(details())
    (outcome,) = ingest(tmp_path / "plugins", store)
    assert outcome.path.name == "gemm.xplane.pb"
