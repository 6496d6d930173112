"""From files to a store: find the parser, run it (in parts, side by side), commit."""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import math
import multiprocessing
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from tracekit._version import __version__
from tracekit.attribution import attributed
from tracekit.errors import FormatError, StoreError, StrictError, TracekitError, UsageError
from tracekit.events import rules
from tracekit.logdir import DUMP, Profiles, is_dump, is_profile
from tracekit.parser import Batch, Issue, Parser, PartedParser, PartMismatch, Report
from tracekit.peaks import assumptions
from tracekit.registry import (
    SURE,
    Detection,
    ParserError,
    blamed,
    claims,
    detect,
    head_of,
    parser_named,
    what_it_is,
)
from tracekit.schema import ASSUMPTION, EVENT_RULE, INGEST_ISSUE, SOURCE_FILE, TABLES, batch_of_rows
from tracekit.source import Identity, Source, identify
from tracekit.store import (
    STORE_MARK,
    Commit,
    Ingest,
    Said,
    Store,
    TableWriter,
    create_store,
    run_id_of,
    run_rows,
)

_POLL_SECONDS = 0.1
_WORTH_A_PROCESS_BYTES = 24 << 20
_COMPRESSION_GUESS = 16
_FEW = 4
_MOST_WORKERS = 60  # Windows waits for no more at once


