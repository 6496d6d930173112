"""What reads whole sources: processes or threads here, or an engine that runs on many machines.

An executor is anything with the method `submit` of `concurrent.futures`. Nothing here schedules.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from tracekit.errors import TracekitError, UsageError


@runtime_checkable
class Executor(Protocol):
    """What runs functions elsewhere, such as an executor of `concurrent.futures`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """Run it; returns a future with `result`, `cancel` and `add_done_callback`."""
        ...


class Engine:
    """An executor that is open; when it breaks, it is opened again."""

    def __init__(self, executor: str | Executor, workers: int) -> None:
        """Open the executor of this name, or use the one given."""
        self._executor, self._workers = executor, workers
        self._kept = contextlib.ExitStack()
        self._open: Executor | None = None
        #: How often it was opened again.
        self.renewals = 0

    def __enter__(self) -> Engine:
        """Open it."""
        self._open = self._kept.enter_context(self._opened())
        return self

    def __exit__(self, *_: object) -> None:
        """End its workers, unless it was given."""
        self._kept.close()

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """Run it; on a new executor, if the last one broke."""
        from tracekit.intake.processes import interrupts_held

        assert self._open is not None
        with interrupts_held():
            try:
                with contextlib.suppress(BrokenExecutor):
                    return self._open.submit(function, *arguments)
                self._renew()
                return self._open.submit(function, *arguments)
            except (RuntimeError, OSError) as error:
                raise TracekitError(
                    f"the executor takes no more work: {error}; what came in before stays"
                ) from error

    @property
    def broken_count(self) -> int:
        """How many executors have broken: they may have forgotten what they were given last."""
        # `_broken` is of those of `concurrent.futures`.
        return self.renewals + bool(getattr(self._open, "_broken", False))

    def _renew(self) -> None:
        self.renewals += 1
        self._kept.close()
        if not isinstance(self._executor, str):  # whoever gave it can't give another
            self._executor = "process"
        self._open = self._kept.enter_context(self._opened())

    def _opened(self) -> AbstractContextManager[Executor]:
        if isinstance(self._executor, str):
            return _OPENERS[self._executor](self._workers)
        return contextlib.nullcontext(self._executor)


def refuse_odd_executor(executor: object) -> None:
    """Raise UsageError for what is neither a known name nor an executor."""
    known = isinstance(executor, str) and executor in _OPENERS
    if not known and (isinstance(executor, str) or not isinstance(executor, Executor)):
        raise UsageError(
            f"--executor: invalid value {executor!r}; use one of: {', '.join(_OPENERS)}; or in "
            "Python, an object with the method submit of concurrent.futures"
        )


@contextlib.contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    from tracekit.intake.processes import spawned, terminate

    pool = spawned(workers)
    try:
        yield pool
    finally:
        terminate(pool)


@contextlib.contextmanager
def _threads(workers: int) -> Iterator[Executor]:
    from tracekit.intake.threads import keep_large_blocks_apart

    memory = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())  # gives memory back, unlike the default
    keep_large_blocks_apart()
    pool = ThreadPoolExecutor(workers, "tracekit-read")
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        pa.set_memory_pool(memory)


@contextlib.contextmanager
def _dask(_: int) -> Iterator[Executor]:
    """Dask, where its own configuration says; without a scheduler, it starts workers here."""
    from tracekit.intake.processes import interrupts_held

    dask, distributed = _library("dask", "dask"), _library("dask", "distributed")
    with contextlib.ExitStack() as kept:
        with _failure_told("dask"), interrupts_held():
            file = dask.config.get("scheduler-file", None)
            is_elsewhere = file or dask.config.get("scheduler-address", None)
            # The page of a cluster of ours is at any free port: another may have the usual one.
            own = {} if is_elsewhere else {"dashboard_address": ":0"}
            client = kept.enter_context(distributed.Client(scheduler_file=file, **own))
        yield client.get_executor(pure=False)


class _Ray:
    """Ray as an executor; who retries is the ingest."""

    def __init__(self, ray: Any) -> None:
        self._remote = cache(ray.remote(max_retries=0))  # Ray sends each to its workers once

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        return self._remote(function).remote(*arguments).future()


@contextlib.contextmanager
def _ray(_: int) -> Iterator[Executor]:
    """Ray, where its own configuration says; without an address, it starts workers here."""
    from tracekit.intake.processes import interrupts_held

    ray = _library("ray", "ray")
    with contextlib.ExitStack() as kept:
        if not ray.is_initialized():
            with _failure_told("ray"), interrupts_held():
                kept.callback(ray.shutdown)
                ray.init()
        yield _Ray(ray)


@contextlib.contextmanager
def _mpi(_: int) -> Iterator[Executor]:
    """The processes that mpiexec started, or those that MPI starts itself."""
    with _library("mpi", "mpi4py.futures").MPIPoolExecutor() as pool:
        yield pool


_OPENERS: dict[str, Callable[[int], AbstractContextManager[Executor]]] = {
    "process": _processes,
    "thread": _threads,
    "dask": _dask,
    "ray": _ray,
    "mpi": _mpi,
}
#: The executors that have names.
NAMES = tuple(_OPENERS)


def _library(name: str, module: str) -> Any:
    """The module of an executor; raises UsageError with what to install if it is missing."""
    try:
        return importlib.import_module(module)
    except (ImportError, RuntimeError) as error:  # of mpi4py, without an MPI
        raise UsageError(
            f"--executor {name}: {module.split('.')[0]} cannot be loaded ({error}); install it "
            f'with `pip install "tracekit[{name}]"`'
        ) from error


@contextlib.contextmanager
def _failure_told(name: str) -> Iterator[None]:
    """Raise TracekitError if the engine cannot be reached or started."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise TracekitError(
            f"--executor {name}: cannot be reached or started: {error}; look at the configuration "
            f"of {name.capitalize()}, or use --executor process"
        ) from error
