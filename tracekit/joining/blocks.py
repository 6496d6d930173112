"""One sequence as blocks of another: which of its stretches the other has too, and where.

**Blocks.** From left to right the longest stretch that the other sequence has, wherever it has it,
is taken, which gives the fewest blocks there can be (Tichy, "The string-to-string correction
problem with block moves", ACM TOCS 2(4), 1984). It finds a step again each time it is repeated, a
part of a step, and steps in any order, where a longest common subsequence could use each launch
once only. The stretches are looked up in a suffix array (Manber, Myers, "Suffix arrays: a new
method for on-line string searches", SIAM J. Comput. 22(5), 1993). Where several are as good, the
one that goes on where the last block ended is taken, or a few launches behind, else the nearest
one. What a block has taken away from the next one, that is longer, is given back.

**Passes.** The blocks that are worth most together are kept: each is worth its length, those of one
pass stand in the same order in both sequences, and a further pass has a price. What chance has put
between is left out by this (sparse dynamic programming: Eppstein and others, J. ACM 39(3), 1992).
A pass is a repetition only if it has half as much as the longest one; less are cut ones: the end of
the counters where the timeline begins, their beginning where it ends.

**Gaps** between the blocks of a pass, a few launches each, are compared one by one.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise

import numpy as np

from tracekit.joining.launches import NONE, Ints

#: What a further pass must have more than, and the share of the other sequence if that is less.
PASS_PRICE = 8
PASS_PRICE_SHARE = 0.5
#: A repetition has this share of the launches of the longest pass.
WHOLE = 0.5
#: Gaps up to so many pairs of launches are compared.
LARGEST_GAP = 1 << 14

_FEW = 1 << 14  # launches: up to here two in a row are looked up, else more, which takes less time
_LONGEST_SEED = 16
_MOST_PLACES = 64  # where a stretch occurs more often, not each place is compared
_BESIDE = 8  # suffixes that are compared, launches that are looked at where a pass begins or ends
_SKIPPED = 4  # less than so many launches can be missing where a block goes on as expected …
_SURE = 8  # … and so many that are there say that it does, whatever is longer elsewhere
_WIDTH = 4  # bytes of a token


@dataclass(slots=True)
class Block:
    """``length`` tokens from `start` on that the other sequence has from `other` on."""

    start: int
    other: int
    length: int

    @property
    def end(self) -> int:
        """Where it ends: the first token behind it."""
        return self.start + self.length

    @property
    def other_end(self) -> int:
        """Where it ends in the other sequence."""
        return self.other + self.length


Pass = list[Block]


class Reference:
    """A sequence that stretches are looked up in. Tokens are at least 0.

    It can be several sequences (tracks), one behind the other, that begin at `begins`; the last
    token of each but the last one occurs nowhere else, so that no stretch is in two.
    """

    def __init__(self, tokens: Ints, begins: Sequence[int] = (0,)) -> None:
        self.tokens = tokens
        self.begins = begins
        self._bytes = _as_bytes(tokens)
        self._suffixes: list[int] = _suffix_array(tokens).tolist()

    def track(self, place: int) -> tuple[int, int]:
        """Where the track that a place is in begins and ends."""
        number = bisect_right(self.begins, place)
        is_last = number == len(self.begins)
        return self.begins[number - 1], len(self.tokens) if is_last else self.begins[number] - 1

    def blocks(self, tokens: Ints, expected: int = 0) -> list[Block]:
        """The fewest blocks that make up `tokens`, as far as they are here; none overlap.

        `expected` is where the first one is taken from if other places are no better.
        """
        seed = self._seed(len(tokens))
        starts = _occurring(tokens, self.tokens, seed)
        content = _as_bytes(tokens)
        found: list[Block] = []
        place = 0
        while place < len(tokens) and (next_ := int(starts[place])) < len(tokens):
            block = self._longest(tokens, content, next_, expected, is_next=bool(found))
            place = max(block.end, next_ + 1)
            if block.length >= seed:
                found.append(_extended(block, found, tokens, self.tokens))
                expected = block.other_end
        return found

    def _seed(self, length: int) -> int:
        """How many tokens in a row are looked up: so many that chance has few of them."""
        if length <= _FEW:
            return 2
        kinds = max(2, len(np.unique(self.tokens)))
        usual = 1 + math.ceil(math.log(len(self.tokens)) / math.log(kinds))
        return max(2, min(_LONGEST_SEED, len(self.tokens), usual))

    def _longest(
        self, tokens: Ints, content: bytes, start: int, expected: int, *, is_next: bool
    ) -> Block:
        """The longest block from `start` on, or the one that is expected if half as long.

        Where a block is before it (`is_next`) the expected one can begin a few tokens later, and
        need not be as long.
        """
        near = self._near(tokens, start, expected, _SKIPPED if is_next else 1)
        if near.length >= (_SURE if is_next else min(len(self.tokens), len(tokens) - start)):
            return near
        blocks = [
            Block(start, place, _common(tokens, start, self.tokens, place))
            for place in self._places(content, start)
        ]
        longest = max((block.length for block in blocks), default=0)
        if longest <= 2 * near.length:
            return near
        good = [block for block in blocks if block.length == longest]
        return min(good, key=lambda block: (block.other < expected, block.other))

    def _near(self, tokens: Ints, start: int, expected: int, reach: int) -> Block:
        """The block that goes on where the last one ended, or less than `reach` tokens behind."""
        begin, end = self.track(expected)
        expected = expected if expected < end else begin
        best = Block(start, expected, _common(tokens, start, self.tokens, expected))
        if best.length:
            return best
        ours = tokens[start : start + reach].tolist()
        theirs = self.tokens[expected : min(end, expected + reach)].tolist()
        for here, token in enumerate(ours):
            for there, other in enumerate(theirs):
                if token == other:
                    place, others = start + here, expected + there
                    block = Block(place, others, _common(tokens, place, self.tokens, others))
                    best = max(best, block, key=lambda one: one.length)
        return best

    def _places(self, content: bytes, start: int) -> list[int]:
        """Where the longest stretch can be: the suffixes that are next to it in order."""
        low, high, reach = 0, len(self._suffixes), 8
        while True:
            wanted = content[start * _WIDTH : (start + reach) * _WIDTH]

            def prefix(place: int, size: int = len(wanted)) -> bytes:
                return self._bytes[place * _WIDTH : place * _WIDTH + size]

            first = bisect_left(self._suffixes, wanted, low, high, key=prefix)
            last = bisect_right(self._suffixes, wanted, first, high, key=prefix)
            if first == last:
                return self._beside(first, low, high)
            low, high, reach = first, last, reach * 8
            if high - low == 1 or len(wanted) < reach // 8 * _WIDTH:
                return self._suffixes[low : min(high, low + _MOST_PLACES)]

    def _beside(self, place: int, low: int, high: int) -> list[int]:
        """The suffixes before and behind a place in their order, within bounds."""
        return self._suffixes[max(low, place - _BESIDE) : min(high, place + _BESIDE)]


def _as_bytes(tokens: Ints) -> bytes:
    """Tokens so that their order is that of their bytes."""
    return tokens.astype(">u4").tobytes()


def _suffix_array(tokens: Ints) -> Ints:
    """The starts of all suffixes, in the order of the suffixes: by doubling of prefixes."""
    size, reach = len(tokens), 1
    ranks = np.unique(tokens, return_inverse=True)[1].astype(np.int64)
    while reach < size and ranks.max() < size - 1:
        behind = np.zeros(size, np.int64)
        behind[:-reach] = ranks[reach:] + 1
        ranks = np.unique(ranks * (size + 1) + behind, return_inverse=True)[1].astype(np.int64)
        reach *= 2
    return np.argsort(ranks, kind="stable")


def _occurring(tokens: Ints, others: Ints, count: int) -> Ints:
    """For each place the next one, or itself, from which `count` tokens in a row are in `others`.

    By hashes: now and then it is a place that has none. What has none behind it has the length.
    """
    size = len(tokens)
    following = np.full(size, size, np.int64)
    if size >= count <= len(others):
        is_there = np.isin(_hashed(tokens, count), _hashed(others, count))
        following[: len(is_there)] = np.where(is_there, np.arange(len(is_there)), size)
    return np.minimum.accumulate(following[::-1])[::-1]


def _hashed(tokens: Ints, count: int) -> Ints:
    size = len(tokens) - count + 1
    found = np.zeros(size, np.uint64)
    for place in range(count):
        found *= np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
        found += tokens[place : place + size].astype(np.uint64) + np.uint64(1)
    return found


def _common(tokens: Ints, start: int, others: Ints, other: int) -> int:
    """How many tokens from `start` on are those from `other` on."""
    limit = min(len(tokens) - start, len(others) - other)
    done, reach = 0, 8
    while done < limit:
        size = min(reach, limit - done)
        differs = (
            tokens[start + done : start + done + size] != others[other + done : other + done + size]
        )
        first = int(differs.argmax())
        if differs[first]:
            return done + first
        done, reach = done + size, reach * 4
    return done


def _extended(block: Block, before: list[Block], tokens: Ints, others: Ints) -> Block:
    """`block`, begun earlier where that agrees; blocks before it that are shorter then give way."""
    while before:
        last = before[-1]
        start = _agreeing(block, last.start, tokens, others)
        if start >= last.end or block.end - start <= last.length:
            return _begun(block, max(start, last.end))
        block = _begun(block, start)
        last.length = start - last.start
        if last.length:
            return block
        before.pop()
    return _begun(block, _agreeing(block, 0, tokens, others))


def _begun(block: Block, start: int) -> Block:
    return Block(start, block.other - (block.start - start), block.end - start)


def _agreeing(block: Block, limit: int, tokens: Ints, others: Ints) -> int:
    """The first place from which on all up to `block` agree; not before `limit`."""
    size = min(block.start - limit, block.other)
    before = tokens[block.start - size : block.start]
    differs = np.flatnonzero(before != others[block.other - size : block.other])
    return block.start - size + (int(differs[-1]) + 1 if len(differs) else 0)


# Passes


def passes(blocks: Sequence[Block], size: int, reference: Reference) -> list[Pass]:
    """The blocks that are worth most together, by passes; those that are no repetitions left out.

    `size` is the length of the sequence that they are of.
    """
    if not blocks:
        return []
    chosen = _of_one_track(_worth_most(blocks, len(reference.tokens)), reference)
    first, last = [blocks[0]], [blocks[-1]]  # what is cut can be worth less than a pass costs
    if chosen[0][0] is not first[0] and _is_cut(first, size, reference):
        chosen = [first, *chosen]
    if chosen[-1][-1] is not last[0] and _is_cut(last, size, reference):
        chosen = [*chosen, last]
    worth = [sum(block.length for block in one) for one in chosen]
    least = WHOLE * max(worth)
    return [
        one
        for one, length in zip(chosen, worth, strict=True)
        if length >= max(2, least if not _is_cut(one, size, reference) else 2)
    ]


def _of_one_track(found: Sequence[Pass], reference: Reference) -> list[Pass]:
    """Passes divided where they go from one track to another."""
    if len(reference.begins) == 1:
        return list(found)
    parts = (groupby(one, key=lambda block: reference.track(block.other)) for one in found)
    return [list(part) for one in parts for _, part in one]


def _is_cut(one: Pass, size: int, reference: Reference) -> bool:
    """Whether a pass ends with its track where the sequence begins, or begins with it at its end.

    Nothing before the one, or behind the other, says that it is by chance.
    """
    begin, end = reference.track(one[0].other)
    is_first = one[0].start == 0 and one[-1].other_end == end
    return is_first or (one[-1].end == size and one[0].other == begin)


def _worth_most(blocks: Sequence[Block], other_size: int) -> list[Pass]:
    price = min(PASS_PRICE, PASS_PRICE_SHARE * other_size)
    ended = _Best(other_size + 1)
    trail: list[tuple[float, int | None, bool]] = []
    best: tuple[float, int | None] = (0.0, None)
    for number, block in enumerate(blocks):
        same, previous = ended.up_to(block.other)
        again = (best[0] - price, best[1]) if best[0] > price else (0.0, None)
        is_new = previous is None or again[0] > same
        worth, link = again if is_new else (same, previous)
        trail.append((worth + block.length, link, is_new))
        ended.add(block.other_end, trail[-1][0], number)
        best = max(best, (trail[-1][0], number), key=lambda pair: pair[0])
    return _walked(blocks, trail, best[1])


def _walked(
    blocks: Sequence[Block], trail: Sequence[tuple[float, int | None, bool]], last: int | None
) -> list[Pass]:
    found: list[Pass] = [[]]
    while last is not None:
        _, link, is_new = trail[last]
        found[-1].append(blocks[last])
        if is_new:
            found.append([])
        last = link
    return [one[::-1] for one in reversed(found) if one]


class _Best:
    """The greatest worth up to a place (a tree of Fenwick, Softw. Pract. Exper. 24(3), 1994)."""

    def __init__(self, size: int) -> None:
        self._cells: list[tuple[float, int | None]] = [(0.0, None)] * (size + 1)

    def add(self, place: int, worth: float, number: int) -> None:
        place += 1
        while place < len(self._cells):
            if worth >= self._cells[place][0]:
                self._cells[place] = (worth, number)
            place += place & -place

    def up_to(self, place: int) -> tuple[float, int | None]:
        place += 1
        best: tuple[float, int | None] = (0.0, None)
        while place > 0:
            if self._cells[place][0] > best[0]:
                best = self._cells[place]
            place -= place & -place
        return best


# Pairs


@dataclass(frozen=True, slots=True)
class Pairs:
    """Places in the one sequence and in the other, by pass; `NONE`: the order does not agree."""

    places: Ints
    others: Ints
    passes: Ints


def paired(found: Sequence[Pass], tokens: Ints, reference: Reference) -> Iterator[Pairs]:
    """The pairs of all blocks, and of what agrees in the gaps before, between and behind them."""
    for number, one in enumerate(found):
        for block in one:
            yield _run(block, number)
        for before, after in pairwise(one):
            gap, others = range(before.end, after.start), range(before.other_end, after.other)
            yield from _gap(tokens, reference.tokens, gap, others, number)
    edges: list[Pass | None] = [None, *found, None]
    for number, (left, right) in enumerate(pairwise(edges)):
        yield from _edges(tokens, reference, left, right, number)


def _run(block: Block, number: int) -> Pairs:
    places = np.arange(block.length)
    return Pairs(places + block.start, places + block.other, np.full(block.length, number))


def _edges(
    tokens: Ints, reference: Reference, left: Pass | None, right: Pass | None, number: int
) -> Iterator[Pairs]:
    """Between two passes the end of the one is looked for, and behind it the beginning of the next.

    `number` is that of the pass on the right.
    """
    start = left[-1].end if left else 0
    end = right[0].start if right else len(tokens)
    reach = end - start + _BESIDE
    if left and start < end:
        behind = left[-1].other_end
        tail = range(behind, min(behind + reach, reference.track(behind - 1)[1]))
        for pairs in _gap(tokens, reference.tokens, range(start, end), tail, number - 1):
            yield pairs
            start = max(start, int(pairs.places.max()) + 1)
    if right and start < end:
        behind = right[0].other
        head = range(max(reference.track(behind)[0], behind - reach), behind)
        yield from _gap(tokens, reference.tokens, range(start, end), head, number)


def _gap(tokens: Ints, others: Ints, ours: range, theirs: range, number: int) -> Iterator[Pairs]:
    """What two stretches have in common, first in order, then in any."""
    if not ours or not theirs or len(ours) * len(theirs) > LARGEST_GAP:
        return
    mine = tokens[ours.start : ours.stop].tolist()
    yours = others[theirs.start : theirs.stop].tolist()
    matching = SequenceMatcher(None, mine, yours, autojunk=False).get_matching_blocks()
    for here, there, size in matching[:-1]:
        yield _run(Block(ours.start + here, theirs.start + there, size), number)
        mine[here : here + size] = [-1] * size
        yours[there : there + size] = [-2] * size
    left = {token: place for place, token in enumerate(yours) if token >= 0}
    swapped = [(here, left.pop(token)) for here, token in enumerate(mine) if token in left]
    if swapped:
        here, there = np.array(swapped).T
        yield Pairs(here + ours.start, there + theirs.start, np.full(len(swapped), NONE))
