"""Spellings of events, each key worked out by hand from the forms in perf-list(1)."""

from __future__ import annotations

import pytest

from tracekit.spelling import Spelling, is_core, spelling_of

INTEL = "cpu/event=0xc7,umask=0x1/"


@pytest.mark.parametrize(
    ("name", "key", "pmu", "modifier"),
    [
        ("cycles", "cycles", None, None),
        ("cycles:u", "cycles", None, "u"),
        ("instructions:ukHpp", "instructions", None, "ukHpp"),
        ("FP_ARITH_INST_RETIRED.SCALAR_DOUBLE:u", "fp_arith_inst_retired.scalar_double", None, "u"),
        ("sched:sched_switch", "sched:sched_switch", None, None),
        ("sched:sched_switch:u", "sched:sched_switch", None, "u"),
        ("cpu_core/cycles/", "cycles", "cpu_core", None),
        ("cpu_atom/Cycles/u", "cycles", "cpu_atom", "u"),
        ("cpu_core/cycles/:k", "cycles", "cpu_core", "k"),
        ("cpu/instructions,period=1000,name=foo/", "instructions", "cpu", None),
        ("default_core/cycles/", "cycles", "default_core", None),
        ("armv8_pmuv3_0/fp_scale_ops_spec/", "fp_scale_ops_spec", "armv8_pmuv3_0", None),
        ("armv8_cortex_a72/event=0x11/u", "cpu/event=0x11/", "armv8_cortex_a72", "u"),
        ("uncore_imc_3/cas_count_read/", "uncore_imc/cas_count_read/", "uncore_imc_3", None),
        ("uncore_imc/cas_count_write/", "uncore_imc/cas_count_write/", "uncore_imc", None),
        (
            "uncore_imc_free_running_0/data_read/",
            "uncore_imc_free_running/data_read/",
            "uncore_imc_free_running_0",
            None,
        ),
        (
            "uncore_imc_0/event=0x04,umask=0x3,name=X/",
            "uncore_imc/event=0x4,umask=0x3/",
            "uncore_imc_0",
            None,
        ),
        (
            "UNC_M_CAS_COUNT.RD [uncore_imc_1]",
            "uncore_imc/unc_m_cas_count.rd/",
            "uncore_imc_1",
            None,
        ),
        ("cycles [cpu_core]", "cycles", "cpu_core", None),
        ("power/energy-pkg/", "power/energy-pkg/", "power", None),
        ("r01c7", INTEL, None, None),
        ("r1c7", INTEL, None, None),
        ("r5301c7", INTEL, None, None),  # EN, INT, OS and USR: 0x53 << 16
        ("r5301C7:u", INTEL, None, "u"),
        ("cpu/r5301c7/", INTEL, "cpu", None),
        ("cpu/config=0x5301c7/", INTEL, "cpu", None),
        ("cpu/event=0xC7,umask=0x01/", INTEL, "cpu", None),
        ("cpu/umask=0x01,event=0xC7,name=fp/pp", INTEL, "cpu", "pp"),
        ("cpu/event=199,umask=1/", INTEL, "cpu", None),
        ("r3c", "cpu/event=0x3c/", None, None),
        ("cpu/event=0x3c,umask=0x0/", "cpu/event=0x3c/", "cpu", None),
        ("r15301c7", "cpu/event=0xc7,umask=0x1,cmask=0x1/", None, None),
        ("r5701c7", "cpu/event=0xc7,umask=0x1,edge=0x1/", None, None),
        ("cpu/event=0xc7,umask=0x1,edge/", "cpu/event=0xc7,umask=0x1,edge=0x1/", "cpu", None),
        ("rd301c7", "cpu/event=0xc7,umask=0x1,inv=0x1/", None, None),
        ("r10000ff03", "cpu/event=0x103,umask=0xff/", None, None),  # AMD: event bit 8 is bit 32
        ("r10000000c7", "cpu/config=0x10000000c7/", None, None),
    ],
)
def test_a_spelling(name: str, key: str, pmu: str | None, modifier: str | None) -> None:
    assert spelling_of(name) == Spelling(key, pmu, modifier)


@pytest.mark.parametrize(
    ("pmu", "expected"),
    [
        ("cpu", True),
        ("cpu_atom", True),
        ("armv8_pmuv3_0", True),
        ("apple_firestorm_pmu", True),
        ("uncore_imc_0", False),
        ("power", False),
        ("amd_df", False),
        ("cpum_cf", False),
    ],
)
def test_a_core(pmu: str, expected: bool) -> None:
    assert is_core(pmu) is expected


def test_only_other_units_are_uncore() -> None:
    found = [spelling_of(n).is_uncore for n in ("cycles", "cpu_core/cycles/", "power/energy-pkg/")]
    assert found == [False, False, True]
