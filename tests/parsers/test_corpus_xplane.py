"""Every XSpace of the corpus gives what a plain walk over its protobuf, and xprof, find in it."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, gathered
from tests.parsers.xspaces import unasked
from tests.xplane import fields
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.tensorflow_profiler import TensorflowProfilerParser
from tracekit.registry import detect
from tracekit.source import Source

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "tf"
MANGLED = "xprof-tpu-inference2-utf8mangled"
TPU, OLD_TF, TE = "xprof-tpu-inference2", "tfprofiler-gpu-multiworker", "tracelens-jax-te-fusedattn"
NAMES = sorted(
    name for path in CORPUS.glob("*.xplane.pb") if (name := path.name.split(".")[0]) != MANGLED
)
GPUS = [name for name in NAMES if name != TPU]
WITH_PROGRAMS = [name for name in NAMES if name != OLD_TF]

Table = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def parsed(parser: TensorflowProfilerParser, name: str) -> Parsed:
    report = Report()
    source = Source.at(CORPUS / f"{name}.xplane.pb")
    return gathered(parser.parse(source, report), report)


@pytest.fixture(scope="module")
def plain() -> dict[str, Parsed]:
    """Every dump, read without xprof."""
    return {name: parsed(TensorflowProfilerParser(unasked), name) for name in NAMES}


@pytest.fixture(scope="module")
def asked() -> dict[str, Parsed]:
    """The dumps with compiled programs, read with xprof."""
    return {name: parsed(TensorflowProfilerParser(), name) for name in WITH_PROGRAMS}


# -- the protobuf, walked plainly ------------------------------------------------------------------


def dictionary(content: bytes) -> dict[int, Any]:
    return {number: value for number, _, value in fields(content)}


def planes(name: str) -> Iterator[tuple[str, dict[int, str], list[tuple[int, int, bytes]]]]:
    """Name, names of stats, and fields of each plane."""
    for number, _, value in fields((CORPUS / f"{name}.xplane.pb").read_bytes()):
        if number == 1 and isinstance(value, bytes):
            parts: Any = list(fields(value))
            entries = [dictionary(part) for n, _, part in parts if n == 5]
            stats = {e.get(1, 0): dictionary(e.get(2, b"")).get(2, b"").decode() for e in entries}
            called = next((part.decode() for n, _, part in parts if n == 2), "")
            yield called, stats, parts


def events(name: str) -> Iterator[tuple[str, str, dict[int, Any], dict[str, dict[int, Any]]]]:
    """Plane, line, fields and stats of each event."""
    for plane, stat_names, parts in planes(name):
        for number, _, line in parts:
            if number == 3:
                inner: Any = list(fields(line))
                line_name = next((v.decode() for n, _, v in inner if n == 2), "")
                for n, _, event in inner:
                    if n == 4:
                        stats = [dictionary(v) for k, _, v in fields(event) if k == 4]  # type: ignore[arg-type]
                        named = {stat_names[s[1]]: s for s in stats}
                        yield plane, line_name, dictionary(event), named


def test_there_are_six_that_can_be_read() -> None:
    assert len(NAMES) == 6


@pytest.mark.parametrize("name", NAMES)
def test_it_is_claimed_by_one(name: str) -> None:
    assert detect(Source.at(CORPUS / f"{name}.xplane.pb")).parser.name == "tensorflow-profiler"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_every_event_has_a_row(name: str, plain: dict[str, Parsed]) -> None:
    found, count = plain[name], sum(1 for _ in events(name))
    tables = ("kernel", "transfer", "slice", "memory_event")
    assert found.report.event_count == sum(len(found[table]) for table in tables) == count
    assert len({row["event_id"] for table in tables for row in found[table]}) == count
    assert found.report.facts["is_complete"]


@pytest.mark.parametrize("name", GPUS)
def test_kernel_time_is_that_of_the_protobuf_to_the_ns(name: str, plain: dict[str, Parsed]) -> None:
    expected: collections.Counter[tuple[int, str]] = collections.Counter()
    for plane, line, event, stats in events(name):
        if plane.startswith("/device:GPU:") and line.startswith("Stream #"):
            for what in ("kernel_details", "memcpy_details"):
                if what in stats:
                    assert event.get(3, 0) % 1000 == 0  # whole ns: nothing to round
                    expected[int(plane[12:]), what] += event.get(3, 0) // 1000
    summed: collections.Counter[tuple[int, str]] = collections.Counter()
    for table, what in (("kernel", "kernel_details"), ("transfer", "memcpy_details")):
        for row in plain[name][table]:
            summed[row["device_id"], what] += row["dur_ns"]
    assert summed == expected
    assert sum(expected.values()) > 0


def test_kernel_time_of_a_tpu_is_that_of_its_own_clock(plain: dict[str, Parsed]) -> None:
    expected: collections.Counter[str] = collections.Counter()
    for plane, line, _, stats in events(TPU):
        if line == "XLA Ops":
            own_ps = next(v for k, v in stats["device_duration_ps"].items() if k != 1)
            expected[plane] += (own_ps + 500) // 1000
    summed: collections.Counter[str] = collections.Counter()
    for row in plain[TPU]["kernel"]:
        summed[f"/device:TPU:{row['device_id']}"] += row["dur_ns"]
    assert summed == expected
    assert len(expected) == 4


@pytest.mark.parametrize("name", GPUS)
def test_times_and_links_of_kernels_are_those_of_the_protobuf(
    name: str, plain: dict[str, Parsed]
) -> None:
    rows = iter(plain[name]["kernel"])
    starts: dict[tuple[str, str], int] = {}
    for plane, _, parts in planes(name):
        for number, _, line in parts:
            if number == 3:
                says = dictionary(line)
                starts[plane, says[2].decode()] = says.get(3, 0)
    for plane, line_name, event, stats in events(name):
        if plane.startswith("/device:GPU:") and "kernel_details" in stats:
            row = next(rows)
            start = starts[plane, line_name] + event.get(2, 0) // 1000
            assert (row["start_ns"], row["correlation_id"]) == (
                start,
                next(v for k, v in stats["correlation_id"].items() if k != 1),
            )
    assert next(rows, None) is None


# -- xprof's own tables ----------------------------------------------------------------------------

SCRIPT = """
import json, sys
from xprof.convert import raw_to_tool_data
path, tools = sys.argv[1], sys.argv[2:]
said = {}
for tool in tools:
    options = {"use_saved_result": False}
    said[tool] = json.loads(raw_to_tool_data.xspace_to_tool_data([path], tool, options)[0])