@dataclass(frozen=True, slots=True)
class Options:
    """How to ingest: see `tracekit ingest --help`.

    ``run_name`` groups the files; without one each file is a run of its own. ``labels`` and
    ``metrics`` (figures that no profiler gives, such as images_per_s) are of the run, and a run
    cannot have two values of one of them. ``device_name`` and the files of ``peaks`` say what the
    device is and can do, where the trace does not; those of ``events`` what a processor's events
    count. ``columns`` say what the columns of a table of results are: by name, or of a metric by
    ``name:unit``, label or metric. With ``workers`` above 1 large inputs are read by that many
    processes.
    """

    run_name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    device_name: str | None = None
    peaks: Sequence[Path] = ()
    events: Sequence[Path] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    format_name: str | None = None
    is_strict: bool = False
    replaces: bool = False
    workers: int = 1

    @property
    def said(self) -> Said:
        """What the user says of the run."""
        return Said(self.labels, self.metrics)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source.

    ``rows`` counts the parser's rows by table. ``already_in`` is the run that held the same content
    already: nothing was written then. ``undone_count`` joins went with the ingest it replaces.
    """

    path: Path
    source_id: str
    run_id: str
    format_name: str
    rows: Mapping[str, int]
    issues: Sequence[Issue]
    event_count: int
    is_complete: bool
    already_in: str | None = None
    undone_count: int = 0


class Listener:
    """What an ingest tells while it runs; override what is of interest."""

    def passed_over(self, folder: Path, count: int) -> None:
        """`count` files in `folder` are none that any parser reads."""

    def left_out(self, file: Path, reason: str) -> None:
        """A file in a folder is not read, although its name says that it could be."""

    def progress(self, read: int, expected: int) -> None:
        """`read` bytes of content are read, of about `expected`."""

    def finished(self, outcome: Outcome) -> None:
        """A source is done: committed, or found to be in the store already."""


@dataclass(slots=True)
class _PartResult:
    report: Report
    rows: dict[str, int]


@dataclass(slots=True)
class _Job:
    """One source on its way in; `stamp` is what the file looked like before it was read.

    `profile` is the folder of the profiler's run that it belongs to, with other hosts' files.
    """

    number: int
    source: Source
    detection: Detection
    stamp: tuple[int, int]
    parts: Sequence[Any] = ()
    results: list[_PartResult] = field(default_factory=list)
    identity: Identity | None = None
    profile: Path | None = None
    of_profile: Sequence[_Job] = ()
    assumed: Mapping[str, pa.RecordBatch] = field(default_factory=dict)

    def known_identity(self) -> Identity:
        """The hash of the content, worked out once."""
        if self.identity is None:
            with blamed(self.detection.parser, self.source.path):
                self.identity = identify(self.source)
        return self.identity


def ingest(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    store: str | os.PathLike[str],
    options: Options | None = None,
    listener: Listener | None = None,
) -> list[Outcome]:
    """Bring files (or folders of files) into the store, each wholly or not at all.

    A file that is missing or of no known format stops everything before any is read. What goes
    wrong later, with the content of one file, stops the ingest there: files that came in before
    it stay (`listener` was told of each). Raises FormatError, StoreError, UsageError.
    """
    options, listener = _checked(options or Options()), listener or Listener()
    assumed = _assumed(options)
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    jobs = _jobs(given, options.format_name, listener)
    _refuse_mixed(jobs, options)
    for job in jobs:
        job.assumed = assumed
    home = create_store(store)
    replacing = _refuse_others(home, jobs, options)
    outcomes: list[Outcome] = []
    with (
        home.begin(replacing) as under_way,
        contextlib.closing(_run(jobs, under_way, options, listener)) as finished,
    ):
        scratch = under_way.scratch
        for job in jobs:
            job.source = replace(job.source, scratch=scratch, columns=options.columns)
        for outcome in finished:
            listener.finished(outcome)
            outcomes.append(outcome)
    return outcomes


def _refuse_mixed(jobs: list[_Job], options: Options) -> None:
    """A run is one profile: two of them are two runs."""
    profiles = sorted({job.profile for job in jobs if job.profile is not None})
    if options.run_name is not None and len(profiles) > 1:
        folders = ", ".join(str(profile) for profile in profiles[:_FEW])
        raise UsageError(
            f"--run {options.run_name}: there are {len(profiles)} profiles, each a run of its own: "
            f"{folders}; name the folder of one of them, or leave --run out"
        )


def _assumed(options: Options) -> dict[str, pa.RecordBatch]:
    """The rows of what the user says of the device and its events."""
    said = assumptions(options.device_name, [Path(path) for path in options.peaks])
    events = rules([Path(path) for path in options.events])
    return {
        ASSUMPTION.name: batch_of_rows(ASSUMPTION, said),
        EVENT_RULE.name: batch_of_rows(EVENT_RULE, events),
    }


def _checked(options: Options) -> Options:
    """The options with texts that can be stored; raises UsageError where they make no sense."""
    if options.run_name is not None and not options.run_name.strip():
        raise UsageError("the name of the run is empty; leave --run out, or give it a name")
    if not all(str(name).strip() for name in options.labels):
        raise UsageError("a label has no name; write it as NAME=VALUE, e.g. --label batch=32")
    _refuse_odd_metrics(options.metrics)
    if options.workers < 1:
        raise UsageError(f"--workers {options.workers}: it takes at least one")
    if options.format_name is not None:
        parser_named(options.format_name)
    return replace(
        options,
        run_name=None if options.run_name is None else _storable(options.run_name),
        labels={_storable(str(k)): _storable(str(v)) for k, v in options.labels.items()},
        metrics={_storable(k): float(v) for k, v in options.metrics.items()},
    )


def _refuse_odd_metrics(metrics: Mapping[str, float]) -> None:
    for name, value in metrics.items():
        if not name.strip():
            raise UsageError(
                "a metric has no name; write it as NAME=NUMBER, e.g. --metric images_per_s=8.2"
            )
        if not math.isfinite(value):
            raise UsageError(f"--metric {name}={value}: is no number; leave it out if unknown")


def _storable(text: str) -> str:
    """Text without the surrogates that stand for bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def _refuse_others(home: Store, jobs: list[_Job], options: Options) -> set[str]:
    """Before anything is read: a run cannot have two values of one label or metric.

    Returns the sources that are going to be replaced, as far as that had to be found out.
    """
    if options.run_name is None or not options.said:
        return set()
    replacing = {job.known_identity().source_id for job in jobs} if options.replaces else set()
    home.refuse_others(run_id_of(options.run_name), options.said, replacing)
    return replacing


# -- finding the files ----------------------------------------------------------------------------


