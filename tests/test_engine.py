"""The engine: SQL that only reads the store, answers that are exact, stores that change."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.ingested import Ingested
from tests.operators import add_operators
from tracekit.catalog import Query, catalog, definitions_for
from tracekit.engine import Database
from tracekit.errors import ChoiceError, QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.joins import join
from tracekit.peaks import models
from tracekit.render import RenderOptions, renderer, renderer_names
from tracekit.result import Result
from tracekit.schema import EVENT_TABLES, REFERENCE_TABLES, TABLES
from tracekit.statements import _TABLE_FUNCTIONS
from tracekit.store import Store, create_store, open_store

KERNELS = 76
CANARY = "canary-5f3c"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, gpu_trace: Path) -> Store:
    """A store in a folder with canaries around it, in it, and linked into it."""
    base = tmp_path_factory.mktemp("engine")
    ingest(gpu_trace, base / "S", Options(run_name="gpu"))
    (base / "canary.csv").write_text(f"a,b\n{CANARY},1\n")
    pq.write_table(pa.table({"a": [CANARY]}), base / "canary.parquet")
    (base / "S" / "link.csv").symlink_to(base / "canary.csv")
    (base / "S" / "link.parquet").symlink_to(base / "canary.parquet")
    (base / "S" / "folder").symlink_to(base)
    (base / "S" / "inside").symlink_to(base / "S" / "kernel")
    (base / "S" / "hard.csv").hardlink_to(base / "canary.csv")
    for name in (
        "main.csv",
        "memory.csv",
        "memory.main.csv",
        "main.main.csv",
        "temp.csv",
        "information_schema.csv",
        "MAIN.CSV",
    ):
        (base / "S" / name).write_bytes((base / "canary.csv").read_bytes())
    (base / "S" / "main.json").write_text(f'{{"a": "{CANARY}"}}')
    pq.write_table(pa.table({"a": [CANARY]}), base / "S" / "pg_catalog.parquet")
    return open_store(base / "S")


@pytest.fixture(scope="module")
def database(store: Store) -> Database:
    return Database(store)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def scalar(database: Database, sql: str) -> Any:
    ((value,),) = database.sql(sql).tuples()
    return value


# -- hostile SQL ----------------------------------------------------------------------------------

#: {B} is the folder around the store, {S} the store, {F} a file of the table kernel.
STATEMENTS = [
    "COPY kernel TO '{B}/out.csv'",
    "COPY kernel TO '{S}/out.csv'",
    "COPY (SELECT 1) TO '{F}' (FORMAT parquet)",
    "COPY kernel FROM '{B}/canary.csv'",
    "COPY FROM DATABASE memory TO x",
    "ATTACH '{B}/x.db'",
    "ATTACH '{S}/x.db' AS y",
    "DETACH memory",
    "USE memory",
    "INSTALL httpfs",
    "FORCE INSTALL httpfs",
    "LOAD httpfs",
    "UPDATE EXTENSIONS",
    "PRAGMA version",
    "PRAGMA table_info('kernel')",
    "SET threads = 1",
    "SET enable_external_access = true",
    "SET GLOBAL lock_configuration = false",
    "RESET allowed_directories",
    "SET VARIABLE x = 1",
    "CREATE TABLE t (a INT)",
    "CREATE TEMP TABLE t AS SELECT 1",
    "CREATE OR REPLACE VIEW kernel AS SELECT 1",
    "CREATE MACRO m(a) AS a",
    "CREATE SECRET s (TYPE s3)",
    "CREATE TYPE t AS ENUM ('a')",
    "CREATE SCHEMA s",
    "CREATE SEQUENCE s",
    "INSERT INTO kernel VALUES (1)",
    "UPDATE kernel SET name = 'x'",
    "DELETE FROM kernel",
    "TRUNCATE kernel",
    "MERGE INTO kernel USING run ON true WHEN MATCHED THEN DELETE",
    "DROP VIEW kernel",
    "DROP SCHEMA main CASCADE",
    "ALTER VIEW kernel RENAME TO k",
    "COMMENT ON VIEW kernel IS 'x'",
    "EXPORT DATABASE '{B}/out'",
    "IMPORT DATABASE '{B}/out'",
    "CALL pragma_version()",
    "CALL force_checkpoint()",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{B}/out.csv'",
    "PREPARE p AS SELECT 1",
    "PREPARE p AS COPY (SELECT 1) TO '{S}/out.csv'",
    "EXECUTE p",
    "DEALLOCATE p",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW kernel",
    "SELECT 1;; COPY kernel TO '{S}/out.csv'",
    "/* SELECT */ COPY kernel TO '{B}/out.csv'",
    "-- SELECT 1\nCOPY kernel TO '{B}/out.csv'",
    "SELECT 1 -- ;\n; COPY kernel TO '{B}/out.csv'",
    "SELECT '/*'; DROP VIEW kernel -- */",
    "SELECT $$;$$; DROP VIEW kernel",
    "SELECT 1\x00; DROP VIEW kernel",
    "(COPY kernel TO '{B}/out.csv')",
    "SELECT * FROM (COPY kernel TO '{B}/out.csv')",
    "PIVOT kernel ON name USING sum(dur_ns)",
    "SELECT * FROM (PIVOT kernel ON name USING count(*))",
    "SELECT 1 INTO t",
    "SELECT",
    "nonsense",
    "SELECT 'open",
    "SELECT ((1)",
    "SELECT ?",
    "SELECT $x",
    "",
    " ",
    "-- only this",
    "/* open",
    ";",
]

#: Statements that write, inside of a SELECT; {Q} is such a SELECT as data.
IN_A_SELECT = [
    "WITH x AS (COPY (SELECT 1) TO '{S}/out.csv') SELECT * FROM x",
    "WITH x AS (COPY (SELECT 1) TO '{B}/out.csv') SELECT * FROM x",
    "WITH x AS MATERIALIZED (COPY (SELECT 1) TO '{S}/out.csv') SELECT 1",
    "WITH a AS (SELECT 1), x AS (COPY a TO '{F}' (FORMAT parquet)) FROM x",
    "WITH x AS (SELECT 1) SELECT * FROM (WITH y AS (COPY x TO '{S}/out.csv') FROM y)",
    "SELECT (WITH x AS (COPY (SELECT 1) TO '{S}/out.csv') FROM x)",
    "SELECT 1 UNION (WITH x AS (COPY (SELECT 1) TO '{S}/out.csv') FROM x)",
    "SUMMARIZE WITH x AS (COPY (SELECT 1) TO '{S}/out.csv') FROM x",
    "DESCRIBE WITH x AS (COPY (SELECT 1) TO '{S}/out.csv') FROM x",
    "WITH x AS (DELETE FROM kernel RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO kernel (name) VALUES ('x') RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE kernel SET name = 'x' RETURNING *) SELECT * FROM x",
    "SELECT * FROM query('WITH x AS (COPY (SELECT 1) TO ''{S}/out.csv'') FROM x')",
    "SELECT * FROM json_execute_serialized_sql({Q})",
]

#: Functions that read files, run texts or change the engine, spelled in several ways.
FUNCTIONS = [
    "read_csv('{B}/canary.csv')",
    "read_csv('{S}/link.csv')",
    "read_csv('{S}/../canary.csv')",
    "read_csv('{S}/folder/canary.csv')",
    "read_csv('{S}/tracekit.json')",
    "read_csv('/etc/passwd')",
    "read_csv('http://127.0.0.1:9/canary.csv')",
    "read_csv_auto('{B}/canary.csv')",
    "read_csv(['{F}', '{B}/canary.csv'])",
    "READ_CSV('{B}/canary.csv')",
    "\"read_csv\"('{B}/canary.csv')",
    "main.read_csv('{B}/canary.csv')",
    "system.main.read_csv('{B}/canary.csv')",
    "read_csv('{B}/canary.csv') TABLESAMPLE 1 ROWS",
    "range(1), read_csv('{B}/canary.csv')",
    "read_parquet('{B}/canary.parquet')",
    "parquet_scan('{B}/canary.parquet')",
    "parquet_metadata('{B}/canary.parquet')",
    "parquet_schema('{B}/canary.parquet')",
    "read_text('{B}/canary.csv')",
    "read_blob('{B}/canary.csv')",
    "read_json('{B}/canary.csv')",
    "sniff_csv('{B}/canary.csv')",
    "read_duckdb('{B}/x.db')",
    "glob('{B}/*')",
    "glob('/etc/*')",
    "glob('{S}/*')",
    "query('SELECT 1')",
    "query('SELECT * FROM read_csv(''{B}/canary.csv'')')",
    "query_table('{B}/canary.csv')",
    "query_table(['kernel'])",
    "histogram('{B}/canary.csv', a)",
    "histogram('{S}/link.csv', a)",
    "histogram('{S}/hard.csv', a)",
    "histogram_values('{S}/folder/canary.csv', a)",
    "histogram('kernel', dur_ns)",
    "duckdb_settings()",
    "json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "enable_logging()",
    "enable_profiling(save_location = '{B}/out')",
    "checkpoint()",
    "truncate_duckdb_logs()",
    "duckdb_secrets()",
    "pandas_scan(1)",
    "arrow_scan(1, 2, 3)",
    "seq_scan('kernel')",
    "create_external_resource('x')",
    "which_secret('x', 's3')",
    "no_such_function(1)",
]

#: Paths and Python variables where a table is expected.
REPLACEMENTS = [
    "'{B}/canary.csv'",
    "'{B}/canary.parquet'",
    '"{B}/canary.parquet"',
    "'{B}/*.parquet'",
    "'{S}/../canary.csv'",
    "'{S}/./.././canary.csv'",
    "'{S}//../canary.parquet'",
    "'{S}/link.csv'",
    "'{S}/link.parquet'",
    "'{S}/folder/canary.csv'",
    "'{S}/*.parquet'",
    "'file:{B}/canary.csv'",
    "'file://{B}/canary.csv'",
    "'http://127.0.0.1:9/canary.csv'",
    "'s3://bucket/canary.parquet'",
    "'/etc/passwd'",
    "'/dev/stdin'",
    "variable",
    "pa_table",
    "'canary.csv'",
    "'../canary.csv'",
    "duckdb_logs_parsed('x')",
    "'{S}/folder/../canary.csv'",
    "'{S}/inside/../canary.csv'",
    "'{S}/hard.csv'",
    "hard.csv",
    '"hard.csv"',
    'main."hard.csv"',
    "memory.hard.csv",
    "'{S}/hard.csv' AS t",
    "'{F}'",
    "run, '{S}/hard.csv'",
    "run JOIN '{S}/hard.csv' ON true",
    "'~/canary.csv'",
    "(SELECT * FROM (DESCRIBE '{S}/hard.csv'))",
    "(SUMMARIZE '{S}/hard.csv')",
    "(PIVOT '{S}/hard.csv' ON a IN ('x') USING sum(b))",
    "run WHERE EXISTS (FROM '{S}/hard.csv')",
    '(WITH a AS (WITH "hard.csv" AS (SELECT 1) FROM run) FROM "hard.csv")',
    "'kernel.parquet/../hard.csv'",
    "'tracekit.json'",
    "main.csv",
    "MAIN.CSV",
    "main.json",
    "memory.csv",
    "memory.main.csv",
    "main.main.csv",
    "temp.csv",
    "information_schema.csv",
    "pg_catalog.parquet",
    "(SUMMARIZE main.csv)",
    "(WITH x AS (FROM main.csv) FROM x)",
    '"main"."csv"',
    "(PIVOT main.csv ON a IN ('x') USING sum(b))",
]

#: What DuckDB 2.0 has in FROM beside what is allowed: it reads files, or tables that a text names,
#: runs SQL from a text, shows paths, or changes something.
NOT_ALLOWED = """
    add_grammar_extension arrow_scan arrow_scan_dumb checkpoint create_external_resource
    deregister_external_resource destroy_external_resource disable_logging disable_profiling
    duckdb_approx_database_count duckdb_available_metrics duckdb_connection_count
    duckdb_constraints duckdb_coordinate_systems duckdb_databases duckdb_dependencies
    duckdb_dialects duckdb_eviction_queues duckdb_extension_repositories duckdb_extensions
    duckdb_external_file_cache duckdb_external_resource_types duckdb_external_resources
    duckdb_grammar_extensions duckdb_indexes duckdb_live_query_metrics duckdb_log_contexts
    duckdb_logs duckdb_logs_parsed duckdb_memory duckdb_optimizers duckdb_prepared_statements
    duckdb_profiling_settings duckdb_schemas duckdb_secret_type_parameters duckdb_secret_types
    duckdb_secrets duckdb_sequences duckdb_settings duckdb_table_sample duckdb_temporary_files
    duckdb_triggers duckdb_variables enable_logging enable_profiling force_checkpoint glob
    histogram histogram_values icu_calendar_names json_execute_serialized_sql pandas_scan
    parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata
    parquet_metadata parquet_page_index parquet_scan parquet_schema pg_timezone_names
    pragma_collations pragma_database_size pragma_metadata_info pragma_platform pragma_show
    pragma_storage_info pragma_user_agent python_arrow_scan python_map_function query
    query_table read_blob read_csv read_csv_auto read_duckdb read_json read_json_auto
    read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects
    read_parquet read_single_csv_file read_single_json_file read_single_parquet_file read_text
    register_external_resource register_external_resource_type remove_grammar_extension seq_scan
    sniff_csv truncate_duckdb_logs which_secret
