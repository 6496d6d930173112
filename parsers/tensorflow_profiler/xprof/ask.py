"""Asks xprof about a dump, in a separate process with a time limit, without leaving files.

xprof is a native library that writes files next to the dump, floods standard error, and aborts the
process if a dump is not as expected. None of that affects us or the user's folder: it works on a
link to the dump (a copy, if it is compressed) in a temporary folder that is always removed. It is
not imported here.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from tracekit.parsers.tensorflow_profiler.xprof.answer import Answer, Refusal
from tracekit.parsers.tensorflow_profiler.xprof.child import NOT_INSTALLED, NOTHING
from tracekit.source import Source
from tracekit.typed import decode_json

#: Asks xprof about a dump, and returns a function that waits for the answer.
Asking = Callable[[Source], AbstractContextManager[Callable[[], Answer | Refusal]]]

_CHILD = Path(__file__).with_name("child.py")
# Where xprof looks for a dump, below our folder.
_DUMP, _ANSWER, _LOG = "plugins/profile/run/host.xplane.pb", "answer.json", "log"
# 10^6 events (27 to 87 MB) take 4 s on one core of 2026.
_LIMIT_S, _BYTES_PER_S = 60, 1_000_000
_LAST_BYTES = 8192
# Lines of the library's log: F0000 00:00:1795339731.959058   29489 impl.cc:119] Check failed …
# and, of older ones: 2026-11-22 09:44:14.196044: F impl.cc:90] Check failed …
_LOGGED = re.compile(r"(?:[-\d]+ [:.\d]+: )?([FEWI])(?:\d{4})? [^]]*\] (.*)")


@contextmanager
def asking(source: Source, limit_s: int | None = None) -> Iterator[Callable[[], Answer | Refusal]]:
    """Ask xprof about the dump in `source`; the block gets a function that waits for the answer.

    Takes at most `limit_s` (by default a minute, plus a second per MB). The end of the block ends
    xprof, too. Nothing is written outside the folder for temporary files, and nothing is read from
    the network.
    """
    if find_spec("xprof") is None:
        yield lambda: Refusal("tensorboard-plugin-profile is not installed")
        return
    with ExitStack() as kept:
        try:
            temporary = TemporaryDirectory(
                prefix="tracekit-xprof-", dir=source.scratch, ignore_cleanup_errors=True
            )
            folder = Path(kept.enter_context(temporary)).absolute()  # xprof runs in it
            dump = _laid_out(source, folder)
            seconds = limit_s or _LIMIT_S + dump.stat().st_size // _BYTES_PER_S
            process = _started(dump, folder, seconds)
        except OSError as error:
            reason = f"xprof could not be started: {error.strerror or error}"
            yield lambda: Refusal(reason)
        else:
            kept.callback(_end, process)
            yield lambda: _answer(process, folder, seconds)


def _laid_out(source: Source, folder: Path) -> Path:
    """Put the dump where xprof looks for it: a link if possible, otherwise a copy."""
    place = folder / _DUMP
    place.parent.mkdir(parents=True)
    if source.is_seekable:
        with suppress(OSError):  # Windows restricts links
            place.symlink_to(source.place.resolve())
            return place
    with source.open() as content, place.open("wb") as copy:
        copy.writelines(content.pieces())
    return place


def _started(dump: Path, folder: Path, limit_s: int) -> subprocess.Popen[bytes]:
    # -I ignores the working folder and the user's variables; we pass the path of packages.
    command = [sys.executable, "-I", str(_CHILD), str(dump), str(folder / _ANSWER), str(limit_s)]
    packages = folder / "packages.json"
    packages.write_text(json.dumps(sys.path), "utf-8")
    with packages.open("rb") as said, (folder / _LOG).open("wb") as errors:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(),
            stdin=said,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )


def _answer(process: subprocess.Popen[bytes], folder: Path, limit_s: int) -> Answer | Refusal:
    """Wait for the answer."""
    try:
        status = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return _too_long(limit_s)
    if hasattr(signal, "SIGALRM") and status == -signal.SIGALRM:
        return _too_long(limit_s)
    if status:
        return _refused(_failure(status, folder / _LOG), folder)
    try:
        return decode_json((folder / _ANSWER).read_bytes(), Answer)
    except (OSError, msgspec.MsgspecError) as error:
        return _refused(f"xprof gave an unexpected answer: {error}", folder)


def _refused(reason: str, folder: Path) -> Refusal:
    """Return a refusal whose message does not name our temporary folder."""
    return Refusal(reason.replace(str(folder / _DUMP), "it").replace(str(folder), ""))


def _too_long(limit_s: int) -> Refusal:
    return Refusal(f"xprof took longer than {limit_s} s")


def _environment() -> dict[str, str]:
    """Return the user's variables, with a lower log level for the library."""
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children, unless it has ended successfully."""
    if process.poll() == 0:
        return
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # macOS: the process has ended
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _failure(status: int, log: Path) -> str:
    last = _last_line(log)
    if status == NOT_INSTALLED:
        return f"tensorboard-plugin-profile cannot be loaded: {last}"
    if status == NOTHING:
        return f"xprof returned nothing for the dump: {last}"
    if status < 0:
        with suppress(ValueError):
            return f"xprof crashed ({signal.Signals(-status).name}): {last}"
    return f"xprof failed (exit status {status}): {last}"


def _last_line(log: Path) -> str:
    """Return why it failed: the last fatal line of the library's log, of Python, or an error."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    said = dict[str, str]()
    for line in filter(None, map(str.strip, lines)):
        logged = _LOGGED.match(line)
        level, text = logged.groups() if logged else ("" if "absl::" not in line else "I", line)
        said[level] = " ".join(text.split())[:300]
    return said.get("F") or said.get("") or said.get("E") or "no reason given"