def _jobs(
    paths: Iterable[str | os.PathLike[str]], format_name: str | None, listener: Listener
) -> list[_Job]:
    seen: set[Path] = set()
    jobs: list[_Job] = []
    for path in map(_named, paths):
        is_folder = stat.S_ISDIR(_status(path).st_mode)
        files = _files_below(path, format_name, listener) if is_folder else [path]
        profiles = Profiles.of(files if is_folder else ())
        for file in files:
            if file.resolve() not in seen and file not in profiles.made_of_dumps:
                seen.add(file.resolve())
                source = source_at(file)
                job = _Job(len(jobs), source, detect(source, format_name), _stamp(file))
                job.profile = profiles.run_of(file)
                jobs.append(job)
        _tell_derived(profiles, listener)
    profiled: dict[Path, list[_Job]] = {}
    for job in jobs:
        if job.profile is not None:
            job.of_profile = profiled.setdefault(job.profile, [])
            profiled[job.profile].append(job)
    return jobs


def _tell_derived(profiles: Profiles, listener: Listener) -> None:
    for file in sorted(profiles.made_of_dumps):
        listener.left_out(file, f"was made of the dump beside it (*{DUMP}), which is read")


def _named(path: str | os.PathLike[str]) -> Path:
    """The path; an empty one would be the current folder, which nobody asked for."""
    if not os.fspath(path):
        raise UsageError("the name of a file is empty; name a file or a folder")
    return Path(path)


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read: {error.strerror or error}; check the name and the rights"
        ) from error


def _stamp(path: Path) -> tuple[int, int]:
    status = _status(path)
    return status.st_size, status.st_mtime_ns


def source_at(path: Path) -> Source:
    """The source at `path`; raises FormatError for what is no regular file: it is read twice."""
    mode = _status(path).st_mode
    if stat.S_ISDIR(mode):
        raise FormatError(f"{path}: is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise FormatError(
            f"{path}: is a pipe or a device, and a trace has to be read twice; "
            "write it to a file and name that"
        )
    return Source.at(path)


def _files_below(folder: Path, format_name: str | None, listener: Listener) -> list[Path]:
    """The files in a folder that some parser claims; others are passed over."""
    found, passed = [], 0
    for file in _walked(folder):
        claimed_by = {parser.name for parser, match in claims(head_of(source_at(file)))
                      if match.certainty >= SURE or parser.name == format_name}  # fmt: skip
        if claimed_by and format_name in (None, *claimed_by):
            found.append(file)
        elif format_name is None and is_dump(file) and is_profile(file.resolve().parent):
            listener.left_out(file, what_it_is(source_at(file)))
        else:
            passed += 1
    if not found:
        raise FormatError(
            f"{folder}: no trace in this folder (files looked at: {passed}, none of a known "
            "format); `tracekit formats --explain FILE` says why for one of them"
        )
    if passed:
        listener.passed_over(folder, passed)
    return found


def _walked(folder: Path) -> Iterator[Path]:
    """The regular files in a folder and those below it, in order; not those of stores."""

    def refuse(error: OSError) -> NoReturn:
        raise FormatError(
            f"{error.filename}: cannot be read: {error.strerror}; give read access, or name the "
            "files one by one"
        ) from error

    for here, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        if STORE_MARK in names:
            folders.clear()
            continue
        for file in (Path(here, name) for name in sorted(names)):
            try:
                is_file = file.is_file()
            except OSError as error:
                refuse(error)
            else:
                if is_file:
                    yield file


def _content_guess(source: Source) -> int:
    return source.size_bytes * (1 if source.is_seekable else _COMPRESSION_GUESS)


# -- running the parsers --------------------------------------------------------------------------


def _run(
    jobs: list[_Job], under_way: Ingest, options: Options, listener: Listener
) -> Generator[Outcome]:
    expected = sum(_content_guess(job.source) for job in jobs)
    if options.workers > 1 and expected >= _WORTH_A_PROCESS_BYTES:
        yield from _run_side_by_side(jobs, under_way, options, listener)
        return
    done = 0

    def tell(read: int) -> None:
        listener.progress(done + read, expected)

    for job in jobs:
        report = Report()
        with _watched(report, tell):
            outcome = _alone(job, under_way, options, report)
        done += report.read_bytes
        yield outcome


@contextlib.contextmanager
def _watched(report: Report, on_read: Callable[[int], None]) -> Iterator[None]:
    report.on_read = on_read
    yield
    report.on_read = None


