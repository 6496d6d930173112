"""What happened on the host: slices in their nest, each with its operator and its context."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.attribution import names, reasons
from tracekit.attribution.columns import NONE, Codes, Ints, Texts, ends, together
from tracekit.attribution.contexts import Symbol, Tree
from tracekit.attribution.families import fold
from tracekit.attribution.nesting import nested
from tracekit.attribution.sequences import Links, Sequenced, links
from tracekit.attribution.slices import ANNOTATION, CALL, MODULE, OP, SIGNATURE, Slices, Tracks
from tracekit.attribution.steps import Steps

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Host:
    """Slices in the order of their nest, and what was found out of them, one array a column.

    ``parent``, ``after`` and ``op`` are places in this order: the slice around each, the first
    after those in it, and the innermost operator, itself if it is one. ``context`` is a place in
    ``tree``; that of a call is the one around it. -1 is none.
    """

    slices: Slices
    parent: Codes
    after: Codes
    op: Codes
    context: Codes
    step: Ints
    tree: Tree


def host_of(found: Slices, steps: Steps, texts: Texts, tracks: Tracks) -> Host:
    """Nest slices, which puts them into another order, and give each its context."""
    nest = nested(found.track, found.start_ns, found.dur_ns, found.event_id, found.kind == CALL)
    found.put_in_order(nest.order)
    processes = tracks.process_codes(found.track)
    step = steps.at(processes, found.start_ns)
    fold(found, step, texts)
    numbers, symbols = _symbols(found, texts)
    tied = _links(found, processes, texts)
    tree = Tree(reasons.NO_MODULE if any(s and s.modules for s in symbols) else reasons.NO_MODULES)
    op, context = _walked(found, nest.parent, numbers, symbols, tied, tree)
    return Host(found, nest.parent, nest.after, op, context, step, tree)


def _symbols(found: Slices, texts: Texts) -> tuple[Codes, list[Symbol | None]]:
    """The member of a chain that each slice is: its number, and what each number stands for."""
    signature = [getattr(found, column) for column in SIGNATURE]
    numbers = together(
        found.kind * 2 + found.is_users, found.name, found.module_hierarchy, *signature
    )
    _, first = np.unique(numbers, return_index=True)
    has_frames = bool((found.kind == MODULE).any())
    made = [_symbol(found, place, texts, has_frames=has_frames) for place in first.tolist()]
    return numbers, made


def _symbol(found: Slices, place: int, texts: Texts, *, has_frames: bool) -> Symbol | None:
    """What a slice is a member of chains as; None if it is none."""
    kind, code = int(found.kind[place]), int(found.name[place])
    name = texts.values[code] or ""
    if kind == CALL or (kind == ANNOTATION and names.is_step_mark(name)):
        return None
    if kind == MODULE:
        bare = name.removeprefix(names.MODULE_PREFIX)
        modules = ((bare, names.type_of(bare)),)
        return Symbol("module", texts.code(bare), modules=modules, module_basis="python",
                      phase="forward", phase_basis="module")  # fmt: skip
    phase = names.phase_marked(name)
    basis = phase and "annotation"
    if kind == ANNOTATION:
        stands = bool(found.is_users[place]) and not has_frames and names.is_users(name)
        return Symbol("annotation", code, modules=((name, None),) if stands else (),
                      module_basis="annotation", phase=phase, phase_basis=basis)  # fmt: skip
    if names.is_autograd_node(name):
        phase, basis = "backward", "autograd"
    said = texts.values[int(found.module_hierarchy[place])]
    signature = tuple(int(getattr(found, column)[place]) for column in SIGNATURE)
    return Symbol("op", code, signature, tuple(names.hierarchy(said or "")), "hierarchy", phase,
                  basis)  # fmt: skip


def _links(found: Slices, processes: Codes, texts: Texts) -> Links:
    """What autograd's numbers say of the operators; other slices have none."""
    is_op = found.kind == OP
    codes, places = np.unique(found.name, return_inverse=True)
    is_node = np.array(
        [names.is_autograd_node(texts.values[code] or "") for code in codes.tolist()], bool
    )[places]
    return links(
        Sequenced(
            processes, found.track, found.start_ns, ends(found.start_ns, found.dur_ns),
            np.where(is_op, found.sequence_id, NONE),
            np.where(is_op, found.forward_thread_id, NONE), is_node,
        )
    )  # fmt: skip


def _walked(
    found: Slices,
    parent: Codes,
    numbers: Codes,
    symbols: Sequence[Symbol | None],
    tied: Links,
    tree: Tree,
) -> tuple[Codes, Codes]:
    """The operator and the context of each slice.

    In order of time: a forward operator has its context before its backward operator asks for it.
    """
    count = len(found)
    op, context = (array("i", bytes(4 * count)) for _ in range(2))
    known: dict[tuple[int, int, int | None, bool], int] = {}
    order = np.argsort(found.start_ns, kind="stable")
    columns = (parent, numbers, found.kind == OP, tied.is_backward, tied.forward, tied.is_forward)
    for first in range(0, count, _CHUNK):
        part = order[first : first + _CHUNK]
        rows = zip(part.tolist(), *(column[part].tolist() for column in columns), strict=True)
        for place, above, number, is_op, is_backward, forward, is_referred in rows:
            base = context[above] if above >= 0 else -1
            op[place] = place if is_op else op[above] if above >= 0 else -1
            symbol = symbols[number]
            if symbol is None:
                context[place] = base
                continue
            origin = None if not is_backward else context[forward] if forward >= 0 else -1
            key = (base, number, origin, is_referred)
            if key not in known:
                known[key] = tree.entered(base, symbol, *key[1:])
            context[place] = known[key]
    return np.frombuffer(op, np.int32), np.frombuffer(context, np.int32)
