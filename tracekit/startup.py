"""Makes processes start faster."""

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
    """Make pyarrow believe that pandas is missing: it imports it only to recognize its objects.

    The import costs each process 40 MB and 0.3 s. A parser that needs pandas can import it later.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    pa.array([0])  # pyarrow tries only once
    sys.meta_path.remove(finder)
