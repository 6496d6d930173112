"""The macros, on values at the edges; `ratio` has a file of its own."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracekit.attribution.names import phase_marked
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.peaks import DEVICE_KEY_PATTERN, device_key, models
from tracekit.roofline.geometry import overhead_box
from tracekit.store import Store, create_store


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(create_store(tmp_path_factory.mktemp("macros") / "S"))


def value(database: Database, expression: str) -> Any:
    (row,) = database.sql(f"SELECT {expression} AS x").rows()
    return row["x"]


INFINITE = "'inf'::DOUBLE"
NAN = "'nan'::DOUBLE"
LARGEST = 2**63 - 1

# -- arithmetic -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("1, 2, 3, NULL, NULL, NULL, NULL", 9),  # 1 + 2 + 2 * 3
        ("0, 0, 0, NULL, NULL, NULL, NULL", 0),
        ("1, 2, 3, 100, 100, 100, 100", 9),  # a count goes before a rate
        ("NULL, 2, 3, 1, 0.5, 2, 200", 1100),  # (1 + 0.5 + 2 * 2) * 200
        ("NULL, NULL, NULL, 0, 0, 0, 200", 0),
        ("NULL, NULL, NULL, 0.5, 0, 0, 1", 1),  # rounded half away from zero
        ("NULL, NULL, NULL, 0.49, 0, 0, 1", 0),
        ("NULL, NULL, NULL, 1, 1, 1, NULL", None),
        ("NULL, NULL, NULL, NULL, 1, 1, 100", None),
        ("1, 2, NULL, NULL, NULL, 3, 100", None),  # not known one way
        (f"NULL, NULL, NULL, 1, 0, 0, {INFINITE}", None),
        (f"NULL, NULL, NULL, {NAN}, 0, 0, 100", None),
        ("NULL, NULL, NULL, 1, 0, 0, 1e300", None),  # more than 64 bits hold
        (f"{LARGEST}, 0, 0, NULL, NULL, NULL, NULL", LARGEST),
    ],
)
def test_operations_are_add_and_multiply_and_twice_the_fma(
    database: Database, arguments: str, expected: int | None
) -> None:
    assert value(database, f"arithmetic({arguments})") == expected


def test_a_count_beyond_64_bits_is_refused_not_rounded(database: Database) -> None:
    with pytest.raises(QueryError, match="Overflow"):
        value(database, f"arithmetic(0, 0, {LARGEST}, NULL, NULL, NULL, NULL)")


# -- duration_of ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "cycles", "clock", "expected"),
    [
        ("70", "3000", "1.5e9", 70),  # as measured, whatever the cycles say
        ("0", "3000", "1.5e9", 0),
        ("NULL", "3000", "1.5e9", 2000),
        ("NULL", "1000", "3e9", 333),  # 333.3
        ("NULL", "2000", "3e9", 667),  # 666.7
        ("NULL", "80919089043", "1619895602.07", 49953274112),  # lbnl-gpp-cc89-roofline.csv
        ("NULL", "3000", "NULL", None),
        ("NULL", "NULL", "1.5e9", None),
        ("NULL", "3000", "0", None),
        ("NULL", "1e300", "1", None),
        ("NULL", INFINITE, "1e9", None),
    ],
)
def test_a_duration_is_measured_or_cycles_over_clock(
    database: Database, measured: str, cycles: str, clock: str, expected: int | None
) -> None:
    assert value(database, f"duration_of({measured}, {cycles}, {clock})") == expected


# -- whole_ns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exact", "expected"),
    [
        ("2.9999999996", 3),  # 3, if computed exactly
        ("100 * 0.29::DOUBLE", 29),  # 28.999999999999996
        ("2.5::DOUBLE", 2),
        ("2.99::DOUBLE", 2),
        ("3::HUGEINT", 3),
        ("0::DOUBLE", 0),
        ("NULL", None),
    ],
)
def test_whole_ns_are_cut_where_no_rounding_made_them(
    database: Database, exact: str, expected: int | None
) -> None:
    assert value(database, f"whole_ns({exact})") == expected


# -- time_at_peak ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("work", "peak", "expected"),
    [
        ("5000", "1e12", 5.0),
        ("5000::BIGINT", "1e12", 5.0),
        ("0", "1e12", 0.0),
        ("0", "NULL", 0.0),  # no work takes no time, whatever the peak
        ("0::BIGINT", "0", 0.0),
        ("NULL", "1e12", None),
        ("5000", "NULL", None),
        ("5000", "0", None),
        (f"{LARGEST}", "1e12", LARGEST / 1e3),
        (NAN, "1e12", None),
        ("1e308", "1e12", None),  # beyond what a DOUBLE holds on the way
    ],
)
def test_time_at_peak_is_work_over_peak(
    database: Database, work: str, peak: str, expected: float | None
) -> None:
    found = value(database, f"time_at_peak({work}, {peak})")
    assert found is None if expected is None else found == pytest.approx(expected, rel=1e-15)


# -- bound_of -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compute", "bandwidth", "overhead", "expected"),
    [
        ("9.99", "9.99", "10", "overhead"),
        ("0", "0", "10", "overhead"),
        ("10", "9", "10", "compute"),  # as long as the launch is not below it
        ("9", "10", "10", "bandwidth"),
        ("10", "10", "10", "compute"),
        ("20", "20", "10", "compute"),  # of the same length
        ("20", "20.01", "10", "bandwidth"),
        ("20.01", "20", "10", "compute"),
        ("20", "1", "10", "compute"),
        ("1", "20", "10", "bandwidth"),
        ("1", "2", "NULL", "bandwidth"),  # nobody knows what a launch takes
        ("2", "1", "NULL", "compute"),
        ("0", "0", "0", "compute"),
        ("NULL", "1", "10", None),
        ("1", "NULL", "10", None),
        ("NULL", "NULL", "NULL", None),
    ],
)
def test_a_bound_is_overhead_or_the_longer_time(
    database: Database, compute: str, bandwidth: str, overhead: str, expected: str | None
) -> None:
    assert (
        value(database, f"bound_of({compute}, {bandwidth}, {overhead}, 1, NULL, 0.6)") == expected
    )


@pytest.mark.parametrize(
    ("nearness", "near", "overhead", "expected"),
    [
        ("0.6", "NULL", "NULL", "bandwidth"),  # at the limit
        ("0.599", "'dram'", "NULL", "latency"),
        ("0", "NULL", "NULL", "latency"),
        ("1.2", "'dram'", "NULL", "bandwidth"),
        ("NULL", "NULL", "NULL", None),  # nobody knows how near it comes
        ("NULL", "NULL", "21", "overhead"),
        ("0.1", "'compute throughput'", "NULL", "compute"),  # the report sees what is busy
        ("0.1", "'memory throughput'", "NULL", "bandwidth"),
        ("0.1", "'memory throughput'", "21", "overhead"),  # launches take longer than both
    ],
)
def test_far_from_every_roof_it_is_latency(
    database: Database, nearness: str, near: str, overhead: str, expected: str | None
) -> None:
    assert value(database, f"bound_of(10, 20, {overhead}, {nearness}, {near}, 0.6)") == expected


def test_where_no_share_of_a_roof_is_too_small_time_is_not_asked(database: Database) -> None:
    assert value(database, "bound_of(10, 20, NULL, NULL, NULL, 0)") == "bandwidth"


@pytest.mark.parametrize(
    ("ratio", "compute", "memory", "expected"),
    [
        ("0.6", "0.9", "0.8", "l2"),  # the roof is near: what the report says is not asked
        ("0.5", "0.9", "0.8", "compute throughput"),
        ("0.5", "0.8", "0.9", "memory throughput"),
        ("0.5", "0.6", "0.6", "compute throughput"),
        ("0.5", "NULL", "0.6", "memory throughput"),
        ("0.5", "0.59", "0.59", "l2"),
        ("0.5", "NULL", "NULL", "l2"),
        ("NULL", "0.9", "0.8", "l2"),  # nobody knows how near the roof is
    ],
)
def test_where_no_roof_is_near_the_report_says_what_is_busy(
    database: Database, ratio: str, compute: str, memory: str, expected: str
) -> None:
    # 10 ns of compute, 20 of L2, in 20 / ratio
    busy = f"busy_what({compute}, {memory}, 0.6)"
    found = value(database, f"roof_of(10, 5, 20, NULL, NULL, 20 / {ratio}, {busy}, 0.6)")
    assert found["nearest_name"] == expected
    unknown = value(database, f"roof_of(NULL, 5, 20, NULL, NULL, 20 / {ratio}, {busy}, 0.6)")
    assert unknown == dict.fromkeys(found)


# -- roof_of --------------------------------------------------------------------------------------

work = st.floats(1, 1e18)
times = st.floats(1, 1e12)
peaks = st.floats(1e6, 1e18)
#: Multiplying by a power of two rounds nothing.
units = st.sampled_from([2.0**n for n in (-40, -30, -10, 10, 20, 30)])
any_figures = settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def verdict(
    database: Database, compute: float, bandwidth: float, overhead: float, time: float | str
) -> dict[str, Any]:
    numbers = f"{compute!r}::DOUBLE, {bandwidth!r}::DOUBLE, NULL, NULL, {overhead!r}::DOUBLE"
    found: dict[str, Any] = value(database, f"roof_of({numbers}, {time}::DOUBLE, NULL, NULL)")
    return found


@any_figures
@given(work, work, times, peaks, peaks)
def test_a_point_is_below_its_roof_or_flagged(
    database: Database, flop: float, moved: float, time: float, peak: float, bandwidth: float
) -> None:
    roof = min(peak, flop / moved * bandwidth)
    achieved = flop / (time * 1e-9)
    at_peak = flop * 1e9 / peak, moved * 1e9 / bandwidth
    found = verdict(database, *at_peak, 0.0, repr(time))
    assert found["roof_ratio"] == pytest.approx(achieved / roof, rel=1e-12)
    assert found["is_above_roof"] or achieved <= roof * (1 + 2e-9)
    # and none that is at its roof is flagged by rounding
    on_roof = verdict(database, *at_peak, 0.0, repr(max(flop / peak, moved / bandwidth) * 1e9))
    assert not on_roof["is_above_roof"]


@any_figures
@given(work, work, times, peaks, peaks, st.floats(0, 1e12), units, units)
def test_no_unit_changes_a_verdict(
    database: Database,
    flop: float,
    moved: float,
    time: float,
    peak: float,
    bandwidth: float,
    overhead: float,
    flop_unit: float,
    byte_unit: float,
) -> None:
    def figures(a: float, b: float) -> dict[str, Any]:
        at_peak = (flop * a) * 1e9 / (peak * a), (moved * b) * 1e9 / (bandwidth * b)
        return verdict(database, *at_peak, overhead, repr(time))

    assert figures(flop_unit, byte_unit) == figures(1.0, 1.0)


@any_figures
@given(work, peaks, peaks, st.floats(-1e-12, 1e-12))
def test_on_the_ridge_it_is_compute_however_sums_were_rounded(
    database: Database, flop: float, peak: float, bandwidth: float, rounding: float
) -> None:
    at_peak = flop * 1e9 / peak
    moved = flop / (peak / bandwidth)
    found = verdict(database, at_peak, moved * 1e9 / bandwidth * (1 + rounding), 0.0, at_peak)
    assert (found["bound_kind"], found["nearest_name"]) == ("compute", "compute")


@any_figures
@given(work, work, peaks, peaks, st.integers(1, 10**6), st.floats(1, 1e6))
def test_what_is_in_the_box_is_bound_by_launches(
    database: Database,
    flop: float,
    moved: float,
    peak: float,
    bandwidth: float,
    launches: int,
    launch_ns: float,
) -> None:
    x, y = overhead_box(peak, bandwidth, launches, launch_ns)
    at_peak = flop * 1e9 / peak, moved * 1e9 / bandwidth
    kind = verdict(database, *at_peak, launches * launch_ns, max(at_peak))["bound_kind"]
    if moved < x * (1 - 1e-12) and flop < y * (1 - 1e-12):
        assert kind == "overhead"
    elif moved > x * (1 + 1e-12) or flop > y * (1 + 1e-12):
        assert kind in ("bandwidth", "compute")


# -- fp16_kind ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        # add, multiply, FMA, FP32, threads, generation
        ("0, 1, 0, 0, 100, 9", "work"),
        ("1600, 1, 0, 800, 100, 9", "work"),  # whatever was converted beside it
        ("0, 0, 800, 0, 100, 9", "moves"),  # 8 a thread
        ("0, 0, 800, 0, 100, 8", "moves"),
        ("0, 0, 800, 0, 100, 7", "work"),  # before 8.0 constants are moved by MOV
        ("0, 0, 204800, 0, 100, 9", "work"),  # 2048 a thread: a product
        ("0, 0, 6400, 0, 100, 9", "moves"),  # 64 a thread, and one more
        ("0, 0, 6401, 0, 100, 9", "work"),
        ("0, 0, 6401, 6401, 100, 9", "moves"),  # as many FP32 ones: a loop that loads constants
        ("0, 0, 204800, 0, NULL, 9", "moves"),  # nothing shows that it is work
        ("1600, 0, 0, 800, 100, 9", "conversions"),
        ("1600, 0, 0, 0, 100, 7", "conversions"),
        ("700, 0, 800, 0, 100, 9", "moves"),
        ("900, 0, 800, 0, 100, 9", "conversions"),
        ("0, 0, 0, 5, 100, 9", None),
        ("NULL, NULL, NULL, 5, 100, 9", None),
    ],
)
def test_fp16_instructions_are_work_only_where_they_can_be_nothing_else(
    database: Database, instructions: str, expected: str | None
) -> None:
    assert value(database, f"fp16_kind({instructions})") == expected


# -- group_of, why_missing ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"), [("name", "k"), ("launch", "k"), ("run", "t"), ("label", "64")]
)
def test_a_group_is_of_what_it_is_by(database: Database, kind: str, expected: str) -> None:
    assert value(database, f"group_of('{kind}', 'k', 't', '64')") == expected
    assert value(database, f"group_of('{kind}', NULL, NULL, NULL)") is None


KINDS = (
    "fp64",
    "fp32",
    "fp16",
    "tensor_fp64",
    "tensor_tf32",
    "tensor_bf16",
    "tensor_fp16",
    "tensor_fp8",
    "tensor_fp4",
    "tensor_int8",
)


def test_a_ceiling_is_told_by_its_name(database: Database) -> None:
    numbers = ", ".join(str(place) for place in range(len(KINDS)))
    for place, kind in enumerate(KINDS):
        assert value(database, f"of_ceiling('{kind}', {numbers})") == place
    for other in ("'dram'", "''", "'FP32'", "NULL"):
        assert value(database, f"of_ceiling({other}, {numbers})") is None


def test_the_runs_that_are_grouped_have_the_label_that_is_asked_for(
    tmp_path: Path, write_store: Callable[..., Store]
) -> None:
    of_a = {"run_id": "a", "source_id": "s1"}
    rows = {
        "run": [of_a | {"run_name": "A"}, {"run_id": "b", "source_id": "s2", "run_name": "B"}],
        "run_label": [
            of_a | {"label_name": "batch", "value": "16", "value_number": 16.0},
            of_a | {"label_name": "net", "value": "x"},
        ],
    }
    database = Database(write_store(tmp_path / "S", rows))

    def groups(arguments: str) -> list[dict[str, Any]]:
        found = database._fetch(f"FROM run_group({arguments}) ORDER BY run_id", {}).to_pylist()
        return list(found)

    def row(run: str, text: str | None, number: float | None) -> dict[str, Any]:
        return {"run_id": run, "title": run.upper(), "label_value": text, "label_number": number}

    assert groups("NULL, 'label', 'batch'") == [row("a", "16", 16.0), row("b", None, None)]
    assert groups("'a', 'label', 'net'") == [row("a", "x", None)]
    assert groups("NULL, 'name', 'batch'") == [row("a", None, None), row("b", None, None)]
    assert groups("'c', 'label', 'batch'") == []


STATUSES = {"a": "nan", "b": "not_available", "a.b": "empty", 'q"': "unreadable"}


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ("['$.a', '$.b']", "nan"),
        ("['$.b', '$.a']", "not_available"),
        ("['$.c', '$.b']", "not_available"),  # the first that stands there
        ("['$.c']", "not_collected"),
        ("[]::VARCHAR[]", "not_collected"),
    ],
)
def test_what_is_missing_is_explained_by_the_first_counter_that_is_there(
    database: Database, counters: str, expected: str
) -> None:
    text = json.dumps(STATUSES).replace("'", "''")
    assert value(database, f"why_missing('{text}', {counters})") == expected
    assert value(database, f"why_missing(NULL, {counters})") == "not_collected"
    assert value(database, f"why_missing('{{}}', {counters})") == "not_collected"


# -- device_key -----------------------------------------------------------------------------------

ODD_NAMES = [
    "",
    " ",
    "NVIDIA",
    "nvidia",
    "NVIDIA ",
    "AMD",
    "(0)",
    "Tesla T4 (0)",
    "Tesla T4 (12)",
    "NVIDIA NVIDIA A100",
    "  NVIDIA   A100-SXM4-40GB  ",
    "nvidia a100-sxm4-40gb",
    "A100(R)",
    "Intel(R) Xeon(R) Gold 6126 CPU @ 2.60GHz",
    "Intel(R) Data Center GPU Max 1550 (1)",
    "AMD Instinct MI300X VF",
    "AMD-Instinct_MI300X",
    "Google TPU v3",
    "GeForce GTX 980 (0)",
    "2x Xeon Gold 6126 (Javed 2019)",
    "Quadro(TM) P4000",
    "Tesla V100-SXM2-16GB\n",
    "\tT4",
    "Fooxnvidia T4",
    "NVIDIA\u00a0T4",
    "ядро",
    "H100 80GB HBM3\x00",
    "T4;--",
    "'T4'",
    "İstanbul T4",
    "NVIDIA(R) RTX(TM) A6000",
    "(NVIDIA) T4",
    "AMDAHL 470",
    "nvidia-nvidia",
    "(r)",
    "(tm)(99)",
    "Tesla \u212a80",
]


def known_names() -> list[str]:
    return [name for model in models() for name in (model.name, *model.aliases)]


def keys(database: Database, names: list[str]) -> list[str]:
    found = database._fetch(
        "SELECT device_key(name) AS key "
        "FROM (SELECT unnest($names) AS name, unnest($places) AS n) ORDER BY n",
        {"names": names, "places": list(range(len(names)))},
    )
    keys: list[str] = found["key"].to_pylist()
    return keys


def test_a_device_has_the_same_key_in_sql_and_in_python(database: Database) -> None:
    names = known_names() + ODD_NAMES
    names += [f"NVIDIA {name} (3)" for name in known_names()]
    assert keys(database, names) == [device_key(name) for name in names]
    assert value(database, "device_key(NULL)") is None


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.text(st.sampled_from("NVIDIAnvidamG()rRtTmM019 -\u00a0\n."), max_size=24), min_size=1
    )
)
def test_any_name_has_the_same_key_in_sql_and_in_python(
    database: Database, names: list[str]
) -> None:
    assert keys(database, names) == [device_key(name) for name in names]


def test_the_pattern_is_the_same_in_sql_and_in_python() -> None:
    assert f"'{DEVICE_KEY_PATTERN}'" in catalog()["device_key"].sql


def test_every_known_name_leads_to_its_device(database: Database) -> None:
    rows = database.sql("SELECT model_key, model_name FROM device_model").rows()
    found = {row["model_key"]: row["model_name"] for row in rows}
    assert len(found) == len(rows)
    expected = {name: model.name for model in models() for name in (model.name, *model.aliases)}
    key_of = dict(zip(expected, keys(database, list(expected)), strict=True))
    assert {name: found[key_of[name]] for name in expected} == expected


# -- operator_class, phase_of ---------------------------------------------------------------------

NAMES = Path(__file__).resolve().parent.parent.parent / "fixtures" / "kernel_names" / "classes.csv"


def kernel_names() -> list[dict[str, str]]:
    """Names of kernels with their class and phase, told by people who read them."""
    with NAMES.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def of_names(database: Database, macro: str, names: list[str]) -> dict[str, str | None]:
    found = database._fetch(
        f"SELECT name, {macro}(name) AS told FROM (SELECT unnest($names) AS name)", {"names": names}
    )
    return {row["name"]: row["told"] for row in found.to_pylist()}


def test_a_kernel_is_of_the_class_that_its_name_tells(database: Database) -> None:
    expected = {row["name"]: row["class"] for row in kernel_names()}
    assert len(expected) == len(kernel_names())
    assert of_names(database, "operator_class", list(expected)) == expected
    assert value(database, "operator_class('')") == "other"
    assert value(database, "operator_class(NULL)") == "other"


def test_a_phase_is_the_one_that_the_name_tells(database: Database) -> None:
    expected = {row["name"]: row["phase"] or None for row in kernel_names()}
    assert of_names(database, "phase_of", list(expected)) == expected
    assert value(database, "phase_of('')") is None
    assert value(database, "phase_of(NULL)") is None


def test_each_class_and_phase_has_a_name_that_is_tried() -> None:
    for macro, column in (("operator_class", "class"), ("phase_of", "phase")):
        told = re.findall(r"(?i)(?:then|else) '([^']+)'", catalog()[macro].sql)
        assert set(told) == {row[column] for row in kernel_names()} - {""}


@pytest.mark.parametrize("name", ["hcom_allReduce__123", "ncclKernel_SendRecv", "all_gather_bf16"])
def test_communication_is_told_by_the_name_or_by_the_collective(
    database: Database, name: str
) -> None:
    assert value(database, f"is_communication('{name}', NULL, NULL)") is True
    assert value(database, "is_communication('gemm', 'allreduce', NULL)") is True
    assert value(database, "is_communication('gemm', NULL, NULL)") is False
    assert value(database, "is_communication(NULL, NULL, NULL)") is False


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", True),
        ("enumerate(DataPipe)#ShufflerIterDataPipe", True),
        ("## data_load ##", True),
        ("## wait_for_batch ##", True),
        ("## all2all_data:lengths ##", False),
        ("aten::data", False),
    ],
)
def test_loading_is_told_by_the_name(database: Database, name: str, expected: bool) -> None:
    assert value(database, f"is_data_loading('{name}')") is expected
    assert (phase_marked(name) == "data") is expected


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "unsigned char",
        "signed char",
        "short",
        "short int",
        "unsigned short",
        "int",
        "unsigned int",
        "long",
        "long int",
        "long long",
        "unsigned long",
        "c10::Float8_e4m3fn",
        "c10::Half",
        "c10::BFloat16",
        "float",
        "double",
        "c10::complex<c10::Half>",
        "c10::complex<float>",
        "c10::complex<double>",
    ],
)
def test_an_element_has_as_many_bytes_as_in_the_models_of_operators(
    database: Database, name: str
) -> None:
    modelled = f"op_model('aten::neg', '[[1]]', '[\"{name}\"]', NULL, NULL).read_bytes"
    found = value(database, f"element_bytes('{name}')")
    assert found is not None
    assert found == value(database, modelled)


# -- sums that are not to be parts ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected"),
    [("(1), (2)", 3), ("(1), (NULL)", None), ("(0), (0)", 0), ("(NULL)", None)],
)
def test_a_sum_lacks_where_a_part_lacks(
    database: Database, parts: str, expected: int | None
) -> None:
    text = f"SELECT whole_sum(part) AS value FROM (VALUES {parts}) AS parts(part)"
    assert database.sql(text).rows() == [{"value": expected}]


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        ("(NULL::VARCHAR), (NULL)", None),
        ("('not counted')", "not counted"),
        ("('b'), (NULL), ('a')", "2 of 3 files: a"),
    ],
)
def test_the_reason_of_a_sum_says_how_many_parts_lack(
    database: Database, reasons: str, expected: str | None
) -> None:
    text = f"SELECT first_reason(why, 'files') AS value FROM (VALUES {reasons}) AS parts(why)"
    assert database.sql(text).rows() == [{"value": expected}]


# -- width_ceiling --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("'fp32', '256', ['fp32', 'fp32_avx2', 'fp32_avx512']", "fp32_avx2"),
        ("'fp32', '512', ['fp32', 'fp32_avx2', 'fp32_avx512']", "fp32_avx512"),
        ("'fp32', 'scalar', ['fp32', 'fp32_avx2', 'fp32_avx512']", "fp32_avx2"),  # the next wider
        ("'fp32', '512', ['fp32', 'fp32_avx2']", "fp32"),  # never a narrower one
        ("'fp64', '256', ['fp32', 'fp32_avx2']", None),
        ("'fp32', 'scalable', ['fp32', 'fp32_avx2']", "fp32"),
        ("'fp32', '256', NULL", None),
    ],
)
def test_work_is_held_against_the_ceiling_of_its_width(
    database: Database, arguments: str, expected: str | None
) -> None:
    assert value(database, f"width_ceiling({arguments})") == expected


# -- communication --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("'anything', 'allreduce', NULL", True),  # the profiler says so
        ("NULL, 'allreduce', NULL", True),
        ("NULL, NULL, NULL", False),
        ("'', NULL, NULL", False),
        ("'ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)', NULL, NULL", True),
        ("'ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)', NULL, NULL", True),
        ("'void rcclGenericKernel<1, false>(ncclDevComm*)', NULL, NULL", True),
        ("'mscclKernel_Sum_half_Simple_false(ncclDevComm*)', NULL, NULL", True),
        ("'void vllm::cross_device_reduce_2stage<float, 8>(vllm::RankData*)', NULL, NULL", True),
        (
            "'void (anonymous namespace)::multimem_all_reduce_kernel<at::Half, 16>()', NULL, NULL",
            True,
        ),
        ("'hcom_allReduce__123_1', NULL, NULL", True),
        ("'nvshmemi_transfer_rma', NULL, NULL", True),
        ("'all-gather-start.7', NULL, NULL", True),
        ("'collective-permute.1', NULL, NULL", True),
        ("'void at::native::reduce_kernel<512, 1>(float)', NULL, NULL", False),
        ("'void at::native::_scatter_gather_elementwise_kernel<128, 4>()', NULL, NULL", False),
        ("'void paged_attention_ll4mi_reduce_kernel<float>()', NULL, NULL", False),
        ("'void oneflow::BlockAllReduce<float>()', NULL, NULL", False),
        ("'warp_all_reduce_softmax', NULL, NULL", False),
        ("'Memcpy PtoP (Device -> Device)', NULL, NULL", False),
        # what the profiler says of an instruction goes before its name
        ("'psum.3', NULL, 'all-reduce'", True),
        ("'fusion.1', NULL, 'all-reduce fusion'", True),
        ("'x', NULL, 'send-done'", True),
        ("'send.3', NULL, NULL", True),
        ("'psum.3', NULL, NULL", True),
        ("'sender_kernel', NULL, NULL", False),
        ("'x', NULL, 'reduce'", False),
        ("'all-reduce-helper', NULL, 'loop fusion'", False),
        ("'x', NULL, 'host send'", False),
        # types of arguments are not the function
        ("'void mine<ncclComm>(ncclDevComm*)', NULL, NULL", False),
    ],
)
def test_communication_is_told_by_the_profiler_or_the_name(
    database: Database, arguments: str, expected: bool
) -> None:
    assert value(database, f"is_communication({arguments})") is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("allreduce", "allreduce"),
        ("allreduce_coalesced", "allreduce"),
        ("_allgather_base", "allgather"),
        ("nccl:_all_gather_base", "allgather"),
        ("c10d::_reduce_scatter_base_", "reduce_scatter"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", "reduce_scatter"),
        ("all_to_allv", "all_to_all"),
        ("gloo:broadcast", "broadcast"),
        ("ncclDevKernel_Broadcast_RING_LL(x)", "broadcast"),
        ("nccl:send 0->1", "send"),
        ("nccl:recv 1<-0", "recv"),
        ("ncclDevKernel_SendRecv(x)", "sendrecv"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", None),
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", None),
        ("collective-permute-start.3", "permute"),
        ("psum.3", "allreduce"),
        ("psum_scatter.3", "reduce_scatter"),
        ("deep_ep::intranode::dispatch", "all_to_all"),
        ("deep_ep::internode_ll::combine", "all_to_all"),
        ("deep_ep::internode::notify_dispatch", None),
        ("nccl:reduce", "reduce"),
        ("nccl:gather", "gather"),
        ("nccl:scatter", "scatter"),
        ("nccl:all_reduce_barrier", "allreduce"),  # the first word counts
        ("barrier", "barrier"),
        ("wait", None),
        ("init", None),
        ("nccl:coalesced", None),
        ("", None),
    ],
)
def test_collectives_have_one_spelling(database: Database, text: str, expected: str | None) -> None:
    assert value(database, f"collective_kind('{text}')") == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("'Float'", 4),
        ("'float'", 4),
        ("'c10::BFloat16'", 2),
        ("'BFloat16'", 2),
        ("'Long'", 8),
        ("'long int'", 8),
        ("'unsigned char'", 1),
        ("'Float8_e4m3fn'", 1),
        ("'ComplexDouble'", 16),
        ("'Bool'", 1),
        ("'Float4_e2m1fn_x2'", None),
        ("'Scalar'", None),
        ("''", None),
        ("NULL", None),
    ],
)
def test_bytes_of_an_element(database: Database, name: str, expected: int | None) -> None:
    assert value(database, f"element_bytes({name})") == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("'[[128, 48], [3]]', '[\"float\", \"c10::Half\"]'", [24576.0, 6.0]),  # 128 * 48 * 4
        ("'[[128, 48], []]', '[\"float\", \"Scalar\"]'", [24576.0, None]),
        ("'[[[9600]], []]', '[\"TensorList\", \"\"]'", [None, None]),
        ("'[[4]]', '[]'", [None]),
        ("'[\n [\n  4\n ]\n]', '[\n \"long\"\n]'", [32.0]),
        ("'no list', '[\"float\"]'", [None]),
        ("NULL, NULL", []),
    ],
)
def test_bytes_of_tensors(database: Database, arguments: str, expected: list[float | None]) -> None:
    assert value(database, f"tensor_bytes({arguments})") == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("'allreduce', 4", 1.5),
        ("'allreduce', 2", 1.0),
        ("'allreduce', 1", 0.0),
        ("'allgather', 8", 0.875),
        ("'reduce_scatter', 8", 0.875),
        ("'all_to_all', 4", 0.75),
        ("'gather', 4", 0.75),
        ("'scatter', 4", 0.75),
        ("'broadcast', 8", 1.0),
        ("'reduce', 8", 1.0),
        ("'sendrecv', 2", 1.0),
        ("'barrier', 8", None),
        ("NULL, 8", None),
        ("'allreduce', 0", None),
        ("'allreduce', NULL", None),
    ],
)
def test_bus_bandwidth_has_the_factors_of_nccl_tests(
    database: Database, arguments: str, expected: float | None
) -> None:
    assert value(database, f"bus_factor({arguments})") == expected


@pytest.mark.parametrize(
    ("unit", "flop", "moved"),
    [
        ("FLOP/s", 1.0, None),
        ("GFLOP/s", 1e9, None),
        ("GFLOPS", 1e9, None),
        ("gflops", 1e9, None),
        ("TFLOPs/s", 1e12, None),
        ("Pflop/sec", 1e15, None),
        ("EFLOP/s", 1e18, None),
        # so many operations, not a rate
        ("GFLOPs", None, None),
        ("GFLOP", None, None),
        ("FLOP/byte", None, None),
        ("B/s", None, 1.0),
        ("kB/s", None, 1e3),
        ("GB/s", None, 1e9),
        ("MiB/s", None, 2.0**20),
        ("bytes/s", None, 1.0),
        ("Gbytes/s", None, 1e9),
        ("TB/sec", None, 1e12),
        ("Gb/s", None, None),
        ("GB", None, None),
        ("s", None, None),
        ("", None, None),
    ],
)
def test_rates_by_their_units(
    database: Database, unit: str, flop: float | None, moved: float | None
) -> None:
    assert value(database, f"flop_rate_scale('{unit}')") == flop
    assert value(database, f"byte_rate_scale('{unit}')") == moved


# -- is_fp32_product ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("volta_sgemm_128x64_nn", True),
        ("sgemm_largek_lds64", True),
        ("void gemv2T_kernel_val<int, int, float, float>", False),
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(T1::Params)", True),
        ("cutlass_80_tensorop_s1688gemm_256x128_16x3_nn_align4", False),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x128x8_stage3", True),
        ("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32", False),
        ("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckcrs_nhwc", True),
        ("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckcrs", False),
        ("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", True),
        ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false>", True),
        ("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>", True),
        ("void cudnn::cnn::wgrad_alg0_engine<__half, 128, 6, 7, 3, 3, 5, false>", False),
        ("volta_fp16_s884gemm_fp16_128x64_nn", False),
        ("ampere_bf16_s16816gemm_bf16_128x64_nn", False),
        ("ampere_dgemm_128x64_nn", False),
        ("ampere_hgemm_128x64_nn", False),
        ("void at::native::vectorized_elementwise_kernel<4, float>", False),
        ("", False),
    ],
)
def test_a_product_on_fp32_units_is_told_by_its_name(
    database: Database, name: str, expected: bool
) -> None:
    assert value(database, f"is_fp32_product('{name}')") is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("volta_hgemm_128x64_nn", True),
        ("maxwell_hgemm_128x64_nn", True),
        ("void cutlass::Kernel2<cutlass_70_simt_hgemm_128x128_8x2_nn_align1>(T1::Params)", True),
        ("volta_hcudnn_128x64_relu_interior_nn_v1", True),
        ("void cudnn::cnn::wgrad_alg0_engine<__half, 128, 6, 7, 3, 3, 5, false>", True),
        ("volta_h884gemm_128x64_ldg8_nn", False),
        ("turing_h1688gemm_128x64_ldg8_nn", False),
        ("ampere_h16816gemm_128x64_ldg8_nn", False),
        ("volta_fp16_s884gemm_fp16_128x64_nn", False),
        ("cutlass_80_tensorop_h16816gemm_256x128_32x3_nn_align8", False),
        ("sm90_xmma_gemm_f16f16_f16f16_f16_nn_n_tilesize64x64x64_warpgroup", False),
        ("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT", False),
        ("volta_sgemm_128x64_nn", False),
        ("", False),
    ],
)
def test_a_product_on_fp16_units_is_told_by_its_name(
    database: Database, name: str, expected: bool
) -> None:
    assert value(database, f"is_fp16_product('{name}')") is expected


# -- traces for viewers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("1, 7, NULL, NULL, NULL", "7"),
        ("1, 4294967295, NULL, NULL, NULL", "4294967295"),
        # Perfetto reads these as the thread of the process
        ("1, 4294967296, NULL, NULL, NULL", '"4294967296"'),
        ("1, 0, NULL, NULL, NULL", '"0"'),
        ("1, -1, NULL, NULL, NULL", '"-1"'),
        ("NULL, NULL, NULL, 7, NULL", "7"),
        ("1, NULL, 'a \"b\"', 7, NULL", '"a \\"b\\""'),
        ("NULL, NULL, 'Spans/a/b', NULL, NULL", '"a/b"'),
        ("NULL, NULL, 'host', NULL, NULL", None),
        ("1, 7, NULL, NULL, 2", '"7 (tracekit lane 2)"'),
        ("1, NULL, 'main', NULL, 3", '"main (tracekit lane 3)"'),
        ("1, NULL, NULL, NULL, 2", '" (tracekit lane 2)"'),
    ],
)
def test_the_thread_of_a_trace_event(
    database: Database, arguments: str, expected: str | None
) -> None:
    assert value(database, f"trace_thread({arguments})") == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("[]", ""),
        ("['a']", "a"),
        ("['a', 'b', 'c', 'd', 'e']", "a, b, c, d, e"),
        ("['a', 'b', 'c', 'd', 'e', 'f', 'g']", "a, b, c, d, e and 2 more"),
        ("NULL", None),
    ],
)
def test_of_a_long_list_the_first_names_are_told(
    database: Database, names: str, expected: str | None
) -> None:
    assert value(database, f"some_names({names})") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1]}', '{"a": [1]}'),
        ("[[1, 2], []]", "[[1, 2], []]"),
        ('{"a": [1]', '"{\\"a\\": [1]"'),
        ("[1, 2", '"[1, 2"'),
        ("12", '"12"'),
        ("null", '"null"'),
    ],
)
def test_lists_and_objects_stay_json_and_other_text_becomes_a_string(
    database: Database, text: str, expected: str
) -> None:
    assert value(database, f"trace_json('{text}')") == expected
