"""Changes of an input with a known effect: every report before and after."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.ingested import Ingested
from tests.transformations.changes_of_counters import NSIGHT_COMPUTE, PERF
from tests.transformations.changes_of_traces import HARMLESS, TRACES, of_one_kernel
from tests.transformations.making import RUN, Changed, Transformation, of_document
from tests.transformations.reports import Answers, answers
from tracekit.comparison import compare
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

ROOT = Path(__file__).resolve().parents[2]
TORCH = "../shared/corpus/torch"
#: Traces that see every change.
CHANGED = [
    "fixtures/torch_profiler/gpu-handmade/trace.json.gz",
    f"{TORCH}/param-dlrm-8rank-worker0.json.gz",
    f"{TORCH}/tracelens-vllm-decode-graph-mi300.json.gz",
]
#: Traces that see all harmless changes at once, and those that add up.
OTHERS = [
    "fixtures/torch_profiler/cpu-memory/trace.json.gz",
    "fixtures/torch_profiler/cuda-training/trace.json.gz",
    "fixtures/tensorflow_trace/hand-made/gpu.json",
    "fixtures/tensorflow_timeline/hand-made/gpu.json",
    f"{TORCH}/ascend-msprofanalyze-traceview-npu.json.gz",
    f"{TORCH}/hta-alexnet-a100-cudasync.json.gz",
    f"{TORCH}/tracelens-sglang-qwen3-decode-mi300x.json.gz",
    "../shared/corpus/h100/conv2d_tf32_b16.trace.json.gz",
    "../shared/corpus/tf/tftimeline-gpu-step0.json",
]
OF_NSIGHT_COMPUTE = [
    "fixtures/nsight_compute/raw-v100-handmade/report.csv",
    "fixtures/nsight_compute/details-v100-handmade/report.csv",
    "../shared/corpus/ncu/lbnl-gpp-run0.csv",
    "../shared/corpus/ncu/gardenia-gemm-a100-roofline.csv",
]
OF_PERF = [
    "fixtures/perf_stat/default/stat.txt",
    "../shared/corpus/perf/aws-graviton2-multiplex.txt",
]
_TOGETHER = {"harmless changes": HARMLESS} | {
    name: TRACES[name] for name in ("two ranks", "an empty rank", "split in time")
}
#: What differs although it should not, or because of rounding, and why: by change and file.
KNOWN: dict[tuple[str, str], dict[str, str]] = {
    (change, CHANGED[1]): {
        "stacks": "calls that start and end in the same microsecond nest as they are written"
    }
    for change in ("events reversed", "events shuffled")
} | {
    ("kernels of other types", CHANGED[1]): {"advise": "a long name is shortened elsewhere"},
    ("times doubled", CHANGED[2]): {
        "idle_host": "of 0.53 ms: a stall has 1 ms or more",
        "idle_stall": "of 1.07 ms",
        "queue_depth": "intervals have whole ns",
    },
}


def _pairs() -> Iterator[tuple[str, str, Transformation]]:
    for files, changes in (
        (CHANGED, TRACES),
        (OTHERS, _TOGETHER),
        (OF_NSIGHT_COMPUTE, NSIGHT_COMPUTE),
        (OF_PERF, PERF),
    ):
        yield from ((file, name, changes[name]) for name in changes for file in files)


def before(file: Path, ingested: Ingested) -> Answers:
    """Return what all reports say of a file as it is; one worker asks for all."""

    def fill(folder: Path) -> None:
        ingest(file, folder / "store", RUN)
        said = answers(Database(open_store(folder / "store")), "run")
        (folder / "answers").write_bytes(pickle.dumps(said))

    folder = ingested.made(("answers", file), fill)
    said: Answers = pickle.loads((folder / "answers").read_bytes())  # noqa: S301  written above
    return said


def changed_files(file: str, name: str, change: Transformation, folder: Path) -> Changed:
    if not (ROOT / file).exists():
        pytest.skip(f"{file} is not here")
    changed = change.make(ROOT / file, folder)
    if changed is None:
        pytest.skip(f"{name}: this file has nothing to change")
    return changed


@pytest.mark.sampled(80)
@pytest.mark.parametrize(("file", "name", "change"), [*_pairs()])
def test_a_change_has_its_effect(
    file: str, name: str, change: Transformation, ingested: Ingested, tmp_path: Path
) -> None:
    changed = changed_files(file, name, change, tmp_path / "changed")
    ingest(changed.files, tmp_path / "store", changed.options)
    after = answers(Database(open_store(tmp_path / "store")), "run")
    found = change.effect(before(ROOT / file, ingested), after)
    known = KNOWN.get((name, file), {})
    assert [text for text in found if text.partition(":")[0] not in known] == []
    assert known.keys() <= {text.partition(":")[0] for text in found}, "mended: no longer known"


@pytest.mark.parametrize("file", [CHANGED[0], pytest.param(CHANGED[1], marks=pytest.mark.deep)])
def test_a_comparison_names_the_one_kernel_that_is_faster(file: str, tmp_path: Path) -> None:
    faster = Transformation(of_document(of_one_kernel), lambda *_: [])
    changed = changed_files(file, "one kernel", faster, tmp_path / "changed")
    ingest(ROOT / file, tmp_path / "store", Options(run_name="a"))
    ingest(changed.files, tmp_path / "store", Options(run_name="b"))
    database = Database(open_store(tmp_path / "store"))
    rows = compare(database, "a", "b", "kernel", "all").result.rows()
    assert len(_different(rows)) == 1
    assert _different(compare(database, "a", "a", "kernel", "all").result.rows()) == []


def _different(rows: Sequence[dict[str, object]]) -> list[object]:
    """Return the parts whose times differ."""
    return [
        row["name"]
        for row in rows
        if not str(row["name"]).startswith("(") and row["a_ns"] != row["b_ns"]
    ]
