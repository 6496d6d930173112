"""Programs that one H100 ran twice: under torch.profiler, two steps, and Nsight Compute, one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.ingested import Ingested
from tracekit.joining.alignment import align
from tracekit.joining.launches import NONE, Alignment, Kind, Launches

#: Launches of a step; the timelines have two.
LAUNCHES = {
    "lstm": 218,
    "micro": 36,
    "conv2d-fp16-b16": 15,
    "conv2d-fp16-b32": 15,
    "conv2d-fp16-b64": 15,
    "conv2d-tf32-b16": 15,
    "conv2d-tf32-b32": 15,
    "conv2d-tf32-b64": 15,
}

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "h100"
Read = Callable[[Path], Launches]


@pytest.fixture(scope="module")
def read(ingested: Ingested) -> Read:
    """The launches of one file, by way of a store."""

    @cache
    def launches(file: Path) -> Launches:
        rows = ingested.database(file).sql(
            "SELECT name, grid_x, grid_y, grid_z, block_x, block_y, block_z FROM kernel"
            " ORDER BY coalesce(launch_index, correlation_id), start_ns, event_id"
        )
        return Launches.of(
            (row["name"], None if row["grid_x"] is None else tuple(list(row.values())[1:]))
            for row in rows.rows()
        )

    return launches


def rates(found: Alignment) -> tuple[int, int, int]:
    """Launches of the timeline by sequence, by shape and by name."""
    one, two, three = (int(np.count_nonzero(found.kinds == kind)) for kind in Kind)
    return one, two, three


@pytest.mark.parametrize("program", LAUNCHES)
def test_each_launch_of_both_steps_finds_its_counters(program: str, read: Read) -> None:
    folder, count = FIXTURES / program, LAUNCHES[program]
    whole_steps(align(read(folder / "trace.json.gz"), read(folder / "raw.csv.gz")), count)


def test_where_other_kernels_differ_a_grid_that_does_not_proves_nothing(read: Read) -> None:
    """Products of twice the batch run in the same grid, which is that of the device."""
    timeline = read(FIXTURES / "conv2d-tf32-b16" / "trace.json.gz")
    found = align(timeline, read(FIXTURES / "conv2d-tf32-b32" / "raw.csv.gz"))
    assert found.has_other_inputs
    assert rates(found) == (0, 16, 0)
    assert not align(timeline, read(FIXTURES / "conv2d-tf32-b16" / "raw.csv.gz")).has_other_inputs


def test_a_graph_has_the_counters_of_its_nodes(corpus: Path, read: Read) -> None:
    """One call launches all 26 kernels of a step."""
    trace, report = (corpus / "h100" / f"graph.{name}" for name in ("trace.json.gz", "raw.csv.gz"))
    whole_steps(align(read(trace), read(report)), 26)


def whole_steps(found: Alignment, count: int) -> None:
    assert found.counters.tolist() == 2 * list(range(count))
    assert rates(found) == (2 * count, 0, 0)
    assert found.serves.tolist() == [2] * count
    assert found.partings == ()


def test_pages_of_one_report_are_one_sequence(read: Read) -> None:
    found = align(*(read(FIXTURES / "lstm" / f"{page}.csv.gz") for page in ("details", "raw")))
    assert found.counters.tolist() == list(range(218))


def test_the_kernels_of_a_range_are_found_in_each_step(corpus: Path, read: Read) -> None:
    """`--nvtx-include forward/`: 4 of 15 kernels; the backward pass has 5 of the same shapes."""
    trace = FIXTURES / "conv2d-fp16-b16" / "trace.json.gz"
    found = align(read(trace), read(corpus / "h100" / "conv2d_live_nvtx.csv"))
    assert rates(found) == (2 * 4, 2 * 5, 0)
    assert found.counters[found.kinds == Kind.SEQUENCE].tolist() == 2 * [0, 1, 2, 3]


@pytest.mark.parametrize(("start", "end"), [(0, 50), (0, 100), (100, 218), (30, 200)], ids=str)
def test_a_cut_report_is_found_where_it_was_cut_from(start: int, end: int, read: Read) -> None:
    """Sixteen cells of the network are alike; those that were not counted match by shape."""
    timeline, step = (read(FIXTURES / "lstm" / name) for name in ("trace.json.gz", "raw.csv.gz"))
    part = Launches(step.names, step.name_codes[start:end], step.shapes[start:end])
    found = align(timeline, part)
    by_order = np.flatnonzero(found.kinds == Kind.SEQUENCE)
    assert by_order.tolist() == [*range(start, end), *range(218 + start, 218 + end)]
    assert found.counters[by_order].tolist() == 2 * list(range(end - start))


def test_another_program_has_nothing_in_common(read: Read) -> None:
    """An LSTM and a convolution: not one kernel has both function and shape of one of the other."""
    lstm, conv = FIXTURES / "lstm", FIXTURES / "conv2d-fp16-b16"
    found = align(read(lstm / "trace.json.gz"), read(conv / "raw.csv.gz"))
    assert rates(found) == (0, 0, 0)
    assert found.serves.tolist() == [0] * 15


def test_another_precision_has_what_does_not_depend_on_it(read: Read) -> None:
    """Of 15 kernels one is for no type: it sets up a workspace. One alone proves no order."""
    half, tf32 = FIXTURES / "conv2d-fp16-b16", FIXTURES / "conv2d-tf32-b16"
    found = align(read(half / "trace.json.gz"), read(tf32 / "raw.csv.gz"))
    assert rates(found) == (0, 2, 0)


def test_totals_by_name_have_no_order_and_no_shape(corpus: Path, read: Read) -> None:
    """nvprof's metrics say for each kernel how often it ran, not in which shape."""
    counters = read(corpus / "ncu" / "darknet19-nvprof-metrics.txt")
    assert (counters.shapes == NONE).all()
    ours = Launches.of([(counters.names[0], (1, 1, 1, 32, 1, 1)), ("other", (1, 1, 1, 1, 1, 1))])
    found = align(ours, counters)
    assert found.kinds.tolist() == [Kind.NAME, NONE]
    assert found.counters.tolist() == [0, NONE]