"""


def test_every_function_in_from_is_known_to_be_harmless_or_refused() -> None:
    """One that a version of DuckDB brings is to be looked at: what can its arguments name?"""
    functions = duckdb.execute(
        "SELECT DISTINCT function_name, macro_definition FROM duckdb_functions() "
        "WHERE function_type IN ('table', 'table_macro')"
    ).fetchall()
    assert {name for name, _ in functions} == _TABLE_FUNCTIONS | {*NOT_ALLOWED.split()}
    for name, body in functions:
        assert name not in _TABLE_FUNCTIONS or "query" not in (body or ""), name


kept_open = cache(Database)


def assert_refused(store: Store, template: str) -> str:
    """The reason, after a look at every file and at the answers that follow."""
    base = store.path.parent
    before = files_below(base)
    table_file = next(store.path.glob("kernel/*/*/*.parquet"))
    hidden = "json_serialize_sql('WITH x AS (COPY (SELECT 1) TO ''{S}/out.csv'') FROM x')"
    places = {"{Q}": hidden, "{B}": str(base), "{S}": str(store.path), "{F}": str(table_file)}
    for name, text in places.items():
        template = template.replace(name, text)
    database = kept_open(store)
    with pytest.raises(QueryError) as caught:
        database.sql(template)
    assert CANARY not in str(caught.value)
    assert files_below(base) == before
    assert scalar(database, "SELECT count(*) FROM kernel") == KERNELS
    return str(caught.value)


@pytest.mark.parametrize("sql", STATEMENTS)
def test_what_is_not_one_select_is_refused(store: Store, sql: str) -> None:
    assert assert_refused(store, sql)


@pytest.mark.parametrize("sql", IN_A_SELECT)
def test_a_select_cannot_hide_another_statement(store: Store, sql: str) -> None:
    assert "allowed" in assert_refused(store, sql)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_see_no_file_and_run_no_text(store: Store, function: str) -> None:
    assert "is not allowed in FROM" in assert_refused(store, f"SELECT * FROM {function}")


@pytest.mark.parametrize("table", REPLACEMENTS)
def test_a_path_or_a_variable_is_no_table(
    store: Store, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = pa_table = pa.table({"a": [CANARY]})
    monkeypatch.chdir(store.path)
    assert len(variable) == len(pa_table)
    assert assert_refused(store, f"FROM {table}")


def test_why_a_path_is_no_table(database: Database) -> None:
    with pytest.raises(QueryError) as caught:
        database.sql("FROM 'trace.csv'")
    assert str(caught.value).startswith(
        "'trace.csv' in FROM is not a table: SQL cannot read files by path; ingest the file, or "
        "avoid dots "
        "and slashes in your own names.\nTables: run, "
    )


def test_the_environment_is_not_there(store: Store) -> None:
    assert "getenv" in assert_refused(store, "SELECT getenv('PATH')")


def test_text_that_is_no_unicode_is_refused(database: Database) -> None:
    with pytest.raises(QueryError, match="not valid Unicode"):
        database.sql("SELECT '\udc80'")


def test_settings_cannot_be_changed_even_past_the_check(database: Database) -> None:
    for statement in (
        "SET enable_external_access = true",
        "RESET allowed_directories",
        "SET lock_configuration = false",
        "SET temp_directory = '/tmp/elsewhere'",
    ):
        with pytest.raises(duckdb.Error, match="locked"):
            database._connection.execute(statement)


def test_a_link_to_a_table_file_elsewhere_is_not_followed(
    tmp_path: Path, gpu_trace: Path, small_trace: Path
) -> None:
    """Whoever made a store cannot show its reader a file of the reader's."""
    ingest(gpu_trace, tmp_path / "S", Options(run_name="gpu"))
    ingest(small_trace, tmp_path / "other", Options(run_name="gpu"))
    (file,) = (tmp_path / "S" / "kernel").rglob("*.parquet")
    (elsewhere,) = (tmp_path / "other" / "kernel").rglob("*.parquet")
    file.unlink()
    file.symlink_to(elsewhere)
    database = Database(open_store(tmp_path / "S"))
    assert [(damage.path, damage.what) for damage in database.damages] == [(file, "is a link")]
    assert len(database.sql("SELECT * FROM kernel")) == 0
    (manifest,) = (tmp_path / "S" / "source_file").rglob("_*.json")
    manifest.unlink()
    with pytest.raises(QueryError, match="SQL can read only the store's own files"):
        Database(open_store(tmp_path / "S")).sql("SELECT * FROM kernel")


