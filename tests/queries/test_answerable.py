"""The reports that are offered for a run, held against the rows that they then have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingested import Ingested, opened
from tracekit.catalog import Query, catalog

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
#: Runs of every kind: what a trace, a profile, counters, a log or a table can have and lack.
OF_CORPUS = [
    "torch/tracelens-bertsmall-h100.json.gz",
    "torch/hta-cuptirange-a100.json.gz",
    "torch/hta-mtia-inference.json.gz",
    "torch/hta-gloo-cpuonly-rank34of300.json.gz",
    "torch/dtumlops-cpu-memory-torch21.json.gz",
    "torch/param-dlrm-8rank-worker0.json.gz",
    "torch/amd-merged-nccl-only-8rank-mi300x.json.gz",
    "torch/parttransformer-empty-profile.json",
    "tf/tftimeline-cpu-step0.json",
    "tf/tftimeline-gpu-step0.json",
    "tf/tracelens-jax-gemm-mi300x.xplane.pb",
    "tf/xprof-tpu-inference2.xplane.pb",
    "tf/vllm-tpu-inference-0111.trace.json.gz",
    "tf/tfprofiler-gpu-computebound.overview_page.pb",
    "tf/tfprofiler-gpu-computebound.input_pipeline.pb",
    "tf/tfprofiler-gpu-inputbound.tensorflow_stats.pb",
    "tf/tfprofiler-cloudtpu.pod_viewer.json",
    "tf/tfprofiler-demo.op_profile.json",
    "ncu/nsightful-copyblocked-t4-details.csv",
    "ncu/gardenia-gemm-a100-roofline.csv",
    "ncu/darknet19-nvprof-metrics.txt",
    "perf/dispatch-runtime-expensive-hybrid-r5.txt",
    "perf/dispatch-perf-results.txt",
    "extra/caffe-alexnet-native-cpu.log",
]
OF_FIXTURES = [
    "h100/lstm/trace.json.gz",
    "torch_profiler/gpu-handmade/trace.json.gz",
    "torch_profiler/cpu-memory/trace.json.gz",
    "tensorflow_trace/hand-made/gpu.json",
    "tensorflow_trace/hand-made/tpu.json",
    "tensorflow_tools/memory-profile/memory_profile.json.gz",
    "nvprof/gpu-trace-csv/trace.csv",
    "nvprof/summary-csv/summary.csv",
    "perf_stat/intel_raw/stat.csv",
    "results_table/hand-made/sweep.csv",
    "google_benchmark/hand-made/sorted.json",
]
#: They look for something: that there is none is an answer, too.
CAN_FIND_NOTHING = {
    "issues",
    "kernel_sequences",
    "low_utilization_kernels",
    "unmodelled_ops",
    "zero_ai_kernels",
}


def of_a_run(query: Query) -> bool:
    """Whether a report is about a run, and needs nothing else to be chosen."""
    names = {parameter.name for parameter in query.parameters}
    required = {parameter.name for parameter in query.parameters if parameter.is_required}
    return query.kind == "report" and "run_id" in names and required <= {"run_id"}


REPORTS = [query for query in catalog().values() if of_a_run(query)]


def differences(store: Path) -> tuple[set[str], set[str]]:
    """The reports that are offered for a run and have no rows, and those with rows that are not."""
    database = opened(store)
    run = database.run_id(None)
    offered = {query.name for query in database.answerable(REPORTS, run)}
    answered = {q.name for q in REPORTS if len(database.query(q.name, {"run_id": run}))}
    assert answered
    return offered - answered, answered - offered


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", OF_CORPUS)
def test_reports_of_a_real_run_are_offered_if_they_have_rows(
    name: str, corpus: Path, ingested: Ingested
) -> None:
    without_rows, not_offered = differences(ingested.store(corpus / name))
    assert not_offered == set()
    assert without_rows - CAN_FIND_NOTHING == set()


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", OF_FIXTURES)
def test_reports_of_a_run_are_offered_if_they_have_rows(name: str, ingested: Ingested) -> None:
    without_rows, not_offered = differences(ingested.store(FIXTURES / name))
    assert not_offered == set()
    assert without_rows - CAN_FIND_NOTHING == set()


def test_a_table_of_results_waits_for_input_if_it_has_a_column_of_that(
    tmp_path: Path, ingested: Ingested
) -> None:
    """`infeed` answers from the steps of a profile, or from such a column."""
    table = tmp_path / "waits.csv"
    table.write_text("model,infeed\nmlp,12\ncnn,40\n")
    store = ingested.store(table, columns={"infeed:%": "metric"})
    without_rows, not_offered = differences(store)
    assert not_offered == set()
    assert without_rows - CAN_FIND_NOTHING == set()
    infeed = catalog()["infeed"]
    assert opened(store).answerable([infeed], opened(store).run_id(None)) == [infeed]


def test_an_unknown_run_is_offered_nothing(ingested: Ingested) -> None:
    database = opened(ingested.store(FIXTURES / OF_FIXTURES[0]))
    assert database.answerable(REPORTS, "nothing") == []
