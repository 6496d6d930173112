"""Which launch of a counter run each launch of a timeline is: by order, by shape, or by name.

Launches are the same by their `function_key`, `template_arguments`, grid and block. What the other
side does not have is left out first, so that a report of some kernels only (``--kernel-name``, NVTX
filters) is a sequence like any other; what remains is matched by order, as
`tracekit.joining.blocks` says. What order does not decide has the counters of a launch of the same
function and shape, and where one side has no shapes, those of the same function. No match rests on
less: a function that was counted in another shape only, or for another type only, has no counters,
and neither has one of several types where the other side does not name the type.
Where both sides go on with one function in two shapes or for two types, their inputs differ, and no
match rests on order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.joining.blocks import Reference, paired, passes
from tracekit.joining.launches import NONE, Alignment, Flags, Ints, Kind, Lack, Launches, Parting
from tracekit.signatures import function_key, template_arguments

#: So many places at which the sequences part are told.
MOST_PARTINGS = 10
_MOST_LOOKED_AT = 1_000
_FEW = 0.1

_SEED = 20261123
_WIDTH = 7  # columns of a launch: function, grid, block


def align(timeline: Launches, counters: Launches) -> Alignment:
    """The counter launch of each launch of a timeline, as far as there is one.

    No launch of the timeline has two; one counter launch can serve many, in each repeated step one.
    Every match agrees in function, and in grid and block unless its kind is NAME. Its time is n log
    m for n launches of the timeline and m of the counters, whatever they are; its memory is linear.
    """
    state = _State.of(timeline, counters)
    if timeline.is_ordered and counters.is_ordered:
        _by_sequence(state, timeline, counters)
    partings = list(_partings(state))
    has_other_inputs = _has_other_inputs(state, partings)
    if has_other_inputs:  # a grid can be the same for inputs of any size: order proves nothing
        state.kinds[state.kinds == Kind.SEQUENCE] = Kind.SHAPE
    _by_shape(state)
    _by_name(state)
    known = state.counters[state.counters != NONE]
    return Alignment(
        state.counters,
        state.kinds,
        state.fits,
        np.bincount(known, minlength=len(counters)),
        state.theirs,
        state.their_keys,
        state.their_shapes_known,
        state.lacks,
        tuple(partings[:MOST_PARTINGS]),
        has_other_inputs,
    )


@dataclass(slots=True)
class _State:
    """What is known so far; ``ours`` and ``theirs`` are groups: numbers of function and shape.

    A launch of the timeline whose function and shape were not counted has the group `NONE`.
    ``keys`` are of functions with their template arguments, ``functions`` of functions alone,
    ``arguments`` of template arguments alone (`NONE`: the name has none); ``lacks`` says of each
    launch of the timeline what of it was not counted.
    """

    ours: Ints
    theirs: Ints
    our_keys: Ints
    their_keys: Ints
    our_functions: Ints
    their_functions: Ints
    our_arguments: Ints
    their_arguments: Ints
    lacks: Ints
    our_shapes_known: Flags
    their_shapes_known: Flags
    counters: Ints
    kinds: Ints
    fits: Ints
    passes: Ints
    sizes: Ints

    @classmethod
    def of(cls, timeline: Launches, counters: Launches) -> _State:
        functions, keys, arguments = _keys(timeline, counters)
        (our_keys, their_keys), (our_functions, their_functions) = keys, functions
        our_rows = np.column_stack((our_keys, timeline.shapes))
        their_rows = np.column_stack((their_keys, counters.shapes))
        ours, theirs = _groups(our_rows, their_rows)
        size = len(timeline)
        none = np.full(size, NONE, np.int64)
        return cls(
            ours,
            theirs,
            our_keys,
            their_keys,
            our_functions,
            their_functions,
            *arguments,
            _lacks(np.isin(our_functions, their_functions), np.isin(our_keys, their_keys)),
            timeline.has_shape,
            counters.has_shape,
            none,
            none.copy(),
            np.zeros(size, np.int64),
            none.copy(),
            np.bincount(theirs),
        )

    def match(self, places: Ints, counters: Ints, fits: Ints, kinds: Ints | Kind) -> None:
        """Note the counter launches of some launches of the timeline."""
        self.counters[places] = counters
        self.kinds[places] = kinds
        self.fits[places] = fits


# What is the same


def _keys(timeline: Launches, counters: Launches) -> tuple[tuple[Ints, Ints], ...]:
    """Numbers of functions, the same on both sides; of them with template arguments; of these.

    What a function runs (``elementwise_kernel MulFunctor``) and what it is instantiated with tell
    two apart only if all names of it say so on both sides: reports can have no template arguments.
    """
    sides = timeline, counters
    names = [name for side in sides for name in side.names]
    functions = _told_apart([key.partition(" ")[::2] for key in map(function_key, names)])
    arguments = list(map(template_arguments, names))
    keys = _told_apart(list(zip(functions, arguments, strict=True)))
    codes = {text: code for code, text in enumerate(dict.fromkeys(filter(None, arguments)))}
    versions = np.array([codes.get(text, NONE) for text in arguments], np.int64)

    def of_launches(numbers: Ints) -> tuple[Ints, Ints]:
        ours, theirs = np.split(numbers, [len(timeline.names)])
        return ours[timeline.name_codes], theirs[counters.name_codes]

    return of_launches(functions), of_launches(keys), of_launches(versions)


def _told_apart(pairs: Sequence[tuple[Hashable, str]]) -> Ints:
    """A number for each different pair; where a second is empty anywhere, for its first alone."""
    alone = {first for first, second in pairs if not second}
    codes: dict[tuple[Hashable, str], int] = {}
    told = ((first, "" if first in alone else second) for first, second in pairs)
    return np.array([codes.setdefault(pair, len(codes)) for pair in told], np.int64)


def _lacks(has_function: Flags, has_arguments: Flags) -> Ints:
    return np.select([has_arguments, has_function], [Lack.SHAPE, Lack.ARGUMENTS], Lack.FUNCTION)


def _groups(ours: Ints, theirs: Ints) -> tuple[Ints, Ints]:
    """A number for each different row of `theirs`, and the same for equal rows of `ours`.

    Rows of ours are looked up by a hash and then compared.
    """
    rows, groups = np.unique(theirs, axis=0, return_inverse=True)
    groups = groups.reshape(-1)
    found = np.full(len(ours), NONE, np.int64)
    if not len(rows) or not len(ours):
        return found, groups
    hashes, our_hashes = _hashes(rows, ours)
    order = np.argsort(hashes, kind="stable")
    places = order[np.minimum(np.searchsorted(hashes, our_hashes, sorter=order), len(rows) - 1)]
    is_same = np.ones(len(ours), bool)
    for column in range(_WIDTH):
        is_same &= rows[places, column] == ours[:, column]
    return np.where(is_same, places, NONE), groups


def _hashes(rows: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Hashes that differ where rows do; and those of other rows."""
    random = np.random.default_rng(_SEED)
    while True:
        factors = random.integers(1, 1 << 62, _WIDTH, np.uint64) | np.uint64(1)
        hashes = _hash(rows, factors)
        if len(np.unique(hashes)) == len(rows):
            return hashes, _hash(others, factors)


