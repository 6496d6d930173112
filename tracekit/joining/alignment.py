"""Matches the launches of a timeline to those of a counter run: by order, by shape, or by name.

Launches are equal if their `function_key`, `template_arguments`, grid and block are. Launches that
the other side does not have are excluded first, so a report of selected kernels (``--kernel-name``,
NVTX filters) is a sequence like any other. The others are matched by order: see
`tracekit.joining.blocks`. A launch that order does not decide gets the counters of a launch of the
same function and shape, or of the same function if one side has no shapes. Nothing less is a match:
a function that was counted only in another shape, or only for another type, gets no counters.
Neither does a function of several types if the other side does not name the type.
If both sides continue with one function in two shapes or for two types, their inputs differ, and
order is no evidence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.joining.blocks import Reference, paired, passes
from tracekit.joining.launches import NONE, Alignment, Flags, Ints, Kind, Lack, Launches, Parting
from tracekit.signatures import function_key, template_arguments

#: The number of places, at most, where the sequences differ that a result has.
MAX_PARTINGS = 10
_MAX_LOOKED_AT = 1_000
_FEW = 0.1

_SEED = 20261123
_WIDTH = 7  # columns of a launch: function, grid, block


def align(timeline: Launches, counters: Launches) -> Alignment:
    """The counter launch of each launch of a timeline, if there is one.

    A launch of the timeline has at most one; a counter launch can serve many, such as one in each
    repeated step. Every match has the same function, and the same grid and block unless its kind is
    NAME. For n launches of the timeline and m of the counters, time is n log m and memory linear.
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
        tuple(partings[:MAX_PARTINGS]),
        has_other_inputs,
    )


@dataclass(slots=True)
class _State:
    """What is known so far; ``ours`` and ``theirs`` are groups: numbers of function and shape.

    A launch of the timeline whose function and shape were not counted has the group `NONE`.
    ``keys`` number functions with their template arguments, ``functions`` functions alone, and
    ``arguments`` template arguments alone (`NONE`: the name has none). ``lacks`` says what was not
    counted, for each launch of the timeline.
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


# Equal launches


def _keys(timeline: Launches, counters: Launches) -> tuple[tuple[Ints, Ints], ...]:
    """Numbers of functions, of functions with template arguments, and of template arguments.

    Both sides share the numbers. The function that a function runs (``elementwise_kernel
    MulFunctor``) and its template arguments distinguish launches only if all its names on both
    sides have them: reports may omit template arguments.
    """
    sides = timeline, counters
    names = [name for side in sides for name in side.names]
    functions = _numbered([key.partition(" ")[::2] for key in map(function_key, names)])
    arguments = list(map(template_arguments, names))
    keys = _numbered(list(zip(functions, arguments, strict=True)))
    codes = {text: code for code, text in enumerate(dict.fromkeys(filter(None, arguments)))}
    versions = np.array([codes.get(text, NONE) for text in arguments], np.int64)

    def of_launches(numbers: Ints) -> tuple[Ints, Ints]:
        ours, theirs = np.split(numbers, [len(timeline.names)])
        return ours[timeline.name_codes], theirs[counters.name_codes]

    return of_launches(functions), of_launches(keys), of_launches(versions)


def _numbered(pairs: Sequence[tuple[Hashable, str]]) -> Ints:
    """A number for each distinct pair; a first with an empty second anywhere has one number."""
    alone = {first for first, second in pairs if not second}
    codes: dict[tuple[Hashable, str], int] = {}
    told = ((first, "" if first in alone else second) for first, second in pairs)
    return np.array([codes.setdefault(pair, len(codes)) for pair in told], np.int64)


def _lacks(has_function: Flags, has_arguments: Flags) -> Ints:
    return np.select([has_arguments, has_function], [Lack.SHAPE, Lack.ARGUMENTS], Lack.FUNCTION)


def _groups(ours: Ints, theirs: Ints) -> tuple[Ints, Ints]:
    """A number for each distinct row of `theirs`, and the same for equal rows of `ours`.

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
    """Hashes that differ if rows do, and those of other rows."""
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
    """Match by order, each process and device of the timeline separately."""
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
    """The counter launches, one process and device after another, and where each begins.

    A token that is not in the timeline separates two of them, so that no block spans both.
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
    """Note pairs of some passes; those whose order differs count as matched by shape."""
    is_ordered = passes != NONE
    kinds = np.where(is_ordered, Kind.SEQUENCE, Kind.SHAPE)
    state.match(places, counters, state.sizes[state.theirs[counters]], kinds)
    state.passes[places] = np.where(is_ordered, passes + offset, NONE)


# By shape and by name


def _by_shape(state: _State) -> None:
    """Match the remaining launches with those of the same function and shape, in turn."""
    left = np.flatnonzero((state.counters == NONE) & (state.ours != NONE) & state.our_shapes_known)
    kept = _of_one_version(state, left, state.ours, state.theirs)
    _dealt(state, kept, state.ours[kept], np.arange(len(state.theirs)), state.theirs, Kind.SHAPE)


def _by_name(state: _State) -> None:
    """Match launches without shape with any of their function, and vice versa."""
    everywhere = np.arange(len(state.theirs))
    left = np.flatnonzero((state.counters == NONE) & ~state.our_shapes_known)
    kept = _of_one_version(state, left, state.our_keys, state.their_keys)
    _dealt(state, kept, state.our_keys[kept], everywhere, state.their_keys, Kind.NAME)
    left = np.flatnonzero((state.counters == NONE) & state.our_shapes_known)
    kept = _of_one_version(state, left, state.our_keys, state.their_keys)
    others = everywhere[~state.their_shapes_known]
    _dealt(state, kept, state.our_keys[kept], others, state.their_keys[others], Kind.NAME)


def _of_one_version(state: _State, places: Ints, ours: Ints, theirs: Ints) -> Ints:
    """Those of `places` whose group has at most one choice of template arguments.

    If a side names none, a group can have counters of several types.
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
    """Give the first of equal launches the first counted one, the second the second, and so on."""
    order = np.argsort(offered, kind="stable")
    first = np.searchsorted(offered, wanted, "left", order)
    count = np.searchsorted(offered, wanted, "right", order) - first
    is_there = count > 0
    turn = _ranks(wanted[is_there]) % count[is_there]
    chosen = others[order[first[is_there] + turn]]
    state.match(places[is_there], chosen, count[is_there], kind)