print("\\n" + json.dumps(said))
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Table]]:
    """hlo_stats, framework_op_stats and kernel_stats of every dump, by xprof alone."""
    pytest.importorskip("xprof", reason="xprof is not installed here")
    found = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp(name) / "plugins" / "profile" / "r"
        folder.mkdir(parents=True)
        (folder / "h.xplane.pb").symlink_to(CORPUS / f"{name}.xplane.pb")
        command = [
            sys.executable,
            "-c",
            SCRIPT,
            str(folder / "h.xplane.pb"),
            "hlo_stats",
            "framework_op_stats",
            "kernel_stats",
            "roofline_model",
        ]
        done = subprocess.run(command, capture_output=True, check=True, timeout=300)
        said = json.loads(done.stdout.splitlines()[-1])
        found[name] = {tool: rows_of(table) for tool, table in said.items()}
    return found


def rows_of(said: Any) -> Table:
    first = said[0] if isinstance(said, list) else said
    names = [column["id"] for column in first["cols"]]
    return [
        {n: (cell or {}).get("v") for n, cell in zip(names, row["c"], strict=True)}
        for row in first["rows"]
    ]


def added(rows: Table, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """op_stat over all devices."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        total = found.setdefault(tuple(row[key] for key in keys), collections.defaultdict(int))
        total["devices"] += 1
        for name in ("occurrence_count", "dur_ns", "self_ns", "flop_count", "accessed_bytes"):
            known = row[name] is not None and total[name] is not None
            total[name] = total[name] + row[name] if known else None
    return found


def program_id(program: str) -> str:
    return program[program.rindex("(") + 1 : -1]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", WITH_PROGRAMS)
def test_instructions_are_those_of_hlo_stats(
    name: str, asked: dict[str, Parsed], tables: dict[str, dict[str, Table]]
) -> None:
    rows = [
        r for r in asked[name]["op_stat"] if (r["op_kind"], r["side_kind"]) == ("hlo", "device")
    ]
    ours, theirs = added(rows, "program_name", "name"), tables[name]["hlo_stats"]
    by_id = {(program_id(program), op): total for (program, op), total in ours.items()}
    assert len(by_id) == len(theirs) > 0
    category = {(program_id(r["program_name"]), r["name"]): r["category_name"] for r in rows}
    for row in theirs:
        key = (row["program_id"], row["hlo_op_name"])
        total, spread = by_id[key], by_id[key]["devices"]
        assert category[key] == row["category"]
        assert total["occurrence_count"] == row["occurrences"]
        # each device's sum is rounded to the ns once
        assert total["dur_ns"] == pytest.approx(row["total_time"] * 1e3, abs=spread)
        assert total["self_ns"] == pytest.approx(row["total_self_time"] * 1e3, abs=spread)
        flop = row["model_flop_rate"] * row["total_time"] * 1e3
        accessed = row["measured_memory_bw"] * 2**30 * row["total_time"] / 1e6
        if not flop and not accessed:  # its cost model knows nothing: not zero
            assert (total["flop_count"], total["accessed_bytes"]) == (None, None)
        elif row["hlo_op_name"].startswith(
            "cudnn-conv"
        ):  # two kernels a run, which xprof costs twice
            assert 0.49 < total["flop_count"] / flop <= 0.5
        else:
            assert total["flop_count"] == pytest.approx(flop, rel=1e-9)
            assert total["accessed_bytes"] == pytest.approx(accessed, rel=1e-9)


@pytest.mark.parametrize("name", [TPU, TE])
def test_intensities_and_rates_are_those_of_roofline_model(
    name: str, asked: dict[str, Parsed], tables: dict[str, dict[str, Table]]
) -> None:
    rows = [
        r for r in asked[name]["op_stat"] if (r["op_kind"], r["side_kind"]) == ("hlo", "device")
    ]
    ours = {
        (program_id(program), op): total
        for (program, op), total in added(rows, "program_name", "name").items()
    }
    compared = 0
    for row in tables[name]["roofline_model"]:
        key = (row["hlo_module_id"], row["operation"])
        if row["step"] != "Total" or key not in ours or not row["include_infeed_outfeed"]:
            continue
        total = ours[key]
        if total["flop_count"]:
            intensity = total["flop_count"] / total["accessed_bytes"]
            assert intensity == pytest.approx(row["operational_intensity"], rel=1e-6)
            rate = total["flop_count"] / total["dur_ns"]
            assert rate == pytest.approx(row["model_flop_rate"], rel=1e-6)
            compared += 1
    assert compared >= 4


@pytest.mark.parametrize("name", NAMES)
def test_framework_operators_take_the_time_that_framework_op_stats_says(
    name: str,
    asked: dict[str, Parsed],
    plain: dict[str, Parsed],
    tables: dict[str, dict[str, Table]],
) -> None:
    rows = [r for r in asked.get(name, plain[name])["op_stat"] if r["op_kind"] == "framework"]
    ours = added(rows, "side_kind", "name")
    runs: dict[str, int] = {}  # of operators of one name in several programs it takes the most
    for (_, op, _), total in added(rows, "side_kind", "name", "program_name").items():
        runs[op] = max(runs.get(op, 0), total["occurrence_count"])
    compared = 0
    for row in tables[name]["framework_op_stats"]:
        side, op = row["host_or_device"].lower(), row["operation"]
        # Not operators: what it calls idle, iterators, and the calls that launch a program.
        if row["type"] in ("IDLE", "Dataset", "XlaModule", ""):
            continue
        if op == "(null)" or (side, op) not in ours:
            assert row["total_time"] == 0
            continue
        total, spread = ours[side, op], ours[side, op]["devices"]
        assert total["dur_ns"] == pytest.approx(row["total_time"] * 1e3, abs=spread)
        assert total["self_ns"] == pytest.approx(row["total_self_time"] * 1e3, abs=spread)
        if side == "device":  # of a host's it says 2 where the dump has one event
            assert runs[op] == row["occurrences"]
        compared += 1
    assert compared >= 2


@pytest.mark.parametrize("name", GPUS)
def test_kernels_are_those_of_kernel_stats(
    name: str, plain: dict[str, Parsed], tables: dict[str, dict[str, Table]]
) -> None:
    theirs: dict[tuple[str, ...], list[float]] = {}
    for row in tables[name]["kernel_stats"]:
        kernel = (row["kernel_name"], row["grid_dim"], row["block_dim"])
        total = theirs.setdefault(
            kernel, [0, 0.0, row["registers_per_thread"], row["occupancy_pct"]]
        )
        total[0] += row["occurrences"]
        total[1] += row["total_duration_us"]
    ours: dict[tuple[str, ...], list[float]] = {}
    for row in plain[name]["kernel"]:
        grid, block = (
            ",".join(str(row[f"{what}_{axis}"]) for axis in "xyz") for what in ("grid", "block")
        )
        total = ours.setdefault((row["name"], grid, block), [0, 0.0, 0, 0.0])
        total[0] += 1
        total[1] += row["dur_ns"] / 1e3
        total[2] = row["registers_per_thread_count"] or 0
        total[3] = (row["occupancy_ratio"] or 0) * 100
    assert {k: [*v[:1], *v[2:3]] for k, v in ours.items()} == {
        k: [*v[:1], *v[2:3]] for k, v in theirs.items() if k in ours
    }
    for key, total in theirs.items():
        assert total[1] == pytest.approx(ours[key][1], abs=1e-3 * total[0])


# -- single facts ----------------------------------------------------------------------------------


def test_one_run_of_a_convolution_costs_what_its_shapes_say(asked: dict[str, Parsed]) -> None:
    """conv 3-D: 32,715,571,200 FLOP a run; 5 runs of two kernels each."""
    (row,) = (
        r
        for r in asked["tracelens-jax-conv-mi300x-legacy"]["op_stat"]
        if r["op_kind"] == "hlo" and r["name"] == "cudnn-conv.1.0"
    )
    assert (row["occurrence_count"], row["flop_count"]) == (10, 5 * 32_715_571_200)
    assert row["work_source_name"].startswith("xprof ")


def test_a_matrix_product_costs_what_its_shapes_say(asked: dict[str, Parsed]) -> None:
    row = next(
        r
        for r in asked["tracelens-jax-gemm-mi300x"]["op_stat"]
        if r["op_kind"] == "hlo" and r["name"].startswith("gemm_fusion")
    )
    # 2 m n k of each run, from the shapes in its text
    assert row["flop_count"] == 100_663_296
    assert row["occurrence_count"] == 3


def test_without_xprof_the_work_of_a_gpu_is_not_known(plain: dict[str, Parsed]) -> None:
    rows = [r for r in plain[TE]["op_stat"] if r["op_kind"] == "hlo"]
    assert len(rows) == 20
    assert {(r["flop_count"], r["work_source_name"]) for r in rows} == {(None, None)}
    assert "xprof_refused" in plain[TE].codes


def test_without_xprof_instructions_are_told_by_the_programs_in_the_dump(
    plain: dict[str, Parsed], asked: dict[str, Parsed]
) -> None:
    """Category, framework operator and opcode are those that xprof says."""
    for name in sorted({*GPUS} - {OLD_TF}):
        told = [
            sorted(
                (
                    r["device_id"],
                    r["program_name"],
                    r["name"],
                    r["category_name"] or "",
                    r["op_name"] or "",
                    r["type_name"],
                )
                for r in found[name]["op_stat"]
                if (r["op_kind"], r["side_kind"]) == ("hlo", "device")
            )
            for found in (plain, asked)
        ]
        assert told[0] == told[1]
        assert told[0]


def test_devices(plain: dict[str, Parsed]) -> None:
    (tpu, *_), v100 = plain[TPU]["device"], plain[OLD_TF]["device"][0]
    assert (tpu["name"], tpu["device_kind"]) == ("TPU v6 Lite", "tpu")
    assert tpu["reported_flop_per_s"] == 918e12
    assert tpu["reported_bytes_per_s"] == pytest.approx(1637.993152512e9)
    assert (v100["compute_capability"], v100["sm_count"]) == ("7.0", 80)
    assert v100["reported_bytes_per_s"] == 898_048_000_000
    assert len(plain[OLD_TF]["device"]) == 8


def test_one_that_was_written_as_text_is_refused() -> None:
    with pytest.raises(FormatError, match="full of UTF-8 replacement characters"):
        parsed(TensorflowProfilerParser(unasked), MANGLED)


def test_what_was_cut_in_the_middle_is_kept_up_to_there(tmp_path: Path) -> None:
    content = (CORPUS / f"{TE}.xplane.pb").read_bytes()
    # In a plane that is cut the names are missing: what its stats are is not known then.
    for share, kernels in ((0.7, 0), (0.8, 150), (0.95, 150)):
        path = tmp_path / "cut.xplane.pb"
        path.write_bytes(content[: int(len(content) * share)])
        report = Report()
        found = gathered(TensorflowProfilerParser(unasked).parse(Source.at(path), report), report)
        assert "cut_content" in found.codes
        assert not report.facts["is_complete"]
        assert len(found["kernel"]) == kernels
        assert found["slice"]
