"""The command line: the only place that prints, exits and reads the environment."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> None:
    """Run the command line and exit with its code (docs/cli.md)."""
    must_break_off = False
    try:
        from tracekit.cli.app import run
        from tracekit.cli.opening import is_stuck, own_process

        own_process()
        code = run(sys.argv[1:])
        must_break_off = is_stuck()
    except KeyboardInterrupt:  # as early as while the modules load
        code = 130
    if must_break_off:  # else Python would wait for a query that was to stop and does not
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, AttributeError):  # closed, or never there
                stream.flush()
        os._exit(code)
    sys.exit(code)