def test_a_source_with_a_table_that_this_version_lacks_is_left_out(
    tmp_path: Path, gpu_trace: Path, small_trace: Path
) -> None:
    """Its rows may be in other tables, too: sums without them would be wrong."""
    ingest(gpu_trace, tmp_path / "S", Options(run_name="gpu"))
    ingest(small_trace, tmp_path / "S", Options(run_name="small"))
    (manifest,) = (tmp_path / "S" / "source_file" / "run_id=gpu").rglob("_*.json")
    content = manifest.read_bytes().partition(b"\n")[0].replace(b'"kernel"', b'"kernel_of_later"')
    manifest.write_bytes(content + b"\n" + sha256(content).hexdigest().encode() + b"\n")
    (file,) = (tmp_path / "S" / "kernel" / "run_id=gpu").rglob("*.parquet")
    other = tmp_path / "S" / "kernel_of_later" / file.relative_to(tmp_path / "S" / "kernel")
    other.parent.mkdir(parents=True)
    file.rename(other)
    database = Database(open_store(tmp_path / "S"))
    assert [(damage.path, damage.what) for damage in database.damages] == [
        (other, "is of a table that this version does not have")
    ]
    runs = database.sql("SELECT DISTINCT run_id FROM slice").rows()
    assert runs == [{"run_id": "small"}]


@pytest.mark.parametrize("name", ["[!a]", "a*b?[c]", "[[]!a]", "a]b", "{a,b}", "it's"])
def test_a_store_with_a_pattern_for_a_name_opens_nothing_else(
    tmp_path: Path, gpu_trace: Path, small_trace: Path, name: str
) -> None:
    ingest(gpu_trace, tmp_path / name, Options(run_name="gpu"))
    siblings = [tmp_path / other for other in ("b", "aXbYc", "a", "!") if other != name]
    for sibling in siblings:
        ingest(small_trace, sibling, Options(run_name="gpu"))
    database = Database(open_store(tmp_path / name))
    assert scalar(database, "SELECT count(*) FROM kernel") == KERNELS
    for sibling in siblings:
        (file,) = sibling.glob("kernel/*/*/*.parquet")
        with pytest.raises(duckdb.PermissionException):
            database._connection.execute(f"FROM '{file}'")
    pattern = str(tmp_path / "*").replace("'", "''")
    with pytest.raises(duckdb.PermissionException):
        database._connection.execute(f"FROM '{pattern}/kernel/*/*/*.parquet'")


# -- what is allowed ------------------------------------------------------------------------------

ALLOWED = [
    ("SELECT 1 -- ; DROP VIEW kernel", [(1,)]),
    ("/* ; */ SELECT 1;;", [(1,)]),
    ("SELECT 'COPY x TO y; -- /*'", [("COPY x TO y; -- /*",)]),
    ('SELECT \'"type":"COPY_QUERY_NODE"\'', [('"type":"COPY_QUERY_NODE"',)]),
    ("VALUES (1), (2)", [(1,), (2,)]),
    ("FROM range(2)", [(0,), (1,)]),
    ("FROM kernel SELECT count(*)", [(KERNELS,)]),
    ("WITH x AS (SELECT 1 AS a) SELECT a FROM x", [(1,)]),
    (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) FROM t",
        [(1,), (2,), (3,)],
    ),
    ("SELECT unnest([1, 2])", [(1,), (2,)]),
    ("SELECT list_transform([1, 2], lambda x: x + 1)", [([2, 3],)]),
    ("SELECT 1 UNION ALL SELECT 2 ORDER BY 1 DESC", [(2,), (1,)]),
    ("PIVOT (VALUES ('a', 1), ('b', 2)) t(k, v) ON k IN ('a', 'b') USING sum(v)", [(1, 2)]),
    ("SELECT value FROM json_each('[5]')", [("5",)]),
    ("SELECT current_setting('lock_configuration')", [(True,)]),
    ("SELECT count(*) FROM (SHOW TABLES) WHERE name = 'kernel'", [(1,)]),
    ("SELECT column_name FROM (DESCRIBE run) LIMIT 1", [("run_id",)]),
    ("SELECT count(*) FROM memory.main.kernel AS k", [(KERNELS,)]),
    ('SELECT count(*) FROM "kernel"', [(KERNELS,)]),
    ('WITH "my own" AS (SELECT 7) FROM "my own"', [(7,)]),
    ("SELECT count(*) > 20 FROM information_schema.tables", [(True,)]),
    ("SELECT count(*) > 20 FROM pg_catalog.pg_views", [(True,)]),
    ("SELECT count(*) FROM main.op_class WHERE false", [(0,)]),
    ("SELECT count(*) FROM MAIN.Kernel", [(KERNELS,)]),
    ('SELECT \'"type":"BASE_TABLE","schema_name":"a"\' = \'x.csv\'', [(False,)]),
    ("SELECT '\x00'", [("\x00",)]),
    ("SELECT " + " + ".join(["1"] * 300), [(300,)]),
    ("SELECT 1 WHERE " + " OR ".join(["true"] * 5_000), [(1,)]),
    (f"SELECT length('{'x' * 1_000_000}')", [(1_000_000,)]),
]