def _alone(job: _Job, under_way: Ingest, options: Options, report: Report) -> Outcome:
    if known := _known(job, under_way.store, options):
        return known
    job.results = [_parse_whole(job, under_way, report)]
    return _commit(job, under_way, options)


def _parse_whole(job: _Job, under_way: Ingest, report: Report) -> _PartResult:
    parser = job.detection.parser
    rows = _rows(parser, job.source, lambda: parser.parse(job.source, report))
    return _write_rows(rows, under_way.source_folder(job.number), "1", report)


def _rows(parser: Parser, source: Source, parse: Callable[[], Iterator[Batch]]) -> Iterator[Batch]:
    """What a parser gives, held to the schema."""
    with blamed(parser, source.path):
        for table, batch in parse():
            if table not in TABLES or batch.schema != TABLES[table].schema:
                raise ParserError(
                    f"{source.path}: the parser {parser.name!r} gives rows of {table!r} that are "
                    "not as tracekit.schema has them. This is a bug in it: please report it"
                )
            yield table, batch


def _write_rows(batches: Iterable[Any], folder: Path, prefix: str, report: Report) -> _PartResult:
    """Run a parser into Parquet files; the rows written by table."""
    writer = TableWriter(folder, prefix)
    rows: dict[str, int] = {}
    was_enabled = gc.isenabled()
    gc.disable()  # structs and tuples by the million, none of them cyclic
    try:
        for table, batch in batches:
            writer.write(table, batch)
            rows[table] = rows.get(table, 0) + batch.num_rows
        writer.close()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{folder.parent.parent.parent}: cannot be written: {error}; nothing was changed. "
            "Make room or give write access, or name another --store"
        ) from error
    finally:
        if was_enabled:
            gc.enable()
    return _PartResult(report, rows)


def _run_side_by_side(
    jobs: list[_Job], under_way: Ingest, options: Options, listener: Listener
) -> Iterator[Outcome]:
    expected = sum(_content_guess(job.source) for job in jobs)
    for job in jobs:
        job.parts = _parts(job, options.workers)
    # All of them start at once, wanted or not.
    workers = min(options.workers, sum(len(job.parts) for job in jobs), _MOST_WORKERS)
    context = multiprocessing.get_context("spawn")
    with _interrupts_held():
        counter = context.Value("q", 0)
        pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=(counter,)
        )
    try:
        with _interrupts_held():
            futures = _submit(pool, jobs, under_way)
        for job in jobs:
            if known := _known(job, under_way.store, options):
                for future in [f for f, owner in futures.items() if owner is job]:
                    future.cancel()
                yield known
                continue
            with _deaths_told(job):
                _await(job, futures, lambda: listener.progress(counter.value, expected))
                outcome = _joined(job, futures, under_way, options)
            yield outcome
    finally:
        _stop(pool)


@contextlib.contextmanager
def _deaths_told(job: _Job) -> Iterator[None]:
    """Say which file was waited for when a worker died."""
    try:
        yield
    except BrokenProcessPool as error:
        raise TracekitError(
            f"{job.source.path}: a worker process died while it was read (killed, or out of "
            "memory); nothing of it was kept. Try again with --workers 1"
        ) from error


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back for a moment: a process started now would die of it with a traceback.

    Blocked, as processes inherit that; and noted, as the signal may come by another thread.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    noted: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    defers = handler is not None and threading.current_thread() is threading.main_thread()
    if defers:
        signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if defers:
            signal.signal(signal.SIGINT, handler)
        if noted:
            signal.raise_signal(signal.SIGINT)


def _submit(
    pool: ProcessPoolExecutor, jobs: list[_Job], under_way: Ingest
) -> dict[Future[_PartResult], _Job]:
    futures = {}
    for job in jobs:
        with _deaths_told(job):
            for number, part in enumerate(job.parts):
                future = pool.submit(
                    _parse_in_worker, job.detection.parser.name, job.source, part, number,
                    under_way.source_folder(job.number),
                )  # fmt: skip
                futures[future] = job
    return futures


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the workers at once: whatever they still do is not wanted."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


def _parts(job: _Job, count: int) -> Sequence[Any]:
    """The parts of a source; a single None stands for the whole."""
    parser = job.detection.parser
    if not isinstance(parser, PartedParser):
        return (None,)
    with blamed(parser, job.source.path):
        parts = parser.split(job.source, count)
    return parts if len(parts) > 1 else (None,)


