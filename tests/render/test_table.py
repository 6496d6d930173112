# ruff: noqa: RUF001 - NULL is shown as an en dash

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tracekit.render import RenderOptions
from tracekit.render.columns import readable_columns
from tracekit.render.table import TableRenderer
from tracekit.result import Result, ResultColumn

MakeResult = Callable[..., Result]

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)"
KERNELS = {
    "kernel_name": [ADD, "volta_sgemm_128x64_nn", None],
    "total_ns": [1_500_000, 400_000, None],
    "share_ratio": [0.75, 0.2, None],
    "launch_count": [1200, 10, 0],
    "mean_ns": [1250.0, 40_000.0, None],
}


def lines(
    result: Result, width: int, *, color: bool = False, full_names: bool = False
) -> list[str]:
    options = RenderOptions(width, color, full_names)
    text = TableRenderer().render(result, options).decode()
    assert text.endswith("\n")
    return text.split("\n")[:-1]


IN_100_COLUMNS = """\
kernel name                                       total [ms]  share [%]  launch count  mean [µs]
------------------------------------------------  ----------  ---------  ------------  ---------
vectorized_elementwise_kernel<AddFunctor<float>>      1.500        75.0         1,200      1.250
volta_sgemm_128x64_nn                                 0.4000       20.0            10     40.00
–                                                     –             –               0      –

run 1f"""


def test_a_table(make_result: MakeResult) -> None:
    assert lines(make_result(KERNELS, notes=["run 1f"]), 100) == IN_100_COLUMNS.split("\n")


def test_in_80_columns_headers_wrap(make_result: MakeResult) -> None:
    assert lines(make_result(KERNELS), 80) == [
        "                                                    total  share  launch    mean",
        "kernel name                                          [ms]    [%]   count    [µs]",
        "------------------------------------------------  -------  -----  ------  ------",
        "vectorized_elementwise_kernel<AddFunctor<float>>   1.500    75.0   1,200   1.250",
        "volta_sgemm_128x64_nn                              0.4000   20.0      10  40.00",
        "–                                                  –         –         0   –",
    ]


def test_in_60_columns_names_are_cut(make_result: MakeResult) -> None:
    assert lines(make_result(KERNELS), 60) == [
        "                                total  share  launch    mean",
        "kernel name                      [ms]    [%]   count    [µs]",
        "-----------------------------  ------  -----  ------  ------",
        "vectorized_ele…unctor<float>>  1.500    75.0   1,200   1.250",
        "volta_sgemm_128x64_nn          0.4000   20.0      10  40.00",
        "–                              –         –         0   –",
    ]


def test_then_columns_go_from_the_right(make_result: MakeResult) -> None:
    assert lines(make_result(KERNELS), 50)[2:] == [
        "---------------------------  ------  -----  ------",
        "vectorized_el…nctor<float>>  1.500    75.0   1,200",
        "volta_sgemm_128x64_nn        0.4000   20.0      10",
        "–                            –         –         0",
        "",
        "omitted at this width: mean [µs]; for all columns,",
        "use --format csv",
    ]


def test_the_names_stay_wherever_they_stand(make_result: MakeResult) -> None:
    columns = {f"a{i}_count": [123_456_789] for i in range(6)} | {"name": ["aten::add"]}
    assert lines(make_result(columns), 40) == [
        "   a0 count     a1 count  name",
        "-----------  -----------  ---------",
        "123,456,789  123,456,789  aten::add",
        "",
        "omitted at this width: a2 count, a3",
        "count, a4 count, a5 count; for all",
        "columns, use --format csv",
    ]


def test_names_that_no_row_has_do_not_stay(make_result: MakeResult) -> None:
    columns = {f"a{i}_count": [123_456_789] for i in range(4)} | {"name": [None], "reason": ["why"]}
    assert lines(make_result(columns), 40)[:3] == [
        "   a0 count     a1 count     a2 count",
        "-----------  -----------  -----------",
        "123,456,789  123,456,789  123,456,789",
    ]


def test_what_answers_the_question_stays(make_result: MakeResult) -> None:
    result = make_result(
        {"name": ["aten::add"], "min_ns": [1], "max_ns": [2], "share_ratio": [0.5]}
    )
    *before, last = result.columns
    answering = replace(result, columns=(*before, replace(last, is_answer=True)))
    assert lines(result, 24)[0].split() == ["min", "max"]
    assert lines(answering, 24)[0].split() == ["min", "share"]


OF_PROGRAMS = {
    "rank_index": [0, 1],
    "source_id": ["s1", "s2"],
    "event_id": [7, 8],
    "start_ns": [1_700_000_000_000_000_000, 1_700_000_000_000_000_001],
    "gap_ns": [5, 6],
}