@pytest.mark.parametrize(("sql", "rows"), ALLOWED, ids=lambda value: str(value)[:40])
def test_whatever_only_reads_is_allowed(
    database: Database, sql: str, rows: list[tuple[Any, ...]]
) -> None:
    assert list(database.sql(sql).tuples()) == rows


def test_a_thousand_columns_of_one_name_have_names_of_their_own(database: Database) -> None:
    result = database.sql("SELECT " + ", ".join(["1 AS n_count"] * 2_000))
    (row,) = result.rows()
    assert len(row) == 2_000
    assert list(row)[:3] == ["n_count", "n_count_1", "n_count_2"]
    assert {column.unit for column in result.columns} == {"count"}
    assert [column.name for column in result.columns] == result.table.column_names


def test_sql_that_is_nested_beyond_reason_is_refused(database: Database) -> None:
    for sql in (
        "SELECT " + "(" * 100_000 + "1" + ")" * 100_000,
        "SELECT " + "-" * 50_000 + "1",
        "SELECT " + "[" * 50_000,
    ):
        with pytest.raises(QueryError):
            database.sql(sql)


# -- values of every type -------------------------------------------------------------------------

LARGEST = 2**127 - 1
EXACT = {
    "{'a': 1, 'b': NULL}": {"a": 1, "b": None},
    "[1, NULL]": [1, None],
    "[]": [],
    "[1, 2]::INT[2]": [1, 2],
    "MAP {'a': 1}": [("a", 1)],
    f"{LARGEST}::HUGEINT": Decimal(LARGEST),
    f"({-LARGEST - 1})::HUGEINT": Decimal(-LARGEST - 1),
    "18446744073709551615::UBIGINT": 2**64 - 1,
    "9223372036854775807::BIGINT": 2**63 - 1,
    "1.25::DECIMAL(10, 2)": Decimal("1.25"),
    "'x'::ENUM ('x', 'y')": "x",
    "NULL": None,
    "'\\xAA\\x00'::BLOB": b"\xaa\x00",
    "true": True,
    "0.5::FLOAT": 0.5,
    "union_value(a := 1)": 1,
    "'{\"a\": 1}'::JSON": '{"a": 1}',
    "CAST(uuid() AS VARCHAR) IS NULL": False,
}
AS_TEXT = {
    "DATE '2026-01-05'": "2026-01-05",
    "TIMESTAMP '2026-01-05 09:00:00.000001'": "2026-01-05 09:00:00.000001",
    "TIMESTAMPTZ '2026-01-05 09:00:00+02'": "2026-01-05 07:00:00+00:00",
    "TIMESTAMP_NS '2026-01-05 09:00:00.123456789'": "2026-01-05 09:00:00.123456789",
    "TIMESTAMP_S '2026-01-05 09:00:00'": "2026-01-05 09:00:00",
    "TIME '09:00:00.5'": "09:00:00.500000",
    "INTERVAL '1 year 2 days 3 seconds'": "MonthDayNano(months=12, days=2, nanoseconds=3000000000)",
    "'inf'::DOUBLE": "inf",
    "'nan'::DOUBLE": "nan",
    "[{'a': [DATE '2026-01-05']}]": "[{'a': [datetime.date(2026, 1, 5)]}]",
}
REFUSED = [
    "340282366920938463463374607431768211455::UHUGEINT",
    "[1::UHUGEINT]",
    "{'a': 1::UHUGEINT}",
    "MAP {1::UHUGEINT: 1}",
    "union_value(a := 1::UHUGEINT)",
    "TIMETZ '12:00:00+02'",
    "'12:00:00.123456789'::TIME_NS",
    "1::BIGNUM",
    "'0101'::BIT",
    "TIMESTAMP '290000-01-01'",
    "TIMESTAMP 'infinity'",
    "TIMESTAMP '4000-01-01 (BC)'",
    "TIMESTAMPTZ '290000-01-01 00:00:00+00'",
    "DATE '99999-01-01'",
    "DATE 'infinity'",
    "[DATE '-infinity']",
    "{'a': [TIMESTAMP 'infinity']}",
]


def assert_rendered(database: Database, value: str) -> None:
    result = database.sql(f"SELECT {value} AS x UNION ALL SELECT NULL")
    for name in renderer_names():
        assert renderer(name).render(result, RenderOptions(width=80, color=False))


@pytest.mark.parametrize(("value", "expected"), EXACT.items(), ids=list(EXACT))
def test_values_come_out_as_they_are(database: Database, value: str, expected: object) -> None:
    result = database.sql(f"SELECT {value} AS x")
    assert result.rows() == [{"x": expected}]
    assert list(result.tuples()) == [(expected,)]
    assert_rendered(database, value)


@pytest.mark.parametrize(("value", "expected"), AS_TEXT.items(), ids=list(AS_TEXT))
def test_times_come_out_as_they_are(database: Database, value: str, expected: str) -> None:
    result = database.sql(f"SELECT {value} AS x")
    assert [str(row["x"]) for row in result.rows()] == [expected]
    assert [str(x) for (x,) in result.tuples()] == [expected]
    assert len(result.df()) == 1
    assert_rendered(database, value)


@pytest.mark.parametrize("value", REFUSED)
def test_what_would_come_out_changed_is_refused(database: Database, value: str) -> None:
    with pytest.raises(QueryError, match=r"the column 'x' .* write CAST\(… AS VARCHAR\)"):
        database.sql(f"SELECT {value} AS x")
    result = database.sql(f"SELECT CAST({value} AS VARCHAR) AS x")
    assert isinstance(result.rows()[0]["x"], str)


@pytest.mark.parametrize("value", sorted({*EXACT} - {"union_value(a := 1)"}))
def test_a_data_frame_holds_it(database: Database, value: str) -> None:
    assert list(database.sql(f"SELECT {value} AS x").df().columns) == ["x"]


def test_what_no_data_frame_holds_is_told(database: Database) -> None:
    with pytest.raises(QueryError, match="cannot be converted to a DataFrame"):
        database.sql("SELECT union_value(a := 1) AS x").df()


def test_columns_of_one_name_are_all_there(database: Database) -> None:
    result = database.sql("SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS total_ns, 5 AS total_ns")
    assert result.rows() == [{"a": 1, "a_2": 2, "a_1": 3, "total_ns": 4, "total_ns_1": 5}]
    assert [column.unit for column in result.columns] == ["", "", "", "ns", "ns"]
    assert list(result.df().columns) == ["a", "a_2", "a_1", "total_ns", "total_ns_1"]


def test_no_rows_are_a_result(database: Database) -> None:
    result = database.sql("SELECT name, dur_ns FROM kernel WHERE false")
    assert (len(result), result.rows(), list(result.tuples())) == (0, [], [])
    assert result.table.schema.types == [pa.string(), pa.int64()]
    assert len(result.df()) == 0


# -- asking ---------------------------------------------------------------------------------------


def test_parameters_are_bound_never_pasted(database: Database) -> None:
    for run in ("' OR true --", "gpu'; DROP VIEW kernel; --", "GPU", "gpu ", "%"):
        assert len(database.query("kernel_time", {"run_id": run})) == 0
    assert len(database.query("kernel_time", {"run_id": "gpu"})) == 16


def test_only_some_columns_of_a_report_are_the_same_rows(database: Database) -> None:
    whole = database.query("kernel_time", {"run_id": "gpu"})
    some = database.query("kernel_time", {"run_id": "gpu"}, ("total_ns", "name"))
    assert len(some) > 1
    assert some.table.to_pylist() == whole.table.select(["name", "total_ns"]).to_pylist()
    assert some.columns == tuple(c for c in whole.columns if c.name in ("name", "total_ns"))
    with pytest.raises(QueryError, match=r"the report kernel_time has no column a, b$"):
        database.query("kernel_time", {"run_id": "gpu"}, ("b", "name", "a"))