def _ranks(values: Ints) -> Ints:
    """The number of equal values before each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = np.ones(len(values), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(values)), 0))
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values)) - starts
    return ranks


# Differences


def _partings(state: _State) -> Iterator[Parting]:
    """The places between two pairs of one pass where the sides differ.

    Launches of the timeline whose function was not counted are not a difference: reports omit
    kernels.
    """
    pairs = np.flatnonzero(state.kinds == Kind.SEQUENCE)
    others, numbers = state.counters[pairs], state.passes[pairs]
    is_counted = np.append(0, np.cumsum(state.lacks != Lack.FUNCTION))
    between = is_counted[pairs[1:]] - is_counted[pairs[:-1] + 1]
    skipped = others[1:] - others[:-1] - 1
    is_parting = (numbers[1:] == numbers[:-1]) & ((between > 0) | (skipped > 0))
    for place in np.flatnonzero(is_parting)[:_MAX_LOOKED_AT].tolist():
        start = int(pairs[place]) + 1
        count = int(pairs[place + 1]) - start
        yield Parting(start, count, int(others[place]) + 1, max(0, int(skipped[place])))


def _has_other_inputs(state: _State, partings: Sequence[Parting]) -> bool:
    """Whether, in many places, both sides continue with the same function in another shape.

    Single launches can differ in a program with the same inputs.
    """
    count = 0
    for parting in partings:
        ours = slice(parting.timeline_start, parting.timeline_start + parting.timeline_count)
        theirs = slice(parting.counter_start, parting.counter_start + parting.counter_count)
        unlike = state.our_functions[ours][state.ours[ours] == NONE]
        count += int(np.count_nonzero(np.isin(unlike, state.their_functions[theirs])))
    looked_at = state.kinds[: partings[-1].timeline_start] if partings else state.kinds
    return count > _FEW * int(np.count_nonzero(looked_at == Kind.SEQUENCE))
