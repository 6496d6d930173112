"""The origin of each work: launch, operator, context and step, or the reason if unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.attribution import reasons
from tracekit.attribution.captures import Capture, Replays, replays_of
from tracekit.attribution.columns import (
    NONE,
    Codes,
    Flags,
    IntColumn,
    Ints,
    Texts,
    are_among,
    at,
    ids_in,
    in_parts,
    places_where,
    used_of,
)
from tracekit.attribution.contexts import Symbol, Tree
from tracekit.attribution.forms import CALL, OP
from tracekit.attribution.host import Host
from tracekit.attribution.launches import LaunchRows, found_by, launches, of_rank
from tracekit.attribution.names import type_of
from tracekit.attribution.packing import Packed, packed, repacked
from tracekit.attribution.scopes import Scope, scopes
from tracekit.attribution.steps import RecordedSteps
from tracekit.attribution.tracks import Tracks
from tracekit.attribution.work import DeviceWork

#: External ids are used if at least this share of them refers to the operator around the launch.
_SURE_RATIO = 0.99


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of work, one array per column; texts are codes, -1 is none.

    ``launch``, ``capture`` (the call that a graph launch replays) and ``op`` are places in the
    host's slices, ``context`` in the tree.
    """

    launch: Codes
    capture: Codes
    op: Codes
    op_name: Codes
    context: Codes
    step: Packed
    launch_reason: Codes
    op_reason: Codes
    module_reason: Codes
    phase_reason: Codes


def origins_of(
    work: DeviceWork,
    host: Host,
    steps: RecordedSteps,
    captures: Sequence[Capture],
    texts: Texts,
    tracks: Tracks,
) -> Origins:
    """Find the origin of each work; operators that the profiler names become contexts."""
    launch, launch_reason = _launches(work, host, texts, tracks)
    replays = replays_of(captures, work, host, launch, texts)
    op = at(host.op, np.where(replays.call >= 0, replays.call, launch)).astype(np.int32)
    by_id = _ops_by_id(work, host, op, (op < 0) & (replays.call < 0), tracks)
    scoped = _scoped(work, host.tree, texts)
    missing = _missing(host.tree, texts)
    columns: list[dict[str, Codes]] = []
    step: list[Packed] = []
    for part in in_parts(len(work)):
        found = _Found(launch[part], launch_reason[part], replays.part(part), by_id[part])
        columns.append(_columns(work, host, found, scoped, missing, part))
        step.append(packed(_steps(work, host, steps, found.launch, columns[-1]["op"], part)))
    every = {
        name: np.concatenate([np.zeros(0, np.int32), *(column.pop(name) for column in columns)])
        for name in ("op", "op_name", "context", "op_reason", "module_reason", "phase_reason")
    }
    return Origins(
        launch=launch,
        launch_reason=launch_reason,
        capture=replays.call,
        step=repacked(step),
        **every,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What is found of some works by ids, one array per column."""

    launch: Codes
    launch_reason: Codes
    replays: Replays
    op_by_id: Codes


@dataclass(frozen=True, slots=True)
class _Missing:
    """The codes of reasons: for no operator, for nothing around, and those of each context."""

    op: int
    around: int
    module: Codes
    phase: Codes


def _missing(tree: Tree, texts: Texts) -> _Missing:
    nothing = reasons.TOO_MANY if tree.is_full else reasons.NOTHING_AROUND
    return _Missing(texts.code(reasons.NO_OPERATOR), texts.code(nothing), *_reasons(tree, texts))


def _columns(
    work: DeviceWork, host: Host, found: _Found, scoped: Codes, missing: _Missing, part: slice
) -> dict[str, Codes]:
    """The columns of `Origins` for some works; `scoped` is the context of each operator's name."""
    launch, by_id, replays = found.launch, found.op_by_id, found.replays
    is_replay, said = replays.call >= 0, work.op_name[part]
    op = at(host.op, np.where(is_replay, replays.call, launch))
    op = np.where(op < 0, by_id, op)
    context = np.where(is_replay, replays.context, at(host.context, launch))
    context = np.where(by_id < 0, context, at(host.context, by_id))
    context = np.where(said > 0, scoped[said], context)
    op_name = np.where(said > 0, said, host.slices.names(op))
    no_op = np.where(replays.reason > 0, replays.reason, missing.op)
    no_op = np.where(launch < 0, found.launch_reason, no_op)
    around = np.where(launch < 0, found.launch_reason, missing.around)
    columns = {
        "op": op,
        "op_name": op_name,
        "context": context,
        "op_reason": np.where(op_name > 0, 0, no_op),
        "module_reason": np.where(context < 0, around, missing.module[context]),
        "phase_reason": np.where(context < 0, around, missing.phase[context]),
    }
    return {name: column.astype(np.int32) for name, column in columns.items()}


def _has_id(ids: Ints) -> Flags:
    return np.asarray((ids != NONE) & (ids != 0))


def _launches(work: DeviceWork, host: Host, texts: Texts, tracks: Tracks) -> tuple[Codes, Codes]:
    """The call that launched each work, and the reason for none."""
    calls = host.slices.of_kind(CALL)
    launch = np.full(len(work), -1, np.int32)
    has_start, has_id = work.start_ns != NONE, _has_id(work.correlation_id)
    asks = np.flatnonzero(has_start & has_id)
    is_mixed = np.zeros(len(work), bool)
    found, is_mixed[asks] = launches(
        _rows_of_work(work, work.correlation_id, asks, tracks),
        _rows_of_host(host, host.slices.correlation_id, calls, tracks),
    )
    launch[asks] = np.append(calls, -1)[found]
    reason = np.select(
        [launch >= 0, ~has_start, ~has_id, is_mixed],
        [0, *map(texts.code, (reasons.NO_START, reasons.NO_CORRELATION, reasons.MANY_LAUNCHES))],
        texts.code(reasons.NO_LAUNCH),
    )
    return launch, reason.astype(np.int32)


def _ops_by_id(work: DeviceWork, host: Host, op: Ints, is_asked: Flags, tracks: Tracks) -> Ints:
    """The operator with the external id of each work that asks; -1 everywhere if ids are wrong.

    If there are arrows from operators to work, they decide.

    Some versions of torch number operators differently from the work that they start: comparison
    with `op`, the operators around launches, shows it. If the file has no launches, work cannot
    start before its operator.
    """
    by_id = np.full(len(work), -1, np.int32)
    if not is_asked.any():
        return by_id
    if (work.op_event_id[:] != NONE).any():
        return np.where(is_asked, _places_of(work.op_event_id[:], host.slices.event_id[:]), -1)
    asks = np.flatnonzero((work.start_ns != NONE) & _has_id(work.external_id))
    wanted = ids_in(work.external_id[asks])
    is_op = host.slices.forms.column("kind") == OP
    ops = places_where(
        len(host.slices),
        lambda part: (
            is_op[host.slices.form[part]] & are_among(host.slices.external_id[part], wanted)
        ),
    )
    asking, named = of_rank(
        _rows_of_work(work, work.external_id, asks, tracks),
        _rows_of_host(host, host.slices.external_id, ops, tracks),
    )
    found, _ = found_by(asking.ids, asking.starts, named)
    by_id[asks] = np.append(ops, -1)[found]
    told = asks[op[asks] >= 0]
    if len(told):
        agrees = np.mean(by_id[told] == op[told]) >= _SURE_RATIO
    else:
        known = by_id >= 0
        agrees = (host.slices.start_ns[by_id[known]] <= work.start_ns[known]).all()
    return np.where(is_asked & agrees, by_id, -1)


def _places_of(events: Ints, known: Ints) -> Ints:
    """The places of events among the distinct known ones; -1 if unknown."""
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known, events, sorter=order), len(known) - 1)
    return np.where(known[order[places]] == events, order[places], -1)


