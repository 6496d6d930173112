"""Columns of texts that repeat: the same rows, whatever form the batches have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracekit.dictionaries import encoded, plain_schema, with_dictionaries, with_texts
from tracekit.schema import COUNTER, batch
from tracekit.store import TableWriter

MANY = [f"name {i}" for i in range(1000)]


def coded(places: list[int | None], texts: list[Any]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(
        pa.array(places, pa.int32()), pa.array(texts, pa.string())
    )


def rows_of(names: pa.Array) -> pa.RecordBatch:
    columns = {"event_name": names, "value_raw": names, "value": pa.array([1.0] * len(names))}
    return batch(COUNTER, columns, len(names))


FORMS: dict[str, list[pa.Array]] = {
    "texts": [pa.array(["a", None, "b"]), pa.array(["b", "c"])],
    "one dictionary": [coded([1, None, 0], ["a", "b"])],
    "a dictionary that grows": [coded([0, 0], ["a"]), coded([1, 0, 2], ["a", "b", "c"])],
    "dictionaries that differ": [coded([0, 1], ["a", "b"]), coded([0, 1], ["b", "a"])],
    "dictionaries and texts": [coded([0, 1], ["a", "b"]), pa.array(["z", None, "a"])],
    "nothing known, then texts": [pa.nulls(3, pa.string()), coded([0], ["a"])],
    "nothing known": [pa.nulls(3, pa.string()), pa.nulls(2, pa.string())],
    "a dictionary with NULL": [coded([0, 1, None, 2], ["a", None, "b"]), coded([0], ["a"])],
    "a text twice": [coded([0, 1, 2], ["a", "a", "b"])],
    "many texts of no row": [coded([999, 3, None, 999], MANY), coded([0], MANY[:1])],
    "an empty text": [pa.array(["", "a"]), coded([0, 1], ["", "b"])],
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_the_same_in_every_form(form: str, tmp_path: Path) -> None:
    batches = [rows_of(names) for names in FORMS[form]]
    expected = [text for names in FORMS[form] for text in names.to_pylist()]
    for table in (with_texts(batches), with_dictionaries(batches)):
        assert table["event_name"].to_pylist() == table["value_raw"].to_pylist() == expected
    assert with_texts(batches).schema == COUNTER.schema
    assert plain_schema(with_dictionaries(batches).schema) == COUNTER.schema

    writer = TableWriter(tmp_path, "1")
    for rows in batches:
        writer.write("counter", rows)
    writer.close()
    (file,) = (tmp_path / "counter").iterdir()
    written = pq.ParquetFile(file).read()
    assert written.schema == COUNTER.schema
    assert written["event_name"].to_pylist() == written["value_raw"].to_pylist() == expected


def test_texts_of_no_row_go_if_they_are_many() -> None:
    (column,) = with_dictionaries([rows_of(coded([999, 3, 999], MANY))])["event_name"].chunks
    assert column.dictionary.to_pylist() == ["name 3", "name 999"]


def test_texts_that_hardly_repeat_are_no_dictionary() -> None:
    table = with_dictionaries([rows_of(coded([0, 1], ["1.5", "2"]))])
    assert table.schema.field("value_raw").type == pa.string()


def test_row_groups_of_every_form_are_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.store._ROW_GROUP_ROWS", 1)  # each batch is one
    names = [coded([999, 3], MANY), coded([0], ["x"]), pa.array(["y"]), pa.nulls(1, pa.string())]
    writer = TableWriter(tmp_path, "1")
    for column in names:
        writer.write("counter", rows_of(column))
    writer.close()
    (file,) = (tmp_path / "counter").iterdir()
    assert pq.ParquetFile(file).num_row_groups == 4
    found = pq.ParquetFile(file).read()["event_name"].to_pylist()
    assert found == ["name 999", "name 3", "x", "y", None]


def test_encoded_is_one_dictionary() -> None:
    column = encoded(pa.chunked_array([coded([0], ["a"]), coded([0, 1], ["b", "a"])]))
    assert column.to_pylist() == ["a", "b", "a"]
    assert sorted(column.dictionary.to_pylist()) == ["a", "b"]