def test_identifiers_and_clocks_are_for_programs(make_result: MakeResult) -> None:
    result = make_result(OF_PROGRAMS)
    assert lines(result, 80)[0] == "rank index  gap [ns]"
    assert lines(result, 80)[-1] == "         1         6"


def test_a_source_stays_if_no_rank_distinguishes_rows(make_result: MakeResult) -> None:
    columns = OF_PROGRAMS | {"rank_index": pa.array([None, None], pa.int64())}
    assert "source id" in lines(make_result(columns), 80)[0]
    columns |= {"source_id": ["s1", "s1"]}
    assert "source id" not in lines(make_result(columns), 80)[0]


def test_an_id_of_a_run_stays_unless_it_is_its_name(make_result: MakeResult) -> None:
    runs = {"run_name": ["a", "b"], "run_id": ["a", "r1f"]}
    assert "run id" in lines(make_result(runs), 80)[0]
    assert "run id" not in lines(make_result(runs | {"run_id": ["a", "b"]}), 80)[0]
    assert "run id" in lines(make_result({"run_id": ["a"]}), 80)[0]


def test_what_sql_asks_for_is_shown() -> None:
    assert lines(Result("sql", pa.table(OF_PROGRAMS), ()), 120)[0].split() == [
        *("rank", "index", "source", "id", "event", "id", "start", "[s]", "gap", "[ns]")
    ]


def test_names_of_a_sequence_are_short(make_result: MakeResult) -> None:
    (column,) = readable_columns(
        make_result({"sequence": [f"relu → {'g' * 30}{'h' * 30} → {ADD}"]})
    )
    names = column.cells[0].split(" → ")
    assert names[0] == "relu"
    assert re.fullmatch("g{10,}…h{10,}", names[1])
    assert names[2] == "vectorized_element…ddFunctor<float>>"
    assert all(len(name) <= 36 for name in names)


def test_slower_is_red_and_faster_green(make_result: MakeResult) -> None:
    kinds = ["slower", "faster", "same", "only B"]
    result = make_result({"change_kind": kinds, "a_ns": [1, 2, 3, 4], "delta_ns": [5, -5, 0, 4]})
    assert lines(result, 80, color=True)[1:] == [
        "\x1b[31mslower     \x1b[0m       1  \x1b[31m         5\x1b[0m",
        "\x1b[32mfaster     \x1b[0m       2  \x1b[32m        -5\x1b[0m",
        "same              3           0",
        "only B            4           4",
    ]
    assert "\x1b" not in "".join(lines(result, 80))


def test_a_place_in_a_file_is_exact_where_a_size_is_rounded(make_result: MakeResult) -> None:
    result = make_result({"first_offset_bytes": [123_456_789], "lost_bytes": [123_456_789]})
    assert lines(result, 80) == [
        "first offset bytes  lost [MB]",
        "------------------  ---------",
        "       123,456,789      123.5",
    ]


def test_full_names_are_folded(make_result: MakeResult) -> None:
    result = make_result({"name": [ADD], "dur_ns": [5]})
    assert lines(result, 60, full_names=True) == [
        "                                                         dur",
        "name                                                    [ns]",
        "------------------------------------------------------  ----",
        "void at::native::vectorized_elementwise_kernel<4,          5",
        "at::native::AddFunctor<float> >(int)",
    ]


def test_long_text_is_folded_at_words(make_result: MakeResult) -> None:
    message = "the file ends in the middle of an event; the last 3 events are lost"
    assert lines(make_result({"code": ["cut"], "message": [message], "lost_count": [3]}), 40) == [
        "                                    lost",
        "code  message                      count",
        "----  ---------------------------  -----",
        "cut   the file ends in the middle      3",
        "      of an event; the last 3",
        "      events are lost",
    ]


