"""Spark reads the store without tracekit, with the program of docs/scale.md."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.engines.answers import CHECKS, Engine
from tests.engines.stores import Known

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is not here"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.local.dir": str(folder),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # compiling takes longer than the queries
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder: Any = SparkSession.builder
    session: SparkSession = builder.master("local[1]").config(map=options).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def engine(spark: SparkSession, programs: Path) -> Engine:
    program: Any = importlib.import_module("in_spark")
    return Engine(
        lambda store, table: program.read(spark, store, table).toArrow(),
        lambda store, run: program.kernel_time(spark, store, run).collect(),
        lambda store, run: program.op_time(spark, store, run).collect(),
    )


@pytest.mark.deep
def test_spark_has_the_same(engine: Engine, found: Known) -> None:
    """In one test, so that it starts once, also where several workers share the tests."""
    for check in CHECKS:
        check(engine, found)
