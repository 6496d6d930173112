"""What events count: figures by hand from vendors' documents, and a file that holds together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracekit import events
from tracekit.errors import UsageError
from tracekit.events import (
    Family,
    command,
    families_like,
    family_named,
    family_rows,
    knowledge,
    model_rows,
    rules,
    set_rows,
)
from tracekit.schema import CPU_FAMILY, EVENT_MODEL, EVENT_RULE, EVENT_SET, Table
from tracekit.spelling import spelling_of

MODEL = {(row["event_key"], row["vendor_name"]): row for row in model_rows()}
SETS = knowledge().sets
FAMILIES = [pytest.param(family, id=family.name) for family in knowledge().families.values()]
GOOD = """\
[[event]]
name = "my_fp32"
keys = ["r01c7", "cpu_core/MY_FP32/", "uncore_imc_3/event=0x5,umask=0xCF/"]
quantity = "flop"
precision = "fp32"
width = "256"
amount = 8
"""


def family(name: str) -> Family:
    found = family_named(name)
    assert found is not None, name
    return found


def figure(set_name: str, counts: dict[str, int], vector_bits: int = 0) -> float:
    """The sum of a set from counts by key, as the contract has it."""
    total = 0.0
    for name in SETS[set_name].events:
        event = knowledge().events[name]
        (count,) = [counts[key] for key in event.keys if key in counts]
        total += count * event.amount * (vector_bits / 128 if event.per_128_bits else 1)
    return total


# -- figures by hand ------------------------------------------------------------------------------


def test_intel_fp32_is_the_lanes_of_every_width() -> None:
    # perfmon: FlopsMultiplier 1, 4, 8, 16. 7 + 10 x 4 + 10 x 8 + 3 x 16 = 175
    prefix = "fp_arith_inst_retired."
    counts = {
        f"{prefix}scalar_single": 7,
        f"{prefix}128b_packed_single": 10,
        f"{prefix}256b_packed_single": 10,
        f"{prefix}512b_packed_single": 3,
    }
    assert figure("intel-avx512-fp32", counts) == 175


def test_intel_fp64_by_raw_codes() -> None:
    # umasks 01, 04, 10, 40: 1, 2, 4, 8 operations a count. 5 + 2 x 2 + 3 x 4 + 1 x 8 = 29
    counts = {
        f"cpu/event=0xc7,umask={umask}/": n
        for umask, n in (("0x1", 5), ("0x4", 2), ("0x10", 3), ("0x40", 1))
    }
    assert figure("intel-avx512-fp64", counts) == 29


def test_the_merged_events_give_what_the_single_ones_give() -> None:
    """As `perf` and toplev sum them: scalar + 2 dp128 + 4 (sp128 + dp256) + 8 (sp256 + dp512) …"""
    scalar_sp, scalar_dp, dp128, sp128, dp256, sp256, dp512, sp512 = 3, 5, 7, 11, 13, 17, 19, 23
    merged = {
        "cpu/event=0xc7,umask=0x3/": scalar_sp + scalar_dp,
        "cpu/event=0xc7,umask=0x4/": dp128,
        "cpu/event=0xc7,umask=0x18/": sp128 + dp256,
        "cpu/event=0xc7,umask=0x60/": sp256 + dp512,
        "cpu/event=0xc7,umask=0x80/": sp512,
    }
    # 8 + 14 + 4 x 24 + 8 x 36 + 16 x 23 = 774
    assert figure("intel-avx512-merged-any", merged) == 774
    single = dict(
        zip(
            ("0x2", "0x1", "0x4", "0x8", "0x10", "0x20", "0x40", "0x80"),
            (scalar_sp, scalar_dp, dp128, sp128, dp256, sp256, dp512, sp512),
            strict=True,
        )
    )
    raw = {f"cpu/event=0xc7,umask={umask}/": count for umask, count in single.items()}
    assert figure("intel-avx512-any", raw) == 774


def test_intel_fp16_as_perf_weighs_it() -> None:
    # tma_info_core_flopc: 1, 2 (complex), 8, 16, 32. 1 + 2 + 8 + 16 + 32 = 59
    names = ("scalar", "complex_scalar", "128b_packed", "256b_packed", "512b_packed")
    counts = {f"fp_arith_inst_retired2.{name}_half": 1 for name in names}
    assert figure("intel-avx512-fp16", counts) == 59


def test_hybrid_processors_need_both_kinds_of_core() -> None:
    prefix = "fp_arith_ops_retired."  # Arrow Lake's name of the same events
    counts = {
        f"{prefix}scalar_single": 1,
        f"{prefix}128b_packed_single": 1,
        f"{prefix}256b_packed_single": 1,
        "fp_flops_retired.fp32": 100,
    }
    assert figure("intel-hybrid-fp32", counts) == 1 + 4 + 8 + 100
    for name in ("meteorlake", "arrowlake", "lunarlake"):
        assert "intel-avx2-fp32" not in family(name).sets


@pytest.mark.parametrize(
    ("set_name", "counts", "expected"),
    [
        pytest.param(
            "intel-unc-cas",
            {"unc_m_cas_count.rd": 1000, "unc_m_cas_count.wr": 500},
            96_000,
            id="1500 CAS of 64 bytes",
        ),
        pytest.param(
            "intel-unc-cas-sch",
            {f"unc_m_cas_count_sch{n}.{way}": 10 for n in (0, 1) for way in ("rd", "wr")},
            2560,
            id="both subchannels",
        ),
        pytest.param(
            "intel-unc-data",
            {"unc_m_rd_data": 10, "unc_m_wr_data": 5},
            480,
            id="15 chunks of 32 bytes",
        ),
        pytest.param("amd-umc", {"umc_cas_cmd.all": 3}, 192, id="UMC"),
        pytest.param(
            "amd-df",
            {f"amd_df/dram_channel_data_controller_{n}/": 1 for n in range(8)},
            512,
            id="8 channels of 64 bytes",
        ),
    ],
)
def test_bytes_of_dram(set_name: str, counts: dict[str, int], expected: int) -> None:
    assert figure(set_name, counts) == expected


def test_arm_counts_for_each_128_bits() -> None:
    # DDI 0487: FP_SCALE_OPS_SPEC x VL / 128 + FP_FIXED_OPS_SPEC
    counts = {"fp_scale_ops_spec": 100, "fp_fixed_ops_spec": 7}
    by_family = {"graviton3": 207, "graviton4": 107, "grace": 107, "neoverse-n2": 107, "a64fx": 407}
    for name, expected in by_family.items():
        assert figure("arm-any", counts, family(name).vector_bits or 0) == expected, name


def test_zen_5_tells_precisions_by_codes_with_all_kinds_of_operation() -> None:
    counts = {"cpu/event=0x3,umask=0x4f/": 4, "cpu/event=0x3,umask=0x6f/": 32}
    assert figure("amd-zen5-fp32", counts) == 36
    # umask 0x60, as perf's name has it, selects no kind of operation: it would count 0
    names = {row["event_key"] for row in model_rows()}
    assert not {name for name in names if re.search(r"(single|double)_flops", name)}


# -- the rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "table"),
    [(model_rows, EVENT_MODEL), (set_rows, EVENT_SET), (family_rows, CPU_FAMILY)],
    ids=["event_model", "event_set", "cpu_family"],
)
def test_rows_have_the_columns_of_their_table(
    rows: Callable[[], list[dict[str, Any]]], table: Table
) -> None:
    columns = {column.name for column in table.columns}
    found = rows()
    assert found
    assert all(set(row) == columns for row in found)
    assert len({tuple(sorted(row.items(), key=str)) for row in found}) == len(found)


def test_a_row_of_the_model() -> None:
    row = MODEL["cpu/event=0xc7,umask=0x20/", "Intel"]
    assert row["source_text"].startswith("Intel perfmon")
    assert row | {"source_text": ""} == {
        "event_key": "cpu/event=0xc7,umask=0x20/",
        "event_name": "fp_arith_inst_retired.256b_packed_single",
        "vendor_name": "Intel",
        "is_raw": True,
        "quantity_kind": "flop",
        "precision_name": "fp32",
        "width_name": "256",
        "amount": 8.0,
        "is_per_128_bits": False,
        "source_text": "",
    }


def test_keys_are_spelled_as_the_parser_spells_them() -> None:
    assert [key for key, _ in MODEL if spelling_of(key).key != key] == []


def test_a_name_is_of_one_event_and_a_code_of_one_event_of_a_vendor() -> None:
    names = Counter(row["event_key"] for row in model_rows() if not row["is_raw"])
    assert [name for name, count in names.items() if count > 1] == []
    assert len(MODEL) == len(model_rows())
    assert all(row["vendor_name"] for row in model_rows() if row["is_raw"])


def test_what_perf_names_itself_is_of_no_vendor() -> None:
    kinds = {key: row["quantity_kind"] for (key, vendor), row in MODEL.items() if vendor is None}
    some = ("msr/mperf/", "msr/tsc/", "cpu-cycles", "inst_retired")
    assert [kinds[key] for key in some] == [
        "active_cycle",
        "reference_cycle",
        "cycle",
        "instruction",
    ]
    assert not {"flop", "dram", "dram_read", "dram_write"} & set(kinds.values())
    assert {row["amount"] for (_, vendor), row in MODEL.items() if vendor is None} == {1}


def test_instructions_are_no_operations() -> None:
    keys = {key for key, _ in MODEL}
    assert not keys & {
        "ase_spec",
        "vfp_spec",
        "fp_arith_inst_retired.vector",
        "fp_arith_dispatched.port_0",
        "amx_ops_retired.bf16",
    }


# -- families -------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", FAMILIES)
def test_families_hold_together(each: Family) -> None:
    rows = [row for row in family_rows() if row["family_name"] == each.name]
    assert {row["architecture_name"] for row in rows} == set(each.names)
    assert len(rows) == len(each.names) * max(len(each.sets), 1)
    assert all(SETS[name].vendor == each.vendor for name in each.sets)
    assert all(family(name) is each for name in each.names)
    figures = {SETS[name].figure for name in each.sets}
    has_notes = " ".join(each.notes)
    assert figures & {"fp32", "any"} or "floating point" in has_notes
    assert "dram" in figures or "memory" in has_notes


def test_every_set_is_of_a_family_or_of_all() -> None:
    listed = {name for each in knowledge().families.values() for name in each.sets}
    assert {s.name for s in SETS.values() if s.by_family} <= listed
    assert listed == set(SETS)


def test_avx2_sets_are_complete_only_without_avx512() -> None:
    wide = [each.name for each in knowledge().families.values() if "intel-avx512-fp32" in each.sets]
    assert wide == [
        "skylake-server",
        "icelake",
        "icelake-server",
        "tigerlake",
        "sapphirerapids",
        "graniterapids",
    ]
    assert SETS["intel-avx2-fp32"].by_family
    assert not [name for name in wide if "intel-avx2-fp32" in family(name).sets]


def test_matrix_units_are_told_where_they_are() -> None:
    with_amx = [each.name for each in knowledge().families.values() if "intel-amx" in each.sets]
    assert with_amx == ["sapphirerapids", "graniterapids"]


def test_processors_without_events_are_known() -> None:
    rows = [row for row in family_rows() if row["family_name"] == "neoverse-n1"]
    assert {row["set_name"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SKX", "skylake-server"),
        ("Cascade Lake", "skylake-server"),
        ("skylake", "skylake"),
        ("emr", "sapphirerapids"),
        ("raptorlake", "alderlake"),
        ("Genoa", "zen4"),
        ("zen+", "zen"),
        ("graviton3", "neoverse-v1"),
        ("alderlaken", "alderlake-n"),
    ],
)
def test_families_are_found_by_any_name(name: str, expected: str) -> None:
    assert family(name).name == expected


def test_names_that_are_near() -> None:
    assert [each.name for each in families_like("skylake")] == ["skylake-server"]
    assert [each.name for each in families_like("zen")] == ["zen2", "zen3", "zen4", "zen5"]
    assert families_like("grace") == []  # gracemont is no kin of it
    assert "skylake" in [each.name for each in families_like("skylakx")]
    assert family_named("") is None
    assert families_like("???") == []


def test_a_command_has_precisions_where_they_can_be_told() -> None:
    assert list(command(family("skx")).sets) == ["fp32", "fp64", "dram"]
    assert list(command(family("spr")).sets) == ["fp32", "fp64", "blind", "dram"]
    assert list(command(family("zen4")).sets) == ["any", "dram"]
    assert list(command(family("haswell")).sets) == ["dram"]
    assert command(family("neoverse-n1")).sets == {}


# -- files of the user's --------------------------------------------------------------------------


def written(folder: Path, text: str, name: str = "my.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_file_of_the_users(tmp_path: Path) -> None:
    rows = rules([written(tmp_path, GOOD)])
    columns = {column.name for column in EVENT_RULE.columns}
    assert all(set(row) == columns for row in rows)
    assert [(row["event_key"], row["is_raw"]) for row in rows] == [
        ("cpu/event=0xc7,umask=0x1/", True),
        ("my_fp32", False),
        ("uncore_imc/event=0x5,umask=0xcf/", False),
    ]
    assert {(row["amount"], row["vendor_name"], row["source_text"]) for row in rows} == {
        (8.0, None, "my.toml")
    }


def test_of_several_files_the_last_counts(tmp_path: Path) -> None:
    first = written(tmp_path, GOOD)
    last = written(tmp_path, GOOD.replace("amount = 8", "amount = 16"), "last.toml")
    assert {row["amount"] for row in rules([first, last])} == {16.0}
    assert {row["source_text"] for row in rules([last, first])} == {"my.toml"}
    assert rules([]) == []


def test_what_may_be_left_out(tmp_path: Path) -> None:
    (row,) = rules([written(tmp_path, '[[event]]\nname="X.Y"\nquantity="dram"\namount=32')])
    assert (row["event_name"], row["event_key"]) == ("X.Y", "x.y")
    assert (row["precision_name"], row["width_name"]) == (None, None)
    (row,) = rules([written(tmp_path, '[[event]]\nname="x"\nquantity="flop"\namount=2.5')])
    assert (row["precision_name"], row["width_name"], row["amount"]) == ("any", "any", 2.5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("amount = 8", "amount = 0", r"event 1 \('my_fp32'\): amount: 0 is not a number above 0"),
        ("amount = 8", "amount = -1", "amount: -1 is not a number above 0"),
        ("amount = 8", "amount = nan", "amount: nan is not a number above 0"),
        ("amount = 8", "amount = inf", "amount: inf is not a number above 0"),
        ("amount = 8", "amount = true", "amount: True is not a number above 0"),
        ("amount = 8", 'amount = "8"', "amount: '8' is not a number above 0"),
        ("amount = 8", f"amount = 1{'0' * 400}", "is not a number above 0"),
        (
            "amount = 8",
            "amount = 2e9",
            "amount: 2000000000.0 is not a number .* at most 1048576; .* e.g. 8 operations",
        ),
        ("amount = 8", "", "amount: is missing"),
        ('"flop"', '"flops"', "quantity: 'flops' is unknown; known: .*flop"),
        ('quantity = "flop"', "", "quantity: is missing; known: .*flop"),
        ('"fp32"', '"float"', "precision: 'float' is unknown; known: any, fp16, fp32, fp64"),
        ('"256"', "256", "width: 256 is unknown; known: 128, 256"),
        ('"flop"', '"dram"', "precision: only quantity 'flop' has one; omit it"),
        ('name = "my_fp32"', "", "event 1: name: is missing"),
        ("width", "widht", "key 'widht' is unknown; known: amount, keys, name"),
        ("amount", "per_128_bits = 1\namount", "per_128_bits: 1 is neither true nor false"),
        ("amount", 'vendor = "VIA"\namount', "vendor: 'VIA' is unknown; known: AMD, Arm, Intel"),
        ("amount", 'source = ""\namount', "source: must be a non-empty string"),
        ('["r01c7", "cpu_core/MY_FP32/",', '["", ', "keys 1: must be a non-empty string"),
        ('"uncore_imc_3/event=0x5,umask=0xCF/"', "3", "keys 3: must be a non-empty string"),
        ("[[event]]", "[event]", "event: must be one or more tables, each begun with"),
        ("[[event]]", "[[events]]", "key 'events' is unknown; known: event"),
        ("amount = 8", "amount 8", "is not TOML: .*line 7.*; give a TOML with"),
    ],
)
def test_what_cannot_be(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(UsageError, match=message) as caught:
        rules([path])
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_events_that_contradict(tmp_path: Path) -> None:
    twice = GOOD + GOOD
    with pytest.raises(UsageError, match=r"event 2 .*the name appears twice"):
        rules([written(tmp_path, twice)])
    other = GOOD + GOOD.replace('name = "my_fp32"', 'name = "other"')
    with pytest.raises(UsageError, match=r"'other': its key .* is already one of 'my_fp32'"):
        rules([written(tmp_path, other)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; give a TOML with"),
        (b"\xff\xfe", "byte 0 is not UTF-8 text"),
        (b"a = 1\0", "is binary"),
        (b"#" * (256 << 10) + b"#", "is larger than 256 KiB"),
        (b"a" + b".a" * 2000 + b" = 1", "line 1: is longer than 2000 letters"),
        (b"a = " + b"[" * 1990, "nested too deep|is no TOML"),
        (b"# nothing", "event: must be one or more tables"),
    ],
    ids=["empty", "encoding", "binary", "large", "dots", "deep", "comment"],
)
def test_what_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        rules([path])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone.toml: cannot be read: No such file"):
        rules([tmp_path / "gone.toml"])


# -- our own file is checked in the same way ------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"exe.amx_busy"]\n\n[[set]]', '"exe.amx"]\n\n[[set]]', "there is no event 'exe.amx'"),
        ('figure = "blind"', 'figure = "fp32"', "not part of Intel's fp32"),
        ("rank = 1\n", "rank = 0\n", "rank: 0 is not a count"),
        ('"intel-client-imc",', '"intel-no",', "'intel-no' is not a set of Intel's"),
        ('aliases = ["hsw",', 'aliases = ["skl",', "'skl' is already one of 'haswell'"),
        ("vector_bits = 256\n", "", "vector_bits: is missing; 'arm-any' depends on it"),
        ("counters = 4\n", "counters = 0\n", "counters: 0 is not a count"),
        ('aliases = ["hsw",', 'aliases = ["hsw", "hsw",', "aliases: a name appears twice"),
        ('events = ["exe.amx_busy"]', "events = []", "events: must be a list of one or more"),
        ('events = ["exe.amx_busy"]', 'events = ["x", "x"]', "events: an event appears twice"),
    ],
)
def test_a_wrong_file_of_ours_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = (Path(events.__file__).parent / "events.toml").read_text("utf-8")
    assert old in text
    written(tmp_path, text.replace(old, new, 1), "events.toml")
    monkeypatch.setattr(events, "files", lambda _package: tmp_path)
    with pytest.raises(UsageError, match=f"events.toml: .*{message}"):
        events.knowledge.__wrapped__()
