"""Large arrays of numpy in files, for what memory should not hold all at once.

numpy lets its memory be managed by others (NEP 49): while `in_files` lasts, the large ones
that this thread makes are in files without a name, of which memory holds what is used just now.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tracekit.compiled import library

#: Places of functions in numpy's table of its C interface, which new versions only add to.
_SET_HANDLER = 304
#: Arrays of parts of rows, which come and go, are smaller.
_LEAST_BYTES = 1 << 20


@contextmanager
def in_files(folder: Path, least_bytes: int = _LEAST_BYTES) -> Iterator[None]:
    """Keep arrays of so many bytes that are made meanwhile in files in `folder`.

    They stay there, however long they live: those of this thread, and of others that run in a copy
    of its `contextvars` context. Without the C library, and on other systems than Linux, arrays
    stay in memory.
    """
    compiled = library()
    handler = compiled and compiled.tracekit_begin_array_files(
        os.fsencode(folder / "arrayXXXXXX"), least_bytes
    )
    if not compiled or not handler:
        yield
        return
    set_handler = _set_handler()
    before = set_handler(_capsule(handler))
    try:
        yield
    finally:
        set_handler(before)
        compiled.tracekit_end_array_files()


def _set_handler() -> Any:
    """PyDataMem_SetHandler: takes a capsule, and returns the one before."""
    interface = vars(import_module("numpy._core._multiarray_umath"))["_ARRAY_API"]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer_of(interface, None)
    table = ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


def _capsule(handler: int) -> Any:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(handler, b"mem_handler", None)
