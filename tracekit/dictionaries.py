"""Columns of texts that repeat as dictionaries, which have each distinct text once.

The rows are the same, and so are they to readers of a store, whose files have plain texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tracekit.schema import TEXT

#: The type of a column of texts that repeat.
CODED = pa.dictionary(pa.int32(), TEXT)
#: How the names of columns end whose texts hardly repeat.
_LONE = ("_json", "_raw")
_NO_TEXTS = pa.nulls(0, TEXT)  # pa.array would import pandas
#: A dictionary of so few texts may have some of no row.
_FEW = 256


def encoded(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as one dictionary and places in it."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column


def repeats(field: pa.Field) -> bool:
    """Whether the values of a column are texts that repeat."""
    return field.type in (TEXT, CODED) and not field.name.endswith(_LONE)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """A schema with texts in place of dictionaries of them."""
    return pa.schema(
        [field.with_type(TEXT) if field.type == CODED else field for field in schema],
        schema.metadata,
    )


def with_texts(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Rows of a table as one, without dictionaries."""
    schema = plain_schema(batches[0].schema)
    return pa.Table.from_batches([batch.cast(schema) for batch in batches])


def with_dictionaries(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Rows of a table as one, where each column of texts that repeat is one dictionary.

    Columns of the batches may be dictionaries or not, and dictionaries have texts of no row.
    """
    fields, columns = [], []
    for i, field in enumerate(batches[0].schema):
        parts = [batch.column(i) for batch in batches]
        if field.type in (TEXT, CODED):
            column = (_as_dictionary if repeats(field) else _as_texts)(parts)
        else:
            column = pa.chunked_array(parts, field.type)
        columns.append(column)
        fields.append(field.with_type(column.type))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, batches[0].schema.metadata))


def _as_texts(parts: Sequence[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array([part.cast(TEXT) for part in parts], TEXT)


def _as_dictionary(parts: Sequence[pa.Array]) -> pa.DictionaryArray:
    if all(part.type == TEXT for part in parts):
        return encoded(pa.chunked_array(parts))
    parts = [_coded(part) for part in parts]
    # As more of a source is read, more texts are known: the longest dictionary may be that of all.
    every = max((part.dictionary for part in parts), key=len)
    if all(_is_start(part.dictionary, every) for part in parts):
        places = pa.concat_arrays([part.indices for part in parts])
        return _used(pa.DictionaryArray.from_arrays(places, every))
    return _used(encoded(pa.chunked_array(parts)))


def _coded(part: pa.Array) -> pa.DictionaryArray:
    if part.null_count == len(part):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(part), pa.int32()), _NO_TEXTS)
    if part.type == CODED and part.dictionary.null_count:  # NULL is not a text
        part = part.cast(TEXT)
    return encoded(part)


def _is_start(texts: pa.Array, of: pa.Array) -> bool:
    return texts is of or bool(texts.equals(of[: len(texts)]))


def _used(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same column without texts that no row has, if they may be many."""
    if len(column.dictionary) <= _FEW:
        return column
    places = column.indices.fill_null(len(column.dictionary)).to_numpy()
    is_used = np.bincount(places, minlength=len(column.dictionary) + 1)[:-1] > 0
    if is_used.all():
        return column
    new_places = (np.cumsum(is_used) - 1).astype(np.int32)
    texts = column.dictionary.filter(pa.array(is_used))
    indices = pa.array(np.append(new_places, np.int32(0))[places], mask=places == len(is_used))
    return pa.DictionaryArray.from_arrays(indices, texts)
