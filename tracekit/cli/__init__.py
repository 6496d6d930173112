"""The command line: the only place that prints, exits and reads the environment."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code (docs/cli.md)."""
    try:
        from tracekit.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # as early as while the modules load
        code = 130
    sys.exit(code)