def _await(
    job: _Job, futures: Mapping[Future[_PartResult], _Job], on_wait: Callable[[], None]
) -> None:
    pending = {future for future, owner in futures.items() if owner is job}
    while pending:
        _, pending = wait(pending, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        on_wait()


def _joined(
    job: _Job, futures: Mapping[Future[_PartResult], _Job], under_way: Ingest, options: Options
) -> Outcome:
    """The parts of one source put together and committed."""
    mine = [future for future, owner in futures.items() if owner is job]
    if any(isinstance(future.exception(), PartMismatch) for future in mine):
        folder = under_way.source_folder(job.number)
        for file in folder.glob("*/*.parquet"):
            file.unlink()
        job.results = [_parse_whole(job, under_way, Report())]
        return _commit(job, under_way, options)
    results = [future.result() for future in mine]
    if job.parts[0] is None:
        job.results = results
        return _commit(job, under_way, options)
    parser = job.detection.parser
    assert isinstance(parser, PartedParser)
    report = Report()
    parts = [result.report for result in results]
    rows = _rows(parser, job.source, lambda: parser.finish(job.source, parts, report))
    last = _write_rows(rows, under_way.source_folder(job.number), "z", report)
    job.results = [*(_PartResult(Report(), result.rows) for result in results), last]
    return _commit(job, under_way, options)


_read_counter: Any = None


def _start_worker(counter: Any) -> None:
    """Set a worker up, and let it end when its parent does, however that ends."""
    _begin_worker(counter)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)  # no clean-up: the next ingest clears what is left

    threading.Thread(target=follow, daemon=True).start()


def _begin_worker(counter: Any) -> None:
    """In a worker: count what is read for all, and leave Ctrl-C to the parent."""
    global _read_counter  # noqa: PLW0603 - how a pool hands its workers shared memory
    _read_counter = counter
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_memory_pool(pa.system_memory_pool())  # gives memory back, unlike the default
    keep_pandas_out()


class _NoPandas(importlib.abc.MetaPathFinder):
    """Refuses to import pandas."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname == "pandas":
            raise ImportError


def keep_pandas_out() -> None:
    """Let pyarrow find that there is no pandas: it imports it only to recognise its objects.

    That would cost each process 40 MB and 0.3 s. A parser that needs pandas can import it after.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    pa.array([0])  # the one time that pyarrow tries
    sys.meta_path.remove(finder)


def _parse_in_worker(
    parser_name: str, source: Source, part: Any, number: int, folder: Path
) -> _PartResult:
    report = Report()
    last = 0

    def count(read: int) -> None:
        nonlocal last
        with _read_counter.get_lock():
            _read_counter.value += read - last
        last = read

    parser = parser_named(parser_name)
    with _watched(report, count):
        if part is None:
            rows = _rows(parser, source, lambda: parser.parse(source, report))
            return _write_rows(rows, folder, "1", report)
        assert isinstance(parser, PartedParser)
        rows = _rows(parser, source, lambda: parser.parse_part(source, part, report))
        return _write_rows(rows, folder, str(number + 1), report)


# -- committing -----------------------------------------------------------------------------------


def _known(job: _Job, store: Store, options: Options) -> Outcome | None:
    known = store.commit_of(job.known_identity().source_id)
    if known is None or options.replaces:
        return None
    return _outcome(job, known.run_id, Report(), {}, known.run_id)


def _outcome(
    job: _Job, run_id: str, report: Report, rows: Mapping[str, int], already_in: str | None
) -> Outcome:
    return Outcome(
        job.source.path, job.known_identity().source_id, run_id, job.detection.parser.name, rows,
        tuple(report.issues.values()), report.event_count,
        bool(report.facts.get("is_complete", True)), already_in,
    )  # fmt: skip


