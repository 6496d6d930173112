"""What operators add up to, whether a dump's sums or a trace's events give their parts.

Amounts of work are NULL where they are not known of every part: a sum of some is not a total.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.reading.xla.ops import PS_PER_NS

#: The columns of `op_stat` with amounts of work.
WORK = ("flop_count", "normalized_flop_count", "accessed_bytes", "dram_bytes")

_INT64_MAX = 2**63 - 1
_HALF = 32  # bits: the halves of 2^31 numbers can be summed
_NUMBERED = re.compile(r"_\d+$")


@dataclass(slots=True)
class Total:
    """Occurrences, and their time with and without what ran inside them, in ps."""

    count: int = 0
    dur_ps: int = 0
    self_ps: int = 0

    def add(self, count: int, dur_ps: int, self_ps: int) -> None:
        """Add more of them."""
        self.count += count
        self.dur_ps += dur_ps
        self.self_ps += self_ps

    @property
    def columns(self) -> dict[str, int | None]:
        """The columns of `op_stat`."""
        return {
            "occurrence_count": fitting(self.count),
            "dur_ns": fitting((self.dur_ps + PS_PER_NS // 2) // PS_PER_NS),
            "self_ns": fitting((self.self_ps + PS_PER_NS // 2) // PS_PER_NS),
        }


def fitting(number: int | None) -> int | None:
    """A number, where 64 bits can hold it."""
    return number if number is not None and number <= _INT64_MAX else None


@dataclass(slots=True)
class Work:
    """Amounts of work summed; `origin` is where any of them is from."""

    amounts: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(WORK, 0))
    origin: str | None = None

    def add(self, said: Mapping[str, Any]) -> None:
        """Add what one part says in columns of `op_stat`; what it leaves out is not known."""
        for name, so_far in self.amounts.items():
            value = said.get(name)
            self.amounts[name] = None if so_far is None or value is None else so_far + value
        self.origin = said.get("work_source_name") or self.origin

    @property
    def columns(self) -> dict[str, int | str | None]:
        """The columns of `op_stat`."""
        amounts = {name: fitting(value) for name, value in self.amounts.items()}
        return {**amounts, "work_source_name": self.origin}


#: Side, device, program, name and type of a framework's operator.
FrameworkKey = tuple[str, int | None, str | None, str, str | None]


@dataclass(slots=True)
class FrameworkOps:
    """A framework's operators: each is its instructions summed."""

    _ops: dict[FrameworkKey, tuple[Total, Work]] = field(default_factory=dict)

    def add(self, key: FrameworkKey, total: Total, said: Mapping[str, Any]) -> None:
        """Add an instruction, or the kernels of one name.

        The operator ran as often as that of them which ran most, as xprof has it.
        """
        sums, work = self._ops.setdefault(key, (Total(), Work()))
        sums.add(max(total.count - sums.count, 0), total.dur_ps, total.self_ps)
        work.add(said)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of `op_stat`."""
        for (side, device_id, program, name, type_name), (total, work) in self._ops.items():
            yield (
                {
                    "op_kind": "framework",
                    "side_kind": side,
                    "device_id": device_id,
                    "program_name": program,
                    "name": name,
                    "type_name": type_name,
                }
                | total.columns
                | work.columns
            )


def framework_name(op_name: str | None, name: str | None) -> tuple[str, str | None]:
    """Name and type of the operator that an instruction is of.

    What the framework has not named stands for itself, as in xprof's table.
    """
    return parsed(op_name) if op_name else (name or "", None)


def parsed(op_name: str) -> tuple[str, str]:
    """Name and type of a framework operator: ``scope/MatMul_1:MatMul``.

    JAX writes no type, ``jit(f)/add_2:``; it is the last part of the name then, without its
    number (`tf_op_utils` of XLA).
    """
    name, _, type_name = op_name.partition(":")
    return name, type_name or _NUMBERED.sub("", name.rsplit("/", 1)[-1])


def exact_sums(places: NDArray[np.int64], values: NDArray[np.int64]) -> list[int]:
    """The sum of each group, whatever its size; what is less than nothing counts as nothing."""
    count = int(places.max()) + 1 if len(places) else 0
    values = np.maximum(values, 0)
    high, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(high, places, values >> _HALF)
    np.add.at(low, places, values & ((1 << _HALF) - 1))
    return [(h << _HALF) + rest for h, rest in zip(high.tolist(), low.tolist(), strict=True)]
