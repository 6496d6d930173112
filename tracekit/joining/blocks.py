"""One sequence as blocks of another: the stretches that the other sequence also has, and where.

**Blocks.** From left to right, take the longest stretch that occurs anywhere in the other sequence.
This gives the fewest possible blocks (Tichy, "The string-to-string correction problem with block
moves", ACM TOCS 2(4), 1984). It finds a step each time it is repeated, a part of a step, and steps
in any order; a longest common subsequence could use each launch only once. A suffix array finds the
stretches (Manber, Myers, "Suffix arrays: a new method for on-line string searches", SIAM J. Comput.
22(5), 1993). Among equally long ones, prefer the one that continues where the last block ended or a
few launches later, else the nearest. A block returns launches that it took from a longer next one.

**Passes.** Keep the blocks that are worth most together: each is worth its length, the blocks of a
pass have the same order in both sequences, and each further pass has a price. This drops blocks
that occur by chance (sparse dynamic programming: Eppstein and others, J. ACM 39(3), 1992). A pass
is a repetition only if it has half as much as the longest one. Shorter ones count only if they are
truncated: the end of the counters at the start of the timeline, or their start at its end.

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

#: A further pass must be longer than this, or than this share of the other sequence if less.
PASS_PRICE = 8
PASS_PRICE_SHARE = 0.5
#: A repetition has at least this share of the launches of the longest pass.
WHOLE = 0.5
#: Gaps of up to this many pairs of launches are compared.
LARGEST_GAP = 1 << 14

_FEW = 1 << 14  # launches: up to here two in a row are looked up; beyond, more, which is faster
_LONGEST_SEED = 16
_MAX_PLACES = 64  # of a stretch that are compared
_BESIDE = 8  # suffixes that are compared; launches examined at the start or end of a pass
_SKIPPED = 4  # fewer than this many launches can be missing where a block continues as expected …
_SURE = 8  # … and this many prove that it continues, even if another place has more
_WIDTH = 4  # bytes of a token


@dataclass(slots=True)
class Block:
    """``length`` tokens from `start` that the other sequence has from `other`."""

    start: int
    other: int
    length: int

    @property
    def end(self) -> int:
        """The first token after it."""
        return self.start + self.length

    @property
    def other_end(self) -> int:
        """The first token after it in the other sequence."""
        return self.other + self.length


Pass = list[Block]


class Reference:
    """A sequence in which stretches are looked up. Tokens are at least 0.

    It can be several concatenated sequences (tracks) that begin at `begins`; the last token of each
    but the last one occurs nowhere else, so that no stretch spans two.
    """

    def __init__(self, tokens: Ints, begins: Sequence[int] = (0,)) -> None:
        self.tokens = tokens
        self.begins = begins
        self._bytes = _as_bytes(tokens)
        self._suffixes: list[int] = _suffix_array(tokens).tolist()

    def track(self, place: int) -> tuple[int, int]:
        """The start and end of the track of a place."""
        number = bisect_right(self.begins, place)
        is_last = number == len(self.begins)
        return self.begins[number - 1], len(self.tokens) if is_last else self.begins[number] - 1

    def blocks(self, tokens: Ints, expected: int = 0) -> list[Block]:
        """The fewest blocks that `tokens` consist of, without overlap.

        `expected` is the place of the first one if other places are no better.
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
        """The number of tokens in a row to look up: enough that few occur by chance."""
        if length <= _FEW:
            return 2
        kinds = max(2, len(np.unique(self.tokens)))
        usual = 1 + math.ceil(math.log(len(self.tokens)) / math.log(kinds))
        return max(2, min(_LONGEST_SEED, len(self.tokens), usual))

    def _longest(
        self, tokens: Ints, content: bytes, start: int, expected: int, *, is_next: bool
    ) -> Block:
        """The longest block from `start`, or the expected one if at least half as long.

        After another block (`is_next`), the expected one can begin a few tokens later and be
        shorter.
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
        """The block that continues where the last one ended, or within `reach` tokens after."""
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
        """Candidates for the longest stretch: the suffixes next to it in order."""
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
                return self._suffixes[low : min(high, low + _MAX_PLACES)]

    def _beside(self, place: int, low: int, high: int) -> list[int]:
        """The suffixes before and after a place in their order, within bounds."""
        return self._suffixes[max(low, place - _BESIDE) : min(high, place + _BESIDE)]


def _as_bytes(tokens: Ints) -> bytes:
    """Tokens as bytes that sort in the same order."""
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
    """For each place, the first one from there at which `count` tokens in a row are in `others`.

    By hashes: rarely, a place that has none. If there is no such place, the length.
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
    """The number of tokens from `start` that equal those from `other`."""
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
    """`block`, extended to the left; shorter blocks before it give way."""
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
    """The first place, from `limit`, from which all tokens up to `block` agree."""
    size = min(block.start - limit, block.other)
    before = tokens[block.start - size : block.start]
    differs = np.flatnonzero(before != others[block.other - size : block.other])
    return block.start - size + (int(differs[-1]) + 1 if len(differs) else 0)


# Passes


def passes(blocks: Sequence[Block], size: int, reference: Reference) -> list[Pass]:
    """The blocks that are worth most together, by pass, without passes that are not repetitions.

    `size` is the length of their sequence.
    """
    if not blocks:
        return []
    chosen = _of_one_track(_worth_most(blocks, len(reference.tokens)), reference)
    first, last = [blocks[0]], [blocks[-1]]  # a truncated pass can be worth less than its price
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
    """Passes, divided where they continue in another track."""
    if len(reference.begins) == 1:
        return list(found)
    parts = (groupby(one, key=lambda block: reference.track(block.other)) for one in found)
    return [list(part) for one in parts for _, part in one]


def _is_cut(one: Pass, size: int, reference: Reference) -> bool:
    """Whether the recording truncates a pass.

    It ends with its track at the start of the sequence, or begins with its track at the end of the
    sequence. No launches before or after it contradict the match.
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
    """The maximum worth up to a place (Fenwick tree, Softw. Pract. Exper. 24(3), 1994)."""

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
    """Places in one sequence and in the other, by pass; `NONE`: the order differs."""

    places: Ints
    others: Ints
    passes: Ints


def paired(found: Sequence[Pass], tokens: Ints, reference: Reference) -> Iterator[Pairs]:
    """The pairs of all blocks, and equal launches in the gaps before, between and after them."""
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
    """Between two passes, looks for the end of the left one and then the start of the right one.

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
    """The common launches of two stretches, first in order, then in any order."""
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
