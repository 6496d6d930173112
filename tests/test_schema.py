"""The tables keep the rules that docs/tables.md promises of every column."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pytest

from tracekit.schema import (
    EVENT_TABLES,
    FLAG,
    INT,
    KERNEL,
    PARTITION_KEYS,
    REAL,
    SOURCE_FILE,
    STEP,
    TABLES,
    TEXT,
    Column,
    Table,
    batch,
    batch_of_rows,
)

COLUMNS = [(table, column) for table in TABLES.values() for column in table.columns]

#: What the end of a name says of the type.
ENDINGS = {
    "_ns": INT,
    "_bytes": INT,
    "_count": INT,
    "_id": INT,
    "_index": INT,
    "_ratio": REAL,
    "_per_s": REAL,
    "_kind": TEXT,
    "_name": TEXT,
    "_json": TEXT,
}
#: Time-ordered text, and averages over multiprocessors.
OTHERWISE = {
    "ingest_id": TEXT,
    "launch_source_id": TEXT,
    "counter_source_id": TEXT,
    "blocks_per_sm_count": REAL,
    "warps_per_sm_count": REAL,
}


def test_the_tables_of_the_issue_are_there() -> None:
    assert list(TABLES) == [
        "run",
        "run_label",
        "run_metric",
        "source_file",
        "device",
        "assumption",
        "event_rule",
        "kernel",
        "kernel_metric",
        "kernel_counter",
        "kernel_match",
        "match_counter",
        "kernel_rule",
        "transfer",
        "slice",
        "flow",
        "memory_event",
        "step",
        "step_part",
        "op_stat",
        "calling_context",
        "op_call",
        "configuration",
        "configuration_value",
        "attribution",
        "launch_call",
        "unrecorded_launch",
        "step_work",
        "work_sum",
        "work_mix",
        "allocation",
        "layer_stat",
        "measurement",
        "counter",
        "track_label",
        "ingest_issue",
    ]


def test_event_tables_are_those_whose_rows_stand_for_events() -> None:
    assert EVENT_TABLES == (
        "kernel",
        "kernel_rule",
        "transfer",
        "slice",
        "flow",
        "memory_event",
        "step_part",
        "op_stat",
        "configuration",
        "layer_stat",
        "counter",
        "track_label",
    )


@pytest.mark.parametrize(
    "name",
    sorted(
        set(EVENT_TABLES) - {"configuration", "kernel_rule", "layer_stat", "op_stat", "step_part"}
    ),
)
def test_an_event_has_a_place_a_track_and_other_arguments(name: str) -> None:
    names = TABLES[name].schema.names
    assert (names[0], names[-1]) == ("event_id", "args_json")
    place = names.index("process_id")
    assert names[place : place + 3] == ["process_id", "thread_id", "track_name"]


def columns_but(is_right: Callable[[Column], object]) -> list[str]:
    """The columns of the tables that are not as they should be."""
    return [f"{table.name}.{column.name}" for table, column in COLUMNS if not is_right(column)]


def test_a_name_is_lower_case() -> None:
    form = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
    assert columns_but(lambda column: form.fullmatch(column.name)) == []
    assert columns_but(lambda column: column.name not in PARTITION_KEYS) == []


def test_a_name_says_its_unit_and_so_its_type() -> None:
    def is_right(column: Column) -> bool:
        kinds = [kind for ending, kind in ENDINGS.items() if column.name.endswith(ending)]
        said = OTHERWISE.get(column.name, kinds[0]) if kinds else column.type
        is_flag = column.type != FLAG or column.name.startswith("is_")
        return column.type == said and is_flag and column.type in (INT, REAL, TEXT, FLAG)

    assert columns_but(is_right) == []


def test_a_column_is_described_in_one_line() -> None:
    def is_right(column: Column) -> bool:
        doc = column.doc
        return bool(doc) and doc.strip() == doc and not doc.endswith(".") and "\n" not in doc

    assert columns_but(is_right) == []


def test_a_table_has_no_column_twice() -> None:
    def is_right(table: Table) -> bool:
        columns = (*table.columns, *table.stored)
        names = [column.name for column in columns]
        types = [column.type for column in columns]
        return (
            len(set(names)) == len(names)
            and table.schema.names == names
            and [field.type for field in table.schema] == types
            and table.doc.endswith(".")
        )

    assert [table.name for table in TABLES.values() if not is_right(table)] == []


def test_one_name_means_one_type_everywhere() -> None:
    types: dict[str, set[pa.DataType]] = {}
    for _, column in COLUMNS:
        types.setdefault(column.name, set()).add(column.type)
    several = {name: kinds for name, kinds in types.items() if len(kinds) > 1}
    assert several == {"value": {TEXT, REAL}}  # of a label, and of a counter


def test_times_are_whole_nanoseconds() -> None:
    for table, column in COLUMNS:
        if table.is_event and re.search(r"(^|_)(start|dur|time)(_|$)", column.name):
            assert column.name.endswith("_ns")
            assert column.type == INT


def test_a_batch_of_some_columns_has_null_in_the_others() -> None:
    made = batch(STEP, {"step_index": pa.array([1, 2], INT)}, 2)
    assert made.schema == STEP.schema
    assert made.to_pylist() == [
        dict.fromkeys(STEP.schema.names) | {"step_index": index} for index in (1, 2)
    ]


def test_a_batch_of_another_type_is_refused() -> None:
    with pytest.raises(pa.ArrowInvalid, match="as a scalar of type int64"):
        batch(STEP, {"step_index": pa.array(["one"])}, 1)


def test_rows_may_leave_keys_out() -> None:
    made = batch_of_rows(KERNEL, [{"event_id": 1, "name": "k"}, {"event_id": 2, "dur_ns": 0}])
    assert made.schema == KERNEL.schema
    assert made.column("name").to_pylist() == ["k", None]
    assert made.column("dur_ns").to_pylist() == [None, 0]


def test_no_rows_are_an_empty_batch() -> None:
    assert batch_of_rows(SOURCE_FILE, []).schema == SOURCE_FILE.schema
    assert batch_of_rows(SOURCE_FILE, []).num_rows == 0


def test_an_integer_that_no_float_is_becomes_the_nearest() -> None:
    rows: list[dict[str, object]] = [
        {"event_id": 1, "event_name": "a", "value": 10**17 + 1},
        {"event_id": 2, "value": 0.5},
    ]
    batch = batch_of_rows(TABLES["counter"], rows)
    assert batch["value"].to_pylist() == [1e17, 0.5]
    assert batch["event_id"].to_pylist() == [1, 2]
    with pytest.raises(OverflowError):
        batch_of_rows(TABLES["counter"], [{"event_id": 2**63}])
