"""Columns in few bytes: the numbers that come out are those that went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.attribution.columns import NONE, are_among, at, ids_in, places_where
from tracekit.attribution.forms import ANNOTATION, CALL, OP, Forms, SliceForm
from tracekit.attribution.nesting import nesting_order
from tracekit.attribution.packing import Packed, packed, repacked

LARGEST = 2**63 - 1
NUMBERS = st.lists(
    st.just(NONE)
    | st.integers(0, 5)
    | st.integers(250, 260)
    | st.integers(2**32 - 3, 2**32 + 3)
    | st.integers(-LARGEST, LARGEST),
    max_size=20,
)


def array(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@given(NUMBERS)
def test_numbers_stay_what_they_are(values: list[int]) -> None:
    column = packed(array(values))
    assert column[:].tolist() == values
    backwards = np.arange(len(values))[::-1]
    assert column.reordered(backwards)[:].tolist() == values[::-1]
    assert column[backwards].tolist() == values[::-1]


@given(st.lists(NUMBERS, max_size=4))
def test_columns_become_one(parts: list[list[int]]) -> None:
    columns = [packed(array(part)) for part in parts]
    assert repacked(columns)[:].tolist() == [value for part in parts for value in part]
    assert columns == []


@pytest.mark.parametrize(
    ("values", "bytes_per_row"),
    [
        ([NONE, NONE], 1),
        ([10**18, 10**18 + 254], 1),
        ([10**18, 10**18 + 255], 2),  # 0 is for NULL
        ([0, 2**32 - 2], 4),
        ([0, 2**32 - 1], 8),
        ([-LARGEST, LARGEST, NONE], 8),
    ],
)
def test_numbers_take_as_few_bytes_as_their_range_needs(
    values: list[int], bytes_per_row: int
) -> None:
    column = packed(array(values))
    assert column.codes.itemsize == bytes_per_row
    assert repacked([column, packed(array([]))]).codes.itemsize == bytes_per_row


def test_nothing_is_at_no_place() -> None:
    places = np.array([1, -1, 0])
    assert at(packed(array([7, 8])), places, NONE).tolist() == [8, NONE, 7]
    assert at(array([7, 8]), places).tolist() == [8, -1, 7]
    nothing: Packed = packed(array([]))
    assert at(nothing, np.array([-1]), 0).tolist() == [0]


@given(st.lists(st.sampled_from([NONE, 0, 1, 2, 3, LARGEST])), st.sets(st.integers(1, 3)))
def test_values_are_looked_for_among_ids(values: list[int], ids: set[int]) -> None:
    found = are_among(array(values), array(sorted(ids)))
    assert found.tolist() == [value in ids for value in values]
    assert ids_in(array(values)).tolist() == sorted(set(values) - {NONE, 0})


def test_places_are_those_in_all_parts() -> None:
    """The parts have 65,536 rows."""
    rows = np.arange(150_000)
    found = places_where(len(rows), lambda part: rows[part] % 50_000 == 7)
    assert found.tolist() == [7, 50_007, 100_007]


INTERVALS = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 3), st.sampled_from([NONE, 0, 1, 2]), st.booleans()
    ),
    max_size=30,
)


@given(INTERVALS)
def test_the_order_is_that_of_all_columns(rows: list[tuple[int, int, int, bool]]) -> None:
    track, start, dur = (array([row[i] for row in rows]) for i in range(3))
    is_point = np.array([row[3] for row in rows], np.bool_)
    ids = np.arange(len(rows))[::-1].copy()
    every = np.lexsort((ids, is_point, -dur, start, track))
    assert (
        nesting_order(track, start, packed(dur), packed(ids), is_point).tolist() == every.tolist()
    )


# -- forms ----------------------------------------------------------------------------------------


def form(kind: int, name: int, *, may_launch: bool = False) -> SliceForm:
    return SliceForm(kind, False, may_launch, name, 0, 0, 0, 0, 0)


def test_slices_that_are_alike_have_one_form() -> None:
    forms, zeros = Forms(), np.zeros(3, np.int32)
    columns = dict.fromkeys(SliceForm._fields, zeros)
    codes = forms.codes({**columns, "name": np.array([5, 6, 5])})
    assert codes.tolist() == [0, 1, 0]
    assert forms.column("name").tolist() == [5, 6]
    assert forms.codes({**columns, "kind": np.array([0, 0, 1])}).tolist() == [2, 2, 3]
    assert forms.column("name").tolist() == [5, 6, 0, 0]


def test_only_what_may_launch_becomes_a_call() -> None:
    forms = Forms()
    for each in (form(OP, 1), form(ANNOTATION, 1, may_launch=True), form(CALL, 1, may_launch=True)):
        forms.code(each)
    called = forms.called().tolist()
    assert called == [0, 2, 2]


def test_forms_of_another_part_keep_their_texts() -> None:
    forms, others = Forms(), Forms()
    forms.code(form(OP, 3))
    others.code(form(OP, 1))
    others.code(form(OP, 2))
    assert forms.absorb(others, np.array([0, 7, 3])).tolist() == [1, 0]
    assert [each.name for each in forms.rows] == [3, 7]
