"""XSpace dumps made by hand: file in, rows out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, gathered
from tests.parsers.xspaces import Plane, Stat, long, space, unasked, whole
from tests.xplane import LEN, varint
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.tensorflow_profiler import TensorflowProfilerParser
from tracekit.parsers.tensorflow_profiler import events as xspace_events
from tracekit.registry import claims
from tracekit.source import Source

Read = Callable[[bytes], Parsed]

UNIX_NS = 1_795_338_981_712_644_583
TPU_STATS: dict[str, Stat] = {
    "device_type_string": "TPU v6 Lite",
    "peak_teraflops_per_second": 918.0,
    "peak_hbm_bw_gigabytes_per_second": 1638.0,
}
GPU_STATS: dict[str, Stat] = {
    "device_vendor": "Nvidia",
    "clock_rate": ("uint", 1_530_000),
    "core_count": ("uint", 80),
    "memory_bandwidth": ("uint", 898_048_000_000),
    "memory_size": ("uint", 16_945_512_448),
    "compute_cap_major": ("uint", 7),
    "compute_cap_minor": ("uint", 0),
}


DETAILS = "regs:38 static_shared:16 dynamic_shared:48 grid:160,2,1 block:1024,1,1 occ_pct:62.5"


def accesses(*held: tuple[int, int, int]) -> bytes:
    """MemoryAccessBreakdown: (operation, memory, bytes) of each access."""
    return b"".join(
        long(1, whole(1, operation) + whole(2, memory) + whole(3, size))
        for operation, memory, size in held
    )


def task() -> Plane:
    return Plane("Task Environment", stats={"profile_start_time": ("uint", UNIX_NS)})


def gpu() -> Plane:
    plane = Plane("/device:GPU:1", 1, GPU_STATS)
    plane.line(
        "Stream #16(Kernel)",
        [
            plane.event(
                "gemm_fusion_dot.kd",
                1_000_499,
                2_000_500,
                correlation_id=7,
                kernel_details=("ref", DETAILS),
                tf_op=("ref", "XlaModule:"),
                name=("ref", "jit(f)/dot"),
                hlo_op=("ref", "dot.1"),
                hlo_module=("ref", "jit_f"),
                program_id=17,
                context_id="$$5",
                queue='a "b"',
            ),
            plane.event(
                "gemm_fusion_dot.kd",
                9_000_000,
                4_000_000,
                correlation_id=8,
                kernel_details="regs:38 shm:512 grid:160,2,1 block:1024,1,1",
                annotation="a/b:MatMul#shape=(f32[2])#::#edge_name=x#",
                hlo_op=("ref", "dot.1"),
                hlo_module=("ref", "jit_f"),
                program_id=17,
            ),
            plane.event(
                "MemcpyH2D",
                20_000_000,
                3_000,
                correlation_id=9,
                memcpy_details="size:112 dest:4 async:0",
            ),
            plane.event(
                "Memcpy",
                21_000_000,
                3_000,
                memcpy_details="kind_src:device kind_dst:pinned size:8 dest:0 async:1",
            ),
            plane.event("Memset", 22_000_000, 3_000, memset_details="kind:device size:64 async:1"),
            plane.event("nothing said", 23_000_000, 3_000),
        ],
        line_id=16,
        start_ns=100,
    )
    plane.line("XLA Ops", [plane.event("dot.1", 1_000_499, 2_000_500)], 2**64 - 5, 100)
    plane.line("Steps", [plane.event("12", 0, 30_000_000, group_id=3)], 2**64 - 4, 100)
    return plane


def tpu() -> Plane:
    plane = Plane("/device:TPU:0", 2, TPU_STATS)
    f: dict[str, Stat] = {
        "flops": ("uint", 900),
        "model_flops": ("uint", 1000),
        "bytes_accessed": ("uint", 50),
        "program_id": ("uint", 2**64 - 3),
    }
    plane.metadata_stats = {
        "fusion.1": f
        | {
            "hlo_category": "loop fusion",
            "tf_op": "jit(f)/jit(main)/add:",
            "memory_access_breakdown": accesses((1, 1, 20), (2, 1, 10), (1, 3, 20)),
            "shape_with_layout": "f32[8]{0}",
            "source": "train.py:37",
        },
        "while.2": f | {"hlo_category": "while", "flops": ("uint", 0), "model_flops": ("uint", 0)},
        "custom-call.3": {
            "hlo_category": "custom-call",
            "flops": ("uint", 0),
            "model_flops": ("uint", 0),
            "bytes_accessed": ("uint", 0),
        },
    }

    def fusion(offset: int, dur: int) -> bytes:
        # The host's clock and the device's own: 10 % apart, as in a real dump.
        return plane.event(
            "%fusion.1 = f32[8]{0} fusion(%p)",
            offset,
            dur * 9 // 10,
            "fusion.1",
            device_offset_ps=offset - 50,
            device_duration_ps=dur,
        )

    plane.line("XLA Modules", [plane.event(f"jit_f({2**64 - 3})", 0, 100_000)], 2)
    plane.line(
        "XLA Ops",
        [
            plane.event(
                "%while.2 = (f32[8]) while(%t)",
                1_000,
                20_000,
                "while.2",
                device_offset_ps=950,
                device_duration_ps=20_000,
            ),
            fusion(2_000, 5_400),
            fusion(10_000, 5_499),
            plane.event("%custom-call.3 = f32[8] custom-call(%p)", 50_000, 3_000, "custom-call.3"),
        ],
        3,
    )
    plane.line("Async XLA Ops", [plane.event("%copy-start = f32[8]", 0, 90_000)], 4)
    return plane


def host() -> Plane:
    plane = Plane("/host:CPU", stats={"process_id": 4711})
    memory: dict[str, Stat] = {
        "allocator_name": "GPU_6_bfc",
        "addr": 140_000,
        "bytes_allocated": 4096,
        "allocation_bytes": 256,
        "requested_bytes": 200,
        "fragmentation": 0.5,
    }
    plane.line(
        "python",
        [
            plane.event("$train.py:3 step", 0, 9_000_000),
            plane.event("train", 1_000_000, 5_000_000, step_num=41, _r=1),
            plane.event("a/MatMul:MatMul", 2_000_000, 3_000_000, "MatMul", is_eager=1),
            plane.event("b:Add", 3_000_000, 1_000_000, "Add", is_eager=0),
            plane.event("cuLaunchKernel", 6_000_000, 10_000, correlation_id=7),
            plane.event("MemoryAllocation", 7_000_000, **memory),
            plane.event("MemoryDeallocation", 8_000_000, **memory),
            plane.event(
                "dot.9",
                8_500_000,
                400_000,
                hlo_op=("ref", "dot.9"),
                hlo_module=("ref", "jit_g"),
                program_id=2,
            ),
        ],
        line_id=-3,
        start_ns=50,
    )
    return plane


SAMPLE = space(gpu(), tpu(), host(), task())


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def parsed(content: bytes) -> Parsed:
        path = tmp_path / "host.xplane.pb"
        path.write_bytes(content)
        report = Report()
        parser = TensorflowProfilerParser(unasked)
        return gathered(parser.parse(Source.at(path), report), report)

    return parsed


def some(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


def test_kernels_of_a_gpu(read: Read) -> None:
    first, second = (r for r in read(SAMPLE)["kernel"] if r["device_id"] == 1)
    expected = {
        # 100 ns + 1,000,499 ps and 2,000,500 ps, each rounded once
        "start_ns": 1_100,
        "dur_ns": 2_001,
        "name": "gemm_fusion_dot.kd",
        "stream_id": 16,
        "correlation_id": 7,
        "context_id": 5,
        "grid_x": 160,
        "grid_y": 2,
        "block_x": 1024,
        "registers_per_thread_count": 38,
        "shared_memory_bytes": 64,
        "occupancy_ratio": 0.625,
        "op_name": "jit(f)/dot",
        "hlo_op_name": "dot.1",
        "program_name": "jit_f(17)",
        "launch_count": 1,
        "track_name": "/device:GPU:1 Stream #16(Kernel)",
    }
    assert {key: first[key] for key in expected} == expected
    assert json.loads(first["args_json"]) == {"queue": 'a "b"'}
    assert (second["op_name"], second["shared_memory_bytes"]) == ("a/b:MatMul", 512)
    assert (second["occupancy_ratio"], second["context_id"]) == (None, None)


def test_an_occupancy_of_rocm_is_not_known(read: Read) -> None:
    plane = Plane("/device:GPU:0")
    details = "grid:16,1,1 block:512,1,1 private_mem:0 group_mem:2112 occ_pct:0"
    plane.line("Stream #2", [plane.event("k.kd", 1, 1, kernel_details=details)])
    (row,) = read(space(plane))["kernel"]
    assert (row["occupancy_ratio"], row["shared_memory_bytes"]) == (None, 2112)


def test_copies_and_sets(read: Read) -> None:
    found = read(SAMPLE)
    assert some(found["transfer"], "transfer_kind", "direction_kind", "size_bytes", "dur_ns") == [
        ("memcpy", "host_to_device", 112, 3),
        ("memcpy", "device_to_host", 8, 3),
        ("memset", None, 64, 3),
    ]


def test_what_a_stream_does_not_describe_is_no_kernel(read: Read) -> None:
    (row,) = (r for r in read(SAMPLE)["slice"] if r["name"] == "nothing said")
    assert (row["slice_kind"], row["device_id"]) == ("device", 1)


def test_derived_lines_are_no_kernels(read: Read) -> None:
    found = read(SAMPLE)
    derived = {r["category_name"] for r in found["slice"] if r["slice_kind"] == "device_annotation"}
    assert derived == {"XLA Ops", "Steps", "XLA Modules", "Async XLA Ops"}
    assert len(found["kernel"]) == 2 + 3  # the while of the TPU only runs others


def test_instructions_of_a_tpu(read: Read) -> None:
    found = read(SAMPLE)
    rows = [r for r in found["kernel"] if r["device_id"] == 0]
    program = f"jit_f({2**64 - 3})"
    assert some(rows, "name", "start_ns", "dur_ns", "op_name", "program_name") == [
        ("fusion.1", 2, 5, "jit(f)/jit(main)/add:", program),
        ("fusion.1", 10, 5, "jit(f)/jit(main)/add:", program),
        ("custom-call.3", 50, 3, None, None),
    ]


def test_operators_of_a_tpu(read: Read) -> None:
    rows = {
        r["name"]: r
        for r in read(SAMPLE)["op_stat"]
        if (r["op_kind"], r["side_kind"], r["device_id"]) == ("hlo", "device", 0)
    }
    fusion, loop, custom = (rows[n] for n in ("fusion.1", "while.2", "custom-call.3"))
    expected = {
        "event_id": None,
        "occurrence_count": 2,
        "dur_ns": 11,
        "self_ns": 11,  # 5,400 + 5,499 ps, rounded once
        "flop_count": 2000,
        "normalized_flop_count": 1800,
        "accessed_bytes": 100,
        "dram_bytes": 60,
        "category_name": "loop fusion",
        "work_source_name": "dump",
        "shape_text": "f32[8]{0}",
        "source_text": "train.py:37",
        "hlo_text": "%fusion.1 = f32[8]{0} fusion(%p)",
        "program_name": f"jit_f({2**64 - 3})",
    }
    assert {key: fusion[key] for key in expected} == expected
    assert (loop["dur_ns"], loop["self_ns"]) == (20, 9)  # 20,000 - 5,400 - 5,499 = 9,101 ps
    assert (loop["flop_count"], loop["dram_bytes"]) == (0, None)
    # The cost model knows nothing of a custom call: its zeros are not measured.
    assert (custom["flop_count"], custom["accessed_bytes"]) == (None, None)


def test_operators_of_a_gpu_and_a_host(read: Read) -> None:
    rows = read(SAMPLE)["op_stat"]
    shown = some(
        [r for r in rows if r["device_id"] != 0],
        "op_kind",
        "side_kind",
        "device_id",
        "name",
        "type_name",
        "occurrence_count",
        "dur_ns",
        "self_ns",
        "is_eager",
    )
    assert sorted(shown, key=str) == sorted(
        [
            # 2,000,500 + 4,000,000 ps; the operator is that of the longer kernel
            ("hlo", "device", 1, "dot.1", None, 2, 6001, 6001, None),
            ("framework", "device", 1, "a/b", "MatMul", 2, 6001, 6001, None),
            ("framework", "host", None, "a/MatMul", "MatMul", 1, 3000, 2000, True),
            ("framework", "host", None, "b", "Add", 1, 1000, 1000, False),
            ("hlo", "host", None, "dot.9", None, 1, 400, 400, None),
        ],
        key=str,
    )


@pytest.mark.parametrize(("size", "dram_bytes"), [(49, None), (50, 20), (51, 20)])
def test_a_breakdown_without_all_of_the_bytes_says_nothing(
    read: Read, size: int, dram_bytes: int | None
) -> None:
    """20 bytes of HBM and the others of another memory; 50 bytes were accessed."""
    plane = tpu()
    breakdown = accesses((1, 1, 20), (1, 3, size - 20))
    plane.metadata_stats["fusion.1"] = {
        **plane.metadata_stats["fusion.1"],
        "memory_access_breakdown": breakdown,
    }
    rows = [r for r in read(space(plane))["op_stat"] if r["name"] == "fusion.1"]
    assert [(r["dram_bytes"], r["accessed_bytes"]) for r in rows] == [
        (None if dram_bytes is None else 2 * dram_bytes, 100)  # of two runs
    ]


def instruction(name: str, opcode: str, *more: bytes) -> bytes:
    """HloInstructionProto."""
    return long(2, long(1, name) + long(2, opcode) + b"".join(more))


def program(*computations: bytes) -> Plane:
    """The plane of programs, with jit_f(17) alone."""
    proto = long(1, b"".join(long(3, computation) for computation in computations))
    plane = Plane("/host:metadata", metadata={("jit_f(17)", ""): 1})
    plane.metadata_stats = {"jit_f(17)": {"Hlo Proto": proto}}
    return plane


def test_kernels_that_a_graph_launched_are_of_the_instructions_they_are_named_after(
    read: Read,
) -> None:
    fused = instruction("loop_fusion.3", "add")  # inside another: no kernel is of it
    kind, calls = long(11, "kLoop"), whole(38, 2)
    named = long(7, long(2, "jit(f)/mul") + long(3, "f.py") + whole(4, 9))
    entry = b"".join(
        (
            instruction("loop_fusion.3", "fusion", kind, calls, named),
            instruction("dot-1", "custom-call"),
            instruction("dot.1", "custom-call"),
        )
    )
    plane = Plane("/device:GPU:0")
    graph: dict[str, Stat] = {
        "hlo_op": "command_buffer_5",
        "hlo_module": "jit_f",
        "program_id": 17,
        "kernel_details": "regs:8",
        "tf_op": "XlaModule:",
        "cuda_graph_id": 10,
    }
    names = ["loop_fusion_3", "dot_1", "nvjet_tst_64x8", "loop_fusion_3.kd"]
    plane.line(
        "Stream #1(Compute)",
        [
            plane.event(name, 1_000_000 * n, 2000 * n, **graph, cuda_graph_node_id=n)
            for n, name in enumerate(names, 1)
        ],
    )
    found = read(space(plane, program(fused + whole(5, 2), entry + whole(5, 1))))
    kernels = some(found["kernel"], "name", "hlo_op_name", "op_name", "graph_id", "graph_node_id")
    assert kernels == [
        ("loop_fusion_3", "loop_fusion.3", "jit(f)/mul", 10, 1),
        ("dot_1", "command_buffer_5", None, 10, 2),  # two are called so
        ("nvjet_tst_64x8", "command_buffer_5", None, 10, 3),  # a library's
        ("loop_fusion_3.kd", "loop_fusion.3", "jit(f)/mul", 10, 4),
    ]
    ops = [row for row in found["op_stat"] if row["op_kind"] == "hlo"]
    columns = ("name", "type_name", "category_name", "op_name", "source_text", "self_ns")
    assert sorted(some(ops, *columns)) == [
        ("command_buffer_5", None, None, None, None, 4 + 6),
        ("loop_fusion.3", "fusion", "loop fusion", "jit(f)/mul", "f.py:9", 2 + 8),
    ]
    assert {json.loads(row["args_json"] or "{}").get("hlo_op") for row in found["kernel"]} == {None}


def test_a_memory_set_by_its_name_of_2026(read: Read) -> None:
    plane = Plane("/device:GPU:0")
    details = "kind:device num_bytes:1048576 async:1"
    plane.line("Stream #1", [plane.event("Memset 3", 1, 1000, Memset_details=details)])
    (row,) = read(space(plane))["transfer"]
    assert (row["transfer_kind"], row["size_bytes"]) == ("memset", 1_048_576)


def test_events_of_a_host(read: Read) -> None:
    found = read(SAMPLE)
    rows = [r for r in found["slice"] if r["track_name"] == "/host:CPU python"]
    assert some(rows, "slice_kind", "name", "start_ns", "dur_ns", "thread_id") == [
        ("python", "$train.py:3 step", 50, 9000, -3),
        ("annotation", "train", 1050, 5000, -3),
        ("op", "a/MatMul:MatMul", 2050, 3000, -3),
        ("op", "b:Add", 3050, 1000, -3),
        ("runtime", "cuLaunchKernel", 6050, 10, -3),
        ("op", "dot.9", 8550, 400, -3),
    ]
    assert [r["process_id"] for r in rows] == [4711] * 6


def test_memory(read: Read) -> None:
    assert some(
        read(SAMPLE)["memory_event"],
        "time_ns",
        "size_bytes",
        "address",
        "total_allocated_bytes",
        "device_kind",
        "device_id",
    ) == [(7050, 256, 140_000, 4096, "gpu", 6), (8050, -256, 140_000, 4096, "gpu", 6)]


def test_steps(read: Read) -> None:
    assert some(
        read(SAMPLE)["step"],
        "step_index",
        "step_kind",
        "start_ns",
        "dur_ns",
        "device_id",
        "process_id",
    ) == [(12, "device", 100, 30_000, 1, None), (41, "host", 1050, 5000, None, 4711)]


def test_devices(read: Read) -> None:
    found = read(SAMPLE)
    assert some(
        found["device"],
        "device_id",
        "device_kind",
        "name",
        "compute_capability",
        "sm_count",
        "memory_bytes",
        "reported_flop_per_s",
        "reported_bytes_per_s",
        "host_name",
    ) == [
        (1, "gpu", None, "7.0", 80, 16_945_512_448, None, 898_048_000_000.0, "host-0"),
        (0, "tpu", "TPU v6 Lite", None, None, None, 918e12, 1638e9, "host-0"),
    ]


def test_the_account_adds_up_and_the_facts_are_there(read: Read) -> None:
    found = read(SAMPLE)
    assert found.report.event_count == 6 + 2 + 6 + 8
    assert found.codes == ["xprof_refused"]
    facts = found.report.facts
    assert (facts["base_time_ns"], facts["is_complete"]) == (UNIX_NS, True)
    assert facts["recording_kind"] == "timeline"


# -- trouble ---------------------------------------------------------------------------------------


def test_lines_of_many_events_are_read_in_pieces(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = read(SAMPLE)
    monkeypatch.setattr(xspace_events, "EVENTS_AT_ONCE", 2)
    in_pieces = read(SAMPLE)
    for table in ("kernel", "transfer", "step", "memory_event"):
        assert in_pieces[table] == at_once[table]
    assert sorted(in_pieces["op_stat"], key=str) == sorted(at_once["op_stat"], key=str)


@pytest.mark.deep
def test_every_cut_keeps_what_is_before_it_and_says_so(read: Read) -> None:
    found = read(SAMPLE)
    # A while of which nothing but its beginning is left cannot be told from work.
    starts = {r["event_id"]: r["start_ns"] for t in ("kernel", "slice") for r in found[t]}
    planes = (gpu(), tpu(), host(), task())
    between = {len(space(*planes[:i])) - len(long(4, "host-0")) for i in range(len(planes) + 1)}
    kept: list[int] = []
    for size in range(0, len(SAMPLE), 23):
        try:
            found = read(SAMPLE[:size])
        except FormatError:
            assert not kept  # nothing could be read yet
            continue
        kept.append(len(found["kernel"]))
        if size not in between:  # a dump of fewer planes is a sound dump
            assert not found.report.facts["is_complete"]
            assert "cut_content" in {issue.code for issue in found.report.issues.values()}
        for row in found["kernel"]:
            assert row["start_ns"] == starts[row["event_id"]]
    assert kept[-1] == 5


def test_a_file_that_went_through_text_is_refused_with_the_reason(read: Read) -> None:
    mangled = SAMPLE.decode("utf-8", "replace").encode()
    assert mangled.count(b"\xef\xbf\xbd") > 8
    with pytest.raises(FormatError, match=r"written as text"):
        read(mangled)


def test_errors_of_the_profiler_are_told(read: Read) -> None:
    issue = read(space(gpu(), errors=["dropped 5 events"])).issues["profiler_error"]
    assert (issue.origin_kind, issue.message) == (
        "recording",
        "the profiler says: dropped 5 events",
    )


def test_fields_of_a_newer_schema_are_passed_over_and_told(read: Read) -> None:
    plane = Plane("/device:GPU:0")
    details = "grid:16,1,1 block:512,1,1"
    event = plane.event("k", 1, 5000, kernel_details=details) + whole(77, 5) + long(78, "x")
    plane.line("Stream #2", [event])
    found = read(space(plane) + long(99, "y"))
    assert found.one("kernel")["dur_ns"] == 5
    assert [issue.code for issue in found.report.issues.values()] == ["unknown_field"]


def test_times_that_cannot_be_are_null(read: Read) -> None:
    plane = Plane("/host:CPU")
    plane.line(
        "a", [plane.event("e", 2**63 - 1, 2**64 - 5), plane.event("f", 0, 5000)], start_ns=2**63 - 1
    )
    found = read(space(plane))
    assert some(found["slice"], "start_ns", "dur_ns") == [(None, None), (2**63 - 1, 5)]
    assert {i.code for i in found.report.issues.values()} == {"no_time", "negative_duration"}


def test_events_without_metadata_have_no_name(read: Read) -> None:
    plane = Plane("/device:GPU:0")
    plane.line("Stream #2", [plane.event("k", 1, 5000, kernel_details="grid:1,1,1")])
    plane.metadata.clear()
    assert read(space(plane)).one("kernel")["name"] is None


def test_an_event_that_stands_for_several(read: Read) -> None:
    plane = Plane("/device:GPU:0")
    plane.line("Stream #2", [plane.event("k", 0, 8000, "", 4, kernel_details="x")])
    row = read(space(plane)).one("kernel")
    assert (row["launch_count"], row["start_ns"], row["dur_ns"]) == (4, None, 8)


def test_a_host_that_recorded_nothing_gives_no_rows(read: Read) -> None:
    found = read(space(Plane("/host:CPU"), task()))
    assert found.report.event_count == 0
    with pytest.raises(FormatError, match="has no readable profile events"):
        read(long(4, "a name and no plane"))


@pytest.mark.parametrize("planes", [(gpu(),), (tpu(),), (host(),), (task(), gpu())])
def test_it_is_claimed_by_its_first_plane(planes: tuple[Plane, ...]) -> None:
    ((parser, match),) = claims(space(*planes)[: 1 << 16])
    assert (parser.name, planes[0].name in match.reason) == ("tensorflow-profiler", True)


def test_it_passes_the_conformance_suite() -> None:
    check_parser(TensorflowProfilerParser(unasked), SAMPLE, effort=30)


# -- numbers that cannot be ------------------------------------------------------------------------


def sums(found: Parsed, kind: str = "hlo") -> list[tuple[Any, ...]]:
    rows = [row for row in found["op_stat"] if row["op_kind"] == kind]
    return some(rows, "name", "occurrence_count", "dur_ns", "self_ns")


def test_a_long_event_among_many_counts_in_full(read: Read) -> None:
    plane = Plane("/device:TPU:0")
    short = [plane.event("f.1", 10 + 2000 * i, 1000) for i in range(70_000)]
    plane.line("XLA Ops", [plane.event("while.1", 0, 150 * 10**12), *short])
    assert sorted(sums(read(space(plane)))) == [
        ("f.1", 70_000, 70_000, 70_000),
        ("while.1", 1, 150 * 10**9, 150 * 10**9 - 70_000),
    ]


def test_numbers_beyond_64_bits_are_null(read: Read) -> None:
    plane = Plane("/device:TPU:0")
    costs: dict[str, Stat] = {"model_flops": ("uint", 2**62), "tf_op": "jit(f)/add:"}
    plane.metadata_stats = {f"f.{i}": costs for i in range(3)}
    plane.line("XLA Ops", [plane.event(f"f.{i}", i * 10, 5) for i in range(3)])
    plane.line("XLA Ops", [plane.event("g", 0, 5000, "", 2**62), plane.event("g", 0, 0, "", 2**62)])
    rows = {r["name"]: r for r in read(space(plane))["op_stat"] if r["op_kind"] == "framework"}
    assert (rows["jit(f)/add"]["flop_count"], rows["g"]["occurrence_count"]) == (None, None)
    assert rows["g"]["dur_ns"] == 5


def test_operators_with_any_id_are_added_up(read: Read) -> None:
    plane = Plane("/host:CPU")
    for key in (2**62, 2**63 + 5, 3):
        plane.metadata[f"a{key}:MatMul", ""] = key
    events = [
        plane.event(f"a{key}:MatMul", 0, dur)
        for key, dur in (
            (2**62, 3000),
            (2**63 + 5, 2000),
            (3, 2**64 - 5000),
            (3, 2**62),
            (3, 2**62),
        )
    ]
    plane.line("t", [events[0]])
    plane.line("u", [events[1]])
    plane.line("v", events[2:])
    # What ends before it begins takes no time. Two of 2^62 ps are 2^63 / 1000 ns, one inside the
    # other.
    assert sorted(sums(read(space(plane)), "framework")) == [
        ("a3", 3, round(2**63 / 1000), round(2**62 / 1000)),
        (f"a{2**62}", 1, 3, 3),
        (f"a{2**63 + 5}", 1, 2, 2),
    ]


def test_what_is_skipped_counts_nowhere(read: Read) -> None:
    plane = Plane("/device:TPU:0")
    plane.line(
        "XLA Ops",
        [
            plane.event("f", 0, 1000),
            plane.event("f", 5, 1000) + b"\x0f",
            plane.event("f", 9, 1000) + b"\x22\x7f",
        ],
    )
    found = read(space(plane))
    assert found.issues["broken_event"].skipped_event_count == 2
    assert (len(found["kernel"]), sums(found)) == (1, [("f", 1, 1, 1)])


def test_facts_of_an_event_that_are_damaged_are_told(read: Read) -> None:
    plane = Plane("/host:CPU")
    plane.line(
        "t",
        [
            plane.event("e", 0, 1000) + long(4, b"\xff\xff\xff"),
            plane.event("e", 0, 1000) + long(4, whole(1, 3) + whole(8, 3)),
        ],
    )
    found = read(space(plane))
    assert (found.codes, len(found["slice"])) == (["damaged_stat", "unknown_field"], 2)


def test_many_different_facts_are_all_there(read: Read) -> None:
    plane = Plane("/host:CPU")
    facts: list[dict[str, Stat]] = [{f"s{i}": i, f"t{i}": "x"} for i in range(300)]
    plane.line("t", [plane.event("e", i, 1, "", 0, **facts[i]) for i in range(300)])
    rows = read(space(plane))["slice"]
    assert [json.loads(row["args_json"]) for row in rows] == facts


def test_details_without_a_colon_are_read_in_no_time(read: Read) -> None:
    plane = Plane("/device:GPU:0")
    plane.line("Stream #2", [plane.event("k", 1, 5000, kernel_details="regs:1 " + "a" * 10**6)])
    assert read(space(plane)).one("kernel")["registers_per_thread_count"] == 1


def test_two_devices_of_one_number_are_one_device_and_told(read: Read) -> None:
    found = read(space(tpu(), Plane("/device:GPU:0", lines=gpu().lines)))
    assert [row["device_id"] for row in found["device"]] == [0]
    assert "repeated_device" in found.codes


@pytest.mark.parametrize("number", range(1, 8))
def test_messages_nested_beyond_reason_end_nothing(read: Read, number: int) -> None:
    """No message is followed further down than the format goes."""
    pieces, size = list[bytes](), 0
    for _ in range(100_000):
        pieces.append(varint(number << 3 | LEN) + varint(size))
        size += len(pieces[-1])
    content = space(gpu())
    found = read(content + b"".join(reversed(pieces)))
    assert found.rows["kernel"] == read(content).rows["kernel"]
    assert all(len(issue.message) <= 1000 for issue in found.issues.values())
