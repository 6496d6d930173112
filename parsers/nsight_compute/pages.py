"""Pages of one report, each exported to a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tracekit.parser import Claim, FileSet

_PAGES = frozenset(("raw", "details", "source", "session"))
_PART = re.compile(r"[._-]")
_SUFFIXES = frozenset(("csv", "txt", "log", "gz", "zst"))
#: The first row with a launch: its number, process, program and host, in whatever notation.
_FIRST_LAUNCH = re.compile(
    rb'^"?\d{1,12}"?([,;\t])"?(\d{1,12})"?\1"?([^",;\t]+)"?\1"?([^",;\t]+)"?\1', re.M
)


def recording_of(text: bytes) -> str:
    """Return process, program and host of the first launch in a CSV page's head, or empty."""
    found = _FIRST_LAUNCH.search(text)
    return b" ".join(found.groups()[1:]).decode("utf-8", "replace") if found else ""


def pages_of_reports(claims: Iterable[Claim]) -> list[FileSet]:
    """Return the raw and details pages that are in one folder and from one process.

    A process number is not enough: each container has a number 1. So the names must also match,
    except for the word for the page.
    """
    reports: dict[tuple[Path, str, str], dict[str, Path]] = {}
    for claim in claims:
        name, page = _name_and_page(claim.path)
        if page and claim.match.recording:
            report = (claim.path.parent, name, claim.match.recording)
            reports.setdefault(report, {})[page] = claim.path
    return [
        FileSet(name, dict.fromkeys(pages.values(), ()))
        for (_, name, _), pages in reports.items()
        if len(pages) > 1
    ]


def _name_and_page(file: Path) -> tuple[str, str]:
    """Return the report and the page in a file's name; an empty page if the name has none."""
    parts = _PART.split(file.name)
    while parts[1:] and parts[-1] in _SUFFIXES:
        parts.pop()
    page = next((part for part in parts if part in _PAGES), "")
    return ".".join(part for part in parts if part != page) or file.parent.name, page
