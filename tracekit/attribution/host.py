"""The host: nested slices, each with its operator and its context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.attribution import names
from tracekit.attribution.columns import NONE, Codes, Texts, ends, in_parts, places_where
from tracekit.attribution.contexts import Tree
from tracekit.attribution.families import fold
from tracekit.attribution.forms import CALL, OP
from tracekit.attribution.nesting import nesting_order, stacked
from tracekit.attribution.packing import Packed, packed, repacked
from tracekit.attribution.sequences import Links, Sequenced, links
from tracekit.attribution.slices import Slices
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
    step: Packed
    tree: Tree


def host_of(found: Slices, steps: Steps, texts: Texts, tracks: Tracks) -> Host:
    """Nest slices, which sorts them, and give each its context."""
    is_call = found.of_form("kind") == CALL
    found.put_in_order(
        nesting_order(found.track, found.start_ns, found.dur_ns, found.event_id, is_call)
    )
    is_call = found.of_form("kind") == CALL
    parent, after = stacked(found.track, found.start_ns, found.dur_ns, is_call)
    step = _steps(found, steps, tracks)
    fold(found, step, texts)
    tied, tree = _links(found, texts, tracks), Tree()
    op, context = walked(found, parent, Symbols(found.forms, texts), tied, tree)
    found.drop("sequence_id", "forward_thread_id")
    return Host(found, parent, after, op, context, step, tree)


def _steps(found: Slices, steps: Steps, tracks: Tracks) -> Packed:
    """The step of each slice."""
    return repacked(
        [
            packed(steps.at(tracks.process_codes(found.track[part]), found.start_ns[part]))
            for part in in_parts(len(found))
        ]
    )


def _links(found: Slices, texts: Texts, tracks: Tracks) -> Links:
    """The links of autograd's numbers between operators; other slices have none."""
    is_op = found.forms.column("kind") == OP
    numbers = (found.sequence_id, found.forward_thread_id)
    places = places_where(
        len(found),
        lambda part: (
            is_op[found.form[part]] & ((numbers[0][part] != NONE) | (numbers[1][part] != NONE))
        ),
    )
    is_node = np.array(
        [names.is_autograd_node(texts.values[code] or "") for code in found.forms.column("name")],
        np.bool_,
    )
    starts = found.start_ns[places]
    return links(
        Sequenced(
            tracks.process_codes(found.track[places]),
            found.track[places],
            starts,
            ends(starts, found.dur_ns[places]),
            found.sequence_id[places],
            found.forward_thread_id[places],
            is_node[found.form[places]],
        )
    ).among(places, len(found))
