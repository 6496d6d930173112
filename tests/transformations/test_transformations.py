"""Changes of an input with a known effect: every report before and after."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tests.ingested import Ingested
from tests.transformations.changes_of_traces import RUN, TRACES
from tests.transformations.reports import Answers, answers
from tracekit.engine import Database
from tracekit.intake import ingest
from tracekit.store import open_store

ROOT = Path(__file__).resolve().parents[2]
TORCH = [
    "fixtures/torch_profiler/gpu-handmade/trace.json.gz",
]


#: Contradictions that are not mended yet, and why: of a change and a file, which report.
KNOWN: dict[tuple[str, str], dict[str, str]] = {}


def before(file: Path, ingested: Ingested) -> Answers:
    """Return what all reports say of a file as it is; one worker asks for all."""

    def fill(folder: Path) -> None:
        ingest(file, folder / "store", RUN)
        said = answers(Database(open_store(folder / "store")), "run")
        (folder / "answers").write_bytes(pickle.dumps(said))

    folder = ingested.made(("answers", file), fill)
    said: Answers = pickle.loads((folder / "answers").read_bytes())  # noqa: S301  written above
    return said


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("file", TORCH)
def test_a_change_of_a_trace_has_its_effect(
    file: str, name: str, ingested: Ingested, tmp_path: Path
) -> None:
    if not (ROOT / file).exists():
        pytest.skip(f"{file} is not here")
    transformation = TRACES[name]
    changed = transformation.make(ROOT / file, tmp_path / "changed")
    if changed is None:
        pytest.skip("this file has nothing to change")
    ingest(changed.files, tmp_path / "store", changed.options)
    after = answers(Database(open_store(tmp_path / "store")), "run")
    found = transformation.effect(before(ROOT / file, ingested), after)
    known = KNOWN.get((name, file), {})
    assert [text for text in found if text.partition(":")[0] not in known] == []
    assert known.keys() <= {text.partition(":")[0] for text in found}, "mended: no longer known"