def test_wrong_parameters_are_told(database: Database) -> None:
    with pytest.raises(QueryError, match="kernel_time needs the parameter run_id"):
        database.query("kernel_time")
    with pytest.raises(QueryError, match="has no parameter a, b; its parameters: run_id"):
        database.query("kernel_time", {"run_id": "gpu", "b": 1, "a": 2})
    with pytest.raises(
        QueryError, match="the report runs has no parameter run_id; its parameters: with_labels"
    ):
        database.query("runs", {"run_id": "gpu"})
    with pytest.raises(QueryError, match="no report called 'device_interval'"):
        database.query("device_interval")


def test_errors_in_the_middle_of_the_rows_are_as_those_before(database: Database) -> None:
    cast = "SELECT CAST(CASE WHEN range = {} THEN 'x' ELSE '1' END AS INTEGER) FROM range(5000000)"
    for row in (5, 4_000_000):
        with pytest.raises(QueryError, match=r"^Conversion Error: Could not convert string 'x'"):
            database.sql(cast.format(row))
    with pytest.raises(QueryError, match=r"^nope$"):
        database.sql("SELECT CASE WHEN range = 4000000 THEN error('nope') END FROM range(5000000)")
    (column,) = database.sql("FROM range(1000000)").table.columns
    assert column.to_pylist() == list(range(1_000_000))


def test_errors_in_sql_say_where_and_what_there_is(database: Database) -> None:
    with pytest.raises(QueryError, match=r"(?s)kernels does not exist.*Tables: run, .*kernel"):
        database.sql("SELECT * FROM kernels")
    with pytest.raises(QueryError, match=r"(?s)durr_ns.*dur_ns"):
        database.sql("SELECT durr_ns FROM kernel")
    with pytest.raises(QueryError, match=r"(?s)syntax error.*LINE 1"):
        database.sql("SELEC 1")
    with pytest.raises(QueryError, match="Overflow"):
        database.sql("SELECT 9223372036854775807 + dur_ns FROM kernel")


def test_a_run_is_found_by_name_or_id(tmp_path: Path, gpu_trace: Path, small_trace: Path) -> None:
    store = tmp_path / "S"
    with pytest.raises(UsageError, match="the store is empty"):
        Database(create_store(store)).run_id(None)
    ingest(gpu_trace, store, Options(run_name="My Run"))
    ingest(small_trace, store, Options(run_name="newest"))
    database = Database(open_store(store))
    assert database.run_id(None) == "newest"
    run_id = database.run_id("My Run")
    assert run_id.startswith("my-run-")
    assert database.run_id(run_id) == run_id
    with pytest.raises(UsageError, match=r"no run called 'my run' in the store; runs: My Run, new"):
        database.run_id("my run")


def test_many_threads_may_ask_one_database(database: Database) -> None:
    found: list[int] = []

    def ask() -> None:
        for _ in range(5):
            found.append(scalar(database, "SELECT sum(dur_ns) FROM kernel"))
            rows = database.query("kernel_time", {"run_id": "gpu"}).rows()
            found.append(sum(row["total_ns"] for row in rows))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1_961_272] * 40


# -- what is built in -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Database:
    """A report of 4 launches on a V100, and a trace without kernels."""
    store = tmp_path_factory.mktemp("counters") / "S"
    report = traces.parent / "nsight_compute" / "details-v100-handmade" / "report.csv"
    ingest(report, store, Options(run_name="ncu", device_name="Tesla V100-SXM2-16GB"))
    ingest(traces / "cpu-inference" / "trace.json", store, Options(run_name="cpu"))
    return Database(open_store(store))


def test_known_devices_are_tables_of_every_store(counters: Database, tmp_path: Path) -> None:
    for database in (counters, Database(create_store(tmp_path / "empty"))):
        for name, table in REFERENCE_TABLES.items():
            described = database.sql(f"SELECT column_name FROM (DESCRIBE {name})").rows()
            assert [row["column_name"] for row in described] == [c.name for c in table.columns]
        assert scalar(database, "SELECT count(DISTINCT model_name) FROM device_model") == len(
            models()
        )
        found = database.sql("SELECT * FROM model_ceiling").rows()
        assert {(r["model_name"], r["ceiling_kind"], r["ceiling_name"]): r for r in found} == {
            (model.name, c.kind, c.name): {
                "model_name": model.name,
                "ceiling_kind": c.kind,
                "ceiling_name": c.name,
                "value": c.value,
                "unit": c.unit,
                "origin_kind": c.origin,
                "source_text": c.source,
                "date": c.date,
            }
            for model in models()
            for c in model.ceilings
        }
        assert len(found) == sum(len(model.ceilings) for model in models())
    (p4000,) = counters.sql("SELECT * FROM device_model WHERE model_key = 'quadrop4000'").rows()
    assert p4000 == {
        "model_key": "quadrop4000",
        "model_name": "Quadro P4000",
        "vendor_name": "NVIDIA",
        "scope_kind": "board",
        "compute_capability": "6.1",
        "architecture_name": None,
        "core_count": None,
        "sm_count": 14,
        "boost_clock_hz": 1.48e9,
        "memory_bytes": 8 * 2**30,
    }


def test_sql_can_ask_which_tables_a_source_has_rows_in(counters: Database, tmp_path: Path) -> None:
    rows = counters.sql("SELECT * FROM stored_table").rows()
    tables = {run: {r["table_name"] for r in rows if r["run_id"] == run} for run in ("ncu", "cpu")}
    assert tables["ncu"] >= {
        "run",
        "source_file",
        "device",
        "assumption",
        "kernel",
        "kernel_metric",
        "kernel_counter",
        "kernel_rule",
    }
    assert not tables["cpu"] & {"kernel", "kernel_counter", "assumption"}
    for row in rows:
        found = scalar(
            counters,
            f"SELECT count(*) FROM {row['table_name']} "
            f"WHERE run_id = '{row['run_id']}' AND source_id = '{row['source_id']}'",
        )
        assert found > 0
    assert counters.has_counters("ncu")
    assert not counters.has_counters("cpu")
    empty = Database(create_store(tmp_path / "empty"))
    assert empty.sql("SELECT * FROM stored_table").rows() == []


def test_no_select_changes_what_is_built_in(counters: Database) -> None:
    for statement in (
        "DELETE FROM device_model",
        "UPDATE model_ceiling SET value = 0",
        "INSERT INTO stored_table VALUES ('kernel', 'r', 's')",
        "DROP TABLE device_model",
    ):
        with pytest.raises(QueryError, match="one SELECT is allowed"):
            counters.sql(statement)
    with pytest.raises(
        QueryError, match=r"(?s)Tables: run, .*, device_model, model_ceiling, event_"
    ):
        counters.sql("SELECT * FROM device_models")


def test_a_parameter_can_only_be_what_there_is_a_choice_of(counters: Database) -> None:
    with pytest.raises(
        QueryError, match="by: invalid value 'kernel'; use one of: name, launch, run, "
    ):
        counters.query("kernel_figures", {"by": "kernel"})
    with pytest.raises(
        QueryError, match="ceiling: invalid value None; use one of: own, fp32, fp64"
    ):
        counters.query("low_utilization_kernels", {"ceiling": None})
    with pytest.raises(QueryError, match="by=label needs label=NAME"):
        counters.query("zero_ai_kernels", {"by": "label"})
    with pytest.raises(
        QueryError, match="has no parameter kind; its parameters: run_id, phase, by, label"
    ):
        counters.query("kernel_figures", {"kind": "x"})
    for top in ("five", -1):
        with pytest.raises(QueryError):
            counters.query("low_utilization_kernels", {"top": top})


