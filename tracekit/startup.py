"""What makes a process start sooner."""

from __future__ import annotations

import importlib.abc
import sys

import pyarrow as pa


class _NoPandas(importlib.abc.MetaPathFinder):
    """Refuses to import pandas."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname == "pandas":
            raise ImportError


def keep_pandas_out() -> None:
    """Let pyarrow find that there is no pandas: it imports it only to recognise its objects.

    That would cost each process 40 MB and 0.3 s. A parser that needs pandas can import it after.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    pa.array([0])  # the one time that pyarrow tries
    sys.meta_path.remove(finder)
