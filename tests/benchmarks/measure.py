"""Wall time and peak memory of a command with all its processes."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_POLL_SECONDS = 0.5  # looking takes time from what is looked at


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a command: ``peak_bytes`` is the largest sum over its process tree.

    On Linux memory is PSS (a shared page counts once), elsewhere RSS.
    """

    wall_s: float
    peak_bytes: int
    output: str


def measure(
    command: Sequence[str | Path], cwd: Path | None = None, *, quiet: bool = False
) -> Measured:
    """Run `command` to its end; raises CalledProcessError if it fails.

    With `quiet` what it writes to the standard error is thrown away.
    """
    start = time.perf_counter()
    words = [str(word) for word in command]
    errors = subprocess.DEVNULL if quiet else None
    with subprocess.Popen(
        words, cwd=cwd, stdout=subprocess.PIPE, stderr=errors, text=True
    ) as process:
        peak = 0
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, _tree_bytes(watched))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)  # its end is seen at once
        wall = time.perf_counter() - start
        output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words, output)
    return Measured(wall, peak, output)


def _tree_bytes(root: psutil.Process) -> int:
    total = 0
    try:
        family = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0
    for member in family:
        try:
            memory = member.memory_full_info()
        except psutil.Error:
            continue
        total += getattr(memory, "pss", memory.rss)
    return total


def machine() -> str:
    """The machine in a line: processor, cores, memory, Python."""
    names = [line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    memory = psutil.virtual_memory().total / 1e9
    python = sys.version.split()[0]
    processor = names[0] if names else "unknown processor"
    return f"{processor}, {psutil.cpu_count()} cores, {memory:.0f} GB, Python {python}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
