"""Folders that TensorFlow's and JAX's profilers write: ``plugins/profile/<run>/<host>.…``.

Layout: the profiler plugin's documentation, docs/profile_plugin of OpenXLA's xprof. A run has one
dump (`*.xplane.pb`) per host; the host's other files are derived from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tracekit.parser import FileSet

_DUMP = ".xplane.pb"
_OF_ALL_HOSTS = ("ALL_HOSTS", "perfetto_trace")
_MADE_OF_IT = f"is derived from the dump next to it (*{_DUMP}), which is read instead"


def sets_of(files: Iterable[Path]) -> list[FileSet]:
    """Return the runs among some files, without files derived from their dumps."""
    runs: dict[Path, list[Path]] = {}
    for file in files:
        folder = file.resolve().parent
        if _is_run(folder):
            runs.setdefault(folder, []).append(file)
    return [_set_of(folder, members) for folder, members in runs.items()]


def _set_of(folder: Path, members: list[Path]) -> FileSet:
    derived = {file for file in members if not _is_dump(file) and _is_made_of(file, members)}
    read = {file: () for file in members if file not in derived}
    return FileSet(folder.name, read, dict.fromkeys(derived, _MADE_OF_IT), is_alone=True)


def is_dump_of_run(file: Path) -> bool:
    """Return whether a file is a host's dump, by its name and folder."""
    return _is_dump(file) and _is_run(file.resolve().parent)


def _is_made_of(file: Path, members: list[Path]) -> bool:
    """Return whether a file is derived from dumps next to it: its host's, or all of them."""
    dumps = [member.name.partition(_DUMP)[0] for member in members if _is_dump(member)]
    return bool(dumps) and (
        file.name.startswith(_OF_ALL_HOSTS) or any(file.name.startswith(f"{h}.") for h in dumps)
    )


def _is_run(folder: Path) -> bool:
    return folder.parent.name == "profile" and folder.parent.parent.name == "plugins"


def _is_dump(file: Path) -> bool:
    """It can be compressed."""
    return file.name.removesuffix(".gz").removesuffix(".zst").endswith(_DUMP)