def _hash(rows: Ints, factors: Ints) -> Ints:
    found = np.zeros(len(rows), np.uint64)
    for column, factor in enumerate(factors):
        found = (found ^ (found >> np.uint64(31))) * factor + rows[:, column].astype(np.uint64)
    return found


# By order


def _by_sequence(state: _State, timeline: Launches, counters: Launches) -> None:
    """Match by order, each process and device of the timeline on its own."""
    is_ours, is_theirs = _with_shape(state)
    places, tokens, begins = _laid_out(state, counters, is_theirs)
    if not begins:
        return
    reference = Reference(tokens, begins)
    pass_count = 0
    for number, track in enumerate(_tracks(timeline, is_ours)):
        ours = state.ours[track]
        blocks = reference.blocks(ours, begins[number % len(begins)])
        found = passes(blocks, len(ours), reference)
        for pairs in paired(found, ours, reference):
            _note(state, track[pairs.places], places[pairs.others], pairs.passes, pass_count)
        pass_count += len(found)


def _with_shape(state: _State) -> tuple[Flags, Flags]:
    """The launches that can be matched by order: those whose function and shape both sides have."""
    is_ours = (state.ours != NONE) & state.our_shapes_known
    is_theirs = np.isin(state.theirs, np.unique(state.ours[is_ours])) & state.their_shapes_known
    return is_ours, is_theirs


def _tracks(launches: Launches, is_there: Flags) -> Iterator[Ints]:
    """The places of the launches of each process and device, in order of appearance."""
    places = np.flatnonzero(is_there)
    if launches.track_codes is None:
        yield places
        return
    codes = launches.track_codes[places]
    kinds, first = np.unique(codes, return_index=True)
    for kind in kinds[np.argsort(first, kind="stable")]:
        yield places[codes == kind]


def _laid_out(state: _State, counters: Launches, is_there: Flags) -> tuple[Ints, Ints, list[int]]:
    """The counter launches one process and device after the other, and where each begins.

    Between two stands a token that the timeline has nowhere: no block goes from one to the other.
    """
    places: list[Ints] = []
    tokens: list[Ints] = []
    begins: list[int] = []
    border = int(state.theirs.max(initial=0)) + 1
    for number, track in enumerate(_tracks(counters, is_there)):
        if not len(track):
            continue
        if number:
            places.append(np.array([NONE]))
            tokens.append(np.array([border + number]))
        begins.append(sum(map(len, tokens)))
        places.append(track)
        tokens.append(state.theirs[track])
    empty = np.zeros(0, np.int64)
    return np.concatenate([empty, *places]), np.concatenate([empty, *tokens]), begins


