"""The host: nested slices, each with its operator and its context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.attribution import names
from tracekit.attribution.columns import NONE, Codes, Ints, Texts, ends, used_of
from tracekit.attribution.contexts import Tree
from tracekit.attribution.families import fold
from tracekit.attribution.nesting import nested
from tracekit.attribution.sequences import Links, Sequenced, links
from tracekit.attribution.slices import CALL, OP, SIGNATURE, Slices
from tracekit.attribution.steps import Steps
from tracekit.attribution.symbols import Symbols
from tracekit.attribution.tracks import Tracks
from tracekit.attribution.walking import walked


@dataclass(frozen=True, slots=True)
class Host:
    """Slices in nesting order and their properties, one array per column.

    ``parent``, ``after`` and ``op`` are places in this order: the slice around each, the first one
    after its content, and the innermost operator, which can be the slice itself. ``context`` is a
    place in ``tree``; that of a call is the one around it. -1 is none.
    """

    slices: Slices
    parent: Codes
    after: Codes
    op: Codes
    context: Codes
    step: Ints
    tree: Tree


def host_of(found: Slices, steps: Steps, texts: Texts, tracks: Tracks) -> Host:
    """Nest slices, which sorts them, and give each its context."""
    nest = nested(found.track, found.start_ns, found.dur_ns, found.event_id, found.kind == CALL)
    found.put_in_order(nest.order)
    processes = tracks.process_codes(found.track)
    step = steps.at(processes, found.start_ns)
    fold(found, step, texts)
    tied, tree = _links(found, processes, texts), Tree()
    op, context = walked(found, nest.parent, Symbols(found, texts), tied, tree)
    found.drop(*SIGNATURE, "module_hierarchy", "sequence_id", "forward_thread_id")
    return Host(found, nest.parent, nest.after, op, context, step, tree)


def _links(found: Slices, processes: Codes, texts: Texts) -> Links:
    """The links of autograd's numbers between operators; other slices have none."""
    is_op = found.kind == OP
    codes, places = used_of(found.name)
    is_node = np.array(
        [names.is_autograd_node(texts.values[code] or "") for code in codes.tolist()], bool
    )[places]
    return links(
        Sequenced(
            processes,
            found.track,
            found.start_ns,
            ends(found.start_ns, found.dur_ns),
            np.where(is_op, found.sequence_id, NONE),
            np.where(is_op, found.forward_thread_id, NONE),
            is_node,
        )
    )
