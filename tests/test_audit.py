"""The audit: identities between reports hold on real files, and notice what contradicts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.ingested import Ingested
from tracekit import audit
from tracekit.catalog import catalog
from tracekit.engine import Database

H100 = Path(__file__).resolve().parent.parent / "fixtures" / "h100"
#: The fewest rules that changed values of the LSTM's timeline and counters must contradict.
MIN_NOTICING = 40


def reports_in(sql: str) -> set[str]:
    words = set(re.findall(r"\w+", re.sub(r"'[^']*'|--.*", "", sql)))
    answers = {name for name, query in catalog().items() if query.kind in ("report", "finding")}
    return words & (answers | {"advise"})


def contradicted(tables: dict[str, pa.Table]) -> list[tuple[str, float, float]]:
    done = audit.contradictions(audit.identities(), tables)
    return [
        (row["identity_name"], row["first_value"], row["second_value"])
        for row in done.result.table.to_pylist()
    ]


@pytest.mark.parametrize("rule", audit.identities(), ids=lambda rule: rule.name)
def test_a_rule_names_the_reports_that_it_reads(rule: audit.AuditRule) -> None:
    assert set(rule.reports) == reports_in(rule.sql)
    assert rule.purpose.endswith(".")


def test_there_are_rules_for_timelines_counters_ranks_memory_joins_and_comparisons() -> None:
    read = {report for rule in audit.identities() for report in rule.reports}
    wanted = {"overlap", "gaps", "steps", "kernel_figures", "ranks", "memory_by_kind", "joins"}
    assert read >= wanted | {"comparison", "collectives", "cpu_work", "advise"}
    assert len(audit.identities()) >= 40


def overlap(idle_ns: int) -> pa.Table:
    classes = ["compute", "communication", "memcpy", "memset", "idle"]
    return pa.table(
        {
            "source_id": ["s1"] * 5,
            "device_id": [0] * 5,
            "work_class": classes,
            "exposed_ns": [50, 20, 5, 0, idle_ns],
            "elapsed_ns": [100] * 5,
            "share_ratio": [0.5, 0.2, 0.05, 0.0, idle_ns / 100],
            "sum_ns": [50, 20, 5, 0, None],
            "work_count": [5, 1, 1, 0, None],
        }
    )


def gaps(host_ns: int) -> pa.Table:
    return pa.table(
        {
            "source_id": ["s1", "s1"],
            "device_id": [0, 0],
            "gap_kind": ["host", "launch"],
            "total_ns": [host_ns, 5],
            "idle_share_ratio": [host_ns / (host_ns + 5), 5 / (host_ns + 5)],
            "elapsed_ns": [100, 100],
        }
    )


def test_a_device_whose_classes_and_causes_fill_its_window_is_consistent() -> None:
    # 50 + 20 + 5 + 0 + 25 = 100; 20 + 5 = 25
    assert contradicted({"overlap": overlap(25), "gaps": gaps(20)}) == []


def test_classes_that_do_not_fill_the_window_are_told() -> None:
    # 50 + 20 + 5 + 0 + 35 = 110 of 100, whose causes are 25
    assert contradicted({"overlap": overlap(35), "gaps": gaps(20)}) == [
        ("causes_fill_idle", 25, 35),
        ("class_shares_sum_to_one", pytest.approx(1.1), 1),
        ("classes_fill_window", 110, 100),
    ]


def test_causes_that_do_not_fill_the_idle_time_are_told() -> None:
    assert contradicted({"overlap": overlap(25), "gaps": gaps(25)}) == [
        ("causes_fill_idle", 30, 25)
    ]


def idle_findings(**wins: int) -> dict[str, pa.Table]:
    """Return results of the findings about idle time with a cause: rows of one device."""
    causes = ("compile", "data_loading", "host", "launch", "slow_launch", "stall")
    names = [f"idle_{cause}" for cause in (*causes, "synchronisation")]
    return {
        name: pa.table(
            {
                "source_id": pa.array(["s1"] * (name in wins), pa.string()),
                "device_id": pa.array([0] * (name in wins), pa.int64()),
                "win_ns": pa.array([wins[name]] if name in wins else [], pa.int64()),
            }
        )
        for name in names
    }


def told_by(name: str, tables: dict[str, pa.Table]) -> list[tuple[str, float, float]]:
    """Return what a rule tells: the first figure, and both values."""
    rule = [rule for rule in audit.identities() if rule.name == name]
    rows = audit.contradictions(rule, tables).result.table.to_pylist()
    return [(row["first_figure"], row["first_value"], row["second_value"]) for row in rows]


def test_idle_time_with_a_cause_that_no_finding_wins_is_told() -> None:
    """The host is late by 20 ns, 15 of them in a stall; launches take 5."""
    found = idle_findings(idle_host=5, idle_stall=15, idle_launch=5)
    assert told_by("idle_findings_are_gaps", {"gaps": gaps(20), **found}) == []
    of_host = "findings about idle time of the cause host: win_ns, summed"
    found = idle_findings(idle_host=5, idle_launch=5)
    assert told_by("idle_findings_are_gaps", {"gaps": gaps(20), **found}) == [(of_host, 5, 20)]
    found = idle_findings(idle_launch=5)
    assert told_by("idle_findings_are_gaps", {"gaps": gaps(20), **found}) == [(of_host, 0, 20)]


def test_exposed_communication_without_its_finding_is_told() -> None:
    """Of 20 ns of one kernel and 5 of one copy, the finding about copies has all."""
    device = {"source_id": ["s1"], "device_id": [0]}
    copy = pa.table({**device, "win_ns": [5], "copy_count": [1]})
    communication = pa.table({**device, "win_ns": [20], "kernel_count": [1]})
    tables = {"overlap": overlap(25), "exposed_copy": copy}
    rule = "exposed_findings_are_overlap"
    assert told_by(rule, {**tables, "exposed_communication": communication}) == []
    assert told_by(rule, {**tables, "exposed_communication": communication.slice(1)}) == [
        ("exposed_communication.win_ns", 0, 20),
        ("exposed_communication.work", 0, 1),
    ]


def test_more_time_in_advice_than_in_the_rows_of_a_finding_is_told() -> None:
    """Rows of 15 and 5 ns are 20 at most."""
    rows = pa.table({"win_ns": [15, 5]})
    for win_ns, told in ((20, []), (21, [("advise.win_ns", 21, 20)])):
        advice = pa.table({"finding_name": ["idle_stall"], "win_ns": [win_ns]})
        assert told_by("advice_within_findings", {"advise": advice, "idle_stall": rows}) == told


def kernels(**columns: list[object]) -> pa.Table:
    """Return a result of `kernel_figures` with some of its columns."""
    table = pa.table({"name": ["a", "b"], **columns})
    if "reason" not in columns:
        return table.append_column("reason", pa.array(["not asked"] * 2))
    return table.set_column(
        table.schema.get_field_index("reason"), "reason", pa.array(columns["reason"], pa.string())
    )


def test_a_rate_above_its_peak_is_told() -> None:
    rates = kernels(utilization_ratio=[1.04, 1.38], roof_ratio=[0.5, None])
    assert contradicted({"kernel_figures": rates}) == [("rates_within_peak", 1.38, 1.05)]
    run = pa.table({"run_name": ["a"], "peak_ratio": [1.9]})
    rule = [rule for rule in audit.identities() if rule.name == "rates_within_peak"]
    (told,) = audit.contradictions(rule, {"training_metrics": run}).result.table.to_pylist()
    assert told["first_figure"] == "training_metrics.peak_ratio"


def test_samples_of_a_run_that_are_not_those_of_its_ranks_together_are_told() -> None:
    """Ranks of 1,000 and 500 steps of 8 samples per second make 12,000, not 6,000."""
    ranks = pa.table(
        {
            "step_name": ["(stable)", "(all)", "(stable)", "(all)"],
            "rank_index": [0, 0, 1, 1],
            "samples_per_s": [9000.0, 8000.0, 4000.0, 4000.0],
        }
    )
    rule = [rule for rule in audit.identities() if rule.name == "samples_of_ranks_sum"]
    for said, told in ((12000.0, []), (6000.0, [(6000.0, 12000.0)])):
        run = pa.table({"run_name": ["a"], "samples_per_s": [said]})
        done = audit.contradictions(rule, {"training_metrics": run, "steps": ranks})
        rows = done.result.table.to_pylist()
        assert [(row["first_value"], row["second_value"]) for row in rows] == told


def test_events_of_a_merged_file_that_each_rank_counts_are_told() -> None:
    """Of 6 events of a file, two ranks have 3 each, not 6; devices of one rank share them."""
    rule = [rule for rule in audit.identities() if rule.name == "events_within_file"]
    file = pa.table({"file_name": ["a"], "event_count": [6], "source_id": ["s1"]})
    for count, told in ((3, []), (6, [(12, 6)])):
        ranks = pa.table(
            {
                "source_id": ["s1"] * 3,
                "rank_index": [0, 1, 1],
                "device_id": [0, 1, 2],
                "event_count": [count] * 3,
            }
        )
        done = audit.contradictions(rule, {"ranks": ranks, "run_summary": file})
        rows = done.result.table.to_pylist()
        assert [(row["first_value"], row["second_value"]) for row in rows] == told


def test_operations_unlike_those_of_perf_are_told() -> None:
    """What perf prints is rounded to 0.1 G; of a lower bound it may be more."""
    work = pa.table(
        {
            "name": ["a", "b", "c", "d", "e"],
            "achieved_flop_per_s": [5.74e9, 5.80e9, 5.60e9, None, None],
            "least_flop_per_s": [None, None, None, 2e9, 6e9],
            "reported_flop_per_s": [5.7e9] * 5,
            **dict.fromkeys(("total_flop", "fp64_flop", "fp32_flop", "fp16_flop"), [0.0] * 5),
            "flop_reason": ["not asked"] * 5,
            "reason": ["not asked"] * 5,
        }
    )
    assert contradicted({"cpu_work": work}) == [
        ("operations_of_perf_agree", 5.80e9, 5.7e9),
        ("operations_of_perf_agree", 5.60e9, 5.7e9),
        ("operations_of_perf_agree", 6e9, 5.7e9),
    ]


def test_a_share_above_the_whole_is_told_of_every_report() -> None:
    shares = kernels(share_ratio=[1.0, 1.25], time_share_ratio=[0.5, None])
    assert contradicted({"profiling_cost": shares}) == [("shares_within_one", 1.25, 1)]


def test_a_negative_time_is_told_but_not_a_difference() -> None:
    times = kernels(wait_ns=[-7, None], delta_ns=[-7, 7], clock_offset_ns=[-9, 9])
    assert contradicted({"profiling_cost": times}) == [("amounts_not_negative", -7, 0)]


def test_a_value_that_is_no_number_is_told() -> None:
    done = audit.contradictions(
        audit.identities(),
        {"profiling_cost": kernels(mean_ns=[float("inf"), 1.0], total_ns=[1, 1])},
    )
    (row,) = done.result.table.to_pylist()
    assert (row["identity_name"], row["subject"]) == ("values_are_finite", "a")


def test_an_unknown_answer_without_a_reason_is_told() -> None:
    unknown: list[object] = [None, None]
    table = kernels(utilization_ratio=unknown, total_flop=unknown, reason=[None, "no counters"])
    table = table.set_column(1, "utilization_ratio", pa.nulls(2, pa.float64()))
    done = audit.contradictions(audit.identities(), {"kernel_figures": table})
    (row,) = done.result.table.to_pylist()
    assert row["identity_name"] == "unknown_answers_have_reasons"
    assert (row["subject"], row["first_figure"]) == ("a", "kernel_figures.utilization_ratio")


def tables_of(database: Database) -> dict[str, pa.Table]:
    """Return the results that rules name."""
    run_id = database.run_id(None)
    needed = {report for rule in audit.identities() for report in rule.reports}
    found = {name: audit.table_of(database, name, run_id, "all") for name in sorted(needed)}
    return {name: table for name, table in found.items() if table is not None}


def changed(table: pa.Table, sql: str) -> Iterator[pa.Table]:
    """Yield the result with the numbers of one column of the rule larger, negative or unknown."""
    for index, field in enumerate(table.schema):
        column = table.column(index)
        if field.name not in re.findall(r"\w+", sql):
            continue
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
            larger, unknown = pc.add(pc.multiply(column, 3), 1), pa.nulls(len(column), field.type)
            for other in (larger, pc.multiply(column, -1), unknown):
                yield table.set_column(index, field.name, other)


def notices(rule: audit.AuditRule, tables: dict[str, pa.Table]) -> bool:
    """Return whether the rule contradicts a change to one column of one of its reports."""
    read = {name: tables[name] for name in rule.reports}
    return any(
        len(audit.contradictions([rule], read | {name: other}).result)
        for name in rule.reports
        for other in changed(tables[name], rule.sql)
    )


@pytest.mark.parametrize(
    ("file", "fewest"),
    [
        pytest.param("lstm/trace.json.gz", MIN_NOTICING, marks=pytest.mark.deep),
        ("lstm/raw.csv.gz", 8),
    ],
)
def test_changed_values_of_a_recording_are_noticed(
    file: str, fewest: int, ingested: Ingested
) -> None:
    tables = tables_of(ingested.database(H100 / file))
    assert contradicted(tables) == []
    rules = [r for r in audit.identities() if r.reports and tables.keys() >= set(r.reports)]
    noticing = [rule.name for rule in rules if notices(rule, tables)]
    assert len(noticing) >= fewest, sorted({rule.name for rule in rules} - {*noticing})