def _rows_of_work(work: DeviceWork, ids: Ints, places: Ints, tracks: Tracks) -> LaunchRows:
    processes = tracks.process_codes(work.track[places])
    return LaunchRows(
        ids[places],
        work.external_id[places],
        work.start_ns[places],
        processes,
        tracks.rank_codes(processes),
    )


def _rows_of_host(host: Host, ids: IntColumn, places: Ints, tracks: Tracks) -> LaunchRows:
    rows = host.slices
    processes = tracks.process_codes(rows.track[places])
    return LaunchRows(
        ids[places],
        rows.external_id[places],
        rows.start_ns[places],
        processes,
        tracks.rank_codes(processes),
    )


def _steps(
    work: DeviceWork, host: Host, steps: RecordedSteps, launch: Codes, op: Codes, part: slice
) -> Ints:
    """The step in which each work was launched; if unknown, that of its device."""
    if steps.of_work is not None:
        return steps.of_work[part]
    caller = np.where(launch >= 0, launch, op)
    by_call = at(host.step, caller, NONE)
    # the call can be in another process, without step marks
    by_host = np.where(by_call == NONE, at(host.step, op, NONE), by_call)
    if len(steps.of_device) == 0:
        return by_host
    asks_device = caller < 0 if len(steps.of_host) else np.ones(len(launch), bool)
    return np.where(asks_device, steps.at_work(work, part), by_host)


def _scoped(work: DeviceWork, tree: Tree, texts: Texts) -> Ints:
    """The context of each operator that the profiler names, by the code of its name; or -1."""
    named = [code for code in used_of(work.op_name)[0].tolist() if code]
    found = scopes([texts.values[code] or "" for code in named])
    contexts = np.full(len(texts.values), -1, np.int64)
    for code in named:
        contexts[code] = _scope_context(code, found[texts.values[code] or ""], tree, texts)
    return contexts


def _scope_context(code: int, scope: Scope, tree: Tree, texts: Texts) -> int:
    basis = scope.phase and "scope"
    context = -1
    for name in scope.modules:
        symbol = Symbol(
            "module",
            texts.code(name),
            modules=((name, type_of(name)),),
            module_basis="scope",
            phase=scope.phase,
            phase_basis=basis,
        )
        context = tree.entered(context, symbol, -2 * symbol.name)
    symbol = Symbol(
        "op", code, phase=scope.phase, phase_basis=basis, module_reason=reasons.NO_SCOPE
    )
    return tree.entered(context, symbol, -2 * code - 1)


def _reasons(tree: Tree, texts: Texts) -> tuple[Codes, Codes]:
    """The reasons why each context has no module, and no phase; 0 if it has one."""
    has_modules = any(node.path for node in tree.nodes)
    module = [
        texts.code(node.module_reason if has_modules else reasons.NO_MODULES) for node in tree.nodes
    ]
    phase = [0 if node.phase else texts.code(reasons.NO_PHASE) for node in tree.nodes]
    return np.array([*module, 0], np.int32), np.array([*phase, 0], np.int32)
