"""Makes processes start faster."""

from __future__ import annotations

import gc
import importlib.abc
import sys

#: New objects that Python makes before it looks for cycles among them: more than a short command
#: has, and few enough for the memory of a long one.
_OBJECTS_BETWEEN_SEARCHES = 200_000


class _NoPandas(importlib.abc.MetaPathFinder):
    """Refuses to import pandas."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname == "pandas":
            raise ImportError


def keep_pandas_out() -> None:
    """Make pyarrow believe that pandas is missing: it imports it only to recognize its objects.

    The import costs each process 40 MB and 0.3 s. A parser that needs pandas can import it later.
    """
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    pa.array([0])  # pyarrow tries only once
    sys.meta_path.remove(finder)


def search_cycles_seldom() -> None:
    """Make Python look for cyclic garbage less often.

    It looks after every 700 new objects, which takes a tenth of the time of a short command: most
    are functions and classes, which stay.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