def _commit(job: _Job, under_way: Ingest, options: Options) -> Outcome:
    identity = job.known_identity()
    report, rows = job.results[-1].report, _total(result.rows for result in job.results)
    if options.is_strict:
        _refuse_damage(job.source, report)
    if _stamp(job.source.path) != job.stamp:
        raise FormatError(
            f"{job.source.path}: the file changed while it was read; nothing of it was kept. "
            "Ingest it again when it is complete"
        )
    if report.facts.get("recording_kind") in (None, "timeline"):
        folder = under_way.source_folder(job.number)
        _write_rows(attributed(folder), folder, "0", report)
    run_id, name = _run_of(job, options, under_way.store)
    commit = Commit(run_id, identity.source_id, under_way.ingest_id)
    _write_issues(report, under_way.source_folder(job.number))
    now, undone = time.time_ns(), len(under_way.undone)
    with blamed(job.detection.parser, job.source.path):
        source_row = batch_of_rows(SOURCE_FILE, [_source_row(job, report, commit, now)])
    known = under_way.commit(
        job.number, commit,
        {**run_rows(name, options.said, now), **job.assumed, SOURCE_FILE.name: source_row},
        said=options.said, replaces=options.replaces,
    )  # fmt: skip
    if known is not None:
        return _outcome(job, known.run_id, Report(), {}, known.run_id)
    outcome = _outcome(job, run_id, report, rows, None)
    return replace(outcome, undone_count=len(under_way.undone) - undone)


def _run_of(job: _Job, options: Options, store: Store) -> tuple[str, str]:
    """Id and name of the run that a source belongs to.

    Without a name it is a run of its own, but for hosts of one profile: those are a run together,
    whose id comes from what is in their files, as any; or that of a host which is in already.
    """
    if options.run_name:
        return run_id_of(options.run_name), options.run_name
    if job.profile is None:
        return "r" + job.known_identity().source_id[1:], _storable(_stem(job.source.path))
    hosts = sorted(other.known_identity().source_id for other in job.of_profile)
    known = next(filter(None, map(store.commit_of, hosts)), None)
    if known is not None:
        return known.run_id, _storable(job.profile.name)
    digest = sha256(" ".join(hosts).encode()).hexdigest()
    return f"r{digest[:15]}", _storable(job.profile.name)


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for count in counts:
        for table, rows in count.items():
            total[table] = total.get(table, 0) + rows
    return total


def _refuse_damage(source: Source, report: Report) -> None:
    damage = [issue for issue in report.issues.values() if issue.code in _DAMAGE_CODES
              or issue.severity_kind == "error"]  # fmt: skip
    if damage:
        what = "; ".join(_in_words(issue) for issue in damage)
        raise StrictError(
            f"{source.path}: the file is damaged and --strict was asked for: {what}. "
            "Without --strict everything readable is kept"
        )


_DAMAGE_CODES = frozenset(("repaired_event", "concatenated_traces"))


def _in_words(issue: Issue) -> str:
    place = ""
    if issue.first_offset_bytes is not None:
        place = f" (from byte {issue.first_offset_bytes:,})"
    return f"{issue.message}: {issue.occurrence_count:,}{place}"


def _write_issues(report: Report, folder: Path) -> None:
    fields = [column.name for column in INGEST_ISSUE.columns]
    rows = [{name: getattr(issue, name) for name in fields} for issue in report.issues.values()]
    if rows:
        _write_rows([(INGEST_ISSUE.name, batch_of_rows(INGEST_ISSUE, rows))], folder, "0", report)


def _source_row(job: _Job, report: Report, commit: Commit, now_ns: int) -> dict[str, Any]:
    identity = job.known_identity()
    return {
        "ingest_id": commit.ingest_id,
        "file_name": _storable(job.source.path.name),
        "size_bytes": job.source.size_bytes,
        "content_bytes": identity.content_bytes,
        "content_sha256": identity.content_sha256,
        "compression_kind": job.source.compression_kind,
        "format_name": job.detection.parser.name,
        "event_count": report.event_count,
        "skipped_event_count": report.skipped_event_count,
        "ingested_at_ns": now_ns,
        "tracekit_version": __version__,
        **report.facts,
    }


def _stem(path: Path) -> str:
    """The file's name without the suffixes that say its type."""
    name = path.name
    for suffix in (".gz", ".zst", ".tmp", ".json", ".pb", ".xplane", ".trace", ".pt"):
        name = name.removesuffix(suffix)
    return name or path.name