def _note(state: _State, places: Ints, counters: Ints, passes: Ints, offset: int) -> None:
    """Note pairs of some passes; those whose order does not agree are by shape."""
    is_ordered = passes != NONE
    kinds = np.where(is_ordered, Kind.SEQUENCE, Kind.SHAPE)
    state.match(places, counters, state.sizes[state.theirs[counters]], kinds)
    state.passes[places] = np.where(is_ordered, passes + offset, NONE)


# By shape and by name


def _by_shape(state: _State) -> None:
    """Match what is left with launches of the same function and shape, one after another."""
    left = np.flatnonzero((state.counters == NONE) & (state.ours != NONE) & state.our_shapes_known)
    kept = _of_one_version(state, left, state.ours, state.theirs)
    _dealt(state, kept, state.ours[kept], np.arange(len(state.theirs)), state.theirs, Kind.SHAPE)


def _by_name(state: _State) -> None:
    """Match launches without shape with any of their function, and those with it the other way."""
    everywhere = np.arange(len(state.theirs))
    left = np.flatnonzero((state.counters == NONE) & ~state.our_shapes_known)
    kept = _of_one_version(state, left, state.our_keys, state.their_keys)
    _dealt(state, kept, state.our_keys[kept], everywhere, state.their_keys, Kind.NAME)
    left = np.flatnonzero((state.counters == NONE) & state.our_shapes_known)
    kept = _of_one_version(state, left, state.our_keys, state.their_keys)
    others = everywhere[~state.their_shapes_known]
    _dealt(state, kept, state.our_keys[kept], others, state.their_keys[others], Kind.NAME)


def _of_one_version(state: _State, places: Ints, ours: Ints, theirs: Ints) -> Ints:
    """Those of `places` whose group has one choice of template arguments at most.

    Where a side names none, one group can have counters of several types.
    """
    if not len(places):
        return places
    groups = np.concatenate((ours, theirs))
    arguments = np.concatenate((state.our_arguments, state.their_arguments))
    is_said = (groups != NONE) & (arguments != NONE)
    width = int(arguments.max(initial=0)) + 1
    pairs = np.unique(groups[is_said] * width + arguments[is_said])
    is_several = np.bincount(pairs // width, minlength=int(groups.max(initial=0)) + 1) > 1
    is_left_out = is_several[ours[places]] & np.isin(ours[places], theirs)
    state.lacks[places[is_left_out]] = Lack.VERSION
    return places[~is_left_out]


def _dealt(
    state: _State, places: Ints, wanted: Ints, others: Ints, offered: Ints, kind: Kind
) -> None:
    """Give the first of equal launches the first that was counted, the second the second."""
    order = np.argsort(offered, kind="stable")
    first = np.searchsorted(offered, wanted, "left", order)
    count = np.searchsorted(offered, wanted, "right", order) - first
    is_there = count > 0
    turn = _ranks(wanted[is_there]) % count[is_there]
    chosen = others[order[first[is_there] + turn]]
    state.match(places[is_there], chosen, count[is_there], kind)


def _ranks(values: Ints) -> Ints:
    """How many equal values stand before each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = np.ones(len(values), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(values)), 0))
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values)) - starts
    return ranks


# Where they part


def _partings(state: _State) -> Iterator[Parting]:
    """The places between two pairs of one pass where either side has something else.

    Launches that only the timeline has, of a function that was not counted, are no such place:
    reports leave kernels out.
    """
    pairs = np.flatnonzero(state.kinds == Kind.SEQUENCE)
    others, numbers = state.counters[pairs], state.passes[pairs]
    is_counted = np.append(0, np.cumsum(state.lacks != Lack.FUNCTION))
    between = is_counted[pairs[1:]] - is_counted[pairs[:-1] + 1]
    skipped = others[1:] - others[:-1] - 1
    is_parting = (numbers[1:] == numbers[:-1]) & ((between > 0) | (skipped > 0))
    for place in np.flatnonzero(is_parting)[:_MOST_LOOKED_AT].tolist():
        start = int(pairs[place]) + 1
        count = int(pairs[place + 1]) - start
        yield Parting(start, count, int(others[place]) + 1, max(0, int(skipped[place])))


def _has_other_inputs(state: _State, partings: Sequence[Parting]) -> bool:
    """Whether in many places both sides go on with the same function, but in another shape.

    One launch here and there can differ in a program whose inputs are the same.
    """
    count = 0
    for parting in partings:
        ours = slice(parting.timeline_start, parting.timeline_start + parting.timeline_count)
        theirs = slice(parting.counter_start, parting.counter_start + parting.counter_count)
        unlike = state.our_functions[ours][state.ours[ours] == NONE]
        count += int(np.count_nonzero(np.isin(unlike, state.their_functions[theirs])))
    looked_at = state.kinds[: partings[-1].timeline_start] if partings else state.kinds
    return count > _FEW * int(np.count_nonzero(looked_at == Kind.SEQUENCE))
