"""Fuzzes all that is read for a while: `make fuzz MINUTES=60`; see docs/reliability.md.

Each core has a process of its own, which a bug in a library may end and which this one starts anew
behind the input that ended it. An input that breaks a rule is written to build/fuzz/; mend what it
shows and keep it below tests/fuzz/regressions/FORMAT/, where the suite reads it.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.mutator import mutated
from tests.fuzz.targets import NAMES, seeds_of, targets
from tracekit.render.text import inert

OUTCOMES = ("accepted", "refused", "broken", "crashed", "hung")
_ACCEPTED, _REFUSED, _BROKEN, _CRASHED, _HUNG = range(len(OUTCOMES))
_FOUND = Path("build") / "fuzz"
_MOST_SECONDS = 60  # for one input, among them those that all reports are asked of
_MOST_MEMORY_BYTES = 8 << 30
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Worker:
    """What a worker shares with us: counts by format and outcome, the next numbers, what it does.

    Its inputs are `step` apart.
    """

    number: int
    step: int
    counts: Any
    following: Any
    target: Any
    began_s: Any

    @classmethod
    def of(cls, context: Any, number: int, step: int, names: Sequence[str], first: int) -> _Worker:
        return cls(
            number,
            step,
            context.Array(ctypes.c_longlong, len(names) * len(OUTCOMES), lock=False),
            context.Array(ctypes.c_longlong, [first + number] * len(names), lock=False),
            context.Value(ctypes.c_int, -1, lock=False),
            context.Value(ctypes.c_double, 0.0, lock=False),
        )

    def count(self, target: int, outcome: int) -> None:
        self.counts[target * len(OUTCOMES) + outcome] += 1


def main(arguments: Sequence[str]) -> int:
    """Fuzz, print a table, and say by the exit status whether a rule was broken."""
    parser = argparse.ArgumentParser(description="Fuzz the formats.")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="or so many in all")
    parser.add_argument("--format", action="append", choices=sorted(NAMES), dest="names")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    names = options.names or list(NAMES)
    end_s = time.monotonic() + 60 * options.minutes
    context = multiprocessing.get_context("spawn")
    workers = [
        _Worker.of(context, number, options.workers, names, options.first)
        for number in range(options.workers)
    ]
    with tempfile.TemporaryDirectory(prefix="tracekit-fuzz-") as folder:
        processes = {w.number: _started(context, w, names, folder) for w in workers}
        while time.monotonic() < end_s and sum(sum(w.counts) for w in workers) < options.inputs:
            time.sleep(_POLL_SECONDS)
            for worker in workers:
                if _has_ended(processes[worker.number], worker, names):
                    processes[worker.number] = _started(context, worker, names, folder)
        for process in processes.values():
            process.kill()
            process.join()
    return _told(names, workers)


def _started(context: Any, worker: _Worker, names: Sequence[str], folder: str) -> Any:
    worker.began_s.value = 0.0
    process = context.Process(target=_fuzz, args=(worker, names, folder), daemon=True)
    process.start()
    return process


def _has_ended(process: Any, worker: _Worker, names: Sequence[str]) -> bool:
    """Whether the process crashed, or hangs and was ended; either is counted and told."""
    began_s, target = worker.began_s.value, worker.target.value
    hangs = began_s > 0 and time.monotonic() - began_s > _MOST_SECONDS
    if process.is_alive() and not hangs:
        return False
    process.kill()
    process.join()
    if target >= 0:
        worker.count(target, _HUNG if hangs else _CRASHED)
        _keep(names[target], worker.following[target], "hung" if hangs else "crashed", "")
        worker.following[target] += worker.step
    return True


def _fuzz(worker: _Worker, names: Sequence[str], folder: str) -> None:
    """Input after input, each of the format that had the least time so far."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
    mine = Path(folder) / str(worker.number)
    shutil.rmtree(mine, ignore_errors=True)
    fuzzed = targets(names, mine)
    spent_s = [0.0] * len(names)
    parent = multiprocessing.parent_process()
    while parent is None or parent.is_alive():
        place = spent_s.index(min(spent_s))
        target, number = fuzzed[place], worker.following[place]
        worker.target.value = place
        worker.began_s.value = began_s = time.monotonic()
        content = mutated(target.name, number, target.seeds)
        try:
            outcome = _ACCEPTED if target.accepts(number, content) else _REFUSED
        except BaseException:  # noqa: BLE001 - what is looked for
            outcome = _BROKEN
            _keep(target.name, number, "broken", traceback.format_exc(), content)
        worker.began_s.value = 0.0
        worker.count(place, outcome)
        worker.following[place] = number + worker.step
        spent_s[place] += time.monotonic() - began_s


def _keep(name: str, number: int, what: str, why: str, content: bytes | None = None) -> None:
    """Write an input down with what came of it."""
    content = mutated(name, number, seeds_of(name)) if content is None else content
    folder = _FOUND / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / hashlib.sha256(content).hexdigest()[:16]
    file.write_bytes(content)
    file.with_suffix(".txt").write_text(f"{name} {number} {what}\n{why}")
    last = why.strip().splitlines()[-1][:200] if why else ""
    print(inert(f"{name}: input {number} {what}: {file} {last}"), flush=True)


def _told(names: Sequence[str], workers: Sequence[_Worker]) -> int:
    """The table, in Markdown as docs/reliability.md has it."""
    print(f"| format | inputs | {' | '.join(OUTCOMES)} |\n|---|{'--:|' * (len(OUTCOMES) + 1)}")
    total = [0] * len(OUTCOMES)
    for place, name in enumerate(names):
        row = [
            sum(worker.counts[place * len(OUTCOMES) + outcome] for worker in workers)
            for outcome in range(len(OUTCOMES))
        ]
        total = [a + b for a, b in zip(total, row, strict=True)]
        print(f"| {name} | {sum(row):,} | {' | '.join(f'{count:,}' for count in row)} |")
    print(f"| all | {sum(total):,} | {' | '.join(f'{count:,}' for count in total)} |")
    return int(any(total[_BROKEN:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
