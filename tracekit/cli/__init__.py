"""The command line: the only place that prints, exits and reads the environment."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from tracekit.startup import search_cycles_seldom

_MOMENT_SECONDS = 0.1
#: The exit code after Ctrl-C.
INTERRUPTED = 130
# numpy's linear algebra starts a thread per core when it is imported, which takes longer than all
# that is asked of it here: small matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
#: Modules that have to be told of the end: processes share semaphores, and MPI waits for all.
_NEED_AN_END = frozenset(("mpi4py.MPI", "multiprocessing.synchronize"))


def main() -> None:
    """Run the command line and exit with its code (docs/cli.md)."""
    code = INTERRUPTED  # if Ctrl-C comes while the modules load
    must_break_off: Callable[[], bool] = bool
    search_cycles_seldom()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        handle_interrupts()
    with contextlib.suppress(KeyboardInterrupt):
        from tracekit.cli.app import run
        from tracekit.cli.opening import is_stuck, own_process

        must_break_off = is_stuck
        own_process()
        code = run(sys.argv[1:])
    # Python waits for a query that ignores the interrupt. And it takes a sixth of a short command
    # to free all objects, which is needed only if some are in use: by a thread, or by a traceback.
    # If Ctrl-C comes while a module makes a class from text, as dataclasses do, it also ends by the
    # signal in place of the code, although the interrupt was handled.
    # Of threads that Python would not wait for either, nothing is wanted any more.
    is_alone = [thread for thread in threading.enumerate() if not thread.daemon] == [
        threading.main_thread()
    ]
    is_over = code in (0, INTERRUPTED) and is_alone
    is_over = is_over and _NEED_AN_END.isdisjoint(sys.modules)
    if must_break_off() or is_over:
        _end_at_once(code)
    sys.exit(code)


def _end_at_once(code: int) -> NoReturn:
    """End the process without Python's cleanup."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):  # closed or missing
            stream.flush()
    os._exit(code)


def handle_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt: once a moment, and where Python would drop it, later."""
    signal.signal(signal.SIGINT, _once_a_moment())
    report = sys.unraisablehook

    def interrupt_later(unraisable: Any) -> None:
        # Python drops what is raised in `__del__`, and libraries that hold locks have one.
        if unraisable.exc_type is not KeyboardInterrupt:
            report(unraisable)
            return
        arguments = (os.getpid(), signal.SIGINT)
        later = threading.Timer(2 * _MOMENT_SECONDS, os.kill, arguments)
        later.daemon = True
        later.start()

    sys.unraisablehook = interrupt_later


def _once_a_moment() -> Callable[[int, Any], None]:
    """Return a SIGINT handler that ignores a second signal right after the first.

    The terminal and a wrapper program may both send one, and Python's locks cannot handle a second
    interrupt in the middle of the first.
    """
    last_s = -_MOMENT_SECONDS

    def interrupt(_: int, __: Any) -> None:
        nonlocal last_s
        before_s, last_s = last_s, time.monotonic()
        if last_s - before_s >= _MOMENT_SECONDS:
            raise KeyboardInterrupt

    return interrupt