def test_color_is_for_header_and_notes_only(make_result: MakeResult) -> None:
    result = make_result({"name": ["aten::add"], "dur_ns": [5]}, notes=["a note"])
    assert lines(result, 80, color=True) == [
        "\x1b[1mname       dur [ns]\x1b[0m",
        "aten::add         5",
        "",
        "\x1b[2ma note\x1b[0m",
    ]


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE"])
def test_the_environment_has_no_say(
    make_result: MakeResult, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    before = [lines(make_result(KERNELS), 70, color=color) for color in (False, True)]
    monkeypatch.setenv(variable, "30")
    assert [lines(make_result(KERNELS), 70, color=color) for color in (False, True)] == before


def test_a_heading_stands_above_and_is_folded(make_result: MakeResult) -> None:
    result = make_result({"name": ["f"]}, notes=["n"], heading="B is 20 % \x1bslower per step")
    assert lines(result, 20) == [
        "B is 20 % \\x1bslower",
        "per step",
        "",
        "name",
        "----",
        "f",
        "",
        "n",
    ]


def test_without_columns_it_says_the_rest(make_result: MakeResult) -> None:
    assert lines(make_result({}, notes=["n"], heading="Nothing."), 80) == ["Nothing.", "", "n"]


def test_no_rows(make_result: MakeResult) -> None:
    columns = {"name": pa.array([], pa.string()), "dur_ns": pa.array([], pa.int64())}
    assert lines(make_result(columns), 80) == ["name  dur [ns]", "----  --------", "", "(no rows)"]


def test_no_columns(make_result: MakeResult) -> None:
    assert lines(make_result({}), 80) == ["(no rows)"]


def test_rows_keep_their_order(make_result: MakeResult) -> None:
    names = ["b", "c", "a", "b"]
    assert lines(make_result({"name": names}), 80)[2:] == names


def test_sums_that_come_as_decimals(make_result: MakeResult) -> None:
    sums = pa.array([Decimal(5_000_000), None], pa.decimal128(38, 0))
    prices = pa.array([Decimal("1.25"), Decimal("2.00")], pa.decimal128(10, 2))
    assert lines(make_result({"total_ns": sums, "price": prices}), 80)[2:] == [
        "     5.000  1.250",
        "     –      2",
    ]


def test_values_of_other_types(make_result: MakeResult) -> None:
    columns = {
        "at": [datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)],
        "ok": [True],
        "list": [[1, None]],
        "struct": [{"a": "x\ny"}],
        "blob": [b"\x01\xff"],
        "pid": [16145],
        "kind": pa.array(["gpu"]).dictionary_encode(),
    }
    assert lines(make_result(columns), 100) == [
        "at                         ok    list       struct         blob    pid  kind",
        "-------------------------  ----  ---------  -------------  ----  -----  ----",
        r'2024-01-02T03:04:05+00:00  true  [1, null]  {"a": "x\ny"}  01ff  16145  gpu',
    ]


def test_units_are_known_by_the_naming_rule_too() -> None:
    table = pa.table({"dur_ns": [5], "_ns": [6], "rate_flop_per_s": [7e9], "sum(a_ns)": [8]})
    assert lines(Result("test", table, ()), 80)[0] == ("dur [ns]  [ns]  rate [GFLOP/s]  sum(a_ns)")


def test_a_tiny_terminal_is_taken_for_a_small_one(make_result: MakeResult) -> None:
    assert lines(make_result(KERNELS), 1) == lines(make_result(KERNELS), 20)


def test_two_columns_of_one_name(make_result: MakeResult) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert lines(Result("test", table, ()), 80) == ["a  a 1", "-  ---", "1    2"]


def test_a_hostile_name_is_shown_and_does_nothing(make_result: MakeResult, hostile: str) -> None:
    result = make_result({"name": [hostile], "text": [hostile], "a_ns": [1]}, notes=[hostile])
    for width in (80, 160):
        for full_names in (False, True):
            for line in lines(result, width, full_names=full_names):
                assert line.isprintable()
                assert cell_len(line) <= width


def test_a_hostile_column_does_nothing(hostile: str) -> None:
    table = pa.table({hostile: [1], "b": [2], "c": ["x"]})
    columns = (ResultColumn(hostile), ResultColumn("b", unit=hostile, doc=hostile))
    for line in lines(Result(hostile, table, columns), 80):
        assert line.isprintable()
        assert cell_len(line) <= 80


def test_markup_and_emoji_codes_read_as_they_are(make_result: MakeResult) -> None:
    names = ["[red]x[/red]", ":smile:", "[/]", "[link=http://x]y[/link]"]
    assert lines(make_result({"name": names, "text": names}), 80, color=True)[1:] == [
        "[red]x[/red]             [red]x[/red]",
        ":smile:                  :smile:",
        "[/]                      [/]",
        "[link=http://x]y[/link]  [link=http://x]y[/link]",
    ]


@settings(deadline=None)
@given(
    names=st.lists(st.text(max_size=80), min_size=1, max_size=4),
    numbers=st.lists(st.none() | st.integers(-(10**15), 10**15), min_size=8, max_size=8),
    width=st.integers(20, 200),
    color=st.booleans(),
    full_names=st.booleans(),
)
def test_no_line_is_wider_than_the_terminal(
    make_result: MakeResult,
    names: list[str],
    numbers: list[int | None],
    width: int,
    color: bool,
    full_names: bool,
) -> None:
    texts = [name.encode(errors="replace").decode() for name in names]
    columns = {f"a{i}_ns": pa.array([n] * len(names), pa.int64()) for i, n in enumerate(numbers)}
    result = make_result({"some_name": texts, **columns, "text": texts}, notes=texts)
    for line in lines(result, width, color=color, full_names=full_names):
        assert cell_len(re.sub(r"\x1b\[\d?m", "", line)) <= width