def test_parameters_that_are_left_out_have_their_defaults(counters: Database) -> None:
    plain = counters.query("low_utilization_kernels").rows()
    assert (
        plain
        == counters.query(
            "low_utilization_kernels",
            {
                "run_id": None,
                "by": "name",
                "label": None,
                "ceiling": "own",
                "fp16_convention": "arithmetic",
                "latency_below": 0.6,
                "top": 5,
            },
        ).rows()
    )
    assert [row["ceiling_name"] for row in plain] == ["fp32", "fp16"]
    (first, *_) = plain
    assert counters.query("low_utilization_kernels", {"top": 1}).rows() == [first]
    assert counters.query("low_utilization_kernels", {"top": 0}).rows() == []


# -- Ctrl-C ---------------------------------------------------------------------------------------

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


def test_an_endless_query_can_be_interrupted(store: Store) -> None:
    database = Database(store)
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            database._fetch(ENDLESS, {})
        except BaseException as error:  # noqa: BLE001 - it is looked at below
            caught.append(error)

    cursors: list[duckdb.DuckDBPyConnection] = []

    class Watched:
        def cursor(self) -> duckdb.DuckDBPyConnection:
            cursors.append(connection.cursor())
            return cursors[-1]

    connection, database._connection = database._connection, Watched()  # type: ignore[assignment]
    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        for cursor in cursors:
            cursor.interrupt()
        thread.join(0.1)
    database._connection = connection
    assert [type(error) for error in caught] == [KeyboardInterrupt]
    assert scalar(database, "SELECT count(*) FROM kernel") == KERNELS


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
def test_ctrl_c_ends_an_endless_query(store: Store) -> None:
    program = (
        "import signal, sys, tracekit\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may have it ignored
        "database = tracekit.open(sys.argv[1])\n"
        "print('asking', flush=True)\n"
        "try:\n    database.sql(sys.argv[2])\n"
        "except KeyboardInterrupt:\n    print('interrupted', len(database.sql('FROM kernel')))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(store.path), ENDLESS], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asking\n"
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert output == f"interrupted {KERNELS}\n"


# -- stores that change ---------------------------------------------------------------------------


@pytest.fixture
def changing(tmp_path: Path, ingested: Ingested, gpu_trace: Path, small_trace: Path) -> Store:
    shutil.copytree(ingested.runs(gpu=gpu_trace, small=small_trace), tmp_path / "S")
    return open_store(tmp_path / "S")


def test_sources_that_come_later_are_not_seen(changing: Store, cpu_trace: Path) -> None:
    database = Database(changing)
    ingest(cpu_trace, changing.path, Options(run_name="later"))
    assert [row["run_name"] for row in database.query("runs").rows()] == ["small", "gpu"]
    assert len(Database(changing).query("runs")) == 3


@pytest.mark.parametrize("removed", ["gpu", "small"])
def test_a_source_removed_meanwhile_is_told(changing: Store, removed: str) -> None:
    database = Database(changing)
    changing.remove(changing.commits(removed))
    with pytest.raises(QueryError, match=r"the store changed during the query.*run the query"):
        database.sql("SELECT sum(dur_ns) FROM kernel")
    with pytest.raises(QueryError, match="the store changed during the query"):
        database.query("kernel_time", {"run_id": removed})
    assert len(Database(changing).query("runs")) == 1


def test_a_store_that_changes_while_it_is_opened_is_opened_again(
    changing: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = changing.snapshot
    taken = []

    def snapshot() -> Any:
        taken.append(real())
        if len(taken) == 1:  # the moment between the snapshot and the first look at a file
            changing.remove(changing.commits("gpu"))
        return taken[-1]

    monkeypatch.setattr(changing, "snapshot", snapshot)
    database = Database(changing)
    assert [row["run_name"] for row in database.query("runs").rows()] == ["small"]
    assert len(taken) == 2


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all, but text", b"PAR1" * 9])
def test_a_damaged_file_leaves_its_source_out(changing: Store, content: bytes) -> None:
    (file,) = changing.path.glob("kernel/run_id=gpu/*/*.parquet")
    size = file.stat().st_size
    for damaged in (content, content.ljust(size, b"\0")):  # seen by its size, or when it is read
        file.write_bytes(damaged)
        database = Database(changing)
        assert database.sql("SELECT DISTINCT run_id FROM kernel").rows() == [{"run_id": "small"}]
        assert {damage.path for damage in database.damages} == {file}
        assert [row["run_name"] for row in database.query("runs").rows()] == ["small"]
        with pytest.raises(
            UsageError, match=r"no run called 'gpu' .* excluded because damaged: gpu"
        ):
            database.run_id("gpu")


def test_a_file_that_is_gone_later_leaves_its_source_out(changing: Store) -> None:
    database = Database(changing)
    (file,) = changing.path.glob("kernel/run_id=gpu/*/*.parquet")
    file.unlink()
    assert database.sql("SELECT count(*) AS n FROM kernel").rows() == [{"n": 3}]
    assert [damage.what for damage in database.damages] == ["is missing"]


def test_a_file_whose_content_was_changed_is_told_where_it_matters(changing: Store) -> None:
    """By one bit, in the middle: most readers see nothing."""
    (file,) = changing.path.glob("kernel/run_id=gpu/*/*.parquet")
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 4
    file.write_bytes(content)
    database = Database(changing)
    database.verify("small")
    assert not database.damages
    database.verify("gpu")
    assert [damage.path for damage in database.damages] == [file]
    assert database.sql("SELECT DISTINCT run_id FROM kernel").rows() == [{"run_id": "small"}]
    assert [row["run_name"] for row in database.query("runs").rows()] == ["small"]


def test_a_wrong_question_reads_no_file(changing: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for damage reads the whole store."""
    database = Database(changing)
    monkeypatch.setattr(Store, "damages_in", lambda *_: pytest.fail("it was read"))
    for text in ("SELECT page_kind FROM kernel", "FROM parquet", "SELECT CAST('page' AS INT)"):
        with pytest.raises(QueryError):
            database.sql(text)


def test_files_of_an_older_version_lack_columns(changing: Store) -> None:
    """Their columns are NULL, wherever in the order of the files they come."""
    for manifest in changing.path.glob("source_file/*/*/_*.json"):
        manifest.unlink()  # they had none
    for file in changing.path.glob("kernel/run_id=small/*/*.parquet"):
        pq.write_table(pq.ParquetFile(file).read().drop_columns(["graph_id", "dur_ns"]), file)
    counts = "SELECT run_id, count(*), count(dur_ns) FROM kernel GROUP BY 1 ORDER BY 1"
    for newest in ("args_json", "collective_name"):
        found = Database(changing).sql(counts)
        assert list(found.tuples()) == [("gpu", KERNELS, KERNELS), ("small", 3, 0)]
        for file in changing.path.glob("kernel/run_id=gpu/*/*.parquet"):
            pq.write_table(pq.ParquetFile(file).read().drop_columns([newest]), file)


# -- how a store is opened ------------------------------------------------------------------------


VIEWS = sorted(query.name for query in catalog().values() if query.kind == "view")
LISTINGS = [
    "SELECT table_name FROM information_schema.tables",
    "SELECT view_name FROM duckdb_views()",
    "SELECT name FROM (SHOW TABLES)",
    "SELECT name FROM sqlite_master",
]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_there_from_the_first_question_on(store: Store, view: str) -> None:
    """Views are defined when they are asked for."""
    assert scalar(Database(store), f"SELECT count(*) FROM {view}") >= 0


@pytest.mark.parametrize("written", ['"{}"', "main.{}", "/**/{}--", "{}"])
def test_a_view_is_there_however_it_is_written(store: Store, written: str) -> None:
    for view in ("kernel_work", "KERNEL_INTENSITY"):
        text = f"SELECT count(*) FROM {written.format(view)}\n"
        assert scalar(Database(store), text) >= 0


@pytest.mark.parametrize("listing", LISTINGS)
def test_who_asks_what_there_is_is_told_all(store: Store, listing: str) -> None:
    found = {row[0] for row in Database(store).sql(listing).tuples()}
    assert found >= {*VIEWS, *TABLES, "device_model", "model_ceiling"} or (
        "duckdb_views" in listing and found >= {*VIEWS, *TABLES}
    )


def test_a_view_with_a_wrong_name_is_named(store: Store) -> None:
    with pytest.raises(QueryError, match='Did you mean "kernel_work"'):
        Database(store).sql("SELECT * FROM kernel_wrk")


def test_several_threads_can_ask_the_first_question(store: Store) -> None:
    database = Database(store)
    with ThreadPoolExecutor(8) as pool:
        counts = [pool.submit(database.sql, f"FROM {view} SELECT count(*)") for view in VIEWS]
        assert [len(found.result()) for found in counts] == [1] * len(VIEWS)


def test_opening_reads_one_file_of_a_table_at_most(
    tmp_path: Path, gpu_trace: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store can have thousands of sources: only the first file of a table is looked into."""
    ingest(gpu_trace, tmp_path / "S", Options(run_name="gpu"))
    ingest(traces / "hand-made", tmp_path / "S", Options(run_name="more"))
    store = open_store(tmp_path / "S")
    for files in store.snapshot().files.values():
        for file in list(files)[1:]:
            os.truncate(file, 0)
    database = Database(store)
    assert len(database.query("kernel_time", {"run_id": "gpu"})) == 16


def test_a_report_of_some_runs_is_that_of_each_and_reads_no_file_of_another(
    tmp_path: Path, traces: Path
) -> None:
    counters = traces.parent / "nsight_compute"
    for run, page in (("a", "details-v100"), ("b", "raw-v100"), ("c", "european")):
        options = Options(run_name=run, device_name="Tesla V100-SXM2-16GB")
        ingest(counters / f"{page}-handmade" / "report.csv", tmp_path / "S", options)
    asked = {"by": "launch", "level": "all"}
    whole = Database(open_store(tmp_path / "S"))
    alone = {run: whole.query("roofline_points", {"run_id": run, **asked}) for run in "ab"}
    for file in (tmp_path / "S").rglob("run_id=c/**/*.parquet"):
        os.truncate(file, 0)
    database = Database(open_store(tmp_path / "S"))
    both = database.query_of(("b", "a"), "roofline_points", asked)
    assert len(alone["a"]) > 0
    assert len(alone["b"]) > 0
    for run, result in alone.items():
        assert both.table.filter(pc.field("run_id") == run).equals(result.table)
    assert len(both) == len(alone["a"]) + len(alone["b"])
    one = database.query_of(["a"], "roofline_points", asked)
    assert one.table.equals(alone["a"].table)


def rounded(result: Result) -> list[dict[str, Any]]:
    """Rows without the last digits, which differ by the order of a sum."""
    return [
        {name: float(f"{v:.11g}") if isinstance(v, float) else v for name, v in row.items()}
        for row in result.rows()
    ]


def covering(reports: list[Query]) -> list[str]:
    """Few reports that name between them all the views that all of them name."""
    named = {
        query.name: {d.name for d in definitions_for(query.sql) if d.kind == "view"}
        for query in reports
    }
    left = set[str]().union(*named.values())
    chosen = []
    while left:
        chosen.append(max(named, key=lambda name: len(named[name] & left)))
        left -= named[chosen[-1]]
    return chosen


@pytest.mark.deep
@pytest.mark.parametrize("part", range(2))
def test_a_small_run_answers_as_a_large_one_does(
    tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """The views of a small run are made tables, those of a large one are planned."""
    recorded = traces.parent / "h100" / "lstm"
    for page in ("trace.json.gz", "raw.csv.gz"):
        ingest(recorded / page, tmp_path / "S", Options(run_name=page))
    ingest(traces / "hand-made" / "valid.json", tmp_path / "S", Options(run_name="other"))
    join(Database(open_store(tmp_path / "S")), "trace.json.gz", "raw.csv.gz")
    asked = [
        query
        for query in catalog().values()
        if query.kind == "report"
        and "run_id" in {p.name for p in query.parameters}
        and {p.name for p in query.parameters if p.is_required and not p.chosen_by} <= {"run_id"}
    ]
    names = covering(asked)[part::2]
    database = Database(open_store(tmp_path / "S"))
    small, tables = answers(database, "trace.json.gz", names)
    assert tables & {*VIEWS}
    monkeypatch.setattr("tracekit.engine.scope._MOST_KEPT_BYTES", 0)
    database.refresh()
    large, tables = answers(database, "trace.json.gz", names)
    assert tables & {*VIEWS} <= {name for name in VIEWS if catalog()[name].is_kept}
    assert len(small) > len(names) / 2
    for name in names:
        assert small.get(name) == large.get(name), name


def answers(
    database: Database, run: str, names: list[str]
) -> tuple[dict[str, list[dict[str, Any]]], set[str]]:
    """The rows of reports of a run that need no other choice, and the tables in DuckDB by then."""
    found = {}
    for name in names:
        with contextlib.suppress(ChoiceError):
            found[name] = rounded(database.query(name, {"run_id": database.run_id(run)}))
    rows = database._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    return found, {name for (name,) in rows}


def test_a_typo_costs_later_reports_nothing(store: Store) -> None:
    """All views are defined to suggest a name; a report still gets those it needs as tables."""
    database = Database(store)
    tables = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'device_work'"
    with pytest.raises(QueryError, match='Did you mean "kernel_work"'):
        database.sql("SELECT * FROM kernel_wrk")
    assert database._connection.execute(tables).fetchall() == [(0,)]
    expected = rounded(Database(store).query("gaps", {"run_id": "gpu"}))
    assert rounded(database.query("gaps", {"run_id": "gpu"})) == expected
    assert database._connection.execute(tables).fetchall() == [(1,)]


#: Some again, after others.
PHASES = ("all", "1..1", "all", "0..1", "stable", "1..1")


@pytest.mark.deep
def test_each_phase_has_its_own_rows(tmp_path: Path, traces: Path) -> None:
    """Rows that several reports use are computed once for a run and a phase, not for a session."""
    ingest(traces.parent / "h100" / "lstm" / "trace.json.gz", tmp_path / "S", Options(run_name="r"))
    session = Database(open_store(tmp_path / "S"))
    for name in ("overlap", "gaps", "launch_bounds", "gpu_utilization", "ranks"):
        asked = {phase: {"run_id": "r", "phase": phase} for phase in PHASES}
        alone = {phase: answered(fresh(session), name, asked[phase]) for phase in asked}
        for phase in PHASES:
            assert answered(session, name, asked[phase]) == alone[phase]
            session._answers.clear()


@pytest.mark.parametrize(("most", "is_kept"), [(4_000_000, True), (10, False)])
def test_a_row_for_each_of_much_work_is_not_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, is_kept: bool
) -> None:
    given = {"run_id": "gpu", "phase": "all"}
    expected = Database(store).query("gaps", given).rows()
    monkeypatch.setattr("tracekit.engine.scope._MOST_KEPT_WORK", most)
    database = Database(store)
    assert database.query("gaps", given).rows() == expected
    tables = database._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert (("device_gap_rows",) in tables) == is_kept
    assert ("work_place_rows",) in tables


def fresh(database: Database) -> Database:
    return Database(database.store)


def answered(database: Database, name: str, given: dict[str, str]) -> list[dict[str, Any]] | str:
    """The rows of a report, or why there are none."""
    try:
        return rounded(database.query(name, given))
    except QueryError as error:
        return str(error)


def test_a_run_without_counters_defines_no_views_of_counters(store: Store) -> None:
    database = Database(store)
    database.query("gpu_utilization", {"run_id": "gpu"})
    known = database._connection.execute(
        "SELECT view_name FROM duckdb_views() UNION SELECT table_name FROM duckdb_tables()"
    )
    names = {name for (name,) in known.fetchall()}
    assert "device_rank" in names
    assert not names & {"counted_launch", "launch_time", "kernel_launch"}


def test_a_session_of_many_runs_keeps_the_tables_of_few(
    tmp_path: Path, small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.engine._MOST_SCOPES", 3)
    for number in range(5):
        trace = tmp_path / f"{number}.json"
        trace.write_bytes(small_trace.read_bytes() + b" " * number)
        ingest(trace, tmp_path / "S", Options(run_name=f"r{number}"))
    database = Database(open_store(tmp_path / "S"))
    runs = database.run_names()
    for _ in range(2):
        for run in runs:
            assert len(database.query("kernel_time", {"run_id": run})) == 3
            database._answers.clear()
    names = database._connection.execute("SELECT database_name FROM duckdb_databases()").fetchall()
    assert len([name for (name,) in names if name.startswith("runs_")]) == 2


def test_refreshed_it_sees_what_came_and_what_went(
    tmp_path: Path, gpu_trace: Path, small_trace: Path
) -> None:
    store = create_store(tmp_path / "S")
    database = Database(store)
    figures = "SELECT (SELECT count(*) FROM kernel_work), (SELECT count(*) FROM step)"
    assert list(database.sql(figures).tuples()) == [(0, 0)]
    ingest(gpu_trace, store.path, Options(run_name="gpu"))
    assert len(database.query("runs")) == 0
    database.refresh()
    steps = len(database.sql("FROM step"))
    assert steps > 0
    assert len(database.query("runs")) == 1
    ingest(small_trace, store.path, Options(run_name="small"))
    store.remove(store.commits("gpu"))
    database.refresh()
    assert [row["run_name"] for row in database.query("runs").rows()] == ["small"]
    assert len(database.sql("FROM step")) < steps
    assert list(database.sql("SELECT count(*) FROM kernel").tuples()) == [(3,)]


def test_what_was_asked_is_not_worked_out_again(tmp_path: Path, gpu_trace: Path) -> None:
    ingest(gpu_trace, tmp_path / "S", Options(run_name="gpu"))
    database = Database(open_store(tmp_path / "S"))
    first = database.query("kernel_time", {"run_id": "gpu"})
    for file in (tmp_path / "S").rglob("*.parquet"):
        os.truncate(file, 0)
    assert database.query("kernel_time", {"run_id": "gpu"}) is first
    assert len(database.query("kernel_time", {"run_id": "gpu", "phase": "1..2"})) == 0
    assert len(database.damages) > 3


@pytest.mark.deep
def test_a_report_of_one_run_reads_no_file_of_another(
    tmp_path: Path, gpu_trace: Path, traces: Path
) -> None:
    counters = traces.parent / "nsight_compute"
    for run, page, trace, kind, net, sweep in (
        ("first", "details", gpu_trace, "csv", "means", "sweep"),
        ("second", "raw", traces / "hand-made" / "valid.json", "txt", "sums_2014", "faster"),
    ):
        options = Options(run_name=run, labels={"batch": "8"}, device_name="Tesla V100-SXM2-16GB")
        ingest(counters / f"{page}-v100-handmade" / "report.csv", tmp_path / "S", options)
        ingest(trace, tmp_path / "S", Options(run_name=run, labels={"batch": "8"}))
        processor = counters.parent / "perf_stat" / "intel_trio" / f"stat.{kind}"
        layers = counters.parent / "caffe_time" / net / "caffe.log"
        ingest(processor, tmp_path / "S", Options(run_name=run, labels={"batch": "8"}))
        ingest(layers, tmp_path / "S", Options(run_name=run))
        table = counters.parent / "results_table" / "hand-made" / f"{sweep}.csv"
        units = {"images_per_s:GFLOP/s": "metric", "loss:FLOP/byte": "metric"}
        board = Options(run_name=run, columns=units, device_name="TPU v2 board")
        ingest(table, tmp_path / "S", board)
        recorded = counters.parent / "h100" / ("micro" if run == "first" else "lstm")
        for part in ("trace.json.gz", "raw.csv.gz"):
            ingest(recorded / part, tmp_path / "S", Options(run_name=run))
        join(Database(open_store(tmp_path / "S")), run, run)
    store = open_store(tmp_path / "S")
    for name in ("first", "second"):
        add_operators(store, Database(store).run_id(name), name)
    emptied = 0
    for files in store.snapshot().files.values():
        for file in files:
            if "run_id=second" in file.parts:
                file.write_bytes(bytes(file.stat().st_size))
                emptied += 1
    assert emptied > len(EVENT_TABLES)
    database = Database(store)
    for query in catalog().values():
        names = {parameter.name: parameter.choices for parameter in query.parameters}
        if query.kind != "report" or "run_id" not in names:
            continue
        ways = [
            by
            for by in ({"by": "name"}, {"by": "label", "label": "batch"})
            if by.keys() <= names.keys() and by["by"] in names["by"]
        ]
        first = {name: "first" for name in ("run_id", "other_run_id") if name in names}
        for way in ways or [{}]:
            result = database.query(query.name, first | way)
            # nothing is below the average where there is one label; no file has CUPTI ranges
            without = ("issues", "low_utilization_kernels", "range_counters", "unrecorded_launches")
            assert len(result) > 0 or query.name in without
            assert not database.damages, (query.name, way)
    assert len(database.query("kernel_time", {"run_id": "second"})) == 0
    assert {damage.commit.run_id for damage in database.damages} == {"second"}


def test_every_table_is_there_in_an_empty_store(tmp_path: Path) -> None:
    database = Database(create_store(tmp_path / "S"))
    for name, table in TABLES.items():
        result = database.sql(f"SELECT * FROM {name}")
        names, types = zip(*((column.name, column.type) for column in table.columns), strict=True)
        assert result.table.column_names == ["run_id", "source_id", *names]
        assert result.table.schema.types == [pa.string(), pa.string(), *types]
        assert not database.has_rows(name)


def test_another_thread_can_interrupt_queries(store: Store) -> None:
    database, raised = Database(store), list[type]()

    def ask() -> None:
        try:
            database.sql("SELECT sum(a.i * b.i) FROM range(1000000) a(i), range(1000000) b(i)")
        except KeyboardInterrupt as error:
            raised.append(type(error))

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        database.interrupt()
        thread.join(0.1)
    assert raised == [KeyboardInterrupt]
    assert not database.is_stuck


@pytest.fixture(scope="module")
def two_kernels(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A trace of kernels of 90 and 60 us that name no device."""
    base = tmp_path_factory.mktemp("sums")
    kernels = [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts, "dur": dur}
        | {"args": {"stream": 7, "correlation": ts}}
        for ts, dur in ((100, 90), (300, 60))
    ]
    trace = {"schemaVersion": 1, "traceEvents": kernels}
    (base / "trace.json").write_text(json.dumps(trace), encoding="utf-8")
    ingest(base / "trace.json", base / "S", Options(run_name="sums"))
    return open_store(base / "S")


def sum_below_order(store: Store) -> list[int]:
    database = Database(store)
    peaks = database.query("data_without_peaks", {"run_id": database.run_id("sums")})
    return [row["total_ns"] for row in peaks.rows()]


def test_sums_below_order_are_whole(two_kernels: Store) -> None:
    assert sum_below_order(two_kernels) == [150_000]


def test_duckdb_still_narrows_sums_below_order(
    two_kernels: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If this fails, DuckDB is mended: use all optimizers again from that version on."""
    monkeypatch.setattr("tracekit.engine.WRONG_OPTIMIZERS", "")
    assert sum_below_order(two_kernels) != [150_000]
