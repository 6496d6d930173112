"""What is written in C (tracekit.c), where it was built: the rest has a way of its own without it.

`build_backend/compiling.py` builds it when tracekit is installed. It has no Python API and is
loaded by ctypes: one library serves every version of Python, and other threads run meanwhile.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path

#: What the library is called, beside this file.
NAME = {"win32": "_tracekit.dll", "darwin": "_tracekit.dylib"}.get(sys.platform, "_tracekit.so")

_POINTER, _INT, _LONG = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64


@cache
def library() -> ctypes.CDLL | None:
    """The library; None where none was built, or it does not load."""
    try:
        found = ctypes.CDLL(str(Path(__file__).with_name(NAME)))
    except OSError:
        return None
    return declared(found)


def declared(found: ctypes.CDLL) -> ctypes.CDLL:
    """`found`, whose functions have the types that tracekit.c gives them."""
    found.tracekit_scanner.restype = _POINTER
    for name in ("scan", "table", "key", "route", "free"):
        getattr(found, f"tracekit_{name}").restype = _INT
    for name in ("rows", "bytes", "odd", "places", "coded"):
        getattr(found, f"tracekit_{name}").restype = _LONG
    text = ctypes.c_char_p
    found.tracekit_is_ascii.restype = _INT
    found.tracekit_is_ascii.argtypes = [_POINTER, _LONG]
    found.tracekit_scan.argtypes = [_POINTER, _POINTER, _LONG, _LONG, _POINTER, _POINTER]
    found.tracekit_table.argtypes = [_POINTER, _INT, _POINTER, _POINTER]
    found.tracekit_key.argtypes = [
        *(_POINTER, _INT, text, _INT, _INT, _INT),
        *(_LONG, _LONG, _POINTER, _INT),
    ]
    found.tracekit_route.argtypes = [_POINTER, _INT, text, _INT, _INT, _INT, _INT]
    found.tracekit_kinds.restype = None
    found.tracekit_kinds.argtypes = [_POINTER, _INT, _INT]
    found.tracekit_forget.restype = None
    found.tracekit_forget.argtypes = [_POINTER]
    found.tracekit_without.restype = _INT
    found.tracekit_without.argtypes = [_LONG, *(_POINTER,) * 7]
    found.tracekit_rows.argtypes = [_POINTER, _INT]
    for name in ("clear", "undo"):
        getattr(found, f"tracekit_{name}").restype = None
    for name in ("clear", "undo", "bytes"):
        getattr(found, f"tracekit_{name}").argtypes = [_POINTER]
    found.tracekit_odd.argtypes = [_POINTER, _POINTER]
    found.tracekit_places.argtypes = [_POINTER, _INT, _LONG, _POINTER]
    found.tracekit_copy.restype = None
    found.tracekit_copy.argtypes = [_POINTER, _INT, _LONG, _POINTER, _POINTER]
    found.tracekit_coded.argtypes = [_POINTER, _INT, _INT, _POINTER]
    found.tracekit_free.argtypes = [_POINTER]
    found.tracekit_nest.restype = _INT
    found.tracekit_nest.argtypes = [_LONG, *(_POINTER,) * 5]
    found.tracekit_walker.restype = _POINTER
    found.tracekit_walker.argtypes = [_LONG, *(_POINTER,) * 8]
    found.tracekit_walk.restype = _INT
    found.tracekit_walk.argtypes = [_POINTER, _POINTER]
    found.tracekit_enter.restype = None
    found.tracekit_enter.argtypes = [_POINTER, ctypes.c_int32, _INT]
    found.tracekit_free_walker.restype = None
    found.tracekit_free_walker.argtypes = [_POINTER]
    found.tracekit_layout.restype = _POINTER
    found.tracekit_layout.argtypes = [_INT]
    found.tracekit_free_layout.restype = None
    found.tracekit_free_layout.argtypes = [_POINTER]
    found.tracekit_cell.restype = _INT
    found.tracekit_cell.argtypes = [_POINTER, _INT, _INT, _INT, text, _INT, text, _INT]
    found.tracekit_learn.restype = _INT
    found.tracekit_learn.argtypes = [_POINTER, text, _LONG, _POINTER]
    found.tracekit_lines.restype = None
    found.tracekit_lines.argtypes = [_POINTER, _POINTER, _INT, _POINTER, _LONG, _POINTER]
    found.tracekit_line_events.restype = _LONG
    found.tracekit_line_events.argtypes = [_POINTER, *(_LONG,) * 3, *(_POINTER,) * 3]
    found.tracekit_event_fields.restype = _INT
    found.tracekit_event_fields.argtypes = [_POINTER, _LONG, *(_POINTER,) * 3]
    found.tracekit_texts.restype = None
    found.tracekit_texts.argtypes = [_POINTER, _LONG, *(_POINTER,) * 4]
    found.tracekit_cells.restype = _INT
    number = ctypes.c_int32
    found.tracekit_cells.argtypes = [*(_POINTER, _LONG, _LONG), *(number, number), *(_POINTER,) * 3]
    found.tracekit_repeats.restype = _INT
    found.tracekit_repeats.argtypes = [
        *(_POINTER, _LONG, _LONG),
        *(_POINTER,) * 7,
        *(number, _POINTER),
    ]
    found.tracekit_mixed.restype = number
    found.tracekit_mixed.argtypes = [
        *(_POINTER, _LONG, _LONG, number),
        *(_POINTER,) * 8,
        number,
    ]
    found.tracekit_begin_array_files.restype = _POINTER
    found.tracekit_begin_array_files.argtypes = [text, _LONG]
    found.tracekit_end_array_files.restype = None
    found.tracekit_array_file_bytes.restype = _LONG
    return found
