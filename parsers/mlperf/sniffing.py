"""What tells logs of MLPerf from other files."""

from __future__ import annotations

#: Before each event of its logger.
MARK = ":::MLLOG"
_TITLE = "MLPerf Results Summary"


def is_title(line: str) -> bool:
    """Whether a line is the title of a summary."""
    return line.strip() == _TITLE
